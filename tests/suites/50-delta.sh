#!/usr/bin/env bash
# Delta tables beside delta-rs and DuckDB: what floodmark writes they read, what they write floodmark reads; two writers at once; a
# job into a table killed at random moments. FLOODMARK_KILLS: how often (default 25); FLOODMARK_COMMITS: of the race (default 60).
set -uo pipefail
python=$(bash tests/venv.sh) || { echo "no Python with tests/requirements.txt"; echo "0 passed, 1 failed, 0 skipped"; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$python" tests/delta/run.py "$(readlink -f "$FLOODMARK_BUILD/floodmark")" "$dir"
