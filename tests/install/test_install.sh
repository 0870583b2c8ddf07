#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What `make install` puts in place is enough to build and run a program against; the header compiles as C99 and C++11;
# only hunch_* leaves the library. Usage: test_install.sh SOURCE BUILD
set -euo pipefail
source=$1 build=$2
meson=$(command -v /usr/bin/meson || command -v meson)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

DESTDIR=$stage "$meson" install -C "$build" --no-rebuild --quiet
pc=$(find "$stage" -name hunch.pc)
library=$(dirname "$(dirname "$pc")")
export PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$stage
test "$(pkg-config --modversion hunch)" = "$(sed -n "s/^ *version: '\(.*\)',$/\1/p" "$source/meson.build")"

# Programs need nothing but hunch itself.
if grep '^Requires' "$pc"; then exit 1; fi
read -ra flags < <(pkg-config --cflags --libs hunch)
cc -std=c99 -Wall -Wextra -Werror -pedantic "$source/examples/stream.c" -o "$stage/stream" "${flags[@]}"
printf '1 3:1 5:0.5\n2 4:1\n1 3:1\n' | LD_LIBRARY_PATH=$library "$stage/stream" >"$stage/said"
grep -q '^3 rounds' "$stage/said"
if command -v c++ >/dev/null; then
    echo '#include <hunch.h>
int main() { return hunch_version()[0] == 0; }' >"$stage/t.cc"
    c++ -std=c++11 -Wall -Wextra -Werror -pedantic "$stage/t.cc" -o "$stage/t" "${flags[@]}"
    LD_LIBRARY_PATH=$library "$stage/t"
else
    echo "SKIPPED: the header as C++11 (apt-get install g++)"
fi

stray=$(nm -D --defined-only "$library/libhunch.so" | awk '{print $3}' | grep -v '^hunch_' || true)
test -z "$stray" || { echo "symbols that should not leave the library: $stray"; exit 1; }
test -f "$library/libhunch.a"
if [ -x "$build/cli/hunch" ]; then
    for file in bin/hunch libexec/hunch/hunch-net share/man/man1/hunch.1 share/man/man1/hunch-run.1 share/bash-completion/completions/hunch \
        share/zsh/site-functions/_hunch share/fish/vendor_completions.d/hunch.fish; do
        [ -n "$(find "$stage" -path "*/$file*")" ] || { echo "$file was not installed"; exit 1; }
    done
    # The service starts the hunch that was installed with it.
    program=$(find "$stage" -path '*/bin/hunch')
    grep -q "^ExecStart=${program#"$stage"} " "$(find "$stage" -name hunch.service)"
    # It finds the part that has the commands of the network, and says so where it does not.
    "$program" serve --help >"$stage/said"
    grep -q -- --listen "$stage/said"
    cp "$program" "$stage/alone"
    if "$stage/alone" serve --help >"$stage/said" 2>&1; then
        echo "SKIPPED: whether the absence of hunch-net is reported, since an installed hunch has one"
    else
        grep -q "^hunch: 'hunch serve' is part of the program hunch-net" "$stage/said"
    fi
fi
