#!/usr/bin/env python3
"""Checks the rules of docs/house-style.md that a machine can check.

Each rule looks at a tree, a dict from path to text, and gives a list of what breaks it. Each comes with a canary: a small
tree that breaks it. A rule that finds nothing wrong with its canary has gone blind, and that is a failure as well.
Prints what is wrong; the last line counts rules and canaries.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINES_MAX = 1000

BANNED = re.compile(
    r"(?<![\w.>])(sprintf|vsprintf|strcpy|strcat|gets|atoi|atol|atof|strtok|localtime|gmtime|ctime|asctime|alloca|setjmp"
    r"|longjmp|rand|srand|system|popen|tmpnam)\s*\(")

# Headers of the language, the compiler and the system. Any other <header> is a third party's.
LANGUAGE = set("""assert.h ctype.h errno.h float.h inttypes.h limits.h locale.h math.h setjmp.h signal.h stdalign.h stdarg.h
    stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h stdnoreturn.h string.h strings.h time.h uchar.h wchar.h
    immintrin.h arm_neon.h cpuid.h""".split())
SYSTEM = re.compile(r"(sys|linux|netinet|arpa|net)/.*|(dirent|fcntl|netdb|poll|pthread|sched|termios|unistd|getopt|glob|fnmatch)\.h")
# Third-party headers that more than one file includes, and why.
SHARED = {
    "zlib.h": "source/ inflates while it reads, sink/ deflates while it writes; neither may see the other; format/ packs pages",
    "zstd.h": "as zlib.h",
    "sanitizer/asan_interface.h": "each allocator poisons its own memory",
}
# Headers that reach clocks, files, threads and sockets: for os/ only, as everything else runs under simulation.
OS_ONLY = re.compile(r"time\.h|pthread\.h|unistd\.h|fcntl\.h|dirent\.h|poll\.h|sched\.h|netdb\.h|glob\.h|signal\.h|sys/.*|linux/.*"
                     r"|netinet/.*|arpa/.*|net/.*")
OS_ONLY_CALLS = re.compile(r"(?<![\w.>])(fopen|freopen|fdopen|remove|rename|mkdir|unlink|time|clock|nanosleep|usleep|sleep)\s*\(")
# file or folder: reason.
OS_EXCEPTIONS = {
    "src/cli/": "the program: terminal and signals of its process",
}


def strip(text):
    """The code without comments and string literals."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)


def is_test(path):
    return re.search(r"(_test|_fixture|^test_\w+)\.[ch]$", path.rsplit("/", 1)[1]) is not None


def sources(tree, suffixes=(".c", ".h", ".re", ".y")):
    return [(p, t) for p, t in tree.items() if p.startswith("src/") and p.endswith(suffixes)]


def folder_of(path):
    return path.split("/")[1]


def read_layers(tree):
    """{folder: all folders below it}, {folder: its visible headers or None}, [problems]"""
    direct, visible, bad = {}, {}, []
    for line in tree["tools/layers.txt"].splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        edges, bar, headers = line.partition("|")
        folder, _, below = edges.partition(":")
        for name in below.split():
            if name not in direct:
                bad.append(f"tools/layers.txt: {folder} -> {name}, which does not stand above that line")
        direct[folder] = below.split()
        visible[folder] = set(headers.split()) if bar else None
    reach = {}
    for folder, below in direct.items():  # in order: what is below came first
        reach[folder] = set(below).union(*(reach.get(name, set()) for name in below))
    return reach, visible, bad


def layers(tree):
    reach, visible, bad = read_layers(tree)
    for path, text in sources(tree):
        folder = folder_of(path)
        if is_test(path):
            continue
        if folder not in reach:
            bad.append(f"{path}: the folder {folder} has no line in tools/layers.txt")
            continue
        for include in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.M):
            target, slash, name = include.partition("/")
            if not slash or target == folder:
                continue
            if target not in reach[folder]:
                bad.append(f"{path}: includes {include}, but {folder} may not include {target}")
            elif visible[target] is not None and name not in visible[target]:
                bad.append(f"{path}: includes {include}, which is not among the contracts of {target}")
    return bad


def folders_are_described(tree):
    reach, _, _ = read_layers(tree)
    style = tree["docs/house-style.md"]
    there = {folder_of(p) for p, _ in sources(tree)}
    return ([f"src/{f}: not in the tree of docs/house-style.md" for f in sorted(there) if f"src/{f} " not in style] +
            [f"tools/layers.txt: there is no folder {f}" for f in reach if f not in there])


def names_are_unique(tree):
    seen, bad = {}, []
    for path in tree:
        name = path.rsplit("/", 1)[1]
        if not path.endswith((".c", ".h", ".re", ".y")):
            continue
        if name in seen:
            bad.append(f"{path}: the name is taken by {seen[name]}")
        seen[name] = path
    return bad


def files_are_short(tree):
    return [f"{p}: {t.count(chr(10))} lines, more than {LINES_MAX}: look for the seam" for p, t in tree.items()
            if p.endswith((".c", ".h", ".re", ".y", ".py")) and t.count("\n") > LINES_MAX]


