# SPDX-License-Identifier: BSD-3-Clause
"""Random tables: every cell is what Python's csv module reads, and what pandas reads when it reads the table at all.
Usage: differential.py CELLS [TABLES]. A cell's blanks at its ends mean nothing in hunch, so they are not compared."""
import csv
import io
import json
import random
import subprocess
import sys

ALPHABET = ['a', 'b', '7', '.', ' ', '"', '""', ',', '\n', '\r\n', "'", ';', 'é', '\t', 'NA', '-']


def cell(rng):
    text = "".join(rng.choice(ALPHABET) for _ in range(rng.randrange(6)))
    kind = rng.randrange(4)
    if kind == 0:
        return '"' + text.replace('"', '""') + '"'
    if kind == 1:
        return "".join(c for c in text if c not in '",\n\r')
    if kind == 2:
        return rng.choice(["1.5", "x", "", "héllo", "2024-01-02"])
    return "".join(c for c in text if c not in ',\n\r').lstrip(' "')  # quotes inside are text


def table(rng):
    columns = rng.randrange(1, 6)
    end = rng.choice(["\n", "\r\n"])
    lines = [",".join(cell(rng) for _ in range(columns)) for _ in range(rng.randrange(1, 7))]
    return end.join(lines) + rng.choice(["", end])


def by_csv(text):
    rows = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
    return [[c.strip(" \t\r") for c in row] for row in rows if row]


def by_pandas(text):
    import pandas
    try:
        frame = pandas.read_csv(io.StringIO(text), header=None, dtype=str, keep_default_na=False, skipinitialspace=True,
                                skip_blank_lines=True)
    except (pandas.errors.ParserError, pandas.errors.EmptyDataError):
        return None
    return [[c.strip(" \t\r") for c in row] for row in frame.values.tolist()]


def main():
    total = int(sys.argv[2]) if len(sys.argv) > 2 else 20000
    rng = random.Random(total)
    compared = pandas_compared = 0
    while compared < total:
        texts = [table(rng) for _ in range(min(1000, total - compared))]
        data = b"".join(str(len(b := t.encode())).encode() + b"\n" + b for t in texts)
        answers = subprocess.run([sys.argv[1]], input=data, capture_output=True, check=True).stdout.splitlines()
        for i, (text, answer) in enumerate(zip(texts, answers, strict=True)):
            ours = [[c.strip(" \t\r") for c in row] for row in json.loads(answer)]
            theirs = by_csv(text)
            assert ours == theirs, f"{text!r}\nhunch {ours}\ncsv   {theirs}"
            if i % 100 == 0 and len({len(r) for r in theirs}) == 1 and all(any(r) for r in theirs):
                frame = by_pandas(text)
                assert frame is None or frame == ours, f"{text!r}\nhunch  {ours}\npandas {frame}"
                pandas_compared += frame is not None
        compared += len(texts)
    print(f"{compared} tables as csv reads them, {pandas_compared} as pandas does")


if __name__ == "__main__":
    main()
