# SPDX-License-Identifier: BSD-3-Clause
"""The references of perceptron, perceptron2, arow, banditron, confidit, soba, newtron and cova, and make(spec)."""
import re

import numpy as np

from ref_common import Floor, FullInformation, Learner, argmax, rival, softmax


class Perceptron(FullInformation):
    """Kesler's multiclass perceptron; a tie is a mistake."""

    def teach(self, x, y):
        s = self.scores(x)
        r = rival(s, y)
        if s[y] <= s[r]:
            self.W[y] += x
            self.W[r] -= x


class Perceptron2(FullInformation):
    """Second-order perceptron: score_k = b_k' A_k^-1 x."""

    defaults = dict(a=1.0, matrix='diag')

    def start(self):
        self.b = np.zeros((self.K, self.d))
        self.A = np.array([self.a * np.eye(self.d)] * self.K)

    def scores(self, x):
        return np.array([b @ np.linalg.solve(A, x) for b, A in zip(self.b, self.A)])

    def teach(self, x, y):
        s = self.scores(x)
        r = rival(s, y)
        if s[y] <= s[r]:
            self.b[y] += x
            self.b[r] -= x
            xx = np.outer(x, x) if self.matrix == 'full' else np.diag(x * x)
            self.A[y] += xx
            self.A[r] += xx


class Arow(FullInformation):
    """Multiclass AROW on the pair (true label, best wrong label)."""

    defaults = dict(r=1.0, matrix='diag')

    def start(self):
        self.W = np.zeros((self.K, self.d))
        self.S = np.array([np.eye(self.d)] * self.K)

    def teach(self, x, y):
        s = self.scores(x)
        q = rival(s, y)
        m = s[y] - s[q]
        if m < 1:
            v = x @ (self.S[y] + self.S[q]) @ x
            beta = 1 / (v + self.r)
            alpha = (1 - m) * beta
            self.W[y] += alpha * self.S[y] @ x
            self.W[q] -= alpha * self.S[q] @ x
            for c in (y, q):
                Sx = self.S[c] @ x
                self.S[c] -= beta * (np.outer(Sx, Sx) if self.matrix == 'full' else np.diag(Sx * Sx))


class Banditron(Learner):
    """Kakade, Shalev-Shwartz, Tewari 2008."""

    defaults = dict(gamma=0.05)

    def choose(self, x, greedy):
        return self.explore(greedy, self.gamma)

    def learn(self, x, label, greedy, prob, right):
        self.W[greedy] -= x
        if right:
            self.W[label] += x / prob


def project(f, q, alpha):
    """Scores of the point of { u_i.x >= -alpha, sum_i u_i.x = 1 + alpha - K alpha } closest to W (Section 3.1)."""
    K = len(f)
    order = np.argsort(-(alpha + f) / q)
    for r in range(1, K + 1):
        inside = order[:r]
        lam = (1 + alpha - alpha * r - f[inside].sum()) / q[inside].sum()
        if r == K or -(alpha + f[order[r]]) / q[order[r]] - lam >= 0:
            break
    projected = np.full(K, -float(alpha))
    projected[inside] = f[inside] + lam * q[inside]
    return projected


class Confidit(Learner):
    """Crammer, Gentile 2011/2013; A_i is a matrix for both forms, the diagonal form fills only its diagonal."""

    defaults = dict(matrix='diag', width='eta', eta=0.1, project='no', alpha=1.0, delta=0.05, norm=1.0, approx=1.0,
                    update='always', approx_power=0.0)

    def start(self):
        self.W = np.zeros((self.K, self.d))
        self.A = np.array([(1 + self.alpha)**2 * np.eye(self.d)] * self.K)
        self.past = 0.0  # sum over past rounds of x'A_{o,t}^-1 x

    def forms(self, x):
        """f_i = w_i.x and q_i = x'A_i^-1 x"""
        return self.W @ x, np.array([x @ np.linalg.solve(A, x) for A in self.A])

    def projected(self, f, q):
        if self.project == 'no' or not q.any():
            return f
        if self.project == 'clip':
            return np.clip(f, -self.alpha, 1)
        return project(f, q, self.alpha)

    def scores(self, x):
        return self.projected(*self.forms(x))

    def upper(self, x):
        f, q = self.forms(x)
        return self.projected(f, q) + np.sqrt(self.factor() * q)

    def factor(self):
        """What q_i is multiplied with to give the squared width."""
        c = (1 + self.alpha)**2
        if self.width == 'eta':
            return self.eta
        if self.width == 'log':
            return self.eta * np.log(self.t + 1)
        bracket = c * self.norm / 2 + c * self.past / 2 + 9 * c * np.log((self.t + 4) / self.delta)
        if self.width == 'modified':
            bracket += c * self.approx * float(self.t - 1)**self.approx_power
        return 2 * bracket

    def choose(self, x, greedy):
        return argmax(self.upper(x)), 1.0

    def sign(self, right):
        if right:
            return 1.0
        if self.alpha < 1 and self.rng.uniform() < (1 - self.alpha) / 2:
            return 1.0
        return -1.0

    def no_mistake(self, x, label, sign):
        """Whether the shown label's score has the right sign, where that ends the round."""
        return self.update == 'mistakes' and sign * self.scores(x)[label] > 0

    def learn(self, x, label, greedy, prob, right):
        sign = self.sign(right)
        if not x.any():
            return
        if self.no_mistake(x, label, sign):
            return
        f, q = self.forms(x)
        step = (self.projected(f, q) - f) / q
        for i in range(self.K):
            self.W[i] += step[i] * np.linalg.solve(self.A[i], x)
        old = self.A[label].copy()
        self.A[label] += np.outer(x, x) if self.matrix == 'full' else np.diag(x * x)
        self.W[label] = np.linalg.solve(self.A[label], old @ self.W[label] + sign * x)
        self.past += x @ np.linalg.solve(self.A[label], x)


