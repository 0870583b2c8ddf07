# SPDX-License-Identifier: BSD-3-Clause
"""hunch sweep, cv and reproduce as a user runs them: results, figures, errors, and going on after being killed."""
import csv
import json
import os
import pathlib
import re
import signal
import subprocess
import time
import xml.etree.ElementTree

import pytest

HUNCH = os.environ["HUNCH"]
EXPERIMENTS = os.environ["HUNCH_EXPERIMENTS"]


def hunch(*arguments, code=0, **keywords):
    done = subprocess.run([HUNCH, *map(str, arguments)], capture_output=True, text=True, timeout=500, **keywords)
    assert done.returncode == code, done.stderr + done.stdout
    return done


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "syn.svm"
    hunch("synth", "synnonsep", "--rows", 3000, "-o", path)
    return path


GRIDS = ["-l", "banditron:gamma=2^-8..2^-2", "-l", "confidit:eta={0.1,1},project=clip,normalize=l2", "-l", "perceptron"]


def test_sweep_table_and_files(data, tmp_path):
    plots = tmp_path / "plots"
    out = hunch("sweep", data, *GRIDS, "--runs", 3, "--cache", tmp_path / "c", "--csv", tmp_path / "g.csv",
                "--plot-dir", plots).stdout
    lines = out.splitlines()
    assert lines[0].startswith("best setting")
    assert sum("±" in line for line in lines) == 4
    assert "3,000 rows, 10 settings, 3 runs each" in out
    rows = list(csv.DictReader(open(tmp_path / "g.csv")))
    assert len(rows) == 10 and sum(row["best"] == "1" for row in rows) == 3
    for name in ("setting-gamma", "setting-eta", "curves"):
        check_figure(plots / (name + ".svg"))
    text = (plots / "curves.svg").read_text()
    for name in ("banditron:gamma=", "perceptron", "rounds", "error so far, %", "prefers-color-scheme:dark"):
        assert name in text
    assert ">gamma</text>" in (plots / "setting-gamma.svg").read_text()


def check_figure(path):
    """Well-formed, and nothing outside of its frame."""
    tree = xml.etree.ElementTree.parse(path).getroot()
    width, height = (float(tree.get(side)) for side in ("width", "height"))
    for element in tree.iter():
        for x in re.findall(r"[ML]([-\d.]+) [-\d.]+", element.get("d") or ""):
            assert 0 <= float(x) <= width
        if element.tag.endswith("}text"):
            assert 0 <= float(element.get("x")) < width and 0 < float(element.get("y")) < height
        assert not any(re.search(r"(nan|inf)\b", value) for value in element.attrib.values())


def test_sweep_equals_run(data, tmp_path):
    swept = json.loads(hunch("sweep", data, "-l", "banditron:gamma=2^-5..2^-4", "--runs", 3, "--no-cache", "--json").stdout)
    played = json.loads(hunch("run", data, "-l", "banditron:gamma=0.03125", "--runs", 3, "--json").stdout)
    assert [round(e * 3000) for e in swept[0]["run_errors"]] == played[0]["run_mistakes"]


def test_edge_is_flagged(data):
    out = hunch("sweep", data, "-l", "banditron:gamma={0.5,0.7,0.9}", "--runs", 1, "--no-cache").stdout
    assert "edge" in out


@pytest.mark.parametrize("arguments, message", [
    (["-l", "banditron:gamma=2^-3..3^-1"], "a range is written"),
    (["-l", "nobody"], "nobody"),
    (["-l", "banditron:gamma={0.1,5}"], "gamma"),
    (["--runs", "0"], "runs"),
])
def test_bad_arguments(data, arguments, message):
    error = hunch("sweep", data, *arguments, code=1).stderr
    assert error.startswith("hunch: ") and message in error


def test_missing_data():
    assert "no-such-file" in hunch("sweep", "no-such-file", "-l", "perceptron", code=2).stderr
    assert "data file" in hunch("cv", code=1).stderr


