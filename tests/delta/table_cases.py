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
    assert last["operationMetrics"]["numSourceRows"] == "5", last
    # All rows of the source count, whatever the condition of the join passes over.
    script(world, "MERGE INTO t USING (SELECT id AS i FROM range(100)) s ON t.id = s.i AND s.i > 90 AND t.v < 0 WHEN NOT MATCHED AND s.i = 99 THEN INSERT (id) VALUES (i)")
    assert infos(world, "t")[-1]["operationMetrics"]["numSourceRows"] == "100"
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
        ("DELTA_AGGREGATION_NOT_SUPPORTED", "UPDATE t SET v = 1 + max(v)"),
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


def case_structs_by_name(world):
    create = ["CREATE OR REPLACE TABLE t (id INT, s STRUCT<x: STRING, y: STRING>, l ARRAY<STRUCT<x: INT, y: INT>>) USING delta", "INSERT INTO t VALUES (1, named_struct('x', 'a', 'y', 'b'), array())"]
    script(world, *create, "UPDATE t SET s = named_struct('y', 'yy', 'x', 'xx')")
    assert rows(world, "t") == [{"id": 1, "l": [], "s": {"x": "xx", "y": "yy"}}], rows(world, "t")
    script(world, *create, "MERGE INTO t USING (SELECT 1 AS id, named_struct('y', 'm', 'x', 'n') AS s) q ON t.id = q.id WHEN MATCHED THEN UPDATE SET s = q.s, s.x = q.s.y", ok=False)
    script(world, *create, "MERGE INTO t USING (SELECT 1 AS id, named_struct('y', 'm', 'x', 'n') AS s) q ON t.id = q.id WHEN MATCHED THEN UPDATE SET s = q.s")
    assert rows(world, "t") == [{"id": 1, "l": [], "s": {"x": "n", "y": "m"}}], rows(world, "t")
    for text in ("UPDATE t SET s = named_struct('x', 'only')", "UPDATE t SET s = named_struct('x', 'a', 'y', 'b', 'z', 'c')", "UPDATE t SET l = array(named_struct('y', 1, 'x', 2))"):
        done = script(world, *create, text, ok=False)
        assert "[DELTA_UPDATE_SCHEMA_MISMATCH_EXPRESSION]" in done.stderr, (text, done.stderr)


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


def case_overwrite_and_replace(world):
    script(world, "CREATE TABLE t (a INT, b STRING DEFAULT 'x', p STRING) USING delta PARTITIONED BY (p)", "INSERT INTO t VALUES (1, DEFAULT, 'u'), (2, 'y', 'u'), (3, 'z', 'v'), (4, 'w', NULL)",
           "INSERT INTO t REPLACE WHERE a <= 2 AND p = 'u' VALUES (2, 'new', 'u')")
    assert rows(world, "t") == [{"a": 2, "b": "new", "p": "u"}, {"a": 3, "b": "z", "p": "v"}, {"a": 4, "b": "w"}]
    done = script(world, "INSERT INTO t REPLACE WHERE a <= 2 VALUES (5, 'no', 'u')", ok=False)
    assert "[DELTA_REPLACE_WHERE_MISMATCH]" in done.stderr, done.stderr
    script(world, "INSERT OVERWRITE t PARTITION (p = 'v') (b, a) VALUES ('q', 9)", "INSERT INTO t PARTITION (p = 'n') SELECT 10, 'ten'")
    assert rows(world, "t") == [{"a": 10, "b": "ten", "p": "n"}, {"a": 2, "b": "new", "p": "u"}, {"a": 4, "b": "w"}, {"a": 9, "b": "q", "p": "v"}], rows(world, "t")
    script(world, "SET spark.sql.sources.partitionOverwriteMode = dynamic", "INSERT OVERWRITE t VALUES (11, 'd', 'u'), (12, 'd', NULL)")
    assert rows(world, "t") == [{"a": 10, "b": "ten", "p": "n"}, {"a": 11, "b": "d", "p": "u"}, {"a": 12, "b": "d"}, {"a": 9, "b": "q", "p": "v"}], rows(world, "t")
    script(world, "INSERT OVERWRITE t SELECT a, b, p FROM t WHERE a > 10")
    assert [r["a"] for r in rows(world, "t")] == [11, 12]
    modes = [(i["operationParameters"]["mode"], i["operationParameters"].get("predicate")) for i in infos(world, "t")[1:]]
    assert modes == [("Append", None), ("Overwrite", "((a <= 2) AND (p = u))"), ("Overwrite", "(p <=> v)"), ("Append", None), ("Overwrite", None), ("Overwrite", None)], modes


