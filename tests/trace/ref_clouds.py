# SPDX-License-Identifier: BSD-3-Clause
"""The reference of clouds: classes are normal around their means, and so are the means; who is far from all that were found is a
stranger. The exact rule is in docs/reference/algorithms/clouds.md."""
import numpy as np

from ref_common import Learner, Rng, argmax

MOST, WIDE_ROWS = 64, 256


def log_normal(y, mean, variance):
    return -0.5 * ((y - mean) ** 2 / variance + np.log(variance)).sum()


def direction(j):
    """Row j of B before there are directions: e_j, or a random one of them with a random sign."""
    row = np.zeros(MOST)
    bits = Rng(j).bits() if j >= MOST else 0
    row[bits % MOST if j >= MOST else j] = 1 if j < MOST or bits >> 63 else -1
    return row


class Clouds(Learner):
    defaults = {'from': 2}

    def start(self):
        self.B = np.array([direction(j) for j in range(self.d)])
        self.wide, self.Y = 0, np.zeros((self.d, MOST))
        self.next, self.used = 16, 0
        self.right = [[] for _ in range(self.K)]  # examples, by class
        self.refuted = []  # (example, label)
        self.all = []
        self.coordinates = None

    def learns(self):
        return self.K >= getattr(self, 'from')

    def note(self, x):
        last = max(np.flatnonzero(x), default=-1)
        if last >= MOST and self.wide < WIDE_ROWS:
            self.Y += np.outer(x, self.B.T @ x)
            self.wide += 1
            if self.wide == WIDE_ROWS:
                self.turn()
        self.all.append(self.B.T @ x)
        self.used = max(self.used, MOST if self.wide == WIDE_ROWS else min(last + 1, MOST))

    def turn(self):
        """Directions from the examples; all but the sums of the classes is collected again."""
        Q, R = np.linalg.qr(self.Y)
        self.B = Q * np.sign(np.diag(R))
        self.right = [[np.mean(examples, axis=0)] * len(examples) for examples in self.right]
        self.all, self.refuted, self.coordinates, self.next, self.used = [], [], None, 16, 0

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
                narrow = (np.array(examples) @ self.B)[:, :n]
                differences = narrow - narrow.mean(axis=0)
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
            return inverse @ ((self.B.T @ z)[:len(centre)] - centre)

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
