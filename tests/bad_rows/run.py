#!/usr/bin/env python3
"""BAD_ROWS over files: what goes on, what is kept, what is said.    run.py PROGRAM

Each case is a job over a folder of files; its rows and the records that were kept are compared. Kafka's are in tests/kafka."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
JSON = ['{"user":"a","n":1,"at":"2026-03-01T00:00:00Z"}', '{"user":"b","n":"x"}', "not json", "", '{"user":"c","n":3,"at":"2026-03-01T00:00:02Z"}',
        '[{"user":"d","n":4},{"user":"e","n":"y"}]', '[{"user":"g","n":7}]', '{"user":"f","n":6']
NO_INT = "the value of field 'n' is no INT, at byte 16 of the record"


class Job:
    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="bad-rows-")
        os.mkdir(self.dir + "/in")
        self.written = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.dir)

    def file(self, lines):
        self.written += 1
        with open(f"{self.dir}/in/{self.written:03}.txt", "wb") as f:
            f.write(b"".join((l if isinstance(l, bytes) else l.encode()) + b"\n" for l in lines))

    def run(self, select, table="USING json", columns="(user STRING, n INT, at TIMESTAMP)", before="", ok=True, workers=1, sink="json"):
        sql = (f"CREATE TABLE e {columns} {table} OPTIONS (path '{self.dir}/in'{', ' + self.options if getattr(self, 'options', '') else ''});\n{before}\n"
               f"CREATE STREAMING TABLE r USING {sink} OPTIONS (path '{self.dir}/rows', checkpointLocation '{self.dir}/checkpoint', outputMode 'append') AS {select};")
        sql = sql.replace("$bad", self.dir + "/bad")
        with open(self.dir + "/job.sql", "w") as f:
            f.write(sql)
        done = subprocess.run([PROGRAM, "run", self.dir + "/job.sql", "--available-now", "--progress", self.dir + "/progress", "-c", "spark.sql.session.timeZone=UTC",
                               "-c", f"floodmark.workers={workers}"], capture_output=True, text=True)
        if (done.returncode == 0) != ok:
            raise AssertionError(f"exit code {done.returncode}: {done.stderr}")
        return done.stderr

    def lines(self, folder):
        got = []
        for name in sorted(os.listdir(f"{self.dir}/{folder}") if os.path.isdir(f"{self.dir}/{folder}") else []):
            if name.endswith(".json"):
                with open(f"{self.dir}/{folder}/{name}") as f:
                    got += [json.loads(l) for l in f]
        return got

    def rows(self):
        return sorted((tuple(r.values()) for r in self.lines("rows")), key=str)

    def bad(self, *columns):
        return sorted(tuple(os.path.basename(r[c]) if c == "file" else r.get(c) for c in columns) for r in self.lines("bad"))

    def counted(self):
        with open(self.dir + "/progress") as f:
            return sum(json.loads(l)["floodmark"]["badRows"] for l in f)


def expect(got, wanted):
    if got != wanted:
        raise AssertionError(f"got    {got}\n        wanted {wanted}")


def json_files():
    with Job() as job:
        job.file(JSON)
        job.run("SELECT /*+ BAD_ROWS('json', '$bad') */ user, n FROM STREAM e")
        expect(job.rows(), [("a", 1), ("c", 3), ("g", 7)])
        expect(job.bad("file", "line", "reason"), [
            ("001.txt", 2, NO_INT), ("001.txt", 3, "it is not JSON: a word that is no JSON value, at byte 4 of the record"),
            ("001.txt", 6, "the value of field 'n' is no INT, at byte 36 of the record"),
            ("001.txt", 8, "it is not JSON: the text ends within an object or array, at byte 17 of the record")])
        expect(job.bad("text")[0], ("[{\"user\":\"d\",\"n\":4},{\"user\":\"e\",\"n\":\"y\"}]",))
        expect(job.counted(), 4)


def unasked_as_spark():
    with Job() as job:
        job.file(JSON)
        job.run("SELECT user, n FROM STREAM e")
        expect(len(job.rows()), 8)
        expect(job.bad("text"), [])


def drop_and_fail():
    with Job() as job:
        job.file(JSON)
        job.run("SELECT /*+ BAD_ROWS('drop') */ user, n FROM STREAM e")
        expect(job.rows(), [("a", 1), ("c", 3), ("g", 7)])
        expect(job.counted(), 4)
    with Job() as job:
        job.file(JSON)
        said = job.run("SELECT /*+ BAD_ROWS('fail') */ user, n FROM STREAM e", ok=False)
        for part in ("FLOODMARK_BAD_ROW", "001.txt:2", NO_INT, '{"user":"b","n":"x"}'):
            if part not in said:
                raise AssertionError(f"'{part}' is not in: {said}")
        expect(job.rows(), [])


def unused_columns_count():
    """Whether a record is bad depends on all that is declared, whatever the query uses."""
    with Job() as job:
        job.file(JSON)
        job.run("SELECT /*+ BAD_ROWS('json', '$bad') */ 1 AS one FROM STREAM e")
        expect(job.rows(), [(1,)] * 3)
        expect(len(job.bad("text")), 4)


def csv_files():
    with Job() as job:
        job.file(["a,1,2026-03-01 00:00:00", "b,x,2026-03-01 00:00:00", "c,3", "d,4,2026-03-01 00:00:00,more", b"\xff,y,z"])
        job.run("SELECT /*+ BAD_ROWS('json', '$bad') */ user, n FROM STREAM e", table="USING csv")
        expect(job.rows(), [("a", 1)])
        expect(job.bad("line", "reason"), [(2, "the value of field 'n' is no INT, at byte 2 of the record"), (3, "it has 2 fields where 3 were expected"),
                                           (4, "it has 4 fields where 3 were expected"), (5, "the value of field 'n' is no INT, at byte 2 of the record")])
        expect(job.bad("line", "value", "text")[3], (5, "/yx5LHo=", "\ufffd,y,z"))


TEXTS = ['{"n":1}', '{"n":"x"}', "junk", '{"n":4}']
FROM = "from_json(value, 'n INT')"


def calls_over_rows():
    for select in (f"SELECT /*+ BAD_ROWS('json', '$bad') */ {FROM}.n FROM STREAM e",
                   f"SELECT /*+ BAD_ROWS('json', '$bad') */ d.n FROM (SELECT {FROM} AS d FROM STREAM e)",
                   f"SELECT /*+ BAD_ROWS('json', '$bad') */ d.n FROM (SELECT {FROM} AS d FROM STREAM e) WHERE d.n > 0",
                   f"SELECT /*+ BAD_ROWS('json', '$bad') */ {FROM}.n + {FROM}.n - {FROM}.n AS n FROM STREAM e WHERE {FROM}.n IS NOT NULL",
                   f"SELECT /*+ BAD_ROWS('json', '$bad') */ from_json(value, 'n INT', map('mode', 'PERMISSIVE')).n FROM STREAM e",
                   "SELECT d.n FROM v", "SELECT /*+ BAD_ROWS('drop') */ d.n FROM v"):
        with Job() as job:
            job.file(TEXTS)
            job.run(select, table="USING text", columns="", workers=2,
                    before=f"CREATE VIEW v AS SELECT /*+ BAD_ROWS('json', '$bad') */ {FROM} AS d FROM STREAM e;")
            expect(job.rows(), [(1,), (4,)])
            expect(job.bad("file", "line", "text"), [("001.txt", 2, '{"n":"x"}'), ("001.txt", 3, "junk")])
            expect(job.counted(), 2)


def whole_structs():
    with Job() as job:
        job.file(TEXTS)
        job.run(f"SELECT /*+ BAD_ROWS('json', '$bad') */ {FROM} AS d, to_json({FROM}) AS t FROM STREAM e", table="USING text", columns="")
        expect(job.rows(), [({"n": 1}, '{"n":1}'), ({"n": 4}, '{"n":4}')])


def from_csv():
    with Job() as job:
        job.file(["1,a", "x,b", "2"])
        job.run("SELECT /*+ BAD_ROWS('json', '$bad') */ from_csv(value, 'n INT, s STRING').n FROM STREAM e", table="USING text", columns="")
        expect(job.rows(), [(1,)])
        expect(job.bad("line", "reason"), [(2, "the value of field 'n' is no INT, at byte 0 of the record"), (3, "it has 1 field where 2 were expected")])


def once_for_several_parsers():
    """A row that two parsers refuse is kept once, by the first; a text that comes out of another is looked at, too."""
    with Job() as job:
        job.file(['{"n":1,"inner":"{\\"m\\":2}"}', "junk", '{"n":3,"inner":"{\\"m\\":false}"}'])
        job.run("SELECT /*+ BAD_ROWS('json', '$bad') */ from_json(value, 'n INT').n, from_json(from_json(value, 'inner STRING').inner, 'm INT').m FROM STREAM e",
                table="USING text", columns="")
        expect(job.rows(), [(1, 2)])
        expect(job.bad("line", "text"), [(2, "junk"), (3, '{"m":false}')])


def branches_are_left_alone():
    with Job() as job:
        job.file(TEXTS)
        job.run(f"SELECT /*+ BAD_ROWS('json', '$bad') */ CASE WHEN value LIKE '{{%' THEN {FROM}.n ELSE -1 END AS n FROM STREAM e", table="USING text", columns="")
        expect(len(job.rows()), 4)
        expect(job.bad("text"), [])


def unions():
    with Job() as job:
        job.file(TEXTS)
        job.run(f"SELECT /*+ BAD_ROWS('json', '$bad') */ {FROM}.n FROM (SELECT value FROM STREAM e UNION ALL SELECT concat(value, ' ') AS value FROM STREAM e)",
                table="USING text", columns="")
        expect(job.rows(), [(1,), (1,), (4,), (4,)])
        expect(job.bad("line", "text"), [(2, '{"n":"x"}'), (2, '{"n":"x"} '), (3, "junk"), (3, "junk ")])


def with_windows_and_late_rows():
    with Job() as job:
        for minute in (0, 20, 40):
            job.file([f'{{"user":"a","n":1,"at":"2026-03-01T00:{minute:02}:00Z"}}', "junk"])
        job.file(['{"user":"late","n":1,"at":"2026-03-01T00:01:00Z"}', '{"user":"a","n":1,"at":"late"}'])
        job.options = "maxFilesPerTrigger '1'"
        job.run("SELECT /*+ BAD_ROWS('json', '$bad'), LATE_ROWS('json', '$bad-late') */ window.start AS s, count(*) AS c FROM STREAM e WATERMARK at DELAY OF INTERVAL 1 MINUTE "
                "GROUP BY window(at, '5 minutes')")
        expect(job.rows(), [("2026-03-01T00:00:00.000Z", 1), ("2026-03-01T00:20:00.000Z", 1)])
        expect(job.bad("file", "line"), [("001.txt", 2), ("002.txt", 2), ("003.txt", 2), ("004.txt", 2)])
        expect([r["user"] for r in job.lines("bad-late")], ["late"])


def goes_on():
    with Job() as job:
        for _ in range(3):
            job.file(JSON)
            job.run("SELECT /*+ BAD_ROWS('json', '$bad') */ user, n FROM STREAM e")
            job.run("SELECT /*+ BAD_ROWS('json', '$bad') */ user, n FROM STREAM e")
        expect(len(job.rows()), 9)
        expect(len(set(job.bad("file", "line"))), 12)
        expect(len(job.bad("file", "line")), 12)


def many():
    """More bad records than a batch of rows holds, and nothing but them."""
    with Job() as job:
        for _ in range(4):
            job.file(["junk"] * 20000)
        job.run("SELECT /*+ BAD_ROWS('json', '$bad') */ user FROM STREAM e", workers=3)
        expect(job.rows(), [])
        expect(len(set(job.bad("file", "line"))), 80000)


def wrong_hints():
    for hint in ("BAD_ROWS", "BAD_ROWS('keep')", "BAD_ROWS('json', 'x', 'y')", "BAD_ROWS('json', '')"):
        with Job() as job:
            job.file(JSON)
            if "FLOODMARK_HINT_ARGUMENTS" not in job.run(f"SELECT /*+ {hint} */ user FROM STREAM e", ok=False):
                raise AssertionError(hint)
    with Job() as job:
        job.file(JSON)
        if "DATA_SOURCE_NOT_FOUND" not in job.run("SELECT /*+ BAD_ROWS('nothing', 'x') */ user FROM STREAM e", ok=False):
            raise AssertionError("a sink that there is not")


CASES = [json_files, unasked_as_spark, drop_and_fail, unused_columns_count, csv_files, calls_over_rows, whole_structs, from_csv, once_for_several_parsers,
         branches_are_left_alone, unions, with_windows_and_late_rows, goes_on, many, wrong_hints]
failed = 0
for case in CASES:
    try:
        case()
    except AssertionError as e:
        failed += 1
        print(f"{case.__name__}\n        {e}")
print(f"{len(CASES) - failed} passed, {failed} failed")
sys.exit(failed > 0)