class Soba(Learner):
    """Beygelzimer, Orabona, Zhang 2017, the diagonal form: A per class and feature, W = theta / A."""

    defaults = dict(matrix='diag', gamma=0.05, margin='paper', a=1.0, adapt='paper', rounds=0.0, loss=0.0)

    def start(self):
        self.theta = np.zeros((self.K, self.d))
        self.A = np.full((self.K, self.d), float(self.a))
        self.M = 0.0  # cumulative margin
        self.seen = 0  # features so far
        self.logs = 0.0  # sum of z'A^-1 z
        self.updates = [0, 0]  # greedy was wrong, greedy was right

    def scores(self, x):
        return (self.theta / self.A) @ x

    def choose(self, x, greedy):
        gamma = self.gamma
        if gamma == 'auto':
            self.seen = max(self.seen, 1 + max(np.flatnonzero(x), default=-1))
            size = self.seen * self.K**2 * self.a * np.log(max(self.rounds, 1)) / max(self.rounds, 1)
            if size > 0 and self.loss:
                gamma = min(1.0, (size * self.loss / self.rounds)**(1 / 3))
            elif size > 0:
                gamma = min(1.0, np.sqrt(size))
            else:
                gamma = min(1.0, np.sqrt(self.K * (1 + self.logs) / self.t))
        return self.explore(greedy, gamma)

    def learn(self, x, label, greedy, prob, right):
        if not right or self.K == 1:
            return
        s = self.scores(x)
        ybar = rival(s, label)
        D = s[ybar] - s[label]
        R = self.form(x, label, ybar, prob)
        m = (D * D + 2 * D) / (prob * (1 + R))
        if self.margin == 'author' and greedy != label:
            m = 0.0  # the authors' code computes a difference of zero here
        elif self.margin != 'always' and self.M + m < 0:
            return
        self.M += m
        self.updates[int(greedy == label)] += 1
        self.update(x, label, ybar, prob)
        after = self.matrix == 'diag' and self.adapt == 'paper'  # of one matrix, R/(1 + R) is that too
        self.logs += self.form(x, label, ybar, prob) if after else R / (1 + R)

    def form(self, x, y, ybar, p):
        """z'A^-1 z with z = (e_y - e_ybar) (x) x / sqrt(p)"""
        return np.sum(x * x / p * (1 / self.A[y] + 1 / self.A[ybar]))

    def update(self, x, y, ybar, p):
        self.theta[y] += x / p
        self.theta[ybar] -= x / p
        self.A[y] += x * x / p
        self.A[ybar] += x * x / p


class SobaFull(Soba):
    """The same with A over all K d weights, as recursive least squares that pulls the margin to 1."""

    def start(self):
        super().start()
        self.W = np.zeros(self.K * self.d)
        self.inverse = np.eye(self.K * self.d) / self.a

    def scores(self, x):
        return self.W.reshape(self.K, self.d) @ x

    def z(self, x, y, ybar, p):
        z = np.zeros((self.K, self.d))
        z[y] += x / np.sqrt(p)
        z[ybar] -= x / np.sqrt(p)
        return z.ravel()

    def form(self, x, y, ybar, p):
        z = self.z(x, y, ybar, p)
        return z @ self.inverse @ z

    def update(self, x, y, ybar, p):
        z = self.z(x, y, ybar, p)
        v = self.inverse @ z
        R = z @ v
        self.W += v * (1 / np.sqrt(p) - z @ self.W) / (1 + R)
        self.inverse -= np.outer(v, v) / (1 + R)


