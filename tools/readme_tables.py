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


def best_lines(experiment):
    """{(learner, data): mean error of its best setting}"""
    return {(line["learner"], table["data"]): line["mean"] for table in experiment["tables"] for line in table["lines"]
            if line.get("best")}


SHOWN = ["Car", "DNA", "Nursery", "USPS", "Covtype subset", "MNIST", "20 Newsgroups", "Reuters52"]


def errors(hunch):
    """Six rows: the best learner that is told everything, the default, the three next best with one bit, and Banditron."""
    with open(ROOT / "experiments" / "results" / "results.json", encoding="utf-8") as f:
        experiments = {e["id"]: e for e in json.load(f)["experiments"]}
    told = json.loads(subprocess.run([hunch, "learners", "--json"], check=True, capture_output=True).stdout)
    full = [learner["name"] for learner in told if learner["information"] == "full"]
    default = next(learner["name"] for learner in told if learner["default"])
    plain = best_lines(experiments["ours-defaults"])
    tables = [table for table in experiments["ours-defaults"]["tables"] if table["title"] in SHOWN]
    data = [table["data"] for table in tables]
    names = sorted({line["learner"] for line in tables[0]["lines"]}, key=lambda n: sum(plain.get((n, d), 100) for d in data))
    first = [default] if default in names else []  # until the experiments have been run with it
    chosen = [n for n in names if n in full][:1] + first + [n for n in names if n not in full + [default]][:4 - len(first)] + ["banditron"]
    least = {d: min(plain[n, d] for n in names if n not in full and (n, d) in plain) for d in data}

    def cell(name, d):
        value = f"{plain[name, d]:.1f}" if (name, d) in plain else ""
        return f"**{value}**" if name not in full and plain.get((name, d)) == least[d] else value
    return markdown(["learner"] + [table["title"] for table in tables],
                    [[f"`{name}`" + (" (full)" if name in full else "")] + [cell(name, d) for d in data] for name in chosen])


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
