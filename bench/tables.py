# SPDX-License-Identifier: BSD-3-Clause
"""The measurements as tables of Markdown."""

VW_COMMAND = "--cbify K --epsilon 0.05 --hash all -b 22"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]) + "\n"


def number(value, digits=0):
    return "" if value is None else f"{value:,.{digits}f}"


def short(value):
    """Three digits that matter."""
    return number(value, 0 if value >= 100 else 1 if value >= 10 else 2)


def race_rows(name, race):
    for kind in ("text", "cache"):
        what, runs = "cpu", race["runs"]
        floor, vw = max(runs["floor " + kind][what], 1e-6), runs.get("vw " + kind)
        for program in ("floor", "vw", "panel", "banditron", "confident:matrix=diag", "confident:matrix=span"):
            run = runs.get(f"{program} {kind}")
            if not run:
                continue
            seconds = max(run[what], 1e-6)
            yield [name, kind, program, number(race["rows"] / seconds), number(race[kind + "_bytes"] / seconds / 1e6),
                   number(1e9 * seconds / race["values"], 2), number(run["memory"] / 2**20),
                   number(100 * run["error"], 1) if "error" in run else "",
                   short(vw[what] / seconds) if vw and program != "vw" else "", short(seconds / floor)]


def ratio(race, kind, top, bottom):
    runs = race["runs"]
    if f"{top} {kind}" not in runs:
        return None
    return runs[f"{top} {kind}"]["cpu"] / runs[f"{bottom} {kind}"]["cpu"]


def verdict(value, met):
    return "not measured" if value is None else "met" if met(value) else "**missed**"


def target_rows(results):
    races, growth, many = results["races"], results["growth"], results["hundred"]
    diagonal = "confident:matrix=diag"
    beside_vw = []
    for name, race in races.items():
        for kind in ("text", "cache"):
            value = ratio(race, kind, "vw", "panel")
            beside_vw.append(value)
            yield (f"{name}, {kind}: VW's time over the default learner's", ">= 1", value, verdict(value, lambda v: v >= 1))
    value = None if None in beside_vw else sum(beside_vw) / len(beside_vw)
    yield ("VW's time over the default learner's, mean of these", ">= 2", value, verdict(value, lambda v: v >= 2))
    for name, race in races.items():
        value = race["runs"][diagonal + " cache"]["learning"] / race["runs"]["confident:matrix=span cache"]["learning"]
        yield (f"{name}: learning, confident:matrix=span's rate over {diagonal}'s", ">= 0.25", value,
               verdict(value, lambda v: v >= 0.25))
    for name in ("sparse", "dense"):
        for kind, goal in (("text", 4), ("cache", 10)):
            value = ratio(races[name], kind, "vw", "banditron")
            yield (f"{name}, {kind}: VW's time over banditron's", f">= {goal}", value, verdict(value, lambda v: v >= goal))
    for name in ("sparse", "dense"):
        for kind in ("text", "cache"):
            value = 1 / ratio(races[name], kind, diagonal, "banditron")
            yield (f"{name}, {kind}: {diagonal}'s rate over banditron's", ">= 0.5", value, verdict(value, lambda v: v >= 0.5))
    value = many["wall"] / (100 / many["cores"] * many["one"])
    yield (f"100 learners on {many['cores']} cores: wall time over 100/{many['cores']} of one's learning time", "<= 1.1",
           value, verdict(value, lambda v: v <= 1.1))
    for spec, by in growth["rounds"].items():
        times = list(by.values())
        value = times[-1] / times[0]
        yield (f"{spec}: ns per non-zero, {list(by)[-1]} rounds over {list(by)[0]}", "flat (<= 1.4)", value,
               verdict(value, lambda v: v <= 1.4))
    for spec, by in growth["classes"].items():
        by = {int(k): v for k, v in by.items()}
        value = by[256] / by[16] / 16
        yield (f"{spec}: ns per non-zero, 256 classes over 16, by 16", "at most linear (<= 1.1)", value,
               verdict(value, lambda v: v <= 1.1))


