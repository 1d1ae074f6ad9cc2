#!/usr/bin/env bash
# The program floodmark as a person in a shell meets it: what it prints, what it says of mistakes, its exit codes.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
case "${FLOODMARK_BUILD:-build}" in /*) program=$FLOODMARK_BUILD/floodmark ;; *) program=$PWD/${FLOODMARK_BUILD:-build}/floodmark ;; esac
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp -r examples/demo/in "$dir/in"
cp examples/demo/energy.sql "$dir/energy.sql"
cp docs/jobs.md "$dir/jobs.md"
cd "$dir" || exit 1
export FLOODMARK="$program"
passed=0 failed=0

# says CODE PATTERN WORD...: the command ends with CODE, and what it prints, errors too, has the extended regular expression.
says() {
    local code=$1 pattern=$2 status=0
    shift 2
    timeout 60 "$@" >said 2>&1 </dev/null || status=$?
    if [ "$status" -eq "$code" ] && grep -qE -- "$pattern" <<<"$(tr '\n' '~' <said)"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $* gives $status, wanted $code and /$pattern/:"
        head -n 20 said
    fi
}

# The command line.
says 2 'usage: floodmark run' "$program"
says 0 'A job, in full' "$program" --help
says 0 'Exit code: 0 ended' "$program" help run
says 2 'there is no command nope\. There are run, sql' "$program" nope
says 2 'there is no command nope' "$program" help nope
says 2 'To run a file: floodmark run job\.sql' "$program" job.sql
says 2 'run wants one file of SQL' "$program" run
says 2 'run wants one file of SQL' "$program" run a.sql b.sql
says 2 'sql wants one text of SQL, in quotes' "$program" sql SELECT 1
says 2 'checkpointLocation' "$program" checkpoint
says 2 'no option --availablenow\. Did you mean --available-now' "$program" run --availablenow a.sql
says 2 'no option --stories' "$program" run --stories a.sql
says 2 'a value is missing after --progress' "$program" run a.sql --progress
says 2 'a value is missing after -c' "$program" run a.sql -c
says 2 '-c wants key=value, not zone' "$program" run a.sql -c zone
says 1 "cannot open 'nofile\.sql': No such file" "$program" run nofile.sql
says 1 "^floodmark: cannot open 'nofile\.sql': No such file or directory~\$" "$program" explain nofile.sql
says 1 "cannot read '/tmp'|cannot open '/tmp'" "$program" run /tmp
says 1 "'/dev/zero' is longer than 64 MiB: no job is" "$program" run /dev/zero
says 2 'available-now and --once: choose one' "$program" run a.sql --available-now --once
says 0 '^\{"a":1\}~' "$program" sql "-- one
SELECT 1 AS a" --format json
says 1 "'/nope' is no checkpoint folder" "$program" checkpoint /nope

# Rows.
says 0 '^\+---\+~\|a  \|~\+---\+~\|1  \|~\+---\+~\+---\+~\|b  \|' "$program" sql "SELECT 1 AS a; SELECT 2 AS b"
says 0 '^\{"a":1\}~\{"b":2\}~$' "$program" sql "SELECT 1 AS a; SELECT 2 AS b" --format json
says 0 '^a~1~$' "$program" sql "SELECT 1 AS a" --format csv
says 0 '^\{"n":118\}~$' "$program" sql "CREATE TABLE r (device STRING, at TIMESTAMP) USING json OPTIONS (path 'in'); SELECT count(*) AS n FROM r" --format=json
says 0 '^\{"a":"x"\}~$' "$program" sql "SELECT '\${word}' AS a" --format json -c word=x
says 0 '^== Physical Plan ==~Project \[1\]' "$program" sql "EXPLAIN SELECT 1"
says 1 'as table, csv or json, not as .xml.' "$program" sql "SELECT 1" --format xml

# EXPLAIN knows the variables of a job.
says 0 'StreamScan json \[[^]]*\] in~' "$program" explain energy.sql -c in=in -c out=out
says 1 'energy\.sql:[0-9]+:[0-9]+: \[FLOODMARK_UNKNOWN_VARIABLE\].*Give one with -c in=value' "$program" explain energy.sql

# A job, again, and its checkpoint.
says 0 'micro-batch 6~.*LATE +\{boiler, 2026-03-01 10:12:11, 7\.5\} is 12 min 38 s behind' "$program" run energy.sql -c in=in -c out=out -c spark.sql.session.timeZone=UTC --available-now --story
says 0 '^$' "$program" run energy.sql -c in=in -c out=out --available-now
# Why a micro-batch without rows ran.
mkdir told && echo '{"device":"a","at":"2026-03-01T10:00:00Z"}' >told/1.json && : >told/2.json && echo '{"device":"a","at":"2026-03-01T10:05:00Z"}' >told/3.json
touch -d '2026-01-01 00:00:01' told/1.json && touch -d '2026-01-01 00:00:02' told/2.json && touch -d '2026-01-01 00:00:03' told/3.json
cat >told.sql <<'SQL'
CREATE TABLE r (device STRING, at TIMESTAMP) USING json OPTIONS (path 'told', maxFilesPerTrigger '1');
SELECT window.start, count(*) FROM STREAM r WATERMARK at DELAY OF INTERVAL 1 MINUTE GROUP BY window(at, '1 minute');
SQL
says 0 'rows in +1, of 10:00:00~.*no rows +what came in is empty~.*rows in +1, of 10:05:00~.*no rows +nothing came in: the watermark had moved.*window closed +10:00:00' \
    "$program" run told.sql -c spark.sql.session.timeZone=UTC --available-now --story
says 0 'committed +micro-batch 8~.*watermark +2026-03-01T10:39:31\.000Z' "$program" checkpoint out/checkpoint

says 0 "to_json.*~.*explode|explode.*to_json|explode" "$program" sql "SHOW FUNCTIONS LIKE 'explode|to_json'"
says 0 "window\\(time, duration" "$program" sql "DESCRIBE FUNCTION window"
says 1 "Say what table t is made of: USING delta" "$program" sql "CREATE TABLE t (a INT)"

printf 'a,b\n1,x\n' >t.csv
says 0 '^\{"a":"1","b":"x"\}~$' "$program" sql "SELECT * FROM read_files('t.csv', header => 'true')" --format json
says 1 "has no option 'fromat'\. Did you mean 'format'" "$program" sql "SELECT * FROM read_files('t.csv', fromat => 'csv')"
says 1 "give read_files\(\) a schema => " "$program" sql "SELECT * FROM STREAM read_files('in/')"
says 1 "There is no data source 'orc'\. There are .*kafka.* and " "$program" sql "CREATE TABLE t (a INT) USING orc"
says 1 "There is no sink 'foreachbatch'\. There are console, .* and " "$program" sql "CREATE TABLE t (a INT) USING json LOCATION 'in'; CREATE STREAMING TABLE u USING foreachBatch AS SELECT * FROM STREAM t"
says 1 'PATH_NOT_FOUND. Path does not exist: file:.*/nope' "$program" sql 'SELECT * FROM json.`nope`'
says 1 'CREATE TABLE t \(\.\.\.\) USING json LOCATION .in.' "$program" sql 'INSERT INTO json.`in` VALUES (1)'
says 1 "Is a ';' missing in front of it" "$program" sql "CREATE TABLE t (a INT) USING json CREATE VIEW v AS SELECT 1"

