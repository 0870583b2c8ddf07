# SPDX-License-Identifier: BSD-3-Clause
"""One round at a time, for every algorithm in the table."""

import copy
import inspect
import json
import pickle
import subprocess

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
        return  # learns from labels
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


def test_offset_tree_weighs_a_log_by_its_probabilities():
    """Of two labels, that one is right and that the other is wrong say the same; a label shown half as often counts twice."""

    def scores(label, prob, right):
        learner = hunch.Learner("offset-tree:rule=offset,C=0.01", classes=2)
        learner.learn([1.0, 2.0], label, prob, right)
        return learner.scores([1.0, 2.0])

    assert np.array_equal(scores(0, 0.5, True), scores(1, 0.5, False))
    assert np.allclose(scores(0, 0.25, True), 2 * scores(0, 0.5, True))


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


# --- examples without features ---


def test_an_empty_example_decides_nothing(spec):
    """{} and [] are examples of both kinds: a learner's features get names or numbers from the first that has any."""
    for empty in ({}, [], np.empty(0)):
        named, numbered = (hunch.Learner(spec, ["a", "b"]) for _ in range(2))
        for learner, x in ((named, {"x": 1.0}), (numbered, [1.0, 2.0])):
            learner.feedback(learner.predict(empty), True)
            learner.scores(empty), learner.greedy(empty), learner.teach(empty, "a")
            learner.feedback(learner.predict(x), True)
            for again in ({}, [], np.empty(0)):
                learner.feedback(learner.predict(again), True)
                learner.scores(again), learner.teach(again, "b")
        with pytest.raises(ValueError, match="names"):
            named.predict([1.0])
        with pytest.raises(ValueError, match="numbers"):
            numbered.predict({"x": 1.0})
    learner = hunch.Learner("banditron", ["a", "b"])
    learner.run([{}, {}], ["a", "b"])
    learner.run([{}, {"x": 1.0}, {}], ["a", "b", "a"])
    assert learner.feature_names == ["x"]


# --- feedback counts once ---


def test_repeated_feedback_is_learned_once():
    learner = hunch.Learner("banditron", ["a", "b"])
    choice = learner.predict({"x": 1.0})
    assert learner.feedback(choice, choice.label == "b") is True
    before = learner.to_bytes()
    for copied in (choice, hunch.Choice.from_json(choice.to_json()), pickle.loads(pickle.dumps(choice))):
        assert learner.feedback(copied, choice.label == "b") is False
    with pytest.raises(ValueError, match="round 1 has been called"):
        learner.feedback(choice, choice.label != "b")
    for other in (copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))):
        assert other.feedback(choice, choice.label == "b") is False
    assert learner.to_bytes() == before
    assert learner.feedback(choice, choice.label == "b", again=True) is True and learner.to_bytes() != before


def test_answers_over_many_rounds():
    from hunch._choice import Answers

    answers = Answers()
    rounds = [1, 2, 3, 4, 16383, 16384, 10**9, 2**63]
    for i, number in enumerate(rounds):
        answers.set(number, i % 2 == 0)
    assert [answers.get(number) for number in rounds] == [2, 1] * 4 and answers.get(5) == 0
    answers.set(1, False)
    assert answers.get(1) == 1 and len(answers._pages) == 4


# --- many at once ---


@pytest.mark.parametrize("form", ["dense", "sparse", "dicts"])
def test_many_are_one_by_one(spec, form, data):
    rows = {"dense": data.X[:60].toarray(), "sparse": data.X[:60]}.get(form)
    if form == "dicts":
        rows = [{f"w{j}": 1.0 for j in row.indices} for row in data.X[:60]]
    one, many = (hunch.Learner(spec, 9, seed=4) for _ in range(2))
    right = []
    for i in range(60):
        choice = one.predict(rows[i])
        right.append(choice.label == data.y[i])
    choices = many.predict_many(rows)
    assert np.array_equal(choices["label"] == data.y[:60], right) and one.to_bytes() == many.to_bytes()
    again = copy.deepcopy(one)
    for i in range(60):
        again.feedback(choices[i], right[i])
    assert many.feedback_many(choices, right) == 60
    assert many.to_bytes() == again.to_bytes()
    assert many.feedback_many(choices, right) == 0 and many.feedback_many(choices[:5], right[:5], again=True) == 5
    with pytest.raises(ValueError, match="called"):
        many.feedback_many(choices, np.logical_not(right))


