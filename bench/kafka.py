#!/usr/bin/env python3
"""Kafka to windows beside librdkafka alone, in the same run on the same broker and topic: 4 partitions, JSON of about 100 bytes.

    ./run bench kafka [MESSAGES] [ROUNDS]

Both read the whole backlog; the bare reader only adds up lengths. Runs alternate; medians are compared. The ceiling is the faster of
the bare reader's two ways (see bench/kafka_bare.c). CPU is that of the process, all threads; the broker has the same cores.
Also: how long one message takes from its sending to the console.
"""
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PARTITIONS, GOAL = 4, 0.8


def timed(command):
    """Seconds and CPU seconds of a process."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    took, after = time.time() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def bare(build, broker, topic, messages, *how):
    done = subprocess.run([f"{build}/bench/kafka_bare", broker, topic, str(PARTITIONS), str(messages), *how], capture_output=True, text=True, check=True)
    got = json.loads(done.stdout)
    return got["seconds"], got["cpu"]


def ours(build, broker, topic, folder, workers):
    return timed([f"{build}/floodmark", "run", f"{HERE}/kafka.sql", "-c", f"broker={broker}", "-c", f"topic={topic}", "-c", "sink=noop",
                  "-c", "sink_options=", "-c", f"checkpoint={folder}/checkpoint-{time.time_ns()}", "-c", f"floodmark.workers={workers}",
                  "--available-now", "--progress", "none"])


def latencies(build, broker, folder, n=200):
    """Milliseconds from sending one message to its row on the console."""
    topic = f"latency-{time.time_ns()}"
    subprocess.run([f"{build}/tests/servers/kafka_tool", broker, "create", topic, "1"], check=True)
    sql = (f"CREATE TABLE e USING kafka OPTIONS (`kafka.bootstrap.servers` '{broker}', subscribe '{topic}', startingOffsets 'earliest'); "
           f"CREATE STREAMING TABLE r USING console OPTIONS (outputMode 'append', truncate 'false', checkpointLocation '{folder}/latency') "
           "AS SELECT CAST(value AS STRING) AS v FROM STREAM e;")
    with open(folder + "/latency.sql", "w") as f:
        f.write(sql)
    job = subprocess.Popen([f"{build}/floodmark", "run", folder + "/latency.sql", "--progress", "none"], stdout=subprocess.PIPE, text=True)
    sender = subprocess.Popen([f"{build}/tests/servers/kafka_tool", broker, "pipe", topic, "0"], stdin=subprocess.PIPE, text=True)
    took = []
    try:
        time.sleep(1)
        for i in range(n):
            start = time.time()
            sender.stdin.write(f"m{i}\n")
            sender.stdin.flush()
            for line in job.stdout:
                if line.startswith(f"|m{i}"):
                    break
            took.append((time.time() - start) * 1000)
            time.sleep(0.013)
    finally:
        sender.stdin.close()
        sender.wait()
        job.terminate()
        job.wait()
    return sorted(took)


def main():
    build = sys.argv[1]
    messages = int(sys.argv[2]) if len(sys.argv) > 2 else 4_000_000
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    with tempfile.TemporaryDirectory() as folder:
        server = os.path.join(HERE, "../tests/servers/kafka.sh")
        subprocess.run(["bash", server, "start", folder + "/broker"], check=True)
        try:
            with open(folder + "/broker/broker") as f:
                broker = f.read().strip()
            tool = f"{build}/tests/servers/kafka_tool"
            subprocess.run([tool, broker, "create", "events", str(PARTITIONS)], check=True)
            subprocess.run([tool, broker, "fill", "events", str(PARTITIONS), str(messages), "10000"], check=True)
            ways = {"librdkafka, one queue": lambda: bare(build, broker, "events", messages),
                    "librdkafka, a queue each": lambda: bare(build, broker, "events", messages, "each"),
                    "floodmark, 1 worker": lambda: ours(build, broker, "events", folder, 1),
                    "floodmark, 2 workers": lambda: ours(build, broker, "events", folder, 2)}
            runs = {name: [] for name in ways}
            for _ in range(rounds):
                for name, way in ways.items():
                    runs[name].append(way())
            medians = {name: (statistics.median(t for t, _ in r), statistics.median(c for _, c in r)) for name, r in runs.items()}
            for name, (took, cpu) in medians.items():
                print(f"{name:26} {messages / took / 1e6:6.2f} M messages/s  {cpu / messages * 1e9:6.0f} ns of CPU each")
            floor_s, floor_cpu = (min(medians[n][i] for n in medians if n.startswith("librdkafka")) for i in (0, 1))
            best_s, best_cpu = (min(medians[n][i] for n in medians if n.startswith("floodmark")) for i in (0, 1))
            print(f"Kafka to windows against librdkafka alone: {floor_s / best_s:.0%} of its speed, {floor_cpu / best_cpu:.0%} by CPU (must: {GOAL:.0%})")
            took = latencies(build, broker, folder)
            print(f"one message to the console: median {statistics.median(took):.1f} ms, p99 {took[int(len(took) * 0.99)]:.1f} ms")
        finally:
            subprocess.run(["bash", server, "stop", folder + "/broker"], check=True)
    return 0 if floor_s / best_s >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
