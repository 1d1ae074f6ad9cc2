#!/usr/bin/env bash
# Parquet with others: what pyarrow writes we read equal, what we write pyarrow and DuckDB read equal. They come from PyPI.
set -uo pipefail
if ! python=$(bash tests/parquet/python.sh); then
    echo "pyarrow and DuckDB cannot be installed: nothing to compare with"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
exec "$python" tests/parquet/run.py "$(readlink -f "$FLOODMARK_BUILD")/floodmark"
