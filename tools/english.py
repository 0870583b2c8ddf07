#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Count phrases in pages, manuals, printed texts and messages that a reader has to read twice, or that have a usual technical word.

usage: english.py [--list]      fails when there are more than LIMIT; --list: print all of them
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ["*.md", "docs/man/*.1", "docs/man/*.7", "serve/http/page/*.html", "cli/*.[ch]", "lab/*.c", "lib/*.c", "serve/*.c", "stream/*.c", "synth/*.c", "base/*.c"]
LIMIT = 10
START = r"(?:^|(?<=[.:;|] )|(?<=\*\* ))(?:- )?"
PATTERNS = {
    "print, report, state or receive": r"\b(?:told|tells|hears?|heard|says so|said (?:so|since|twice|before))\b",
    "probability": r"(?<!by )(?<!than )(?<!within )(?<!that )(?<!-)\bchances?\b(?! and rounding)",
    "fraction or percentage": r"\bshares? of\b",
    "run or simulate": r"\bplay(?:s|ed|ing)?\b",
    "again, reset or rebuild": r"\banew\b",
    "is located, is": r"\b(?:lies|lay|stands|stood)\b",
    "a verb instead of 'known of', 'as they come'": r"\bknown of\b|\bas they come\b",
    "irrelevant, unavailable": r"\bto do with\b|\bnothing is won\b|\b(?:be|is|not) had\b",
    "no 'Who does X'": START + r"Who(?:ever)? [a-z]+(?! the\?)",
    "no clause with 'Of' or 'What' as the beginning": START + r"(?:Of [a-z]+|What [a-z]+)(?![^.]*\?)",
    "one neutral term, no person": r"\b(?:calm|twins?|strangers?|asleep|awake|looks? on|tired)\b",
}


def prose(text):
    """Without code, links' targets and headings; every line keeps its number."""
    text = re.sub(r"^```.*?^```", lambda m: "\n" * m.group().count("\n"), text, flags=re.M | re.S)
    text = re.sub(r"^(?: {4,}|\.(?!Nd)|#).*$", "", text, flags=re.M)
    return re.sub(r"`[^`\n]*`|\]\([^)]*\)|<!--.*?-->", "_", text)


def printed(text):
    """The string literals of a C file, in their lines."""
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)
    return "\n".join("" if line.startswith("#include") else " ".join(re.findall(r'"((?:[^"\\]|\\.)*)"', line)) for line in text.splitlines())


def main():
    files = subprocess.run(["git", "ls-files", *PAGES], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    found = []
    for name in files:
        code = name.endswith((".c", ".h"))
        text = (ROOT / name).read_text()
        for number, line in enumerate((printed(text) if code else prose(text)).splitlines(), 1):
            for advice, pattern in PATTERNS.items():
                if code and START in pattern:  # a literal need not begin with a sentence
                    continue
                found += [f"{name}:{number}: {hit.group().strip()!r}: {advice}" for hit in re.finditer(pattern, line)]
    if "--list" in sys.argv or len(found) > LIMIT:
        print("\n".join(found))
    if len(found) > LIMIT:
        sys.exit(f"{len(found)} phrases in pages, manuals and printed texts; at most {LIMIT} may be left")


if __name__ == "__main__":
    main()
