# SPDX-License-Identifier: BSD-3-Clause
"""Examples as people have them, turned into what the C library takes.

The rule: float32 values that lie one after another are used in place; so are CSR matrices with float32 values whose
rows are sorted without duplicates, whatever the type of their indices (int64 ones are narrowed). Other numbers
(float64, whole numbers, bool) are converted to float32. Anything else is refused.
"""

from __future__ import annotations

import datetime
import math
import warnings
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from . import _core

U32 = NDArray[np.uint32]
F32 = NDArray[np.float32]

#: Gives the number of each name; -1 leaves the feature out.
Lookup = Callable[[Sequence[str]], Sequence[int]]

_MAX_INDEX = 2**32 - 1
_DAY_0 = datetime.date(1970, 1, 1).toordinal()
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_FLOAT32_MAX = float(np.finfo(np.float32).max)
_PLAIN = frozenset((float, int, bool, np.float32, np.float64))


def _floats(array: NDArray[Any], what: str) -> F32:
    if array.dtype == np.float32:
        return np.ascontiguousarray(array, dtype=np.float32)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{what} must hold numbers, not {array.dtype}")
    with np.errstate(over="ignore"):  # becomes infinite, which is refused below
        return np.ascontiguousarray(array, dtype=np.float32)


def check_finite(batch: Batch) -> None:
    """What the library would refuse half way: NaN, infinite values, and such as are beyond its limit."""
    value = batch.value.reshape(-1)
    if not value.size or max(float(value.max()), -float(value.min())) <= _core.MAX_VALUE:  # False for NaN
        return
    at = int(np.argmin(np.abs(value) <= _core.MAX_VALUE))
    row, column = divmod(at, max(batch.columns, 1))
    if batch.start is not None and batch.index is not None:
        row, column = int(np.searchsorted(batch.start, at, "right")) - 1, int(batch.index[at])
    name = f"feature {column}" if batch.names is None else repr(batch.names[column])
    raise ValueError(
        f"row {row}, {name}: {value[at]} is not finite or larger than {_core.MAX_VALUE:g}; "
        "dense rows, data frames and dicts may have missing values"
    )


def _with_gaps(x: Any) -> NDArray[Any]:
    """An array, where None is NaN."""
    array = _array(x)
    if array.dtype == object and {type(None), int, float}.issuperset(map(type, array.flat)):
        try:
            return array.astype(np.float64)
        except OverflowError:
            raise ValueError("a whole number is too large for float32") from None
    return array


def dense(rows: int, columns: int, array: NDArray[Any], what: str) -> Batch:
    """Rows of d numbers. One that is missing or infinite is 0, and feature d + its column is 1, as tables have name=missing."""
    value = _floats(array, what).reshape(rows, columns)
    finite = np.isfinite(array).reshape(rows, columns)  # before what is too large for float32 became infinite
    if finite.all():
        return Batch(rows, columns, None, None, value)
    here = np.concatenate([np.ones_like(finite), ~finite], axis=1)
    start = np.zeros(rows + 1, np.int64)
    np.cumsum(here.sum(axis=1), out=start[1:])
    filled = np.concatenate([np.where(finite, value, np.float32(0)), np.ones_like(value)], axis=1)
    return Batch(rows, 2 * columns, start, np.nonzero(here)[1].astype(np.uint32), filled[here])


def _indices(index: NDArray[Any]) -> U32:
    if index.dtype.kind not in "iu":
        raise ValueError(f"indices must be whole numbers, not {index.dtype}")
    if index.size and (index.dtype.kind == "i" or index.dtype.itemsize > 4):
        if int(index.min()) < 0 or int(index.max()) > _MAX_INDEX:
            raise ValueError("a feature's number is negative or too large")
    if index.dtype.itemsize == 4 and index.dtype.isnative:
        return np.ascontiguousarray(index).view(np.uint32)
    return np.ascontiguousarray(index, dtype=np.uint32)


def is_sparse(x: object) -> bool:
    return hasattr(x, "tocsr") and hasattr(x, "nnz")


