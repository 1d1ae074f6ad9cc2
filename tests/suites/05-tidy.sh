#!/usr/bin/env bash
# The shape of the tree: layers, names, what is not used here.
set -uo pipefail
exec python3 tests/tidy/tidy.py
