#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A header with the checksum of a file, which is the library.
set -eu
sum=$(sha256sum "$1" | cut -c1-32)
echo "/* made by fingerprint.sh */"
echo "#define FINGERPRINT \"$sum\""