def test_many_refuse_what_one_refuses(small):
    choices = small.predict_many(np.ones((5, 4)), keep=False)
    before = small.to_bytes()
    for call in (
        lambda: small.feedback_many(choices, [True] * 5),
        lambda: small.feedback_many(choices, [True] * 4, np.ones((5, 4))),
        lambda: small.feedback_many(choices, [2] * 5, np.ones((5, 4))),
        lambda: small.feedback_many(choices, [True] * 5, np.ones((4, 4))),
        lambda: small.feedback_many([], [True]),
        lambda: small.predict_many([[1e20] * 4]),
        lambda: hunch.Learner("confidit", 3).feedback_many(choices, [True] * 5, np.ones((5, 4))),
    ):
        with pytest.raises(ValueError):
            call()
    assert small.to_bytes() == before
    assert small.feedback_many(choices[[0, 0, 1]], [True] * 3, np.ones((3, 4))) == 2


# --- the plain way and the fast one ---


def test_dicts_of_all_kinds_agree():
    """Dicts that the extension reads itself and those that Python must read first give the same learner."""
    from collections import OrderedDict
    from types import MappingProxyType

    plain, other = (hunch.Learner("banditron", ["a", "b"], seed=3) for _ in range(2))
    rng = np.random.default_rng(1)
    for i in range(200):
        x = {"n": float(np.float32(rng.normal())), "i": int(rng.integers(9)), "t": bool(rng.random() < 0.5)}
        x.update({"word": f"w{rng.integers(30)}"} if i % 2 else {})
        forms = [MappingProxyType(x), OrderedDict(x), {k: np.float32(v) if k == "n" else v for k, v in x.items()}]
        a, b = plain.predict(x), other.predict(forms[i % 3])
        assert a == b and a.x == b.x
        right = bool(rng.random() < 0.5)
        plain.feedback(a, right), other.feedback(b, right)
        assert np.array_equal(plain.scores(x), other.scores(forms[i % 3]))
        assert plain.greedy(x) == other.greedy(forms[i % 3])
    assert plain.to_bytes() == other.to_bytes()


def test_wide_dicts():
    names = [f"f{i}" for i in range(1000)]
    learner = hunch.Learner("banditron", 2)
    learner.teach(dict.fromkeys(names, 1.0), 1)
    learner.teach(dict.fromkeys(reversed(names), 0.5), 0)
    assert learner.feature_names == names and learner.scores({"f3": 1, "unknown": 7.0}).shape == (2,)
    with pytest.raises(ValueError, match="twice"):
        learner.predict({"a=b": 1.0, "a": "b"})
    assert learner.feature_names == names


def test_what_a_choice_keeps_stays():
    learner = hunch.Learner("banditron", 2)
    x = {"a": 1.0, "b": "red"}
    choice = learner.predict(x)
    x["a"] = 5.0
    assert choice.x == {"a": 1.0, "b=red": 1.0}


def test_info_and_explain(small):
    info = small.info()
    assert info["rounds"] == 20 and info["learner"] == "banditron" and info["classes"] == 3
    assert all(isinstance(value, (str, int, float)) for value in info.values())
    x = [1.0, 0.0, 2.0, 0.5]
    told = small.explain(x)
    assert told.label == small.greedy(x) and told.table.shape == (4, 3)
    assert np.allclose(told.table, small.tensor("W")[:4] * np.asarray(x)[:, None], atol=1e-5)
    assert len(told.top(3)) == 3 and "<table>" in told._repr_html_() and str(told)
    assert "<table>" in small._repr_html_()


def test_every_learner_explains(spec, data):
    learner = hunch.run(spec, data.X[:300], data.y[:300]).learner
    told = learner.explain(data.X[0])
    assert (
        told.table.shape == (52, 9)
        and np.isfinite(told.table).all()
        and np.allclose(told.scores, learner.scores(data.X[0])[0])
    )


# --- rounds that others played ---


