# SPDX-License-Identifier: BSD-3-Clause
"""Writes data/NAME.trace, one per learner spec: a small stream and what the reference answers to it.

    spec: banditron:gamma=0.05
    classes: 4
    seed: 7
    y | index:value index:value ... | label greedy prob | s_0 s_1 ... s_{K-1}

One line per round. The scores are those before that round's update. Values are multiples of 1/64. An example may be empty.
Learners that learn from the true label are taught y, the others are given whether label = y.
"""
import os
import sys

import numpy as np

from ref_common import Rng
from reference import make

HERE = os.path.dirname(os.path.abspath(__file__))

FIRST = """
perceptron
perceptron2
perceptron2:a=0.25
arow
arow:r=0.1
banditron:gamma=0
banditron:gamma=0.05
banditron:gamma=0.3
confidit
confidit:eta=1
confidit:eta=2,width=log
confidit:project=yes
confidit:project=clip,eta=1
confidit:alpha=0.5
confidit:alpha=0.5,project=yes
confidit:alpha=0,project=clip,width=log
confidit:alpha=-0.5,project=yes,eta=1
soba:gamma=0.1
soba:gamma=0.1,margin=author
soba:gamma=0.1,margin=always
soba:gamma=0.3,a=8
soba:gamma=auto
newtron:gamma=0.1
newtron:gamma=0.1,step=rescale
newtron:gamma=0.1,estimator=author
newtron:gamma=0.1,estimator=author,step=rescale
newtron:gamma=0.2,alpha=3,beta=0.1,D=4
cova:base=pa
cova:base=pa1
cova:base=pa1,C=0.05
cova:base=pa2
cova:base=perceptron
cova:base=arow
cova:base=arow,r=0.1
cova:base=pa1,decoding=hamming
cova:base=perceptron,decoding=hamming
soba:gamma=0.5
soba:gamma=0.5,margin=author
""".split()

