"""Writing to Kafka: columns, transactions, batches that run again, kills."""
import os
import random
import shutil
import subprocess
import time

from kafka_cases import Job, expect, expect_in


def rows_in(kafka, job, topic, committed=False):
    return [(p, k, v) for p, _, k, v in kafka.messages(topic, committed)]


def columns(kafka):
    source, target = kafka.topic("sink-in"), kafka.topic("sink-out", 3)
    kafka.send(source, ["a", "b"], key="k", headers=["h=1"])
    kafka.send_null(source, "n")
    with Job(kafka) as job:
        job.stream("SELECT key, value, headers, CAST(offset AS INT) AS partition FROM STREAM events", sink="kafka",
                   sink_options=job.options(topic=target) + ", ", subscribe=source, startingOffsets="earliest", includeHeaders="true")
        expect(rows_in(kafka, job, target), [(0, "k", "a"), (1, "k", "b"), (2, "n", "")])
        rows = job.rows("SELECT CAST(value AS STRING) v, value IS NULL AS none, headers[0].key AS h, CAST(headers[0].value AS STRING) AS hv "
                        f"FROM {job.table(subscribe=target, includeHeaders='true')} ORDER BY partition")
        expect([(r.get("v"), r["none"], r.get("h"), r.get("hv")) for r in rows],
               [("a", False, "h", "1"), ("b", False, "h", "1"), (None, True, None, None)])
        expect(job.progress()[0]["sink"]["numOutputRows"], 3)


def topic_column(kafka):
    source, one, two = kafka.topic("sink-in"), kafka.topic("one"), kafka.topic("two")
    kafka.send(source, [one, two, one])
    with Job(kafka) as job:
        job.stream("SELECT CAST(value AS STRING) AS topic, 'x' AS value FROM STREAM events", sink="kafka",
                   sink_options=job.options() + ", ", subscribe=source, startingOffsets="earliest")
        expect((len(kafka.messages(one)), len(kafka.messages(two))), (2, 1))


def refusals(kafka):
    source, target = kafka.topic("sink-in"), kafka.topic("sink-out")
    kafka.send(source, ["a"])

    def error(select, **options):
        with Job(kafka) as job:
            return job.stream(select, ok=False, sink="kafka", sink_options=job.options(**options) + ", ", subscribe=source,
                              startingOffsets="earliest")
    expect_in("Required attribute 'value' not found", error("SELECT key AS k FROM STREAM events", topic=target))
    expect_in("topic option required", error("SELECT value FROM STREAM events"))
    expect_in("value attribute unsupported type bigint", error("SELECT offset AS value FROM STREAM events", topic=target))
    expect_in("partition attribute unsupported type bigint", error("SELECT value, offset AS partition FROM STREAM events", topic=target))
    expect_in("KAFKA_NULL_TOPIC_IN_DATA", error("SELECT value, CAST(NULL AS STRING) AS topic FROM STREAM events"))
    expect_in("key.serializer", error("SELECT value FROM STREAM events", topic=target, **{"kafka.key.serializer": "x"}))
    expect_in("transactional needs the option topic", error("SELECT value, 'x' AS topic FROM STREAM events", transactional="true"))
    expect_in("topicc", error("SELECT value FROM STREAM events", topicc=target))


def replay_is_at_least_once(kafka):
    replay(kafka, "false", 4)


def replay_is_exactly_once(kafka):
    replay(kafka, "true", 2)


def replay(kafka, transactional, want):
    """The commit log loses its last entry, as if the process had died before it was written."""
    source, target = kafka.topic("sink-in"), kafka.topic("sink-out")
    kafka.send(source, ["a", "b"])
    with Job(kafka) as job:
        def run():
            job.stream("SELECT value FROM STREAM events", sink="kafka", sink_options=job.options(topic=target, transactional=transactional) + ", ",
                       subscribe=source, startingOffsets="earliest")
        run()
        expect(len(kafka.messages(target, True)), 2)
        os.remove(job.checkpoint + "/commits/0")
        run()
        expect(len(kafka.messages(target, True)), want)
        kafka.send(source, ["c"])
        run()
        expect(len(kafka.messages(target, True)), want + 1)


def kills(kafka):
    """Killed at random, begun again: what readers of committed messages see is every row, once."""
    seed = int(os.environ.get("FLOODMARK_SEED", time.time_ns() % 1000000))
    rounds = int(os.environ.get("FLOODMARK_KILLS", 6))
    random.seed(seed)
    print(f"kills: seed {seed}, {rounds} kills")
    source, target = kafka.topic("kill-in", 2), kafka.topic("kill-out", 2)
    for p in (0, 1):
        kafka.send(source, [f"{p}-{i}" for i in range(3000)], partition=p)
    select = f"SELECT value FROM STREAM events"
    with Job(kafka) as job, Job(kafka) as files:
        def options(j):
            return {"subscribe": source, "startingOffsets": "earliest", "maxOffsetsPerTrigger": max(20, 4000 // rounds)}
        jobs = [(job, job.stream_text(select, sink="kafka", sink_options=job.options(topic=target, transactional="true") + ", ", **options(job))),
                (files, files.stream_text("SELECT CAST(value AS STRING) AS v FROM STREAM events", **options(files)))]
        for round in range(rounds):
            for j, text in jobs:
                process = subprocess.Popen([kafka.program, "run", text, "--available-now", "--progress", "none"], stderr=subprocess.DEVNULL)
                time.sleep(random.uniform(0.02, 0.9))
                process.kill()
                process.wait()
            if round % 10 == 4:
                kafka.server("kill")
                kafka.server("start")
        for j, text in jobs:
            j.run(["run", text, "--available-now", "--progress", "none"])
        want = sorted(f"{p}-{i}" for p in (0, 1) for i in range(3000))
        expect(sorted(v for _, _, _, v in kafka.messages(target, True)) == want, True)
        expect(sorted(r["v"] for r in files.result()) == want, True)


def insert(kafka):
    """INSERT INTO a Kafka table: columns by name, from a list or from the query."""
    topic = kafka.topic("insert", 2)
    with Job(kafka) as job:
        def run(*statements, ok=True):
            with open(job.dir + "/script.sql", "w") as f:
                f.write(f"CREATE TABLE out USING kafka OPTIONS ({job.options(subscribe=topic, startingOffsets='earliest')});\n" + ";\n".join(statements))
            return job.run(["run", job.dir + "/script.sql"], ok)

        run("INSERT INTO out (key, value, partition) VALUES ('a', 'one', 1), ('b', NULL, 0)", "INSERT INTO out SELECT to_json(struct(1 AS x)) AS value, 1 AS partition")
        expect(rows_in(kafka, job, topic), [(0, "b", ""), (1, "a", "one"), (1, "", '{"x":1}')])
        expect_in("|one|", run("SELECT CAST(value AS STRING) AS v FROM out WHERE key = X'61'").replace(" ", ""))
        expect_in("'value' not found", run("INSERT INTO out (key) VALUES ('a')", ok=False))
        expect_in("FLOODMARK_INSERT_OVERWRITE", run("INSERT OVERWRITE out SELECT 'x' AS value", ok=False))


CASES = [columns, insert, topic_column, refusals, replay_is_at_least_once, replay_is_exactly_once, kills]
