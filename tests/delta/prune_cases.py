"""What filters let a read pass over must never show in its rows: random tables, random conditions, each asked twice, once so that nothing
can be passed over. Partitions, statistics of files, row groups and pages, Bloom filters; pyarrow, delta-rs and floodmark as writers."""
import datetime
import decimal
import random

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import write_deltalake

EPOCH = datetime.datetime(1970, 1, 1)
TYPES = {
    "i": pa.int32(), "l": pa.int64(), "t": pa.int8(), "f": pa.float32(), "d": pa.float64(), "s": pa.string(), "b": pa.bool_(),
    "dt": pa.date32(), "ts": pa.timestamp("us", tz="UTC"), "tn": pa.timestamp("us"), "e9": pa.decimal128(9, 2), "e18": pa.decimal128(18, 4),
    "e38": pa.decimal128(38, 6), "st": pa.struct([("x", pa.int64()), ("y", pa.struct([("z", pa.string()), ("w", pa.float64())]))]),
}
LEAVES = {name: [name] for name in TYPES if name != "st"} | {"st.x": ["st", "x"], "st.y.z": ["st", "y", "z"], "st.y.w": ["st", "y", "w"]}


def value(rng, kind, near):
    """A value of a kind; `near` draws the values of one file together, so that bounds exclude something."""
    if rng.random() < 0.1:
        return None
    if kind == "b":
        return rng.random() < near % 3 / 2
    if kind in ("i", "l", "t"):
        return max(-128, min(127, near * 7 - 60 + rng.randrange(20))) if kind == "t" else near * 100 - 500 + rng.randrange(150)
    if kind in ("f", "d", "w"):
        if rng.random() < 0.15:
            return rng.choice([float("nan"), -0.0, 0.0, float("inf"), float("-inf"), 0.1])
        return (near - 5) + rng.randrange(20) / 10
    if kind in ("s", "z"):
        if rng.random() < 0.1:
            return rng.choice(["", "\U0010ffff" * 3, "\u00ff" * 40, "\U0010ffff" * 80, "a" * 200])
        return "abcdefghijkl"[near] * rng.choice([1, 1, 3, 70]) + rng.choice(["", "x", "zz", "\u00e9", "\uffff"])
    if kind == "dt":
        return datetime.date(1969, 12, 1) + datetime.timedelta(days=near * 10 + rng.randrange(15))
    if kind in ("ts", "tn"):
        return EPOCH + datetime.timedelta(days=near - 5, microseconds=rng.choice([0, 1, 999, 1000, 1001, 999999, rng.randrange(10**10)]))
    if kind.startswith("e"):
        scale = {"e9": 2, "e18": 4, "e38": 6}[kind]
        big = 10 ** {"e9": 4, "e18": 10, "e38": 28}[kind]
        return decimal.Decimal((near - 5) * big + rng.randrange(-big, big)).scaleb(-scale)
    return near + rng.randrange(3)


def table(rng, rows, near, types):
    def struct():
        if rng.random() < 0.1:
            return None
        inner = None if rng.random() < 0.1 else {"z": value(rng, "z", near), "w": value(rng, "w", near)}
        return {"x": value(rng, "l", near), "y": inner}
    columns = {"id": pa.array([rng.randrange(10**9) for _ in range(rows)], pa.int64())}
    for name, type in types.items():
        if rng.random() < 0.06:
            values = [None] * rows
        else:
            values = [struct() if name == "st" else value(rng, name, near) for _ in range(rows)]
        if name == "e38" or name.startswith("e"):
            with decimal.localcontext(prec=60):
                columns[name] = pa.array(values, type)
        else:
            columns[name] = pa.array(values, type)
    return pa.table(columns)


def literal(kind, v):
    if kind in ("f", "d", "w"):
        text = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(repr(v), repr(v))
        return f"{'float' if kind == 'f' else 'double'}('{text}')"
    if kind in ("s", "z"):
        return "'" + v.replace("\\", "\\\\").replace("'", "\\'") + "'"
    if kind == "dt":
        return f"date'{v}'"
    if kind in ("ts", "tn"):
        return f"timestamp{'_ntz' if kind == 'tn' else ''}'{v.strftime('%Y-%m-%d %H:%M:%S.%f')}'"
    if kind == "b":
        return "true" if v else "false"
    if kind.startswith("e"):
        return f"{v:f}"
    return str(v)


