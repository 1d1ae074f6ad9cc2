"""What floodmark writes, read by Spark; what Spark then does to it, read by floodmark."""
import glob
import json

import property

STREAM = """CREATE TABLE src (%s) USING json OPTIONS (path 'in/', maxFilesPerTrigger '1');
CREATE STREAMING TABLE s USING delta OPTIONS (path 't', outputMode '%s', checkpointLocation 'ck'%s) %s AS %s;"""
EVENTS = "device STRING, at TIMESTAMP, kwh DOUBLE, n INT"


def feed(world, *batches):
    have = len(glob.glob(world.path("in/*.json")))
    for i, rows in enumerate(batches):
        world.write(f"in/{have + i:04}.json", "".join(json.dumps(r) + "\n" for r in rows))


def events(k, n=6):
    return [{"device": [None, "a", "b/ü %", "c=d"][(k + i) % 4], "at": f"2026-01-01T{10 + k:02}:{i * 7:02}:00.123Z", "kwh": (k + i) / 4, "n": k * 10 + i} for i in range(n)]


def case_append_of_many_types(world):
    feed(world, *[events(k) for k in range(12)])  # beyond a checkpoint
    world.job(STREAM % (EVENTS, "append", "", "PARTITIONED BY (device, d)", """SELECT *, struct(kwh AS x, array(at, NULL) AS y) AS s, map(concat('k', n), CAST(kwh AS DECIMAL(12,3))) AS m,
        CAST(n AS TINYINT) AS i8, CAST(n AS SMALLINT) AS i16, CAST(n AS BIGINT) AS i64, CAST(kwh AS FLOAT) AS f, CAST(device AS BINARY) AS bin, date(at) AS d,
        CAST(at AS TIMESTAMP_NTZ) AS ntz, n % 2 = 0 AS even, array(array(n), NULL) AS aa, CAST(n AS DECIMAL(30,5)) AS big FROM STREAM src"""))
    world.both("t", 72)
    schema = {f.name: f.dataType.simpleString() for f in world.spark.table(world.table("t")).schema.fields}
    assert schema["m"] == "map<string,decimal(12,3)>" and schema["ntz"] == "timestamp_ntz" and schema["i8"] == "tinyint", schema
    assert [r.partitionColumns for r in world.spark.sql(f"DESCRIBE DETAIL {world.table('t')}").collect()] == [["device", "d"]]
    world.do("DELETE FROM {t} WHERE n % 3 = 0", "UPDATE {t} SET kwh = -1 WHERE device IS NULL", "OPTIMIZE {t}")
    world.both("t", 48)
    feed(world, events(11))
    world.job(open(world.path("job.sql")).read())
    world.both("t", 54)


def upserts(world, properties):
    world.do(f"CREATE TABLE {{t}} (w TIMESTAMP, device STRING, kwh DOUBLE, n BIGINT) USING delta TBLPROPERTIES ({properties})")
    query = ("SELECT window.start AS w, device, sum(kwh) AS kwh, count(*) AS n FROM STREAM src WATERMARK at DELAY OF INTERVAL 30 DAYS "
             "GROUP BY window(at, '30 minutes'), device")
    feed(world, *[events(k % 3) for k in range(9)])
    world.job(STREAM % (EVENTS, "update", "", "", query))
    rows = world.both("t")
    sums = [json.loads(r) for r in rows]
    assert sum(r["n"] for r in sums) == 54 and len({(r["w"], r["device"]) for r in sums}) == len(sums), rows
    world.do("DELETE FROM {t} WHERE device = 'a'")
    world.both("t")
    feed(world, events(0))
    world.job(STREAM % (EVENTS, "update", "", "", query))
    world.both("t")
    world.do("OPTIMIZE {t}")
    world.both("t")
    feed(world, events(1))
    world.job(STREAM % (EVENTS, "update", "", "", query))
    world.both("t")
    return world


def case_upsert_copy_on_write(world):
    upserts(world, "'delta.enableDeletionVectors' = 'false'")


def case_upsert_with_deletion_vectors(world):
    upserts(world, "'delta.enableDeletionVectors' = 'true'")
    assert world.spark.sql(f"SELECT count(*) FROM {world.table('t')}").first()[0] > 0


def case_upsert_with_column_mapping_and_v2_checkpoints(world):
    upserts(world, "'delta.enableDeletionVectors' = 'true', 'delta.columnMapping.mode' = 'name', 'delta.checkpointPolicy' = 'v2', 'delta.checkpointInterval' = '2'")


def case_complete(world):
    feed(world, *[events(k) for k in range(3)])
    world.job(STREAM % (EVENTS, "complete", "", "", "SELECT device, sum(kwh) AS kwh, max(at) AS last FROM STREAM src GROUP BY device"))
    world.both("t", 4)
    history = [r.operation for r in world.spark.sql(f"DESCRIBE HISTORY {world.table('t')}").collect()]
    assert len(history) == 3 and set(history) == {"STREAMING UPDATE"}, history


