# SPDX-License-Identifier: BSD-3-Clause
"""Progressive evaluation: the papers' counts, equal input in all forms, no copies, and the hunch command's numbers."""

import datetime
import json
import pathlib
import runpy
import subprocess
import warnings

import numpy as np
import pytest
from scipy import sparse

import hunch
from hunch import _inputs
from hunch._run import shuffled

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"

def same(a, b):
    return (
        (a.mistakes, a.greedy_mistakes, a.explored_rounds) == (b.mistakes, b.greedy_mistakes, b.explored_rounds)
        and a.learner.tensors == b.learner.tensors
        and all(np.array_equal(a.learner.tensor(t), b.learner.tensor(t)) for t in a.learner.tensors)
    )


def test_published_counts():
    """The authors' own code on these very rows: mistakes after 1000, 5000 and 20000 rounds (here the first two)."""
    data = hunch.datasets.synsep(20000, seed=1)
    rows = data.X[:5000], data.y[:5000]
    for spec, counts in {"banditron:gamma=2^-8": (690, 3483), "soba:gamma=2^-6": (808, 2896)}.items():
        result = hunch.run(spec, *rows, seed=101, curve=[1000, 5000])
        assert (result.curve.error * result.curve.rounds).round().astype(int).tolist() == list(counts)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int8, np.bool_, np.float16, ">f4"])
def test_number_types(dtype, data, dense):
    reference = hunch.run("confidit", dense, data.y)
    assert same(hunch.run("confidit", dense.astype(dtype), data.y), reference)
    if np.dtype(dtype).isnative and dtype != np.float16:
        assert same(hunch.run("confidit", data.X.astype(dtype), data.y), hunch.run("confidit", data.X, data.y))


