# SPDX-License-Identifier: BSD-3-Clause
"""River's manners, by River's own evaluator and checks."""

import pickle

import pytest

pytest.importorskip("river", reason="River is not installed")

from river import checks, compose, datasets, evaluate, metrics, preprocessing

from hunch.river import BanditClassifier


@pytest.mark.parametrize(
    "model", [BanditClassifier(), BanditClassifier("banditron"), BanditClassifier("arow", simulate=False)]
)
def test_checks(model):
    checks.check_estimator(model)


def test_progressive_validation():
    model = compose.Pipeline(preprocessing.StandardScaler(), BanditClassifier("confident:bias=1"))
    metric = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    assert metric.get() > 0.8
    assert 0 < model["BanditClassifier"].bandit_error < 0.3


def test_multiclass_stream():
    model = compose.Pipeline(preprocessing.StandardScaler(), BanditClassifier("confident:bias=1"))
    metric = evaluate.progressive_val_score(datasets.ImageSegments(), model, metrics.MacroF1())
    assert metric.get() > 0.6


def test_labels_come_as_they_appear():
    model = BanditClassifier()
    assert model.predict_one({"a": 1}) is None and model.predict_proba_one({"a": 1}) == {}
    with pytest.raises(ValueError):
        model.choose_one({"a": 1})
    for _ in range(20):
        for label in ("x", True, 3):
            model.learn_one({f"is_{label}": 1, "word": str(label)}, label)
    assert [model.predict_one({f"is_{label}": 1}) for label in ("x", True, 3)] == ["x", True, 3]
    proba = model.predict_proba_one({"is_x": 1})
    assert sum(proba.values()) == pytest.approx(1) and max(proba, key=proba.get) == "x"
    model.feedback_one(model.choose_one({"is_x": 1}), True)
    again = pickle.loads(pickle.dumps(model))
    assert again.predict_proba_one({"is_x": 1}) == model.predict_proba_one({"is_x": 1})
