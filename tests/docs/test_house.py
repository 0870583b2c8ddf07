#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""make help describes every target, and the pages that a project is expected to have exist and have valid links.

Usage: test_house.py SOURCE
"""
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(sys.argv[1])
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "LICENSE", "docs/explanation/roadmap.md", "docs/reference/glossary.md",
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


# Four questions of a newcomer, each with words that the file must contain which docs/explanation/architecture.md names in answer.
TOUR = {"the date formats of CSV columns": ["date", "month"],
        "the confidence of a choice": ["confidence_read", "margin"],
        "the order of events in the log": ["seq", "ring"],
        "a figure's colours": ["colours[]", "#0072B2"]}


def check_tour():
    """docs/explanation/architecture.md names the file for each change, and the file contains what is to be changed."""
    page = (SOURCE / "docs/explanation/architecture.md").read_text()
    rows = dict(re.findall(r"^\| (.+?) \| `([^`]+)`", page, re.M))
    for change, words in TOUR.items():
        text = (SOURCE / rows[change]).read_text()
        for word in words:
            assert word in text, f"{rows[change]}: has no {word!r}, although docs/explanation/architecture.md names it for {change}"
    for name in re.findall(r"`((?:base|lib|stream|synth|lab|serve|cli)/[\w/]+\.[ch])`", page):
        assert (SOURCE / name).exists() or "NAME" in name, f"docs/explanation/architecture.md: {name} does not exist"
    for module, folders in re.findall(r"^\| `(\w+)/` \| (.*) \|$", page, re.M):
        table = dict(line.split(": ") for line in (SOURCE / "tools/layers.txt").read_text().splitlines() if ":" in line and line[0] != "#")
        named = re.findall(r"(?:^|· )`(\w+)`", folders)
        assert named == [folder for folder in table[module].split() if folder != "."], f"docs/explanation/architecture.md: the folders of {module}/"
    print("ok  ", len(TOUR), "questions of the tour")


check_help()
check_pages()
check_tour()
