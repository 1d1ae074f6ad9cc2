#!/usr/bin/env python3
"""Runs the Kafka cases: run.py FOLDER BUILD [NAME...]. FOLDER is that of a broker which runs (tests/servers/kafka.sh)."""
import pathlib
import sys

sys.path.insert(1, str(pathlib.Path(__file__).parent.parent))
import case_runner  # noqa: E402
import hostile_cases  # noqa: E402
import sink_cases  # noqa: E402
import source_cases  # noqa: E402
from kafka_cases import Kafka  # noqa: E402


def main():
    kafka = Kafka(sys.argv[1], sys.argv[2])
    cases = source_cases.CASES + sink_cases.CASES + hostile_cases.CASES
    return case_runner.run((case.__name__, lambda: case(kafka)) for case in cases if not sys.argv[3:] or case.__name__ in sys.argv[3:])


if __name__ == "__main__":
    sys.exit(main())
