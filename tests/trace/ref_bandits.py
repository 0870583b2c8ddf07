# SPDX-License-Identifier: BSD-3-Clause
"""The references of banditron-adaptive, eg-banditron, epoch-greedy, separable, rdue, linucb, lints, fgts and squarecb."""
import math

import numpy as np

from ref_common import Learner, argmax, rival, softmax
from ref_kernels import to_ball
from reference import Banditron


class BanditronAdaptive(Banditron):
    """Banditron whose exploration follows the recent error of its greedy label, or the clock."""

    defaults = dict(rule='error', gamma=0.5, memory=0.99)

    def start(self):
        super().start()
        self.n = self.m = 0.0

    def rate(self):
        if self.rule == 'decay':
            return self.gamma * min(1.0, (self.K / self.t)**(1 / 3))
        return self.gamma * (self.m + 1) / (self.n + 2)

    def choose(self, x, greedy):
        return self.explore(greedy, self.rate())

    def learn(self, x, label, greedy, prob, right):
        super().learn(x, label, greedy, prob, right)
        if label == greedy:
            self.n = self.memory * self.n + 1
            self.m = self.memory * self.m + (0 if right else 1)


class EgBanditron(Banditron):
    """Banditron's gradient in an exponential potential: w = exp(eta Theta) - exp(-eta Theta), up to a common factor."""

    defaults = dict(gamma=0.05, eta=0.01)

    def start(self):
        super().start()  # W is Theta here
        self.top = 0.0

    def scores(self, x):
        weights = np.exp(self.eta * (self.W - self.top)) - np.exp(self.eta * (-self.W - self.top))
        return weights @ x / 2

    def learn(self, x, label, greedy, prob, right):
        super().learn(x, label, greedy, prob, right)
        self.top = max(self.top, np.abs(self.W).max())


class EpochGreedy(Learner):
    """Langford, Zhang 2007: one uniform guess per epoch, then exploitation of what the guesses taught."""

    defaults = dict(rate=1.0)

    def start(self):
        super().start()
        self.epoch = self.left = 0

    def choose(self, x, greedy):
        if self.left == 0:
            self.epoch += 1
            self.left = max(1, int(self.rate * math.sqrt(self.epoch / self.K)))
            return self.guess()
        self.left -= 1
        return greedy, 1.0

    def learn(self, x, label, greedy, prob, right):
        if right and prob < self.certain():
            s = self.scores(x)
            r = rival(s, label)
            if s[label] <= s[r]:
                self.W[label] += x
                self.W[r] -= x


class Separable(Learner):
    """Beygelzimer et al. 2019: one-against-all perceptrons (plain or in the rational kernel), and nearest neighbours."""

    defaults = dict(model='linear', rule='author', nu=0.5, radius=0.1, budget=0)

    def start(self):
        self.kept = [[] for _ in range(self.K)]  # (x, +-1) per class

    def score(self, kept, x):
        if not kept:
            return 0.0
        Z, signs = np.array([z for z, _ in kept]), np.array([sign for _, sign in kept])
        if self.model == 'nearest':
            return 1 / (1 + np.linalg.norm(Z - x, axis=1).min())
        if self.model == 'linear':
            return signs @ Z @ x
        return np.sum(signs / (1 - self.nu * to_ball(Z) @ to_ball(x[None])[0]))

    def scores(self, x):
        return np.array([self.score(kept, x) for kept in self.kept])

    def choose(self, x, greedy):
        threshold = 0.0
        if self.model == 'nearest':
            threshold = 1 / (1 + self.radius)
        if self.scores(x)[greedy] >= threshold:
            return greedy, 1.0
        return self.guess()

    def add(self, k, x, sign):
        kept = self.kept[k]
        if self.budget and self.model != 'linear' and len(kept) == self.budget:
            kept[self.rng.integer(len(kept))] = (x, sign)
        else:
            kept.append((x, sign))

    def learn(self, x, label, greedy, prob, right):
        s = self.scores(x)
        if self.model == 'nearest':
            if right and (prob < self.certain() or s.max() == 0):
                self.add(label, x, 1)
        elif self.rule == 'author':
            if right:
                for k in range(self.K):
                    if k != label and s[k] >= 0:
                        self.add(k, x, -1)
                if s[label] <= 0:
                    self.add(label, x, 1)
            elif s[label] >= 0:
                self.add(label, x, -1)
        else:
            said_no = (s[label] if self.drawn else s.max()) < 0
            if right == said_no:
                self.add(label, x, 1 if right else -1)


