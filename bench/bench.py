"""The benches, as ./run bench calls them: what floodmark does with the works W1, W2 and W3, beside DuckDB or Spark.

W1  20 million events of 10,000 users by Zipf's law, sums and counts in windows of 5 minutes
W2  the same events, windows of 10 minutes every 5 seconds
W3  as W1 with 5 million users, all alike

The job is bench/totals.sql: a stream over files, its checkpoint on, its rows appended to JSON files, ten minutes of
patience, one event file a micro-batch. A run's time is that of the whole process. The others' is that of their query alone.
Runs alternate; what is printed are medians. The rows of the last run are compared with DuckDB's, each of them.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time
import venv

HERE = pathlib.Path(__file__).resolve().parent
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "floodmark" / "bench"
WORKS = {"W1": ("zipf", 10_000, "5 minutes", "5 minutes"),
         "W2": ("zipf", 10_000, "10 minutes", "5 seconds"),
         "W3": ("uniform", 5_000_000, "5 minutes", "5 minutes")}
GOALS = {("W1", 1): (4, 6), ("W1", 2): (3.5, 5), ("W2", 1): (15, 30), ("W2", 2): (15, 30), ("W3", 1): (2, 3), ("W3", 2): (1.8, 2.5)}
SPARK_GOAL, DECODE_GOAL, OTHER_ORDER_MAX = (40, 80), (2, 3), 1.5
MEMORY_BYTES, MEMORY_KEYS, MEMORY_MAX_MB = 10_000_000_000, 100_000, 400
W1_MAX_MB, STATE_MAX_BYTES, STATE_AIM_BYTES = 64, 64, 48


def say(text):
    print(text, flush=True)


def fail(text):
    sys.exit(f"bench: {text}")


# ---- what is needed -------------------------------------------------------------------------------------------------

def python_with(name):
    """The Python of an environment that holds what requirements-<name>.txt pins."""
    wanted = (HERE / f"requirements-{name}.txt").read_text()
    folder = CACHE / f"venv-{name}"
    stamp = folder / "requirements.txt"
    python = folder / "bin" / "python"
    if stamp.is_file() and stamp.read_text() == wanted:
        return python
    say(f"== installing {' '.join(wanted.split())} in {folder}")
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "-q", "-r", HERE / f"requirements-{name}.txt"], check=True)
    stamp.write_text(wanted)
    return python


def events(program, rows, files, law, users):
    """The folder of the events, made when it is not there yet."""
    folder = CACHE / f"{law}-{users}-{rows}-{files}"
    if (folder / "done").is_file():
        return folder / "in"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "in").mkdir(parents=True)
    say(f"== making {rows:,} events of {users:,} users in {folder}")
    subprocess.run([program, folder / "in", str(rows), str(files), law, str(users)], check=True)
    (folder / "done").touch()
    return folder / "in"


def warm(folder):
    """Reads the files once, so that all runs find them in memory."""
    buffer = bytearray(1 << 20)
    for path in sorted(folder.iterdir()):
        with open(path, "rb", buffering=0) as file:
            while file.readinto(buffer):
                pass


def fresh(name):
    folder = CACHE / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


# ---- runs -----------------------------------------------------------------------------------------------------------

def measured(command, threads, env=None):
    """Runs a command on the first `threads` cores: seconds, CPU seconds, peak MB, what it printed."""
    cores = ",".join(str(c) for c in sorted(os.sched_getaffinity(0))[:threads])
    begun = time.perf_counter()
    child = subprocess.Popen(["taskset", "-c", cores, *map(str, command)], stdout=subprocess.PIPE, env=env)
    text = child.stdout.read().decode()
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - begun
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        fail(f"this failed with exit code {child.returncode}: {' '.join(map(str, command))}\n{text}")
    return {"seconds": seconds, "cpu": usage.ru_utime + usage.ru_stime, "mb": usage.ru_maxrss / 1024, "text": text}


def run_floodmark(args, work, threads, folder, out, files):
    _, _, window, slide = WORKS[work]
    settings = {"in": folder, "out": out, "files": files, "window": window, "slide": slide,
                "floodmark.workers": threads, "floodmark.pinThreads": "true"}
    command = [args.floodmark, "run", HERE / "totals.sql", "--available-now", "--progress", out / "progress"]
    for key, value in settings.items():
        command += ["-c", f"{key}={value}"]
    return measured(command, threads)


def run_other(python, script, *words):
    threads = int(words[0] if script == "spark_work.py" else words[1])
    result = measured([python, HERE / script, *words], threads)
    result.update(json.loads(result["text"].strip().splitlines()[-1]))
    return result


def state_bytes(out):
    """Bytes of state per live key of the first stateful operator, in the micro-batch that had most of them."""
    best = None
    for line in (out / "progress").read_text().splitlines():
        operator = json.loads(line)["stateOperators"][0]
        if operator["numRowsTotal"] and (best is None or operator["numRowsTotal"] > best[0]):
            best = operator["numRowsTotal"], operator["memoryUsedBytes"]
    return best[1] / best[0] if best else 0


def check_rows(work, check):
    if check["more"] or check["fewer"] or check["other"] or check["ours"] != check["n"]:
        fail(f"{work}: our rows are not DuckDB's: {check}")
    return f"{check['ours']:,} rows as DuckDB's"


def median(runs, what):
    return statistics.median(r[what] for r in runs)


def line(work, threads, rows, ours, theirs, name, notes, goal):
    seconds, cpu = median(ours, "seconds"), median(ours, "cpu")
    text = (f"{work} {threads} thread{'s'[:threads - 1]}: {rows / seconds / 1e6:.1f} M rows/s, {cpu * 1e9 / rows:.0f} ns CPU/row, "
            f"peak {max(r['mb'] for r in ours):.0f} MB")
    if theirs:
        other = median(theirs, "seconds")
        text += f"; {name} {rows / other / 1e6:.2f} M rows/s, peak {max(r['mb'] for r in theirs):.0f} MB; {other / seconds:.1f} times {name}"
        if goal:
            text += f" (must {goal[0]}, aim {goal[1]})"
    return "; ".join([text, *notes])


# ---- benches --------------------------------------------------------------------------------------------------------

def bench_work(args, work, threads, python):
    law, users, _, _ = WORKS[work]
    folder = events(args.events, args.rows, args.files, law, users)
    their_runs = 1 if work == "W2" else args.runs # the join that DuckDB needs for it takes more than a minute: once is enough
    warm(folder)
    ours, theirs, notes = [], [], []
    for i in range(args.runs):
        out = fresh("out")
        ours.append(run_floodmark(args, work, threads, folder, out, 1))
        if python and i >= args.runs - their_runs:
            rows = [out / "rows"] if i + 1 == args.runs else []
            theirs.append(run_other(python, "duckdb_work.py", work, threads, folder, *rows))
    if theirs:
        notes.append(check_rows(work, theirs[-1]["check"]))
    if work == "W3":
        notes.append(f"{state_bytes(out):.0f} bytes of state per live key (must {STATE_MAX_BYTES}, aim {STATE_AIM_BYTES})")
    if work == "W1" and threads == 1:
        notes.append(f"peak must be {W1_MAX_MB} MB")
    say(line(work, threads, args.rows, ours, theirs, "DuckDB", notes, GOALS.get((work, threads))))
    return median(ours, "seconds"), median(theirs, "seconds") if theirs else None


def bench_works(args, works):
    python = None if args.alone else python_with("duckdb")
    for work in works:
        seconds = {threads: bench_work(args, work, threads, python) for threads in args.threads}
        least, most = min(args.threads), max(args.threads)
        if work == "W2" and python and least < most:
            say(f"W2: ours on {least} against DuckDB's on {most} threads: {seconds[most][1] / seconds[least][0]:.1f} times")


def bench_spark(args):
    python = python_with("spark")
    law, users, _, _ = WORKS["W1"]
    folder = events(args.events, args.rows, args.files, law, users)
    warm(folder)
    for threads in args.threads:
        theirs = [run_other(python, "spark_work.py", threads, folder, fresh("out-spark"), 1)]
        ours = [run_floodmark(args, "W1", threads, folder, fresh("out"), 1) for _ in range(args.runs)]
        say(line("W1", threads, args.rows, ours, theirs, "Spark", [], SPARK_GOAL))
    shutil.rmtree(CACHE / "out-spark")


def bench_memory(args):
    """10 GB of lines in one micro-batch: the same files under many names, so that the disk need not hold them all."""
    folder = events(args.events, args.rows, args.files, "uniform", MEMORY_KEYS)
    many = fresh("in-memory-bench")
    size = copies = 0
    paths = sorted(folder.iterdir())
    while size < args.bytes:
        path = paths[copies % len(paths)]
        os.link(path, many / f"copy-{copies:04d}-{path.name}")
        size += path.stat().st_size
        copies += 1
    for threads in args.threads:
        run = run_floodmark(args, "W1", threads, many, fresh("out"), 1_000_000)
        say(f"memory {threads} thread{'s'[:threads - 1]}: {size / 1e9:.1f} GB in one micro-batch, {MEMORY_KEYS:,} keys: peak {run['mb']:.0f} MB "
            f"(must {MEMORY_MAX_MB}), {size / run['seconds'] / 1e9:.2f} GB/s")
    shutil.rmtree(many)


def ns_per_row(text):
    return float(re.search(r": ([0-9.]+) ns/row", text).group(1))


def bench_decode(args):
    """All in turn, a few times: what else the machine does then falls on each of them."""
    rows = str(min(args.rows, 2_000_000))
    works = {"floodmark": [args.decode, rows], "other order": [args.decode, rows, "10"], "simdjson": [args.decode_simdjson, rows]}
    works = {name: command for name, command in works.items() if os.access(command[0], os.X_OK)}
    texts = {name: [] for name in works}
    for _ in range(args.runs):
        for name, command in works.items():
            texts[name].append(measured(command, 1)["text"])
    ns = {name: statistics.median(map(ns_per_row, each)) for name, each in texts.items()}
    for name, each in texts.items():
        sys.stdout.write(min(each, key=lambda text: abs(ns_per_row(text) - ns[name])))
    if "simdjson" not in ns:
        say("decoder: simdjson is not built, so there is nothing to compare with")
        return
    say(f"decoder: {ns['simdjson'] / ns['floodmark']:.2f} times simdjson (must {DECODE_GOAL[0]}, aim {DECODE_GOAL[1]}); one line in ten in another "
        f"order {ns['other order'] / ns['floodmark']:.2f} times slower (must {OTHER_ORDER_MAX})")


def main():
    parser = argparse.ArgumentParser(prog="./run bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=["W1", "W2", "W3", "decode"],
                        help="W1, W2, W3, decode, spark, memory or all (default: W1 W2 W3 decode)")
    parser.add_argument("--rows", type=int, default=20_000_000, help="events (default: 20 million)")
    parser.add_argument("--files", type=int, default=10, help="files that the events are in, each a micro-batch (default: 10)")
    parser.add_argument("--runs", type=int, default=5, help="runs that the median is taken of (default: 5)")
    parser.add_argument("--threads", type=lambda s: [int(t) for t in s.split(",")], default=[1, 2], help="default: 1,2")
    parser.add_argument("--alone", action="store_true", help="without DuckDB: nothing is compared or checked")
    parser.add_argument("--bytes", type=int, default=MEMORY_BYTES, help="of lines, for memory (default: 10 GB)")
    parser.add_argument("--build", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    args = parser.parse_args()
    what = ["W1", "W2", "W3", "decode", "spark", "memory"] if "all" in args.what else args.what
    unknown = [w for w in what if w not in (*WORKS, "decode", "spark", "memory")]
    if unknown:
        parser.error(f"there is no bench '{unknown[0]}': W1, W2, W3, decode, spark, memory")
    args.floodmark = args.build / "floodmark"
    args.events, args.decode, args.decode_simdjson = (args.build / "bench" / p for p in ("events", "decode", "decode_simdjson"))
    bench_works(args, [w for w in what if w in WORKS])
    for name, bench in (("decode", bench_decode), ("spark", bench_spark), ("memory", bench_memory)):
        if name in what:
            bench(args)
    shutil.rmtree(CACHE / "out", ignore_errors=True)


main()
