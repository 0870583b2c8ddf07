# SPDX-License-Identifier: BSD-3-Clause
"""How good would another policy have been? Estimates from logged choices, as `hunch replay` makes them.

Each logged round has the chosen label, its probability (prob), and the reward.
A policy is either one label per round (shape n), or a probability for every label (shape n x K): then labels tells which
column is which, unless it is a data frame whose columns are named by the labels.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> action = rng.choice(["a", "b", "c"], size=20000)          # shown uniformly
>>> reward = (rng.random(20000) < 0.8 * (action == "c")).astype(float)
>>> estimate = ips(action, reward, np.full(20000, 1 / 3), np.full(20000, "c"))
>>> estimate.low < 0.8 < estimate.high
True
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from math import exp, inf, isfinite, nan, sqrt
from statistics import NormalDist
from typing import Any, Collection, List, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from ._html import table_html
from ._inputs import batch_of
from ._names import column_of_labels, did_you_mean, label_of
from .datasets import splitmix_bits

Floats = NDArray[np.float64]

INTERVALS = ("normal", "bootstrap", "bernstein", "wilson")


class LogWarning(UserWarning):
    """The log cannot answer, or less certainly than the interval suggests."""


@dataclass(frozen=True)
class Estimate:
    """A policy's mean reward with a confidence interval."""

    method: str
    value: float
    low: float
    high: float
    std_error: float
    effective_rounds: float  #: how many rounds of its own the policy would have needed: (sum w)^2 / sum w^2
    rounds: int
    matches: float  #: fraction of rounds whose label the policy can choose
    max_weight: float = nan
    mean_weight: float = nan  #: 1 on average, when the probabilities are right
    warnings: Tuple[str, ...] = field(default=(), repr=False)  #: what the log can't tell

    def __str__(self) -> str:
        return (
            f"{self.method}: {self.value:.4f} [{self.low:.4f}, {self.high:.4f}], "
            f"{self.effective_rounds:.0f} effective of {self.rounds} rounds"
        )

    def _repr_html_(self) -> str:
        row = [
            self.method,
            f"{self.value:.4f}",
            f"{self.low:.4f} .. {self.high:.4f}",
            f"{self.effective_rounds:,.0f}",
            f"{self.rounds:,}",
        ]
        return table_html(["estimate", "value", "interval", "effective rounds", "rounds"], [row])


# --- logs ---


@dataclass(frozen=True)
class _Log:
    labels: List[Any]  # all that are named, in the order of their numbers here
    action: NDArray[np.int64]
    reward: Floats
    prob: Floats
    weight: Floats  # the policy's probability of the action over the logged one
    policy: NDArray[Any]  # n numbers of actions, or n x K probabilities
    clip: Optional[float]

    @property
    def effective(self) -> float:
        squares = float(np.sum(self.weight**2))
        return float(np.sum(self.weight)) ** 2 / squares if squares else 0.0


def _columns_of(table: Any, labels: Optional[Collection[Any]], what: str) -> Tuple[NDArray[Any], Optional[List[Any]]]:
    """A table as an array, and the labels of its columns (None: it is one label per round)."""
    names = getattr(table, "columns", None)
    array = np.asarray(table)
    if array.ndim == 1:
        return array, None
    if array.ndim != 2:
        raise ValueError(f"{what}: one label per round or a table of n rounds x K labels; this has shape {array.shape}")
    if labels is None and names is None:
        raise ValueError(
            f"{what}: say which column is which label: labels=[...] (a Learner has them as learner.labels)"
        )
    given: Any = names if labels is None else labels
    columns = [label_of(label) for label in given]
    if len(columns) != array.shape[1]:
        raise ValueError(f"{what}: {array.shape[1]} columns but {len(columns)} labels")
    return array, columns


def _kind(column: Sequence[Any]) -> str:
    return "text" if any(isinstance(label, str) for label in column) else "whole numbers"


def _numbers(column: NDArray[Any], table: dict[Any, int], what: str) -> NDArray[np.int64]:
    plain = column.tolist()
    try:
        return np.asarray([table[label] for label in plain], np.int64)
    except KeyError as error:
        near = did_you_mean(error.args[0], map(str, table))
        raise ValueError(f"{what}: {error.args[0]!r} is not one of the labels{near}") from None