SECOND = """
perceptron2:matrix=full
arow:matrix=full
arow:matrix=full,r=0.1
confidit:width=theory
confidit:width=modified,approx=3
confidit:matrix=full
confidit:matrix=full,eta=1,width=log
confidit:matrix=full,project=yes
confidit:matrix=full,project=clip
confidit:matrix=full,width=theory,norm=0.01
confidit:matrix=full,width=theory,project=yes,delta=0.5
confidit:matrix=full,width=modified,approx=2,alpha=0.5
confidit:matrix=full,alpha=0,project=yes
confidit:matrix=kernel,kernel=linear
confidit:matrix=kernel,kernel=poly,degree=3
confidit:matrix=kernel,kernel=rbf,bandwidth=0.25,eta=1
confidit:matrix=kernel,kernel=rational,width=log
confidit:matrix=kernel,kernel=rbf,bandwidth=0.25,budget=5,alpha=0.5,eta=1
confidit:matrix=kernel,kernel=linear,width=theory
soba:matrix=full,gamma=0.1
soba:matrix=full,gamma=0.1,margin=author
soba:matrix=full,gamma=0.1,margin=always
soba:matrix=full,gamma=auto,margin=always
soba:matrix=kernel,kernel=linear,gamma=0.1,margin=always
soba:matrix=kernel,kernel=rbf,bandwidth=0.25,gamma=0.2
soba:matrix=kernel,kernel=poly,gamma=0.1,margin=always,budget=10
soba:matrix=kernel,kernel=rational,gamma=auto
newtron:matrix=full,gamma=0.1
newtron:matrix=full,gamma=0.1,estimator=author,step=rescale
cova:base=naive-bayes
cova:base=naive-bayes,smooth=0.01
cova:base=naive-bayes,decoding=hamming
offset-tree:base=pa
offset-tree:base=pa1
offset-tree:base=pa2,C=0.1
boost:N=10
boost:N=10,delta=0.2,eta=0.5,importance=yes
boost:N=10,weak=naive-bayes,delta=0.1
boost:N=10,weak=gd,delta=0.1,rate=0.5
osboost:N=10
osboost:N=10,weak=naive-bayes
osboost:N=10,weak=gd,eta=0.5
banditron-adaptive
banditron-adaptive:rule=decay,gamma=0.8
eg-banditron
eg-banditron:gamma=0.2,eta=0.1
epoch-greedy
epoch-greedy:rate=4
exp4
exp4:experts=[banditron:gamma=0.2;cova:base=pa,decoding=hamming;perceptron],gamma=0.3
separable
separable:rule=paper
separable:model=rational
separable:model=rational,rule=paper,nu=0.9
separable:model=rational,budget=4
separable:model=nearest,radius=1
rdue
rdue:B=1,q=0.1
linucb
linucb:matrix=full,alpha=0.5
lints
lints:matrix=full,spread=0.5
squarecb
squarecb:matrix=full,gamma=3
confident:matrix=full
confident:matrix=full,eta=0.5,r=1,sharpness=1,demote_after=5
confident:matrix=diag
confident:matrix=diag,eta=1,r=0.1,demote_after=2,forget=0.1
confident:matrix=diag,sharpness=1
confident:matrix=full,demote_mean=2
confidit:update=mistakes
confidit:update=mistakes,alpha=0.3,project=yes
confidit:update=mistakes,matrix=full,eta=1
confidit:update=mistakes,matrix=kernel,kernel=linear,eta=1
confident:matrix=span
confident:matrix=span,rank=3
confident:matrix=span,rank=5,sharpness=1,demote_after=5
arow:matrix=span,rank=4
perceptron2:matrix=span,rank=4,a=2
confidit:matrix=span,rank=4
confidit:matrix=span,rank=3,project=yes,update=mistakes
linucb:matrix=span,rank=4
lints:matrix=span,rank=4,lambda=0.5
squarecb:matrix=span,rank=4
soba:gamma=auto,adapt=rank-one
boost:N=10,output=sign
confident:matrix=span,rank=5,r=0.2,demote_mean=3,decay=0.05
panel:scale=none,members=[confident:matrix=full;confident:matrix=diag;linucb:matrix=full,alpha=0.5]
panel:scale=none,restart=1,members=[champion=confident:matrix=span,rank=3;forgetting=confident:matrix=span,rank=3,decay=0.1;consistent=linucb]
fastcb
fastcb:matrix=full,gamma=3
regcb
regcb:matrix=full,c0=0.5
regcb:rule=elimination
gaptron
gaptron:loss=hinge,gamma=0.1
gaptron:loss=smooth-hinge,B=2
gaptron:step=fixed,gamma=0.2
gaptron:loss=hinge,step=fixed,gamma=0.2,kappa=0.25,X=0.5
gaptron:loss=smooth-hinge,step=fixed,eta=0.05
adabandit:N=5,rho=0.5
adabandit:N=4,rho=0.2,weak=naive-bayes
adabandit:rule=banditbbm,N=5
adabandit:rule=banditbbm,N=4,weak=gd,rho=0.3,gamma=0.3
exp4:rule=log-barrier
exp4:rule=log-barrier,eta=0.5,nu=0.1,experts=[banditron:gamma=0.2;cova:base=pa,decoding=hamming;perceptron;linucb]
folklore:gamma=0.5
folklore:matrix=full,gamma=0.5,B=3,lambda=0.5
panel:scale=none,restart=1,members=[confident:matrix=span,rank=3;forgetting=confident:matrix=span,rank=3,decay=0.2;confident:matrix=diag]
soba:gamma=auto,rounds=100000
soba:matrix=full,gamma=auto,rounds=2000,loss=0.5,a=0.5
rdue:q=auto,B=1
rdue:q=auto,B=2,rounds=200
confidit:width=modified,matrix=full,approx=0.5,approx_power=0.5
cova:coding=all-pairs
cova:coding=all-pairs,base=perceptron,decoding=hamming
confidit:matrix=kernel,kernel=linear,width=theory,project=yes
confidit:matrix=kernel,kernel=rbf,bandwidth=0.25,project=yes
confidit:matrix=kernel,kernel=rbf,bandwidth=0.25,project=yes,budget=5,alpha=0.5,eta=1
confidit:matrix=kernel,kernel=poly,project=clip,update=mistakes,budget=7
newtron:matrix=full,gamma=0.2,alpha=3,beta=0.1,D=4
glb-omd
glb-omd:matrix=full,alpha=0.5,eta=4,lambda=0.5
rdue:update=ftrl,B=2
rdue:update=ftrl,B=2,q=0.1,delay=3
offset-tree:rule=offset,gamma=0.5
offset-tree:rule=offset,base=pa2,gamma=0.5,importance=costing
offset-tree:rule=offset,base=pa,gamma=0
cova:base=naive-bayes,smooth=0
fgts:model=linear,lambda=0.5,temperature=0.02
fgts:model=logistic,lambda=1,cap=0.8,smooth=5,budget=20,temperature=0.02
fgts:model=linear,cap=0.4,lambda=0.3,smooth=3,steps=2,step=1,prior=1,eta=2,temperature=0.05
""".split()

