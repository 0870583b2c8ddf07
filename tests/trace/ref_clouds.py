# SPDX-License-Identifier: BSD-3-Clause
"""The reference of clouds: classes are normal around their means, and so are the means; who is far from all that were found is a
stranger. The exact rule is in docs/algorithms/clouds.md."""
import numpy as np

from ref_common import Learner, argmax

MOST = 64


def log_normal(y, mean, variance):
    return -0.5 * ((y - mean) ** 2 / variance + np.log(variance)).sum()


class Clouds(Learner):
    defaults = {'from': 2}

    def start(self):
        assert self.d <= MOST, 'the reference adds no features up'
        self.seen, self.next, self.used, self.n = 0, 16, 0, 0  # n: directions of the coordinates in force
        self.right = [[] for _ in range(self.K)]  # examples, by class
        self.refuted = []  # (example, label)
        self.all = []
        self.coordinates = None

    def learns(self):
        return self.K >= getattr(self, 'from')

    def note(self, x):
        self.all.append(x)
        self.used = max(self.used, *(np.flatnonzero(x) + 1), 0) if np.any(x) else self.used

    def set_coordinates(self):
        if len(self.all) < self.next:
            return
        self.next, n = int(self.next * 1.5), self.used
        everything = np.array(self.all)[:, :n]
        S = np.cov(everything.T, bias=True).reshape(n, n)
        ridge = 1e-4 * np.trace(S) / n if np.trace(S) > 0 else 1.0
        W, degrees = n * S / 2, float(n)
        for examples in self.right:
            if examples:
                differences = np.array(examples)[:, :n] - np.mean(examples, axis=0)[:n]
                W = W + differences.T @ differences
                degrees += len(examples) - 1
        F = np.linalg.cholesky(W / degrees + ridge * np.eye(n))
        inverse = np.linalg.inv(F)
        r = np.maximum(np.diag(inverse @ (S + ridge * np.eye(n)) @ inverse.T) - 1, 0.01)
        self.coordinates = everything.mean(axis=0), inverse, r

    def scores(self, x):
        scores = np.zeros(self.K)
        if not self.learns() or self.coordinates is None:
            return scores
        centre, inverse, r = self.coordinates

        def turned(z):
            return inverse @ (z[:len(centre)] - centre)

        def likely(y, examples):
            """log likelihood of y in a class with these examples"""
            n, total = len(examples), sum((turned(z) for z in examples), np.zeros(len(r)))
            return log_normal(y, r * total / (n * r + 1), 1 + r / (n * r + 1))

        y = turned(x)
        none = likely(y, [])
        for k, examples in enumerate(self.right):
            scores[k] = likely(y, examples) - none if examples else 0.0
        found = [bool(examples) for examples in self.right]
        if all(found) or (any(found) and max(scores[found]) >= 0):
            return scores
        for z, k in self.refuted:
            more = likely(y, [z]) - none
            if not found[k] and more > -8:
                scores[k] -= np.log1p(np.exp(min(more, 50)) / self.K)
        return scores

    def predict(self, x):
        self.t += 1
        if self.learns():
            self.note(x)
        label = argmax(self.scores(x))
        self.guessed = self.learns() and not self.right[label]
        return label, label, 1.0

    def learn(self, x, label, greedy, prob, right):
        if not self.learns():
            return
        if right:
            self.right[label].append(x)
        elif not self.right[label]:
            self.refuted.append((x, label))
            assert len(self.refuted) <= 32 * self.K, 'the reference keeps all'
        self.set_coordinates()
