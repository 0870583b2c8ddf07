# SPDX-License-Identifier: BSD-3-Clause
"""One round at a time, for every algorithm in the table."""

import copy
import inspect
import json
import pickle

import numpy as np
import pytest

import hunch


def play(learner, rows, labels):
    choices = []
    for row, label in zip(rows, labels):
        choice = learner.predict(row)
        choices.append(choice)
        if hunch.algorithms()[learner.name].full_information:
            learner.teach(row, label)
        else:
            learner.feedback(choice, right=choice.label == label)
    return choices


def test_issue_snippet():
    learner = hunch.Learner("confident", classes=["a", "b", "c"])
    choice = learner.predict({"age": 0.3, "city=Rome": 1})
    assert choice.label in ("a", "b", "c") and 0 < choice.prob <= 1 and choice.round == 1
    learner.feedback(choice, right=False)
    assert learner.feature_names == ["age", "city=Rome"]


def test_batch_equals_row_by_row(spec, data, dense):
    n = 120
    one = hunch.Learner(spec, 9, seed=4, features=400)
    choices = play(one, dense[:n], data.y[:n])
    many = hunch.Learner(spec, 9, seed=4, features=400)
    result = many.run(dense[:n], data.y[:n], choices=True)
    assert [c.label for c in choices] == result.choices["label"].tolist()
    assert [c.greedy for c in choices] == result.choices["greedy"].tolist()
    assert [c.prob for c in choices] == result.choices["prob"].tolist()
    assert [c.note for c in choices] == result.choices["note"].tolist()
    assert [c.round for c in choices] == result.choices["round"].tolist()
    assert one.to_bytes() == many.to_bytes()


def test_kinds_of_rows_are_equal(spec, data, dense):
    n = 60
    learners = [hunch.Learner(spec, 9, seed=4, features=400) for _ in range(3)]
    sparse = [data.X[i] for i in range(n)]
    numbered = [dict(zip(x.indices.tolist(), x.data.tolist())) for x in sparse]
    played = [play(learner, rows, data.y[:n]) for learner, rows in zip(learners, (sparse, numbered, sparse))]
    assert [c.label for c in played[0]] == [c.label for c in played[1]]
    assert learners[0].to_bytes() == learners[1].to_bytes() == learners[2].to_bytes()


def test_dict_and_array_agree():
    named = hunch.Learner("banditron", 3, seed=2)
    array = hunch.Learner("banditron", 3, seed=2)
    rng = np.random.default_rng(0)
    for _ in range(50):
        row = rng.random(4).astype(np.float32)
        a, b = named.predict(dict(zip("abcd", row))), array.predict(row)
        assert (a.label, a.prob, a.greedy) == (b.label, b.prob, b.greedy)
        named.feedback(a, right=a.label == 1)
        array.feedback(b, right=b.label == 1)
    assert np.array_equal(named.tensor("W"), array.tensor("W"))


def test_text_values_are_features():
    learner = hunch.Learner(classes=2)
    learner.predict({"colour": "red", "weekend": True})
    assert learner.feature_names == ["colour=red", "weekend"]


def test_save_load_continue(spec, data, dense, tmp_path):
    whole = hunch.Learner(spec, 9, seed=4, features=400)
    whole.run(dense[:200], data.y[:200])
    half = hunch.Learner(spec, 9, seed=4, features=400)
    half.run(dense[:100], data.y[:100])
    half.save(tmp_path / "model.hunch")
    again = hunch.load(tmp_path / "model.hunch")
    again.run(dense[100:200], data.y[100:200])
    assert again.to_bytes() == whole.to_bytes()
    assert again.spec == whole.spec and again.rounds == 200


