#!/usr/bin/env python3
"""Random tables with random histories: property.py PROGRAM FOLDER [--many N] [--seed N] [--steps N] [--keep].

A table has a schema made by chance (nested types, nulls, odd values, partitions), properties made by chance (deletion vectors, column
mapping, checkpoints every few commits), and a history of streams (append, upsert, with columns that appear) and statements (INSERT, UPDATE,
DELETE, MERGE, OPTIMIZE, VACUUM, RESTORE). A model in Python knows what must be there. After every step floodmark reads the table; delta-rs
and DuckDB do so now and then and at the end, each where it can; tests/spark has Spark read them, too.
"""
import argparse
import base64
import copy
import datetime
import decimal
import json
import math
import os
import random
import struct
import sys
import time
import traceback

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable, QueryBuilder

from world import World

UTC = datetime.timezone.utc
EPOCH = datetime.datetime(1970, 1, 1)
LEAVES = ["BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "STRING", "BINARY", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "DECIMAL(9,2)",
          "DECIMAL(18,6)", "DECIMAL(38,10)"]
INTEGERS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
TEXTS = ["", "a", "A", " ", "a b", "a/b", "a=b", "ü/%", "100%", "x:y", "'q'", '"d"', "\\", "#?*[]{}", "\u0001\u001f", "\U0001f30a", "long " * 20, "NULL", "__HIVE_DEFAULT_PARTITION__ ",
         "\n\t", ".", "..", "~^|", "2026-01-01", "1", "true", "e\u0301", "\uffff\U0010fffd"]


# ---- types and values -----------------------------------------------------------------------------------------------------------------

class Type:
    """kind: of LEAVES, or ARRAY, MAP, STRUCT; parts: [(name, Type)]."""

    def __init__(self, kind, parts=()):
        self.kind, self.parts = kind, list(parts)

    def sql(self):
        inner = [t.sql() for _, t in self.parts]
        if self.kind in ("ARRAY", "MAP"):
            return f"{self.kind}<{', '.join(inner)}>"
        return f"STRUCT<{', '.join(f'{n}: {t}' for (n, _), t in zip(self.parts, inner))}>" if self.kind == "STRUCT" else self.kind

    def arrow(self):
        inner = [t.arrow() for _, t in self.parts]
        if self.kind == "ARRAY":
            return pa.list_(inner[0])
        if self.kind == "MAP":
            return pa.map_(*inner)
        if self.kind == "STRUCT":
            return pa.struct([(n, t) for (n, _), t in zip(self.parts, inner)])
        if self.kind.startswith("DECIMAL"):
            return pa.decimal128(*map(int, self.kind[8:-1].split(",")))
        return {"BOOLEAN": pa.bool_(), "TINYINT": pa.int8(), "SMALLINT": pa.int16(), "INT": pa.int32(), "BIGINT": pa.int64(), "FLOAT": pa.float32(),
                "DOUBLE": pa.float64(), "STRING": pa.string(), "BINARY": pa.binary(), "DATE": pa.date32(), "TIMESTAMP": pa.timestamp("us", "UTC"),
                "TIMESTAMP_NTZ": pa.timestamp("us")}[self.kind]

    def is_leaf(self):
        return not self.parts

    def kinds(self):
        return {self.kind}.union(*(t.kinds() for _, t in self.parts))


def random_type(r, depth):
    k = r.random()
    if depth and k < 0.12:
        return Type("ARRAY", [("element", random_type(r, depth - 1))])
    if depth and k < 0.2:
        return Type("MAP", [("key", Type(r.choice(["STRING", "INT", "DATE"]))), ("value", random_type(r, depth - 1))])
    if depth and k < 0.32:
        return Type("STRUCT", [(f"f{i}", random_type(r, depth - 1)) for i in range(r.randrange(1, 4))])
    return Type(r.choice(LEAVES))


