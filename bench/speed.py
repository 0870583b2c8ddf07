#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Speed, measured: called by bench/run.sh. Programs that are compared take turns, each on one core, and the best run of
each counts: a busy machine makes runs slower, never faster."""
import argparse
import json
import os
import platform
import subprocess
import sys
import time

import instructions
import tables
import workloads
from jobs import CORES, Tools, best

RACERS = ("panel", "banditron", "confident:matrix=diag", "confident:matrix=span")  # panel: the default
SLICES = (200, 2000, 20000)


def machine():
    with open("/proc/cpuinfo") as f:
        lines = dict(line.split(":", 1) for line in f if ":" in line)
    facts = {key.strip(): value.strip() for key, value in lines.items()}
    flags = facts.get("flags", "").split()
    with open("/proc/meminfo") as f:
        memory = int(f.readline().split()[1]) // 1024 // 1024
    caches = []
    for level in ("1d", "2", "3"):
        size = subprocess.run(["getconf", f"LEVEL{level[0]}_{'D' if level == '1d' else ''}CACHE_SIZE"],
                              capture_output=True, text=True).stdout.strip()
        caches.append(f"L{level} {int(size or 0) // 1024} KiB")
    compiler = subprocess.run(["cc", "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
    return {"processor": facts.get("model name", platform.machine()), "cores": len(CORES), "caches": ", ".join(caches),
            "vectors": "AVX-512" if "avx512vl" in flags else "AVX2" if "avx2" in flags else "plain",
            "memory": f"{memory} GiB", "system": f"Linux {platform.release().split('-')[0]}", "compiler": f"gcc {compiler}"}


def race(tools, w, times):
    """Floor, hunch and VW in turns: a dict of the best runs by (program, kind)."""
    runs = {}

    def note(key, cost):
        runs.setdefault(key, []).append(cost)
    if tools.vw_python:
        vw_text, vw_cache = w.vw_text(), w.text[:-len(".svm")] + ".vwcache"
        if not os.path.exists(vw_cache):
            tools.vw(vw_text, w.classes, vw_cache, make_cache=True)
    for _ in range(times):
        note("floor text", tools.floor("text", w.text, w.classes))
        note("floor cache", tools.floor("rows", w.cache, w.classes))
        for spec in RACERS:
            note(spec + " text", tools.learn([spec], w.text))
            note(spec + " cache", tools.learn([spec], w.cache))
        if tools.vw_python:
            note("vw text", tools.vw(vw_text, w.classes))
            note("vw cache", tools.vw(vw_text, w.classes, vw_cache))
    results = {}
    for key, costs in runs.items():
        results[key] = dict(best(costs, "cpu"))
        if "learning" in costs[0]:
            results[key]["learning"] = min(c["learning"] for c in costs)
    return {"rows": w.rows, "values": w.values, "features": w.features, "classes": w.classes,
            "text_bytes": w.bytes("text"), "cache_bytes": w.bytes("cache"), "runs": results}


def rows_affordable(tools, spec, w, seconds):
    """The largest slice that takes about that many seconds; None: not even 200 rows in twenty."""
    fit = None
    for rows in SLICES:
        part = w.slice(rows)
        cost = tools.learn([spec], part.cache, limit=20)
        if not cost:
            return fit
        fit, each = part, cost["learning"] / part.rows
        if part.rows == w.rows or each * SLICES[min(SLICES.index(rows) + 1, len(SLICES) - 1)] > seconds:
            return fit
    return w if each * w.rows <= seconds else fit


def every_learner(tools, specs, w, seconds, times):
    """rounds/s, MB/s, ns per non-zero and memory of each, on as many rows as it can play in the time."""
    table = {}
    for spec in specs:
        part = rows_affordable(tools, spec, w, seconds)
        if not part:
            table[spec] = None
            continue
        costs = {kind: [tools.learn([spec], path) for _ in range(times)]
                 for kind, path in (("text", part.text), ("cache", part.cache))}
        text, cache = best(costs["text"], "cpu"), best(costs["cache"], "wall")
        learning = min(c["learning"] for kind in costs for c in costs[kind])
        table[spec] = {"rows": part.rows, "values": part.values, "text_bytes": part.bytes("text"),
                       "cache_bytes": part.bytes("cache"), "text": text["cpu"], "cache": cache["wall"],
                       "learning": learning, "memory_text": text["memory"], "memory_cache": cache["memory"],
                       "state": cache["state"], "error": cache["error"]}
    return table


def growth(tools, sparse, folder, times):
    """ns per non-zero of learning alone, by rounds and by classes."""
    def each(w, spec):
        return 1e9 * min(tools.learn([spec], w.cache)["learning"] for _ in range(times)) / w.values
    by_rounds, by_classes = {}, {}
    for spec in RACERS[1:3]:
        by_rounds[spec] = {w.rows: each(w, spec) for w in (sparse.slice(2000), sparse.slice(20000), sparse)}
        by_classes[spec] = {k: each(workloads.zipf(folder, tools.hunch, k), spec) for k in (4, 8, 16, 32, 64, 128, 256)}
    return {"rounds": by_rounds, "classes": by_classes}


def hundred(tools, w, times):
    """A hundred learners over one stream on all cores, beside the same hundred one after the other. Both take seconds, and so
    meet the same mixture of quiet and busy moments; the best of single short runs would not."""
    specs = [f"banditron:gamma={(i + 1) / 1000}" for i in range(100)]
    alone, many = [], []
    for _ in range(times):
        alone.append(sum(tools.learn([spec], w.cache)["learning"] for spec in specs))
        many.append(tools.learn(specs, w.cache, threads=len(CORES), pinned=False))
    return {"cores": len(CORES), "rows": w.rows, "one": min(alone) / len(specs), "wall": best(many, "wall")["wall"],
            "learning": best(many, "learning")["learning"]}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("hunch", "floor", "work", "output"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--vw", help="a Python that has vowpalwabbit")
    parser.add_argument("--quick", action="store_true")
    return parser.parse_args()


def main():
    options = parse_arguments()
    tools = Tools(options.hunch, options.floor, options.vw)
    os.makedirs(options.work, exist_ok=True)
    began, quick = time.time(), options.quick
    times, scale, seconds = (3, 5, 0.05) if quick else (5, 1, 0.5)
    if not options.vw:
        print("without Vowpal Wabbit: the package is not there")
    data = [workloads.synthetic(name, options.work, options.hunch, scale) for name in workloads.SYNTHETIC]
    if not quick:
        data += [w for w in (workloads.real(name, options.work, options.hunch) for name in workloads.REAL) if w]
    specs = instructions.learners(options.hunch) + ["confident:matrix=diag"]
    results = {"machine": machine(), "quick": quick, "races": {}, "learners": {}}

    def step(text):
        print(f"[{time.time() - began:4.0f} s] {text}", file=sys.stderr, flush=True)
    for w in data:
        step(f"{w.name}: floor, hunch, VW")
        results["races"][w.name] = race(tools, w, times)
    step("growth with rounds and classes")
    results["growth"] = growth(tools, data[0], options.work, times)
    step("a hundred learners")
    results["hundred"] = hundred(tools, data[0].slice(20000) if quick else data[0], 2 if quick else 3)
    for w in data[:1] if quick else data:
        step(f"{w.name}: every learner")
        results["learners"][w.name] = every_learner(tools, specs, w, seconds, 1 if quick else 2)
    step("instructions")
    counted = list(RACERS) if quick else specs
    results["instructions"] = instructions.measure(options.hunch, counted)
    results["seconds"] = time.time() - began
    with open(os.path.join(options.work, "results.json"), "w") as f:
        json.dump(results, f, indent=1)
        f.write("\n")
    text = tables.report(results)
    with open(os.path.join(options.output, "RESULTS.md"), "w") as f:
        f.write(text)
    print(text)


main()
