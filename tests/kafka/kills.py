#!/usr/bin/env python3
"""Exactly once, by kill -9: kills.py FOLDER BUILD [--kills N] [--seed N] [--only NAME] [--keep].

FOLDER is that of a broker which runs (tests/servers/kafka.sh). One topic, fed all the time, by transactions too, some of them aborted; four
jobs that read it: its messages appended to a Delta table and to files, sums per key and hour upserted into a table with deletion vectors, its
messages sent on by the transactional Kafka sink. In each round every job is started and killed, at a random moment or just after it noted a micro-batch;
now and then the broker is killed or stopped below a running job and started again.

After every kill what is there is read by others (delta-rs, kcat with read_committed) and must be what the offset log says of the
last micro-batch that was committed: no hole, nothing twice, one commit a batch. After some, the job runs to the end and all must be there.
"""
import argparse
import glob
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import traceback

from deltalake import DeltaTable, QueryBuilder, write_deltalake
import pyarrow as pa

from kafka_cases import Job, Kafka

FIELDS = "k STRING, at TIMESTAMP, n BIGINT"


class Stream:
    """A job, its checkpoint, and how to tell whether what it wrote is right."""

    def __init__(self, name, kafka, source, text, read, truth):
        self.name, self.kafka, self.job, self.read, self.truth = name, kafka, Job(kafka), read, truth
        self.process, self.kills, self.ends = None, 0, 0
        table = self.job.options(**{"subscribe": source, "startingOffsets": "earliest", "maxOffsetsPerTrigger": 400, "kafka.isolation.level": "read_committed"})
        self.path = self.job.dir + "/job.sql"
        with open(self.path, "w") as f:
            f.write(f"CREATE TABLE events USING kafka OPTIONS ({table});\n" + text(self.job))

    def start(self, *more):
        self.stderr = open(self.job.dir + "/stderr", "w")
        self.process = subprocess.Popen([self.kafka.program, "run", self.path, "--progress", "none", "-c", "spark.sql.session.timeZone=UTC", *more],
                                        stdout=subprocess.DEVNULL, stderr=self.stderr)

    def said(self):
        with open(self.job.dir + "/stderr") as f:
            return f.read()

    def kill(self):
        """Whether the job had not ended before."""
        ended = self.process.poll()
        if ended is not None:
            raise AssertionError(f"{self.name} ended by itself with {ended}: {self.said()}")
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.kills += 1

    def finish(self):
        self.start("--available-now")
        if self.process.wait(timeout=300) != 0:
            raise AssertionError(f"{self.name} failed: {self.said()}")
        self.ends += 1

    def batches(self):
        try:
            return sorted(int(n) for n in os.listdir(self.job.checkpoint + "/offsets") if n.isdigit())
        except FileNotFoundError:
            return []

    def upto(self, batch):
        """Partition to the offset behind the micro-batch's last."""
        with open(f"{self.job.checkpoint}/offsets/{batch}") as f:
            (partitions,) = json.loads(f.read().split("\n")[2]).values()
        return {int(p): o for p, o in partitions.items()}

    def check(self, messages, whole):
        """messages: [(partition, offset, value)] as a reader of committed ones sees them; whole: all must be there."""
        batch, rows = self.read(self)
        candidates = [batch] if batch is not None else self.batches()[-2:]
        if whole:
            wanted = self.truth(messages)
            if rows != wanted:
                raise AssertionError(f"{self.name}, at the end: {difference(rows, wanted)}")
            return
        if not rows:
            return
        for b in candidates:
            ends = self.upto(b)
            wanted = self.truth([m for m in messages if m[1] < ends.get(m[0], 0)])
            if rows == wanted:
                return
        raise AssertionError(f"{self.name}, after batch {candidates}: {difference(rows, wanted)}")


def difference(rows, wanted):
    from collections import Counter
    have, want = Counter(map(repr, rows)), Counter(map(repr, wanted))
    return f"{len(rows)} rows instead of {len(wanted)}; too much {list((have - want).elements())[:5]}, missing {list((want - have).elements())[:5]}"


