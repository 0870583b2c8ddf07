# SPDX-License-Identifier: BSD-3-Clause
"""The reference of panel: a ladder of duels; the exact rule is in docs/algorithms/panel.md."""
import copy
import math

import numpy as np

from ref_common import Learner, Rng, argmax, rival
from reference import make, split_spec


TWINS = ('twin', 'calm')  # they begin as copies, and retire for a time
SLEEP = 3  # times as long as it was awake
REST, REST_FROM = 4, 0.95  # where one wins with this chance, those before it are asked in one of so many rounds
WEIGHED = 1 / 30  # of the errors is what a twin must be able to save


class Duel:
    def __init__(self, kind, decay=0.0):
        self.rounds = min(1 / decay, 1000) if kind in TWINS else 0  # in which it is not seen as another yet
        self.prior = np.array([[1.0, 2.0], [1.0, {'rival': 16.0, 'finder': 16.0, 'another': 2.0}.get(kind, 4.0)]])  # won, met of either side
        self.factor = 4.0 if kind == 'another' else 0.5
        self.lost = 0.01 if kind in TWINS else 0.0 if kind == 'streaks' else 0.00135
        self.longest = 1000 if kind == 'streaks' else math.inf
        self.start(0)

    def start(self, now):
        self.sides, self.age, self.retired, self.since, self.asleep_to = self.prior.copy(), 0, False, now, 0

    def lead(self, worth=1):
        """How much the challenger is ahead, and the standard deviation: two Betas, compared as if they were normal."""
        (won, met), mean = self.sides.T, self.sides[:, 0] / self.sides[:, 1]
        return worth * mean[1] - mean[0], math.sqrt((mean * (1 - mean) / (met + 1) * (1, worth * worth)).sum())

    def chance(self, worth=1):
        """That the challenger's label is taken, where its being right is worth as many right answers."""
        lead, sd = self.lead(worth)
        return 0.5 * math.erfc(-lead / (math.sqrt(2) * sd))

    def gain(self):
        """Right answers more in all duels so far, if it is two standard deviations better than it seems."""
        lead, sd = self.lead()
        return self.age * max(0, lead + 2 * sd)

    def retire(self, now):
        self.retired, self.asleep_to = True, now + SLEEP * (now - self.since)

    def learn(self, side, right, two_classes, now):
        self.age += 1
        keep = 1 - 1 / min(max(100, self.factor * self.age), self.longest)
        self.sides = self.prior + (self.sides - self.prior) * keep
        self.sides[side] += right, 1
        if two_classes:
            self.sides[1 - side] += 1 - right, 1
        if self.sides[0, 1] > 100 and self.chance() < self.lost and now - self.since >= self.rounds:
            self.retire(now)


class Finding(Duel):
    """The duel of guesses: labels that were never right before."""

    def __init__(self, K):
        super().__init__('streaks')
        self.prior, self.longest = np.array([[1.0, 2.0], [1.0, K]]), math.inf
        self.start(0)


class Streaks:
    """What the rounds before say, where labels come in streaks: the last label again if it was right, else one that has not failed."""

    def __init__(self, K):
        self.K, self.duels, self.last, self.failed = K, {'again': Duel('streaks'), 'other': Duel('streaks')}, None, set()
        self.n = self.same = self.expected = self.variance = 0.0
        self.share = np.zeros(K)

    def which(self):
        return 'again' if self.last is not None else 'other'

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


