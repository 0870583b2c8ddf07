#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A demo of a minute: a generated stream whose labels change half-way. Usage: tools/demo.sh HUNCH
set -euo pipefail
hunch=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat <<'TEXT'

  hunch: an online classifier that learns from right/wrong feedback only

  The data are generated: 24,000 examples with 400 features and 9 labels. Each
  learner predicts a label and learns only whether it was right. After
  12,000 examples four of the nine labels are swapped (concept drift).
  panel is the default learner; linucb and squarecb (Vowpal Wabbit has it too)
  are well-known contextual bandits.

TEXT
"$hunch" synth synsep --rows 24000 -o "$folder/still.svm"
awk '!/^[0-9]/ { print; next } { if (++n > 12000 && $1 <= 4) $1 = $1 % 4 + 1; print }' "$folder/still.svm" >"$folder/stream.svm"
"$hunch" run -q "$folder/stream.svm" --classes 9 -l panel -l linucb -l squarecb --plot-recent
cat <<TEXT

  The curves show the error over the last 1,200 rounds. It drops with feedback,
  jumps at round 12,000 when the labels are swapped, and drops again.

  Next, your own data (CSV, JSON lines, svmlight or Vowpal Wabbit files):
    $hunch run data.csv --save model.hunch
    $hunch predict model.hunch data.csv
    $hunch run data.csv --report report.html
  and the server (docs/how-to/serve.md):
    $hunch serve --dir state/ --listen 127.0.0.1:8811
TEXT
