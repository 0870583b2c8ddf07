#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the share of branches that were taken, by file, and every line with one that was not, with the reason.

Usage: coverage.py BUILD      a folder built with -Db_coverage=true, after its tests have run (tools/coverage.sh)
"""
import collections
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ('base/', 'serve/event/', 'serve/storage/')
LEAST = 95
REASONS = [  # a pattern of the line, why no test takes one of its branches
    (r'\bassert\(|abort\(', 'holds always'),
    (r'snprintf\(.*(>=|<) |too long|asprintf\(', 'a path longer than 4,096 bytes, or no memory for it'),
    (r'size_mul|size_add|UINT32_MAX|SIZE_MAX|INT64_MAX|UINT64_MAX', 'a size beyond the limits that are checked before'),
    (r'sysconf|cpuid|__builtin_cpu|getenv', 'another machine'),
    (r'pthread_|thrd_', 'the system refuses a thread or a lock'),
    (r'EINTR', 'a signal during a call'),
    (r'"damaged"|damaged\(|checksum|SQLITE_CORRUPT', 'damage of a kind that tests/serve/test_damage.py meets by chance only'),
    (r'no_memory|!\w+(->\w+)*\)$|malloc|calloc|realloc|strdup|_new\(|text_|\.failed|ENOMEM|out_of_memory',
     'no memory: tests/sim/faults.c fails every allocation of one life of a model, not of all'),
    (r'sqlite3_|event_store_|SQLITE_|\bask\(|\bstep\(|prepare', 'SQLite fails: the same'),
]


def counts(build):
    """(file, line) -> branches taken, by the branch's number."""
    files = [f for f in build.rglob('*.gcda') if f.parent.name.startswith(('libbase', 'libserve'))]
    compiler = subprocess.run(['cc', '-dumpversion'], capture_output=True, text=True, check=True).stdout.strip().split('.')[0]
    gcov = 'gcov-' + compiler if subprocess.run(['which', 'gcov-' + compiler], capture_output=True).returncode == 0 else 'gcov'
    taken = collections.defaultdict(collections.Counter)
    for file in files:
        out = subprocess.run([gcov, '--json-format', '--branch-probabilities', '--stdout', str(file)], cwd=build, capture_output=True, check=True)
        for text in out.stdout.splitlines():
            report = json.loads(text)
            for source in report['files']:
                name = os.path.relpath(os.path.join(report['current_working_directory'], source['file']), ROOT)
                if name.startswith(FOLDERS):
                    for line in source['lines']:
                        for i, branch in enumerate(line['branches']):
                            taken[name, line['line_number']][i] += branch['count']
    return taken


def reason(line):
    return next((why for pattern, why in REASONS if re.search(pattern, line)), None)


def main():
    build = Path(sys.argv[1]).resolve()
    taken = counts(build)
    rows = collections.defaultdict(lambda: [0, 0])
    for (name, _), branches in taken.items():
        for key in (name, 'all'):
            rows[key][0] += sum(n > 0 for n in branches.values())
            rows[key][1] += len(branches)
    unexplained = 0
    for (name, number), branches in sorted(taken.items()):
        missing = sum(n == 0 for n in branches.values())
        if missing:
            line = (ROOT / name).read_text().splitlines()[number - 1].strip()
            why = reason(line)
            unexplained += missing if why is None else 0
            print('%s:%d: %d of %d not taken: %s: %s' % (name, number, missing, len(branches), why or 'NOT EXPLAINED', line[:80]))
    for name, (n, of) in sorted(rows.items()):
        print('%6.1f %%  %4d of %4d  %s' % (100 * n / of, n, of, name))
    n, of = rows['all']
    print('%.1f %% of %d branches taken (wanted: %d), %d not explained' % (100 * n / of, of, LEAST, unexplained))
    return 100 * n < LEAST * of


if __name__ == '__main__':
    sys.exit(main())
