# SPDX-License-Identifier: BSD-3-Clause
"""Bad input is refused with an exception that says why, and changes nothing."""

import copy
import datetime

import numpy as np
import pytest
from scipy import sparse

import hunch

NAN = float("nan")

ROWS = {
    "too large for the library": np.array([1, -1e20], np.float32),
    "too large for float32": [1e300],
    "matrix": np.ones((2, 2)),
    "3-D": np.ones((1, 1, 2)),
    "number": 3.0,
    "text": "hello",
    "texts": ["a", "b"],
    "objects": np.array([object()]),
    "complex": np.array([1j]),
    "none": None,
    "two sparse rows": sparse.csr_matrix(np.eye(2)),
    "nan in a sparse row": sparse.csr_matrix([[1, NAN]]),
    "mixed keys": {1: 2, "a": 3},
    "negative key": {-1: 2},
    "large key": {2**32: 2},
    "too many features": {2**31: 2},
    "fractional key": {0.5: 2},
    "ragged": [[1, 2], [3]],
}

NAMED = {
    "too large": {"a": 1e20},
    "empty name": {"": 1},
    "nul": {"a\0b": 1},
    "list": {"a": [1]},
    "twice": {"a=b": 1, "a": "b"},
}


@pytest.mark.parametrize("what", ROWS)
def test_rows(what, small):
    before, choice = small.to_bytes(), small.predict(np.ones(4, np.float32))
    before = small.to_bytes()
    row = ROWS[what]
    with pytest.raises(ValueError):
        small.predict(row)
    if row is not None:
        with pytest.raises(ValueError):
            small.feedback(choice, True, x=row)
    with pytest.raises(ValueError):
        small.teach(row, "a")
    if what != "matrix" and what != "two sparse rows" and "key" not in what and what != "too many features":
        with pytest.raises(ValueError):
            small.scores(row)
    assert small.to_bytes() == before


@pytest.mark.parametrize("what", NAMED)
def test_named_rows(what):
    learner = hunch.Learner("banditron", 2)
    choice = learner.predict({"x": 1})
    before = learner.to_bytes()
    for call in (
        lambda: learner.predict({"new": 1, **NAMED[what]}),
        lambda: learner.feedback(choice, True, x={"new": 1, **NAMED[what]}),
        lambda: learner.teach([{"new": 1}, NAMED[what]], [0, 1]),
        lambda: learner.run([{"new": 1}, NAMED[what]], [0, 1]),
    ):
        with pytest.raises(ValueError):
            call()
        assert learner.to_bytes() == before and learner.feature_names == ["x"]


def test_names_and_numbers_do_not_mix(small):
    with pytest.raises(ValueError, match="numbers"):
        small.predict({"x": 1})
    named = hunch.Learner("banditron", 2)
    named.predict({"x": 1})
    with pytest.raises(ValueError, match="names"):
        named.predict([1, 2])
    with pytest.raises(ValueError, match="names"):
        named.scores([1, 2])


BATCHES = {
    "beyond the limit": (np.array([[1, 2], [1e14, 1]]), ["a", "b"]),
    "too large": (np.array([[1, 2], [1e20, 1]]), ["a", "b"]),
    "too large for float32": (np.array([[1, 2], [1e300, NAN]]), ["a", "b"]),
    "nan in CSR": (sparse.csr_matrix([[1.0, 2], [NAN, 1]]), ["a", "b"]),
    "1-D": (np.ones(3), ["a", "b", "c"]),
    "3-D": (np.ones((2, 2, 2)), ["a", "b"]),
    "too few labels": (np.ones((2, 2)), ["a"]),
    "unknown label": (np.ones((2, 2)), ["a", "z"]),
    "2-D labels": (np.ones((2, 2)), [["a"], ["b"]]),
    "text": (np.array([["a", "b"]]), ["a"]),
    "complex": (np.array([[1j]]), ["a"]),
    "complex CSR": (sparse.csr_matrix([[1j]]), ["a"]),
    "some dicts": ([{"a": 1}, [1]], ["a", "b"]),
    "mixed dicts": ([{"a": 1}, {1: 1}], ["a", "b"]),
    "no label": (np.ones((2, 2)), ["a", None]),
    "NaN as a label": (np.ones((2, 2)), np.array(["a", NAN], object)),
}


