#!/usr/bin/env bash
# Golden scripts: what queries give, written down (tests/golden/README.md).
exec tests/golden/run
