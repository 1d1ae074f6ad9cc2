"""Cases in Python: functions that fail by an exception. What the runners of tests/delta, tests/kafka and tests/spark share."""
import fnmatch
import importlib
import time
import traceback


class Skip(Exception):
    """Why a case cannot be run here."""


def find(folder, pattern, wanted="*"):
    """(module's name, name, function) of each case_* in the modules of a folder, on sys.path, whose files match; in the order of the files.
    wanted: patterns of names without case_, with commas between."""
    for path in sorted(folder.glob(pattern)):
        for name, case in list(vars(importlib.import_module(path.stem)).items()):
            if name.startswith("case_") and any(fnmatch.fnmatch(name, "case_" + w) for w in wanted.split(",")):
                yield path.stem, name, case


def run(cases):
    """cases: (name, function without arguments). Runs them, a line each, and says how many; the exit status: 0 when some passed and
    none failed."""
    passed = failed = skipped = 0
    for name, case in cases:
        start = time.time()
        try:
            case()
            passed += 1
            print(f"{name:48} ok     {time.time() - start:6.1f} s", flush=True)
        except Skip as why:
            skipped += 1
            print(f"{name:48} skipped: {why}", flush=True)
        except Exception:
            failed += 1
            print(f"FAILED {name}, {time.time() - start:.1f} s\n{traceback.format_exc()}", flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0