@pytest.mark.parametrize("what", BATCHES)
def test_batches(what, small):
    before = small.to_bytes()
    X, y = BATCHES[what]
    for call in (small.run, small.teach, lambda X, y: hunch.run("banditron", X, y, classes=["a", "b", "c"])):
        if what == "1-D" and call == small.teach:
            continue
        with pytest.raises(ValueError):
            call(X, y)
        assert small.to_bytes() == before


def damaged(index=None, indptr=None):
    matrix = sparse.csr_matrix(np.ones((3, 3), np.float32))
    if index is not None:
        matrix.indices[1] = index
    if indptr is not None:
        matrix.indptr[1] = indptr
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


@pytest.mark.parametrize("kind", [{"index": -1}, {"index": 0}, {"index": 2**27}, {"indptr": -5}, {"indptr": 8}])
def test_damaged_csr(kind, small):
    """Matrices that lie about themselves must not crash."""
    with pytest.raises(ValueError):
        hunch.run("banditron", damaged(**kind), [0, 1, 2])


def test_a_bad_row_is_named():
    X = np.ones((5000, 2), np.float32)
    X[4321, 1] = 1e20
    with pytest.raises(ValueError, match="row 4321"):
        hunch.run("banditron", X, np.arange(5000) % 2)


def test_max_features():
    learner = hunch.Learner("banditron", 2, max_features=3)
    before = learner.to_bytes()
    for call in (
        lambda: learner.predict([1, 2, 3, 4]),
        lambda: learner.run(np.ones((2, 4)), [0, 1]),
        lambda: learner.predict({"a": 1, "b": 1, "c": 1, "d": 1}),
    ):
        with pytest.raises(ValueError, match="limit|more than"):
            call()
        assert learner.to_bytes() == before


SETTINGS = {
    "unknown learner": lambda: hunch.Learner("nobody"),
    "unknown setting": lambda: hunch.Learner("banditron", 2, gama=1),
    "out of bounds": lambda: hunch.Learner("banditron", 2, gamma=7),
    "not a number": lambda: hunch.Learner("banditron", 2, gamma="x"),
    "a list": lambda: hunch.Learner("banditron", 2, gamma=[1]),
    "nan": lambda: hunch.Learner("banditron", 2, gamma=NAN),
    "smuggled": lambda: hunch.Learner("banditron", 2, gamma="0.1,ties=random"),
    "nul": lambda: hunch.Learner("banditron\0x"),
    "number": lambda: hunch.Learner(3),
    "no classes": lambda: hunch.Learner("banditron", 0),
    "no labels": lambda: hunch.Learner("banditron", []),
    "negative classes": lambda: hunch.Learner("banditron", -1),
    "too many classes": lambda: hunch.Learner("banditron", 2**40),
    "classes as text": lambda: hunch.Learner("banditron", "abc"),
    "half a class": lambda: hunch.Learner("banditron", 2.5),
    "a label twice": lambda: hunch.Learner("banditron", ["a", "a"]),
    "text twice": lambda: hunch.Learner("banditron", ["1", 1]),
    "empty label": lambda: hunch.Learner("banditron", ["", "a"]),
    "float labels": lambda: hunch.Learner("banditron", [0.5, 1.5]),
    "negative seed": lambda: hunch.Learner("banditron", 2, seed=-1),
    "large seed": lambda: hunch.Learner("banditron", 2, seed=2**64),
    "run: no labels": lambda: hunch.run("banditron", np.ones((2, 2))),
    "run: float labels": lambda: hunch.run("banditron", np.ones((2, 2)), [0.5, 1.0]),
    "run: labels beyond": lambda: hunch.run("banditron", np.ones((2, 2)), [0, 5], classes=3),
    "describe": lambda: hunch.describe("nobody"),
}


