# SPDX-License-Identifier: BSD-3-Clause
"""Small files of the kind that is found in the wild: the schema of each is the one that a person would expect, which is
written beside it (FILE.expected: role and name of each column; a first line "# ..." has options, or the command; a last
line "{...}" is the first row as features)."""
import json
import os
import subprocess
import sys
import tempfile


def schema_of(hunch, folder, name, arguments):
    command = "run"
    if arguments[:1] == ["replay"]:
        command, arguments = "replay", arguments[1:]
    with tempfile.TemporaryDirectory() as place:
        target = os.path.join(place, "schema.json")
        done = subprocess.run([hunch, command, "-q", "-l", "banditron", "--schema", target, *arguments, name],
                              capture_output=True, cwd=folder)
        if done.returncode:
            return done.stderr.decode()
        if not os.path.exists(target):
            return "no schema\n"
        with open(target, encoding="utf-8") as f:
            return "".join(f"{c['role']} {c['name']}\n" for c in json.load(f)["columns"])


def row_of(hunch, path, arguments):
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "rows.jsonl")
        subprocess.run([hunch, "convert", "-o", target, *arguments, path], capture_output=True, check=True)
        with open(target, encoding="utf-8") as f:
            return f.readline()


def main():
    hunch = os.path.abspath(sys.argv[1])
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nasty")
    failed = files = 0
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".expected"):
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            lines = f.read().splitlines(keepends=True)
        arguments = lines.pop(0)[1:].split() if lines[0].startswith("# ") else []
        path = os.path.join(folder, name[:-len(".expected")])
        got = schema_of(hunch, folder, name[:-len(".expected")], arguments)
        if lines[-1].startswith("{"):
            got += row_of(hunch, path, arguments)
        files += 1
        if got != "".join(lines):
            failed += 1
            print(f"{name}: expected\n{''.join(lines)}but got\n{got}")
    print(f"{files} files, {failed} failed")
    return failed > 0 or files < 100


if __name__ == "__main__":
    sys.exit(main())
