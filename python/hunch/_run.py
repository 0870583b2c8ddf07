# SPDX-License-Identifier: BSD-3-Clause
"""Progressive evaluation: predict each row, then learn from one bit; mistakes are counted before learning."""

from __future__ import annotations

import itertools
import math
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import (
    TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple,
    TypeVar, Union, overload,
)  # fmt: skip

import numpy as np
from numpy.typing import NDArray

from . import _core, _names
from ._choice import Choices, Columns
from ._html import percent, table_html
from ._inputs import Batch, TableWarning, batch_of, check_finite, is_frame, is_sparse, label_within
from ._learner import Classes, Learner, short_spec
from ._names import Label
from ._settings import SettingValue, make_spec
from .datasets import Dataset, splitmix, splitmix_bits

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Numbers = NDArray[np.uint32]
#: False, True (as the command has them), how many points, or at which rounds.
CurvePoints = Union[bool, int, Sequence[int], NDArray[np.int64]]
T = TypeVar("T")

_STEP = 43  # of the hunch command's curves


class Curve(NamedTuple):
    """Error rates up to each of some rounds."""

    rounds: NDArray[np.int64]
    error: NDArray[np.float64]
    greedy_error: NDArray[np.float64]


@dataclass(repr=False)
class Result:
    """The result of a run. Errors are fractions of the rounds."""

    spec: str
    rounds: int
    mistakes: int  #: of the predicted labels
    greedy_mistakes: int  #: of the labels with the largest score
    explored_rounds: int  #: rounds in which the two differed
    seconds: float
    seed: Optional[int]
    learner: Learner
    right: NDArray[np.bool_]  #: whether the predicted label was right, by round
    greedy_right: NDArray[np.bool_]  #: whether the model's own was
    labels: List[Label]  #: the labels in the order of their numbers
    curve: Optional[Curve] = None
    #: With choices=True: every round's label, greedy, prob, note; see Choices.
    choices: Optional[Choices] = None

    @property
    def error(self) -> float:
        """The error rate of the predicted labels: what the papers plot."""
        return self.mistakes / self.rounds if self.rounds else float("nan")

    @property
    def greedy_error(self) -> float:
        """The error rate of the labels with the largest score."""
        return self.greedy_mistakes / self.rounds if self.rounds else float("nan")

    @property
    def explored(self) -> float:
        """The fraction of rounds in which the predicted label was not the greedy one."""
        return self.explored_rounds / self.rounds if self.rounds else float("nan")

    def recent_error(self, window: int = 1000) -> NDArray[np.float64]:
        """The error rate over the last window rounds, at every round; shows drift."""
        wrong = np.concatenate([[0], np.cumsum(~self.right)])
        end = np.arange(1, self.rounds + 1)
        begin = np.maximum(end - int(window), 0)
        return np.asarray((wrong[end] - wrong[begin]) / (end - begin))

    def plot(self, *, ax: Optional[Axes] = None, greedy: bool = False, log: bool = True) -> Axes:
        """The learning curve (needs matplotlib); see hunch.plot.curves."""
        from . import plot

        return plot.curves(self, ax=ax, greedy=greedy, log=log)

    def to_frame(self) -> Any:
        """A pandas DataFrame of one row; of its curve: pandas.DataFrame(result.curve._asdict())."""
        return _frame([self._record()])

    def _record(self) -> Dict[str, Any]:
        names = ("error", "greedy_error", "explored", "rounds", "seconds", "seed")
        return {"learner": short_spec(self.spec), **{name: getattr(self, name) for name in names}}

    def _row(self) -> List[str]:
        return [
            percent(self.error),
            percent(self.greedy_error),
            percent(self.explored),
            f"{self.rounds:,}",
            f"{self.seconds:.2f}",
        ]

    def _repr_html_(self) -> str:
        return table_html(_HEAD, [[self.spec.partition(":")[0], *self._row()]])

    def __repr__(self) -> str:
        return f"Result({self})"

    def __str__(self) -> str:
        return (
            f"{short_spec(self.spec)}: error {100 * self.error:.2f} %, greedy {100 * self.greedy_error:.2f} %, "
            f"explored {100 * self.explored:.2f} % of {self.rounds} rounds"
        )


def _frame(records: List[Dict[str, Any]]) -> Any:
    import pandas

    return pandas.DataFrame(records)


