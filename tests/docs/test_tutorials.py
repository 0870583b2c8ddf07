#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the blocks of the tutorials in order, each page in a folder of its own, and compares what they print: words and
whole numbers exactly, decimals with the tolerance of similar.py, speeds not at all.

    ```python title=NAME     a file
    ```python                a program that is run; the block "```text" after it is what it prints
    ```console               lines "$ command", each followed by what it prints; all in one shell

usage: test_tutorials.py HUNCH PYTHONPATH PAGE ... [--write]     --write puts what was printed into the pages
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from similar import difference

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from ports import reserve  # noqa: E402

HUNCH, PYTHONPATH = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
WRITE = "--write" in sys.argv
MARK = "--- end of command"
BLOCK = re.compile(r"^```(?P<language>\w+)(?: title=(?P<title>\S+))?\n(?P<body>.*?)^```\n(?:\n```text\n.*?^```\n)?", re.M | re.S)


def run_consoles(bodies, folder, environment):
    """The blocks as they would look when typed now; servers have other ports, so that pages do not meet."""
    commands = [[line[2:] for line in body.splitlines() if line.startswith("$ ")] for body in bodies]
    script = "".join(f"{command}\necho '{MARK}'\n" for block in commands for command in block)
    port = reserve(2)
    ports = {"8811": str(port), "8812": str(port + 1)}
    ports.update(pair.split("=") for pair in os.environ.get("HUNCH_TUTORIAL_PORTS", "").split())  # of brokers: old=new
    for told, used in ports.items():
        script = script.replace(told, used)
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
    printed = done.stdout
    for told, used in ports.items():
        printed = printed.replace(used, told)
    printed = printed.split(MARK + "\n")
    assert done.returncode == 0 and len(printed) == sum(map(len, commands)) + 1, f"{script}\n{done.stdout}"
    outputs = iter(printed)
    return ["".join(f"$ {command}\n{next(outputs)}" for command in block) for block in commands]


def run_program(body, folder, environment):
    done = subprocess.run([sys.executable, "-c", body], cwd=folder, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{body}\n{done.stdout}"
    return done.stdout


def steady(text):
    """Without what no two runs share: speeds."""
    return re.sub(r" +[\d,]+$", "", re.sub(r" +rounds/s$", "", text, flags=re.M), flags=re.M)


def run_page(path, environment):
    text = path.read_text()
    blocks = list(BLOCK.finditer(text))
    with tempfile.TemporaryDirectory(prefix="hunch-tutorial-") as folder:
        for block in blocks:
            if block["title"]:
                (pathlib.Path(folder) / block["title"]).write_text(block["body"])
        consoles = iter(run_consoles([b["body"] for b in blocks if b["language"] == "console"], folder, environment))

        def replaced(block):
            if block["language"] == "console":
                return f"```console\n{next(consoles)}```\n"
            if block["language"] == "python" and not block["title"]:
                printed = run_program(block["body"], folder, environment)
                return f"```python\n{block['body']}```\n\n```text\n{printed}```\n"
            return block.group(0)
        new = BLOCK.sub(replaced, text)
    if WRITE:
        path.write_text(new)
        return True
    found = difference(steady(text), steady(new))
    if found:
        print(f"{path}: says\n  {found[0]}\nbut now it is\n  {found[1]}")
    return not found


def main():
    pages = [pathlib.Path(page) for page in sys.argv[3:] if page != "--write"]
    with tempfile.TemporaryDirectory(prefix="hunch-bin-") as folder:
        os.symlink(HUNCH, os.path.join(folder, "hunch"))
        os.symlink(sys.executable, os.path.join(folder, "python3"))
        environment = dict(os.environ, PATH=folder + ":" + os.environ["PATH"], PYTHONPATH=PYTHONPATH, LC_ALL="C.UTF-8")
        good = [run_page(page, environment) for page in pages]
    if not all(good):
        print("tests/docs/test_tutorials.py HUNCH PYTHONPATH PAGE ... --write brings the pages up to date")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
