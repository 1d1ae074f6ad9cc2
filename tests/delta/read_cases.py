"""Tables that delta-rs wrote, read by us; both writing at once."""
import datetime
import decimal
import json
import os
import random
import re
import subprocess
import time
import urllib.parse

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import CommitFailedError


def many_types():
    utc = datetime.timezone.utc
    return pa.table({
        "i8": pa.array([1, None, -128], pa.int8()), "i16": pa.array([1, None, -32768], pa.int16()), "i32": pa.array([1, None, 2**31 - 1], pa.int32()),
        "i64": pa.array([1, None, 2**62], pa.int64()), "f32": pa.array([1.5, None, -0.25], pa.float32()), "f64": pa.array([1e300, None, 0.1], pa.float64()),
        "b": pa.array([True, None, False]), "s": ["x", None, "a long text, longer than a view holds"], "bin": pa.array([b"\x00\x01", None, b""], pa.binary()),
        "d": [datetime.date(1969, 12, 31), None, datetime.date(2026, 2, 28)],
        "ts": pa.array([datetime.datetime(2026, 1, 1, 1, 2, 3, 456789, tzinfo=utc), None, datetime.datetime(1960, 1, 1, tzinfo=utc)], pa.timestamp("us", "UTC")),
        "dec": pa.array([decimal.Decimal("123.45"), None, decimal.Decimal("-0.01")], pa.decimal128(10, 2)),
        "big": pa.array([decimal.Decimal("1e20"), None, decimal.Decimal("-1")], pa.decimal128(30, 2)),
        "st": [{"x": 1, "y": {"z": "q"}}, None, {"x": None, "y": {"z": None}}], "l": [[1, None, 3], None, []], "ll": [[["a"], []], None, [None]],
    })


def case_types(world):
    write_deltalake(world.path("t"), many_types())
    assert len(world.same("t")) == 3


def case_partitions_and_checkpoints(world):
    t = pa.table({"v": list(range(6)), "p": ["a/b", "ü %", None, "", "x=y", "a/b"], "d": [datetime.date(2026, 1, 1 + i % 2) for i in range(6)]})
    for i in range(13):
        write_deltalake(world.path("t"), t, mode="append", partition_by=["p", "d"])
    DeltaTable(world.path("t")).create_checkpoint()
    write_deltalake(world.path("t"), t, mode="append", partition_by=["p", "d"])
    DeltaTable(world.path("t")).delete("v = 3")
    assert len(world.same("t")) == 14 * 5
    assert world.sql(f"SELECT count(*) AS n FROM delta.`{world.path('t')}` WHERE p = 'a/b'") == [{"n": 28}]
    assert world.sql(f"SELECT count(*) AS n, min(d) AS d FROM delta.`{world.path('t')}`") == [{"n": 70, "d": "2026-01-01"}]