def case_columns_appear(world):
    feed(world, events(0))
    world.job(STREAM % (EVENTS, "append", "", "", "SELECT device, n FROM STREAM src"))
    feed(world, events(1))
    world.job(STREAM % (EVENTS, "append", ", mergeSchema 'true'", "", "SELECT device, n, struct(kwh AS a) AS s FROM STREAM src"))
    feed(world, events(2))
    world.job(STREAM % (EVENTS, "append", ", mergeSchema 'true'", "", "SELECT device, n, struct(kwh AS a, at AS b) AS s FROM STREAM src"))
    world.both("t", 18)


def case_tables_that_spark_made(world):
    """Constraints, generated columns, defaults, clustering, in-commit timestamps: what is written into them keeps Spark's rules."""
    world.do("""CREATE TABLE {t} (device STRING NOT NULL, n INT, day DATE GENERATED ALWAYS AS (CAST(at AS DATE)), at TIMESTAMP, note STRING DEFAULT 'none')
                USING delta CLUSTER BY (device) TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported', 'delta.enableInCommitTimestamps' = 'true')""",
             "ALTER TABLE {t} ADD CONSTRAINT small CHECK (n < 1000)")
    feed(world, [r for r in events(0) if r["device"]])
    query = "SELECT device, n, at FROM STREAM src"
    world.job(STREAM % (EVENTS, "append", "", "", query))
    for row in map(json.loads, world.both("t")):
        assert row["day"] == "2026-01-01" and row["note"] == "none", row
    feed(world, [{"device": "x", "at": "2026-01-01T00:00:00Z", "n": 1000}])
    done = world.job(STREAM % (EVENTS, "append", "", "", query), ok=False)
    assert "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES" in done.stderr, done.stderr
    world.do("INSERT INTO {t} (device, n, at) VALUES ('spark', 1, TIMESTAMP '2026-02-02 00:00:00')", "OPTIMIZE {t}")
    world.both("t")


def case_statements(world):
    """Tables by floodmark's SQL."""
    for name, more in (("cow", ""), ("dv", " TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"),
                       ("mapped", " TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.checkpointInterval' = '2')")):
        world.floodmark(f"CREATE TABLE {{{name}}} (id INT, v DOUBLE, p STRING, s STRUCT<a: INT, b: ARRAY<STRING>>) USING delta PARTITIONED BY (p){more}",
                        f"INSERT INTO {{{name}}} SELECT id, id / 4, array('x', 'y z', NULL)[id % 3], named_struct('a', CAST(id AS INT), 'b', array('q', NULL)) FROM range(30)",
                        f"UPDATE {{{name}}} SET v = v + 100, s = NULL WHERE id % 5 = 0", f"DELETE FROM {{{name}}} WHERE id % 7 = 0",
                        f"""MERGE INTO {{{name}}} t USING (SELECT id, 1.5D AS v, 'y z' AS p FROM range(20, 40)) s ON t.id = s.id
                            WHEN MATCHED AND t.id < 25 THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.v, p = s.p WHEN NOT MATCHED THEN INSERT (id, v, p) VALUES (s.id, s.v, s.p)""")
        world.both(name)
        world.floodmark(f"OPTIMIZE {{{name}}}")
        world.both(name)
        world.floodmark(f"VACUUM {{{name}}} RETAIN 0 HOURS", spark__databricks__delta__retentionDurationCheck__enabled="false")
        world.both(name)
        world.do(f"MERGE INTO {{{name}}} t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE")
        world.both(name)
        world.floodmark(f"RESTORE TABLE {{{name}}} TO VERSION AS OF 5")
        world.both(name)


def case_random_tables(world):
    """Random schemas and histories (tests/delta/property.py), read by Spark, too."""
    def read(table):
        lines = [r[0] for r in world.spark.sql(f"SELECT {property.AS_JSON} FROM delta.`{table.path}`").collect()]
        return property.from_json_lines(lines, table.columns)
    wrong = property.lives(world.program, world.path("tables"), world.many, world.seed, 12, [("Spark", read)])
    assert not wrong, f"{len(wrong)} of {world.many} tables, seeds from {world.seed}"


def case_partitions(world):
    rows = [{"id": i, "t": t, "at": a, "n": n, "x": x} for i, (t, a, n, x) in enumerate(
        [("a/b", "1969-12-31T23:59:59.999999Z", -1, 0.1), ("ü %=:", "2026-01-01T00:00:00Z", 0, -0.0), ("", None, None, None), (None, "0900-01-01T00:00:00.5Z", 2**31 - 1, 1e300),
         ("q'\"\\ ", "9999-12-31T23:59:59.123Z", 7, 5e-324)])]
    feed(world, rows)
    world.job(STREAM % ("id INT, t STRING, at TIMESTAMP, n INT, x DOUBLE", "append", "", "PARTITIONED BY (t, at, n, x, dec, d, b)",
                        "SELECT *, CAST(n / 7 AS DECIMAL(20,6)) AS dec, date(at) AS d, n > 0 AS b FROM STREAM src"))
    world.both("t", 5)
