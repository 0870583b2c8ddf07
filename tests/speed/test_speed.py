#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_speed.py HUNCH: results do not depend on threads, on the kind of file or on how many learners share a stream, and
memory does not depend on the length of the stream. Nothing here looks at a clock."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HUNCH = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "hunch"
LEARNERS = ["perceptron", "perceptron2", "arow", "banditron", "confidit", "soba", "newtron", "cova", "separable",
            "offset-tree", "rdue", "confident:matrix=diag", "confident:matrix=span"]
MIB = 1 << 20


def hunch(*arguments):
    return subprocess.run([HUNCH, *arguments], check=True, capture_output=True).stdout


def results(path, learners, threads):
    options = ["run", "--quiet", "--json", "--threads", str(threads)]
    for spec in learners:
        options += ["-l", spec]
    answer = json.loads(hunch(*options, path))
    for result in answer:
        del result["seconds"]
    return answer


def peak_memory(arguments, source=None):
    """Of `hunch run` over a file, or over what source writes into its standard input. Sanitizers need room of their own,
    so what is compared are two runs."""
    feeder = subprocess.Popen([HUNCH, *source], stdout=subprocess.PIPE) if source else None
    child = subprocess.Popen([HUNCH, *arguments], stdin=feeder.stdout if feeder else subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    if feeder:
        feeder.stdout.close()
        feeder.wait()
    assert status == 0
    return usage.ru_maxrss * 1024


class Speed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.sets = {}
        for name, options in {"sparse": ["zipf", "--rows=3000", "--features=3000", "--classes=5", "--nonzeros=40"],
                              "dense": ["dense", "--rows=2000", "--features=60", "--classes=9"]}.items():
            text, cache, packed = (os.path.join(cls.folder.name, name + end) for end in (".svm", ".hc", ".packed.hc"))
            hunch("synth", *options, "-o", text)
            hunch("convert", text, "-o", cache)
            hunch("convert", text, "--zstd", "-o", packed)
            cls.sets[name] = text, cache, packed

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_threads_and_files(self):
        """1, 2 and 5 threads; text, cache and compressed cache."""
        for name, (text, cache, packed) in self.sets.items():
            want = results(text, LEARNERS, 1)
            for path, threads in ((text, 5), (cache, 1), (cache, 2), (packed, 5)):
                with self.subTest(set=name, path=os.path.basename(path), threads=threads):
                    self.assertEqual(results(path, LEARNERS, threads), want)

    def test_models(self):
        """Every byte that was learned, from text and from a cache."""
        for name, (text, cache, _) in self.sets.items():
            for spec in ("banditron", "newtron", "soba", "confidit", "confident:matrix=diag"):
                models = []
                for i, path in enumerate((text, cache)):
                    model = os.path.join(self.folder.name, f"{i}.hunch")
                    hunch("run", "--quiet", "-l", spec, "--save", model, path)
                    with open(model, "rb") as f:
                        models.append(f.read())
                with self.subTest(set=name, learner=spec):
                    self.assertEqual(*models)

    def test_many_learners(self):
        """Learners that share a stream learn what each learns alone, also when turns are longer than a piece."""
        specs = [f"banditron:gamma={(i + 1) / 100}" for i in range(40)]
        for name, (text, cache, _) in self.sets.items():
            together = results(cache, specs, 2)
            for i in (0, 17, 39):
                self.assertEqual([together[i]], results(text, [specs[i]], 1))

    def test_bytes_are_told(self):
        _, cache, _ = self.sets["sparse"]
        model = os.path.join(self.folder.name, "told.hunch")
        told = json.loads(hunch("run", "--quiet", "--json", "-l", "banditron", "--save", model, cache))[0]["bytes"]
        inspected = json.loads(hunch("inspect", "--json", model))["bytes"]
        self.assertGreaterEqual(told, 2900 * 5 * 4)
        self.assertLess(told, 3000 * 8 * 4 * 2 + 65536)
        self.assertLess(abs(told - inspected), told)

    def test_long_pipes(self):
        """Eight times the rows, no more memory than the pieces that may lie between reader and learner, of which it depends on
        the moment how many there are; all rows would take 110 MiB more."""
        run = ["run", "--quiet", "-l", "banditron", "--classes", "9", "--format", "svmlight", "-"]
        short, long = (peak_memory(run, ["synth", "dense", f"--rows={rows}"]) for rows in (5000, 40000))
        self.assertLess(long, short + 32 * MIB)

    def test_long_caches(self):
        """A mapped file gives back the pages that have been read."""
        sizes = []
        for rows in (30000, 90000):
            path = os.path.join(self.folder.name, "long.hc")
            hunch("synth", "dense", f"--rows={rows}", "-o", path)
            sizes.append((os.path.getsize(path), peak_memory(["run", "--quiet", "-l", "banditron", path])))
            os.unlink(path)
        self.assertLess(sizes[1][1], sizes[0][1] + 16 * MIB)
        self.assertGreater(sizes[1][0] - sizes[0][0], 80 * MIB)


unittest.main()
