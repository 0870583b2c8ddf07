# SPDX-License-Identifier: BSD-3-Clause
"""The synthetic sets draw for draw, and svmlight files."""

import bz2
import gzip
import lzma

import numpy as np
import pytest

import hunch
from hunch import datasets


def test_splitmix():
    assert datasets.splitmix(101, 3).tolist() == [0.81644120059845027, 0.017191399024609089, 0.26865236244694557]
    assert np.array_equal(datasets.splitmix(5, 10)[4:], datasets.splitmix(5, 6, skip=4))


def test_synsep_and_synnonsep_as_published():
    clean, noisy = datasets.synsep(20000, seed=1), datasets.synnonsep(20000, seed=1)
    assert int((clean.y != noisy.y).sum()) == 886
    assert clean.y[0] == 1 and clean.X[0].nnz == 52
    assert clean.X[0].indices[:6].tolist() == [4, 5, 6, 10, 13, 15] and clean.X[0].indices[-1] == 390
    assert clean.X.shape == (20000, 400) and (clean.X != noisy.X).nnz == 0
    for k, keywords in enumerate((27, 37, 29, 34, 32, 33, 29, 40, 32)):
        assert set(np.diff(clean.X.indptr)[clean.y == k]) == {keywords - 5 + 20}


def slow(rows, seed, noise):
    """The recipe read aloud, without arrays."""
    state = seed

    def u():
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return ((z ^ (z >> 31)) >> 11) * 2.0**-53

    words = [[j for j in range(120) if u() < 0.25] for _ in range(9)]
    x, y = [], []
    for _ in range(rows):
        label = int(u() * 9)
        a, b = list(words[label]), list(range(120, 400))
        for j in range(5):
            k = j + int(u() * (len(a) - j))
            a[j], a[k] = a[k], a[j]
        for j in range(20):
            k = j + int(u() * (280 - j))
            b[j], b[k] = b[k], b[j]
        x.append(sorted(a[5:] + b[:20]))
        y.append(label)
    order = list(range(rows))
    for t in range(int(rows * noise + 1e-6)):
        k = t + int(u() * (rows - t))
        order[t], order[k] = order[k], order[t]
        y[order[t]] = int(u() * 9)
    return x, y


@pytest.mark.parametrize("rows, seed, noise", [(1, 3, 0), (300, 9, 0.05), (200, 10, 1)])
def test_against_the_recipe(rows, seed, noise, monkeypatch):
    monkeypatch.setattr(datasets, "_BLOCK", 64)
    x, y = slow(rows, seed, noise)
    data = datasets.synnonsep(rows, seed=seed, noise=noise)
    assert data.y.tolist() == y
    assert [data.X[i].indices.tolist() for i in range(rows)] == x


def test_bad_sets():
    for call in (lambda: datasets.synsep(0), lambda: datasets.synnonsep(5, noise=2)):
        with pytest.raises(ValueError):
            call()


TEXT = b"# a comment\nspam 1:0.5 3:2\t# the first\r\n\nham 2:1e-1\nspam\n"


def test_svmlight(tmp_path, monkeypatch):
    data = datasets.parse_svmlight(TEXT)
    assert data.classes == ["spam", "ham"] and data.y.tolist() == [0, 1, 0] and data.index_base == 1
    assert data.X.toarray().tolist() == [[0.5, 0, 2], [0, np.float32(0.1), 0], [0, 0, 0]]
    assert datasets.parse_svmlight(b"1 0:1 2:1\n").X.shape == (1, 3)
    assert datasets.parse_svmlight(b"1 1:1\n", index_base=0).X.shape == (1, 2)
    assert datasets.parse_svmlight(b"# labels: a b c\nc 1:1\n").classes == ["a", "b", "c"]
    assert datasets.parse_svmlight(b"a\nb\n").X.shape == (2, 0)
    (tmp_path / "set").mkdir()
    for ending, pack in (
        (".svm", bytes),
        (".svm.gz", gzip.compress),
        (".svm.xz", lzma.compress),
        (".svm.bz2", bz2.compress),
    ):
        (tmp_path / "set" / ("words" + ending)).write_bytes(pack(TEXT))
        monkeypatch.setenv("HUNCH_DATA", f"/nowhere:{tmp_path}")
        assert datasets.load_svmlight("words" + ending).y.tolist() == [0, 1, 0]
    assert datasets.find("words").name == "words.svm" and datasets.find("nothing") is None
    assert datasets.load_svmlight(tmp_path / "set" / "words.svm").y.tolist() == [0, 1, 0]
    with pytest.raises(FileNotFoundError):
        datasets.load_svmlight("nothing")


@pytest.mark.parametrize(
    "text", [b"1 x:1\n", b"1 1:x\n", b"1 1\n", b"1 1:1:1\n", b"1 -3:1\n", b"1 1.5:1\n", b"1 1 2:1\n"]
)
def test_bad_svmlight(text):
    with pytest.raises(ValueError):
        datasets.parse_svmlight(text)


def test_without_scipy(monkeypatch, data):
    """SciPy is only a convenience."""
    import sys

    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    bare = datasets.synsep(1500, seed=1)
    assert isinstance(bare.X, datasets.Csr)
    assert hunch.run("banditron", bare).learner.to_bytes() == hunch.run("banditron", data).learner.to_bytes()


def test_svmlight_by_blocks(monkeypatch):
    """The text's place in blocks changes nothing, whatever their size."""
    data = datasets.synnonsep(300, seed=2)
    lines = [
        f"{data.classes[k]} " + " ".join(f"{j + 1}:{v:g}" for j, v in zip(row.indices, row.data))
        for k, row in zip(data.y, data.X)
    ]
    text = "\n".join(["# labels: 9 1", *lines]).encode()
    whole = datasets.parse_svmlight(text)
    assert np.array_equal(whole.y, data.y) and (whole.X != data.X).nnz == 0
    for size in (1, 7, 1000, 4096):
        monkeypatch.setattr(datasets, "_TEXT", size)
        parts = datasets.parse_svmlight(text)
        assert np.array_equal(parts.y, whole.y) and (parts.X != whole.X).nnz == 0 and parts.classes == whole.classes


def test_svmlight_takes_little_memory(tmp_path):
    """Beyond the rows themselves, reading takes a few blocks and one more copy of an array, not copies of the text."""
    import subprocess
    import sys

    line = "1 " + " ".join(f"{j}:{j / 7:.6f}" for j in range(1, 200)) + "\n"
    (tmp_path / "big.svm").write_text(line * 12000)
    code = (
        "import resource, sys, hunch\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024\n"
        "hunch.datasets.parse_svmlight(b'1 1:1\\n')\n"
        "before = peak(); data = hunch.datasets.load_svmlight(sys.argv[1])\n"
        "print((peak() - before) / (data.X.data.nbytes + data.X.indices.nbytes))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "big.svm")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 4.5  # 6.8 when the whole text was parsed at once
