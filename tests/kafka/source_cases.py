"""Reading Kafka: choices of partitions, bounds, limits, columns, checkpoints."""
import json
import os
import random
import subprocess
import time

from case_runner import Skip
from kafka_cases import Job, expect, expect_in, wait_for

COLUMNS = "topic AS t, partition AS p, offset AS o, CAST(key AS STRING) AS k, CAST(value AS STRING) AS v"
SELECT = f"SELECT {COLUMNS} FROM STREAM events"


def keys(rows, *names):
    return [tuple(r.get(n) for n in names) for r in rows]


def batch_columns(kafka):
    topic = kafka.topic("columns")
    kafka.send(topic, ["one"], key="a", headers=["h1=x", "h2=y"])
    kafka.send_null(topic, "b")
    with Job(kafka) as job:
        rows = job.rows("SELECT CAST(key AS STRING) k, CAST(value AS STRING) v, topic, partition, offset, timestampType ty, "
                        "timestamp > '2020-01-01' AS timed, size(headers) n, headers[0].key hk, CAST(headers[1].value AS STRING) hv "
                        f"FROM {job.table(subscribe=topic, includeHeaders='true')} ORDER BY offset")
        expect(keys(rows, "k", "v", "topic", "partition", "offset", "ty", "timed", "n", "hk", "hv"),
               [("a", "one", topic, 0, 0, 0, True, 2, "h1", "y"), ("b", None, topic, 0, 1, 0, True, None, None, None)])


def read_kafka_function(kafka):
    topic = kafka.topic("function")
    kafka.send(topic, ['{"a":1}', '{"a":2}', "no json"])
    with Job(kafka) as job:
        rows = job.rows("SELECT from_json(CAST(value AS STRING), 'a INT').a AS a FROM "
                        f"read_kafka(bootstrapServers => '{kafka.broker}', subscribe => '{topic}') ORDER BY offset")
        expect(keys(rows, "a"), [(1,), (2,), (None,)])


def batch_bounds(kafka):
    topic = kafka.topic("bounds", 2)
    kafka.send(topic, [f"a{i}" for i in range(10)], partition=0)
    kafka.send(topic, [f"b{i}" for i in range(5)], partition=1)
    with Job(kafka) as job:
        def count(**options):
            rows = job.rows("SELECT partition p, min(offset) a, max(offset) b, count(*) n "
                            f"FROM {job.table(subscribe=topic, **options)} GROUP BY partition ORDER BY p")
            return keys(rows, "p", "a", "b", "n")
        expect(count(), [(0, 0, 9, 10), (1, 0, 4, 5)])
        expect(count(startingOffsets=json.dumps({topic: {"0": 7, "1": -2}})), [(0, 7, 9, 3), (1, 0, 4, 5)])
        expect(count(endingOffsets=json.dumps({topic: {"0": 7, "1": -1}})), [(0, 0, 6, 7), (1, 0, 4, 5)])
        expect(count(startingOffsets=json.dumps({topic: {"0": 3, "1": 1}}), endingOffsets=json.dumps({topic: {"0": 4, "1": 1}})), [(0, 3, 3, 1)])
        expect(count(minPartitions=7), [(0, 0, 9, 10), (1, 0, 4, 5)])
        expect(count(maxRecordsPerPartition=3), [(0, 0, 9, 10), (1, 0, 4, 5)])
        assigned = job.rows(f"SELECT count(*) n FROM {job.table(assign=json.dumps({topic: [1]}))}")
        expect(keys(assigned, "n"), [(5,)])


def batch_times(kafka):
    topic = kafka.topic("times")
    kafka.send(topic, ["early"])
    time.sleep(0.3)
    middle = int(time.time() * 1000)
    time.sleep(0.3)
    kafka.send(topic, ["late"])
    with Job(kafka) as job:
        def values(**options):
            return keys(job.rows(f"SELECT CAST(value AS STRING) v FROM {job.table(subscribe=topic, **options)} ORDER BY offset"), "v")
        expect(values(startingTimestamp=middle), [("late",)])
        expect(values(endingTimestamp=middle), [("early",)])
        expect(values(startingOffsetsByTimestamp=json.dumps({topic: {"0": middle}})), [("late",)])
        far = middle + 10**9
        expect_in("No offset matched", job.sql(f"SELECT * FROM {job.table(subscribe=topic, startingTimestamp=far)}", ok=False))
        expect(values(startingTimestamp=far, startingOffsetsByTimestampStrategy="latest"), [])


