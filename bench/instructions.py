#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Instructions that each learner takes per non-zero of a fixed small workload, counted by Callgrind: numbers that do not
depend on how busy the machine is, so that a change for the worse shows.

    bench/instructions.py build/cli/hunch [LEARNER ...]"""
import os
import re
import subprocess
import sys
import tempfile

ROWS, NONZEROS = 300, 20


def count(hunch, spec, path, folder):
    """Instructions of `hunch run` with this learner, start and reading included; None: more than a minute."""
    output = os.path.join(folder, "callgrind.out")
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={output}", hunch, "run", "--quiet", "--json",
               "--threads", "1", "-l", spec, path]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except subprocess.TimeoutExpired:
        return None
    return int(re.search(r"Collected : (\d+)", result.stderr).group(1))


def measure(hunch, specs):
    """Of each learner, instructions per non-zero: what the rows cost beyond the first one of them."""
    table = {}
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for rows in (1, ROWS):
            path = os.path.join(folder, f"{rows}.hc")
            subprocess.run([hunch, "synth", "zipf", f"--rows={rows}", "--features=100", "--classes=8",
                            f"--nonzeros={NONZEROS}", "-o", path], check=True)
            paths.append(path)
        for spec in specs:
            few, many = (count(hunch, spec, path, folder) for path in paths)
            table[spec] = None if few is None or many is None else (many - few) / (ROWS * NONZEROS)
    return table


def learners(hunch):
    lines = subprocess.run([hunch, "learners"], capture_output=True, text=True, check=True).stdout.splitlines()
    return [line.split()[0] for line in lines[1:lines.index("")]]


def main():
    hunch = sys.argv[1]
    for spec, number in measure(hunch, sys.argv[2:] or learners(hunch)).items():
        print(f"{spec:24} " + ("more than a minute" if number is None else f"{number:10,.0f}"))


if __name__ == "__main__":
    main()
