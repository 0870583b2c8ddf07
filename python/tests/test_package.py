# SPDX-License-Identifier: BSD-3-Clause
"""What surrounds the code: doctests, figures, examples, the documentation's code, and the wheel."""

import doctest
import importlib
import inspect
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import hunch

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = pathlib.Path(hunch.__file__).parent
NEEDS = {"hunch.river": "river", "hunch.sklearn": "sklearn"}
MODULES = sorted("hunch." + path.stem for path in PACKAGE.glob("*.py") if path.stem != "__init__")


@pytest.mark.parametrize("name", ["hunch", *MODULES])
def test_doctests(name):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_doctests_are_there():
    attempted = 0
    for name in ["hunch", *MODULES]:
        if name not in NEEDS:
            tests = doctest.DocTestFinder().find(importlib.import_module(name))
            attempted += sum(len(test.examples) for test in tests)
    assert attempted > 40


def test_public_names_have_docstrings():
    for name in hunch.__all__:
        assert getattr(hunch, name).__doc__, name
    for name, member in vars(hunch.Learner).items():
        assert name.startswith("_") or member.__doc__, name


def test_typed_package_is_complete():
    for name in ("py.typed", "_core.pyi"):
        assert (PACKAGE / name).exists()
    stub = (PACKAGE / "_core.pyi").read_text()
    for name in [*dir(hunch._core), *dir(hunch._core.Learner)]:
        assert name.startswith("_") or re.search(rf"\b{name}\b", stub), name


def test_plots(data):
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("Agg")
    from hunch import plot

    axes = hunch.run("banditron", data).plot(greedy=True)
    assert len(axes.lines) == 2
    results = hunch.run(["banditron", "confidit"], data)
    names = plot.curves(results).texts
    assert [text.get_text() for text in names] == ["banditron", "confidit"]
    assert abs(names[0].get_position()[1] - names[1].get_position()[1]) > 0.04
    many = plot.curves({str(i): results[0] for i in range(7)})
    assert len(many.get_legend().get_texts()) == 7 and not many.texts
    assert plot._spread([0.5, 0.5, 0.9], 0.1) == pytest.approx([0.45, 0.55, 0.9])
    swept = hunch.sweep("banditron", data, gamma=[0.01, 0.1], ties=["first", "random"], seeds=[1, 2])
    assert len(swept.plot().texts) == 2
    with pytest.raises(ValueError, match="curve"):
        hunch.run("banditron", data, curve=False).plot()


def test_plots_say_what_they_need(monkeypatch, data):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        hunch.run("banditron", data).plot()


def test_typed_program():
    """What mypy and pyright check also runs."""
    program = ROOT / "python" / "tests" / "typed_program.py"
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, env=environment())
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 4


def environment():
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }


@pytest.mark.parametrize("example", sorted(path.name for path in (ROOT / "examples").glob("*.py")))
def test_examples(example, tmp_path):
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / example)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment(),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    if done.stdout.startswith("SKIPPED: "):
        pytest.skip(done.stdout.strip())


@pytest.mark.parametrize("notebook", sorted(path.name for path in (ROOT / "examples").glob("*.ipynb")))
def test_notebooks(notebook, tmp_path, monkeypatch):
    """Stored without output; they run in a kernel where there is one, else cell by cell."""
    cells = json.loads((ROOT / "examples" / notebook).read_text())["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code and not any(cell["outputs"] or cell["execution_count"] for cell in code)
    for needed in ("matplotlib", "pandas", "sklearn", *(["hunch._stream"] if "read_csv" in str(code) else [])):
        pytest.importorskip(needed, reason=f"{needed} is not installed")
    monkeypatch.chdir(tmp_path)
    try:
        import nbclient
        import nbformat
    except ImportError:
        import matplotlib

        matplotlib.use("Agg")
        space = {}
        for cell in code:
            exec(compile("".join(cell["source"]), notebook, "exec"), space)
        return
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    nbclient.NotebookClient(nbformat.read(ROOT / "examples" / notebook, 4), timeout=600).execute()


def test_documentation(tmp_path, monkeypatch):
    """The code of docs/how-to/python.md runs from top to bottom; blocks marked text or sh are for reading."""
    page = ROOT / "docs" / "how-to" / "python.md"
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.S)
    assert len(blocks) > 8
    space = {}
    for block in blocks:
        needs = re.match(r"# needs ([\w.]+)", block)
        if needs and (needs.group(1) == "server" or importlib.util.find_spec(needs.group(1)) is None):
            continue  # the server's block is played in test_client.py
        exec(compile(block, str(page), "exec"), space)


def test_installed_files(tmp_path):
    """What goes into a wheel, without building one: the extension with the library inside, the types, the modules."""
    build = PACKAGE.parent.parent
    meson = shutil.which("meson")
    if not (build / "build.ninja").exists() or meson is None:
        pytest.skip("not in a build folder")
    command = [
        meson,
        "install",
        "-C",
        str(build),
        "--no-rebuild",
        "--tags",
        "python-runtime",
        "--destdir",
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert {path.parent.name for path in files} == {"hunch"}
    assert {path.name for path in files} == {path.name for path in PACKAGE.iterdir() if path.is_file()}
    assert {"_core.abi3.so", "_core.pyi", "py.typed", "__init__.py"} <= {path.name for path in files}
    code = "import hunch; print(hunch.__file__, hunch.run('banditron', [[1, 0], [0, 1]] * 9, [0, 1] * 9).rounds)"
    site = files[0].parent.parent
    alone = {**os.environ, "PYTHONPATH": str(site), "LD_LIBRARY_PATH": ""}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=alone, capture_output=True, text=True)
    assert done.stdout.split() == [str(site / "hunch" / "__init__.py"), "18"], done.stderr


def test_version():
    """The package, the library and the project agree."""
    assert hunch.__version__ == hunch._core.version()
    project = (ROOT / "meson.build").read_text()
    assert re.search(r"version: '([^']*)'", project).group(1) == hunch.__version__


def test_functions_for_learners_have_the_defaults_of_learner():
    own, made = (inspect.signature(make).parameters for make in (hunch.Learner, hunch.learners.banditron))
    assert all(made[name] == own[name] for name in ("classes", "seed", "features"))