def condition(rng, leaves, depth=0):
    if depth < 3 and rng.random() < 0.45:
        kind = rng.choice(["AND", "OR", "NOT"])
        if kind == "NOT":
            return f"NOT ({condition(rng, leaves, depth + 1)})"
        return f"({condition(rng, leaves, depth + 1)} {kind} {condition(rng, leaves, depth + 1)})"
    name = rng.choice(sorted(leaves))
    kind = leaves[name][-1] if leaves[name][-1] != "x" else "l"

    def one():
        while True:
            v = value(rng, kind, rng.randrange(12))
            if v is not None:
                return literal(kind, v)
    form = rng.randrange(10)
    if form == 0:
        return f"{name} IS NULL"
    if form == 1:
        return f"{name} IS NOT NULL"
    if form == 2:
        return f"{name} IN ({', '.join(one() for _ in range(rng.randrange(1, 5)))})"
    if form == 3:
        return f"{name} <=> {rng.choice([one(), 'NULL'])}"
    if form == 4 and kind in ("s", "z"):
        return f"{name} LIKE '{rng.choice('abcdefgh') * rng.choice([1, 2, 60])}{rng.choice(['%', 'x%', ''])}'"
    if form == 5:
        return f"{name} BETWEEN {one()} AND {one()}"
    if form == 6:
        return f"{one()} {rng.choice(['<', '<=', '=', '>', '>='])} {name}"
    if form == 7 and kind in ("i", "l", "t"):
        return f"{name} {rng.choice(['<', '>=', '='])} {rng.choice([200, 3000000000, 1.5, 10.0, -500])}"
    return f"{name} {rng.choice(['=', '=', '<>', '<', '<=', '>', '>='])} {one()}"


def compare(world, source, leaves, rng, n):
    conditions = [condition(rng, leaves) for _ in range(n)]
    text = " UNION ALL ".join(f"SELECT {i} AS q, 'a' AS k, count(*) AS n, sum(id) AS s FROM {source} WHERE {c} UNION ALL "
                    f"SELECT {i} AS q, 'b' AS k, count(*) AS n, sum(id) AS s FROM {source} WHERE coalesce(({c}), false)"
                    for i, c in enumerate(conditions))
    rows = sorted(world.sql(text), key=lambda r: (r["q"], r["k"]))
    assert len(rows) == 2 * n, f"{len(rows)} rows of {2 * n}"
    found = 0
    for a, b in zip(rows[::2], rows[1::2]):
        assert a["q"] == b["q"] and (a["n"], a.get("s")) == (b["n"], b.get("s")), f"{conditions[a['q']]}\nof {source}: {a} but there are {b}"
        found += a["n"] > 0
    assert found > n // 10, "conditions that nothing meets show nothing"


def case_prune_parquet(world):
    for seed in range(12):
        rng = random.Random(seed)
        for i in range(4):
            t = pa.concat_tables([table(rng, rng.choice([1, 7, 60]), near, TYPES) for near in rng.sample(range(12), 6)])
            units = rng.choice(["us", "us", "ms", "ns"])
            options = {"coerce_timestamps": units, "allow_truncated_timestamps": True} if units != "us" else {}
            if units == "ns":
                options = {}
                t = t.set_column(t.schema.get_field_index("tn"), "tn", t["tn"].cast(pa.timestamp("ns")))
            folder = world.write(f"p{seed}/x{i}.parquet", "")
            pq.write_table(t, folder, row_group_size=rng.choice([5, 50, 1000]), data_page_size=rng.choice([16, 200, 1 << 20]),
                           write_page_index=rng.random() < 0.7, use_dictionary=rng.random() < 0.5, version=rng.choice(["1.0", "2.6"]),
                           data_page_version=rng.choice(["1.0", "2.0"]), store_decimal_as_integer=rng.random() < 0.3, write_batch_size=rng.choice([3, 64]),
                           **options)
        compare(world, f"parquet.`{world.path(f'p{seed}')}`", LEAVES, rng, 40)