def is_frame(x: object) -> bool:
    """pandas, polars, Arrow, and whatever else speaks one of their tongues."""
    return hasattr(x, "__arrow_c_stream__") or hasattr(x, "columns") and hasattr(x, "iloc")


def _array(x: Any) -> NDArray[Any]:
    try:
        return np.asarray(x)
    except ValueError as error:
        raise ValueError(f"not an example: {error}") from None


class Row:
    """One example: named features, numbered ones, or all of them in order."""

    __slots__ = ("names", "index", "value")

    def __init__(self, names: Optional[Tuple[str, ...]], index: Optional[U32], value: F32) -> None:
        self.names = names
        self.index = index
        self.value = value

    @property
    def is_empty(self) -> bool:
        """No feature at all: neither names nor numbers."""
        return not self.value.size

    def resolve(self, lookup: Lookup) -> Tuple[Optional[U32], F32]:
        """index and value as the library wants them: sorted."""
        if self.names is None:
            return self.index, self.value
        return sorted_pairs(np.asarray(lookup(self.names), dtype=np.int64), self.value)

    def kept(self, given: object) -> Row:
        """Safe from later changes of what the caller gave."""
        index = None if self.index is None else _own(self.index, given)
        return Row(self.names, index, _own(self.value, given))

    def to_plain(self) -> Union[Dict[str, float], List[float], List[List[float]]]:
        """As JSON has it: {"name": value}, [value, ...] or [[number, value], ...]; the server reads the same."""
        values: List[float] = self.value.tolist()
        if self.names is not None:
            return dict(zip(self.names, values))
        if self.index is not None:
            return [[number, value] for number, value in zip(self.index.tolist(), values)]
        return values

    @classmethod
    def from_plain(cls, x: Any) -> Row:
        if isinstance(x, list) and x and all(isinstance(pair, (list, tuple)) for pair in x):
            return row_of({int(number): value for number, value in x})
        return row_of(x)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Row):
            return NotImplemented
        same_index = (self.index is None) == (other.index is None) and (
            self.index is None or other.index is None or np.array_equal(self.index, other.index)
        )
        return self.names == other.names and same_index and np.array_equal(self.value, other.value)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Tuple[Any, ...]:
        return (Row, (self.names, self.index, self.value))


def _own(array: NDArray[Any], given: object) -> Any:
    return array if array.base is None and array is not given else array.copy()


def sorted_pairs(index: NDArray[np.int64], value: F32) -> Tuple[U32, F32]:
    if index.size and int(index.min()) < 0:
        keep = index >= 0
        index, value = index[keep], value[keep]
    order = np.argsort(index, kind="stable")
    return index[order].astype(np.uint32), value[order]


