# SPDX-License-Identifier: BSD-3-Clause
"""The library's table of algorithms, and specs made of names and values."""

from __future__ import annotations

import keyword
import textwrap
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

from . import _core
from ._names import did_you_mean

#: What a setting may be given as.
SettingValue = Union[str, float, int, bool]

#: Learner's own keywords.
TAKEN = ("learner", "classes", "seed", "features", "max_features", "memory")


@dataclass(frozen=True)
class Setting:
    """One setting of a learner: its name, default, bounds and meaning."""

    name: str
    kind: str  #: "real", "integer", "choice" or "text"
    default: str
    low: float
    high: float
    choices: Tuple[str, ...]
    help: str

    @property
    def keyword(self) -> str:
        """Its name in Python: with an underscore at the end where the name is taken (lambda_)."""
        return f"{self.name}_" if keyword.iskeyword(self.name) or self.name in TAKEN else self.name

    @property
    def value(self) -> Union[float, int, str]:
        """The default as a Python value."""
        if self.kind == "integer" and self.default not in self.choices:
            return int(float(self.default))
        if self.kind == "real" and self.default not in self.choices:
            return float(self.default)
        return self.default

    @property
    def type(self) -> Any:
        """The Python type of its values."""
        simple: Any = {"real": float, "integer": int}.get(self.kind, str)
        return Union[simple, str] if simple is not str and self.choices else simple

    def describe(self) -> str:
        """One line: what may be given, the default, the meaning."""
        words = " | ".join(self.choices)
        if self.kind in ("real", "integer"):
            bounds = f"{self.low:g} to {self.high:g}"
            words = f"{bounds} or {words}" if words else bounds
        about = f"{words}; " if words else ""
        return f"{self.keyword} ({about}default {self.default}): {self.help}"


@dataclass(frozen=True)
class Algorithm:
    """One row of the library's table."""

    name: str
    title: str
    paper: str
    full_information: bool
    settings: Tuple[Setting, ...]

    def describe(self) -> str:
        """Title, paper and settings as text."""
        lines = [f"{self.name}: {self.title}", self.paper]
        if self.full_information:
            lines.append("Learns from the true label (teach, run), not from one bit.")
        lines.append("")
        for setting in (*self.settings, *common_settings()):
            lines += textwrap.wrap(setting.describe(), 88, initial_indent="  ", subsequent_indent="      ")
        return "\n".join(lines)


def _setting(row: _core.SettingRow) -> Setting:
    choices = tuple(row["choices"])
    return Setting(row["name"], row["kind"], row["default"], row["low"], row["high"], choices, row["help"])


def common_settings() -> List[Setting]:
    """The settings that every learner takes.

    >>> [setting.name for setting in common_settings()][:2]
    ['ties', 'normalize']
    """
    return [_setting(row) for row in _core.common_settings()]


def algorithms() -> Dict[str, Algorithm]:
    """All learners by name.

    >>> print(algorithms()["banditron"].settings[0].describe().split(":")[0])
    gamma (0 to 1; default 0.05)
    """
    rows = {}
    for row in _core.algorithms():
        settings = tuple(_setting(setting) for setting in row["settings"])
        rows[row["name"]] = Algorithm(row["name"], row["title"], row["paper"], row["full_information"], settings)
    return rows


def describe(name: Optional[str] = None) -> str:
    """What there is to know about one learner, or the list of all."""
    table = algorithms()
    if name is None:
        return "\n".join(f"{row.name:12} {row.title}" for row in table.values())
    if name not in table:
        raise ValueError(f"no learner is called {name!r}{did_you_mean(name, table)}; there are {', '.join(table)}")
    return table[name].describe()


def value_text(value: object) -> str:
    """A setting's value as a spec has it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ValueError(f"{value!r}: a setting's value is a number or text") from None
    return str(int(number)) if abs(number) < 1e15 and number == int(number) else repr(number)


def make_spec(learner: Optional[str] = None, settings: Mapping[str, object] = {}) -> str:
    """A spec out of a name (or a spec) and further settings.

    >>> make_spec("banditron", {"gamma": 0.1, "ties": "random"})
    'banditron:gamma=0.1,ties=random'
    >>> make_spec("banditron:gamma=0.1", {"bias": 1, "lambda_": "2^-3"})
    'banditron:gamma=0.1,bias=1,lambda=2^-3'
    """
    spec = _core.default_learner() if learner is None else learner
    if not isinstance(spec, str):
        raise ValueError(f"a learner is named by text, not by {type(spec).__name__}")
    if "\0" in spec:
        raise ValueError("a learner's name must not hold a NUL")
    for name, value in settings.items():
        text = value_text(value)
        if "\0" in text or ("," in text and "[" not in text):
            raise ValueError(f"{name}={text!r}: not a setting's value")
        spec += f"{',' if ':' in spec else ':'}{name.rstrip('_')}={text}"
    return spec


def explain_unknown(spec: str, message: str) -> str:
    """What may have been meant by a name in the spec that is not in the table; nothing when all are."""
    if "did you mean" in message:
        return ""
    table, (name, _, rest) = algorithms(), spec.partition(":")
    if name not in table:
        return did_you_mean(name, table)
    known = [setting.name for setting in (*table[name].settings, *common_settings())]
    for part in rest.split(","):
        word = part.partition("=")[0]
        if word and word not in known:
            return did_you_mean(word, known)
    return ""


def needs_labels(learner: Optional[str]) -> bool:
    """Whether a learner learns from true labels only, so that one bit is not enough for it."""
    name = (_core.default_learner() if learner is None else learner).partition(":")[0]
    row = algorithms().get(name)
    return row is not None and row.full_information


def refuse_labels(learner: Optional[str], simulate: bool) -> None:
    if simulate and needs_labels(learner):
        raise ValueError(
            f"{learner} learns from the true label, not from right or wrong: say simulate=False to hand the labels over"
        )
