#!/usr/bin/env bash
# The seeds of the fuzzers through their targets: see tests/fuzz. './run fuzz' looks for more.
set -uo pipefail
passed=0 failed=0
for t in "$FLOODMARK_BUILD"/tests/fuzz/fuzz_*_seeds; do
    target=$(basename "$t" _seeds)
    if out=$("$t" "tests/fuzz/seeds/$target" 2>&1); then
        passed=$((passed + 1))
    else
        echo "$target: $out"
        failed=$((failed + 1))
    fi
done
# The canary: the same harness must see a fault.
printf 'bug!' >"$FLOODMARK_BUILD/canary"
if { "$FLOODMARK_BUILD/tests/fuzz/fuzz_canary_seeds" "$FLOODMARK_BUILD/canary"; } >/dev/null 2>&1; then
    echo "the fault of the canary went unnoticed"
    failed=$((failed + 1))
else
    passed=$((passed + 1))
fi
rm -f "$FLOODMARK_BUILD/canary"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
