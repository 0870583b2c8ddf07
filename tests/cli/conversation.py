#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A program that writes a row into a pipe gets its answer before it writes the next one.

usage: conversation.py HUNCH

Nothing depends on how fast anything is: a tool that waits for more rows waits for ever, until the alarm.
"""
import os
import signal
import subprocess
import sys
import tempfile

PATIENCE = 60  # seconds; only a hang reaches it
FORMATS = {
    "svmlight": (["a 1:1", "b 2:1"], ["1:1", "2:1", "x 1:1 2:0.5"]),
    "vw": (["a | u", "b | v"], ["| u", "| v", "|"]),
    "jsonl": (['{"label":"a","x":{"u":1}}', '{"label":"b","x":{"v":1}}'], ['{"x":{"u":1}}', '{"x":{"v":1}}']),
}


def talk(hunch, folder, name, rows, questions):
    with open(os.path.join(folder, "data"), "w", encoding="ascii") as data:
        data.write("\n".join(rows * 50) + "\n")
    subprocess.run([hunch, "run", "--quiet", "--format", name, "-l", "perceptron", "--save", "m.hunch", "data"], cwd=folder,
                   check=True, stdout=subprocess.DEVNULL)
    process = subprocess.Popen([hunch, "predict", "m.hunch", "-"], cwd=folder, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    answers = []
    for question in questions:
        process.stdin.write(question.encode() + b"\n")
        process.stdin.flush()
        answers.append(process.stdout.readline().decode().strip())
    process.stdin.close()
    assert process.wait() == 0 and process.stdout.read() == b""
    process.stdout.close()
    assert answers[:2] == ["a", "b"], f"{name}: {answers}"
    print(f"{name}: {' '.join(answers)}")


def main():
    hunch = os.path.abspath(sys.argv[1])
    signal.alarm(PATIENCE)
    for name, (rows, questions) in FORMATS.items():
        with tempfile.TemporaryDirectory(prefix="hunch-conversation-") as folder:
            talk(hunch, folder, name, rows, questions)
    return 0


if __name__ == "__main__":
    sys.exit(main())
