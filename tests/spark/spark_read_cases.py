"""What Spark writes, read by floodmark, or refused by name."""
import glob
import json
import os

ROWS = """SELECT id, CAST(id % 4 AS INT) AS i, concat('v', id) AS v, CAST(id / 3 AS DECIMAL(20,7)) AS d, timestamp_micros(1700000000000001 + id * 86400000123) AS at
FROM range(0, 40)"""


def make(world, properties="", partition="", name="t", rows=ROWS):
    world.do(f"CREATE TABLE {{{name}}} USING delta {partition} {f'TBLPROPERTIES ({properties})' if properties else ''} AS {rows}")


def features(world, name="t"):
    found = set()
    for path in glob.glob(world.path(name + "/_delta_log/*.json")):
        for line in open(path):
            protocol = json.loads(line).get("protocol") or {}
            found |= set(protocol.get("readerFeatures", [])) | set(protocol.get("writerFeatures", []))
    return found


def case_partitions(world):
    texts = ["a/b", "a=b", "ü %", "100%", "x:y", "q'q", 'd"d', "back\\\\slash", "#?*[]{}", " lead", "trail ", "\\u0001", "new\\nline", "e\\u0301", "NULL", "a+b&c", "~^|", "."]
    values = ", ".join(f"({i}, {repr_sql(t)})" for i, t in enumerate(texts)) + ", (90, NULL), (91, '')"
    world.do(f"CREATE TABLE {{t}} USING delta PARTITIONED BY (p) AS SELECT * FROM VALUES {values} AS t(id, p)")
    world.both("t", 20)
    kinds = {"b": "id % 2 = 0", "i8": "CAST(-id AS TINYINT)", "i64": "id * 4000000000", "f": "CAST(id / 3 AS FLOAT)", "d": "id / 7", "nan": "IF(id = 1, CAST('NaN' AS DOUBLE), -0.0D)",
             "dec": "CAST(-id / 3 AS DECIMAL(20,7))", "date": "date_sub(DATE '1970-01-02', CAST(id * 700 AS INT))",
             "ts": "timestamp_micros(-1700000000000001 + id * 864000000000001)", "ntz": "CAST(timestamp_micros(1700000000000001 + id) AS TIMESTAMP_NTZ)",
             "bin": "CAST(concat('x', id) AS BINARY)", "many": None}
    for name, e in kinds.items():
        if e is None:
            world.do(f"CREATE TABLE {{{name}}} USING delta PARTITIONED BY (q, p) AS SELECT id, id % 3 AS p, IF(id = 2, NULL, date_add(DATE '2026-01-01', CAST(id AS INT))) AS q FROM range(7)")
        else:
            world.do(f"CREATE TABLE {{{name}}} USING delta PARTITIONED BY (p) AS SELECT id, IF(id = 3, NULL, {e}) AS p FROM range(5)")
        try:
            world.both(name)
        except AssertionError as problem:
            raise AssertionError(f"partitions by {name}: {problem}")


def repr_sql(text):
    return "'" + text.replace("'", "\\'") + "'"


def case_types_and_nesting(world):
    world.do("""CREATE TABLE {t} USING delta AS SELECT id, named_struct('a', id, 'b', array(named_struct('c', map('k', array(id, NULL))), NULL)) AS s,
        map(id, named_struct('x', CAST(id AS DECIMAL(38,18)))) AS m, array(array(), NULL, array(CAST(id AS FLOAT))) AS l, CAST(NULL AS STRUCT<q: INT>) AS none,
        X'00FF' AS bin, CAST('1582-10-04' AS DATE) AS old, TIMESTAMP '0001-01-01 00:00:00' AS ancient, TIMESTAMP_NTZ '9999-12-31 23:59:59.999999' AS far,
        CAST(id AS TINYINT) AS i8, CAST(id AS SMALLINT) AS i16, CAST('NaN' AS DOUBLE) AS nan, -0.0D AS zero, CAST(NULL AS BOOLEAN) AS b, CAST(0.1 AS FLOAT) AS f,
        CAST('x' AS CHAR(3)) AS c, CAST('y' AS VARCHAR(9)) AS vc FROM range(5)""")
    world.both("t", 5)


def case_deletion_vectors(world):
    make(world, "'delta.enableDeletionVectors' = 'true'")
    world.do("DELETE FROM {t} WHERE id % 3 = 1", "UPDATE {t} SET v = 'new' WHERE id % 5 = 0", "DELETE FROM {t} WHERE id > 35")
    assert "deletionVectors" in features(world)
    world.both("t")
    world.do("CREATE TABLE {big} USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true') AS SELECT id FROM range(0, 300000, 1, 2)", "DELETE FROM {big} WHERE id % 2 = 0 OR id BETWEEN 70000 AND 140000")
    assert world.spark.table(world.table("big")).count() == json.loads(world.run("sql", f"SELECT count(*) AS n FROM {world.table('big')}", "--format", "json").stdout)["n"]
    world.do("MERGE INTO {t} USING (SELECT 3 AS id, 'merged' AS v UNION ALL SELECT 1000, 'added') s ON {t}.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)"
             .replace("{t}.id", "t.id").replace("INTO {t}", "INTO {t} t"))
    world.both("t")
    world.do("REORG TABLE {t} APPLY (PURGE)")
    world.both("t")