def learner_rows(by_spec):
    for spec, cost in by_spec.items():
        if not cost:
            yield [spec, "", "more than 20 s for 200 rows"] + [""] * 9
            continue
        rows = cost["rows"]
        yield [spec, number(rows), number(rows / cost["text"]), number(cost["text_bytes"] / cost["text"] / 1e6),
               number(rows / cost["cache"]), number(cost["cache_bytes"] / cost["cache"] / 1e6),
               short(1e9 * cost["learning"] / cost["values"]), number(cost["memory_text"] / 2**20),
               number(cost["memory_cache"] / 2**20), number(cost["state"] / 2**20, 2), number(100 * cost["error"], 1)]


INTRODUCTION = """# Speed

Written by `make bench`{quick}.

{processor}, {cores} cores (virtual), {caches}, {vectors}, {memory}; {system}, {compiler}.

Every program runs on one core. Those that are compared take turns, {times} turns each, and the best counts: CPU time of
the whole process, all threads. panel is the default learner. VW is the PyPI package vowpalwabbit with
`{vw}`, its time counted without Python's start; hunch is `hunch run -l LEARNER FILE`, counted from start to end. The
floor only streams the same bytes: text: newlines counted by memchr; cache: every number and the weights that belong to
it, read in order, nothing checked, nothing written. Gaps below 1.4 prove nothing on a machine that others use too.
"""


def report(results):
    parts = [INTRODUCTION.format(quick=" QUICK=1" if results["quick"] else "", times="three" if results["quick"] else "five",
                                 vw=VW_COMMAND, **results["machine"])]
    parts.append("## Targets\n\n" + table(["", "wanted", "measured", ""],
                                          [[a, b, "" if c is None else f"{c:.2f}", d] for a, b, c, d in target_rows(results)]))
    rows = [row for name, race in results["races"].items() for row in race_rows(name, race)]
    parts.append("## Beside Vowpal Wabbit and the floor\n\n" + sizes(results) + "\n" + table(
        ["data", "from", "program", "rounds/s", "MB/s", "ns per non-zero", "peak MiB", "error %", "x VW", "times the floor"],
        rows))
    parts.append("## ns per non-zero, learning alone\n\n" + growth_tables(results["growth"]))
    many = results["hundred"]
    parts.append(f"## A hundred learners\n\nBanditron with gamma from 0.001 to 0.1. One after the other they learn for {many['one']:.3f} s "
                 f"each; all of them over one stream take "
                 f"{many['wall']:.2f} s on {many['cores']} cores ({many['learning']:.2f} s of learning in all).\n")
    for name, by_spec in results["learners"].items():
        parts.append(f"## Every learner: {name}\n\nOn the first rows only where the whole would take longer than about half a "
                     "second of learning.\n\n" + table(
                         ["learner", "rows", "text rounds/s", "MB/s", "cache rounds/s", "MB/s", "learning, ns per non-zero",
                          "peak MiB, text", "cache", "state MiB", "error %"], learner_rows(by_spec)))
    parts.append("## Instructions\n\nPer non-zero of a fixed small workload (300 rows of 20 among 100 features, 8 classes), "
                 "reading included, counted by Callgrind, which knows no AVX-512.\n\n" + table(
                     ["learner", "instructions"],
                     [[spec, "more than a minute" if n is None else number(n)] for spec, n in results["instructions"].items()]))
    return "\n".join(parts)


def sizes(results):
    return table(["data", "rows", "features", "classes", "non-zeros", "text MB", "cache MB"],
                 [[name, number(r["rows"]), number(r["features"]), r["classes"], number(r["values"]),
                   number(r["text_bytes"] / 1e6), number(r["cache_bytes"] / 1e6)] for name, r in results["races"].items()])


def growth_tables(growth):
    parts = []
    for what, by_spec in growth.items():
        keys = list(next(iter(by_spec.values())))
        parts.append(table([what] + [number(int(k)) for k in keys],
                           [[spec] + [number(v, 2) for v in by.values()] for spec, by in by_spec.items()]))
    return "\n".join(parts)