def options_refused(kafka):
    topic = kafka.topic("refused")
    with Job(kafka) as job:
        def error(**options):
            options = {"subscribe": topic, **options}
            options = {k: v for k, v in options.items() if v is not None}
            return job.sql(f"SELECT * FROM {job.table(**options)}", ok=False)
        expect_in("One of the following options must be specified", error(subscribe=None))
        expect_in("Only one of the following", error(assign="{}"))
        expect_in("startingOffsets", error(**{"kafka.auto.offset.reset": "earliest"}))
        expect_in("kafka.bootstrap.servers", job.sql(f"SELECT * FROM read_kafka(subscribe => '{topic}')", ok=False))
        expect_in("value.deserializer", error(**{"kafka.value.deserializer": "x"}))
        expect_in("enable.auto.commit", error(**{"kafka.enable.auto.commit": "true"}))
        expect_in("JKS", error(**{"kafka.ssl.truststore.location": "/x.jks"}))
        expect_in("no counterpart", error(**{"kafka.no.such.thing": "1"}))
        expect_in("can't be latest", error(startingOffsets="latest"))
        expect_in("can't be earliest", error(endingOffsets="earliest"))
        expect_in("not valid in streaming", job.stream(SELECT, ok=False, subscribe=topic, endingOffsets="latest"))
        expect_in("minOffsetsPerTrigger", error(minOffsetsPerTrigger=5, maxOffsetsPerTrigger=4))
        expect_in("startingOffsets", error(startingoffset="earliest"))
        expect_in("no offset", error(startingOffsets=json.dumps({topic: {"0": -3}})))
        expect_in("no time", error(startingOffsetsByTimestamp=json.dumps({topic: {"0": -1}})))
        expect_in("milliseconds", error(startingTimestamp="-1"))
        expect_in("no partitions to assign", error(subscribe=None, assign="{}"))
        expect_in("-7, which there is not", error(subscribe=None, assign=json.dumps({topic: [0, 7]})))
        expect_in("-7, which there is not", job.stream(SELECT, ok=False, assign=json.dumps({topic: [0, 7]})))
        expect_in("is no address", error(**{"kafka.bootstrap.servers": "http://nowhere"}))
        expect_in("KAFKA_START_OFFSET_DOES_NOT_MATCH_ASSIGNED", error(startingOffsets=json.dumps({topic: {"0": 0, "1": 0}})))
        expect_in("UNRESOLVED_START_OFFSET_GREATER_THAN_END_OFFSET", error(startingOffsets=json.dumps({topic: {"0": 2}}),
                                                                          endingOffsets=json.dumps({topic: {"0": 1}})))
        expect_in("UNKNOWN_TOPIC_OR_PARTITION", error(subscribe="there-is-no-such-topic", **{"fetchOffset.numRetries": 1}))


def stream_goes_on(kafka):
    topic = kafka.topic("goes-on", 2)
    kafka.send(topic, ["a", "b"], partition=0)
    kafka.send(topic, ["c"], partition=1)
    with Job(kafka) as job:
        job.stream(SELECT, subscribe=topic, startingOffsets="earliest")
        expect(keys(job.result(), "p", "o", "v"), [(0, 0, "a"), (0, 1, "b"), (1, 0, "c")])
        expect(job.log("sources/0", 0), b"\0v1\n" + json.dumps({topic: {"0": 0, "1": 0}}, separators=(",", ":")).encode())
        expect(job.offsets(0), {topic: {"0": 2, "1": 1}})
        kafka.send(topic, ["d"], partition=1)
        job.stream(SELECT, subscribe=topic, startingOffsets="earliest")
        expect(keys(job.result(), "p", "o", "v"), [(0, 0, "a"), (0, 1, "b"), (1, 0, "c"), (1, 1, "d")])
        expect(job.offsets(1), {topic: {"0": 2, "1": 2}})
        metrics = job.progress()[-1]["sources"][0]
        expect(metrics["description"], f"KafkaV2[Subscribe[{topic}]]")
        expect(metrics["startOffset"], {topic: {"0": 2, "1": 1}})
        expect({k: metrics["metrics"][k] for k in ("minOffsetsBehindLatest", "maxOffsetsBehindLatest", "avgOffsetsBehindLatest")},
               {"minOffsetsBehindLatest": "0", "maxOffsetsBehindLatest": "0", "avgOffsetsBehindLatest": "0.0"})


