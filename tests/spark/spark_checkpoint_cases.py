"""Checkpoint folders of stateless queries, begun by one engine and gone on with by the other, in turns."""
import glob
import json
import os
import subprocess

from kafka_cases import Kafka
from case_runner import Skip


def kafka_of(world):
    if not world.broker_folder:
        raise Skip("no broker")
    return Kafka(world.broker_folder, world.build)


class Turns:
    """A stateless query said to both engines. source: of floodmark's OPTIONS and Spark's options alike."""

    def __init__(self, world, source_format, source, columns, select, sink, partition=None):
        self.world, self.source_format, self.source, self.columns, self.select, self.sink, self.partition = world, source_format, source, columns, select, sink, partition
        self.out, self.checkpoint = world.path("out"), world.path("ck")

    def spark(self):
        reader = self.world.spark.readStream.format(self.source_format).options(**self.source)
        if self.columns:
            reader = reader.schema(self.columns)
        rows = reader.load().selectExpr(*self.select)
        writer = rows.writeStream.format(self.sink).option("checkpointLocation", self.checkpoint).option("path", self.out).trigger(availableNow=True)
        if self.partition:
            writer = writer.partitionBy(self.partition)
        writer.start().awaitTermination()

    def floodmark(self, ok=True):
        options = ", ".join(f"`{k}` '{v}'" for k, v in self.source.items())
        declared = f"({self.columns}) " if self.columns else ""
        divided = f"PARTITIONED BY ({self.partition}) " if self.partition else ""
        return self.world.job(f"CREATE TABLE src {declared}USING {self.source_format} OPTIONS ({options});\n"
                              f"CREATE STREAMING TABLE s USING {self.sink} OPTIONS (path '{self.out}', checkpointLocation '{self.checkpoint}', outputMode 'append') {divided}"
                              f"AS SELECT {', '.join(self.select)} FROM STREAM src;", ok=ok)

    def rows(self):
        """What the sink holds, by both."""
        schema = ", ".join(f"{n} {t}" for n, t in (("k", "STRING"), ("v", "STRING"), ("n", "BIGINT")))
        if self.sink == "delta":
            ours = self.world.floodmark_rows("out")
            theirs = self.world.spark_rows("out")
        else:
            theirs = sorted(r[0] for r in self.world.spark.read.format(self.sink).schema(schema).load(self.out).selectExpr(
                "to_json(struct(k, v, n), map('ignoreNullFields', 'false'))").collect())
            text = (f"SELECT to_json(struct(k, v, n), map('ignoreNullFields', 'false')) AS j FROM read_files('{self.out}', format => '{self.sink}', schema => '{schema}')")
            ours = sorted(json.loads(line)["j"] for line in self.world.run("sql", text, "--format", "json").stdout.splitlines())
        assert ours == theirs, f"floodmark reads {len(ours)}, Spark {len(theirs)}: {set(ours) ^ set(theirs)}"
        return theirs

    def batches(self):
        return max(int(n) for n in os.listdir(self.checkpoint + "/commits") if n.isdigit())

    def forget_last(self):
        """As if the process had died between the sink's commit and its own."""
        n = self.batches()
        for name in glob.glob(f"{self.checkpoint}/commits/{n}") + glob.glob(f"{self.checkpoint}/commits/.{n}.crc"):
            os.remove(name)

    def take_turns(self, feed, first):
        """feed(k) brings new input and says how many rows there are then."""
        engines = [self.spark, self.floodmark] if first == "spark" else [self.floodmark, self.spark]
        for k in range(6):
            total = feed(k)
            engines[k % 2]()
            rows = self.rows()
            assert len(rows) == total and len(set(rows)) == total, f"turn {k}: {len(rows)} rows, {len(set(rows))} different ones, instead of {total}"
            if k in (2, 3):
                self.forget_last()
        last = self.batches()
        for engine in engines:  # nothing new: nothing happens
            engine()
            assert len(self.rows()) == total and self.batches() == last, f"a batch without input: {last}, {self.batches()}"


def kafka_turns(world, first, sink, partition=None, **more):
    kafka = kafka_of(world)
    topic = kafka.topic("turns", 3)
    sent = [0]

    def feed(k):
        for p in range(3):
            if (k + p) % 3:
                kafka.send(topic, [f"{p}-{k}-{i}" for i in range(20 + k)], partition=p, key=f"key{k}")
                sent[0] += 20 + k
        if k == 3:
            kafka.tool("grow", topic, 4)
            kafka.send(topic, ["new"], partition=3, key="key3")
            sent[0] += 1
        return sent[0]
    source = {"kafka.bootstrap.servers": kafka.broker, "subscribe": topic, "startingOffsets": "earliest", **more}
    Turns(world, "kafka", source, None, ["CAST(key AS STRING) AS k", "CAST(value AS STRING) AS v", "offset AS n"], sink, partition).take_turns(feed, first)


def case_kafka_to_json_begun_by_spark(world):
    kafka_turns(world, "spark", "json")


def case_kafka_to_json_begun_by_floodmark(world):
    kafka_turns(world, "floodmark", "json", maxOffsetsPerTrigger="17")


def case_kafka_to_parquet_begun_by_spark(world):
    kafka_turns(world, "spark", "parquet", partition="k", maxOffsetsPerTrigger="25")


