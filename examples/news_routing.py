# SPDX-License-Identifier: BSD-3-Clause
"""News routing: which of 20 groups does an article belong to, when readers only say "yes, mine" or "not mine"?

Uses the 20 newsgroups as word features (20news-18828.binary.svm.xz) from a folder named in HUNCH_DATA.
"""

import hunch

NAME = "20news-18828.binary"
LEARNERS = {
    "knows the true group": "arow",
    "Confidit": "confidit:eta=0.01,normalize=l2",
    "the default learner": hunch.default_learner() + ":normalize=l2",
    "Banditron": "banditron:gamma=0.05",
}


def main(rows=6000):
    if hunch.datasets.find(NAME) is None:
        print(f"SKIPPED: there is no {NAME} in the folders of HUNCH_DATA")
        return None
    data = hunch.datasets.load_svmlight(NAME)
    order = hunch.shuffled(len(data), seed=1)[:rows]  # the file is sorted by group
    X, y = data.X[order], data.y[order]
    print(f"{X.shape[0]} articles, {X.shape[1]} words, {len(data.classes)} groups; guessing errs in 95 %")
    results = hunch.run(LEARNERS, X, y, classes=data.classes, seed=1, jobs=2)
    for name, result in results.items():
        late = result.curve.rounds >= rows // 2
        counts = (result.curve.error * result.curve.rounds)[late]
        second_half = (counts[-1] - counts[0]) / (result.curve.rounds[-1] - result.curve.rounds[late][0])
        print(f"{name:22} error {100 * result.error:5.1f} %, in the second half {100 * second_half:5.1f} %")
    return results


if __name__ == "__main__":
    main()
