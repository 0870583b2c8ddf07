# SPDX-License-Identifier: BSD-3-Clause
"""Running a program on one core or all of them, and what it cost."""
import json
import os
import resource
import signal
import subprocess
import sys
import time

CORES = sorted(os.sched_getaffinity(0))


def run(command, pinned=True, limit=120):
    """What the command printed and what it cost, or None when it took longer than limit seconds of CPU."""
    def prepare():
        if pinned:
            os.sched_setaffinity(0, {CORES[-1]})
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    began = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, preexec_fn=prepare)
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - began
    child.returncode = 0
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL):
        return None
    if status:
        sys.exit(f"{' '.join(command[:3])} ... failed")
    return {"output": output, "cpu": usage.ru_utime + usage.ru_stime, "wall": wall, "memory": usage.ru_maxrss * 1024}


class Tools:
    """The programs under test; every method returns a dict of cpu, wall, and what else is known."""

    def __init__(self, hunch, floor, vw):
        self.hunch, self.floor_program, self.vw_python = hunch, floor, vw

    def learn(self, specs, path, threads=1, pinned=True, limit=120):
        command = [self.hunch, "run", "--quiet", "--json", "--threads", str(threads)]
        for spec in specs:
            command += ["-l", spec]
        cost = run(command + [path], pinned, limit)
        if not cost:
            return None
        results = json.loads(cost.pop("output"))
        cost["learning"] = sum(r["seconds"] for r in results)
        cost["error"] = results[0]["error"]
        cost["state"] = results[0]["bytes"]
        return cost

    def floor(self, kind, path, classes):
        cost = run([self.floor_program, kind, path] + ([str(classes)] if kind == "rows" else []))
        cpu, wall, _ = cost.pop("output").split()
        return {"cpu": float(cpu), "wall": float(wall), "memory": cost["memory"]}

    def vw(self, text, classes, cache=None, make_cache=False):
        arguments = f"--cbify {classes} --epsilon 0.05 --hash all -b 22 -d {text}"
        if cache:
            arguments += f" --cache_file {cache}" + (" -k" if make_cache else "")
        here = os.path.dirname(os.path.abspath(__file__))
        cost = run([self.vw_python, os.path.join(here, "vw_job.py"), arguments])
        return {**json.loads(cost.pop("output")), "memory": cost["memory"]}


def best(costs, what):
    """The run with the least of what; None among them are left out."""
    costs = [c for c in costs if c]
    return min(costs, key=lambda c: c[what]) if costs else None
