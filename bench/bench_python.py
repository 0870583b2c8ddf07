#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hunch.run on a CSR matrix against the hunch command on its cache: the same rows in the same order, taking turns.

Usage: HUNCH_TOOL=build/cli/hunch PYTHONPATH=build/python bench/bench_python.py [--rows N] [--check]
Rates are rows a second: the command from its start to its end, Python within hunch.run; by the clock and by processor
time, best of some turns. --check: fail when Python reaches less than 0.8 of the command's rate by both.
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import hunch

# and what share of the rows they play: slow ones fewer
LEARNERS = {"banditron": 1, "confidit": 1, "soba": 1, "arow": 1, "confident": 20}
WANTED = 0.8


def tool_makes(tool, folder, rows):
    """The rows as svmlight text, then as the command's cache."""
    text, cache = folder / f"{rows}.svm", folder / f"{rows}.hc"
    with open(text, "wb") as file:
        subprocess.run([tool, "synth", "synsep", "--rows", str(rows)], stdout=file, check=True)
    subprocess.run([tool, "convert", str(text), "-o", str(cache)], check=True, stdout=subprocess.DEVNULL)
    return cache


def children_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def tool_plays(tool, cache, spec):
    """Seconds by the clock and of the processor, and mistakes."""
    began, used = time.perf_counter(), children_seconds()
    command = [tool, "run", "-q", "--json", "-l", spec, "-s", "1", str(cache)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return time.perf_counter() - began, children_seconds() - used, json.loads(done.stdout)[0]["mistakes"]


def python_plays(data, spec):
    began, used = time.perf_counter(), time.process_time()
    result = hunch.run(spec, data, seed=1, curve=False)
    return time.perf_counter() - began, time.process_time() - used, result.mistakes


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
    """Rates of the command and of Python, by the clock and by processor time."""
    seconds = []
    for _ in range(turns):
        theirs, ours = tool_plays(tool, cache, spec), python_plays(data, spec)
        assert theirs[2] == ours[2], (spec, theirs, ours)
        seconds.append((theirs[0], ours[0], theirs[1], ours[1]))
    return [len(data) / min(column) for column in zip(*seconds)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    tool = os.environ.get("HUNCH_TOOL", "build/cli/hunch")
    if not os.access(tool, os.X_OK):
        sys.exit("HUNCH_TOOL must name the hunch command")
    slow = False
    print(f"synsep, {options.rows} rows of about 47 of 400 features, 9 classes\n")
    print("| learner | rows | command, rows/s | hunch.run, rows/s | ratio | by processor | arrays one by one | dicts |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for spec, share in LEARNERS.items():
            data = hunch.datasets.synsep(options.rows // share)
            cache = tool_makes(tool, pathlib.Path(folder), len(data))
            theirs, ours, their_cpu, our_cpu = compare(tool, data, cache, spec, options.turns)
            arrays, dicts = row_by_row(data, spec)
            slow = slow or max(ours / theirs, our_cpu / their_cpu) < WANTED
            print(f"| {spec} | {len(data)} | {theirs:.0f} | {ours:.0f} | {ours / theirs:.2f} | ", end="")
            print(f"{our_cpu / their_cpu:.2f} | {arrays:.0f} | {dicts:.0f} |", flush=True)
    return 1 if slow and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
