#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `make bench`: speed of every learner on generated and real data, beside Vowpal Wabbit and beside the floor; writes
# bench/RESULTS.md; the measurements behind it stay in build/bench-data. QUICK=1: a look of a minute, which writes into the build folder only.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/steps.sh

build=build
[ -f "$build/build.ninja" ] || "$MESON" setup "$build" -Dtests=false >/dev/null
ninja -C "$build" --quiet
ninja -C "$build" --quiet bench/floor bench/bench_read

# Vowpal Wabbit in an environment of its own; without a network there is nothing to compare with.
venv=$build/bench-venv
if [ ! -x "$venv/bin/python" ] || ! "$venv/bin/python" -c 'import vowpalwabbit' 2>/dev/null; then
    if ! { "$PYTHON" -m venv "$venv" && "$venv/bin/pip" -q install 'vowpalwabbit>=9.10,<10'; } \
        >"$build/bench-venv.log" 2>&1; then
        echo "Vowpal Wabbit could not be installed; its columns will be empty"
        rm -rf "$venv"
    fi
fi

options=(--hunch "$build/cli/hunch" --floor "$build/bench/floor" --work "$build/bench-data")
[ ! -x "$venv/bin/python" ] || options+=(--vw "$venv/bin/python")
"$PYTHON" bench/reading.py "$build/bench/bench_read"
if [ "${QUICK:-0}" != 0 ]; then
    exec "$PYTHON" bench/speed.py "${options[@]}" --quick --output "$build/bench-data"
fi
exec "$PYTHON" bench/speed.py "${options[@]}" --output bench
