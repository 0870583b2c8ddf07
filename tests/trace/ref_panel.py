# SPDX-License-Identifier: BSD-3-Clause
"""The reference of panel: an ensemble that compares its members where they disagree; the rules are in docs/reference/algorithms/panel.md."""
import copy
import dataclasses
import math
import re

import numpy as np

from ref_common import Learner, argmax
from reference import make, split_spec

TRIAL, REST = 1000, 3  # rounds after which a copy must be better than the champion; it rests so many times as long
LOST, LOST_AFTER = 0.00135, 100


@dataclasses.dataclass
class Role:
    prior: float  # side 1 of a comparison begins as right once of so many times
    window: float = 0.5  # times the rounds counted: how far back a comparison looks, at least 100 rounds
    window_most: float = math.inf
    on_plateau: bool = False  # it takes part from the first plateau or warning on; others at once
    copies: bool = False  # it begins as a copy of the champion
    warm_up: int = 0  # rounds for each class in which it only learns


ROLES = {'champion': Role(2), 'alternative': Role(16), 'forgetting': Role(4, on_plateau=True, copies=True),
         'consistent': Role(2, window=4, on_plateau=True, warm_up=16), 'finder': Role(16), 'persistence': Role(4, window_most=1000)}


class Comparison:
    def __init__(self, role, prior=None):
        self.role = role
        self.prior = np.array([[1.0, 2.0], [1.0, prior or role.prior]])  # right, shown of either side
        self.sides, self.rounds = self.prior.copy(), 0

    def chance(self, worth=1):
        """That the share of right answers of side 1, times that worth, is the larger one, as if both were normal."""
        (right, shown), mean = self.sides.T, self.sides[:, 0] / self.sides[:, 1]
        sd = math.sqrt((mean * (1 - mean) / (shown + 1) * (1, worth * worth)).sum())
        return 0.5 * math.erfc(-(worth * mean[1] - mean[0]) / (math.sqrt(2) * sd))

    def learn(self, side, right, two_classes):
        self.rounds += 1
        keep = 1 - 1 / min(max(100, self.role.window * self.rounds), self.role.window_most)
        self.sides = self.prior + (self.sides - self.prior) * keep
        self.sides[side] += right, 1
        if two_classes:
            self.sides[1 - side] += 1 - right, 1


class Drift:
    def __init__(self, K, share=1.0):
        self.fast = self.slow = share
        self.rounds, self.plateau, self.found = 0, False, False
        self.epoch, self.length = [], 32 * K
        guess = 1 - 1 / K
        self.before = (guess - 2 * math.sqrt(guess * (1 - guess) / self.length)) / 0.9

    def update(self, deviations, right):
        self.epoch.append(not right)
        if len(self.epoch) >= self.length:
            share = np.mean(self.epoch)
            self.plateau |= bool(share > 0.9 * self.before)
            self.before, self.length, self.epoch = share, 2 * self.length, []
        self.rounds += 1
        self.fast += ((not right) - self.fast) * max(1 / self.rounds, 0.01)
        self.slow += ((not right) - self.slow) * max(1 / self.rounds, 0.0005)
        p = max(self.slow, 0.01)
        limit = deviations * math.sqrt(p * (1 - p) * 0.01 / 1.99)
        known = limit > 0 and self.rounds > 200
        self.found = known and self.fast - self.slow > limit
        self.plateau |= known and self.fast - self.slow > limit / 2


class Persistence:
    """Proposes the label of the round before where labels persist; if that was wrong, one that has not failed since."""

    def __init__(self, K):
        self.K, self.last, self.failed = K, None, set()
        self.n = self.same = self.expected = self.variance = 0.0
        self.share = np.zeros(K)

    def context(self):
        return 0 if self.last is not None else 1

    def label(self, scores):
        more = self.same - self.expected
        if not (more > 0.1 * self.n and more > 5 * math.sqrt(self.variance)):
            return None
        if self.last is not None:
            return self.last
        left = [k for k in range(self.K) if k not in self.failed]
        return max(left, key=lambda k: scores[k]) if left else None

    def learn(self, label, right):
        if self.K == 2 and not right:
            label, right = 1 - label, True
        if not right:
            self.last = None
            self.failed.add(label)
            return
        if self.last is not None:
            chance = self.share[self.last] / self.share.sum()
            self.n = 0.999 * self.n + 1
            self.same = 0.999 * self.same + (self.last == label)
            self.expected = 0.999 * self.expected + chance
            self.variance = 0.999 * self.variance + max(chance * (1 - chance), 0.01)
        self.share = 0.999 * self.share + np.eye(self.K)[label]
        self.last, self.failed = label, set()


class Member:
    def __init__(self, spec, number, K, d, seed):
        named = re.match(r'(\w+)=', spec)
        self.name = named[1] if named else 'alternative' if number else 'champion'
        self.role, self.spec = ROLES[self.name], spec[named.end():] if named else spec
        self.make = lambda: make(self.spec, K, d, seed)
        self.learner, self.settings = self.make(), split_spec(self.spec)[1]
        self.K, self.born = K, 0

    def begin(self, now, active):
        """now: in rounds since the last restart."""
        self.contexts = [Comparison(self.role), Comparison(self.role, self.K)]
        self.active, self.since, self.until = active, now, 0


