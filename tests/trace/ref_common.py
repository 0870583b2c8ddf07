# SPDX-License-Identifier: BSD-3-Clause
"""What all references share: the generator, argmax, draws, and the shape of a learner.

The references are written for reading beside the papers: dense float64 vectors, one class per algorithm, no cleverness.
RULES.md is the contract; nothing here is taken from the C library.
"""
import numpy as np

MASK = (1 << 64) - 1


class Rng:
    """splitmix64; one uniform in [0, 1) per call."""

    def __init__(self, seed):
        self.state = seed & MASK
        self.draws = 0

    def bits(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def uniform(self):
        self.draws += 1
        return (self.bits() >> 11) * 2.0**-53

    def integer(self, n):
        return int(self.uniform() * n)

    def label(self, P):
        """The first k with u < P_0 + ... + P_k."""
        u, total = self.uniform(), 0.0
        for k, p in enumerate(P):
            total += p
            if u < total:
                return k
        return len(P) - 1  # guard: rounding


def argmax(s):
    """The lowest index that attains the maximum."""
    return int(np.argmax(s))


def rival(s, y):
    """The best label other than y."""
    others = np.array(s, dtype=float)
    others[y] = -np.inf
    return int(np.argmax(others))


def softmax(s):
    e = np.exp(s - np.max(s))
    return e / e.sum()


def mix(K, greedy, gamma):
    """gamma/K for every label, and the rest of the probability for the greedy one."""
    P = np.full(K, gamma / K)
    P[greedy] += 1 - gamma
    return P


class Learner:
    """One algorithm. scores(x) are the K numbers whose first argmax is the greedy label."""

    full_information = False
    defaults = {}
    drawn = False  # the floor drew the label that is learned from
    chances = None  # of all labels, unless the choice was deterministic

    def certain(self):
        """prob of a label that was shown for certain"""
        return 1.0

    def __init__(self, K, d, seed=0, **settings):
        unknown = set(settings) - set(self.defaults)
        assert not unknown, f'{type(self).__name__} has no setting {unknown}'
        self.K, self.d, self.rng, self.t = K, d, Rng(seed), 0
        for name, fallback in self.defaults.items():
            setattr(self, name, settings.get(name, fallback))
        self.start()

    def start(self):
        self.W = np.zeros((self.K, self.d))

    def scores(self, x):
        return self.W @ x

    def predict(self, x):
        self.t += 1
        greedy = argmax(self.scores(x))
        label, prob = self.choose(x, greedy)
        return label, greedy, prob

    def choose(self, x, greedy):
        """The label to show and its probability; the greedy one unless an algorithm says otherwise."""
        return greedy, 1.0

    def explore(self, greedy, gamma):
        return self.draw(mix(self.K, greedy, gamma))

    def draw(self, P):
        self.chances = P
        label = self.rng.label(P)
        return label, P[label]

    def guess(self):
        self.chances = np.full(self.K, 1 / self.K)
        return self.rng.integer(self.K), 1 / self.K


class FullInformation(Learner):
    full_information = True

    def learn(self, x, label, greedy, prob, right):
        if right:
            self.teach(x, label)


class Floor:
    """The common setting floor: with that chance a uniform label takes the place of the learner's own."""

    defaults = ('floor',)

    def __init__(self, inner, floor):
        self.inner, self.floor, self.full_information = inner, floor, inner.full_information
        inner.certain = lambda: 1 - floor + floor / inner.K

    def scores(self, x):
        return self.inner.scores(x)

    def teach(self, x, y):
        self.inner.teach(x, y)

    def predict(self, x):
        self.inner.chances = None
        label, greedy, _ = self.inner.predict(x)
        P = np.eye(self.inner.K)[label] if self.inner.chances is None else self.inner.chances
        self.inner.drawn = self.inner.rng.uniform() < self.floor
        if self.inner.drawn:
            label = self.inner.rng.integer(self.inner.K)
        return label, greedy, (1 - self.floor) * P[label] + self.floor / self.inner.K

    def learn(self, *round):
        self.inner.learn(*round)
