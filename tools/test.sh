#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every test: the float build (all of it), the double build (the library against the authors' counts), the two against
# each other, and the Python package. Usage: tools/test.sh [--build]      --build: nothing is run
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tools/steps.sh
begin

build() { # folder, options of meson setup
    setup "$@" && ninja -C "$1" --quiet
}

step "build (float)" build build-test -Dpython=true || { finish; exit 1; }
step "build (double)" build build-double -Dreal=double -Dtool=false || { finish; exit 1; }
[ "${1:-}" != --build ] || { finish >/dev/null; exit; }
meson_tests build-test
meson_tests build-double
step "float and double builds err alike" "$PYTHON" tools/compare_precision.py \
    build-test/tests/golden/error_rates build-double/tests/golden/error_rates
finish
