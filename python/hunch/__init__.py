# SPDX-License-Identifier: BSD-3-Clause
"""Online multiclass classification from right/wrong (bandit) feedback.

>>> import hunch
>>> learner = hunch.Learner(classes=["a", "b", "c"])
>>> choice = learner.predict({"age": 0.3, "city=Rome": 1})
>>> learner.feedback(choice, right=False)
True
"""

from . import datasets, learners, off_policy, plot
from ._client import AsyncClient, BatchError, Client, Decision, ServerError
from ._choice import Choice, Choices
from ._core import ModelError, ModelFileError
from ._core import default_learner, version
from ._explain import Explanation
from ._inputs import TableWarning
from ._learner import Learner, load
from ._log import Log, Round
from ._run import Curve, NamedResults, Result, Results, Sweep, run, shuffled, sweep
from ._tables import Table, read_csv
from ._wrapper import BanditWrapper
from ._settings import Algorithm, Setting, algorithms, common_settings, describe

from .datasets import make_stream

__version__ = version()

__all__ = [
    "Algorithm",
    "AsyncClient",
    "BanditWrapper",
    "BatchError",
    "Choice",
    "Choices",
    "Client",
    "Curve",
    "Decision",
    "Explanation",
    "Learner",
    "Log",
    "ModelError",
    "ModelFileError",
    "NamedResults",
    "Result",
    "Results",
    "Round",
    "ServerError",
    "Setting",
    "Sweep",
    "Table",
    "TableWarning",
    "algorithms",
    "common_settings",
    "datasets",
    "default_learner",
    "describe",
    "learners",
    "load",
    "make_stream",
    "off_policy",
    "plot",
    "read_csv",
    "run",
    "shuffled",
    "sweep",
]
