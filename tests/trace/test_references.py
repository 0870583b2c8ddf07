# SPDX-License-Identifier: BSD-3-Clause
"""The references are right: the authors' counts, what the papers prove, and equalities between forms."""
import os
import sys

import numpy as np
import pytest
from scipy.optimize import minimize

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import make_traces  # noqa: E402
import ref_bandits  # noqa: E402
import ref_common  # noqa: E402
import ref_data  # noqa: E402
import ref_ensembles  # noqa: E402
import ref_kernels  # noqa: E402
import reference  # noqa: E402
from ref_common import Rng, mix, rival, softmax  # noqa: E402
from reference import make, project  # noqa: E402

SPECS = make_traces.numbered()


def play(learner, examples):
    """Mistakes of the shown label; for full-information learners a tie with the true label is a mistake."""
    mistakes = 0
    for x, y in examples:
        label, greedy, prob = learner.predict(x)
        if learner.full_information:
            s = learner.scores(x)
            mistakes += s[y] <= s[rival(s, y)]
            learner.teach(x, y)
        else:
            mistakes += label != y
            learner.learn(x, label, greedy, prob, label == y)
    return int(mistakes)


# --- the committed traces ---


def committed(spec):
    with open(os.path.join(make_traces.HERE, 'data', make_traces.file_name(spec))) as f:
        return f.read()


def parts(line):
    y, x, choice, scores = line.split('|')
    label, greedy, prob = choice.split()
    return (int(y), x.split(), int(label), int(greedy)), np.array([float(v) for v in [prob] + scores.split()])


@pytest.fixture(scope='module')
def current():
    """All traces made anew with the committed seeds, and the lines of the references that this ran."""
    modules = (ref_common, reference, ref_kernels, ref_ensembles, ref_bandits)
    missing = {m.__file__: lines_of_functions(m.__file__) for m in modules}
    left = {}  # code object -> its lines not run yet

    def trace(frame, event, arg):
        code = frame.f_code
        if code not in left:
            left[code] = missing.get(code.co_filename, set()) & {line for _, _, line in code.co_lines()}
        if not left[code]:
            return None
        left[code].discard(frame.f_lineno)
        missing[code.co_filename].discard(frame.f_lineno)
        return trace

    sys.settrace(trace)
    try:
        texts = {
            spec: make_traces.write_trace(spec, number, int(committed(spec).split('\n')[2].split()[1]))
            for number, spec in SPECS
        }
    finally:
        sys.settrace(None)
    return texts, missing


def lines_of_functions(path):
    """Executable lines inside functions, but for those marked as guards."""
    with open(path) as f:
        source = f.read()
    text = source.split('\n')
    lines, todo = set(), [compile(source, path, 'exec')]
    while todo:
        code = todo.pop()
        todo += [c for c in code.co_consts if hasattr(c, 'co_lines')]
        if code.co_flags & 2:  # a function, not a module or class body
            lines |= {line for _, _, line in code.co_lines() if line and line > code.co_firstlineno}
    return {line for line in lines if '# guard' not in text[line - 1]}


@pytest.mark.parametrize('number,spec', SPECS, ids=[s for _, s in SPECS])
def test_committed_trace_is_current(number, spec, current):
    old, new = committed(spec).rstrip('\n').split('\n'), current[0][spec].rstrip('\n').split('\n')
    assert old[:3] == new[:3] and len(old) == len(new)
    for a, b in zip(old[3:], new[3:]):
        (plain_a, numbers_a), (plain_b, numbers_b) = parts(a), parts(b)
        assert plain_a == plain_b
        assert np.allclose(numbers_a, numbers_b, rtol=1e-9, atol=1e-9)


def test_no_stray_traces():
    assert set(os.listdir(os.path.join(make_traces.HERE, 'data'))) == {make_traces.file_name(s) for _, s in SPECS}


def test_traces_reach_every_line_of_the_references(current):
    left = {os.path.basename(path): sorted(lines) for path, lines in current[1].items() if lines}
    assert not left


