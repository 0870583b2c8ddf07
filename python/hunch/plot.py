# SPDX-License-Identifier: BSD-3-Clause
"""Figures of learning curves and sweeps. Needs matplotlib, which nothing else here does."""

from __future__ import annotations

from typing import Any, Iterable, List, Mapping, Tuple, Union

import numpy as np

from ._run import Result, Sweep


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install matplotlib") from error
    return plt.subplots(figsize=(6, 4), layout="constrained")[1]


def _named(results: Union[Result, Iterable[Result], Mapping[str, Result]]) -> List[Tuple[str, Result]]:
    if isinstance(results, Result):
        return [(results.spec.partition(":")[0], results)]
    if isinstance(results, Mapping):
        return list(results.items())
    return [(result.spec.partition(":")[0], result) for result in results]


def curves(
    results: Union[Result, Iterable[Result], Mapping[str, Result]],
    *,
    ax: Any = None,
    greedy: bool = False,
    log: bool = True,
) -> Any:
    """Error rates against rounds; greedy adds those of the model's own labels, dashed. Returns the axes."""
    named = _named(results)
    for name, result in named:
        if result.curve is None:
            raise ValueError(f"{name}: run it with curve=True")
    axes = _axes(ax)
    for name, result in named:
        assert result.curve is not None
        (line,) = axes.plot(result.curve.rounds, result.curve.error, label=name)
        if greedy:
            axes.plot(
                result.curve.rounds, result.curve.greedy_error, "--", color=line.get_color(), label=f"{name}, greedy"
            )
    if log:
        axes.set_xscale("log")
    axes.set_xlabel("rounds")
    axes.set_ylabel("error rate")
    axes.set_ylim(bottom=0)
    axes.legend()
    return axes


def sweep(swept: Sweep, *, ax: Any = None, log: bool = True) -> Any:
    """Mean error against the first setting, one line per combination of the others; bars from best to worst seed."""
    axes = _axes(ax)
    groups: dict[Tuple[Any, ...], List[Tuple[float, float, float, float]]] = {}
    for point, results in zip(swept.points, swept.results):
        errors = [result.error for result in results]
        entry = (float(point[0]), float(np.mean(errors)), min(errors), max(errors))
        groups.setdefault(point[1:], []).append(entry)
    for rest, entries in groups.items():
        x, mean, low, high = np.asarray(sorted(entries)).T
        label = ", ".join(f"{name}={value}" for name, value in zip(swept.names[1:], rest)) or swept.learner
        axes.errorbar(x, mean, yerr=[mean - low, high - mean], marker="o", capsize=3, label=label)
    if log:
        axes.set_xscale("log")
    axes.set_xlabel(swept.names[0])
    axes.set_ylabel("error rate")
    axes.set_ylim(bottom=0)
    axes.legend()
    return axes