def random_value(r, t, null=0.15):
    if r.random() < null:
        return None
    if t.kind == "ARRAY":
        return [random_value(r, t.parts[0][1]) for _ in range(r.choice((0, 1, 2, 5)))]
    if t.kind == "MAP":
        keys = {canonical(k, t.parts[0][1]): k for k in (random_value(r, t.parts[0][1], 0) for _ in range(r.randrange(4)))}
        return [(k, random_value(r, t.parts[1][1])) for k in keys.values()]
    if t.kind == "STRUCT":
        return {n: random_value(r, part) for n, part in t.parts}
    if t.kind in INTEGERS:
        bits = INTEGERS[t.kind]
        return r.choice((0, 1, -1, -2 ** (bits - 1), 2 ** (bits - 1) - 1, r.randrange(-2 ** (bits - 1), 2 ** (bits - 1)), r.randrange(-5, 5)))
    if t.kind in ("FLOAT", "DOUBLE"):
        v = r.choice((0.0, -0.0, 1.5, -0.1, math.nan, math.inf, -math.inf, 1e-30, 1.17549435e-38, r.uniform(-1e6, 1e6)))
        return struct.unpack("f", struct.pack("f", v))[0] if t.kind == "FLOAT" else r.choice((v, 5e-324, 1.7976931348623157e308))
    if t.kind == "STRING":
        return r.choice(TEXTS)
    if t.kind == "BINARY":
        return r.choice((b"", b"\0", b"\xff\xfe", bytes(range(40)), r.randbytes(5)))
    if t.kind == "DATE":
        return datetime.date(1970, 1, 1) + datetime.timedelta(days=r.choice((0, -1, r.randrange(-30000, 60000))))
    if t.kind.startswith("TIMESTAMP"):
        v = EPOCH + datetime.timedelta(microseconds=r.choice((0, -1, 123000, r.randrange(-2 * 10**15, 4 * 10**15), 86400 * 10**6 * r.randrange(-20000, 20000))))
        return v.replace(tzinfo=UTC) if t.kind == "TIMESTAMP" else v
    if t.kind.startswith("DECIMAL"):
        digits, scale = map(int, t.kind[8:-1].split(","))
        return decimal.Decimal(r.choice((0, 1, -1, 10**digits - 1, 1 - 10**digits, r.randrange(-10**digits + 1, 10**digits)))).scaleb(-scale, decimal.Context(prec=76))
    return r.random() < 0.5


def canonical(v, t):
    """A text that is the same for the same value, whoever read it: Python's values, or those of to_json parsed with decimals kept."""
    if v is None:
        return "null"
    if t.kind == "ARRAY":
        return "[" + ", ".join(canonical(x, t.parts[0][1]) for x in v) + "]"
    if t.kind == "MAP":
        pairs = v.items() if isinstance(v, dict) else [(x["key"], x["value"]) if isinstance(x, dict) else x for x in v]
        return "{" + ", ".join(sorted(f"{canonical(k, t.parts[0][1])}: {canonical(x, t.parts[1][1])}" for k, x in pairs)) + "}"
    if t.kind == "STRUCT":
        return "(" + ", ".join(canonical(v.get(n), part) for n, part in t.parts) + ")"
    if t.kind in INTEGERS:
        return str(int(v))
    if t.kind in ("FLOAT", "DOUBLE"):
        v = float({"Infinity": "inf", "-Infinity": "-inf"}.get(v, v) if isinstance(v, str) else v)
        return repr(struct.unpack("f", struct.pack("f", v))[0] if t.kind == "FLOAT" else v)
    if t.kind == "BINARY":
        return v if isinstance(v, str) else base64.b64encode(v).decode()
    if t.kind == "DATE":
        if isinstance(v, str) and v.lstrip("-").isdigit():  # as to_json writes keys of maps
            v = datetime.date(1970, 1, 1) + datetime.timedelta(days=int(v))
        return v if isinstance(v, str) else v.isoformat()
    if t.kind.startswith("TIMESTAMP"):
        return v if isinstance(v, str) else v.strftime("%Y-%m-%d %H:%M:%S.%f").rjust(26, "0")
    if t.kind.startswith("DECIMAL"):
        return format(decimal.Decimal(v).quantize(decimal.Decimal(1).scaleb(-int(t.kind[8:-1].split(",")[1])), context=decimal.Context(prec=76)), "f")
    if t.kind == "BOOLEAN":
        return str(bool(v)).lower()
    return repr(v)


