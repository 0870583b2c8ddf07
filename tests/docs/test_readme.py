#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs what README.md and the guides tell a newcomer to type: every indented command, in order, each page in a folder with some
data of the names that are used; README's lines of C and Python; make's own are the tests' of demo and install. Checks that every
relative link leads somewhere and that every command of the tool is in the README's table.

Usage: test_readme.py HUNCH SOURCE [PYTHONPATH]
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from ports import reserve  # noqa: E402
from similar import difference  # noqa: E402

HUNCH, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
BUILD = pathlib.Path(HUNCH).parent.parent
PYTHONPATH = os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 else None
README = (SOURCE / "README.md").read_text()
PAGES = {"README.md": 7, "docs/how-to/serve.md": 10, "docs/how-to/replay.md": 1, "docs/explanation/scale-and-map.md": 2, "docs/how-to/experiments.md": 1}  # commands at least
PREPARE = """hunch synth synnonsep -n 500 --seed 3 -o data.svm
(echo subject,channel,age,topic; for i in $(seq 20); do echo "charged twice again $i,web,$i,billing"; echo "password lost since $i days,mail,4$i,login"; done) > tickets.csv && cp tickets.csv old.csv && cp tickets.csv live.csv
hunch convert data.svm -o data.csv && cp data.csv raw.csv && hunch run -q data.svm --save model.hunch
awk '/^[0-9]/ { $1 = 1 + NR % 9 ":" (1 + NR % 9 != $1) ":0.111 |"; print }' data.svm > log.vw"""
C_PROGRAM = """#include "hunch.h"
int main(void) {
int right = 1;
%s
return hunch_rounds(h) == 1 ? 0 : 1; }
"""


def commands_of(page):
    """Indented commands, cut down so that they are quick; answers that are shown below them have two spaces more."""
    text = re.sub(r"^```.*?^```", "", (SOURCE / page).read_text(), flags=re.M | re.S)
    return [line.replace("--rows 100000", "--rows 2000") for line in re.findall(r"^    ((?:hunch|curl|sqlite3) .*)", text, re.M)]


class Shell:
    """Types commands one after another; a server that is started goes on until the end."""

    def __init__(self, folder):
        self.folder, self.servers, self.id = folder, [], None
        os.symlink(HUNCH, os.path.join(folder, "hunch"))
        self.env = dict(os.environ, PATH=folder + os.pathsep + os.environ["PATH"])
        self.port = str(reserve())

    def type(self, command):
        command = command.replace("8811", self.port)
        if command.startswith("hunch serve") and "--listen" in command:  # others end by themselves
            log = open(os.path.join(self.folder, "server.log"), "w")
            self.servers.append(subprocess.Popen(["bash", "-c", "exec " + command], cwd=self.folder, env=self.env, stderr=log))
            return
        if command.startswith("curl"):  # a version that is being made is promoted when it is ready
            command = command.replace("curl", "curl -s --fail-with-body --retry 60 --retry-all-errors --retry-delay 1", 1)
            command = re.sub(r'"id":"[^"]*"', f'"id":"{self.id}"', command)
        folder = self.folder
        if command.startswith("sqlite3"):  # as the page says, in the folder of the log
            folder = next(pathlib.Path(folder).glob("state/models/*/log.db")).parent
        done = subprocess.run(["bash", "-c", command], cwd=folder, env=self.env, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        found = re.search(r'"id":"([^"]*)"', done.stdout)
        self.id = found.group(1) if found else self.id

    def close(self):
        for server in self.servers:
            server.terminate()
            code = server.wait(60)
            assert code == 0, f"{server.args[-1]}: exit code {code}"


def check_commands_of(page, least):
    commands = commands_of(page)
    assert len(commands) >= least, f"{page}: only {len(commands)} commands are left to run"
    with tempfile.TemporaryDirectory() as folder:
        shell = Shell(folder)
        try:
            for line in PREPARE.splitlines():
                shell.type(line)
            for command in commands:
                shell.type(command)
                print("ok  ", page, command)
        finally:
            shell.close()


def check_programs():
    c = re.search(r"```c\n(.*?)```", README, re.S).group(1)
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "readme.c").write_text(C_PROGRAM % c)
        subprocess.run(["cc", "-std=c11", "-Wall", "-Werror", "-I", SOURCE / "include", "-I", BUILD / "include", "readme.c", BUILD / "lib" / "libhunch.so",
                        "-o", "readme"], cwd=folder, check=True)
        subprocess.run([os.path.join(folder, "readme")], env=dict(os.environ, LD_LIBRARY_PATH=str(BUILD / "lib")), check=True)
    print("ok   C")
    if PYTHONPATH:
        python = re.search(r"```python\n(.*?)```", README, re.S).group(1)
        subprocess.run([sys.executable, "-c", python + "assert learner.rounds == 1"], env=dict(os.environ, PYTHONPATH=PYTHONPATH),
                       check=True)
        print("ok   Python")


def check_example():
    """The example with its printed output; speeds differ from machine to machine."""
    command, expected = re.search(r"```console\n\$ (hunch .*?)\n(.*?)```", README, re.S).groups()
    done = subprocess.run(["bash", "-c", command], cwd=SOURCE, stdout=subprocess.PIPE, text=True, check=True,
                          env=dict(os.environ, PATH=os.path.dirname(HUNCH) + os.pathsep + os.environ["PATH"]))
    expected, printed = (re.sub(r" +[\d,]+$", "", text, flags=re.M) for text in (expected, done.stdout))
    assert not difference(expected, printed), f"README.md: {command} prints\n{printed}"
    print("ok   example")


def check_demo():
    told = subprocess.run([SOURCE / "tools" / "demo.sh", HUNCH], stdout=subprocess.PIPE, text=True, check=True).stdout
    wide = [line for line in told.splitlines() if len(line) > 80 and HUNCH not in line]
    assert not wide, f"the demo is wider than 80 columns:\n{wide[0]}"
    assert "\033" not in told and "error of the last 1,200 rounds" in told
    print("ok   demo")


def check_links():
    for page in [SOURCE / "README.md", SOURCE / "CONTRIBUTING.md", *SOURCE.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.relative_to(SOURCE)}: {target} leads nowhere"
    print("ok   links")


def check_commands():
    names = re.findall(r'^(?:NET_)?COMMAND\((\w+),', (SOURCE / "cli" / "commands.h").read_text(), re.M)
    for name in names:
        assert f"hunch {name}" in README, f"README.md does not mention hunch {name}"
    print("ok  ", len(names), "commands are mentioned")


for name, number in PAGES.items():
    check_commands_of(name, number)
check_programs()
check_example()
check_demo()
check_commands()
check_links()