def float_of(value: Any) -> float:
    """The number as a float, infinite beyond all of them."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _are_usual(values: Iterable[float]) -> bool:
    """False where one is missing, infinite or too large (but for those that cancel out)."""
    try:
        return abs(sum(values)) <= _core.MAX_VALUE
    except OverflowError:  # a whole number beyond all floats beside a float
        return False


def _date(name: str, value: datetime.date) -> List[Tuple[str, float]]:
    """As dates of tables become features, with the day 0 of Unix."""
    days = float(value.toordinal() - _DAY_0)
    weekday = (f"{name}.weekday={_WEEKDAYS[value.weekday()]}", 1.0)
    if not isinstance(value, datetime.datetime):
        return [(name, days), weekday]
    seconds = value.hour * 3600 + value.minute * 60 + value.second
    return [(name, days + seconds / 86400), weekday, (f"{name}.hour={value.hour}", 1.0)]


def _item(key: str, value: Any) -> List[Tuple[str, float]]:
    """The features of one entry. Missing values mean what they mean in tables: a missing number is name=missing, a missing
    category (None, "", blanks) is nothing."""
    if value is None or type(value).__name__ == "NAType" or (isinstance(value, str) and not value.strip()):
        return []
    if isinstance(value, str):
        return [(f"{key}={value}", 1.0)]
    if isinstance(value, np.datetime64):
        value = None if np.isnat(value) else value.astype("datetime64[us]").item()
    if value is None or type(value).__name__ == "NaTType":
        return [(f"{key}=missing", 1.0)]
    if isinstance(value, datetime.date):
        return _date(key, value)
    try:
        number = float_of(value)
    except (TypeError, ValueError):
        raise ValueError(f"feature {key!r}: its value must be a number, text, bool or date, not {value!r}") from None
    if _FLOAT32_MAX >= abs(number) > _core.MAX_VALUE:
        raise ValueError(f"feature {key!r}: {number:g} is larger than {_core.MAX_VALUE:g}")
    return [(key, number)] if abs(number) <= _FLOAT32_MAX else [(f"{key}=missing", 1.0)]


def _named(x: Mapping[Any, Any]) -> Tuple[List[str], List[float]]:
    """Names and values of a mapping; {"colour": "red"} is {"colour=red": 1}."""
    names: List[str] = list(x)
    values: List[float] = list(x.values())
    plain = _PLAIN.issuperset(map(type, values)) and "" not in x and "\0" not in "".join(names)
    if plain and _are_usual(values):
        return names, values
    names, values = [], []
    for key, value in x.items():
        for name, number in _item(key, value):
            names.append(name)
            values.append(number)
    if len(set(names)) != len(names):
        raise ValueError("a feature is given twice")
    for name in names:
        if not name or "\0" in name:
            raise ValueError(f"{name!r}: a feature's name must not be empty nor hold a NUL")
    return names, values


def _narrowed(values: List[float]) -> F32:
    try:
        with np.errstate(over="ignore"):  # becomes infinite, which is refused later
            return np.asarray(values, dtype=np.float64).astype(np.float32)
    except OverflowError:
        raise ValueError("a value is too large for float32") from None


def _mapping_is_named(x: Mapping[Any, Any]) -> bool:
    if set(map(type, x)) == {str}:
        return True
    kinds = {isinstance(key, str) for key in x}
    if len(kinds) > 1:
        raise ValueError("the keys of an example are names or numbers, not both")
    return kinds == {True}


def _numbered(x: Mapping[Any, Any]) -> Row:
    try:
        index = np.asarray(list(x), dtype=np.int64)
        if list(x) != index.tolist():
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise ValueError("the keys of an example are names or whole numbers") from None
    value = _array(list(x.values()))
    if not len(x):
        return Row(None, None, np.empty(0, np.float32))
    if int(index.min()) < 0 or int(index.max()) > _MAX_INDEX:
        raise ValueError("a feature's number is negative or too large")
    return Row(None, *sorted_pairs(index, _floats(value, "the example")))


def row_of(x: Any) -> Row:
    """One example out of a dict, a sequence of numbers, an array, a sparse row, or a data frame's row."""
    if isinstance(x, Row):
        return x
    if isinstance(x, Mapping) or (hasattr(x, "items") and hasattr(x, "index") and not isinstance(x, np.ndarray)):
        x = x if isinstance(x, Mapping) else dict(x.items())
        if not _mapping_is_named(x):
            return _numbered(x)
        names, values = _named(x)
        return Row(tuple(names), None, _narrowed(values))
    if is_sparse(x):
        batch = _sparse(x)
        if batch.rows != 1 or batch.index is None:
            raise ValueError(f"one example is one row; this matrix has {batch.rows}")
        return Row(None, batch.index if batch.value.size else None, batch.value)
    array = _with_gaps(x)
    if array.ndim == 2 and array.shape[0] == 1:
        array = array[0]
    if array.ndim != 1:
        raise ValueError(f"one example is one row of numbers; this has shape {array.shape}")
    batch = dense(1, len(array), array, "the example")
    return Row(None, batch.index, batch.value if batch.index is not None else batch.value[0])


