#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The tables of README.md are made of experiments/results/results.json and bench/results.json: checks that they are (the
default), or writes them.

Usage: readme_tables.py HUNCH [--write]
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def markdown(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


SHOWN = ["Car", "DNA", "Nursery", "USPS", "Covtype subset", "MNIST", "20 Newsgroups", "Reuters52"]
TIMED = "MNIST"


def errors(hunch):
    """Six rows: the best learner that is told everything, the default, the three next best with one bit, and Banditron,
    each in the form and with the setting that ours-best found best for it."""
    with open(ROOT / "experiments" / "results" / "results.json", encoding="utf-8") as f:
        experiments = {e["id"]: e for e in json.load(f)["experiments"]}
    known = json.loads(subprocess.run([hunch, "learners", "--json"], check=True, capture_output=True).stdout)
    full = [learner["name"] for learner in known if learner["information"] == "full"]
    default = next(learner["name"] for learner in known if learner["default"])
    tables = [table for table in experiments["ours-best"]["tables"] if table["title"] in SHOWN]
    best = {(line["learner"], table["title"]): line for table in tables for line in table["lines"] if line["best"]}

    def error(name, title):
        return best[name, title]["mean"] if (name, title) in best else 100
    names = sorted({name for name, _ in best}, key=lambda n: sum(error(n, title) for title in SHOWN))
    bits = [n for n in names if n not in full]
    chosen = [n for n in names if n in full][:1] + [default] + [n for n in bits if n != default][:3] + ["banditron"]

    def cell(name, title):
        value = f"{error(name, title):.1f}"
        return f"**{value}**" if name in bits and error(name, title) == min(error(n, title) for n in bits) else value

    def row(name):
        line = best[name, TIMED]
        return [f"`{name}`" + ("<br>" + line["form"] if "form" in line else "")] + \
            [cell(name, title) for title in SHOWN] + [f"{line['rate']:,.0f}"]
    return markdown(["learner"] + SHOWN + [f"rounds/s, {TIMED}"], [row(name) for name in chosen])


def speed(_):
    with open(ROOT / "bench" / "results.json", encoding="utf-8") as f:
        races = json.load(f)["races"]
    rows = []
    for name, race in races.items():
        for kind in ("text", "cache"):
            runs = race["runs"]
            rates = [race["rows"] / runs[key]["cpu"] if key in runs else None
                     for key in (f"panel {kind}", f"vw {kind}", f"banditron {kind}")]
            rows.append([name, kind] + [f"{rate:,.0f}" if rate else "" for rate in rates] +
                        [f"{rates[0] / rates[1]:.1f} x" if rates[1] else ""])
    return markdown(["data", "from", "the default (panel)", "Vowpal Wabbit", "banditron", "default over VW"], rows)


def main(hunch, write):
    page = ROOT / "README.md"
    text = fresh = page.read_text(encoding="utf-8")
    for name, make in (("errors", errors), ("speed", speed)):
        part = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.S)
        assert part.search(fresh), f"README.md: no markers for {name}"
        fresh = part.sub(lambda m: m.group(1) + make(hunch) + m.group(2), fresh)
    if fresh != text and write:
        page.write_text(fresh, encoding="utf-8")
    elif fresh != text:
        print("README.md: its tables are not those of the results (tools/readme_tables.py HUNCH --write)")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--write" in sys.argv[2:]))
