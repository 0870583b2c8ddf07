# SPDX-License-Identifier: BSD-3-Clause
"""Judges a recorded history of feedback, as porcupine does: is there one order of the operations that explains every answer?

Operations on different decisions do not touch each other, so each decision is judged alone. Its operations are put into every
order in which one that ended before another began comes first (Wing and Gong's search, with the states that have been seen). One
whose answer never came may have taken effect at any time after it began, or never. A kill of the server takes back nothing that
an answer has told of; it may take back a decision that no one has answered.
"""
import threading
import time

OPEN, LOST = 'open', 'lost'


class History:
    """Threads add their operations and the replies."""

    def __init__(self):
        self.lock, self.operations = threading.Lock(), {}

    def record(self, id, right, ask):
        """ask(): one of 'learned', 'already', 'conflict', 'unknown', or None where nothing is certain. Gives it back."""
        operation = [right, time.monotonic(), float('inf'), None]
        with self.lock:
            self.operations.setdefault(id, []).append(operation)
        told = ask()
        if told:
            operation[2:] = time.monotonic(), told
        return told

    def wrong(self):
        """The decisions whose answers no order explains."""
        return {id: operations for id, operations in self.operations.items() if not explained(operations)}

    def __len__(self):
        return sum(map(len, self.operations.values()))


def after(state, right, told):
    """The decision's states after an operation that got this reply; none: the reply is impossible."""
    if told is None:  # it was learned, or refused, or never came
        return {state, right} if state == OPEN else {state}
    if told == 'unknown':
        return {LOST} if state in (OPEN, LOST) else set()
    if state == OPEN:
        return {right} if told == 'learned' else set()
    return {state} if told == {right: 'already', not right: 'conflict'}.get(state) else set()


def explained(operations):
    """Whether one order explains them all. An operation: whether it said "right", begin, end, the reply."""
    seen, left = set(), [(frozenset(range(len(operations))), OPEN)]
    while left:
        remaining, state = left.pop()
        if all(operations[i][3] is None for i in remaining):
            return True
        if (remaining, state) in seen:
            continue
        seen.add((remaining, state))
        first_end = min(operations[i][2] for i in remaining)
        for i in remaining:
            right, begin, _, told = operations[i]
            if begin <= first_end:
                left += [(remaining - {i}, s) for s in after(state, right, told)]
    return False
