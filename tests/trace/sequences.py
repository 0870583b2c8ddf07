# SPDX-License-Identifier: BSD-3-Clause
"""Random sequences of calls, made to the library and to the reference of panel: predictions, feedback that is late, lost or given
twice, and models that are saved and loaded. Both choose the same labels with the same probabilities, until a decision is a near tie.

Usage: sequences.py [SEED ...]        with the package hunch on PYTHONPATH
"""
import sys

import numpy as np

import hunch
from ref_common import Rng
from reference import make

K, COLUMNS, CALLS = 3, 6, 1500
NEAR = 1e-3  # scores that a float may order otherwise
SPECS = (
    "panel:scale=none,restart=2,members=[confident:matrix=span,rank=6;forgetting=confident:matrix=span,rank=6,decay=0.1;consistent=linucb:matrix=full]",
    "panel:scale=none,restart=0,members=[confident:matrix=diag;alternative=linucb:matrix=full]",
)


def example(rng, t):
    """A label, which means something else in the second half, and a row."""
    x = np.array([(rng.integer(257) - 128) / 64 for _ in range(COLUMNS)])
    y = int(np.argmax([x[0] + x[1], x[2] - x[0], x[3] - x[1]]))
    return (y + (2 * t > CALLS)) % K, x


def near_tie(reference, x):
    scores = [member.learner.scores(x) for member in reference.members]
    return any(np.diff(np.sort(s))[-1] < NEAR for s in scores)


def play(spec, seed):
    """How many calls of each kind there were."""
    rng = Rng(seed)
    learner, reference = hunch.Learner(spec, classes=K, seed=seed), make(spec, K, COLUMNS, seed)
    waiting, calls = [], {"predicted": 0, "late": 0, "twice": 0, "lost": 0, "saved": 0}
    for t in range(CALLS):
        y, x = example(rng, t)
        tie = near_tie(reference, x)
        label, greedy, prob = reference.predict(x)
        choice = learner.predict(x)
        if tie and (choice.label_number, choice.greedy_number) != (label, greedy):
            break
        where = f"{spec}, seed {seed}, call {t}"
        assert (choice.label_number, choice.greedy_number) == (label, greedy), where
        assert abs(choice.prob - prob) < 5e-3, f"{where}: {choice.prob} and {prob}"
        calls["predicted"] += 1
        waiting.append((choice, x, label, greedy, prob, reference.met, label == y))
        what = rng.integer(20)
        if what == 0:
            waiting.pop()
            calls["lost"] += 1
        while len(waiting) > (2 if what < 5 else 0):
            choice, x, label, greedy, prob, reference.met, right = waiting.pop(rng.integer(len(waiting)))
            calls["late"] += choice.round != t + 1
            reference.learn(x, label, greedy, prob, right)
            assert learner.feedback(choice, right), where
            if rng.integer(30) == 0:
                assert not learner.feedback(choice, right), where  # an answer counts once
                calls["twice"] += 1
        if what == 7:
            learner = hunch.Learner.from_bytes(learner.to_bytes())
            calls["saved"] += 1
    return calls


def main(seeds):
    for spec in SPECS:
        total = {}
        for seed in seeds:
            for kind, n in play(spec, seed).items():
                total[kind] = total.get(kind, 0) + n
        assert min(total.values()) > 5 * len(seeds), total
        print(f"ok   {spec}: {total}")


if __name__ == "__main__":
    main([int(seed) for seed in sys.argv[1:]] or range(1, 6))
