"""Runs every case of tests/delta/*_cases.py: run.py PROGRAM FOLDER [PATTERN,...]. A case is a function case_*(world); it fails by an exception."""
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import case_runner  # noqa: E402
from world import World  # noqa: E402


def main():
    program, folder = sys.argv[1:3]
    found = case_runner.find(HERE, "*_cases.py", sys.argv[3] if len(sys.argv) > 3 else "*")
    return case_runner.run((name, lambda: case(World(program, os.path.join(folder, module, name)))) for module, name, case in found)


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)  # the threads of delta-rs are not always through when Python takes them down
