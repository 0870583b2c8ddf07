# SPDX-License-Identifier: BSD-3-Clause
"""What merging costs: learners of one pass over a log beside learners of its parts, merged: the table of docs/how-to/merging.md.

Usage: PYTHONPATH=build-test/python python3 experiments/merging.py [LEARNER ...]

The log's labels were drawn uniformly. "apart" is the largest difference of a score of the two, as a share of the largest score.
"""

import sys

import numpy as np

import hunch

ROUNDS, JUDGED, PARTS = 8_000, 4_000, 8
MORE = ["linucb:matrix=full", "lints:matrix=full", "squarecb:matrix=full", "confidit:matrix=full", "cova:base=naive-bayes"]
SLOW = {"fgts"}  # minutes a round


def learn(spec, data, rows, seed=0):
    X, shown, prob, right = data
    learner = hunch.Learner(spec, int(shown.max()) + 1, seed=seed)
    learner.learn(X[rows], shown[rows], prob[rows], right[rows])
    return learner


def merged(learners):
    """Pairwise, as a cluster does it."""
    while len(learners) > 1:
        for a, b in zip(learners[::2], learners[1::2]):
            a.merge(b)
        learners = learners[::2]
    return learners[0]


def line(spec, name, data, X, y):
    whole = learn(spec, data, slice(0, ROUNDS))
    size = ROUNDS // PARTS
    parts = [learn(spec, data, slice(p * size, (p + 1) * size), seed=p) for p in range(PARTS)]
    alone = np.mean(parts[0].greedy(X) != y)
    together = merged(parts)
    one, other = whole.scores(X), together.scores(X)
    apart = np.abs(one - other).max() / max(np.abs(one).max(), 1e-30)
    errors = [np.mean(learner.greedy(X) != y) for learner in (whole, together)]
    print(f"| `{spec}` | {name} | {apart:.1g} | {100 * errors[0]:.1f} | {100 * errors[1]:.1f} | {100 * alone:.1f} |", flush=True)


def main(specs):
    print("| learner | data | apart | one pass, % errors | merged | one of the parts |")
    print("|---|---|---|---|---|---|")
    sets = {
        "words": hunch.datasets.synnonsep(ROUNDS + JUDGED, seed=1),
        "numbers": hunch.make_stream(ROUNDS + JUDGED, drift="none", seed=1),
    }
    for spec in specs:
        for name, data in sets.items():
            if name == "words" and "full" in spec:  # matrices of 400 x 400 for each class
                continue
            y = np.asarray(data.y)
            shown = np.random.default_rng(2).integers(0, y.max() + 1, ROUNDS)
            prob = np.full(ROUNDS, 1 / (y.max() + 1))
            log = data.X[:ROUNDS], shown, prob, shown == y[:ROUNDS]
            line(spec, name, log, data.X[ROUNDS:], y[ROUNDS:])


if __name__ == "__main__":
    main(sys.argv[1:] or [*(name for name in hunch.algorithms() if name not in SLOW), *MORE])
