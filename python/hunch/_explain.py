# SPDX-License-Identifier: BSD-3-Clause
"""What spoke for what: Learner.explain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from ._html import table_html
from ._names import Label


@dataclass(frozen=True, repr=False)
class Explanation:
    """What each label's score would lose without each feature of one example."""

    features: List[Union[str, int]]
    labels: List[Label]
    scores: NDArray[np.float32]  #: of the example, one per label
    table: NDArray[np.float32]  #: features x labels

    @property
    def label(self) -> Label:
        """The label with the largest score."""
        return self.labels[int(np.argmax(self.scores))]

    def top(self, n: int = 10) -> List[Tuple[Union[str, int], Label, float]]:
        """The n strongest: (feature, label, how much), by size; negative ones spoke against."""
        flat = np.argsort(-np.abs(self.table), axis=None, kind="stable")[:n]
        width = len(self.labels)
        return [(self.features[i // width], self.labels[i % width], float(self.table.flat[i])) for i in flat.tolist()]

    def __repr__(self) -> str:
        return f"Explanation({self.label!r}, {len(self.features)} features, {len(self.labels)} labels)"

    def __str__(self) -> str:
        return "\n".join(f"{amount:+10.4g}  {feature} for {label}" for feature, label, amount in self.top())

    def _repr_html_(self) -> str:
        order = np.argsort(-np.abs(self.table).max(axis=1, initial=0), kind="stable")[:10]
        rows = [[str(self.features[i]), *(f"{v:+.3g}" for v in self.table[i])] for i in order.tolist()]
        rows.append(["score", *(f"{v:.3g}" for v in self.scores)])
        return table_html(["feature", *map(str, self.labels)], rows)
