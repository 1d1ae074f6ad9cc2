#!/usr/bin/env bash
# Kafka in and out, against a real broker: started once, with its data in a folder of its own, stopped at the end.
set -uo pipefail
dir=$(mktemp -d)
trap 'bash tests/servers/kafka.sh stop "$dir"; rm -rf "$dir"' EXIT
if ! bash tests/servers/kafka.sh start "$dir"; then
    echo "there is no broker to test with"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi
echo "broker $(cat "$dir/broker")"
python3 tests/kafka/run.py "$dir" "$(readlink -f "$FLOODMARK_BUILD")"
