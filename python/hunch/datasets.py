# SPDX-License-Identifier: BSD-3-Clause
"""Data to try learners on: the papers' synthetic sets, draw for draw, and svmlight files.

>>> import hunch
>>> X, y = hunch.datasets.synsep(1000, seed=1)
>>> X.shape, int(y[0]), X[0].nnz
((1000, 400), 1, 52)
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from ._names import did_you_mean, rank

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Csr(NamedTuple):
    """Rows in CSR form, for where SciPy is missing; hunch.run takes it as it takes scipy.sparse."""

    data: NDArray[np.float32]
    indices: NDArray[np.int32]
    indptr: Integers
    shape: Tuple[int, int]
    has_canonical_format: bool = True

    @property
    def nnz(self) -> int:
        return len(self.data)

    def tocsr(self) -> Csr:
        return self


def csr(data: NDArray[np.float32], indices: NDArray[np.int32], indptr: Integers, shape: Tuple[int, int]) -> Any:
    """A scipy.sparse.csr_matrix when there is SciPy, else a Csr."""
    try:
        from scipy.sparse import csr_matrix
    except ImportError:
        return Csr(data, indices, indptr, shape)
    if indptr[-1] < 2**31:
        return csr_matrix((data, indices, indptr.astype(np.int32)), shape=shape)
    return csr_matrix((data, indices.astype(np.int64), indptr), shape=shape)


@dataclass
class Dataset:
    """Rows, their class numbers, and the classes' names. Unpacks as X, y."""

    X: Any
    y: Integers
    classes: List[str]
    index_base: Optional[int] = None  #: the number that the file's first feature had

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.y))

    def __len__(self) -> int:
        return len(self.y)

    def __repr__(self) -> str:
        return f"Dataset({self.X.shape[0]} rows, {self.X.shape[1]} features, {len(self.classes)} classes)"


# --- the synthetic sets ---

_STEP = np.uint64(0x9E3779B97F4A7C15)


def splitmix_bits(state: int, draws: int, skip: int = 0) -> NDArray[np.uint64]:
    """The outputs of splitmix64: the library's generator. It counts, so that any of them can be had at once."""
    with np.errstate(over="ignore"):
        z = np.uint64(state) + _STEP * np.arange(skip + 1, skip + draws + 1, dtype=np.uint64)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(z ^ (z >> np.uint64(31)))


def splitmix(state: int, draws: int, skip: int = 0) -> Floats:
    """The same as uniform numbers in [0,1).

    >>> [round(float(u), 6) for u in splitmix(101, 3)]
    [0.816441, 0.017191, 0.268652]
    """
    return (splitmix_bits(state, draws, skip) >> np.uint64(11)).astype(np.float64) * 2.0**-53


_CLASSES, _KEYWORDS, _FEATURES, _DROPPED, _OTHERS = 9, 120, 400, 5, 20
_DRAWS = 1 + _DROPPED + _OTHERS  # per row
_BLOCK = 8192


def _choose(lists: NDArray[np.int16], lengths: Integers, u: Floats) -> None:
    """In each row, the first entries become a random choice of its list."""
    rows = np.arange(len(lists))
    for j in range(u.shape[1]):
        other = j + (u[:, j] * (lengths - j)).astype(np.int64)
        picked = lists[rows, other]
        lists[rows, other] = lists[rows, j]
        lists[rows, j] = picked


def _syn_block(keywords: NDArray[np.bool_], u: Floats) -> Tuple[NDArray[np.bool_], Integers]:
    """Rows as 0/1 matrices, from 26 draws each."""
    n = len(u)
    y = (u[:, 0] * _CLASSES).astype(np.int64)
    counts = keywords.sum(axis=1)
    table = np.zeros((_CLASSES, _KEYWORDS), np.int16)
    for k in range(_CLASSES):
        table[k, : counts[k]] = np.flatnonzero(keywords[k])
    on = np.zeros((n, _FEATURES), np.bool_)
    on[:, :_KEYWORDS] = keywords[y]
    lists = table[y]
    _choose(lists, counts[y], u[:, 1 : 1 + _DROPPED])
    np.put_along_axis(on, lists[:, :_DROPPED].astype(np.int64), False, axis=1)
    others = np.tile(np.arange(_KEYWORDS, _FEATURES, dtype=np.int16), (n, 1))
    _choose(others, np.full(n, _FEATURES - _KEYWORDS), u[:, 1 + _DROPPED :])
    np.put_along_axis(on, others[:, :_OTHERS].astype(np.int64), True, axis=1)
    return on, y


