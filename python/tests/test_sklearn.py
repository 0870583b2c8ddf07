# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's manners, by scikit-learn's own checks."""

import inspect
import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import hunch
from hunch.sklearn import ORDER_CHECKS, ORDER_MATTERS, BanditClassifier


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", [BanditClassifier(), BanditClassifier("arow:bias=1", simulate=False)])
def test_check_estimator(estimator):
    if "expected_failed_checks" in inspect.signature(check_estimator).parameters:  # scikit-learn 1.6 or newer
        check_estimator(estimator, expected_failed_checks={name: ORDER_MATTERS for name in ORDER_CHECKS})
    else:
        check_estimator(estimator)


def test_fit_is_simulated_feedback(data):
    model = BanditClassifier("confident", epochs=1, shuffle=False, random_state=3).fit(data.X, data.y)
    seed = np.random.RandomState(3).randint(2**31 - 1)
    result = hunch.run("confident", data.X, data.y, seed=int(seed))
    assert model.error_ == result.error
    assert model.learner_.tensors == result.learner.tensors
    assert model.score(data.X, data.y) > 0.95


def test_partial_fit(data):
    model = BanditClassifier("confident", random_state=3)
    with pytest.raises(ValueError, match="classes"):
        model.partial_fit(data.X, data.y)
    names = np.asarray(data.classes)
    for start in range(0, 1500, 500):
        rows = slice(start, start + 500)
        model.partial_fit(data.X[rows], names[data.y[rows]], classes=names)
    assert model.learner_.rounds == 1500 and model.score(data.X, names[data.y]) > 0.9
    model.partial_fit(data.X[:1], ["05"])  # a new class, where it belongs in classes_
    assert model.classes_.tolist() == ["05", *sorted(data.classes)] and model.learner_.labels[-1] == "05"
    assert model.score(data.X, names[data.y]) > 0.9 and model.predict_proba(data.X[:5]).shape == (5, 10)
    with pytest.raises(ValueError, match="not the same"):
        model.partial_fit(data.X[:1], names[:1], classes=["a", "b"])
    with pytest.raises(ValueError, match="features"):
        model.predict(data.X[:, :7])


def test_grid_search_and_pipeline():
    X, y = make_blobs(300, centers=3, random_state=0)
    grid = {"banditclassifier__learner": ["confidit:eta=0.1,bias=1", "banditron:gamma=0.99"]}
    search = GridSearchCV(make_pipeline(StandardScaler(), BanditClassifier(random_state=0)), grid, cv=3).fit(X, y)
    assert search.best_params_["banditclassifier__learner"].startswith("confidit") and search.best_score_ > 0.85


def test_sparse_text():
    texts = ["goal team match", "vote party law", "match goal", "law vote"] * 30
    labels = ["sport", "politics"] * 60
    model = make_pipeline(TfidfVectorizer(), BanditClassifier(random_state=0))
    assert cross_val_score(model, texts, labels, cv=3).min() == 1
    assert model.fit(texts, labels).decision_function(["goal"]).shape == (1,)


def test_parameters_clone_and_pickle(data):
    model = BanditClassifier("banditron:gamma=0.1", simulate=False, epochs=2, random_state=4)
    assert clone(model).get_params() == model.get_params()
    model.set_params(learner="confidit").fit(data.X, data.y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(data.X), model.predict(data.X))
    assert model.decision_function(data.X).shape == (1500, 9)
    with pytest.raises(NotFittedError):
        clone(model).predict(data.X)
    with pytest.raises(ValueError, match="nobody"):
        BanditClassifier("nobody").fit(data.X, data.y)


def test_one_bit_is_all_they_get(data):
    """A learner that needs labels is not handed them under the name of bandit feedback."""
    for spec in ("arow", "perceptron:bias=1"):
        with pytest.raises(ValueError, match="simulate=False"):
            BanditClassifier(spec).fit(data.X, data.y)
    BanditClassifier("arow", simulate=False).fit(data.X, data.y)


