#!/usr/bin/env bash
# Kafka in and out, against a real broker: started once, with its data in a folder of its own, stopped at the end. The pipelines come
# first: the cases take the broker down and up again.
set -uo pipefail
# librdkafka starts its threads by C11's thrd_create, which ThreadSanitizer does not know: it crashes.
if [ "$(basename "$FLOODMARK_BUILD")" = build-thread ]; then
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
dir=$(mktemp -d)
trap 'bash tests/servers/kafka.sh stop "$dir"; rm -rf "$dir"' EXIT
if ! bash tests/servers/kafka.sh fetch; then
    echo "skipped: Kafka cannot be fetched here, so there is nothing to test with"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
if ! bash tests/servers/kafka.sh start "$dir"; then
    echo "there is no broker to test with"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi
echo "broker $(cat "$dir/broker")"
build=$(readlink -f "$FLOODMARK_BUILD")
"$(bash tests/venv.sh)" tests/pipelines/run_pipelines.py --broker "$(cat "$dir/broker")" --floodmark "$build/floodmark" --jobs examples/pipelines \
    --settle 2 >"$dir/pipelines" 2>&1
grep -v 'no job$' "$dir/pipelines"
python3 tests/kafka/run.py "$dir" "$build" | tee "$dir/cases"
# Both ended with "N passed, N failed": added up.
read -r p1 f1 s1 < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' "$dir/cases" | tail -n 1) || { p1=0 f1=1 s1=0; }
read -r p2 f2 < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed.*$/\1 \2/p' "$dir/pipelines" | tail -n 1) || { p2=0 f2=1; }
echo "$((p1 + p2)) passed, $((f1 + f2)) failed, $s1 skipped"
[ "$((f1 + f2))" -eq 0 ]
