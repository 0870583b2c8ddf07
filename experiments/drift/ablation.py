# SPDX-License-Identifier: BSD-3-Clause
"""What each part of the default learner is for: errors with one of them taken out, on streams that drift.

Usage: python3 experiments/drift/ablation.py HUNCH [SEED ...]     (prints the table of docs/reference/algorithms/panel.md; needs NumPy)
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import streams

ROWS = 20000


def default_members(hunch):
    out = subprocess.run([hunch, "learners", "panel"], capture_output=True, text=True, check=True).stdout
    return out.split("default [", 1)[1].split("]", 1)[0].split(";")


def learners(hunch):
    """The default, and the default without one member or mechanism."""
    members = default_members(hunch)
    made = {"default": "panel", "no persistence": "panel:persistence=none", "no restart": "panel:restart=0"}
    for i, member in enumerate(members[1:], 1):
        made["no " + member.split("=")[0]] = f"panel:members=[{';'.join(members[:i] + members[i + 1:])}]"
    made["no doubt"] = f"panel:members=[{';'.join(members).replace(',doubt=250', '')}]"
    made["no slow decay"] = f"panel:members=[{';'.join(members).replace(',decay=1e-5', '')}]"
    made["champion only"] = f"panel:restart=0,persistence=none,members=[{members[0]}]"
    return made


def error(hunch, path, spec):
    out = subprocess.run([hunch, "run", "-q", "--json", "--no-shuffle", "-l", spec, path], capture_output=True, text=True, check=True).stdout
    return 100 * json.loads(out)[0]["error"]


def mean(values):
    """Geometric."""
    return math.exp(sum(math.log(max(v, 0.01)) for v in values) / len(values))


def main(hunch, seeds):
    made = learners(hunch)
    print("| streams | " + " | ".join(made) + " |\n|---" + "|---" * len(made) + "|")
    everything = {name: [] for name in made}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "set.csv"
        for kind, speeds in streams.KINDS.items():
            errors = {name: [] for name in made}
            for speed, seed in ((speed, seed) for speed in speeds for seed in seeds):
                with open(path, "w", encoding="ascii") as out:
                    streams.write(out, *streams.make(kind.__name__, speed, seed, ROWS))
                for name, spec in made.items():
                    errors[name].append(error(hunch, path, spec))
            print(f"| {kind.__name__} | " + " | ".join(f"{mean(errors[name]):.2f}" for name in made) + " |", flush=True)
            for name in made:
                everything[name] += errors[name]
    print("| all | " + " | ".join(f"{mean(everything[name]):.2f}" for name in made) + " |")


if __name__ == "__main__":
    main(sys.argv[1], [int(seed) for seed in sys.argv[2:]] or [10, 11])
