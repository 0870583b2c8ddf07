# SPDX-License-Identifier: BSD-3-Clause
"""The learner."""

from __future__ import annotations

import itertools
import operator
import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from . import _core, _names
from ._choice import Choice
from ._inputs import Batch, batch_of, check_finite, is_batch, row_of
from ._names import Label
from ._settings import make_spec

if TYPE_CHECKING:
    from ._run import Result

Path = Union[str, bytes, os.PathLike[str], os.PathLike[bytes]]
Classes = Union[int, Sequence[Any], NDArray[Any]]


def whole(value: Any, name: str, low: int, high: int) -> int:
    """A whole number within bounds, or ValueError."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be a whole number, not {value!r}") from None
    if not low <= number <= high:
        raise ValueError(f"{name}={number}: must lie between {low} and {high}")
    return number


def truth(value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)) or (isinstance(value, (int, np.integer)) and value in (0, 1)):
        return bool(value)
    raise ValueError(f"right must be True or False, not {value!r}")


class Learner:
    """An online learner that is only told whether its choices were right.

    learner: a name ("confidit") or a spec ("confidit:eta=0.1"); None: the default learner.
    classes: how many, or their labels (text or whole numbers).
    seed: of the learner's generator; the same seed and the same calls give the same answers.
    features: how many to make room for at once. max_features: refuse larger ones.
    memory: bytes that full matrices may take before matrix=auto chooses something smaller.
    Further keywords are the learner's settings: see hunch.describe("confidit").

    >>> import hunch
    >>> learner = hunch.Learner("banditron", classes=["sport", "politics"], gamma=0.1, seed=7)
    >>> choice = learner.predict({"goal": 2, "city": "Rome"})
    >>> learner.feedback(choice, right=choice.label == "sport")
    >>> learner.rounds, learner.labels
    (1, ['sport', 'politics'])

    Different learners may run in different threads at the same time; one learner may be used from several threads,
    which then take turns.
    """

    def __init__(
        self,
        learner: Optional[str] = None,
        classes: Classes = 2,
        *,
        seed: int = 1,
        features: int = 0,
        max_features: Optional[int] = None,
        memory: Optional[int] = None,
        **settings: object,
    ) -> None:
        labels: Optional[List[Label]] = None
        if isinstance(classes, (Sequence, np.ndarray)) and not isinstance(classes, (str, bytes)):
            labels = _names.labels_of(list(classes))
        number = whole(classes if labels is None else len(labels), "classes", 1, _core.MAX_CLASSES)
        self._start(
            _core.Learner(
                make_spec(learner, settings),
                number,
                whole(features, "features", 0, _core.MAX_FEATURES),
                0 if max_features is None else whole(max_features, "max_features", 1, _core.MAX_FEATURES),
                whole(seed, "seed", 0, 2**64 - 1),
                0 if memory is None else whole(memory, "memory", 1, 2**64 - 1),
            )
        )
        self._max_features = _core.MAX_FEATURES if max_features is None else int(max_features)
        self._numbered = False
        if labels is not None and labels != list(range(number)):
            self._set_labels(labels)

    def _start(self, core: _core.Learner) -> None:
        """Around a C learner: the names come out of the model."""
        self._core = core
        self._lock = threading.RLock()  # of the names; numbers are guarded in C
        self._max_features = _core.MAX_FEATURES
        block = core.get_meta(_names.LABELS)
        self._labels = _names.labels_from_model(block, core.get_meta(_names.LABEL_KINDS), core.classes)
        self._numbers: Dict[Label, int] = {label: i for i, label in enumerate(self._labels or ())}
        block = core.get_meta(_names.FEATURES)
        self._features: Dict[str, int] = {}
        if block is not None:
            self._features = {name: i for i, name in enumerate(_names.block_to_text(block))}
        self._stored = len(self._features)
        self._numbered = core.features > 0 and not self._features  # whether features have come by number

    # --- names ---

    def _set_labels(self, labels: List[Label]) -> None:
        self._core.set_meta(_names.LABELS, _names.text_to_block(str(label) for label in labels))
        if not all(isinstance(label, str) for label in labels):
            self._core.set_meta(_names.LABEL_KINDS, _names.label_kinds(labels))
        self._labels = labels
        self._numbers = {label: i for i, label in enumerate(labels)}

    def _label(self, number: int) -> Label:
        return number if self._labels is None else self._labels[number]

    def _number(self, label: object) -> int:
        """The number of a label, or ValueError."""
        if self._labels is None:
            return whole(label, "label", 0, self._core.classes - 1)
        number = self._numbers.get(_names.label_of(label))
        if number is None:
            raise ValueError(f"{label!r} is not one of this learner's labels")
        return number

    def numbers_of(self, y: Any) -> NDArray[np.uint32]:
        """Many labels as class numbers."""
        labels = np.asarray(y)
        if labels.ndim != 1:
            raise ValueError(f"labels are one list; these have shape {labels.shape}")
        if self._labels is None:
            if labels.dtype.kind not in "iub" and labels.size:
                raise ValueError(f"labels must be class numbers, not {labels.dtype}: give classes=[...] to name them")
            if labels.size and not 0 <= int(labels.min()) <= int(labels.max()) < self._core.classes:
                raise ValueError(f"a label is not between 0 and {self._core.classes - 1}")
            return np.ascontiguousarray(labels, dtype=np.uint32)
        different, where = np.unique(labels, return_inverse=True)
        known = np.asarray([self._number(label) for label in different.tolist()], dtype=np.uint32)
        return known[where.reshape(-1)]

    @contextmanager
    def _growing(self, names: Optional[Sequence[str]]) -> Iterator[None]:
        """Names that were added stay only if all went well; one thread at a time."""
        if names is None:
            if self._features:
                raise ValueError("this learner's features have names: give dicts")
            yield
            self._numbered = True
            return
        with self._lock:
            if self._numbered:
                raise ValueError("this learner's features have numbers: give arrays, or dicts with whole numbers")
            before = len(self._features)
            try:
                if not all(map(self._features.__contains__, names)):
                    for name in names:
                        self._features.setdefault(name, len(self._features))
                if len(self._features) > self._max_features:
                    raise ValueError(f"more than {self._max_features} features")
                yield
            except BaseException:
                while len(self._features) > before:
                    self._features.popitem()
                raise

    def _find(self, names: Sequence[str]) -> List[int]:
        """Numbers of names; -1 for those never seen, which weigh nothing."""
        with self._lock:
            return list(map(self._features.get, names, itertools.repeat(-1)))

    def _store_names(self) -> None:
        if len(self._features) != self._stored:
            self._core.set_meta(_names.FEATURES, _names.text_to_block(self._features))
            self._stored = len(self._features)

    # --- one round ---

    def predict(self, x: Any, *, keep: bool = True) -> Choice:
        """Choose a label for x: a dict, a row of numbers, or a sparse row. May explore; counts a round.

        The choice carries x for the feedback; keep=False leaves it out (then give it to feedback again).
        """
        row = row_of(x)
        with self._growing(row.names):
            raw = self._core.predict(*row.resolve(self._find))
        kept = row.kept(x) if keep else None
        return Choice(self._core.algorithm, raw, self._label(raw[2]), self._label(raw[3]), kept)

    def feedback(self, choice: Choice, right: bool, x: Any = None) -> None:
        """Tell whether the choice was right: now, later, or never."""
        if not isinstance(choice, Choice):
            raise ValueError(f"feedback needs the Choice that predict gave, not {type(choice).__name__}")
        is_right = truth(right)
        row = choice._x if x is None else row_of(x)
        if row is None:
            raise ValueError("the choice does not carry its example: give x")
        self._check_choice(choice)
        with self._growing(row.names):
            index, value = row.resolve(self._find)
            self._core.feedback(index, value, choice._raw, is_right)

    def _check_choice(self, choice: Choice) -> None:
        if choice.learner != self._core.algorithm:
            raise ValueError(f"the choice was made by {choice.learner!r}, not by {self._core.algorithm!r}")
        for number, label in ((choice.label_number, choice.label), (choice.greedy_number, choice.greedy)):
            if number >= self._core.classes or self._label(number) != label:
                raise ValueError(f"the choice names {label!r}, which is not this learner's label {number}")

    def teach(self, x: Any, label: Any) -> None:
        """Tell the true label of x, when someone knows it; many rows and labels at once work as well."""
        if np.ndim(label) > 0:
            batch, labels = self._checked(x, label)
            with self._growing(batch.names):
                ready = batch.resolve(self._find)
                self._core.teach_batch(ready.start, ready.index, ready.value, labels)
            return
        row, number = row_of(x), self._number(label)
        with self._growing(row.names):
            index, value = row.resolve(self._find)
            self._core.teach(index, value, number)

    # --- many rounds ---

    def _checked(self, x: Any, y: Any) -> Tuple[Batch, NDArray[np.uint32]]:
        """Everything that the library would stumble over half way is refused here."""
        batch, labels = batch_of(x), self.numbers_of(y)
        if len(labels) != batch.rows:
            raise ValueError(f"{batch.rows} examples but {len(labels)} labels")
        check_finite(batch.value, "the examples")
        if batch.names is None and batch.highest > self._max_features:
            raise ValueError(f"feature {batch.highest - 1} is beyond the limit of {self._max_features} features")
        return batch, labels

    def run(self, x: Any, y: Any, *, curve: Any = True, choices: bool = False) -> Result:
        """Play x against its labels y and learn: see hunch.run, which does this with a new learner."""
        from ._run import play

        batch, labels = self._checked(x, y)
        return play(self, batch, labels, curve, choices)

    def scores(self, x: Any) -> NDArray[np.float32]:
        """The scores whose largest is the greedy label: one row of them, or one per row of x."""
        batch = self._scoring(x)
        ret = np.empty((batch.rows, self._core.classes), np.float32)
        self._core.score_batch(batch.start, batch.index, batch.value, batch.rows, None, ret)
        return ret if is_batch(x) else ret[0]

    def greedy_numbers(self, x: Any) -> NDArray[np.uint32]:
        """The class numbers that the model believes in, for many rows."""
        batch = self._scoring(x)
        ret = np.empty(batch.rows, np.uint32)
        self._core.score_batch(batch.start, batch.index, batch.value, batch.rows, ret, None)
        return ret

    def greedy(self, x: Any) -> Any:
        """The label that the model believes in (an array of them for many rows). Draws and changes nothing."""
        numbers = self.greedy_numbers(x)
        if not is_batch(x):
            return self._label(int(numbers[0]))
        return np.asarray(self.labels)[numbers]

    def _scoring(self, x: Any) -> Batch:
        if is_batch(x):
            batch = batch_of(x)
        else:
            row = row_of(x)
            names = None if row.names is None else list(row.names)
            numbers = row.index if names is None else np.arange(len(names), dtype=np.uint32)
            start = None if numbers is None else np.asarray([0, len(row.value)], np.int64)
            batch = Batch(1, len(row.value), start, numbers, row.value, names)
        check_finite(batch.value, "the example")
        if batch.names is None and self._features and batch.value.size:
            raise ValueError("this learner's features have names: give dicts")
        return batch.resolve(self._find)

    # --- classes ---

    @property
    def labels(self) -> List[Label]:
        """The labels in the order of their numbers."""
        return list(range(self._core.classes)) if self._labels is None else list(self._labels)

    def add_class(self, label: Any = None) -> None:
        """Add a class; its label may be left out when classes have numbers only.

        >>> learner = Learner(classes=["a", "b"])
        >>> learner.add_class("c")
        >>> learner.labels
        ['a', 'b', 'c']
        """
        with self._lock:
            labels = self._labels
            number = self._core.classes
            if label is None:
                if labels is not None:
                    raise ValueError("this learner's classes have labels: give the new one's")
            elif labels is not None or _names.label_of(label) != number:
                labels = _names.labels_of([*self.labels, label])
                _names.text_to_block([str(labels[-1])])
            self._core.add_classes(1)
            if labels is not None:
                self._set_labels(labels)

    # --- models ---

    def save(self, path: Path) -> None:
        """Write a model file: the same file as the hunch command's."""
        with self._lock:
            self._store_names()
            self._core.save(path)

    def to_bytes(self) -> bytes:
        """The bytes of a model file."""
        with self._lock:
            self._store_names()
            return bytes(self._core.write())

    @classmethod
    def load(cls, path: Path) -> Learner:
        """Read a model file, the hunch command's as well; the learner goes on where it was saved."""
        return cls._around(_core.Learner.load(path))

    @classmethod
    def from_bytes(cls, data: bytes) -> Learner:
        """The learner whose to_bytes this was."""
        return cls._around(_core.Learner.read(data))

    @classmethod
    def _around(cls, core: _core.Learner) -> Learner:
        learner = cls.__new__(cls)
        try:
            learner._start(core)
        except ValueError as error:
            raise _core.ModelError(str(error)) from None
        return learner

    def merge(self, other: Learner) -> None:
        """Add what another learner of the same spec and classes has learned."""
        if not isinstance(other, Learner) or other is self:
            raise ValueError("a learner is merged with another learner")
        if self.labels != other.labels:
            raise ValueError("the two learners have different labels")
        if list(self._features) != list(other._features)[: len(self._features)]:
            raise ValueError("the two learners number their features differently")
        self._core.merge(other._core)
        with self._lock:
            for name in list(other._features)[len(self._features) :]:
                self._features[name] = len(self._features)

    def __reduce__(self) -> Tuple[Any, ...]:
        return (_restore, (type(self), self.to_bytes(), self._max_features))

    def __deepcopy__(self, memo: Any) -> Learner:
        return _restore(type(self), self.to_bytes(), self._max_features)

    def __copy__(self) -> Learner:
        return self.__deepcopy__(None)

    def reseed(self, seed: int) -> None:
        """Start the generator anew."""
        self._core.reseed(whole(seed, "seed", 0, 2**64 - 1))

    # --- what a learner is ---

    @property
    def spec(self) -> str:
        """The full spec, defaults included."""
        return self._core.spec

    @property
    def name(self) -> str:
        """The algorithm's name."""
        return self._core.algorithm

    @property
    def rounds(self) -> int:
        """Predictions made."""
        return self._core.rounds

    @property
    def features(self) -> int:
        """The largest feature seen + 1."""
        return self._core.features

    @property
    def feature_names(self) -> Optional[List[str]]:
        """The names of the features in the order of their numbers; None: they have numbers only."""
        with self._lock:
            return list(self._features) or None

    @property
    def bytes(self) -> int:
        """Memory that the learner's state takes."""
        return self._core.bytes

    @property
    def tensors(self) -> Dict[str, Tuple[int, int]]:
        """The learner's numbers by name, with their shapes."""
        return {name: (rows, columns) for name, rows, columns in self._core.tensors()}

    def tensor(self, name: str) -> NDArray[np.float64]:
        """A copy of one of the tensors.

        >>> learner = Learner("perceptron", classes=3)
        >>> learner.teach([1, 0, 2], 1)
        >>> learner.tensor("W").shape
        (3, 3)
        """
        shapes = self.tensors
        if name not in shapes:
            raise ValueError(f"no tensor is called {name!r}; there are {', '.join(shapes)}")
        ret = np.empty(shapes[name])
        self._core.tensor(name, *shapes[name], ret)
        return ret

    def __repr__(self) -> str:
        return f"Learner({self.spec!r}, classes={self._core.classes}, rounds={self.rounds})"


def _restore(cls: Any, data: bytes, max_features: int) -> Learner:
    learner: Learner = cls.from_bytes(data)
    learner._max_features = max_features
    return learner


def load(path: Path) -> Learner:
    """Read a model file (Learner.load)."""
    return Learner.load(path)
