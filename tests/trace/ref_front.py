# SPDX-License-Identifier: BSD-3-Clause
"""The reference of scale=auto, map=fourier and map=pairs: columns on a common scale, and what is made of them, before a learner
sees them. The rules are those of docs/explanation/scale-and-map.md; of text only what has words and 0/1 columns beside them."""
import math
from statistics import NormalDist

import numpy as np

from ref_common import Rng

SAMPLE, KNOTS, SETTLED = 128, 14, 32  # values of a sample, knots of a curve within it, the stride from which on a column is settled
STEP = 64  # what is in force follows when so large a part of all rows, or of a sample, is new
SPARE = 8  # rows of which one is looked at, in columns that are settled
CONSTANT, LARGEST = 0.3, 5
PLACES = 1024  # for pairs of few columns


def log_near(x):
    """The cheap logarithm of lib/numeric/linear_ops.h: exponent and mantissa of a float's bits, and a parabola."""
    mantissa, exponent = np.frexp(np.asarray(x, float))
    m = 2 * mantissa - 1
    return 0.69314718 * (exponent - 1 + m * (1.3465554 - 0.3465554 * m))


class Column:
    def __init__(self, number):
        self.number, self.rows, self.mean, self.numeric = number, 0, 0.0, False
        self.sample, self.stride, self.parity, self.fresh, self.wait = None, 1, 0, 0, 0
        self.known, self.size, self.is_numeric, self.knots, self.centred, self.at_zero = 0, 0.0, False, None, False, 0.0
        self.settled = False

    def see(self, x, rows):
        """One value that is not 0. It stands for eight in the one row of eight, drawn anew for each eight, in which a column that
        is settled is looked at."""
        count = 1
        if self.settled:
            if Rng(rows // SPARE).integer(SPARE) != rows % SPARE:
                return
            count = SPARE
        self.rows = min(self.rows + count, rows)
        self.numeric |= x != 1
        if self.knots and self.wait >= count:
            self.wait -= count
            return
        ones = self.mean == 1  # it was a 0/1 column until now
        size = min(abs(x), 10 * self.mean) if self.mean > 0 else abs(x)
        self.mean += (size - self.mean) / min(self.rows, 64)
        if self.numeric and self.sample is None and self.rows > 1 and self.rows >= 0.05 * rows:
            self.sample = [1.0] * min(self.rows - 1, SAMPLE // 8) if ones else []
        if self.sample is None:
            return
        if self.wait >= count:
            self.wait -= count
            return
        if len(self.sample) == SAMPLE:
            self.sample = sorted(self.sample)[self.parity::2]
            self.parity = 1 - self.parity
            self.stride *= 2
        self.sample.append(x)
        self.fresh = min(self.fresh + 1, len(self.sample))
        self.wait = Rng((self.number << 32) + self.rows).integer(2 * self.stride - 1)

    def refresh(self, rows):
        self.known, self.size, self.is_numeric = self.rows, self.mean, self.numeric
        if self.sample is not None and self.fresh and STEP * self.fresh >= len(self.sample):
            always = self.stride >= SETTLED and self.rows + 2 * SPARE >= rows  # the rows of a settled column are counted in eights
            self.draw(1.0 if always else self.rows / rows)
        self.settled = self.knots is not None and self.stride >= SETTLED

    def draw(self, nonzero):
        """The curve from what was sampled: knots, and the score of each."""
        v, self.fresh = np.sort(self.sample), 0
        n = len(v)
        low, high = v[n // 10], v[n - 1 - n // 10]
        width = high - low
        w = np.clip(v, low - 3 * width, high + 3 * width) if width > 0 else v
        mean = w.mean() * nonzero
        sd = math.sqrt(((w - mean)**2).mean() * nonzero + (1 - nonzero) * mean**2)

        def score(x, below):
            rank = nonzero * below / n + (1 - nonzero) * (x > 0) + (1 - nonzero) / 2 * (x == 0)
            end = 0.5 / (n + 1)
            z = np.clip((x - mean) / sd, -LARGEST, LARGEST) if sd > 0 else 0.0
            return 0.5 * (NormalDist().inv_cdf(min(max(rank, end), 1 - end)) + z)

        values, first, count = np.unique(v, return_index=True, return_counts=True)
        knots, last = [], -1
        for x, i, same in zip(values, first, count):
            slot = i * KNOTS // n
            if len(values) > KNOTS and slot <= last and x < values[-1]:
                continue
            if len(knots) == KNOTS:
                knots.pop()  # the largest value always has one
            last = slot
            knots.append((x, score(x, i + 0.5 * same)))
        centred = nonzero > (0.25 if self.centred else 0.5)
        if sd > 0:  # beyond the sample the linear half goes on
            far = 2 * LARGEST * sd
            knots = [(knots[0][0] - far, knots[0][1] - LARGEST), *knots, (knots[-1][0] + far, knots[-1][1] + LARGEST)]
        self.knots, self.at_zero, self.centred = knots, score(0.0, float((v < 0).sum())), centred

    def write(self, x):
        if x == 0:
            return self.at_zero if self.centred else 0.0
        if self.knots:
            return self.curve(x) - (0.0 if self.centred else self.at_zero)
        if not self.is_numeric:
            return float(x == 1)
        return float(np.clip(x / self.size, -LARGEST, LARGEST)) if self.known > 1 else 0.0

    def curve(self, x):
        at, z = (np.array(c) for c in zip(*self.knots))
        return float(np.interp(x, at, z))


class Relevance:
    """How much columns matter to the curves: the rule is in lib/features/relevance.h."""

    def __init__(self, columns):
        self.weights, self.rounds, self.next, self.wrong = np.ones(columns), 0, 128, 0
        self.slopes, self.right = np.zeros(columns), np.zeros(32)
        self.sums = np.zeros((3, 32, columns))  # of z, z^2 and z^4, by class

    def is_looked_at(self, looks):
        return self.rounds % max(1, self.next // looks) == 0

    def note(self, z, label):
        """The label is known to be right."""
        if self.is_looked_at(512):
            self.right[label % 32] += 1
            self.sums[:, label % 32] += [z, z**2, z**4]

    def learn(self, G, waves, lead, seen):
        """G: directions; waves and lead by feature: the map's cosines and sines, a constant, the columns."""
        n = len(G)
        turn = (waves[:n] * lead[n:2 * n] - waves[n:2 * n] * lead[:n]) / math.sqrt(0.5)
        slopes = lead[2 * n + 1:] + self.weights * (turn @ G)
        self.slopes[:seen] += slopes[:seen]**2
        if self.rounds >= self.next:
            self.next = self.next * 3 // 2
            if self.wrong >= 16:
                self.wrong = 0
                self.weights[:seen] = self.weighed(seen)
                self.slopes, self.right, self.sums = self.slopes / 2, self.right / 2, self.sums / 2

    def differences(self, sums, squares):
        """chi of one moment: between classes over the variance within all."""
        have, n = self.right > 0, self.right.sum()
        mean = sums.sum() / n
        variance = squares.sum() / n - mean**2
        between = (self.right[have] * (sums[have] / self.right[have] - mean)**2).sum()
        return between / variance if variance > 1e-9 * squares.sum() / n else 0.0

    def told(self, j):
        freedom = 2 * ((self.right > 0).sum() - 1)
        if freedom <= 0:
            return 0.0
        z, squares, fourths = self.sums[:, :, j]
        chi = self.differences(z, squares) + self.differences(squares, fourths)
        c = max(0.0, (chi - freedom) / math.sqrt(2 * freedom))
        return c**2 / (c**2 + 4)

    def weighed(self, seen):
        told = np.array([self.told(j) for j in range(seen)])
        v = self.sums[1, :, :seen].sum(0) / self.right.sum() if self.right.any() else np.ones(seen)
        silent = seen * (v * (1 - told)).sum() / v.sum() if v.any() else 0.0
        g = self.slopes[:seen]
        share = np.where(g > 0, g / max(g[g > 0].mean() if g.any() else 0.0, 1e-300), 1.0)
        e = (1 + share) * (1 - (1 - told) * silent / (silent + 8))
        V, E, Q = v.sum(), (v * e).sum(), (v * e**2).sum()
        return np.sqrt(e * V / E * math.sqrt(V * Q) / E) if E > 0 and Q > 0 else np.ones(seen)


class Front:
    """A learner behind it: makes what the learner sees of a row, and counts rows."""

    def __init__(self, map, columns):
        self.map, self.columns = map, [Column(j) for j in range(columns)]
        self.rows, self.next, self.energy, self.unit, self.seen = 0, 0, 0.0, 1.0, 0
        self.directions = 256  # for at most 64 columns
        self.text, self.known, self.rare, self.entries, self.beside, self.share = False, 0, 0, 0, 0.0, 1.0
        self.mapped = {'fourier': 2 * self.directions, 'pairs': PLACES}.get(map, 0)
        self.relevance = Relevance(columns)

    def is_word(self, column):
        return self.text and column.known < 0.98 * self.known

    def looks_like_text(self):
        few = self.entries < 0.05 * self.rows * self.seen
        return self.rare > 8 * self.rows or (self.rows <= 32 and self.entries > 8 * self.rows and few)

    def parts(self, x):
        """Of a row of text: its words, and what stands beside them."""
        words, beside = np.zeros(len(x)), np.zeros(len(x))
        for j in np.flatnonzero(x):
            column = self.columns[j]
            if self.is_word(column):
                words[j] = (1 + log_near(x[j])) * log_near(1 + self.known / max(column.known, 1))
            else:
                beside[j] = column.write(x[j])
        return words, beside

    def z(self, x):
        if self.text:
            words, beside = self.parts(x)
            length = math.sqrt((words**2).sum())
            return words / (length or 1.0) + beside * self.share
        return np.array([column.write(v) if j < self.seen or v else 0.0 for j, (column, v) in enumerate(zip(self.columns, x))])

    def fourier(self, z):
        def component(column, i):
            u = Rng((column * self.directions + i) * 0xD1B54A32D192ED03).bits()
            return (sum(u >> 16 * part & 0xffff for part in range(4)) - 131070) * math.sqrt(3) / 65536

        if not hasattr(self, 'G'):
            self.G = np.array([[round(4 * component(j, i)) / 4 for j in range(len(z))] for i in range(self.directions)])
        steps = np.rint(z * self.relevance.weights * (2**16 / (2 * math.pi * math.sqrt(0.5) * 4)))  # of columns: whole
        angle = 2 * math.pi / 2**16 * (4 * self.G[:, :self.seen] @ steps[:self.seen])  # columns that were never seen turn no wave yet
        return np.concatenate([np.cos(angle), np.sin(angle)]) / math.sqrt(self.directions)

    def pairs(self, z):
        ones = [j for j, column in enumerate(self.columns) if z[j] and not column.is_numeric]
        block = np.zeros(PLACES)
        for w in ones:
            for u in ones:
                if u < w:
                    block[w * (w - 1) // 2 + u] = math.sqrt(2) * self.unit**2
        return block

    def write(self, x):
        z = self.z(x) * self.unit
        block = self.fourier(z) if self.map == 'fourier' else self.pairs(z) if self.map == 'pairs' else []
        return np.concatenate([block, [0.0 if self.map == 'pairs' or self.text else CONSTANT], z])

    def see(self, x):
        self.rows += 1
        self.energy += (self.z(x)**2).sum()
        self.beside += ((self.parts(x)[1] if self.text else self.z(x))**2).sum()
        self.entries += np.count_nonzero(x)
        self.seen = max([self.seen] + [j + 1 for j in np.flatnonzero(x)])
        for j in np.flatnonzero(x):
            self.columns[j].see(x[j], self.rows)
            self.rare += self.columns[j].rows < 0.05 * self.rows
        decides = self.rows <= 256 and self.rows & (self.rows - 1) == 0
        text = self.looks_like_text() if decides else self.text
        if self.rows >= self.next:
            self.refresh()
        self.text = text

    def refresh(self):
        beside = self.beside / self.rows
        for column in self.columns:
            column.refresh(self.rows)
        self.known, self.share = self.rows, math.sqrt(0.25 / beside) if beside > 0.25 else 1.0
        self.unit = math.sqrt(self.rows / self.energy) if self.energy > 0 else 1.0
        self.next = self.rows + 1 + min(self.rows // STEP, 1024)


class Scaled:
    """Any learner, with scale=auto."""

    def __init__(self, make, columns, map='none'):
        self.front = Front(map, columns)
        self.make = lambda: make(self.front.mapped + 1 + columns)
        self.inner = self.make()
        self.full_information = self.inner.full_information

    def scores(self, x):
        return self.inner.scores(self.front.write(x))

    def predict(self, x):
        choice = self.inner.predict(self.written(x))
        self.see(x)
        return choice

    def written(self, x):
        """As the learner sees it; a span has as many features as there are columns, even where they are written as 0."""
        if getattr(self.inner, 'span', None):
            columns = max([self.front.seen] + [j + 1 for j in np.flatnonzero(x)])
            self.inner.span.width = max(self.inner.span.width, self.front.mapped + 1 + columns)
        return self.front.write(x)

    def learn(self, x, *choice):
        row = self.written(x)
        self.inner.learn(row, *choice)
        self.tell(row, choice[0], choice[-1], choice[-1])

    def teach(self, x, label):
        row = self.written(x)
        right = np.argmax(self.inner.scores(row)) == label
        self.inner.teach(row, label)
        self.tell(row, label, True, right)
        self.see(x)

    def tell(self, row, label, known, right):
        """The front hears what columns matter to the learner, if it says so."""
        front, r = self.front, self.front.relevance
        if front.map != 'fourier' or not hasattr(self.inner, 'lead'):
            return
        r.rounds += 1
        r.wrong += not right
        if known:
            r.note(row[front.mapped + 1:], label)
        if r.is_looked_at(128):
            r.learn(front.G, row, self.inner.lead(label), front.seen)

    def see(self, x):
        """When the first row tells the number of directions, or rows turn out to be text or not, the learner begins anew, but
        for its clock and its chances."""
        text = self.front.text
        self.front.see(x)
        if self.front.text != text or (self.front.rows == 1 and self.front.map == 'fourier'):
            before, self.inner = self.inner, self.make()
            self.front.relevance = Relevance(len(self.front.columns))
            self.inner.t, self.inner.rng, self.inner.text = before.t, before.rng, self.front.text