@pytest.mark.parametrize("what", SETTINGS)
def test_settings(what):
    with pytest.raises(ValueError) as caught:
        SETTINGS[what]()
    assert str(caught.value)


def test_unknown_label(small):
    before = small.to_bytes()
    for label in ("z", 0, None, 1.5):
        with pytest.raises(ValueError):
            small.teach([1, 2], label)
    with pytest.raises(ValueError):
        hunch.Learner("banditron", 3).teach([1], 3)
    assert small.to_bytes() == before


def test_foreign_choices(small):
    before = small.to_bytes()
    other = hunch.Learner("banditron", classes=["b", "a", "c", "d"], seed=1, gamma=0.9)
    foreign = [other.predict([1, 2, 3, 4]) for _ in range(60)]
    for choice in foreign[-10:]:  # rounds that this learner has not played, or labels it numbers differently
        with pytest.raises(ValueError):
            small.feedback(choice, True)
    with pytest.raises(ValueError, match="made by"):
        small.feedback(hunch.Learner("confidit", ["a", "b", "c"]).predict([1, 2, 3, 4]), True)
    for what in (None, 3, {}, ("a", 1)):
        with pytest.raises(ValueError):
            small.feedback(what, True)
    choice = copy.deepcopy(small).predict([1, 2, 3, 4])  # the twin's next round
    with pytest.raises(ValueError, match="round"):
        small.feedback(choice, True)
    assert small.to_bytes() == before


@pytest.mark.parametrize("right", [None, 2, "yes", 0.5, [True]])
def test_right_is_a_bit(right, small):
    choice = small.predict([1, 2, 3, 4])
    before = small.to_bytes()
    with pytest.raises(ValueError):
        small.feedback(choice, right)
    assert small.to_bytes() == before


@pytest.mark.parametrize(
    "change",
    [
        {"prob": 0},
        {"prob": 2},
        {"prob": "x"},
        {"round": 0},
        {"round": 10**6},
        {"label_number": 99},
        {"label_number": -1},
        {"note": 2**32},
        {"x": "text"},
        {"x": [[1]]},
        {"label": "zzz"},
        {"greedy": None},
    ],
)
def test_forged_choices(change, small):
    plain = small.predict([1, 2, 3, 4]).to_dict()
    before = small.to_bytes()
    with pytest.raises(ValueError):
        small.feedback(hunch.Choice.from_dict({**plain, **change}), True)
    assert small.to_bytes() == before


@pytest.mark.parametrize("text", ["[]", "{}", "3", '{"round": 1}', "not json"])
def test_not_a_choice(text):
    with pytest.raises(ValueError):
        hunch.Choice.from_json(text)


def test_model_errors(tmp_path, small):
    good = small.to_bytes()
    for bad in (b"", b"x" * 100, good[:-3], good[:50] + b"\xff" + good[51:]):
        with pytest.raises(hunch.ModelError):
            hunch.Learner.from_bytes(bad)
        (tmp_path / "bad").write_bytes(bad)
        with pytest.raises(hunch.ModelError):
            hunch.load(tmp_path / "bad")
    with pytest.raises(hunch.ModelError) as caught:
        hunch.load(tmp_path / "missing")
    assert isinstance(caught.value, (OSError, ValueError)) and "missing" in str(caught.value)
    with pytest.raises(OSError):
        small.save(tmp_path / "no" / "such" / "folder")
    with pytest.raises(TypeError):
        hunch.load(3)


