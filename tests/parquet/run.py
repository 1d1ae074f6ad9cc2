"""Parquet files exchanged with pyarrow and DuckDB: run.py FLOODMARK. The last line counts."""
import datetime
import decimal
import glob
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

PROGRAM = sys.argv[1]
UTC = datetime.timezone.utc
SCALARS = ["bool", "int8", "int16", "int32", "int64", "float", "double", "string", "binary", "date", "timestamp", "ntz", "decimal9",
           "decimal18", "decimal38"]
passed = failed = 0


def check(what, right, detail=""):
    global passed, failed
    passed, failed = passed + bool(right), failed + (not right)
    if not right:
        print(f"FAILED {what}: {str(detail)[:600]}")


def run(job):
    with open("job.sql", "w", encoding="utf-8") as f:
        f.write(job)
    return subprocess.run([PROGRAM, "run", "job.sql", "-c", "spark.sql.session.timeZone=UTC", "--progress", "none"], capture_output=True, text=True,
                          timeout=120)


def copy_job(more_in="", more_out="", select="SELECT * FROM STREAM t", partitions=""):
    """A job that copies the files of in/ to out/."""
    return f"""SET spark.sql.streaming.schemaInference=true;
CREATE TABLE t USING parquet OPTIONS (path 'in'{more_in});
CREATE STREAMING TABLE o USING parquet OPTIONS (path 'out', checkpointLocation 'ck', trigger 'availableNow'{more_out}) {partitions}
AS {select};"""


def begin(*tables, **options):
    for folder in ("in", "out", "ck"):
        shutil.rmtree(folder, ignore_errors=True)
    os.mkdir("in")
    for i, table in enumerate(tables):
        pq.write_table(table, f"in/{i}.parquet", **options)


def plain(x):
    """Comparable: NaN equals itself, instants are in UTC."""
    if isinstance(x, float) and math.isnan(x):
        return "NaN"
    if isinstance(x, datetime.datetime) and x.tzinfo:
        return x.astimezone(UTC).replace(tzinfo=None)
    if isinstance(x, (list, tuple)):
        return [plain(y) for y in x]
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    return x


def out_table():
    return pa.concat_tables([pq.read_table(f) for f in sorted(glob.glob("out/part-*"))])


def same_rows(a, b):
    """'' or the first column and row that differ."""
    if a.num_rows != b.num_rows:
        return f"{a.num_rows} rows became {b.num_rows}"
    for name in a.column_names:
        for i, (x, y) in enumerate(zip(a[name].to_pylist(), b[name].to_pylist())):
            if plain(x) != plain(y):
                return f"column {name} {a[name].type}, row {i}: {x!r} became {y!r}"
    return ""


def random_type(r, depth=0):
    kind = r.choice(SCALARS + (["list", "struct", "map"] * 3 if depth < 3 else []))
    simple = {"date": pa.date32(), "timestamp": pa.timestamp("us", "UTC"), "ntz": pa.timestamp("us"), "decimal9": pa.decimal128(8, 3),
              "decimal18": pa.decimal128(17, 0), "decimal38": pa.decimal128(36, 10)}
    if kind == "list":
        return pa.list_(random_type(r, depth + 1))
    if kind == "struct":
        return pa.struct([(f"f{i}", random_type(r, depth + 1)) for i in range(r.randint(1, 3))])
    if kind == "map":
        return pa.map_(r.choice([pa.string(), pa.int32()]), random_type(r, depth + 1))
    return simple.get(kind) or pa.type_for_alias(kind)


