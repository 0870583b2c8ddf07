# SPDX-License-Identifier: BSD-3-Clause
"""Names of labels and features, and the form in which models keep them: each name with a NUL, in order."""

from __future__ import annotations

import operator
from typing import Iterable, List, Optional, Sequence, Union

Label = Union[str, int]

LABELS = "labels"  # the tool's own key
FEATURES = "features"
INDEX_BASE = "index-base"  # of the file that numbered features came from; also the tool's
LABEL_KINDS = "labels.python"  # "i" or "s" per label; only written when a label is a whole number


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


def label_of(value: object) -> Label:
    """A label as it is kept: text or a whole number (NumPy's become Python's)."""
    if isinstance(value, str):
        return str(value)
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ValueError(f"{value!r}: a label is text or a whole number") from None


def labels_of(classes: Sequence[object]) -> List[Label]:
    labels = [label_of(value) for value in classes]
    if len({str(label) for label in labels}) != len(labels):
        raise ValueError("classes: a label is given twice (labels are told apart by their text)")
    return labels


def label_kinds(labels: Iterable[Label]) -> bytes:
    return "".join("s" if isinstance(label, str) else "i" for label in labels).encode()


def labels_from_model(block: Optional[bytes], kinds: Optional[bytes], classes: int) -> Optional[List[Label]]:
    """The labels of a model; None: they have numbers only."""
    if block is None:
        return None
    names = block_to_text(block)
    if len(names) > classes:
        raise ValueError(f"the model names {len(names)} labels but has {classes} classes")
    if kinds is None or len(kinds) != len(names):
        kinds = b"s" * len(names)
    labels: List[Label] = [int(name) if kind == ord("i") else name for name, kind in zip(names, kinds)]
    while len(labels) < classes:  # classes that were added without a name
        labels.append(len(labels))
    return labels