def stream_limits(kafka):
    topic = kafka.topic("limits", 2)
    kafka.send(topic, [f"a{i}" for i in range(90)], partition=0)
    kafka.send(topic, [f"b{i}" for i in range(10)], partition=1)
    with Job(kafka) as job:
        job.stream(SELECT, subscribe=topic, startingOffsets="earliest", maxOffsetsPerTrigger=25)
        expect(job.offsets(0), {topic: {"0": 22, "1": 2}})
        expect(job.offsets(1), {topic: {"0": 44, "1": 4}})
        expect(len(job.result()), 100)
        expect(json.loads(job.progress()[0]["sources"][0]["metrics"]["offsetsBehindLatest"]), {topic: {"0": 68, "1": 8}})


def stream_default_is_latest(kafka):
    topic = kafka.topic("latest")
    kafka.send(topic, ["before"])
    with Job(kafka) as job:
        job.stream(SELECT, subscribe=topic)
        expect(job.offsets(0), {topic: {"0": 1}})
        expect(job.progress()[0]["numInputRows"], 0)
        kafka.send(topic, ["after"])
        job.stream(SELECT, subscribe=topic)
        expect(keys(job.result(), "o", "v"), [(1, "after")])


def new_partitions(kafka):
    topic = kafka.topic("grows")
    kafka.send(topic, ["a"])
    with Job(kafka) as job:
        process = job.start(SELECT, subscribe=topic, startingOffsets="earliest")
        try:
            wait_for(lambda: len(job.result()) == 1, process=process)
            kafka.tool("grow", topic, 3)
            kafka.send(topic, ["b"], partition=2)
            kafka.send(topic, ["c"], partition=1)
            wait_for(lambda: len(job.result()) == 3, process=process)
        finally:
            process.terminate()
            process.wait()
        expect(keys(job.result(), "p", "o", "v"), [(0, 0, "a"), (1, 0, "c"), (2, 0, "b")])


def transactions(kafka):
    topic = kafka.topic("transactions")
    kafka.tool("commit", topic, 0, "t1", lines=["a", "b"])
    kafka.tool("abort", topic, 0, "t1", lines=["gone"])
    kafka.tool("commit", topic, 0, "t1", lines=["c"])
    kafka.tool("abort", topic, 0, "t1", lines=["gone too"])
    with Job(kafka) as job:
        committed = {"kafka.isolation.level": "read_committed"}
        job.stream(SELECT, subscribe=topic, startingOffsets="earliest", **committed)
        expect(keys(job.result(), "v"), [("a",), ("b",), ("c",)])
        kafka.tool("dangle", topic, 0, "t2", lines=["open"])
        kafka.send(topic, ["behind it"])
        job.stream(SELECT, subscribe=topic, startingOffsets="earliest", **committed)
        expect(len(job.result()), 3)
    with Job(kafka) as job:
        job.stream(SELECT, subscribe=topic, startingOffsets="earliest")
        expect(keys(job.result(), "v"), [("a",), ("b",), ("gone",), ("c",), ("gone too",), ("open",), ("behind it",)])


def retention(kafka):
    topic = kafka.topic("retention")
    kafka.send(topic, [f"m{i}" for i in range(4)])
    with Job(kafka) as job:
        job.stream(SELECT, subscribe=topic, startingOffsets="earliest")
        kafka.send(topic, [f"m{i}" for i in range(4, 10)])
        kafka.tool("delete-records", topic, 0, 7)
        said = job.stream(SELECT, ok=False, subscribe=topic, startingOffsets="earliest")
        expect_in("KAFKA_DATA_LOSS", said)
        expect_in(f"[4, 7) for topic partition {topic}-0", said)
        job.stream(SELECT, subscribe=topic, startingOffsets="earliest", failOnDataLoss="false")
        expect(keys(job.result(), "o"), [(o,) for o in (0, 1, 2, 3, 7, 8, 9)])
        metrics = job.progress()[-1]["sources"][0]["metrics"]
        expect(json.loads(metrics["lostOffsets"]), [{"topic": topic, "partition": 0, "from": 4, "to": 7}])


