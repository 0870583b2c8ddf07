# SPDX-License-Identifier: BSD-3-Clause
"""Ways into the Python package, timed (processor time, one thread): the numbers of docs/how-to/python.md.

Usage: PYTHONPATH=build-test/python python3 bench/bench_python_ways.py
"""

import resource
import sys
import time

import numpy as np

import hunch


def best(call, times=5):
    spent = []
    for _ in range(times):
        started = time.process_time()
        call()
        spent.append(time.process_time() - started)
    return min(spent)


def rounds(play, n=20_000):
    def loop():
        for _ in range(n):
            play()

    return 1e6 * best(loop) / n


def dicts():
    x = {f"f{i}": float(i) for i in range(10)}
    x["city"] = "Rome"
    learner = hunch.Learner("banditron", ["a", "b", "c"])
    print(f"predict and feedback, dict of 11: {rounds(lambda: learner.feedback(learner.predict(x), True)):.1f} us")
    print(f"predict {rounds(lambda: learner.predict(x)):.1f} us, greedy {rounds(lambda: learner.greedy(x)):.1f} us")
    try:
        from hunch.river import BanditClassifier
    except ImportError:
        return
    model = BanditClassifier("banditron", labels=["a", "b", "c"])
    print(f"River's learn_one: {rounds(lambda: model.learn_one(x, 'a')):.1f} us")


def frames():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(100_000, 30)).astype(np.float32), rng.integers(3, size=100_000)
    plain = best(lambda: hunch.run("banditron", X, y, curve=False))
    print(f"100,000 x 30 numbers: array {plain:.3f} s")
    try:
        import pandas
    except ImportError:
        return
    frame = pandas.DataFrame(X, columns=[f"c{i}" for i in range(30)])
    print(f"  pandas {best(lambda: hunch.run('banditron', frame, y, curve=False)):.3f} s")
    words = frame.iloc[:, :25].assign(
        **{f"w{i}": np.array(list("abcdefgh"))[rng.integers(8, size=100_000)] for i in range(5)}
    )
    print(f"  pandas with 5 text columns {best(lambda: hunch.run('banditron', words, y, curve=False), 3):.3f} s")
    try:
        import polars
    except ImportError:
        return
    table = polars.from_pandas(frame)
    print(f"  polars {best(lambda: hunch.run('banditron', table, y, curve=False)):.3f} s")


def files(name):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    data = hunch.datasets.load_svmlight(name)
    spent = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    size = data.X.data.nbytes + data.X.indices.nbytes
    print(
        f"load_svmlight {name}: {spent:.2f} s, {size / 1e6:.0f} MB of rows, {(peak - before) / 1e3:.0f} MB at most beyond the start"
    )


if __name__ == "__main__":
    for name in sys.argv[1:]:
        files(name)
    dicts()
    frames()