FLOOR = """
confident:matrix=full,floor=0.2
banditron:gamma=0.1,floor=0.3
epoch-greedy:floor=0.2
separable:rule=paper,floor=0.2
separable:model=nearest,radius=1,floor=0.2
newtron:gamma=0.1,estimator=author,floor=0.2
squarecb:floor=0.2
lints:floor=0.2
exp4:floor=0.2
arow:floor=0.2
panel:scale=none,restart=1,members=[confident:matrix=span,rank=3;forgetting=confident:matrix=span,rank=3,decay=0.1;consistent=linucb],floor=0.1
""".split()

IN_STREAKS = """
panel:scale=none,restart=0,members=[confident:matrix=diag;linucb]
panel:scale=none,restart=0,members=[confident:matrix=full;linucb:matrix=full],floor=0.1
panel:scale=none,restart=0,persistence=none,members=[confident:matrix=diag;linucb]
""".split()

RESTARTING = """
panel:scale=none,restart=3,members=[confident:matrix=span,rank=3;forgetting=confident:matrix=span,rank=3,decay=0.05]
""".split()

TRIED = """
panel:scale=none,restart=0,members=[confident:matrix=span,rank=6;forgetting=confident:matrix=span,rank=6,decay=0.1]
""".split()

DOUBTING = """
confident:matrix=full,doubt=500
confident:matrix=span,rank=5,r=0.2,demote_mean=3,doubt=250
confident:matrix=span,rank=5,r=0.2,decay=0.05,doubt=250
""".split()

FINDERS = """
clouds
clouds:from=9
panel:scale=none,restart=0,members=[confident:matrix=diag;finder=clouds]
panel:scale=none,restart=0,members=[confident:matrix=diag;finder=clouds:from=9;consistent=linucb]
""".split()

WIDE = """
clouds:from=3
""".split()

TEXT = """
confident:matrix=diag,scale=auto,r=0.2
""".split()

SCALED = """
arow:scale=auto
confident:matrix=diag,scale=auto
banditron:gamma=0.1,scale=auto
arow:scale=auto,map=fourier
arow:scale=auto,map=pairs
confident:matrix=diag,scale=auto,map=pairs
confident:matrix=diag,scale=auto,map=fourier
confident:matrix=span,rank=4,scale=auto
confident:matrix=span,rank=4,scale=auto,map=fourier
""".split()

SETTLED = """
arow:scale=auto,r=0.5
""".split()