def deleted_topic(kafka):
    topic = kafka.topic("deleted")
    kafka.send(topic, ["a", "b"])
    with Job(kafka) as job:
        job.stream(SELECT, subscribe=topic, startingOffsets="earliest")
        kafka.tool("delete", topic)
        time.sleep(0.5)
        kafka.tool("create", topic, 1)
        options = {"subscribe": topic, "startingOffsets": "earliest", "fetchOffset.retryIntervalMs": 10}
        expect_in("KAFKA_DATA_LOSS.PARTITION_OFFSET_CHANGED", job.stream(SELECT, ok=False, **options))


def goes_on_when_options_are_right_again(kafka):
    """Another topic, or an offset that there is not, ends the query before the checkpoint takes it in."""
    topic, other = kafka.topic("right"), kafka.topic("wrong")
    kafka.send(topic, ["a", "b"])
    kafka.send(other, ["x"])
    with Job(kafka) as job:
        retry = {"fetchOffset.retryIntervalMs": 10}
        expect_in("offset was changed from 99 to 2", job.stream(SELECT, ok=False, subscribe=topic, startingOffsets=json.dumps({topic: {"0": 99}}), **retry))
        job.stream(SELECT, subscribe=topic, startingOffsets="earliest")
        expect_in("KAFKA_DATA_LOSS.PARTITIONS_DELETED", job.stream(SELECT, ok=False, subscribe=other, startingOffsets="earliest", **retry))
        kafka.send(topic, ["c"])
        job.stream(SELECT, subscribe=topic, startingOffsets="earliest")
        expect(sorted(r["v"] for r in job.result()), ["a", "b", "c"])


def bad_messages(kafka):
    topic = kafka.topic("bad")
    kafka.send(topic, ['{"user":"a","n":1}', "no json", '{"user":"b","n":"many"}', '{"user":"c","n":3}'])
    example = os.path.join(os.path.dirname(__file__), "../../examples/kafka/bad-messages.sql")
    with Job(kafka) as job:
        os.environ.update(BROKER=kafka.broker, TOPIC=topic, OUTPUT=job.out, CHECKPOINT=job.checkpoint)
        job.run(["run", example, "--available-now", "--progress", "none"])

        def rows(folder, schema, order):
            return job.rows(f"SELECT * FROM read_files('{job.out}/{folder}', format => 'json', schema => '{schema}') ORDER BY {order}")
        expect(keys(rows("good", "user STRING, n INT", "n"), "user", "n"), [("a", 1), ("c", 3)])
        expect(keys(rows("bad", "topic STRING, partition INT, offset BIGINT, value BINARY, text STRING, reason STRING", "offset"),
                    "topic", "partition", "offset", "text", "reason"),
               [(topic, 0, 1, "no json", "it is not JSON: a word that is no JSON value, at byte 3 of the record"),
                (topic, 0, 2, '{"user":"b","n":"many"}', "the value of field 'n' is no INT, at byte 16 of the record")])
        failing = f"SELECT from_json(CAST(value AS STRING), 'user STRING, n INT', map('mode', 'FAILFAST')).n FROM {job.table(subscribe=topic)}"
        expect_in("no json", job.sql(failing, ok=False))


PARSED = "SELECT /*+ BAD_ROWS(%s) */ d.n AS o, %s AS v FROM (SELECT from_json(CAST(value AS STRING), 'n INT') AS d FROM STREAM events)"


def bad_messages_to_a_topic(kafka):
    """A dead-letter topic, exactly once with transactions, beside a main sink that has some, too."""
    topic, dead, out = kafka.topic("bad"), kafka.topic("dead"), kafka.topic("out")
    with Job(kafka) as job:
        hint = f"'kafka', '{dead}', 'kafka.bootstrap.servers', '{kafka.broker}', 'transactional', 'true'"
        select = f"SELECT CAST(o AS STRING) AS value FROM ({PARSED % (hint, 'd.n')})"
        for i in range(2):
            kafka.send(topic, [f'{{"n":{i}}}', f"junk {i}"])
            job.stream(select, sink="kafka", sink_options=f"`kafka.bootstrap.servers` '{kafka.broker}', topic '{out}', transactional 'true', ",
                       subscribe=topic, startingOffsets="earliest")
        expect([v for _, _, _, v in kafka.messages(out, committed=True)], ["0", "1"])
        expect([v for _, _, _, v in kafka.messages(dead, committed=True)], ["junk 0", "junk 1"])
        headers = job.rows(f"SELECT headers[0].key AS k, CAST(headers[0].value AS STRING) AS v, headers[1].key AS r FROM {job.table(subscribe=dead, includeHeaders='true')}")
        expect(sorted(keys(headers, "k", "v", "r")), [("source", f"{topic}-0@{o}", "reason") for o in (1, 3)])


