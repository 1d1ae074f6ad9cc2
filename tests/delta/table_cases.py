"""Tables by SQL: CREATE TABLE, INSERT, UPDATE, DELETE, MERGE, time travel."""
import glob
import json


def script(world, *statements, ok=True, **settings):
    """Runs statements in one session; the rows that queries print are not looked at."""
    return world.job(";\n".join(statements) + ";\n", ok=ok, name="script.sql", floodmark__warehouse=world.path("wh"), **settings)


def rows(world, table, more=""):
    """Read by us and by delta-rs, the same."""
    from world import as_json
    ours, theirs = world.our_rows("wh/" + table, more), world.rows("wh/" + table)
    assert more or as_json(ours) == as_json(theirs), f"we read\n{ours}\ndelta-rs reads\n{theirs}"
    return ours


def infos(world, table):
    out = []
    for name in sorted(glob.glob(world.path(f"wh/{table}/_delta_log/*.json"))):
        out += [json.loads(line)["commitInfo"] for line in open(name) if '"commitInfo"' in line]
    return out


def case_create_and_insert(world):
    script(world, "CREATE TABLE t (id INT NOT NULL, name STRING DEFAULT 'x', twice INT GENERATED ALWAYS AS (id * 2)) USING delta",
           "INSERT INTO t (id, name) VALUES (1, 'a'), (2, NULL)", "INSERT INTO t (id) VALUES (3)", "INSERT INTO t BY NAME SELECT 'z' AS name, 4L AS id")
    assert rows(world, "t") == [{"id": 1, "name": "a", "twice": 2}, {"id": 2, "twice": 4}, {"id": 3, "name": "x", "twice": 6}, {"id": 4, "name": "z", "twice": 8}]
    done = script(world, "INSERT INTO t (id, name) VALUES (NULL, 'n')", ok=False)
    assert "DELTA_NOT_NULL_CONSTRAINT_VIOLATED" in done.stderr, done.stderr
    assert world.delta("wh/t").version() == 3


def case_update_delete_merge(world):
    for table, properties in (("cow", ""), ("dv", " TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")):
        script(world, f"CREATE TABLE {table} (id INT, v DOUBLE, p STRING) USING delta PARTITIONED BY (p){properties}",
               f"INSERT INTO {table} VALUES (1, 1.0, 'a'), (2, 2.0, 'a'), (3, 3.0, 'b'), (4, 4.0, NULL)", f"UPDATE {table} SET v = v * 10 WHERE id >= 3",
               f"DELETE FROM {table} WHERE id = 2",
               f"""MERGE INTO {table} AS t USING (VALUES (1, 7.0D, 'c'), (9, 9.0D, 'd')) AS s (id, v, p) ON t.id = s.id
                   WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT * WHEN NOT MATCHED BY SOURCE AND t.p IS NULL THEN DELETE""")
        assert world.our_rows("wh/" + table) == [{"id": 1, "p": "c", "v": 7.0}, {"id": 3, "p": "b", "v": 30.0}, {"id": 9, "p": "d", "v": 9.0}]
        assert world.our_rows("wh/" + table, " VERSION AS OF 1") == [{"id": 1, "p": "a", "v": 1.0}, {"id": 2, "p": "a", "v": 2.0}, {"id": 3, "p": "b", "v": 3.0}, {"id": 4, "v": 4.0}]
        vectors = glob.glob(world.path(f"wh/{table}/**/deletion_vector_*.bin"), recursive=True)
        assert bool(vectors) == (table == "dv"), vectors
