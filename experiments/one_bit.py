# SPDX-License-Identifier: BSD-3-Clause
"""Bandit feedback compared with full labels: the table of experiments/ONE_BIT.md.

Usage: PYTHONPATH=build-test/python python3 experiments/one_bit.py [--orders N] DATA      (DATA: a folder of data sets)

The default learner, raw files, one pass: told right or wrong as always; told the label of the first 1, 3 or 5 examples
of each class besides, which takes the finding of classes away; told all labels, which is as good as it can become
without more to learn from. Every round counts, by the label that was shown before any answer. The last line is a
learner that knows what the Gaussian classes are: round clouds of one size.
"""

import argparse
import math
import pathlib

import numpy as np

import hunch

FILES = {
    "Letter": "uci/letter.svm.xz",
    "Vowel": "uci/vowel.svm.xz",
    "Satimage": "uci/satimage.svm.xz",
    "USPS": "usps/usps.train.svm.xz",
    "Nursery": "nursery/nursery.onehot.svm.xz",
    "20 newsgroups": "20newsgroups/20news-18828.binary.svm.xz",
    "Reuters52": "reuters21578/reuters52.binary.svm.xz",
}
FREE = (0, 1, 3, 5, math.inf)


def dense(rows):
    return [dict(enumerate(map(float, row), 1)) for row in rows]


def gaussians():
    """100 classes of 31 features: normal around centres that are 0.9 normal."""
    random = np.random.default_rng(5)
    centres = 0.9 * random.normal(size=(100, 31))
    y = random.integers(100, size=20000)
    return dense(centres[y] + random.normal(size=(len(y), 31))), y.tolist()


def read(path):
    x, y = hunch.datasets.load_svmlight(path)
    ends = x.indptr.tolist()
    return [dict(zip(x.indices[a:b].tolist(), x.data[a:b].tolist())) for a, b in zip(ends, ends[1:])], y.tolist()


def with_noise(x):
    """50 columns more that say nothing."""
    random = np.random.default_rng(6)
    first = max(max(row, default=0) for row in x) + 1
    return [{**row, **{first + j: v for j, v in enumerate(random.normal(size=50).tolist())}} for row in x]


def error(x, y, free, order):
    learner = hunch.Learner(hunch.default_learner(), sorted(set(y)), seed=order)
    told, wrong = dict.fromkeys(y, 0), 0
    for i in np.random.default_rng(order).permutation(len(y)):
        choice = learner.predict(x[i])
        wrong += choice.label != y[i]
        if told[y[i]] < free:
            told[y[i]] += 1
            learner.teach(x[i], y[i])
        else:
            learner.feedback(choice, choice.label == y[i])
    return wrong / len(y)


def centres_error(x, y, order, near=1.5):
    """One bit, for round clouds: the nearest centre, or, far from all centres, a label not yet right, the least refuted here."""
    rows, y = np.array([list(row.values()) for row in x]), np.array(y)
    classes, dims = y.max() + 1, rows.shape[1]
    n, sums, refuted, wrong = np.zeros(classes), np.zeros((classes, dims)), [[] for _ in range(classes)], 0
    spread, known = float(dims), 1.0
    for i in np.random.default_rng(order).permutation(len(y)):
        distance = ((rows[i] - sums / (n + 0.5)[:, None]) ** 2).sum(1) / (1 + 1 / (n + 0.5))
        distance[n == 0] = np.inf
        label = int(distance.argmin())
        if not distance[label] < near * spread / known and (n == 0).any():
            doubt = [sum(np.exp(-((rows[i] - r) ** 2).sum() * known / spread / 2) for r in refuted[k]) for k in np.flatnonzero(n == 0)]
            label = int(np.flatnonzero(n == 0)[np.argmin(doubt)])
        if label != y[i]:
            wrong += 1
            refuted[label].append(rows[i])
            continue
        if n[label]:
            spread, known = 0.999 * spread + distance[label], 0.999 * known + 1
        n[label] += 1
        sums[label] += rows[i]
    return wrong / len(y)


def sets(folder):
    for name, file in FILES.items():
        if (folder / file).exists():
            x, y = read(folder / file)
            yield name, x, y
            if name == "Letter":
                yield "Letter, 50 columns of noise", with_noise(x), y
    yield "100 Gaussian classes", *gaussians()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--orders", type=int, default=3)
    parser.add_argument("data", type=pathlib.Path)
    given = parser.parse_args()
    print("| set | rows | classes | one bit | first of each class told | first 3 | first 5 | all labels |")
    print("|---|---|---|---|---|---|---|---|")
    for name, x, y in sets(given.data):
        errors = [np.mean([error(x, y, free, order) for order in range(given.orders)]) for free in FREE]
        print(f"| {name} | {len(y):,} | {len(set(y))} |", *(f"{100 * e:.1f} |" for e in errors), flush=True)
    errors = [centres_error(*gaussians(), order) for order in range(given.orders)]
    print(f"\nCentres of round clouds, one bit, 100 Gaussian classes: {100 * np.mean(errors):.1f}")


if __name__ == "__main__":
    main()