def _policy_of(
    policy: Any, action: NDArray[Any], labels: Optional[Collection[Any]]
) -> Tuple[List[Any], Any, Any, Floats]:
    """All labels; the actions' numbers; the policy by numbers; the policy's probability of each logged action."""
    array, columns = _columns_of(policy, labels, "policy")
    n = len(action)
    if len(array) != n:
        raise ValueError(f"policy: {len(array)} rows for {n} rounds")
    if columns is None:
        target = column_of_labels(array)
        known = (
            [label_of(label) for label in labels]
            if labels is not None
            else sorted({*action.tolist(), *target.tolist()}, key=str)
        )
        if n and _kind(action[:1].tolist()) != _kind(target[:1].tolist()):
            raise ValueError(
                f"policy: its labels are {_kind(target[:1].tolist())}, the log's are {_kind(action[:1].tolist())}"
            )
        table = {label: i for i, label in enumerate(known)}
        shown, wanted = _numbers(action, table, "action"), _numbers(target, table, "policy")
        return known, shown, wanted, np.asarray(shown == wanted, np.float64)
    chances = np.asarray(array, np.float64)
    if not np.isfinite(chances).all() or (chances < 0).any() or not np.allclose(chances.sum(axis=1), 1, atol=1e-6):
        raise ValueError("policy: rows must be probabilities that sum to 1")
    shown = _numbers(action, {label: i for i, label in enumerate(columns)}, "action")
    return columns, shown, chances, chances[np.arange(n), shown]


def _log(
    action: Any, reward: Any, prob: Any, policy: Any, labels: Optional[Collection[Any]], clip: Optional[float]
) -> _Log:
    actions, rewards = column_of_labels(action), np.asarray(reward, dtype=np.float64)
    probs = np.asarray(prob, dtype=np.float64)
    if actions.shape != rewards.shape or actions.shape != probs.shape or not actions.size:
        raise ValueError("action, reward and prob must be lists of the same length, not empty")
    if not np.isfinite(rewards).all():
        raise ValueError("a reward is not finite")
    if not ((probs > 0) & (probs <= 1 + 1e-9)).all():
        raise ValueError("prob must lie in (0,1]: a label that could not be shown cannot be in the log")
    if clip is not None and not (isfinite(clip) and clip > 0):
        raise ValueError(f"clip={clip}: weights are cut at a number above 0")
    known, shown, target, chance = _policy_of(policy, actions, labels)
    weight = chance / np.minimum(probs, 1)
    if clip is not None:
        weight = np.minimum(weight, clip)
    return _Log(known, shown, rewards, np.minimum(probs, 1), weight, target, clip)


# --- what a log can't tell ---


def _cautions(log: _Log, interval: str) -> List[str]:
    n, w, e = len(log.weight), log.weight, log.effective
    ret = []
    certain = log.prob >= 1
    unsupported = int(np.count_nonzero(certain & (w < 1)))
    share = 100 * unsupported / n
    if e <= 0:
        ret.append("the log cannot answer: it never has a label that this policy chooses")
    if unsupported and certain.all():
        ret.append(
            "the log cannot answer: all labels were chosen with probability 1, and this policy differs in "
            f"{share:.1f} % of the rounds; the log contains no answer to its labels there"
        )
    elif unsupported:
        ret.append(
            f"in {share:.1f} % of the rounds the label was chosen with probability 1 and this policy differs: the log "
            "has no answer to its label, and ips counts it as wrong"
        )
    # Weights that are all alike lose nothing: a log of 50 rounds is small, but its interval is what it says.
    if 0 < e < min(100.0, 0.5 * n) or 0 < e < 0.01 * n:
        if interval in ("normal", "bootstrap"):
            ret.append(f"{e:.0f} effective rounds of {n}: {interval} intervals are unreliable (too narrow)")
    total = float(w.sum())
    if e >= 100 and float(w.max()) > 0.05 * total:
        ret.append(
            f"one round has {100 * float(w.max()) / total:.0f} % of all weight (a tiny probability, "
            f"{float(log.prob.min()):.2g} at least); clip cuts weights"
        )
    mean, error = float(w.mean()), float(w.std() / sqrt(max(n - 1, 1)))
    if e > 0 and not unsupported and log.clip is None and abs(mean - 1) > max(0.05, 4 * error):
        ret.append(
            f"the mean weight is {mean:.3f} and should be 1: the log's probabilities are not those with which labels "
            "were chosen, or some labels of this policy were never chosen"
        )
    return ret


