# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's manners, by scikit-learn's own checks."""

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
from hunch.sklearn import BanditClassifier


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", [BanditClassifier(), BanditClassifier("arow:bias=1", simulate=False)])
def test_check_estimator(estimator):
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
    with pytest.raises(ValueError, match="not in classes"):
        model.partial_fit(data.X[:1], ["other"])
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