def case_create_replace_and_query(world):
    script(world, "CREATE TABLE t USING delta PARTITIONED BY (p) COMMENT 'what' TBLPROPERTIES ('k' = 'v') AS SELECT 1 AS a, 'x' AS p", "CREATE TABLE IF NOT EXISTS t (other INT) USING json OPTIONS (path 'x')",
           "CREATE TABLE copy USING delta LOCATION 'elsewhere' AS SELECT * FROM t")
    assert rows(world, "t") == [{"a": 1, "p": "x"}] and world.our_rows("elsewhere") == [{"a": 1, "p": "x"}]
    first = world.delta("wh/t").metadata()
    assert first.partition_columns == ["p"] and first.description == "what" and first.configuration == {"k": "v"}, first
    done = script(world, "CREATE TABLE t (a INT) USING delta", ok=False)
    assert "[TABLE_OR_VIEW_ALREADY_EXISTS]" in done.stderr, done.stderr
    done = script(world, "REPLACE TABLE nosuch USING delta AS SELECT 1 AS a", ok=False)
    assert "[TABLE_OR_VIEW_NOT_FOUND]" in done.stderr, done.stderr
    script(world, "CREATE OR REPLACE TABLE t (z BIGINT COMMENT 'zed') USING delta")
    assert rows(world, "t") == [] and world.delta("wh/t").metadata().id != first.id
    assert world.our_rows("wh/t", " VERSION AS OF 0") == [{"a": 1, "p": "x"}]
    script(world, "REPLACE TABLE t USING delta AS SELECT 'again' AS s")
    assert rows(world, "t") == [{"s": "again"}]
    assert [i["operation"] for i in infos(world, "t")] == ["CREATE TABLE AS SELECT", "CREATE OR REPLACE TABLE", "REPLACE TABLE AS SELECT"]
    script(world, "DROP TABLE t")
    done = script(world, "SELECT * FROM t", ok=False)
    assert "[TABLE_OR_VIEW_NOT_FOUND]" in done.stderr, done.stderr


def case_insert_refusals(world):
    create = "CREATE OR REPLACE TABLE t (a INT, b STRING) USING delta"
    for condition, text in [
        ("DELTA_INSERT_COLUMN_ARITY_MISMATCH", "INSERT INTO t VALUES (1)"), ("DELTA_METADATA_MISMATCH", "INSERT INTO t VALUES (1, 'a', 2)"),
        ("UNRESOLVED_COLUMN.WITH_SUGGESTION", "INSERT INTO t (a, c) VALUES (1, 2)"), ("COLUMN_ALREADY_EXISTS", "INSERT INTO t (a, a) VALUES (1, 2)"),
        ("CAST_INVALID_INPUT", "INSERT INTO t VALUES ('abc', 'x')"), ("CAST_OVERFLOW", "INSERT INTO t VALUES (5000000000, 'x')"),
        ("NON_PARTITION_COLUMN", "INSERT INTO t PARTITION (b = 'x') VALUES (1)"), ("DELTA_METADATA_MISMATCH", "INSERT INTO t BY NAME SELECT 1 AS a, 2 AS q"),
        ("DELTA_UNKNOWN_CONFIGURATION", "CREATE TABLE u (a INT) USING delta TBLPROPERTIES ('delta.nosuch' = 'x')"),
        ("DELTA_UNSUPPORTED_FEATURES_IN_CONFIG", "CREATE TABLE u (a INT) USING delta TBLPROPERTIES ('delta.enableRowTracking' = 'true')"),
        ("UNRESOLVED_COLUMN.WITH_SUGGESTION", "CREATE TABLE u (a INT GENERATED ALWAYS AS (b + 1)) USING delta"),
        ("DELTA_TABLE_NOT_FOUND", "INSERT INTO delta.`none` VALUES (1)"),
    ]:
        done = script(world, create, text, ok=False)
        assert f"[{condition}]" in done.stderr, (text, done.stderr)
        assert world.delta("wh/t").version() == len(infos(world, "t")) - 1 and rows(world, "t") == []