def literal(v, t):
    """SQL for a leaf value."""
    if v is None:
        return f"CAST(NULL AS {t.sql()})"
    if t.kind in ("FLOAT", "DOUBLE"):
        return f"CAST('{repr(v).replace('inf', 'Infinity')}' AS {t.kind})"
    if t.kind == "BINARY":
        return f"X'{v.hex()}'"
    text = canonical(v, t) if t.kind != "STRING" else v
    return "CAST('" + text.replace("\\", "\\\\").replace("'", "\\'") + f"' AS {t.kind})"


# ---- readers --------------------------------------------------------------------------------------------------------------------------

AS_JSON = "to_json(struct(*), map('timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS', 'timestampNTZFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS', 'ignoreNullFields', 'false'))"


def from_json_lines(lines, columns):
    rows = [json.loads(line, parse_float=decimal.Decimal) for line in lines]
    return sorted(tuple(canonical(row.get(n), t) for n, t in columns) for row in rows)


def read_by_us(table):
    out = table.world.run("sql", f"SELECT {AS_JSON} AS j FROM delta.`{table.path}`", "--format", "json").stdout
    return from_json_lines([json.loads(line)["j"] for line in out.splitlines()], table.columns)


def read_by_delta_rs(table):
    delta = DeltaTable(table.path)
    try:
        got = delta.to_pyarrow_table()
    except Exception as e:
        if "eletion" not in str(e) and "reader" not in str(e) and "mapping" not in str(e).lower():
            raise
        got = pa.table(QueryBuilder().register("t", delta).execute("SELECT * FROM t"))
    return sorted(tuple(canonical(row.get(n), t) for n, t in table.columns) for row in got.to_pylist())


def read_by_duckdb(table):
    """The columns that lie in the data files: partition values are the log's."""
    inner = [c for c in table.columns if c[0] not in table.partition]
    rows = []
    delta = DeltaTable(table.path)
    con = duckdb.connect()
    con.execute("SET TimeZone = 'UTC'")
    for file in delta.file_uris():
        got = con.sql("SELECT * FROM read_parquet(?, hive_partitioning = false)", params=[file]).to_arrow_table()
        rows += [tuple(canonical(row.get(n), t) for n, t in inner) for row in got.to_pylist()]
    return sorted(rows)


# ---- a table --------------------------------------------------------------------------------------------------------------------------

