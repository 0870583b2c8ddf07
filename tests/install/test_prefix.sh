#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `make install PREFIX=...` means that prefix, also where the folder was set up for another one before.
# Usage: test_prefix.sh SOURCE
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
meson=$(command -v /usr/bin/meson || command -v meson)
# The library alone is quick to build.
"$meson" setup "$folder/build" "$1" --prefix=/nowhere -Dtool=false -Dtests=false >/dev/null
make -s -C "$1" install BUILD="$folder/build" PREFIX="$folder/there" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
grep -q "^prefix=$folder/there\$" "$(find "$folder/there" -name hunch.pc)"
test -f "$folder/there/include/hunch.h"