def case_alter_columns(world):
    script(world, "CREATE TABLE t (id INT, v DOUBLE) USING delta", "INSERT INTO t VALUES (1, 1.5)", "ALTER TABLE t ADD COLUMNS (w STRING COMMENT 'hey', x INT FIRST)",
           "ALTER TABLE t ADD COLUMN q STRUCT<a: INT> AFTER id", "INSERT INTO t VALUES (9, 2, named_struct('a', 3), 2.5, 'w')")
    assert [f.name for f in world.delta("wh/t").schema().fields] == ["x", "id", "q", "v", "w"]
    assert rows(world, "t") == [{"id": 1, "v": 1.5}, {"id": 2, "q": {"a": 3}, "v": 2.5, "w": "w", "x": 9}]
    columns = json.loads(infos(world, "t")[2]["operationParameters"]["columns"])
    assert columns == [{"column": {"name": "w", "type": "string", "nullable": True, "metadata": {"comment": "hey"}}},
                       {"column": {"name": "x", "type": "integer", "nullable": True, "metadata": {}}, "position": "FIRST"}], columns
    for condition, text in [
        ("FIELD_ALREADY_EXISTS", "ALTER TABLE t ADD COLUMN ID INT"), ("DELTA_OPERATION_NOT_ALLOWED", "ALTER TABLE t ADD COLUMN y INT NOT NULL"),
        ("WRONG_COLUMN_DEFAULTS_FOR_DELTA_ALTER_TABLE_ADD_COLUMN_NOT_SUPPORTED", "ALTER TABLE t ADD COLUMN y INT DEFAULT 1"), ("FIELD_NOT_FOUND", "ALTER TABLE t ADD COLUMN y INT AFTER nosuch"),
        ("DELTA_UNSUPPORTED_RENAME_COLUMN", "ALTER TABLE t RENAME COLUMN id TO i"), ("DELTA_UNSUPPORTED_DROP_COLUMN", "ALTER TABLE t DROP COLUMN v"),
    ]:
        done = script(world, text, ok=False)
        assert f"[{condition}]" in done.stderr, (text, done.stderr)


def case_alter_under_column_mapping(world):
    script(world, "CREATE TABLE t (id INT, v DOUBLE, p STRING) USING delta PARTITIONED BY (p)", "INSERT INTO t VALUES (1, 1.5, 'a'), (2, 2.5, NULL)",
           "ALTER TABLE t SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')", "ALTER TABLE t RENAME COLUMN v TO `a new, name`", "ALTER TABLE t RENAME COLUMN p TO part",
           "ALTER TABLE t ADD COLUMN v STRING", "INSERT INTO t VALUES (3, 3.5, 'b', 'text')")
    assert world.our_rows("wh/t") == [{"a new, name": 1.5, "id": 1, "part": "a"}, {"a new, name": 2.5, "id": 2}, {"a new, name": 3.5, "id": 3, "part": "b", "v": "text"}]
    script(world, "ALTER TABLE t DROP COLUMNS (`a new, name`)", "UPDATE t SET v = 'new' WHERE part = 'a'")
    assert world.our_rows("wh/t") == [{"id": 1, "part": "a", "v": "new"}, {"id": 2}, {"id": 3, "part": "b", "v": "text"}]
    import duckdb
    theirs = duckdb.sql(f"SELECT id, part, v FROM delta_scan('{world.path('wh/t')}') ORDER BY id").fetchall() if duckdb_reads_delta() else None
    assert theirs in (None, [(1, "a", "new"), (2, None, None), (3, "b", "text")]), theirs


def duckdb_reads_delta():
    import duckdb
    try:
        duckdb.sql("LOAD delta")
        return True
    except Exception:
        return False  # the extension is not in the package