def delta_log(path):
    """Micro-batches in the order of their commits; each has one commit, and each commit one."""
    batches = []
    for name in sorted(glob.glob(path + "/_delta_log/*.json")):
        if not re.fullmatch(r"\d{20}\.json", os.path.basename(name)):
            continue
        with open(name) as f:
            actions = [json.loads(line) for line in f]
        here = [a["txn"]["version"] for a in actions if "txn" in a]
        if len(here) > 1 or (not here and any("add" in a or "remove" in a for a in actions)):
            raise AssertionError(f"{name} holds the micro-batches {here}")
        batches += here
    if batches != sorted(set(batches)):
        raise AssertionError(f"micro-batches were committed in the order {batches}")
    return batches


def read_delta(select):
    def read(stream):
        if not os.path.exists(stream.job.out + "/_delta_log"):
            return None, []
        batches = delta_log(stream.job.out)
        if not batches:
            return None, []
        table = pa.table(QueryBuilder().register("t", DeltaTable(stream.job.out)).execute(select))
        return batches[-1], sorted(tuple(r.values()) for r in table.to_pylist())
    return read


def sums(messages):
    total = {}
    for _, _, value in messages:
        m = json.loads(value)
        key = (m["k"], m["at"][:13])
        n, s = total.get(key, (0, 0))
        total[key] = (n + 1, s + m["n"])
    return sorted((k, h, n, s) for (k, h), (n, s) in total.items())


def streams(kafka, source, target):
    def append(job):
        return (f"CREATE STREAMING TABLE t USING delta OPTIONS (path '{job.out}', outputMode 'append', checkpointLocation '{job.checkpoint}') "
                "AS SELECT partition AS p, offset AS o, CAST(value AS STRING) AS v FROM STREAM events;")

    def files(job):
        return (f"CREATE STREAMING TABLE t USING json OPTIONS (path '{job.out}', outputMode 'append', checkpointLocation '{job.checkpoint}') "
                "AS SELECT partition AS p, offset AS o, CAST(value AS STRING) AS v FROM STREAM events;")

    def upsert(job):
        schema = pa.schema([("k", pa.string()), ("at", pa.timestamp("us", "UTC")), ("c", pa.int64()), ("s", pa.int64())])
        write_deltalake(job.out, schema.empty_table(), configuration={"delta.enableDeletionVectors": "true"})
        return (f"CREATE STREAMING TABLE t USING delta OPTIONS (path '{job.out}', outputMode 'update', checkpointLocation '{job.checkpoint}') "
                "AS SELECT e.k AS k, window.start AS at, count(*) AS c, sum(e.n) AS s FROM "
                f"(SELECT from_json(CAST(value AS STRING), '{FIELDS}') AS e FROM STREAM events) GROUP BY window(e.at, '1 hour'), e.k;")

    def send(job):
        return (f"CREATE STREAMING TABLE t USING kafka OPTIONS ({job.options(topic=target, transactional='true')}, outputMode 'append', "
                f"checkpointLocation '{job.checkpoint}') AS SELECT CAST(struct(partition AS p, offset AS o) AS STRING) AS key, value FROM STREAM events;")

    def received(stream):
        return None, sorted((k, v) for _, _, k, v in patiently(lambda: kafka.messages(target, committed=True)))

    def written(stream):
        """What the sink's log lists: files that it does not list are none of the table's."""
        if not os.path.exists(stream.job.out + "/_spark_metadata"):
            return None, []
        return None, sorted((r["p"], r["o"], r["v"]) for r in stream.job.result())

    return [Stream("append", kafka, source, append, read_delta("SELECT p, o, v FROM t"), lambda m: sorted(m)),
            Stream("files", kafka, source, files, written, lambda m: sorted(m)),
            Stream("upsert", kafka, source, upsert,
                   read_delta("SELECT k, substr(CAST(CAST(at AS TIMESTAMP) AS VARCHAR), 1, 13) AS h, c, s FROM t"), sums),
            Stream("send", kafka, source, send, received, lambda m: sorted((f"{{{p}, {o}}}", v) for p, o, v in m))]


def patiently(what):
    """A broker that has just come back answers at its port before it knows its topics."""
    for _ in range(30):
        try:
            return what()
        except subprocess.CalledProcessError:
            time.sleep(0.5)
    return what()