@pytest.mark.parametrize('number,spec', SPECS, ids=[s for _, s in SPECS])
def test_trace_is_sane(number, spec):
    head, rounds = committed(spec).split('\n')[:3], committed(spec).rstrip('\n').split('\n')[3:]
    K = int(head[1].split()[1])
    right = wrong = 0
    for line in rounds:
        (y, x, label, greedy), numbers = parts(line)
        assert 0 < numbers[0] <= 1 and len(numbers) == K + 1
        assert greedy == int(np.argmax(numbers[1:]))
        assert all((float(v.split(':')[1]) * 64).is_integer() for v in x)
        right += label == y
        wrong += label != y
    assert right >= 8 and wrong >= 8


# --- the generator ---


def test_generator():
    rng = Rng(101)
    assert [rng.uniform() for _ in range(3)] == [0.81644120059845027, 0.017191399024609089, 0.26865236244694557]


# --- the authors' counts ---


@pytest.fixture(scope='module')
def syn():
    active, y, noisy = ref_data.synthetic()
    assert y[0] == 1 and len(active[0]) == 52 and sum(a != b for a, b in zip(y, noisy)) == 886
    X = [ref_data.dense(a) for a in active[:5000]]
    return X, y, noisy


# mistakes on SynSep after 1000 and 5000 rounds: exponent of gamma -> Banditron, PNewtron, SOBAdiag
COUNTS = {
    13: ((113, 156), (161, 197), (900, 4446)),
    12: ((116, 187), (161, 197), (900, 4446)),
    11: ((116, 186), (161, 198), (900, 4447)),
    10: ((147, 222), (167, 207), (900, 4448)),
    9: ((135, 225), (165, 203), (900, 4449)),
    8: ((690, 3483), (188, 247), (830, 3921)),
    7: ((184, 289), (132, 193), (803, 2988)),
    6: ((206, 402), (180, 268), (808, 2896)),
    5: ((245, 1535), (166, 300), (657, 1548)),
    4: ((564, 1274), (143, 399), (707, 2324)),
    3: ((384, 1150), (191, 676), (567, 1281)),
}


@pytest.mark.parametrize('exponent', COUNTS)
def test_counts_of_the_authors_code_on_synsep(exponent, syn):
    X, y, _ = syn
    specs = 'banditron:gamma={}', 'newtron:estimator=author,step=rescale,gamma={}', 'soba:margin=author,gamma={}'
    for spec, (first, all_) in zip(specs, COUNTS[exponent]):
        h = make(spec.format(2.0**-exponent), 9, 400, 101)
        assert play(h, zip(X[:1000], y)) == first
        assert first + play(h, zip(X[1000:], y[1000:])) == all_


@pytest.mark.parametrize('spec,mistakes,norm,total,w1,w2', [
    ('banditron:gamma=0.015625', 206, 215.31220395, -9225.30985915, -4, -3.94366197183),
    ('newtron:gamma=0.015625,estimator=author,step=rescale', 180, 1, 30.1742818646, -0.00837520304045,
     0.000654620413483),
    ('soba:gamma=0.015625,margin=author', 808, 25.0733796855, -646.485910531, 0, -0.503496503497),
    ('perceptron', 18, 38.6522961802, 0, -1, 0),
])
def test_weights_of_the_authors_code_on_synsep(spec, mistakes, norm, total, w1, w2, syn):
    h = make(spec, 9, 400, 101)
    assert play(h, zip(syn[0][:1000], syn[1])) == mistakes
    W = h.theta / h.A if spec.startswith('soba') else h.W
    assert np.allclose([np.linalg.norm(W), W.sum(), W[0, 4], W[2, 120]], [norm, total, w1, w2], rtol=1e-9, atol=1e-11)
    if spec.startswith('soba'):
        assert h.updates[1] == 191 and abs(h.M - 37941.4977882) < 1e-6