def test_forms_of_matrices(data, dense):
    reference = hunch.run("banditron", data.X, data.y, seed=3)
    forms = [data.X.tocsc(), data.X.tocoo(), data.X.tolil(), sparse.csr_array(data.X)]
    wide = sparse.csr_matrix(data.X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    records = [{int(i): float(v) for i, v in zip(row.indices, row.data)} for row in data.X]
    for form in (*forms, wide, records):
        assert same(hunch.run("banditron", form, data.y, seed=3), reference)
    reference = hunch.run("banditron", dense, data.y, seed=3)
    for form in (np.asfortranarray(dense), dense.tolist(), np.ascontiguousarray(dense[::-1])[::-1]):
        assert same(hunch.run("banditron", form, data.y, seed=3), reference)


def test_dense_and_sparse_agree(spec):
    """Rows without zeros are the same rows in both forms, to the last bit."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(400, 12)).astype(np.float32)
    y = (X[:, :3]).argmax(axis=1)
    a, b = (hunch.run(spec, form, y, seed=3, choices=True) for form in (X, sparse.csr_matrix(X)))
    assert np.array_equal(np.asarray(a.choices), np.asarray(b.choices)) and a.learner.to_bytes() == b.learner.to_bytes()


def test_unsorted_and_duplicate_entries(data):
    X = sparse.csr_matrix(data.X[:50].toarray())
    messy = sparse.csr_matrix(
        (np.concatenate([X.data / 2, X.data / 2]), np.concatenate([X.indices[::-1], X.indices[::-1]]), X.indptr * 2),
        shape=X.shape,
    )
    parts = []
    for i in range(50):
        row = slice(X.indptr[i], X.indptr[i + 1])
        parts.append((np.tile(X.indices[row][::-1], 2), np.tile(X.data[row][::-1] / 2, 2)))
    messy = sparse.csr_matrix(
        (np.concatenate([v for _, v in parts]), np.concatenate([i for i, _ in parts]), X.indptr * 2), shape=X.shape
    )
    before = messy.indices.copy()
    assert same(hunch.run("banditron", messy, data.y[:50]), hunch.run("banditron", X, data.y[:50]))
    assert np.array_equal(messy.indices, before)  # what was given stays as it was


def test_no_copies(data, dense):
    value = np.ascontiguousarray(dense, np.float32)
    assert np.shares_memory(_inputs.batch_of(value).value, value)
    assert np.shares_memory(_inputs.row_of(value[0]).value, value)
    for index_type in (np.int32, np.int64):
        X = sparse.csr_matrix(data.X)
        X.indices, X.indptr = X.indices.astype(index_type), X.indptr.astype(index_type)
        batch = _inputs.batch_of(X)
        assert np.shares_memory(batch.value, X.data)
        assert np.shares_memory(batch.index, X.indices) == (index_type is np.int32)
        assert np.shares_memory(batch.start, X.indptr) == (index_type is np.int64)
    frozen = value.copy()
    frozen.flags.writeable = False
    assert np.shares_memory(_inputs.batch_of(frozen).value, frozen)
    hunch.run("banditron", frozen, data.y)


def test_records_and_names():
    rows = [{"a": 1, "colour": "red"}, {"b": 2}, {"colour": "blue", "b": 1}] * 10
    result = hunch.run("banditron", rows, ["x", "y", "z"] * 10)
    assert result.learner.feature_names == ["a", "colour=red", "b", "colour=blue"]
    one = hunch.Learner("banditron", ["x", "y", "z"], features=4)
    for row, label in zip(rows, ["x", "y", "z"] * 10):
        choice = one.predict(row)
        one.feedback(choice, choice.label == label)
    assert one.to_bytes() == result.learner.to_bytes()


def test_data_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2, 3], "colour": ["red", "blue", "red"]})
    result = hunch.run("banditron", frame, ["x", "y", "x"])
    assert result.learner.feature_names == ["a", "colour=red", "colour=blue"]
    learner = hunch.Learner("banditron", 2)
    learner.predict(frame.iloc[0])
    assert learner.feature_names == ["a", "colour=red"]


def test_labels_are_numbered_like_the_commands():
    def names(y, **options):
        return hunch.run("banditron", np.ones((len(y), 1)), y, **options).learner.labels

    assert names(["b", "a"]) == ["b", "a"]
    assert names(["10", "9"]) == ["9", "10"]
    assert names([30, 4, 30]) == [4, 30]
    assert names(np.array([True, False])) == [0, 1]
    assert names(["b", "a"], classes=["b", "c", "a"]) == ["b", "c", "a"]
    assert names([1, 0], classes=["no", "yes"]) == ["no", "yes"]
    assert names([1, 0], classes=5) == [0, 1, 2, 3, 4]


def test_results(data):
    result = hunch.run("banditron:gamma=0.2", data, seed=2, choices=True)
    wrong = result.choices["label"] != np.asarray(data.classes)[data.y]
    assert np.array_equal(result.right, ~wrong) and result.labels == data.classes
    assert result.rounds == 1500 and result.mistakes == wrong.sum() and result.error == wrong.mean()
    assert result.explored == (result.choices["label"] != result.choices["greedy"]).mean()
    assert result.curve.rounds[-1] == 1500 and result.curve.error[-1] == result.error
    at = result.curve.rounds[40]
    assert result.curve.error[40] == wrong[:at].mean()
    assert result.learner.rounds == 1500 and result.seconds > 0
    assert "banditron" in str(result) and "error" in str(result)
    assert hunch.run("banditron", data, curve=False).curve is None
    assert len(hunch.run("banditron", data, curve=10).curve.rounds) <= 10
    assert result.choices["prob"].min() > 0 and result.choices["round"].tolist() == list(range(1, 1501))


def test_several_specs(data):
    specs = ["banditron:gamma=0.1", "confidit", None]
    alone = [hunch.run(spec, data) for spec in specs]
    for jobs in (1, 3):
        assert all(same(a, b) for a, b in zip(hunch.run(specs, data, jobs=jobs), alone))
    named = hunch.run({"one": specs[0], "two": specs[1]}, data, jobs=2)
    assert list(named) == ["one", "two"] and same(named["two"], alone[1])


def test_shuffle(data):
    order = shuffled(1500, 7)
    assert sorted(order) == list(range(1500)) and not np.array_equal(order, shuffled(1500, 8))
    by_hand = hunch.run("banditron", data.X[order], data.y[order], seed=7, classes=9)
    assert same(hunch.run("banditron", data, seed=7, shuffle=True), by_hand)
    dense = data.X.toarray()
    assert same(hunch.run("banditron", dense, data.y, shuffle=7), hunch.run("banditron", dense[order], data.y[order]))
    assert [len(shuffled(n, 1)) for n in (0, 1, 2)] == [0, 1, 2]


def test_going_on(data):
    whole = hunch.run("confident", data, seed=1).learner
    parts = hunch.Learner("confident", data.classes, seed=1, features=400)
    names = np.asarray(data.classes)
    first = parts.run(data.X[:700], names[data.y[:700]])
    second = parts.run(data.X[700:], names[data.y[700:]])
    assert first.rounds == 700 and second.rounds == 800
    assert np.array_equal(parts.tensor("W"), whole.tensor("W")) if "W" in whole.tensors else True


def test_empty():
    result = hunch.Learner("banditron", 2).run(np.empty((0, 3)), np.empty(0, int))
    assert result.rounds == 0 and np.isnan(result.error)
    hunch.Learner("banditron", 2).predict([])
    hunch.Learner("banditron", 2).predict({})


def test_sweep(data):
    swept = hunch.sweep("banditron", data, gamma=[0.05, 0.9], ties=["first", "random"], seeds=[1, 2, 3], jobs=2)
    assert len(swept.points) == 4 and [len(group) for group in swept.results] == [3] * 4
    assert swept.best["gamma"] == 0.05
    assert same(swept.results[0][1], hunch.run("banditron", data, gamma=0.05, seed=2))


def test_sweep_on_a_cluster(data):
    """joblib's backend does the work: here Dask's, in processes of their own."""
    joblib = pytest.importorskip("joblib", reason="joblib is not installed")
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    alone = hunch.sweep("banditron", data, gamma=[0.05, 0.5], seeds=[1, 2], shuffle=True)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster), joblib.parallel_config(backend="dask"):
            spread = hunch.sweep("banditron", data, gamma=[0.05, 0.5], seeds=[1, 2], shuffle=True, jobs=-1)
    assert spread.points == alone.points
    assert all(same(a, b) for x, y in zip(spread.results, alone.results) for a, b in zip(x, y))


def test_models_of_parts_are_merged_on_a_cluster(tmp_path):
    """examples/merge_dask.py: parts of a log in Parquet, learned from in two processes, give the model of one pass."""
    joblib = pytest.importorskip("joblib", reason="joblib is not installed")
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    pytest.importorskip("pyarrow", reason="Arrow is not installed")
    example = runpy.run_path(str(EXAMPLES / "merge_dask.py"))
    paths = example["write_log"](tmp_path, parts=5, rows=300)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster), joblib.parallel_config(backend="dask"):
            merged = example["learn_together"](example["SPEC"], paths)
    alone = example["learn"](example["SPEC"], merged.feature_names, *paths)
    frame, _ = example["visitors"](500, seed=9)
    assert merged.rounds == alone.rounds == 1500 and "age=missing" in merged.feature_names
    assert np.allclose(merged.scores(frame), alone.scores(frame), atol=1e-4)


# --- the hunch command ---


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    data = hunch.datasets.synnonsep(3000, seed=4)
    lines = []
    for i, label in enumerate(data.y):
        row = data.X[i]
        lines.append(f"{data.classes[label]} " + " ".join(f"{j + 1}:{v:g}" for j, v in zip(row.indices, row.data)))
    path = folder / "data.svm"
    path.write_text("\n".join(lines) + "\n")
    return folder, path, data


def command(tool, *arguments):
    done = subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_tool_numbers_and_models(spec, tool, files):
    folder, path, data = files
    saved = folder / f"{spec}.hunch"
    printed = command(tool, "run", "--json", "-q", "-l", spec, "-s", 11, "--save", saved, path)
    (row,) = json.loads(printed)
    for given in (hunch.datasets.load_svmlight(path), data):
        result = hunch.run(spec, given, seed=11)
        assert (result.mistakes, result.greedy_error, result.explored) == (
            row["mistakes"],
            pytest.approx(row["greedy_error"], abs=1e-15),
            pytest.approx(row["explored"], abs=1e-15),
        )
        assert result.learner.to_bytes() == saved.read_bytes()
    loaded = hunch.load(saved)
    assert loaded.labels == data.classes and loaded.rounds == 3000


def test_tool_shuffles_alike(tool, files):
    _, path, data = files
    printed = command(tool, "run", "--json", "-q", "-l", "banditron", "-s", 5, "--runs", 3, path)
    counts = [hunch.run("banditron", data, seed=seed, shuffle=True).mistakes for seed in (5, 6, 7)]
    assert json.loads(printed)[0]["run_mistakes"] == counts


def test_tool_curves_alike(tool, files):
    folder, path, data = files
    command(tool, "run", "-q", "-l", "banditron", "-s", 5, "--curve", folder / "curve", path)
    rows = [line.split("\t") for line in (folder / "curve").read_text().splitlines()[1:]]
    curve = hunch.run("banditron", data, seed=5).curve
    assert [int(row[2]) for row in rows] == curve.rounds.tolist()
    assert [int(row[3]) for row in rows] == (curve.error * curve.rounds).round().astype(int).tolist()


def test_tool_goes_on_with_our_model(tool, files):
    folder, path, data = files
    learner = hunch.run("banditron", data, seed=5).learner
    learner.save(folder / "ours.hunch")
    command(tool, "run", "-q", "--load", folder / "ours.hunch", "--save", folder / "theirs.hunch", path)
    learner.run(data.X, np.asarray(data.classes)[data.y])
    assert (folder / "theirs.hunch").read_bytes() == learner.to_bytes()


def test_tool_makes_the_same_sets(tool, tmp_path):
    for name, make in {"synsep": hunch.datasets.synsep, "synnonsep": hunch.datasets.synnonsep}.items():
        path = tmp_path / f"{name}.svm"
        path.write_text(command(tool, "synth", name, "--rows", 2000, "--seed", 6))
        theirs, ours = hunch.datasets.load_svmlight(path), make(2000, seed=6)
        assert theirs.classes == ours.classes and np.array_equal(theirs.y, ours.y)
        assert (theirs.X != ours.X).nnz == 0


# --- labels everywhere ---


def test_results_speak_labels():
    """The documented recipe with labels that are not 0 .. K-1: numbers and labels must not be taken for each other."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(3000, 4)).astype(np.float32)
    for names in (["b", "c", "a", "d"], [40, 10, 30, 20], [3, 2, 1, 0], [True, False, True, False]):
        y = np.asarray(names)[X.argmax(axis=1)]
        result = hunch.run("banditron:gamma=0.4", X, y, choices=True)
        shown = result.choices["label"]
        assert set(shown) <= set(names) and np.array_equal(shown == y, result.right)
        assert (~result.right).mean() == result.error
        assert np.array_equal(np.asarray(result.labels)[result.choices["label_number"]], shown)
        policy = result.learner.greedy(X)
        made = hunch.off_policy.snips(shown, result.right, result.choices["prob"], policy)
        assert abs(made.value - np.mean(policy == y)) < 0.1
        one = result.choices[5]
        assert one.label == shown[5] and one.prob == result.choices["prob"][5] and len(result.choices[:7]) == 7
        with pytest.raises(KeyError):
            result.choices["lable"]


def test_truth_values_stay_truth_values():
    learner = hunch.Learner("banditron", [False, True])
    assert learner.predict([1]).label is False and hunch.Learner.from_bytes(learner.to_bytes()).labels == [False, True]
    assert hunch.run("banditron", np.ones((4, 1)), [True, False, True, True]).labels == [False, True]
    with pytest.raises(ValueError, match="twice"):
        hunch.Learner("banditron", [True, 1])


def test_collections_as_classes():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    for classes in (pandas.Index(["a", "b"]), pandas.Series(["a", "b"], index=[7, 3]), dict(a=1, b=2)):
        assert hunch.Learner("banditron", classes).labels == ["a", "b"]


def test_sets_and_others_as_classes():
    assert hunch.Learner("banditron", {"b", "a"}).labels == ["a", "b"]
    assert hunch.Learner("banditron", {10, 9}).labels == [9, 10]
    assert hunch.Learner("banditron", dict(a=1, b=2).keys()).labels == ["a", "b"]
    assert hunch.Learner("banditron", (label for label in "ab")).labels == ["a", "b"]
    assert hunch.Learner("banditron", np.array(["a", "b"])).labels == ["a", "b"]


def test_a_learner_goes_on(data):
    whole, learner = hunch.run("banditron", data), hunch.Learner("banditron", data.classes, features=400)
    names = np.asarray(data.classes)[data.y]
    first = hunch.run(learner, data.X[:700], names[:700])
    second = hunch.run(learner, hunch.datasets.Dataset(data.X[700:], data.y[700:], data.classes))
    assert first.learner is learner and first.mistakes + second.mistakes == whole.mistakes
    for options in ({"gamma": 0.1}, {"classes": 9}, {"seed": 4}):
        with pytest.raises(ValueError, match="already"):
            hunch.run(learner, data, **options)


def test_text_labels_are_numbered_as_the_tool_does(tool, files):
    """In the order in which they come, in files and in memory; numbers by size."""
    folder, _, data = files
    names = np.array(["pear", "apple", "10", "fig", "2", "plum", "kiwi", "lime", "date"])
    lines = [f"{names[k]} " + " ".join(f"{j + 1}:1" for j in row.indices) for k, row in zip(data.y, data.X)]
    (folder / "text.svm").write_text("\n".join(lines) + "\n")
    command(tool, "run", "-q", "-l", "banditron:gamma=0.3", "--save", folder / "text.hunch", folder / "text.svm")
    read = hunch.run("banditron:gamma=0.3", hunch.datasets.load_svmlight(folder / "text.svm"))
    assert read.learner.to_bytes() == (folder / "text.hunch").read_bytes()
    assert hunch.run("banditron:gamma=0.3", data.X, names[data.y]).labels == read.labels


def test_the_default_seed_is_the_commands(tool, files):
    _, path, data = files
    (row,) = json.loads(command(tool, "run", "--json", "-q", "-l", "banditron", path))
    assert hunch.run("banditron", data).mistakes == row["mistakes"]


def test_progress_changes_nothing(data):
    assert same(hunch.run("confident", data, progress=True), hunch.run("confident", data))


def test_recent_error(data):
    result = hunch.run("banditron", data)
    recent = result.recent_error(100)
    assert recent[-1] == (~result.right[-100:]).mean() and recent[49] == (~result.right[:50]).mean()


# --- data frames ---


def mixed_frame(pandas, rows=400):
    rng = np.random.default_rng(4)
    colours = np.array(["red", "blue", "green"])[rng.integers(3, size=rows)]
    return pandas.DataFrame(
        {
            "age": rng.normal(size=rows),
            "colour": colours,
            "on": rng.random(rows) < 0.5,
            "size": pandas.Categorical(np.array(["s", "m"])[rng.integers(2, size=rows)]),
            "count": rng.integers(5, size=rows),
        }
    )


def test_frames_are_read_by_column():
    """The same learner, bit for bit, as from dicts."""
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = mixed_frame(pandas)
    y = frame["colour"].to_numpy()
    records = hunch.run("confident", frame.to_dict("records"), y)
    assert hunch.run("confident", frame, y).learner.to_bytes() == records.learner.to_bytes()
    numbers = frame[["age", "count"]]
    a = hunch.run("confident", numbers, y)
    assert a.learner.feature_names == ["age", "count"]
    assert a.mistakes == hunch.run("confident", numbers.to_numpy(), y).mistakes
    late = a.learner.scores(numbers[["count", "age"]])
    assert np.allclose(late, a.learner.scores(numbers), rtol=1e-5, atol=1e-6)
    gone = frame.copy()
    gone.loc[3, "colour"] = None
    assert hunch.run("banditron", gone, y).rounds == 400
    gone.loc[7, "age"] = np.nan
    dated = frame.assign(when=pandas.date_range("2024-01-01", periods=len(frame), freq="7h"))
    for table in gone, dated:  # missing numbers and times mean the same in a frame as in dicts
        # pandas 3 gives NaN for a missing text, which a dict takes for a number
        dicts = [{**row, "colour": c if isinstance(c := row["colour"], str) else None} for row in table.to_dict("records")]
        one, other = (hunch.run("confident", rows, y) for rows in (table, dicts))
        assert one.mistakes == other.mistakes and one.learner.feature_names == other.learner.feature_names
        assert np.allclose(one.learner.scores(table), other.learner.scores(table), rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="column 'since'"):
        hunch.run("banditron", frame.assign(since=pandas.Timedelta(1)), y)
    assert hunch.run("banditron", pandas.DataFrame(numbers.to_numpy()), y).learner.feature_names is None


def test_arrow_tables():
    """polars and pyarrow through Arrow's C stream: the same learner as from pandas."""
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = mixed_frame(pandas)
    y = frame["colour"].tolist()
    reference = hunch.run("confident", frame, y).learner.to_bytes()
    tables = []
    polars = pytest.importorskip("polars", reason="polars is not installed")
    tables.append(polars.from_pandas(frame).with_columns(polars.col("size").cast(polars.String)))
    tables.append(polars.from_pandas(frame).with_columns(polars.col("colour").cast(polars.Categorical)))
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    tables.append(pyarrow.Table.from_pandas(frame, preserve_index=False))
    tables.append(pyarrow.concat_tables([tables[-1][:150], tables[-1][150:]]))
    for table in tables:
        assert hunch.run("confident", table, y).learner.to_bytes() == reference
    long = pyarrow.table({"text": ["a text that is longer than twelve bytes", None, "short"], "n": [1.5, 2, 3]})
    learner = hunch.run("banditron", long, ["x", "y", "x"]).learner
    assert learner.feature_names == ["text=a text that is longer than twelve bytes", "n", "text=short"]
    gap = hunch.run("banditron", pyarrow.table({"n": [1.5, None]}), ["x", "y"]).learner
    assert gap.feature_names == ["n", "n=missing"]
    day, time = datetime.date(1969, 12, 31), datetime.datetime(2024, 1, 2, 3, 59, 59, 999999)
    dates = pandas.DataFrame({"day": [day, None], "time": pandas.to_datetime([time, None]), "kind": ["", "a"]})
    reference = hunch.run("banditron", dates, ["x", "y"]).learner
    assert "day.weekday=wed" in reference.feature_names and "time.hour=3" in reference.feature_names
    assert not {"kind=", "time.hour=4"} & set(reference.feature_names)
    for unit in ("s", "ms", "us", "ns"):
        times = pyarrow.array([time.replace(microsecond=0), None], pyarrow.timestamp(unit, "UTC"))
        table = pyarrow.table({"day": [day, None], "time": times, "kind": ["", "a"]})
        for form in (table, polars.from_arrow(table) if unit != "s" else table):
            assert hunch.run("banditron", form, ["x", "y"]).learner.to_bytes() == reference.to_bytes()
    for table in (pyarrow.table({"n": [[1.5], [2.0]]}), pyarrow.table({"n": times.cast(pyarrow.timestamp("s", "Asia/Tokyo"))})):
        with pytest.raises(ValueError, match="column 'n'"):
            hunch.run("banditron", table, ["x", "y"])


def test_generators():
    """Of rows and labels, or of both as pairs; the same as lists."""
    rows = [{"x": i % 3, "word": f"w{i % 2}"} for i in range(60)]
    labels = [["a", "b"][i % 2] for i in range(60)]
    expected = hunch.run("banditron", rows, labels).right.tolist()
    for x, y in (
        ((row for row in rows), (label for label in labels)),
        (iter(rows), labels),
        (zip(rows, labels), None),
        (list(zip(rows, labels)), None),
    ):
        assert hunch.run("banditron", x, y).right.tolist() == expected
    learner = hunch.Learner("banditron", ["a", "b"])
    assert hunch.run(learner, zip(rows, labels)).right.tolist() == expected
    with pytest.raises(ValueError, match="pairs"):
        hunch.run("banditron", (row for row in rows))


def test_results_become_frames(data):
    pytest.importorskip("pandas", reason="pandas is not installed")
    results = hunch.run(["banditron:gamma=0.1", "confidit"], *data)
    frame = results.to_frame()
    assert frame["learner"].tolist() == ["banditron:gamma=0.1", "confidit"]
    assert frame["error"].tolist() == [result.error for result in results]
    assert results[0].to_frame().equals(frame[:1])
    assert hunch.run({"one": "banditron"}, *data).to_frame()["name"].tolist() == ["one"]
    swept = hunch.sweep("banditron", *data, gamma=[0.1, 0.2], seeds=[1, 2]).to_frame()
    assert swept["gamma"].tolist() == [0.1, 0.1, 0.2, 0.2] and swept["seed"].tolist() == [1, 2, 1, 2]
    choices = hunch.Learner("banditron", ["a", "b"]).predict_many([[1.0], [2.0]])
    assert choices.to_frame()["label"].tolist() == choices["label"].tolist()


def test_settings_that_are_the_defaults_are_not_shown():
    assert repr(hunch.Learner()).startswith("Learner('panel', ")
    assert repr(hunch.Learner("banditron", gamma=0.1, bias=1)).startswith("Learner('banditron:gamma=0.1,bias=1', ")
    assert repr(hunch.run("panel:restart=3", [[1.0], [2.0]], [0, 1])).startswith("Result(panel:restart=3: error")
    spec = "panel:members=[champion=confident:r=0.3,map=auto;alternative=linucb],restart=3"
    assert repr(hunch.Learner(spec)).count("restart=3") == 1


def test_labels_among_the_columns_are_told():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame({"x": [0.5, 1.0, 2.0], "n": pandas.array([1, None, 1], dtype="Int64"), "team": ["a", "b", "a"]})
    with pytest.warns(hunch.TableWarning, match="'team' holds the labels themselves"):
        hunch.run("banditron", frame, frame["team"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hunch.run("banditron", frame.drop(columns="team"), frame["team"])
        hunch.run("banditron", frame.drop(columns="team"), [1, 0, 1])


def test_dates_as_objects():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    days = [datetime.date(2020, 1, 2), None, datetime.date(2020, 1, 4)]
    learner = hunch.run("banditron", pandas.DataFrame({"day": days}), [0, 1, 0]).learner
    dicts = hunch.run("banditron", [{"day": days[0]}, {"day": np.datetime64("NaT")}, {"day": days[2]}], [0, 1, 0]).learner
    assert sorted(learner.feature_names) == sorted(dicts.feature_names)
    assert learner.scores({"day": days[2]}).tolist() == dicts.scores({"day": days[2]}).tolist()


def test_labels_in_runs():
    """Sorted rows flatter: said once, and not of the same rows in a random order."""
    X, y = np.random.RandomState(1).rand(300, 2), np.repeat([0, 1, 2], 100)
    with pytest.warns(hunch.TableWarning, match="runs of 100.0 rows on average, 1.5 in a random order"):
        hunch.run("banditron", X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hunch.run("banditron", X, y, shuffle=True)
        hunch.run("banditron", X, np.arange(300) % 3)
        hunch.run("banditron", X[:1], [0], classes=2)
