#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a newcomer leans on: make help tells of every target, the pages that a project is expected to have are there and
lead somewhere, and the map of the rooms has every file.

Usage: test_house.py SOURCE
"""
import fnmatch
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(sys.argv[1])
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "LICENSE", "docs/roadmap.md", "docs/glossary.md",
         ".github/PULL_REQUEST_TEMPLATE.md", ".github/ISSUE_TEMPLATE/bug.md", ".github/ISSUE_TEMPLATE/wish.md"]


def check_help():
    told = subprocess.run(["make", "-s", "help"], cwd=SOURCE, stdout=subprocess.PIPE, text=True, check=True).stdout
    targets = re.search(r"^\.PHONY: (.*)$", (SOURCE / "Makefile").read_text(), re.M).group(1).split()
    for target in targets:
        assert re.search(rf"^  make {target} +\S", told, re.M), f"make help does not tell of {target}"
    print("ok  ", len(targets), "targets")


def check_pages():
    for page in PAGES:
        assert (SOURCE / page).stat().st_size > 200, f"{page}: hardly anything in it"
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", (SOURCE / page).read_text()):
            assert ((SOURCE / page).parent / target).exists(), f"{page}: {target} leads nowhere"
    print("ok  ", len(PAGES), "pages")


def check_map():
    """docs/architecture.md: a section for each room, which names its files (or a pattern) in `code`, and no others."""
    text, count = (SOURCE / "docs/architecture.md").read_text(), 0
    for room in ("base", "lib", "stream", "lab", "serve", "cli"):
        section = re.search(rf"^## {room}/.*?(?=^## )", text, re.M | re.S).group()
        told, before = [], ""
        for name in re.findall(r"`([^`\s]+)`", section):
            if name.startswith("_"):  # `covariance_diag.c`, `_full.c`
                name = before.rsplit("_", 1)[0] + name
            before = name
            told.append(re.sub(r"\.[ch]$", "", name.removeprefix(room + "/")))
        there = {str(file.relative_to(SOURCE / room).with_suffix("")) for file in (SOURCE / room).rglob("*.[ch]")}
        for file in sorted(there):
            assert any(fnmatch.fnmatch(file, pattern) for pattern in told), f"docs/architecture.md: no {room}/{file}"
        for name in re.findall(r"^\| (.*?) \|", section, re.M):
            for file in re.findall(r"`([\w/]+)\.[ch]`", name):
                assert file.startswith("_") or file in there, f"docs/architecture.md: {room}/{file} is not there"
        count += len(there)
    print("ok  ", count, "files on the map")


check_help()
check_pages()
check_map()