# The job of docs/jobs.md, as it stands there.
mkdir orders products
printf '%s\n' '{"order_id": 1, "product": "a", "qty": 2, "price": 1.5, "at": "2026-03-01T10:00:00Z"}' '{"order_id": 2, "product": "b", "qty": "x", "at": "2026-03-01T10:00:01Z"}' >orders/1.json
sleep 0.02
printf '%s\n' '{"order_id": 3, "product": "b", "qty": 1, "price": 4, "at": "2026-03-01T11:00:00Z"}' >orders/2.json
sleep 0.02
printf '%s\n' '{"order_id": 4, "product": "b", "qty": 1, "price": 4, "at": "2026-03-01T11:00:00Z"}' >orders/3.json
sleep 0.02
printf '%s\n' '{"order_id": 5, "product": "a", "qty": 1, "price": 1, "at": "2026-03-01T10:01:00Z"}' >orders/4.json
printf 'product,name\na,Apple\n' >products/p.csv
awk '/^    CREATE TABLE orders/ { on = 1 } /^    floodmark run/ { exit } on { print substr($0, 5) }' jobs.md >revenue.sql
says 0 'BAD +1 record.*LATE +\{2026-03-01 10:01:00, Apple, 1\.0\} is 54 min 0 s behind' "$program" run revenue.sql -c spark.sql.session.timeZone=UTC --available-now --story
says 0 '^\{"day":"2026-03-01","paid":3\.0\}~$' "$program" sql 'SELECT day, sum(paid) AS paid FROM parquet.`out/revenue` GROUP BY day' --format json
says 0 '^\{"bad":1,"late":1\}~$' "$program" sql 'SELECT (SELECT count(*) FROM json.`out/bad`) AS bad, (SELECT count(*) FROM json.`out/late`) AS late' --format json

