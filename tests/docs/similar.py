#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares what a page says with what a program prints: words and whole numbers exactly, decimals with a tolerance, so
that a page does not have to change whenever a learner errs a little less. Run as a program it tests itself.
"""
import re

# Not the value of a setting (gamma=0.1), part of a name or a date: those are words.
NUMBER = re.compile(r"(?<![\w.=/:-])-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?(?![\w/:-])")


def close(expected, printed):
    """20 %, or half a point of a percentage: of 100 with up to two digits behind the point, of 1 with more."""
    if expected == printed:
        return True
    if not re.search(r"[.e]", expected + printed):
        return False
    one, other = (float(text.replace(",", "")) for text in (expected, printed))
    digits = max(len(text.partition(".")[2]) for text in (expected, printed))
    return abs(one - other) <= max(0.2 * abs(one), 0.5 if digits <= 2 else 0.05)


def similar(expected, printed):
    """Whether two lines say the same, whatever the widths of their columns are."""
    one, other = " ".join(expected.split()), " ".join(printed.split())
    return NUMBER.sub("#", one) == NUMBER.sub("#", other) and \
        all(map(close, NUMBER.findall(one), NUMBER.findall(other)))


def difference(expected, printed):
    """The first pair of lines that differ, or None."""
    one, other = expected.splitlines(), printed.splitlines()
    for pair in zip(one, other):
        if not similar(*pair):
            return pair
    return None if len(one) == len(other) else (f"{len(one)} lines", f"{len(other)} lines")


def test():
    for one, other in [("panel    3.53   3.63", "panel  3.1 4.0"), ("0.00", "0.44"), ("1.77e-05", "0.01"), ("0.999", "1"),
                       ("3,000 rounds", "3,000 rounds"), ("a 1,234.5 b", "a 1,100.1 b"), ("ips -0.98", "ips -1.1")]:
        assert similar(one, other), (one, other)
    for one, other in [("3,000 rounds", "3,001 rounds"), ("error 3.5", "errors 3.5"), ("20.0", "25.0"), ("gamma=0.1", "gamma=0.11"),
                       ("2024-01-24", "2024-01-25"), ("1.00", "1.60"), ("0.334", "0.434"), ("3.5 and 4", "3.5"),
                       ("localhost:9092", "localhost:9093"), ("always 'a'", "always 'b'")]:
        assert not similar(one, other), (one, other)
    assert difference("a\n1.0\n", "a\n1.1\n") is None and difference("a\nb\n", "a\nc\n") == ("b", "c")
    assert difference("a\n", "a\nb\n") and difference("a\nb\n", "a\n")


if __name__ == "__main__":
    test()
