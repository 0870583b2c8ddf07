#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a newcomer leans on: make help tells of every target, and the pages that a project is expected to have are there
and lead somewhere.

Usage: test_house.py SOURCE
"""
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


check_help()
check_pages()