def random_value(r, t, nulls):
    if r.random() < nulls:
        return None
    if pa.types.is_list(t):
        return [random_value(r, t.value_type, nulls) for _ in range(r.randint(0, 3))]
    if pa.types.is_struct(t):
        return {f.name: random_value(r, f.type, nulls) for f in t}
    if pa.types.is_map(t):
        keys = {random_value(r, t.key_type, 0) for _ in range(r.randint(0, 3))}
        return [(k, random_value(r, t.item_type, nulls)) for k in keys]
    if pa.types.is_boolean(t):
        return r.random() < 0.5
    if pa.types.is_integer(t):
        return r.choice([r.randint(0, 9), r.randint(-2 ** (t.bit_width - 1), 2 ** (t.bit_width - 1) - 1)])
    if pa.types.is_float32(t):
        return r.choice([0.0, -1.5, 2.0 ** 90, math.inf])
    if pa.types.is_floating(t):
        return r.choice([r.random(), -0.0, 1e300, math.nan])
    if pa.types.is_string(t):
        return r.choice(["", "a", "short", "a text longer than twelve bytes", "ü€😀", "x" * r.randint(0, 200)])
    if pa.types.is_binary(t):
        return r.randbytes(r.randint(0, 30))
    if pa.types.is_date(t):
        return datetime.date(1600, 1, 1) + datetime.timedelta(days=r.randint(0, 300000))
    if pa.types.is_timestamp(t):
        return datetime.datetime(1900, 1, 1, tzinfo=UTC if t.tz else None) + datetime.timedelta(microseconds=r.randint(0, 10 ** 16))
    return decimal.Decimal(r.randint(-10 ** (t.precision - 1), 10 ** (t.precision - 1))).scaleb(-t.scale, decimal.Context(prec=50))


def random_table(r):
    types = [random_type(r) for _ in range(r.randint(1, 6))]
    rows, nulls = r.randint(1, 3000), r.choice([0, 0.1, 0.5])
    return pa.table({f"c{i}": pa.array([random_value(r, t, nulls) for _ in range(rows)], t) for i, t in enumerate(types)})


def exchange(seed):
    r = random.Random(seed)
    table = random_table(r)
    begin(table, compression=r.choice(["none", "snappy", "gzip", "zstd", "lz4"]), data_page_version=r.choice(["1.0", "2.0"]),
          use_dictionary=r.random() < 0.5, row_group_size=r.randint(50, 4000), data_page_size=r.choice([200, 1 << 20]),
          write_page_index=r.random() < 0.5, write_page_checksum=r.random() < 0.5)
    codec = r.choice(["none", "snappy", "gzip", "zstd", "lz4"])
    result = run(copy_job(more_out=f", compression '{codec}', `parquet.page.size` '{r.choice([500, 1 << 20])}', "
                                   f"`parquet.block.size` '{r.choice([20000, 1 << 27])}', `parquet.enable.dictionary` '{r.choice(['true', 'false'])}'"))
    what = f"exchange {seed} ({', '.join(str(t) for t in table.schema.types)})"
    if result.returncode:
        check(what, False, result.stderr)
        return
    check(what, not same_rows(table, out_table()), same_rows(table, out_table()))
    # The same again by DuckDB; it tells -0.0 and NaN apart no more than SQL does.
    both = [f"select count(*) from (from read_parquet('{a}') except all from read_parquet('{b}'))" for a, b in
            (("in/*.parquet", "out/part-*"), ("out/part-*", "in/*.parquet"))]
    try:
        left = [duckdb.sql(sql).fetchall()[0][0] for sql in both]
        check(what + " by DuckDB", left == [0, 0], left)
    except duckdb.Error as e:
        check(what + " by DuckDB", False, e)


def encodings():
    n = 3000
    table = pa.table({"i": pa.array([i * 7 % 1000 for i in range(n)], pa.int32()), "j": pa.array([i * i for i in range(n)], pa.int64()),
                      "s": [f"name-{i // 10}" for i in range(n)], "d": [i / 7 for i in range(n)], "b": [i.to_bytes(3, "big") for i in range(n)]})
    ways = [("i", "DELTA_BINARY_PACKED"), ("j", "DELTA_BINARY_PACKED"), ("s", "DELTA_BYTE_ARRAY"), ("s", "DELTA_LENGTH_BYTE_ARRAY"),
            ("d", "BYTE_STREAM_SPLIT"), ("i", "BYTE_STREAM_SPLIT"), ("b", "DELTA_LENGTH_BYTE_ARRAY")]
    for column, encoding in ways:
        begin(table, use_dictionary=False, column_encoding={column: encoding}, data_page_size=1000)
        result = run(copy_job())
        check(f"{column} in {encoding}", result.returncode == 0 and not same_rows(table, out_table()), result.stderr)


