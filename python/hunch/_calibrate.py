# SPDX-License-Identifier: BSD-3-Clause
"""Scores to probabilities: softmax(scores / T) mixed with a little of the uniform, both fitted to what came back.

Feedback for a predicted label is one bit; its likelihood is q or 1 - q of that label alone, so nothing but bandit feedback
is needed. What is known of the whole label is used as such.
"""

from __future__ import annotations

from typing import List, Optional, Tuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

KEPT = 5000  # rows
MIXES = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4)


def softmax(scores: Floats, sharpness: float, mix: float) -> Floats:
    e = np.exp((scores - scores.max(axis=1, keepdims=True)) * sharpness)
    return np.asarray((1 - mix) * e / e.sum(axis=1, keepdims=True) + mix / scores.shape[1])


class Calibration:
    """The latest rounds with the scores from before their answers, and the two numbers that fit them best."""

    def __init__(self) -> None:
        self._scores: List[Floats] = []
        self._label: List[NDArray[np.int64]] = []
        self._right: List[NDArray[np.bool_]] = []
        self._fitted: Optional[Tuple[float, float]] = None

    def add(self, scores: NDArray[np.float32], label: NDArray[np.int64], right: NDArray[np.bool_]) -> None:
        """label: the predicted or true label; right: whether it was right."""
        if self._scores and self._scores[-1].shape[1] != scores.shape[1]:
            self.__init__()  # type: ignore[misc]  # a class has been added: the old scores lack it
        self._scores.append(scores[-KEPT:].astype(np.float64))
        self._label.append(np.asarray(label[-KEPT:], np.int64))
        self._right.append(np.asarray(right[-KEPT:], np.bool_))
        while sum(map(len, self._label)) - len(self._label[0]) >= KEPT:
            for column in (self._scores, self._label, self._right):
                del column[0]
        self._fitted = None

    def _loss(
        self, scores: Floats, label: NDArray[np.int64], right: NDArray[np.bool_], sharpness: float, mix: float
    ) -> float:
        q = softmax(scores, sharpness, mix)[np.arange(len(label)), label]
        likelihood = np.where(right, q, 1 - q).clip(1e-15)
        return float(-np.log(likelihood).mean() + 1e-4 * abs(np.log(sharpness)))

    def fit(self) -> Tuple[float, float]:
        """Sharpness (1 / T) and mix: a grid, refined once."""
        if self._fitted is None:
            self._fitted = (1.0, 0.0)
            if self._scores:
                rows = np.concatenate(self._scores), np.concatenate(self._label), np.concatenate(self._right)
                size = float(np.ptp(rows[0], axis=1).mean()) or 1.0
                best = (np.inf, 1.0, 0.0)
                powers = np.arange(-3.0, 9.0)
                for spread in (1.0, 0.25):
                    for power in powers:
                        for mix in MIXES:
                            sharpness = float(2.0**power / size)
                            best = min(best, (self._loss(*rows, sharpness, mix), sharpness, mix))
                    powers = np.log2(best[1] * size) + np.arange(-3, 4) * spread / 4
                self._fitted = best[1:]
        return self._fitted

    def probabilities(self, scores: NDArray[np.float32]) -> Floats:
        return softmax(scores.astype(np.float64), *self.fit())