def case_constraints_and_properties(world):
    script(world, "CREATE TABLE t (id INT, v DOUBLE) USING delta TBLPROPERTIES ('foo' = 'bar')", "INSERT INTO t VALUES (1, 1.5)", "ALTER TABLE t ADD CONSTRAINT Pos CHECK (v > 0 AND id < 100)",
           "ALTER TABLE t SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', 'other' = 'x')", "ALTER TABLE t UNSET TBLPROPERTIES ('foo')")
    for condition, text in [
        ("DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", "INSERT INTO t VALUES (2, -1)"), ("DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", "UPDATE t SET id = 200"),
        ("DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", "MERGE INTO t USING (SELECT 7 AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *"),
        ("DELTA_CONSTRAINT_ALREADY_EXISTS", "ALTER TABLE t ADD CONSTRAINT pos CHECK (v > 0)"), ("DELTA_NEW_CHECK_CONSTRAINT_VIOLATION", "ALTER TABLE t ADD CONSTRAINT big CHECK (v > 10)"),
        ("DELTA_CONSTRAINT_DOES_NOT_EXIST", "ALTER TABLE t DROP CONSTRAINT nosuch"), ("DELTA_NON_BOOLEAN_CHECK_CONSTRAINT", "ALTER TABLE t ADD CONSTRAINT n CHECK (v + 1)"),
        ("DELTA_UNKNOWN_CONFIGURATION", "ALTER TABLE t SET TBLPROPERTIES ('delta.nosuch' = '1')"), ("DELTA_INVALID_PROPERTY_VALUE", "ALTER TABLE t SET TBLPROPERTIES ('delta.appendOnly' = 'maybe')"),
    ]:
        # A row without v violates it, too: a check that is null is not true.
        done = script(world, *(["SET spark.databricks.delta.schema.autoMerge.enabled = true"] if "MERGE" in text else []), text, ok=False)
        assert f"[{condition}]" in done.stderr, (text, done.stderr)
    metadata = world.delta("wh/t").metadata()
    assert metadata.configuration == {"delta.constraints.pos": "v > 0 AND id < 100", "delta.enableDeletionVectors": "true", "other": "x"}, metadata.configuration
    script(world, "ALTER TABLE t DROP CONSTRAINT pos", "ALTER TABLE t DROP CONSTRAINT IF EXISTS pos", "INSERT INTO t VALUES (2, -1)",
           "ALTER TABLE t SET TBLPROPERTIES ('delta.appendOnly' = 'true')")
    done = script(world, "DELETE FROM t WHERE id = 1", ok=False)
    assert "[DELTA_CANNOT_MODIFY_APPEND_ONLY]" in done.stderr, done.stderr
    assert world.our_rows("wh/t") == [{"id": 1, "v": 1.5}, {"id": 2, "v": -1.0}]


def case_optimize(world):
    many = [f"INSERT INTO t VALUES ({i}, '{'ab'[i % 2]}')" for i in range(6)]
    script(world, "CREATE TABLE t (id INT, p STRING) USING delta PARTITIONED BY (p) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')", *many, "INSERT INTO t VALUES (6, NULL), (7, NULL)",
           "DELETE FROM t WHERE id = 6")
    before = world.our_rows("wh/t")
    result = world.sql("OPTIMIZE t WHERE p = 'a'", floodmark__warehouse=world.path("wh"))
    assert (result[0]["metrics"]["numFilesAdded"], result[0]["metrics"]["numFilesRemoved"], result[0]["metrics"]["partitionsOptimized"]) == (1, 3, 1), result
    result = world.sql("OPTIMIZE t", floodmark__warehouse=world.path("wh"))  # those of b, and the one with a deletion vector
    assert (result[0]["metrics"]["numFilesAdded"], result[0]["metrics"]["numFilesRemoved"]) == (2, 4), result
    assert world.our_rows("wh/t") == before
    version = world.delta("wh/t").version()
    script(world, "OPTIMIZE t")
    assert world.delta("wh/t").version() == version, "nothing to pack, and yet a commit"
    last = infos(world, "t")[-1]
    assert last["operation"] == "OPTIMIZE" and last["isolationLevel"] == "SnapshotIsolation" and last["operationMetrics"]["numDeletionVectorsRemoved"] == "1", last
    removes = [json.loads(line) for line in open(sorted(glob.glob(world.path("wh/t/_delta_log/*.json")))[-1]) if '"remove"' in line]
    assert removes and not any(r["remove"]["dataChange"] for r in removes)
    for condition, text in [("DELTA_NON_PARTITION_COLUMN_REFERENCE", "OPTIMIZE t WHERE id = 1"), ("FLOODMARK_ZORDER", "OPTIMIZE t ZORDER BY (id)")]:
        assert f"[{condition}]" in script(world, text, ok=False).stderr


