#!/usr/bin/env python3
"""Runs every case of tests/spark/spark_*_cases.py on one Spark session: run.py BUILD FOLDER [--only PATTERN,...] [--broker FOLDER] [--many N] [--seed N].

A case is a function case_*(world) that fails by an exception. BUILD has floodmark; --broker is the folder of a broker that runs (without it
what needs Kafka is skipped); --many says how many random tables (tests/delta/property.py) Spark reads, too.
"""
import argparse
import os
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).parent
for folder in ("", "..", "../delta", "../kafka"):
    sys.path.insert(0, str(HERE / folder))
import case_runner  # noqa: E402
import spark_session  # noqa: E402
from spark_world import SparkWorld  # noqa: E402


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
    found = case_runner.find(HERE, "spark_*_cases.py", args.only)
    status = case_runner.run((name, lambda: case(SparkWorld(args, spark, os.path.join(args.folder, module, name)))) for module, name, case in found)
    spark.stop()
    return status


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)
