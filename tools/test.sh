#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every test: the float build (all of it), the double build (the library against the authors' counts), the two against
# each other, and the Python package.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tools/steps.sh

build() { # folder, options of meson setup
    local folder=$1
    shift
    if [ ! -f "$folder/build.ninja" ]; then
        "$MESON" setup "$folder" "$@" >"$folder.log" 2>&1 || { cat "$folder.log"; return 1; }
        rm -f "$folder.log"
    fi
    ninja -C "$folder" --quiet
}

step "build (float)" build build-test -Dpython=true
step "build (double)" build build-double -Dreal=double -Dtool=false
[ "$failed" -eq 0 ] || { finish; exit 1; }
meson_tests build-test
meson_tests build-double
step "float and double builds err alike" "$PYTHON" tools/compare_precision.py \
    build-test/tests/golden/error_rates build-double/tests/golden/error_rates
finish