class Rdue(Learner):
    """Shibukawa, Tsuchiya, Sakaue, Yamanishi 2025, the logistic instance."""

    defaults = dict(B=10.0, q=0.01, rounds=0.0, update='ogd', delay=0.0)

    def start(self):
        super().start()
        self.H = 0.0
        self.G = np.zeros((self.K, self.d))  # the sum of all gradients
        self.norms = []
        self.lam = 0.0

    def choose(self, x, greedy):
        pi = softmax(self.scores(x))
        rho = min(1.0, 2 * (1 - pi[greedy]))
        best = np.eye(self.K)[greedy]
        q = self.q
        if q == 'auto':
            q = min(1.0, self.B * np.sqrt(self.K / (self.rounds or self.t)))
        P = q / self.K + (1 - q) * ((1 - rho) * best + rho * pi)
        return self.draw(P)

    def learn(self, x, label, greedy, prob, right):
        pi = softmax(self.scores(x))
        G = np.outer(pi - np.eye(self.K)[label], x) / prob if right else np.zeros((self.K, self.d))
        if self.update == 'ogd':
            self.H += np.sum(G * G)
            self.W -= self.B / np.sqrt(2 * (1e-8 + self.H)) * G
        else:
            self.follow(G)

    def follow(self, G):
        """Flaspohler et al. 2021: the regularised leader, AdaHedgeD with norms in place of vectors and no hints"""
        self.norms.append(np.linalg.norm(G))
        g, S, alpha = self.norms[-1], sum(self.norms[-1 - int(self.delay):]), self.B**2 / 2
        drifts = [self.B * g] + ([S * S / (2 * self.lam), g * S / self.lam] if self.lam else [])
        self.lam += min(drifts) / alpha
        self.G += G
        self.W = -self.G / self.lam if self.lam else 0 * G


class Regression(Learner):
    """Per class a ridge regression of the reward (1 right, 0 wrong): w_k and A_k^-1."""

    def start(self):
        super().start()
        self.A = np.array([vars(self)['lambda'] * np.eye(self.d)] * self.K)

    def variances(self, x):
        return np.array([x @ np.linalg.solve(A, x) for A in self.A])

    def learn(self, x, label, greedy, prob, right):
        reward = 1.0 if right else 0.0
        v = self.variances(x)[label]
        self.W[label] += np.linalg.solve(self.A[label], x) * (reward - self.scores(x)[label]) / (1 + v)
        self.A[label] += np.outer(x, x) if self.matrix == 'full' else np.diag(x * x)


class LinUcb(Regression):
    defaults = {'alpha': 1.0, 'lambda': 1.0, 'matrix': 'diag'}

    def choose(self, x, greedy):
        return argmax(self.scores(x) + self.alpha * np.sqrt(self.variances(x))), 1.0


class GlbOmd(Regression):
    """Zhang, Xu, Zhao, Sugiyama 2025, for rewards of 0 and 1; without the ball."""

    defaults = {'alpha': 1.0, 'eta': 2.0, 'lambda': 1.0, 'matrix': 'diag'}

    def choose(self, x, greedy):
        return argmax(self.scores(x) + self.alpha * np.sqrt(self.variances(x))), 1.0

    def learn(self, x, label, greedy, prob, right):
        """The minimiser of <grad, w> + |w - w_t|^2_hessian / 2 + |w - w_t|^2_H / (2 eta)"""
        w = self.W[label]
        mu = 1 / (1 + np.exp(-w @ x))
        gradient, hessian = (mu - right) * x, mu * (1 - mu) * np.outer(x, x)
        w -= self.eta * np.linalg.solve(self.A[label] + self.eta * hessian, gradient)
        mu = 1 / (1 + np.exp(-w @ x))
        self.A[label] += mu * (1 - mu) * (np.outer(x, x) if self.matrix == 'full' else np.diag(x * x))