def files_begin_with_their_purpose(tree):
    bad = []
    for path, text in sources(tree):
        if not text.lstrip("%{ \n").startswith("/* " + path[len("src/"):]):
            bad.append(f"{path}: does not begin with '/* {path[len('src/'):]}: what it is for'")
    return bad


def headers_are_guarded(tree):
    bad = []
    for path, text in sources(tree, (".h",)):
        guard = "FM_" + re.sub(r"\W", "_", path[len("src/"):]).upper()
        if f"#ifndef {guard}\n#define {guard}\n" not in text:
            bad.append(f"{path}: the include guard is not {guard}")
    return bad


def third_parties_stay_in_one_file(tree):
    users = {}
    for path, text in sources(tree):
        if is_test(path):
            continue
        for include in re.findall(r"^\s*#\s*include\s+<([^>]+)>", text, re.M):
            own = include == "floodmark.h" or include in LANGUAGE or SYSTEM.fullmatch(include)
            if not own and include not in SHARED:
                users.setdefault(include, set()).add(path)
    return [f"<{include}> is included by {', '.join(sorted(paths))}: one file should"
            for include, paths in users.items() if len(paths) > 1]


def system_calls_stay_in_os(tree):
    bad = []
    for path, text in sources(tree):
        if is_test(path) or folder_of(path) == "os" or any(path.startswith(e) for e in OS_EXCEPTIONS):
            continue
        for include in re.findall(r"^\s*#\s*include\s+<([^>]+)>", text, re.M):
            if OS_ONLY.fullmatch(include):
                bad.append(f"{path}: includes <{include}>, which is for os/ only")
        bad += [f"{path}: calls {m.group(1)}(), which is for os/ only" for m in OS_ONLY_CALLS.finditer(strip(text))]
    return bad


def banned_functions(tree):
    return [f"{path}: calls {m.group(1)}()" for path, text in tree.items() if path.endswith((".c", ".h", ".re", ".y"))
            for m in BANNED.finditer(strip(text))]


def everything_is_built(tree):
    bad = []
    for path, _ in sources(tree, (".c", ".re", ".y")):
        folder, name = path.rsplit("/", 1)
        build, stem = tree.get(folder + "/meson.build", ""), name.rsplit(".", 1)[0]
        if f"'{name}'" not in build and f"'{stem}'" not in build:
            bad.append(f"{path}: not in {folder}/meson.build")
    return bad


def read_tree():
    tree = {}
    for pattern in ("src/**/*", "include/*", "tests/**/*.[ch]", "tests/**/*.py", "bench/**/*.[ch]", "bench/**/*.py",
                    "examples/**/*.[ch]", "tools/*", "docs/*.md"):
        for path in sorted(ROOT.glob(pattern)):
            if path.is_file() and path.suffix in (".c", ".h", ".re", ".y", ".py", ".txt", ".md", ".build"):
                tree[path.relative_to(ROOT).as_posix()] = path.read_text(encoding="utf-8")
    return tree


def with_layers(files):
    return {"tools/layers.txt": "base:\nos: base | fs.h\nexpr: os\n", "docs/house-style.md": "src/base  \nsrc/os  \n", **files}


# Each rule with trees that break it; every one of them must be found out.
RULES = [
    (layers, [with_layers({"src/base/a.c": '#include "os/fs.h"\n'}), with_layers({"src/expr/a.c": '#include "os/inner.h"\n'}),
              with_layers({"src/new/a.c": ""}), {"tools/layers.txt": "base: os\nos: base\n"}]),
    (folders_are_described, [with_layers({"src/expr/a.c": "", "src/os/b.c": "", "src/base/c.c": ""}), with_layers({})]),
    (names_are_unique, [{"src/os/a.c": "", "src/base/a.c": ""}]),
    (files_are_short, [{"src/os/a.c": "\n" * 1001}]),
    (files_begin_with_their_purpose, [{"src/os/a.c": "/* base/a.c: moved here */\n"}]),
    (headers_are_guarded, [{"src/os/a.h": "#ifndef FM_A_H\n#define FM_A_H\n#endif\n"}]),
    (third_parties_stay_in_one_file, [{f"src/os/{n}.c": "#include <xxhash.h>\n" for n in "ab"}]),
    (system_calls_stay_in_os, [{"src/expr/a.c": "#include <pthread.h>\n"}, {"src/expr/a.c": "f = fopen(name, mode);"}]),
    (banned_functions, [{"src/os/a.c": "int x = atoi(text);"}, {"tests/a.c": "strcpy(a, b);"}]),
    (everything_is_built, [{"src/os/a.c": "", "src/os/meson.build": "files('b.c')"}]),
]


def main():
    tree, passed, failed = read_tree(), 0, 0
    for rule, canaries in RULES:
        findings = rule(tree)
        findings += [f"{rule.__name__}: finds nothing wrong with its canary {i}" for i, canary in enumerate(canaries)
                     if not rule(canary)]
        for line in findings:
            print(line)
        failed += len(findings)
        passed += 1 + len(canaries) - min(len(findings), 1 + len(canaries))
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
