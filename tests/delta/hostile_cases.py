"""Delta tables made to harm: broken logs, numbers beyond all bounds, paths that lead elsewhere, deletion vectors and sidecars that dangle or
go round in circles, folders that may not be written. Each is read right or refused by name; nothing crashes, hangs, or changes what is there."""
import glob
import hashlib
import json
import os
import random
import resource
import shutil
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq

STATEMENTS = ["SELECT * FROM {t}", "SELECT count(*), min(id), max(p) FROM {t} WHERE id > 1", "SELECT * FROM {t} VERSION AS OF 1", "DESCRIBE HISTORY {t}", "DESCRIBE DETAIL {t}",
              "INSERT INTO {t} (id, v) VALUES (77, 'new')", "DELETE FROM {t} WHERE id = 2", "UPDATE {t} SET v = 'u' WHERE id = 3", "OPTIMIZE {t}", "VACUUM {t}",
              "RESTORE TABLE {t} TO VERSION AS OF 1"]


def some(things):
    """All of them when FLOODMARK_MANY says so; else those that chance picks, a quarter."""
    things = list(things)
    return things if os.environ.get("FLOODMARK_MANY") else random.sample(things, max(4, len(things) // 4))


def limits():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not os.environ.get("FLOODMARK_SANITIZED"):
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))


def run(world, args, seconds=60):
    done = subprocess.run([world.program, *args, "-c", "spark.sql.session.timeZone=UTC"], capture_output=True, timeout=seconds, cwd=world.folder, preexec_fn=limits)
    out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    assert done.returncode in (0, 1), f"{args} ended with {done.returncode}: {err[-3000:]}"
    assert done.returncode == 0 or "[" in err, f"{args} failed without a condition: {err}"
    return done.returncode, out, err


def statement(world, text, name="t"):
    return run(world, ["sql", text.replace("{t}", f"delta.`{world.path(name)}`"), "--format", "json"])


def good(world, name="good", dv=False):
    """A table of eight commits with a checkpoint at 5, partitions, and deletion vectors where asked for."""
    properties = "'delta.checkpointInterval' = '5'" + (", 'delta.enableDeletionVectors' = 'true'" if dv else "")
    lines = [f"CREATE TABLE {{t}} (id INT, v STRING, p STRING) USING delta PARTITIONED BY (p) TBLPROPERTIES ({properties})"]
    lines += [f"INSERT INTO {{t}} VALUES ({k}, 'v{k}', 'p{k % 2}'), ({k + 10}, NULL, NULL)" for k in range(6)]
    lines += ["DELETE FROM {t} WHERE id = 1", "INSERT INTO {t} SELECT id, 'many', 'q' FROM range(100, 200)"]
    if dv:
        lines += ["DELETE FROM {t} WHERE id % 2 = 0 AND id > 100"]
    world.job(";\n".join(l.replace("{t}", f"delta.`{world.path(name)}`") for l in lines) + ";\n", name="make.sql")


def fresh(world, name="t", of="good"):
    shutil.rmtree(world.path(name), ignore_errors=True)
    shutil.copytree(world.path(of), world.path(name))
    return world.path(name)


def prints(folder):
    """Every file's fingerprint."""
    return {f: hashlib.sha256(open(f, "rb").read()).hexdigest() for f in glob.glob(folder + "/**", recursive=True, include_hidden=True) if os.path.isfile(f) and os.access(f, os.R_OK)}


def unharmed(world, name, statements=STATEMENTS):
    """Runs statements: what was there stays as it was, whatever they say. What each said."""
    said = []
    for text in statements:
        before = prints(world.path(name))
        code, out, err = statement(world, text, name)
        after = prints(world.path(name))
        changed = [f for f in before if after.get(f) != before[f] and "_last_checkpoint" not in f]
        if text.startswith("VACUUM"):
            changed = [f for f in changed if "_delta_log" in f]
        assert not changed, f"{text} changed {changed}"
        if code and not text.startswith("VACUUM"):  # a commit that failed leaves nothing in the log
            new = [f for f in after if f not in before and "/_delta_log/" in f]
            assert not new, f"{text} failed ({err.strip()}) and left {new}"
        said.append((text, code, err.strip()))
    return said


