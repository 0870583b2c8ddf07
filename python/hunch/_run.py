# SPDX-License-Identifier: BSD-3-Clause
"""Progressive evaluation: predict each row, then learn from one bit; mistakes are counted before learning."""

from __future__ import annotations

import itertools
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union, overload

import numpy as np
from numpy.typing import NDArray

from . import _core, _names
from ._choice import CHOICES_DTYPE
from ._inputs import Batch, batch_of
from ._learner import Classes, Learner, whole
from ._settings import make_spec
from .datasets import Dataset, rank, splitmix, splitmix_bits

Numbers = NDArray[np.uint32]

_STEP = 43  # of the hunch command's curves


class Curve(NamedTuple):
    """Error rates up to each of some rounds."""

    rounds: NDArray[np.int64]
    error: NDArray[np.float64]
    greedy_error: NDArray[np.float64]


@dataclass
class Result:
    """What came of a run. Errors are shares of the rounds played."""

    spec: str
    rounds: int
    mistakes: int  #: of the labels that were shown
    greedy_mistakes: int  #: of the labels that the model believed in
    explored_rounds: int  #: rounds in which the two differed
    seconds: float
    seed: Optional[int]
    learner: Learner = field(repr=False)
    curve: Optional[Curve] = field(default=None, repr=False)
    #: With choices=True: one record per round (round, prob, label, greedy, note; labels are class numbers).
    choices: Optional[NDArray[np.void]] = field(default=None, repr=False)

    @property
    def error(self) -> float:
        """The share of shown labels that were wrong: what the papers plot."""
        return self.mistakes / self.rounds if self.rounds else float("nan")

    @property
    def greedy_error(self) -> float:
        """The share of rounds in which the model's own label was wrong."""
        return self.greedy_mistakes / self.rounds if self.rounds else float("nan")

    @property
    def explored(self) -> float:
        """The share of rounds whose label was not the model's own."""
        return self.explored_rounds / self.rounds if self.rounds else float("nan")

    def plot(self, **options: Any) -> Any:
        """The learning curve (needs matplotlib); see hunch.plot.curves."""
        from . import plot

        return plot.curves(self, **options)

    def __str__(self) -> str:
        return (
            f"{self.spec}: error {100 * self.error:.2f} %, greedy {100 * self.greedy_error:.2f} %, "
            f"explored {100 * self.explored:.2f} % of {self.rounds} rounds"
        )


