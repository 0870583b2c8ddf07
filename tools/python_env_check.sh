#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The Python package as its users get it: the newest NumPy, SciPy, scikit-learn, pandas, polars, Arrow, River, Dask and
# OBP in a virtual environment; source package and wheel built in isolation and looked into; the tests, examples and
# notebooks run on the installed wheel; mypy --strict and pyright; pip install -e. Exit code 77 where no
# package index can be reached. HUNCH_TOOL names the hunch command for the tests that compare with it.
# Usage: tools/python_env_check.sh
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
unset MESON # a wheel is built with the Meson that its build asks for: Debian's knows no stable ABI
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -n "${HUNCH_TOOL:-}" ] || [ ! -x build-test/cli/hunch ] || export HUNCH_TOOL=$root/build-test/cli/hunch

tools/venv.sh over "$work/env" || exit
bin=$work/env/bin

# A source package holds what is committed: commit what lies here, in a copy.
mkdir "$work/source"
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
    [ ! -f "$file" ] || cp --parents -P "$file" "$work/source/"
done
(
    cd "$work/source"
    git init -q .
    git add -A
    git -c user.name=check -c user.email=check@invalid commit -q -m check
    "$bin/python" -m build --outdir "$work/dist" . >"$work/build.log" 2>&1 || { tail -n 40 "$work/build.log"; exit 1; }
)
ls "$work/dist"

"$bin/python" - "$work"/dist/*.whl "$work"/dist/*.tar.gz <<'PY'
import sys, tarfile, zipfile

wheel, source = sys.argv[1:]
names = zipfile.ZipFile(wheel).namelist()
for wanted in ("hunch/__init__.py", "hunch/_core.abi3.so", "hunch/_core.pyi", "hunch/py.typed"):
    assert wanted in names, f"the wheel lacks {wanted}"
assert "/hunch_learn-" in wheel and "-abi3-" in wheel, f"{wheel} is not hunch-learn for the stable ABI"
assert any(name.endswith("LICENSE") for name in names), "the wheel lacks the licence"
strange = [name for name in names if not name.startswith("hunch/") and ".dist-info/" not in name]
assert not strange, f"the wheel holds {strange}"
names = tarfile.open(source).getnames()
for wanted in ("LICENSE", "include/hunch.h", "pyproject.toml", "python/core/core.h", "python/hunch/py.typed"):
    assert any(name.endswith("/" + wanted) for name in names), f"the source package lacks {wanted}"
print(f"contents are complete: {len(names)} files in the source package")
PY

"$bin/python" -m pip install -q --disable-pip-version-check "$work"/dist/*.whl
cd "$work"
"$bin/python" - <<'PY'
import numpy, hunch
print("hunch", hunch.__version__, "with numpy", numpy.__version__, "at", hunch.__file__)
learner = hunch.Learner(classes=["a", "b", "c"])
choice = learner.predict({"age": 0.3, "city=Rome": 1})
learner.feedback(choice, right=False)
PY
extension=$("$bin/python" -c 'import hunch._core; print(hunch._core.__file__)')
if ldd "$extension" | grep -E 'hunch|xxhash|jansson|not found'; then
    echo "the extension needs libraries that a wheel does not bring"
    exit 1
fi
"$bin/python" -m pytest -q -rs --basetemp "$work/tmp" "$root/python/tests"
"$bin/python" -m mypy --strict --config-file "$root/pyproject.toml" --cache-dir "$work/mypy" "$root/python/hunch"

# A user's program, seen by both checkers against the installed package.
mkdir "$work/typed"
cp "$root/python/tests/typed_program.py" "$work/typed/"
(
    cd "$work/typed"
    "$bin/python" -m mypy --strict --cache-dir "$work/mypy-user" typed_program.py
    printf '{"typeCheckingMode": "strict", "include": ["typed_program.py"]}\n' >pyrightconfig.json
    "$bin/python" -m pyright --pythonpath "$bin/python"
)

# pip install -e: the Python files count as they are, the extension is there, and nothing is built at import.
"$root/build-venv/bin/python" -m venv "$work/editable"
"$work/editable/bin/python" -m pip install -q --disable-pip-version-check -e "$work/source"
echo 'CHANGED = 7' >>"$work/source/python/hunch/__init__.py"
"$work/editable/bin/python" -c 'import hunch; assert hunch.CHANGED == 7; hunch.Learner().predict([1])'
echo "pip install -e works"
