# SPDX-License-Identifier: BSD-3-Clause
"""River's manners: learn_one, predict_one, predict_proba_one, and real feedback, also through a pipeline.

>>> from river import preprocessing
>>> from hunch.river import BanditClassifier, choose_one, feedback_one
>>> model = preprocessing.StandardScaler() | BanditClassifier("confident:bias=1", labels=["tea", "coffee"])
>>> choice = choose_one(model, {"hour": 7.0})
>>> choice.label in ("tea", "coffee")
True
>>> feedback_one(model, choice, right=True)
True
"""

from __future__ import annotations

import random
from typing import Any, Dict, Hashable, List, Mapping, Optional, Sequence, Union

import numpy as np
from river import base, compose

from ._choice import Choice
from ._inputs import Batch, batch_of
from ._learner import Learner
from ._run import play
from ._settings import refuse_labels

ClfTarget = Union[bool, str, int]


class BanditClassifier(base.MiniBatchClassifier):  # type: ignore[misc]
    """A hunch learner for River's pipelines and evaluators.

    learner: a spec such as "confidit:eta=0.1"; None: the default learner.
    simulate: True: learn_one plays a round of its own and only learns whether its choice was right (bandit
        feedback); False: it is taught the label.
    labels: those to begin with; others become classes when they first come.

    predict_one gives the label with the largest score and never explores, as River expects; bandit_error tells how
    the explored choices fared. For real feedback use choose_one and feedback_one (the functions of these names reach
    through a pipeline). w counts a round that many times; fractions are drawn.
    """

    def __init__(
        self,
        learner: Optional[str] = None,
        simulate: bool = True,
        seed: int = 0,
        labels: Optional[Sequence[ClfTarget]] = None,
    ) -> None:
        self.learner = learner
        self.simulate = simulate
        self.seed = seed
        self.labels = labels
        refuse_labels(learner, simulate)
        self._model: Optional[Learner] = None
        self._random = random.Random(seed)
        self._rounds = 0
        self._mistakes = 0
        for label in labels or ():
            self.add_label(label)

    @property
    def _multiclass(self) -> bool:
        return True

    @property
    def bandit_error(self) -> float:
        """The error rate of the choices in learn_one and learn_many."""
        return self._mistakes / self._rounds if self._rounds else 0.0

    @staticmethod
    def _example(x: Mapping[Hashable, Any]) -> Dict[str, Any]:
        if isinstance(x, dict) and set(map(type, x)) <= {str}:
            return x
        return {str(name): value for name, value in x.items()}

    def add_label(self, label: ClfTarget) -> Learner:
        """Make a label one of the classes, if it is not; returns the learner."""
        model = self._model
        if model is None:
            model = self._model = Learner(self.learner, [label], seed=self.seed)
            if model._labels is None:  # the one label 0 would be a number of classes
                model._set_labels([label])
            # The order in which a dict has its names decides nothing, not even rounding.
            model._sort_names = True
        elif label not in model._numbers:
            model.add_class(label)
        return model

    def _times(self, w: float) -> int:
        return int(w) + (w % 1 > 0 and self._random.random() < w % 1) if w != 1.0 else 1

    def learn_one(self, x: Mapping[Hashable, Any], y: ClfTarget, w: float = 1.0) -> None:
        model = self.add_label(y)
        example = self._example(x)
        for _ in range(self._times(w)):
            if not self.simulate:
                model.teach(example, y)
                continue
            choice = model.predict(example)
            right = choice.label == y
            model.feedback(choice, right)
            self._rounds += 1
            self._mistakes += not right

    def learn_many(self, X: Any, y: Any, w: float = 1.0) -> None:
        """As learn_one row by row, faster."""
        labels = [label.item() if isinstance(label, np.generic) else label for label in y]
        if not labels:
            return
        batch = batch_of(X)
        known = set() if self._model is None else set(self._model.labels)
        cuts = [i for i, label in enumerate(labels) if label not in known and label not in labels[:i]]
        for begin, end in zip([0, *cuts], [*cuts, len(labels)]):
            if begin < end:  # a label that is new becomes a class when it comes, not before
                self._learn_part(batch.part(begin, end), labels[begin:end], w)

    def _learn_part(self, batch: Batch, labels: List[ClfTarget], w: float) -> None:
        model = self.add_label(labels[0])
        numbers = np.asarray([model._numbers[label] for label in labels], np.uint32)
        for _ in range(self._times(w)):
            if self.simulate:
                result = play(model, batch, numbers, False, False)
                self._rounds += result.rounds
                self._mistakes += result.mistakes
            else:
                model._core.teach_batch(model._learning(batch).for_core, numbers)

    def predict_proba_one(self, x: Mapping[Hashable, Any], **kwargs: Any) -> Dict[ClfTarget, float]:
        """Chances per label: the best label has its confidence, see Learner.probabilities."""
        if self._model is None:
            return {}
        return dict(zip(self._model.labels, self._model.probabilities(self._example(x)).tolist()))

    def predict_proba_many(self, X: Any) -> Any:
        """The same for every row of a data frame."""
        import pandas

        if self._model is None or not len(X):
            return pandas.DataFrame(index=X.index)
        return pandas.DataFrame(self._model.probabilities(X), index=X.index, columns=self._model.labels)

    def predict_one(self, x: Mapping[Hashable, Any], **kwargs: Any) -> Optional[ClfTarget]:
        """The label with the largest score; None before the first label."""
        if self._model is None:
            return None
        label: ClfTarget = self._model.greedy(self._example(x))
        return label

    def predict_many(self, X: Any) -> Any:
        """The same for every row of a data frame: River's own takes the first of equal probabilities."""
        import pandas

        labels = [None] * len(X) if self._model is None or not len(X) else self._model.greedy(X)
        return pandas.Series(labels, index=X.index, dtype="object")

    def _ready(self) -> Learner:
        if self._model is None:
            raise ValueError("no label is known yet: give labels=[...] or call add_label first")
        return self._model

    def choose_one(self, x: Mapping[Hashable, Any]) -> Choice:
        """A label to show, which may explore."""
        return self._ready().predict(self._example(x))

    def feedback_one(self, choice: Choice, right: bool) -> bool:
        """Learn whether a choice was right; False: this feedback was given before."""
        return self._ready().feedback(choice, right)


def _steps(model: Any) -> List[Any]:
    return list(model.steps.values()) if isinstance(model, compose.Pipeline) else [model]


def choose_one(model: Any, x: Dict[Any, Any], *, learn: bool = True) -> Choice:
    """A label to show, by a BanditClassifier or a pipeline that ends in one.

    learn: let the steps that need no label (scalers and the like) learn from x on the way, as a pipeline's learn_one does.
    """
    *transformers, last = _steps(model)
    for step in transformers:
        if learn and not getattr(step, "_supervised", False):
            step.learn_one(x)
        x = step.transform_one(x)
    choice: Choice = last.choose_one(x)
    return choice


def feedback_one(model: Any, choice: Choice, right: bool) -> bool:
    """Tell a BanditClassifier, or the one at the end of a pipeline, whether a choice was right."""
    told: bool = _steps(model)[-1].feedback_one(choice, right)
    return told
