#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The settings tables of docs/reference/algorithms/NAME.md are what `hunch learners NAME --markdown` prints: checks that they are
(the default), or writes them. Every learner must have a page.

Usage: settings_tables.py HUNCH [--write]
"""
import pathlib
import re
import subprocess
import sys

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs" / "reference" / "algorithms"
PART = re.compile(r"(<!-- settings -->\n).*?(<!-- /settings -->)", re.S)


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main(hunch, write):
    bad = 0
    for name in output(hunch, "learners", "--names").split():
        page = DOCS / f"{name}.md"
        if not page.exists():
            print(f"{page.name}: missing")
            bad += 1
            continue
        text = page.read_text()
        table = output(hunch, "learners", name, "--markdown")
        fresh = PART.sub(lambda m: m.group(1) + table + m.group(2), text)
        if not PART.search(text):
            print(f"{page.name}: no settings markers")
            bad += 1
        elif fresh != text and write:
            page.write_text(fresh)
        elif fresh != text:
            print(f"{page.name}: its settings table is not what the tool prints (tools/settings_tables.py HUNCH --write)")
            bad += 1
    return bad != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--write" in sys.argv[2:]))
