# SPDX-License-Identifier: BSD-3-Clause
"""The references of the papers' successors: gaptron, fastcb, regcb, folklore, adabandit."""
import numpy as np

from ref_bandits import Regression
from ref_common import Learner, Rng, argmax, rival, softmax
from ref_ensembles import Boost


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
        return self.draw(P)

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
        return self.draw(P)

    def learn(self, x, label, greedy, prob, right):
        super().learn(x, label, greedy, prob, right)
        self.n += 1


class Folklore(Learner):
    """Agarwal, Kale, Zimmert 2022: the bandit reduction, over follow-the-regularised-leader on quadratic approximations."""

    defaults = {'matrix': 'diag', 'gamma': 0.1, 'B': 1.0, 'lambda': 0.1}

    def start(self):
        super().start()
        self.A = vars(self)['lambda'] * np.eye(self.K * self.d)
        self.b = np.zeros(self.K * self.d)

    def choose(self, x, greedy):
        pi = softmax(self.scores(x))
        self.explored = self.rng.uniform() < self.gamma
        label = self.rng.integer(self.K) if self.explored else self.rng.label(pi)
        return label, (1 - self.gamma) * pi[label] + self.gamma / self.K

    def learn(self, x, label, greedy, prob, right):
        if not right or not self.explored:
            return
        pi = softmax(self.scores(x))
        g = np.outer(pi - np.eye(self.K)[label], x).ravel()
        H = np.kron(np.diag(pi) - np.outer(pi, pi), np.outer(x, x)) / (self.B + np.log(self.K) / 2)
        self.b += H @ self.W.ravel() - g
        self.A += H if self.matrix == 'full' else np.diag(np.diag(H))
        self.W = np.linalg.solve(self.A, self.b).reshape(self.K, self.d)


class AdaBandit(Learner):
    """Zhang, Jung, Tewari 2019: AdaBandit and BanditBBM, over weak learners made of one binary learner per class."""

    defaults = dict(rule='adabandit', rho=0.05, gamma=0.1, weak='perceptron', N=20, init=1.0, output='score', rate=1.0, smooth=1.0)

    def start(self):
        self.N = int(self.N)
        self.known = set()
        self.weaks = [[Boost.new(self, k * self.N + n) for n in range(self.N)] for k in range(self.K)]
        self.alpha = np.zeros(self.N) if self.rule == 'adabandit' else np.ones(self.N)
        self.L = np.zeros(self.N)
        self.learned = 0

    def proposals(self, x):
        return [argmax([self.weaks[k][n].output(x) for k in range(self.K)]) for n in range(self.N)]

    def experts(self, x):
        """The votes after each learner."""
        votes, all_votes = np.zeros(self.K), []
        for n, l in enumerate(self.proposals(x)):
            votes[l] += self.alpha[n]
            all_votes.append(votes.copy())
        return all_votes

    def scores(self, x):
        votes = self.experts(x)
        if self.rule == 'banditbbm':
            return votes[-1]
        v = softmax(-self.L)
        return sum(v[n] * np.eye(self.K)[argmax(votes[n])] for n in range(self.N))

    def given(self, answer):
        """The chances of the labels when the answer is known."""
        P = np.full(self.K, self.rho / (self.K - 1))
        P[answer] = 1 - self.rho
        return P

    def choose(self, x, greedy):
        Q = np.eye(self.K)[greedy] if self.rule == 'banditbbm' else self.scores(x)
        self.answer = greedy if self.rule == 'banditbbm' else self.rng.label(Q)
        label = self.rng.label(self.given(self.answer))
        return label, sum(Q[k] * self.given(k)[label] for k in range(self.K))

    def matrix(self, s, n):
        """C[l, r]: the cost of proposing l when r is true."""
        K = self.K
        C = np.zeros((K, K))
        if self.rule == 'adabandit':
            C = 1 / (1 + np.exp(s[None, :] - s[:, None]))
            C[np.diag_indices(K)] = 0
            C[np.diag_indices(K)] = -C.sum(axis=0)
            return C
        rng = Rng(n)
        for _ in range(100):
            votes, favoured = s.copy(), 0
            for _ in range(self.N - 1 - n):
                u, k = rng.uniform(), rng.integer(K)
                if u < self.gamma:
                    favoured += 1
                else:
                    votes[k] += 1
            for r in range(K):
                for l in range(K):
                    final = votes + np.eye(K)[l] + favoured * np.eye(K)[r]
                    C[l, r] += not final[r] > np.delete(final, r).max()
        return C / 100

    def learn(self, x, label, greedy, prob, right):
        K, P = self.K, self.given(self.answer)[label]
        lhat = np.zeros(K)
        if right:
            lhat[:] = 1 / P
            lhat[label] = lhat[self.answer] = 0
        elif label == self.answer:
            lhat[label] = 1 / P
        elif self.rule == 'banditbbm':
            return
        self.learned += 1
        s, I, lessons = np.zeros(K), 1 - lhat, []
        for n, l in enumerate(self.proposals(x)):
            c = self.matrix(s, n) @ I
            best = 0
            for k in range(1, K):
                best = k if c[k] < c[best] - 1e-9 else best
            if right and c[label] < c[best] + 1e-9:
                best_label = label
            else:
                best_label = best
            lessons.append((best_label, c.sum() - K * c[best]))
            old = self.alpha[n]
            if self.rule == 'adabandit':
                gradient = sum(I[r] / (1 + np.exp(s[r] - s[l] - old)) for r in range(K) if r != l)
                gradient -= I[l] * sum(1 / (1 + np.exp(old + s[l] - s[j])) for j in range(K) if j != l)
                self.alpha[n] = np.clip(old - self.rho / (K**2 * np.sqrt(self.learned)) * gradient, -2, 2)
            s[l] += old
            self.L[n] += lhat[argmax(s)]
        for n, (y, weight) in enumerate(lessons):
            for k in range(K):
                weak = self.weaks[k][n]
                if weight > 1e-9:
                    weak.update(x, 1 if k == y else -1, weight, weak.output(x))
        self.known.update(np.flatnonzero(x))
