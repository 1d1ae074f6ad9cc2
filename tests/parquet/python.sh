#!/usr/bin/env bash
# Prints the path of a Python that has pyarrow and DuckDB: an environment in the cache folder, made when it is missing or old.
set -euo pipefail
env=${XDG_CACHE_HOME:-$HOME/.cache}/floodmark/venv-parquet
wanted=$(dirname "${BASH_SOURCE[0]}")/requirements.txt
if ! cmp -s "$wanted" "$env/requirements.txt"; then
    rm -rf "$env"
    python3 -m venv "$env" >&2
    "$env/bin/python" -m pip install -q -r "$wanted" >&2
    cp "$wanted" "$env/requirements.txt"
fi
echo "$env/bin/python"
