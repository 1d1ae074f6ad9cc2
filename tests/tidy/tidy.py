#!/usr/bin/env python3
"""The layer check and a few rules of docs/house-style.md. Prints what breaks them; the last line counts."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BANNED = re.compile(r"(?<![\w.>])(sprintf|vsprintf|strcpy|strcat|atoi|atol|strtok|localtime|gmtime|alloca|setjmp|longjmp)\s*\(")
LINES_MAX = 1000
# Third-party headers: one file each; test headers and those of the language and system may stand anywhere.
ONE_FILE = ("xxhash.h", "zlib.h", "zstd.h", "unicode/", "pcre2.h", "microhttpd.h", "librdkafka/", "protobuf-c")
# More than one, and why: ICU's headers are one per subject; gzip is read by sources and written by sinks.
USERS = {"unicode/": 8, "zlib.h": 2}


def layers():
    out = {}
    for line in (ROOT / "tools/layers.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            folder, _, below = line.partition(":")
            out[folder.strip()] = set(below.split())
    return out


def check_layers(files, allowed):
    bad = []
    for path, text in files.items():
        folder = path.parts[1]
        if path.name.endswith("_test.c"):
            continue
        for include in re.findall(r'^#include "([^"]+)"', text, re.M):
            target = include.split("/")[0]
            if "/" not in include or target == folder:
                continue
            if target not in allowed.get(folder, set()):
                bad.append(f"{path}: includes {include}, but {folder} may not include {target}")
    return bad


def check_names(files):
    seen, bad = {}, []
    for path in files:
        if path.name in seen:
            bad.append(f"{path}: the name is taken by {seen[path.name]}")
        seen[path.name] = path
    return bad


def check_text(files):
    bad, users = [], {}
    for path, text in files.items():
        if len(text.splitlines()) > LINES_MAX:
            bad.append(f"{path}: more than {LINES_MAX} lines")
        if not path.name.endswith("_test.c"):
            for m in BANNED.finditer(text):
                bad.append(f"{path}: uses {m.group(1)}")
        if path.name.endswith("_test.c"):
            continue
        for include in re.findall(r"^#include <([^>]+)>", text, re.M):
            for header in ONE_FILE:
                if include.startswith(header):
                    users.setdefault(header, set()).add(path)
    for header, paths in users.items():
        if len(paths) > USERS.get(header, 1):
            bad.append(f"<{header}> is included by {', '.join(sorted(str(p) for p in paths))}")
    return bad


def check_listed(files):
    bad = []
    for path in files:
        if path.suffix == ".c":
            listed = (ROOT / path.parent / "meson.build").read_text()
            if f"'{path.name}'" not in listed and f"'{path.stem}'" not in listed:
                bad.append(f"{path}: not in its meson.build")
    return bad


def main():
    files = {p.relative_to(ROOT): p.read_text() for p in sorted((ROOT / "src").glob("*/*.[ch]"))}
    allowed = layers()
    checks = [check_layers(files, allowed), check_names(files), check_text(files), check_listed(files)]
    # The canaries: each check must be able to fail.
    canary = pathlib.Path("src/base/canary.c")
    broken = {canary: '#include "engine/session.h"\nvoid f(void) { atoi("1"); }\n', pathlib.Path("src/os/canary.c"): ""}
    canaries = [check_layers(broken, allowed), check_names(broken), check_text(broken), check_listed(broken)]
    for i, bad in enumerate(canaries):
        if not bad:
            checks.append([f"tidy itself is broken: check {i} found nothing wrong with the canary"])
    failed = sum(1 for c in checks if c)
    for bad in checks:
        for line in bad:
            print(line)
    print(f"{len(checks) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
