#!/usr/bin/env python3
"""Kafka to windows beside librdkafka alone, in the same run on the same broker and topic: 4 partitions, JSON of about 100 bytes.

    ./run bench kafka [MESSAGES [ROUNDS]] [--spark]

Both read the whole backlog; the bare reader only adds up lengths. Runs alternate; medians are compared. The ceiling is the faster of
the bare reader's two ways (see bench/kafka_bare.c), with the C library's allocator and, as floodmark, with mimalloc. CPU is that of the
process, all threads; the broker has the same cores. With --spark also Spark 4.2 on the same job, once. Then: how long a message takes
from its sending to the console and to a Delta table.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PARTITIONS, GOAL, SPARK_GOAL = 4, 0.8, 10


def timed(command):
    """Seconds and CPU seconds of a process."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    took, after = time.time() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def bare(build, broker, topic, messages, program, *how):
    done = subprocess.run([f"{build}/bench/{program}", broker, topic, str(PARTITIONS), str(messages), *how], capture_output=True, text=True, check=True)
    got = json.loads(done.stdout)
    return got["seconds"], got["cpu"]


def ours(build, broker, topic, folder, workers):
    return timed([f"{build}/floodmark", "run", f"{HERE}/kafka.sql", "-c", f"broker={broker}", "-c", f"topic={topic}", "-c", "sink=noop",
                  "-c", "sink_options=", "-c", f"checkpoint={folder}/checkpoint-{time.time_ns()}", "-c", f"floodmark.workers={workers}",
                  "--available-now", "--progress", "none"])


def spark(python, broker, messages, folder, threads):
    """Messages a second of Spark on the topic."""
    done = subprocess.run([python, f"{HERE}/kafka_spark.py", str(threads), broker, "events", f"{folder}/checkpoint-spark"], stdout=subprocess.PIPE,
                          text=True, check=True)
    got = json.loads(done.stdout.strip().splitlines()[-1])
    if got["messages"] != messages:
        sys.exit(f"bench: Spark read {got['messages']} of {messages} messages")
    return messages / got["seconds"]


class Job:
    """A job that copies a topic of one partition into a sink, and a sender into the topic that waits so long for more messages."""

    def __init__(self, build, broker, folder, sink, options, linger_ms=0):
        self.name = f"latency-{time.time_ns()}"
        subprocess.run([f"{build}/tests/servers/kafka_tool", broker, "create", self.name, "1"], check=True)
        job = f"{folder}/{self.name}.sql"
        with open(job, "w") as f:
            f.write(f"CREATE TABLE e USING kafka OPTIONS (`kafka.bootstrap.servers` '{broker}', subscribe '{self.name}', startingOffsets 'earliest'); "
                    f"CREATE STREAMING TABLE r USING {sink} OPTIONS ({options} outputMode 'append', checkpointLocation '{folder}/{self.name}') "
                    "AS SELECT CAST(value AS STRING) AS v FROM STREAM e;")
        self.job = subprocess.Popen([f"{build}/floodmark", "run", job, "--progress", "none"], stdout=subprocess.PIPE)
        self.sender = subprocess.Popen([f"{build}/tests/servers/kafka_tool", broker, "pipe", self.name, "0", str(linger_ms)], stdin=subprocess.PIPE)
        time.sleep(1)

    def send(self, text):
        self.sender.stdin.write(text)
        self.sender.stdin.flush()

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.sender.stdin.close()
        self.sender.wait()
        self.job.terminate()
        self.job.wait()


def one_by_one(build, broker, folder, n=200):
    """Milliseconds from sending one message to its row on the console."""
    took = []
    with Job(build, broker, folder, "console", "truncate 'false',") as job:
        for i in range(n + 1):
            start = time.time()
            job.send(b"m%d\n" % i)
            for line in job.job.stdout:
                if line.strip(b"|\n ") == b"m%d" % i:
                    break
            took.append((time.time() - start) * 1000)
            time.sleep(0.013)
    return sorted(took[1:])  # before the first the sender looks for its broker


def at_rate(build, broker, folder, rate=10_000, seconds=6, warm_s=2):
    """Likewise of messages that come at a rate; those of the first seconds, when connections are made, do not count.

    The sender waits 2 ms for more messages (Java's waits 5): with a request for each message the broker would be what is measured.
    """
    took = []

    def read(job, begun_ns):
        for line in job.job.stdout:
            if line.startswith(b"|1"):
                sent_ns = int(line.strip(b"|\n "))
                if sent_ns - begun_ns > warm_s * 1e9:
                    took.append((time.time_ns() - sent_ns) / 1e6)

    with Job(build, broker, folder, "console", "truncate 'false', numRows '1000000',", linger_ms=2) as job:
        begun, sent = time.time(), 0
        reader = threading.Thread(target=read, args=(job, begun * 1e9))
        reader.start()
        while time.time() - begun < seconds:
            due = int((time.time() - begun) * rate)
            job.send(b"".join(b"%d\n" % time.time_ns() for _ in range(due - sent)))
            sent = due
            time.sleep(0.0005)
        time.sleep(2)
    reader.join()
    return sorted(took)


