#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Does what docs/how-to/day-one.md says in a copy of the tree: the format and the endpoint are added, built and used.

usage: test_day_one.py SOURCE MESON
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from ports import reserve  # noqa: E402

SOURCE, MESON = pathlib.Path(sys.argv[1]), sys.argv[2]
BLOCK = re.compile(r'^```\w+ title=(?P<file>\S+)(?: after="(?P<after>(?:[^"\\]|\\.)*)")?\n(?P<body>.*?)^```$', re.M | re.S)


def edit(path, old, new):
    text = path.read_text()
    assert text.count(old) == 1, f"{path.name}: {text.count(old)} times {old!r}"
    path.write_text(text.replace(old, new))


def apply(tree, page):
    for block in BLOCK.finditer(page):
        path = tree / block["file"]
        if block["after"] is None:
            path.write_text(block["body"])
            continue
        mark, lines = block["after"].replace('\\"', '"'), path.read_text().splitlines(keepends=True)
        at = [i for i, line in enumerate(lines) if mark in line]
        assert len(at) >= 1, f"{path.name}: no line with {mark!r}"
        # before a case that falls through, behind anything else
        lines.insert(at[0] + (not mark.startswith("case")), block["body"])
        path.write_text("".join(lines))
    header = tree / "stream" / "common" / "stream_options.h"
    name = re.search(r"enum stream_format \{(.*?)\}", header.read_text(), re.S).group(1).rstrip()
    edit(header, name, name + ",\n    STREAM_BAG")
    words = re.search(r"formats\[\] = \{(.*?), NULL\}", (tree / "cli" / "data.c").read_text(), re.S).group(1)
    edit(tree / "cli" / "data.c", words + ", NULL}", words + ', "bag", NULL}')


def use(page, folder, hunch):
    """Every block of commands but the first, which is the build itself."""
    environment = dict(os.environ, PATH=f"{hunch.parent}:{os.environ['PATH']}")
    port = str(reserve())
    for block in re.findall(r"^```console\n(.*?)^```$", page, re.M | re.S)[1:]:
        script = "\n".join(line[2:] for line in block.splitlines() if line.startswith("$ ")).replace("8811", port)
        yield subprocess.run(["bash", "-c", script], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True,
                             check=True).stdout


def main():
    page = (SOURCE / "docs" / "how-to" / "day-one.md").read_text()
    with tempfile.TemporaryDirectory(prefix="hunch-day-one-") as name:
        tree = pathlib.Path(name) / "tree"
        shutil.copytree(SOURCE, tree, ignore=shutil.ignore_patterns("build*", ".git", "__pycache__"))
        apply(tree, page)
        build = tree / "b"
        subprocess.run([MESON, "setup", build, tree, "-Dtests=false", "--buildtype=plain"], stdout=subprocess.DEVNULL, check=True)
        subprocess.run(["ninja", "-C", build, "--quiet", "cli/hunch", "cli/hunch-net"], check=True)
        printed = list(use(page, name, build / "cli" / "hunch"))
    assert '"features": 5' in printed[0] or '"features": 4' in printed[0], printed
    assert '{"models":0}' in printed[1], printed


main()