_HEAD = ["learner", "error", "greedy error", "explored", "rounds", "seconds"]


class Results(List[Result]):
    """Several results, side by side; a list."""

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row per result."""
        return _frame([result._record() for result in self])

    def _repr_html_(self) -> str:
        return table_html(_HEAD, [[result.spec.partition(":")[0], *result._row()] for result in self])

    def __str__(self) -> str:
        return "\n".join(map(str, self))


class NamedResults(Dict[str, Result]):
    """Several results by name; a dict."""

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row per result."""
        return _frame([{"name": name, **result._record()} for name, result in self.items()])

    def _repr_html_(self) -> str:
        return table_html(_HEAD, [[name, *result._row()] for name, result in self.items()])

    def __str__(self) -> str:
        return "\n".join(f"{name}: {result}" for name, result in self.items())


def curve_rounds(rounds: int, wanted: CurvePoints) -> NDArray[np.int64]:
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


def _curve(right: NDArray[np.bool_], greedy_right: NDArray[np.bool_], wanted: CurvePoints) -> Curve:
    points = curve_rounds(len(right), wanted)
    rates = [np.cumsum(~good, dtype=np.int64)[points - 1] / points for good in (right, greedy_right)]
    return Curve(points, rates[0], rates[1])


def summary(
    learner: Any, columns: Columns, labels: Numbers, seconds: float, curve: CurvePoints, seed: Optional[int] = None
) -> Result:
    """The result of the rounds of a run."""
    right, greedy_right = columns.label_number == labels, columns.greedy_number == labels
    n = len(labels)
    explored = int(np.count_nonzero(columns.label_number != columns.greedy_number))
    mistakes, greedy_mistakes = (n - int(np.count_nonzero(good)) for good in (right, greedy_right))
    result = Result(
        learner.spec,
        n,
        mistakes,
        greedy_mistakes,
        explored,
        seconds,
        seed,
        learner,
        right,
        greedy_right,
        learner.labels,
    )
    if curve is not False:
        result.curve = _curve(right, greedy_right, curve)
    return result