def curve_rounds(rounds: int, wanted: Any) -> NDArray[np.int64]:
    """Where a curve has points: as the command has them (a hundred to a decade), a number of them, or as given."""
    if wanted is True:
        ladder = [1]
        while ladder[-1] < rounds:
            ladder.append(ladder[-1] + (ladder[-1] // _STEP or 1))
        points = np.asarray(ladder, dtype=np.int64)
    elif isinstance(wanted, (int, np.integer)):
        points = np.unique(np.geomspace(1, max(rounds, 1), max(int(wanted), 1)).round().astype(np.int64))
    else:
        points = np.unique(np.asarray(wanted, dtype=np.int64))
    points = points[(points >= 1) & (points <= rounds)]
    if rounds and (not len(points) or points[-1] != rounds):
        points = np.append(points, rounds)
    return points


def _curve(wrong: NDArray[np.bool_], greedy_wrong: NDArray[np.bool_], wanted: Any) -> Curve:
    points = curve_rounds(len(wrong), wanted)
    rates = [np.cumsum(bad, dtype=np.int64)[points - 1] / points for bad in (wrong, greedy_wrong)]
    return Curve(points, rates[0], rates[1])


def play(
    learner: Learner, batch: Batch, labels: Numbers, curve: Any, choices: bool, seed: Optional[int] = None
) -> Result:
    """Run a learner over rows whose labels are class numbers."""
    n = batch.rows
    label, greedy = np.empty(n, np.uint32), np.empty(n, np.uint32)
    prob = np.empty(n, np.float64) if choices else None
    note = np.empty(n, np.uint32) if choices else None
    number = np.empty(n, np.uint64) if choices else None
    with learner._growing(batch.names):
        ready = batch.resolve(learner._find)
        started = time.perf_counter()
        learner._core.run(ready.start, ready.index, ready.value, labels, label, greedy, prob, note, number)
        seconds = time.perf_counter() - started
    wrong, greedy_wrong = label != labels, greedy != labels
    result = Result(
        learner.spec,
        n,
        int(np.count_nonzero(wrong)),
        int(np.count_nonzero(greedy_wrong)),
        int(np.count_nonzero(label != greedy)),
        seconds,
        seed,
        learner,
    )
    if curve is not None and curve is not False:
        result.curve = _curve(wrong, greedy_wrong, curve)
    if choices:
        result.choices = np.empty(n, CHOICES_DTYPE)
        for name, column in zip(CHOICES_DTYPE.names or (), (number, prob, label, greedy, note)):
            result.choices[name] = column
    return result


def number_labels(y: Any, classes: Optional[Classes] = None) -> Tuple[Numbers, Union[int, List[_names.Label]]]:
    """Class numbers, and the classes as Learner takes them.

    Labels are numbered in their order, as the hunch command does: numbers (also as text) by size, else by text.
    classes gives another order; class numbers may be named by it.

    >>> numbers, names = number_labels(["b", "a", "b"])
    >>> numbers.tolist(), names
    ([1, 0, 1], ['a', 'b'])
    """
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"labels are one list; these have shape {labels.shape}")
    if labels.dtype.kind not in "iubUO":
        raise ValueError(f"labels must be whole numbers or text, not {labels.dtype}")
    names, count = _classes(classes)
    whole_numbers = labels.dtype.kind in "iub"
    if count is not None and (names is None or whole_numbers and all(isinstance(name, str) for name in names)):
        if not whole_numbers or labels.size and not 0 <= int(labels.min()) <= int(labels.max()) < count:
            raise ValueError(f"a label is not a whole number between 0 and {count - 1}")
        return np.ascontiguousarray(labels, dtype=np.uint32), count if names is None else names
    different, where = np.unique(labels, return_inverse=True)
    found = [_names.label_of(label) for label in different.tolist()]
    if names is None:
        by_text = {str(name): name for name in _names.labels_of(found)}
        names = [by_text[text] for text in rank(by_text)]
    numbers = {name: i for i, name in enumerate(names)}
    missing = [label for label in found if label not in numbers]
    if missing:
        raise ValueError(f"{missing[0]!r} is not one of the classes")
    return np.asarray([numbers[label] for label in found], np.uint32)[where.reshape(-1)], names


def _classes(classes: Optional[Classes]) -> Tuple[Optional[List[_names.Label]], Optional[int]]:
    if classes is None:
        return None, None
    if isinstance(classes, (Sequence, np.ndarray)) and not isinstance(classes, str):
        names = _names.labels_of(list(classes))
        return names, len(names)
    return None, whole(classes, "classes", 1, _core.MAX_CLASSES)


def shuffled(rows: int, seed: int) -> NDArray[np.int64]:
    """The order of rows that hunch run --shuffle has with this seed.

    >>> sorted(shuffled(4, seed=1).tolist())
    [0, 1, 2, 3]
    """
    order = list(range(rows))
    sizes = np.arange(rows, 1, -1)
    if rows > 1:
        picks = (splitmix(int(splitmix_bits(seed, 1)[0]), len(sizes)) * sizes).astype(np.int64).tolist()
        for i, j in zip(range(rows - 1, 0, -1), picks):
            order[i], order[j] = order[j], order[i]
    return np.asarray(order, dtype=np.int64)


@dataclass
class _Data:
    """What there is to play."""

    batch: Batch
    labels: Numbers
    classes: Union[int, List[_names.Label]]
    index_base: Optional[int]

    def learner(self, spec: Optional[str], seed: int) -> Learner:
        batch = self.batch
        features = batch.highest if batch.names is None else len(batch.names)
        learner = Learner(spec, self.classes, seed=seed, features=features)
        if self.index_base is not None:
            learner._core.set_meta(_names.INDEX_BASE, str(self.index_base).encode())
        return learner

    def take(self, order: NDArray[np.int64]) -> _Data:
        return _Data(self.batch.take(order), self.labels[order], self.classes, self.index_base)


def _data(x: Any, y: Any, classes: Optional[Classes]) -> _Data:
    index_base = None
    if isinstance(x, Dataset):
        if y is not None:
            raise ValueError("a Dataset has its labels: leave y out")
        index_base = x.index_base
        x, y, classes = x.X, x.y, x.classes if classes is None else classes
    batch = batch_of(x)
    labels, names = number_labels(y, classes)
    if len(labels) != batch.rows:
        raise ValueError(f"{batch.rows} examples but {len(labels)} labels")
    return _Data(batch, labels, names, index_base)


Specs = Union[str, None, Sequence[str], Mapping[str, str]]


@overload
def run(learner: Union[str, None], X: Any, y: Any = ..., **options: Any) -> Result: ...
@overload
def run(learner: Mapping[str, str], X: Any, y: Any = ..., **options: Any) -> Dict[str, Result]: ...
@overload
def run(learner: Sequence[str], X: Any, y: Any = ..., **options: Any) -> List[Result]: ...


def run(
    learner: Specs,
    X: Any,
    y: Any = None,
    *,
    classes: Optional[Classes] = None,
    seed: int = 1,
    shuffle: Union[bool, int] = False,
    curve: Any = True,
    choices: bool = False,
    jobs: int = 1,
    **settings: object,
) -> Union[Result, List[Result], Dict[str, Result]]:
    """Play a learner over labelled rows and report its errors; the same numbers as the hunch command gives.

    learner: a spec; a list of specs gives a list of results, a dict of them a dict.
    X, y: rows (2-D array, CSR matrix, list of dicts, data frame) and their labels, or a Dataset alone.
    classes: the labels in the order of their numbers; otherwise see number_labels.
    shuffle: False, or the rows in a random order (True: of the seed; a number: of that seed).
    curve: False, True, how many points, or at which rounds. choices: keep every round's choice.
    jobs: how many specs to run at the same time.

    >>> import hunch
    >>> data = hunch.datasets.synsep(2000, seed=1)
    >>> result = hunch.run("confident", data, seed=1)
    >>> result.error < 0.1
    True
    >>> [r.rounds for r in hunch.run(["banditron:gamma=0.1", "banditron:gamma=0.01"], data, jobs=2)]
    [2000, 2000]
    """
    data = _data(X, y, classes)
    if shuffle is not False:
        data = data.take(shuffled(data.batch.rows, seed if shuffle is True else int(shuffle)))

    def one(spec: Optional[str]) -> Result:
        player = data.learner(make_spec(spec, settings), seed)
        return play(player, data.batch, data.labels, curve, choices, seed)

    if learner is None or isinstance(learner, str):
        return one(learner)
    if isinstance(learner, Mapping):
        return dict(zip(learner, _each(one, learner.values(), jobs)))
    return _each(one, learner, jobs)


def _each(one: Callable[[Any], Result], specs: Iterable[Any], jobs: int) -> List[Result]:
    if jobs <= 1:
        return [one(spec) for spec in specs]
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(one, specs))


