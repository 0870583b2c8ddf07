#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Writes everything in the repository that programs of the repository write, from a fresh build: what a change of a learner changes.
# Look at the difference before committing it. Not here are results of hours: `make reproduce`, `make bench`, experiments/*.py.
# Usage: tools/regenerate.sh
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/steps.sh
setup build-test -Dpython=true
ninja -C build-test --quiet
hunch=build-test/cli/hunch
tutorials=()
for page in docs/tutorials/*.md; do # many-nodes.md needs brokers, and nothing in it is generated
    [[ $page == *many-nodes* ]] || tutorials+=("$page")
done

echo "-- man pages, tables of settings, tables of the README"
"$PYTHON" tools/man_options.py $hunch --write
"$PYTHON" tools/settings_tables.py $hunch --write
"$PYTHON" tools/readme_tables.py $hunch --write
"$PYTHON" tools/messages.py --write
echo "-- seeds of the fuzzer of model files"
PYTHONPATH=build-test/python "$PYTHON" tests/fuzz/model_seeds.py
echo "-- experiments/quick.json"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
$hunch reproduce --quick --no-cache --out "$work" --write-quick experiments/quick.json >"$work/said" || { tail "$work/said"; exit 1; }
echo "-- tutorials"
"$PYTHON" tests/docs/test_tutorials.py $hunch build-test/python "${tutorials[@]}" --write
echo "-- traces of the NumPy references (minutes)"
"$PYTHON" tests/trace/make_traces.py >/dev/null
"$PYTHON" tests/example/trace.py tests/example/data/epsilon-greedy.trace
git --no-pager diff --stat
