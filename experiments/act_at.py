# SPDX-License-Identifier: BSD-3-Clause
"""Act or hand over: the table of docs/explanation/confidence.md.

Usage: PYTHONPATH=build-test/python python3 experiments/act_at.py [--order N] DATA      (DATA: a folder of data sets)

Twelve streams, one pass, raw, at most 45,312 rows; shuffled in order N but for elec2. For each promise: the share acted
on and how many of those were right, and the largest share that one threshold, chosen in hindsight, could have acted on
with as many right as promised. The constants of lib/api/act.c were chosen on order 1.
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
    "reuters21578/reuters52.binary.svm.xz": True,
    "amazon4/amazon4.binary.svm.xz": True,
    "elec2/elec2.csv.xz": False,
}
MOST = 45312
PROMISES = (0.9, 0.95, 0.99)


def acted_on(confidence, right, promise):
    """As predict(x, act_at=promise) and feedback would have had it: thresholds change nothing that is learned."""
    core, act = hunch.Learner(classes=2)._core, np.zeros(len(right), bool)
    for i, (sure, bit) in enumerate(zip(confidence.tolist(), right.tolist())):
        mark, act[i] = core.act(sure, promise)
        core.acted(promise, mark, bool(bit))
    return act


def best_in_hindsight(confidence, right, promise):
    order = np.argsort(-confidence, kind="stable")
    share = np.cumsum(right[order]) / np.arange(1, len(order) + 1)
    ends = np.append(np.diff(confidence[order]) != 0, True)  # equal confidences are acted on together
    good = np.flatnonzero((share >= promise) & ends)
    return (good[-1] + 1) / len(order) if len(good) else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--order", type=int, default=2)
    parser.add_argument("data", type=pathlib.Path)
    given = parser.parse_args()
    print("| set | rounds | right | " + " | ".join(f"{p}: acted on | right | in hindsight" for p in PROMISES) + " |")
    print("|---|---|---|" + "---|---|---|" * len(PROMISES))
    for name, shuffle in SETS.items():
        if not (given.data / name).exists():
            continue
        read = hunch.datasets.load_svmlight if ".svm" in name else hunch.read_csv
        data = read(given.data / name)
        rows, labels = data.X, np.asarray(data.y)
        order = np.random.default_rng(given.order).permutation(len(labels)) if shuffle else np.arange(len(labels))
        order = order[:MOST]
        learner = hunch.Learner(classes=np.unique(labels).tolist(), seed=given.order)
        result = learner.run(rows[order], labels[order], choices=True)
        confidence, right = result.choices["confidence"], np.asarray(result.right)
        cells = []
        for promise in PROMISES:
            act = acted_on(confidence, right, promise)
            cells += [f"{100 * act.mean():.1f} %", f"{100 * right[act].mean():.1f} %"]
            cells += [f"{100 * best_in_hindsight(confidence, right, promise):.1f} %"]
        print(f"| {name} | {len(order):,} | {100 * right.mean():.1f} % | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