# --- intervals ---


@dataclass(frozen=True)
class Interval:
    """How an interval is made; checked."""

    kind: str
    confidence: float
    replicates: int
    seed: int

    def __post_init__(self) -> None:
        if self.kind not in INTERVALS:
            raise ValueError(
                f"interval: {self.kind!r} is not one of {', '.join(INTERVALS)}{did_you_mean(self.kind, INTERVALS)}"
            )
        if not 0 < self.confidence < 1:
            raise ValueError("confidence must lie between 0 and 1")
        if self.replicates < 1:
            raise ValueError("replicates: at least 1")


def _poisson_table() -> NDArray[np.uint8]:
    """How often a round is counted in a resampled log, for each of 2^16 equally likely draws."""
    table = np.zeros(65536, np.uint8)
    chance = below = exp(-1)
    middle = (np.arange(65536) + 0.5) / 65536
    for count in range(1, 13):
        table[middle > below] = count
        chance /= count
        below += chance
    return table


def _bootstrap(
    log: _Log, ratio: bool, terms: Floats, confidence: float, replicates: int, seed: int
) -> Tuple[float, float]:
    """Percentiles over resampled logs: draw for draw those of `hunch replay --interval bootstrap`."""
    n, table = len(terms), _poisson_table()
    draws = (n + 3) // 4
    below = log.weight if ratio else np.ones(n)
    above = log.weight * log.reward if ratio else terms
    values = []
    block = max(1, (1 << 22) // max(n, 1))
    for first in range(0, replicates, block):
        some = min(block, replicates - first)
        bits = splitmix_bits(seed, some * draws, first * draws).astype("<u8", copy=False).view("<u2")
        times = table[bits.reshape(some, draws * 4)[:, :n]].astype(np.float64)
        total = times @ below
        with np.errstate(invalid="ignore", divide="ignore"):
            values.append(np.where(total > 0, times @ above / total, nan))
    good = np.concatenate(values)
    good = good[~np.isnan(good)]
    if not good.size:
        return nan, nan
    low, high = np.quantile(good, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def _estimate(
    method: str,
    log: _Log,
    value: float,
    terms: Floats,
    how: Interval,
) -> Estimate:
    """terms: what the value is, to first order, the mean of."""
    n = len(terms)
    std_error = float(np.std(terms, ddof=1) / np.sqrt(n)) if n > 1 else inf
    z = NormalDist().inv_cdf(0.5 + how.confidence / 2)
    low, high = value - z * std_error, value + z * std_error
    if how.kind == "bootstrap":
        low, high = _bootstrap(log, method == "snips", terms, how.confidence, how.replicates, how.seed)
    elif how.kind == "bernstein":
        # Maurer and Pontil (2009), theorem 4, from both sides; rewards and the model's guesses lie in [0,1].
        bound = 1 / float(log.prob.min()) if log.clip is None else min(log.clip, 1 / float(log.prob.min()))
        reach = {"ips": bound, "direct": 1.0}.get(method, 1 + 2 * bound)
        l = math.log(4 / (1 - how.confidence))
        half = std_error * sqrt(2 * l) + 7 * reach * l / (3 * (n - 1)) if n > 1 else inf
        low, high = value - half, value + half
    elif how.kind == "wilson":
        rounds = log.effective
        middle = (rounds * value + z * z / 2) / (rounds + z * z)
        half = z * sqrt(rounds * value * (1 - value) + z * z / 4) / (rounds + z * z)
        low, high = middle - half, middle + half
    cautions = tuple(_cautions(log, how.kind))
    for text in cautions:
        warnings.warn(text, LogWarning, stacklevel=3)
    w = log.weight
    return Estimate(
        method,
        value,
        low,
        high,
        std_error,
        log.effective,
        n,
        float(np.mean(w > 0)),
        float(w.max()),
        float(w.mean()),
        cautions,
    )


def _interval(method: str, kind: str, confidence: float, replicates: int, seed: int, log: _Log) -> Interval:
    """Not every interval is for every estimate and all rewards."""
    how = Interval(kind, confidence, replicates, seed)
    if kind == "wilson" and method != "snips":
        raise ValueError("wilson intervals are for snips")
    if kind == "bernstein" and method == "snips":
        raise ValueError("bernstein intervals are not for snips, which is not a mean; take wilson")
    if kind in ("bernstein", "wilson") and method != "direct" and (log.reward.min() < 0 or log.reward.max() > 1):
        raise ValueError(f"{kind} intervals need rewards between 0 and 1")
    return how


# --- the estimates ---


def ips(
    action: Any,
    reward: Any,
    prob: Any,
    policy: Any,
    *,
    labels: Optional[Collection[Any]] = None,
    confidence: float = 0.95,
    clip: Optional[float] = None,
    interval: str = "normal",
    replicates: int = 1000,
    seed: int = 0,
) -> Estimate:
    """Inverse propensity scores: unbiased (without clip), with a variance that grows with the weights.

    interval: normal, bootstrap (percentiles over resampled logs), bernstein (holds for every number of rounds; wide).
    """
    log = _log(action, reward, prob, policy, labels, clip)
    how = _interval("ips", interval, confidence, replicates, seed, log)
    terms = log.weight * log.reward
    return _estimate("ips", log, float(terms.mean()), terms, how)


def snips(
    action: Any,
    reward: Any,
    prob: Any,
    policy: Any,
    *,
    labels: Optional[Collection[Any]] = None,
    confidence: float = 0.95,
    clip: Optional[float] = None,
    interval: str = "normal",
    replicates: int = 1000,
    seed: int = 0,
) -> Estimate:
    """Self-normalised IPS: a little bias for much less variance; never outside the rewards' range.

    interval: normal, bootstrap, or wilson: of a share that was seen in n effective rounds, for small logs.
    """
    log = _log(action, reward, prob, policy, labels, clip)
    how = _interval("snips", interval, confidence, replicates, seed, log)
    total = float(log.weight.sum())
    if total == 0:
        return _estimate("snips", log, nan, np.full(len(log.weight), nan), Interval("normal", confidence, 1, 0))
    value = float(np.sum(log.weight * log.reward) / total)
    terms = log.weight * (log.reward - value) * (len(log.weight) / total)  # the delta method's
    return _estimate("snips", log, value, terms, how)


def _model_values(model: Any, log: _Log, labels: Optional[Collection[Any]]) -> Tuple[Floats, Floats]:
    """The model's reward of each logged action, and its mean under the policy."""
    array, columns = _columns_of(model, labels if labels is not None else log.labels, "model")
    rows = np.arange(len(log.action))
    if columns is None or len(array) != len(rows):
        raise ValueError(f"model: predicted rewards for n rounds x K labels; this has shape {array.shape}")
    table = np.asarray(array, dtype=np.float64)
    if not np.isfinite(table).all():
        raise ValueError("model: a predicted reward is not finite")
    place = {label: i for i, label in enumerate(columns)}
    missing = [label for label in log.labels if label not in place]
    if missing:
        raise ValueError(f"model: there is no column for {missing[0]!r}")
    table = table[:, [place[label] for label in log.labels]]
    shown = table[rows, log.action]
    if log.policy.ndim == 1:
        return shown, table[rows, log.policy]
    return shown, np.asarray((table * log.policy).sum(axis=1))


def direct(
    action: Any,
    reward: Any,
    prob: Any,
    policy: Any,
    model: Any,
    *,
    labels: Optional[Collection[Any]] = None,
    confidence: float = 0.95,
    interval: str = "normal",
    replicates: int = 1000,
    seed: int = 0,
) -> Estimate:
    """The model's word alone: little variance, and all of the model's bias."""
    log = _log(action, reward, prob, policy, labels, None)
    how = _interval("direct", interval, confidence, replicates, seed, log)
    _, expected = _model_values(model, log, labels)
    return _estimate("direct", log, float(expected.mean()), expected, how)


def doubly_robust(
    action: Any,
    reward: Any,
    prob: Any,
    policy: Any,
    model: Any,
    *,
    labels: Optional[Collection[Any]] = None,
    confidence: float = 0.95,
    clip: Optional[float] = None,
    interval: str = "normal",
    replicates: int = 1000,
    seed: int = 0,
) -> Estimate:
    """The model's estimate corrected by IPS on what it missed: right when the model or the probabilities are.

    model: predicted rewards, n rounds x K labels, from a model that did not see these rewards; reward_model makes one.
    """
    log = _log(action, reward, prob, policy, labels, clip)
    how = _interval("doubly_robust", interval, confidence, replicates, seed, log)
    shown, expected = _model_values(model, log, labels)
    terms = expected + log.weight * (log.reward - shown)
    return _estimate("doubly_robust", log, float(terms.mean()), terms, how)


# --- a model of rewards ---


class RewardModel:
    """For every label a logistic regression of the reward on x, learned online: the one of `hunch replay`.

    AdaGrad, rate 0.5 over the example's length, features scaled by the largest value seen.
    """

    def __init__(self, labels: int, features: int) -> None:
        self.weight = np.zeros((features + 1, labels), np.float32)  # the constant first
        self.squares = np.zeros((features + 1, labels), np.float32)
        self.scale = np.zeros(features + 1, np.float32)

    def _scaled(self, rows: NDArray[np.int64], value: NDArray[np.float32]) -> Tuple[NDArray[np.int64], Floats]:
        scale = self.scale[rows]
        known = scale > 0
        return rows[known], (value[known] / scale[known]).astype(np.float64)

    def guess(self, index: NDArray[np.int64], value: NDArray[np.float32]) -> Floats:
        """The probability of a reward, for every label."""
        rows, x = self._scaled(index + 1, value)
        total = self.weight[0].astype(np.float64) + x @ self.weight[rows].astype(np.float64)
        return np.asarray(1 / (1 + np.exp(-total)))

    def learn(self, index: NDArray[np.int64], value: NDArray[np.float32], label: int, reward: float) -> None:
        rows = index + 1
        self.scale[rows] = np.maximum(self.scale[rows], np.abs(value))
        known, x = self._scaled(rows, value)
        rate = 0.5 / sqrt(1 + float(x @ x))
        total = float(self.weight[0, label]) + float(x @ self.weight[known, label].astype(np.float64))
        slope = 1 / (1 + exp(-max(min(total, 700.0), -700.0))) - reward
        every, gradient = np.concatenate([[0], known]), np.concatenate([[slope], slope * x])
        squares = self.squares[every, label] + (gradient * gradient).astype(np.float32)
        self.squares[every, label] = squares
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where(squares > 0, rate * gradient / np.sqrt(squares.astype(np.float64)), 0)
        self.weight[every, label] -= step.astype(np.float32)


def reward_model(X: Any, action: Any, reward: Any, labels: Sequence[Any]) -> Floats:
    """Predicted rewards, n rounds x K labels: for every round the model guesses first and learns then.

    >>> table = reward_model([[1, 0], [0, 1]] * 200, ["a", "b"] * 200, [1, 0] * 200, labels=["a", "b"])
    >>> bool(table[-2, 0] > 0.9), bool(table[-1, 1] < 0.1)
    (True, True)
    """
    batch = batch_of(X)
    table = {label_of(label): i for i, label in enumerate(labels)}
    actions = _numbers(column_of_labels(action), table, "action")
    rewards = np.asarray(reward, np.float64)
    if not len(actions) == len(rewards) == batch.rows:
        raise ValueError("X, action and reward must have the same length")
    model = RewardModel(len(table), max(batch.highest, len(batch.names or ())))
    ret = np.empty((batch.rows, len(table)))
    dense = np.arange(batch.columns) if batch.start is None else None
    for i in range(batch.rows):
        if dense is not None:
            index, value = dense, batch.value.reshape(batch.rows, batch.columns)[i]
        else:
            assert batch.start is not None and batch.index is not None
            here = slice(int(batch.start[i]), int(batch.start[i + 1]))
            index, value = batch.index[here].astype(np.int64), batch.value[here]
        ret[i] = model.guess(index, value)
        model.learn(index, value, int(actions[i]), float(rewards[i]))
    return ret
