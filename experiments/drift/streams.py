# SPDX-License-Identifier: BSD-3-Clause
"""Streams whose concept changes while they are read, made from a seed.

Usage: python3 experiments/drift/streams.py KIND SPEED SEED ROWS > FILE.csv     (without arguments it prints the kinds and their usual speeds)

Needs NumPy. What the speed means: squares, classes: the distance that a class moves in a row, in widths of the class; clusters: the
distance that a centre moves in a row, in a unit cube; hyperplane: the random step of every weight in a row; sea, led, switches, rotation:
the number of changes in the stream.
"""
import sys

import numpy as np


def bounce(position, low, high):
    """A point that moves on a line and turns round at both ends."""
    width = high - low
    away = np.mod(position - low, 2 * width)
    return low + np.where(away > width, 2 * width - away, away)


def squares(rng, rows, speed):
    """Four squares side by side that move along a line and turn round at its ends (Losing, Hammer and Wersing, 2016)."""
    classes = 4
    label = rng.integers(classes, size=rows)
    offset = bounce(rng.uniform(0, 10) + speed * np.arange(rows), 0, 10)
    x = rng.uniform(size=(rows, 2))
    x[:, 0] += 2 * label + offset
    return x, label


def classes(rng, rows, speed):
    """Classes with a Gaussian each, whose centres move in straight lines within a cube."""
    K, d = rng.integers(4, 9), rng.integers(4, 12)
    label = rng.integers(K, size=rows)
    start, way = rng.uniform(0, 2, size=(K, d)), rng.normal(size=(K, d))
    way /= np.linalg.norm(way, axis=1)[:, None]
    centre = bounce(start[label] + speed * np.arange(rows)[:, None] * way[label], 0, 2)
    return centre + 0.5 * rng.normal(size=(rows, d)), label


def clusters(rng, rows, speed):
    """Fifty Gaussians of several classes in a unit cube, which move like the classes above (RandomRBFDrift)."""
    K, d, n = rng.integers(2, 7), rng.integers(6, 14), 50
    of, width, weight = rng.integers(K, size=n), rng.uniform(0.02, 0.12, size=n), rng.uniform(size=n)
    which = rng.choice(n, size=rows, p=weight / weight.sum())
    start, way = rng.uniform(size=(n, d)), rng.normal(size=(n, d))
    way /= np.linalg.norm(way, axis=1)[:, None]
    centre = bounce(start[which] + speed * np.arange(rows)[:, None] * way[which], 0, 1)
    aside = rng.normal(size=(rows, d))
    aside /= np.linalg.norm(aside, axis=1)[:, None]
    return centre + aside * (width[which] * rng.normal(size=rows))[:, None], of[which]


def hyperplane(rng, rows, speed):
    """Two classes on the sides of a plane whose weights drift, each changing its direction now and then; 5 % of labels inverted."""
    d = int(rng.integers(6, 14))
    turned = np.cumprod(np.where(rng.uniform(size=(rows, d)) < 0.001, -1, 1), axis=0)
    weight = rng.uniform(size=d) + np.cumsum(speed * turned * rng.choice([-1, 1], size=d), axis=0)
    x = rng.uniform(size=(rows, d))
    label = (x * weight).sum(1) > 0.5 * weight.sum(1)
    return x, np.where(rng.uniform(size=rows) < 0.05, ~label, label).astype(int)


def parts(rows, changes):
    return np.minimum(np.arange(rows) * (int(changes) + 1) // rows, int(changes))


def sea(rng, rows, changes):
    """Two columns of three matter, by a threshold on their sum that changes; 10 % of labels inverted."""
    threshold = np.array([8, 9, 7, 9.5])[(rng.integers(4) + parts(rows, changes)) % 4]
    x = rng.uniform(0, 10, size=(rows, 3))
    label = x[:, 0] + x[:, 1] <= threshold
    return x, np.where(rng.uniform(size=rows) < 0.1, ~label, label).astype(int)


SEGMENTS = np.array([[int(c) for c in digit] for digit in (
    "1110111 0010010 1011101 1011011 0111010 1101011 1101111 1010010 1111111 1111011".split())])


def led(rng, rows, changes):
    """The digits of a display with seven segments, each inverted with chance 0.1, among 17 columns of noise; columns change places."""
    label = rng.integers(10, size=rows)
    shown = SEGMENTS[label] ^ (rng.uniform(size=(rows, 7)) < 0.1)
    x = np.hstack([shown, rng.integers(2, size=(rows, 17))])
    part = parts(rows, changes)
    for p in range(1, int(changes) + 1):
        order = np.arange(24)
        moved = rng.choice(24, size=8, replace=False)
        order[moved] = rng.permutation(moved)
        x[part >= p] = x[part >= p][:, order]
    return x, label


def switches(rng, rows, changes):
    """Clusters that stand still and whose classes are drawn anew at every change, of which there are two to return to."""
    x, label = clusters(rng, rows, 0)
    K = label.max() + 1
    orders = [rng.permutation(K) for _ in range(3)]
    return x, np.array([orders[p % 3][k] for p, k in zip(parts(rows, changes), label)])


def rotation(rng, rows, changes):
    """Halfspaces of several classes that turn all the time, so many times by a quarter."""
    K, d = int(rng.integers(3, 7)), 2 * int(rng.integers(2, 6))
    plane = rng.normal(size=(K, d))
    x = rng.normal(size=(rows, d))
    angle = 0.5 * np.pi * changes * np.arange(rows) / rows
    turned = np.empty_like(x)
    turned[:, 0::2] = np.cos(angle)[:, None] * x[:, 0::2] - np.sin(angle)[:, None] * x[:, 1::2]
    turned[:, 1::2] = np.sin(angle)[:, None] * x[:, 0::2] + np.cos(angle)[:, None] * x[:, 1::2]
    return x, (turned @ plane.T).argmax(1)


def streaks(rng, rows, length):
    """Clusters whose rows come in streaks of one class, of this mean length."""
    x, label = clusters(rng, rows, 0.00003)
    wanted, order, by = rng.integers(label.max() + 1), [], [list(np.flatnonzero(label == k)[::-1]) for k in range(label.max() + 1)]
    while sum(map(len, by)):
        if rng.uniform() < 1 / length or not by[wanted]:
            wanted = rng.choice([k for k in range(len(by)) if by[k]])
        order.append(by[wanted].pop())
    return x[order], label[order]


KINDS = {squares: (0.0005, 0.002, 0.008), classes: (0.0002, 0.001, 0.004), clusters: (0.0001, 0.0003, 0.001),
         hyperplane: (0.001, 0.003, 0.01), sea: (3, 12), led: (3, 12), switches: (2, 8, 30), rotation: (1, 4, 16), streaks: (3, 20)}


def make(kind, speed, seed, rows):
    kind = next(k for k in KINDS if k.__name__ == kind)
    return kind(np.random.default_rng([seed, list(KINDS).index(kind)]), rows, speed)


def write(out, x, label):
    print(",".join(f"a{j}" for j in range(x.shape[1])) + ",class", file=out)
    for row, k in zip(x, label):
        print(",".join(f"{v:.6g}" for v in row) + f",{k}", file=out)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit("\n".join(f"{kind.__name__}: {' '.join(map(str, speeds))}" for kind, speeds in KINDS.items()))
    write(sys.stdout, *make(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])))