def test_cv(data, tmp_path):
    learners = ["-l", "arow:r={0.1,1}", "-l", "banditron:gamma=2^-6..2^-2"]
    arguments = ["cv", data, "--folds", 5, "--epochs", 2, *learners, "--json", "--cache", tmp_path]
    clean = json.loads(hunch(*arguments).stdout)
    assert len(clean[0]["fold_errors"]) == 5 and clean[0]["error"] < clean[1]["error"]
    assert clean[0]["p"][1] == clean[1]["p"][0] < 0.05
    assert json.loads(hunch(*arguments, "--no-cache").stdout) == clean
    noisy = json.loads(hunch(*arguments, "--noise", 0.4).stdout)
    assert noisy[0]["error"] >= clean[0]["error"]
    assert "must be" in hunch("cv", data, "--tune", "80", code=1).stderr
    assert "must be" in hunch("cv", data, "--noise", "2", code=1).stderr


def cells(folder):
    return sum(1 for _ in pathlib.Path(folder).rglob("*.json"))


@pytest.mark.parametrize("how, code", [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_goes_on_after_being_stopped(tmp_path, how, code):
    big = tmp_path / "big.svm"
    hunch("synth", "synnonsep", "--rows", 20000, "-o", big)
    arguments = ["sweep", big, "-l", "newtron:gamma=2^-5..2^-1", "--runs", 4, "--json"]
    stopped = subprocess.Popen([HUNCH, *map(str, arguments), "--cache", str(tmp_path / "c"), "--threads", "1"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.time() + 120
    while cells(tmp_path / "c") < 3 and stopped.poll() is None and time.time() < deadline:
        time.sleep(0.01)
    stopped.send_signal(how)
    out, _ = stopped.communicate(timeout=120)
    kept = cells(tmp_path / "c")
    assert stopped.returncode == code and 3 <= kept < 20
    if how == signal.SIGINT:  # what is finished is reported
        assert sum(row["runs"] for row in json.loads(out)) == kept
    whole = json.loads(hunch(*arguments, "--cache", tmp_path / "c").stdout)
    fresh = json.loads(hunch(*arguments, "--no-cache").stdout)
    for row in whole + fresh:
        row.pop("seconds")
    assert whole == fresh and cells(tmp_path / "c") == 20


def test_reproduce_list_and_errors():
    out = hunch("reproduce", "--list").stdout
    for name in ("cova-table-1", "boosting-table-2", "soba-figure-2", "confidit-figure-2", "ours-defaults"):
        assert name + ": " in out
    assert "did you mean 'cova-table-1'" in hunch("reproduce", "cova-table-2", code=1).stderr


def test_reproduce_without_data_is_skipped(tmp_path):
    environment = {**os.environ, "HUNCH_DATA": str(tmp_path)}
    out = hunch("reproduce", "--quick", "cova-table-1", "--out", tmp_path / "o", "--no-cache", env=environment,
                cwd=tmp_path).stdout
    assert "skipped, needs data: usps.train" in out and "not comparable" in out


def test_reproduce_quick(tmp_path):
    """The numbers committed in quick.json; data sets that are not here are left out."""
    out = tmp_path / "out"
    quick = ("reproduce", "--quick", "--out", out, "--cache", tmp_path / "c")
    assert "all numbers are those of quick.json" in hunch(*quick).stdout
    results = json.loads(hunch(*quick, "--json").stdout)
    assert results["quick"] and len(results["experiments"]) >= 6
    order = next(e for e in results["experiments"] if e["id"] == "confidit-figure-2")["order"]
    assert order["holds"]
    figures = [f for e in results["experiments"] for f in e["figures"]]
    assert figures
    for figure in figures:
        check_figure(out / "figures" / (figure["id"] + ".svg"))
    rows = list(csv.DictReader(open(out / "results.csv")))
    assert len(rows) == sum(line["best"] or "verdict" in line or e.get("layout") == "grid"
                            for e in results["experiments"] for t in e["tables"] for line in t.get("lines", []))
