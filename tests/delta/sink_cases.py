"""Streams into Delta tables."""
import glob
import json
import os
import random
import signal
import subprocess
import time

READINGS = """
CREATE TABLE readings (device STRING, at TIMESTAMP, kwh DOUBLE, n INT) USING json OPTIONS (path 'in/', maxFilesPerTrigger '1');
"""


def feed(world, *batches):
    """A file per batch; each row is (device, minute, kwh)."""
    have = len(glob.glob(world.path("in/*.json")))
    for i, rows in enumerate(batches):
        lines = [json.dumps({"device": d, "at": f"2026-01-01T{10 + m // 60:02}:{m % 60:02}:00Z", "kwh": k, "n": m}) for d, m, k in rows]
        world.write(f"in/{have + i:04}.json", "\n".join(lines) + "\n")
        time.sleep(0.01)


def case_append(world):
    feed(world, [("a", 0, 1.5), ("b", 1, 2.5)], [("a", 2, 0.25), (None, 3, None)])
    job = READINGS + """
CREATE STREAMING TABLE t USING delta OPTIONS (path 'out', outputMode 'append', checkpointLocation 'ck')
AS SELECT *, struct(kwh AS x, at AS y) AS s, array(kwh, 1.0D) AS l, map(device, n) AS m, CAST(kwh AS DECIMAL(12,3)) AS dec, date(at) AS d
   FROM STREAM readings WHERE device IS NOT NULL;"""
    world.job(job)
    assert len(world.same("out")) == 3
    versions = world.delta("out").version()
    world.job(job)
    assert world.delta("out").version() == versions, "a run without input committed"
    feed(world, [("c", 4, 9.0)])
    world.job(job)
    assert len(world.same("out")) == 4


def case_partitions(world):
    feed(world, [("a/b ü%=:", 0, 1.0), (None, 1, 2.0), ("", 2, 3.0), ("x", 3, 4.0)])
    world.job(READINGS + """
CREATE STREAMING TABLE t USING delta OPTIONS (path 'out', outputMode 'append', checkpointLocation 'ck')
PARTITIONED BY (device, at) AS SELECT * FROM STREAM readings;""")
    rows = world.same("out")
    # An empty text is null by the protocol.
    assert [r.get("device") for r in rows].count(None) == 2
    assert world.delta("out").metadata().partition_columns == ["device", "at"]


def case_complete_replaces(world):
    feed(world, [("a", 0, 1.0), ("b", 1, 2.0)], [("a", 2, 0.5)])
    world.job(READINGS + """
CREATE STREAMING TABLE t USING delta OPTIONS (path 'out', outputMode 'complete', checkpointLocation 'ck')
AS SELECT device, sum(kwh) AS kwh FROM STREAM readings GROUP BY device;""")
    assert world.same("out") == [{"device": "a", "kwh": 1.5}, {"device": "b", "kwh": 2.0}]


def upsert(world, properties):
    feed(world, [("a", 0, 1.0), ("b", 1, 2.0), (None, 1, 4.0)], [("a", 2, 0.5), ("c", 7, 1.0), (None, 2, 1.0)], [("a", 3, 0.25)])
    if properties:
        from deltalake import write_deltalake
        import pyarrow as pa
        schema = pa.schema([("w", pa.timestamp("us", "UTC")), ("device", pa.string()), ("kwh", pa.float64()), ("n", pa.int64())])
        write_deltalake(world.path("out"), schema.empty_table(), configuration=properties)
    job = READINGS + """
CREATE STREAMING TABLE t USING delta OPTIONS (path 'out', outputMode 'update', checkpointLocation 'ck')
AS SELECT window.start AS w, device, sum(kwh) AS kwh, count(*) AS n
   FROM STREAM readings WATERMARK at DELAY OF INTERVAL 10 MINUTES GROUP BY window(at, '5 minutes'), device;"""
    world.job(job)
    expected = [{"device": "a", "kwh": 1.75, "n": 3, "w": "2026-01-01T10:00:00.000Z"}, {"device": "b", "kwh": 2.0, "n": 1, "w": "2026-01-01T10:00:00.000Z"},
                {"device": "c", "kwh": 1.0, "n": 1, "w": "2026-01-01T10:05:00.000Z"}, {"kwh": 5.0, "n": 2, "w": "2026-01-01T10:00:00.000Z"}]
    assert world.our_rows("out") == expected, world.our_rows("out")
    return expected


