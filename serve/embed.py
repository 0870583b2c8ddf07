#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Files as C: embed.py OUTPUT URL-PATH TYPE FILE [URL-PATH TYPE FILE ...]"""
import hashlib
import sys


def main():
    output, rest = sys.argv[1], sys.argv[2:]
    lines = ['/* Made by embed.py. */', '#include "http/server.h"', '']
    table = []
    for i in range(0, len(rest), 3):
        path, kind, name = rest[i:i + 3]
        with open(name, 'rb') as f:
            data = f.read()
        numbers = ','.join(str(b) for b in data)
        lines.append('static const unsigned char bytes_%d[] = {%s};' % (i // 3, numbers))
        etag = hashlib.sha256(data).hexdigest()[:16]
        table.append('    {"%s", "%s", "\\"%s\\"", bytes_%d, %d},' % (path, kind, etag, i // 3, len(data)))
    lines += ['', 'const struct asset assets[] = {'] + table + ['};']
    lines += ['const size_t assets_n = sizeof assets / sizeof *assets;', '']
    with open(output, 'w') as f:
        f.write('\n'.join(lines))


main()
