# SPDX-License-Identifier: BSD-3-Clause
"""A user's program with types: the tests run it, mypy --strict and pyright check it (tools/python_env_check.sh)."""

from __future__ import annotations

import asyncio
import tempfile
from typing import Dict, List, Tuple

import numpy as np
from numpy.typing import NDArray

import hunch
from hunch import off_policy


def rounds() -> hunch.Learner:
    learner = hunch.Learner("confidit", classes=["tea", "coffee"], eta=0.1, normalize="l2", seed=3)
    for hour in (7, 16, 8, 17) * 20:
        choice: hunch.Choice = learner.predict({"morning": hour < 12, "city": "Rome"})
        label: str | int = choice.label
        learned: bool = learner.feedback(choice, right=label == ("coffee" if hour < 12 else "tea"))
        assert learned
    choices: hunch.Choices = learner.predict_many([{"morning": True}, {"morning": False}])
    probs: NDArray[np.float64] = choices["prob"]
    told: int = learner.feedback_many(choices, [True, True])
    explanation: hunch.Explanation = learner.explain({"morning": True})
    strongest: List[Tuple[str | int, str | int, float]] = explanation.top(3)
    info: Dict[str, str | int | float] = learner.info()
    print(len(probs), told, strongest[0], info["rounds"])
    return learner


def runs() -> None:
    data: hunch.datasets.Dataset = hunch.datasets.synsep(800)
    one: hunch.Result = hunch.run("banditron", data, gamma=0.1, seed=1, choices=True)
    several: hunch.Results = hunch.run(["banditron", "confidit"], data, jobs=2)
    named: hunch.NamedResults = hunch.run({"a": "banditron", "b": None}, data)
    going_on: hunch.Result = hunch.run(one.learner, data)
    swept: hunch.Sweep = hunch.sweep("banditron", data, gamma=[0.1, 0.2], ties=["first"], seeds=range(2), jobs=2)
    best: Dict[str, str | float | int | bool] = swept.best
    errors: List[float] = [result.error for result in (one, *several, *named.values(), going_on)]
    assert one.choices is not None
    with hunch.Log() as log:
        log.extend(one.choices, one.right, x=data.X)
    made: off_policy.Estimate = log.evaluate(one.learner, methods=["snips"], interval="wilson")["snips"]
    low: float = made.low
    print(max(errors), best["gamma"], low < made.high, made.warnings)


def models(learner: hunch.Learner) -> None:
    with tempfile.TemporaryDirectory() as folder:
        learner.save(f"{folder}/model.hunch")
        again: hunch.Learner = hunch.load(f"{folder}/model.hunch")
    assert again.to_bytes() == learner.to_bytes()
    settings: List[str] = [setting.name for setting in hunch.algorithms()["confidit"].settings]
    stream: hunch.datasets.Stream = hunch.make_stream(500, drift="abrupt", at=[100, 200])
    recent: NDArray[np.float64] = hunch.run(None, stream).recent_error(50)
    print(settings[0], stream.drift, recent[-1] <= 1)


async def served(url: str) -> bool:
    async with hunch.AsyncClient(url, token=None) as client:
        decision: hunch.Decision = await client.predict("news", {"hour": 0.5})
        return await client.feedback("news", decision, right=True)


def main(url: str | None = None) -> None:
    models(rounds())
    runs()
    client = hunch.Client("http://127.0.0.1:1", retries=0)
    ready: bool = client.ready()
    print(ready)
    if url is not None:
        print(asyncio.run(served(url)))


if __name__ == "__main__":
    main()