def test_core_checks_arrays():
    """The extension itself never trusts what it is given."""
    core = hunch.Learner("banditron", 2)._core
    f = np.ones(4, np.float32)
    for index, value in ((None, f.astype(np.float64)), (None, f[::2]), (f, f), (np.arange(3, dtype=np.uint32), f)):
        with pytest.raises(ValueError):
            core.predict((index, value))
    for x in ((None, [1.0]), (None,), ({"a": 1.0}, [], 5), ([], {}, 5), ({"a": 1.0}, {}, 0, 1, 2)):
        with pytest.raises((AttributeError, TypeError, ValueError)):
            core.predict(x)
    assert core.predict(({"a": object()}, {}, 5)) is NotImplemented
    names = {}
    assert core.predict(({"a": 1.0, "b": float("inf")}, names, 5)) is NotImplemented  # a missing value
    assert names == {}
    labels, none = np.zeros(2, np.uint32), (None,) * 7
    start = np.array([0, 2, 9], np.int64)
    rows = (2, start, np.arange(4, dtype=np.uint32), f)
    frozen = np.zeros(2, np.uint32)
    frozen.flags.writeable = False
    for rows, labels, choices in (
        (rows, labels, none),
        ((2, None, None, f), labels, (labels[:1], *none[1:])),
        ((2, None, None, f), labels, (frozen, *none[1:])),
        ((2, None, None, f), None, none),
        ((3, None, None, f), labels, none),
    ):
        with pytest.raises(ValueError):
            core.run(rows, labels, choices)
    with pytest.raises(ValueError):
        core.feedback_batch((2, None, None, f), none, np.zeros(2, np.uint8))


@pytest.mark.parametrize("missing", [None, NAN])
def test_missing_labels_are_named(missing, small):
    for y in (["a", missing, "b"], np.array(["a", missing, "b"], object)):
        with pytest.raises(ValueError, match="row 1: the label is missing"):
            hunch.run("banditron", np.ones((3, 4)), np.array(y, object))
        with pytest.raises(ValueError, match="row 1: the label is missing"):
            small.teach(np.ones((3, 4)), np.array(y, object))
    with pytest.raises(ValueError, match="row 2: the label is missing"):
        hunch.run("banditron", np.ones((3, 4)), [0.0, 1.0, NAN])


@pytest.mark.parametrize(
    "call, meant",
    [
        (lambda: hunch.Learner("bandtron"), "banditron"),
        (lambda: hunch.Learner("banditron", gama=1), "gamma"),
        (lambda: hunch.Learner("banditron:gama=1"), "gamma"),
        (lambda: hunch.describe("confidt"), "confidit"),
        (lambda: hunch.Learner("banditron", ["sport", "law"]).teach([1], "sports"), "sport"),
        (lambda: hunch.run("confidt", np.ones((2, 2)), [0, 1]), "confidit"),
        (lambda: hunch.run("banditron", np.ones((2, 2)), ["sport", "low"], classes=["sport", "law"]), "law"),
    ],
)
def test_did_you_mean(call, meant):
    with pytest.raises(ValueError, match=f"did you mean '{meant}'"):
        call()


@pytest.mark.parametrize(
    "value, names",
    [
        (None, []),
        ("", []),
        ("  ", []),
        (float("nan"), ["age=missing"]),
        (float("-inf"), ["age=missing"]),
        (np.float32("nan"), ["age=missing"]),
        (np.datetime64("NaT"), ["age=missing"]),
        (datetime.date(2024, 1, 1), ["age", "age.weekday=mon"]),
        (datetime.datetime(2024, 1, 1, 10), ["age", "age.weekday=mon", "age.hour=10"]),
    ],
)
def test_missing_values_are_those_of_tables(value, names):
    learner = hunch.Learner("banditron", ["a", "b"])
    learner.predict({"x": 1.0, "age": value})
    assert learner.feature_names == ["x", *names]


