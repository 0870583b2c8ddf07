# SPDX-License-Identifier: BSD-3-Clause
"""The reference of epsilon_greedy.c, and its trace: `trace.py FILE` writes it, `trace.py --check FILE CONTRIBUTING` sees whether it is
current and whether CONTRIBUTING.md shows the C file as it is."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'trace'))

import make_traces  # noqa: E402
from ref_common import Learner, rival  # noqa: E402

SPEC, K, D, ROUNDS, SEED = 'epsilon-greedy:epsilon=0.2', 4, 9, 80, 1


class EpsilonGreedy(Learner):
    defaults = dict(epsilon=0.1)

    def choose(self, x, greedy):
        return self.explore(greedy, self.epsilon)

    def learn(self, x, label, greedy, prob, right):
        s = self.scores(x)
        r = rival(s, label)
        if right and s[r] >= s[label]:
            self.W[label] += x
            self.W[r] -= x


def text():
    make_traces.make = lambda spec, K, d, seed: EpsilonGreedy(K, d, seed, epsilon=0.2)
    make_traces.shape = lambda spec, number: (K, D, ROUNDS)
    return make_traces.write_trace(SPEC, 0, SEED)


def main():
    check = sys.argv[1] == '--check'
    path = sys.argv[1 + check]
    if not check:
        with open(path, 'w') as f:
            f.write(text())
        return 0
    with open(path) as f:
        same = f.read() == text()
    with open(os.path.join(HERE, 'epsilon_greedy.c')) as c, open(sys.argv[3]) as page:
        shown = c.read() in page.read()
    print('the trace is current' if same else 'the trace is not what its reference writes')
    print('CONTRIBUTING.md shows the file' if shown else 'CONTRIBUTING.md does not show epsilon_greedy.c as it is')
    return not (same and shown)


if __name__ == '__main__':
    sys.exit(main())
