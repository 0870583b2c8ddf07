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

import inspect
from typing import Any, Dict, List, Optional, Tuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_array, check_consistent_length, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ._calibrate import Calibration
from ._frames import Column, Numbers, batch_of_columns
from ._inputs import Batch, batch_of, is_sparse, label_within
from ._learner import Learner
from ._names import did_you_mean, is_texts
from ._run import play, shuffled
from ._settings import SettingValue, algorithms, common_settings, make_spec, refuse_labels
from ._tables import Table, table_of_frame, table_of_texts

try:
    from sklearn.utils.validation import validate_data as _validate
except ImportError:  # before scikit-learn 1.6

    def _validate(estimator: Any, X: Any, y: Any = "no_validation", **options: Any) -> Any:
        return estimator._validate_data(X, y, **options)


# Missing numbers are allowed, by the names that scikit-learn has had for that.
ALLOW = "ensure_all_finite" if "ensure_all_finite" in inspect.signature(check_array).parameters else "force_all_finite"
ROWS: Dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float32, np.float64], ALLOW: "allow-nan"}
HELD_OUT = 10  # one row in n is scored before it is learned from, for predict_proba


def _setting_keywords() -> List[str]:
    found = {s.keyword for row in algorithms().values() for s in row.settings} | {s.keyword for s in common_settings()}
    return sorted(found)


class BanditClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A hunch learner as a scikit-learn classifier.

    learner: a name or a spec such as "confidit:eta=0.1"; None: the default learner.
    simulate: True: labels are only used to say whether the learner's own choice was right (bandit feedback);
        False: it is taught the labels.
    epochs: how often fit goes over the rows, in a new order each time. shuffle: False keeps their order.
    random_state: of the order and of the learner's exploration.
    Further keywords are the learner's settings (eta=0.1), which set_params and GridSearchCV know as well.

    X may also be texts (a list, an array or a column of them) or a data frame with columns of text, categories or dates:
    these become features by the schema of tables, as Learner.from_frame makes it, which the model keeps. Numbers may be
    missing (NaN), and mean then what they mean in tables; infinite ones are refused, as scikit-learn's checks want it.

    One row in ten is held out of all epochs but the last, in which it is scored, then learned from: that is what
    predict_proba is calibrated on. sample_weight counts a row that many times; fractions are drawn.

    After fit or partial_fit: classes_, n_features_in_, learner_ (the hunch.Learner, with the labels and the names of
    the columns, for learner_.save) and, when simulated, error_, the share of rows whose choice was wrong when the row
    came for the first time: every row counts once, unseen. Later epochs go over rows that were learned from before; the
    learner is informed (Learner.set_repeated) and does not take their answers for evidence of how good it is.
    """

    def __init__(
        self,
        learner: Optional[str] = None,
        *,
        simulate: bool = True,
        epochs: int = 5,
        shuffle: bool = True,
        random_state: Any = None,
        **settings: SettingValue,
    ) -> None:
        self.learner = learner
        self.simulate = simulate
        self.epochs = epochs
        self.shuffle = shuffle
        self.random_state = random_state
        self._set(settings)

    # --- parameters ---

    def _set(self, settings: Dict[str, Any]) -> None:
        known = _setting_keywords()
        for name, value in settings.items():
            if name == "settings":  # what a signature calls them all; scikit-learn's checks set every name that it shows
                continue
            if name not in known:
                own = [*self._get_param_names(), *known]
                raise TypeError(f"no learner has a setting {name!r}{did_you_mean(name, own)}")
            setattr(self, name, value)

    def _settings(self) -> Dict[str, Any]:
        return {name: vars(self)[name] for name in _setting_keywords() if name in vars(self)}

    def get_params(self, deep: bool = True) -> Dict[str, Any]:
        """The parameters, with the settings that were given."""
        return {**super().get_params(deep), **self._settings()}

    def set_params(self, **params: Any) -> BanditClassifier:
        """Set parameters and settings; None takes a setting back to its default."""
        own = set(self._get_param_names())
        settings = {name: value for name, value in params.items() if name not in own and "__" not in name}
        try:
            self._set(settings)
        except TypeError as error:
            raise ValueError(f"Invalid parameter: {error}") from None
        super().set_params(**{name: value for name, value in params.items() if name not in settings})
        return self

    def _spec(self) -> str:
        return make_spec(self.learner, {name: value for name, value in self._settings().items() if value is not None})

    # --- learning ---

    def _checked(self, X: Any, y: Any, reset: bool) -> Tuple[Any, Any]:
        if reset:
            self._table: Optional[Table] = None
        label_within(X, y)
        if self._is_table(X, reset):
            y = column_or_1d(y)
            check_consistent_length(X, y)
            if reset:
                self._table = _table_of(X, y)
                self.n_features_in_ = 1 if is_texts(X) else len(X.columns)
        else:
            X, y = _validate(self, X, y, **ROWS, reset=reset)
        check_classification_targets(y)
        refuse_labels(self.learner, self.simulate)
        return X, y

    def _is_table(self, X: Any, reset: bool) -> bool:
        """Whether rows are read by a schema: what was so in the first rows remains so."""
        if not reset:
            return getattr(self, "_table", None) is not None
        if is_texts(X):
            return True
        return hasattr(X, "dtypes") and any(getattr(dtype, "kind", "O") not in "fiub" for dtype in _types_of(X))

    def _rows(self, X: Any) -> Batch:
        """With the columns' names, so that the model has them."""
        if self._table is not None:
            if isinstance(X, str):
                raise ValueError("one text alone: give a list of texts, [text]")
            return self.learner_.rows(X).__hunch_batch__()
        names = getattr(self, "feature_names_in_", None)
        if names is None or is_sparse(X):
            batch = batch_of(X)
            batch.names = None if names is None else [str(name) for name in names]
            return batch
        columns: List[Column] = [Numbers(str(name), X[:, j].astype(np.float32)) for j, name in enumerate(names)]
        return batch_of_columns(len(X), columns)

    def _start(self, classes: NDArray[Any], seed: int) -> None:
        if hasattr(self, "error_"):
            del self.error_
        labels = [_plain(label) for label in classes.tolist()]
        if len(set(map(str, labels))) != len(labels):
            labels = list(range(len(labels)))
        self.classes_ = classes
        self.learner_ = Learner(self._spec(), labels, seed=seed)
        if self._table is not None:
            self.learner_._take_schema(self._table)
        self._numbers = np.arange(len(classes))  # the learner's number of each of classes_
        self._calibration = Calibration()

    def _learn(self, batch: Batch, numbers: NDArray[np.int64], calibrate: bool) -> None:
        """One pass. With calibrate, rows are scored before they are learned from."""
        columns = np.asarray(self._numbers)
        labels = columns[numbers].astype(np.uint32)
        scores = self.learner_.scores(batch)[:, columns] if calibrate and batch.rows else None
        if self.simulate:
            result = play(self.learner_, batch, labels, False, True)
            self.error_: float = result.error
            if scores is not None and result.choices is not None:
                place = np.argsort(columns)
                self._calibration.add(scores, place[result.choices["label_number"]], result.right)
        else:
            self.learner_._core.teach_batch(self.learner_._learning(batch).for_core, labels)
            if scores is not None:
                self._calibration.add(scores, numbers, np.ones(len(numbers), np.bool_))

    def _repeat(self, sample_weight: Any, n: int, seed: int) -> Optional[NDArray[np.int64]]:
        """Which rows, how often; None: each once."""
        if sample_weight is None:
            return None
        weight = np.asarray(sample_weight, np.float64)
        if weight.ndim == 0:
            weight = np.full(n, float(weight))
        if weight.shape != (n,) or not np.isfinite(weight).all() or (weight < 0).any():
            raise ValueError("sample_weight: one finite number of at least 0 for each row")
        if n and not weight.any():
            raise ValueError("sample_weight: every weight is zero")
        whole = np.floor(weight)
        extra = np.random.RandomState(seed).random_sample(n) < weight - whole
        return np.repeat(np.arange(n), (whole + extra).astype(np.int64))

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BanditClassifier:
        """Learn from scratch."""
        X, y = self._checked(X, y, True)
        if int(self.epochs) < 1:
            raise ValueError("epochs must be at least 1")
        classes, numbers = np.unique(y, return_inverse=True)
        numbers = numbers.reshape(-1)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self._start(classes, seed)
        batch = self._rows(X)
        repeated = self._repeat(sample_weight, batch.rows, seed)
        if repeated is not None:
            batch, numbers = batch.take(repeated), numbers[repeated]
        n = batch.rows
        first = shuffled(n, seed) if self.shuffle else np.arange(n)
        held = n // HELD_OUT
        wrong = 0.0
        for epoch in range(int(self.epochs)):
            order = first[: n - held]
            if self.shuffle and epoch:
                order = order[shuffled(len(order), seed + epoch)]
            self.learner_.set_repeated(epoch > 0)
            self._learn(batch.take(order), numbers[order], False)
            wrong = wrong if epoch else getattr(self, "error_", 0.0) * (n - held)
        self.learner_.set_repeated(False)
        self._learn(batch.take(first[n - held :]), numbers[first[n - held :]], True)
        if self.simulate:
            self.error_ = (wrong + (self.error_ * held if held else 0.0)) / n if n else float("nan")
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> BanditClassifier:
        """Learn from further rows, in their order. classes are those to begin with; new ones may come at any time."""
        begin = not hasattr(self, "learner_")
        if begin and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        X, y = self._checked(X, y, begin)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        if begin:
            self._start(np.unique(np.asarray(classes)), seed)
        elif classes is not None and not np.isin(self.classes_, np.asarray(classes)).all():
            raise ValueError("classes are not the same as on the last call to partial_fit.")
        self._grow(np.unique(y) if classes is None else np.union1d(np.asarray(classes), np.unique(y)))
        batch, numbers = self._rows(X), np.searchsorted(self.classes_, y)
        repeated = self._repeat(sample_weight, batch.rows, seed)
        if repeated is not None:
            batch, numbers = batch.take(repeated), numbers[repeated]
        self._learn(batch, numbers, True)
        return self

    def _grow(self, wanted: NDArray[Any]) -> None:
        """Classes that are new come last in the learner and where they belong in classes_."""
        new = np.setdiff1d(wanted, self.classes_)
        if not new.size:
            return
        if self.classes_.dtype.kind != new.dtype.kind:
            raise ValueError(f"classes of another type: {new[0]!r} beside {self.classes_[0]!r}")
        named = self.learner_.labels != list(range(len(self.classes_)))
        first = len(self.classes_)
        for label in new.tolist():
            self.learner_.add_class(_plain(label) if named else None)
        classes = np.concatenate([self.classes_, new])
        order = np.argsort(classes, kind="stable")
        self.classes_ = classes[order]
        self._numbers = np.concatenate([self._numbers, np.arange(first, len(classes))])[order]

    # --- asking ---

    def _scores(self, X: Any) -> NDArray[np.float32]:
        """One column for each of classes_."""
        check_is_fitted(self)
        if not self._is_table(X, False):
            X = _validate(self, X, **ROWS, reset=False)
        return self.learner_.scores(self._rows(X))[:, self._numbers]

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores per class; of two classes the second's minus the first's."""
        scores = self._scores(X).astype(np.float64)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Chances per class: the scores' softmax, calibrated on rows that were scored before they were learned from."""
        scores = self._scores(X)
        return self._calibration.probabilities(scores)

    def predict(self, X: Any) -> NDArray[Any]:
        """The labels with the largest scores; never explores."""
        scores = self._scores(X)
        return np.asarray(self.classes_[scores.argmax(axis=1)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags

    def _more_tags(self) -> Dict[str, Any]:  # before scikit-learn 1.6
        return {"allow_nan": True, "_xfail_checks": {name: ORDER_MATTERS for name in ORDER_CHECKS}}


ORDER_MATTERS = "an online learner sees rows one after the other: rows added, even of weight 0, change their order"
ORDER_CHECKS = (
    "check_sample_weights_invariance",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)


def _types_of(frame: Any) -> List[Any]:
    types = frame.dtypes
    return list(types.tolist() if hasattr(types, "tolist") else types)


def _table_of(X: Any, y: NDArray[Any]) -> Table:
    """Texts, or a frame, with the labels as a column, which the rules need to tell labels from features."""
    if is_texts(X):
        return table_of_texts(X, y)
    if not hasattr(X, "iloc"):
        X = X.to_pandas()
    label = "label"
    while label in X.columns:
        label = f"_{label}"
    return table_of_frame(X.assign(**{label: y}), label)


def _plain(label: Any) -> Any:
    """A label that models can keep: whole numbers and text as they are, anything else as text."""
    if isinstance(label, (str, bool, int)):
        return label
    return int(label) if isinstance(label, float) and label == int(label) else str(label)