def minimiser(values, b, D, vectors=None):
    """argmin of <b, w> + <w, A w>/2 over |w| <= D, A = vectors diag(values) vectors' (diagonal without): w = -(A + mu)^-1 b."""
    c = -b if vectors is None else -vectors.T @ b

    def norm(mu):
        return np.linalg.norm(c / (values + mu))

    low = high = 0.0
    if norm(0) > D:
        high = np.linalg.norm(c) / D  # values are positive, so that |w| < D there
        for _ in range(200):
            mid = (low + high) / 2
            low, high = (mid, high) if norm(mid) > D else (low, mid)
    w = c / (values + high)
    return w if vectors is None else vectors @ w


class Newtron(Learner):
    """Hazan, Kale 2011; the diagonal form is PNewtron."""

    defaults = dict(matrix='diag', gamma=0.05, estimator='paper', step='argmin', alpha=10.0, beta=0.01, D=1.0)

    def start(self):
        self.W = np.zeros((self.K, self.d))
        self.b = np.zeros((self.K, self.d))
        n = self.K * self.d
        self.A = np.full((self.K, self.d), 1 / self.D) if self.matrix == 'diag' else np.eye(n) / self.D
        self.explored = False

    def choose(self, x, greedy):
        q = softmax(self.alpha * self.scores(x))
        P = (1 - self.gamma) * q + self.gamma / self.K
        self.explored = self.rng.uniform() < self.gamma
        label = self.rng.integer(self.K) if self.explored else self.rng.label(q)
        self.chances = P
        return label, P[label]

    def gradient(self, q, label, prob, right):
        """The K factors of x in the estimated gradient."""
        c = ((1 - q[label]) if right else q[label]) / prob
        direction = np.full(self.K, 1 / self.K)
        direction[label] -= 1 if self.estimator == 'paper' else 2 / self.K
        return c * direction if right else -c * direction

    def learn(self, x, label, greedy, prob, right):
        q = softmax(self.alpha * self.scores(x))
        G = np.outer(self.gradient(q, label, prob, right), x)
        kb = self.beta * prob if right else self.beta
        dropped = (self.explored or self.drawn) and self.estimator == 'author'
        self.b += G * (1.0 if dropped else 1 - kb * np.sum(G * self.W))
        g, b = G.ravel(), self.b.ravel()
        if self.matrix == 'diag':
            self.A += kb * G * G
            values, vectors = self.A.ravel(), None
        else:
            self.A += kb * np.outer(g, g)
            values, vectors = np.linalg.eigh(self.A)
        if self.step == 'argmin':
            W = minimiser(values, b, self.D, vectors)
        else:
            W = minimiser(values, b, np.inf, vectors)
            W *= self.D / (np.linalg.norm(W) or 1)
        self.W = W.reshape(self.K, self.d)


class Cova(Learner):
    """Chen et al. 2009: K binary learners; everyone learns from a success, only the shown label's from a failure."""

    defaults = dict(base='pa1', C=1.0, r=1.0, decoding='loss', smooth=1.0, coding='one-versus-all')

    def start(self):
        self.W = np.zeros((self.K, self.d))
        self.S = np.ones((self.K, self.d))

    def outputs(self, x):
        return self.W @ x

    def scores(self, x):
        f = self.outputs(x)
        return np.sign(f) if self.decoding == 'hamming' else f

    def learn(self, x, label, greedy, prob, right):
        f = self.outputs(x)
        if not right:
            self.update(label, x, -1, f[label])
            return
        for k in range(self.K):
            self.update(k, x, 1 if k == label else -1, f[k])

    def update(self, k, x, y, f):
        xx = x @ x
        if xx == 0:
            return
        loss = max(0.0, 1 - y * f)
        if self.base == 'pa':
            self.W[k] += loss / xx * y * x
        elif self.base == 'pa1':
            self.W[k] += min(self.C, loss / xx) * y * x
        elif self.base == 'pa2':
            self.W[k] += loss / (xx + 1 / (2 * self.C)) * y * x
        elif self.base == 'perceptron':
            if y * f <= 0:
                self.W[k] += y * x
        elif self.base == 'arow':
            if y * f < 1:
                S = self.S[k]
                beta = 1 / (np.sum(S * x * x) + self.r)
                self.W[k] += (1 - y * f) * beta * y * S * x
                self.S[k] = S - beta * (S * x)**2