def bad_messages_killed(kafka):
    """Each bad message once, however often the job is killed."""
    topic = kafka.topic("bad", 2)
    for partition in (0, 1):
        kafka.send(topic, [f'{{"n":{i}}}' if i % 3 else f"junk {i}" for i in range(600)], partition=partition)
    moments = random.Random(20261130)
    with Job(kafka) as job:
        bad = job.dir + "/bad"
        select = PARSED % (f"'json', '{bad}'", "'x'")
        options = {"subscribe": topic, "startingOffsets": "earliest", "maxOffsetsPerTrigger": 40}
        for _ in range(8):
            process = job.start(select, **options)
            time.sleep(0.05 + moments.random() * 0.3)
            process.kill()
            process.wait()
        job.stream(select, **options)
        got = job.rows(f"SELECT partition AS p, offset AS o, text AS v FROM read_files('{bad}', format => 'json', "
                       "schema => 'partition INT, offset BIGINT, text STRING') ORDER BY p, o")
        expect(keys(got, "p", "o", "v"), [(p, i, f"junk {i}") for p in (0, 1) for i in range(0, 600, 3)])
        expect(sorted(r["o"] for r in job.result()), sorted(2 * [i for i in range(600) if i % 3]))


def pattern(kafka):
    stem = f"pattern{time.time_ns()}"
    kafka.tool("create", stem + "-a1", 1)
    kafka.tool("create", stem + "-b1", 1)
    kafka.send(stem + "-a1", ["a1"])
    kafka.send(stem + "-b1", ["b1"])
    with Job(kafka) as job:
        options = {"subscribePattern": stem + "-a\\d", "startingOffsets": "earliest"}
        job.stream(SELECT, **options)
        expect(keys(job.result(), "v"), [("a1",)])
        kafka.tool("create", stem + "-a2", 1)
        kafka.send(stem + "-a2", ["a2"])
        job.stream(SELECT, **options)
        expect(keys(job.result(), "v"), [("a1",), ("a2",)])
        expect(job.progress()[-1]["sources"][0]["description"], f"KafkaV2[SubscribePattern[{stem}-a\\d]]")


def login_options(kafka, topic, mechanism, password="secret", ca="ca.pem"):
    module = {"SCRAM-SHA-256": "scram.Scram", "PLAIN": "plain.Plain"}[mechanism]
    return {"kafka.bootstrap.servers": kafka.read("broker-tls"), "kafka.security.protocol": "SASL_SSL", "kafka.sasl.mechanism": mechanism,
            "kafka.sasl.jaas.config": f'org.apache.kafka.common.security.{module}LoginModule required username="alice" password="{password}";',
            "kafka.ssl.truststore.type": "PEM", "kafka.ssl.truststore.location": os.path.join(kafka.folder, ca),
            "kafka.default.api.timeout.ms": "1500", "fetchOffset.numRetries": 1, "subscribe": topic, "startingOffsets": "earliest"}


def check_login(kafka, mechanism):
    topic = kafka.topic("secret")
    kafka.send(topic, ["behind a door"])
    with Job(kafka) as job:
        job.stream(SELECT, **login_options(kafka, topic, mechanism))
        expect(keys(job.result(), "v"), [("behind a door",)])
    with Job(kafka) as job:
        expect_in("uthentication failed", job.stream(SELECT, ok=False, **login_options(kafka, topic, mechanism, password="wrong")))
    with Job(kafka) as job:
        expect_in("certificate", job.stream(SELECT, ok=False, **login_options(kafka, topic, mechanism, ca="broker.crt")))


def tls_and_plain(kafka):
    check_login(kafka, "PLAIN")


