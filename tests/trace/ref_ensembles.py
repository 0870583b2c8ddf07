# SPDX-License-Identifier: BSD-3-Clause
"""The references made of many learners: naive Bayes under cova, offset-tree, boost, osboost, exp4."""
import numpy as np

from ref_common import MASK, FullInformation, Learner, Rng, argmax, mix
from reference import Cova, make


class NaiveBayes:
    """One binary learner: multinomial over the features present, additive smoothing. known: the features ever learned from."""

    def __init__(self, d, smooth, known):
        self.smooth, self.known = smooth, known
        self.N = np.zeros(2)
        self.c = np.zeros((2, d))

    def output(self, x):
        present = x != 0
        if self.smooth == 0:
            return self.unsmoothed(present)
        V = len(self.known)
        l = [
            np.log(self.N[s] + self.smooth) +
            np.sum(np.log((self.c[s, present] + self.smooth) / (self.c[s].sum() + self.smooth * (V + 1))))
            for s in (0, 1)
        ]
        return np.tanh((l[1] - l[0]) / 2)

    def unsmoothed(self, present):
        """P(+1 | x) by relative frequencies; 0 where both signs have none"""
        T = np.maximum(self.c.sum(axis=1), 1)  # where it is 0, so are the counts
        no, yes = [self.N[s] * np.prod(self.c[s, present] / T[s]) for s in (0, 1)]
        return 2 * yes / (yes + no) - 1 if yes + no else 0.0

    def update(self, x, y, weight, h):
        s = 1 if y > 0 else 0
        self.N[s] += weight
        self.c[s, x != 0] += weight


class CovaNaiveBayes(Cova):

    def start(self):
        self.known = set()
        self.bases = [NaiveBayes(self.d, self.smooth, self.known) for _ in range(self.K)]

    def outputs(self, x):
        return np.array([b.output(x) for b in self.bases])

    def learn(self, x, label, greedy, prob, right):
        super().learn(x, label, greedy, prob, right)
        self.known.update(np.flatnonzero(x))

    def update(self, k, x, y, f):
        self.bases[k].update(x, y, 1.0, f)


class OffsetTree(Learner):
    """A balanced binary tree, the node that splits at mid has weights W[mid]; realizable: as Chen et al. 2009 run it."""

    defaults = dict(base='pa1', C=1.0, rule='realizable', gamma=0.05, importance='weight')

    def path(self, label):
        """(mid, direction) from the root to a label; direction is +1 for right, -1 for left."""
        lo, hi, steps = 0, self.K, []
        while hi - lo > 1:
            mid = (lo + hi) // 2
            steps.append((mid, 1 if label >= mid else -1))
            lo, hi = (mid, hi) if label >= mid else (lo, mid)
        return steps

    def scores(self, x):
        return np.array([min(direction * (self.W[mid] @ x) for mid, direction in self.path(k)) for k in range(self.K)])

    def leaf(self, x, lo, hi):
        """The one that x reaches from the node of the labels lo .. hi - 1"""
        while hi - lo > 1:
            mid = (lo + hi) // 2
            lo, hi = (mid, hi) if self.W[mid] @ x > 0 else (lo, mid)
        return lo

    def predict(self, x):
        self.t += 1
        g = self.leaf(x, 0, self.K)
        label, prob = self.explore(g, self.gamma) if self.rule == 'offset' else (g, 1.0)
        return label, g, prob

    def learn(self, x, label, greedy, prob, right):
        if self.rule == 'offset':
            self.learn_offset(x, label, greedy, prob, right)
            return
        for mid, direction in self.path(label):
            self.update(x, mid, direction if right else -direction, self.C)

    def learn_offset(self, x, label, greedy, prob, right):
        """Beygelzimer, Langford 2009, Algorithm 2, with offset 1/2 and the tree as it was before the round"""
        chances = mix(self.K, greedy, self.gamma)
        largest = (1 + chances.max() / chances.min()) / 2 if self.gamma else 1 / 2
        lo, hi, nodes = 0, self.K, []
        for mid, direction in self.path(label):
            other = (lo, mid) if direction > 0 else (mid, hi)
            nodes.append((mid, direction, other))
            lo, hi = (mid, hi) if direction > 0 else (lo, mid)
        updates = []
        for mid, direction, other in reversed(nodes):
            own = abs(prob - chances[label]) <= 1e-6 * prob  # else of a log, whose other probabilities are not known
            weight = (prob + chances[self.leaf(x, *other)] if own else 2 / self.K) / prob * abs(right - 1 / 2)
            y = direction if right - 1 / 2 > 0 else -direction
            if self.importance == 'weight':
                updates.append((mid, y, self.C * weight))
            elif self.rng.uniform() < weight / largest:
                updates.append((mid, y, self.C))
            if (1 if self.W[mid] @ x > 0 else -1) != direction:
                break
        for update in updates:
            self.update(x, *update)

    def update(self, x, mid, y, C):
        xx = x @ x
        if xx == 0:
            return
        loss = max(0.0, 1 - y * (self.W[mid] @ x))
        tau = {'pa': loss / xx, 'pa1': min(C, loss / xx), 'pa2': loss / (xx + 1 / (2 * C))}[self.base]
        self.W[mid] += tau * y * x


def unit(x):
    norm = np.linalg.norm(x)
    return x / norm if norm > 0 else x


