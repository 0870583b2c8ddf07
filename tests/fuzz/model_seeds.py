#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write the models that the fuzzer of model files begins with: without their checksums, which it adds.

Usage: PYTHONPATH=BUILD/python model_seeds.py
"""
import os
import pathlib
import random
import tempfile

import hunch

SPECS = ["confident:matrix=auto", "confident:matrix=diag", "confident:matrix=span,rank=3", "soba:matrix=kernel,kernel=rbf,budget=5",
         "confidit:matrix=kernel,eta=0.1,kernel=rbf,budget=4", "confidit:matrix=full,eta=0.1", "newtron:matrix=diag", "cova:base=naive-bayes",
         "boost:weak=perceptron,N=2", "exp4:experts=[cova;confidit;banditron]", "separable:model=rational", "separable:model=nearest",
         "banditron:bias=1", "banditron:scale=auto,map=none", "confident:matrix=span,rank=2,scale=auto,map=none"]
CHECKSUM = 8


def main():
    folder = pathlib.Path(__file__).parent / "corpus" / "model"
    for number, spec in enumerate(SPECS):
        draw = random.Random(number)
        learner = hunch.Learner(spec, classes=3, seed=1)
        for _ in range(20):
            x = {j: draw.choice((1.0, draw.random())) for j in draw.sample(range(12), 4)}
            choice = learner.predict(x)
            learner.feedback(choice, right=choice.label == int(x.get(3, 0) > 0))
        with tempfile.TemporaryDirectory() as there:
            path = os.path.join(there, "model")
            learner.save(path)
            data = pathlib.Path(path).read_bytes()
        (folder / f"seed{number:02}").write_bytes(data[:-CHECKSUM])


if __name__ == "__main__":
    main()
