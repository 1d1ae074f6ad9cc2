"""The change data feed: what others record we read, what we record others read, and both lead from each version to the next."""
import collections
import json
import os
import random

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

FEED = {"delta.enableChangeDataFeed": "true"}


def changes(world, name, start=0, end=None):
    return world.sql(f"SELECT * FROM table_changes_by_path('{world.path(name)}', {start}{'' if end is None else f', {end}'})")


def plain_rows(rows, without=()):
    return sorted(json.dumps({k: v for k, v in r.items() if v is not None and k not in without}, sort_keys=True, default=str) for r in rows)


def replay(rows):
    """The table at each version by its feed: a bag of rows."""
    state, states = collections.Counter(), {}
    for version in range(max(r["_commit_version"] for r in rows) + 1):
        for r in rows:
            if r["_commit_version"] != version:
                continue
            row = json.dumps({k: v for k, v in r.items() if not k.startswith("_c")}, sort_keys=True)
            state[row] += 1 if r["_change_type"] in ("insert", "update_postimage") else -1
        states[version] = +state
        assert min(state.values(), default=0) >= 0, f"version {version} takes away rows that are not there: {state}"
    return states


def check_states(world, name, rows):
    for version, state in replay(rows).items():
        there = world.sql(f"SELECT * FROM delta.`{world.path(name)}` VERSION AS OF {version}")
        bag = collections.Counter(json.dumps(r, sort_keys=True) for r in there)
        assert bag == state, f"version {version}: the feed gives {state}, the table has {bag}"


def without_change_files(world, name):
    """Commits as if nothing had been recorded: what happened follows from the files."""
    log = world.path(f"{name}/_delta_log")
    for file in os.listdir(log):
        if file.endswith(".json"):
            lines = open(os.path.join(log, file)).read().splitlines()
            world.write(f"{name}/_delta_log/{file}", "".join(line + "\n" for line in lines if not line.startswith('{"cdc"')))


def case_feed_of_delta_rs(world):
    for seed in range(4):
        rng, name = random.Random(seed), f"t{seed}"
        part = ["k"] if seed % 2 else None
        def rows(ids):
            return pa.table({"id": pa.array(ids, pa.int64()), "k": [rng.choice("abc") for _ in ids], "v": [rng.random() for _ in ids]})
        write_deltalake(world.path(name), rows(range(20)), configuration=FEED, partition_by=part)
        for i in range(8):
            table, ids = DeltaTable(world.path(name)), rng.sample(range(40), 6)
            what = rng.randrange(4)
            if what == 0:
                write_deltalake(world.path(name), rows([100 + i]), mode="append")
            elif what == 1:
                table.delete(f"id in ({', '.join(map(str, ids))})")
            elif what == 2:
                table.update(predicate=f"id in ({', '.join(map(str, ids))})", updates={"v": str(i)})
            else:
                (table.merge(rows(ids), "t.id = s.id", source_alias="s", target_alias="t").when_matched_update({"v": "s.v"})
                 .when_not_matched_insert_all().execute())
        theirs = pa.table(DeltaTable(world.path(name)).load_cdf(starting_version=0)).to_pylist()
        ours = changes(world, name)
        drop = ("_commit_timestamp",)
        assert plain_rows(theirs, drop) == plain_rows(ours, drop), f"seed {seed}"
        check_states(world, name, ours)
        some = [r for r in ours if 2 <= r["_commit_version"] <= 4]
        assert plain_rows(changes(world, name, 2, 4)) == plain_rows(some)


def upserted(world, name, vectors, partitioned, rng):
    world.run("sql", f"CREATE TABLE delta.`{world.path(name)}` (id BIGINT, k STRING, v BIGINT) USING delta {'PARTITIONED BY (k)' if partitioned else ''} "
              f"TBLPROPERTIES (delta.enableChangeDataFeed = 'true', delta.enableDeletionVectors = '{'true' if vectors else 'false'}')")
    for i in range(6):
        ids = rng.sample(range(40), 15)
        world.write(f"{name}-in/{i}.json", "".join(json.dumps({"id": x, "k": "abc"[x % 3], "v": rng.randrange(1000)}) + "\n" for x in ids))
        world.job(f"""CREATE TABLE t (id BIGINT, k STRING, v BIGINT) USING json OPTIONS (path '{world.path(name)}-in', maxFilesPerTrigger '1');
            CREATE STREAMING TABLE o USING delta OPTIONS (path '{world.path(name)}', checkpointLocation '{world.path(name)}-ck', outputMode 'update',
            mergeKeys 'id') {'PARTITIONED BY (k)' if partitioned else ''} AS SELECT * FROM STREAM t""")


