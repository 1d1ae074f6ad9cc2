#!/usr/bin/env bash
# BAD_ROWS over files: see tests/bad_rows.
exec python3 "$(dirname "$0")/../bad_rows/run.py" "$(readlink -f "$FLOODMARK_BUILD/floodmark")"
