# SPDX-License-Identifier: BSD-3-Clause
"""Data frames, column by column: pandas by its own arrays, polars, Arrow and others through Arrow's C stream.

Numbers and truth values are values; text and categories are features of their own, colour=red; a missing category is no
feature. Names are numbered as they would be by dicts, row after row, so that both ways give the same learner.
"""

from __future__ import annotations

import datetime
from typing import Any, List, NamedTuple, Optional, Union

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._inputs import _WEEKDAYS, F32, Batch, dense, float_of


class Numbers(NamedTuple):
    """A column of values."""

    name: str
    value: F32


class Categories(NamedTuple):
    """A column of texts: a number for each row, -1 where there is none."""

    name: str
    code: NDArray[np.int64]
    texts: List[str]


Column = Union[Numbers, Categories]


def _with_missing(columns: List[Column]) -> List[Column]:
    """Numbers that are missing or infinite become the feature name=missing, as in tables."""
    found: List[Column] = []
    for column in columns:
        if isinstance(column, Numbers):
            present = np.isfinite(column.value)
            if not present.all():
                found.append(Numbers(column.name, np.where(present, column.value, np.float32(0))))
                column = Categories(column.name, np.where(present, -1, 0), ["missing"])
        found.append(column)
    return found


def _same_name(names: List[Any]) -> ValueError:
    return ValueError(f"two columns have the same name, {next(name for name in names if names.count(name) > 1)!r}")


def batch_of_columns(rows: int, columns: List[Column]) -> Batch:
    """Rows out of columns: dense when all are numbers."""
    names = [column.name for column in columns]
    if len({(type(column), column.name) for column in columns}) != len(names):
        raise _same_name(names)
    columns = _with_missing(columns)
    for name in names:
        if not name or "\0" in name:
            raise ValueError(f"{name!r}: a feature's name must not be empty nor hold a NUL")
    if all(isinstance(column, Numbers) for column in columns):
        value = np.empty((rows, len(columns)), np.float32)
        for j, column in enumerate(columns):
            value[:, j] = column[1]
        return Batch(rows, len(columns), None, None, value, names)
    return _mixed(rows, columns)


def _mixed(rows: int, columns: List[Column]) -> Batch:
    found: List[Any] = []  # (row of the first appearance, column, text's number or -1)
    for j, column in enumerate(columns):
        if isinstance(column, Numbers):
            found.append((0, j, -1))
            continue
        first = np.full(len(column.texts) + 1, rows, np.int64)
        first[column.code[::-1]] = np.arange(rows)[::-1]  # the last assignment stays: the first row
        found += [(int(first[k]), j, k) for k in range(len(column.texts)) if first[k] < rows]
    found.sort()
    names = [columns[j].name if k < 0 else f"{columns[j].name}={columns[j][2][k]}" for _, j, k in found]
    if len(set(names)) != len(names):
        raise ValueError("a feature is given twice: a column's name reads like another column's category")
    tables = [
        np.full(len(column[2]) + 1, -1, np.int64) if len(column) == 3 else np.empty(1, np.int64) for column in columns
    ]
    for number, (_, j, k) in enumerate(found):
        tables[j][k] = number
    index = np.empty((rows, len(columns)), np.int64)
    value = np.ones((rows, len(columns)), np.float32)
    for j, column in enumerate(columns):
        if isinstance(column, Numbers):
            index[:, j], value[:, j] = tables[j][-1], column.value
        else:
            index[:, j] = tables[j][column.code]  # code -1: the last entry, which is -1
    order = np.argsort(index, axis=1, kind="stable")
    index, value = np.take_along_axis(index, order, 1), np.take_along_axis(value, order, 1)
    keep = index >= 0
    start = np.zeros(rows + 1, np.int64)
    np.cumsum(keep.sum(axis=1), out=start[1:])
    return Batch(rows, len(names), start, index[keep].astype(np.uint32), value[keep], names)


def _categories(name: str, code: NDArray[np.int64], texts: List[str]) -> Categories:
    """Empty texts and blanks are missing."""
    blank = [k for k, text in enumerate(texts) if not text.strip()]
    return Categories(name, np.where(np.isin(code, blank), -1, code).astype(np.int64) if blank else code, texts)


