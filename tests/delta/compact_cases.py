"""Small files packed after commits of streams, and written together in the first place."""
import json
import os


def job(world, name, options="", properties="", batches=6, rows=40, partitions="PARTITIONED BY (k)", workers=2, mode="append", **settings):
    for i in range(batches):
        world.write(f"{name}-in/{i}.json", "".join(json.dumps({"id": i * rows + x, "k": "ab"[x % 2], "v": x}) + "\n" for x in range(rows)))
    if properties:
        world.run("sql", f"CREATE TABLE delta.`{world.path(name)}` (id BIGINT, k STRING, v BIGINT) USING delta {partitions} TBLPROPERTIES ({properties})")
    sets = "".join(f"SET {key} = {value};\n" for key, value in settings.items())
    world.job(f"""{sets}CREATE TABLE t (id BIGINT, k STRING, v BIGINT) USING json OPTIONS (path '{world.path(name)}-in', maxFilesPerTrigger '1');
        CREATE STREAMING TABLE o USING delta OPTIONS (path '{world.path(name)}', checkpointLocation '{world.path(name)}-ck', outputMode '{mode}'{options})
        {partitions} AS SELECT * FROM STREAM t""", "-c", f"floodmark.workers={workers}")


def commits(world, name):
    log = world.path(f"{name}/_delta_log")
    for file in sorted(f for f in os.listdir(log) if f.endswith(".json")):
        yield [json.loads(line) for line in open(os.path.join(log, file))]


def infos(world, name):
    return [next(a["commitInfo"] for a in c if "commitInfo" in a) for c in commits(world, name)]


def case_auto_compact(world):
    job(world, "t", properties="delta.autoOptimize.autoCompact = 'true'", **{"spark.databricks.delta.autoCompact.minNumFiles": 4})
    packed = [c for c in infos(world, "t") if c["operation"] == "OPTIMIZE"]
    assert packed and all(c["operationParameters"]["auto"] is True for c in packed), packed
    for c in commits(world, "t"):
        if any(a.get("commitInfo", {}).get("operation") == "OPTIMIZE" for a in c):
            assert all(not a[k]["dataChange"] for a in c for k in a if k in ("add", "remove"))
    assert len(world.same("t")) == 240
    assert len(world.delta("t").file_uris()) < 8


def case_auto_compact_by_setting(world):
    job(world, "off", batches=3)
    job(world, "on", batches=3, **{"spark.databricks.delta.autoCompact.enabled": "true", "spark.databricks.delta.autoCompact.minNumFiles": 2})
    assert all(c["operation"] != "OPTIMIZE" for c in infos(world, "off"))
    assert any(c["operation"] == "OPTIMIZE" for c in infos(world, "on"))
    assert world.same("off") == world.same("on")


def case_auto_compact_leaves_few_files_alone(world):
    job(world, "t", properties="delta.autoOptimize.autoCompact = 'true'")  # 50 files by default
    assert all(c["operation"] != "OPTIMIZE" for c in infos(world, "t"))


def case_auto_compact_goes_on(world):
    """A job that packs, ended and started again, writes each batch once; readers of the table as a stream do not see the packing."""
    settings = {"spark.databricks.delta.autoCompact.enabled": "true", "spark.databricks.delta.autoCompact.minNumFiles": 2}
    job(world, "t", batches=3, **settings)
    job(world, "t", batches=6, **settings)
    assert sorted(r["id"] for r in world.same("t")) == list(range(240))
    world.job(f"""CREATE TABLE t USING delta OPTIONS (path '{world.path('t')}', startingVersion '0');
        CREATE STREAMING TABLE o USING json OPTIONS (path '{world.path('copy')}', checkpointLocation '{world.path('copy')}-ck') AS SELECT * FROM STREAM t""")
    assert sorted(r["id"] for r in world.sql(f"SELECT id FROM json.`{world.path('copy')}`")) == list(range(240))


def case_optimized_writes(world):
    """One file for each partition and commit, whatever the number of workers."""
    job(world, "t", options="", properties="delta.autoOptimize.optimizeWrite = 'true'", batches=2, rows=200)
    for c in commits(world, "t"):
        adds = [a["add"] for a in c if "add" in a]
        assert len(adds) in (0, 2), f"{len(adds)} files of two partitions"
    assert len(world.same("t")) == 400
