#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The main job on data made on the spot: every learner there is, side by side. Usage: tools/demo.sh HUNCH
set -euo pipefail
hunch=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

echo "Generating 20,000 examples with 400 features and 9 classes, 5 % of the labels spoilt (hunch synth synnonsep) ..."
"$hunch" synth synnonsep --rows 20000 -o "$folder/demo.svm"
echo "Each learner sees an example, shows one label, and is told only: right or wrong."
echo
mapfile -t names < <("$hunch" learners --names)
learners=()
for name in "${names[@]}"; do
    learners+=(--learner "$name")
done
"$hunch" run "$folder/demo.svm" "${learners[@]}" --plot
echo
echo "Try it on your own data:  $hunch run data.svm   (or data.csv; hunch run --help tells more)"
