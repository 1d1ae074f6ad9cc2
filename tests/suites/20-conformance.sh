#!/usr/bin/env bash
# The recorded cases: as they are, with 2 and 4 workers, and with a restart between any two steps.
set -uo pipefail
# Each case syncs a checkpoint of its own: in memory that takes a tenth of the time, and what a power cut does is not its subject.
if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ]; then export TMPDIR=/dev/shm; fi
cases=tests/conformance/cases
passed=0 failed=0 skipped=0
for how in "" "--workers 2" "--workers 4" "--restarts"; do
    echo "-- runner $how"
    # shellcheck disable=SC2086
    out=$("$FLOODMARK_BUILD"/conformance_runner $how --known tests/conformance/known_failures.txt $cases 2>&1)
    if [ -z "$how" ]; then echo "$out"; else grep -E '^FAILED|^        got|passed,' <<<"$out"; fi
    read -r p f s <<<"$(tail -n 1 <<<"$out" | sed -E 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/')"
    case "${p:-}" in '' | *[!0-9]*) echo "the runner gave no summary"; p=0 f=1 s=0 ;; esac
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
