# SPDX-License-Identifier: BSD-3-Clause
"""How well choices know how sure they are: the table of docs/explanation/confidence.md.

Usage: PYTHONPATH=build-test/python python3 experiments/confidence.py [--learner SPEC] DATA      (DATA: a folder of data sets)

Every set in DATA that has more than 5,000 rows, one pass, raw; shuffled but for streams, which stay in their order. Of
the second half of the rounds: error; expected calibration error (15 bins of confidence, as wide as each other); what
that would be if every label were right with the very chance that it was given, from one draw; error when the least sure
half, or fifth, of the choices is handed to a person.
"""

import argparse
import pathlib

import numpy as np

import hunch

SETS = {
    "uci/letter.svm.xz": True,
    "uci/satimage.svm.xz": True,
    "uci/shuttle.svm.xz": True,
    "covtype15120/covtype15120.svm.xz": True,
    "usps/usps.train.svm.xz": True,
    "mnist/mnist.train.svm.xz": True,
    "nursery/nursery.onehot.svm.xz": True,
    "connect-4/connect-4.onehot.svm.xz": True,
    "20newsgroups/20news-18828.binary.svm.xz": True,
    "20newsgroups/20news-18828.counts.svm.xz": True,
    "reuters21578/reuters52.binary.svm.xz": True,
    "amazon4/amazon4.binary.svm.xz": True,
    "elec2/elec2.csv.xz": False,
    "covtype/covtype.svm.xz": False,
    "covtype/covtype.01.svm.xz": False,
}
BINS = 15


def calibration_error(sure, right):
    place = np.minimum((sure * BINS).astype(int), BINS - 1)
    return np.abs(np.bincount(place, sure - right, BINS)).sum() / len(sure)


def kept_error(sure, right, share):
    """Of the share of choices that are the surest."""
    order = np.argsort(-sure, kind="stable")[: int(share * len(sure))]
    return 1 - right[order].mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--learner", default=hunch.default_learner())
    parser.add_argument("--only", default="")
    parser.add_argument("data", type=pathlib.Path)
    given = parser.parse_args()
    print("| set | rounds | error | calibration error | of a perfect one | error, 80 % kept | 50 % kept |")
    print("|---|---|---|---|---|---|---|")
    for name, shuffle in SETS.items():
        if given.only not in name or not (given.data / name).exists():
            continue
        read = hunch.datasets.load_svmlight if ".svm" in name else hunch.read_csv
        data = read(given.data / name)
        rows, labels = data.X, np.asarray(data.y)
        order = np.random.default_rng(1).permutation(len(labels)) if shuffle else np.arange(len(labels))
        learner = hunch.Learner(given.learner, classes=np.unique(labels).tolist(), seed=1)
        result = learner.run(rows[order], labels[order], choices=True)
        half = len(labels) // 2
        sure, right = result.choices["confidence"][half:], result.right[half:]
        drawn = np.random.default_rng(2).uniform(size=len(sure)) < sure
        print(
            f"| {name} | {len(labels):,} | {100 * (1 - right.mean()):.1f} % | {calibration_error(sure, right):.4f} | "
            f"{calibration_error(sure, drawn):.4f} | {100 * kept_error(sure, right, 0.8):.1f} % | "
            f"{100 * kept_error(sure, right, 0.5):.1f} % |",
            flush=True,
        )


main()