class Table:
    def __init__(self, program, folder, seed, readers=()):
        self.r = r = random.Random(seed)
        self.world = World(program, folder)
        self.seed, self.path, self.streams, self.input, self.did = seed, self.world.path("t"), 0, 0, []
        self.more_readers = readers
        self.key = r.choice(["INT", "STRING", "DATE", "BIGINT", "TIMESTAMP", "DECIMAL(9,2)", "BINARY", "SMALLINT"])
        self.columns = [("id", Type(self.key))] + [(f"c{i}", random_type(r, 3)) for i in range(r.randrange(1, 7))]
        if r.random() < 0.3:
            self.columns = [(r.choice((n, n.upper(), f"{n} x", f"{n}.y", f"{n}-ü")) if r.random() < 0.4 and n != "id" else n, t) for n, t in self.columns]
        odd_names = any(not n.isidentifier() or not n.isascii() for n, _ in self.columns)
        may_divide = [n for n, t in self.columns if t.is_leaf() and t.kind != "BINARY"]
        self.partition = r.sample(may_divide, min(len(may_divide), r.choice((1, 1, 2)))) if r.random() < 0.5 else []
        if len(self.partition) == len(self.columns):
            self.partition = []
        self.properties = {}
        if r.random() < 0.5:
            self.properties["delta.enableDeletionVectors"] = "true"
        if odd_names or r.random() < 0.25:
            self.properties["delta.columnMapping.mode"] = "name"
        if r.random() < 0.7:
            self.properties["delta.checkpointInterval"] = str(r.choice((1, 2, 3, 5)))
        if r.random() < 0.3:
            self.properties["delta.checkpoint.writeStatsAsStruct"] = "true"
        if r.random() < 0.15:
            self.properties["delta.enableInCommitTimestamps"] = "true"
        self.rows = []   # dicts
        self.versions = {}
        self.widened = False

    # -- what the model keeps

    def stored(self, row):
        """An empty text is null where it divides the table."""
        return {n: None if n in self.partition and row.get(n) == "" else row.get(n) for n, _ in self.columns}

    def canon(self, rows):
        return sorted(tuple(canonical(row.get(n), t) for n, t in self.columns) for row in rows)

    def fresh(self, n, keys=None):
        id_type = self.columns[0][1]
        pool = keys or [random_value(self.r, id_type, 0.1) for _ in range(8)] + [row["id"] for row in self.rows[:20]]
        return [{c: (self.r.choice(pool) if c == "id" and self.r.random() < 0.8 else random_value(self.r, t)) for c, t in self.columns} for _ in range(n)]

    # -- steps

    def name(self, n):
        return f"`{n}`"

    def sql(self, *statements):
        done = self.world.job(";\n".join(statements) + ";\n", name="script.sql", spark__databricks__delta__retentionDurationCheck__enabled="false")
        return done

    def create(self):
        declared = ", ".join(f"{self.name(n)} {t.sql()}" for n, t in self.columns)
        properties = ", ".join(f"'{k}' = '{v}'" for k, v in self.properties.items())
        self.sql(f"CREATE TABLE delta.`{self.path}` ({declared}) USING delta" + (f" PARTITIONED BY ({', '.join(map(self.name, self.partition))})" if self.partition else "")
                 + (f" TBLPROPERTIES ({properties})" if properties else ""))

    def give(self, rows):
        """Rows as a Parquet file in a folder of their own."""
        self.input += 1
        folder = self.world.path(f"in{self.input}")
        os.makedirs(folder)
        pq.write_table(pa.table([pa.array([row[n] for row in rows], t.arrow()) for n, t in self.columns], names=[n for n, _ in self.columns]), folder + "/1.parquet",
                       use_deprecated_int96_timestamps=False)
        return folder

    def stream(self, rows, mode, options=""):
        folder = self.give(rows)
        declared = ", ".join(f"{self.name(n)} {t.sql()}" for n, t in self.columns)
        self.world.job(f"""CREATE TABLE src ({declared}) USING parquet OPTIONS (path '{folder}/');
CREATE STREAMING TABLE t USING delta OPTIONS (path '{self.path}', outputMode '{mode}', checkpointLocation 'ck{self.input}'{options}) AS SELECT * FROM STREAM src;""")

    def append(self):
        rows = self.fresh(self.r.choice((0, 1, 7, 40)))
        self.stream(rows, "append")
        self.rows += map(self.stored, rows)

    def evolve(self):
        self.columns.append((f"n{len(self.columns)}", random_type(self.r, 2)))
        structs = [t for _, t in self.columns if t.kind == "STRUCT"]
        if structs and self.r.random() < 0.5:
            t = self.r.choice(structs)
            t.parts.append((f"f{len(t.parts)}", random_type(self.r, 1)))
        rows = self.fresh(self.r.choice((1, 9)))
        self.stream(rows, "append", ", mergeSchema 'true'")
        self.rows += map(self.stored, rows)

    def widen(self):
        """Integers that grow, as mergeSchema lets them."""
        wider = {"TINYINT": ("SMALLINT", "INT"), "SMALLINT": ("INT",)}
        narrow = [i for i, (n, t) in enumerate(self.columns) if t.kind in wider and n not in self.partition]
        if not narrow:
            return
        i = self.r.choice(narrow)
        n, t = self.columns[i]
        self.columns[i] = (n, Type(self.r.choice(wider[t.kind])))
        rows = self.fresh(self.r.choice((1, 9)))
        self.stream(rows, "append", ", mergeSchema 'true'")
        self.rows += map(self.stored, rows)

    def upsert(self):
        rows, seen = [], set()
        for row in self.fresh(self.r.choice((1, 10, 30))):
            key = canonical(self.stored(row)["id"], self.columns[0][1])
            if key not in seen:
                seen.add(key)
                rows.append(row)
        self.stream(rows, "update", ", mergeKeys 'id'")
        self.rows = [row for row in self.rows if canonical(row["id"], self.columns[0][1]) not in seen] + list(map(self.stored, rows))

    def insert(self):
        rows = self.fresh(self.r.choice((1, 5)))
        self.sql(f"INSERT INTO delta.`{self.path}` SELECT * FROM parquet.`{self.give(rows)}`")
        self.rows += map(self.stored, rows)

    def pick(self):
        """A condition and the rows it takes."""
        n, t = self.r.choice([c for c in self.columns if c[1].is_leaf()])
        v = self.r.choice([row.get(n) for row in self.rows] or [None]) if self.r.random() < 0.8 else random_value(self.r, t)
        if v is None:
            return f"{self.name(n)} IS NULL", lambda row: row.get(n) is None
        # In SQL -0.0 = 0.0, NaN = NaN.
        def same(x):
            if x is None:
                return False
            return x == v or (isinstance(v, float) and math.isnan(v) and math.isnan(x)) if isinstance(v, float) else canonical(x, t) == canonical(v, t)
        return f"{self.name(n)} = {literal(v, t)}", same_of(n, same)

    def compare(self):
        """The same, by order: what reads may pass over by statistics and partition values."""
        n, t = self.r.choice([c for c in self.columns if c[1].is_leaf()])
        v = self.r.choice([row.get(n) for row in self.rows if row.get(n) is not None] or [random_value(self.r, t, 0)])
        below = self.r.random() < 0.5

        def rank(x):  # NaN is the greatest
            return (math.isnan(x), 0 if math.isnan(x) else x) if isinstance(x, float) else x
        takes = (lambda row: row.get(n) is not None and (rank(row[n]) < rank(v) if below else rank(row[n]) >= rank(v)))
        return f"{self.name(n)} {'<' if below else '>='} {literal(v, t)}", takes

    def delete(self):
        where, takes = self.pick()
        self.sql(f"DELETE FROM delta.`{self.path}` WHERE {where}")
        self.rows = [row for row in self.rows if not takes(row)]

    def update(self):
        where, takes = self.pick()
        n, t = self.r.choice([c for c in self.columns if c[1].is_leaf()])
        v = random_value(self.r, t)
        self.sql(f"UPDATE delta.`{self.path}` SET {self.name(n)} = {literal(v, t)} WHERE {where}")
        self.rows = [self.stored({**row, n: v}) if takes(row) else row for row in self.rows]

    def merge(self):
        rows, seen, t = [], set(), self.columns[0][1]
        for row in self.fresh(self.r.choice((1, 10))):
            if canonical(row["id"], t) not in seen:
                seen.add(canonical(row["id"], t))
                rows.append(row)
        drop = self.r.random() < 0.3
        self.sql(f"MERGE INTO delta.`{self.path}` AS t USING (SELECT * FROM parquet.`{self.give(rows)}`) AS s ON t.id = s.id "
                 f"WHEN MATCHED THEN {'DELETE' if drop else 'UPDATE SET *'} WHEN NOT MATCHED THEN INSERT *")
        here = {canonical(row["id"], t) for row in self.rows if row["id"] is not None}
        new = {canonical(row["id"], t): self.stored(row) for row in rows if row["id"] is not None}
        kept = []
        for row in self.rows:
            hit = new.get(canonical(row["id"], t)) if row["id"] is not None else None
            if hit is None:
                kept.append(row)
            elif not drop:
                kept.append(hit)
        kept += [self.stored(row) for row in rows if row["id"] is None or canonical(row["id"], t) not in here]
        self.rows = kept

    def optimize(self):
        self.sql(f"OPTIMIZE delta.`{self.path}`")

    def vacuum(self):
        self.sql(f"VACUUM delta.`{self.path}` RETAIN 0 HOURS")
        self.versions = {}

    def restore(self):
        if not self.versions:
            return
        version = self.r.choice(sorted(self.versions))
        columns, rows = copy.deepcopy(self.versions[version])
        self.sql(f"RESTORE TABLE delta.`{self.path}` TO VERSION AS OF {version}")
        self.columns, self.rows = columns, rows

    # -- the property

    def check(self, name, got, columns=None):
        wanted = self.canon(self.rows)
        if columns is not None:
            at = [i for i, (n, _) in enumerate(self.columns) if n in columns]
            wanted = sorted(tuple(row[i] for i in at) for row in wanted)
        if got != wanted:
            from collections import Counter
            have, want = Counter(got), Counter(wanted)
            raise AssertionError(f"{name} reads {len(got)} rows instead of {len(wanted)}\n too much: {list((have - want).elements())[:3]}\n"
                                 f" missing:  {list((want - have).elements())[:3]}\n columns: {[(n, t.sql()) for n, t in self.columns]}")

    def check_by_us(self):
        self.check("floodmark", read_by_us(self))
        for _ in range(self.r.choice((0, 0, 2))):
            where, takes = self.pick() if self.r.random() < 0.4 else self.compare()
            out = self.world.run("sql", f"SELECT count(*) AS n FROM delta.`{self.path}` WHERE {where}", "--format", "json").stdout
            want = sum(takes(row) for row in self.rows)
            if json.loads(out)["n"] != want:
                raise AssertionError(f"floodmark counts {out.strip()} instead of {want} rows where {where}")

    def check_by_others(self):
        divides = {t.kind for n, t in self.columns if n in self.partition}
        mapped = "delta.columnMapping.mode" in self.properties
        # What delta-rs cannot: columns by other names; partitions by negative decimals, by -0.0 and NaN.
        if not mapped and not any(k.startswith("DECIMAL") or k in ("FLOAT", "DOUBLE") for k in divides):
            self.check("delta-rs", read_by_delta_rs(self))
            if "delta.enableDeletionVectors" not in self.properties:
                self.check("DuckDB", read_by_duckdb(self), [n for n, _ in self.columns if n not in self.partition])
        for name, read in self.more_readers:
            self.check(name, read(self))


    def live(self, steps):
        self.create()
        self.check_by_us()
        every = [self.append] * 4 + [self.upsert] * 3 + [self.evolve, self.widen, self.insert, self.delete, self.delete, self.update, self.update, self.merge, self.merge, self.optimize,
                                                          self.vacuum, self.restore]
        for _ in range(steps):
            step = self.r.choice(every)
            self.did.append(step.__name__)
            step()
            self.check_by_us()
            version = DeltaTable(self.path).version()
            self.versions[version] = (copy.deepcopy(self.columns), copy.deepcopy(self.rows))
            if self.r.random() < 0.2:
                self.check_by_others()
        self.check_by_others()


def same_of(name, same):
    return lambda row: same(row.get(name))


def lives(program, folder, many, seed, steps, readers=(), keep=False):
    """Seeds whose table was not as it must be, each with what was wrong."""
    import shutil
    wrong = []
    for i in range(many):
        where = os.path.join(folder, f"table-{seed + i}")
        table = None
        try:
            table = Table(program, where, seed + i, readers)
            table.live(steps)
        except Exception as e:
            kind = str(e) if isinstance(e, AssertionError) else traceback.format_exc()
            did = table and (table.properties, table.partition, [(n, t.sql()) for n, t in table.columns], table.did)
            wrong.append(f"seed {seed + i}: {kind}\n {did}")
            print("FAILED", wrong[-1], flush=True)
            continue
        if not keep:
            shutil.rmtree(where)
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("--many", type=int, default=100)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**9)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--keep", action="store_true")
    args = parser.parse_args()
    wrong = lives(args.program, args.folder, args.many, args.seed, args.steps, keep=args.keep)
    print(f"{args.many - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)
