# SPDX-License-Identifier: BSD-3-Clause
"""Any online classifier of River's or scikit-learn's as a one-bit learner: the baseline that people ask for."""

from __future__ import annotations

import math
import inspect
import random
import time
from typing import Any, Dict, List, cast

import numpy as np

from . import _core, _names
from ._choice import Answers, Choice, Columns
from ._inputs import Row, batch_of, row_of
from ._learner import Classes, Learner, truth
from ._names import Label
from ._run import CurvePoints, Result, number_labels, steps, summary


def _takes(method: Any, name: str) -> bool:
    try:
        return name in inspect.signature(method).parameters
    except (TypeError, ValueError):
        return False


class BanditWrapper:
    """Epsilon-greedy with importance weights around a classifier that learns from labels one by one.

    model: anything with learn_one and predict_one (River) or with partial_fit and predict (scikit-learn).
    epsilon: the fraction of rounds with a uniform label.

    A label that was right is learned with the weight 1 / prob, so that on average the model sees what it would have
    seen with all labels known; from a label that was wrong there is nothing for such a model to learn. Models that take
    no weights see the example that many times, fractions being drawn.

    >>> import hunch
    >>> class Counts:  # a classifier of River's manners
    ...     def __init__(self): self.seen = {}
    ...     def learn_one(self, x, y, w=1.0): self.seen[x["city"], y] = self.seen.get((x["city"], y), 0) + w
    ...     def predict_one(self, x): return max("ab", key=lambda y: self.seen.get((x["city"], y), 0))
    >>> learner = hunch.BanditWrapper(Counts(), ["a", "b"], epsilon=0.2)
    >>> for city in ["Rome", "Oslo"] * 100:
    ...     choice = learner.predict({"city": city})
    ...     _ = learner.feedback(choice, choice.label == ("a" if city == "Rome" else "b"))
    >>> learner.greedy({"city": "Rome"}), learner.greedy({"city": "Oslo"})
    ('a', 'b')
    """

    def __init__(self, model: Any, classes: Classes = 2, *, epsilon: float = 0.1, seed: int = 0) -> None:
        if not 0 < epsilon <= 1:
            raise ValueError(f"epsilon={epsilon}: must lie above 0 and not above 1")
        self._river = hasattr(model, "learn_one")
        if not self._river and not hasattr(model, "partial_fit"):
            raise ValueError("the model must have learn_one (River) or partial_fit (scikit-learn)")
        labels, number = _names.classes_of(classes, _core.MAX_CLASSES)
        self.model = model
        self.labels: List[Label] = list(range(number)) if labels is None else labels
        self.epsilon = float(epsilon)
        self.rounds = 0
        self._numbers = {label: i for i, label in enumerate(self.labels)}
        self._weighted = _takes(model.learn_one, "w") if self._river else _takes(model.partial_fit, "sample_weight")
        self._random = random.Random(seed)
        self._answers = Answers()
        self._begun = False

    @property
    def name(self) -> str:
        """ "epsilon-greedy" and the model's own name."""
        return f"epsilon-greedy {type(self.model).__name__}"

    @property
    def spec(self) -> str:
        """The name with its setting."""
        return f"{self.name}:epsilon={self.epsilon:g}"

    def _example(self, x: Any) -> Any:
        """As the model takes it: a dict for River's, a row of numbers for scikit-learn's."""
        if self._river:
            if isinstance(x, dict):
                return x
            row = row_of(x)
            plain = row.to_plain()
            return plain if isinstance(plain, dict) else dict(enumerate(row.value.tolist()))
        if isinstance(x, dict):
            raise ValueError("a model of scikit-learn's takes rows of numbers, not dicts")
        return x if isinstance(x, np.ndarray) and x.ndim == 2 else row_of(x).value.reshape(1, -1)

    def _greedy(self, example: Any) -> int:
        if self._river:
            return self._numbers.get(self.model.predict_one(example), 0)
        return self._numbers[_names.label_of(self.model.predict(example)[0])] if self._begun else 0

    def greedy(self, x: Any) -> Label:
        """The label with the largest score; the first one before it has learned any."""
        return self.labels[self._greedy(self._example(x))]

    def predict(self, x: Any) -> Choice:
        """Choose a label for x; may explore, counts a round."""
        example, classes = self._example(x), len(self.labels)
        greedy = self._greedy(example)
        label = self._random.randrange(classes) if self._random.random() < self.epsilon else greedy
        prob = self.epsilon / classes + (1 - self.epsilon if label == greedy else 0)
        self.rounds += 1
        kept = dict(x) if isinstance(x, dict) else row_of(x).kept(x)
        raw = (self.rounds, prob, label, greedy, 0, 0.0, math.nan)  # neither margin nor confidence is known
        return Choice(self.name, raw, self.labels[label], self.labels[greedy], kept)

    def feedback(self, choice: Choice, right: bool, *, again: bool = False) -> bool:
        """Tell whether the choice was right; a choice counts once, unless again=True."""
        if choice.learner != self.name:
            raise ValueError(f"the choice was made by {choice.learner!r}, not by {self.name!r}")
        is_right, before = truth(right), self._answers.get(choice.round)
        if before and not again:
            if (before == 2) != is_right:
                raise ValueError(f"round {choice.round} has been answered otherwise; again=True learns from both")
            return False
        if is_right:
            kept = choice._x
            self._learn(self._example(kept if isinstance(kept, dict) else choice.row), choice.label, 1 / choice.prob)
        self._answers.set(choice.round, is_right)
        return True

    def _learn(self, example: Any, label: Label, weight: float) -> None:
        times = 1
        if not self._weighted:
            times = int(weight) + (self._random.random() < weight % 1)
        for _ in range(times):
            if self._river:
                self.model.learn_one(example, label, **({"w": weight} if self._weighted else {}))
            else:
                more: Dict[str, Any] = {"sample_weight": [weight]} if self._weighted else {}
                if not self._begun:
                    more["classes"] = np.unique(_names.label_array(self.labels))
                self.model.partial_fit(example, [label], **more)
            self._begun = True

    def run(self, X: Any, y: Any, *, curve: CurvePoints = True, progress: bool = False) -> Result:
        """Play X against its labels, as Learner.run does; result.learner is this wrapper."""
        rows: Any = X if isinstance(X, list) else None
        batch = None if rows is not None else batch_of(X)
        n = len(rows) if batch is None else batch.rows
        labels, _ = number_labels(y, self.labels)
        if len(labels) != n:
            raise ValueError(f"{n} examples but {len(labels)} labels")
        columns = Columns.empty(n)
        started = time.perf_counter()
        for begin, end in steps(n, progress, self.name):
            for i in range(begin, end):
                x = rows[i] if batch is None else self._dense(batch.row(i), batch.columns)
                choice = self.predict(x)
                self.feedback(choice, choice.label_number == labels[i])
                columns.label_number[i], columns.greedy_number[i] = choice.label_number, choice.greedy_number
        seconds = time.perf_counter() - started
        return summary(cast(Learner, self), columns, labels, seconds, curve)

    def _dense(self, row: Row, columns: int) -> Any:
        """A row of a table: by name for River, all its numbers for scikit-learn."""
        if self._river:
            plain = row.to_plain()
            if isinstance(plain, dict):
                return plain
            numbers = range(len(row.value)) if row.index is None else row.index.tolist()
            return dict(zip(numbers, row.value.tolist()))
        if row.index is None:
            return row.value
        value = np.zeros(columns, np.float32)
        value[row.index] = row.value
        return value

    def __repr__(self) -> str:
        return f"BanditWrapper({self.model!r:.60}, classes={len(self.labels)}, epsilon={self.epsilon:g}, rounds={self.rounds})"
