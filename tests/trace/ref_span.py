# SPDX-License-Identifier: BSD-3-Clause
"""matrix=span: covariances S_i = U T_i U' + sigma_i (I - U U') as they are written, and the learners that have this form beside
others. confident has it too, in ref_confident.py."""
import numpy as np

from ref_bandits import LinTs, LinUcb, SquareCb
from ref_common import rival
from reference import Arow, Confidit, Perceptron2


class Span:
    """One basis for all classes; the rule is in lib/covariance/basis.h."""

    def __init__(self, K, d, m, precision=1.0):
        self.m, self.width, self.used = int(m), 0, 0
        self.U, self.Y = np.zeros((d, self.m)), np.zeros((d, self.m))
        self.T, self.sigma = np.zeros((K, self.m, self.m)), np.ones(K) / precision
        self.last, self.moments, self.dimension = None, np.zeros(3), None
        self.collected, self.next, self.every = 0, 3 * self.m, 1

    def see(self, x):
        """Features count from the first to the last that was ever there."""
        self.width = max(self.width, int(np.max(np.nonzero(x)[0], initial=-1)) + 1)

    def S(self, i):
        return self.U @ self.T[i] @ self.U.T + self.sigma[i] * (np.eye(len(self.U)) - self.U @ self.U.T)

    def column(self, direction):
        self.U[:, self.used] = direction
        self.T[:, self.used, self.used] = self.sigma
        self.used += 1

    def grow(self, x):
        if self.width <= self.m:
            for j in range(self.used, self.width):
                self.column(np.eye(len(x))[j])
            return
        rest = x - self.U @ (self.U.T @ x)
        if self.used < self.m and rest @ rest > 1e-3 * (x @ x):
            self.column(rest / np.linalg.norm(rest))

    def step(self, i, x, tau):
        y, n = self.U.T @ x, self.used
        rho2 = max(0.0, x @ x - y @ y)
        self.T[i, :n, :n] = np.linalg.inv(np.linalg.inv(self.T[i, :n, :n]) + tau * np.outer(y[:n], y[:n]))
        if self.width > n:
            self.sigma[i] = 1 / (1 / self.sigma[i] + tau * rho2 / (self.dimension or max(1, self.width - self.m)))

    def decay(self, i, q):
        n = self.used
        self.T[i, :n, :n] = (1 - q) * self.T[i, :n, :n] + q * np.eye(n)
        self.sigma[i] += q * (1 - self.sigma[i])

    def finish(self, x, t):
        if self.used < self.m or self.width <= self.m:
            return
        if t % self.every == 0:
            self.collect(x)
        if t >= self.next and self.collected >= self.m:
            self.renew(t)

    def collect(self, x):
        y = self.U.T @ x
        rest = x - self.U @ y
        if self.last is not None:
            self.moments += rest @ rest, (rest @ self.last)**2, 1
            s1, s2, n = self.moments
            if n >= 16:
                self.dimension = min(max(1, self.width - self.m), max(1, (s1 / n)**2 / (s2 / n)))
        self.last = rest
        self.Y += np.outer(x, y)
        self.collected += 1

    def renew(self, t):
        kept = np.zeros_like(self.U)
        self.used = 0
        for y in self.Y.T:
            rest = y - kept @ (kept.T @ y)
            rest -= kept @ (kept.T @ rest)
            if rest @ rest > 1e-12 * (y @ y):  # else the columns before make it up
                kept[:, self.used] = rest / np.linalg.norm(rest)
                self.used += 1
        U = kept
        R = self.U.T @ U
        inside = np.diag((np.arange(self.m) < self.used).astype(float))
        self.T = np.array([R.T @ T @ R + s * (inside - R.T @ R) for T, s in zip(self.T, self.sigma)])
        self.U, self.Y, self.last, self.collected = U, np.zeros_like(self.Y), None, 0
        self.moments /= 4
        self.next, self.every = 2 * t, max(1, t // 512)


class SpanForm:
    """What the learners below have in common: a span in place of their own matrices."""

    def span_start(self, precision):
        self.W = np.zeros((self.K, self.d))
        self.span = Span(self.K, self.d, self.rank, precision)

    def predict(self, x):
        self.span.see(x)
        return super().predict(x)

    def variances(self, x):
        return np.array([x @ self.span.S(i) @ x for i in range(self.K)])

    def regress(self, i, x, target):
        Sx = self.span.S(i) @ x
        self.W[i] += Sx * (target - self.W[i] @ x) / (1 + x @ Sx)
        self.span.step(i, x, 1)


class ArowSpan(SpanForm, Arow):
    defaults = dict(Arow.defaults, rank=64)

    def start(self):
        self.span_start(1)

    def teach(self, x, y):
        s, v = self.scores(x), self.variances(x)
        q = rival(s, y)
        loss = 1 - (s[y] - s[q])
        if loss > 0 and x.any():
            beta = 1 / (v[y] + v[q] + self.r)
            self.span.grow(x)
            for c, sign in ((y, 1), (q, -1)):
                self.W[c] += sign * loss * beta * self.span.S(c) @ x
                self.span.step(c, x, beta / (1 - beta * v[c]))
            self.span.finish(x, self.t)


class Perceptron2Span(SpanForm, Perceptron2):
    defaults = dict(Perceptron2.defaults, rank=64)

    def start(self):
        self.span_start(self.a)

    def scores(self, x):
        return self.W @ x

    def teach(self, x, y):
        s = self.scores(x)
        r = rival(s, y)
        if s[y] <= s[r] and x.any():
            self.span.grow(x)
            self.regress(y, x, 1)
            self.regress(r, x, -1)
            self.span.finish(x, self.t)


class RegressionSpan(SpanForm):
    def start(self):
        self.span_start(vars(self)['lambda'])

    def learn(self, x, label, greedy, prob, right):
        if x.any():
            self.span.grow(x)
            self.regress(label, x, 1.0 if right else 0.0)
            self.span.finish(x, self.t)


class LinUcbSpan(RegressionSpan, LinUcb):
    defaults = dict(LinUcb.defaults, rank=64)


class LinTsSpan(RegressionSpan, LinTs):
    defaults = dict(LinTs.defaults, rank=64)


class SquareCbSpan(RegressionSpan, SquareCb):
    defaults = dict(SquareCb.defaults, rank=64)

    def start(self):
        super().start()
        self.n = 0

    def learn(self, x, label, greedy, prob, right):
        super().learn(x, label, greedy, prob, right)
        self.n += 1


class ConfiditSpan(SpanForm, Confidit):
    defaults = dict(Confidit.defaults, rank=64)

    def start(self):
        self.span_start((1 + self.alpha)**2)
        self.past = 0.0

    def forms(self, x):
        return self.W @ x, self.variances(x)

    def learn(self, x, label, greedy, prob, right):
        sign = self.sign(right)
        if not x.any() or self.no_mistake(x, label, sign):
            return
        f, q = self.forms(x)
        step = (self.projected(f, q) - f) / q
        self.span.grow(x)
        for i in range(self.K):
            self.W[i] += step[i] * self.span.S(i) @ x
        self.regress(label, x, sign)
        self.past += q[label] / (1 + q[label])
        self.span.finish(x, self.t)
