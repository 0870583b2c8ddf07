#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs cases of commands and what they must answer.

usage: cases.py HUNCH FILE.case ...

A case file:

    case: title                     each case has an empty folder of its own
    file NAME:                      a file in it
    | line
    run: shell command              any number of them, in order; "hunch" is the tool
    exit: 2                         0 unless told otherwise
    stdout:                         exactly these lines (not looked at unless told)
    | line
    stdout has:                     every one of these regular expressions must be found
    | pattern
    stderr: / stderr has:           likewise; nothing may be there unless told otherwise
"""
import os
import re
import subprocess
import sys
import tempfile


class Bad(Exception):
    pass


def parse(path):
    cases, step, block = [], None, None
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        line = line.rstrip("\n")
        if line.startswith("|"):
            if block is None:
                raise Bad(f"{path}:{number}: nothing to add this line to")
            block.append(line[2:] if line.startswith("| ") else line[1:])
            continue
        block = None
        if not line.strip() or line.startswith("#"):
            continue
        key, _, value = line.partition(":")
        value = value.strip()
        if key == "case":
            cases.append({"title": value, "line": number, "steps": []})
        elif key.startswith("file "):
            block = []
            cases[-1]["steps"].append({"file": key[5:], "lines": block})
        elif key == "run":
            step = {"run": value, "exit": 0, "line": number}
            cases[-1]["steps"].append(step)
        elif key == "exit":
            step["exit"] = int(value)
        elif key in ("stdout", "stderr", "stdout has", "stderr has"):
            block = step[key] = []
        else:
            raise Bad(f"{path}:{number}: what is '{key}'?")
    return cases


def text_of(lines):
    return "".join(line + "\n" for line in lines)


def check_output(step, name, got):
    exact, patterns = step.get(name), step.get(name + " has", [])
    if exact is not None and got != text_of(exact):
        return f"{name} should be:\n{text_of(exact)}but is:\n{got}"
    for pattern in patterns:
        if not re.search(pattern, got, re.MULTILINE):
            return f"{name} should have /{pattern}/ but is:\n{got}"
    if name == "stderr" and exact is None and not patterns and got:
        return f"stderr should be empty but is:\n{got}"
    return None


def run_step(step, folder, environment):
    if "file" in step:
        with open(os.path.join(folder, step["file"]), "w", encoding="utf-8") as out:
            out.write(text_of(step["lines"]))
        return None
    done = subprocess.run(["sh", "-c", step["run"]], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=1500, check=False)
    out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    if done.returncode != step["exit"]:
        return f"exit code should be {step['exit']} but is {done.returncode}\n{out}{err}"
    return check_output(step, "stdout", out) or check_output(step, "stderr", err)


def run_case(case, environment):
    with tempfile.TemporaryDirectory(prefix="hunch-cli-") as folder:
        for step in case["steps"]:
            fault = run_step(step, folder, environment)
            if fault:
                return f"run: {step['run']}\n{fault}"
    return None


def environment_for(hunch, folder):
    os.symlink(os.path.abspath(hunch), os.path.join(folder, "hunch"))
    environment = {k: v for k, v in os.environ.items() if k not in ("HUNCH_DATA", "NO_COLOR", "TERM")}
    environment["PATH"] = folder + ":" + environment["PATH"]
    environment["LC_ALL"] = "C.UTF-8"
    return environment


def main():
    bad = total = 0
    with tempfile.TemporaryDirectory(prefix="hunch-bin-") as folder:
        environment = environment_for(sys.argv[1], folder)
        for path in sys.argv[2:]:
            for case in parse(path):
                total += 1
                fault = run_case(case, environment)
                if fault:
                    bad += 1
                    print(f"FAILED {path}:{case['line']}: {case['title']}\n{fault}\n")
    print(f"{total} cases, {bad} failed")
    return 1 if bad or not total else 0


if __name__ == "__main__":
    sys.exit(main())
