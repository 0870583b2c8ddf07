#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What one bit can do, in under a minute: a stream whose rule changes half-way. Usage: tools/demo.sh HUNCH
set -euo pipefail
hunch=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat <<'TEXT'

  hunch: learning when all one is told is "right" or "wrong"

  A stream of 24,000 examples, 400 features, 9 labels, made on the spot. Each
  learner sees an example, shows one label, and hears one bit. Half-way the
  world changes: four of the nine labels change places. panel is what hunch
  takes unless told otherwise; squarecb and banditron are from papers.

TEXT
"$hunch" synth synsep --rows 24000 -o "$folder/still.svm"
awk '!/^[0-9]/ { print; next } { if (++n > 12000 && $1 <= 4) $1 = $1 % 4 + 1; print }' "$folder/still.svm" >"$folder/stream.svm"
"$hunch" run -q "$folder/stream.svm" --classes 9 -l panel -l squarecb -l banditron --plot-recent
cat <<TEXT

  The curves are the errors of the last rounds: down as the bits come in, up at
  12,000 when what was learned is wrong, and down again.

  On your own data (CSV, svmlight, VW text, JSON lines):
    $hunch run data.csv --save model.hunch
    $hunch predict model.hunch data.csv
    $hunch run data.csv --report report.html
TEXT
