# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the scripts: finds Meson and Python, runs steps, counts what passed and failed, and says so at the end.
# A step that is a Meson or pytest run counts its tests one by one; any other counts as one.

# Debian's, whatever else is first on PATH, since the modules that tools/packages.sh installs are theirs; elsewhere those
# on PATH. MESON and PYTHON of the environment go first.
MESON=${MESON:-$(command -v /usr/bin/meson || command -v meson || echo meson)}
PYTHON=${PYTHON:-$(command -v /usr/bin/python3 || command -v python3 || echo python3)}
export MESON PYTHON

passed=0
failed=0
skipped=0

count() { # passed failed skipped
    passed=$((passed + $1))
    failed=$((failed + $2))
    skipped=$((skipped + $3))
}

step() { # title, command ...
    local title=$1 started=$SECONDS
    shift
    echo "== $title"
    if "$@"; then
        count 1 0 0
    else
        count 0 1 0
        echo "FAILED: $title"
    fi
    echo "   ($((SECONDS - started)) s)"
}

meson_tests() { # build folder, further arguments of meson test
    local folder=$1 started=$SECONDS
    shift
    echo "== tests of $folder $*"
    "$MESON" test -C "$folder" --no-rebuild --print-errorlogs "$@" | grep -vE '^(ninja:|$)' || true
    # shellcheck disable=SC2046 # three numbers
    count $("$PYTHON" - "$folder/meson-logs/testlog.json" <<'PY'
import json, sys
results = [json.loads(line)["result"] for line in open(sys.argv[1])]
skipped = results.count("SKIP")
good = results.count("OK") + results.count("EXPECTEDFAIL")
print(good, len(results) - good - skipped, skipped)
PY
)
    echo "   ($((SECONDS - started)) s)"
}

finish() {
    echo
    if [ "$skipped" -gt 0 ]; then
        echo "$passed passed, $failed failed, $skipped skipped"
    else
        echo "$passed passed, $failed failed"
    fi
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
