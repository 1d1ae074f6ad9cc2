#!/usr/bin/env bash
# Prints the Python that has the packages of tests/requirements.txt. It is made once, in the cache folder, and made anew when the
# requirements change. FLOODMARK_PYTHON: a Python that has them already.
set -euo pipefail
if [ -n "${FLOODMARK_PYTHON:-}" ]; then
    echo "$FLOODMARK_PYTHON"
    exit
fi
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=${XDG_CACHE_HOME:-$HOME/.cache}/floodmark/venv
mkdir -p "$(dirname "$venv")"
exec 9>"$venv.lock"
flock 9
if ! cmp -s "$root/tests/requirements.txt" "$venv/requirements.txt"; then
    python3 -m venv --clear "$venv" >&2
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$root/tests/requirements.txt" >&2
    cp "$root/tests/requirements.txt" "$venv/requirements.txt"
fi
echo "$venv/bin/python"