def edit(path, change):
    """Lines of a commit as JSON, changed, written back."""
    with open(path) as f:
        actions = [json.loads(line) for line in f]
    actions = change(actions) or actions
    with open(path, "w") as f:
        f.writelines((a if isinstance(a, str) else json.dumps(a)) + "\n" for a in actions)


def commit(table, n):
    return f"{table}/_delta_log/{n:020}.json"


def case_commits_that_are_broken(world):
    good(world)
    deep = "[" * 200000
    texts = {"empty": b"", "zeros": bytes(500), "no json": b"hello\nworld\n", "half": b'{"add":{"path":"x","partit', "deep": b'{"add":' + deep.encode(), "deep stats": json.dumps({"add": {
        "path": "x", "partitionValues": {}, "size": 1, "modificationTime": 1, "dataChange": True, "stats": deep}}).encode() + b"\n",
        "array": b"[1,2,3]\n", "number": b"5\n", "null": b"null\n", "utf8": b'{"add":{"path":"\xff\xfe","partitionValues":{"p":"\xc0"},"size":1,"modificationTime":1,"dataChange":true}}\n',
        "unknown": b'{"magic":{"x":1}}\n', "two at once": b'{"add":{},"remove":{}}\n', "long line": b'{"commitInfo":{"x":"' + b"y" * 5_000_000 + b'"}}\n',
        "blank lines": b"\n\n\r\n", "bom": b"\xef\xbb\xbf{}\n"}
    last = max(int(os.path.basename(f)[:20]) for f in glob.glob(world.path("good/_delta_log/*.json")))
    for name, text in some(texts.items()):
        table = fresh(world)
        with open(commit(table, last), "wb") as f:
            f.write(text)
        said = unharmed(world, "t", STATEMENTS[:2] + STATEMENTS[3:9])
        if name in ("zeros", "no json", "half", "deep", "array", "number"):
            assert all(code for text, code, _ in said if "HISTORY" not in text), f"{name}: {said}"


def case_numbers_beyond_bounds(world):
    good(world)
    for key in ("size", "modificationTime", "deletionTimestamp", "baseRowId", "defaultRowCommitVersion"):
        for value in some((-1, 2**63 - 1, 2**63, -2**63, 10**30, 1e400, 1.5, "5", None, True, [], {})):
            table = fresh(world)

            def change(actions):
                for a in actions:
                    for part in a.values():
                        if isinstance(part, dict) and "path" in part:
                            part[key] = value
                            part["stats"] = json.dumps({"numRecords": value, "minValues": {"id": value}, "maxValues": {"id": value}, "nullCount": {"id": value}})
            edit(commit(table, 8), change)
            text = open(commit(table, 8)).read().replace("Infinity", "1e400")
            open(commit(table, 8), "w").write(text)
            unharmed(world, "t", STATEMENTS[:2] + STATEMENTS[5:7])


