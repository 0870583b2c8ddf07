# SPDX-License-Identifier: BSD-3-Clause
"""Small tables for notebooks."""

from __future__ import annotations

from html import escape
from typing import Iterable, Mapping, Sequence, Union


def table_html(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """A table; first column to the left, numbers to the right."""

    def cells(row: Sequence[str], tag: str) -> str:
        return "".join(
            f'<{tag} style="text-align:{"left" if j == 0 else "right"}">{escape(str(cell))}</{tag}>'
            for j, cell in enumerate(row)
        )

    top = f"<caption>{escape(caption)}</caption>" if caption else ""
    header = f"<thead><tr>{cells(head, 'th')}</tr></thead>" if head else ""
    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    return f"<table>{top}{header}<tbody>{body}</tbody></table>"


def percent(share: float) -> str:
    return f"{100 * share:.2f} %"


def learner_html(info: Mapping[str, Union[str, int, float]], labels: Sequence[object]) -> str:
    """The table of Learner.info."""
    shown = ", ".join(map(str, labels[:8])) + (" ..." if len(labels) > 8 else "")
    rows = [[key, f"{value:,.6g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else value]
            for key, value in info.items() if value != ""]  # fmt: skip
    return table_html([], [*rows, ["labels", shown]], f"hunch.Learner {info['learner']}")