def test_full_soba_of_the_authors_code_on_synnonsep(syn):
    X, _, noisy = syn
    for margin, mistakes, updates, norm in (('always', 216, 82, 0.4238115167), ('author', 234, 1, 0.1948323841)):
        h = make(f'soba:matrix=full,gamma=0.125,margin={margin}', 9, 400, 101)
        assert play(h, zip(X[:300], noisy)) == mistakes
        assert h.updates[1] == updates and abs(np.linalg.norm(h.W) - norm) < 1e-9


@pytest.fixture(scope='module')
def planar():
    sets = {}
    for name, strong, draws, counts in (('strong', True, 51940, [16071, 1953, 1976]),
                                        ('weak', False, 153544, [16103, 1961, 1936])):
        X, y, used = ref_data.planar(20000, strong)
        assert used == draws and np.bincount(y).tolist() == counts
        sets[name] = list(zip(X, y))
    return sets


@pytest.mark.parametrize('spec,name,rounds,mistakes,draws', [
    ('perceptron', 'strong', 20000, 65, 0),
    ('perceptron', 'weak', 20000, 62, 0),
    ('separable', 'strong', 5000, 82, None),
    ('separable', 'weak', 1000, 129, None),
    ('separable:model=rational', 'strong', 5000, 85, None),
    ('separable:model=rational', 'weak', 1000, 133, None),
    ('banditron:gamma=0.1', 'strong', 20000, 1704, 20000),
    ('banditron:gamma=0.1', 'weak', 20000, 1834, 20000),
    ('soba:margin=author,gamma=0.1', 'strong', 20000, 1743, 20000),
    ('soba:margin=paper,gamma=0.1', 'strong', 20000, 3490, 20000),
    ('soba:margin=paper,gamma=0.01', 'weak', 20000, 2919, 20000),
    ('newtron:estimator=author,step=rescale,gamma=0.1', 'strong', 20000, 2559, 40000),
    ('newtron:estimator=author,step=rescale,gamma=0.1', 'weak', 20000, 3139, 40000),
])
def test_counts_of_the_authors_code_on_the_planar_sets(spec, name, rounds, mistakes, draws, planar):
    h = make(spec, 3, 3, 101)
    assert play(h, planar[name][:rounds]) == mistakes
    assert draws is None or h.rng.draws == draws


# --- what the papers prove ---


@pytest.mark.parametrize('seed', range(12))
def test_confidit_projection_is_the_closest_point(seed):
    rng = np.random.default_rng(seed)
    K, d, alpha = 2 + seed % 4, 3, (1.0, 0.5, 0.0, -0.5)[seed % 4]
    W, x = rng.normal(size=(K, d)) * 1.5, rng.normal(size=d)
    A = [B @ B.T + np.eye(d) for B in rng.normal(size=(K, d, d))]
    f, q = W @ x, np.array([x @ np.linalg.solve(M, x) for M in A])
    scores = project(f, q, alpha)
    U = np.array([w + (s - g) / v * np.linalg.solve(M, x) for w, s, g, v, M in zip(W, scores, f, q, A)])
    # feasible, and stationary: u_i - w_i = (beta_i + lambda) A_i^-1 x, beta_i >= 0, and 0 unless the bound is met
    assert np.isclose(scores.sum(), 1 + alpha - K * alpha) and (scores >= -alpha - 1e-9).all()
    step = (scores - f) / q
    free = scores > -alpha + 1e-9
    lam = step[free][0]
    assert np.allclose(step[free], lam) and (step[~free] >= lam - 1e-9).all()

    def distance(u):
        return sum((u_i - w) @ M @ (u_i - w) for u_i, w, M in zip(u.reshape(K, d), W, A)) / 2

    found = minimize(distance, np.zeros(K * d), method='SLSQP', options=dict(maxiter=500, ftol=1e-12), constraints=[
        dict(type='eq', fun=lambda u: (u.reshape(K, d) @ x).sum() - (1 + alpha - K * alpha)),
        dict(type='ineq', fun=lambda u: u.reshape(K, d) @ x + alpha),
    ])
    assert found.success and np.allclose(found.x.reshape(K, d), U, atol=1e-4)


