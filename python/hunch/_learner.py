# SPDX-License-Identifier: BSD-3-Clause
"""The learner."""

from __future__ import annotations

import copy
import functools
import itertools
import json
import os
import re
import threading
from typing import TYPE_CHECKING, Any, Callable, Collection, Dict, FrozenSet, Iterable, List, Mapping, Optional, Sequence, Tuple, TypeVar, Union

import numpy as np
from numpy.typing import NDArray

from . import _core, _names
from ._choice import Answers, Choice, Choices, Columns
from ._explain import Explanation
from ._html import learner_html
from ._inputs import Batch, Row, batch_of, check_finite, is_batch, is_frame, row_of
from ._names import Label, whole
from ._settings import SettingValue, algorithms, explain_unknown, make_spec

if TYPE_CHECKING:
    from ._log import Log
    from ._run import CurvePoints, Result
    from ._tables import Names, Table

Path = Union[str, bytes, os.PathLike[str], os.PathLike[bytes]]
Classes = Union[int, Collection[Any], NDArray[Any]]
T = TypeVar("T")


def truth(value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)) or (isinstance(value, (int, np.integer)) and value in (0, 1)):
        return bool(value)
    raise ValueError(f"right must be True or False, not {value!r}")


def truths(values: Any, n: int) -> NDArray[np.uint8]:
    """Many bits."""
    bits = np.asarray(values)
    if bits.shape != (n,) or bits.dtype.kind not in "biuf" or not np.isin(bits, (0, 1)).all():
        raise ValueError(f"right must be {n} times True or False")
    return bits.astype(np.uint8)


def _parts(spec: str) -> List[str]:
    """The settings of a spec; commas within brackets separate members, not settings."""
    return re.findall(r"(?:\[[^]]*\]|[^,\[])+", spec.partition(":")[2])


@functools.lru_cache(maxsize=None)
def _defaults(name: str) -> FrozenSet[str]:
    """The settings that a learner has by itself; none of what is not the library's."""
    return frozenset(_parts(_core.Learner(name, 2, 0, 0, 0, 0).spec)) if name in algorithms() else frozenset()


def short_spec(spec: str) -> str:
    """A spec without the settings that are the learner's defaults.

    >>> short_spec(Learner("banditron", gamma=0.1).spec), short_spec(Learner().spec)
    ('banditron:gamma=0.1', 'panel')
    """
    name = spec.partition(":")[0]
    given = [part for part in _parts(spec) if part not in _defaults(name)]
    return f"{name}:{','.join(given)}" if given else name