def test_epochs_are_no_evidence():
    rng = np.random.RandomState(1)
    X, y = rng.randn(600, 400).astype(np.float32), rng.randint(4, size=600)  # nothing to learn but the rows by heart
    model = BanditClassifier(epochs=8, random_state=1).fit(X, y)
    assert model.learner_.info()["restarts"] == 0
    assert model.error_ > 0.6  # of unseen rows
    assert model.score(X, y) > 0.6


def test_settings_are_parameters(data):
    model = BanditClassifier("confidit", eta=0.1, random_state=1)
    assert model.get_params()["eta"] == 0.1 and clone(model).eta == 0.1
    assert "eta=0.1" in model.fit(data.X, data.y).learner_.spec
    assert "eta=0.2" in model.set_params(eta=0.2).fit(data.X, data.y).learner_.spec
    search = GridSearchCV(BanditClassifier("banditron", random_state=1), {"gamma": [0.05, 0.95]}, cv=3)
    assert search.fit(data.X, data.y).best_params_ == {"gamma": 0.05}
    with pytest.raises(TypeError, match="did you mean 'gamma'"):
        BanditClassifier("banditron", gama=1)
    with pytest.raises(ValueError, match="did you mean 'gamma'"):
        model.set_params(gama=1)


def test_error_is_of_the_last_fit(data):
    model = BanditClassifier("confident", random_state=1, epochs=1, shuffle=False).fit(data.X, data.y)
    assert model.error_ == pytest.approx(
        hunch.run("confident", data, seed=int(np.random.RandomState(1).randint(2**31 - 1))).error
    )
    model.set_params(simulate=False).fit(data.X, data.y)
    assert not hasattr(model, "error_")


def expected_calibration_error(proba, y, bins=10):
    sure, hit = proba.max(axis=1), proba.argmax(axis=1) == y
    place = np.minimum((sure * bins).astype(int), bins - 1)
    return sum(abs(hit[place == b].sum() - sure[place == b].sum()) for b in range(bins)) / len(y)


@pytest.mark.parametrize("simulate", [True, False])
def test_probabilities_are_calibrated(simulate):
    """Log loss and reliability on rows that were not seen; a softmax of the bare scores does worse."""
    rows = hunch.datasets.synnonsep(6000, seed=3, noise=0.2)
    X, y = rows.X[:4000], rows.y[:4000]
    model = BanditClassifier("confidit", simulate=simulate, random_state=1, eta=0.01).fit(X, y)
    proba, truth = model.predict_proba(rows.X[4000:]), rows.y[4000:]
    assert np.allclose(proba.sum(axis=1), 1) and (proba > 0).all()
    scores = model.decision_function(rows.X[4000:])
    bare = np.exp(scores - scores.max(axis=1, keepdims=True))
    bare /= bare.sum(axis=1, keepdims=True)
    loss, bare_loss = (-np.log(p[np.arange(2000), truth].clip(1e-15)).mean() for p in (proba, bare))
    assert loss < 1.2 and loss < bare_loss
    assert expected_calibration_error(proba, truth) < 0.06 < expected_calibration_error(bare, truth)
    assert np.array_equal(model.classes_[proba.argmax(axis=1)], model.predict(rows.X[4000:]))


def test_sample_weight(data):
    X, y = data.X[:400], data.y[:400]
    options = dict(random_state=1, shuffle=False)
    twice = np.repeat(np.arange(400), 2)
    a = BanditClassifier("banditron", **options).fit(X, y, sample_weight=np.full(400, 2))
    b = BanditClassifier("banditron", **options).fit(X[twice], y[twice])
    assert np.array_equal(a.decision_function(X), b.decision_function(X))
    weight = (y < 5).astype(float)
    a, b = (BanditClassifier("banditron", **options) for _ in range(2))
    a.partial_fit(X, y, classes=range(9), sample_weight=weight)
    b.partial_fit(X[y < 5], y[y < 5], classes=range(9))
    assert np.array_equal(a.decision_function(X), b.decision_function(X))
    half = BanditClassifier("banditron", **options).partial_fit(X, y, classes=range(9), sample_weight=np.full(400, 0.5))
    assert 150 < half.learner_.rounds < 250
    with pytest.raises(ValueError, match="sample_weight"):
        BanditClassifier().fit(X, y, sample_weight=-np.ones(400))