def small_learner(spec, K=4, d=5, rounds=25):
    """A learner with some history, and an example."""
    h = make(spec, K, d, 5)
    data = make_traces.stream(77, K, d, rounds + 1)
    play(h, [(x, y) for y, x in data[:rounds]])
    return h, data[rounds][1]


def expected_step(spec, P_of, state='W'):
    """For every true label the mean of the change of the state over the drawn label."""
    K = 4
    out = []
    for y in range(K):
        total = 0
        for label in range(K):
            h, x = small_learner(spec)
            before = getattr(h, state).copy()
            greedy = h.predict(x)[1]
            P = P_of(h, x, greedy)
            h.learn(x, label, greedy, P[label], label == y)
            total = total + P[label] * (getattr(h, state) - before)
        out.append((y, h, x, greedy, total))
    return out


def test_banditron_step_is_the_perceptron_step_in_expectation():
    for y, h, x, greedy, step in expected_step('banditron:gamma=0.2', lambda h, x, g: mix(4, g, 0.2)):
        want = np.zeros((4, 5))
        want[y] += x
        want[greedy] -= x
        assert np.allclose(step, want)


def test_soba_gradient_is_unbiased():
    for y, h, x, greedy, step in expected_step('soba:gamma=0.2,margin=always', lambda h, x, g: mix(4, g, 0.2), 'theta'):
        s = small_learner('soba:gamma=0.2,margin=always')[0].scores(x)
        want = np.zeros((4, 5))
        want[y] += x
        want[rival(s, y)] -= x
        assert np.allclose(step, want)


@pytest.mark.parametrize('estimator,factor', [('paper', 1.0), ('author', 2 / 4)])
def test_newtron_gradient_is_unbiased(estimator, factor):
    h, x = small_learner(f'newtron:gamma=0.2,estimator={estimator}')
    q = softmax(h.alpha * h.scores(x))
    P = 0.8 * q + 0.2 / 4
    for y in range(4):
        mean = sum(P[k] * h.gradient(q, k, P[k], k == y) for k in range(4))
        assert np.allclose(mean, factor * (q - np.eye(4)[y]))


def test_rdue_gradient_is_unbiased():
    h, x = small_learner('rdue:B=1,q=0.1')
    greedy = h.predict(x)[1]
    pi = softmax(h.scores(x))
    rho = min(1, 2 * (1 - pi[greedy]))
    P = 0.1 / 4 + 0.9 * ((1 - rho) * np.eye(4)[greedy] + rho * pi)
    assert np.isclose(P.sum(), 1)
    for y in range(4):
        h, x = small_learner('rdue:B=1,q=0.1')
        before, H = h.W.copy(), h.H
        h.learn(x, y, greedy, P[y], True)
        G = (before - h.W) * np.sqrt(2 * (1e-8 + h.H)) / h.B
        assert np.isclose(h.H - H, np.sum(G * G)) and np.allclose(P[y] * G, np.outer(pi - np.eye(4)[y], x))


def test_boost_weights_are_unbiased():
    """With importance=yes the mean over the draw of the counts given to class k is what full information would give."""
    K, spec = 4, 'boost:N=3,weak=naive-bayes,delta=0.3,importance={}'
    h, x = small_learner(spec.format('yes'))
    greedy = h.predict(x)[1]
    P = mix(K, greedy, 0.3)
    for k in range(K):
        one, _ = small_learner(spec.format('yes'))
        two, _ = small_learner(spec.format('yes'))
        before = [w.N.copy() for w in one.weaks[k]]
        one.learn(x, k, greedy, P[k], True)
        two.update(k, x, 1, 1.0, 0.0, 1.0)
        for a, b, c in zip(one.weaks[k], two.weaks[k], before):
            assert np.allclose(P[k] * (a.N - c), b.N - c)


