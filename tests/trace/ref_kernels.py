# SPDX-License-Identifier: BSD-3-Clause
"""The dual forms of confidit and soba. Every answer is computed anew from the stored examples."""
import numpy as np

from reference import Confidit, Soba

KERNEL_DEFAULTS = dict(kernel='rbf', degree=2.0, bandwidth=1.0, nu=0.5)


def to_ball(x):
    return x / max(1.0, np.linalg.norm(x))


def kernel(learner, x, z):
    if learner.kernel == 'linear':
        return x @ z
    if learner.kernel == 'poly':
        return (1 + x @ z)**learner.degree
    if learner.kernel == 'rbf':
        return np.exp(-learner.bandwidth * np.sum((x - z)**2))
    return 1 / (1 - learner.nu * (to_ball(x) @ to_ball(z)))


class ConfiditKernel(Confidit):
    """A_i = a I + sum x_s x_s' and w_i = A_i^-1 sum sign_s x_s over the examples class i was updated with."""

    defaults = dict(Confidit.defaults, budget=200, **KERNEL_DEFAULTS)

    def start(self):
        assert self.project == 'no'
        self.past = 0.0
        self.kept = [[] for _ in range(self.K)]  # (x, sign) per class

    def forms_of(self, i, x):
        a = (1 + self.alpha)**2
        xx = kernel(self, x, x)
        if not self.kept[i]:
            return 0.0, xx / a
        X = [z for z, _ in self.kept[i]]
        signs = np.array([sign for _, sign in self.kept[i]])
        gram = np.array([[kernel(self, z, y) for z in X] for y in X])
        kx = np.array([kernel(self, z, x) for z in X])
        inverse = np.linalg.inv(a * np.eye(len(X)) + gram)
        return kx @ inverse @ signs, max(0.0, (xx - kx @ inverse @ kx) / a)

    def forms(self, x):
        f, q = zip(*[self.forms_of(i, x) for i in range(self.K)])
        return np.array(f), np.array(q)

    def learn(self, x, label, greedy, prob, right):
        sign = self.sign(right)
        kept = self.kept[label]
        if len(kept) == self.budget:
            kept.pop(0)
        kept.append((x, sign))
        self.past += self.forms_of(label, x)[1]


class SobaKernel(Soba):
    """A = a I + sum z_s z_s' and W = A^-1 sum z_s / sqrt(p_s) over the accepted rounds."""

    defaults = dict(Soba.defaults, budget=500, **KERNEL_DEFAULTS)

    def start(self):
        super().start()
        self.kept = []  # (x, y, ybar, p)

    def inner(self, one, two):
        """<z, z'> for two rounds"""
        (x, y, yb, p), (x2, y2, yb2, p2) = one, two
        pairs = float(y == y2) - float(y == yb2) - float(yb == y2) + float(yb == yb2)
        return pairs * kernel(self, x, x2) / np.sqrt(p * p2)

    def inverse(self):
        n = len(self.kept)
        H = np.array([[self.inner(s, t) for t in self.kept] for s in self.kept]).reshape(n, n)
        return np.linalg.inv(self.a * np.eye(n) + H)

    def scores(self, x):
        s = np.zeros(self.K)
        if self.kept:
            c = self.inverse() @ np.array([1 / np.sqrt(p) for _, _, _, p in self.kept])
            for c_s, (xs, y, ybar, p) in zip(c, self.kept):
                s[y] += c_s * kernel(self, xs, x) / np.sqrt(p)
                s[ybar] -= c_s * kernel(self, xs, x) / np.sqrt(p)
        return s

    def form(self, x, y, ybar, p):
        z = (x, y, ybar, p)
        h = np.array([self.inner(s, z) for s in self.kept])
        return (self.inner(z, z) - (h @ self.inverse() @ h if self.kept else 0.0)) / self.a

    def update(self, x, y, ybar, p):
        if len(self.kept) == self.budget:
            self.kept.pop(0)
        self.kept.append((x, y, ybar, p))
