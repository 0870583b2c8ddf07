#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The library's binary interface against that of an earlier commit (the last tag unless told otherwise): nothing may be
# removed or changed while SOVERSION stays. New functions are fine. Exit code 77: there is nothing to compare with.
# Usage: tools/abi_check.sh [COMMIT]
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/steps.sh
before=${1:-$(git describe --tags --abbrev=0 2>/dev/null || true)}
[ -n "$before" ] || { echo "no tag to compare with"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
build() { # sources, folder: the library alone, with debug information
    "$MESON" setup "$2" "$1" -Dtool=false -Dtests=false -Dc_args=-g >/dev/null
    ninja -C "$2" --quiet
}
mkdir "$folder/source"
git archive "$before" | tar -C "$folder/source" -x
build "$folder/source" "$folder/before"
build . "$folder/now"
if [ "$(readlink "$folder/before/lib/libhunch.so")" != "$(readlink "$folder/now/lib/libhunch.so")" ]; then
    echo "SOVERSION differs from that of $before: programs are built anew"
    exit 0
fi
abidiff --no-added-syms --headers-dir1 "$folder/source/include" --headers-dir2 include \
    "$folder/before/lib/libhunch.so" "$folder/now/lib/libhunch.so"
echo "nothing removed or changed since $before"