def case_prune_folders(world):
    for seed, part in enumerate(["i", "s", "dt", "b", "l"]):
        rng = random.Random(seed)
        types = {name: TYPES[name] for name in (part, "d", "s" if part != "s" else "l")}
        t = pa.concat_tables([table(rng, 20, near, types) for near in range(12)])
        t = t.filter(pc.or_kleene(pc.is_null(t[part]), pc.less(pc.utf8_length(t[part].cast(pa.string())), 50)))
        pq.write_to_dataset(t, world.path(f"h{seed}"), partition_cols=[part])
        compare(world, f"parquet.`{world.path(f'h{seed}')}`", {name: LEAVES[name] for name in types}, rng, 40)


def case_prune_delta(world):
    types = {name: type for name, type in TYPES.items() if name != "tn"}
    leaves = {name: path for name, path in LEAVES.items() if name != "tn"}
    for seed in range(8):
        rng = random.Random(seed)
        part = rng.choice([None, "i", "s", "dt", "b", "e9"])
        path = world.path(f"d{seed}")
        for i in range(5):
            t = pa.concat_tables([table(rng, rng.choice([1, 20]), near, types) for near in rng.sample(range(12), 2)])
            if part == "s":
                t = t.filter(pc.fill_null(pc.less(pc.utf8_length(t["s"]), 30), True))
            write_deltalake(path, t, mode="append", partition_by=[part] if part else None)
        compare(world, f"delta.`{path}`", leaves, rng, 40)


def case_prune_own_delta(world):
    """Files that floodmark writes, with its own statistics and deletion vectors from upserts."""
    for seed in range(4):
        rng = random.Random(seed)
        for i in range(4):
            t = pa.concat_tables([table(rng, 30, near, TYPES) for near in rng.sample(range(12), 2)])
            t = t.set_column(0, "id", pa.array([rng.randrange(150) * 4 + i for _ in range(t.num_rows)], pa.int64()))
            t = t.take(pa.array(list({v: k for k, v in enumerate(t["id"].to_pylist())}.values())))
            world.write(f"o{seed}/in/{i}.parquet", "")
            pq.write_table(t, world.path(f"o{seed}/in/{i}.parquet"))
        partition = rng.choice(["", "PARTITIONED BY (b)"])
        world.job(f"""SET spark.sql.streaming.schemaInference = true;
            CREATE TABLE t USING parquet OPTIONS (path '{world.path(f'o{seed}/in')}', maxFilesPerTrigger '1');
            CREATE STREAMING TABLE o USING delta OPTIONS (path '{world.path(f'o{seed}/t')}', checkpointLocation '{world.path(f'o{seed}/ck')}',
                outputMode 'append') {partition} AS SELECT * FROM STREAM t""")
        compare(world, f"delta.`{world.path(f'o{seed}/t')}`", LEAVES, rng, 40)


