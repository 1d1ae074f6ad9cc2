"""Messages, topics and brokers as one does not wish for: a clear error or the right rows, never a crash, a hang or a damaged table."""
import base64
import json
import os
import socket
import subprocess
import time

from kafka_cases import Job, expect, expect_in, wait_for

RAW = "SELECT partition AS p, offset AS o, CAST(key AS STRING) AS k, base64(value) AS v FROM STREAM events"


def produce(kafka, topic, value, *more, partition=0):
    """One message of any bytes."""
    path = os.path.join(kafka.folder, "message")
    with open(path, "wb") as f:
        f.write(value)
    subprocess.run(["kcat", "-P", "-b", kafka.broker, "-t", topic, "-p", str(partition), "-X", "message.max.bytes=20000000", *more, path], check=True)


def messages_of_all_kinds(kafka):
    """Empty, null, 10 MB, bytes that are no UTF-8, JSON that is deep or broken, headers: through from_json into JSON, Delta and Kafka."""
    topic = kafka.topic("kinds", 1, "max.message.bytes=20000000")
    target = kafka.topic("kinds-out", 1, "max.message.bytes=20000000")
    values = [b'{"a":1}', b"\xff\xfe\x00", b"{" * 100000, b"[" * 100000, b'{"a":' * 50000, b'{"a":1e999}', b'{"a":99999999999999999999}', b'{"a":"\\ud800"}', b'{"a":"\xc3("}', b"null", b"0", b'"',
              b"\x00", b'{"a":1}{"a":2}', b'{"a":"' + b"x" * 10_000_000 + b'"}', b'{"' + b"k" * 1_000_000 + b'":1}', b'{"a":1,"a":2}']
    for v in values:
        produce(kafka, topic, v, "-k", "key", "-H", "h=" + "y" * 1000, "-H", "empty=", "-H", "h=again")
    kafka.send_null(topic, "tombstone")
    subprocess.run(["kcat", "-P", "-b", kafka.broker, "-t", topic, "-p", "0", "-K", ":"], input="empty:\n", text=True, check=True)
    count = len(values) + 2
    with Job(kafka) as job:
        options = {"subscribe": topic, "startingOffsets": "earliest", "includeHeaders": "true"}
        job.stream(RAW, **options)
        rows = {r["o"]: r for r in job.result()}
        expect(sorted(rows), list(range(count)))
        for i, v in enumerate(values):
            expect(rows[i]["v"].replace("\r\n", "") == base64.b64encode(v).decode(), True)
        expect(rows[len(values)].get("v"), None)
    for sink in ("delta", "parquet"):
        with Job(kafka) as job:
            text = job.stream_text("SELECT offset AS o, CAST(value AS STRING) AS s, value AS raw, headers, from_json(CAST(value AS STRING), 'a STRING') AS j, "
                                   "from_json(CAST(value AS STRING), 'a INT, _corrupt_record STRING') AS c FROM STREAM events", sink=sink, sink_options=f"path '{job.out}', ", **options)
            job.run(["run", text, "--available-now", "--progress", "none"])
            table = f"delta.`{job.out}`" if sink == "delta" else f"parquet.`{job.out}`"
            rows = job.rows(f"SELECT o, length(raw) AS n, j.a = '1' AS one, c.a AS a, size(headers) AS h, c._corrupt_record IS NOT NULL AS bad FROM {table} ORDER BY o")
            expect([r.get("n") for r in rows], [len(v) for v in values] + [None, 0])
            expect(rows[0]["one"], True)
            expect([r.get("h") for r in rows][:len(values)], [3] * len(values))
            expect(all(r["bad"] for r in rows[1:5]), True)
    with Job(kafka) as job:
        job.stream("SELECT key, value, headers FROM STREAM events", sink="kafka",
                   sink_options=job.options(topic=target, transactional="true", **{"kafka.max.request.size": "20000000"}) + ", ", **options)
        back = job.rows(f"SELECT offset AS o, length(value) AS n, size(headers) AS h FROM {job.table(subscribe=target, includeHeaders='true')} ORDER BY offset")
        expect([r.get("n") for r in back], [len(v) for v in values] + [None, 0])


def too_large_for_the_sink(kafka):
    source, target = kafka.topic("large-in"), kafka.topic("large-out", 1, "max.message.bytes=1000")
    kafka.send(source, ["small", "x" * 5000, "small"])
    for transactional in ("false", "true"):
        with Job(kafka) as job:
            said = job.stream("SELECT value FROM STREAM events", ok=False, sink="kafka", sink_options=job.options(topic=target, transactional=transactional) + ", ",
                              subscribe=source, startingOffsets="earliest")
            expect_in("[", said)
            expect_in("large", said.lower())
        if transactional == "false":
            before = len(kafka.messages(target, committed=True))
    expect(len(kafka.messages(target, committed=True)), before)  # of a transaction that failed nothing is seen


