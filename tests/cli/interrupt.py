#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C: hunch run stops, prints the table so far, saves, and ends with 130.

usage: interrupt.py HUNCH

Input comes from pipes that this program keeps open, so nothing depends on how fast anything is: the run can end only
because of the signal. Progress is watched through the trace file.
"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROWS = "".join(f"{i % 3} {i % 3 + 1}:1 {4 + i % 7}:0.5\n" for i in range(3000)).encode()
PATIENCE = 60  # seconds; only a hang reaches it


def start(hunch, folder, *options):
    return subprocess.Popen([hunch, "run", "--save", "m.hunch", *options, "-"], cwd=folder, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def wait_until(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "never happened: " + what
        time.sleep(0.01)


def catches_interrupt(process):
    """Whether the program has set its handler (a bit of SigCgt in /proc)."""
    with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
        caught = re.search(r"^SigCgt:\s*(\w+)", status.read(), re.MULTILINE).group(1)
    return int(caught, 16) >> (signal.SIGINT - 1) & 1


def finish(process):
    process.send_signal(signal.SIGINT)
    # not communicate(): it would close the pipe, and the end of input is not what we test
    code = process.wait(PATIENCE)
    out, err = process.stdout.read().decode(), process.stderr.read().decode()
    for pipe in (process.stdin, process.stdout, process.stderr):
        pipe.close()
    return code, out, err


def check(hunch, folder, options, name):
    code, out, err = finish_run(hunch, folder, options)
    assert code == 130, f"{name}: exit code {code}\n{out}{err}"
    rounds = re.search(r"^([\d,]+) rounds, .*; interrupted$", out, re.MULTILINE)
    assert rounds, f"{name}: no table:\n{out}{err}"
    told = subprocess.run([hunch, "inspect", "m.hunch"], cwd=folder, stdout=subprocess.PIPE, check=True).stdout.decode()
    saved = re.search(r"^rounds +(\d+)$", told, re.MULTILINE).group(1)
    assert int(saved) == int(rounds.group(1).replace(",", "")), f"{name}: {saved} rounds saved\n{out}"
    print(f"{name}: {saved} rounds")


def feed(process, enough):
    """Write rows until there are enough of them; the pipe stays open."""
    while not enough.is_set():
        process.stdin.write(ROWS)
        process.stdin.flush()


def finish_run(hunch, folder, options):
    process, enough = start(hunch, folder, *options), threading.Event()
    feeder = threading.Thread(target=feed, args=(process, enough))
    feeder.start()
    wait_until("the handler is set", lambda: catches_interrupt(process))
    if "--trace" in options:
        trace = os.path.join(folder, "t.tsv")
        # something has been learned once the trace grows
        wait_until("rounds are played", lambda: os.path.exists(trace) and os.path.getsize(trace) > 2000)
    enough.set()
    feeder.join()
    return finish(process)


def main():
    hunch = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="hunch-interrupt-") as folder:
        # while the first rows are still being read ahead: they are learned before the end
        check(hunch, folder, [], "reading ahead")
    with tempfile.TemporaryDirectory(prefix="hunch-interrupt-") as folder:
        check(hunch, folder, ["--classes", "3", "--trace", "t.tsv"], "learning")
    return 0


if __name__ == "__main__":
    sys.exit(main())
