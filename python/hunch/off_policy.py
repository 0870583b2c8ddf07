# SPDX-License-Identifier: BSD-3-Clause
"""How good would another policy have been? Estimates from logged choices.

Each logged round has the action that was shown, the chance (prob) with which it was, and the reward that came back.
A policy is either one action per round (shape n) or a probability for every action (shape n x K).

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> action = rng.integers(3, size=20000)                      # shown uniformly
>>> reward = (rng.random(20000) < [0.2, 0.5, 0.8][2] * (action == 2)).astype(float)
>>> estimate = ips(action, reward, np.full(20000, 1 / 3), np.full(20000, 2))
>>> estimate.low < 0.8 < estimate.high
True
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Optional, Tuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


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
    matches: float  #: the share of rounds whose action the policy could have shown

    def __str__(self) -> str:
        return (
            f"{self.method}: {self.value:.4f} [{self.low:.4f}, {self.high:.4f}], "
            f"{self.effective_rounds:.0f} effective of {self.rounds} rounds"
        )


@dataclass(frozen=True)
class _Log:
    action: NDArray[np.int64]
    reward: Floats
    weight: Floats  # the policy's chance of the action over the logged one


def _policy_of(policy: Any, action: NDArray[np.int64]) -> Floats:
    """The policy's chance of each logged action."""
    table = np.asarray(policy)
    n = len(action)
    if table.ndim == 1 and table.shape == (n,):
        return np.asarray(table == action, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] != n:
        raise ValueError(f"policy: one action per round or n x K probabilities; this has shape {table.shape}")
    if action.size and int(action.max()) >= table.shape[1]:
        raise ValueError("policy: an action in the log is not in the table")
    if not np.isfinite(table).all() or (table < 0).any() or not np.allclose(table.sum(axis=1), 1, atol=1e-6):
        raise ValueError("policy: rows must be probabilities that sum to 1")
    return np.asarray(table[np.arange(n), action], dtype=np.float64)


def _log(action: Any, reward: Any, prob: Any, policy: Any, clip: Optional[float]) -> _Log:
    actions, rewards = np.asarray(action), np.asarray(reward, dtype=np.float64)
    probs = np.asarray(prob, dtype=np.float64)
    if actions.ndim != 1 or actions.shape != rewards.shape or actions.shape != probs.shape or not actions.size:
        raise ValueError("action, reward and prob must be lists of the same length, not empty")
    if actions.dtype.kind not in "iu" or int(actions.min()) < 0:
        raise ValueError("actions are class numbers")
    if not np.isfinite(rewards).all():
        raise ValueError("a reward is not finite")
    if not ((probs > 0) & (probs <= 1 + 1e-12)).all():
        raise ValueError("prob must lie in (0,1]: an action that could not be shown cannot be in the log")
    actions = actions.astype(np.int64)
    weight = _policy_of(policy, actions) / probs
    if clip is not None:
        weight = np.minimum(weight, clip)
    return _Log(actions, rewards, weight)


def _estimate(method: str, log: _Log, value: float, terms: Floats, confidence: float) -> Estimate:
    """terms: what the value is, to first order, the mean of."""
    if not 0 < confidence < 1:
        raise ValueError("confidence must lie between 0 and 1")
    n = len(terms)
    std_error = float(np.std(terms, ddof=1) / np.sqrt(n)) if n > 1 else float("inf")
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * std_error
    squares = float(np.sum(log.weight**2))
    effective = float(np.sum(log.weight)) ** 2 / squares if squares else 0.0
    matches = float(np.mean(log.weight > 0))
    return Estimate(method, value, value - half, value + half, std_error, effective, n, matches)


def ips(
    action: Any, reward: Any, prob: Any, policy: Any, *, confidence: float = 0.95, clip: Optional[float] = None
) -> Estimate:
    """Inverse propensity scores: unbiased (without clip), with a variance that grows with the weights."""
    log = _log(action, reward, prob, policy, clip)
    terms = log.weight * log.reward
    return _estimate("ips", log, float(terms.mean()), terms, confidence)


def snips(
    action: Any, reward: Any, prob: Any, policy: Any, *, confidence: float = 0.95, clip: Optional[float] = None
) -> Estimate:
    """Self-normalised IPS: a little bias for much less variance; never outside the rewards' range."""
    log = _log(action, reward, prob, policy, clip)
    total = float(log.weight.sum())
    if total == 0:
        nan = float("nan")
        return Estimate("snips", nan, nan, nan, nan, 0.0, len(log.weight), 0.0)
    value = float(np.sum(log.weight * log.reward) / total)
    terms = log.weight * (log.reward - value) * (len(log.weight) / total)  # the delta method's
    return _estimate("snips", log, value, terms, confidence)


def _model_values(model: Any, policy: Any, log: _Log) -> Tuple[Floats, Floats]:
    """The model's reward of each logged action, and its mean under the policy."""
    table, rows = np.asarray(model, dtype=np.float64), np.arange(len(log.action))
    if table.ndim != 2 or table.shape[0] != len(rows) or int(log.action.max()) >= table.shape[1]:
        raise ValueError(f"model: predicted rewards for n rounds x K actions; this has shape {table.shape}")
    if not np.isfinite(table).all():
        raise ValueError("model: a predicted reward is not finite")
    target = np.asarray(policy)
    if target.ndim == 1:
        return table[rows, log.action], table[rows, target.astype(np.int64)]
    if target.shape != table.shape:
        raise ValueError("model and policy must have the same actions")
    return table[rows, log.action], np.asarray((table * target).sum(axis=1))


def direct(action: Any, reward: Any, prob: Any, policy: Any, model: Any, *, confidence: float = 0.95) -> Estimate:
    """The model's word alone: little variance, and all of the model's bias."""
    log = _log(action, reward, prob, policy, None)
    _, expected = _model_values(model, policy, log)
    return _estimate("direct", log, float(expected.mean()), expected, confidence)


def doubly_robust(
    action: Any,
    reward: Any,
    prob: Any,
    policy: Any,
    model: Any,
    *,
    confidence: float = 0.95,
    clip: Optional[float] = None,
) -> Estimate:
    """The model's estimate corrected by IPS on what it missed: right when the model or the probabilities are.

    model: predicted rewards, n rounds x K actions, from a model that did not see these rewards.
    """
    log = _log(action, reward, prob, policy, clip)
    shown, expected = _model_values(model, policy, log)
    terms = expected + log.weight * (log.reward - shown)
    return _estimate("doubly_robust", log, float(terms.mean()), terms, confidence)
