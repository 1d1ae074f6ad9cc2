"""What the Kafka cases share: a broker, topics, messages, jobs, checkpoints."""
import json
import os
import shutil
import subprocess
import tempfile
import time


class Kafka:
    """The broker of a folder made by tests/servers/kafka.sh, and the program under test."""

    def __init__(self, folder, build):
        self.folder = folder
        self.program = os.path.join(build, "floodmark")
        self.tool_path = os.path.join(build, "tests/servers/kafka_tool")
        self.script = os.path.join(os.path.dirname(__file__), "../servers/kafka.sh")

    def read(self, name):
        with open(os.path.join(self.folder, name)) as f:
            return f.read().strip()

    @property
    def broker(self):
        return self.read("broker")

    def server(self, what):
        subprocess.run(["bash", self.script, what, self.folder], check=True)

    def tool(self, *args, lines=()):
        subprocess.run([self.tool_path, self.broker, *map(str, args)], input="".join(l + "\n" for l in lines), text=True, check=True)

    @property
    def library_version(self):
        return int(subprocess.run([self.tool_path, self.broker, "version"], capture_output=True, text=True, check=True).stdout)

    def topic(self, name, partitions=1, *config):
        """A new topic whose name begins so; its name."""
        topic = f"{name}-{time.time_ns()}"
        self.tool("create", topic, partitions, *config)
        return topic

    def send(self, topic, values, partition=0, key=None, headers=()):
        """Values as lines."""
        args = ["kcat", "-P", "-b", self.broker, "-t", topic, "-p", str(partition), "-X", "linger.ms=100"]
        args += ["-k", key] if key is not None else []
        for h in headers:
            args += ["-H", h]
        subprocess.run(args, input="".join(v + "\n" for v in values), text=True, check=True)

    def send_null(self, topic, key, partition=0):
        """A message with a key and no value."""
        subprocess.run(["kcat", "-P", "-b", self.broker, "-t", topic, "-p", str(partition), "-K", ":", "-Z"], input=key + ":\n", text=True, check=True)

    def messages(self, topic, committed=False):
        """(partition, offset, key, value) of all messages that a consumer sees."""
        args = ["kcat", "-C", "-b", self.broker, "-t", topic, "-e", "-q", "-o", "beginning", "-f", "%p\t%o\t%k\t%s\n", "-X",
                "isolation.level=" + ("read_committed" if committed else "read_uncommitted")]
        out = subprocess.run(args, capture_output=True, text=True, check=True, timeout=60).stdout
        return sorted((int(p), int(o), k, v) for p, o, k, v in (l.split("\t") for l in out.splitlines()))


def quoted(value):
    """What stands between the quotes of a SQL text."""
    return str(value).replace("\\", "\\\\").replace("'", "''")


class Job:
    """A folder for one case's job: its text, output and checkpoint."""

    def __init__(self, kafka):
        self.kafka = kafka
        self.dir = tempfile.mkdtemp(prefix="kafka-case-")
        self.out, self.checkpoint = self.dir + "/out", self.dir + "/checkpoint"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.dir, ignore_errors=True)

    def options(self, **options):
        """The text of OPTIONS (...) of a Kafka table."""
        full = {"kafka.bootstrap.servers": self.kafka.broker, **options}
        return ", ".join("%s '%s'" % ("`%s`" % k if "." in k else k, quoted(v)) for k, v in full.items())

    def table(self, **options):
        """read_kafka(...) with these options."""
        full = {"kafka.bootstrap.servers": self.kafka.broker, **options}
        return "read_kafka(%s)" % ", ".join("`%s` => '%s'" % (k, quoted(v)) for k, v in full.items())

    def sql(self, text, *args, ok=True):
        """Runs statements; what they print."""
        return self.run(["sql", text, "--format", "json", *args], ok)

    def rows(self, select, ok=True):
        """Rows of a batch query."""
        return [json.loads(l) for l in self.sql(select, ok=ok).splitlines()]

    def run(self, args, ok=True):
        done = subprocess.run([self.kafka.program, *args], capture_output=True, text=True, timeout=120)
        if ok and done.returncode != 0:
            raise AssertionError(f"ended with {done.returncode}: {done.stderr}")
        if not ok and done.returncode == 0:
            raise AssertionError("did not fail")
        return done.stdout if ok else done.stderr

    def stream_text(self, select, sink="json", mode="append", table="events", sink_options="", **options):
        path = f"path '{self.out}', " if sink == "json" else ""
        text = (f"CREATE TABLE {table} USING kafka OPTIONS ({self.options(**options)});\n"
                f"CREATE STREAMING TABLE result USING {sink} OPTIONS ({path}{sink_options}outputMode '{mode}', "
                f"checkpointLocation '{self.checkpoint}') AS {select};\n")
        with open(self.dir + "/job.sql", "w") as f:
            f.write(text)
        return self.dir + "/job.sql"

    def stream(self, select, *args, ok=True, **kwargs):
        """Runs a stream until it has read what is there; what it printed, its progress on lines of JSON."""
        return self.run(["run", self.stream_text(select, **kwargs), "--available-now", "--progress", self.dir + "/progress", *args], ok)

    def start(self, select, **kwargs):
        """Starts a stream that goes on; a process."""
        return subprocess.Popen([self.kafka.program, "run", self.stream_text(select, **kwargs), "--progress", self.dir + "/progress"],
                                stdout=open(self.dir + "/stdout", "w"), stderr=open(self.dir + "/stderr", "w"))

    def progress(self):
        with open(self.dir + "/progress") as f:
            return [json.loads(l) for l in f if l.startswith("{")]

    def result(self):
        """What a JSON sink holds, by the program itself, which obeys the sink's log."""
        fields = "t STRING, p INT, o BIGINT, k STRING, v STRING"
        if not os.path.exists(self.out):
            return []
        return self.rows(f"SELECT * FROM read_files('{self.out}', format => 'json', schema => '{fields}') ORDER BY t, p, o")

    def log(self, kind, n):
        """Entry n of offsets, commits or sources/0, as bytes."""
        with open(f"{self.checkpoint}/{kind}/{n}", "rb") as f:
            return f.read()

    def offsets(self, n):
        """What entry n of the offset log says of the source."""
        return json.loads(self.log("offsets", n).decode().split("\n")[2])


def wait_for(condition, seconds=30, process=None):
    start = time.time()
    while not condition():
        if process is not None and process.poll() is not None:
            raise AssertionError("the job ended early")
        if time.time() - start > seconds:
            raise AssertionError("waited too long")
        time.sleep(0.05)


def expect(got, want):
    if got != want:
        raise AssertionError(f"got {got!r}, want {want!r}")


def expect_in(part, text):
    if part not in text:
        raise AssertionError(f"{part!r} is not in {text!r}")