def test_confidit_full_is_ridge_regression():
    h = make('confidit:matrix=full', 3, 6, 1)
    target = np.zeros((3, 6))
    for y, x in make_traces.stream(5, 3, 6, 60):
        label, greedy, prob = h.predict(x)
        h.learn(x, label, greedy, prob, label == y)
        target[label] += x if label == y else -x
    assert np.allclose([A @ w for A, w in zip(h.A, h.W)], target)


def test_loss_decoding_is_argmax():
    rng = np.random.default_rng(0)
    for _ in range(200):
        f = rng.normal(size=5) * 2

        def loss(z):
            return np.maximum(0, 1 - z)

        total = [loss(f[r]) + loss(-np.delete(f, r)).sum() for r in range(5)]
        assert np.argmin(total) == np.argmax(f)


# --- equal forms ---


@pytest.mark.parametrize('spec', ['confidit:{},width=theory', 'confidit:{},alpha=0.5',
                                  'confidit:{},project=yes', 'confidit:{},project=clip,width=theory', 'soba:{},gamma=0.1',
                                  'soba:{},gamma=auto,margin=always'])
def test_linear_kernel_equals_full_matrix(spec):
    data = make_traces.stream(9, 3, 6, 40)
    full = make_traces.answers(spec.format('matrix=full'), 3, 4, data)
    dual = make_traces.answers(spec.format('matrix=kernel,kernel=linear'), 3, 4, data)
    for a, b in zip(full, dual):
        assert a[:2] == b[:2] and np.isclose(a[2], b[2]) and np.allclose(a[3], b[3])


@pytest.mark.parametrize('spec', ['perceptron2', 'arow', 'confidit', 'confidit:project=yes', 'linucb', 'lints', 'squarecb'])
def test_diagonal_equals_full_when_features_come_alone(spec):
    data = []
    for y, x in make_traces.stream(3, 3, 6, 60):
        x[np.arange(6) != len(data) % 6] = 0
        data.append((y, x))
    colon = ',' if ':' in spec else ':'
    one = make_traces.answers(f'{spec}{colon}matrix=diag', 3, 4, data)
    two = make_traces.answers(f'{spec}{colon}matrix=full', 3, 4, data)
    for a, b in zip(one, two):
        assert a[:2] == b[:2] and np.allclose(a[3], b[3])


@pytest.mark.parametrize('D', (50.0, 0.5))
def test_newtron_minimises_its_quadratics(D):
    """W minimises ||W||^2/(2D) + sum_t (g_t.(W - W_t) + kb_t/2 (g_t.(W - W_t))^2) over the ball ||W|| <= D: its gradient
    vanishes inside, and points along -W on the border."""
    K, d, alpha, beta = 3, 4, 0.5, 0.05
    h = make(f'newtron:matrix=full,gamma=0.3,alpha={alpha},beta={beta},D={D}', K, d, 11)
    terms, on_border = [], 0
    for y, x in make_traces.stream(13, K, d, 40):
        W = h.W.copy()
        label, greedy, prob = h.predict(x)
        q = softmax(alpha * (W @ x))
        v = (1 / K - np.eye(K)[label]) * ((1 - q[label]) if label == y else -q[label]) / prob
        terms.append((np.outer(v, x), beta * (prob if label == y else 1), W))
        h.learn(x, label, greedy, prob, label == y)
        norm = np.linalg.norm(h.W)
        slope = h.W / D + sum(g * (1 + kb * np.sum(g * (h.W - W_t))) for g, kb, W_t in terms)
        border = norm > D * (1 - 1e-9)
        mu = -np.sum(slope * h.W) / norm**2 if border else 0.0
        assert norm < D * (1 + 1e-9) and mu >= 0
        assert np.abs(slope + mu * h.W).max() < 1e-7
        on_border += border
    assert on_border > 30 if D < 1 else on_border == 0


def test_offset_tree_scores_point_to_the_leaf_reached():
    for K in range(2, 9):
        h = make('offset-tree', K, 6, 0)
        for y, x in make_traces.stream(K, K, 6, 50):
            label, greedy, prob = h.predict(x)
            assert int(np.argmax(h.scores(x))) == label
            h.learn(x, label, greedy, prob, label == y)