def case_feed_of_upserts(world):
    for seed, (vectors, partitioned) in enumerate([(False, False), (True, False), (False, True), (True, True)]):
        rng, name = random.Random(seed), f"u{seed}"
        upserted(world, name, vectors, partitioned, rng)
        ours = changes(world, name)
        assert {"insert", "update_preimage", "update_postimage"} == {r["_change_type"] for r in ours}
        check_states(world, name, ours)
        if not vectors:
            theirs = pa.table(DeltaTable(world.path(name)).load_cdf(starting_version=0)).to_pylist()
            assert plain_rows(theirs, ("_commit_timestamp",)) == plain_rows(ours, ("_commit_timestamp",))
        without_change_files(world, name)
        derived = changes(world, name)
        assert {"insert", "delete"} == {r["_change_type"] for r in derived}
        check_states(world, name, derived)
        if vectors:  # a row that is replaced is gone and there again, and the others of its file do not show
            assert len(derived) == len(ours)


def case_feed_as_a_stream(world):
    rng = random.Random(5)
    upserted(world, "t", True, False, rng)
    for name, start, limit in [("all", ", startingVersion '0'", ""), ("few", ", startingVersion '0'", ", maxFilesPerTrigger '1'"), ("now", "", "")]:
        world.job(f"""CREATE TABLE t USING delta OPTIONS (path '{world.path('t')}', readChangeFeed 'true'{start}{limit});
            CREATE STREAMING TABLE o USING json OPTIONS (path '{world.path(name)}', checkpointLocation '{world.path(name)}-ck') AS SELECT * FROM STREAM t""",
                  *(["-c", "spark.sql.streaming.schemaInference=true"]))
        got = world.sql(f"SELECT id, k, v, _change_type, _commit_version FROM json.`{world.path(name)}`")
        want = changes(world, "t")
        if name == "now":  # what is there, as inserts of the version that was read
            want = [r | {"_change_type": "insert", "_commit_version": 6} for r in world.sql(f"SELECT * FROM delta.`{world.path('t')}`")]
        assert plain_rows(got) == plain_rows(want, ("_commit_timestamp",)), name


def case_feed_refusals(world):
    write_deltalake(world.path("t"), pa.table({"id": [1]}))
    write_deltalake(world.path("f"), pa.table({"id": [1]}), configuration=FEED)
    write_deltalake(world.path("f"), pa.table({"id": [2]}), mode="append")
    t, f = world.path("t"), world.path("f")
    for condition, query in [
            ("DELTA_MISSING_CHANGE_DATA", f"SELECT * FROM table_changes_by_path('{t}', 0)"),
            ("DELTA_CDC_START_VERSION_AFTER_LATEST", f"SELECT * FROM table_changes_by_path('{f}', 7)"),
            ("DELTA_INVALID_CDC_RANGE", f"SELECT * FROM table_changes_by_path('{f}', 1, 0)"),
            ("DELTA_NO_START_FOR_CDC_READ", f"SELECT * FROM delta.`{f}` WITH (readChangeFeed = 'true')"),
            ("DELTA_MULTIPLE_CDC_BOUNDARY", f"SELECT * FROM delta.`{f}` WITH (readChangeFeed = 'true', startingVersion = '0', startingTimestamp = '2020-01-01')"),
            ("DELTA_CDC_READ_NULL_RANGE_BOUNDARY", f"SELECT * FROM table_changes_by_path('{f}', NULL)"),
            ("DELTA_TIMESTAMP_GREATER_THAN_COMMIT", f"SELECT * FROM table_changes_by_path('{f}', '2100-01-01')"),
            ("TABLE_OR_VIEW_NOT_FOUND", "SELECT * FROM table_changes('nobody', 0)")]:
        world.refused(condition, query)
