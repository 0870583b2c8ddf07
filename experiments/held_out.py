#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The sets of the experiment ours-held-out as svmlight files, with their raw values.

They come with other packages: mlbench of R (Debian's r-cran-mlbench) and scikit-learn. Numbers stay as they are, words
become one feature each, what is missing and numbers of patients are left out; classes are numbered in the order of their names.

usage: held_out.py MLBENCH-DATA-FOLDER OUT-FOLDER     needs scikit-learn and rdata from PyPI
"""
import pathlib
import sys

import numpy
import rdata
import sklearn.datasets

MLBENCH = {"glass": ("Glass", "Type"), "soybean": ("Soybean", "Class"), "zoo": ("Zoo", "type"),
           "ionosphere": ("Ionosphere", "Class"), "sonar": ("Sonar", "Class"), "pima": ("PimaIndiansDiabetes", "diabetes"),
           "wisconsin": ("BreastCancer", "Class"), "house-votes": ("HouseVotes84", "Class")}
SKLEARN = {"iris": sklearn.datasets.load_iris, "wine": sklearn.datasets.load_wine,
           "breast-cancer": sklearn.datasets.load_breast_cancer}


def columns(frame):
    """Every column as lists of (feature, value) for each row."""
    first = 1
    for name in frame.columns:
        cells = frame[name]
        if cells.dtype.kind in "ifub":
            yield [[(first, float(v))] if numpy.isfinite(v) and v else [] for v in cells]
            first += 1
        else:
            words = sorted({str(v) for v in cells.dropna()})
            place = {word: first + i for i, word in enumerate(words)}
            yield [[(place[str(v)], 1.0)] if str(v) in place else [] for v in cells]
            first += len(words)


def write(path, labels, rows):
    classes = {label: i for i, label in enumerate(sorted(set(labels)))}
    with open(path, "w", encoding="ascii") as out:
        for label, row in zip(labels, rows):
            print(classes[label], *(f"{j}:{v:.9g}" for j, v in row), file=out)
    print(f"{path}: {len(labels)} rows, {len(classes)} classes")


def main(source, target):
    target.mkdir(parents=True, exist_ok=True)
    for name, (rda, label) in MLBENCH.items():
        frame = next(iter(rdata.read_rda(source / f"{rda}.rda").values()))
        labels = [str(v) for v in frame[label]]
        parts = list(columns(frame.drop(columns=[label, "Id"], errors="ignore")))
        write(target / f"{name}.svm", labels, [[pair for part in parts for pair in part[i]] for i in range(len(labels))])
    for name, load in SKLEARN.items():
        x, y = load(return_X_y=True)
        write(target / f"{name}.svm", list(y), [[(j + 1, v) for j, v in enumerate(row) if v] for row in x])


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