def test_names_go_on_to_the_model(tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    frame = pandas.DataFrame(rng.normal(size=(600, 3)), columns=["age", "height", "weight"])
    y = np.where(frame["age"] > 0, "old", "young")
    model = BanditClassifier("confidit", random_state=1).fit(frame, y)
    assert model.learner_.feature_names == ["age", "height", "weight"] and model.learner_.labels == ["old", "young"]
    assert model.learner_.greedy({"age": 2.0}) == "old" and model.score(frame, y) > 0.9
    model.learner_.save(tmp_path / "model.hunch")
    assert hunch.load(tmp_path / "model.hunch").greedy({"age": -2.0}) == "young"


def test_floats_and_bools_as_classes():
    X = np.eye(2, dtype=np.float32)[np.arange(200) % 2]
    for classes in ([-1.0, 1.0], [2, 7], [False, True]):
        y = np.asarray(classes)[np.arange(200) % 2]
        model = BanditClassifier(random_state=1).fit(X, y)
        assert model.predict(X).dtype == y.dtype and model.score(X, y) == 1


TEXTS = ["please refund my invoice", "the app crashes, \"login\"", "a price for ten"] * 40
TEAMS = ["billing", "tech", "sales"] * 40


@pytest.mark.parametrize("form", [list, np.array, "series"])
def test_texts(form):
    """Raw texts go through the schema of tables; the model is that of the same table."""
    pytest.importorskip("hunch._stream", reason="this build reads no tables")
    if form == "series":
        form = pytest.importorskip("pandas", reason="pandas is not installed").Series
    model = BanditClassifier("confident", random_state=1).fit(form(TEXTS), TEAMS)
    assert model.score(form(TEXTS), TEAMS) == 1 and model.n_features_in_ == 1
    assert model.predict(form(["invoice refund", "crashes"])).tolist() == ["billing", "tech"]
    assert model.predict_proba(form(TEXTS[:2])).shape == (2, 3)
    assert [c["role"] for c in model.learner_.schema["columns"]] == ["text", "label"]
    again = pickle.loads(pickle.dumps(clone(model).fit(form(TEXTS), TEAMS)))
    assert again.learner_.to_bytes() == model.learner_.to_bytes()
    model.partial_fit(form(["a bill", "new"]), ["billing", "other"])
    assert model.predict(form(["a price for ten"])).tolist() == ["sales"] and "other" in model.classes_
    with pytest.raises(ValueError, match="inconsistent"):
        model.fit(form(TEXTS), TEAMS[:-1])
    assert cross_val_score(BanditClassifier("confident", random_state=1), form(TEXTS), TEAMS, cv=3).min() == 1


def test_frames_with_text_and_gaps():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("hunch._stream", reason="this build reads no tables")
    frame = pandas.DataFrame({"subject": TEXTS, "channel": ["web", None] * 60, "age": [1.5, 3.0, None, 2.0] * 30})
    model = BanditClassifier("confident", random_state=1).fit(frame, TEAMS)
    assert model.score(frame, TEAMS) == 1
    assert model.predict(frame[["subject"]][:3]).tolist() == TEAMS[:3]
    with pytest.raises(ValueError, match="data frame"):
        model.predict(np.ones((2, 3)))


def test_texts_that_are_easily_mistaken():
    """A text may be the name of its column; all may be missing; one text alone is no list of them."""
    pytest.importorskip("hunch._stream", reason="the extension was built without the reader")
    model = BanditClassifier(random_state=1).fit(["refund my invoice", "the app crashes"] * 20, ["billing", "tech"] * 20)
    assert len(model.predict(["text", "refund", "text"])) == 3
    assert len(model.predict([None, None])) == 2
    with pytest.raises(ValueError, match="list of texts"):
        model.predict("refund my invoice")
