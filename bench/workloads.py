# SPDX-License-Identifier: BSD-3-Clause
"""The data: made by `hunch synth`, or real sets when they are at hand. Each as svmlight text, as a cache, and as VW's
text; and slices of the first rows of it."""
import multiprocessing
import os
import random
import struct
import subprocess

SYNTHETIC = {
    "sparse": ["zipf", "--rows=200000", "--features=47236", "--classes=4", "--nonzeros=75"],
    "dense": ["dense", "--rows=100000", "--features=400", "--classes=9"],
    "wide": ["zipf", "--rows=20000", "--features=100000", "--classes=20", "--nonzeros=150"],
}
REAL = {"mnist": "mnist/mnist.train.svm.xz", "20news": "20newsgroups/20news-18828.counts.svm.xz",
        "one-hot": "nursery/nursery.onehot.svm.xz", "many one-hot": "connect-4/connect-4.onehot.svm.xz"}
SHUFFLED = {"20news", "one-hot", "many one-hot"}  # their files are sorted, by class or by column


class Workload:
    def __init__(self, name, text, hunch):
        self.name, self.text, self.hunch = name, text, hunch
        self.cache = text[:-len(".svm")] + ".hc"
        if not os.path.exists(self.cache):
            subprocess.run([hunch, "convert", text, "-o", self.cache], check=True, stdout=subprocess.DEVNULL)
        with open(self.cache, "rb") as f:
            head = f.read(128)
            self.rows, self.values, self.features = struct.unpack_from("<QQQ", head, 16)
            at, size = struct.unpack_from("<QQ", head, 56)
            f.seek(at)
            self.labels = f.read(size).split(b"\0")[:-1]
        self.classes = len(self.labels)

    def bytes(self, kind):
        return os.path.getsize(self.text if kind == "text" else self.cache)

    def slice(self, rows):
        """The first rows of it."""
        if rows >= self.rows:
            return self
        path = f"{self.text[:-len('.svm')]}.{rows}.svm"
        if not os.path.exists(path):
            with open(self.text, "rb") as source, open(path + "~", "wb") as target:
                labels = b" ".join(self.labels)
                target.write(b"# labels: " + labels + b"\n")
                while rows:
                    line = source.readline()
                    if not line.startswith(b"#"):
                        target.write(line)
                        rows -= 1
            os.rename(path + "~", path)
        return Workload(self.name, path, self.hunch)

    def vw_text(self):
        """The same rows as VW reads them, with labels 1 .. K."""
        path = self.text[:-len(".svm")] + ".vw"
        if not os.path.exists(path):
            numeric = all(label.lstrip(b"-").isdigit() for label in self.labels)
            order = sorted(self.labels, key=int if numeric else None)
            number = {label: str(i + 1).encode() + b" | " for i, label in enumerate(order)}
            with open(self.text, "rb") as source, open(path + "~", "wb") as target:
                for line in source:
                    if not line.startswith(b"#"):
                        label, _, features = line.partition(b" ")
                        target.write(number[label.rstrip()] + features)
            os.rename(path + "~", path)
        return path


def synthetic(name, folder, hunch, scale=1):
    arguments = list(SYNTHETIC[name])
    rows = int(arguments[1].split("=")[1]) // scale
    arguments[1] = f"--rows={rows}"
    path = os.path.join(folder, f"{name}-{rows}.svm")
    if not os.path.exists(path):
        subprocess.run([hunch, "synth", *arguments, "-o", path], check=True, stdout=subprocess.DEVNULL)
    return Workload(name, path, hunch)


def zipf(folder, hunch, classes, rows=4000):
    """For the growth with K."""
    path = os.path.join(folder, f"classes-{classes}-{rows}.svm")
    if not os.path.exists(path):
        subprocess.run([hunch, "synth", "zipf", f"--rows={rows}", "--features=5000", f"--classes={classes}",
                        "--nonzeros=75", "-o", path], check=True, stdout=subprocess.DEVNULL)
    return Workload(f"{classes} classes", path, hunch)


def unpack(source, path, shuffled):
    """Comments first."""
    lines = subprocess.run(["xz", "-dc", source], stdout=subprocess.PIPE, check=True).stdout.splitlines(keepends=True)
    if shuffled:
        random.Random(1).shuffle(lines)
    with open(path + "~", "wb") as target:
        target.writelines(line for line in sorted(lines, key=lambda line: not line.startswith(b"#")))
    os.rename(path + "~", path)


def real(name, folder, hunch):
    """None when the data is not there."""
    roots = os.environ.get("HUNCH_DATA", "").split(":") + ["../shared/data"]
    found = [p for p in (os.path.join(r, REAL[name]) for r in roots if r) if os.path.exists(p)]
    if not found:
        return None
    path = os.path.join(folder, name.replace(" ", "-") + ".svm")
    if not os.path.exists(path):
        # Apart from this process: what it once held counts as memory of every program that it starts.
        maker = multiprocessing.Process(target=unpack, args=(found[0], path, name in SHUFFLED))
        maker.start()
        maker.join()
        if maker.exitcode:
            raise SystemExit(f"{found[0]} could not be unpacked")
    return Workload(name, path, hunch)
