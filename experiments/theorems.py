#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the papers prove, with the constants that are printed, beside what happens: writes experiments/THEOREMS.md.

Needs the built package (PYTHONPATH), NumPy and SciPy. `--quick` plays few rounds and prints only; it ends
with 1 where a theorem that must hold is violated.

Usage: theorems.py [--quick]
"""
import math
import pathlib
import sys

import hunch
import numpy as np
from scipy.optimize import minimize

ROWS = []  # theorem, data, learner, rounds, measured, bound, word


def row(theorem, data, spec, rounds, measured, bound, trivial, must=True):
    """trivial: what a learner that guesses has; a larger bound says nothing."""
    word = "violated" if measured > bound else "vacuous" if bound >= trivial else "holds"
    tell(theorem, data, spec, rounds, f"{measured:,.0f}", f"{bound:,.0f}", word, must)


def tell(theorem, data, spec, rounds, measured, bound, word, must=False):
    ROWS.append((theorem, data, f"`{spec}`", f"{rounds:,}", measured, bound, word, must))
    print(*ROWS[-1][:7], sep=" | ", flush=True)


def halfspaces(rounds, K, d, margin, seed, noise=0.0):
    """Unit vectors with a margin between the two best of K directions; a share of the labels drawn anew."""
    rng = np.random.default_rng(seed)
    U = rng.normal(size=(K, d))
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    X = rng.normal(size=(40 * rounds, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    S = np.sort(X @ U.T, axis=1)
    X = X[S[:, -1] - S[:, -2] >= margin][:rounds]
    assert len(X) == rounds
    y = np.argmax(X @ U.T, axis=1)
    redrawn = rng.random(rounds) < noise
    y[redrawn] = rng.integers(K, size=redrawn.sum())
    return X.astype(np.float32), y


def shown(spec, X, y, K):
    """The labels shown, round by round"""
    return np.asarray(hunch.Learner(spec, classes=K, features=X.shape[1]).run(X, y, choices=True).choices["label"])


def mistakes_of(spec, X, y, K):
    return int(np.sum(shown(spec, X, y, K) != y))


# --- Conservative one-versus-all (Chen et al. 2009) ---

def cova_theorem_1(rounds):
    """Mistakes <= half of all binary learners' hinge losses."""
    K = 4
    X, y, K = ova_separable(rounds, K, 8)
    M = 2 * np.eye(K) - 1
    for base in ("perceptron", "pa", "pa1", "pa2", "arow"):
        spec, losses, mistakes = f"cova:base={base}", 0.0, 0
        learner = hunch.Learner(spec, classes=K, features=X.shape[1])
        for x, label in zip(X, y):
            losses += np.maximum(0, 1 - M[label] * learner.scores(x)).sum()
            choice = learner.predict(x)
            mistakes += choice.label != label
            learner.feedback(choice, choice.label == label)
        row("C-OVA, Theorem 1", "one class against the rest apart by a margin", spec, rounds, mistakes, losses / 2, rounds * (K - 1) / K)


def comparison(X, sign, C):
    """|u|² and the hinge losses of a good u: minimises |u|²/C + 2 sum loss."""
    def objective(u):
        gap = np.maximum(0, 1 - sign * (X @ u))
        return u @ u / C + 2 * gap @ gap, 2 * u / C - 4 * X.T @ (gap * sign)

    u = minimize(objective, np.zeros(X.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 500}).x
    worst = (sign * (X @ u)).min()
    if worst > 0:  # separable: stretched until no example has a loss, if that is better
        stretched = u / worst
        if stretched @ stretched / C < objective(u)[0]:
            u = stretched
    return u @ u, np.maximum(0, 1 - sign * (X @ u))


