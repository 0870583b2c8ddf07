# SPDX-License-Identifier: BSD-3-Clause
"""Tables by the rules of hunch-data(7): what the columns mean is described by a schema, made from the first rows and kept.

The reader is the hunch command's, so files give the same features and the same model, byte for byte.
"""

from __future__ import annotations

import csv
import errno
import importlib.util
import io
import json
import os
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional, Tuple, Union

import numpy as np

from ._html import table_html
from ._inputs import Batch, TableWarning
from ._names import SCHEMA, block_to_text, is_missing
from .datasets import Dataset, csr

if TYPE_CHECKING:
    from ._learner import Learner

_why = ""
if importlib.util.find_spec("hunch._stream") is None:
    _why = "it was made without the reader, as wheels are"
else:
    try:
        from . import _stream
    except ImportError as error:
        _why = str(error)

Schema = Dict[str, Any]
Names = Union[str, Iterable[Union[str, int]], None]
NO_LABEL = 2**32 - 1
FRAME = "-"  # how the reader calls what is not a file


@dataclass
class Table(Dataset):
    """A Dataset with names for its features and a schema of the columns. y is -1 without a label."""

    feature_names: Optional[List[str]] = None
    schema: Optional[Schema] = field(default=None, repr=False)
    remarks: List[str] = field(default_factory=list, repr=False)
    skipped: int = 0  #: malformed rows that were left out
    batch: Optional[Batch] = field(default=None, repr=False)
    schema_text: Optional[bytes] = field(default=None, repr=False)

    def __hunch_batch__(self) -> Batch:
        assert self.batch is not None
        return self.batch

    def _repr_html_(self) -> str:
        if self.schema is None:
            return table_html([], [[repr(self)]])
        rows = [
            [str(c.get("name", "")), str(c.get("role", "")), str(c.get("example", ""))] for c in self.schema["columns"]
        ]
        return table_html(["column", "role", "example"], rows, f"{len(self):,} rows")

    __repr__ = Dataset.__repr__


def _list(names: Names) -> Optional[str]:
    if names is None:
        return None
    text = names if isinstance(names, str) else ",".join(map(str, names))
    return text or None


def _known(learner: Optional[Learner], schema: Union[Schema, str, bytes, None]) -> Tuple[Any, Any, Any]:
    """Labels, features and schema of a model, as it keeps them."""
    text = (
        schema
        if isinstance(schema, (bytes, type(None)))
        else schema.encode() if isinstance(schema, str) else json.dumps(schema).encode()
    )
    if learner is None:
        return None, None, text
    learner._store_names()
    core = learner._core
    features = core.get_meta("features")
    return core.get_meta("labels"), features, text if text is not None else core.get_meta(SCHEMA)


def read_csv(
    path: Union[str, os.PathLike[str]],
    *,
    label: Union[str, int, None] = None,
    number: Names = None,
    category: Names = None,
    text: Names = None,
    ignore: Names = None,
    delimiter: Optional[str] = None,
    header: bool = True,
    missing: Names = None,
    ngrams: int = 0,
    hash_bits: int = 0,
    max_features: int = 0,
    schema: Union[Schema, str, bytes, None] = None,
    learner: Optional[Learner] = None,
    skip_bad_rows: bool = False,
    format: str = "auto",
) -> Table:
    """Read a table as `hunch run` does: CSV with any separator, TSV, JSON lines, VW text or svmlight, also compressed.

    What columns mean is decided by rules (hunch-data(7)) unless label, number, category, text or ignore say so (names,
    positions from 1, globs). schema: of another Table (table.schema) or a file's content. learner: read it as the model
    does, by its schema, labels and features. Remarks are warnings, and in table.remarks.
    """
    return _read(
        os.fspath(path), None, format, label=label, number=number, category=category, text=text, ignore=ignore,
        delimiter=delimiter, header=header, missing=missing, ngrams=ngrams, hash_bits=hash_bits,
        max_features=max_features, schema=schema, learner=learner, skip_bad_rows=skip_bad_rows,
    )  # fmt: skip


