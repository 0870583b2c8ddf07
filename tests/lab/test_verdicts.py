# SPDX-License-Identifier: BSD-3-Clause
"""Every verdict word in experiments/results follows from its test: tolerances, powers and words are computed anew from the means,
with SciPy and the experiments' files; the counts of RESULTS.md are those of its words, and its text is what `hunch reproduce` writes."""
import csv
import json
import math
import os
import pathlib
import re
import shutil
import subprocess

import pytest
from scipy import stats

EXPERIMENTS = pathlib.Path(os.environ["HUNCH_EXPERIMENTS"])
LEVEL = 0.01


def number(text):
    return float(text) if text else math.nan


def rows():
    with open(EXPERIMENTS / "results" / "results.csv", encoding="utf-8") as f:
        return list(csv.DictReader(f))


ROWS = rows()
FILES = {e["id"]: e for e in (json.loads(p.read_text(encoding="utf-8")) for p in EXPERIMENTS.glob("*.json"))
         if "learners" in e}


def printed(row):
    """What the paper printed for it: (mean or remark, standard deviation, one for each setting); None: nothing."""
    of = FILES[row["experiment"]].get("printed", {}).get(row["data"], {}).get(row["learner"])
    each = isinstance(of, dict) and "grid" in of
    of = of["grid"].get(row["setting"]) if each else of if row["best"] == "1" else None
    if of is None:
        return None
    return (of["mean"], of.get("sd", math.nan), each) if isinstance(of, dict) else (of, math.nan, each)


def judge(row, e, data, paper, paper_sd):
    """tolerance, power, and whether the spread is another one: Welch's t test and the F test at 1 %"""
    n, m = int(row["runs"]), data.get("paper_runs", e.get("paper_runs", 1))
    sd, rounding = number(row["sd"]), e.get("rounding", 0.005)
    theirs = sd if math.isnan(paper_sd) else paper_sd
    a, b = sd**2 / n, theirs**2 / m
    degrees = (a + b)**2 / (a**2 / (n - 1) + b**2 / (m - 1)) if m > 1 and a + b > 0 else n - 1
    error = math.sqrt(a + b)
    tolerance = rounding + stats.t.isf(LEVEL / 2, degrees) * error
    shift = 0.1 * abs(paper)
    power = stats.norm.sf((tolerance - shift) / error) + stats.norm.sf((tolerance + shift) / error) if error else shift > tolerance
    spread = False
    if m > 1 and not math.isnan(paper_sd):
        near = min(max(sd, paper_sd - rounding), paper_sd + rounding)
        if sd > 0 or near > 0:
            ratio = sd**2 / near**2 if near else math.inf
            tail = stats.f.sf(ratio, n - 1, m - 1) if near else 0.0
            spread = 2 * min(tail, 1 - tail) < LEVEL
    return tolerance, power, spread


def expected(row):
    e = FILES[row["experiment"]]
    data = next(d for d in e["data"] if d["id"] == row["data"])
    learner = next((one for one in e["learners"] if one.get("id", one.get("spec")) == row["learner"]), {})
    told = printed(row)
    if told is None:
        return "", None, None
    paper, paper_sd, each = told
    if isinstance(paper, str) or int(row["runs"]) < 2:
        return "not comparable", None, None
    tolerance, power, spread = judge(row, e, data, paper, paper_sd)
    difference = number(row["mean"]) - paper
    if "differs" in data or number(row["x"]) < e.get("compare_from", -math.inf) or learner.get("repeats"):
        word = "not comparable"
    elif abs(difference) <= tolerance:
        word = "another spread" if spread else "reproduced"
    elif each or row["chosen"] == "0":
        word = "differs"
    else:
        word = "better" if difference < 0 else "worse"
    return word, tolerance, power


@pytest.mark.parametrize("experiment", sorted({row["experiment"] for row in ROWS}))
def test_every_verdict_follows_from_its_test(experiment):
    for row in ROWS:
        if row["experiment"] != experiment:
            continue
        name = f"{experiment}, {row['data']}, {row['learner']}, {row['setting']}"
        word, tolerance, power = expected(row)
        assert row["verdict"] == word, name
        if tolerance is not None:
            assert number(row["tolerance"]) == pytest.approx(tolerance, rel=1e-4), name
            assert number(row["power"]) == pytest.approx(power, rel=1e-3, abs=1e-6), name
            assert number(row["difference"]) == pytest.approx(number(row["mean"]) - printed(row)[0], abs=1e-6), name


