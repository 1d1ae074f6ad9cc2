#!/usr/bin/env bash
# Delta tables beside delta-rs and DuckDB: what floodmark writes they read, what they write floodmark reads; two writers at once; a
# job into a table killed at random moments. FLOODMARK_KILLS: how often (default 25); FLOODMARK_COMMITS: of the race (default 60).
set -uo pipefail
if ! python=$(bash tests/venv.sh); then
    echo "skipped: the packages of tests/requirements.txt cannot be installed here: nothing to compare with"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$python" tests/delta/run.py "$(readlink -f "$FLOODMARK_BUILD/floodmark")" "$dir"
