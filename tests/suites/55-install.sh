#!/usr/bin/env bash
# Installs the build into a folder of its own, builds the example of the C API against that with pkg-config alone, and runs it.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
build=${FLOODMARK_BUILD:-build}
if [ -n "${FLOODMARK_SANITIZED:-}" ]; then
    echo "skipped: a program that is not sanitized cannot load a library that is"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed() { cat "$dir/log" 2>/dev/null; echo "$1"; echo "0 passed, 1 failed, 0 skipped"; exit 1; }

DESTDIR=$dir/root meson install -C "$build" --no-rebuild >"$dir/log" 2>&1 || failed "meson install failed"
pc=$(find "$dir/root" -name floodmark.pc)
[ -n "$pc" ] || failed "floodmark.pc is not installed"
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR=$dir/root
PKG_CONFIG_PATH=$(dirname "$pc")
flags=$(pkg-config --cflags --libs floodmark 2>"$dir/log") || failed "pkg-config does not find floodmark"
# shellcheck disable=SC2086 # flags are words
"${CC:-cc}" -std=c11 -Wall -Wextra -Werror examples/capi/meter.c $flags -o "$dir/meter" >"$dir/log" 2>&1 || failed "the example does not build: $flags"
lib=$(dirname "$(find "$dir/root" -name 'libfloodmark.so*' | head -n 1)")
LD_LIBRARY_PATH=$lib timeout 60 "$dir/meter" >"$dir/out" 2>"$dir/log" || failed "the example fails"
"$(find "$dir/root" -name floodmark -path '*/bin/*')" sql "SELECT 1" >"$dir/log" 2>&1 || failed "the installed program does not run"
{
    echo "usage: micro-batch 0, 120 rows in"
    echo "usage: micro-batch 1, 0 rows in"
    # Every window but the last three, which the watermark (10:39 less 10 minutes) has not passed: 10:00 to 10:25.
    for start in 1767261600 1767261900 1767262200 1767262500 1767262800; do
        printf '%s %s 5\n' "$start" "boiler 1.25" "$start" "fridge 2.50" "$start" "pump 3.75"
    done
} >"$dir/wanted"
diff "$dir/wanted" "$dir/out" || failed "the example gave other rows"
# The library shows its API and nothing of its inside.
others=$(nm -D --defined-only "$lib/libfloodmark.so" | awk '$2 != "A" {print $3}' | sed 's/@.*//' | grep -v '^floodmark_' | head -n 5)
[ -z "$others" ] || failed "libfloodmark.so shows: $others"
echo "1 passed, 0 failed, 0 skipped"
