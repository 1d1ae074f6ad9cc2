#!/usr/bin/env bash
# Files that real Spark has read, read again.
exec python3 "$(dirname "$0")/../formats/run"
