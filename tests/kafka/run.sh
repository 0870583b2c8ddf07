#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs one file of tests against a cluster of its own, or says why not (exit code 77: skipped).
# Usage: run.sh FOLDER-OF-THE-JARS FILE.py [pytest arguments]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
libs=$1 file=$2
shift 2
skip() {
    echo "SKIPPED: $1"
    exit 77
}
command -v java >/dev/null || skip "no java"
if [ ! -e "$libs/complete" ]; then
    command -v mvn >/dev/null || skip "no jars of Kafka in $libs, and no maven to fetch them"
    rm -rf "$libs"
    echo "fetching the jars of Kafka"
    LIBS=$libs timeout 300 "$here/cluster.sh" "$(dirname "$libs")" fetch || skip "the jars of Kafka could not be fetched"
    touch "$libs/complete"
fi
export KAFKA_LIBS=$libs PYTHONDONTWRITEBYTECODE=1
exec /usr/bin/python3 -m pytest -q -x -p no:cacheprovider "$here/$file" "$@"