def test_thompson_probabilities():
    h = make('lints', 4, 5, 3)
    s, sigma = np.array([0.3, 0.1, 0.25, -0.4]), np.array([0.2, 0.5, 0.1, 0.3])
    chances = np.array([h.chance(s, sigma, k) for k in range(4)])
    sample = s + sigma * np.random.default_rng(1).normal(size=(200000, 4))
    assert abs(chances.sum() - 1) < 1e-3
    assert np.allclose(chances, np.bincount(sample.argmax(1), minlength=4) / 200000, atol=0.005)


def potential(h, W):
    """U(W) of feel-good Thompson sampling."""
    X, o, r = (np.array(part) for part in zip(*h.kept))
    f = h.predictions(W, X)
    own, top = f[np.arange(len(o)), o], f.max(axis=1)
    loss = (own - r)**2 if h.model == 'linear' else -np.log(np.where(r == 1, own, 1 - own))
    feel = np.minimum(h.cap, top) if h.smooth == 0 else h.cap - np.log1p(np.exp(h.smooth * (h.cap - top))) / h.smooth
    return h.prior * np.sum(W * W) + h.n / len(o) * np.sum(h.eta * loss - vars(h)['lambda'] * feel)


@pytest.mark.parametrize('spec', ['fgts:eta=2,lambda=0.7,cap=0.6', 'fgts:model=logistic,lambda=3,cap=0.6,smooth=4', 'fgts:smooth=3,budget=7'])
def test_feel_good_steps_go_down_the_potential(spec):
    h = make(spec, 3, 4, 5)
    make_traces.play(h, make_traces.stream(5, 3, 4, 20))
    W, gradient = h.W + 0.3, h.gradient(h.W + 0.3)
    for k, j in np.ndindex(*W.shape):
        shift = np.zeros_like(W)
        shift[k, j] = 1e-6
        assert abs((potential(h, W + shift) - potential(h, W - shift)) / 2e-6 - gradient[k, j]) < 1e-4


@pytest.mark.parametrize('spec', ['fgts:lambda=2,cap=0.5', 'fgts:model=logistic,lambda=6,cap=0.7,smooth=9', 'fgts:lambda=0'])
def test_feel_good_samples_are_those_of_the_posterior(spec):
    """One feature, two classes: the chain with short steps against the density on a grid, and against Thompson sampling's."""
    h = make(spec, 2, 1, 5)
    h.n, h.kept = 6, [(np.array([v]), k, r) for v, k, r in
                                     [(1, 0, 1), (0.5, 1, 0), (-1, 0, 0), (0.75, 1, 1), (1, 1, 0), (-0.5, 1, 1)]]
    h.prior, h.temperature, step, rng = 0.5, 0.5, 0.01, np.random.default_rng(3)
    samples = []
    for _ in range(60000):
        h.W = h.W - step * h.gradient(h.W) + np.sqrt(2 * step * h.temperature) * rng.normal(size=h.W.shape)
        samples.append(h.W[:, 0])
    axis = np.linspace(-6, 6, 121)
    density = np.exp([[-potential(h, np.array([[a], [b]])) / h.temperature for b in axis] for a in axis])
    density /= density.sum()
    for k, marginal in enumerate((density.sum(1), density.sum(0))):
        mean = marginal @ axis
        assert abs(np.mean(samples, 0)[k] - mean) < 0.06
        assert abs(np.std(samples, 0)[k] - np.sqrt(marginal @ (axis - mean)**2)) < 0.06


def test_eg_banditron_with_tiny_steps_is_banditron():
    data = make_traces.stream(21, 4, 6, 60)
    one = make_traces.answers('banditron:gamma=0.1', 4, 2, data)
    two = make_traces.answers('eg-banditron:gamma=0.1,eta=1e-6', 4, 2, data)
    assert [a[:3] for a in one] == [b[:3] for b in two]
