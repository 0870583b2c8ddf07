#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Sets up a build folder, unless it is there. Usage: tools/setup.sh FOLDER [options of meson setup]
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/steps.sh
setup "$@"
