#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Do two builds of the library err alike? Some runs are chaotic, so single counts may differ; over twenty seeds the
error rates must not, by a two-sample permutation test on their means at 0.001 for the whole family of comparisons.

Usage: compare_precision.py ERROR_RATES_ONE ERROR_RATES_TWO   (the two builds' tests/golden/error_rates programs)
"""
import random
import subprocess
import sys

LEVEL = 0.001
PERMUTATIONS = 20000


def rates(program):
    lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    return {tuple(line.split()[:2]): [float(v) for v in line.split()[2:]] for line in lines}


def p_value(a, b, rng):
    """Two-sided permutation test on the difference of means."""
    pooled, n = a + b, len(a)
    observed = abs(sum(a) / n - sum(b) / len(b))
    total, extreme = sum(pooled), 0
    for _ in range(PERMUTATIONS):
        rng.shuffle(pooled)
        head = sum(pooled[:n])
        extreme += abs(head / n - (total - head) / len(b)) >= observed - 1e-15
    return (extreme + 1) / (PERMUTATIONS + 1)


def main(one, two):
    first, second = rates(one), rates(two)
    assert first.keys() == second.keys() and first
    rng, bad = random.Random(1), 0
    for key in first:
        a, b = first[key], second[key]
        p = p_value(a, b, rng)
        bad += p < LEVEL
        print(f"{key[0]:10} {key[1]:52} {100 * sum(a) / len(a):7.3f} {100 * sum(b) / len(b):7.3f} %   p = {p:.4f}")
    print(f"{len(first)} comparisons, {bad} differ at {LEVEL}")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