def case_kafka_to_delta_begun_by_spark(world):
    kafka_turns(world, "spark", "delta")


def case_kafka_to_delta_begun_by_floodmark(world):
    kafka_turns(world, "floodmark", "delta", partition="k")


def file_turns(world, first, sink, source_format="json", **more):
    sent = [0]
    os.makedirs(world.path("in"))

    def feed(k):
        for f in range(k % 3 + 1):
            lines = "".join(json.dumps({"k": f"k{i % 3}", "v": f"ü {k}-{f}-{i}", "n": i}) + "\n" for i in range(9))
            if source_format == "csv":
                lines = "".join(f"k{i % 3},ü {k}-{f}-{i},{i}\n" for i in range(9))
            world.write(f"new", lines)
            os.rename(world.path("new"), world.path(f"in/{k}-{f} ü%.{source_format}"))
            sent[0] += 9
        return sent[0]
    Turns(world, source_format, {"path": world.path("in"), **more}, "k STRING, v STRING, n BIGINT", ["k", "v", "n"], sink).take_turns(feed, first)


def case_files_to_files_begun_by_spark(world):
    file_turns(world, "spark", "json", maxFilesPerTrigger="1")


def case_files_to_files_begun_by_floodmark(world):
    file_turns(world, "floodmark", "parquet", "csv")


def case_files_to_delta_begun_by_spark(world):
    file_turns(world, "spark", "delta")


def case_logs_that_are_compacted(world):
    """File sources and sinks write a compact log every tenth batch."""
    os.makedirs(world.path("in"))
    total = [0]

    def one(k):
        world.write("new", json.dumps({"k": "k", "v": str(k), "n": k}) + "\n")
        os.rename(world.path("new"), world.path(f"in/{k}.json"))
        total[0] += 1
    turns = Turns(world, "json", {"path": world.path("in"), "maxFilesPerTrigger": "1"}, "k STRING, v STRING, n BIGINT", ["k", "v", "n"], "json")
    for step, engine in enumerate((turns.spark, turns.floodmark, turns.spark, turns.floodmark)):
        for k in range(7):
            one(step * 10 + k)
        engine()
        assert len(set(turns.rows())) == len(turns.rows()) == total[0]
    assert glob.glob(world.path("out/_spark_metadata/*.compact")) and glob.glob(world.path("ck/sources/0/*.compact"))


def case_stateful_checkpoints_are_refused(world):
    """The state of Spark's operators is not ours: said by name, and nothing is written."""
    os.makedirs(world.path("in"))
    world.write("in/1.json", json.dumps({"k": "a", "at": "2026-01-01T00:00:00Z"}) + "\n")
    query = (world.spark.readStream.schema("k STRING, at TIMESTAMP").json(world.path("in")).withWatermark("at", "1 minute").groupBy("k").count()
             .writeStream.format("delta").outputMode("complete").option("checkpointLocation", world.path("ck")).trigger(availableNow=True).start(world.path("t")))
    query.awaitTermination()
    before = sorted(glob.glob(world.path("ck/**"), recursive=True))
    world.write("in/2.json", json.dumps({"k": "b", "at": "2026-01-01T00:00:00Z"}) + "\n")
    done = world.job(f"""CREATE TABLE src (k STRING, at TIMESTAMP) USING json OPTIONS (path 'in/');
CREATE STREAMING TABLE s USING delta OPTIONS (path 't', outputMode 'complete', checkpointLocation 'ck') AS SELECT k, count(*) AS count FROM STREAM src WATERMARK at DELAY OF INTERVAL 1 MINUTE GROUP BY k;""", ok=False)
    assert done.returncode == 1 and "[FLOODMARK_STATE_OF_SPARK]" in done.stderr, (done.returncode, done.stderr)
    print("   ", done.stderr.strip()[:300])
    after = [f for f in sorted(glob.glob(world.path("ck/**"), recursive=True)) if not f.endswith("/floodmark.lock")]
    assert after == before, "the checkpoint was changed"
    assert len(world.both("t")) == 1


def case_pipelines(world):
    """tests/pipelines by Spark: what was recorded, which is what floodmark gives in ./run test."""
    import sys
    kafka = kafka_of(world)
    conf = {"spark.jars": ",".join(glob.glob(os.path.join(sys.prefix, "jars", "*.jar"))), "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog", "spark.ui.enabled": "false", "spark.driver.memory": "1g",
            "spark.sql.session.timeZone": "UTC", "spark.sql.shuffle.partitions": "2", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    submit = "--master local[2] " + " ".join(f"--conf {k}={v}" for k, v in conf.items()) + " pyspark-shell"
    script = os.path.join(os.path.dirname(__file__), "../pipelines/run_pipelines.py")
    examples = os.path.join(os.path.dirname(__file__), "../../examples/pipelines")
    for more in ([], ["--floodmark", world.program, "--jobs", examples]):
        done = subprocess.run([sys.executable, script, "--broker", kafka.broker, "--limit", "600", *more], capture_output=True, text=True,
                              env=dict(os.environ, PYSPARK_SUBMIT_ARGS=submit, PYSPARK_PYTHON=sys.executable))
        print("\n".join("    " + line for line in done.stdout.splitlines()), flush=True)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