def case_update_upserts(world):
    expected = upsert(world, None)
    assert world.rows("out") == expected


def case_update_upserts_with_deletion_vectors(world):
    expected = upsert(world, {"delta.enableDeletionVectors": "true"})
    assert glob.glob(world.path("out/deletion_vector_*.bin")), "no deletion vector was written"
    try:
        theirs = world.rows("out")
    except Exception as e:  # delta-rs may lack the feature for pyarrow readers
        if "eletion" not in str(e) and "reader" not in str(e):
            raise
        from deltalake import QueryBuilder
        theirs = None
        table = world.delta("out")
        batches = QueryBuilder().register("t", table).execute("SELECT * FROM t")
        import pyarrow as pa
        from world import sort_rows
        theirs = sort_rows(pa.table(batches).to_pylist())
    assert theirs == expected, theirs


def case_update_needs_keys(world):
    feed(world, [("a", 0, 1.0)])
    done = world.job(READINGS + "CREATE STREAMING TABLE t USING delta OPTIONS (path 'out', outputMode 'update', checkpointLocation 'ck') AS SELECT * FROM STREAM readings;",
                     ok=False)
    assert "FLOODMARK_MERGE_KEYS" in done.stderr, done.stderr
    world.job(READINGS + "CREATE STREAMING TABLE t USING delta OPTIONS (path 'out', outputMode 'update', mergeKeys 'device', checkpointLocation 'ck2') AS SELECT * FROM STREAM readings;")
    feed(world, [("a", 5, 7.0)])
    world.job(READINGS + "CREATE STREAMING TABLE t USING delta OPTIONS (path 'out', outputMode 'update', mergeKeys 'device', checkpointLocation 'ck2') AS SELECT * FROM STREAM readings;")
    assert [r["kwh"] for r in world.same("out")] == [7.0]


def case_empty_keys_that_divide_the_table(world):
    """Such a text is a null in the table: the next one takes its row's place. Beside a null in one micro-batch it is refused."""
    job = READINGS + ("CREATE STREAMING TABLE t USING delta OPTIONS (path 'out', outputMode 'update', mergeKeys 'device', checkpointLocation 'ck') "
                      "PARTITIONED BY (device) AS SELECT * FROM STREAM readings;")
    feed(world, [("a", 0, 1.0), ("", 1, 2.0)], [("", 2, 3.0)], [("a", 3, 4.0)])
    world.job(job)
    assert sorted((str(r.get("device")), r["kwh"]) for r in world.same("out")) == [("None", 3.0), ("a", 4.0)]
    feed(world, [("", 4, 5.0), (None, 5, 6.0)])
    assert "DELTA_MULTIPLE_SOURCE_ROW" in world.job(job, ok=False).stderr


def case_schema_is_enforced_and_merged(world):
    from deltalake import write_deltalake
    import pyarrow as pa
    write_deltalake(world.path("out"), pa.table({"device": ["z"], "kwh": [1.0]}))
    feed(world, [("a", 0, 1.0)])
    job = READINGS + "CREATE STREAMING TABLE t USING delta OPTIONS (path 'out', outputMode 'append', checkpointLocation 'ck'%s) AS SELECT device, kwh, n FROM STREAM readings;"
    done = world.job(job % "", ok=False)
    assert "DELTA_METADATA_MISMATCH" in done.stderr, done.stderr
    assert world.delta("out").version() == 0
    world.job(job % ", mergeSchema 'true'")
    assert world.same("out") == [{"device": "a", "kwh": 1.0, "n": 0}, {"device": "z", "kwh": 1.0}]
    done = world.job(READINGS + "CREATE STREAMING TABLE t USING delta OPTIONS (path 'out', outputMode 'append', checkpointLocation 'ck3') AS SELECT device, array(kwh) AS kwh FROM STREAM readings;",
                     ok=False)
    assert "DELTA_FAILED_TO_MERGE_FIELDS" in done.stderr, done.stderr


