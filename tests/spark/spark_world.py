"""What the cases share: a folder, floodmark, Spark; a table read by both, to the last digit."""
import json
import os

from world import World

AS_JSON = ("to_json(struct(*), map('timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS', 'timestampNTZFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS', "
           "'ignoreNullFields', 'false'))")


class SparkWorld(World):
    def __init__(self, args, spark, folder):
        super().__init__(os.path.join(os.path.realpath(args.build), "floodmark"), folder)
        self.spark, self.broker_folder, self.build, self.many, self.seed = spark, args.broker, os.path.realpath(args.build), args.many, args.seed

    def table(self, name):
        return f"delta.`{self.path(name)}`"

    def do(self, *statements):
        """Statements to Spark; {NAME} is the table NAME of this case's folder."""
        for s in statements:
            self.spark.sql(self.named(s))

    def named(self, text):
        import re
        return re.sub(r"\{(\w+)\}", lambda m: self.table(m.group(1)), text)

    def spark_rows(self, name, more=""):
        return sorted(r[0] for r in self.spark.sql(f"SELECT {AS_JSON} FROM {self.table(name)}{more}").collect())

    def floodmark_rows(self, name, more=""):
        out = self.run("sql", f"SELECT {AS_JSON} AS j FROM {self.table(name)}{more}", "--format", "json").stdout
        return sorted(json.loads(line)["j"] for line in out.splitlines())

    def both(self, name, n=None, more=""):
        """The table's rows, the same by Spark and floodmark, of the same types."""
        theirs, ours = self.spark_rows(name, more), self.floodmark_rows(name, more)
        if theirs != ours:
            from collections import Counter
            a, b = Counter(theirs), Counter(ours)
            raise AssertionError(f"Spark reads {len(theirs)} rows, floodmark {len(ours)}; only Spark: {list((a - b).elements())[:4]}, only floodmark: {list((b - a).elements())[:4]}")
        if n is not None:
            assert len(theirs) == n, f"{len(theirs)} rows: {theirs[:5]}"
        if theirs:
            (want,) = self.spark.sql(f"SELECT typeof(struct(*)) FROM {self.table(name)} LIMIT 1").first()
            got = json.loads(self.run("sql", f"SELECT typeof(struct(*)) AS t FROM {self.table(name)} LIMIT 1", "--format", "json").stdout)["t"]
            assert got == want, f"Spark has {want}, floodmark {got}"
        return theirs

    def floodmark(self, *statements, ok=True, **settings):
        """Statements to floodmark, {NAME} as in do()."""
        return self.job(";\n".join(map(self.named, statements)) + ";\n", ok=ok, name="script.sql", **settings)

    def refused_by_floodmark(self, name, *words):
        """Reading the table is refused, and the message has these words."""
        done = self.run("sql", f"SELECT * FROM {self.table(name)}", ok=False)
        assert done.returncode == 1, f"status {done.returncode}, {done.stdout[:300]} {done.stderr}"
        for word in words:
            assert word in done.stderr, f"{word!r} is not in {done.stderr}"
