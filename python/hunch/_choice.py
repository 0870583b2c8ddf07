# SPDX-License-Identifier: BSD-3-Clause
"""Choices: what a learner answered, with all that its feedback needs."""

from __future__ import annotations

import json
import math
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union, overload

import numpy as np
from numpy.typing import NDArray

from ._inputs import Batch, Row, row_of
from ._names import Label, label_array

Raw = Tuple[int, float, int, int, int, float, float]


class Choice:
    """One answer of a learner. Plain data: keep it, pickle it, send it as JSON until the feedback comes.

    >>> import hunch
    >>> learner = hunch.Learner("banditron", classes=["tea", "coffee"])
    >>> choice = learner.predict({"morning": 1})
    >>> again = hunch.Choice.from_json(choice.to_json())
    >>> again == choice
    True
    >>> learner.feedback(again, right=False)
    True
    """

    __slots__ = ("_learner", "_raw", "_label", "_greedy", "_x", "_promise")

    def __init__(
        self,
        learner: str,
        raw: Raw,
        label: Label,
        greedy: Label,
        x: Union[None, Row, Dict[str, Any]],
        promise: Optional[Tuple[float, int, bool]] = None,
    ) -> None:
        self._learner = learner
        self._raw = raw
        self._promise = promise  # with the library's mark, and whether to act
        self._label = label
        self._greedy = greedy
        self._x = x  # a dict of names becomes a Row when someone looks

    @property
    def label(self) -> Label:
        """The label to show."""
        return self._label

    @property
    def greedy(self) -> Label:
        """The label with the largest score."""
        return self._greedy

    @property
    def prob(self) -> float:
        """The probability of the predicted label, in (0,1]."""
        return self._raw[1]

    @property
    def round(self) -> int:
        """The number of this prediction in the learner's life, from 1."""
        return self._raw[0]

    @property
    def label_number(self) -> int:
        """The label's class number."""
        return self._raw[2]

    @property
    def greedy_number(self) -> int:
        """The class number of the label with the largest score."""
        return self._raw[3]

    @property
    def note(self) -> int:
        """The learner's remark to itself."""
        return self._raw[4]

    @property
    def margin(self) -> float:
        """By how much the label's score exceeds the best other's (below 0: falls short); 0: not known."""
        return self._raw[5]

    @property
    def confidence(self) -> float:
        """The calibrated probability that the label is right."""
        return self._raw[6]

    @property
    def act(self) -> Optional[bool]:
        """Whether to act on the label (True) or to hand it over (False); None: predict was not given act_at."""
        return None if self._promise is None else self._promise[2]

    @property
    def act_at(self) -> Optional[float]:
        """The promised accuracy of the choices acted on."""
        return None if self._promise is None else self._promise[0]

    @property
    def explored(self) -> bool:
        """Whether the label is not the one with the largest score."""
        return self._raw[2] != self._raw[3]

    @property
    def learner(self) -> str:
        """The name of the algorithm that chose."""
        return self._learner

    @property
    def row(self) -> Optional[Row]:
        return None if self._x is None else row_of(self._x)

    @property
    def x(self) -> Union[None, Dict[str, float], List[float], List[List[float]]]:
        """The example as it was chosen for (None: not kept)."""
        row = self.row
        return None if row is None else row.to_plain()

    def to_dict(self) -> Dict[str, Any]:
        """Everything, in the types of JSON."""
        return {
            "learner": self._learner,
            "round": self.round,
            "prob": self.prob,
            "label": self._label,
            "greedy": self._greedy,
            "label_number": self.label_number,
            "greedy_number": self.greedy_number,
            "note": self.note,
            "margin": self.margin,
            "confidence": None if math.isnan(self.confidence) else self.confidence,
            "x": self.x,
            **({} if self._promise is None else {"promise": list(self._promise)}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Choice:
        """The choice that to_dict described."""
        try:
            raw = (
                int(data["round"]),
                float(data["prob"]),
                int(data["label_number"]),
                int(data["greedy_number"]),
                int(data["note"]),
                float(data.get("margin", 0.0)),
                math.nan if data.get("confidence") is None else float(data["confidence"]),
            )
            if min(raw[:5]) < 0 or max(raw[2:5]) >= 2**32 or raw[0] >= 2**64 or not math.isfinite(raw[5]):
                raise ValueError("a number is out of range")
            x = None if data["x"] is None else Row.from_plain(data["x"])
            said = data.get("promise")
            promise = None if said is None else (float(said[0]), int(said[1]), bool(said[2]))
            return cls(str(data["learner"]), raw, data["label"], data["greedy"], x, promise)
        except (KeyError, IndexError, TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"not a choice: {error!r}") from error

    def to_json(self) -> str:
        """to_dict as text."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: Union[str, bytes]) -> Choice:
        """The choice that to_json described."""
        data = json.loads(text)
        if not isinstance(data, dict):
            raise ValueError("not a choice: a JSON object is expected")
        return cls.from_dict(data)

    def _all(self) -> Tuple[Any, ...]:
        return (self._learner, self._raw, self._label, self._greedy, self.row, self._promise)

    def __reduce__(self) -> Tuple[Any, ...]:
        return (Choice, self._all())

    def __eq__(self, other: object) -> bool:
        return self._all() == other._all() if isinstance(other, Choice) else NotImplemented

    def __hash__(self) -> int:
        return hash((self._learner, self._raw))

    def __repr__(self) -> str:
        how = "explored" if self.explored else "greedy"
        return f"Choice(label={self._label!r}, prob={self.prob:.6g}, round={self.round}, {how})"


class Columns(NamedTuple):
    """Choices as the library has them: one array per member."""

    label_number: NDArray[np.uint32]
    greedy_number: NDArray[np.uint32]
    prob: NDArray[np.float64]
    note: NDArray[np.uint32]
    round: NDArray[np.uint64]
    margin: NDArray[np.float32]
    confidence: NDArray[np.float64]

    @classmethod
    def empty(cls, n: int) -> Columns:
        types = (np.uint32, np.uint32, np.float64, np.uint32, np.uint64, np.float32, np.float64)
        return cls(*(np.empty(n, dtype) for dtype in types))  # type: ignore[arg-type]

    def take(self, rows: Union[slice, NDArray[np.int64]]) -> Columns:
        return Columns(*(np.ascontiguousarray(column[rows]) for column in self))  # type: ignore[arg-type]


class Choices:
    """The choices of many rounds, by column: label, greedy, prob, confidence, margin, round, note and numbers of labels.

    >>> import hunch
    >>> learner = hunch.Learner("banditron", classes=["tea", "coffee"])
    >>> choices = learner.predict_many([[1, 0], [0, 1], [1, 1]])
    >>> choices["label"].tolist(), len(choices), choices[0].label
    (['tea', 'tea', 'tea'], 3, 'tea')
    """

    def __init__(self, learner: str, labels: Sequence[Label], columns: Columns, x: Optional[Batch] = None) -> None:
        self.learner = learner  #: the name of the algorithm that chose
        self.labels = list(labels)  #: the labels in the order of their numbers
        self.columns = columns
        self.x = x  # the examples; None: not kept

    NAMES = ("round", "prob", "label", "greedy", "note", "label_number", "greedy_number", "margin", "confidence")

    @overload
    def __getitem__(self, key: str) -> NDArray[Any]: ...
    @overload
    def __getitem__(self, key: int) -> Choice: ...
    @overload
    def __getitem__(self, key: Union[slice, Sequence[int], NDArray[Any]]) -> Choices: ...

    def __getitem__(self, key: Any) -> Any:
        """A column by name, one Choice by number, or the Choices of some rows."""
        columns = self.columns
        if isinstance(key, str):
            if key in ("label", "greedy"):
                return label_array(self.labels)[getattr(columns, f"{key}_number")]
            if key not in self.NAMES:
                raise KeyError(f"{key!r}: choices have {', '.join(self.NAMES)}")
            return getattr(columns, key)
        if isinstance(key, (int, np.integer)):
            label, greedy, prob, note, number, margin, confidence = (column[key].item() for column in columns)
            x = None if self.x is None else self.x.row(range(len(self))[key])
            raw = (number, prob, label, greedy, note, margin, confidence)
            return Choice(self.learner, raw, self.labels[label], self.labels[greedy], x)
        order = np.arange(len(self))[key]
        rows = None if self.x is None else self.x.take(order)
        return Choices(self.learner, self.labels, columns.take(order), rows)

    def __len__(self) -> int:
        return len(self.columns.prob)

    def __iter__(self) -> Iterator[Choice]:
        return (self[i] for i in range(len(self)))

    @property
    def explored(self) -> NDArray[np.bool_]:
        """Whether the label is not the one with the largest score, by round."""
        return np.asarray(self.columns.label_number != self.columns.greedy_number)

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[np.void]:
        """One record per round, with the columns' names."""
        columns = {name: self[name] for name in self.NAMES}
        ret = np.empty(len(self), [(name, column.dtype) for name, column in columns.items()])
        for name, column in columns.items():
            ret[name] = column
        return ret

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row per round."""
        import pandas

        return pandas.DataFrame({name: self[name] for name in self.NAMES})

    def __repr__(self) -> str:
        return f"Choices({len(self)} rounds of {self.learner!r}, labels {self.labels!r:.60})"


class Answers:
    """Which rounds have been answered, and how: two bits each, in pages, so that old rounds cost nothing."""

    PAGE = 1 << 14

    def __init__(self) -> None:
        self._pages: Dict[int, bytearray] = {}

    def get(self, number: int) -> int:
        """0: not yet. 1: wrong, 2: right."""
        page = self._pages.get(number >> 14)
        return 0 if page is None else page[(number & 16383) >> 2] >> 2 * (number & 3) & 3

    def set(self, number: int, right: bool) -> None:
        page = self._pages.get(number >> 14)
        if page is None:
            page = self._pages[number >> 14] = bytearray(self.PAGE // 4)
        at, shift = (number & 16383) >> 2, 2 * (number & 3)
        page[at] = page[at] & ~(3 << shift) | (2 if right else 1) << shift