def _date_columns(name: str, seconds: NDArray[np.int64], there: NDArray[np.bool_]) -> List[Column]:
    """As dates of tables become features, with the day 0 of Unix: days, the weekday and, where one has a time, the hour."""
    days, rest = np.divmod(seconds, 86400)
    columns: List[Column] = [Numbers(name, np.where(there, seconds / 86400, np.nan).astype(np.float32))]
    columns.append(Categories(f"{name}.weekday", np.where(there, (days + 3) % 7, -1), list(_WEEKDAYS)))
    if (rest[there] != 0).any():
        columns.append(Categories(f"{name}.hour", np.where(there, rest // 3600, -1), [str(h) for h in range(24)]))
    return columns


# --- pandas ---


def _objects(name: str, series: Any) -> List[Column]:
    """Texts, numbers, or both, as spreadsheets have them: a number is a value, a text a feature of its own."""
    import pandas

    try:
        codes, distinct = pandas.factorize(series.to_numpy(dtype=object))
        texts = [text if isinstance(text, str) else None for text in distinct]
        with np.errstate(over="ignore"):  # becomes infinite, which is missing
            number = np.asarray([0 if isinstance(v, str) else float_of(v) for v in distinct] + [np.nan], np.float32)
    except (TypeError, ValueError):
        raise ValueError(f"column {name!r} holds neither numbers nor text: {series.dropna().iloc[0]!r}") from None
    blank = [k for k, text in enumerate(texts) if text is None or not text.strip()]
    categories = Categories(name, np.where(np.isin(codes, blank), -1, codes).astype(np.int64), [t or "" for t in texts])
    if all(isinstance(text, str) for text in distinct):
        return [categories]
    number[-1] = np.nan if not any(texts) else 0
    return [Numbers(name, number[codes]), *([categories] if any(texts) else [])]


def _dates(name: str, series: Any) -> List[Column]:
    there = series.notna().to_numpy()
    if not isinstance(series.dtype, np.dtype) and "date" in str(series.dtype):  # Arrow's dates without a time
        series = series.astype("datetime64[ns]")
    local = series.dt.tz_localize(None) if getattr(series.dt, "tz", None) is not None else series
    seconds = local.to_numpy().astype("datetime64[s]").astype(np.int64)
    return _date_columns(name, seconds, there)


def _as_dates(series: Any) -> Any:
    """Objects of datetime as pandas' own type."""
    import pandas

    try:
        return pandas.to_datetime(series)
    except (TypeError, ValueError) as error:
        raise ValueError(f"column {series.name!r} holds dates and something else: {error}") from None


def _pandas_columns(name: str, series: Any) -> List[Column]:
    is_date = getattr(series.dtype, "kind", "O") == "M"
    if getattr(series.dtype, "kind", "") == "O" and isinstance(series.dropna().head(1).squeeze(), datetime.date):
        series, is_date = _as_dates(series), True
    return _dates(name, series) if is_date else _pandas_column(name, series)


def _pandas_column(name: Any, series: Any) -> List[Column]:
    dtype = series.dtype
    kind = getattr(dtype, "kind", "O")
    if hasattr(series, "cat"):
        texts = [str(category) for category in series.cat.categories]
        return [_categories(name, np.asarray(series.cat.codes, np.int64), texts)]
    if kind in "fiub" and isinstance(dtype, np.dtype):
        with np.errstate(over="ignore"):
            return [Numbers(name, series.to_numpy().astype(np.float32))]
    if kind in "fiub":  # pandas' own types, which know missing values
        return [Numbers(name, series.to_numpy(dtype=np.float32, na_value=np.nan))]
    if kind in "OUS" or "str" in str(dtype).lower():
        return _objects(name, series)
    raise ValueError(f"column {name!r}: {dtype} is neither numbers nor text; turn it into one of them")


def _pandas(x: Any) -> Batch:
    rows, names = len(x), list(x.columns)
    whole = [isinstance(name, (int, np.integer)) for name in names]
    if any(whole) and not all(whole):
        raise ValueError("the columns have names or numbers, not both")
    if all(whole) and names:
        return _numbered(x, rows, [int(name) for name in names])
    if len(set(names)) != len(names):
        raise _same_name(names)
    if all(isinstance(dtype, np.dtype) and dtype.kind in "fiub" for dtype in x.dtypes):
        with np.errstate(over="ignore"):
            value = np.ascontiguousarray(x.to_numpy().astype(np.float32))
        if np.isfinite(value).all():
            return Batch(rows, len(names), None, None, value, [str(name) for name in names])
    columns = [column for j, name in enumerate(names) for column in _pandas_columns(str(name), x.iloc[:, j])]
    return batch_of_columns(rows, columns)


def _numbered(x: Any, rows: int, numbers: List[int]) -> Batch:
    """A frame without names: its columns are features by number."""
    if min(numbers) < 0 or max(numbers) >= 2**32 or len(set(numbers)) != len(numbers):
        raise ValueError("the columns' numbers must be different, from 0 on")
    order = np.argsort(numbers)
    value = np.empty((rows, len(numbers)), np.float32)
    for at, j in enumerate(order.tolist()):
        column, *more = _pandas_column(str(numbers[j]), x.iloc[:, j])
        if more or not isinstance(column, Numbers):
            raise ValueError(f"column {numbers[j]} holds text: give the columns names")
        value[:, at] = column.value
    if sorted(numbers) == list(range(len(numbers))):
        return dense(rows, len(numbers), value, "the frame")
    index = np.tile(np.asarray(sorted(numbers), np.uint32), rows)
    start = np.arange(rows + 1, dtype=np.int64) * len(numbers)
    return Batch(rows, max(numbers) + 1, start, index, value.reshape(-1))


# --- Arrow ---


def _arrow(x: Any) -> Batch:
    rows, found = _core.arrow_columns(x.__arrow_c_stream__())
    columns: List[Column] = []
    for name, data, texts in found:
        if texts is True:
            seconds = np.frombuffer(data, np.int64)
            columns += _date_columns(name, seconds, seconds != np.iinfo(np.int64).min)
        elif not isinstance(texts, list):
            columns.append(Numbers(name, np.frombuffer(data, np.float32)))
        else:
            columns.append(_categories(name, np.frombuffer(data, np.int32).astype(np.int64), texts))
    return batch_of_columns(rows, columns)


def batch_of_frame(x: Any) -> Batch:
    """Rows of a data frame, its columns being named features."""
    return _pandas(x) if hasattr(x, "iloc") else _arrow(x)


def column_names(x: Any) -> Optional[List[str]]:
    """The names of a frame's columns, None where x is none or has numbers for them."""
    names = getattr(x, "columns", None)
    if names is None or callable(names):
        return None
    return [str(name) for name in names] if all(isinstance(name, str) for name in names) else None