def case_random_tables(world):
    """Random schemas and rows through us: written by a stream, read by both."""
    seed = int(os.environ.get("FLOODMARK_SEED", random.randrange(10**6)))
    r = random.Random(seed)
    leaf = ["BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "STRING", "DATE", "TIMESTAMP", "DECIMAL(9,2)", "DECIMAL(25,5)"]

    def type_of(depth):
        k = r.random()
        if depth and k < 0.12:
            return f"ARRAY<{type_of(depth - 1)}>"
        if depth and k < 0.24:
            return "STRUCT<" + ", ".join(f"f{i}: {type_of(depth - 1)}" for i in range(r.randrange(1, 4))) + ">"
        return r.choice(leaf)

    def value_of(t):
        if r.random() < 0.15:
            return None
        if t.startswith("ARRAY<"):
            return [value_of(t[6:-1]) for _ in range(r.randrange(4))]
        if t.startswith("STRUCT<"):
            fields, depth, start = [], 0, 0
            body = t[7:-1]
            for i, c in enumerate(body + ","):
                depth += c in "<(" and 1 or (c in ">)" and -1 or 0)
                if c == "," and depth == 0:
                    fields.append(body[start:i].strip())
                    start = i + 1
            return {f.split(":", 1)[0]: value_of(f.split(":", 1)[1].strip()) for f in fields}
        return {"BOOLEAN": lambda: r.random() < 0.5, "TINYINT": lambda: r.randrange(-128, 128), "SMALLINT": lambda: r.randrange(-2**15, 2**15),
                "INT": lambda: r.randrange(-2**31, 2**31), "BIGINT": lambda: r.randrange(-2**63, 2**63), "FLOAT": lambda: r.randrange(-1000, 1000) / 8,
                "DOUBLE": lambda: r.uniform(-1e9, 1e9), "STRING": lambda: r.choice(["", "a", "ü/%", "x" * r.randrange(80), "\U0010ffff" * 40]),
                "DATE": lambda: f"{r.randrange(1900, 2100)}-0{r.randrange(1, 9)}-1{r.randrange(9)}",
                "TIMESTAMP": lambda: f"{r.randrange(1900, 2100)}-0{r.randrange(1, 9)}-1{r.randrange(9)}T0{r.randrange(9)}:00:00.{r.randrange(10**6):06}Z",
                "DECIMAL(9,2)": lambda: r.randrange(-10**8, 10**8) / 100, "DECIMAL(25,5)": lambda: r.randrange(-10**8, 10**8) / 32}[t]()

    for k in range(6):
        columns = {f"c{i}": type_of(2) for i in range(r.randrange(2, 8))}
        rows = [{c: value_of(t) for c, t in columns.items()} for _ in range(r.randrange(1, 200))]
        world.write(f"in{k}/1.json", "\n".join(json.dumps(x) for x in rows) + "\n")
        # delta-rs cannot read negative decimals as partition values.
        partition = [c for c, t in columns.items() if t in leaf and t not in ("FLOAT", "DOUBLE") and "DECIMAL" not in t][:1] if r.random() < 0.6 and len(columns) > 1 else []
        declared = ", ".join(f"{c} {t}" for c, t in columns.items())
        world.job(f"""CREATE TABLE src ({declared}) USING json OPTIONS (path 'in{k}/');
CREATE STREAMING TABLE t USING delta OPTIONS (path 't{k}', outputMode 'append', checkpointLocation 'ck{k}') {'PARTITIONED BY (' + partition[0] + ')' if partition else ''}
AS SELECT * FROM STREAM src;""")
        try:
            got = world.same(f"t{k}")
        except AssertionError as e:
            raise AssertionError(f"seed {seed}, table {k}: {declared}\n{e}")
        assert len(got) == len(rows), f"seed {seed}"


def race(world, job, theirs, commits):
    """Runs theirs(i) `commits` times, with a file of input for our job beside each, until the job has taken all of them. How often the
    writer changed from one version to the next."""
    world.write("job.sql", job)
    os.makedirs(world.path("in"))
    process = subprocess.Popen([world.program, "run", world.path("job.sql"), "--progress", "none", "-c", "spark.sql.session.timeZone=UTC"],
                               stderr=open(world.path("stderr"), "w"), cwd=world.folder)
    try:
        for i in range(commits):
            world.write("new", json.dumps({"who": "floodmark", "n": i}) + "\n")
            os.rename(world.path("new"), world.path(f"in/{i:05}.json"))
            theirs(i)
        give_up = time.time() + 120
        while max((int(n) for n in os.listdir(world.path("ck/commits")) if n.isdigit()), default=-1) < commits - 1:  # older ones are removed
            assert process.poll() is None, open(world.path("stderr")).read()
            assert time.time() < give_up, "the job does not come to an end"
            time.sleep(0.05)
    finally:
        process.terminate()
        process.wait()
    writers = []
    for name in sorted(os.listdir(world.path("t/_delta_log"))):
        if re.fullmatch(r"\d{20}\.json", name):
            with open(world.path("t/_delta_log/" + name)) as f:
                writers.append("floodmark" if '"engineInfo":"floodmark"' in f.read() else "delta-rs")
    return writers, sum(a != b for a, b in zip(writers, writers[1:]))


RACE = """CREATE TABLE src (who STRING, n BIGINT) USING json OPTIONS (path 'in/', maxFilesPerTrigger '1');
CREATE STREAMING TABLE t USING delta OPTIONS (path 't', outputMode '%s', checkpointLocation 'ck'%s) AS SELECT %s FROM STREAM src;"""


def case_two_writers(world):
    """One delta-rs, one ours, at once into one table: no commit is lost."""
    commits = int(os.environ.get("FLOODMARK_COMMITS", "60")) // 2
    write_deltalake(world.path("t"), pa.table({"who": ["start"], "n": pa.array([0], pa.int64())}))
    writers, changes = race(world, RACE % ("append", "", "*"), lambda i: write_deltalake(
        world.path("t"), pa.table({"who": ["delta-rs"], "n": pa.array([i], pa.int64())}), mode="append"), commits)
    rows = world.same("t")
    for who in ("delta-rs", "floodmark"):
        assert sorted(r["n"] for r in rows if r["who"] == who) == list(range(commits)), who
    assert len(writers) == 1 + 2 * commits and changes >= commits // 2, f"{len(writers)} versions, {changes} changes of writer"


def case_two_writers_one_upserts(world):
    """Ours upserts; delta-rs appends, and compacts now and then, so that files which ours is about to rewrite go away."""
    commits = int(os.environ.get("FLOODMARK_COMMITS", "60")) // 2
    write_deltalake(world.path("t"), pa.table({"who": ["start"], "n": pa.array([0], pa.int64())}))

    def until_done(write):
        while True:
            try:
                return write()
            except CommitFailedError as e:  # files that it read are gone: delta-rs fails, and has written nothing
                assert "concurrent" in str(e), e

    def theirs(i):
        until_done(lambda: write_deltalake(world.path("t"), pa.table({"who": [f"delta-rs {i}"], "n": pa.array([i], pa.int64())}), mode="append"))
        if i % 7 == 6:
            until_done(lambda: world.delta("t").optimize.compact())

    race(world, RACE % ("update", ", mergeKeys 'who'", "concat(who, ' ', n % 5) AS who, n"), theirs, commits)
    want = {f"delta-rs {i}": i for i in range(commits)} | {"start": 0} | {f"floodmark {i % 5}": i for i in range(commits)}
    rows = world.same("t")
    assert {r["who"]: r["n"] for r in rows} == want and len(rows) == len(want), rows


def case_where_rows_come_from(world):
    """_metadata and input_file_name(): of the data files, in batches and streams; the feed has none."""
    root = os.path.realpath(world.path("t"))
    world.sql(f"CREATE TABLE t (v BIGINT, p STRING) USING delta LOCATION '{root}' PARTITIONED BY (p); INSERT INTO t VALUES (1, 'a b'), (2, 'c'); UPDATE t SET v = 3 WHERE p = 'c'")
    rows = world.sql(f"SELECT v, p, _metadata AS m, input_file_name() AS f FROM delta.`{root}`")
    assert sorted(r["v"] for r in rows) == [1, 3], rows
    for row in rows:
        m, path = row["m"], urllib.parse.unquote(row["f"]).removeprefix("file:")
        size = os.path.getsize(path)
        assert os.path.dirname(path) == f"{root}/p={row['p']}" and abs(os.path.getmtime(path) - datetime.datetime.fromisoformat(m.pop("file_modification_time")).timestamp()) < 10, row
        assert m == {"file_path": row["f"], "file_name": os.path.basename(path), "file_size": size, "file_block_start": 0, "file_block_length": size}, row
    assert world.sql(f"SELECT v FROM (SELECT * FROM delta.`{root}`) WHERE input_file_name() LIKE '%/p=c/%'") == [{"v": 3}]
    world.refused("FIELD_NOT_FOUND", f"SELECT _metadata.row_index FROM delta.`{root}`")
    world.refused("UNRESOLVED_COLUMN.WITH_SUGGESTION", f"SELECT _metadata.file_name FROM table_changes_by_path('{root}', 0)")
    out = world.job(f"CREATE TABLE t USING delta LOCATION '{root}'; SELECT v, _metadata.file_name LIKE 'part-%' AS m, input_file_name() <> '' AS f FROM STREAM t").stdout
    assert "|  1|true|true|" in out and "|  3|true|true|" in out, out


def case_stream_from_a_table(world):
    write_deltalake(world.path("t"), pa.table({"n": [1, 2]}))
    write_deltalake(world.path("t"), pa.table({"n": [3]}), mode="append")
    job = """CREATE TABLE src USING delta OPTIONS (path 't'%s);
CREATE STREAMING TABLE o USING delta OPTIONS (path 'o%s', outputMode 'append', checkpointLocation 'ck%s') AS SELECT * FROM STREAM src;"""
    world.job(job % ("", "1", "1"))
    assert [r["n"] for r in world.rows("o1")] == [1, 2, 3]
    write_deltalake(world.path("t"), pa.table({"n": [4]}), mode="append")
    world.job(job % ("", "1", "1"))
    assert [r["n"] for r in world.rows("o1")] == [1, 2, 3, 4]
    world.job(job % (", startingVersion '1'", "2", "2"))
    assert [r["n"] for r in world.rows("o2")] == [3, 4]
    DeltaTable(world.path("t")).delete("n = 1")
    done = world.job(job % ("", "1", "1"), ok=False)
    assert "DELTA_SOURCE_TABLE_IGNORE_CHANGES" in done.stderr, done.stderr
    world.job(job % (", skipChangeCommits 'true'", "1", "1"))
    write_deltalake(world.path("t"), pa.table({"n": [5]}), mode="append")
    world.job(job % (", skipChangeCommits 'true', maxFilesPerTrigger '1'", "1", "1"))
    assert [r["n"] for r in world.rows("o1")] == [1, 2, 3, 4, 5]