says 1 "'ck' is no checkpoint folder: it has no file 'metadata'\. There are checkpoints in it: revenue\." "$program" checkpoint ck

# Late rows in a Delta table, which has no intervals.
sed "s/LATE_ROWS('json', 'out\/late'), BAD_ROWS('json', 'out\/bad')/LATE_ROWS('delta', 'lake\/late')/; s/out\//again\//; s/ck\//ck\/again/" revenue.sql >late.sql
says 0 'LATE +\{2026-03-01 10:01:00, Apple, 1\.0\} is 54 min 0 s behind' "$program" run late.sql -c spark.sql.session.timeZone=UTC --available-now --story
says 0 "^\{\"t\":\"INTERVAL '0 00:54:00' DAY TO SECOND\",\"same\":true\}~\$" "$program" sql 'SELECT late.lateness AS t, CAST(late.lateness AS INTERVAL DAY TO SECOND) = INTERVAL 54 MINUTES AS same FROM delta.`lake/late`' --format json

# What a Delta table says of itself.
says 0 'name +\|string +\|who .*~\|# Partition Information .*~\|Comment +\|what .*~\|Provider +\|delta .*\[a=1,b=2\]' \
    "$program" sql "CREATE TABLE d (id INT, name STRING COMMENT 'who') USING delta PARTITIONED BY (name) COMMENT 'what' TBLPROPERTIES (b = 2, a = 1); DESCRIBE EXTENDED d"
says 0 '\|default +\|d +\|false +\|delta' "$program" sql "SHOW TABLES"
sed "s/OPTIONS (path 'out\/revenue'/COMMENT 'paid' TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', k = 'v') OPTIONS (path 'lake\/fed'/; s/USING parquet/USING delta/; s/ck\//ck\/fed/; s/BAD_ROWS('json', 'out\/bad')/BAD_ROWS('drop')/; s/LATE_ROWS([^)]*), //" revenue.sql >fed.sql
says 0 '^$' "$program" run fed.sql --available-now
says 0 'Comment +\|paid .*\[delta\.enableChangeDataFeed=true,k=v\]' "$program" sql 'DESCRIBE EXTENDED delta.`lake/fed`'
says 0 '^\{"_change_type":"insert","n":1\}~$' "$program" sql "SELECT _change_type, count(*) AS n FROM table_changes_by_path('lake/fed', 0) GROUP BY 1" --format json
says 1 '`t` is not a Delta table: UPDATE, DELETE' "$program" sql "CREATE TABLE t (a INT) USING json LOCATION 'in'; OPTIMIZE t"
says 1 'of the type VOID. Give it a type: CAST\(b AS STRING\)' "$program" sql "SELECT NULL AS b" --format csv

# A hint that is nearly ours is told; Spark's own mean nothing and are not.
says 0 'warning: there is no hint LATE_ROW, so it has no effect\. Did you mean LATE_ROWS' "$program" sql "CREATE TABLE t (a INT) USING json LOCATION 'in'; SELECT /*+ LATE_ROW('json', 'l') */ a FROM STREAM t" --available-now
says 0 '^-+~Batch: 0' "$program" sql "CREATE TABLE t (a INT) USING json LOCATION 'in'; SELECT /*+ BROADCAST(t), REPARTITION(3) */ a FROM STREAM t" --available-now