class LinTs(Regression):
    defaults = {'spread': 0.1, 'lambda': 1.0, 'matrix': 'diag'}

    def choose(self, x, greedy):
        s, sigma = self.scores(x), np.sqrt(self.spread * self.variances(x))
        sample = np.array([s[k] + sigma[k] * self.normal() for k in range(self.K)])
        label = argmax(sample)
        self.chances = [self.chance(s, sigma, k) for k in range(self.K)]
        return label, self.chances[label]

    def normal(self):
        u, v = self.rng.uniform(), self.rng.uniform()
        return math.sqrt(-2 * math.log(1 - u)) * math.cos(2 * math.pi * v)

    def chance(self, s, sigma, o):
        """P(label o has the largest sample), by the midpoint rule with 64 nodes."""
        z = -6 + 12 * (np.arange(64) + 0.5) / 64
        weight = np.exp(-z * z / 2)
        weight /= weight.sum()
        for k in range(self.K):
            if k == o:
                continue
            gap = s[o] + sigma[o] * z - s[k]
            if sigma[k] > 0:
                weight = weight * np.array([math.erfc(-g / sigma[k] / math.sqrt(2)) / 2 for g in gap])
            else:
                weight = weight * (gap >= 0)
        return min(1.0, max(1e-6, weight.sum()))


class FeelGood(Learner):
    """Zhang 2022, by unadjusted Langevin steps (Anand, Liaw 2025): W is a sample of exp(-U(W)/temperature)."""

    defaults = {'model': 'linear', 'eta': 1.0, 'lambda': 0.1, 'cap': 1.0, 'smooth': 0.0, 'prior': 0.01, 'temperature': 0.01,
                'step': 0.5, 'steps': 5, 'budget': 1000}

    def start(self):
        super().start()
        self.n, self.length2 = 0, 0.0
        self.kept = []  # (x, label, r)

    def predictions(self, W, X):
        return X @ W.T if self.model == 'linear' else 1 / (1 + np.exp(-X @ W.T))

    def gradient(self, W):
        X, o, r = (np.array(part) for part in zip(*self.kept))
        f = self.predictions(W, X)
        rows = np.arange(len(o))
        best = np.argmax(X @ W.T, axis=1)
        top = f[rows, best]
        slope = 1.0 * (top < self.cap) if self.smooth == 0 else 1 / (1 + np.exp(-self.smooth * (self.cap - top)))
        C = np.zeros_like(f)  # dU/ds_k of every round
        if self.model == 'linear':
            C[rows, o] += 2 * self.eta * (f[rows, o] - r)
            C[rows, best] -= vars(self)['lambda'] * slope
        else:
            C[rows, o] += self.eta * (f[rows, o] - r)
            C[rows, best] -= vars(self)['lambda'] * slope * top * (1 - top)
        return 2 * self.prior * W + self.n / len(o) * C.T @ X

    def normals(self):
        """Feature by feature, up to the last of the kept rounds; two uniforms each."""
        noise = np.zeros((self.K, self.d))
        for j in range(max(np.flatnonzero(x)[-1] for x, _, _ in self.kept) + 1):
            for k in range(self.K):
                u, v = self.rng.uniform(), self.rng.uniform()
                noise[k, j] = math.sqrt(-2 * math.log(1 - u)) * math.cos(2 * math.pi * v)
        return noise

    def keep(self, round):
        if len(self.kept) < self.budget:
            self.kept.append(round)
            return
        place = self.rng.integer(self.n)
        if place < self.budget:
            self.kept[place] = round

    def learn(self, x, label, greedy, prob, right):
        if not x.any():
            return
        self.n += 1
        self.length2 += x @ x
        self.keep((x.copy(), label, float(right)))
        h = self.step / (2 * self.prior + self.eta * (2 if self.model == 'linear' else 0.25) * self.length2)
        for _ in range(int(self.steps)):
            self.W = self.W - h * self.gradient(self.W) + np.sqrt(2 * h * self.temperature) * self.normals()


class SquareCb(Regression):
    defaults = {'gamma': 10.0, 'power': 0.5, 'lambda': 1.0, 'matrix': 'diag'}

    def start(self):
        super().start()
        self.n = 0

    def choose(self, x, greedy):
        s = self.scores(x)
        G = self.gamma * self.n**self.power if self.n else 0.0
        P = 1 / (self.K + G * (s[greedy] - s))
        P[greedy] = 0.0
        P[greedy] = 1 - P.sum()
        return self.draw(P)

    def learn(self, x, label, greedy, prob, right):
        super().learn(x, label, greedy, prob, right)
        self.n += 1
