#!/usr/bin/env python3
"""Runs every case of tests/spark/spark_*_cases.py on one Spark session: run.py BUILD FOLDER [--only PATTERN,...] [--broker FOLDER] [--many N] [--seed N].

A case is a function case_*(world) that fails by an exception. BUILD has floodmark; --broker is the folder of a broker that runs (without it
what needs Kafka is skipped); --many says how many random tables (tests/delta/property.py) Spark reads, too.
"""
import argparse
import fnmatch
import importlib
import os
import pathlib
import sys
import time
import traceback

HERE = pathlib.Path(__file__).parent
for folder in ("", "../delta", "../kafka"):
    sys.path.insert(0, str(HERE / folder))
import spark_session  # noqa: E402
from spark_world import SparkWorld  # noqa: E402
from world import Skip  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("folder")
    parser.add_argument("--only", default="*")
    parser.add_argument("--broker")
    parser.add_argument("--many", type=int, default=20)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**9)
    args = parser.parse_args()
    spark = spark_session.start(os.path.join(args.folder, "spark"))
    spark.sparkContext.setLogLevel("OFF")
    passed = failed = skipped = 0
    for path in sorted(HERE.glob("spark_*_cases.py")):
        module = importlib.import_module(path.stem)
        for name, case in list(vars(module).items()):
            if not name.startswith("case_") or not any(fnmatch.fnmatch(name, "case_" + p) for p in args.only.split(",")):
                continue
            start = time.time()
            world = SparkWorld(args, spark, os.path.join(args.folder, path.stem, name))
            try:
                case(world)
                passed += 1
                print(f"{name:48} ok     {time.time() - start:6.1f} s", flush=True)
            except Skip as why:
                skipped += 1
                print(f"{name:48} skipped: {why}", flush=True)
            except Exception:
                failed += 1
                print(f"{name:48} FAILED {time.time() - start:6.1f} s\n{traceback.format_exc()}", flush=True)
    spark.stop()
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)
