# SPDX-License-Identifier: BSD-3-Clause
"""Irrelevant columns in tables: the table of experiments/SILENT_COLUMNS.md.

Usage: PYTHONPATH=build-test/python python3 experiments/silent_columns.py [--orders N] HUNCH DATA     (DATA: a folder of data sets)

The default learner, `hunch run FILE.csv` with no settings, on tables to which columns were added that have nothing to do
with the label: numbers, names, dates, ids. Rows are in random orders, in which dates and row numbers go up.
"""

import argparse
import csv
import pathlib
import random
import tempfile
import uuid

import hunch
from unseen import hunch_error

FILES = {
    "Letter": "uci/letter.svm.xz",
    "Satimage": "uci/satimage.svm.xz",
    "Shuttle": "uci/shuttle.svm.xz",
    "Covertype, 15,120 rows": "covtype15120/covtype15120.svm.xz",
}


def normal(count):
    return [f"{random.gauss(0, 1):.4f}" for _ in range(count)]


def money():
    return [f"{random.lognormvariate(5, 3):.2f}"]


def name(count):
    return [f"n{random.randrange(count)}"]


def date(i, rows):
    return [f"2024-{1 + 11 * i // rows:02}-{1 + i % 28:02} {i % 24:02}:{i % 60:02}:{7 * i % 60:02}"]


def number(i):
    return [str(i + 1)]


def key():
    return [str(uuid.UUID(int=random.getrandbits(128)))]


# What a column is, and how a row's cells are made: i is the row, n how many there are.
KINDS = {
    "none": lambda i, n: [],
    "row number, key": lambda i, n: number(i) + key(),
    "date": date,
    "three sums of money": lambda i, n: money() + money() + money(),
    "a name of 1,000": lambda i, n: name(1000),
    "five names of 20": lambda i, n: [cell for _ in range(5) for cell in name(20)],
    "10 normal numbers": lambda i, n: normal(10),
    "50 normal numbers": lambda i, n: normal(50),
    "number, key, name of 300, money, date": lambda i, n: number(i) + key() + name(300) + money() + date(i, n),
}


def table_write(path, rows, more):
    with open(path, "w", newline="", encoding="utf-8") as out:
        table = csv.writer(out)
        for i, row in enumerate(rows):
            cells = more(i, len(rows))
            if i == 0:
                table.writerow([f"more{j}" for j in range(len(cells))] + [f"a{j}" for j in range(len(row) - 1)] + ["label"])
            table.writerow(cells + row)


def rows_of(path):
    x, y = hunch.datasets.load_svmlight(path)
    return [[f"{v:g}" for v in row] + [f"c{label}"] for row, label in zip(x.toarray().tolist(), y.tolist())]


def errors(tool, rows, orders):
    """The mean error of each kind."""
    ret = dict.fromkeys(KINDS, 0.0)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "table.csv"
        for order in range(orders):
            for kind, more in KINDS.items():
                random.seed(order)
                table_write(path, random.sample(rows, len(rows)), more)
                ret[kind] += hunch_error(tool, path) / orders
    return ret


def main():
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--orders", type=int, default=3)
    parser.add_argument("hunch")
    parser.add_argument("data", type=pathlib.Path)
    args = parser.parse_args()
    columns = {set_: errors(args.hunch, rows_of(args.data / file), args.orders) for set_, file in FILES.items()}
    print("| columns added |", " | ".join(columns), "|")
    print("|---" * (len(columns) + 1) + "|")
    for kind in KINDS:
        print(f"| {kind} |", " | ".join(f"{of[kind]:.1f}" if of[kind] > 2 else f"{of[kind]:.2f}" for of in columns.values()), "|")


if __name__ == "__main__":
    main()
