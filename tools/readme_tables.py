#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that the table of speeds in README.md agrees with bench/RESULTS.md, or write it.

Usage: readme_tables.py [--write]
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def markdown(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def speed():
    """Rounds per second of the default and of Vowpal Wabbit, from the table that `make bench` wrote."""
    section = (ROOT / "bench" / "RESULTS.md").read_text(encoding="utf-8").split("## Beside Vowpal Wabbit", 1)[1]
    rates = {}
    for line in section.split("\n## ", 1)[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 10 and cells[1] in ("text", "cache"):
            rates.setdefault(cells[0], {})[cells[1], cells[2]] = float(cells[3].replace(",", ""))
    rows = []
    for name, rate in rates.items():
        row = [name]
        for kind in ("text", "cache"):
            ours, vw = rate[kind, "panel"], rate.get((kind, "vw"))
            row += [f"{ours:,.0f}", f"{vw:,.0f}" if vw else "", f"{ours / vw:.1f}" if vw else ""]
        rows.append(row)
    return markdown(["data", "text: hunch", "VW", "ratio", "cache: hunch", "VW", "ratio"], rows)


def main(write):
    page = ROOT / "README.md"
    text = page.read_text(encoding="utf-8")
    part = re.compile(r"(<!-- speed -->\n).*?(<!-- /speed -->)", re.S)
    assert part.search(text), "README.md: the markers of the table are missing"
    fresh = part.sub(lambda m: m.group(1) + speed() + m.group(2), text)
    if fresh != text and write:
        page.write_text(fresh, encoding="utf-8")
    elif fresh != text:
        print("README.md: its table of speeds differs from bench/RESULTS.md (tools/readme_tables.py --write)")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main("--write" in sys.argv[1:]))
