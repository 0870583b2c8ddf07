#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Branches of base/, serve/event and serve/storage that tests take, by GCC's counts: builds build-coverage/, runs the tests of these
# folders and the simulations, prints each file's share, and for every line with a branch that none took the reason. Takes a quarter
# of an hour. Usage: tools/coverage.sh [--report]      --report: what was counted before
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/steps.sh
folder=build-coverage

count() {
    setup "$folder" -Db_coverage=true --buildtype=debug
    ninja -C "$folder" --quiet
    find "$folder" -name '*.gcda' -delete
    # A server that is killed has counted nothing: with HUNCH_COVERAGE, tests stop theirs where that is no difference.
    HUNCH_COVERAGE=1 HUNCH_BIT_FLIPS=20 HUNCH_TRUNCATIONS=8 HUNCH_CHECKPOINTS=100 \
        "$MESON" test -C "$folder" --no-rebuild --timeout-multiplier 4 --suite unit --suite fuzz --suite serve --quiet || true
    for name in crash cluster faults; do
        "$folder/tests/sim/sim_$name" --seconds "${HUNCH_SIM_SECONDS:-60}"
    done
}

[ "${1:-}" = --report ] || count
exec "$PYTHON" tools/coverage.py "$folder"
