# SPDX-License-Identifier: BSD-3-Clause
"""Many machines learn from one decision log: a model for each part of the log, merged pairwise into one.

The log is a folder of Parquet files: what was shown for which visitor, with which probability, and whether it was clicked.
joblib sends the work to a Dask cluster, here of two processes on this machine; Ray's and Spark's backends of joblib do the same.
"""

import itertools
import pathlib
import sys

import numpy as np

import hunch

try:
    import distributed
    import joblib
    import pandas
    import pyarrow  # noqa: F401, of which pandas reads Parquet
except ImportError as error:
    print(f"SKIPPED: {error.name} is not installed")
    sys.exit()

OFFERS = ["books", "games", "tools", "travel"]
COLUMNS = ["hobby", "age", "evening"]
SPEC = "confidit:eta=0.1,bias=1"


def visitors(rows, seed):
    """Visitors, and what each would click. Some do not tell their age."""
    rng = np.random.default_rng(seed)
    hobby = rng.choice(["reading", "chess", "making", "hiking", "music"], rows)
    age = np.where(rng.random(rows) < 0.2, np.nan, rng.integers(18, 80, rows) / 40)
    likes = pandas.Series(hobby).map({"reading": "books", "chess": "games", "making": "tools", "hiking": "travel"})
    likes = likes.fillna(pandas.Series(np.where(age > 1, "travel", "games")))
    frame = pandas.DataFrame({"hobby": hobby, "age": age, "evening": rng.random(rows) < 0.5})
    return frame, np.where(rng.random(rows) < 0.9, likes, rng.choice(OFFERS, rows))


def write_log(folder, parts=8, rows=2_000):
    """What an application has logged that chose at random."""
    paths = []
    for part in range(parts):
        frame, likes = visitors(rows, part)
        shown = np.random.default_rng(100 + part).choice(OFFERS, rows)
        frame = frame.assign(shown=shown, prob=1 / len(OFFERS), clicked=shown == likes)
        paths.append(folder / f"part-{part}.parquet")
        frame.to_parquet(paths[-1])
    return paths


def learn(spec, names, *paths):
    """A model of some parts of the log, which numbers its features in the order of names."""
    learner = hunch.Learner(spec, OFFERS, features=names)
    for path in paths:
        log = pandas.read_parquet(path)
        learner.learn(log[COLUMNS], log["shown"], log["prob"], log["clicked"])
    return learner


def names_of(path):
    return learn("banditron", [], path).feature_names


def merge(one, other):
    one.merge(other)
    return one


def learn_together(spec, paths):
    """Three rounds of work for the cluster: the features' names, the models, and merges of two models until one is left."""
    each = joblib.Parallel()
    names = sorted(set(itertools.chain(*each(joblib.delayed(names_of)(path) for path in paths))))
    models = each(joblib.delayed(learn)(spec, names, path) for path in paths)
    while len(models) > 1:
        left = models[len(models) // 2 * 2 :]  # of an odd number
        models = each(joblib.delayed(merge)(*pair) for pair in zip(models[::2], models[1::2])) + left
    return models[0]


def main(folder="log"):
    paths = write_log(pathlib.Path(folder).resolve())
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster), joblib.parallel_config(backend="dask"):
            merged = learn_together(SPEC, paths)
    alone = learn(SPEC, merged.feature_names, *paths)
    frame, likes = visitors(5_000, seed=1_000)
    for what, model in ("merged", merged), ("one pass", alone):
        wrong = (model.greedy(frame) != likes).mean()
        print(f"{what:8} {model.rounds:6} rounds, {100 * wrong:.2f} % errors on new visitors")
    apart = np.abs(merged.scores(frame) - alone.scores(frame)).max()
    print(f"largest difference of a score: {apart:.1e}")
    merged.save("merged.hunch")
    return merged, alone


if __name__ == "__main__":
    pathlib.Path("log").mkdir(exist_ok=True)
    main()
