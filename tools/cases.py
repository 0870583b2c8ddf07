#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Counts the cases of a run of tests: those of pytest, of cmocka, of tests/cli/cases.py and the lines "ok ..." of other
programs one by one, everything else as one case. Prints "count PASSED FAILED SKIPPED", then "skip N REASON" for each
reason of a skip, with the command that enables what was skipped. A test that is not of pytest gives its reason on a line
"SKIPPED: ...".

Usage: cases.py testlog.json       of Meson
       cases.py - STATUS           the output of one program on standard input, and its exit status
"""
import collections
import json
import re
import sys

PYTEST = re.compile(r"^(?:=+ )?((?:\d+ (?:passed|failed|skipped|errors?|xfailed|xpassed|deselected|warnings?)(?:, )?)+) in [\d.]+s", re.M)
CMOCKA = re.compile(r"^\[ *(PASSED|FAILED|SKIPPED) *\] (\d+) test\(s\)", re.M)
CASES = re.compile(r"^(\d+) cases, (\d+) failed$", re.M)
ENABLED_BY = [  # a word of the reason, and what to do
    (r"(?i)matplotlib", "apt-get install python3-matplotlib"),
    (r"(?i)river|polars|arrow|dask|obp|joblib|nbclient", "tools/python_env_check.sh fetches them and runs these tests"),
    (r"(?i)playwright|chromium", ".ci/run fetches Playwright; apt-get install chromium"),
    (r"duckdb", "pip install duckdb-cli"),
    (r"promtool", "apt-get install prometheus"),
    (r"haproxy", "apt-get install haproxy"),
    (r"openssl", "apt-get install openssl"),
    (r"(?i)kafka|java|maven", "apt-get install librdkafka-dev default-jre-headless maven; rm -rf build-test"),
    (r"HUNCH_DATA", "hunch data get NAME, and HUNCH_DATA for the folder"),
    (r"(?i)root|namespace|mount", "as root"),
    (r"locale", "apt-get install locales"),
]
OK = re.compile(r"^ok\b", re.M)
SKIPPED = re.compile(r"^SKIPPED(?: \[(\d+)\] \S+?(?::\d+)?)?: (.*)$", re.M)


def count(text):
    """[passed, failed, skipped] of one program's output, and its reasons."""
    passed = failed = skipped = 0
    for summary in PYTEST.findall(text):
        numbers = {word.rstrip("s"): int(n) for n, word in re.findall(r"(\d+) (\w+)", summary)}
        passed += numbers.get("passed", 0) + numbers.get("xfailed", 0)
        failed += numbers.get("failed", 0) + numbers.get("error", 0) + numbers.get("xpassed", 0)
        skipped += numbers.get("skipped", 0)
    for word, n in CMOCKA.findall(text):
        passed += int(n) * (word == "PASSED")
        failed += int(n) * (word == "FAILED")
    for cases, bad in CASES.findall(text):
        passed += int(cases) - int(bad)
        failed += int(bad)
    passed += len(OK.findall(text))
    reasons = collections.Counter()
    for n, reason in SKIPPED.findall(text):
        reasons[reason.removeprefix("SKIPPED: ")] += int(n or 1)
        skipped += not n  # pytest's are counted above
    silent = sum(int(n) for word, n in CMOCKA.findall(text) if word == "SKIPPED") - skipped
    if silent > 0:
        reasons["no reason given"] += silent
    return [passed, failed, skipped + max(silent, 0)], reasons


def verdict(result, counts, reasons, name):
    """What Meson says of a test counts too, where its own words do not tell."""
    if result == "SKIP" and not counts[2]:
        counts[2] = 1
        reasons[f"{name}, no reason given"] += 1
    elif result == "OK" and not any(counts):
        counts[0] = 1
    elif result not in ("OK", "SKIP", "EXPECTEDFAIL") and not counts[1]:
        counts[1] = 1


def main(path, status=None):
    total, why = [0, 0, 0], collections.Counter()
    if path == "-":
        total, why = count(sys.stdin.read())
        verdict({"0": "OK", "77": "SKIP"}.get(status, "FAIL"), total, why, "a step")
    else:
        for line in open(path, encoding="utf-8"):
            test = json.loads(line)
            counts, reasons = count(test.get("stdout", "") + "\n" + test.get("stderr", ""))
            verdict(test["result"], counts, reasons, test["name"])
            total = [a + b for a, b in zip(total, counts)]
            why.update(reasons)
    print("count", *total)
    for reason, n in why.most_common():
        commands = [command for word, command in ENABLED_BY if re.search(word, reason)]
        print("skip", n, reason + (f" ({commands[0]})" if commands else ""))


if __name__ == "__main__":
    main(*sys.argv[1:])
