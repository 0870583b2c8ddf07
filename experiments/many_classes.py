# SPDX-License-Identifier: BSD-3-Clause
"""Many classes, which have to be found: the default learner beside itself without clouds, clouds alone, and Vowpal Wabbit.

Usage: python3 experiments/many_classes.py HUNCH FOLDER     (writes FOLDER/set.csv, set.vw; prints the table of experiments/MANY_CLASSES.md)

Needs NumPy, and vowpalwabbit from PyPI. Classes made of clouds in several ways, some of them ways that clouds does not expect. Three
orders each.
"""
import pathlib
import random
import sys

import numpy as np

from drift import mean
from noise import default_members
from unseen import SETTINGS, hunch_error, vw_error, write

ORDERS = 3
CLOUDS = ";finder=clouds:from=32"
VW = ("epsilon-greedy", "squarecb", "squarecb, rate 2")  # the others take minutes with a hundred classes


def clouds(random, K, d, n, distance=0.9):
    """Centres that are `distance` normal, examples normal around them."""
    centres = distance * random.normal(size=(K, d))
    y = random.integers(K, size=n)
    return centres[y] + random.normal(size=(n, d)), y


def mixed(random):
    """Columns that are all mixtures of the same ones."""
    x, y = clouds(random, 100, 31, 20000)
    return x @ random.normal(size=(31, 31)), y


def with_noise(random):
    x, y = clouds(random, 100, 31, 20000)
    return np.hstack([x, random.normal(size=(len(x), 30))]), y


def categories(random, K=40, n=6000, columns=20, values=5):
    """Each class has one value of each column that it prefers."""
    preferred = random.integers(values, size=(K, columns))
    y = random.integers(K, size=n)
    chosen = np.where(random.random((n, columns)) < 0.6, preferred[y], random.integers(values, size=(n, columns)))
    return np.char.add("v", chosen.astype(str)), y


def directions(random, K=77, n=10000, d=128):
    """Rows of length 1, as networks make them of sentences; most of what differs is the same in all classes."""
    centres = random.normal(size=(K, d))
    y = random.integers(K, size=n)
    x = 0.6 * centres[y] + random.normal(size=(n, d)) * np.linspace(2, 0.3, d)
    return x / np.linalg.norm(x, axis=1)[:, None], y


def skewed(random, K=40, n=10000, d=15):
    """Class k is 1/k times as frequent as the first; amounts with long tails."""
    share = 1 / np.arange(1, K + 1)
    centres, y = random.normal(size=(K, d)), random.choice(K, size=n, p=share / share.sum())
    return np.exp(centres[y] + 0.7 * random.standard_t(4, size=(n, d))), y


def noisy(random, K=40, n=10000, d=12):
    """Three labels of ten are drawn anew."""
    centres, true = random.normal(size=(K, d)), random.integers(K, size=n)
    return centres[true] + 0.8 * random.normal(size=(n, d)), np.where(random.random(n) < 0.3, random.integers(K, size=n), true)


def several(random, K=40, n=10000, d=10):
    """Three clouds for each class."""
    centres, y = 1.5 * random.normal(size=(3 * K, d)), random.integers(K, size=n)
    return centres[3 * y + random.integers(3, size=n)] + random.normal(size=(n, d)), y


def rings(random, K=40, n=10000):
    """Rings around one another, in two of four columns."""
    y, angle = random.integers(K, size=n), 2 * np.pi * random.random(n)
    radius = 1 + 0.5 * y + 0.1 * random.normal(size=n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), random.normal(size=(n, 2))]), y


MADE = {
    "clouds, 31 columns": lambda random: clouds(random, 100, 31, 20000),
    "clouds, columns mixed": mixed,
    "clouds, 30 columns of noise": with_noise,
    "clouds, 20 columns": lambda random: clouds(random, 40, 20, 10000, 0.8),
    "clouds, twice the classes": lambda random: clouds(random, 200, 31, 40000),
    "categories": categories,
    "directions": directions,
    "skewed": skewed,
    "noisy": noisy,
    "several clouds a class": several,
    "rings": rings,
}


def sets():
    for name, make in MADE.items():
        x, y = make(np.random.default_rng(5))
        yield name, [[f"{cell:.5g}" if isinstance(cell, float) else str(cell) for cell in row] + [str(label)] for row, label in zip(x, y)]


def errors(hunch, folder, rows, without):
    """Of the default, of the default without clouds, of clouds alone and of the best of VW; means over the orders."""
    found = []
    for seed in range(ORDERS):
        classes = write(folder, "set", random.Random(seed).sample(rows, len(rows)))
        table = folder / "set.csv"
        found.append([hunch_error(hunch, table), hunch_error(hunch, table, "--learner", without),
                      hunch_error(hunch, table, "--learner", "clouds:scale=auto"),
                      *(vw_error(folder / "set.vw", classes, setting) for setting in map(SETTINGS.get, VW))])
    own, without, alone, *theirs = (sum(column) / len(column) for column in zip(*found))
    return own, without, alone, min(theirs)


def main(hunch, folder):
    folder.mkdir(parents=True, exist_ok=True)
    members = default_members(hunch)
    if CLOUDS not in members:
        sys.exit(f"the default has no {CLOUDS}: {members}")
    without = "panel:members=" + members.replace(CLOUDS, "")
    print("| classes that are | rows | classes | the default | without clouds | clouds alone | VW, best of three |")
    print("|---|---|---|---|---|---|---|")
    found = []
    for name, rows in sets():
        found.append(errors(hunch, folder, rows, without))
        print(f"| {name} | {len(rows):,} | {len({row[-1] for row in rows})} | " + " | ".join(f"{e:.1f}" for e in found[-1]) + " |", flush=True)
    print("| geometric mean | | | " + " | ".join(f"{mean(column):.1f}" for column in zip(*found)) + " |")


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