class Panel(Learner):
    defaults = dict(members='[]', restart=5.0, scale='none', persistence='auto')

    def start(self):
        specs = self.members.strip('[]').split(';')
        self.members = [Member(spec, i, self.K, self.d, self.rng.state) for i, spec in enumerate(specs)]
        self.follows, self.persistence = self.persistence == 'auto', Persistence(self.K)
        self.restarts, self.finds = 0, 0
        self.begin()

    def begin(self, share=1.0):
        self.drift = Drift(self.K, share)
        for m in self.members:
            m.begin(0, not m.role.on_plateau and not self.is_dormant(m))
        self.contexts = [Comparison(ROLES['persistence']), Comparison(ROLES['persistence'])]

    def is_dormant(self, member):
        return member.name == 'finder' and not member.learner.learns()

    def is_compared(self, m):
        return m.active and self.t - m.born >= m.role.warm_up * self.K

    def leader(self, finders=True):
        best = self.members[0]
        for m in self.members[1:]:
            if self.is_compared(m) and (finders or m.name != 'finder') and m.contexts[0].chance() > 0.5:
                best = m
        return best

    def scores(self, x):
        """Of the leader; where that is the finder and its label was never right, of whoever leads the others."""
        leader = self.leader()
        scores = leader.learner.scores(x)
        if leader.name == 'finder' and not leader.learner.right[argmax(scores)]:
            return self.leader(finders=False).learner.scores(x)
        return scores

    def proposal(self, m, x):
        """label, comparison, worth; None: it proposes nothing."""
        m.learner.t = self.t - 1 - m.born
        if not m.active or not self.is_compared(m):
            return None
        label = m.learner.predict(x)[0]
        guess = m.name == 'finder' and m.learner.guessed
        worth = min(1 + self.drift.rounds / self.K, max(1, self.K / 8)) if guess else 1
        return label, m, int(guess), worth

    def choose(self, x, greedy):
        made = [self.proposal(m, x) for m in self.members]
        for m in self.members:
            if m.active and not self.is_compared(m) and hasattr(m.learner, 'note'):
                m.learner.note(x)
        label = self.persistence.label(self.scores(x)) if self.follows else None
        made.append(None if label is None else (label, self, self.persistence.context(), 1))
        o = made[0][0]
        P, self.met = np.eye(self.K)[o], []
        for proposal in made[1:]:
            if proposal is None:
                continue
            label, by, context, worth = proposal
            chance = by.contexts[context].chance(worth)
            P = (1 - chance) * P + chance * np.eye(self.K)[label]
            if label != o:
                self.met.append((by, context, o, label))
                if self.rng.uniform() < chance:
                    o = label
        self.chances = P
        return o, P[o]

    def schedule(self):
        if self.drift.found:
            self.begin_anew()
        for m in self.members[1:]:
            now = self.drift.rounds
            if m.active:
                chance, comparison = m.contexts[0].chance(), m.contexts[0]
                lost = comparison.sides[0, 1] > LOST_AFTER and chance < LOST
                if now - m.since >= TRIAL and chance <= 0.5 if m.role.copies else lost:
                    m.active, m.until = False, now + REST * (now - m.since) if m.role.copies else math.inf
            elif (not m.role.on_plateau or self.drift.plateau) and now >= m.until and not self.is_dormant(m):
                self.activate(m)

    def activate(self, m):
        champion = self.members[0]
        m.born = self.t
        if m.role.copies:
            decay, m.learner, m.born = m.learner.decay, copy.deepcopy(champion.learner), champion.born
            m.learner.decay = decay
        m.begin(self.drift.rounds, True)

    def begin_anew(self):
        """The champion and others begin with nothing; copies keep what the champion had learned."""
        self.restarts += 1
        for m in self.members:
            if m.role.copies and not m.active:
                self.activate(m)
        self.begin(self.drift.fast)
        for m in self.members:
            if m.role.copies:
                m.active = True
                continue
            before, m.learner, m.born = m.learner, m.make(), self.t
            if getattr(before, 'span', None):  # features that were seen stay
                m.learner.span.width = before.span.width

    def learn(self, x, label, greedy, prob, right):
        self.schedule()
        if not self.drawn:
            for by, context, before, own in self.met:
                if label in (before, own):
                    guess = by is not self and context > 0
                    self.finds += guess
                    by.contexts[context].learn(int(label == own), right, self.K == 2 and not guess)
        self.persistence.learn(label, right)
        for m in self.members:
            if m.active and not (m.name == 'consistent' and m.born == self.t):
                learner = m.learner
                learner.t, learner.drawn = self.t - m.born, self.drawn
                if getattr(learner, 'span', None):
                    learner.span.see(x)
                learner.learn(x, label, argmax(learner.scores(x)), prob, right)
        if not self.drawn:
            self.drift.update(self.restart, right)