def cova_theorem_2(rounds):
    """Equations 27 (with the R of Corollary 2), 28 and 29."""
    for name, X, y, K in (("one class against the rest apart by a margin", *ova_separable(rounds, 4, 8)),
                          ("three classes behind a large constant, the first alone at first", *blocks(rounds))):
        X64 = X.astype(float)
        T, R, C = len(X), np.linalg.norm(X64, axis=1).max(), 1.0
        parts = [comparison(X64, 2.0 * (y == k) - 1, C) for k in range(K)]
        bounds = {
            "pa": sum(math.sqrt(T) * R * math.sqrt(u2) + 2 * math.sqrt(T * (loss @ loss)) for u2, loss in parts) / 2,
            "pa1": sum(max(u2 / C + 2 * loss.sum(), math.sqrt(2 * R * R * u2 + 4 * C * R * R * loss.sum())) for u2, loss in parts) / 2,
            "pa2": sum(math.sqrt(T * (R * R + 1 / (2 * C)) * (u2 + 2 * C * (loss @ loss))) for u2, loss in parts) / 2,
        }
        for base, bound in bounds.items():
            spec = f"cova:base={base}"
            mistakes = mistakes_of(spec, X, y, K)
            row("C-OVA, Theorem 2", name, spec, T, mistakes, bound, T * (K - 1) / K, must=False)
            if base == "pa1":
                mended = sum(u2 / C + 2 * loss.sum() + math.sqrt(T * R * R * (u2 + 2 * C * loss.sum())) for u2, loss in parts) / 2
                row("C-OVA, Theorem 2, equation 28 mended (see below)", name, spec, T, mistakes, mended, T * (K - 1) / K, must=False)
        lemma_4(name, X64, 2.0 * (y == 0) - 1, *parts[0])


def lemma_4(name, X, sign, u2, loss):
    """Equation 26, of one PA-I learner that sees every label (C = 1), in NumPy"""
    w, losses, R = np.zeros(X.shape[1]), 0.0, np.linalg.norm(X, axis=1).max()
    for x, s in zip(X, sign):
        gap = max(0.0, 1 - s * (w @ x))
        losses += gap
        w += min(1.0, gap / (x @ x)) * s * x
    bound = max(u2 + 2 * loss.sum(), math.sqrt(2 * R * R * u2 + 4 * R * R * loss.sum()))
    row("C-OVA, Lemma 4 (equation 26): losses of one learner with all labels", name, "PA-I in NumPy", len(X), losses, bound, len(X), must=False)


def ova_separable(rounds, K, d):
    """Every class alone is separable from all others: a coordinate each, with noise in the others."""
    rng = np.random.default_rng(2)
    y = rng.integers(K, size=rounds)
    X = rng.uniform(-1, 1, size=(rounds, d)) * 0.5
    X[:, :K] = -0.3
    X[np.arange(rounds), y] = 0.7
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X.astype(np.float32), y, K