def nobody_listens(kafka):
    """No broker at the start: said within the time that is given, by the address."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    with Job(kafka) as job:
        options = {"kafka.bootstrap.servers": f"127.0.0.1:{port}", "kafka.default.api.timeout.ms": "1500", "fetchOffset.numRetries": 1}
        start = time.time()
        expect_in(f"127.0.0.1:{port}", job.stream(RAW, ok=False, subscribe="t", **options))
        expect(time.time() - start < 30, True)
        said = job.sql(f"SELECT * FROM {job.table(subscribe='t', **options)}", ok=False)
        expect_in(f"127.0.0.1:{port}", said)
    with Job(kafka) as job:
        topic = kafka.topic("sends")
        kafka.send(topic, ["a"])
        said = job.stream("SELECT value FROM STREAM events", ok=False, sink="kafka", subscribe=topic, startingOffsets="earliest", sink_options=(
            f"`kafka.bootstrap.servers` '127.0.0.1:{port}', `kafka.delivery.timeout.ms` '1500', `kafka.request.timeout.ms` '1000', `kafka.linger.ms` '0', `kafka.max.block.ms` '1500', topic 'x', "))
        expect_in("[", said)


def waiting_for_a_broker_is_told(kafka):
    """No broker, and time enough: after a few seconds one line says who is waited for, for a source and for a sink, and the job goes on."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        away = f"127.0.0.1:{s.getsockname()[1]}"
    topic = kafka.topic("waits")
    kafka.send(topic, ["a"])
    sink = {"sink": "kafka", "subscribe": topic, "startingOffsets": "earliest", "sink_options": f"`kafka.bootstrap.servers` '{away}', topic 'x', "}
    for select, options in ((RAW, {"kafka.bootstrap.servers": away, "subscribe": "t"}), ("SELECT value FROM STREAM events", sink)):
        with Job(kafka) as job:
            process = job.start(select, **options)

            def told():
                with open(job.dir + "/stderr") as f:
                    return [line for line in f if f"floodmark: warning: Kafka at {away} does not answer" in line]
            try:
                wait_for(told, 15, process)
                time.sleep(4)
                expect(len(told()), 1)
                expect(process.poll(), None)
            finally:
                process.kill()
                process.wait()


def names_nobody_can_resolve(kafka):
    with Job(kafka) as job:
        for servers in ("no such host:9092", "nohost.invalid:9092", "127.0.0.1:99999", ",", ":", "127.0.0.1", "x" * 5000, "[::1"):
            said = job.sql(f"SELECT * FROM {job.table(subscribe='t', **{'kafka.bootstrap.servers': servers, 'kafka.default.api.timeout.ms': '1000'})}", ok=False)
            expect_in("[", said)


def something_else_listens(kafka):
    """What answers is no Kafka: it says nothing, closes, or speaks HTTP with sizes beyond all bounds."""
    import threading
    for answer in (b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x7f\xff\xff\xff" * 100, bytes(64), None):
        server = socket.socket()
        server.bind(("127.0.0.1", 0))
        server.listen(16)

        def serve():
            while True:
                try:
                    client, _ = server.accept()
                    if answer is not None:
                        client.recv(1000)
                        client.sendall(answer)
                        client.close()
                except OSError:
                    return
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        with Job(kafka) as job:
            said = job.sql(f"SELECT * FROM {job.table(subscribe='t', **{'kafka.bootstrap.servers': '127.0.0.1:%d' % server.getsockname()[1], 'kafka.default.api.timeout.ms': '1500'})}", ok=False)
            expect_in("[", said)
        server.close()


def topic_goes_while_it_is_read(kafka):
    """Deleted below a running stream, with rows that were not read: the query ends by name, or goes on when it may lose them; what was written stays."""
    for fails in ("true", "false"):
        topic = kafka.topic("goes")
        kafka.send(topic, ["a", "b"])
        with Job(kafka) as job:
            options = {"subscribe": topic, "startingOffsets": "earliest", "failOnDataLoss": fails, "fetchOffset.retryIntervalMs": 50, "kafka.default.api.timeout.ms": "3000"}
            process = job.start(RAW, **options)
            try:
                wait_for(lambda: len(job.result()) == 2, process=process)
                kafka.tool("delete", topic)
                if fails == "true":
                    wait_for(lambda: process.poll() is not None, 60)
                    expect(process.returncode, 1)
                    with open(job.dir + "/stderr") as f:
                        said = f.read()
                    expect("KAFKA_DATA_LOSS" in said or "UNKNOWN_TOPIC_OR_PARTITION" in said, True)
                else:
                    time.sleep(2)
            finally:
                if process.poll() is None:
                    process.terminate()
                process.wait()
            expect(process.returncode in (0, 1), True)
            expect(len(job.result()), 2)


def topic_is_made_anew(kafka):
    """Deleted and made again with fewer and with more messages than were read."""
    for n in (1, 5):
        topic = kafka.topic("anew")
        kafka.send(topic, ["a", "b", "c"])
        with Job(kafka) as job:
            options = {"subscribe": topic, "startingOffsets": "earliest", "fetchOffset.retryIntervalMs": 10}
            job.stream(RAW, **options)
            kafka.tool("delete", topic)
            time.sleep(0.5)
            kafka.tool("create", topic, 1)
            kafka.send(topic, [f"new {i}" for i in range(n)])
            if n == 1:
                expect_in("KAFKA_DATA_LOSS", job.stream(RAW, ok=False, **options))
                job.stream(RAW, **options, failOnDataLoss="false")
            else:  # nobody can tell: offsets go on, as in Spark
                job.stream(RAW, **options)
                expect(len(job.result()), 5)


CASES = [messages_of_all_kinds, too_large_for_the_sink, nobody_listens, waiting_for_a_broker_is_told, names_nobody_can_resolve, something_else_listens, topic_goes_while_it_is_read, topic_is_made_anew]