def case_vacuum_and_restore(world):
    import os
    script(world, "CREATE TABLE t (id INT) USING delta", "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)", "UPDATE t SET id = 20 WHERE id = 2", "DELETE FROM t WHERE id = 1")
    stray = world.write("wh/t/stray.parquet", "nothing names this")
    world.write("wh/t/_kept/x.parquet", "hidden folders are not data")
    wh = {"floodmark__warehouse": world.path("wh")}
    assert world.sql("RESTORE TABLE t TO VERSION AS OF 2", **wh) == [{"table_size_after_restore": r["table_size_after_restore"], "num_of_files_after_restore": 2, "num_removed_files": 1,
                                                                      "num_restored_files": 2, "removed_files_size": r["removed_files_size"], "restored_files_size": r["restored_files_size"]}
                                                                     for r in [infos_restore(world)]]
    assert rows(world, "t") == [{"id": 1}, {"id": 2}]
    assert world.sql("VACUUM t DRY RUN", **wh) == []
    done = script(world, "VACUUM t RETAIN 0 HOURS", ok=False)
    assert "[DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT]" in done.stderr and os.path.exists(stray), done.stderr
    off = {"spark__databricks__delta__retentionDurationCheck__enabled": "false", **wh}
    gone = [r["path"] for r in world.sql("VACUUM t RETAIN 0 HOURS DRY RUN", **off)]
    assert len(gone) == 2 and f"file:{stray}" in gone and os.path.exists(stray), gone
    assert world.sql("VACUUM t RETAIN 0 HOURS", **off) == [{"path": "file:" + world.path("wh/t")}]
    assert not os.path.exists(stray) and os.path.exists(world.path("wh/t/_kept/x.parquet"))
    assert rows(world, "t") == [{"id": 1}, {"id": 2}]
    assert [i["operation"] for i in infos(world, "t")][-2:] == ["VACUUM START", "VACUUM END"]
    for condition, text in [("DELTA_CANNOT_RESTORE_MISSING_FILES", "RESTORE TABLE t TO VERSION AS OF 3"), ("DELTA_CANNOT_RESTORE_TABLE_VERSION", "RESTORE TABLE t TO VERSION AS OF 99")]:
        assert f"[{condition}]" in script(world, text, ok=False).stderr


def infos_restore(world):
    """What the commit of a RESTORE says, under the names of its result."""
    names = {"table_size_after_restore": "tableSizeAfterRestore", "removed_files_size": "removedFilesSize", "restored_files_size": "restoredFilesSize"}
    metrics = infos(world, "t")[-1]["operationMetrics"]
    return {k: int(metrics[v]) for k, v in names.items()}


