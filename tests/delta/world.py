"""What the cases share: a folder, the program, tables as sorted rows."""
import datetime
import json
import math
import os
import subprocess

from deltalake import DeltaTable


class World:
    def __init__(self, program, folder):
        self.program = program
        self.folder = folder
        os.makedirs(folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)
        return path

    def run(self, *args, ok=True, **settings):
        command = [self.program, *args, "-c", "spark.sql.session.timeZone=UTC"]
        for key, value in settings.items():
            command += ["-c", f"{key.replace('__', '.')}={value}"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder)
        if ok and done.returncode:
            raise AssertionError(f"{' '.join(args)[:300]}: {done.stderr}")
        return done

    def sql(self, text, **settings):
        """Rows of a query: a list of dicts."""
        out = self.run("sql", text, "--format", "json", **settings).stdout
        return [json.loads(line) for line in out.splitlines() if line.startswith("{")]

    def refused(self, condition, text, **settings):
        done = self.run("sql", text, ok=False, **settings)
        assert done.returncode != 0, f"not refused: {text}"
        assert f"[{condition}]" in done.stderr, f"refused otherwise: {done.stderr}"

    def job(self, text, *more, name="job.sql", ok=True, **settings):
        self.write(name, text)
        return self.run("run", self.path(name), "--available-now", "--progress", "none", *more, ok=ok, **settings)

    def delta(self, name, version=None):
        return DeltaTable(self.path(name), version=version)

    def rows(self, name, version=None):
        return sort_rows(self.delta(name, version).to_pyarrow_table().to_pylist())

    def our_rows(self, name, more=""):
        return sort_rows(self.sql(f"SELECT * FROM delta.`{self.path(name)}`{more}"))

    def same(self, name):
        """The same rows by delta-rs and by us."""
        theirs, ours = self.rows(name), self.our_rows(name)
        assert as_json(theirs) == as_json(ours), f"delta-rs reads\n{as_json(theirs)}\nwe read\n{as_json(ours)}"
        return theirs


def plain(v):
    """Values as floodmark prints them in JSON, nulls left out."""
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items() if x is not None}
    if isinstance(v, list):
        if v and all(isinstance(x, tuple) and len(x) == 2 for x in v):
            return {str(k): plain(x) for k, x in v}
        return [plain(x) for x in v]
    if isinstance(v, datetime.datetime):
        return v.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + ("Z" if v.tzinfo else "")  # JSON output stops at milliseconds
    if isinstance(v, datetime.date):
        return v.isoformat()
    if isinstance(v, bytes):
        import base64
        return base64.b64encode(v).decode()
    if isinstance(v, float) and (math.isnan(v) or math.isinf(v)):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(v)]
    if hasattr(v, "as_tuple"):
        return float(v)
    return v


def sort_rows(rows):
    return sorted((plain(r) for r in rows), key=lambda r: json.dumps(r, sort_keys=True))


def as_json(rows):
    return json.dumps(rows, sort_keys=True, indent=1)