def case_constraints_hold(world):
    from deltalake import write_deltalake
    import pyarrow as pa
    write_deltalake(world.path("out"), pa.table({"device": ["z"], "kwh": [1.0]}))
    world.delta("out").alter.add_constraint({"positive": "kwh > 0"})
    job = READINGS + "CREATE STREAMING TABLE t USING delta OPTIONS (path 'out', outputMode 'append', checkpointLocation 'ck') AS SELECT device, kwh FROM STREAM readings;"
    feed(world, [("a", 0, 1.0)])
    world.job(job)
    assert len(world.same("out")) == 2
    feed(world, [("b", 0, -1.0)])
    done = world.job(job, ok=False)
    assert "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES" in done.stderr and "positive" in done.stderr, done.stderr
    assert len(world.same("out")) == 2


def case_a_struct_is_no_partition_column(world):
    feed(world, [("a", 0, 1.0)])
    done = world.job(READINGS + """
CREATE STREAMING TABLE t USING delta OPTIONS (path 'out', outputMode 'append', checkpointLocation 'ck')
PARTITIONED BY (s) AS SELECT *, struct(kwh AS x) AS s FROM STREAM readings;""", ok=False)
    assert "DELTA_INVALID_PARTITION_COLUMN_TYPE" in done.stderr, done.stderr


def case_checkpoints_are_read(world):
    job = READINGS + "CREATE STREAMING TABLE t USING delta OPTIONS (path 'out', outputMode 'append', checkpointLocation 'ck') AS SELECT * FROM STREAM readings;"
    feed(world, *[[(f"d{i}", i % 60, float(i))] for i in range(23)])
    world.job(job)
    names = os.listdir(world.path("out/_delta_log"))
    assert f"{20:020}.checkpoint.parquet" in names and "_last_checkpoint" in names, names
    assert len(world.same("out")) == 23
    for version in range(20):  # only the checkpoint is left of them
        os.remove(world.path(f"out/_delta_log/{version:020}.json"))
    assert len(world.same("out")) == 23
    feed(world, [("last", 0, 1.0)])
    world.job(job)
    assert len(world.same("out")) == 24


def case_kill_at_random(world):
    kills = int(os.environ.get("FLOODMARK_KILLS", "25"))
    feed(world, *[[(f"d{i % 5}", i * 7, float(i)), ("e", i * 7 + 3, 1.0)] for i in range(40)])
    jobs = {
        "append": "AS SELECT window.start AS w, device, sum(kwh) AS kwh, count(*) AS c FROM STREAM readings WATERMARK at DELAY OF INTERVAL 10 MINUTES GROUP BY window(at, '5 minutes'), device;",
        "update": "AS SELECT window.start AS w, device, sum(kwh) AS kwh, count(*) AS c FROM STREAM readings WATERMARK at DELAY OF INTERVAL 10 MINUTES GROUP BY window(at, '5 minutes'), device;",
    }
    for mode, query in jobs.items():
        text = READINGS + f"CREATE STREAMING TABLE t USING delta OPTIONS (path '${{out}}', outputMode '{mode}', checkpointLocation '${{out}}-ck') " + query
        world.job(text, name=mode + ".sql", out=world.path(mode + "-calm"))
        expected = world.rows(mode + "-calm")
        assert len(expected) > 30
        for i in range(kills if mode == "append" else max(kills // 3, 1)):
            name = f"{mode}-{i}"
            for _ in range(4):
                p = subprocess.Popen([world.program, "run", world.path(mode + ".sql"), "--available-now", "--progress", "none", "-c", f"out={world.path(name)}",
                                      "-c", "spark.sql.session.timeZone=UTC"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=world.folder)
                time.sleep(random.uniform(0.005, 0.15))
                p.send_signal(signal.SIGKILL)
                p.wait()
            world.job(text, name=mode + ".sql", out=world.path(name))
            got = world.rows(name)
            assert got == expected, f"{mode}, run {i}: the rows differ"
            batches = [json.loads(line)["txn"]["version"] for f in sorted(glob.glob(world.path(name + "/_delta_log/*.json"))) for line in open(f) if '"txn"' in line]
            assert batches == sorted(set(batches)), f"a batch was committed twice: {batches}"