class Batch:
    """Rows in the form of hunch_batch; start and index None: dense."""

    __slots__ = ("rows", "columns", "start", "index", "value", "names", "sorted", "roles")

    def __init__(
        self,
        rows: int,
        columns: int,
        start: Optional[NDArray[np.int64]],
        index: Optional[U32],
        value: F32,
        names: Optional[List[str]] = None,
        is_sorted: bool = True,
        roles: Optional[bytes] = None,
    ) -> None:
        self.rows = rows
        self.columns = columns
        self.roles = roles  # of the first columns, as hunch_set_role takes them; 0: not known
        self.start = start
        self.index = index  # with names: numbers in names
        self.value = value
        self.names = names  # of the columns; None: features have numbers
        self.sorted = is_sorted  # whether the indices of a row ascend

    @property
    def for_core(self) -> Tuple[int, Optional[NDArray[np.int64]], Optional[U32], F32]:
        return self.rows, self.start, self.index, self.value

    @property
    def is_empty(self) -> bool:
        """No feature in any row: neither names nor numbers."""
        return not self.value.size

    def resolve(self, lookup: Lookup) -> Batch:
        """The same rows with the learner's numbers instead of names."""
        if self.names is None:
            return self
        numbers = np.asarray(lookup(self.names), dtype=np.int64)
        if self.start is None or self.index is None:
            if np.array_equal(numbers, np.arange(self.columns)):
                return Batch(self.rows, self.columns, None, None, self.value)
            order = np.argsort(numbers, kind="stable")[np.count_nonzero(numbers < 0) :]
            value = self.value.reshape(self.rows, self.columns)[:, order]
            start = np.arange(self.rows + 1, dtype=np.int64) * len(order)
            index = np.tile(numbers[order].astype(np.uint32), self.rows)
            return Batch(self.rows, self.columns, start, index, np.ascontiguousarray(value).reshape(-1))
        if self.sorted and (not len(numbers) or numbers[0] >= 0) and (np.diff(numbers) > 0).all():
            return Batch(self.rows, self.columns, self.start, numbers.astype(np.uint32)[self.index], self.value)
        found = numbers[self.index] if self.index.size else np.empty(0, np.int64)
        rows = np.repeat(np.arange(self.rows), np.diff(self.start))
        keep = found >= 0
        found, rows, value = found[keep], rows[keep], self.value[keep]
        order = np.lexsort((found, rows))
        start = np.zeros(self.rows + 1, np.int64)
        np.cumsum(np.bincount(rows, minlength=self.rows), out=start[1:])
        return Batch(self.rows, self.columns, start, found[order].astype(np.uint32), value[order])

    def take(self, order: NDArray[np.int64]) -> Batch:
        """The rows in another order."""
        if self.start is None or self.index is None:
            value = self.value.reshape(self.rows, self.columns)[order]
            return Batch(len(order), self.columns, None, None, value, self.names, roles=self.roles)
        lengths = np.diff(self.start)[order]
        start = np.zeros(len(order) + 1, np.int64)
        np.cumsum(lengths, out=start[1:])
        at = np.arange(start[-1]) + np.repeat(self.start[order] - start[:-1], lengths)
        return Batch(len(order), self.columns, start, self.index[at], self.value[at], self.names, self.sorted, self.roles)

    def part(self, begin: int, end: int) -> Batch:
        """The rows from begin to end, without a copy."""
        if self.start is None or self.index is None:
            value = self.value.reshape(self.rows, self.columns)[begin:end]
            return Batch(end - begin, self.columns, None, None, value, self.names, roles=self.roles)
        start = self.start[begin : end + 1]
        return Batch(end - begin, self.columns, start, self.index, self.value, self.names, self.sorted, self.roles)

    def row(self, i: int) -> Row:
        """One of the rows."""
        if self.start is None or self.index is None:
            value = self.value.reshape(self.rows, self.columns)[i]
            return Row(None if self.names is None else tuple(self.names), None, value)
        here = slice(int(self.start[i]), int(self.start[i + 1]))
        index, value = self.index[here], self.value[here]
        if self.names is not None:
            return Row(tuple(self.names[j] for j in index.tolist()), None, value)
        return Row(None, index, value)

    @property
    def highest(self) -> int:
        """The largest feature number + 1."""
        if self.index is None:
            return self.columns if self.rows else 0
        return int(self.index.max()) + 1 if self.index.size else 0