def test_missing_values_of_frames_are_those_of_dicts():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "age": [1.0, np.nan, 3.0],
            "colour": ["red", None, " "],
            "when": [pandas.Timestamp("2024-01-01"), pandas.NaT, pandas.Timestamp("2024-01-02 10:00")],
        }
    )
    by_frame, by_dicts = (hunch.Learner("banditron", ["a", "b"]) for _ in range(2))
    by_frame.predict_many(frame)
    by_dicts.predict_many([{**row, "colour": colour} for row, colour in zip(frame.to_dict("records"), ["red", None, " "])])
    assert by_frame.feature_names == by_dicts.feature_names
    assert "age=missing" in by_frame.feature_names and "when=missing" in by_frame.feature_names


@pytest.mark.parametrize("gap", [None, NAN, float("inf")])
def test_missing_numbers_of_dense_rows(gap):
    """Number j of d is 0 where it is missing, and feature d + j is 1: alone, in lists, in arrays and in frames."""
    learner = hunch.Learner("banditron", 2)
    assert learner.predict([5, gap, 7]).to_dict()["x"] == [[0, 5.0], [1, 0.0], [2, 7.0], [4, 1.0]]
    assert learner.predict([5, 6, 7]).to_dict()["x"] == [5.0, 6.0, 7.0]
    filled = np.array([[5, 6, 7, 0, 0, 0], [5, 0, 7, 0, 1, 0], [0, 8, 9, 1, 0, 0]], float)
    rows = [[5, 6, 7], [5, gap, 7], [gap, 8, 9]]
    frame = pytest.importorskip("pandas").DataFrame(np.array(rows, float))
    for X in (rows, np.array(rows, object), np.array(rows, float), frame):
        one, other = (hunch.run("confidit", data, [0, 1, 0], choices=True) for data in (X, sparse.csr_matrix(filled)))
        assert one.right.tolist() == other.right.tolist()
        assert np.allclose(one.learner.scores(filled), other.learner.scores(filled))


def test_missing_numbers_are_learned_from():
    rng = np.random.default_rng(1)
    X = rng.random((1000, 3))
    X[rng.random(X.shape) < 0.3] = NAN
    y = np.isnan(X[:, 1]).astype(float)  # labels as NumPy reads them from a file
    result = hunch.run(None, X, y)
    assert result.error < 0.05 and result.labels == [0, 1]


def test_columns_of_numbers_and_texts():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [12, "unknown", None, 2.5, " "]}, dtype=object)
    one, other = (hunch.run("banditron", x, [0, 1, 0, 1, 0]) for x in (frame, frame.to_dict("records")))
    assert one.learner.feature_names == other.learner.feature_names == ["age", "age=unknown"]
    with pytest.raises(ValueError, match=r"column 'age' holds neither numbers nor text: \[1\]"):
        hunch.run("banditron", pandas.DataFrame({"age": [[1], [2]]}), [0, 1])


def test_numbers_beyond_float32_are_missing():
    """In dicts and frames, as in tables; numbers that are too large for the library are refused by name."""
    import pandas

    for value in (10**400, 1e39, -1e300, float("inf")):
        for row in ({"a": value, "b": 1.0}, {"a": value}):
            assert dict(hunch.Learner("banditron", 2).predict(row).x)["a=missing"] == 1
        frame = pandas.DataFrame({"a": [1.0, min(value, 1e300), 2, 3]})
        assert hunch.run("banditron", frame, [0, 1, 1, 0]).learner.feature_names == ["a", "a=missing"]
    with pytest.raises(ValueError, match="too large"):
        hunch.run("banditron", [[1, 10**400], [2, None]], [0, 1])
    with pytest.raises(ValueError, match="feature 'a': 1e\\+20 is larger than"):
        hunch.Learner("banditron", 2).predict({"a": 10**20})
    with pytest.raises(ValueError, match="row 1, 'b': "):
        hunch.run("banditron", pandas.DataFrame({"a": [1, 2], "b": [1, 2**60]}), [0, 1])
    with pytest.raises(ValueError, match="same name, 'a'"):
        hunch.run("banditron", pandas.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), [0, 1])
