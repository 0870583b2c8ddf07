# SPDX-License-Identifier: BSD-3-Clause
"""What the tests share. They run against whichever hunch is importable: the build folder's or an installed one."""

import os
import pathlib

import numpy as np
import pytest

import hunch

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def data():
    return hunch.datasets.synsep(1500, seed=1)


@pytest.fixture(scope="session")
def dense(data):
    return data.X.toarray()


@pytest.fixture(scope="session")
def tool():
    """The hunch command, when it has been built."""
    path = os.environ.get("HUNCH_TOOL", "")
    if not os.access(path, os.X_OK) or os.path.isdir(path):
        pytest.skip("no hunch command (HUNCH_TOOL)")
    return path


@pytest.fixture
def small():
    """A learner that has learned something, with its state."""
    rng = np.random.default_rng(3)
    learner = hunch.Learner("banditron", classes=["a", "b", "c"], seed=5, gamma=0.3)
    for _ in range(20):
        choice = learner.predict(rng.random(4, dtype=np.float32))
        learner.feedback(choice, right=choice.label == "b")
    return learner


def pytest_generate_tests(metafunc):
    if "spec" in metafunc.fixturenames:
        metafunc.parametrize("spec", list(hunch.algorithms()))


def pytest_sessionfinish(session, exitstatus):
    """A file whose every test is skipped counts as skipped with Meson, not as failed."""
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and "HUNCH_MESON" in os.environ:
        session.exitstatus = 77