# A statement that runs is ended by the first signal.
"$program" sql "SELECT 1; SELECT sum(a.id + b.id) FROM range(1000000) a JOIN range(1000000) b ON a.id % 2 = b.id % 2" >said 2>&1 &
until grep -q '|1  |' said; do sleep 0.05; done
sleep 0.3
kill -TERM $!
wait $!
if [ $? -eq 130 ] && grep -q 'FLOODMARK_CANCELLED' said; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAILED: a signal did not end a statement:" && tail -n 3 said; fi

# The columns of a streaming table are its query's.
read_in="CREATE TABLE t (device STRING, kwh DOUBLE) USING json LOCATION 'in'"
says 1 'FLOODMARK_STREAMING_TABLE_COLUMNS.*STRUCT<device: STRING, kwh: DOUBLE>' "$program" sql "$read_in; CREATE STREAMING TABLE u (d STRING, kwh DOUBLE) USING noop AS SELECT * FROM STREAM t" --available-now
says 1 'FLOODMARK_STREAMING_TABLE_COLUMNS.*CREATE the Delta table first' "$program" sql "$read_in; CREATE STREAMING TABLE u (device STRING NOT NULL, kwh DOUBLE) USING noop AS SELECT * FROM STREAM t" --available-now
says 0 '^$' "$program" sql "$read_in; CREATE STREAMING TABLE u (Device STRING, kwh DOUBLE) USING noop AS SELECT * FROM STREAM t" --available-now

# So is a job that waits for a broker that is not there, and that is no failure.
cat >away.sql <<'SQL'
CREATE TABLE clicks USING kafka OPTIONS (`kafka.bootstrap.servers` '127.0.0.1:1', subscribe 'clicks');
CREATE STREAMING TABLE copies USING noop OPTIONS (checkpointLocation 'away') AS SELECT value FROM STREAM clicks;
SQL
for trigger in "" --available-now; do
    timeout 50 "$program" run away.sql $trigger >said 2>&1 &
    until grep -q 'does not answer' said; do sleep 0.1; done
    kill -TERM $!
    wait $!
    code=$?
    if [ -z "$trigger" ] && [ $code -eq 0 ]; then passed=$((passed + 1))
    elif [ -n "$trigger" ] && [ $code -eq 130 ]; then passed=$((passed + 1)) # before it began
    else failed=$((failed + 1)) && echo "FAILED: a job that waits for Kafka, $trigger, ended with $code:" && tail -n 3 said; fi
done

# SET spells keys as Spark does, and as they were given.
says 0 '\|spark.sql.session.timeZone +\|UTC ' "$program" sql "SET spark.sql.session.timezone = UTC; SET"
says 0 'floodmark.pinThreads.*\|my.Own.Key +\|7 ' "$program" sql "SET my.Own.Key = 7; SET"

# What is short is named: not memory, but files.
for files in 4 5 6 7; do
    says 1 'Too many open files' bash -c "ulimit -n $files; exec \"\$FLOODMARK\" run energy.sql -c in=in -c out=few --available-now"
done

