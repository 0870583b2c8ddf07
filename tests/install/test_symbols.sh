#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# debian/libhunch0.symbols lists what leaves the library: a function that is not there breaks programs, a new one is added
# with the version in which it came. Usage: test_symbols.sh SOURCE LIBRARY
set -euo pipefail
listed=$(sed -n 's/^ \(hunch_[a-z_]*\)@.*/\1/p' "$1/debian/libhunch0.symbols" | sort)
there=$(nm -D --defined-only "$2" | awk '{ print $3 }' | sort)
if [ "$listed" != "$there" ]; then
    diff <(echo "$listed") <(echo "$there") | grep '^[<>]'
    echo "(< only in debian/libhunch0.symbols, > only in the library)"
    exit 1
fi