class WeakPerceptron:
    """A perceptron on x/||x|| that starts from a fixed random direction."""

    def __init__(self, d, number, init, sign=False):
        self.sign = sign
        self.u = np.zeros(d)
        self.v = np.array([init * (2 * Rng(((number << 32) + j) & MASK).uniform() - 1) for j in range(d)])

    def output(self, x):
        score = (self.u + self.v) @ unit(x)
        return np.sign(score) if self.sign else np.clip(score / max(1.0, np.linalg.norm(self.u)), -1, 1)

    def update(self, x, y, weight, h):
        if y * h <= 0:
            self.u += weight * y * unit(x)


class WeakGradient:
    """Projected online gradient ascent on weight y <u, x> over the unit ball."""

    def __init__(self, d, rate):
        self.u, self.m, self.rate = np.zeros(d), 0, rate

    def output(self, x):
        return np.clip(self.u @ unit(x), -1, 1)

    def update(self, x, y, weight, h):
        self.m += 1
        self.u += self.rate / np.sqrt(self.m) * weight * y * unit(x)
        if np.linalg.norm(self.u) > 1:
            self.u /= np.linalg.norm(self.u)


class Boost(Learner):
    """Chen, Lin, Lu 2014."""

    defaults = dict(weak='perceptron', N=100, gamma=0.1, delta=0.05, eta='auto', importance='no', init=1.0, output='score', rate=1.0,
                    smooth=1.0)

    def start(self):
        self.N = int(self.N)
        self.known = set()
        self.votes = np.full((self.K, self.N), 1 / self.N)
        self.theta = self.gamma / (2 + self.gamma)
        self.weaks = [[self.new(k * self.N + n) for n in range(self.N)] for k in range(self.K)]

    def new(self, number):
        if self.weak == 'perceptron':
            return WeakPerceptron(self.d, number, self.init, self.output == 'sign')
        if self.weak == 'gd':
            return WeakGradient(self.d, self.rate)
        return NaiveBayes(self.d, self.smooth, self.known)

    def outputs(self, k, x):
        return np.array([weak.output(x) for weak in self.weaks[k]])

    def scores(self, x):
        return np.array([self.votes[k] @ self.outputs(k, x) for k in range(self.K)])

    def choose(self, x, greedy):
        return self.explore(greedy, self.delta)

    def learn(self, x, label, greedy, prob, right):
        eta = self.delta**3 / self.K if self.eta == 'auto' else self.eta
        self.update(label, x, 1 if right else -1, prob, eta, prob if self.importance == 'yes' else 1.0)
        self.known.update(np.flatnonzero(x))

    def update(self, k, x, y, p, eta, divisor):
        h = self.outputs(k, x)
        f = self.votes[k] @ h
        z = 0.0
        for n, weak in enumerate(self.weaks[k]):
            weak.update(x, y, min((1 - self.gamma)**(z / 2), 1.0) / divisor, h[n])
            z += y * h[n] - self.theta
        if y * f < self.theta:
            loss = -y * h / p
            self.votes[k] *= np.exp(-eta * loss)
            self.votes[k] /= self.votes[k].sum()


class OsBoost(Boost):
    """The same with the true label: every class learns, p = 1."""

    full_information = True
    defaults = dict(weak='perceptron', N=100, gamma=0.1, eta=0.1, init=1.0, output='score', rate=1.0, smooth=1.0)

    def choose(self, x, greedy):
        return greedy, 1.0

    def teach(self, x, y):
        for k in range(self.K):
            self.update(k, x, 1 if k == y else -1, 1.0, self.eta, 1.0)
        self.known.update(np.flatnonzero(x))

    learn = FullInformation.learn


class Exp4(Learner):
    """Auer, Cesa-Bianchi, Freund, Schapire 2003 over experts that learn."""

    defaults = dict(experts='[cova;confidit;banditron]', gamma=0.1, rule='exponential', eta=0.05, nu=1.0)

    def start(self):
        specs = self.experts.strip('[]').split(';')
        self.members = [make(spec, self.K, self.d, self.rng.state) for spec in specs]
        self.omega = np.zeros(len(self.members))
        self.w = np.ones(len(self.members))

    def advice(self, x):
        return [argmax(e.scores(x)) for e in self.members]

    def scores(self, x):
        Q = np.zeros(self.K)
        for g, w in zip(self.advice(x), self.w):
            Q[g] += w
        return Q / Q.sum()

    def weights(self):
        """Up to a factor. The log-barrier's by bisection, outside for the multiplier and inside for every share."""
        if self.rule == 'exponential':
            return np.exp(self.omega - self.omega.max())

        def share(c):
            low, high = np.full(len(c), -700.0), np.full(len(c), 50.0)
            for _ in range(60):
                u = (low + high) / 2
                above = u / self.eta - self.nu * np.exp(-u) > c
                low, high = np.where(above, low, u), np.where(above, u, high)
            return np.exp(u)

        low, high = self.omega.min() - 1e6, self.omega.max() + 1e6
        for _ in range(60):
            at = (low + high) / 2
            low, high = (at, high) if share(self.omega - at).sum() > 1 else (low, at)
        return share(self.omega - at)

    def choose(self, x, greedy):
        for e in self.members:
            e.t = self.t
        gamma = self.gamma if self.rule == 'exponential' else 0.0
        P = (1 - gamma) * self.scores(x) + gamma / self.K
        return self.draw(P)

    def learn(self, x, label, greedy, prob, right):
        advice = self.advice(x)
        if right:
            for i, g in enumerate(advice):
                if g == label:
                    self.omega[i] += self.gamma / (self.K * prob) if self.rule == 'exponential' else 1 / prob
            self.omega -= self.omega.max()
            self.w = self.weights()
        for e, g in zip(self.members, advice):
            e.learn(x, label, g, prob, right)
