#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A file as a C array: embed.sh NAME FILE
printf 'static const unsigned char %s[] = {\n' "$1"
od -An -v -tu1 "$2" | sed 's/  */,/g; s/^,//; s/$/,/'
printf '};\n'
