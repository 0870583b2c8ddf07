# SPDX-License-Identifier: BSD-3-Clause
"""Threads and memory."""

import gc
import os
import signal
import threading

import numpy as np
import pytest

import hunch


@pytest.fixture(scope="module")
def big():
    return hunch.datasets.synsep(20000, seed=2)


def in_threads(*calls):
    failures = []

    def guarded(call):
        try:
            call()
        except BaseException as error:  # noqa: B902
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


def test_learners_run_in_parallel(big):
    """Many calls of one learner begin and end within a single call of another: nobody waits for the GIL."""
    long, short = (hunch.Learner("confidit", 9, features=400) for _ in range(2))
    X, y = big.X[np.tile(np.arange(20000), 30)], np.tile(big.y, 30)
    few = big.X[:1000], big.y[:1000]
    begun, ended, finished = threading.Event(), threading.Event(), []

    def play_long():
        begun.set()
        long.run(X, y, curve=False)
        ended.set()

    def play_short():
        begun.wait()
        while not ended.is_set():
            short.run(*few, curve=False)
            finished.append(ended.is_set())

    in_threads(play_long, play_short)
    assert finished.count(False) >= 10


def test_parallel_results_are_the_same(big):
    alone = [hunch.run("banditron", big, seed=s).learner.to_bytes() for s in range(4)]
    together = [None] * 4

    def play(s):
        together[s] = hunch.run("banditron", big, seed=s).learner.to_bytes()

    in_threads(*[lambda s=s: play(s) for s in range(4)])
    assert together == alone


def test_one_learner_in_many_threads(big):
    learner = hunch.Learner("banditron", 9, features=400)
    rows = big.X[:2000].toarray()

    def rounds():
        for row, label in zip(rows[:200], big.y):
            choice = learner.predict(row)
            learner.feedback(choice, choice.label == label)
            learner.scores(row)
            learner.to_bytes()

    in_threads(rounds, rounds, *[lambda: learner.run(rows, big.y[:2000])] * 3)
    assert learner.rounds == 400 + 3 * 2000
    assert np.isfinite(learner.tensor("W")).all()


def test_names_from_many_threads():
    learner = hunch.Learner("banditron", 2)

    def rounds(start):
        for i in range(start, start + 300):
            learner.feedback(learner.predict({f"f{i % 400}": 1.0, "all": 1}), True)

    in_threads(*[lambda s=s: rounds(s) for s in (0, 100, 200, 300)])
    assert learner.rounds == 1200 and sorted(learner.feature_names) == sorted({*(f"f{i}" for i in range(400)), "all"})
    assert learner.features == 401


def test_merges_do_not_wait_for_each_other():
    a, b = (hunch.Learner("banditron", 2, features=2000) for _ in range(2))
    done = threading.Event()

    def merge(x, y):
        for _ in range(200):
            x.merge(y)

    def both():
        in_threads(lambda: merge(a, b), lambda: merge(b, a))
        done.set()

    threading.Thread(target=both, daemon=True).start()
    assert done.wait(60)


def test_interrupt(big):
    """Ctrl-C stops a long run; what has been learned stays, and the learner is usable."""
    learner = hunch.Learner("confidit", 9, features=400)
    X, y = big.X[np.tile(np.arange(20000), 20)], np.tile(big.y, 20)

    class Stop(Exception):
        pass

    def stop(*_):
        assert learner.rounds >= 0  # handlers may use the learner
        raise Stop

    old = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        with pytest.raises(Stop):
            for _ in range(1000):
                learner.run(X, y, curve=False)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    learner.predict(X[0])


@pytest.mark.parametrize("slow", ["confident:matrix=full", "confidit:matrix=full"])
def test_others_get_in_whatever_the_learner(slow):
    """Signals and other threads come in between a few rows of a slow learner, not after thousands of them.

    Rows between two looks are counted, not seconds: the clock decides how many rows there are, at most a few dozen of
    these, and a busy machine only makes it fewer.
    """
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20000, 300)).astype(np.float32), np.arange(20000) % 12
    learner = hunch.Learner(slow, 12, features=300)
    seen, stop = [], threading.Event()

    def look():
        while not stop.is_set():
            seen.append(learner.rounds)

    def play():
        try:
            learner.run(X, y, curve=False)
        except Enough:
            pass
        stop.set()

    class Enough(BaseException):
        pass

    def enough(*_):
        raise Enough

    old = signal.signal(signal.SIGALRM, enough)
    thread = threading.Thread(target=look)
    try:
        signal.setitimer(signal.ITIMER_REAL, 1.5)
        thread.start()
        play()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
        stop.set()
        thread.join()
    steps = np.diff(np.unique(seen))
    assert len(steps) > 5 and steps.max() < 2000


def test_scoring_lets_others_in(big):
    learner = hunch.Learner("confidit", 9, features=400)
    X = big.X[np.tile(np.arange(20000), 20)]
    stop, turns = threading.Event(), []

    def look():
        while not stop.is_set():
            learner.predict(X[0])
            turns.append(1)

    def score():
        learner.scores(X)
        stop.set()

    in_threads(score, look)
    assert len(turns) >= 3


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_no_growth():
    """10^5 learners made and freed, and some refused."""
    row = np.ones(3, np.float32)

    def turn(times):
        for i in range(times):
            learner = hunch.Learner("banditron", 2)
            learner.feedback(learner.predict(row), True)
            if i % 10 == 0:
                with pytest.raises(ValueError):
                    hunch.Learner("banditron", 2, gamma=7)
        gc.collect()

    turn(2000)
    before = resident()
    turn(100_000)
    assert resident() - before < 4 << 20


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_calls_do_not_grow(data):
    learner = hunch.Learner("banditron", 9, features=400)
    X, y = data.X[:20], data.y[:20]

    def turn(times):
        for _ in range(times):
            learner.run(X, y, choices=True)
            learner.scores(X)
            hunch.Learner.from_bytes(learner.to_bytes())
            for bad in (np.full(3, np.nan, np.float32), "x"):
                try:
                    learner.predict(bad)
                except ValueError:
                    pass
        gc.collect()

    turn(300)
    before = resident()
    turn(5000)
    assert resident() - before < 4 << 20
