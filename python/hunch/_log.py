# SPDX-License-Identifier: BSD-3-Clause
"""Logs of rounds, in the file format of `hunch replay`."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
from typing import IO, Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import off_policy
from ._choice import Choice, Choices
from ._html import table_html
from ._inputs import Batch, batch_of, row_of
from ._learner import Learner, truth, truths
from ._names import Label, label_array, label_of, rank
from .off_policy import Estimate

_OPENERS: Dict[str, Callable[..., Any]] = {".xz": lzma.open, ".gz": gzip.open, ".bz2": bz2.open}


class Round(NamedTuple):
    """One round of a log."""

    x: Any  #: {"name": value}, [value, ...] or [[number, value], ...]
    label: Label  #: the predicted label
    prob: float  #: its probability
    right: Optional[bool]  #: None: no feedback
    true_label: Optional[Label] = None


def _text(x: Any) -> str:
    return json.dumps(x, ensure_ascii=False, separators=(",", ":"))


def _line(played: Round) -> str:
    data: Dict[str, Any] = {"label": played.label, "prob": played.prob, "right": played.right, "x": played.x}
    if isinstance(played.label, bool):
        data["label"] = str(played.label)
    if played.true_label is not None:
        data["true_label"] = played.true_label
    return _text(data) + "\n"


def _round(data: Any, line: int) -> Round:
    try:
        prob = float(data["prob"] if "prob" in data else data["probability"])
        right = data.get("right", data.get("was_right"))
        true_label = data.get("true_label")
        label = label_of(data["label"])
        if right is None and true_label is not None:
            right = str(true_label) == str(label)
        if not 0 < prob <= 1 + 1e-9:
            raise ValueError(f"the probability {prob} is not in (0, 1]")
        x = data["x"]
        row_of({int(i): v for i, v in x} if isinstance(x, list) and x and isinstance(x[0], list) else x)
        return Round(x, label, min(prob, 1.0), None if right is None else truth(right), true_label)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"line {line}: not a round of a log: {error}") from None


class Log:
    """Logged rounds: example, predicted label, probability, and whether it was right.

    >>> import hunch
    >>> learner, log = hunch.Learner("banditron:gamma=0.4", ["tea", "coffee"]), hunch.Log()
    >>> for hour in [7, 16] * 200:
    ...     choice = learner.predict({"morning": hour < 12, "afternoon": hour >= 12})
    ...     right = choice.label == ("coffee" if hour < 12 else "tea")
    ...     learner.feedback(choice, right)
    ...     log.add(choice, right)
    ... # doctest: +ELLIPSIS
    True...
    >>> len(log), log.evaluate(learner)["snips"].value > 0.9
    (400, True)

    With a path every round is appended to that file at once (JSON lines; .gz, .xz and .bz2 are compressed).
    """

    def __init__(self, path: Union[str, os.PathLike[str], None] = None) -> None:
        self.rounds: List[Round] = []
        self._file: Optional[IO[str]] = None
        if path is not None:
            self._file = _open(path, "at")

    # --- filling ---

    def append(self, played: Round) -> None:
        self.rounds.append(played)
        if self._file is not None:
            self._file.write(_line(played))

    def add(self, choice: Choice, right: Optional[bool], x: Any = None) -> None:
        """One choice and what came back (None: nothing)."""
        example = choice.x if x is None else row_of(x).to_plain()
        if example is None:
            raise ValueError("the choice does not carry its example: give x")
        self.append(Round(example, choice.label, choice.prob, None if right is None else truth(right)))

    def extend(self, choices: Choices, right: Any, x: Any = None) -> None:
        """Many choices (Learner.predict_many, Result.choices) and what came back."""
        bits = truths(right, len(choices)).tolist()
        batch = choices.x if x is None else batch_of(x)
        if batch is None:
            raise ValueError("the choices do not carry their examples: give x")
        if batch.rows != len(choices):
            raise ValueError(f"{batch.rows} examples but {len(choices)} choices")
        labels, probs = choices["label"].tolist(), choices["prob"].tolist()
        for i, (label, prob, bit) in enumerate(zip(labels, probs, bits)):
            self.append(Round(batch.row(i).to_plain(), label, prob, bool(bit)))

    def close(self) -> None:
        """Let the file go, when there is one."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- files ---

    def write(self, path: Union[str, os.PathLike[str]]) -> None:
        """A file of JSON lines, which `hunch replay` reads."""
        with _open(path, "wt") as file:
            file.writelines(map(_line, self.rounds))

    @classmethod
    def read(cls, path: Union[str, os.PathLike[str]]) -> Log:
        """A log of JSON lines, also the tool's; lessons (a true label and none shown) are left out."""
        try:
            return cls._read(path)
        except UnicodeDecodeError:
            raise ValueError(
                f"{os.fspath(path)}: not JSON lines (a server's log.db is a SQLite database: hunch replay reads it)"
            ) from None

    @classmethod
    def _read(cls, path: Union[str, os.PathLike[str]]) -> Log:
        log = cls()
        with _open(path, "rt") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    data = json.loads(line)
                except ValueError as error:
                    raise ValueError(f"{os.fspath(path)}, line {number}: {error}") from None
                if isinstance(data, dict) and data.get("label") is None and data.get("true_label") is not None:
                    continue
                try:
                    log.rounds.append(_round(data, number))
                except ValueError as error:
                    raise ValueError(f"{os.fspath(path)}, {error}") from None
        return log

    # --- looking ---

    def __len__(self) -> int:
        return len(self.rounds)

    def __iter__(self) -> Iterator[Round]:
        return iter(self.rounds)

    def __getitem__(self, i: int) -> Round:
        return self.rounds[i]

    @property
    def answered(self) -> List[Round]:
        """The rounds that were answered."""
        return [played for played in self.rounds if played.right is not None]

    @property
    def labels(self) -> List[Label]:
        """The predicted labels, in their order."""
        named = {str(played.label): played.label for played in self.rounds}
        return [named[text] for text in rank(named)]

    def columns(self) -> Dict[str, NDArray[Any]]:
        """label, prob and right of the rounds that were answered, as off_policy takes them."""
        rounds = self.answered
        return {
            "label": label_array([played.label for played in rounds]),
            "prob": np.asarray([played.prob for played in rounds]),
            "right": np.asarray([bool(played.right) for played in rounds]),
        }

    def examples(self) -> Batch:
        """The examples of the rounds that were answered, as one batch."""
        return batch_of_rows([played.x for played in self.answered])

    def __repr__(self) -> str:
        return f"Log({len(self)} rounds, {len(self.answered)} answered, labels {self.labels!r:.60})"

    def _repr_html_(self) -> str:
        rows = [[str(r.label), f"{r.prob:.4g}", str(r.right), _text(r.x)[:80]] for r in self.rounds[:10]]
        return table_html(["label", "prob", "right", "x"], rows, f"the first of {len(self):,} rounds")

    # --- what another policy would have scored ---

    def evaluate(
        self,
        policy: Any,
        *,
        methods: Sequence[str] = ("ips", "snips", "dr"),
        confidence: float = 0.95,
        clip: Optional[float] = None,
        interval: str = "normal",
        replicates: int = 1000,
        seed: int = 0,
    ) -> Dict[str, Estimate]:
        """The estimates of `hunch replay`: ips, snips and dr (with the reward model of off_policy.reward_model).

        policy: a Learner (its greedy labels), one label for all rounds, or what off_policy takes, for the rounds that
        were answered. Where a method has no interval of the kind (bernstein for snips, wilson for others), it has the
        normal one.
        """
        columns, labels = self.columns(), self.labels
        examples = self.examples()
        shown, right, prob = columns["label"], columns["right"], columns["prob"]
        if isinstance(policy, Learner):
            labels = [*labels, *(label for label in policy.labels if label not in labels)]
            policy = policy.greedy(examples)
        elif isinstance(policy, (str, int)):
            policy = np.full(len(shown), policy, dtype=None if isinstance(policy, int) else f"U{len(policy) or 1}")
            labels = (
                [*labels, *(label for label in {policy[0].item()} if label not in labels)] if len(policy) else labels
            )
        ret: Dict[str, Estimate] = {}
        for method in methods:
            fits = method == "snips" if interval == "wilson" else not (interval == "bernstein" and method == "snips")
            how: Dict[str, Any] = dict(confidence=confidence, clip=clip, replicates=replicates, seed=seed)
            how["interval"] = interval if fits else "normal"
            if method == "dr":
                model = off_policy.reward_model(examples, shown, right, labels)
                ret[method] = off_policy.doubly_robust(shown, right, prob, policy, model, labels=labels, **how)
            elif method in ("ips", "snips"):
                estimate = off_policy.ips if method == "ips" else off_policy.snips
                ret[method] = estimate(shown, right, prob, policy, labels=labels, **how)
            else:
                raise ValueError(f"{method!r}: the methods are ips, snips and dr")
        return ret


def batch_of_rows(examples: Sequence[Any]) -> Batch:
    """Examples in the forms of JSON: all dicts, all lists of values, or all lists of pairs."""
    turned: List[Any] = []
    for x in examples:
        turned.append({int(i): v for i, v in x} if isinstance(x, list) and x and isinstance(x[0], (list, tuple)) else x)
    if turned and not isinstance(turned[0], dict) and len({len(x) for x in turned}) > 1:
        turned = [dict(enumerate(x)) for x in turned]
    return batch_of(turned)


def _open(path: Union[str, os.PathLike[str]], mode: str) -> IO[str]:
    opener = _OPENERS.get(os.path.splitext(os.fspath(path))[1], open)
    file: IO[str] = opener(path, mode, encoding="utf-8")
    return file
