# SPDX-License-Identifier: BSD-3-Clause
"""The reference of panel: a ladder of duels; the exact rule is in docs/algorithms/panel.md."""
import copy
import math

import numpy as np

from ref_common import Learner, argmax
from reference import make, split_spec


class Duel:
    def __init__(self, kind):
        self.prior = np.array([[1.0, 2.0], [1.0, 16.0 if kind == 'rival' else 4.0]])  # won, met of either side
        self.factor = 4.0 if kind == 'another' else 0.5
        self.twin = kind == 'twin'
        self.start()

    def start(self):
        self.sides, self.age, self.retired = self.prior.copy(), 0, False

    def chance(self):
        """That the challenger's label is taken: two Betas, compared as if they were normal."""
        (won, met), mean = self.sides.T, self.sides[:, 0] / self.sides[:, 1]
        variance = (mean * (1 - mean) / (met + 1)).sum()
        return 0.5 * math.erfc(-(mean[1] - mean[0]) / math.sqrt(2 * variance))

    def learn(self, side, right, two_classes):
        self.age += 1
        keep = 1 - 1 / max(100, self.factor * self.age)
        self.sides = self.prior + (self.sides - self.prior) * keep
        self.sides[side] += right, 1
        if two_classes:
            self.sides[1 - side] += 1 - right, 1
        won, met = self.sides[0]
        share = won / met
        if not self.twin and met > 100 and share - 3 * math.sqrt(share * (1 - share) / met) > 0.5:
            self.retired = True


class Panel(Learner):
    defaults = dict(members='[]', restart=5.0, scale='none')

    def start(self):
        specs = self.members.strip('[]').split(';')
        self.make = [lambda spec=spec: make(spec, self.K, self.d, self.rng.state) for spec in specs]
        self.members = [f() for f in self.make]
        self.kinds = ['champion'] + [self.kind(specs[0], spec) for spec in specs[1:]]
        self.duels = [Duel(kind) for kind in self.kinds]
        self.awake = [kind in ('champion', 'rival') for kind in self.kinds]
        self.fast, self.slow, self.since, self.restarts = 1.0, 1.0, 0, 0
        self.begin()

    @staticmethod
    def kind(champion, other):
        (name, settings), (other_name, other_settings) = split_spec(champion), split_spec(other)
        if name != other_name:
            return 'another'
        rest = {k: v for k, v in other_settings.items() if k != 'decay'}
        return 'twin' if rest == settings and 'decay' in other_settings else 'rival'

    def begin(self):
        for duel in self.duels:
            duel.start()
        self.epoch, self.length, self.before, self.stalled = [], 32 * self.K, None, False

    def leader(self):
        best = 0
        for i in range(1, len(self.members)):
            if self.awake[i] and self.duels[i].chance() > 0.5:
                best = i
        return best

    def scores(self, x):
        return self.members[self.leader()].scores(x)

    def choose(self, x, greedy):
        self.labels = []
        for member, awake in zip(self.members, self.awake):
            member.t = self.t - 1
            self.labels.append(member.predict(x)[0] if awake else None)
        o, P, self.shown = self.labels[0], np.eye(self.K)[self.labels[0]], []
        for i in range(1, len(self.members)):
            self.shown.append((o, self.labels[i]))
            if not self.awake[i]:
                continue
            chance = self.duels[i].chance()
            P = (1 - chance) * P + chance * np.eye(self.K)[self.labels[i]]
            if self.labels[i] != o and self.rng.uniform() < chance:
                o = self.labels[i]
        self.chances = P
        return o, P[o]

    def wake(self):
        for i in range(1, len(self.members)):
            kind, was = self.kinds[i], self.awake[i]
            self.awake[i] = not self.duels[i].retired and (kind == 'rival' or self.stalled or
                                                           (kind == 'twin' and self.restarts > 0))
            if self.awake[i] and not was and kind == 'twin' and not self.restarts:
                decay = self.members[i].decay
                self.members[i] = copy.deepcopy(self.members[0])
                self.members[i].decay = decay

    def learn(self, x, label, greedy, prob, right):
        asked = list(self.awake)
        self.wake()
        if not self.drawn:
            self.judge(asked, label, right)
        for member, awake in zip(self.members, self.awake):
            if awake:
                member.t, member.drawn = self.t, self.drawn
                if hasattr(member, 'span') and member.span:
                    member.span.see(x)
                member.learn(x, label, argmax(member.scores(x)), prob, right)
        if not self.drawn:
            self.watch(right)

    def judge(self, asked, label, right):
        for i, (before, own) in enumerate(self.shown, 1):
            if asked[i] and own != before and label in (before, own):
                self.duels[i].learn(int(label == own), right, self.K == 2)
        self.epoch.append(not right)
        if len(self.epoch) >= self.length:
            share = np.mean(self.epoch)
            self.stalled |= self.before is not None and share > 0.9 * self.before
            self.before, self.length, self.epoch = share, 2 * self.length, []

    def watch(self, right):
        self.since += 1
        self.fast += ((not right) - self.fast) * max(1 / self.since, 0.01)
        self.slow += ((not right) - self.slow) * max(1 / self.since, 0.0005)
        p = max(self.slow, 0.01)
        threshold = self.restart * math.sqrt(p * (1 - p) * 0.01 / 1.99)
        if self.since > 200 and self.fast - self.slow > 0.5 * threshold:
            self.stalled = True
            if self.fast - self.slow > threshold:
                for i, f in enumerate(self.make):
                    old, self.members[i] = self.members[i], f()
                    self.members[i].born = self.t
                    if getattr(old, 'span', None):  # features that were seen stay
                        self.members[i].span.width = old.span.width
                self.begin()
                self.restarts, self.since, self.slow = self.restarts + 1, 0, self.fast
