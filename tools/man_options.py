#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The sections OPTIONS and EXAMPLES of the man pages, from the tables that the commands themselves parse with.

usage: man_options.py HUNCH [--write]      without --write: compare, and tell which pages lag behind
"""
import pathlib
import re
import subprocess
import sys

PAGES = pathlib.Path(__file__).resolve().parent.parent / "docs" / "man"


def ask(hunch, *arguments):
    return subprocess.run([hunch, *arguments], stdout=subprocess.PIPE, check=True, text=True).stdout


def commands(hunch):
    """Names of the commands, from hunch --help."""
    return re.findall(r"^  (\w+) ", ask(hunch, "--help").split("Commands:")[1].split("\n\n")[0], re.M)


def table(hunch, command):
    """The options of a command: group, letter, name, argument, words, default, help."""
    return [line.split("\t") for line in ask(hunch, command, "--help=options").splitlines()]


def escaped(text):
    """As a line of text, or as a literal line: mdoc reads backslashes, and dots or quotes at the beginning."""
    text = text.replace("\\", "\\e")
    return "\\&" + text if text[:1] in (".", "'") else text


def item(row):
    _, letter, name, argument, words, default, text = row
    flags = (f"Fl {letter} , " if letter else "") + f"Fl -{name}" + (f" Ar {argument}" if argument else "")
    first = re.split(r"[ ,:]", text)[0]
    sentence = ("Print a summary of the options" if name == "help" else
                text if first in words.split(",") else text[:1].upper() + text[1:]) + "."
    return [".It " + flags, escaped(sentence)] + ([escaped(f"The default is {default}.")] if default else [])


def options_section(rows):
    lines, group = [".Sh OPTIONS"], None
    for row in rows:
        if row[0] != group:
            lines += [".El"] if group else []
            lines += [f".Ss {row[0].strip()}"] if group else []
            lines += [".Bl -tag -width Ds"]
            group = row[0]
        lines += item(row)
    return lines + [".El"]


def examples_section(text):
    examples = [line[2:] for line in text.split("\nExamples:\n")[1].splitlines() if line.startswith("  ")]
    return [".Sh EXAMPLES", ".Bd -literal -offset indent", *map(escaped, examples), ".Ed"]


def replaced(page, title, lines):
    """page with the section called title replaced; it must be there."""
    new, count = re.subn(rf"^\.Sh {title}\n(?:(?!\.Sh ).*\n)*", lambda _: "\n".join(lines) + "\n", page, flags=re.M)
    assert count == 1, f"no section {title}"
    return new


def main():
    hunch, behind = sys.argv[1], []
    for command in commands(hunch):
        path = PAGES / f"hunch-{command}.1"
        page = path.read_text()
        new = replaced(page, "OPTIONS", options_section(table(hunch, command)))
        new = replaced(new, "EXAMPLES", examples_section(ask(hunch, command, "--help=all")))
        if new != page and "--write" in sys.argv:
            path.write_text(new)
        elif new != page:
            behind.append(path.name)
    if behind:
        print(f"{', '.join(behind)}: not what the commands say; run tools/man_options.py HUNCH --write")
    return 1 if behind else 0


if __name__ == "__main__":
    sys.exit(main())
