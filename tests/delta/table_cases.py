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


def case_merge_clauses_in_order(world):
    script(world, "CREATE TABLE t (id INT, v INT, note STRING) USING delta", "INSERT INTO t VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c'), (4, 4, 'd')",
           """MERGE INTO t USING (SELECT * FROM VALUES (1, 10), (2, 20), (3, 30), (5, 50), (6, 60) AS s (id, v)) s ON t.id = s.id
              WHEN MATCHED AND s.v = 10 THEN DELETE
              WHEN MATCHED AND s.v < 25 THEN UPDATE SET note = concat(note, '!'), t.v = s.v
              WHEN MATCHED THEN UPDATE SET v = t.v + s.v
              WHEN NOT MATCHED AND v > 55 THEN INSERT (id, note) VALUES (id, 'big')
              WHEN NOT MATCHED THEN INSERT (v, id) VALUES (v, id)
              WHEN NOT MATCHED BY SOURCE AND v = 4 THEN UPDATE SET note = 'alone'""")
    assert rows(world, "t") == [{"id": 2, "note": "b!", "v": 20}, {"id": 3, "note": "c", "v": 33}, {"id": 4, "note": "alone", "v": 4}, {"id": 5, "v": 50}, {"id": 6, "note": "big"}]
    last = infos(world, "t")[-1]
    assert last["operation"] == "MERGE" and last["operationMetrics"]["numTargetRowsInserted"] == "2" and last["operationMetrics"]["numTargetRowsDeleted"] == "1", last
    assert json.loads(last["operationParameters"]["notMatchedPredicates"]) == [{"predicate": "(v > 55)", "actionType": "insert"}, {"actionType": "insert"}], last


def case_merge_refusals(world):
    setup = ["CREATE TABLE IF NOT EXISTS t (id INT, v INT) USING delta", "INSERT OVERWRITE t VALUES (1, 1)"]
    twice = "(SELECT 1 AS id, 5 AS v UNION ALL SELECT 1, 6)"
    for condition, text in [
        ("DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE", f"MERGE INTO t USING {twice} s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *"),
        ("DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE", f"MERGE INTO t USING {twice} s ON t.id = s.id WHEN MATCHED AND s.v > 4 THEN DELETE"),
        ("DELTA_MERGE_UNRESOLVED_EXPRESSION", "MERGE INTO t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *"),
        ("UNRESOLVED_COLUMN.WITH_SUGGESTION", "MERGE INTO t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET w = 1"),
        ("DELTA_CONFLICT_SET_COLUMN", "UPDATE t SET v = 1, t.v = 2"),
        ("NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION", "MERGE INTO t USING t s ON t.id = s.id WHEN MATCHED THEN DELETE WHEN MATCHED THEN UPDATE SET v = 1"),
        ("CAST_INVALID_INPUT", "UPDATE t SET v = 'abc'"),
        ("TABLE_OR_VIEW_NOT_FOUND", "DELETE FROM nosuch"),
    ]:
        done = script(world, *setup, text, ok=False)
        assert f"[{condition}]" in done.stderr, done.stderr
    # Two rows that only delete are fine, and rows that match without doing anything, too.
    script(world, *setup, f"MERGE INTO t USING {twice} s ON t.id = s.id WHEN MATCHED AND s.v = 5 THEN UPDATE SET v = s.v")
    assert rows(world, "t") == [{"id": 1, "v": 5}]
    script(world, f"MERGE INTO t USING {twice} s ON t.id = s.id WHEN MATCHED THEN DELETE")
    assert rows(world, "t") == []


def case_merge_evolves(world):
    script(world, "CREATE TABLE t (id INT, s STRUCT<x: INT>, d INT DEFAULT 9) USING delta", "INSERT INTO t VALUES (1, named_struct('x', 1), 1), (2, NULL, 2)",
           """MERGE WITH SCHEMA EVOLUTION INTO t USING (SELECT 1 AS id, named_struct('y', 'n', 'x', 5L) AS s, 'e' AS extra, 0 AS unused UNION ALL SELECT 3, named_struct('y', 'm', 'x', 7L), 'f', 0) s
              ON t.id = s.id WHEN MATCHED THEN UPDATE SET s = s.s, extra = s.extra WHEN NOT MATCHED THEN INSERT (id, s, extra) VALUES (s.id, s.s, s.extra)""", ok=False)
    script(world, """MERGE WITH SCHEMA EVOLUTION INTO t USING (SELECT 1 AS id, named_struct('y', 'n', 'x', 5) AS s, 'e' AS extra UNION ALL SELECT 3, named_struct('y', 'm', 'x', 7), 'f') s
              ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *""")
    assert rows(world, "t") == [{"d": 1, "extra": "e", "id": 1, "s": {"x": 5, "y": "n"}}, {"d": 2, "id": 2}, {"d": 9, "extra": "f", "id": 3, "s": {"x": 7, "y": "m"}}], rows(world, "t")


def case_change_files(world):
    import pyarrow.parquet
    for vectors in ("false", "true"):
        table = "v" + vectors
        script(world, f"CREATE TABLE {table} (id INT, p STRING) USING delta PARTITIONED BY (p) TBLPROPERTIES (delta.enableChangeDataFeed = true, delta.enableDeletionVectors = {vectors})",
               f"INSERT INTO {table} VALUES (1, 'a'), (2, 'a'), (3, 'b')", f"UPDATE {table} SET p = 'b' WHERE id = 1", f"DELETE FROM {table} WHERE id = 2",
               f"MERGE INTO {table} t USING (SELECT 3 AS id UNION ALL SELECT 4) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET id = 30 WHEN NOT MATCHED THEN INSERT (id, p) VALUES (s.id, 'c')")
        seen = []
        for version, name in enumerate(sorted(glob.glob(world.path(f"wh/{table}/_delta_log/*.json")))):
            for action in map(json.loads, open(name)):
                if "cdc" not in action:
                    continue
                cdc = action["cdc"]
                assert cdc["path"].startswith("_change_data/") and cdc["dataChange"] is False, cdc
                table_of = pyarrow.parquet.read_table(world.path(f"wh/{table}/" + cdc["path"]), partitioning=None)
                seen += [(version, r["_change_type"], r["id"], cdc["partitionValues"]["p"]) for r in table_of.to_pylist()]
        assert sorted(seen) == [(2, "update_postimage", 1, "b"), (2, "update_preimage", 1, "a"), (3, "delete", 2, "a"), (4, "insert", 4, "c"),
                                (4, "update_postimage", 30, "b"), (4, "update_preimage", 3, "b")], seen
