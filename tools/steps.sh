# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the scripts: finds Meson and Python, runs steps, counts what passed and failed, and says so at the end.
# A step that is a Meson or pytest run counts its tests one by one; any other counts as one.

# Debian's, whatever else is first on PATH, since the modules that tools/packages.sh installs are theirs; elsewhere those
# on PATH. MESON and PYTHON of the environment go first.
MESON=${MESON:-$(command -v /usr/bin/meson || command -v meson || echo meson)}
PYTHON=${PYTHON:-$(command -v /usr/bin/python3 || command -v python3 || echo python3)}
export MESON PYTHON

# For meson setup: Debian's folder of libraries, lib/x86_64-linux-gnu for one, where its loader and pkg-config look. Meson
# finds it by itself only where dpkg-dev is installed, and takes lib64 otherwise.
library_folder() {
    local triplet
    [ -f /etc/debian_version ] || return 0
    triplet=$("${CC:-cc}" -print-multiarch 2>/dev/null) || return 0
    [ -z "$triplet" ] || echo "--libdir=lib/$triplet"
}

setup() { # folder, options of meson setup: unless the folder is there already
    local folder=$1
    shift
    [ ! -f "$folder/build.ninja" ] || return 0
    # shellcheck disable=SC2046 # one option or none
    "$MESON" setup "$folder" $(library_folder) "$@" >"$folder.log" 2>&1 || { cat "$folder.log"; return 1; }
    rm -f "$folder.log"
}

# The tally: lines "count PASSED FAILED SKIPPED", "skip N REASON", "failed TITLE" and "time SECONDS PROCESSOR TITLE". A script that another one
# runs hands its own on when it finishes; steps that run beside each other write to the same.
begin() {
    outer_tally=${HUNCH_TALLY:-}
    HUNCH_TALLY=$(mktemp)
    export HUNCH_TALLY
    export PYTEST_ADDOPTS=${PYTEST_ADDOPTS:--rs} # with the reasons of skips
}

tally() { # a line
    echo "$*" >>"$HUNCH_TALLY"
}

# Sets processor to the seconds of processor time that the programs run from here have taken so far.
processor_look() {
    local file=$HUNCH_TALLY.$BASHPID
    builtin times >"$file" # not in a subshell: that one has run nothing
    processor=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); n += 60 * t[1] + t[2] } } END { printf "%d", n }' "$file")
    rm -f "$file"
}

# A command's output, which is shown, says how many cases there were; a command without such a line is one case.
step() { # title, command ...
    local title=$1 started=$SECONDS output status before processor
    shift
    output=$(mktemp)
    processor_look
    before=$processor
    echo "== $title"
    "$@" > >(tee "$output") 2>&1
    status=$?
    wait "$!" 2>/dev/null
    "$PYTHON" tools/cases.py - "$status" <"$output" >>"$HUNCH_TALLY"
    rm -f "$output"
    [ "$status" -ne 77 ] || status=0 # skipped
    [ "$status" -eq 0 ] || { tally "failed $title"; echo "FAILED: $title"; }
    processor_look
    tally "time $((SECONDS - started)) $((processor - before)) $title"
    echo "   ($((SECONDS - started)) s: $title)"
    return "$status"
}

# Most tests wait for servers and other programs, so more of them run at once than there are processors.
meson_tests() { # build folder, further arguments of meson test
    local folder=$1 started=$SECONDS counts before processor
    shift
    processor_look
    before=$processor
    echo "== tests of $folder $*"
    "$MESON" test -C "$folder" --no-rebuild --print-errorlogs --num-processes "${HUNCH_TESTS_AT_ONCE:-6}" "$@" | grep -vE '^(ninja:|$)' || true
    counts=$("$PYTHON" tools/cases.py "$folder/meson-logs/testlog.json")
    tally "$counts"
    [[ "$counts" =~ ^count\ [0-9]+\ 0\  ]] || tally "failed tests of $folder $*"
    processor_look
    tally "time $((SECONDS - started)) $((processor - before)) tests of $folder $*"
    echo "   ($((SECONDS - started)) s)"
}

step_times() {
    printf '\nEach step, in seconds and in seconds of processor time:\n'
    sed -n 's/^time //p' "$HUNCH_TALLY" | sort -rn | awk '{ n = $1; cpu = $2; sub(/^[0-9]+ [0-9]+ /, ""); printf "%6d %6d  %s\n", n, cpu, $0 }'
}

finish() {
    awk '$1 == "skip" { n = $2; sub(/^skip [0-9]+ /, ""); skips[$0] += n }
         $1 == "failed" { sub(/^failed /, ""); failed = failed "   " $0 "\n" }
         $1 == "count" { good += $2; bad += $3; left += $4 }
         END { if (left) print "\nSkipped (and what enables it):"; fflush()
               for (reason in skips) printf "%6d  %s\n", skips[reason], reason | "sort -rn"
               close("sort -rn")
               if (failed) printf "\nFailed:\n%s", failed
               printf "\n%d passed, %d failed, %d skipped\n", good, bad, left
               exit !good || bad > 0 || failed != "" }' "$HUNCH_TALLY"
    local status=$?
    [ -z "$outer_tally" ] || cat "$HUNCH_TALLY" >>"$outer_tally"
    rm -f "$HUNCH_TALLY"
    return "$status"
}
