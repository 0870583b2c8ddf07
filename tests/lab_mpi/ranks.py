#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Several processes under mpirun give the numbers of one.

usage: ranks.py HUNCH HAS-MPI (yes or no)        exit code 77: skipped
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

HUNCH = os.path.abspath(sys.argv[1])
LEARNERS = ["-l", "banditron:gamma=2^-8..2^-3", "-l", "confidit:eta={0.1,1}", "-l", "arow:r=1"]
RANKS = 3


def environment(folder):
    more = {"ASAN_OPTIONS": "detect_leaks=0", "OMPI_MCA_rmaps_base_oversubscribe": "1", "TMPDIR": folder,
            "OMPI_MCA_btl_base_warn_component_unused": "0"}  # Open MPI keeps memory of its own
    return dict(os.environ, **more)


def call(command, folder, expect=0):
    done = subprocess.run(command, cwd=folder, env=environment(folder), stdin=subprocess.DEVNULL, timeout=280,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    out, err = done.stdout.decode(), done.stderr.decode()
    assert done.returncode == expect, f"{command}: exit {done.returncode}\n{out}{err}"
    return out, err


def hunch(folder, *arguments, ranks=1, expect=0):
    mpirun = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
    if mpirun and os.geteuid() == 0:
        mpirun.insert(1, "--allow-run-as-root")
    return call(mpirun + [HUNCH, *arguments], folder, expect)


def without_times(results):
    """Seconds differ from one run to the next."""
    if isinstance(results, dict):
        return {k: without_times(v) for k, v in results.items() if "seconds" not in k and k != "rate"}
    return [without_times(v) for v in results] if isinstance(results, list) else results


def both(folder, *arguments):
    one, several = (json.loads(hunch(folder, *arguments, "--json", ranks=n)[0]) for n in (1, RANKS))
    assert without_times(one) == without_times(several), arguments
    return one


def check_sweep(folder):
    results = both(folder, "sweep", "syn.svm", *LEARNERS, "--runs", "3", "--no-cache")
    assert len(results) == 9 and all(r["runs"] == 3 for r in results)


def check_store(folder):
    """Cells that one process has kept, some of them, are used by several, and the other way round."""
    some = ["sweep", "syn.svm", *LEARNERS[:2], "--runs", "3", "--cache", "kept", "--json"]
    all_of = ["sweep", "syn.svm", *LEARNERS, "--runs", "3", "--cache", "kept", "--json", "--csv", "grid.csv"]
    hunch(folder, *some)
    several = json.loads(hunch(folder, *all_of, ranks=RANKS)[0])
    with open(os.path.join(folder, "grid.csv"), encoding="utf-8") as csv:
        assert len(csv.readlines()) == 10
    assert without_times(json.loads(hunch(folder, *all_of)[0])) == without_times(several)
    files = sum(len(f) for _, _, f in os.walk(os.path.join(folder, "kept")))
    assert files == 27, files


def check_cv(folder):
    both(folder, "cv", "syn.svm", "--folds", "4", "--epochs", "1", "--no-cache", *LEARNERS)


def check_errors(folder):
    """What goes wrong everywhere is said once, and the exit code is that of one process."""
    for arguments, code in ((("sweep", "nothing.svm"), 2), (("sweep", "syn.svm", "-l", "nonsense"), 1)):
        _, alone = hunch(folder, *arguments, expect=code)
        _, err = hunch(folder, *arguments, ranks=RANKS, expect=code)
        said = [line for line in err.splitlines() if line.startswith("hunch: ")]
        assert said == [line for line in alone.splitlines() if line.startswith("hunch: ")], err


def check_one_missing(folder):
    """One process cannot read the data: all end, and its reason is shown."""
    script = os.path.join(folder, "uneven.sh")
    with open(script, "w", encoding="utf-8") as out:
        out.write('#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" = 1 ] && shift && set -- sweep missing.svm "$@"\n'
                  f'exec {HUNCH} "$@"\n')
    os.chmod(script, 0o755)
    command = ["mpirun", "--oversubscribe", "-n", str(RANKS), script, "sweep", "syn.svm", "--runs", "2", "--no-cache"]
    if os.geteuid() == 0:
        command.insert(1, "--allow-run-as-root")
    done = subprocess.run(command, cwd=folder, env=environment(folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=280, check=False)
    err = done.stderr.decode()
    assert done.returncode != 0 and "process 1 of 3 has ended too early" in err and "missing.svm" in err, err


def check_reproduce(folder):
    """An experiment of its own, figures and all: only one process writes."""
    os.mkdir(os.path.join(folder, "mine"))
    experiment = {"id": "mine", "title": "t", "paper": "p", "runs": 2,
                  "data": [{"id": "syn", "synth": "synsep", "rows": 800}],
                  "learners": [{"id": "banditron", "spec": "banditron:gamma={0.02,0.1}"}]}
    with open(os.path.join(folder, "mine", "mine.json"), "w", encoding="utf-8") as out:
        json.dump(experiment, out)
    arguments = ["reproduce", "--experiments", "mine", "--no-cache", "--no-figures"]
    one = json.loads(hunch(folder, *arguments, "--json", "-o", "one")[0])
    several = json.loads(hunch(folder, *arguments, "--json", "-o", "several", ranks=RANKS)[0])
    assert without_times(one) == without_times(several)
    assert os.path.exists(os.path.join(folder, "several", "index.html"))


def main():
    if sys.argv[2] != "yes":
        print("hunch was built without MPI: nothing to test")
        return 77
    if not shutil.which("mpirun"):
        print("there is no mpirun: the processes cannot be started")
        return 77
    with tempfile.TemporaryDirectory(prefix="hmpi-", dir="/tmp") as folder:  # Open MPI's sockets need short paths
        hunch(folder, "synth", "synsep", "--rows", "1000", "-o", "syn.svm")
        for check in (check_sweep, check_store, check_cv, check_errors, check_one_missing, check_reproduce):
            check(folder)
            print(check.__name__, "good", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
