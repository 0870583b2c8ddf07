# SPDX-License-Identifier: BSD-3-Clause
"""Choices: what a learner answered, with all that its feedback needs."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

import numpy as np

from ._inputs import Row
from ._names import Label


class Choice:
    """One answer of a learner. Plain data: keep it, pickle it, send it as JSON until the feedback comes.

    >>> import hunch
    >>> learner = hunch.Learner("banditron", classes=["tea", "coffee"])
    >>> choice = learner.predict({"morning": 1})
    >>> again = hunch.Choice.from_json(choice.to_json())
    >>> again == choice
    True
    >>> learner.feedback(again, right=False)
    """

    __slots__ = ("_learner", "_raw", "_label", "_greedy", "_x")

    def __init__(
        self, learner: str, raw: Tuple[int, float, int, int, int], label: Label, greedy: Label, x: Optional[Row]
    ) -> None:
        self._learner = learner
        self._raw = raw
        self._label = label
        self._greedy = greedy
        self._x = x

    @property
    def label(self) -> Label:
        """The label to show."""
        return self._label

    @property
    def greedy(self) -> Label:
        """The label that the model believes in."""
        return self._greedy

    @property
    def prob(self) -> float:
        """The chance that the label was given, in (0,1]."""
        return self._raw[1]

    @property
    def round(self) -> int:
        """The number of this prediction in the learner's life, from 1."""
        return self._raw[0]

    @property
    def label_number(self) -> int:
        return self._raw[2]

    @property
    def greedy_number(self) -> int:
        return self._raw[3]

    @property
    def note(self) -> int:
        """The learner's remark to itself."""
        return self._raw[4]

    @property
    def explored(self) -> bool:
        """Whether the label is not the one that the model believes in."""
        return self._raw[2] != self._raw[3]

    @property
    def learner(self) -> str:
        """The name of the algorithm that chose."""
        return self._learner

    @property
    def x(self) -> Union[None, Dict[str, float], List[float], List[List[float]]]:
        """The example as it was chosen for (None: not kept)."""
        return None if self._x is None else self._x.to_plain()

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
            "x": self.x,
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
            )
            if min(raw) < 0 or max(raw[2:]) >= 2**32 or raw[0] >= 2**64:
                raise ValueError("a number is out of range")
            x = None if data["x"] is None else Row.from_plain(data["x"])
            return cls(str(data["learner"]), raw, data["label"], data["greedy"], x)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"not a choice: {error!r}") from error

    def to_json(self) -> str:
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: Union[str, bytes]) -> Choice:
        data = json.loads(text)
        if not isinstance(data, dict):
            raise ValueError("not a choice: a JSON object is expected")
        return cls.from_dict(data)

    def __reduce__(self) -> Tuple[Any, ...]:
        return (Choice, (self._learner, self._raw, self._label, self._greedy, self._x))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Choice):
            return NotImplemented
        mine = (self._learner, self._raw, self._label, self._greedy, self._x)
        return mine == (other._learner, other._raw, other._label, other._greedy, other._x)

    def __hash__(self) -> int:
        return hash((self._learner, self._raw))

    def __repr__(self) -> str:
        how = "explored" if self.explored else "greedy"
        return f"Choice(label={self._label!r}, prob={self.prob:.6g}, round={self.round}, {how})"


#: The columns of many choices (Result.choices).
CHOICES_DTYPE = np.dtype(
    [("round", np.uint64), ("prob", np.float64), ("label", np.uint32), ("greedy", np.uint32), ("note", np.uint32)]
)
