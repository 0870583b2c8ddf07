#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""docs/figures/SET.svg, the pictures of README.md: the default learner beside Vowpal Wabbit, which hears the same bits (of six
ways to explore the one with the fewest mistakes), and AROW, which is told every label and sees the same scaled and mapped columns;
five random orders each, the band a standard deviation wide.

usage: readme_figure.py HUNCH [SET ...]      with a Python that has vowpalwabbit; HUNCH_DATA must lead to the data
"""
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

import vowpalwabbit

FIGURES = pathlib.Path(__file__).resolve().parent.parent / "docs" / "figures"
SETS = {"covtype": ("covtype", "Covertype, 581,012 rows"), "newsgroups": ("20news-18828.binary", "20 Newsgroups, 18,828 texts")}
NAMES = {">panel<": ">hunch, one bit<", ">arow:scale=auto,map=auto<": ">AROW, all labels<"}
WAYS = ["--epsilon 0.05", "--squarecb", "--bag 3", "--cover 3", "--squarecb --learning_rate 2", "--squarecb --gamma_scale 1000"]
ORDERS = 5


def play(lines, arguments, order):
    """Vowpal Wabbit's mistakes at some rounds; cbify shows it one bit of each label."""
    learner = vowpalwabbit.Workspace(f"{arguments} -b 22 --quiet --random_seed {order + 1}")
    rows = list(lines)
    random.Random(order).shuffle(rows)
    points = []
    for number, line in enumerate(rows, 1):
        learner.learn(line)
        if number == len(rows) or number >= 10 and (not points or number >= 1.05 * points[-1][0]):
            points.append((number, round(learner.get_sum_loss())))
    learner.finish()
    return points


def best_way(lines, classes):
    """The curves, one per order, of the way to explore that made the fewest mistakes in the first one."""
    found = {}
    for way in WAYS:
        found[way] = play(lines, f"--cbify {classes} {way}", 0)
        print(f"Vowpal Wabbit {vowpalwabbit.__version__} {way}: {100 * found[way][-1][1] / len(lines):.2f} %", flush=True)
    best = min(found, key=lambda way: found[way][-1][1])
    runs = [found[best]] + [play(lines, f"--cbify {classes} {best}", order) for order in range(1, ORDERS)]
    errors = [100 * points[-1][1] / len(lines) for points in runs]
    print(f"Vowpal Wabbit {best}: {statistics.mean(errors):.2f} ± {statistics.stdev(errors):.2f} %", flush=True)
    return runs


def draw(hunch, name, folder):
    data, title = SETS[name]
    subprocess.run([hunch, "convert", data, "-o", folder / "rows.svm"], check=True)
    rows = [line.split(" ", 1) for line in (folder / "rows.svm").read_text().splitlines() if line[:1].isdigit()]
    labels = {label: number for number, label in enumerate(sorted({row[0] for row in rows}, key=int), 1)}
    runs = best_way([f"{labels[label]} | {features}" for label, features in rows], len(labels))
    points = [("Vowpal Wabbit, one bit", run, *point) for run, curve in enumerate(runs) for point in curve]
    table = [("learner", "run", "round", "mistakes"), *points]
    (folder / "vw.tsv").write_text("".join("\t".join(map(str, row)) + "\n" for row in table))
    picture = FIGURES / f"{name}.svg"
    subprocess.run([hunch, "run", "-q", folder / "rows.svm", "--runs", str(ORDERS), "-l", "panel", "-l", "arow:scale=auto,map=auto",
                    "--beside", folder / "vw.tsv", "--figure", picture], check=True)
    text = picture.read_text().replace("Learning curves", title)
    for old, new in NAMES.items():
        text = text.replace(old, new)
    picture.write_text(text)


for chosen in sys.argv[2:] or SETS:
    with tempfile.TemporaryDirectory() as place:
        draw(sys.argv[1], chosen, pathlib.Path(place))