SHOWN = [  # recorded from Spark 4.3
    ("a > 3", "", "IsNotNull(a), GreaterThan(a,3)"),
    ("b = 5", "", "IsNotNull(b), EqualTo(b,5)"),
    ("b > 3.5", "", "IsNotNull(b), GreaterThan(b,3)"),
    ("3.5 > b", "", "IsNotNull(b), LessThan(b,4)"),
    ("a >= -0.5", "", "IsNotNull(a), GreaterThanOrEqual(a,0)"),
    ("c <= 3.5", "", "IsNotNull(c), LessThanOrEqual(c,3)"),
    ("b between 0.5 and 2.5", "", "IsNotNull(b), GreaterThanOrEqual(b,1), LessThanOrEqual(b,2)"),
    ("b = 1.0", "", "IsNotNull(b), EqualTo(b,1)"),
    ("k > 0.5", "isnotnull(k), (k > 0)", ""),
    ("c > 5", "", "IsNotNull(c), GreaterThan(c,5)"),
    ("f > 0.5", "", "IsNotNull(f), GreaterThan(f,0.5)"),
    ("s like 'ab%'", "", "IsNotNull(s), StringStartsWith(s,ab)"),
    ("s like '%ab'", "", "IsNotNull(s), StringEndsWith(s,ab)"),
    ("s like '%ab%'", "", "IsNotNull(s), StringContains(s,ab)"),
    ("e > 1.5", "", "IsNotNull(e), GreaterThan(e,1.50)"),
    ("e > 1", "", "IsNotNull(e), GreaterThan(e,1.00)"),
    ("dt >= '2024-01-03'", "", "IsNotNull(dt), GreaterThanOrEqual(dt,2024-01-03)"),
    ("ts >= '2024-01-01'", "", "IsNotNull(ts), GreaterThanOrEqual(ts,2024-01-01 00:00:00.0)"),
    ("ts = timestamp'2024-01-01 10:00:00.123456'", "", "IsNotNull(ts), EqualTo(ts,2024-01-01 10:00:00.123456)"),
    ("tn >= '2024-01-01'", "", "IsNotNull(tn), GreaterThanOrEqual(tn,2024-01-01T00:00)"),
    ("n.x > 3", "", "IsNotNull(n.x), GreaterThan(n.x,3)"),
    ("n.y.z = 'q'", "", "IsNotNull(n.y.z), EqualTo(n.y.z,q)"),
    ("a in (1,2,3)", "", "In(a, [1,2,3])"),
    ("a is null", "", "IsNull(a)"),
    ("a is not null", "", "IsNotNull(a)"),
    ("a <=> 5", "", "EqualNullSafe(a,5)"),
    ("a <=> null", "", "IsNull(a)"),
    ("a = 1 or b = 2", "", "Or(EqualTo(a,1),EqualTo(b,2))"),
    ("a <> 1", "", "IsNotNull(a), Not(EqualTo(a,1))"),
    ("a = 1 or s is null", "", "Or(EqualTo(a,1),IsNull(s))"),
    ("k = 1", "isnotnull(k), (k = 1)", ""),
    ("k = 1 and a > 3", "isnotnull(k), (k = 1)", "IsNotNull(a), GreaterThan(a,3)"),
    ("bo", "", "IsNotNull(bo), EqualTo(bo,true)"),
    ("not bo", "", "IsNotNull(bo), Not(EqualTo(bo,true))"),
    ("a between 1 and 3", "", "IsNotNull(a), GreaterThanOrEqual(a,1), LessThanOrEqual(a,3)"),
    ("not(a in (1,2))", "", "Not(In(a, [1,2]))"),
    ("s > 'a' and s < 'b'", "", "IsNotNull(s), GreaterThan(s,a), LessThan(s,b)"),
    ("not (a > 1 and b > 2)", "", "Or(LessThanOrEqual(a,1),LessThanOrEqual(b,2))"),
    ("a > 5L", "", "IsNotNull(a), GreaterThan(a,5)"),
]


def case_prune_explain(world):
    """Filters as Spark shows them."""
    now = datetime.datetime(2024, 1, 1, 10)
    t = pa.table({"a": pa.array([1], pa.int32()), "b": [1], "c": pa.array([1], pa.int8()), "f": pa.array([1], pa.float32()), "s": ["x"],
                  "e": pa.array([1], pa.decimal128(10, 2)), "dt": [now.date()], "ts": pa.array([now], pa.timestamp("us", tz="UTC")), "tn": [now],
                  "n": [{"x": 1, "y": {"z": "q"}}], "bo": [True], "k": [1]})
    pq.write_to_dataset(t, world.path("x"), partition_cols=["k"])
    for where, folders, pushed in SHOWN:
        plan = "\n".join(r["plan"] for r in world.sql(f"EXPLAIN SELECT * FROM parquet.`{world.path('x')}` WHERE {where}"))
        assert f"PartitionFilters: [{folders}], PushedFilters: [{pushed}]" in plan, f"{where}: {plan}"
