# SPDX-License-Identifier: BSD-3-Clause
"""Streams that drift, at several speeds: the default learner beside single learners that forget at one rate.

Usage: python3 experiments/drift.py HUNCH FOLDER     (writes FOLDER/set.csv; prints the table of experiments/DRIFT.md)

Needs river from PyPI. Clouds of points that move (RandomRBFDrift) at three speeds and hyperplanes that turn at three, five of each with
other seeds, classes and columns; 30,000 rows in their order.
"""
import itertools
import math
import pathlib
import sys

from river.datasets import synth

from unseen import hunch_error, write

ROWS, SEEDS = 30000, 5
DECAYS = ("0", "0.001", "0.003", "0.01", "0.03")
CONFIDENT = "confident:matrix=span,r=0.2,demote_mean=3,doubt=250"


LEARNERS = {"default": "panel", **{f"decay {decay}": f"{CONFIDENT},scale=auto,map=auto,decay={decay}" for decay in DECAYS}}


def clouds(seed, speed):
    return synth.RandomRBFDrift(seed_model=10 + seed, seed_sample=20 + seed, n_classes=2 + seed, n_features=8 + 2 * seed,
                                n_centroids=50, change_speed=speed, n_drift_centroids=50)


def hyperplane(seed, speed, noise=0.05):
    return synth.Hyperplane(seed=5 + seed, n_features=8 + seed % 10, n_drift_features=4 + seed % 10, mag_change=speed, noise_percentage=noise)


def noisy_hyperplane(seed, speed):
    return hyperplane(50 + seed, speed, 0.15)


KINDS = {"clouds, slow": (clouds, 0.0001), "clouds": (clouds, 0.0003), "clouds, fast": (clouds, 0.001),
         "hyperplane, slow": (hyperplane, 0.001), "hyperplane, fast": (hyperplane, 0.01),
         "hyperplane, noisy": (noisy_hyperplane, 0.003)}


def mean(values):
    """Geometric."""
    return math.exp(sum(math.log(v) for v in values) / len(values))


def main(hunch, folder):
    folder.mkdir(parents=True, exist_ok=True)
    print("| streams | " + " | ".join(LEARNERS) + " |\n|---" + "|---" * len(LEARNERS) + "|")
    totals = {name: [] for name in LEARNERS}
    for kind, (make, speed) in KINDS.items():
        errors = {name: [] for name in LEARNERS}
        for seed in range(SEEDS):
            rows = [[str(v) for v in x.values()] + [str(y)] for x, y in itertools.islice(make(seed, speed), ROWS)]
            write(folder, "set", rows)
            for name, spec in LEARNERS.items():
                errors[name].append(hunch_error(hunch, folder / "set.csv", "--learner", spec))
        print(f"| {kind} | " + " | ".join(f"{mean(errors[name]):.2f}" for name in LEARNERS) + " |", flush=True)
        for name in LEARNERS:
            totals[name] += errors[name]
    print("| all | " + " | ".join(f"{mean(totals[name]):.2f}" for name in LEARNERS) + " |")


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