def test_learning_from_logs(tool, tmp_path):
    """One by one, in batches, from a Log, and by hunch replay: the same learner."""
    rng = np.random.default_rng(9)
    X = rng.normal(size=(400, 5)).astype(np.float32)
    label, prob = rng.choice(["x", "y", "z"], size=400, p=[0.5, 0.3, 0.2]), None
    prob = np.array([{"x": 0.5, "y": 0.3, "z": 0.2}[name] for name in label])
    right = np.array(["x", "y", "z"])[X[:, :3].argmax(axis=1)] == label
    rows = [{f"f{j}": float(v) for j, v in enumerate(x)} for x in X]
    log = hunch.Log()
    for x, name, p, bit in zip(rows, label, prob, right):
        log.append(hunch.Round(x, str(name), float(p), bool(bit)))
    log.write(tmp_path / "log.jsonl")
    for spec in ("banditron", "confidit", "confident", "offset-tree"):
        one, many, whole = (hunch.Learner(spec, sorted(set(label.tolist()))) for _ in range(3))
        for x, name, p, bit in zip(rows, label, prob, right):
            one.learn(x, name, p, bit)
        many.learn(rows, label, prob, right)
        assert whole.learn_log(log) == 400
        assert one.to_bytes() == many.to_bytes() == whole.to_bytes()
        command = [tool, "replay", "-q", tmp_path / "log.jsonl", "-l", spec, "--classes", 3]
        command += ["--save", tmp_path / "model.hunch"]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        theirs = hunch.load(tmp_path / "model.hunch")
        assert theirs.tensors == one.tensors and theirs.rounds == one.rounds
        assert all(np.array_equal(theirs.tensor(name), one.tensor(name)) for name in one.tensors)
        assert np.mean(one.greedy(rows) == np.array(["x", "y", "z"])[X[:, :3].argmax(axis=1)]) > 0.5
    before = one.to_bytes()
    for bad in (
        lambda: one.learn(rows[0], "x", 0, True),
        lambda: one.learn(rows[0], "x", 1.5, True),
        lambda: one.learn(rows[0], "w", 0.5, True),
        lambda: one.learn(rows, label, prob[:7], right),
        lambda: one.learn(rows, label, prob, right.astype(int) * 2),
    ):
        with pytest.raises(ValueError):
            bad()
    assert one.to_bytes() == before


def test_among_restricts_choices_and_chances():
    learner = hunch.Learner("banditron:gamma=0.3", classes=["a", "b", "c", "d"], seed=3)
    rng = np.random.default_rng(1)
    for _ in range(200):
        eligible = [label for label in "abcd" if rng.random() < 0.6] or ["b"]
        x = {"v": float(rng.random()), eligible[0]: 1.0}
        chances = learner.chances(x, among=eligible)
        assert chances.sum() == pytest.approx(1)
        choice = learner.predict(x, among=eligible)
        assert choice.label in eligible and choice.greedy in eligible
        assert choice.prob == pytest.approx(chances["abcd".index(choice.label)])
        best = max(chances)
        assert best == pytest.approx(0.7 + 0.3 / len(eligible))
        learner.feedback(choice, choice.label == "a")
    before = learner.to_bytes()
    for bad in ([], ["x"], "ab"):
        with pytest.raises(ValueError):
            learner.predict({"v": 1.0}, among=bad)
    assert learner.to_bytes() == before


def test_retired_labels_are_kept_and_not_shown():
    learner = hunch.Learner("confident", classes=["a", "b", "c"], seed=3)
    learner.retire("a")
    learner.retire("c")
    with pytest.raises(ValueError, match="only one"):
        learner.retire("b")
    learner.teach({"v": 1}, "a")
    again = hunch.Learner.from_bytes(learner.to_bytes())
    assert again.retired == ["a", "c"]
    assert again.predict({"v": 1}).label == "b" == again.greedy({"v": 1})
    with pytest.raises(ValueError, match="retired"):
        again.predict({"v": 1}, among=["a", "c"])
    again.retire("a", False)
    assert again.predict({"v": 1}, among=["a", "c"]).label == "a"


def test_examples_to_begin_with():
    examples = {"left": [{"a": 1}, {"a": 0.9, "b": 0.1}], "right": [{"b": 1}], "none": []}
    learner = hunch.Learner("confident", classes=list(examples), examples=examples, seed=3)
    same = hunch.Learner("confident", classes=list(examples), seed=3)
    for x, label in (({"a": 1}, "left"), ({"b": 1}, "right"), ({"a": 0.9, "b": 0.1}, "left")):
        same.teach(x, label)
    assert learner.to_bytes() == same.to_bytes()
    assert learner.greedy({"a": 1}) == "left" and learner.greedy({"b": 1}) == "right"
    for bad in ({"other": [{"a": 1}]}, {"left": {"a": 1}}, {"left": "a"}):
        with pytest.raises(ValueError):
            hunch.Learner("confident", classes=["left", "right"], examples=bad)


def test_features_by_name():
    """Learners that have the same names can be merged, whatever each of them saw."""
    parts = [hunch.Learner("banditron", ["x", "y"], features=["b", "a"], seed=seed) for seed in (1, 2)]
    parts[0].teach({"a": 1}, "x")
    parts[1].teach({"b": 1}, "y")
    parts[0].merge(parts[1])
    assert parts[0].feature_names == ["b", "a"] and parts[0].greedy({"b": 1}) == "y" and parts[0].greedy({"a": 1}) == "x"
    for features in ("ab", ["a", ""], ["a", 3], [["a"]]):
        with pytest.raises((ValueError, TypeError)):
            hunch.Learner("banditron", 2, features=features)
    with pytest.raises(ValueError, match=r"features=\[name"):
        parts[0].merge(hunch.Learner("banditron", ["x", "y"], features=["a"]))
