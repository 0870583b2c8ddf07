# SPDX-License-Identifier: BSD-3-Clause
"""Off-policy estimates against a truth that is known."""

import numpy as np
import pytest

import hunch
from hunch import off_policy

K = 4


def world(seed, n=2000):
    """Contexts of two kinds; rewards and the logging policy depend on them. The truth is computed, not estimated."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(2, size=n)
    mean = np.array([[0.1, 0.3, 0.5, 0.7], [0.8, 0.2, 0.4, 0.1]])[kind]
    logged = np.array([[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]])[kind]
    action = (rng.random((n, 1)) > logged.cumsum(axis=1)).sum(axis=1)
    reward = (rng.random(n) < mean[np.arange(n), action]).astype(float)
    policy = np.array([[0, 0, 0.5, 0.5], [1, 0, 0, 0]])[kind]
    truth = 0.5 * (0.6 + 0.8)
    return action, reward, logged[np.arange(n), action], policy, mean, truth


def estimates(seed):
    action, reward, prob, policy, mean, truth = world(seed)
    log = action, reward, prob, policy
    wrong = np.full_like(mean, 0.3)
    return truth, [
        off_policy.ips(*log),
        off_policy.snips(*log),
        off_policy.doubly_robust(*log, mean),
        off_policy.doubly_robust(*log, wrong),
    ]


def test_unbiased_and_covering():
    runs = [estimates(seed) for seed in range(300)]
    truth = runs[0][0]
    for method in range(4):
        values = np.array([made[method].value for _, made in runs])
        covered = np.mean([made[method].low <= truth <= made[method].high for _, made in runs])
        assert abs(values.mean() - truth) < 4 * values.std() / np.sqrt(300) + (0.002 if method == 1 else 0)
        assert 0.9 < covered < 0.99
        assert np.mean([made[method].std_error for _, made in runs]) == pytest.approx(values.std(), rel=0.2)
    spread = [np.std([made[m].value for _, made in runs]) for m in range(4)]
    assert spread[2] < spread[1] < spread[0]  # a good model helps most, normalising helps


def test_wrong_probabilities_right_model():
    action, reward, prob, policy, mean, truth = world(1, 50000)
    twisted = np.clip(prob * 0.5, 0.01, 1)
    assert abs(off_policy.ips(action, reward, twisted, policy).value - truth) > 0.2
    assert abs(off_policy.doubly_robust(action, reward, twisted, policy, mean).value - truth) < 0.02
    assert off_policy.direct(action, reward, prob, policy, mean).value == pytest.approx(truth, abs=0.01)


def test_by_hand():
    action, reward, prob = [0, 1, 1], [1.0, 0.0, 1.0], [0.5, 0.25, 0.5]
    made = off_policy.ips(action, reward, prob, [0, 1, 0])
    assert made.value == pytest.approx((2 + 0 + 0) / 3) and made.matches == pytest.approx(2 / 3)
    assert made.effective_rounds == pytest.approx((2 + 4) ** 2 / (4 + 16)) and made.rounds == 3
    assert off_policy.snips(action, reward, prob, [0, 1, 0]).value == pytest.approx(2 / 6)
    assert off_policy.ips(action, reward, prob, [0, 1, 0], clip=1).value == pytest.approx(1 / 3)
    wide, narrow = (off_policy.ips(action, reward, prob, [0, 1, 0], confidence=c) for c in (0.99, 0.5))
    assert wide.low < narrow.low < narrow.high < wide.high and "ips" in str(wide)
    assert np.isnan(off_policy.snips(action, reward, prob, [3, 3, 3]).value)


def test_a_run_judges_another_learner(data):
    """Logged choices of one learner tell the greedy error of a fixed policy that never played."""
    log = hunch.run("banditron:gamma=0.5", data, seed=1, choices=True).choices
    right = (log["label"] == data.y).astype(float)
    judge = hunch.run("confident", hunch.datasets.synsep(1500, seed=1)).learner
    policy = judge.greedy_numbers(data.X)
    truth = np.mean(policy == data.y)
    made = off_policy.ips(log["label"], right, log["prob"], policy, confidence=0.999)
    assert made.low <= truth <= made.high


@pytest.mark.parametrize(
    "change",
    [
        {0: [0, 1]},
        {0: [0.5, 1, 1]},
        {0: [-1, 1, 1]},
        {1: [1, np.nan, 0]},
        {2: [0, 0.5, 0.5]},
        {2: [2, 0.5, 0.5]},
        {3: [1, 1]},
        {3: np.ones((3, 2))},
        {3: np.array([[1.0, 0], [1, 0], [np.nan, 0]])},
        {3: np.ones((3, 1))},
        {0: [], 1: [], 2: [], 3: []},
    ],
)
def test_bad_logs(change):
    log = [[0, 1, 1], [1, 0, 1], [0.5, 0.5, 0.5], [0, 1, 0]]
    for where, what in change.items():
        log[where] = what
    for estimate in (off_policy.ips, off_policy.snips):
        with pytest.raises(ValueError):
            estimate(*log)


def test_bad_models():
    log = [[0, 1, 1], [1, 0, 1], [0.5, 0.5, 0.5], [0, 1, 0]]
    for model in (np.ones(3), np.ones((2, 2)), np.ones((3, 1)), np.full((3, 2), np.nan)):
        with pytest.raises(ValueError):
            off_policy.doubly_robust(*log, model)
    with pytest.raises(ValueError):
        off_policy.ips(*log, confidence=1)