# A stream that cannot be started: what is wrong stands in the job's text, an option at its place, all else at its statement.
# starts WORDS PLACE CONDITION [SINK [SOURCE OPTIONS]]: the options of the sink are WORDS.
starts() {
    cat >bad.sql <<SQL
CREATE TABLE readings (device STRING, at TIMESTAMP) USING json OPTIONS (path 'in'${5:-});

CREATE STREAMING TABLE copies USING ${4:-json} OPTIONS (path 'copies',
    $1)
AS SELECT device, at FROM STREAM readings;
SQL
    rm -rf copies copies_ck
    says 1 "^bad\\.sql:$2: \\[$3\\]" "$program" run bad.sql --available-now
}
ck="checkpointLocation 'copies_ck'"
starts "$ck, outputMode 'upsert'" '4:[0-9]+' 'STREAMING_OUTPUT_MODE.INVALID'
starts "$ck, outputMode 'update'" '4:[0-9]+' 'STREAMING_OUTPUT_MODE.UNSUPPORTED_DATASOURCE'
starts "$ck, outputMode 'complete'" '[0-9]+:[0-9]+' 'STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION'
starts "$ck, trigger 'often'" '4:[0-9]+' FLOODMARK_INVALID_TRIGGER
starts "$ck, compresion 'gzip'" '4:[0-9]+' FLOODMARK_UNKNOWN_OPTION
starts "$ck" 1:[0-9]+ FLOODMARK_UNKNOWN_OPTION json ", maxFilePerTrigger '1'"
starts "outputMode 'append'" 3:1 FLOODMARK_NO_CHECKPOINT
starts "$ck" 3:1 DATA_SOURCE_NOT_FOUND jsn
starts "$ck, retention 'long'" 4:[0-9]+ FLOODMARK_INVALID_OPTION

# A table has no two columns of one name; a place has a name. Spark: CREATE TABLE ... AS, INSERT BY NAME.
for format in json csv parquet delta; do
    says 1 '\[COLUMN_ALREADY_EXISTS\] The column .V. already' "$program" sql "CREATE TABLE twice USING $format LOCATION 'twice_$format' AS SELECT 1 AS v, 2 AS V"
    says 1 '\[(INCOMPATIBLE_DATA_FOR_TABLE.AMBIGUOUS_COLUMN_NAME|DELTA_DUPLICATE_COLUMNS_FOUND)\]' "$program" sql \
        "CREATE TABLE named (a INT, b INT) USING $format LOCATION 'named_$format'; INSERT INTO named BY NAME SELECT 1 AS a, 2 AS a"
    says 0 '^\{"a":1,"b":2\}~$' "$program" sql "CREATE TABLE named (a INT, b INT) USING $format LOCATION 'named_$format'; INSERT INTO named SELECT 1 AS v, 2 AS v; SELECT * FROM named" --format json
    printf "CREATE TABLE r (device STRING) USING json OPTIONS (path 'in');\nCREATE STREAMING TABLE twice USING %s OPTIONS (path 'stream_%s', checkpointLocation 'ck_%s') AS SELECT device, device FROM STREAM r;\n" \
        $format $format $format >twice.sql
    says 1 '^twice.sql:2:[0-9]+: \[(COLUMN_ALREADY_EXISTS|DELTA_DUPLICATE_COLUMNS_FOUND)\]' "$program" run twice.sql --available-now
    for words in "LOCATION ''" "OPTIONS (path '')" "LOCATION '  '"; do
        says 1 '\[INVALID_EMPTY_LOCATION\]' "$program" sql "CREATE TABLE nowhere (a INT) USING $format $words"
        says 1 '\[INVALID_EMPTY_LOCATION\]' "$program" sql "CREATE TABLE nowhere USING $format $words AS SELECT 1 AS a"
    done
done
says 0 '^\{"a":1\}~$' "$program" sql "CREATE TABLE here (a INT) USING json; INSERT INTO here VALUES (1); SELECT * FROM here" --format json

# Output that cannot be written ends the job: nothing is read on for nobody.
says 1 'cannot write to standard output: No space left' bash -c '"$FLOODMARK" run energy.sql -c in=in -c out=full --available-now >/dev/full'
# The micro-batch that was not seen is printed by the next run: it is not committed.
says 0 'Batch: 0~' "$program" run energy.sql -c in=in -c out=full --available-now
# ThreadSanitizer's own start writes a file: with it no program starts like this.
if [[ $program != */build-thread/* ]]; then
    says 0 'Cannot write .*: File too large.*1~$' bash -c '(ulimit -f 0; exec "$FLOODMARK" run energy.sql -c in=in -c out=large --available-now) 2>&1 | cat; echo "${PIPESTATUS[0]}"'
fi
says 0 '^141~$' bash -c '"$FLOODMARK" run energy.sql -c in=in -c out=gone | :; echo "${PIPESTATUS[0]}"'

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