def mapping(world, mode):
    make(world, f"'delta.columnMapping.mode' = '{mode}'", "PARTITIONED BY (i)")
    world.do("ALTER TABLE {t} RENAME COLUMN v TO `a b.c;`", "ALTER TABLE {t} ADD COLUMNS (s STRUCT<x: INT, y: ARRAY<STRING>>)",
             "INSERT INTO {t} SELECT 100, 1, 'new', 1.5, TIMESTAMP '2026-01-01 00:00:00', named_struct('x', 1, 'y', array('q'))",
             "ALTER TABLE {t} RENAME COLUMN s.x TO z", "ALTER TABLE {t} DROP COLUMN d", "ALTER TABLE {t} RENAME COLUMN i TO part",
             "INSERT INTO {t} SELECT 101, NULL, NULL, NULL, named_struct('z', 2, 'y', NULL)")
    world.both("t", 42)
    world.floodmark("INSERT INTO {t} SELECT 102, 7, 'ours', TIMESTAMP '2026-01-02 00:00:00', named_struct('z', 3, 'y', array('r'))")
    world.both("t", 43)


def case_column_mapping_by_name(world):
    mapping(world, "name")


def case_column_mapping_by_id(world):
    mapping(world, "id")


def case_v2_checkpoints(world):
    for name, form in (("json", "json"), ("parquet", "parquet")):
        world.spark.conf.set("spark.databricks.delta.checkpointV2.topLevelFileFormat", form)
        make(world, "'delta.checkpointPolicy' = 'v2', 'delta.checkpointInterval' = '3'", name=name)
        for k in range(8):
            world.do(f"INSERT INTO {{{name}}} SELECT * FROM {{{name}}} WHERE id = {k}")
        assert glob.glob(world.path(name + "/_delta_log/_sidecars/*.parquet")), os.listdir(world.path(name + "/_delta_log"))
        world.both(name, 48)
        for n in range(6):  # the checkpoint must be read for them
            os.remove(world.path(f"{name}/_delta_log/{n:020}.json"))
        world.spark.sql(f"REFRESH TABLE {world.table(name)}")
        out = world.floodmark_rows(name)
        assert len(out) == 48, len(out)


def case_checkpoints_in_parts(world):
    world.spark.conf.set("spark.databricks.delta.checkpoint.partSize", "5")
    try:
        make(world, "'delta.checkpointInterval' = '3', 'delta.checkpoint.writeStatsAsStruct' = 'true', 'delta.checkpoint.writeStatsAsJson' = 'false'", "PARTITIONED BY (id)")
        for k in range(5):
            world.do(f"INSERT INTO {{t}} (id, v) VALUES ({100 + k}, 'x')")
    finally:
        world.spark.conf.unset("spark.databricks.delta.checkpoint.partSize")
    assert glob.glob(world.path("t/_delta_log/*.checkpoint.0*.parquet")), os.listdir(world.path("t/_delta_log"))
    world.both("t", 45)
    for n in range(3):
        os.remove(world.path(f"t/_delta_log/{n:020}.json"))
    assert len(world.floodmark_rows("t")) == 45


def case_type_widening(world):
    world.do("CREATE TABLE {t} (id INT, a TINYINT, f FLOAT, d DECIMAL(6,2), day DATE, s STRUCT<x: SMALLINT>, l ARRAY<INT>) USING delta TBLPROPERTIES ('delta.enableTypeWidening' = 'true', 'delta.feature.timestampNtz' = 'supported')",
             "INSERT INTO {t} SELECT 1, 2Y, 1.5F, 3.25, DATE '2026-01-01', named_struct('x', 7S), array(1, NULL)",
             "ALTER TABLE {t} ALTER COLUMN id TYPE BIGINT", "ALTER TABLE {t} ALTER COLUMN a TYPE SMALLINT", "ALTER TABLE {t} ALTER COLUMN f TYPE DOUBLE", "ALTER TABLE {t} ALTER COLUMN d TYPE DECIMAL(12,4)",
             "ALTER TABLE {t} ALTER COLUMN day TYPE TIMESTAMP_NTZ", "ALTER TABLE {t} ALTER COLUMN s.x TYPE INT", "ALTER TABLE {t} ALTER COLUMN l.element TYPE BIGINT",
             "INSERT INTO {t} SELECT 5000000000, 300S, 1e300, 12345678.1234, TIMESTAMP_NTZ '2026-01-01 12:00:00', named_struct('x', 70000), array(5000000000)",
             "ALTER TABLE {t} ALTER COLUMN a TYPE DOUBLE", "INSERT INTO {t} SELECT 3, 0.5, 1, 1, TIMESTAMP_NTZ '2026-01-01 12:00:00', NULL, NULL")
    world.both("t", 3)