class Panel(Learner):
    defaults = dict(members='[]', restart=5.0, scale='none', streaks='auto')

    def start(self):
        specs = self.members.strip('[]').split(';')
        self.make = [lambda spec=spec: make(spec, self.K, self.d, self.rng.state) for spec in specs]
        self.members = [f() for f in self.make]
        self.kinds = ['champion'] + [self.kind(specs[0], spec) for spec in specs[1:]]
        self.duels = [Duel(kind, getattr(member, 'decay', 0.0)) for kind, member in zip(self.kinds, self.members)]
        self.awake = [kind in ('champion', 'rival') for kind in self.kinds]
        self.finding = Finding(self.K)
        self.fast, self.slow, self.since, self.alarm, self.false_alarms = 1.0, 1.0, 0, False, 0
        self.born = [0] * len(specs)  # the round before a member's first
        self.former = self.kinds.index('former') if 'former' in self.kinds else None
        self.follows, self.streaks = self.streaks == 'auto', Streaks(self.K)
        self.begin()

    @staticmethod
    def kind(champion, other):
        (name, settings), (other_name, other_settings) = split_spec(champion), split_spec(other)
        if name != other_name:
            return 'finder' if other_name == 'clouds' else 'another'
        differ = {k for k in {*settings, *other_settings} if settings.get(k) != other_settings.get(k)}
        if differ == {'decay', 'r'} and float(other_settings['r']) > float(settings['r']):
            return 'calm'
        return {frozenset(): 'former', frozenset({'decay'}): 'twin'}.get(frozenset(differ), 'rival')

    def begin(self):
        for kind, duel in zip(self.kinds, self.duels):
            duel.start(self.since)
            duel.retired = kind == 'calm'  # until a warning
        self.finding.start(self.since)
        self.sure = 1.0  # margin of the champion from which on twins that do not lead are not asked
        self.epoch, self.length, self.stalled = [], 32 * self.K, False
        guess = 1 - 1 / self.K  # before the first epoch there was guessing: who is not two standard deviations better is stalled
        self.before = (guess - 2 * math.sqrt(guess * (1 - guess) / self.length)) / 0.9

    def is_new(self, i):
        """One of another kind looks on at first."""
        return self.kinds[i] == 'another' and self.t - self.born[i] < 16 * self.K

    def leader(self, finders=True):
        best = 0
        for i in range(1, len(self.members)):
            if self.awake[i] and i != self.former and not self.is_new(i) and (finders or self.kinds[i] != 'finder') and self.duels[i].chance() > 0.5:
                best = i
        return best

    def scores(self, x):
        """Of the leader; where that is the finder and its label was never right, of whoever leads the others."""
        leader = self.leader()
        scores = self.members[leader].scores(x)
        if self.kinds[leader] == 'finder' and not self.members[leader].right[argmax(scores)]:
            return self.members[self.leader(finders=False)].scores(x)
        return scores

    def first_asked(self):
        if Rng(self.t // REST).integer(REST) == self.t % REST:
            return 0
        first, best = 0, 0.0
        for i in range(1, len(self.members)):
            if self.is_new(i):
                continue
            if self.awake[i] and self.kinds[i] not in ('rival', 'another'):
                return 0
            if self.awake[i] and self.duels[i].chance() > 0.5:
                first, best = i, self.duels[i].chance()
        return first if best > REST_FROM else 0

    def choose(self, x, greedy):
        self.labels, self.unasked, margin = [], [False] * len(self.members), 0.0
        self.first = self.first_asked()
        for i, (member, awake, born) in enumerate(zip(self.members, self.awake, self.born)):
            if i < self.first:
                self.labels.append(None)
                continue
            member.t = self.t - 1 - born
            self.unasked[i] = awake and self.kinds[i] in TWINS and margin >= max(1.0, self.sure) and self.duels[i].chance() <= 0.5
            if self.unasked[i]:
                member.note(x)
            self.labels.append(member.predict(x)[0] if awake and not self.unasked[i] and not self.is_new(i) else None)
            if i == 0:
                scores = member.scores(x)
                margin = scores[self.labels[0]] - scores[rival(scores, self.labels[0])]
        o, self.shown = self.labels[self.first], [(None, None)] * self.first
        P = np.eye(self.K)[o]
        for i in range(self.first + 1, len(self.members)):
            self.shown.append((o, self.labels[i]))
            if not self.awake[i] or self.unasked[i] or i == self.former or self.is_new(i):
                continue
            chance = self.duels[i].chance()
            if self.guesses(i):
                chance = self.finding.chance(min(1 + self.since / self.K, max(1, self.K / 8)))
            P = (1 - chance) * P + chance * np.eye(self.K)[self.labels[i]]
            if self.labels[i] != o and self.rng.uniform() < chance:
                o = self.labels[i]
        self.streak_duel = None
        own = self.streaks.label(self.scores(x)) if self.follows else None
        if own is not None:
            self.streak_duel, self.streak_sides = self.streaks.duels[self.streaks.which()], (o, own)
            chance = self.streak_duel.chance()
            P = (1 - chance) * P + chance * np.eye(self.K)[own]
            if own != o and self.rng.uniform() < chance:
                o = own
        self.chances = P
        return o, P[o]

    def guesses(self, i):
        return self.kinds[i] == 'finder' and self.members[i].guessed

    def twin_before(self, i):
        return max((j for j in range(1, i) if self.kinds[i] == self.kinds[j] == 'twin'), default=0)

    def leads(self, i):
        return self.awake[i] and self.duels[i].sides[0, 1] > 10 and self.duels[i].chance() > 0.5

    def has_turn(self, i):
        """The first twin at once, each of the others when the one before it leads; it goes when that one retires."""
        before = self.twin_before(i)
        if before == 0:
            return True
        return not self.duels[before].retired if self.awake[i] else self.leads(before)

    def wake(self):
        for i in range(1, len(self.members)):
            kind, was = self.kinds[i], self.awake[i]
            if kind == 'former':
                continue
            self.awake[i] = not self.duels[i].retired and (kind == 'rival' or (kind == 'finder' and self.members[i].learns()) or (kind != 'finder' and self.stalled and self.has_turn(i)))
            if not self.awake[i] or was:
                continue
            self.born[i] = self.t
            if kind in TWINS:
                before = self.twin_before(i)
                decay, r, self.born[i] = self.members[i].decay, self.members[i].r, self.born[before]
                self.members[i] = copy.deepcopy(self.members[before])
                self.members[i].decay, self.members[i].r = decay, r
                self.duels[i].start(self.since)

    def change_places(self):
        i = self.former
        for what in (self.members, self.born):
            what[0], what[i] = what[i], what[0]

    def learn_former(self, shown, right):
        """In the rounds that tell, was it right as often as before the alarm?"""
        self.told.append(shown and right)
        if len(self.told) < 100:
            return
        self.awake[self.former] = False
        p = max(self.error_before, 0.01)
        if 1 - np.mean(self.told) <= p + 2 * math.sqrt(p * (1 - p) / 100):
            self.false_alarms += 1
            self.fast = self.slow = self.error_before
            self.since = 200
            self.change_places()
            self.begin()

    def learn(self, x, label, greedy, prob, right):
        asked = [awake and not unasked and i > self.first and not self.is_new(i) for i, (awake, unasked) in enumerate(zip(self.awake, self.unasked))]
        if self.alarm:
            self.begin_anew()
        self.wake()
        if not self.drawn:
            self.judge(asked, label, right)
        if self.streak_duel and not self.drawn and self.streak_sides[0] != self.streak_sides[1] and label in self.streak_sides:
            self.streak_duel.learn(self.streak_sides.index(label), right, self.K == 2, 0)
        self.streaks.learn(label, right)
        for i, (member, awake, born, unasked) in enumerate(zip(self.members, self.awake, self.born, self.unasked)):
            if self.first and (i < self.first or self.kinds[i] in TWINS + ('former',)):
                continue  # they rest
            if self.kinds[i] == 'another' and born == self.t:
                continue  # it begins with the round that comes
            if awake and unasked and right and not self.drawn:
                member.agree(x, label)
            elif awake:
                member.t, member.drawn = self.t - born, self.drawn
                if hasattr(member, 'span') and member.span:
                    member.span.see(x)
                member.learn(x, label, argmax(member.scores(x)), prob, right)
        if not self.drawn:
            self.watch(right)

    def judge(self, asked, label, right):
        for i, (before, own) in enumerate(self.shown, 1):
            if asked[i] and i == self.former:
                if self.awake[i] and (label == own or right):
                    self.learn_former(label == own, right)
            elif asked[i] and own != before and label in (before, own):
                duel = self.finding if self.guesses(i) else self.duels[i]
                duel.learn(int(label == own), right, self.K == 2, self.since)
        if any(self.unasked):
            self.sure = max(1.0, self.sure) * (1 + 0.1 * ((not right) - 0.01))
        if not right:
            self.weigh_twins()
        self.epoch.append(not right)
        if len(self.epoch) >= self.length:
            share = np.mean(self.epoch)
            self.stalled |= share > 0.9 * self.before
            for kind, duel in zip(self.kinds, self.duels):
                if kind == 'another' and share <= 0.9 * self.before and not duel.retired:
                    duel.start(self.since)  # it is to tell of those that there are now
            self.before, self.length, self.epoch = share, 2 * self.length, []

    def weigh_twins(self):
        """One that could save next to none of the errors sleeps."""
        for kind, duel, awake in zip(self.kinds, self.duels, self.awake):
            wrong = self.slow * (self.since - duel.since)
            another = self.since - duel.since >= duel.rounds
            if kind in TWINS and awake and (wrong >= 50 or self.since - duel.since >= 4000) and duel.gain() < WEIGHED * wrong and another:
                duel.retire(self.since)

    def watch(self, right):
        self.since += 1
        self.fast += ((not right) - self.fast) * max(1 / self.since, 0.01)
        self.slow += ((not right) - self.slow) * max(1 / self.since, 0.0005)
        p = max(self.slow, 0.01)
        threshold = self.restart * math.sqrt(p * (1 - p) * 0.01 / 1.99)
        if self.restart > 0 and self.since > 200 and self.fast - self.slow > 0.5 * threshold:
            self.stalled = True
            self.call_twins()
            self.alarm = self.fast - self.slow > threshold * (1 + min(self.false_alarms, 8) / 2)

    def call_twins(self):
        """Of those that begin as the champion one at a time, in turns; the others whenever they have rested."""
        twins = [i for i, kind in enumerate(self.kinds) if kind in TWINS]
        firsts = [i for i in twins if self.twin_before(i) == 0]
        rested = [i for i in twins if self.duels[i].retired and self.since >= self.duels[i].asleep_to]
        tried = any(not self.duels[i].retired and not self.leads(i) for i in firsts)
        ready = [i for i in firsts if i in rested]
        turn = min(ready, key=lambda i: self.duels[i].since) if ready and not tried else None
        for i in rested:
            if i == turn or i not in firsts:
                self.duels[i].start(self.since)

    def begin_anew(self):
        before = self.slow
        if self.former is not None:
            self.change_places()
        for i, f in enumerate(self.make):
            if i == self.former:
                continue
            old, self.members[i] = self.members[i], f()
            self.born[i] = self.t
            if getattr(old, 'span', None):  # features that were seen stay
                self.members[i].span.width = old.span.width
        self.since, self.alarm, self.slow = 0, False, self.fast
        self.begin()
        if self.former is not None:
            self.told, self.error_before, self.awake[self.former] = [], before, True
