# SPDX-License-Identifier: BSD-3-Clause
"""Tables of categories, for how many directions pairs of columns want: the numbers of docs/reference/algorithms/confident.md.

Usage: python3 experiments/categories.py HUNCH FOLDER     (writes FOLDER/set.csv; prints a table)

Needs NumPy. Sixteen tables of 5 to 10 attributes, 19 to 38 categories in all, 2 to 5 classes: by tables of pairs, trees, sums as in
Nursery, and a few pairs with noise. Ten orders each; the default learner, and the same with one number of directions behind its map.
"""
import json
import math
import pathlib
import subprocess
import sys

import numpy as np

RANKS = (112, 72, 64)
CONFIDENT = "confident:matrix=span,r=0.2,demote_mean=3,doubt=250"


def panel_with(rank):
    mapped = f"{CONFIDENT},rank={rank},map=auto"
    return (f"panel:members=[{mapped};{CONFIDENT};{mapped},decay=0.001;{mapped},decay=0.01;"
            f"{mapped.replace('r=0.2', 'r=5')},decay=0.001;{mapped};linucb:alpha=0.5,matrix=span]")


def by_pairs(r, X, sizes, K, share, alone):
    scores = np.zeros((len(X), K))
    for i, n in enumerate(sizes):
        scores += alone * r.normal(size=(n, K))[X[:, i]]
        for j in range(i):
            scores += 1.2 * r.normal(size=(n, sizes[j], K))[X[:, i], X[:, j]] * (r.random() < share)
    return scores.argmax(1)


def by_tree(r, X, sizes, K):
    y = np.zeros(len(X), int)

    def grow(rows, depth):
        if depth == 0 or len(rows) < 2:
            y[rows] = r.integers(K)
            return
        column = r.integers(len(sizes))
        for value in range(sizes[column]):
            grow(rows[X[rows, column] == value], depth - 1)

    grow(np.arange(len(X)), 4)
    return y


def by_sum(r, X, sizes, K):
    sums = (X / (sizes - 1)) @ r.random(len(sizes))
    y = np.searchsorted(np.quantile(sums, np.linspace(0, 1, K + 1)[1:-1]), sums)
    y[X[:, 0] == 0] = 0
    return y


def table(number):
    """Cells and classes."""
    r, K = np.random.default_rng(number), 2 + number % 4
    sizes = r.integers(2, 6, 5 + number % 6)
    X = np.stack([r.integers(0, n, (3000, 10000)[number % 2]) for n in sizes], 1)
    kind = number // 4
    if kind == 0:
        return X, by_pairs(r, X, sizes, K, 1, 1)
    if kind == 1:
        return X, by_tree(r, X, sizes, K)
    if kind == 2:
        return X, by_sum(r, X, sizes, K)
    y = by_pairs(r, X, sizes, K, 0.4, 0)
    noisy = r.random(len(y)) < 0.05
    return X, np.where(noisy, r.integers(0, K, len(y)), y)


def write(path, X, y):
    with open(path, "w", encoding="utf-8") as out:
        print(*(f"a{i}" for i in range(X.shape[1])), "class", sep=",", file=out)
        for x, k in zip(X, y):
            print(*(f"v{v}" for v in x), f"k{k}", sep=",", file=out)


def result(hunch, path, learner):
    """Error and seconds."""
    out = subprocess.run([hunch, "run", "-q", "--json", "--runs", "10", "--learner", learner, path], capture_output=True, text=True,
                         check=True).stdout
    first = json.loads(out)[0]
    return 100 * first["error"], first["seconds"]


def main(hunch, folder):
    folder.mkdir(parents=True, exist_ok=True)
    learners = {"default": "panel", **{f"{rank} directions": panel_with(rank) for rank in RANKS}}
    print("| table | rows | columns | classes | " + " | ".join(learners) + " |\n|---|---|---|---" + "|---" * len(learners) + "|")
    logs, seconds = {name: 0.0 for name in learners}, {name: 0.0 for name in learners}
    for number in range(16):
        X, y = table(number)
        write(folder / "set.csv", X, y)
        found = {name: result(hunch, folder / "set.csv", spec) for name, spec in learners.items()}
        columns = sum(len(np.unique(X[:, i])) for i in range(X.shape[1]))
        print(f"| {number} | {len(X):,} | {columns} | {len(np.unique(y))} | " + " | ".join(f"{e:.2f}" for e, _ in found.values()) + " |",
              flush=True)
        for name, (error, time) in found.items():
            logs[name] += math.log(error) / 16
            seconds[name] += time
    print("| geometric mean | | | | " + " | ".join(f"{math.exp(v):.2f}" for v in logs.values()) + " |")
    print("| seconds | | | | " + " | ".join(f"{v:.1f}" for v in seconds.values()) + " |")


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