# librdkafka before 2.6.1 says the client's nonce twice, which brokers have refused since 3.7.2.
def knows_scram(kafka):
    return kafka.library_version >= 0x020601ff


def tls_and_scram(kafka):
    if not knows_scram(kafka):
        raise Skip(f"librdkafka {kafka.library_version >> 24}.{kafka.library_version >> 16 & 255}.{kafka.library_version >> 8 & 255} speaks SCRAM as "
                   "brokers have refused since 3.7.2; 2.6.1 is needed")
    check_login(kafka, "SCRAM-SHA-256")


def old_scram_is_explained(kafka):
    if knows_scram(kafka):
        raise Skip("this librdkafka speaks SCRAM as brokers want it")
    topic = kafka.topic("secret")
    with Job(kafka) as job:
        expect_in("2.6.1", job.stream(SELECT, ok=False, **login_options(kafka, topic, "SCRAM-SHA-256")))


def group_shows_offsets(kafka):
    """commitOffsets: what the consumer group holds is where the query stands; nothing is read back from it."""
    topic, group = kafka.topic("group", 2), f"group-{time.time_ns()}"

    def held():
        out = subprocess.run([kafka.tool_path, kafka.broker, "group", group, topic, "2"], capture_output=True, text=True, check=True).stdout
        return [int(x) for x in out.split()]
    kafka.send(topic, ["a", "b"], partition=1)
    options = {"subscribe": topic, "startingOffsets": "earliest", "kafka.group.id": group, "commitOffsets": "true"}
    with Job(kafka) as job:
        job.stream(SELECT, **options)
        expect(held(), [0, 2])
        kafka.send(topic, ["c"], partition=0)
        process = job.start(SELECT, **options)
        try:
            wait_for(lambda: held() == [1, 2], process=process)
        finally:
            process.terminate()
            process.wait()
        expect(len(job.result()), 3)
    with Job(kafka) as job:
        job.stream(SELECT, **options)
        expect(len(job.result()), 3)
        expect_in("kafka.group.id", Job(kafka).stream(SELECT, ok=False, subscribe=topic, commitOffsets="true"))


def broker_restarts(kafka):
    """A stream that runs goes on when the broker is back."""
    topic = kafka.topic("restarts", 2)
    kafka.send(topic, ["a"], partition=1)
    with Job(kafka) as job:
        process = job.start(SELECT, subscribe=topic, startingOffsets="earliest")
        try:
            wait_for(lambda: len(job.result()) == 1, process=process)
            kafka.server("kill")
            time.sleep(1)
            kafka.server("start")
            kafka.send(topic, ["b"], partition=0)
            wait_for(lambda: len(job.result()) == 2, process=process)
        finally:
            process.terminate()
            process.wait()
        expect(sorted(keys(job.result(), "v")), [("a",), ("b",)])


def windows_with_workers(kafka):
    topic = kafka.topic("windows", 4)
    kafka.tool("fill", topic, 4, 20000, 50)
    select = ("SELECT window.start AS t, data.user_id AS k, count(*) AS o FROM "
              "(SELECT from_json(CAST(value AS STRING), 'user_id STRING, amount DOUBLE, event_time TIMESTAMP') AS data FROM STREAM events) "
              "GROUP BY window(data.event_time, '1 minute'), data.user_id")
    results = []
    for workers in (1, 3):
        with Job(kafka) as job:
            out = job.stream(select, "-c", f"floodmark.workers={workers}", sink="console", mode="complete", sink_options="numRows '100000', ",
                             subscribe=topic, startingOffsets="earliest", minPartitions=9)
            results.append(sorted(l for l in out.splitlines() if l.startswith("|")))
    expect(results[0], results[1])
    expect(sum(int(l.split("|")[3]) for l in results[0] if "user0" in l), 20000)


CASES = [batch_columns, read_kafka_function, batch_bounds, batch_times, options_refused, stream_goes_on, stream_limits,
         stream_default_is_latest, new_partitions, transactions, retention, deleted_topic, goes_on_when_options_are_right_again, bad_messages, bad_messages_to_a_topic, bad_messages_killed, pattern, tls_and_plain, tls_and_scram, old_scram_is_explained, group_shows_offsets, broker_restarts, windows_with_workers]