def case_constraints_generated_defaults_identity(world):
    world.do("CREATE TABLE {t} (id BIGINT GENERATED ALWAYS AS IDENTITY, v STRING NOT NULL, n INT DEFAULT 5, len INT GENERATED ALWAYS AS (length(v))) USING delta TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')",
             "INSERT INTO {t} (v) VALUES ('a'), ('bb')", "INSERT INTO {t} (v, n) VALUES ('ccc', NULL)", "ALTER TABLE {t} ADD CONSTRAINT c CHECK (n > 0 OR n IS NULL)")
    world.both("t", 3)
    done = world.floodmark("INSERT INTO {t} (v, n) VALUES ('dddd', 9)", ok=False)
    assert "[DELTA_" in done.stderr and "identity" in done.stderr.lower(), done.stderr  # refused by name: it would have to count
    world.both("t", 3)


def case_change_data_feed(world):
    make(world, "'delta.enableChangeDataFeed' = 'true'")
    world.do("UPDATE {t} SET v = 'u' WHERE id = 1", "DELETE FROM {t} WHERE id = 2", "INSERT INTO {t} (id) VALUES (77)")
    assert glob.glob(world.path("t/_change_data/*"))
    world.both("t", 40)


def case_clustering_and_row_tracking(world):
    world.do("CREATE TABLE {c} (id BIGINT, v STRING) USING delta CLUSTER BY (v)", "INSERT INTO {c} SELECT id, concat('v', id % 3) FROM range(20)", "OPTIMIZE {c}")
    world.both("c", 20)
    world.floodmark("INSERT INTO {c} VALUES (100, 'ours')")
    world.both("c", 21)
    make(world, "'delta.enableRowTracking' = 'true'", name="r")
    world.do("UPDATE {r} SET v = 'u' WHERE id = 1")
    assert "rowTracking" in features(world, "r")
    world.both("r", 40)  # readers need not know it; who writes must
    done = world.floodmark("INSERT INTO {r} (id) VALUES (1000)", ok=False)
    if done.returncode:
        assert "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE" in done.stderr and "rowTracking" in done.stderr, done.stderr
    else:
        world.do("INSERT INTO {r} (id) VALUES (1001)")
        ids = [r[0] for r in world.spark.sql(f"SELECT _metadata.row_id FROM {world.table('r')}").collect()]
        assert None not in ids and len(set(ids)) == len(ids) == 42, ids


def case_variant(world):
    world.do("CREATE TABLE {t} (id INT, v VARIANT) USING delta", "INSERT INTO {t} SELECT 1, parse_json('{\"a\": 1}')")
    world.refused_by_floodmark("t", "[", "ariant")


def case_time_travel_and_history(world):
    make(world)
    world.do("DELETE FROM {t} WHERE id < 10", "OPTIMIZE {t}", "RESTORE TABLE {t} TO VERSION AS OF 0", "UPDATE {t} SET i = NULL WHERE id = 20")
    for version in range(5):
        world.both("t", more=f" VERSION AS OF {version}")
    world.both("t", 40)


def case_in_commit_timestamps_and_log_compaction(world):
    make(world, "'delta.enableInCommitTimestamps' = 'true'")
    for k in range(3):
        world.do(f"INSERT INTO {{t}} (id) VALUES ({100 + k})")
    world.both("t", 43)
    world.floodmark("INSERT INTO {t} (id) VALUES (200)")
    world.both("t", 44)


def case_shallow_clone_and_convert(world):
    """A clone names files of another table by their whole path."""
    make(world, name="base")
    world.do("CREATE TABLE {clone} SHALLOW CLONE {base}", "INSERT INTO {clone} (id) VALUES (99)")
    world.both("clone", 41)
    world.spark.sql(ROWS).write.partitionBy("i").parquet(world.path("plain"))
    world.spark.sql(f"CONVERT TO DELTA parquet.`{world.path('plain')}` PARTITIONED BY (i INT)")
    world.both("plain", 40)


def case_streaming_from_spark_tables(world):
    """A stream of floodmark reads a table while Spark appends to it and compacts it."""
    make(world)
    job = f"CREATE TABLE src USING delta OPTIONS (path '{world.path('t')}');\nCREATE STREAMING TABLE s USING delta OPTIONS (path 'o', outputMode 'append', checkpointLocation 'ck') AS SELECT * FROM STREAM src;"
    world.job(job)
    world.do("INSERT INTO {t} (id) VALUES (100), (101)", "OPTIMIZE {t}", "INSERT INTO {t} (id) VALUES (102)")
    world.job(job)
    assert world.both("o", 43) == world.both("t", 43)


def case_floodmark_streams_go_on_in_spark(world):
    """Spark streams from a table that floodmark writes."""
    world.floodmark("CREATE TABLE {t} (id BIGINT, v STRING) USING delta", "INSERT INTO {t} VALUES (1, 'a')", "INSERT INTO {t} VALUES (2, 'b')")
    def stream():
        query = (world.spark.readStream.format("delta").load(world.path("t")).writeStream.format("delta").option("checkpointLocation", world.path("ck"))
                 .trigger(availableNow=True).start(world.path("o")))
        query.awaitTermination()
    stream()
    world.floodmark("INSERT INTO {t} VALUES (3, NULL)", "OPTIMIZE {t}")
    stream()
    assert world.both("o", 3) == world.both("t", 3)
