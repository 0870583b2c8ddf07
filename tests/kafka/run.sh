#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs files of tests, one after another against one cluster, or says why not (exit code 77: skipped). Topics have a prefix of
# their own in each test. Usage: run.sh FOLDER-OF-THE-JARS FILE.py ... [pytest arguments]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
libs=$1
shift
files=()
while [[ ${1-} == *.py ]]; do
    files+=("$here/$1")
    shift
done
skip() {
    echo "SKIPPED: $1"
    exit 77
}
command -v java >/dev/null || skip "no java"
mkdir -p "$(dirname "$libs")"
exec 8>"$(dirname "$libs")/lock" # tests that run at once fetch once
flock 8
if [ ! -e "$libs/complete" ]; then
    command -v mvn >/dev/null || skip "no jars of Kafka in $libs, and no maven to fetch them"
    rm -rf "$libs"
    echo "fetching the jars of Kafka"
    LIBS=$libs timeout 300 "$here/cluster.sh" "$(dirname "$libs")" fetch || skip "the jars of Kafka could not be fetched"
    touch "$libs/complete"
fi
exec 8>&-
export KAFKA_LIBS=$libs PYTHONDONTWRITEBYTECODE=1

# Partitions need network namespaces: of root's, or of one who may make user namespaces.
apart=()
if [[ "${files[*]}" == *test_chaos.py* ]]; then
    trial='ip link add name switch type bridge && ip link add name one type veth peer name two && unshare -n true'
    for how in -n -Urn; do
        [ ${#apart[@]} -gt 0 ] || ! unshare "$how" sh -c "$trial" 2>/dev/null || apart=(unshare "$how")
    done
    [ ${#apart[@]} -gt 0 ] || echo "NO PARTITIONS: network namespaces can't be made here (unshare, ip link)"
    export HUNCH_PARTITIONS=${#apart[@]}
fi
exec "${apart[@]}" /usr/bin/python3 -m pytest -q -rs -p no:cacheprovider "${files[@]}" "$@"
