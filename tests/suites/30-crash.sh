#!/usr/bin/env bash
# Exactly once, with real processes: jobs are killed at random moments and started again until they are through. Their rows, late
# rows and bad rows must be those of a run that nobody disturbed. FLOODMARK_KILLS: how many times each job is killed (default 24);
# FLOODMARK_SEED: the moments. tests/sim stops jobs at every operation instead, on a simulated file system.
set -uo pipefail
program=$(readlink -f "$FLOODMARK_BUILD/floodmark")
kills=${FLOODMARK_KILLS:-24}
kills_per_run=4
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
seed=${FLOODMARK_SEED:-$RANDOM}
RANDOM=$seed
echo "seed $seed"

readings="CREATE TABLE readings (device STRING, at TIMESTAMP, kwh DOUBLE)
USING json OPTIONS (path '\${out}/in', maxFilesPerTrigger '1');"
from="FROM STREAM readings WATERMARK at DELAY OF INTERVAL 10 MINUTES"

# The demo's job.
cat >"$dir/tumbling.sql" <<SQL
$readings
CREATE STREAMING TABLE energy USING json
OPTIONS (path '\${out}/rows', outputMode 'append', checkpointLocation '\${out}/checkpoint')
AS SELECT /*+ LATE_ROWS('json', '\${out}/late'), BAD_ROWS('json', '\${out}/bad') */ window.start AS s, device, sum(kwh) AS kwh, count(*) AS n
   $from GROUP BY window(at, '5 minutes'), device;
SQL
# Windows that overlap, two workers, files packed and in folders by device.
cat >"$dir/sliding.sql" <<SQL
SET floodmark.workers = 2;
$readings
CREATE STREAMING TABLE energy USING csv PARTITIONED BY (device)
OPTIONS (path '\${out}/rows', outputMode 'append', checkpointLocation '\${out}/checkpoint', compression 'gzip')
AS SELECT /*+ LATE_ROWS('json', '\${out}/late'), BAD_ROWS('json', '\${out}/bad') */ device, window.start AS s, round(sum(kwh), 6) AS kwh, count(*) AS n
   $from GROUP BY window(at, '6 minutes', '1 minute'), device;
SQL
# Complete mode: the console shows all of the state after each batch; the last file comes when nobody disturbs any more.
cat >"$dir/complete.sql" <<SQL
SET floodmark.workers = 2;
$readings
CREATE STREAMING TABLE energy USING console
OPTIONS (outputMode 'complete', checkpointLocation '\${out}/checkpoint', truncate 'false', numRows '1000')
AS SELECT window.start AS s, device, round(sum(kwh), 6) AS kwh, count(*) AS n, sort_array(collect_list(kwh)) AS all
   FROM STREAM readings GROUP BY window(at, '5 minutes'), device ORDER BY s, device;
SQL

prepare() { # OUT: the input, but for the last file
    mkdir -p "$1/in"
    cp -p examples/demo/in/*.json "$1/in/"
    local f
    for f in "$1"/in/*.json; do printf '{"device":"%s","kwh":[]}\nno reading\n' "$(basename "$f")" >>"$f"; done
    mv "$1/in/08.json" "$1/last"
}
job() { "$program" run "$dir/$shape.sql" -c "out=$1" -c spark.sql.session.timeZone=UTC --available-now --progress none; }
# FILES OUT: what came out, sorted; of a late row all but the number of its micro-batch.
rows() {
    case $shape in
    tumbling) "$program" sql "SELECT s, device, kwh, n FROM read_files('$1/rows', format => 'json', schema => 's STRING, device STRING, kwh STRING, n INT')" --format json | sort ;;
    sliding) "$program" sql "SELECT s, device, kwh, n FROM read_files('$1/rows', format => 'csv', schema => 's STRING, kwh STRING, n INT, device STRING')" --format json | sort ;;
    complete) sed -n '/^Batch: /h; /^Batch: /!H; ${x;p}' "$1/console" | grep '^|' ;;
    esac
    [ "$shape" = complete ] ||
        "$program" sql "SELECT line, text, reason FROM read_files('$1/bad', format => 'json', schema => 'line INT, text STRING, reason STRING')" --format json | sort
    [ "$shape" = complete ] ||
        "$program" sql "SELECT device, at, kwh, late.watermark, late.lateness FROM read_files('$1/late', format => 'json', schema => 'device STRING, at STRING, kwh STRING, late STRUCT<watermark STRING, lateness STRING>')" --format json | sort
}
finish() { job "$1" >"$1/console" && mv "$1/last" "$1/in/08.json" && job "$1" >"$1/console" && rows "$1"; }

passed=0 failed=0
for shape in tumbling sliding complete; do
    prepare "$dir/calm"
    finish "$dir/calm" >"$dir/expected" || { echo "$shape: the undisturbed run failed"; failed=$((failed + 1)); }
    rm -rf "$dir/calm"
    [ "$(wc -l <"$dir/expected")" -gt 20 ] || { echo "$shape: the undisturbed run gave too few rows"; failed=$((failed + 1)); }
    killed=0 attempts=0
    while [ "$killed" -lt "$kills" ]; do
        out="$dir/run"
        prepare "$out"
        for _ in $(seq $kills_per_run); do
            "$program" run "$dir/$shape.sql" -c "out=$out" -c spark.sql.session.timeZone=UTC --available-now --progress none >/dev/null 2>&1 &
            sleep "0.0$((RANDOM % 85 + 10))"
            kill -9 $! 2>/dev/null
            wait $! 2>/dev/null # until it is dead indeed: its lock is free
            [ $? -ne 137 ] || killed=$((killed + 1))
        done
        if finish "$out" >"$dir/got" 2>"$dir/err" && cmp -s "$dir/expected" "$dir/got"; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "$shape: killed $killed times: the rows differ"
            cat "$dir/err"
            diff "$dir/expected" "$dir/got" | head -n 5
            killed=$((killed + 1)) # or a job that is never slow enough to be killed would go on for ever
        fi
        rm -rf "$out"
        attempts=$((attempts + 1))
        [ "$attempts" -lt $((kills * 6 + 30)) ] || { echo "$shape: killed only $killed times"; break; }
    done
    echo "$shape: killed $killed times"
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
