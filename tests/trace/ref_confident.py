# SPDX-License-Identifier: BSD-3-Clause
"""The reference of confident. Every form keeps the precision P_i = S_i^-1 of a class and inverts it when it is needed:
slow, and nothing like what the library does. Span keeps S_i = U T_i U' + sigma_i (I - U U') as it is written, and the
weights in one piece."""
import math

import numpy as np

from ref_common import Learner, argmax, rival
from ref_front import log_near
from ref_span import Span


class Confident(Learner):
    """Margins and confidence; the exact rule is in docs/reference/algorithms/confident.md."""

    text = False  # rows are: naive Bayes adds an offset
    defaults = dict(matrix='full', eta=3.0, r=0.3, sharpness=3.0, demote_after=50.0, forget=0.002, rank=None,
                    demote_mean=0.0, decay=0.0, doubt=0.0)

    def start(self):
        super().start()
        self.rank = int(self.rank or 64)
        self.P = np.array([np.eye(self.d) for _ in range(self.K)])
        self.span = Span(self.K, self.d, self.rank) if self.matrix == 'span' else None
        self.moved = False
        self.hits = np.zeros(self.K)
        self.sum, self.seen, self.rate = 0.0, 0, 1.0
        self.safe, self.safe_wrong = 0.0, 0.0
        self.n, self.B, self.C = 0, np.zeros(self.d), np.zeros((self.K, self.d))

    def scaled(self, x):
        return x * math.sqrt(self.seen / self.sum) if self.sum > 0 else x

    def scores(self, x):
        return self.W @ self.scaled(x) + self.offset(x)

    def offset(self, x):
        j = np.flatnonzero(x)
        if not self.text or not self.n or not len(j):
            return np.zeros(self.K)
        y, n = np.abs(x[j]) / np.abs(x).sum(), self.n + 1
        B, C = self.B[j] + y, self.C[:, j]
        p = 50 * B / n + 1e-12
        ratio = (n - self.hits + 50) / (self.hits + 50)
        return (y * np.maximum(-1, log_near((C + p) / (B - C + p) * ratio[:, None]))).sum(axis=1)

    def offset_learn(self, x, label, right):
        y = np.abs(x) / np.abs(x).sum()
        self.n, self.B = self.n + 1, self.B + y
        if right:
            self.C[label] += y

    def note(self, x):
        """What every example brings, whether its label is asked for or not."""
        self.sum, self.seen = self.sum + x @ x, self.seen + 1
        if self.span:
            self.span.see(x)

    def predict(self, x):
        self.note(x)
        return super().predict(x)

    def S(self, i):
        if self.span:
            return self.span.S(i)
        if self.matrix == 'diag':
            return np.diag(1 / np.diag(self.P[i]))
        return np.linalg.inv(self.P[i])

    def examine(self, x):
        z = self.scaled(x)
        return z, self.W @ z + self.offset(x), np.array([max(0.0, z @ self.S(i) @ z) for i in range(self.K)])

    def choose(self, x, greedy):
        _, f, v = self.examine(x)
        return argmax(f + np.sqrt(self.eta * self.rate * v)), 1.0

    def step(self, i, z, c, b, v):
        rho = b / max(1 - b * v, 1e-3)
        if self.span and not self.moved:
            self.span.grow(z)
        self.moved = True
        self.W[i] += c * (self.S(i) @ z)
        if self.span:
            self.span.step(i, z, rho)
            self.span.decay(i, self.decay)
        elif self.matrix == 'full':
            self.P[i] += b / (1 - b * v) * np.outer(z, z)
        else:
            self.P[i] += rho * np.diag(z * z)

    def learn(self, x, label, greedy, prob, right):
        if not self.drawn:
            self.rate += ((not right) - self.rate) * max(1 / (self.seen + 1), self.forget)
        if not x.any():
            return
        z, f, v = self.examine(x)
        self.f = f
        self.moved = False
        if f[label] - f[rival(f, label)] >= 1:
            self.safe, self.safe_wrong = 0.999 * self.safe + 1, 0.999 * self.safe_wrong + (not right)
        if right:
            self.learn_right(z, f, v, label)
        else:
            self.learn_wrong(z, f, v, label)
        if self.span and self.moved:
            self.span.finish(z, self.t)
        self.offset_learn(x, label, right)

    def agree(self, x, label):
        """In place of learn, for a right answer of which the champion was sure: as if this one had been, too."""
        self.rate += (0 - self.rate) * max(1 / (self.seen + 1), self.forget)
        if x.any():
            self.hits[label] += 1
            self.offset_learn(x, label, True)

    def lead(self, label):
        """How the lead over the rival, by the scores that the example had, changes with each feature."""
        return self.W[label] - self.W[rival(self.f, label)]

    def doubted(self):
        """r, larger where labels that were safe turn out wrong."""
        return self.r * (1 + self.doubt * (self.safe_wrong / (self.safe + 50))**2)

    def learn_right(self, z, f, v, o):
        self.hits[o] += 1
        q = rival(f, o)
        loss = 1 - (f[o] - f[q])
        if loss <= 0:
            return
        r = self.doubted()
        b = 1 / (v[o] + v[q] + r)
        self.step(o, z, loss * b, b, v[o])
        self.step(q, z, -loss * b, b, v[q])
        now = f[o] + loss * b * v[o]
        late = max(self.demote_after, self.demote_mean * self.hits.mean())
        for i in range(self.K):
            m = 1 - (now - f[i])
            if i not in (o, q) and self.hits[i] > 0 and m > 0:
                c = self.hits[i] / (self.hits[i] + late) / (v[i] + v[o] + r)
                self.step(i, z, -m * c, c, v[i])

    def learn_wrong(self, z, f, v, o):
        q = rival(f, o)
        loss = 1 - (f[q] - f[o])
        if loss <= 0:
            return
        h = 1 / sum(math.exp(self.sharpness * (f[i] - f[q])) for i in range(self.K) if i != o)
        b = 1 / (v[o] + (2 - h) * v[q] + self.doubted())
        self.step(o, z, -loss * b, b, v[o])
        self.step(q, z, h * loss * b, h * b, v[q])
