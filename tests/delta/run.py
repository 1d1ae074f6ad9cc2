"""Runs every case of tests/delta/*_cases.py: run.py PROGRAM FOLDER [PATTERN]. A case is a function case_*(world); it fails by an exception."""
import fnmatch
import importlib
import os
import pathlib
import sys
import traceback

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
from world import World, Skip  # noqa: E402


def main():
    program, folder = sys.argv[1:3]
    pattern = sys.argv[3] if len(sys.argv) > 3 else "*"
    passed = failed = skipped = 0
    for path in sorted(HERE.glob("*_cases.py")):
        module = importlib.import_module(path.stem)
        for name, case in list(vars(module).items()):
            if not name.startswith("case_") or not fnmatch.fnmatch(name, "case_" + pattern):
                continue
            world = World(program, os.path.join(folder, path.stem, name))
            try:
                case(world)
                passed += 1
            except Skip as why:
                skipped += 1
                print(f"skipped {name}: {why}")
            except Exception:
                failed += 1
                print(f"FAILED {name}")
                traceback.print_exc(file=sys.stdout)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)  # the threads of delta-rs are not always through when Python takes them down
