# SPDX-License-Identifier: BSD-3-Clause
"""How often intervals of off-policy estimates hold the truth, over many small logs: the table of docs/how-to/python.md.

Usage: PYTHONPATH=build-test/python python3 experiments/off_policy_coverage.py [LOGS]   (default 1000)

Four kinds of context, five labels, rewards of 0 and 1. The policy that is judged shows one label per context. The
logging policy believes in that label in a share of the rounds (agrees), in another one otherwise, and shows any label
with probability epsilon / 5. The truth is computed, not estimated.
"""

import sys
import warnings

import numpy as np

from hunch import off_policy

LABELS = 5
CASES = [(1.0, 0.0), (0.5, 0.5), (0.2, 0.5), (0.2, 0.0)]
WAYS = [
    ("ips", "normal"),
    ("ips", "bootstrap"),
    ("ips", "bernstein"),
    ("snips", "normal"),
    ("snips", "bootstrap"),
    ("snips", "wilson"),
    ("dr", "normal"),
    ("dr", "bootstrap"),
    ("dr", "bernstein"),
]
MEANS = np.linspace(0.1, 0.9, LABELS)[(np.arange(LABELS) + np.arange(4)[:, None]) % LABELS]


def log(seed, rounds, epsilon, agrees):
    rng = np.random.default_rng(seed)
    kind = rng.integers(4, size=rounds)
    policy = kind * 2 % LABELS
    believed = np.where(rng.random(rounds) < agrees, policy, (policy + 1) % LABELS)
    chances = np.full((rounds, LABELS), epsilon / LABELS)
    chances[np.arange(rounds), believed] += 1 - epsilon
    label = (rng.random((rounds, 1)) > chances.cumsum(axis=1)).sum(axis=1).clip(max=LABELS - 1)
    right = rng.random(rounds) < MEANS[kind, label]
    return np.eye(4, dtype=np.float32)[kind], label, right, chances[np.arange(rounds), label], policy


def main(logs=1000):
    warnings.simplefilter("ignore", off_policy.LogWarning)
    truth = float(np.mean(MEANS[np.arange(4), np.arange(4) * 2 % LABELS]))
    print("| rounds | epsilon, agrees | effective |", " | ".join(f"{m} {i}" for m, i in WAYS), "|")
    print("|" + "---|" * (3 + len(WAYS)))
    for rounds in (100, 1000):
        for epsilon, agrees in CASES:
            hits, effective = {way: [] for way in WAYS}, []
            for seed in range(logs):
                x, label, right, prob, policy = log(seed, rounds, epsilon, agrees)
                model = off_policy.reward_model(x, label, right, range(LABELS)) if rounds <= 100 or seed < 200 else None
                for method, interval in WAYS:
                    if method == "dr" and model is None:
                        continue
                    more = dict(interval=interval, replicates=300, labels=range(LABELS))
                    if method == "dr":
                        made = off_policy.doubly_robust(label, right, prob, policy, model, **more)
                    else:
                        made = getattr(off_policy, method)(label, right, prob, policy, **more)
                    hits[method, interval].append(made.low <= truth <= made.high)
                effective.append(made.effective_rounds)
            shares = " | ".join(f"{100 * np.mean(hits[way]):.0f} %" for way in WAYS)
            print(f"| {rounds} | {epsilon}, {agrees} | {np.mean(effective):.0f} | {shares} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