def int96_both_ways():
    table = pa.table({"t": pa.array([datetime.datetime(1950 + i % 100, 3, 1, 12, 0, 0, i) for i in range(500)], pa.timestamp("us", "UTC"))})
    begin(table, use_deprecated_int96_timestamps=True)
    result = run(copy_job(more_out=", outputTimestampType 'INT96'"))
    check("INT96", result.returncode == 0 and not same_rows(table, out_table()), result.stderr)
    physical = pq.ParquetFile(glob.glob("out/part-*")[0]).schema.column(0).physical_type if result.returncode == 0 else ""
    check("INT96 is written", physical == "INT96", physical)


def partitions():
    table = pa.table({"k": ["a", "b c", None, "x=y"] * 50, "v": list(range(200))})
    begin(table)
    result = run(copy_job(partitions="PARTITIONED BY (k)"))
    rows = duckdb.sql("select count(*), sum(v) from read_parquet('out/*/*.parquet')").fetchall()[0] if result.returncode == 0 else None
    check("PARTITIONED BY", rows == (200, 19900), result.stderr or rows)
    check("partition folders", sorted(os.path.basename(p) for p in glob.glob("out/k=*")) ==
          ["k=__HIVE_DEFAULT_PARTITION__", "k=a", "k=b c", "k=x%3Dy"], glob.glob("out/*"))


def merging():
    begin(pa.table({"a": [1, 2]}), pa.table({"a": [3], "b": ["x"]}))
    sql = "SELECT count(*) AS n, count(b) AS m FROM read_files('in', format => 'parquet', mergeSchema => 'true')"
    result = subprocess.run([PROGRAM, "sql", sql, "--format", "csv"], capture_output=True, text=True, timeout=60)
    check("mergeSchema", "3,1" in result.stdout, result.stdout + result.stderr)
    begin(pa.table({"a": [1, 2]}), pa.table({"a": ["x"]}))
    result = subprocess.run([PROGRAM, "sql", sql.replace("count(b)", "count(a)")], capture_output=True, text=True, timeout=60)
    check("schemas that do not merge", "CANNOT_MERGE_SCHEMAS" in result.stderr, result.stderr)


def damage():
    begin(pa.table({"a": list(range(1000))}))
    with open("in/1.parquet", "wb") as f:
        f.write(b"PAR1 this is none")
    result = run(copy_job())
    check("a damaged file", result.returncode == 1 and "1.parquet" in result.stderr and "FAILED_READ_FILE" in result.stderr, result.stderr)
    begin(pa.table({"a": list(range(1000))}))
    shutil.copy("in/0.parquet", "in/1.parquet")
    with open("in/1.parquet", "r+b") as f:
        f.seek(30)
        f.write(b"\xff" * 40)
    result = run(copy_job(more_in=", ignoreCorruptFiles 'true'"))
    check("ignoreCorruptFiles", result.returncode == 0 and out_table().num_rows == 1000, result.stderr)


def statistics():
    n = 50000
    table = pa.table({"a": list(range(n)), "s": [f"user{i % 100:03d}" for i in range(n)]})
    begin(table)
    result = run(copy_job(more_out=", bloomFilterColumns 's'"))
    if result.returncode:
        check("statistics", False, result.stderr)
        return
    path = glob.glob("out/part-*")[0]
    column = pq.ParquetFile(path).metadata.row_group(0).column(0)
    check("statistics", (column.statistics.min, column.statistics.max, column.statistics.null_count) == (0, n - 1, 0), column.statistics)
    check("page index", column.has_column_index and column.has_offset_index)
    probe = duckdb.sql(f"select bloom_filter_excludes from parquet_bloom_probe('{path}', 's', 'user0xx')").fetchall()
    check("Bloom filter", probe and all(row[0] for row in probe), probe)
    probe = duckdb.sql(f"select bloom_filter_excludes from parquet_bloom_probe('{path}', 's', 'user042')").fetchall()
    check("Bloom filter has what is there", probe and not any(row[0] for row in probe), probe)
    check("DuckDB prunes by it", duckdb.sql(f"select count(*) from '{path}' where a between 777 and 1776 and s <> ''").fetchall()[0] == (1000,))