def _syn_noise(y: Integers, noise: float, seed: int, skip: int) -> None:
    n = len(y)
    noisy = int(n * noise + 1e-6)
    u = splitmix(seed, 2 * noisy, skip)
    sizes = n - np.arange(noisy)
    others = (np.arange(noisy) + (u[0::2] * sizes).astype(np.int64)).tolist()
    labels = (u[1::2] * _CLASSES).astype(np.int64).tolist()
    order = list(range(n))
    for t, other, label in zip(range(noisy), others, labels):
        order[t], order[other] = order[other], order[t]
        y[order[t]] = label


def _syn(rows: int, seed: int, noise: float) -> Dataset:
    if rows < 1 or not 0 <= noise <= 1:
        raise ValueError("at least one row, and noise between 0 and 1")
    first = _CLASSES * _KEYWORDS
    keywords = splitmix(seed, first).reshape(_CLASSES, _KEYWORDS) < 0.25
    if keywords.sum(axis=1).min() < _DROPPED:
        raise ValueError(f"seed {seed}: a class has fewer than {_DROPPED} keywords; take another seed")
    indices, lengths = [], []
    y = np.empty(rows, np.int64)
    for start in range(0, rows, _BLOCK):
        n = min(_BLOCK, rows - start)
        u = splitmix(seed, n * _DRAWS, first + start * _DRAWS).reshape(n, _DRAWS)
        on, y[start : start + n] = _syn_block(keywords, u)
        lengths.append(on.sum(axis=1))
        indices.append(np.nonzero(on)[1].astype(np.int32))
    _syn_noise(y, noise, seed, first + rows * _DRAWS)
    indptr = np.zeros(rows + 1, np.int64)
    np.cumsum(np.concatenate(lengths), out=indptr[1:])
    index = np.concatenate(indices)
    X = csr(np.ones(len(index), np.float32), index, indptr, (rows, _FEATURES))
    return Dataset(X, y, [str(k + 1) for k in range(_CLASSES)], 1)


def synsep(rows: int = 100_000, *, seed: int = 1) -> Dataset:
    """Keywords of 9 classes among 400 binary features; linearly separable (Kakade et al. 2008, as of 2017)."""
    return _syn(rows, seed, 0.0)


def synnonsep(rows: int = 100_000, *, seed: int = 1, noise: float = 0.05) -> Dataset:
    """synsep with a fraction of the labels redrawn at random."""
    return _syn(rows, seed, noise)


# --- streams that drift ---

DRIFTS = ("none", "abrupt", "gradual", "rotating", "recurring", "new_class", "scale")


@dataclass
class Stream(Dataset):
    """A Dataset whose concept changes; drift has the rows at which it does."""

    drift: Sequence[int] = ()


def _normals(seed: int, shape: Tuple[int, ...], stream: int) -> Floats:
    """Normal numbers by Box and Muller, from draws of our own: the same with every version of NumPy."""
    n = int(np.prod(shape))
    u = splitmix(int(splitmix_bits(seed, 1, stream)[0]), n + n % 2)
    r = np.sqrt(-2 * np.log1p(-u[0::2]))
    angle = 2 * np.pi * u[1::2]
    return np.concatenate([r * np.cos(angle), r * np.sin(angle)])[:n].reshape(shape)


