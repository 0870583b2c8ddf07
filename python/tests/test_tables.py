# SPDX-License-Identifier: BSD-3-Clause
"""Tables by the rules, and to the bytes, of the hunch command; data frames by their types."""

import gzip
import json
import random
import subprocess

import numpy as np
import pytest

import hunch

pytest.importorskip("hunch._stream", reason="this build reads no tables")

TOPICS = {"billing": "invoice refund charge card", "tech": "crash error login bug", "sales": "price offer demo quote"}


@pytest.fixture(scope="module")
def tickets(tmp_path_factory):
    """Support tickets: an id, a text, a category, a number with gaps, a date, and the team that solved them."""
    rng = random.Random(1)
    lines = ["id,subject,channel,age,opened,team"]
    for i in range(600):
        team = rng.choice(list(TOPICS))
        words = [
            rng.choice(TOPICS[team].split() if rng.random() < 0.5 else ["please", "help", "the", "my"])
            for _ in range(7)
        ]
        age = "" if i % 9 == 0 else f"{rng.gauss(3, 1):.2f}"
        lines.append(
            f"T{1000 + i},{' '.join(words)},{rng.choice(['web', 'mail'])},{age},2026-0{1 + i % 9}-1{i % 9},{team}"
        )
    path = tmp_path_factory.mktemp("tickets") / "tickets.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def command(tool, *arguments):
    done = subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.filterwarnings("ignore::hunch.TableWarning")
def test_the_tools_rules_and_bytes(tool, tickets, tmp_path):
    for more, options in (
        ([], {}),
        (["--text", "channel", "--ignore", "age,opened"], {"text": ["channel"], "ignore": "age,opened"}),
    ):
        saved = tmp_path / "model.hunch"
        command(tool, "run", "-q", "-l", "confident", "-s", 11, "--label", "team", *more, "--save", saved, tickets)
        table = hunch.read_csv(tickets, label="team", **options)
        result = hunch.run("confident", table, seed=11)
        assert result.learner.to_bytes() == saved.read_bytes()
        assert result.error < 0.5 and sorted(table.classes) == sorted(TOPICS)
        roles = {column["name"]: column["role"] for column in table.schema["columns"]}
        assert roles["subject"] == "text" and roles["id"] == "ignore" and roles["team"] == "label"
        assert hunch.load(saved).schema == table.schema


@pytest.mark.filterwarnings("ignore::hunch.TableWarning")
def test_a_model_reads_what_it_learned_from(tool, tickets, tmp_path):
    """New rows without the label, columns in another order: the same answers as the tool's."""
    learner = hunch.run("confident", hunch.read_csv(tickets, label="team")).learner
    learner.save(tmp_path / "model.hunch")
    (tmp_path / "new.csv").write_text("channel,subject\nweb,please refund my invoice\nmail,the login error\n")
    theirs = command(tool, "predict", tmp_path / "model.hunch", tmp_path / "new.csv").split()
    rows = learner.rows(tmp_path / "new.csv")
    assert rows.y.tolist() == [-1, -1] and learner.greedy(rows).tolist() == theirs == ["billing", "tech"]
    choices = learner.predict_many(rows)
    assert learner.feedback_many(choices, [True, True]) == 2
    with pytest.raises(ValueError, match="row 0: the label is missing"):
        hunch.run("banditron", rows)


@pytest.mark.filterwarnings("ignore::hunch.TableWarning")
def test_frames_have_schemas(tickets, tmp_path):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.read_csv(tickets)
    learner = hunch.Learner.from_frame(frame, "team", "confident", seed=11)
    assert learner.rounds == 0 and sorted(learner.labels) == sorted(TOPICS)
    roles = {column["name"]: column["role"] for column in learner.schema["columns"]}
    assert roles == {
        "id": "ignore",
        "subject": "text",
        "channel": "category",
        "age": "number",
        "opened": "date",
        "team": "label",
    }
    result = learner.run(frame, frame["team"])
    assert result.mistakes == hunch.run("confident", hunch.read_csv(tickets, label="team"), seed=11).mistakes
    new = pandas.DataFrame({"subject": ["my invoice refund", "login error"], "channel": ["web", "mail"]})
    assert learner.greedy(new).tolist() == ["billing", "tech"]
    frame["channel"] = frame["channel"].astype("category")
    frame["urgent"] = frame["age"] > 3
    roles = {c["name"]: c["role"] for c in hunch.Learner.from_frame(frame, "team", ignore="opened").schema["columns"]}
    assert roles["channel"] == "category" and roles["urgent"] == "number" and roles["opened"] == "ignore"
    polars = pytest.importorskip("polars", reason="polars is not installed")
    assert learner.greedy(polars.from_pandas(new)).tolist() == ["billing", "tech"]


