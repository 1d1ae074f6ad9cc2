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
python=$(bash tests/venv.sh)
passed=0 failed=0 skipped=0

# add_up LOG: the last line "N passed, N failed[, N skipped]" of a part, added to the sums; a part without one has failed.
add_up() {
    local p f s
    read -r p f s < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped.*)?.*$/\1 \2 \4/p' "$1" | tail -n 1) || { p=0 f=1; }
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + ${s:-0}))
}

"$python" tests/pipelines/run_pipelines.py --broker "$(cat "$dir/broker")" --floodmark "$build/floodmark" --jobs examples/pipelines \
    --settle 2 >"$dir/pipelines" 2>&1
grep -v 'no job$' "$dir/pipelines"
add_up "$dir/pipelines"
"$python" tests/kafka/kills.py "$dir" "$build" --kills "${FLOODMARK_KILLS:-3}" | tee "$dir/kills"
add_up "$dir/kills"
python3 tests/kafka/run.py "$dir" "$build" | tee "$dir/cases"
add_up "$dir/cases"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