def stream_of(spec, seed):
    """A panel's labels change in mid-stream, so that it restarts; or they come in streaks; or nothing happens, for long."""
    K, d, rounds = shape(spec, seed // 1000)
    if spec in TEXT:
        return text(seed, K, d, rounds)
    if spec in FINDERS:
        return clouds(seed, K, d, rounds)
    if spec in WIDE:
        return wide(seed, K, d, rounds)
    data = stream(seed, K, d, rounds)
    if spec in SETTLED:  # columns grow
        return [(y, x * (1 + (2 * t > rounds))) for t, (y, x) in enumerate(data)]
    if 'map=pairs' in spec:
        data = [(y, (x > 0).astype(float)) for y, x in data]
    if spec in IN_STREAKS:
        return [row for t in range(0, rounds, 50) for row in sorted(data[t:t + 50], key=lambda row: row[0])]
    changes = spec.startswith('panel') and spec not in TRIED
    return [((y + (changes and 2 * t > rounds)) % K, x) for t, (y, x) in enumerate(data)]


def stream(seed, K, d, rounds, noise=0.15):
    """A list of (y, x): a linear rule with label noise; the last third of the features appears late; two examples are empty."""
    rng = Rng(seed)

    def value():
        return (rng.integer(257) - 128) / 64

    U = [[value() for _ in range(d)] for _ in range(K)]
    late = d - d // 3
    out = []
    for t in range(rounds):
        width = late if t < rounds // 3 else d
        x = np.zeros(d)
        for j in range(width):
            if rng.uniform() < 0.55:
                x[j] = value()
        if t in (0, 12):
            x[:] = 0
        y = int(np.argmax(U @ x))
        if rng.uniform() < noise:
            y = rng.integer(K)
        out.append((y, x))
    return out


def text(seed, K, d, rounds):
    """A list of (y, x): 0/1 rows with some fifteen of many words; every word has a class in which it comes more often."""
    rng = Rng(seed)
    owner = [rng.integer(K) for _ in range(d)]
    out = []
    for _ in range(rounds):
        y = rng.integer(K)
        out.append((y, np.array([float(rng.uniform() < (0.075 if owner[j] == y else 0.02)) for j in range(d)])))
    return out


def clouds(seed, K, d, rounds):
    """A list of (y, x): every class has a centre; the last feature appears late, one is always the same, two examples are empty."""
    rng = Rng(seed)
    centres = [[(rng.integer(257) - 128) / 32 for _ in range(d)] for _ in range(K)]
    out = []
    for t in range(rounds):
        y = rng.integer(K)
        x = np.array([c + (rng.integer(65) + rng.integer(65) - 64) / 64 for c in centres[y]])
        x[0], x[-1] = 0.5, x[-1] if t >= rounds // 3 else 0
        out.append((y, x * (t not in (0, 12))))
    return out


def wide(seed, K, d, rounds):
    """A list of (y, x): sparse examples of more features than clouds has directions; six features are those of the class."""
    rng = Rng(seed)
    out = []
    for _ in range(rounds):
        y, x = rng.integer(K), np.zeros(d)
        for i in range(6):
            x[(7 * y + 11 * i) % d] = 1 + (rng.integer(65) - 32) / 64
        for _ in range(2):
            x[rng.integer(d)] = (rng.integer(129) - 64) / 64
        out.append((y, x))
    return out


def rounded(learner):
    """Rounds the state to float32: a run that survives this decides nothing by a hair's breadth."""
    for name, value in vars(learner).items():
        if isinstance(value, np.ndarray) and value.dtype == float:
            value[...] = value.astype(np.float32)
        elif isinstance(value, float) and name not in learner_settings(learner):
            setattr(learner, name, float(np.float32(value)))
        elif name in ('weaks', 'bases', 'members', 'span', 'inner'):
            for part in np.ravel(value):
                if part is not None:
                    rounded(part)


def learner_settings(learner):
    return getattr(learner, 'defaults', ('rate', 'smooth'))


def answers(spec, K, seed, data, after=lambda learner: None):
    """Per round: label, greedy, prob, scores."""
    return play(make(spec, K, len(data[0][1]), seed), data, after)


def play(h, data, after=lambda learner: None):
    out = []
    for y, x in data:
        s = h.scores(x)
        label, greedy, prob = h.predict(x)
        out.append((label, greedy, prob, s))
        if h.full_information:
            h.teach(x, y)
        else:
            h.learn(x, label, greedy, prob, label == y)
        after(h)
    return out


def robust(spec, K, seed, data):
    one, two = answers(spec, K, seed, data), answers(spec, K, seed, data, rounded)
    same = all(a[:2] == b[:2] for a, b in zip(one, two))
    size = max(np.abs(a[3]).max() for a in one) + 1e-9
    close = max(np.abs(a[3] - b[3]).max() for a, b in zip(one, two)) < 1e-4 * size
    clear = all(g[0] == g[1] or g[0] - g[1] > 1e-5 * size for g in (np.sort(a[3])[::-1] for a in one))
    if spec.startswith(('newtron:matrix=full', 'folklore')):  # classes never shown tie in exact arithmetic only
        clear = clear and all(s[0] != s[1] or s[0] == 0 for s in (np.sort(a[3])[::-1] for a in one))
    return same and close and clear


def tells(spec, K, seed, data):
    """What the trace is for happens: where the champion is to begin anew, it has; where a forgetting member is to rest after its trial,
    it does; where answers are to be doubted, safe labels were wrong. Where there is an offset that the scale
    of examples leaves alone, the scores name the same label before and after the example has counted for the scale."""
    if spec in TEXT:
        return all(greedy == np.argmax(s) for _, greedy, _, s in answers(spec, K, seed, data))
    if spec in FINDERS and spec.startswith('panel'):
        h = make(spec, K, len(data[0][1]), seed)
        play(h, data)
        finder = h.members[1]
        return h.finds > 20 and finder.contexts[0].rounds > 20 if 'from' not in spec else not finder.active
    if spec in SETTLED:
        h = make(spec, K, len(data[0][1]), seed)
        play(h, data)
        return sum(column.settled for column in h.front.columns) >= 2
    if spec not in RESTARTING + TRIED + DOUBTING:
        return True
    h = make(spec, K, len(data[0][1]), seed)
    play(h, data)
    if spec in RESTARTING:
        return h.restarts > 0 and h.members[1].contexts[0].rounds > 20
    if spec in TRIED:
        return h.members[1].until > 0
    return h.safe_wrong > 2


def shape(spec, number):
    """classes, features, rounds"""
    if spec in TRIED:
        return 3, 6, 1400
    if spec in RESTARTING:
        return 3, 6, 950
    if spec in TEXT:
        return 3, 400, 60
    if spec in DOUBTING:
        return 3, 6, 450
    if spec in SETTLED:
        return 2, 3, 4500
    if spec in FINDERS:
        return 8, 6, 250
    if spec in WIDE:
        return 8, 70, 330
    return 3 + number % 3, 6 + 2 * (number % 4), 50 if 'kernel' in spec else 450 if spec.startswith('panel') or 'scale=auto' in spec else 80


def file_name(spec):
    return ''.join(c if c.isalnum() or c in '-.' else '_' for c in spec).strip('_') + '.trace'


def find_seed(spec, number):
    """The first seed of this number's on whose stream no decision is a near tie, and that tells what it should."""
    K = shape(spec, number)[0]
    for seed in range(1000 * number, 1000 * number + 200):
        data = stream_of(spec, seed)
        if tells(spec, K, seed, data) and robust(spec, K, seed, data):
            return seed
    raise RuntimeError(f'{spec}: no clear stream found')


def write_trace(spec, number, seed):
    """The text of one trace."""
    K, data = shape(spec, number)[0], stream_of(spec, seed)
    lines = [f'spec: {spec}', f'classes: {K}', f'seed: {seed}']
    for (y, x), (label, greedy, prob, s) in zip(data, answers(spec, K, seed, data)):
        features = ' '.join(f'{j}:{x[j]:.9g}' for j in np.flatnonzero(x))
        lines.append(f'{y} | {features} | {label} {greedy} {prob:.9g} | ' + ' '.join(f'{v:.7g}' for v in s))
    return '\n'.join(lines) + '\n'


def numbered():
    """(number, spec) of every trace; the number chooses its seed and shape, so specs are added at the end of their part."""
    parts = ((FIRST, 1), (SECOND, 101), (FLOOR, 401), (IN_STREAKS, 501), (SCALED, 601), (RESTARTING, 701), (TEXT, 801), (TRIED, 901), (DOUBTING, 971), (FINDERS, 991), (SETTLED, 995), (WIDE, 997))
    return [(n, spec) for part, first in parts for n, spec in enumerate(part, first)]


def main():
    """Writes all traces, or those whose spec contains the first argument."""
    folder = os.path.join(HERE, 'data')
    os.makedirs(folder, exist_ok=True)
    for number, spec in numbered():
        if len(sys.argv) < 2 or sys.argv[1] in spec:
            seed = find_seed(spec, number)
            with open(os.path.join(folder, file_name(spec)), 'w') as f:
                f.write(write_trace(spec, number, seed))
            print(f'{spec}: seed {seed}')


if __name__ == '__main__':
    main()
