# SPDX-License-Identifier: BSD-3-Clause
"""One function per learner, made from the library's table: names, defaults and help come from there.

>>> import hunch
>>> learner = hunch.learners.banditron(classes=3, gamma=0.1)
>>> learner.spec.startswith("banditron:gamma=0.1,")
True
"""

from __future__ import annotations

import inspect
from typing import Any, Callable, List

from ._learner import Classes, Learner
from ._settings import Algorithm, algorithms, common_settings

_OWN = [inspect.signature(Learner).parameters[name] for name in ("classes", "seed", "features")]


def _make(algorithm: Algorithm) -> Callable[..., Learner]:
    def make(classes: Classes = 2, **settings: Any) -> Learner:
        return Learner(algorithm.name, classes, **settings)

    parameters = list(_OWN)
    for setting in (*algorithm.settings, *common_settings()):
        parameters.append(
            inspect.Parameter(
                setting.keyword, inspect.Parameter.KEYWORD_ONLY, default=setting.value, annotation=setting.type
            )
        )
    make.__name__ = make.__qualname__ = algorithm.name.replace("-", "_")
    make.__doc__ = algorithm.describe()
    make.__signature__ = inspect.Signature(parameters, return_annotation=Learner)  # type: ignore[attr-defined]
    return make


_made = {name.replace("-", "_"): _make(algorithm) for name, algorithm in algorithms().items()}
globals().update(_made)
__all__ = list(_made)  # pyright: ignore


def __getattr__(name: str) -> Callable[..., Learner]:
    raise AttributeError(f"no learner is called {name!r}; there are {', '.join(_made)}")


def __dir__() -> List[str]:
    return list(_made)
