# SPDX-License-Identifier: BSD-3-Clause
"""How well BanditClassifier.predict_proba is calibrated, beside the bare softmax of the scores: the table of docs/how-to/python.md.

Usage: PYTHONPATH=build-test/python python3 experiments/calibration.py      (needs scikit-learn)

synnonsep with the labels of a share of the rows drawn anew: fitted to 10,000 rows, judged on 2,000 others.
"""

import numpy as np

import hunch
from hunch.sklearn import BanditClassifier

FITTED, JUDGED, NOISE = 10_000, 2_000, 0.2


def log_loss(proba, truth):
    return float(-np.log(proba[np.arange(len(truth)), truth].clip(1e-15)).mean())


def calibration_error(proba, truth, bins=10):
    """Of the label predicted: how far its chance is from the share that is right, on average."""
    sure, hit = proba.max(axis=1), proba.argmax(axis=1) == truth
    place = np.minimum((sure * bins).astype(int), bins - 1)
    return sum(abs(hit[place == b].sum() - sure[place == b].sum()) for b in range(bins)) / len(truth)


def main():
    print("| learner | told | error | log loss | of the softmax | calibration error | of the softmax |")
    print("|---|---|---|---|---|---|---|")
    for learner, simulate in [
        (hunch.default_learner(), True),
        ("confidit", True),
        ("confidit", False),
        ("arow", False),
    ]:
        data = hunch.datasets.synnonsep(FITTED + JUDGED, seed=1, noise=NOISE)
        model = BanditClassifier(learner, simulate=simulate, random_state=0).fit(data.X[:FITTED], data.y[:FITTED])
        rest, truth = data.X[FITTED:], data.y[FITTED:]
        scores = model.learner_.scores(rest)
        bare = np.exp(scores - scores.max(axis=1, keepdims=True))
        bare /= bare.sum(axis=1, keepdims=True)
        proba = model.predict_proba(rest)
        told = "one bit" if simulate else "the label"
        print(
            f"| `{learner}` | {told} | {100 * np.mean(proba.argmax(axis=1) != truth):.1f} % | "
            f"{log_loss(proba, truth):.2f} | {log_loss(bare, truth):.2f} | {100 * calibration_error(proba, truth):.1f} % | "
            f"{100 * calibration_error(bare, truth):.1f} % |"
        )


main()