class Learner:
    """An online learner that learns only whether its choices were right.

    learner: a name ("confidit") or a spec ("confidit:eta=0.1"); None: the default learner.
    classes: how many, or their labels (text, whole numbers or truth values) in a list, an array, a pandas Index ...
    seed: of the learner's generator; the same seed and the same calls give the same answers.
    features: how many to make room for at once, or their names, in the order of their numbers (which learners that are
        to be merged must share). max_features: refuse larger ones.
    memory: bytes that full matrices may take before matrix=auto chooses something smaller.
    Further keywords are the learner's settings: see hunch.describe("confidit").

    >>> import hunch
    >>> learner = hunch.Learner("banditron", classes=["sport", "politics"], gamma=0.1, seed=7)
    >>> choice = learner.predict({"goal": 2, "city": "Rome"})
    >>> learner.feedback(choice, right=choice.label == "sport")
    True
    >>> learner.rounds, learner.labels
    (1, ['sport', 'politics'])

    examples: what it is taught before the first round, such as {"sport": [{"goal": 1}], "politics": [{"vote": 1}]}.

    Different learners may run in different threads at the same time; one learner may be used from several threads,
    which then take turns.
    """

    def __init__(
        self,
        learner: Optional[str] = None,
        classes: Classes = 2,
        *,
        seed: int = 0,
        features: Union[int, Iterable[str]] = 0,
        max_features: Optional[int] = None,
        memory: Optional[int] = None,
        examples: Optional[Mapping[Any, Iterable[Any]]] = None,
        **settings: SettingValue,
    ) -> None:
        labels, number = _names.classes_of(classes, _core.MAX_CLASSES)
        spec = make_spec(learner, settings)
        names = _names.feature_names(features) if isinstance(features, Iterable) else []
        numbers = (
            number,
            len(names) if isinstance(features, Iterable) else whole(features, "features", 0, _core.MAX_FEATURES),
            0 if max_features is None else whole(max_features, "max_features", 1, _core.MAX_FEATURES),
            whole(seed, "seed", 0, 2**64 - 1),
            0 if memory is None else whole(memory, "memory", 1, 2**64 - 1),
        )
        try:
            core = _core.Learner(spec, *numbers)
        except ValueError as error:
            raise ValueError(f"{error}{explain_unknown(spec, str(error))}") from None
        self._start(core)
        self._max_features = _core.MAX_FEATURES if max_features is None else int(max_features)
        self._numbered = False
        if labels is not None and not (labels == list(range(number)) and not isinstance(labels[0], bool)):
            self._set_labels(labels)
        self._add_names(names)
        self._begin_with(examples or {})

    def _begin_with(self, examples: Mapping[Any, Iterable[Any]]) -> None:
        """Teach examples: the first one of each label, then the second ones, and so on."""
        if any(isinstance(some, (str, bytes, Mapping)) for some in examples.values()):
            raise ValueError("examples must be {label: [example, ...], ...}")
        for turn in itertools.zip_longest(*(list(some) for some in examples.values())):
            for label, x in zip(examples, turn):
                if x is not None:
                    self.teach(x, label)

    def _start(self, core: _core.Learner) -> None:
        """Around a C learner: the names come out of the model."""
        self._core = core
        self._name = core.algorithm
        self._lock = threading.RLock()  # of the names; numbers are guarded in C
        self._max_features = _core.MAX_FEATURES
        self._answers = Answers()
        self._sort_names = False  # whether new names of one example are numbered by name, not in the order of their appearance
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
            raise _names.unknown_label(label, self._labels)
        return number

    def numbers_of(self, y: Any) -> NDArray[np.uint32]:
        """Many labels as class numbers."""
        labels = _names.column_of_labels(y)
        if self._labels is None:
            if labels.dtype.kind not in "iub" and labels.size:
                raise ValueError(f"labels must be class numbers, not {labels.dtype}: give classes=[...] to name them")
            if labels.size and not 0 <= int(labels.min()) <= int(labels.max()) < self._core.classes:
                raise ValueError(f"a label is not between 0 and {self._core.classes - 1}")
            return np.ascontiguousarray(labels, dtype=np.uint32)
        if labels.dtype.kind in "OU":
            plain = labels.tolist()
            known = {label: self._number(label) for label in set(plain)}
            return np.fromiter(map(known.__getitem__, plain), np.uint32, len(plain))
        different, where = np.unique(labels, return_inverse=True)
        numbers = np.asarray([self._number(label) for label in different.tolist()], dtype=np.uint32)
        return numbers[where.reshape(-1)]

    def _check_kind(self, x: Union[Row, Batch]) -> None:
        """Features have names or numbers; an example without any decides nothing."""
        if x.is_empty:
            return
        if x.names is None and self._features:
            raise ValueError("this learner's features have names: give dicts")
        if x.names is not None and self._numbered:
            raise ValueError("this learner's features have numbers: give arrays, or dicts with whole numbers")

    def _add_names(self, names: Sequence[str]) -> int:
        """How many names there were before."""
        before = len(self._features)
        for name in sorted(names) if self._sort_names else names:
            self._features.setdefault(name, len(self._features))
        if len(self._features) > self._max_features:
            self._forget_names(before)
            raise ValueError(f"more than {self._max_features} features")
        return before

    def _forget_names(self, before: int) -> None:
        while len(self._features) > before:
            self._features.popitem()

    def _find(self, names: Sequence[str]) -> List[int]:
        """Numbers of names; -1 for those never seen, which weigh nothing."""
        with self._lock:
            return list(map(self._features.get, names, itertools.repeat(-1)))

    def _store_names(self) -> None:
        if len(self._features) != self._stored:
            self._core.set_meta(_names.FEATURES, _names.text_to_block(self._features))
            self._stored = len(self._features)

    # --- one round ---

    def _one(self, x: Any, call: Callable[[_core.Example], T]) -> Tuple[T, Any]:
        """Learn from one example, names and all; a call that fails changes nothing. Returns what can be kept of x."""
        if isinstance(x, dict) and not self._numbered:
            with self._lock:
                result = call((x, self._features, self._max_features, self._sort_names))
            if result is not NotImplemented:
                return result, x.copy()
        row = row_of(x)
        with self._lock:
            self._check_kind(row)
            before = len(self._features) if row.names is None else self._add_names(row.names)
            try:
                result = call(row.resolve(self._find))
            except BaseException:
                self._forget_names(before)
                raise
            self._numbered = self._numbered or row.names is None and not row.is_empty
        return result, row.kept(x)

    def _among(self, labels: Iterable[Any]) -> NDArray[np.uint32]:
        if isinstance(labels, (str, bytes)):
            raise ValueError("among must be a list of labels, not one text")
        return np.array([self._number(label) for label in labels], np.uint32)

    def predict(
        self,
        x: Any,
        *,
        among: Optional[Iterable[Any]] = None,
        act_at: Optional[float] = None,
        keep: bool = True,
    ) -> Choice:
        """Choose a label for x: a dict, a row of numbers, or a sparse row. May explore; counts a round.

        among: the labels that may be shown this time; the probability is the exact one among those.
        act_at: the choice says whether to act on it or to hand it over (choice.act), so that of those acted on that
        share is right in the long run; the threshold follows the feedback.
        The choice carries x for the feedback; keep=False leaves it out (then give it to feedback again).

        >>> learner = Learner("banditron:gamma=0.2", classes=["tea", "coffee", "juice"])
        >>> learner.predict({"morning": 1}, among=["juice"])
        Choice(label='juice', prob=1, round=1, greedy)
        """
        if among is None:
            raw, kept = self._one(x, self._core.predict)
        else:
            numbers = self._among(among)
            raw, kept = self._one(x, lambda ready: self._core.predict_among(ready, numbers))
        labels = self._labels
        label, greedy = (raw[2], raw[3]) if labels is None else (labels[raw[2]], labels[raw[3]])
        promise = None if act_at is None else (float(act_at), *self._core.act(raw[6], float(act_at)))
        return Choice(self._name, raw, label, greedy, kept if keep else None, promise)

    @property
    def promises(self) -> Dict[float, Dict[str, float]]:
        """What has come of each act_at: its threshold of the confidence, answers, how many were acted on and right.

        >>> learner = Learner("banditron", classes=["tea", "coffee"])
        >>> choice = learner.predict({"morning": 1}, act_at=0.9)
        >>> choice.act
        False
        >>> learner.feedback(choice, right=True)
        True
        >>> learner.promises
        {0.9: {'threshold': 0.9, 'answers': 1, 'acted': 0, 'right': 0}}
        """
        names = ("threshold", "answers", "acted", "right")
        return {promise: dict(zip(names, known)) for promise, *known in self._core.promises()}

    def feedback(self, choice: Choice, right: bool, x: Any = None, *, again: bool = False) -> bool:
        """Tell whether the choice was right: now, later, or never.

        True: it was learned. False: the same had been said before; a choice is learned from once, unless again=True.
        """
        if not isinstance(choice, Choice):
            raise ValueError(f"feedback needs the Choice that predict gave, not {type(choice).__name__}")
        is_right = truth(right)
        row = choice._x if x is None else x
        if row is None:
            raise ValueError("the choice does not carry its example: give x")
        self._check_choice(choice)
        raw = choice._raw
        with self._lock:
            if not again and self._answered(raw[0], is_right):
                return False
            self._one(row, lambda ready: self._core.feedback(ready, raw, is_right))
            if choice._promise is not None:
                self._core.acted(choice._promise[0], choice._promise[1], is_right)
            self._answers.set(raw[0], is_right)
        return True

    def _answered(self, number: int, right: bool) -> bool:
        """Whether this round has been answered so; another answer is an error."""
        before = self._answers.get(number)
        if before and (before == 2) != right:
            said = "right" if before == 2 else "wrong"
            raise ValueError(f"round {number} has been called {said} before; again=True learns from both")
        return before != 0

    def _check_choice(self, choice: Choice) -> None:
        if choice.learner != self._name:
            raise ValueError(f"the choice was made by {choice.learner!r}, not by {self._name!r}")
        labels, classes = self._labels, self._core.classes
        for number, label in ((choice._raw[2], choice._label), (choice._raw[3], choice._greedy)):
            if number >= classes or (number if labels is None else labels[number]) != label:
                raise ValueError(f"the choice names {label!r}, which is not this learner's label {number}")

    def teach(self, x: Any, label: Any) -> None:
        """Learn the true label of x, when it is known; many rows and labels at once work as well."""
        if np.ndim(label) > 0:
            batch, labels = self._checked(x, label)
            self._core.teach_batch(self._learning(batch).for_core, labels)
            return
        number = self._number(label)
        self._one(x, lambda ready: self._core.teach(ready, number))

    def learn(self, x: Any, label: Any, prob: Any, right: Any) -> None:
        """Learn from a round of another policy, which predicted label with probability prob and was right or not.

        Arrays of rows, labels, probabilities and bits work as well; see also learn_log.
        """
        if np.ndim(label) == 0:
            number, chance, bit = self._number(label), float(prob), truth(right)
            if not 0 < chance <= 1:
                raise ValueError(f"prob={prob}: must be above 0 and at most 1")
            self._one(x, lambda ready: self._core.learn(ready, number, chance, bit))
            return
        batch, labels = self._checked(x, label)
        chances = np.ascontiguousarray(prob, dtype=np.float64)
        if chances.shape != (batch.rows,) or not ((chances > 0) & (chances <= 1)).all():
            raise ValueError(f"prob must be {batch.rows} probabilities, above 0 and at most 1")
        bits = truths(right, batch.rows)
        self._core.learn_batch(self._learning(batch).for_core, labels, chances, bits)

    def learn_log(self, log: Log) -> int:
        """Learn from the answered rounds of a log, in their order; from true labels where it has them. How many."""
        rounds = log.answered
        for played in rounds:
            x = played.x
            if isinstance(x, list) and x and isinstance(x[0], (list, tuple)):
                x = {int(number): value for number, value in x}
            if played.true_label is not None:
                self.teach(x, played.true_label)
            else:
                self.learn(x, played.label, played.prob, played.right)
        return len(rounds)

    # --- many rounds ---

    def _checked(self, x: Any, y: Any) -> Tuple[Batch, NDArray[np.uint32]]:
        batch, labels = self._checked_rows(x), self.numbers_of(y)
        if len(labels) != batch.rows:
            raise ValueError(f"{batch.rows} examples but {len(labels)} labels")
        return batch, labels

    def _checked_rows(self, x: Any) -> Batch:
        """Everything that the library would stumble over half way is refused here."""
        batch = self._batch(x)
        check_finite(batch)
        if batch.names is None and batch.highest > self._max_features:
            raise ValueError(f"feature {batch.highest - 1} is beyond the limit of {self._max_features} features")
        return batch

    def _learning(self, batch: Batch) -> Batch:
        """Checked rows by the learner's numbers; new names get theirs and keep them. Others may call meanwhile."""
        with self._lock:
            self._check_kind(batch)
            if batch.names is not None:
                self._add_names(batch.names)
            self._numbered = self._numbered or batch.names is None and not batch.is_empty
        if batch.roles:
            known = range(len(batch.roles)) if batch.names is None else self._find(batch.names[: len(batch.roles)])
            self._core.set_roles(np.asarray(known, dtype=np.uint32).tobytes(), batch.roles)
        return batch.resolve(self._find)

    def run(
        self, x: Any, y: Any, *, curve: CurvePoints = True, choices: bool = False, progress: bool = False
    ) -> Result:
        """Play x against its labels y and learn: see hunch.run, which does this with a new learner."""
        from ._run import play

        batch, labels = self._checked(x, y)
        return play(self, batch, labels, curve, choices, progress=progress)

    def predict_many(self, x: Any, *, keep: bool = True) -> Choices:
        """Choose a label for every row; the same choices as predict gives one by one."""
        batch = self._checked_rows(x)
        columns = Columns.empty(batch.rows)
        self._core.predict_batch(self._learning(batch).for_core, columns)
        return Choices(self._name, self.labels, columns, batch if keep else None)

    def feedback_many(self, choices: Choices, right: Any, x: Any = None, *, again: bool = False) -> int:
        """Tell of many choices whether they were right, in their order. Returns how many were learned from."""
        if not isinstance(choices, Choices):
            raise ValueError(f"feedback_many needs the Choices that predict_many gave, not {type(choices).__name__}")
        bits = truths(right, len(choices))
        if choices.learner != self._name or choices.labels != self.labels[: len(choices.labels)]:
            raise ValueError("the choices were made by another learner")
        if x is None and choices.x is None:
            raise ValueError("the choices do not carry their examples: give x")
        batch = self._checked_rows(choices.x if x is None else x)
        if batch.rows != len(choices):
            raise ValueError(f"{batch.rows} examples but {len(choices)} choices")
        with self._lock:
            rounds = choices.columns.round.tolist()
            new = np.arange(len(bits))
            if not again:
                told = [not self._answered(number, bool(bit)) for number, bit in zip(rounds, bits)]
                first = dict(zip(reversed(rounds), reversed(range(len(rounds)))))  # of a round that is there twice
                new = np.asarray([i for i, ok in enumerate(told) if ok and first[rounds[i]] == i], np.int64)
            if len(new) != len(bits):
                batch, bits = batch.take(new), bits[new]
            columns = choices.columns.take(new)
            self._core.feedback_batch(self._learning(batch).for_core, columns, bits)
            for number, bit in zip(columns.round.tolist(), bits.tolist()):
                self._answers.set(number, bool(bit))
        return len(new)

    # --- asking ---

    def _ask(self, x: Any, call: Callable[[_core.Example], T]) -> T:
        if isinstance(x, dict) and not self._numbered:
            result = call((x, self._features, 0))
            if result is not NotImplemented:
                return result
        row = row_of(x)
        self._check_kind(row)
        return call(row.resolve(self._find))

    def _batch(self, x: Any) -> Batch:
        """Rows; data frames by the model's schema, if it has one."""
        if is_frame(x) and self._core.get_meta(_names.SCHEMA) is not None:
            return self.rows(x).__hunch_batch__()
        return batch_of(x)

    def _asking(self, x: Any) -> Batch:
        batch = self._batch(x)
        check_finite(batch)
        self._check_kind(batch)
        return batch.resolve(self._find)

    def scores(self, x: Any) -> NDArray[np.float32]:
        """The scores whose largest is the greedy label: one row of them, or one per row of x."""
        if not is_batch(x):
            ret = np.empty(self._core.classes, np.float32)
            self._ask(x, lambda ready: self._core.scores(ready, ret))
            return ret
        batch = self._asking(x)
        ret = np.empty((batch.rows, self._core.classes), np.float32)
        self._core.score_batch(batch.for_core, None, ret)
        return ret

    def probabilities(self, x: Any) -> NDArray[np.float64]:
        """Probabilities of the labels: the greedy one has its confidence, but at least 1/K; the others get the rest by score."""
        scores = self.scores(x)
        ret = np.empty(scores.shape, np.float64)
        self._core.probabilities(np.ascontiguousarray(scores).reshape(-1), ret.reshape(-1))
        return ret

    def chances(self, x: Any, *, among: Optional[Iterable[Any]] = None) -> NDArray[np.float64]:
        """The probability with which predict would show each label next (of one row). Changes nothing.

        >>> learner = Learner("banditron:gamma=0.2", classes=["tea", "coffee", "juice"])
        >>> learner.chances({"morning": 1}, among=["tea", "juice"]).round(2).tolist()
        [0.9, 0.0, 0.1]
        """
        ret = np.empty(self._core.classes, np.float64)
        numbers = None if among is None else self._among(among)
        self._ask(x, lambda ready: self._core.chances(ready, numbers, ret))
        return ret

    def confidence(self, x: Any) -> Any:
        """The probability that the greedy label is right (an array for many rows). Draws and changes nothing.

        >>> learner = Learner("confident", classes=["tea", "coffee"])
        >>> round(learner.confidence({"morning": 1}), 2)
        0.5
        """
        scores, ret = self.scores(x), self.probabilities(x)
        if scores.ndim == 1:
            return float(ret[scores.argmax()])
        return ret[np.arange(len(ret)), scores.argmax(axis=1)]

    def greedy_numbers(self, x: Any) -> NDArray[np.uint32]:
        """The class numbers with the largest scores, for many rows."""
        batch = self._asking(x if is_batch(x) else [x])
        ret = np.empty(batch.rows, np.uint32)
        self._core.score_batch(batch.for_core, ret, None)
        return ret

    def greedy(self, x: Any) -> Any:
        """The label with the largest score (an array of them for many rows). Draws and changes nothing."""
        if not is_batch(x):
            return self._label(self._ask(x, self._core.greedy))
        return _names.label_array(self.labels)[self.greedy_numbers(x)]

    def explain(self, x: Any) -> Explanation:
        """Which features of x spoke for which label: what each label's score would lose without the feature.

        >>> learner = Learner("perceptron", classes=["sport", "politics"])
        >>> for _ in range(3):
        ...     learner.teach({"goal": 1, "the": 1}, "sport")
        ...     learner.teach({"vote": 1, "the": 1}, "politics")
        >>> learner.explain({"goal": 2, "the": 1}).top(1)
        [('goal', 'sport', 2.0)]
        """
        row = row_of(x)
        names: List[Union[str, int]] = list(range(len(row.value)))
        if row.names is not None:
            names = list(row.names)
        elif row.index is not None:
            names = row.index.tolist()
        parts = [self._without(row, i) for i in range(len(row.value))]
        scores = [self.scores(part) for part in (row, *parts)]
        table = scores[0] - np.asarray(scores[1:], np.float32).reshape(len(names), len(scores[0]))
        return Explanation(names, self.labels, scores[0], table)

    @staticmethod
    def _without(row: Row, i: int) -> Row:
        """Dense rows keep their places: the value becomes 0."""
        if row.names is None and row.index is None:
            value = row.value.copy()
            value[i] = 0
            return Row(None, None, value)
        keep = np.arange(len(row.value)) != i
        names = None if row.names is None else tuple(name for name, here in zip(row.names, keep) if here)
        return Row(names, None if row.index is None else row.index[keep], row.value[keep])

    # --- tables ---

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        label: str,
        learner: Optional[str] = None,
        *,
        text: Names = None,
        category: Names = None,
        ignore: Names = None,
        seed: int = 0,
        **settings: SettingValue,
    ) -> Learner:
        """A new learner for tables like this data frame: its types become the schema, the column label its classes.

        Nothing is learned yet: learner.run(frame, frame[label]) does that. Frames and files with such columns are
        from then on read by the schema, which the model keeps for the hunch command and the server.
        """
        from ._tables import table_of_frame

        table = table_of_frame(frame, label, text=text, category=category, ignore=ignore)
        made = cls(make_spec(learner, settings), _names.labels_in(table.classes, frame[label]), seed=seed)
        made._take_schema(table)
        return made

    def _take_schema(self, table: Table) -> None:
        self._add_names(table.feature_names or ())
        self._store_names()
        self._core.set_meta(_names.SCHEMA, table.schema_text or b"")

    @property
    def schema(self) -> Optional[Dict[str, Any]]:
        """What the columns of tables mean to this model; None: it has not learned from a table."""
        text = self._core.get_meta(_names.SCHEMA)
        return None if text is None else json.loads(text)

    def rows(self, table: Any) -> Table:
        """A file (its path) or a data frame, read by this model's schema, labels and features; also a list of texts, where
        the schema has one column of text."""
        from ._tables import read_csv, table_of_frame, table_of_texts

        with self._lock:
            self._store_names()
        if isinstance(table, (str, os.PathLike)):
            return read_csv(table, learner=self)
        nothing = isinstance(table, (list, tuple)) and len(table) > 0 and all(map(_names.is_missing, table))
        if nothing or _names.is_texts(table):
            return table_of_texts(table, learner=self)
        return table_of_frame(table, learner=self)

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
            elif labels is not None or label is True or _names.label_of(label) != number:
                labels = _names.labels_of([*self.labels, label])
                _names.text_to_block([str(labels[-1])])
            self._core.add_classes(1)
            if labels is not None:
                self._set_labels(labels)

    def retire(self, label: Any, retired: bool = True) -> None:
        """Show a label no more; it stays in the model and can still be taught. retired=False restores it.

        >>> learner = Learner(classes=["a", "b"])
        >>> learner.retire("a")
        >>> learner.retired, learner.predict({"x": 1}).label
        (['a'], 'b')
        """
        with self._lock:
            self._core.retire(self._number(label), truth(retired))

    @property
    def retired(self) -> List[Label]:
        """The labels that are retired."""
        return [label for i, label in enumerate(self.labels) if self._core.is_retired(i)]

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
            raise ValueError(
                "the two learners number their features differently: make both with the same features=[name, ...]"
            )
        self._core.merge(other._core)
        with self._lock:
            for name in list(other._features)[len(self._features) :]:
                self._features[name] = len(self._features)

    def __reduce__(self) -> Tuple[Any, ...]:
        return (_restore, (type(self), self.to_bytes(), self._own()))

    def __deepcopy__(self, memo: Any) -> Learner:
        return _restore(type(self), self.to_bytes(), copy.deepcopy(self._own()))

    def _own(self) -> Dict[str, Any]:
        """What a copy has beyond the model's bytes."""
        return {"_max_features": self._max_features, "_answers": self._answers, "_sort_names": self._sort_names}

    def __copy__(self) -> Learner:
        return self.__deepcopy__(None)

    def reseed(self, seed: int) -> None:
        """Reseed the random generator."""
        self._core.reseed(whole(seed, "seed", 0, 2**64 - 1))

    def set_repeated(self, repeated: bool) -> None:
        """Say whether the examples from now on were learned from before, in an earlier pass over the same rows.

        Answers are still learned from, but they are no evidence of how good the learner is on new examples: no alarm of
        drift, no choice between the learners within and no calibration of the confidence follows from them.
        """
        self._core.set_repeated(bool(repeated))

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

    @property
    def column_weights(self) -> Optional[Dict[Union[int, str], float]]:
        """How much each feature counts where the learner draws curves: 1 at first, less for columns that say nothing.

        By name, or by number where features have no names; None: the learner takes all alike.

        >>> x = np.random.default_rng(1).normal(size=(1000, 3))
        >>> learner = Learner(classes=2)
        >>> result = learner.run(x, (np.abs(x[:, 0]) > 0.7).astype(int))
        >>> max(learner.column_weights, key=learner.column_weights.get)
        0
        """
        weights = self._core.weights()
        return None if weights is None else dict(zip(self.feature_names or range(len(weights)), weights))

    def info(self) -> Dict[str, Union[str, int, float]]:
        """What there is to know in numbers: sizes, the form of its matrices, and the learner's own counters.

        Learners that follow drift tell restarts, last_restart (its round; 0: there was none) and forgetting, the decay
        that is in force.

        >>> info = Learner("banditron", classes=3).info()
        >>> info["learner"], info["classes"], info["rounds"]
        ('banditron', 3, 0)
        """
        ret: Dict[str, Union[str, int, float]] = {
            "learner": self._name,
            "spec": self.spec,
            "form": self._core.form,
            "classes": self._core.classes,
            "features": self.features,
            "rounds": self.rounds,
            "bytes": self.bytes,
        }
        for name, shape in self.tensors.items():
            if shape == (1, 1):
                ret[name] = float(self.tensor(name)[0, 0])
        drift = self._core.drift()
        if drift is not None:
            ret["restarts"], ret["last_restart"], ret["forgetting"] = drift
        return ret

    def _repr_html_(self) -> str:
        return learner_html(self.info(), self.labels)

    def __repr__(self) -> str:
        return f"Learner({short_spec(self.spec)!r}, classes={self._core.classes}, rounds={self.rounds})"


def _restore(cls: Any, data: bytes, own: Dict[str, Any]) -> Learner:
    learner: Learner = cls.from_bytes(data)
    learner.__dict__.update(own)
    return learner


def load(path: Path) -> Learner:
    """Read a model file (Learner.load)."""
    return Learner.load(path)
