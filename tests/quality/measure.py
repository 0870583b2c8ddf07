#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Error rates on real data against the numbers that the papers print.

usage: measure.py HUNCH [DATA-FOLDER]

The data (see HUNCH_DATA in hunch(1)) is not part of the repository: without it the test is skipped (exit code 77).
"""
import json
import os
import subprocess
import sys

RUNS = 10
USPS = ["usps.train", "usps.test"]

# files, learner, options, mean error in % must lie within (low, high); the paper's number, if any
CHECKS = [
    (USPS, "perceptron", ["--ties", "random"], 14.0, 15.0, 14.47),
    (USPS, "cova:base=pa", ["--ties", "random"], 17.8, 19.8, 18.85),
    (USPS, "banditron:gamma=0.3", ["--ties", "random"], 49.0, 53.0, 50.28),
    (["dna"], "cova:base=perceptron", [], 12.6, 14.0, 13.5),
    (["car.onehot"], "cova:base=perceptron", [], 21.5, 24.5, 22.8),
    (["connect-4.onehot"], "cova:base=pa", [], 27.6, 28.6, 28.1),
    (["nursery.onehot"], "confident", [], 0.0, 11.0, None),
    (USPS, "confident", [], 0.0, 15.0, None),
    (USPS, "confident", ["--ties", "random"], 0.0, 15.0, None),
    (["usps.01"], "confident", [], 0.0, 15.0, None),
    (["connect-4.onehot"], "confident", [], 0.0, 26.0, None),
    (["dna"], "confident", [], 0.0, 11.5, None),
    (["car.onehot"], "confident", [], 0.0, 22.0, None),
]


def data_folder(given):
    here = os.path.dirname(os.path.abspath(__file__))
    for folder in [given, os.environ.get("HUNCH_DATA"), os.path.join(here, "../../../shared/data")]:
        if folder and os.path.isdir(folder.split(":")[0]):
            return folder
    return None


def measure(hunch, files, learner, options):
    command = [hunch, "run", "--json", "--quiet", "--runs", str(RUNS), "--learner", learner, *options, *files]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)[0]


def main():
    hunch = sys.argv[1]
    folder = data_folder(sys.argv[2] if len(sys.argv) > 2 else None)
    if not folder:
        print("SKIPPED: usps, dna, car, connect-4 and nursery are not in the folders of HUNCH_DATA")
        return 77
    os.environ["HUNCH_DATA"] = folder
    bad = 0
    print("data                       learner               error %     sd   allowed        paper")
    for files, learner, options, low, high, paper in CHECKS:
        result = measure(hunch, files, learner, options)
        error, sd = 100 * result["error"], 100 * result["error_sd"]
        good = low <= error < high
        bad += not good
        print(f"{'+'.join(files):26} {learner:21} {error:7.2f} {sd:6.2f}   {low:5.1f} .. {high:5.1f} "
              f"{paper if paper else '':>6} {'' if good else ' FAILED'}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
