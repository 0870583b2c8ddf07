# SPDX-License-Identifier: BSD-3-Clause
"""The dual forms of confidit and soba. Every answer is computed anew from the stored examples."""
import numpy as np

from reference import Confidit, Soba

KERNEL_DEFAULTS = dict(kernel='rbf', degree=2.0, bandwidth=1.0, nu=0.5)


def to_ball(X):
    return X / np.maximum(1.0, np.linalg.norm(X, axis=1, keepdims=True))


def kernel(learner, X, Z):
    """The kernel between every row of X and every row of Z."""
    X, Z = np.atleast_2d(X), np.atleast_2d(Z)
    if learner.kernel == 'linear':
        return X @ Z.T
    if learner.kernel == 'poly':
        return (1 + X @ Z.T)**learner.degree
    if learner.kernel == 'rbf':
        return np.exp(-learner.bandwidth * np.array([np.sum((Z - x)**2, axis=1) for x in X]))
    return 1 / (1 - learner.nu * to_ball(X) @ to_ball(Z).T)


class ConfiditKernel(Confidit):
    """A_i = a I + sum x_s x_s' over the examples class i was updated with, and w_i = A_i^-1 b_i, where b_i is the sum of
    sign_s x_s over these and of c_s x_s over those that a projection moved it by (w'_i = w_i + c A_i^-1 x)."""

    defaults = dict(Confidit.defaults, budget=200, **KERNEL_DEFAULTS)

    def start(self):
        self.past = 0.0
        self.kept = [[] for _ in range(self.K)]   # (x, sign, or sign + c of the same round) per class
        self.moved = [[] for _ in range(self.K)]  # (x, c)

    def products(self, i, Z, x):
        """z'A_i^-1 x for every z of Z, by Woodbury's identity"""
        a = (1 + self.alpha)**2
        out = kernel(self, Z, x)[:, 0]
        if self.kept[i]:
            X = [z for z, _ in self.kept[i]]
            gram = a * np.eye(len(X)) + kernel(self, X, X)
            out = out - kernel(self, Z, X) @ np.linalg.solve(gram, kernel(self, X, x)[:, 0])
        return out / a

    def forms_of(self, i, x):
        terms = self.kept[i] + self.moved[i]
        f = self.products(i, [z for z, _ in terms], x) @ np.array([c for _, c in terms]) if terms else 0.0
        return f, max(0.0, self.products(i, [x], x)[0])

    def forms(self, x):
        f, q = zip(*[self.forms_of(i, x) for i in range(self.K)])
        return np.array(f), np.array(q)

    def learn(self, x, label, greedy, prob, right):
        sign = self.sign(right)
        if self.no_mistake(x, label, sign):
            return
        f, q = self.forms(x)
        step = np.array([(p - g) / v if v > 0 else 0.0 for p, g, v in zip(self.projected(f, q), f, q)])
        for i in range(self.K):
            if i != label and step[i] != 0:
                self.keep(self.moved[i], x, step[i])
        self.keep(self.kept[label], x, sign + step[label])
        self.past += self.forms_of(label, x)[1]

    def keep(self, list_, x, coefficient):
        if len(list_) == self.budget:
            list_.pop(0)
        list_.append((x, coefficient))


class SobaKernel(Soba):
    """A = a I + sum z_s z_s' and W = A^-1 sum z_s / sqrt(p_s) over the accepted rounds."""

    defaults = dict(Soba.defaults, budget=500, **KERNEL_DEFAULTS)

    def start(self):
        super().start()
        self.kept = []  # (x, y, ybar, p)

    def inner(self, one, two):
        """<z, z'> for every pair of rounds of two lists"""
        pairs = [[float(y == y2) - float(y == yb2) - float(yb == y2) + float(yb == yb2) for _, y2, yb2, _ in two]
                 for _, y, yb, _ in one]
        roots = np.sqrt(np.outer([r[3] for r in one], [r[3] for r in two]))
        return np.array(pairs) * kernel(self, [r[0] for r in one], [r[0] for r in two]) / roots

    def inverse(self):
        return np.linalg.inv(self.a * np.eye(len(self.kept)) + self.inner(self.kept, self.kept))

    def scores(self, x):
        s = np.zeros(self.K)
        if self.kept:
            c = self.inverse() @ np.array([1 / np.sqrt(p) for _, _, _, p in self.kept])
            for c_s, (xs, y, ybar, p) in zip(c, self.kept):
                s[y] += c_s * kernel(self, xs, x)[0, 0] / np.sqrt(p)
                s[ybar] -= c_s * kernel(self, xs, x)[0, 0] / np.sqrt(p)
        return s

    def form(self, x, y, ybar, p):
        z = [(x, y, ybar, p)]
        zz = self.inner(z, z)[0, 0]
        if not self.kept:
            return zz / self.a
        h = self.inner(self.kept, z)[:, 0]
        return (zz - h @ self.inverse() @ h) / self.a

    def update(self, x, y, ybar, p):
        if len(self.kept) == self.budget:
            self.kept.pop(0)
        self.kept.append((x, y, ybar, p))