class Feed:
    def __init__(self, kafka, topic, partitions):
        self.kafka, self.topic, self.partitions, self.next = kafka, topic, partitions, 0

    def lines(self, count):
        out = []
        for _ in range(count):
            i = self.next
            self.next += 1
            out.append(json.dumps({"k": f"k{random.randrange(8)}", "at": f"2026-01-{1 + i % 3:02}T{i // 7 % 24:02}:00:00Z", "n": i}, separators=(",", ":")))
        return out

    def some(self):
        for p in range(self.partitions):
            how = random.random()
            if how < 0.2:
                what, lines = random.choice(("commit", "abort")), self.lines(random.randrange(1, 50))
                patiently(lambda: self.kafka.tool(what, self.topic, p, f"feed-{p}", lines=lines))
            elif how < 0.9:
                self.kafka.send(self.topic, self.lines(random.choice((1, 30, 200, 1500))), partition=p)


def restart_broker(kafka, topic, log):
    how = random.choice(("kill", "stop"))
    kafka.server(how)
    time.sleep(random.choice((0, 0.5, 3)))
    kafka.server("start")
    patiently(lambda: kafka.messages(topic))
    log[how] = log.get(how, 0) + 1


def run_and_kill(stream, pace):
    """pace: seconds from start to the first micro-batch, about."""
    before = set(stream.batches())
    stream.start()
    if random.random() < 0.5:
        time.sleep(random.uniform(0, 2 * pace))
    else:
        limit = time.time() + 6 * pace
        while set(stream.batches()) == before and time.time() < limit and stream.process.poll() is None:
            time.sleep(0.001)
        time.sleep(random.uniform(0, 0.08))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("build")
    parser.add_argument("--kills", type=int, default=8)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1000000)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", action="store_true")
    args = parser.parse_args()
    random.seed(args.seed)
    kafka = Kafka(args.folder, args.build)
    source, target = kafka.topic("kills-in", 3), kafka.topic("kills-out", 2)
    feed = Feed(kafka, source, 3)
    every = [s for s in streams(kafka, source, target) if s.name.startswith(args.only)]
    restarts, failed, start = {}, {}, time.time()

    def messages():
        return [(p, o, v) for p, o, _, v in patiently(lambda: kafka.messages(source, committed=True))]

    feed.some()
    kafka.send(source, feed.lines(10))
    begun = time.time()
    every[0].finish()
    pace = max(0.2, time.time() - begun)
    for round in range(args.kills):
        feed.some()
        with_restart = random.random() < 0.15 or round == 2
        for stream in every:
            if stream.name in failed:
                continue
            try:
                run_and_kill(stream, pace)
                if with_restart and stream is every[round % len(every)]:
                    restart_broker(kafka, source, restarts)
                    feed.some()
                    time.sleep(random.uniform(0, 2 * pace))
                stream.kill()
                stream.check(messages(), False)
                if random.random() < 0.25 or round == args.kills - 1:
                    stream.finish()
                    stream.check(messages(), True)
            except Exception:
                failed[stream.name] = traceback.format_exc()
                print(f"FAILED {stream.name}, round {round}, {stream.job.dir}, seed {args.seed}\n{failed[stream.name]}", flush=True)
            finally:
                if stream.process.poll() is None:
                    stream.process.kill()
                    stream.process.wait()
        if args.kills > 20 and round % 10 == 9:
            print(f"{round + 1} rounds, {time.time() - start:.0f} s, {len(messages())} messages, broker {restarts}", flush=True)
    for stream in every:
        verdict = "FAILED" if stream.name in failed else "ok"
        print(f"kills, {stream.name}: {verdict}; killed {stream.kills} times, run to the end {stream.ends} times, {len(stream.batches())} micro-batches in the log, "
              f"the last is {max(stream.batches(), default=None)}")
        if not args.keep and stream.name not in failed:
            stream.job.__exit__()
    print(f"seed {args.seed}, {len(messages())} messages, restarts of the broker: {restarts}, {time.time() - start:.0f} s")
    print(f"{len(every) - len(failed)} passed, {len(failed)} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)  # the threads of delta-rs are not always through when Python takes them down