def steps(n: int, progress: bool, what: str) -> Iterator[Tuple[int, int]]:
    """Pieces of n rows, with a bar of tqdm's if it is wanted and there; else all in one."""
    bar = None
    if progress:
        try:
            from tqdm.auto import tqdm

            bar = tqdm(total=n, desc=what, unit="row", leave=False)
        except ImportError:
            pass
    size = max(n // 100, 1) if bar is not None else max(n, 1)
    for begin in range(0, n, size):
        end = min(begin + size, n)
        yield begin, end
        if bar is not None:
            bar.update(end - begin)
    if bar is not None:
        bar.close()


def play(
    learner: Learner,
    batch: Batch,
    labels: Numbers,
    curve: CurvePoints,
    choices: bool,
    seed: Optional[int] = None,
    progress: bool = False,
) -> Result:
    """Run a learner over rows whose labels are class numbers."""
    columns = Columns.empty(batch.rows)
    ready = learner._learning(batch)
    started = time.perf_counter()
    for begin, end in steps(batch.rows, progress, learner.name):
        part = columns.take(slice(begin, end))  # contiguous already, so not a copy
        wanted: _core.ChoiceColumns = part if choices else (part.label_number, part.greedy_number, *(None,) * 5)
        try:
            learner._core.run(ready.part(begin, end).for_core, labels[begin:end], wanted)
        except ValueError:
            check_finite(batch)  # tells the column by name
            raise
    result = summary(learner, columns, labels, time.perf_counter() - started, curve, seed)
    if choices:
        result.choices = Choices(learner.name, result.labels, columns)
    return result


def number_labels(y: Any, classes: Optional[Classes] = None) -> Tuple[Numbers, Union[int, List[Label]]]:
    """Class numbers, and the classes as Learner takes them.

    Labels are numbered as the hunch command does: numbers (also as text) by size, text as it first comes. classes
    gives another order; class numbers may be named by it.

    >>> numbers, names = number_labels(["b", "a", "b"])
    >>> numbers.tolist(), names
    ([0, 1, 0], ['b', 'a'])
    """
    if y is None:
        raise ValueError("y is missing: the labels of the rows")
    labels = _names.column_of_labels(y)
    names, count = (None, None) if classes is None else _names.classes_of(classes, _core.MAX_CLASSES)
    whole_numbers = labels.dtype.kind in "iub"
    if count is not None and (names is None or whole_numbers and all(isinstance(name, str) for name in names)):
        if not whole_numbers or labels.size and not 0 <= int(labels.min()) <= int(labels.max()) < count:
            raise ValueError(f"a label is not a whole number between 0 and {count - 1}")
        return np.ascontiguousarray(labels, dtype=np.uint32), count if names is None else names
    if labels.dtype.kind in "OU":
        found = [_names.label_of(label) for label in dict.fromkeys(labels.tolist())]
    else:
        found = [_names.label_of(label) for label in np.unique(labels).tolist()]
    if names is None:
        by_text = {str(name): name for name in _names.labels_of(found)}
        names = [by_text[text] for text in _names.rank(by_text)]
    numbers = {name: i for i, name in enumerate(names)}
    for label in found:
        if label not in numbers:
            raise _names.unknown_label(label, names)
    plain = labels.tolist() if labels.dtype.kind in "OU" else None
    if plain is not None:
        return np.fromiter((numbers[label] for label in plain), np.uint32, len(plain)), names
    different, where = np.unique(labels, return_inverse=True)
    return np.asarray([numbers[label] for label in different.tolist()], np.uint32)[where.reshape(-1)], names


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
    """The data of a run."""

    batch: Batch
    labels: Numbers
    classes: Union[int, List[Label]]
    index_base: Optional[int]
    schema: Optional[bytes] = None

    def learner(self, spec: Optional[str], seed: int) -> Learner:
        batch = self.batch
        features = batch.highest if batch.names is None else len(batch.names)
        learner = Learner(spec, self.classes, seed=seed, features=features)
        if self.index_base is not None:
            learner._core.set_meta(_names.INDEX_BASE, str(self.index_base).encode())
        if self.schema is not None:
            learner._add_names(batch.names or ())
            learner._store_names()  # before the schema: the order of the tool's models
            learner._core.set_meta(_names.SCHEMA, self.schema)
        return learner

    def take(self, order: NDArray[np.int64]) -> _Data:
        return _Data(self.batch.take(order), self.labels[order], self.classes, self.index_base, self.schema)


def _listed(x: Any, y: Any) -> Tuple[Any, Any]:
    """Generators as lists; of x alone, as River's data sets are, the pairs (example, label)."""
    if isinstance(x, Dataset):
        return x, y
    is_rows = hasattr(x, "__array__") or hasattr(x, "__hunch_batch__") or is_frame(x) or is_sparse(x)
    if y is None and isinstance(x, Iterable) and not is_rows:
        pairs = list(x)
        if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
            raise ValueError("y is missing: give the labels, or pairs (example, label)")
        return [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return (list(part) if isinstance(part, Iterator) else part for part in (x, y))  # type: ignore[return-value]


def _data(x: Any, y: Any, classes: Optional[Classes]) -> _Data:
    x, y = _listed(x, y)
    label_within(x, y)
    index_base = schema = None
    if isinstance(x, Dataset):
        if y is not None:
            raise ValueError("a Dataset has its labels: leave y out")
        index_base, schema = x.index_base, getattr(x, "schema_text", None)
        if len(x.y) and int(x.y.min()) < 0:
            raise ValueError(f"row {int(x.y.argmin())}: the label is missing; leave such rows out")
        x, y, classes = _rows_of(x), x.y, x.classes if classes is None else classes
    batch = batch_of(x)
    labels, names = number_labels(y, classes)
    if len(labels) != batch.rows:
        raise ValueError(f"{batch.rows} examples but {len(labels)} labels")
    return _Data(batch, labels, names, index_base, schema)


def _rows_of(data: Dataset) -> Any:
    """With names, where it has them."""
    return data if hasattr(data, "__hunch_batch__") else data.X


Specs = Union[str, Learner, None, Sequence[Optional[str]], Mapping[str, Optional[str]]]


@overload
def run(learner: Union[
    str, Learner, None
], X: Any, y: Any = ..., *, classes: Optional[Classes] = ..., seed: int = ..., shuffle: Union[
    bool, int
] = ..., curve: CurvePoints = ..., choices: bool = ..., jobs: int = ..., progress: bool = ..., **settings: SettingValue,
) -> Result: ...  # fmt: skip


@overload
def run(learner: Mapping[
    str, Optional[str]
], X: Any, y: Any = ..., *, classes: Optional[Classes] = ..., seed: int = ..., shuffle: Union[
    bool, int
] = ..., curve: CurvePoints = ..., choices: bool = ..., jobs: int = ..., progress: bool = ..., **settings: SettingValue,
) -> NamedResults: ...  # fmt: skip


@overload
def run(learner: Sequence[
    Optional[str]
], X: Any, y: Any = ..., *, classes: Optional[Classes] = ..., seed: int = ..., shuffle: Union[
    bool, int
] = ..., curve: CurvePoints = ..., choices: bool = ..., jobs: int = ..., progress: bool = ..., **settings: SettingValue,
) -> Results: ...  # fmt: skip


def run(
    learner: Specs,
    X: Any,
    y: Any = None,
    *,
    classes: Optional[Classes] = None,
    seed: int = 0,
    shuffle: Union[bool, int] = False,
    curve: CurvePoints = True,
    choices: bool = False,
    jobs: int = 1,
    progress: bool = False,
    **settings: SettingValue,
) -> Union[Result, Results, NamedResults]:
    """Play a learner over labelled rows and report its errors; the same numbers as the hunch command gives.

    learner: a spec; a list of specs gives a list of results, a dict of them a dict. A Learner goes on learning.
    X, y: rows (2-D array, CSR matrix, list of dicts, data frame) and their labels, or a Dataset alone. Either may be a
        generator, which is read to its end first; X alone may be pairs (example, label), as River's data sets give.
    classes: the labels in the order of their numbers; otherwise see number_labels.
    shuffle: False, or the rows in a random order (True: of the seed; a number: of that seed).
    curve: False, True, how many points, or at which rounds. choices: keep every round's choice.
    jobs: how many specs to run at the same time. progress: show a bar (with tqdm, if that is installed).

    >>> import hunch
    >>> data = hunch.datasets.synsep(2000, seed=1)
    >>> result = hunch.run("confident", data, seed=1)
    >>> result.error < 0.1
    True
    >>> [r.rounds for r in hunch.run(["banditron:gamma=0.1", "banditron:gamma=0.01"], data, jobs=2)]
    [2000, 2000]
    """
    if isinstance(learner, Learner):
        return _go_on(learner, X, y, classes, seed, shuffle, curve, choices, progress, settings)
    data = _data(X, y, classes)
    if shuffle is not False:
        data = data.take(shuffled(data.batch.rows, seed if shuffle is True else int(shuffle)))
    else:
        _order_remark(data.labels)

    def one(spec: Optional[str]) -> Result:
        player = data.learner(make_spec(spec, settings), seed)
        return play(player, data.batch, data.labels, curve, choices, seed, progress)

    if learner is None or isinstance(learner, str):
        return one(learner)
    if isinstance(learner, Mapping):
        return NamedResults(zip(learner, _each(one, list(learner.values()), jobs)))
    return Results(_each(one, list(learner), jobs))


def _order_remark(labels: NDArray[np.uint32]) -> None:
    """Warns where equal labels follow one another much more often than in a random order, as the command does."""
    n = len(labels)
    repeats = int(np.count_nonzero(labels[1:] == labels[:-1]))
    counts = np.bincount(labels).astype(np.float64)
    pairs = float((counts * (counts - 1)).sum()) / n if n else 0.0
    if pairs >= n - 1 or repeats <= pairs + 6 * math.sqrt(pairs + 1) or n - pairs <= 1.5 * (n - repeats):
        return
    warnings.warn(
        f"labels come in runs of {n / (n - repeats):.1f} rows on average, {n / (n - pairs):.1f} in a random order: the "
        "error is that of this order; shuffle=True plays the rows in a random one",
        TableWarning,
        stacklevel=3,
    )


def _go_on(
    learner: Learner, X: Any, y: Any, classes: Optional[Classes], seed: int, shuffle: Union[bool, int],
    curve: CurvePoints, choices: bool, progress: bool, settings: Mapping[str, SettingValue],
) -> Result:  # fmt: skip
    if settings or classes is not None or seed != 0 and shuffle is False:
        raise ValueError("a Learner has its settings, classes and seed already")
    X, y = _listed(X, y)
    if isinstance(X, Dataset):
        X, y = _rows_of(X), (X.y if learner._labels is None else _names.label_array(X.classes)[X.y])
    batch, labels = learner._checked(X, y)
    if shuffle is not False:
        order = shuffled(batch.rows, seed if shuffle is True else int(shuffle))
        batch, labels = batch.take(order), labels[order]
    return play(learner, batch, labels, curve, choices, progress=progress)


def _each(one: Callable[[T], Result], what: Sequence[T], jobs: int) -> List[Result]:
    """One after the other or in threads: the library works without Python's lock."""
    if jobs == 1:
        return [one(item) for item in what]
    with ThreadPoolExecutor(jobs if jobs > 0 else None) as pool:
        return list(pool.map(one, what))


@dataclass
class Sweep:
    """The results of all combinations of settings, each with all seeds."""

    learner: str
    names: Tuple[str, ...]
    points: List[Tuple[SettingValue, ...]]
    results: List[List[Result]] = field(repr=False)

    @property
    def errors(self) -> NDArray[np.float64]:
        """Mean errors, one per point."""
        return np.asarray([np.mean([result.error for result in group]) for group in self.results])

    @property
    def best(self) -> Dict[str, SettingValue]:
        """The settings of the smallest mean error."""
        return dict(zip(self.names, self.points[int(np.argmin(self.errors))]))

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row per run: the settings, then what Result.to_frame has."""
        return _frame(
            [
                {**dict(zip(self.names, point)), **result._record()}
                for point, group in zip(self.points, self.results)
                for result in group
            ]
        )

    def plot(self, *, ax: Optional[Axes] = None, log: bool = True) -> Axes:
        """Error against the first setting (needs matplotlib); see hunch.plot.sweep."""
        from . import plot

        return plot.sweep(self, ax=ax, log=log)

    def _repr_html_(self) -> str:
        order = np.argsort(self.errors, kind="stable")
        rows = []
        for i in order.tolist():
            errors = [result.error for result in self.results[i]]
            rows.append(
                [
                    *map(str, self.points[i]),
                    percent(np.mean(errors)),
                    f"{percent(min(errors))} .. {percent(max(errors))}",
                ]
            )
        return table_html([*self.names, "mean error", "seeds"], rows, f"sweep of {self.learner}")


def _sweep_one(learner: str, settings: Dict[str, SettingValue], seed: int, shuffle: bool, data: _Data) -> Result:
    """One cell of a sweep; a function of its own, so that other processes and machines can do it."""
    if shuffle:
        data = data.take(shuffled(data.batch.rows, seed))
    player = data.learner(make_spec(learner, settings), seed)
    return play(player, data.batch, data.labels, False, False, seed)


def sweep(
    learner: str,
    X: Any,
    y: Any = None,
    *,
    seeds: Iterable[int] = (0,),
    classes: Optional[Classes] = None,
    shuffle: bool = False,
    jobs: int = 1,
    **grid: Iterable[SettingValue],
) -> Sweep:
    """Run all combinations of the settings' values.

    jobs: how many at the same time, in threads (-1: one per core). With joblib installed, whatever backend is active
    does them: joblib.parallel_config("dask") hands them to a Dask cluster, and so does Ray's.

    >>> import hunch
    >>> data = hunch.datasets.synsep(2000)
    >>> swept = hunch.sweep("banditron", data, gamma=[0.01, 0.1, 0.9], seeds=[1, 2])
    >>> swept.best["gamma"] < 0.9
    True
    """
    data = _data(X, y, classes)
    points = list(itertools.product(*(tuple(values) for values in grid.values())))
    all_seeds = list(seeds)
    make_spec(learner, dict(zip(grid, points[0])) if points else {})
    cells = [(dict(zip(grid, point)), seed) for point in points for seed in all_seeds]
    try:
        import joblib
    except ImportError:
        flat = _each(lambda cell: _sweep_one(learner, *cell, shuffle, data), cells, jobs)
    else:
        task = joblib.delayed(_sweep_one)
        flat = joblib.Parallel(n_jobs=jobs, prefer="threads")(task(learner, *cell, shuffle, data) for cell in cells)
    width = len(all_seeds)
    return Sweep(learner, tuple(grid), points, [flat[i : i + width] for i in range(0, len(flat), width)])
