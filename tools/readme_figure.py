#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""docs/figures/newsgroups.svg, the picture of README.md: the default learner beside Vowpal Wabbit, which hears the same bits
(the best of four ways to explore), and AROW, which is told every label; 20 Newsgroups in one random order.

usage: readme_figure.py HUNCH      with a Python that has vowpalwabbit; HUNCH_DATA must lead to the data
"""
import pathlib
import random
import subprocess
import sys
import tempfile

import vowpalwabbit

OUT = pathlib.Path(__file__).resolve().parent.parent / "docs" / "figures" / "newsgroups.svg"


def rows(hunch, folder):
    """The rows in one random order, as svmlight text."""
    subprocess.run([hunch, "convert", "20news-18828.binary", "-o", folder / "all.svm"], check=True)
    lines = [line for line in (folder / "all.svm").read_text().splitlines() if line[:1].isdigit()]
    random.Random(1).shuffle(lines)
    (folder / "rows.svm").write_text("\n".join(lines) + "\n")
    return lines


def play(lines, arguments):
    """Vowpal Wabbit's mistakes at some rounds; cbify shows it one bit of each label."""
    learner = vowpalwabbit.Workspace(arguments + " -b 22 --quiet --random_seed 1")
    points = []
    for number, line in enumerate(lines, 1):
        label, features = line.split(" ", 1)
        learner.learn(f"{label} | {features}")
        if number >= 10 and (number % max(1, number // 40) == 0 or number == len(lines)):
            points.append((number, round(learner.get_sum_loss())))
    learner.finish()
    print(f"Vowpal Wabbit {vowpalwabbit.__version__} {arguments}: {100 * points[-1][1] / len(lines):.1f} %", flush=True)
    return points


def main():
    hunch = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lines = rows(hunch, folder)
        labels = sorted({int(line.split(" ", 1)[0]) for line in lines})
        if labels[0] == 0:  # cbify counts from 1
            lines = [f"{int(line.split(' ', 1)[0]) + 1} {line.split(' ', 1)[1]}" for line in lines]
        ways = [f"--cbify {len(labels)} {way}" for way in ("--epsilon 0.05", "--squarecb", "--bag 3", "--squarecb --power_t 0")]
        best = min((play(lines, way) for way in ways), key=lambda points: points[-1][1])
        table = "".join(f"Vowpal Wabbit\t0\t{number}\t{mistakes}\n" for number, mistakes in best)
        (folder / "vw.tsv").write_text("learner\trun\tround\tmistakes\n" + table)
        OUT.parent.mkdir(exist_ok=True)
        subprocess.run([hunch, "run", "-q", folder / "rows.svm", "-l", "confident", "-l", "arow", "--beside", folder / "vw.tsv",
                        "--figure", OUT], check=True)


main()