def test_the_counts_are_those_of_the_words():
    words = ("reproduced", "better", "worse", "differs", "another spread", "not comparable")
    text = (EXPERIMENTS / "results" / "RESULTS.md").read_text(encoding="utf-8")
    seen = 0
    for name, counts, powers in re.findall(r"^\| \[([\w-]+)\]\(#[\w-]+\) \| [\w ]+ \| ([^|]*) \| ([^|]*) \|$", text, re.M):
        ours = [row for row in ROWS if row["experiment"] == name and row["verdict"]]
        if "growth" in FILES[name] or not ours or "paper's order" in counts:
            continue
        count = {word: sum(row["verdict"] == word for row in ours) for word in words}
        judged = [row for row in ours if row["verdict"] != "not comparable"]
        for word, n in count.items():
            told = re.search(rf"(\d+)(?: of \d+)? {word}", counts)
            assert n == (int(told.group(1)) if told else 0), (name, word)
        if judged:
            sharp = sum(number(row["power"]) >= 0.8 for row in judged)
            assert powers == f"{sharp} of {len(judged)}", name
        seen += 1
    assert seen >= 6


def without(experiment, text):
    """RESULTS.md without what it says of one experiment"""
    text = re.sub(rf"^\| \[{experiment}\].*\n", "", text, flags=re.M)
    return re.sub(rf"^## {experiment}\n.*?(?=^## |\Z)", "", text, flags=re.M | re.S)


@pytest.mark.parametrize("absent", ("cova-table-1", "boosting-table-2"))
def test_results_are_what_the_program_writes(absent, tmp_path):
    """`hunch reproduce` judges all of results.csv again; here after an experiment whose data are not there. Every cell, word, count,
    exponent and note of RESULTS.md about the others comes out."""
    results = EXPERIMENTS / "results"
    shutil.copytree(results, tmp_path / "results")
    subprocess.run([os.environ["HUNCH"], "reproduce", "--out", "results", "--no-cache", "--experiments", EXPERIMENTS, absent],
                   cwd=tmp_path, env={"PATH": os.environ["PATH"]}, check=True, stdout=subprocess.DEVNULL)
    written, kept = ((folder / "RESULTS.md").read_text(encoding="utf-8") for folder in (tmp_path / "results", results))
    assert written != kept and without(absent, written) == without(absent, kept)
    lines = [[line for line in (folder / "results.csv").read_text(encoding="utf-8").splitlines() if not line.startswith(f"{absent},")]
             for folder in (tmp_path / "results", results)]
    assert lines[0] == lines[1]


def test_the_words_about_theorems_follow_from_their_numbers():
    """THEOREMS.md: above the bound is violated, and nothing else is."""
    judged = 0
    for line in (EXPERIMENTS / "THEOREMS.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 7 or cells[6] not in ("holds", "vacuous", "violated"):
            continue
        measured, bound = (float(cell.replace(",", "")) for cell in cells[4:6])
        assert (cells[6] == "violated") == (measured > bound), line
        assert cells[6] != "holds" or bound < float(cells[3].replace(",", "")), line
        judged += 1
    assert judged >= 10


def test_the_power_is_that_of_the_rule():
    """By simulation, for one number: the share of repeated experiments, a tenth off, that the tolerance would catch."""
    row = next(r for r in ROWS if r["verdict"] == "reproduced" and 0.2 < number(r["power"]) < 0.8)
    paper, paper_sd, _ = printed(row)
    e = FILES[row["experiment"]]
    n, m = int(row["runs"]), e["paper_runs"]
    theirs = number(row["sd"]) if math.isnan(paper_sd) else paper_sd
    error = math.sqrt(number(row["sd"])**2 / n + theirs**2 / m)
    off = stats.norm.rvs(0.1 * paper, error, size=40000, random_state=1)
    assert (abs(off) > number(row["tolerance"])).mean() == pytest.approx(number(row["power"]), abs=0.02)
