#!/usr/bin/env bash
# Unit tests: one executable per *_test.c.
set -uo pipefail
passed=0 failed=0
for t in "$FLOODMARK_BUILD"/*_test "$FLOODMARK_BUILD"/tests/*/*_test; do
    if out=$("$t" 2>&1); then
        passed=$((passed + $(grep -c '^\[       OK' <<<"$out")))
    else
        echo "$out"
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