def blocks(rounds):
    """Three classes, each separable from the others by a constant and a coordinate; the first comes alone, and long."""
    y = np.where(np.arange(rounds) < rounds // 2, 0, np.arange(rounds) % 3)
    X = np.full((rounds, 4), 4.0)
    X[:, 1:] = 0.5 * np.eye(3)[y]
    return X.astype(np.float32), y, 3


# --- Confidit (Crammer, Gentile 2013) ---

def nonlinear(rounds, K, d, alpha, q, seed):
    """x, chances that leave the linear model by at most q_t, labels, and the linear model's best label."""
    rng = np.random.default_rng(seed)
    V = rng.normal(size=(K, d - 1))
    V -= V.mean(axis=0)
    V /= np.linalg.norm(V, axis=1).max()
    Z = rng.normal(size=(rounds, d - 1))
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    X = np.column_stack([np.ones(rounds), Z]) / math.sqrt(2)
    linear = 1 / K + Z @ V.T / K  # (alpha + u.x)/(1 + alpha)
    bend = np.cos(math.pi * np.arange(K) / 2) * np.sign(np.sin(5 * Z[:, :1]))  # not linear in x
    bend -= bend.mean(axis=1, keepdims=True)
    bend *= q[:, None] / np.abs(bend).max(axis=1, keepdims=True)
    P = linear + bend
    P = np.maximum(P, 0)
    P /= P.sum(axis=1, keepdims=True)
    U2 = 2 * np.sum(((1 + alpha) / K * V)**2) + 2 * K * ((1 + alpha) / K - alpha)**2
    y = (rng.random(rounds)[:, None] > P.cumsum(axis=1)).sum(axis=1).clip(max=K - 1)
    error = np.abs(P - linear).max(axis=1)
    return X.astype(np.float32), P, y, linear.argmax(axis=1), error, U2


def confidit_theorem(rounds, alpha, most):
    """Theorem 1 (most = 0): 2/(1 + alpha) sqrt(T M), M = (1 + (1 + alpha)²) (B2 + B3) B3 by equations 16 and 18, for 3 features and
    2 classes. Theorem 2: 2 Q more, and 2 Q added to B2, since its proof has equation 10 in place of 9."""
    K, d, delta = 2, 3, 0.05
    roots = np.sqrt(np.arange(1, rounds + 1))
    X, P, y, best, error, norm = nonlinear(rounds, K, d, alpha, most / roots, 3)
    Q, at = error.sum(), np.arange(rounds)
    approx = np.max(error.cumsum() / roots)
    width = f"modified,approx={approx:.3f},approx_power=0.5" if most else "theory"
    spec = f"confidit:matrix=full,project=yes,alpha={alpha:g},norm={norm:.3f},delta={delta},width={width}"
    regret = (P[at, best] - P[at, shown(spec, X, y, K)]).sum()
    guessing = (P[at, best] - P.mean(axis=1)).sum()
    B2, B3 = norm + 18 * math.log((rounds + 4) / delta) + 2 * Q, d * K * math.log(1 + rounds / (d * K * (1 + alpha)**2))
    bound = 2 * Q + 2 / (1 + alpha) * math.sqrt(rounds * (1 + (1 + alpha)**2) * (B2 + B3) * B3)
    data = f"probabilities off the linear ones by up to {most}/sqrt t, Q = {Q:.0f}" if most else "linear probabilities"
    if alpha >= 0:
        row(f"Confidit, Theorem {2 if most else 1}", f"{data}; 3 features, 2 classes", spec, rounds, regret, bound, guessing)
    else:
        tell("Confidit, alpha < 0: no theorem", f"{data}; 3 features, 2 classes", spec, rounds, f"{regret:,.0f}", "", f"guessing has {guessing:,.0f}")


# --- Bandit boosting (Chen, Lin, Lu 2014) ---

def boosting_theorem_1(deltas):
    """Errors are O(K delta T/gamma) with N = K/(delta gamma)² weak learners in T = K²/delta⁴ log(K/delta) rounds: no constant is printed;
    errors/(K delta T/gamma) must not grow as delta falls."""
    K, gamma = 2, 0.3
    for delta in deltas:
        T, N = int(K**2 / delta**4 * math.log(K / delta)), math.ceil(K / (delta * gamma)**2)
        X, y = halfspaces(T, K, 4, 0.2, 5)
        spec = f"boost:weak=gd,importance=yes,N={N},gamma={gamma},delta={delta},eta={delta**3 / K:.6g}"
        mistakes = mistakes_of(spec, X, y, K)
        unit = K * delta * T / gamma
        tell("Boosting, Theorem 1", "halfspaces, margin 0.2", spec, T, f"{mistakes:,}", f"O({unit:,.0f})",
             f"{mistakes / unit:.3f} of it, {mistakes / T:.3f} of the rounds")


HEAD = """# What the papers prove, with the constants that are printed

Written by `PYTHONPATH=build-test/python experiments/theorems.py`. Measured are mistakes, or the regret where a theorem is about it. *Holds*: below the bound, and the
bound is below what guessing has; *vacuous*: the bound says less than guessing; *violated*: above it.

| theorem | data | learner | rounds | measured | bound | |
|---|---|---|---|---|---|---|
"""


def main(quick):
    cova_theorem_1(1000 if quick else 10000)
    cova_theorem_2(1000 if quick else 20000)
    for alpha, most in ((1.0, 0), (1.0, 0.02), (0.5, 0.02), (-0.3, 0.02)):
        confidit_theorem(2000 if quick else 3000000, alpha, most)
    boosting_theorem_1([0.5, 0.4] if quick else [0.5, 0.4, 0.3, 0.2, 0.15])
    if not quick:
        path = pathlib.Path(__file__).resolve().parent / "THEOREMS.md"
        notes = path.read_text(encoding="utf-8").split("\n## ", 1)[1:] if path.exists() else []
        table = "".join("| " + " | ".join(one[:7]) + " |\n" for one in ROWS)
        path.write_text(HEAD + table + "".join("\n## " + text for text in notes), encoding="utf-8")
    return any(one[6] == "violated" and one[7] for one in ROWS)


if __name__ == "__main__":
    sys.exit(main("--quick" in sys.argv[1:]))
