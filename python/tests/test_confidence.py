# SPDX-License-Identifier: BSD-3-Clause
"""How sure a choice is."""

import pickle

import numpy as np
import pytest

import hunch


def stream(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 4)).astype(np.float32)
    y = np.argmax(x[:, :3] + 0.7 * rng.normal(size=(n, 3)), axis=1)
    return x, y


@pytest.mark.parametrize("learner_spec", ["panel", "confident", "banditron", "linucb", "cova", "arow"])
def test_confidence_is_calibrated(learner_spec):
    """Among choices that were called right with a chance of about p, about p were."""
    x, y = stream(12000)
    learner = hunch.Learner(learner_spec, classes=3)
    result = learner.run(x, y, choices=True)
    sure, right = result.choices["confidence"][6000:], result.choices["label_number"][6000:] == y[6000:]
    assert ((sure > 0) & (sure < 1)).all()
    place = np.minimum((10 * sure).astype(int), 9)
    gap = sum(abs((sure - right)[place == i].sum()) for i in range(10)) / len(sure)
    assert gap < 0.03
    top = sure >= np.median(sure)
    assert right[top].mean() > right[~top].mean() + 0.1


def test_probabilities_and_choices_agree():
    x, y = stream(2000)
    learner = hunch.Learner("linucb", classes=["a", "b", "c"])
    learner.run(x, np.array(["a", "b", "c"])[y])
    chances = learner.probabilities(x[:50])
    assert np.allclose(chances.sum(axis=1), 1) and (chances >= 0).all()
    assert (chances.argmax(axis=1) == learner.greedy_numbers(x[:50])).mean() > 0.9
    assert np.allclose(learner.confidence(x[:50]), chances[np.arange(50), learner.greedy_numbers(x[:50])])
    assert np.allclose(learner.probabilities(x[7]), chances[7]) and isinstance(learner.confidence(x[7]), float)
    choice = learner.predict(x[7])
    if not choice.explored:
        assert abs(choice.confidence - learner.confidence(x[7])) < 1e-6
    again = pickle.loads(pickle.dumps(choice))
    assert again == choice and again.confidence == choice.confidence and again.margin == choice.margin
    assert hunch.Choice.from_json(choice.to_json()) == choice


def test_one_by_one_is_the_same_model_as_a_run():
    x, y = stream(400)
    one, many = (hunch.Learner("panel", classes=3, seed=1) for _ in range(2))
    for row, label in zip(x, y):
        choice = hunch.Choice.from_json(one.predict(row).to_json())
        one.feedback(choice, choice.label == label)
    many.run(x, y)
    assert one.probabilities(x).tolist() == many.probabilities(x).tolist()


def test_column_weights():
    x, y = stream(3000)
    noise = np.random.default_rng(3).normal(size=(3000, 20))
    learner = hunch.Learner("panel", classes=3)
    assert hunch.Learner("banditron", classes=3).column_weights is None
    learner.run(np.hstack([x, noise]), y)
    weights = learner.column_weights
    assert list(weights) == list(range(24))
    assert min(weights[j] for j in range(3)) > 1.5 * max(weights[j] for j in range(3, 24))
    named = hunch.Learner("panel", classes=3)
    for row, label in zip(x[:400].tolist(), y):
        named.teach(dict(zip("abcdefghijklmnopqrstuvwxyz", row)), int(label))
    assert list(named.column_weights) == named.feature_names


def test_info_tells_of_drift():
    x, y = stream(3000)
    learner = hunch.Learner("panel", classes=3, restart=2)
    learner.run(x, np.where(np.arange(3000) < 1500, y, (y + 1) % 3))
    info = learner.info()
    assert info["restarts"] >= 1 and 1500 < info["last_restart"] <= 3000 and info["forgetting"] in (1e-5, 0.01)
    assert hunch.Learner("confident", classes=3, matrix="span", decay=0.02).info()["forgetting"] == 0.02
    assert "forgetting" not in hunch.Learner("banditron", classes=3).info()