def case_metadata_that_lies(world):
    good(world)
    schema = lambda fields: json.dumps({"type": "struct", "fields": fields})  # noqa: E731
    field = lambda name, t, **more: {"name": name, "type": t, "nullable": True, "metadata": {}, **more}  # noqa: E731
    deep = '{"type":"array","containsNull":true,"elementType":' * 3000 + '"integer"' + "}" * 3000
    schemas = ["", "{}", "null", "5", "[]", "{" * 50000, schema([]), schema([field("id", "integer")]), schema([field("id", "nonsense"), field("v", "string"), field("p", "string")]),
               schema([field("id", "decimal(99,1)"), field("v", "string"), field("p", "string")]), schema([field("id", "decimal(5,9)"), field("v", "string"), field("p", "string")]),
               schema([field("id", "integer"), field("ID", "integer"), field("v", "string"), field("p", "string")]), schema([field("id", "DEEP"), field("v", "string"), field("p", "string")]).replace('"DEEP"', deep),
               schema([field("id", {"type": "map"}), field("v", "string"), field("p", "string")]), schema([field("id", {"type": "struct"}), field("v", "string"), field("p", "string")]),
               schema([{"name": 5, "type": "integer"}]), schema([field("", "integer"), field("v", "string"), field("p", "string")]), schema([field("id", "string"), field("v", "binary"), field("p", "integer")]),
               schema([field("id", {"type": "struct", "fields": [field("x", "integer")]}), field("v", "string"), field("p", "string")]),
               schema([field(f"c{i}", "integer") for i in range(20000)] + [field("p", "string")])]
    for text in some(schemas):
        table = fresh(world)
        edit(commit(table, 8), lambda actions: [*actions, {"metaData": {"id": "x", "format": {"provider": "parquet", "options": {}}, "schemaString": text, "partitionColumns": ["p"], "configuration": {}}}])
        unharmed(world, "t", STATEMENTS[:2] + STATEMENTS[4:8])
    for meta in some(({}, {"partitionColumns": ["none"]}, {"partitionColumns": ["p", "p"]}, {"partitionColumns": ["id", "v", "p"]}, {"partitionColumns": 5}, {"format": {"provider": "csv"}},
                 {"configuration": {"delta.checkpointInterval": "-1"}}, {"configuration": {"delta.checkpointInterval": "0"}}, {"configuration": {"delta.checkpointInterval": "x"}},
                 {"configuration": {"delta.logRetentionDuration": "forever"}}, {"configuration": {"delta.columnMapping.mode": "sideways"}}, {"configuration": {"delta.columnMapping.mode": "id"}},
                 {"configuration": {"delta.constraints.c": "this is no SQL (("}}, {"configuration": {"delta.constraints.c": "nobody > 1"}}, {"configuration": {"delta.dataSkippingNumIndexedCols": "99999999999"}},
                 {"configuration": {"delta.randomizeFilePrefixes": "true"}}, {"configuration": {"delta.targetFileSize": "0"}}, {"configuration": None})):
        table = fresh(world)
        old = next(json.loads(line)["metaData"] for line in open(commit(table, 0)) if '"metaData"' in line)
        edit(commit(table, 8), lambda actions: [*actions, {"metaData": {**old, **meta}}])
        unharmed(world, "t")
    for protocol in some(({}, {"minReaderVersion": 99, "minWriterVersion": 99}, {"minReaderVersion": -1, "minWriterVersion": 2}, {"minReaderVersion": 3, "minWriterVersion": 7},
                     {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["newThing"], "writerFeatures": ["newThing"]}, {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["newThing"]},
                     {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": [5], "writerFeatures": "x"}, {"minReaderVersion": 2**40, "minWriterVersion": 1e99})):
        table = fresh(world)
        edit(commit(table, 8), lambda actions: [*actions, {"protocol": protocol}])
        said = unharmed(world, "t")
        if "newThing" in str(protocol):
            refused = [text for text, code, err in said if code and "newThing" in err]
            assert "INSERT" in str(refused) and ("SELECT *" in str(refused)) == ("readerFeatures" in protocol), said


def case_paths_that_lead_elsewhere(world):
    """Files named outside of the table are read, as Delta has it (clones do so), but nothing there is ever changed or removed."""
    good(world)
    secret = world.write("elsewhere/secret.txt", "root:x:0:0\n")
    outside = world.path("elsewhere/part.parquet")
    pq.write_table(pa.table({"id": pa.array([500], pa.int32()), "v": ["out"]}), outside)
    for path in some(("../elsewhere/secret.txt", "/etc/passwd", "file:///etc/passwd", "file:" + secret, "s3://bucket/x", "http://127.0.0.1/x", "", ".", "..", "/", "a" * 10000, "%00", "%zz", "%", "x/../../elsewhere/part.parquet",
                 "../elsewhere/part.parquet", outside, "_delta_log/" + f"{0:020}.json", "/dev/zero", "/dev/stdin", "/proc/self/mem", "nowhere.parquet", "\x01", "ü", "c:\\x")):
        table = fresh(world)

        def change(actions):
            for a in actions:
                if "add" in a:
                    a["add"]["path"] = path
        edit(commit(table, 8), change)
        elsewhere = prints(world.path("elsewhere"))
        said = unharmed(world, "t", STATEMENTS[:2] + STATEMENTS[5:9] + ["VACUUM {t} RETAIN 200 HOURS"])
        assert prints(world.path("elsewhere")) == elsewhere
        if path.startswith(("s3:", "http:")) or path == "/etc/passwd":
            assert said[0][1], f"{path}: {said[0]}"
    # VACUUM does not walk out of the table, nor does it take a file that the log has by another way. Nothing but what this case made is named here.
    table = fresh(world)
    os.symlink(world.path("elsewhere"), table + "/link")
    os.symlink(secret, table + "/file-link")
    os.symlink("nowhere", table + "/dangling")
    os.symlink(table, table + "/circle")

    def by_other_ways(actions):
        adds = [a["add"] for a in actions if "add" in a]
        adds[0]["path"] = "./" + adds[0]["path"].replace("/", "//./")
    edit(commit(table, 8), by_other_ways)
    edit(commit(table, 6), lambda actions: [a["add"].update(path="file:" + world.path("") + "/t/./" + a["add"]["path"]) for a in actions if "add" in a] and None)
    os.remove(glob.glob(table + "/_delta_log/*5.checkpoint*.parquet")[0])
    before, rows = prints(world.path("elsewhere")), statement(world, "SELECT * FROM {t}")[1]
    assert len(rows.splitlines()) == 111
    world.job(f"VACUUM delta.`{table}` RETAIN 0 HOURS;", name="v.sql", spark__databricks__delta__retentionDurationCheck__enabled="false")
    assert prints(world.path("elsewhere")) == before and os.path.islink(table + "/link") and os.path.islink(table + "/file-link")
    assert statement(world, "SELECT * FROM {t}")[1] == rows


def case_deletion_vectors_that_dangle(world):
    good(world, dv=True)
    last = 9

    def first_vector(actions, change):
        for a in actions:
            d = a.get("add", {}).get("deletionVector")
            if d:
                change(d)
        return actions
    table = fresh(world)
    assert any("deletionVector" in line for line in open(commit(table, last)))
    changes = [{"pathOrInlineDv": "x" * 25}, {"pathOrInlineDv": ""}, {"pathOrInlineDv": "ü" * 20}, {"offset": -1}, {"offset": 2**31 - 1}, {"offset": 2**62}, {"offset": 3}, {"offset": None}, {"sizeInBytes": 0},
               {"sizeInBytes": -5}, {"sizeInBytes": 2**31 - 1}, {"sizeInBytes": 10**15}, {"sizeInBytes": 1}, {"cardinality": 0}, {"cardinality": 10**18}, {"cardinality": -1}, {"storageType": "i", "pathOrInlineDv": "zzzzz"},
               {"storageType": "i", "pathOrInlineDv": "0rr910" * 100000}, {"storageType": "i", "pathOrInlineDv": ""}, {"storageType": "p", "pathOrInlineDv": "/etc/passwd"}, {"storageType": "p", "pathOrInlineDv": "../../../../etc/passwd"},
               {"storageType": "p", "pathOrInlineDv": "s3://x/y"}, {"storageType": "q"}, {"storageType": ""}, {"storageType": None}]
    for c in some(changes):
        table = fresh(world)
        edit(commit(table, last), lambda actions: first_vector(actions, lambda d: d.update(c)))
        said = unharmed(world, "t", STATEMENTS[:2] + STATEMENTS[6:10])
        if "cardinality" not in c:
            assert said[0][1], f"{c} was read: {said[0]}"
    for how in ("gone", "short", "zeros", "flipped"):
        table = fresh(world)
        for path in glob.glob(table + "/**/deletion_vector_*.bin", recursive=True):
            data = bytearray(open(path, "rb").read())
            os.remove(path)
            if how == "flipped":
                data[len(data) // 2] ^= 255
            elif how != "gone":
                data = data[:7] if how == "short" else bytes(len(data))
            if how != "gone":
                open(path, "wb").write(data)
        said = unharmed(world, "t", STATEMENTS[:2] + STATEMENTS[6:10])
        assert said[0][1], f"{how}: {said[0]}"


def checkpoint_schema():
    return pa.schema([("protocol", pa.struct([("minReaderVersion", pa.int32()), ("minWriterVersion", pa.int32()), ("readerFeatures", pa.list_(pa.string())), ("writerFeatures", pa.list_(pa.string()))])),
                      ("checkpointMetadata", pa.struct([("version", pa.int64())])),
                      ("sidecar", pa.struct([("path", pa.string()), ("sizeInBytes", pa.int64()), ("modificationTime", pa.int64())]))])


def case_checkpoints_and_sidecars(world):
    """Sidecars that are not there, that lead elsewhere, that name the checkpoint or each other."""
    good(world)
    meta = next(json.loads(line)["metaData"] for line in open(commit(world.path("good"), 0)) if '"metaData"' in line)
    protocol = {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["v2Checkpoint"], "writerFeatures": ["v2Checkpoint"]}
    name = f"{9:020}.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json"
    for sidecars in some(([name], ["none.parquet"], ["../" + name], ["/etc/passwd"], [""], ["x.parquet"] * 5000, ["circle.parquet"], [None], [5], ["a" * 5000])):
        table = fresh(world)
        os.makedirs(table + "/_delta_log/_sidecars")
        circle = pa.Table.from_pylist([{"sidecar": {"path": "circle.parquet", "sizeInBytes": 1, "modificationTime": 1}}], checkpoint_schema())
        pq.write_table(circle, table + "/_delta_log/_sidecars/circle.parquet")
        with open(f"{table}/_delta_log/{name}", "w") as f:
            for a in [{"checkpointMetadata": {"version": 9}}, {"protocol": protocol}, {"metaData": meta}, *({"sidecar": {"path": s, "sizeInBytes": 10**18, "modificationTime": 1}} for s in sidecars)]:
                f.write(json.dumps(a) + "\n")
        with open(commit(table, 9), "w") as f:
            f.write(json.dumps({"protocol": protocol}) + "\n")
        for n in range(9):
            os.remove(commit(table, n))
        said = unharmed(world, "t", STATEMENTS[:4] + STATEMENTS[5:7])
        assert said[0][1], f"{sidecars[0]}: {said[0]}"
    for text in some((b"", b"x", b"{}", b'{"version":-1}', b'{"version":1e99}', b'{"version":99999999999,"size":1}', b'{"version":5,"size":-1,"parts":1000000000}', b'{"version":5,"parts":-1}', b'{"version":"5"}',
                 b'{"version":5,"checkpointSchema":' + b"[" * 100000, bytes(10))):
        table = fresh(world)
        open(table + "/_delta_log/_last_checkpoint", "wb").write(text)
        said = unharmed(world, "t", STATEMENTS[:2])
        assert not said[0][1], f"{text[:50]}: the log is whole, yet: {said[0]}"
    for data in (b"", b"PAR1", b"PAR1" + bytes(100) + b"PAR1", None):
        table = fresh(world)
        (path,) = glob.glob(table + "/_delta_log/*5.checkpoint*.parquet")
        if data is None:
            os.remove(path)
            os.mkdir(path)
        else:
            open(path, "wb").write(data)
        said = unharmed(world, "t", STATEMENTS[:2])
        assert not said[0][1], said[0]  # passed over: the commits are there
        for n in range(5):
            os.remove(commit(table, n))
        said = unharmed(world, "t", STATEMENTS[:3] + STATEMENTS[5:9])
        assert all(code for _, code, _ in said), said


def case_data_files_that_are_not(world):
    good(world)
    for data in (None, b"", b"PAR1", b"PAR1" + bytes(50) + b"PAR1", b"{}\n" * 50, "folder", "other schema", "loop"):
        table = fresh(world)
        for path in glob.glob(table + "/p=q/*.parquet"):
            os.remove(path)
            if data == "folder":
                os.mkdir(path)
            elif data == "loop":
                os.symlink(path, path)
            elif data == "other schema":
                pq.write_table(pa.table({"id": ["text"], "v": [{"x": 1}]}), path)
            elif data is not None:
                open(path, "wb").write(data)
        said = unharmed(world, "t", STATEMENTS[:1] + STATEMENTS[5:9])
        assert said[0][1], f"{data!r}: {said[0]}"
        assert os.path.basename(path) in said[0][2] or "%" in path, f"{data!r}: {said[0][2]} does not name {path}"


def case_partition_values_that_do_not_fit(world):
    world.job(f"CREATE TABLE delta.`{world.path('good')}` (id INT, v STRING, p INT, d DATE, t TIMESTAMP, x DECIMAL(5,2)) USING delta PARTITIONED BY (p, d, t, x);\n"
              f"INSERT INTO delta.`{world.path('good')}` VALUES (1, 'a', 1, DATE '2026-01-01', TIMESTAMP '2026-01-01 00:00:00', 1.5);\n", name="make.sql")
    for key, values in {"p": ["x", "1.5", "99999999999", " 1", "", None, 5, [], "１"], "d": ["2026-13-45", "yesterday", "", "999999999-01-01"], "t": ["x", "2026-01-01", "1e9", "2026-01-01T00:00:00.000000Z", "99999-01-01 00:00:00"],
                        "x": ["1e3", "NaN", "99999.99", "1.555", "--1"]}.items():
        for value in some(values + ["missing", "more"]):
            table = fresh(world)

            def change(actions):
                for a in actions:
                    if "add" in a:
                        if value == "missing":
                            del a["add"]["partitionValues"][key]
                        elif value == "more":
                            a["add"]["partitionValues"]["nobody"] = "1"
                        else:
                            a["add"]["partitionValues"][key] = value
            edit(commit(table, 1), change)
            unharmed(world, "t", STATEMENTS[:1] + ["SELECT * FROM {t} WHERE p = 1 AND d > DATE '2020-01-01' AND x < 3", "DELETE FROM {t} WHERE p = 1", "OPTIMIZE {t}"])


def case_bytes_that_flip(world):
    """Whatever byte of the log, a vector or a data file is another: an answer or an error."""
    good(world, dv=True)
    r = random.Random(int(os.environ.get("FLOODMARK_SEED", "1")))
    files = [f for f in prints(world.path("good")) if not f.endswith(".crc")]
    for _ in range(int(os.environ.get("FLOODMARK_FLIPS", "30"))):
        table = fresh(world)
        path = r.choice(files).replace(world.path("good"), table)
        data = bytearray(open(path, "rb").read())
        for _ in range(r.choice((1, 3, 20))):
            where = r.randrange(len(data)) if r.random() < 0.5 or len(data) < 200 else len(data) - 1 - r.randrange(200)
            data[where] = r.choice((0, 255, data[where] ^ (1 << r.randrange(8)), ord('"'), ord("9")))
        if r.random() < 0.2:
            data = data[:r.randrange(len(data))]
        open(path, "wb").write(data)
        for text in (STATEMENTS[0], STATEMENTS[6]):
            statement(world, text)


def case_may_not_be_written(world):
    """A folder or log that may not be written, a full disk's error: said, and nothing is half there."""
    good(world)
    if os.geteuid() == 0:  # who may do everything cannot be refused by modes; a file in the place of the folder refuses all
        table = fresh(world)
        shutil.rmtree(table + "/p=q")
        open(table + "/p=q", "w").close()
        code, _, err = statement(world, "INSERT INTO {t} VALUES (1, 'x', 'q')")
        assert code and "[" in err and "p=q" in err, err
        blocked = world.write("file", "")
        code, _, err = run(world, ["sql", f"CREATE TABLE delta.`{blocked}/t` (id INT) USING delta"])
        assert code and "file" in err, err
        return
    table = fresh(world)
    os.chmod(table + "/_delta_log", 0o500)
    try:
        said = unharmed(world, "t", STATEMENTS[:2] + STATEMENTS[5:7])
        assert [code for _, code, _ in said] == [0, 0, 1, 1], said
    finally:
        os.chmod(table + "/_delta_log", 0o700)
