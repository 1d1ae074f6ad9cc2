#!/usr/bin/env bash
# Exactly once: the demo's job, into JSON files, is killed at random moments and started again until it is through. Its rows and
# its late rows must be those of a run that nobody disturbed. FLOODMARK_KILLS: how many jobs (default 25).
set -uo pipefail
program=$(readlink -f "$FLOODMARK_BUILD/floodmark")
kills=${FLOODMARK_KILLS:-25}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
seed=${FLOODMARK_SEED:-$RANDOM}
RANDOM=$seed
echo "seed $seed"

cat >"$dir/job.sql" <<'EOF'
CREATE TABLE readings (device STRING, at TIMESTAMP, kwh DOUBLE)
USING json OPTIONS (path '${in}', maxFilesPerTrigger '1');
CREATE STREAMING TABLE energy USING json
OPTIONS (path '${out}/rows', outputMode 'append', checkpointLocation '${out}/checkpoint')
AS SELECT /*+ LATE_ROWS('json', '${out}/late') */ window.start AS s, device, sum(kwh) AS kwh, count(*) AS n
   FROM STREAM readings WATERMARK at DELAY OF INTERVAL 10 MINUTES GROUP BY window(at, '5 minutes'), device;
EOF

job() { "$program" run "$dir/job.sql" -c in=examples/demo/in -c "out=$1" -c spark.sql.session.timeZone=UTC --available-now --progress none; }
rows() {
    "$program" sql "SELECT s, device, kwh, n FROM read_files('$1/rows', format => 'json', schema => 's STRING, device STRING, kwh STRING, n INT')" --format json | sort
    "$program" sql "SELECT device, at, kwh FROM read_files('$1/late', format => 'json', schema => 'device STRING, at STRING, kwh STRING')" --format json | sort
}

passed=0 failed=0
job "$dir/calm" || { echo "the undisturbed run failed"; failed=1; }
rows "$dir/calm" >"$dir/expected"
[ "$(wc -l <"$dir/expected")" -gt 20 ] || { echo "the undisturbed run gave too few rows"; failed=1; }
for i in $(seq "$kills"); do
    out="$dir/run$i"
    for _ in 1 2 3 4; do timeout -s KILL "0.0$((RANDOM % 90 + 10))" "$program" run "$dir/job.sql" -c in=examples/demo/in -c "out=$out" -c spark.sql.session.timeZone=UTC --available-now --progress none >/dev/null 2>&1; sleep 0.05; done
    if job "$out" && rows "$out" >"$dir/got" && cmp -s "$dir/expected" "$dir/got"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "run $i: the rows differ"
        diff "$dir/expected" "$dir/got" | head -n 5
    fi
    rm -rf "$out"
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
