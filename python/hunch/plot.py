# SPDX-License-Identifier: BSD-3-Clause
"""Figures of learning curves and sweeps. Needs matplotlib, which nothing else here does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from ._run import Result, Sweep
from .off_policy import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    Some = Union[Result, Iterable[Result], Mapping[str, Result]]

#: Okabe and Ito's colours, which most colour-blind people tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#F0E442")
#: As `hunch run --figure` has them, for those whom colours tell nothing.
STYLES = ("-", (0, (5, 2)), (0, (1, 1)), (0, (5, 2, 1, 2)), "-", (0, (5, 2)), (0, (1, 1)), (0, (5, 2, 1, 2)))
LABELLED = 6  #: that many lines are labelled where they end; more get a legend beside the axes


def _axes(ax: Optional[Axes], x: str, y: str) -> Axes:
    if ax is None:
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError("figures need matplotlib: pip install matplotlib") from error
        ax = plt.subplots(figsize=(6.4, 4), layout="constrained")[1]
    ax.set_prop_cycle(color=COLOURS, linestyle=STYLES)
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.grid(True, color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def _percent(ax: Axes, which: str = "y") -> None:
    from matplotlib.ticker import PercentFormatter

    (ax.yaxis if which == "y" else ax.xaxis).set_major_formatter(PercentFormatter(1, decimals=None))


def _spread(wanted: Sequence[float], apart: float) -> List[float]:
    """Heights of labels, as near to where they belong as they may be when each is so far from the next."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    groups: List[Tuple[float, List[int]]] = []  # middle and members, none of them too near
    for i in order:
        groups.append((wanted[i], [i]))
        while len(groups) > 1 and groups[-1][0] - groups[-2][0] < apart * (len(groups[-1][1]) + len(groups[-2][1])) / 2:
            members = groups[-2][1] + groups[-1][1]
            groups[-2:] = [(float(np.mean([wanted[k] for k in members])), members)]
    placed = [0.0] * len(wanted)
    for middle, members in groups:
        for rank, i in enumerate(members):
            placed[i] = middle + apart * (rank - (len(members) - 1) / 2)
    return placed


def _finish(axes: Axes) -> Axes:
    """Percent from zero, and every line named: where it ends, or in a legend when there are many."""
    axes.set_ylim(bottom=0)
    _percent(axes)
    lines, names = axes.get_legend_handles_labels()
    if len(lines) > LABELLED:
        axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.02, 1))
        return axes
    parts: List[Any] = [getattr(drawn, "lines", (drawn,))[0] for drawn in lines]  # of an error bar the line
    ends = [(float(line.get_ydata()[-1]), line.get_color()) for line in parts]
    top, points = axes.get_ylim()[1], axes.bbox.height * 72 / axes.figure.dpi
    heights = _spread([end / top for end, _ in ends], 13 / points)
    for name, height, (_, colour) in zip(names, heights, ends):
        axes.text(
            1.02, height, name, color=colour, transform=axes.transAxes, va="center", fontweight="bold", fontsize=9
        )
    return axes


def _named(results: Some) -> List[Tuple[str, Result]]:
    if isinstance(results, Result):
        return [(results.spec.partition(":")[0], results)]
    if isinstance(results, Mapping):
        return list(results.items())
    return [(result.spec.partition(":")[0], result) for result in results]


def curves(results: Some, *, ax: Optional[Axes] = None, greedy: bool = False, log: bool = True) -> Axes:
    """Error rates against rounds; greedy adds those of the model's own labels. Returns the axes."""
    named = _named(results)
    for name, result in named:
        if result.curve is None:
            raise ValueError(f"{name}: run it with curve=True")
    axes = _axes(ax, "rounds", "errors so far")
    for name, result in named:
        assert result.curve is not None
        rounds = result.curve.rounds
        shown = rounds >= (10 if len(rounds) > 20 else 0)  # the first few are all or nothing
        axes.plot(rounds[shown], result.curve.error[shown], label=name)
        if greedy:
            axes.plot(rounds[shown], result.curve.greedy_error[shown], label=f"{name}, greedy")
    if log:
        axes.set_xscale("log")
    return _finish(axes)


def recent(results: Some, *, window: int = 1000, ax: Optional[Axes] = None) -> Axes:
    """Error rates of the last n rounds, at every round: where a drift shows, and who recovers."""
    axes = _axes(ax, "rounds", f"errors of the last {window:,} rounds")
    for name, result in _named(results):
        error = result.recent_error(window)
        step = max(len(error) // 2000, 1)
        axes.plot(np.arange(1, len(error) + 1)[::step], error[::step], label=name)
    return _finish(axes)


def sweep(swept: Sweep, *, ax: Optional[Axes] = None, log: bool = True) -> Axes:
    """Mean error against the first setting, one line per combination of the others; bars from best to worst seed."""
    axes = _axes(ax, swept.names[0], "error")
    groups: Dict[Tuple[Any, ...], List[Tuple[float, float, float, float]]] = {}
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
    return _finish(axes)


def estimates(made: Mapping[str, Estimate], *, truth: Optional[float] = None, ax: Optional[Axes] = None) -> Axes:
    """Off-policy estimates with their intervals, one below the other; truth, when it is known, as a line."""
    axes = _axes(ax, "share of right labels", "")
    for i, (name, estimate) in enumerate(made.items()):
        reach = [[estimate.value - estimate.low], [estimate.high - estimate.value]]
        axes.errorbar([estimate.value], [i], xerr=reach, marker="o", capsize=4)
    axes.set_yticks(range(len(made)), list(made))
    axes.invert_yaxis()
    if truth is not None:
        axes.axvline(truth, color="#000000", linewidth=1, linestyle=":")
    _percent(axes, "x")
    return axes


def reliability(
    probabilities: NDArray[np.float64], right: NDArray[np.bool_], *, bins: int = 10, ax: Optional[Axes] = None
) -> Axes:
    """Accuracy against confidence; calibrated confidences are on the diagonal."""
    sure, hit = np.asarray(probabilities, np.float64), np.asarray(right, np.float64)
    if sure.ndim != 1 or sure.shape != hit.shape:
        raise ValueError("the probability of the predicted label and whether it was right are needed for each row")
    place = np.minimum((sure * bins).astype(int), bins - 1)
    there = np.unique(place)
    axes = _axes(ax, "predicted probability", "accuracy")
    axes.plot([0, 1], [0, 1], color="#999999", linewidth=1, linestyle=":")
    axes.plot([sure[place == b].mean() for b in there], [hit[place == b].mean() for b in there], marker="o")
    _percent(axes)
    _percent(axes, "x")
    return axes