def _sparse(x: Any) -> Batch:
    matrix = x.tocsr()
    if len(matrix.shape) != 2:
        rows, columns = 1, int(matrix.shape[-1])
    else:
        rows, columns = (int(n) for n in matrix.shape)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    start = np.ascontiguousarray(matrix.indptr, dtype=np.int64)
    used = int(start[-1])
    index = _indices(matrix.indices[:used])
    return Batch(rows, columns, start, index, _floats(matrix.data[:used], "the matrix"))


def _named_rows(rows: Iterable[Mapping[Any, Any]]) -> Batch:
    names: Dict[str, int] = {}
    index: List[int] = []
    value: List[float] = []
    start = [0]
    for row in rows:
        row_names, row_values = _named(row)
        index += [names.setdefault(name, len(names)) for name in row_names]
        value += row_values
        start.append(len(index))
    starts = np.asarray(start, dtype=np.int64)
    numbers = np.asarray(index, np.uint32)
    return Batch(len(start) - 1, len(names), starts, numbers, _narrowed(value), list(names), False)


def _numbered_rows(rows: Iterable[Mapping[Any, Any]]) -> Batch:
    parts = [_numbered(row) for row in rows]
    start = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(part.value) for part in parts], out=start[1:])
    index = np.concatenate([np.empty(0, np.uint32), *(part.index for part in parts if part.index is not None)])
    value = np.concatenate([part.value for part in parts])
    return Batch(len(parts), int(index.max()) + 1 if index.size else 0, start, index, value)


def batch_of(x: Any) -> Batch:
    """Many examples: a 2-D array, a sparse matrix, a sequence of dicts, or a data frame."""
    if isinstance(x, Batch):
        return x
    if hasattr(x, "__hunch_batch__"):
        made: Batch = x.__hunch_batch__()
        return made
    if is_sparse(x):
        return _sparse(x)
    if is_frame(x):
        from ._frames import batch_of_frame

        return batch_of_frame(x)
    if not isinstance(x, np.ndarray) and isinstance(x, Sequence) and len(x) and isinstance(x[0], Mapping):
        if not all(isinstance(row, Mapping) for row in x):
            raise ValueError("the examples must all be dicts, or none of them")
        named = [_mapping_is_named(row) for row in x if row]
        if all(named) and named:
            return _named_rows(x)
        if any(named):
            raise ValueError("the keys of the examples are names or numbers, not both")
        return _numbered_rows(x)
    array = _with_gaps(x)
    if array.ndim != 2:
        raise ValueError(f"examples are the rows of a 2-D array; this has shape {array.shape}")
    return dense(array.shape[0], array.shape[1], array, "the array")


class TableWarning(UserWarning):
    """A remark on a table: a column left out, a label that was guessed, a feature that is the label."""


def _is_same(column: NDArray[Any], labels: NDArray[Any]) -> bool:
    if column.shape != labels.shape or len(labels) < 2:
        return False
    if "M" in (column.dtype.kind, labels.dtype.kind):  # NumPy compares times with nothing else
        return False
    try:
        return bool(column[0] == labels[0]) and column.tolist() == labels.tolist()
    except TypeError:  # pandas.NA is neither true nor false
        return False


def label_within(x: Any, y: Any) -> None:
    """Warns where a column of a frame holds the labels themselves."""
    if not is_frame(x) or y is None:
        return
    labels = np.asarray(y)
    names = getattr(x, "column_names", None)
    for name in getattr(x, "columns", ()) if names is None else names:
        if _is_same(np.asarray(x[name]), labels):
            told = f"the column {name!r} holds the labels themselves; leave it out (frame.drop(columns=[{name!r}]))"
            warnings.warn(told, TableWarning, stacklevel=4)


def is_batch(x: Any) -> bool:
    """Whether x is many examples (a row of its own is not, a matrix of one row is)."""
    if isinstance(x, (Row, Mapping)):
        return False
    if isinstance(x, Batch) or is_frame(x) or hasattr(x, "__hunch_batch__"):
        return True
    if is_sparse(x):
        return len(x.shape) == 2
    if isinstance(x, np.ndarray):
        return x.ndim == 2
    return isinstance(x, Sequence) and len(x) > 0 and isinstance(x[0], (Mapping, Sequence, np.ndarray))
