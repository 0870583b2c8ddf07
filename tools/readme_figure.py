#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draw README.md's figure (docs/figures/NAME.svg) and write its table of errors: the default learner and Vowpal Wabbit with one bit
per row (of six configurations the one with the fewest mistakes on the first rows), and AROW with every label and the same scaled
and mapped columns. Orders are random, except for elec2; bands show one standard deviation.

usage: readme_figure.py HUNCH newsgroups|table ...      with a Python that has vowpalwabbit; HUNCH_DATA names the folder of the data
"""
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

import vowpalwabbit

README = pathlib.Path(__file__).resolve().parent.parent / "README.md"
FIGURES = README.parent / "docs" / "figures"
PICTURES = {"newsgroups": ("20news-18828.binary", "20 Newsgroups, 18,828 texts")}
TABLE = {"Letter": ["letter"], "Satimage": ["satimage"], "Shuttle": ["shuttle"], "USPS": ["usps.train", "usps.test"], "DNA": ["dna"],
         "Car": ["car.onehot"], "Nursery": ["nursery.onehot"], "Covertype subset": ["covtype15120"], "Elec2, a stream": ["elec2"]}
FULL = "arow:scale=auto,map=auto"  # with every label
BITS = "--loss0 -1 --loss1 0"
WAYS = ["--epsilon 0.05", f"--epsilon 0.05 {BITS}", f"--squarecb {BITS}", f"--squarecb {BITS} --learning_rate 2",
        f"--bag 5 --greedify {BITS}", f"--squarecb {BITS} --learning_rate 2 --interactions ::"]  # the last not for long rows
CHOSEN_ON, LONG = 50_000, 64


def play(lines, arguments, order):
    """Vowpal Wabbit's mistakes at some rounds; cbify shows it one bit of each label. order None: file order."""
    learner = vowpalwabbit.Workspace(f"{arguments} -b 22 --hash all --quiet --random_seed {(order or 0) + 1}")
    rows = list(lines)
    if order is not None:
        random.Random(order).shuffle(rows)
    points = []
    for number, line in enumerate(rows, 1):
        learner.learn(line)
        if number == len(rows) or number >= 10 and (not points or number >= 1.05 * points[-1][0]):
            points.append((number, round(learner.get_sum_loss())))
    learner.finish()
    return points


def best_way(lines, classes, orders):
    """The curves, one per order, of the way with the fewest mistakes on the first rows of the first order."""
    ways = WAYS if statistics.mean(line.count(":") for line in lines) <= LONG else WAYS[:-1]
    first = list(lines)
    if orders[0] is not None:
        random.Random(orders[0]).shuffle(first)
    found = {way: play(first[:CHOSEN_ON], f"--cbify {classes} {way}", None)[-1] for way in ways}
    for way, (rows, mistakes) in found.items():
        print(f"  Vowpal Wabbit {vowpalwabbit.__version__} {way}: {100 * mistakes / rows:.2f} % of {rows:,}", flush=True)
    best = min(found, key=lambda way: found[way][1])
    return [play(lines, f"--cbify {classes} {best}", order) for order in orders]


def both(hunch, files, folder, orders, *options):
    """Vowpal Wabbit's curves and errors, then those of our learners: {name: error in %}."""
    subprocess.run([hunch, "convert", *files, "-o", folder / "rows.svm"], check=True)
    rows = [line.split(" ", 1) for line in (folder / "rows.svm").read_text().splitlines() if line[:1].isdigit()]
    labels = {label: number for number, label in enumerate(sorted({row[0] for row in rows}, key=int), 1)}
    runs = best_way([f"{labels[label]} | {features}" for label, features in rows], len(labels), orders)
    points = [("Vowpal Wabbit", run, *point) for run, curve in enumerate(runs) for point in curve]
    lines = ["\t".join(map(str, row)) + "\n" for row in points]
    errors = {"vw": statistics.mean(100 * points[-1][1] / len(rows) for points in runs)}

    def learn(learner, *more):
        done = subprocess.run([hunch, "run", "-q", "--json", *files, "--runs", str(len(orders)), "-l", learner, *more],
                              stdout=subprocess.PIPE, check=True)
        errors[learner.split(":")[0]] = 100 * next(line["error"] for line in json.loads(done.stdout) if "learner" in line)
    learn(FULL, "--curve", folder / "full.tsv")
    full = (folder / "full.tsv").read_text().replace(FULL, "AROW, all labels")
    (folder / "others.tsv").write_text(full + "".join(lines))
    learn("panel", *options)
    print("  " + ", ".join(f"{name} {error:.2f} %" for name, error in errors.items()), flush=True)
    return errors, len(rows), len(labels)


def draw(hunch, name, folder):
    data, title = PICTURES[name]
    picture = FIGURES / f"{name}.svg"
    both(hunch, [data], folder, range(5), "--beside", folder / "others.tsv", "--figure", picture)
    picture.write_text(picture.read_text().replace("Learning curves", title).replace(">panel ", ">hunch "))


def tabulate(hunch, folder):
    lines = ["| data | rows | classes | hunch | Vowpal Wabbit | AROW, all labels |", "|---|---:|---:|---:|---:|---:|"]
    for name, files in TABLE.items():
        print(name)
        errors, rows, classes = both(hunch, files, folder, [None] if "stream" in name else range(10))
        cells = " | ".join(f"{errors[key]:.2g}" if errors[key] < 1 else f"{errors[key]:.1f}" for key in ("panel", "vw", "arow"))
        lines.append(f"| {name} | {rows:,} | {classes} | {cells} |")
    before, rest = README.read_text().split("<!-- raw -->\n")
    README.write_text(before + "<!-- raw -->\n" + "\n".join(lines) + "\n<!-- /raw -->" + rest.split("<!-- /raw -->", 1)[1])


for chosen in sys.argv[2:]:
    with tempfile.TemporaryDirectory() as place:
        if chosen == "table":
            tabulate(sys.argv[1], pathlib.Path(place))
        else:
            draw(sys.argv[1], chosen, pathlib.Path(place))