@pytest.mark.parametrize("clone", [copy.deepcopy, copy.copy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_are_equal_and_apart(clone, small):
    before = small.to_bytes()
    other = clone(small)
    assert other.to_bytes() == before and other.labels == ["a", "b", "c"]
    other.feedback(other.predict([1, 2, 3, 4]), True)
    assert small.to_bytes() == before and other.to_bytes() != before


def test_names_travel_with_the_model(tmp_path):
    learner = hunch.Learner("banditron", classes=["Ä", 7, "c d"])
    learner.feedback(learner.predict({"x": 1, "größe": 2}), True)
    learner.save(tmp_path / "m")
    again = hunch.load(tmp_path / "m")
    assert again.labels == ["Ä", 7, "c d"] and again.feature_names == ["x", "größe"]
    learner.predict({"new": 1})
    assert pickle.loads(pickle.dumps(learner)).feature_names == ["x", "größe", "new"]


@pytest.mark.parametrize("x", [{"a": 0.1, "b": "c"}, [0.1, 0, 3], {5: 0.1, 70000: 2}, {}])
@pytest.mark.parametrize("way", ["json", "pickle", "dict", "copy"])
def test_choices_survive(x, way):
    learner = hunch.Learner("banditron", classes=["l", 5], gamma=0.5)
    choice = learner.predict(x)
    again = {
        "json": lambda: hunch.Choice.from_json(choice.to_json()),
        "pickle": lambda: pickle.loads(pickle.dumps(choice)),
        "dict": lambda: hunch.Choice.from_dict(json.loads(json.dumps(choice.to_dict()))),
        "copy": lambda: copy.deepcopy(choice),
    }[way]()
    assert again == choice and again.to_dict() == choice.to_dict() and again.note == choice.note
    twin = copy.deepcopy(learner)
    learner.feedback(choice, True)
    twin.feedback(again, True)
    assert learner.to_bytes() == twin.to_bytes()


def test_feedback_in_another_process_order(spec, data, dense):
    """Choices that went through JSON, told late and in reverse, teach the same as the originals."""
    if hunch.algorithms()[spec].full_information:
        pytest.skip("learns from labels")
    a, b = (hunch.Learner(spec, 9, seed=4, features=400) for _ in range(2))
    first = [a.predict(row) for row in dense[:40]]
    second = [hunch.Choice.from_json(b.predict(row).to_json()) for row in dense[:40]]
    for x, y, label in list(zip(first, second, data.y))[::-1]:
        a.feedback(x, x.label == label)
        b.feedback(y, y.label == label)
    assert a.to_bytes() == b.to_bytes()


def test_a_choice_keeps_its_example():
    learner = hunch.Learner("banditron", 3)
    row = np.ones(3, np.float32)
    choice = learner.predict(row)
    row[:] = 9
    assert choice.x == [1, 1, 1]
    bare = learner.predict(row, keep=False)
    assert bare.x is None
    with pytest.raises(ValueError, match="give x"):
        learner.feedback(bare, True)
    learner.feedback(bare, True, x=row)


def test_add_class():
    learner = hunch.Learner("banditron", classes=["a", "b"])
    learner.teach({"x": 1}, "a")
    learner.add_class("c")
    for _ in range(5):
        learner.teach({"y": 1}, "c")
    assert learner.greedy({"y": 1}) == "c" and learner.labels == ["a", "b", "c"]
    assert hunch.Learner.from_bytes(learner.to_bytes()).labels == ["a", "b", "c"]
    with pytest.raises(ValueError, match="twice"):
        learner.add_class("a")
    numbers = hunch.Learner("banditron", classes=2)
    numbers.add_class()
    assert numbers.labels == [0, 1, 2]
    numbers.add_class("x")
    assert numbers.labels == [0, 1, 2, "x"]


def test_merge():
    a, b = (hunch.Learner("banditron", classes=["a", "b"], seed=s) for s in (1, 2))
    a.feedback(a.predict({"x": 1}), True)
    b.feedback(b.predict({"x": 1, "y": 2}), False)
    a.merge(b)
    assert a.rounds == 2 and a.feature_names == ["x", "y"]
    for other in (hunch.Learner("banditron", classes=["b", "a"]), hunch.Learner("perceptron", classes=["a", "b"]), a):
        with pytest.raises(ValueError):
            a.merge(other)


def test_scores_and_greedy(data, dense):
    learner = hunch.Learner("confident", 9)
    learner.run(dense, data.y)
    scores = learner.scores(dense[:50])
    assert scores.shape == (50, 9) and scores.dtype == np.float32
    assert np.allclose(learner.scores(data.X[:50]), scores, rtol=1e-4, atol=1e-5)  # other order of additions
    assert np.array_equal(learner.scores(dense[3]), scores[3])
    assert np.array_equal(learner.greedy(dense[:50]), scores.argmax(axis=1))
    assert learner.greedy(dense[3]) == scores[3].argmax()
    before = learner.to_bytes()
    learner.scores(np.ones((2, 5000)))
    assert learner.to_bytes() == before


def test_unknown_names_weigh_nothing():
    learner = hunch.Learner("banditron", 2)
    learner.teach({"x": 1}, 1)
    assert np.array_equal(learner.scores({"x": 1, "never": 5}), learner.scores({"x": 1}))
    assert learner.feature_names == ["x"]


def test_teach_many(spec, data, dense):
    one, many = (hunch.Learner(spec, 9, features=400) for _ in range(2))
    for row, label in zip(dense[:60], data.y):
        one.teach(row, label)
    many.teach(data.X[:60], data.y[:60])
    if one.to_bytes() != many.to_bytes():  # dense rows hold zeros, which some learners count as seen
        many = hunch.Learner(spec, 9, features=400)
        many.teach(dense[:60], data.y[:60])
    assert one.to_bytes() == many.to_bytes()


def test_factories_come_from_the_table(spec):
    factory = getattr(hunch.learners, spec.replace("-", "_"))
    learner = factory(3, seed=2)
    assert learner.spec == hunch.Learner(spec, 3).spec
    signature = inspect.signature(factory)
    for setting in hunch.algorithms()[spec].settings:
        assert setting.keyword in signature.parameters and setting.help.split()[0] in factory.__doc__
        explicit = factory(3, **{setting.keyword: setting.value})
        assert explicit.spec == learner.spec
    assert spec.replace("-", "_") in dir(hunch.learners)


def test_settings_as_keywords_and_text():
    a = hunch.Learner("confidit", eta=0.25)
    b = hunch.Learner("confidit:eta=2^-2")
    assert a.spec == b.spec and "eta=0.25" in a.spec
    assert hunch.Learner().name == hunch.default_learner()
    assert "confidit" in hunch.describe() and "eta" in hunch.describe("confidit")


def test_same_seed_same_answers(dense):
    def answers(seed):
        learner = hunch.Learner("banditron", 9, seed=seed, gamma=0.5)
        return [learner.predict(row).label for row in dense[:50]]

    assert answers(1) == answers(1) != answers(2)
    learner = hunch.Learner("banditron", 9, seed=9, gamma=0.5)
    learner.reseed(1)
    assert [learner.predict(row).label for row in dense[:50]] == answers(1)