def where_rows_come_from():
    """_metadata and input_file_name(), as Spark 4.3 has them."""
    begin(pa.table({"a": pa.array(range(10), pa.int64())}), pa.table({"a": pa.array(range(100, 103), pa.int64())}), row_group_size=4)
    os.rename("in/0.parquet", "in/a b.parquet")
    done = run(copy_job(select="SELECT a, _metadata, _metadata.file_name AS n, input_file_name() AS f, input_file_block_start() AS s FROM STREAM t "
                               "WHERE _metadata.row_index % 2 = 1"))
    check("metadata: runs", done.returncode == 0, done.stderr)
    rows = sorted(out_table().to_pylist(), key=lambda r: r["a"]) if done.returncode == 0 else []
    check("metadata: rows", [r["a"] for r in rows] == [1, 3, 5, 7, 9, 101], rows)
    for r in rows:
        path = os.path.realpath("in/a b.parquet" if r["a"] < 100 else "in/1.parquet")
        size, uri = os.path.getsize(path), path.replace(" ", "%20")
        m = r["_metadata"]
        check("metadata: file", (m["file_path"], m["file_name"], m["file_size"]) == ("file:" + uri, os.path.basename(uri), size), m)
        check("metadata: block", (m["file_block_start"], m["file_block_length"], r["s"]) == (0, size, 0), m)
        check("metadata: row", m["row_index"] == r["a"] % 100, m)
        check("metadata: time", abs(m["file_modification_time"].timestamp() - os.path.getmtime(path)) < 0.002, m)
        check("metadata: functions", (r["n"], r["f"]) == (os.path.basename(uri), "file://" + uri), r)
    # Through queries below, as far as rows stay those of their file.
    table = "CREATE TABLE t (a BIGINT) USING parquet LOCATION 'in'; CREATE VIEW v AS SELECT a + 1 AS b FROM t WHERE a > 100; "
    for query, want in (
        ("SELECT DISTINCT input_file_name() AS f FROM (SELECT a FROM (SELECT * FROM t) WHERE a < 5)", ["a%20b.parquet"]),
        ("SELECT b, input_file_name() AS f FROM v", ["1.parquet"] * 2),
        ("WITH c AS (SELECT explode(array(a, a)) AS e FROM t WHERE a = 100) SELECT input_file_name() AS f FROM c", ["1.parquet"] * 2),
        ("SELECT input_file_name() AS f, count(*) AS n FROM (SELECT * FROM t) GROUP BY 1 ORDER BY f", ["1.parquet", "a%20b.parquet"]),
        ("SELECT 'x' AS f FROM v WHERE input_file_name() LIKE '%/1.parquet'", ["x"] * 2),
        ("SELECT input_file_name() AS f FROM (SELECT a FROM t GROUP BY a HAVING a = 1)", [""]),
        ("SELECT input_file_name() AS f FROM (SELECT a FROM t ORDER BY a LIMIT 1)", [""]),
    ):
        done = subprocess.run([PROGRAM, "sql", table + query, "--format", "json"], capture_output=True, text=True)
        got = [json.loads(line)["f"].split("/")[-1] for line in done.stdout.splitlines()]
        check("input_file_name(): " + query, got == want, done.stdout + done.stderr)


def main():
    home = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for seed in range(12):
            exchange(seed)
        for case in (encodings, int96_both_ways, partitions, merging, damage, statistics, where_rows_come_from):
            case()
        os.chdir(home)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