@dataclass
class Sweep:
    """The results of all combinations of settings, each with all seeds."""

    learner: str
    names: Tuple[str, ...]
    points: List[Tuple[Any, ...]]
    results: List[List[Result]] = field(repr=False)

    @property
    def errors(self) -> NDArray[np.float64]:
        """Mean errors, one per point."""
        return np.asarray([np.mean([result.error for result in group]) for group in self.results])

    @property
    def best(self) -> Dict[str, Any]:
        """The settings of the smallest mean error."""
        return dict(zip(self.names, self.points[int(np.argmin(self.errors))]))

    def plot(self, **options: Any) -> Any:
        """Error against the first setting (needs matplotlib); see hunch.plot.sweep."""
        from . import plot

        return plot.sweep(self, **options)


def sweep(
    learner: str,
    X: Any,
    y: Any = None,
    *,
    seeds: Iterable[int] = (1,),
    classes: Optional[Classes] = None,
    shuffle: bool = False,
    jobs: int = 1,
    **grid: Sequence[Any],
) -> Sweep:
    """Run all combinations of the settings' values.

    >>> import hunch
    >>> data = hunch.datasets.synsep(2000)
    >>> swept = hunch.sweep("banditron", data, gamma=[0.01, 0.1, 0.9], seeds=[1, 2])
    >>> swept.best["gamma"] < 0.9
    True
    """
    data = _data(X, y, classes)
    points = list(itertools.product(*grid.values()))
    all_seeds = list(seeds)
    orders = {seed: shuffled(data.batch.rows, seed) for seed in all_seeds} if shuffle else {}

    def one(job: Tuple[Tuple[Any, ...], int]) -> Result:
        point, seed = job
        player = data.learner(make_spec(learner, dict(zip(grid, point))), seed)
        rows = data.take(orders[seed]) if shuffle else data
        return play(player, rows.batch, rows.labels, False, False, seed)

    flat = _each(one, itertools.product(points, all_seeds), jobs)
    width = len(all_seeds)
    return Sweep(learner, tuple(grid), points, [flat[i : i + width] for i in range(0, len(flat), width)])
