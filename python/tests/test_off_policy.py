# SPDX-License-Identifier: BSD-3-Clause
"""Off-policy estimates against a truth that is known."""

import importlib.util
import json
import subprocess
import warnings

import numpy as np
import pytest

import hunch
from hunch import off_policy

K = 4
pytestmark = pytest.mark.filterwarnings("ignore::hunch.off_policy.LogWarning")


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
        off_policy.ips(*log, labels=range(K)),
        off_policy.snips(*log, labels=range(K)),
        off_policy.doubly_robust(*log, mean, labels=range(K)),
        off_policy.doubly_robust(*log, wrong, labels=range(K)),
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
    assert abs(off_policy.ips(action, reward, twisted, policy, labels=range(K)).value - truth) > 0.2
    assert abs(off_policy.doubly_robust(action, reward, twisted, policy, mean, labels=range(K)).value - truth) < 0.02
    assert off_policy.direct(action, reward, prob, policy, mean, labels=range(K)).value == pytest.approx(
        truth, abs=0.01
    )


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
    result = hunch.run("banditron:gamma=0.5", data, seed=1, choices=True)
    log, right = result.choices, result.right
    judge = hunch.run("confident", hunch.datasets.synsep(1500, seed=1)).learner
    policy = judge.greedy(data.X)
    truth = np.mean(policy == np.asarray(data.classes)[data.y])
    made = off_policy.ips(log["label"], right, log["prob"], policy, confidence=0.999)
    assert made.low <= truth <= made.high


