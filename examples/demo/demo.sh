#!/usr/bin/env bash
# The demo: the main job on bundled events, told micro-batch by micro-batch. Usage: demo.sh PROGRAM
set -euo pipefail
program=$(readlink -f "$1")
cd "$(dirname "${BASH_SOURCE[0]}")"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cat <<'EOF'

Meters of three devices send how much energy they used. The events arrive out of order, a few very late, one line is
broken. The job adds them up per device, in windows of five minutes, and waits ten minutes for latecomers:

EOF
sed -n '/^CREATE/,$p' energy.sql | sed 's/^/    /'
cat <<'EOF'

Watch the watermark: the latest event time seen, minus ten minutes. A window opens with its first event; when the
watermark passes its end it is closed, its sums are printed, once, and what comes later for it is late.

EOF
"$program" run energy.sql -c in=in -c "out=$out" -c spark.sql.session.timeZone=UTC --available-now --story
cat <<'EOF'
The late row was kept by the hint LATE_ROWS; BAD_ROWS('json', 'bad/') beside it would keep the broken line, with the reason, file and line.

That is all there is to a watermark. The windows that are still open wait for events that move it on: run the job without
--available-now and it goes on as files arrive, from where its checkpoint says. 'floodmark --help' says more.
EOF
