# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's manners: BanditClassifier.

>>> import numpy as np
>>> from hunch.sklearn import BanditClassifier
>>> X = np.array([[0, 1], [1, 0]] * 50, dtype=np.float32)
>>> y = np.array(["up", "down"] * 50)
>>> BanditClassifier("confident", random_state=1).fit(X, y).score(X, y)
1.0
"""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ._learner import Learner
from ._run import shuffled

try:
    from sklearn.utils.validation import validate_data as _validate
except ImportError:  # before scikit-learn 1.6

    def _validate(estimator: Any, X: Any, y: Any = "no_validation", **options: Any) -> Any:
        return estimator._validate_data(X, y, **options)


class BanditClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A hunch learner as a scikit-learn classifier.

    learner: a spec such as "confidit:eta=0.1"; None: the default learner.
    simulate: True: labels are only used to say whether the learner's own choice was right (bandit feedback);
        False: it is taught the labels.
    epochs: how often fit goes over the rows, in a new order each time. shuffle: False keeps their order.
    random_state: of the order and of the learner's exploration.

    After fit or partial_fit: classes_, n_features_in_, learner_ (the hunch.Learner) and, when simulated, error_, the
    share of rounds in the last call whose choice was wrong before learning from it.
    """

    def __init__(
        self,
        learner: Optional[str] = None,
        *,
        simulate: bool = True,
        epochs: int = 5,
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        self.learner = learner
        self.simulate = simulate
        self.epochs = epochs
        self.shuffle = shuffle
        self.random_state = random_state

    def _checked(self, X: Any, y: Any, reset: bool) -> Any:
        return _validate(self, X, y, accept_sparse="csr", dtype=[np.float32, np.float64], reset=reset)

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _learn(self, X: Any, y: NDArray[np.int64], order: Optional[NDArray[np.int64]]) -> None:
        if order is not None:
            X, y = X[order], y[order]
        if self.simulate:
            self.error_ = self.learner_.run(X, y, curve=False).error
        else:
            self.learner_.teach(X, y)

    def fit(self, X: Any, y: Any) -> BanditClassifier:
        """Learn from scratch."""
        X, y = self._checked(X, y, True)
        check_classification_targets(y)
        if int(self.epochs) < 1:
            raise ValueError("epochs must be at least 1")
        self.classes_, numbers = np.unique(y, return_inverse=True)
        seed = self._seed()
        self.learner_ = Learner(self.learner, len(self.classes_), seed=seed)
        for epoch in range(int(self.epochs)):
            order = shuffled(len(numbers), seed + epoch) if self.shuffle else None
            self._learn(X, numbers, order)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> BanditClassifier:
        """Learn from further rows, in their order; classes is needed in the first call."""
        first = not hasattr(self, "learner_")
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        X, y = self._checked(X, y, first)
        check_classification_targets(y)
        if first:
            self.classes_ = np.unique(np.asarray(classes))
            self.learner_ = Learner(self.learner, len(self.classes_), seed=self._seed())
        elif classes is not None and not np.array_equal(self.classes_, np.unique(np.asarray(classes))):
            raise ValueError("classes are not the same as on the last call to partial_fit.")
        numbers = np.searchsorted(self.classes_, y)
        known = self.classes_[np.minimum(numbers, len(self.classes_) - 1)] == y
        if not np.all(known):
            raise ValueError("y has a label that is not in classes.")
        self._learn(X, numbers, None)
        return self

    def _scoring(self, X: Any) -> Any:
        check_is_fitted(self)
        return _validate(self, X, accept_sparse="csr", dtype=[np.float32, np.float64], reset=False)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores per class; of two classes the second's minus the first's."""
        rows = self._scoring(X)
        scores = self.learner_.scores(rows).astype(np.float64)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The labels that the model believes in; never explores."""
        rows = self._scoring(X)
        return np.asarray(self.classes_[self.learner_.greedy_numbers(rows)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
