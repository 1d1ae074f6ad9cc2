#!/usr/bin/env bash
# Parquet with others: what pyarrow writes we read equal, what we write pyarrow and DuckDB read equal. They come from PyPI.
set -uo pipefail
if ! python=$(bash tests/venv.sh); then
    echo "skipped: the packages of tests/requirements.txt cannot be installed here: nothing to compare with"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
exec "$python" tests/parquet/run.py "$(readlink -f "$FLOODMARK_BUILD")/floodmark"