class CovaPairs(Cova):
    """All-pairs coding: a binary learner for classes i < j, positive for i."""

    def start(self):
        super().start()
        self.P = {(i, j): np.zeros(self.d) for i in range(self.K) for j in range(i + 1, self.K)}

    def versus(self, k, j, x):
        return self.P[k, j] @ x if k < j else -self.P[j, k] @ x

    def scores(self, x):
        gain = np.sign if self.decoding == 'hamming' else lambda f: -max(0.0, 1 - f)
        return np.array([sum(gain(self.versus(k, j, x)) for j in range(self.K) if j != k) for k in range(self.K)])

    def learn(self, x, label, greedy, prob, right):
        for (i, j), w in self.P.items():
            if label in (i, j):
                y = 1 if (label == i) == right else -1
                self.W[0] = w  # the binary learner's step is Cova's
                self.update(0, x, y, w @ x)
                self.P[i, j] = self.W[0].copy()


def split_spec(spec):
    """'name:a=1,b=two' -> ('name', {'a': 1.0, 'b': 'two'}); commas inside brackets do not count."""
    name, _, rest = spec.partition(':')
    settings = {}
    for item in re.split(r',(?![^[]*\])', rest) if rest else []:
        key, value = item.split('=', 1)
        try:
            settings[key] = float(value)
        except ValueError:
            settings[key] = value
    return name, settings


def without_floor(spec):
    return re.sub(r'[:,]floor=[^,]*$', '', spec)


def make(spec, K, d, seed=0):
    """A reference learner from its spec."""
    import ref_bandits as bandits
    import ref_clouds as clouds
    import ref_confident as confident
    import ref_front as front
    import ref_ensembles as ensembles
    import ref_kernels as kernels
    import ref_span as span
    import ref_successors as successors
    import ref_panel as panel
    name, settings = split_spec(spec)
    matrix = settings.get('matrix')
    special = {
        ('soba', 'full'): SobaFull,
        ('soba', 'kernel'): kernels.SobaKernel,
        ('confidit', 'kernel'): kernels.ConfiditKernel,
        ('cova', 'naive-bayes'): ensembles.CovaNaiveBayes,
        ('cova', 'all-pairs'): CovaPairs,
        ('arow', 'span'): span.ArowSpan,
        ('perceptron2', 'span'): span.Perceptron2Span,
        ('confidit', 'span'): span.ConfiditSpan,
        ('linucb', 'span'): span.LinUcbSpan,
        ('lints', 'span'): span.LinTsSpan,
        ('squarecb', 'span'): span.SquareCbSpan,
    }
    plain = {
        'perceptron': Perceptron,
        'perceptron2': Perceptron2,
        'arow': Arow,
        'banditron': Banditron,
        'confidit': Confidit,
        'soba': Soba,
        'newtron': Newtron,
        'cova': Cova,
        'confident': confident.Confident,
        'clouds': clouds.Clouds,
        'panel': panel.Panel,
        'offset-tree': ensembles.OffsetTree,
        'boost': ensembles.Boost,
        'osboost': ensembles.OsBoost,
        'adabandit': successors.AdaBandit,
        'exp4': ensembles.Exp4,
        'epoch-greedy': bandits.EpochGreedy,
        'banditron-adaptive': bandits.BanditronAdaptive,
        'eg-banditron': bandits.EgBanditron,
        'separable': bandits.Separable,
        'rdue': bandits.Rdue,
        'linucb': bandits.LinUcb,
        'glb-omd': bandits.GlbOmd,
        'lints': bandits.LinTs,
        'fgts': bandits.FeelGood,
        'squarecb': bandits.SquareCb,
        'gaptron': successors.Gaptron,
        'folklore': successors.Folklore,
        'fastcb': successors.FastCb,
        'regcb': successors.RegCb,
    }
    if settings.pop('scale', 'none') == 'auto' and name != 'panel':
        map, plain_spec = settings.pop('map', 'none'), re.sub(r',map=\w+', '', re.sub(r',?scale=auto', '', spec)).replace(':,', ':').rstrip(':')
        return front.Scaled(lambda features: make(plain_spec, K, features, seed), d, map)
    floor = settings.pop('floor', 0.0)
    if floor:
        return Floor(make(without_floor(spec), K, d, seed), floor)
    kind = special.get((name, matrix)) or special.get((name, settings.get('base'))) or special.get((name, settings.get('coding'))) or plain[name]
    return kind(K, d, seed, **settings)