def make_stream(
    rows: int = 10_000,
    *,
    classes: int = 4,
    features: int = 10,
    drift: str = "abrupt",
    at: Union[int, Sequence[int], None] = None,
    width: Optional[int] = None,
    noise: float = 0.05,
    seed: int = 0,
) -> Stream:
    """Rows of normal numbers whose label is the largest of K linear functions, which change on the way.

    drift: "none"; "abrupt" (other functions from the row at on); "gradual" (rows of the new concept become more frequent
    over width rows); "rotating" (the functions turn all the time, once round in rows); "recurring" (two concepts by
    turns, changing at each of at); "new_class" (the last class is not there before at); "scale" (from at on the features
    are measured in other units, a thousand times larger or smaller).
    at: a row or several; half way otherwise. noise: the fraction of labels that are redrawn.

    >>> stream = make_stream(1000, drift="abrupt", at=400)
    >>> stream.X.shape, stream.classes, stream.drift
    ((1000, 10), ['0', '1', '2', '3'], [400])
    """
    if drift not in DRIFTS:
        raise ValueError(f"drift: {drift!r} is not one of {', '.join(DRIFTS)}{did_you_mean(drift, DRIFTS)}")
    if rows < 1 or classes < 2 or features < 1 or not 0 <= noise <= 1:
        raise ValueError("at least one row, two classes and one feature; noise between 0 and 1")
    points = [] if drift in ("none", "rotating") else [rows // 2] if at is None else sorted(np.ravel(at).tolist())
    if any(not 0 <= point <= rows for point in points):
        raise ValueError("at: the rows at which the concept changes lie within the stream")
    X = _normals(seed, (rows, features), 1)
    old, new = _normals(seed, (2, classes, features), 2)
    u = splitmix(int(splitmix_bits(seed, 1, 3)[0]), 3 * rows).reshape(rows, 3)
    t = np.arange(rows)
    if drift == "rotating":
        angle = 2 * np.pi * t / rows
        scores = np.cos(angle)[:, None] * (X @ old.T) + np.sin(angle)[:, None] * (X @ new.T)
    else:
        later = np.searchsorted(points, t, "right") if points else np.zeros(rows, np.int64)
        if drift == "gradual":
            wide = max(int(width) if width is not None else rows // 5, 1)
            later = (u[:, 2] < np.clip((t - points[0]) / wide + 0.5, 0, 1)).astype(np.int64)
        changed = {"abrupt": later, "gradual": later, "recurring": later % 2}.get(drift, np.zeros(rows, np.int64))
        many = (
            _normals(seed, (len(points) + 1, classes, features), 4) if drift == "abrupt" and len(points) > 1 else None
        )
        table = np.stack([old, new]) if many is None else many
        scores = np.empty((rows, classes))
        for k, concept in enumerate(table):
            scores[changed == k] = X[changed == k] @ concept.T
        if drift == "new_class":
            scores[: points[0], -1] = -np.inf
        if drift == "scale":
            X[points[0] :] *= 1000.0 ** np.sign(_normals(seed, (features,), 5))
    y = scores.argmax(axis=1)
    redrawn = u[:, 0] < noise
    there = np.where((drift == "new_class") & (t < (points or [0])[0]), classes - 1, classes)
    y[redrawn] = (u[redrawn, 1] * there[redrawn]).astype(np.int64)
    return Stream(X.astype(np.float32), y, [str(k) for k in range(classes)], None, points)


# --- files ---

_ENDINGS = ("", ".svm", ".svm.xz", ".svm.zst", ".svm.gz", ".svm.bz2", ".libsvm")
_OPENERS: Dict[str, Callable[..., Any]] = {".xz": lzma.open, ".gz": gzip.open, ".bz2": bz2.open}


def find(name: str) -> Optional[Path]:
    """Where a data file is: as given, in the folders of HUNCH_DATA (colon-separated), or one level below them.

    The endings .svm, .svm.xz and so on may be left out. None: there is no such file.
    """
    folders = [""]
    if not os.path.isabs(name):
        for folder in filter(None, os.environ.get("HUNCH_DATA", "").split(":")):
            below = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
            folders += [folder, *(os.path.join(folder, entry) for entry in below if not entry.startswith("."))]
    for folder in folders:
        for ending in _ENDINGS:
            path = Path(folder, name + ending)
            if path.is_file():
                return path
    return None


_TEXT = 1 << 20  # bytes of text that are parsed at once: numbers take several times as much on the way


class _Svmlight:
    """Rows that are read block by block; labels are numbered in the order of their appearance until all are known."""

    def __init__(self) -> None:
        self.table: Dict[bytes, int] = {}
        self.rows = 0
        self.label: List[NDArray[np.int32]] = []
        self.length: List[Integers] = []
        self.index: List[NDArray[np.int32]] = []
        self.value: List[NDArray[np.float32]] = []

    def add(self, text: bytes) -> None:
        """Whole lines."""
        labels: List[int] = []
        rests: List[bytes] = []
        for line in text.replace(b"\t", b" ").replace(b"\r", b"").split(b"\n"):
            if line.startswith(b"# labels:") and not self.rows and not labels:  # before the first row
                for name in line[len(b"# labels:") :].split():
                    self.table.setdefault(name, len(self.table))
            label, _, rest = line.partition(b"#")[0].strip().partition(b" ")
            if label:
                labels.append(self.table.setdefault(label, len(self.table)))
                rests.append(rest)
        self.rows += len(labels)
        self.label.append(np.asarray(labels, np.int32))
        self.length.append(np.asarray([rest.count(b":") for rest in rests], np.int64))
        numbers = _read_numbers(b" ".join(rests).replace(b":", b" "))
        if len(numbers) != 2 * self.length[-1].sum():
            raise ValueError("not svmlight text: index:value is expected after the label")
        index = numbers[0::2]
        if index.size and (index.min() < 0 or index.max() >= 2**31 or (index != np.floor(index)).any()):
            raise ValueError("not svmlight text: a feature's number is not a whole number from 0 or 1")
        self.index.append(index.astype(np.int32))
        self.value.append(numbers[1::2].astype(np.float32))

    def finish(self, index_base: Optional[int]) -> Dataset:
        classes = rank(name.decode("utf-8", "surrogateescape") for name in self.table)
        place = {name.encode("utf-8", "surrogateescape"): i for i, name in enumerate(classes)}
        final = np.asarray([place[name] for name in self.table], np.int64)
        y = final[_joined(self.label, np.int32)] if self.rows else np.empty(0, np.int64)
        index, value = _joined(self.index, np.int32), _joined(self.value, np.float32)
        if index_base is None:
            index_base = 0 if index.size and index.min() == 0 else 1
        index -= index_base
        if index.size and index.min() < 0:
            raise ValueError("not svmlight text: a feature's number is not a whole number from 0 or 1")
        indptr = np.zeros(self.rows + 1, np.int64)
        np.cumsum(_joined(self.length, np.int64), out=indptr[1:])
        X = csr(value, index, indptr, (self.rows, int(index.max()) + 1 if index.size else 0))
        if not isinstance(X, Csr):
            X.sum_duplicates()
        return Dataset(X, y, classes, index_base)


def _joined(parts: List[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    """One array of many; each part is let go as soon as it is copied."""
    whole = np.empty(sum(map(len, parts)), dtype)
    end = len(whole)
    while parts:
        part = parts.pop()
        whole[end - len(part) : end] = part
        end -= len(part)
    return whole


def _read_numbers(words: bytes) -> Floats:
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # how NumPy says that it came to something else
        try:
            return np.fromstring(words, dtype=np.float64, sep=" ") if words.strip() else np.empty(0)
        except (DeprecationWarning, ValueError):
            raise ValueError("not svmlight text: index:value is expected after the label") from None


def _blocks(file: Any) -> Iterator[bytes]:
    rest = b""
    while True:
        block = file.read(_TEXT)
        if not block:
            break
        whole, newline, tail = block.rpartition(b"\n")
        if not newline:
            rest += tail
            continue
        yield rest + whole
        rest = tail
    if rest:
        yield rest


def read_svmlight(file: Any, *, index_base: Optional[int] = None) -> Dataset:
    """Rows "label index:value ..." out of an open binary file, as a Dataset."""
    parsed = _Svmlight()
    for text in _blocks(file):
        parsed.add(text)
    return parsed.finish(index_base)


def parse_svmlight(text: bytes, *, index_base: Optional[int] = None) -> Dataset:
    """Rows "label index:value ..." as a Dataset, whose labels are numbered as the hunch command does.

    >>> data = parse_svmlight(b"spam 1:1 3:0.5\\nham 2:1\\n")
    >>> data.classes, data.y.tolist(), data.X.shape
    (['spam', 'ham'], [0, 1], (2, 3))
    """
    return read_svmlight(io.BytesIO(text), index_base=index_base)


def load_svmlight(name: Union[str, Path], *, index_base: Optional[int] = None) -> Dataset:
    """Read an svmlight file, also one compressed with xz, gzip or bzip2; see find for short names.

    index_base: the number of the first feature, 0 or 1; None: 1 unless there is a feature 0.
    """
    path = find(str(name))
    if path is None:
        raise FileNotFoundError(f"{name}: no such file here nor in the folders of HUNCH_DATA")
    if path.suffix == ".zst":
        raise ValueError(f"{path}: decompress it first (zstd is not in Python's library)")
    with _OPENERS.get(path.suffix, open)(path, "rb") as file:
        return read_svmlight(file, index_base=index_base)
