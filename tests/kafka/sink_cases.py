"""Writing to Kafka: columns, transactions, batches that run again."""
import os
import shutil

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


CASES = [columns, insert, topic_column, refusals, replay_is_at_least_once, replay_is_exactly_once]
