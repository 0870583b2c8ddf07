# SPDX-License-Identifier: BSD-3-Clause
"""Compare learners on a table of your own: a data frame, or rows as dicts where pandas is not installed.

Usage: compare_learners.py [FILE.csv [LABEL_COLUMN]]   (without a file: a small table made here)
"""

import csv
import random
import sys

import hunch

try:
    import pandas
except ImportError:
    pandas = None


def made_up(rows=1500, seed=3):
    """Plants by leaf and flower; one in twenty is labelled at random."""
    rng = random.Random(seed)
    kinds = {"rose": (5.0, "red"), "daisy": (2.0, "white"), "iris": (8.0, "blue"), "tulip": (5.0, "white")}
    table = []
    for _ in range(rows):
        kind = rng.choice(list(kinds))
        length, colour = kinds[kind]
        colour = colour if rng.random() < 0.9 else rng.choice(["red", "white", "blue"])
        label = kind if rng.random() > 0.05 else rng.choice(list(kinds))
        table.append({"leaf": (length + rng.gauss(0, 0.7)) / 5, "colour": colour, "label": label})
    return table


def read(path):
    """Rows as dicts; what looks like a number is one."""
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            for name, text in row.items():
                try:
                    row[name] = float(text)
                except ValueError:
                    pass
            yield row


def main(path=None, label="label"):
    if pandas is not None:
        frame = pandas.DataFrame(made_up()) if path is None else pandas.read_csv(path)
        X, y = frame.drop(columns=label), frame[label].astype(str)
    else:
        rows = made_up() if path is None else list(read(path))
        X, y = [{k: v for k, v in row.items() if k != label} for row in rows], [str(row[label]) for row in rows]
    bandits = [name for name, algorithm in hunch.algorithms().items() if not algorithm.full_information]
    results = hunch.run(bandits, X, y, seed=1, shuffle=True, jobs=2, bias=1)
    print(f"{len(y)} rows, {results[0].learner.features} features, labels {', '.join(results[0].learner.labels)}")
    for result in sorted(results, key=lambda result: result.error):
        print(f"{result.learner.name:20} error {100 * result.error:5.1f} %  greedy {100 * result.greedy_error:5.1f} %")
    return results


if __name__ == "__main__":
    main(*sys.argv[1:])
