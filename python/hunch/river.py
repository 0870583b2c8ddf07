# SPDX-License-Identifier: BSD-3-Clause
"""River's manners: learn_one, predict_one, predict_proba_one."""

from __future__ import annotations

from typing import Any, Dict, Hashable, List, Optional, Union

import numpy as np
from river import base

from ._choice import Choice
from ._learner import Learner

ClfTarget = Union[bool, str, int]


class BanditClassifier(base.Classifier):
    """A hunch learner for River's pipelines and evaluators.

    learner: a spec such as "confidit:eta=0.1"; None: the default learner.
    simulate: True: learn_one plays a round of its own and only learns whether its choice was right (bandit
        feedback); False: it is taught the label.

    New labels become new classes. predict_one gives the label that the model believes in and never explores, as River
    expects; bandit_error tells how the explored choices fared. For real feedback use choose_one and feedback_one.
    """

    def __init__(self, learner: Optional[str] = None, simulate: bool = True, seed: int = 1) -> None:
        self.learner = learner
        self.simulate = simulate
        self.seed = seed
        self._model: Optional[Learner] = None
        self._labels: List[ClfTarget] = []
        self._numbers: Dict[ClfTarget, int] = {}
        self._rounds = 0
        self._mistakes = 0

    @property
    def _multiclass(self) -> bool:
        return True

    @property
    def bandit_error(self) -> float:
        """The share of wrong choices among the rounds that learn_one played."""
        return self._mistakes / self._rounds if self._rounds else 0.0

    @staticmethod
    def _example(x: Dict[Hashable, Any]) -> Dict[str, Any]:
        """Names in order, so that the order in which a dict has them decides nothing, not even rounding."""
        return {str(name): x[name] for name in sorted(x, key=str)}

    def add_label(self, label: ClfTarget) -> int:
        """The number of a label, which becomes a class if it is new."""
        number = self._numbers.get(label)
        if number is not None:
            return number
        if self._model is None:
            self._model = Learner(self.learner, 1, seed=self.seed)
        else:
            self._model.add_class()
        self._numbers[label] = len(self._labels)
        self._labels.append(label)
        return self._numbers[label]

    def learn_one(self, x: Dict[Hashable, Any], y: ClfTarget) -> None:
        number = self.add_label(y)
        assert self._model is not None
        example = self._example(x)
        if not self.simulate:
            self._model.teach(example, number)
            return
        choice = self._model.predict(example)
        right = choice.label_number == number
        self._model.feedback(choice, right)
        self._rounds += 1
        self._mistakes += not right

    def predict_proba_one(self, x: Dict[Hashable, Any], **kwargs: Any) -> Dict[ClfTarget, float]:
        """Scores brought to sum to 1 (softmax): an order of the labels, not calibrated chances."""
        if self._model is None:
            return {}
        scores = self._model.scores(self._example(x)).astype(np.float64)
        e = np.exp(scores - scores.max())
        return dict(zip(self._labels, (e / e.sum()).tolist()))

    def predict_one(self, x: Dict[Hashable, Any], **kwargs: Any) -> Optional[ClfTarget]:
        """The label that the model believes in; None before the first label."""
        return None if self._model is None else self._labels[self._model.greedy(self._example(x))]

    def choose_one(self, x: Dict[Hashable, Any]) -> Choice:
        """A label to show, which may explore; its number is in label_number (see add_label)."""
        if self._model is None:
            raise ValueError("no label is known yet: call add_label first")
        return self._model.predict(self._example(x))

    def feedback_one(self, choice: Choice, right: bool) -> None:
        """Tell whether a choice was right."""
        if self._model is None:
            raise ValueError("no label is known yet: call add_label first")
        self._model.feedback(choice, right)
