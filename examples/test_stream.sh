#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The example learns: few errors on separable data. Usage: test_stream.sh STREAM HUNCH
set -eu
"$2" synth synsep --rows 5000 | "$1" | tee /dev/stderr | awk '$1 == 5000 && $3 < 10 { good = 1 } END { exit !good }'