def holds_rows(commit):
    try:
        with open(commit) as f:
            return '"add"' in f.read()
    except FileNotFoundError:
        return False


def to_delta(build, broker, folder, n=100):
    """Milliseconds from sending one message until the commit of a Delta table that holds it is there."""
    took = []
    table = f"{folder}/table-{time.time_ns()}"
    with Job(build, broker, folder, "delta", f"path '{table}',") as job:
        job.send(b"first\n")
        version = 0
        while not holds_rows(f"{table}/_delta_log/{version:020}.json"):
            version += os.path.exists(f"{table}/_delta_log/{version + 1:020}.json")
            time.sleep(0.01)
        for i in range(n):
            start = time.time()
            job.send(b"m%d\n" % i)
            version += 1
            while not os.path.exists(f"{table}/_delta_log/{version:020}.json"):
                time.sleep(0.0002)
            took.append((time.time() - start) * 1000)
            time.sleep(0.013)
    return sorted(took)


def told(what, took):
    print(f"{what}: median {statistics.median(took):.1f} ms, p99 {took[int(len(took) * 0.99)]:.1f} ms", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="./run bench kafka", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("messages", nargs="?", type=int, default=8_000_000)
    parser.add_argument("rounds", nargs="?", type=int, default=5)
    parser.add_argument("--spark", metavar="PYTHON", help=argparse.SUPPRESS)
    parser.add_argument("--build", required=True, help=argparse.SUPPRESS)
    args = parser.parse_args()
    build, messages = args.build, args.messages
    with tempfile.TemporaryDirectory() as folder:
        server = os.path.join(HERE, "../tests/servers/kafka.sh")
        subprocess.run(["bash", server, "start", folder + "/broker"], check=True)
        try:
            with open(folder + "/broker/broker") as f:
                broker = f.read().strip()
            tool = f"{build}/tests/servers/kafka_tool"
            subprocess.run([tool, broker, "create", "events", str(PARTITIONS)], check=True)
            subprocess.run([tool, broker, "fill", "events", str(PARTITIONS), str(messages), "10000"], check=True)
            ways = {"librdkafka, one queue": lambda: bare(build, broker, "events", messages, "kafka_bare"),
                    "librdkafka, a queue each": lambda: bare(build, broker, "events", messages, "kafka_bare", "each"),
                    "librdkafka with mimalloc": lambda: bare(build, broker, "events", messages, "kafka_bare_mimalloc"),
                    "the same, a queue each": lambda: bare(build, broker, "events", messages, "kafka_bare_mimalloc", "each"),
                    "floodmark, 1 worker": lambda: ours(build, broker, "events", folder, 1),
                    "floodmark, 2 workers": lambda: ours(build, broker, "events", folder, 2)}
            runs = {name: [] for name in ways}
            for _ in range(args.rounds):
                for name, way in ways.items():
                    runs[name].append(way())
            medians = {name: (statistics.median(t for t, _ in r), statistics.median(c for _, c in r)) for name, r in runs.items()}
            for name, (took, cpu) in medians.items():
                print(f"{name:26} {messages / took / 1e6:6.2f} M messages/s  {cpu / messages * 1e9:6.0f} ns of CPU each", flush=True)
            floor_s, floor_cpu = (min(m[i] for n, m in medians.items() if not n.startswith("floodmark")) for i in (0, 1))
            best_s, best_cpu = (min(m[i] for n, m in medians.items() if n.startswith("floodmark")) for i in (0, 1))
            print(f"Kafka to windows against librdkafka alone: {floor_s / best_s:.0%} of its speed, {floor_cpu / best_cpu:.0%} by CPU (must: {GOAL:.0%})")
            if args.spark:
                speed = spark(args.spark, broker, messages, folder, os.cpu_count())
                print(f"Kafka to windows on Spark: {speed / 1e6:.3f} M messages/s; ours {messages / best_s / speed:.1f} times that (must: {SPARK_GOAL})")
            told("one message to the console", one_by_one(build, broker, folder))
            told("10,000 messages a second to the console", at_rate(build, broker, folder))
            told("one message to a Delta table", to_delta(build, broker, folder))
        finally:
            subprocess.run(["bash", server, "stop", folder + "/broker"], check=True)
    return 0 if floor_s / best_s >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
