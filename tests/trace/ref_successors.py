# SPDX-License-Identifier: BSD-3-Clause
"""The references of the papers' successors: gaptron, fastcb, regcb."""
import numpy as np

from ref_bandits import Regression
from ref_common import Learner, argmax, rival, softmax


class Gaptron(Learner):
    """van der Hoeven 2020 (step=fixed); van der Hoeven, Fusco, Cesa-Bianchi 2021 (step=adaptive)."""

    defaults = dict(loss='logistic', gamma=0.01, step='adaptive', B=10.0, eta='auto', kappa=0.5, X=1.0)

    def start(self):
        super().start()
        self.H = 0.0

    def gap(self, x, g):
        s = self.scores(x)
        m = s[g] - s[rival(s, g)]
        if self.loss == 'logistic':
            top = softmax(s)[g]
            return 1 - top if top >= 0.5 else 1.0
        if self.loss == 'hinge':
            return max(0.0, 1 - max(1.0 if m > self.kappa else 0.0, m))
        return (1 - min(1.0, m))**2

    def choose(self, x, greedy):
        return self.explore(greedy, max(self.gap(x, greedy), self.gamma))

    def gradient(self, x, y):
        """dloss/ds for the true label y"""
        s = self.scores(x)
        if self.loss == 'logistic':
            return (softmax(s) - np.eye(self.K)[y]) / np.log(2)
        r = rival(s, y)
        m = s[y] - s[r]
        if self.loss == 'hinge':
            free = argmax(s) == y and m > self.kappa
            dm = 0.0 if free or m >= 1 else -1.0
        else:
            dm = 0.0 if m >= 1 else -2 * (1 - m) if m > 0 else -2.0
        return dm * (np.eye(self.K)[y] - np.eye(self.K)[r])

    def learn(self, x, label, greedy, prob, right):
        if not right:
            return
        G = np.outer(self.gradient(x, label), x) / prob
        self.H += np.sum(G * G)
        if self.step == 'adaptive':
            rate = self.B / np.sqrt(2 * (1e-8 + self.H))
        elif self.eta == 'auto':
            full = {'logistic': np.log(2) / 2, 'hinge': 1 - self.kappa, 'smooth-hinge': 1 / 4}[self.loss]
            rate = self.gamma / (self.K * self.X)**2 * full
        else:
            rate = self.eta
        self.W -= rate * G


class FastCb(Learner):
    """Foster, Krishnamurthy 2021, over logistic regressions with Laplace's approximation."""

    defaults = {'gamma': 10.0, 'power': 0.5, 'lambda': 1.0, 'matrix': 'diag'}

    def start(self):
        super().start()
        self.A = np.array([vars(self)['lambda'] * np.eye(self.d)] * self.K)
        self.n = 0

    def losses(self, x):
        return 1 / (1 + np.exp(self.scores(x)))

    def choose(self, x, greedy):
        f = self.losses(x)
        G = self.gamma * self.n**self.power if self.n else 0.0
        P = f[greedy] / (self.K * f[greedy] + G * (f - f[greedy]))
        P[greedy] = 0.0
        P[greedy] = 1 - P.sum()
        label = self.rng.label(P)
        return label, P[label]

    def learn(self, x, label, greedy, prob, right):
        f = self.losses(x)[label]
        A = self.A[label]
        Sx, h = np.linalg.solve(A, x), f * (1 - f)
        self.W[label] += Sx * (f - (0 if right else 1)) / (1 + h * (x @ Sx))
        self.A[label] = A + h * (np.outer(x, x) if self.matrix == 'full' else np.diag(x * x))
        self.n += 1


class RegCb(Regression):
    """Foster, Agarwal, Dudik, Luo, Schapire 2018."""

    defaults = {'rule': 'optimistic', 'c0': 0.1, 'lambda': 1.0, 'matrix': 'diag'}

    def start(self):
        super().start()
        self.n = 0

    def choose(self, x, greedy):
        s = self.scores(x)
        width = np.sqrt(self.c0 * np.log(self.K * (self.n + 1)) * self.variances(x))
        if self.rule == 'optimistic':
            return argmax(s + width), 1.0
        left = s + width >= np.max(s - width)
        P = left / left.sum()
        label = self.rng.label(P)
        return label, P[label]

    def learn(self, x, label, greedy, prob, right):
        super().learn(x, label, greedy, prob, right)
        self.n += 1
