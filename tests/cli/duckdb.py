# SPDX-License-Identifier: BSD-3-Clause
"""A Parquet file and a query through DuckDB's pipe give what the CSV file gives. Skipped (77) without duckdb, which is looked
for in PATH and under HUNCH_DUCKDB."""
import os
import random
import shutil
import subprocess
import sys
import tempfile

HUNCH = os.path.abspath(sys.argv[1])


def played(source):
    """What a run says, without its speed."""
    script = f"set -o pipefail; {source} '{HUNCH}' run -q --json -l banditron -"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (script, done.stderr)
    return [line for line in done.stdout.splitlines() if "seconds" not in line and "per_second" not in line]


def main():
    duckdb = os.environ.get("HUNCH_DUCKDB") or shutil.which("duckdb")
    if not duckdb:
        print("SKIPPED: there is no duckdb")
        return 77
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("rows.csv", "w", encoding="utf-8") as out:
            out.write("age,city,note,label\n")
            for _ in range(500):
                age, city = rng.randint(18, 80), rng.choice(["Oslo", "Rome", ""])
                out.write(f'{age},{city},"a, ""quoted"" note",{"old" if age > 50 else "young"}\n')
        subprocess.run([duckdb, "-c", "COPY (SELECT * FROM 'rows.csv') TO 'rows.parquet'"], check=True, capture_output=True)
        one, other = played("cat rows.csv |"), played(f"'{duckdb}' -csv -c \"SELECT * FROM 'rows.parquet'\" |")
        assert one == other and len(one) > 3, (one, other)
        fewer = played(f"'{duckdb}' -csv -c \"SELECT age, label FROM 'rows.parquet' WHERE city = 'Oslo'\" |")
        assert fewer != one
        os.chdir("/")
    print("the same from CSV and from Parquet")
    return 0


if __name__ == "__main__":
    sys.exit(main())
