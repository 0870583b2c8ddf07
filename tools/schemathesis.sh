#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Holds a server against its own openapi.json with Schemathesis (from PyPI, in a venv): requests made from the schema, valid
# and not, single and in sequences.
# Usage: tools/schemathesis.sh HUNCH [examples per operation, default 20]
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
hunch=$1 venv=build-venv examples=${2:-20}
tools/venv.sh || exit
folder=$(mktemp -d)
trap 'kill "$server" 2>/dev/null; wait "$server" 2>/dev/null; rm -rf "$folder"' EXIT
echo "admin schemathesis-token" >"$folder/tokens"
"$hunch" serve --dir "$folder/state" --listen 127.0.0.1:0 --tokens "$folder/tokens" --max-models 10000 2>"$folder/log" &
server=$!
for _ in $(seq 100); do
    port=$(sed -n 's/.*"listening".*"port":\([0-9]*\).*/\1/p' "$folder/log")
    [ -n "$port" ] && break
    sleep 0.1
done
curl -s -H "Authorization: Bearer schemathesis-token" -X PUT "http://127.0.0.1:$port/v1/models/m" \
    -d '{"labels":["a","b","c"],"learner":"banditron"}' >/dev/null
"$venv/bin/st" --config-file tests/serve/schemathesis.toml run "http://127.0.0.1:$port/openapi.json" \
    --url "http://127.0.0.1:$port" -H "Authorization: Bearer schemathesis-token" --checks all --max-examples "$examples" \
    --workers 1 --request-timeout 60 --no-color
code=$?
kill -0 "$server" || { tail -n 5 "$folder/log"; code=1; }
exit $code
