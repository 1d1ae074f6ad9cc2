"""Window results to Parquet and back, floodmark beside DuckDB: one thread each, the same rows, the same codec, in turns.

    parquet_duckdb.py BENCH_PROGRAM FOLDER [ROWS]

Prints the least CPU time of a few rounds for each, and the ratio. Both read both files, and must find the same.
"""
import os
import re
import resource
import subprocess
import sys

import duckdb

ROUNDS = 3
SCAN = 'select count(*), epoch_us(max(window_start)), sum(strlen("user")), sum(total), sum(n) from \'{}\''


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def ours(program, *args):
    line = subprocess.run([program, *args], check=True, capture_output=True, text=True).stdout
    return float(line.split()[1]), line


def theirs(con, sql):
    start = cpu()
    rows = con.execute(sql).fetchall()
    return cpu() - start, rows


def same(line, row):
    """Whether floodmark's line of a scan says what DuckDB's row says."""
    found = re.match(r"(\d+) \S+ latest (-?\d+), letters (\d+), total (\S+), n (\d+)", line)
    rows, latest, letters, total, n = found.groups()
    return [int(rows), int(latest), int(letters), int(n)] == [row[0], row[1], row[2], row[4]] and abs(float(total) - row[3]) < 1e-6 * row[3]


def main():
    program, folder = sys.argv[1:3]
    rows = sys.argv[3] if len(sys.argv) > 3 else "20000000"
    os.makedirs(folder, exist_ok=True)
    con = duckdb.connect(config={"threads": 1})
    wrong = 0
    for codec in ("snappy", "zstd", "uncompressed"):
        own, other = (os.path.join(folder, f"{name}-{codec}.parquet") for name in ("floodmark", "duckdb"))
        write_own = min(ours(program, "write", own, rows, codec)[0] for _ in range(ROUNDS))
        con.execute(f"create or replace table results as select * from '{own}'")
        copy = f"copy results to '{other}' (format parquet, codec '{codec}')"
        write_other = min(theirs(con, copy)[0] for _ in range(ROUNDS))
        print(f"write {codec:12} floodmark {write_own:6.2f} s {os.path.getsize(own) / 1e6:7.1f} MB   "
              f"duckdb {write_other:6.2f} s {os.path.getsize(other) / 1e6:7.1f} MB   ratio {write_own / write_other:.2f}")
        for who, path in (("floodmark's", own), ("duckdb's", other)):
            rounds = [(ours(program, "read", path), theirs(con, SCAN.format(path))) for _ in range(ROUNDS)]
            read_own, read_other = min(r[0][0] for r in rounds), min(r[1][0] for r in rounds)
            right = same(rounds[0][0][1], rounds[0][1][1][0])
            wrong += not right
            print(f"scan  {codec:12} of {who:11} floodmark {read_own:5.2f} s   duckdb {read_other:5.2f} s   ratio {read_own / read_other:.2f}"
                  f"{'' if right else '   NOT THE SAME ROWS'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
