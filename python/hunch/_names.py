# SPDX-License-Identifier: BSD-3-Clause
"""Names of labels and features, and the form in which models keep them: each name with a NUL, in order."""

from __future__ import annotations

import difflib
import operator
from typing import Any, Callable, Collection, Dict, Iterable, List, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

Label = Union[str, int]

LABELS = "labels"  # the tool's own key
FEATURES = "features"
INDEX_BASE = "index-base"  # of the file that numbered features came from; also the tool's
SCHEMA = "schema"  # what the columns of tables mean; the tool's
LABEL_KINDS = "labels.python"  # "i", "b" or "s" per label; only written when a label is not text


def text_to_block(names: Iterable[str]) -> bytes:
    """Names as a model keeps them."""
    block = bytearray()
    for name in names:
        encoded = name.encode("utf-8", "surrogateescape")
        if not encoded or b"\0" in encoded:
            raise ValueError(f"{name!r}: a name must not be empty nor hold a NUL")
        block += encoded + b"\0"
    return bytes(block)


def block_to_text(block: bytes) -> List[str]:
    return [name.decode("utf-8", "surrogateescape") for name in block.split(b"\0")[:-1]]


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """ " (did you mean ...?)" when something known is close, else nothing."""
    close = difflib.get_close_matches(str(name), list(known), 1, 0.6)
    return f" (did you mean {close[0]!r}?)" if close else ""


def whole(value: Any, name: str, low: int, high: int) -> int:
    """A whole number within bounds, or ValueError."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be a whole number, not {value!r}") from None
    if not low <= number <= high:
        raise ValueError(f"{name}={number}: must lie between {low} and {high}")
    return number


def feature_names(features: Iterable[object]) -> List[str]:
    """Names of features, each once."""
    names = [] if isinstance(features, str) else list(dict.fromkeys(features))
    if isinstance(features, str) or not all(isinstance(name, str) and name and "\0" not in name for name in names):
        raise ValueError("features: how many, or their names, which must not be empty nor hold a NUL")
    return [str(name) for name in names]


# --- labels ---


def is_missing(value: object) -> bool:
    """None, NaN and what pandas has for them."""
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )


def label_of(value: object) -> Label:
    """A label as it is kept: text, a whole number (also 1.0) or a truth value (NumPy's become Python's)."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, np.bool_):
        return bool(value)
    try:
        return value if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        what = "is missing" if is_missing(value) else "is text or a whole number"
        raise ValueError(f"{value!r}: a label {what}") from None


def labels_of(classes: Iterable[object]) -> List[Label]:
    labels = [label_of(value) for value in classes]
    if len({str(label) for label in labels}) != len(labels) or len(set(labels)) != len(labels):
        raise ValueError("classes: a label is given twice (labels are distinguished by their text)")
    return labels


def classes_of(classes: Any, most: int) -> Tuple[Optional[List[Label]], int]:
    """Labels (None: numbers only) and how many: a number, or any collection; sets are put in order (see rank)."""
    if isinstance(classes, (set, frozenset)):
        named = {str(label): label for label in labels_of(classes)}
        labels = [named[text] for text in rank(sorted(named))]
    elif hasattr(classes, "__iter__") and not isinstance(classes, (str, bytes)):
        labels = labels_of(classes.tolist() if hasattr(classes, "tolist") else classes)
    else:
        return None, whole(classes, "classes", 1, most)
    return labels, whole(len(labels), "classes", 1, most)


def rank(names: Iterable[str]) -> List[str]:
    """Names in the order that the hunch command gives labels: as numbers when all are, else as they came.

    >>> rank(["10", "9"]), rank(["x", "10", "9"])
    (['9', '10'], ['x', '10', '9'])
    """
    came = list(names)
    try:
        return sorted(sorted(came), key=float)
    except ValueError:
        return came


def label_array(labels: Sequence[Label]) -> NDArray[Any]:
    """Labels as an array of one type where they have one."""
    kinds = set(map(type, labels))
    return np.asarray(labels, dtype=None if len(kinds) == 1 else object)


def column_of_labels(y: Any) -> NDArray[Any]:
    """Many labels as an array of whole numbers, truth values, text or objects; missing ones are named."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"labels are one list; these have shape {labels.shape}")
    if labels.dtype.kind in "iubUO" and labels.dtype.kind != "O" or not labels.size:
        return labels
    missing = np.asarray([is_missing(value) for value in labels.tolist()])
    if missing.any():
        row = int(missing.argmax())
        raise ValueError(f"row {row}: the label is missing ({labels[row]!r}); leave such rows out")
    if labels.dtype.kind == "O":
        return labels
    if labels.dtype.kind == "f" and np.isfinite(labels).all() and (labels == np.floor(labels)).all():
        return labels.astype(np.int64)
    hint = ": round them, or make them text" if labels.dtype.kind == "f" else ""
    raise ValueError(f"labels must be whole numbers or text, not {labels.dtype}{hint}")


def labels_in(texts: Iterable[str], column: Any) -> List[Label]:
    """The labels that a reader of tables gave as text, as the column holds them: whole numbers stay numbers."""
    found: Dict[str, Label] = {}
    for value in dict.fromkeys(np.asarray(column).tolist()):
        try:
            label = label_of(value)
            found[str(label)] = label
        except ValueError:  # fractions, dates, missing values: the text
            pass
    return [found.get(text, text) for text in texts]


def is_texts(x: Any) -> bool:
    """Whether x is many texts: a list, an array or a column of them."""
    if not isinstance(x, (list, tuple)):
        if len(getattr(x, "shape", ())) != 1 or not hasattr(x, "__array__"):
            return False
        x = np.asarray(x).tolist()
    return any(isinstance(text, str) for text in x) and all(isinstance(text, str) or is_missing(text) for text in x)


def label_kinds(labels: Iterable[Label]) -> bytes:
    return "".join(
        "s" if isinstance(label, str) else "b" if isinstance(label, bool) else "i" for label in labels
    ).encode()


def labels_from_model(block: Optional[bytes], kinds: Optional[bytes], classes: int) -> Optional[List[Label]]:
    """The labels of a model; None: they have numbers only."""
    if block is None:
        return None
    names = block_to_text(block)
    if len(names) > classes:
        raise ValueError(f"the model names {len(names)} labels but has {classes} classes")
    if kinds is None or len(kinds) != len(names):
        kinds = b"s" * len(names)
    made: Dict[int, Callable[[str], Label]] = {ord("i"): int, ord("b"): "True".__eq__}
    labels: List[Label] = [made.get(kind, str)(name) for name, kind in zip(names, kinds)]
    while len(labels) < classes:  # classes that were added without a name
        labels.append(len(labels))
    return labels


def unknown_label(label: object, labels: Collection[Label]) -> ValueError:
    if any(str(known) == str(label) for known in labels):
        kind = type(next(known for known in labels if str(known) == str(label))).__name__
        return ValueError(f"{label!r} is not one of the labels, but as {kind} it would be")
    return ValueError(f"{label!r} is not one of the labels{did_you_mean(label, map(str, labels))}")
