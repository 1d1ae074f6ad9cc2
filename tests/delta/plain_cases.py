"""INSERT and CREATE TABLE AS into tables of files."""
import glob
import os
import random
import signal
import subprocess
import time

import pyarrow.parquet


def script(world, *statements, ok=True, **settings):
    return world.job(";\n".join(statements) + ";\n", ok=ok, name="script.sql", floodmark__warehouse=world.path("wh"), **settings)


J = "CREATE TABLE j (a INT, p STRING, b STRING) USING json OPTIONS (path 'j') PARTITIONED BY (p)"


def files(world, name, kind):
    return sorted(os.path.relpath(f, world.path(name)) for f in glob.glob(world.path(f"{name}/**/part-*.{kind}"), recursive=True))


def lines(world, name, kind="json"):
    return sorted((os.path.dirname(f), line) for f in files(world, name, kind) for line in open(world.path(f"{name}/{f}")).read().splitlines())


def case_files_append_and_overwrite(world):
    # Partition columns stand last, as in Spark.
    script(world, J, "INSERT INTO j VALUES (1, 'x', 'u/v'), (2, NULL, NULL)", "INSERT INTO j (p, a) SELECT 'w', 3L")
    assert lines(world, "j") == [("p=__HIVE_DEFAULT_PARTITION__", '{"a":2}'), ("p=u%2Fv", '{"a":1,"b":"x"}'), ("p=w", '{"a":3}')], lines(world, "j")
    assert os.path.getsize(world.path("j/_SUCCESS")) == 0 and not os.path.exists(world.path("j/_temporary"))
    script(world, J, "INSERT OVERWRITE j PARTITION (p = 'w') VALUES (4, 'new')")
    assert lines(world, "j") == [("p=__HIVE_DEFAULT_PARTITION__", '{"a":2}'), ("p=u%2Fv", '{"a":1,"b":"x"}'), ("p=w", '{"a":4,"b":"new"}')]
    script(world, J, "SET spark.sql.sources.partitionOverwriteMode = dynamic", "INSERT OVERWRITE j SELECT 5, 'dyn', 'u/v'")
    assert lines(world, "j") == [("p=__HIVE_DEFAULT_PARTITION__", '{"a":2}'), ("p=u%2Fv", '{"a":5,"b":"dyn"}'), ("p=w", '{"a":4,"b":"new"}')]
    script(world, J, "INSERT OVERWRITE j SELECT a + 10, b, p FROM j WHERE a < 5")
    assert lines(world, "j") == [("p=__HIVE_DEFAULT_PARTITION__", '{"a":12}'), ("p=w", '{"a":14,"b":"new"}')]


def case_formats(world):
    script(world, "CREATE TABLE q USING parquet AS SELECT 1 AS n, named_struct('x', array(1.5D)) AS s", "INSERT INTO q VALUES (2L, NULL)",
           "CREATE TABLE c (a INT, d DATE) USING csv OPTIONS (path 'c', header 'true', sep ';')", "INSERT INTO c VALUES (1, TIMESTAMP '2026-01-02 03:04:05')",
           "CREATE TABLE t (v STRING) USING text OPTIONS (path 't')", "INSERT INTO t VALUES ('one'), ('two')")
    rows = pyarrow.parquet.read_table(world.path("wh/q")).to_pylist()
    assert sorted(rows, key=lambda r: r["n"]) == [{"n": 1, "s": {"x": [1.5]}}, {"n": 2, "s": None}], rows
    assert [line for _, line in lines(world, "c", "csv")] == ["1;2026-01-02", "a;d"], lines(world, "c", "csv")
    assert [line for _, line in lines(world, "t", "txt")] == ["one", "two"]
    done = script(world, "CREATE TABLE q USING parquet AS SELECT 1 AS n", ok=False)
    assert "[LOCATION_ALREADY_EXISTS]" in done.stderr, done.stderr
    script(world, "CREATE TABLE q (n INT) USING parquet", "DROP TABLE q")
    assert not os.path.exists(world.path("wh/q"))


def case_file_refusals(world):
    for condition, text in [
        ("INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST", "INSERT INTO j VALUES ('x', 'y', 'z')"), ("INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS", "INSERT INTO j VALUES (1, 'a', 'b', 2)"),
        ("INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS", "INSERT INTO j VALUES (1)"), ("UNRESOLVED_COLUMN.WITH_SUGGESTION", "INSERT INTO j (a, q) VALUES (1, 2)"),
        ("CAST_OVERFLOW", "INSERT INTO j VALUES (5000000000, 'a', 'b')"), ("NON_PARTITION_COLUMN", "INSERT INTO j PARTITION (a = 1) VALUES ('b')"),
        ("UNSUPPORTED_OVERWRITE.TABLE", "INSERT INTO j REPLACE WHERE a = 1 VALUES (1, 'a', 'b')"), ("UNSUPPORTED_INSERT.RDD_BASED", "CREATE TABLE r USING rate; INSERT INTO r VALUES (1)"),
        ("DELTA_TABLE_ONLY_OPERATION", "UPDATE j SET a = 1"), ("DELTA_TABLE_ONLY_OPERATION", "DELETE FROM j"),
    ]:
        done = script(world, J, text, ok=False)
        assert f"[{condition}]" in done.stderr, (text, done.stderr)
        assert files(world, "j", "json") == [] and not os.path.exists(world.path("j/_temporary")), text
    world.write("in/a.json", '{"a": 1}\n')
    world.job("CREATE TABLE src (a INT) USING json OPTIONS (path 'in'); CREATE STREAMING TABLE o USING json OPTIONS (path 'out', checkpointLocation 'ck') AS SELECT * FROM STREAM src;")
    done = script(world, "CREATE TABLE o (a INT) USING json OPTIONS (path 'out')", "INSERT INTO o VALUES (2)", ok=False)
    assert "[FLOODMARK_OUTPUT_OF_A_STREAM]" in done.stderr, done.stderr


def case_killed_insert_shows_nothing(world):
    world.write("script.sql", "CREATE TABLE big (id BIGINT, s STRING) USING parquet OPTIONS (path 'big'); INSERT INTO big SELECT id, repeat('x', 50) FROM "
                "(SELECT explode(sequence(1, 1000)) * 1000 AS a) LATERAL VIEW explode(sequence(1, 600)) t AS id;")
    seen = 0
    for _ in range(int(os.environ.get("FLOODMARK_KILLS", "25")) // 3):
        p = subprocess.Popen([world.program, "run", world.path("script.sql")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=world.folder)
        time.sleep(random.uniform(0.01, 0.2))
        p.send_signal(signal.SIGKILL)
        p.wait()
        seen += bool(glob.glob(world.path("big/_temporary/*/*")))
        for f in glob.glob(world.path("big/part-*")):  # what readers see is whole
            assert pyarrow.parquet.read_metadata(f).num_rows == 600000
