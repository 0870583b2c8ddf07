#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hunch.run on a CSR matrix against the hunch command on its cache: the same rows in the same order, taking turns.

Usage: HUNCH_TOOL=build/cli/hunch PYTHONPATH=build/python bench/bench_python.py [--rows N] [--check]
Rates are rows a second of wall time: the command from its start to its end, Python within hunch.run. Best of some
turns. --check: fail when Python reaches less than 0.8 of the command's rate.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import hunch

LEARNERS = ["banditron", "confidit", "soba", "arow", "confident"]
WANTED = 0.8


def tool_makes(tool, folder, rows):
    """The rows as svmlight text, and as the command's cache."""
    text, cache = folder / "data.svm", folder / "data.hc"
    with open(text, "wb") as file:
        subprocess.run([tool, "synth", "synsep", "--rows", str(rows)], stdout=file, check=True)
    subprocess.run([tool, "convert", str(text), "-o", str(cache)], check=True, stdout=subprocess.DEVNULL)
    return cache


def tool_plays(tool, cache, spec):
    began = time.perf_counter()
    command = [tool, "run", "-q", "--json", "-l", spec, "-s", "1", str(cache)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return time.perf_counter() - began, json.loads(done.stdout)[0]["mistakes"]


def python_plays(data, spec):
    began = time.perf_counter()
    result = hunch.run(spec, data, seed=1, curve=False)
    return time.perf_counter() - began, result.mistakes


def row_by_row(data, spec, rows=3000):
    """Rows a second when every round is two Python calls, with NumPy rows and with dicts."""
    dense = data.X[:rows].toarray()
    dicts = [{f"f{j}": 1.0 for j in data.X[i].indices} for i in range(rows)]
    rates = []
    for examples in (dense, dicts):
        learner = hunch.Learner(spec, 9, features=400)
        began = time.perf_counter()
        for x, label in zip(examples, data.y.tolist()):
            choice = learner.predict(x)
            learner.feedback(choice, choice.label == label)
        rates.append(rows / (time.perf_counter() - began))
    return rates


def compare(tool, data, cache, spec, turns):
    best = [float("inf"), float("inf")]
    for _ in range(turns):
        theirs, their_mistakes = tool_plays(tool, cache, spec)
        ours, our_mistakes = python_plays(data, spec)
        assert our_mistakes == their_mistakes, (spec, our_mistakes, their_mistakes)
        best = [min(best[0], theirs), min(best[1], ours)]
    return [len(data) / seconds for seconds in best]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    tool = os.environ.get("HUNCH_TOOL", "build/cli/hunch")
    if not os.access(tool, os.X_OK):
        sys.exit("HUNCH_TOOL must name the hunch command")
    data = hunch.datasets.synsep(options.rows)
    slow = False
    print(f"synsep, {options.rows} rows of about 47 of 400 features, 9 classes\n")
    print("| learner | command, rows/s | hunch.run, rows/s | ratio | row by row, arrays | row by row, dicts |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        cache = tool_makes(tool, pathlib.Path(folder), options.rows)
        for spec in LEARNERS:
            theirs, ours = compare(tool, data, cache, spec, options.turns)
            arrays, dicts = row_by_row(data, spec)
            slow = slow or ours < WANTED * theirs
            print(
                f"| {spec} | {theirs:.0f} | {ours:.0f} | {ours / theirs:.2f} | {arrays:.0f} | {dicts:.0f} |", flush=True
            )
    return 1 if slow and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
