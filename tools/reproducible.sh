#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds twice, in folders of different names and at different times of day, and compares byte by byte what is installed.
# Usage: tools/reproducible.sh [further meson options]
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/steps.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export CCACHE_DISABLE=1
for copy in one another-and-longer-one; do
    mkdir "$folder/$copy"
    git ls-files -z | xargs -0 cp --parents -t "$folder/$copy"
    (cd "$folder/$copy" && "$MESON" setup b -Dtests=false "$@" >/dev/null && ninja -C b --quiet &&
        DESTDIR=$folder/$copy/out "$MESON" install -C b --no-rebuild --quiet)
done
diff -r "$folder/one/out" "$folder/another-and-longer-one/out"
echo "the same bytes twice: $(find "$folder/one/out" -type f | wc -l) files"