@pytest.mark.parametrize(
    "change",
    [
        {0: [0, 1]},
        {0: [0.5, 1, 1]},
        {0: [None, 1, 1]},
        {3: ["0", "1", "0"]},
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
            off_policy.doubly_robust(*log, model, labels=[0, 1])
    with pytest.raises(ValueError):
        off_policy.ips(*log, confidence=1)
    for clip in (0, -1, np.inf, np.nan):
        with pytest.raises(ValueError, match="clip"):
            off_policy.ips(*log, clip=clip)
    with pytest.raises(ValueError, match="did you mean 'bootstrap'"):
        off_policy.ips(*log, interval="bootstap")


def test_tables_say_which_column_is_which_label():
    """A table by label is the same policy whatever the order of its columns; without labels it is refused."""
    action, reward, prob, policy, mean, _ = world(3)
    names = np.array(["d", "a", "c", "b"])
    made = off_policy.ips(names[action], reward, prob, policy, labels=names)
    assert made == off_policy.ips(action, reward, prob, policy, labels=range(K))
    order = [2, 0, 3, 1]
    assert off_policy.ips(names[action], reward, prob, policy[:, order], labels=names[order]) == made
    dr = off_policy.doubly_robust(names[action], reward, prob, policy[:, order], mean[:, order], labels=names[order])
    assert dr.value == pytest.approx(
        off_policy.doubly_robust(action, reward, prob, policy, mean, labels=range(K)).value
    )
    with pytest.raises(ValueError, match="labels"):
        off_policy.ips(action, reward, prob, policy)
    with pytest.raises(ValueError, match="'.' is not one of the labels"):
        off_policy.ips(names[action], reward, prob, policy, labels=["A", "B", "C", "D"])


def cautions(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = call()
    texts = [str(w.message) for w in caught if issubclass(w.category, off_policy.LogWarning)]
    assert list(made.warnings) == texts
    return " ".join(texts)


def test_cautions():
    """What the log can't tell is said, and nothing is said where all is well."""
    action, reward, prob, policy, _, _ = world(4)
    n = len(action)
    assert cautions(lambda: off_policy.ips(action, reward, prob, policy, labels=range(K))) == ""
    # The logged policy itself, in 40 rounds: small, but every round counts fully.
    assert cautions(lambda: off_policy.snips(action[:40], reward[:40], np.full(40, 0.999), action[:40])) == ""
    one = np.ones(n)
    assert cautions(lambda: off_policy.ips(action, reward, one, action)) == ""
    assert "all labels were chosen with probability 1" in cautions(
        lambda: off_policy.ips(action, reward, one, (action + (np.arange(n) % 2)) % K)
    )
    assert "never has a label" in cautions(lambda: off_policy.ips(action, reward, prob, action + 9))
    few = lambda interval: off_policy.snips(action[:100], reward[:100], prob[:100], np.full(100, 3), interval=interval)
    assert "too narrow" in cautions(lambda: few("normal")) and "too narrow" in cautions(lambda: few("bootstrap"))
    assert cautions(lambda: few("wilson")) == ""
    tiny = prob.copy()
    tiny[np.argmax(policy[np.arange(n), action] > 0)] = 0.008
    assert "% of all weight" in cautions(lambda: off_policy.ips(action, reward, tiny, policy, labels=range(K)))
    assert "mean weight" in cautions(lambda: off_policy.ips(action, reward, prob * 0.5, policy, labels=range(K)))
    mixed = np.where(np.arange(n) < n // 2, 1.0, prob)
    assert "in " in cautions(lambda: off_policy.ips(action, reward, mixed, policy, labels=range(K)))


@pytest.mark.parametrize(
    "method, interval, least", [("ips", "bernstein", 0.99), ("snips", "wilson", 0.91), ("snips", "bootstrap", 0.85)]
)
def test_intervals_cover_in_small_logs(method, interval, least):
    covered = []
    for seed in range(200):
        action, reward, prob, policy, _, truth = world(seed, 100)
        made = getattr(off_policy, method)(
            action, reward, prob, policy, labels=range(K), interval=interval, replicates=200
        )
        covered.append(made.low <= truth <= made.high)
    assert np.mean(covered) >= least


def test_replay_says_the_same(tool, tmp_path):
    """The hunch command on the same log: estimates, bootstrap and Bernstein intervals, and warnings."""
    rng = np.random.default_rng(6)
    learner = hunch.Learner("confidit", ["x", "y", "z"], bias=1)
    log = hunch.Log()
    for _ in range(1500):
        kind = int(rng.integers(3))
        x = {"a": float(np.float32(rng.normal())), f"kind{kind}": 1.0}
        shown = int(rng.choice(3, p=[0.6, 0.3, 0.1]))
        prob = [0.6, 0.3, 0.1][shown]
        log.append(hunch.Round(x, "xyz"[shown], prob, bool(shown == kind)))
        learner.teach(x, "xyz"[kind])
    log.write(tmp_path / "log.jsonl")
    learner.save(tmp_path / "model.hunch")
    again = hunch.Log.read(tmp_path / "log.jsonl")
    assert list(again) == list(log)
    for interval in ("normal", "bootstrap", "bernstein"):
        command = [
            tool,
            "replay",
            tmp_path / "log.jsonl",
            "--model",
            tmp_path / "model.hunch",
            "--interval",
            interval,
            "--json",
        ]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        (theirs,) = [p for p in json.loads(done.stdout)["policies"] if "model" in p["policy"]]
        ours = again.evaluate(learner, interval=interval)
        for name in ("ips", "snips", "dr"):
            if name == "snips" and interval == "bernstein":
                continue
            for key in ("value", "low", "high"):
                tolerance = 1e-9 if name != "dr" else 1e-5  # the reward model adds in another order
                assert getattr(ours[name], key) == pytest.approx(theirs["estimates"][name][key], abs=tolerance), (
                    name,
                    key,
                )


def obp_ope():
    """OBP's estimators; what learns its policies (torch) and draws its figures (seaborn) is not needed for them."""
    import sys
    import types

    class Anything(types.ModuleType):
        __path__ = []

        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            return type(name, (), {})

    parts = ("seaborn", "torch", "torch.nn", "torch.nn.functional", "torch.optim", "torch.utils", "torch.utils.data")
    if importlib.util.find_spec("obp") is None:
        pytest.skip("OBP is not installed")
    for name in parts:
        if name not in sys.modules:
            sys.modules[name] = Anything(name)
            parent, _, child = name.rpartition(".")
            if parent:
                setattr(sys.modules[parent], child, sys.modules[name])
    try:
        return pytest.importorskip("obp.ope")
    finally:
        for name in parts:
            if isinstance(sys.modules.get(name), Anything):
                del sys.modules[name]


def test_obp_says_the_same():
    """Open Bandit Pipeline's estimators on the same log."""
    ope = obp_ope()
    action, reward, prob, policy, mean, _ = world(7)
    table = policy[:, :, None].astype(float)
    kwargs = dict(reward=reward, action=action, pscore=prob, action_dist=table, position=np.zeros(len(action), int))
    q = mean[:, :, None]
    pairs = [
        (ope.InverseProbabilityWeighting(), off_policy.ips(action, reward, prob, policy, labels=range(K)), {}),
        (
            ope.SelfNormalizedInverseProbabilityWeighting(),
            off_policy.snips(action, reward, prob, policy, labels=range(K)),
            {},
        ),
        (
            ope.DoublyRobust(),
            off_policy.doubly_robust(action, reward, prob, policy, mean, labels=range(K)),
            dict(estimated_rewards_by_reg_model=q),
        ),
    ]
    for theirs, ours, more in pairs:
        assert theirs.estimate_policy_value(**kwargs, **more) == pytest.approx(ours.value, abs=1e-12)
