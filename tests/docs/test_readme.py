#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs what README.md tells a newcomer to type: the commands of "A first run", in order, in an empty folder; checks that
every relative link leads somewhere and that every command of the tool is in the README's table.

Usage: test_readme.py HUNCH SOURCE
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HUNCH, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
README = (SOURCE / "README.md").read_text()


def first_run():
    """The indented block under "A first run", with rows cut down so that it is quick."""
    block = re.search(r"## A first run\n\n((?:    .*\n)+)", README).group(1)
    return [line.strip().replace("--rows 100000", "--rows 2000") for line in block.splitlines()]


def run_block(commands):
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(HUNCH, os.path.join(folder, "hunch"))
        env = dict(os.environ, PATH=folder + os.pathsep + os.environ["PATH"])
        for command in commands:
            done = subprocess.run(command, shell=True, cwd=folder, env=env, capture_output=True, text=True)
            assert done.returncode == 0, f"{command}\n{done.stderr}"
            print("ok  ", command)


def check_links():
    for page in [SOURCE / "README.md", SOURCE / "CONTRIBUTING.md", *SOURCE.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.relative_to(SOURCE)}: {target} leads nowhere"
    print("ok   links")


def check_commands():
    names = re.findall(r'^COMMAND\((\w+),', (SOURCE / "cli" / "commands.h").read_text(), re.M)
    for name in names:
        assert f"hunch {name}" in README, f"README.md does not mention hunch {name}"
    print("ok  ", len(names), "commands are mentioned")


run_block(first_run())
check_links()
check_commands()
