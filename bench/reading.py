#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How fast tables and JSON lines are read: makes files of the usual kinds and has bench_read read them, one thread, CPU
time, best of nine turns.

    ninja -C build bench/bench_read && bench/reading.py build/bench/bench_read [ROWS]"""
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile


def numbers(rng):
    return {f"x{i}": round(rng.random() * 10, 4) for i in range(20)}


def files_write(rows):
    rng = random.Random(1)
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 9))) for _ in range(20000)]
    weights = list(itertools.accumulate(1 / (i + 1) for i in range(len(words))))  # Zipf's law

    def text(n):
        return " ".join(rng.choices(words, cum_weights=weights, k=n))

    with open("numbers.csv", "w", encoding="utf-8") as table, open("numbers.jsonl", "w", encoding="utf-8") as flat, \
            open("features.jsonl", "w", encoding="utf-8") as features:
        table.write(",".join(f"x{i}" for i in range(20)) + ",label\n")
        for _ in range(rows):
            row, label = numbers(rng), rng.choice("abc")
            table.write(",".join(f"{v:.4f}" for v in row.values()) + f",{label}\n")
            flat.write(json.dumps({**row, "label": label}) + "\n")
            features.write(json.dumps({"label": label, "x": row}) + "\n")
    with open("texts.csv", "w", encoding="utf-8") as table, open("texts.jsonl", "w", encoding="utf-8") as lines:
        table.write("subject,body,channel,age,label\n")
        for _ in range(rows // 3):
            row = {"subject": text(6), "body": text(60), "channel": rng.choice(["web", "mail"]),
                   "age": rng.randint(18, 80), "label": rng.choice("abc")}
            table.write('{subject},"{body}",{channel},{age},{label}\n'.format(**row))
            lines.write(json.dumps(row) + "\n")


def named_write(rows):
    """VW text of twelve named features a row without values, out of 104,000: one of each kind."""
    rng = random.Random(2)
    kinds = [[f"{kind}{rng.randrange(10**5)}_{i}" for i in range(8667)] for kind in "ABCDEFGHIJKL"]
    with open("names.vw", "w", encoding="utf-8") as out:
        for _ in range(rows):
            chosen = [rng.randrange(8667) for _ in kinds]
            label = 1 + (sum(i % 2 for i in chosen) > 6)
            out.write(f"{label} | {' '.join(names[i] for names, i in zip(kinds, chosen, strict=True))}\n")


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        rows = int(sys.argv[2]) if len(sys.argv) > 2 else 90000
        files_write(rows)
        named_write(4 * rows)
        subprocess.run([program, "numbers.csv", "texts.csv", "features.jsonl", "numbers.jsonl", "texts.jsonl", "names.vw"],
                       check=True)
        os.chdir("/")


if __name__ == "__main__":
    main()
