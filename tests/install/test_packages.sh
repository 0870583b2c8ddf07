#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# tools/packages.sh on a system without dpkg: content when everything is there, else it names what is missing.
# Usage: test_packages.sh SOURCE
set -euo pipefail
source=$1
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
for program in bash sh cat; do
    ln -s "$(command -v $program)" "$bin/$program"
done
for program in cc ninja python3 meson; do
    printf '#!/bin/sh\n' >"$bin/$program"
done
# shellcheck disable=SC2016 # the script's own $2
printf '#!/bin/sh\ncase $2 in jansson) exit 1 ;; esac\n' >"$bin/pkg-config"
chmod +x "$bin"/*

if PATH=$bin MESON='' "$bin/bash" "$source/tools/packages.sh" build 2>"$bin/said"; then
    echo "a missing library went unnoticed"
    exit 1
fi
grep -q '^ *jansson$' "$bin/said" || { cat "$bin/said"; exit 1; }
printf '#!/bin/sh\n' >"$bin/pkg-config"
PATH=$bin MESON='' "$bin/bash" "$source/tools/packages.sh" build test
