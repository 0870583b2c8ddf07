#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Format, static analysis and the house rules that a machine can see.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tools/steps.sh
bad=0

complain() {
    echo "lint: $*"
    bad=1
}

mapfile -t sources < <(git ls-files '*.c' '*.h')
clang-format --dry-run -Werror "${sources[@]}" 2>&1 | grep -E 'error' | head -20 && complain "clang-format: run make format"

for file in $(git ls-files '*.c' '*.h' '*.py' '*.sh' '*meson.build'); do
    # without a pipe: grep -q may leave before head has written, and pipefail takes that for a failure
    [[ "$(head -n 3 "$file")" == *'SPDX-License-Identifier: BSD-3-Clause'* ]] || complain "$file: no SPDX line"
done
# Functions of 60 lines and files of 650 are beyond what reads well (the aim is 50 and 500).
for file in "${sources[@]}"; do
    [ "$(wc -l <"$file")" -le 650 ] || complain "$file: longer than 650 lines"
    awk -v f="$file" '/^[A-Za-z_].*\)[ \t]*$/ {start = NR} /^\{/ {b = NR}
        /^\}/ { if (b && NR - b > 60) { printf "%s:%d: a function of %d lines\n", f, b, NR - b; bad = 1 } b = 0 }
        END { exit bad }' "$file" || bad=1
done
# Other modules include a module's interface, never its private headers.
grep -rnE '#include "(\.\./)*(lib/)?(numeric|features|state|covariance|parts|algo|ensemble|api)/' stream synth lab serve cli examples python --include='*.[ch]' &&
    complain "a private header of lib/ is used outside"
"$PYTHON" tools/layers.py || bad=1
"$PYTHON" tools/english.py || bad=1
mapfile -t scripts < <(git ls-files '*.sh')
shellcheck -x .ci/run "${scripts[@]}" || complain "shellcheck"

if [ ! -f build-lint/build.ninja ]; then
    CC=clang "$MESON" setup build-lint --buildtype=plain >/dev/null || complain "no build for clang-tidy"
fi
if [ -f build-lint/compile_commands.json ]; then
    ninja -C build-lint --quiet 2>&1 | grep -E 'warning:' && complain "clang warns"
    # The path-sensitive analyser looks at the library; the other rooms get the quick checks.
    {
        git ls-files 'base/*.c' 'lib/*.c' | grep -vE '_kernels\.c$' | xargs -P 2 -n 8 clang-tidy -p build-lint --quiet
        git ls-files 'stream/*.c' 'synth/*.c' 'lab/*.c' 'serve/*.c' 'cli/*.c' |
            xargs -P 2 -n 8 clang-tidy -p build-lint --quiet --checks='-clang-analyzer-*'
    } 2>/dev/null | grep -E 'warning:|error:' | sort -u | head -40 | tee build-lint/tidy.txt
    [ ! -s build-lint/tidy.txt ] || complain "clang-tidy"
fi
exit $bad
