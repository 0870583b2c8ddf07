# SPDX-License-Identifier: BSD-3-Clause
"""Other people's classifiers as one-bit learners, and streams that drift."""

import numpy as np
import pytest

import hunch


class Memory:
    """What a model was taught, for counting."""

    def __init__(self):
        self.seen = []

    def learn_one(self, x, y, w=1.0):
        self.seen.append((x, y, w))

    def predict_one(self, x):
        return self.seen[-1][1] if self.seen else None


class Unweighted(Memory):
    def learn_one(self, x, y):
        self.seen.append((x, y, 1.0))


@pytest.mark.parametrize("model", [Memory, Unweighted])
def test_importance_weights_are_unbiased(model):
    """On average the model sees every label as often as if labels were known."""
    wrapper = hunch.BanditWrapper(model(), ["a", "b", "c"], epsilon=0.6, seed=3)
    truth = ["a", "b", "b", "c"] * 3000
    for label in truth:
        choice = wrapper.predict({"x": 1})
        assert choice.prob == pytest.approx(0.2 + (0.4 if not choice.explored else 0))
        wrapper.feedback(choice, choice.label == label)
    total = {label: sum(w for _, y, w in wrapper.model.seen if y == label) for label in "abc"}
    for label in "abc":
        assert total[label] == pytest.approx(truth.count(label), rel=0.1)


def test_nothing_is_learned_from_wrong_labels_or_twice():
    wrapper = hunch.BanditWrapper(Memory(), ["a", "b"])
    choice = wrapper.predict({"x": 1})
    assert wrapper.feedback(choice, False) is True and not wrapper.model.seen
    choice = wrapper.predict({"x": 1})
    assert wrapper.feedback(choice, True) is True and wrapper.feedback(choice, True) is False
    assert len(wrapper.model.seen) == 1
    with pytest.raises(ValueError, match="otherwise"):
        wrapper.feedback(choice, False)
    with pytest.raises(ValueError, match="made by"):
        wrapper.feedback(hunch.Learner("banditron").predict([1]), True)
    for bad in (lambda: hunch.BanditWrapper(object()), lambda: hunch.BanditWrapper(Memory(), epsilon=0)):
        with pytest.raises(ValueError):
            bad()


def test_sklearn_models():
    linear = pytest.importorskip("sklearn.linear_model")
    bayes = pytest.importorskip("sklearn.naive_bayes")
    stream = hunch.make_stream(900, classes=3, features=6, drift="none", noise=0)
    names = np.array(["x", "y", "z"])[stream.y]
    for model in (linear.SGDClassifier(random_state=1), bayes.GaussianNB(), linear.Perceptron()):
        wrapper = hunch.BanditWrapper(model, ["x", "y", "z"], epsilon=0.2, seed=1)
        result = wrapper.run(stream.X, names)
        assert result.recent_error(300)[-1] < 0.45 and result.learner is wrapper and 0.05 < result.explored < 0.2
        assert wrapper.greedy(stream.X[0]) in ("x", "y", "z") and "epsilon-greedy" in str(result)
    with pytest.raises(ValueError, match="rows of numbers"):
        hunch.BanditWrapper(bayes.GaussianNB()).predict({"a": 1})


def test_river_models():
    pytest.importorskip("river", reason="River is not installed")
    from river import linear_model, multiclass, naive_bayes, tree

    stream = hunch.make_stream(900, classes=3, features=5, drift="none", noise=0)
    models = [
        naive_bayes.GaussianNB(),
        tree.HoeffdingTreeClassifier(),
        multiclass.OneVsRestClassifier(linear_model.LogisticRegression()),
    ]
    for model in models:
        result = hunch.BanditWrapper(model, stream.classes, epsilon=0.2).run(
            stream.X, np.asarray(stream.classes)[stream.y]
        )
        assert result.recent_error(300)[-1] < 0.6


# --- streams ---


@pytest.mark.parametrize("drift", hunch.datasets.DRIFTS)
def test_streams(drift):
    stream = hunch.make_stream(4000, drift=drift, seed=5)
    again = hunch.make_stream(4000, drift=drift, seed=5)
    assert np.array_equal(stream.X, again.X) and np.array_equal(stream.y, again.y)
    assert stream.X.shape == (4000, 10) and stream.X.dtype == np.float32 and np.isfinite(stream.X).all()
    assert not np.array_equal(stream.y, hunch.make_stream(4000, drift=drift, seed=6).y)
    assert stream.drift == ([] if drift in ("none", "rotating") else [2000])
    first, second = set(stream.y[:2000]), set(stream.y[2000:])
    assert second == {0, 1, 2, 3} and first == ({0, 1, 2} if drift == "new_class" else {0, 1, 2, 3})
    result = hunch.run("arow", stream)
    before, after = result.recent_error(300)[1999], result.recent_error(300)[2299]
    if drift in ("none", "rotating"):
        assert abs(after - before) < 0.1
    elif drift in ("abrupt", "recurring", "scale"):
        assert after > before + 0.15


def test_streams_refuse():
    with pytest.raises(ValueError, match="did you mean 'abrupt'"):
        hunch.make_stream(100, drift="abrubt")
    for bad in (dict(at=101), dict(classes=1), dict(noise=2)):
        with pytest.raises(ValueError):
            hunch.make_stream(100, **bad)
    assert hunch.make_stream(300, at=[100, 200]).drift == [100, 200]
