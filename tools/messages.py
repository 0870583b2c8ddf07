#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check docs/reference/messages.md, the table of all error messages of the library, the tool and the server, or write it.

usage: messages.py [--write]      without --write: compare, and say whether the page is stale
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "messages.md"
CALL = re.compile(r"\b(http_error_set|error_set|cli_fail|cli_usage|parser_fail|token_fail|value_fail|refuse|kafka_topic_error)\(")
STRINGS = re.compile(r'"((?:[^"\\]|\\.)*)"')
STATUS = {"HUNCH_EINVAL": "bad input", "HUNCH_ENOMEM": "out of memory", "HUNCH_EIO": "input or output", "HUNCH_EMODEL": "model",
          "HUNCH_ELIMIT": "limit", "HUNCH_EUNSUPPORTED": "unsupported", "EXIT_USAGE": "usage", "EXIT_INPUT": "bad input",
          "EXIT_SYSTEM": "input or output", "EXIT_INTERRUPTED": "interrupted"}
OTHERWISE = {"cli_usage": "usage", "cli_fail": "bad input", "parser_fail": "bad input", "token_fail": "bad input", "value_fail": "bad input"}
FRAMES = {"value_fail": '"…" must be {0}', "kafka_topic_error": "Kafka: {0} topic …: {1}"}  # what functions put around their arguments
PARTS = [("The server", ["serve"]), ("The tool", ["cli"]), ("Data and experiments", ["stream", "synth", "lab"]), ("The library", ["lib", "base"])]


def arguments(text, start):
    """The arguments of the call whose parenthesis opens before start, as pieces of source."""
    depth, quoted, at, pieces, begin = 1, False, start, [], start
    while depth:
        c = text[at]
        if quoted:
            at += c == "\\"
            quoted = c != '"'
        elif c == '"':
            quoted = True
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        if not quoted and (c == "," and depth == 1 or not depth):
            pieces.append(text[begin:at].strip())
            begin = at + 1
        at += 1
    return pieces


def literal(piece):
    """The text of a literal, possibly of several strings; None where it is something else. Conversions become names: …"""
    piece = re.sub(r'"\s*PRI\w+\s*"', "d", re.sub(r'"\s*PRI\w+$', 'd"', piece))
    strings = STRINGS.findall(piece)
    if not strings or STRINGS.sub("", piece).strip():
        return None
    text = "".join(strings).replace('\\"', '"').replace("\\\\", "\\").replace("\\n", " ")
    return re.sub(r"%[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|ll|[hlzj])?[a-zA-Z]", "…", text).replace("%%", "%")


def messages(folder):
    """Sorted (kind, message) of the calls in a folder."""
    found = set()
    for path in sorted((ROOT / folder).rglob("*.c")):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
        for call in CALL.finditer(text):
            pieces = arguments(text, call.end())
            texts = [literal(piece) for piece in pieces]
            name = call.group(1)
            if name in ("http_error_set", "refuse"):
                if len(pieces) > 3 and pieces[1].isdigit() and texts[2] and texts[3] and re.search(r"[a-z]{2}", texts[3]):
                    found.add((f"{pieces[1]} `{texts[2]}`", texts[3]))
                continue
            said = [t for t in texts if t and re.search(r"[a-z]{2}", t.replace("…", ""))]
            if name == "kafka_topic_error" and texts[1]:
                found.add(("503 `journal`", FRAMES[name].format(texts[1], texts[3] or "…")))
            elif said:
                kind = next((STATUS[p] for p in pieces if p in STATUS), OTHERWISE.get(name, ""))
                found.add((kind, FRAMES.get(name, "{0}").format(said[-1])))
    return found


def page():
    out = ["# Error messages", "",
           "Every message of the program, read from the source by `tools/messages.py --write`. … marks a part that varies, such as a file, a line",
           "or a value. The tool prints messages on standard error after `hunch: `. Messages about rows of data begin with the file",
           "and the line. The tool exits with 1 for wrong usage, 2 for bad input and 3 for errors of the system. The server answers `{\"error\":{\"code\":...,\"message\":...}}` with the status of the table.", ""]
    for title, folders in PARTS:
        rows = sorted(set().union(*(messages(folder) for folder in folders)), key=lambda row: (row[0], row[1].lower()))
        out += [f"## {title}", "", "| kind | message |", "|---|---|"]
        out += [f"| {kind} | {text.strip().replace('|', chr(92) + '|').replace('<', '&lt;')} |" for kind, text in rows] + [""]
    return "\n".join(out)


def main():
    text = page()
    if "--write" in sys.argv:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        sys.exit("docs/reference/messages.md is not what the source has; run tools/messages.py --write")


if __name__ == "__main__":
    main()