def _read(
    path: str, data: Optional[bytes], format: str, *, label: Union[str, int, None] = None, number: Names = None,
    category: Names = None, text: Names = None, ignore: Names = None, delimiter: Optional[str] = None,
    header: bool = True, missing: Names = None, ngrams: int = 0, hash_bits: int = 0, max_features: int = 0,
    schema: Union[Schema, str, bytes, None] = None, learner: Optional[Learner] = None, skip_bad_rows: bool = False,
) -> Table:  # fmt: skip
    if _why:
        raise ImportError(
            f"this build of hunch cannot read tables ({_why}). Build it from source where the headers of libarchive, zstd, "
            "jansson and libunistring are installed (docs/how-to/python.md), or pass a data frame: hunch.run(None, frame, labels)"
        )
    options = (
        None if label is None else str(label), _list(number), _list(category), _list(text), _list(ignore),
        None, None, None, delimiter, _list(missing), not header, skip_bad_rows, False, False, ngrams, hash_bits, max_features,
    )  # fmt: skip
    try:
        got = _stream.read(path, data, format, -1, options, _known(learner, schema))
    except ValueError as error:
        if str(error).endswith(os.strerror(errno.ENOENT)):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path) from None
        raise ValueError(str(error).replace("standard input", "the data frame")) from None
    start, index, value = (
        np.frombuffer(got[0], np.int64),
        np.frombuffer(got[1], np.uint32),
        np.frombuffer(got[2], np.float32),
    )
    number_of = np.frombuffer(got[3], np.uint32).astype(np.int64)
    names = None if got[5] is None else block_to_text(got[5])
    columns = len(names) if names is not None else int(index.max()) + 1 if index.size else 0
    rows = len(number_of)
    remarks = [remark.replace("standard input", "the data frame") for remark in got[7]]
    for remark in remarks:
        warnings.warn(remark, TableWarning, stacklevel=3)
    return Table(
        csr(value, index.astype(np.int32), start, (rows, columns)),
        np.where(number_of == NO_LABEL, -1, number_of),
        block_to_text(got[4]),
        got[9] if names is None and got[9] >= 0 else None,
        names,
        None if got[6] is None else json.loads(got[6]),
        remarks,
        int(got[10]),
        Batch(rows, columns, start, index, value, names, roles=got[8]),
        got[6],
    )


# --- data frames ---


def _text_of_pandas(frame: Any, label: Optional[str]) -> bytes:
    plain = {}
    for name in frame.columns:
        column = frame[name]
        kind = getattr(column.dtype, "kind", "O")
        is_whole = kind == "f" and str(name) == label and (column.dropna() % 1 == 0).all()
        plain[name] = column.astype("Int64") if is_whole or (kind == "b" and str(name) != label) else column
    made: str = type(frame)(plain).to_csv(index=False, lineterminator="\n")
    return made.encode()


def _text_of_frame(frame: Any, label: Optional[str]) -> Tuple[bytes, Dict[str, List[str]]]:
    """The frame as CSV, and the roles that its types tell; of text the rules tell."""
    if not hasattr(frame, "iloc") and hasattr(frame, "to_pandas"):
        frame = frame.to_pandas()
    if not hasattr(frame, "iloc"):
        raise ValueError(f"a data frame is expected, not {type(frame).__name__}")
    roles: Dict[str, List[str]] = {"number": [], "category": []}
    for name in frame.columns:
        dtype = frame[name].dtype
        if hasattr(frame[name], "cat"):
            roles["category"].append(str(name))
        elif getattr(dtype, "kind", "O") in "fb":  # whole numbers may be ids or codes: the rules tell
            roles["number"].append(str(name))
    return _text_of_pandas(frame, label), roles


def table_of_frame(
    frame: Any,
    label: Optional[str] = None,
    *,
    text: Names = None,
    category: Names = None,
    ignore: Names = None,
    schema: Union[Schema, str, bytes, None] = None,
    learner: Optional[Learner] = None,
) -> Table:
    """A data frame as a Table: its types become the schema's roles, text is recognised by the rules of files.

    Fractions and truth values are numbers, categoricals categories, dates dates; of whole numbers and text the rules
    of files tell (an id is left out, a column of many words is text).
    """
    if label is None and learner is not None:
        columns = (learner.schema or {}).get("columns", ())
        label = next((column["name"] for column in columns if column["role"] == "label"), None)
    data, roles = _text_of_frame(frame, label)
    if schema is not None or learner is not None:
        return _read(FRAME, data, "csv", delimiter=",", schema=schema, learner=learner)
    said = {name for names in (text, category, ignore) for name in (_list(names) or "").split(",")} | {str(label)}
    number = [name for name in roles["number"] if name not in said]
    categories = [
        *(name for name in roles["category"] if name not in said),
        *filter(None, (_list(category) or "").split(",")),
    ]
    return _read(
        FRAME, data, "csv", delimiter=",", label=label, number=number, category=categories, text=text, ignore=ignore
    )


def table_of_texts(
    texts: Iterable[Any], labels: Optional[Iterable[Any]] = None, *, learner: Optional[Learner] = None
) -> Table:
    """Texts as a Table of one column, text; with the column label, or by the schema of a learner."""
    column = "text"
    if learner is not None:
        known = [c["name"] for c in (learner.schema or {}).get("columns", ()) if c["role"] == "text"]
        if len(known) != 1:
            raise ValueError(f"texts alone are read by a schema with one column of text; this model has {len(known)}")
        column = known[0]
    buffer = io.StringIO()
    write = csv.writer(buffer, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow
    cells = ("" if is_missing(text) else text for text in texts)
    write([column] if labels is None else [column, "label"])
    for row in zip(cells) if labels is None else zip(cells, labels):
        write(row)
    given: Dict[str, Any] = {"learner": learner} if learner is not None else {"text": column, "label": "label"}
    return _read(FRAME, buffer.getvalue().encode("utf-8", "surrogateescape"), "csv", delimiter=",", **given)