def case_describe(world):
    wh = {"floodmark__warehouse": world.path("wh")}
    script(world, "CREATE TABLE t (id INT, p STRING) USING delta PARTITIONED BY (p) COMMENT 'c' TBLPROPERTIES ('k' = 'v')",
           "SET spark.databricks.delta.commitInfo.userMetadata = mine", "INSERT INTO t VALUES (1, 'a')")
    history = world.sql("DESCRIBE HISTORY t", **wh)
    assert [(h["version"], h["operation"]) for h in history] == [(1, "WRITE"), (0, "CREATE TABLE")] and history[0]["userMetadata"] == "mine", history
    assert history[0]["operationParameters"] == {"mode": "Append", "partitionBy": "[]"} and history[0]["operationMetrics"]["numOutputRows"] == "1"
    assert len(world.sql("DESCRIBE HISTORY t LIMIT 1", **wh)) == 1
    detail = world.sql(f"DESCRIBE DETAIL '{world.path('wh/t')}'")[0]
    assert detail["partitionColumns"] == ["p"] and detail["numFiles"] == 1 and detail["properties"] == {"k": "v"} and detail["description"] == "c", detail
    assert detail["minWriterVersion"] == 2 and detail["tableFeatures"] == ["appendOnly", "invariants"], detail
    assert {"key": "k", "value": "v"} in world.sql("SHOW TBLPROPERTIES t", **wh)
    assert [t["tableName"] for t in world.sql("SHOW TABLES", **wh)] == ["t"]
    by_time = history[1]["timestamp"]
    assert world.sql(f"SELECT count(*) AS n FROM t TIMESTAMP AS OF '{by_time}'", **wh) == [{"n": 0}]
    assert f"[DELTA_TIMESTAMP_GREATER_THAN_COMMIT]" in world.run("sql", "SELECT * FROM t TIMESTAMP AS OF '2999-01-01'", ok=False, **wh).stderr
    assert f"[DELTA_VERSION_NOT_FOUND]" in world.run("sql", "SELECT * FROM t VERSION AS OF 7", ok=False, **wh).stderr


def case_two_writers_of_rows(world):
    """Statements that change the same rows, at once: each is as if alone."""
    import subprocess
    script(world, "CREATE TABLE t (id INT, n INT) USING delta", "INSERT INTO t VALUES (1, 0), (2, 0)")
    rounds = 12
    world.write("add.sql", "UPDATE t SET n = n + 1 WHERE id = 1;\nMERGE INTO t USING (SELECT 2 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = t.n + 1;\n" * rounds)
    world.write("append.sql", "INSERT INTO t VALUES (3, 1);\n" * rounds)
    world.write("pack.sql", "OPTIMIZE t;\n" * 3)
    runs = [subprocess.Popen([world.program, "run", world.path(name), "-c", "floodmark.warehouse=" + world.path("wh")], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=world.folder)
            for name in ("add.sql", "add.sql", "append.sql", "pack.sql")]
    for p in runs:
        _, err = p.communicate()
        assert p.returncode == 0, err.decode()
    seen = rows(world, "t")
    assert [r for r in seen if r["id"] < 3] == [{"id": 1, "n": 2 * rounds}, {"id": 2, "n": 2 * rounds}], seen
    assert len(seen) == 2 + rounds
    versions = [json.loads(line) for f in glob.glob(world.path("wh/t/_delta_log/*.json")) for line in open(f) if '"commitInfo"' in line]
    assert sum(v["commitInfo"]["operation"] in ("UPDATE", "MERGE") for v in versions) == 4 * rounds


def case_killed_statements_do_no_damage(world):
    """A statement that dies at any moment has happened whole, or not at all."""
    import os
    import random
    import signal
    import subprocess
    import time
    for properties in ("", " TBLPROPERTIES (delta.enableDeletionVectors = true, delta.enableChangeDataFeed = true)"):
        table = "k" + ("v" if properties else "c")
        script(world, f"CREATE TABLE {table} (id INT, n INT) USING delta{properties}", f"INSERT INTO {table} SELECT explode(sequence(1, 2000)), 0")
        world.write("kill.sql", f"UPDATE {table} SET n = n + 1;\nMERGE INTO {table} t USING (SELECT explode(sequence(1, 2000)) AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = t.n + 1;\n" * 20)
        for _ in range(int(os.environ.get("FLOODMARK_KILLS", "25")) // 3):
            p = subprocess.Popen([world.program, "run", world.path("kill.sql"), "-c", "floodmark.warehouse=" + world.path("wh")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 cwd=world.folder)
            time.sleep(random.uniform(0.005, 0.12))
            p.send_signal(signal.SIGKILL)
            p.wait()
            got = world.sql(f"SELECT count(*) AS rows, count(DISTINCT id) AS ids, min(n) AS low, max(n) AS high FROM {table}", floodmark__warehouse=world.path("wh"))[0]
            assert got["rows"] == got["ids"] == 2000 and got["low"] == got["high"], got
        changes = sum(i["operation"] in ("UPDATE", "MERGE") for i in infos(world, table))
        assert got["low"] == changes, (got, changes)
