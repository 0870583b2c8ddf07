# SPDX-License-Identifier: BSD-3-Clause
"""River's manners, by River's own evaluator and checks."""

import pickle

import pytest

pytest.importorskip("river", reason="River is not installed")

from river import checks, compose, datasets, evaluate, metrics, preprocessing

import hunch
from hunch.river import BanditClassifier, choose_one, feedback_one


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


def test_choices_speak_labels():
    model = BanditClassifier("banditron", labels=["red", True, 7])
    choice = model.choose_one({"a": 1.0})
    assert choice.label in ("red", True, 7) and type(choice.label) in (str, bool, int)
    assert model.feedback_one(choice, True) is True and model.feedback_one(choice, True) is False
    assert model.feedback_one(hunch.Choice.from_json(choice.to_json()), True) is False


def test_one_bit_is_all_it_gets():
    with pytest.raises(ValueError, match="simulate=False"):
        BanditClassifier("arow")


def test_pipelines_reach_choose_one():
    scaler, bandit = preprocessing.StandardScaler(), BanditClassifier("confident:bias=1", labels=["low", "high"])
    model = scaler | bandit
    for i in range(400):
        x = {"a": 100.0 + i % 50}
        choice = choose_one(model, x)
        feedback_one(model, choice, choice.label == ("high" if x["a"] > 125 else "low"))
    assert (
        scaler.counts["a"] == 400
        and model.predict_one({"a": 149.0}) == "high"
        and model.predict_one({"a": 100.0}) == "low"
    )
    assert choose_one(bandit, {"a": 1.0}).label in ("low", "high")


def test_many_rows_and_weights():
    pandas = pytest.importorskip("pandas")
    rows = [{"a": float(i % 7), "b": float(i % 3), "c": 1.0} for i in range(300)]
    y = ["x" if i % 7 > 3 else "y" for i in range(300)]
    one, many, weighted, twice = (BanditClassifier("confidit", seed=4) for _ in range(4))
    for x, label in zip(rows, y):
        one.learn_one(x, label)
        weighted.learn_one(x, label, w=2.0)
        twice.learn_one(x, label)
        twice.learn_one(x, label)
    frame = pandas.DataFrame(rows)
    for start in range(0, 300, 100):
        many.learn_many(frame[start : start + 100], pandas.Series(y[start : start + 100]))
    assert many.bandit_error == one.bandit_error and weighted.bandit_error == twice.bandit_error
    assert many.predict_many(frame).tolist() == [one.predict_one(x) for x in rows]
    half = BanditClassifier("banditron")
    for x, label in zip(rows, y):
        half.learn_one(x, label, w=0.5)
    assert 100 < half._rounds < 200


def test_the_order_of_a_dict_decides_nothing():
    a, b = BanditClassifier("confidit"), BanditClassifier("confidit")
    for i in range(100):
        x = {"z": 0.1 * i, "a": 0.3, f"new{i % 9}": 1.0, "word": f"w{i % 5}"}
        a.learn_one(x, i % 3), b.learn_one(dict(reversed(x.items())), i % 3)
    assert a._model.to_bytes() == b._model.to_bytes()
