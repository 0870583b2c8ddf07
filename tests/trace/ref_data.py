# SPDX-License-Identifier: BSD-3-Clause
"""Data that the properties of the references are tested on: SynSep, SynNonSep, and the two sets of the separable paper."""
import math

import numpy as np

from ref_common import Rng


def synthetic(rows=20000, seed=1):
    """(active features per row, clean labels, noisy labels): 9 classes, 400 binary features."""
    rng = Rng(seed)
    keywords = [[j for j in range(120) if rng.uniform() < 0.25] for _ in range(9)]
    X, y = [], []
    for _ in range(rows):
        label = rng.integer(9)
        a = list(keywords[label])
        for j in range(5):
            other = j + rng.integer(len(a) - j)
            a[j], a[other] = a[other], a[j]
        b = list(range(120, 400))
        for j in range(20):
            other = j + rng.integer(280 - j)
            b[j], b[other] = b[other], b[j]
        X.append(sorted(a[5:]) + sorted(b[:20]))
        y.append(label)
    noisy = list(y)
    order = list(range(rows))
    for t in range(rows // 20):
        other = t + rng.integer(rows - t)
        order[t], order[other] = order[other], order[t]
        noisy[order[t]] = rng.integer(9)
    return X, y, noisy


def dense(active, d=400):
    x = np.zeros(d)
    x[active] = 1
    return x


def scaled_norm(p):
    """The norm as the authors' Octave computes it, which decides which points of length 1 count as longer than 1."""
    scale, total = 0.0, 1.0
    for v in map(abs, p):
        if v > scale:
            scale, total = v, total * (scale / v)**2 + 1
        elif v > 0:
            total += (v / scale)**2
    return scale * math.sqrt(total)


def planar(rows, strong, seed=201):
    """The 2-D sets (plus a constant) of Beygelzimer et al. 2019, three classes."""
    rng = Rng(seed)
    directions = [(math.cos(a), math.sin(a)) for a in (0, math.pi / 6, -math.pi / 6)]
    X, y = [], []
    for _ in range(rows):
        near = rng.uniform() > 0.2
        while True:
            u = rng.uniform()
            angle = (-15 + 30 * u if near else 15 + 330 * u) * math.pi / 180
            length = 1.0 if strong else rng.uniform()
            p = (length * math.cos(angle), length * math.sin(angle))
            s = sorted((p[0] * a + p[1] * b for a, b in directions), reverse=True)
            if s[0] - s[1] >= 0.05 and scaled_norm(p) <= 1:
                break
        scores = [p[0] * a + p[1] * b for a, b in directions]
        X.append(np.array([p[0], p[1], 1.0]) / math.sqrt(2))
        y.append(int(np.argmax(scores)))
    return X, y, rng.draws
