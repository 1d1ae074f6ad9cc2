#!/usr/bin/env python3
"""Runs the Kafka cases: run.py FOLDER BUILD [NAME...]. FOLDER is that of a broker which runs (tests/servers/kafka.sh)."""
import sys
import time
import traceback

import hostile_cases
import sink_cases
import source_cases
from kafka_cases import Kafka, Skip


def main():
    kafka = Kafka(sys.argv[1], sys.argv[2])
    cases = source_cases.CASES + sink_cases.CASES + hostile_cases.CASES
    passed = failed = skipped = 0
    for case in cases:
        if sys.argv[3:] and case.__name__ not in sys.argv[3:]:
            continue
        start = time.time()
        try:
            case(kafka)
            passed += 1
            print(f"{case.__name__:32} ok     {time.time() - start:5.1f} s", flush=True)
        except Skip as why:
            skipped += 1
            print(f"{case.__name__:32} skipped: {why}", flush=True)
        except Exception:
            failed += 1
            print(f"{case.__name__:32} FAILED {time.time() - start:5.1f} s\n{traceback.format_exc()}", flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