def test_remarks_and_errors(tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b,label\n1,2,x\n1,2,y,7\n")
    with pytest.raises(ValueError, match="bad.csv:3"):
        hunch.read_csv(bad)
    table = hunch.read_csv(bad, skip_bad_rows=True)
    assert table.skipped == 1 and len(table) == 1
    with pytest.raises((ValueError, OSError), match="missing.csv"):
        hunch.read_csv(tmp_path / "missing.csv")
    with pytest.raises(ValueError, match="no format"):
        hunch.read_csv(bad, format="xls")
    with pytest.raises(ValueError):
        hunch.read_csv(bad, schema={"not": "a schema"})


def test_other_formats(tmp_path):
    rows = [{"label": "a", "x": {"n": 1.5, "colour": "red"}}, {"label": "b", "x": {"n": 2.0}}] * 5
    (tmp_path / "rows.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode() + b"\n"))
    table = hunch.read_csv(tmp_path / "rows.jsonl.gz")
    assert table.feature_names == ["n", "colour=red"] and table.classes == ["a", "b"] and len(table) == 10
    (tmp_path / "semi.csv").write_text("a;b;label\n" + "1,5;2;x\n2,5;3;y\n" * 5)
    table = hunch.read_csv(tmp_path / "semi.csv", label="label")
    assert table.X.shape[0] == 10 and np.isclose(table.X[0].max(), 2)
    (tmp_path / "numbers.svm").write_text("x 1:0.5 3:1\ny 2:1\n")
    table = hunch.read_csv(tmp_path / "numbers.svm")
    assert table.feature_names is None and table.index_base == 1 and hunch.run("banditron", table).rounds == 2


def test_text_columns_are_text_for_learners(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"w{i * 7919 % 12} x{i % 3},c{i % 4},k{i * 7919 % 12}" for i in range(1200)]
    path.write_text("note,colour,kind\n" + "\n".join(rows) + "\n")
    table = hunch.read_csv(path, text="note", label="kind", ngrams=1)
    assert table.batch.roles is not None
    role = dict(zip(table.feature_names, table.batch.roles))
    assert role["note=w1"] == role["note=x1"] == 2 and role["colour=c1"] == 1
    told = hunch.run(None, table, seed=1)
    untold = hunch.run(None, table.X, table.y, seed=1)
    assert told.mistakes < untold.mistakes
    shuffled = table.batch.take(np.arange(1200)[::-1])
    assert shuffled.roles == table.batch.roles


@pytest.mark.filterwarnings("ignore::hunch.TableWarning")
@pytest.mark.parametrize("labels, kind", [([3, 1, 2], int), ([3.0, 1.0, 2.0], int), ([True, False], bool), (["x", "1"], str)])
def test_labels_of_frames_keep_their_type(labels, kind):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    rng = random.Random(2)
    frame = pandas.DataFrame({"age": [rng.randint(18, 80) for _ in range(200)], "y": [rng.choice(labels) for _ in range(200)]})
    learner = hunch.Learner.from_frame(frame, label="y")
    assert set(learner.labels) == set(labels) and all(type(label) is kind for label in learner.labels)
    assert learner.run(frame, frame["y"]).rounds == 200
    assert learner.rows(frame).y.tolist() == [learner.labels.index(label) for label in frame["y"].tolist()]
    assert hunch.Learner.from_bytes(learner.to_bytes()).labels == learner.labels


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="none.csv"):
        hunch.read_csv(tmp_path / "none.csv")


def test_a_build_without_the_reader_says_so(monkeypatch):
    monkeypatch.setattr(hunch._tables, "_why", "it was made without the reader, as wheels are")
    with pytest.raises(ImportError, match="cannot read tables .*wheels.*from source.*data frame"):
        hunch.read_csv("tickets.csv")


@pytest.mark.filterwarnings("ignore::hunch.TableWarning")
def test_texts_by_the_schema_of_a_model(tickets):
    learner = hunch.run(None, hunch.read_csv(tickets, label="team", ignore="id,channel,age,opened")).learner
    texts = ["please refund my invoice", None, 'the "login, error']
    assert learner.greedy(learner.rows(texts)).tolist()[::2] == ["billing", "tech"]
    both = hunch.run(None, hunch.read_csv(tickets, label="team", text="channel")).learner
    with pytest.raises(ValueError, match="one column of text; this model has 2"):
        both.rows(texts)
