#!/usr/bin/env bash
# Bad input, with the real program: each time the exit code, one clear error on stderr that names the place, and the job going
# on once the cause is gone.
set -uo pipefail
program=$(readlink -f "$FLOODMARK_BUILD/floodmark")
dir=$(mktemp -d)
trap 'chmod -R u+rwX "$dir" 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir" || exit 1
passed=0 failed=0 skipped=0

ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAILED $case: $*"; [ -s err ] && sed 's/^/    stderr: /' err | head -n 5; }
# check WHAT COMMAND...: counts whether the command succeeds.
check() { local what=$1; shift; if "$@"; then ok; else bad "$what"; fi; }

# A folder of its own for each case: in/, out/, ck/.
begin() { case=$1; rm -rf in out ck; mkdir in; : >err; }
events() { # events FILE FIRST_MINUTE ROWS: one row a minute, two keys
    local i
    for ((i = 0; i < $3; i++)); do
        printf '{"k":"%s","at":"2026-03-01T10:%02d:30Z","v":%d}\n' "$([ $((i % 2)) = 0 ] && echo a || echo b)" $(($2 + i)) $((i + 1))
    done >"$1"
}
# job [OPTIONS OF THE SOURCE [SELECT]]: writes job.sql.
job() {
    cat >job.sql <<SQL
CREATE TABLE events (k STRING, at TIMESTAMP, v BIGINT${columns:-}) USING ${format:-json} OPTIONS (path 'in', maxFilesPerTrigger '1'${1:-});
CREATE STREAMING TABLE sums USING json OPTIONS (path 'out', outputMode 'append', checkpointLocation 'ck')
AS ${2:-SELECT k, window.start AS s, sum(v) AS v, count(*) AS n FROM STREAM events WATERMARK at DELAY OF INTERVAL 1 MINUTE GROUP BY window(at, '2 minutes'), k};
SQL
}
as=("$program")
run() { timeout 60 "${as[@]}" run job.sql -c spark.sql.session.timeZone=UTC -c floodmark.workers=1 --available-now --progress "${progress:-none}" "$@" >log 2>err; }
rows() { "$program" sql "SELECT s, k, v, n FROM read_files('out', format => 'json', schema => 's STRING, k STRING, v BIGINT, n BIGINT')" --format json | sort; }
# The job fails: exit code 1, one error that has all the words given.
fails() {
    local code word
    run
    code=$?
    [ "$code" -eq 1 ] || { bad "exit code $code, not 1"; return; }
    [ "$(grep -c '\[' err)" -eq 1 ] || { bad "not one error"; return; }
    for word in "$@"; do grep -qF -- "$word" err || { bad "the error does not say '$word'"; return; }; done
    ok
}
# The job runs to its end and has the rows of `expected`.
goes_on() {
    run || { bad "it does not go on"; return; }
    if rows | cmp -s - expected; then ok; else bad "other rows"; rows | diff expected - | head -n 5; fi
}
# What an undisturbed run over these files gives.
calm() { run || bad "the undisturbed run"; rows >expected; [ -s expected ] || bad "no rows"; rm -rf out ck; }

three_files() { events in/1.json 0 4; events in/2.json 4 4; events in/3.json 8 4; touch -d '2026-01-01 00:00:01' in/1.json; touch -d '2026-01-01 00:00:02' in/2.json; touch -d '2026-01-01 00:00:03' in/3.json; }

# ---- Malformed lines: each mode, and how many ----------------------------------------------------------------------------

bad_lines() { three_files; printf '{"k":"a","at":"2026-03-01T10:05:00Z","v":\n{"k":"b","at":"2026-03-01T10:05:00Z","v":"many"}\n' >>in/2.json; touch -d '2026-01-01 00:00:02' in/2.json; }
bad_count() { python3 -c '
import json,sys
print(sum(json.loads(l)["floodmark"]["badRows"] for l in open(sys.argv[1])), sum(json.loads(l)["numInputRows"] for l in open(sys.argv[1])))' "$1"; }

begin "malformed lines, PERMISSIVE"; bad_lines; job ", mode 'PERMISSIVE'"
progress=progress.json run || bad "it failed"
check "counts $(bad_count progress.json), not 2 14" [ "$(bad_count progress.json)" = "2 14" ]
begin "malformed lines, DROPMALFORMED"; bad_lines; job ", mode 'DROPMALFORMED'"
rm -f progress.json; progress=progress.json run || bad "it failed"
check "counts $(bad_count progress.json), not 2 12" [ "$(bad_count progress.json)" = "2 12" ]
begin "malformed lines, FAILFAST"; three_files; job ", mode 'FAILFAST'"; calm; bad_lines
fails MALFORMED_RECORD in/2.json
check "the line is not named" grep -qE 'in/2\.json.*(:5|line 5)' err
events in/2.json 4 4; touch -d '2026-01-01 00:00:02' in/2.json
goes_on

begin "zero byte in the job"; three_files; job; printf '\0SELECT nonsense FROM' >>job.sql; fails ZERO_BYTE job.sql

# ---- Files ---------------------------------------------------------------------------------------------------------------

begin "file gone between listing and reading"; three_files; job; calm
run >/dev/null 2>&1; rm -rf out ck
# The log of the source and the offsets say that it is read; then it is gone. A stop before the batch was committed:
run; rm -f ck/commits/2 ck/commits/3 ck/commits/4 ck/offsets/3 ck/offsets/4 out/_spark_metadata/[2-9]* ck/state/0/[3-9].changelog; mv in/3.json away
fails in/3.json
mv away in/3.json
goes_on

begin "file that may not be read"; three_files; job; calm
# Root may read everything: then the program runs as nobody.
if [ "$(id -u)" = 0 ]; then cp "$program" own; chmod 755 . own; chown -R 65534:65534 .; as=(setpriv --reuid 65534 --regid 65534 --clear-groups ./own); fi
chmod 0 in/2.json; fails in/2.json "ermission denied"; chmod 644 in/2.json; goes_on
[ "$(id -u)" != 0 ] || chown -R 0:0 .
as=("$program")

begin "folder where a file should be"; three_files; job; calm
mkdir in/4.json; run; check "a folder among the files stops it" [ $? = 0 ]; rm -rf in/4.json out ck
begin "file where the folder should be"; rm -rf in; events in 0 4; job; run; check "a single file as path" [ $? = 0 ]
begin "file where the output folder should be"; three_files; job; calm; : >out; fails out; rm out; goes_on
begin "file where the checkpoint should be"; three_files; job; calm; : >ck; fails ck; rm ck; goes_on
begin "no input folder"; rm -rf in; job; fails PATH_NOT_FOUND in; mkdir in; three_files; cp expected.three expected 2>/dev/null; run; check "it does not go on" [ $? = 0 ]

begin "a name that is no text"; three_files; job; calm; mv in/2.json "$(printf 'in/2\377\300.json')"; goes_on; run; check "it does not go on" [ $? = 0 ]; check "other rows" bash -c 'test "$("$1" sql "SELECT count(*) AS n FROM json.\`out\`" --format csv | tail -n 1)" = "$(wc -l <expected)"' - "$program"

begin "output where the input is"; three_files; job; calm
sed -i "s/path 'out'/path '.\/in\/'/" job.sql; fails FLOODMARK_READS_OWN_OUTPUT "of the output" in; check "something was written" [ "$(ls -A in | wc -l)" = 3 ]
job; sed -i "s/'ck'/'in'/" job.sql; fails FLOODMARK_READS_OWN_OUTPUT "of the checkpoint" in
job ", recursiveFileLookup 'true'"; sed -i "s/'ck'/'in\/ck'/" job.sql; fails FLOODMARK_READS_OWN_OUTPUT "of the checkpoint" in/ck
job; sed -i "s/(path 'in'/(path 'in\/*'/; s/'out'/'in\/out'/" job.sql; fails FLOODMARK_READS_OWN_OUTPUT "of the output" in/out
for hint in LATE_ROWS BAD_ROWS; do job; sed -i "s/AS SELECT k/AS SELECT \/*+ $hint('json', 'in') *\/ k/" job.sql; fails FLOODMARK_READS_OWN_OUTPUT "of the $(tr 'A-Z_' 'a-z ' <<<"$hint")" in; done
check "something was written" [ "$(ls -A in | wc -l)" = 3 ]
job; sed -i "s/'out'/'in\/_out'/; s/'ck'/'in\/ck'/" job.sql; run; check "folders within, which are not read" [ $? = 0 ]; rm -rf in/_out in/ck

begin "files that cannot be put away"; three_files; job ", cleanSource 'archive', sourceArchiveDir 'arch'"; : >arch
run; check "it does not end well" [ $? = 0 ]; check "it is said $(grep -c 'cleanSource cannot be obeyed' err) times" [ "$(grep -c 'warning: .*cleanSource cannot be obeyed.*arch' err)" = 1 ]
check "files are gone" [ "$(ls in | wc -l)" = 3 ]; rm -f arch

begin "a file from the future"; three_files; job; calm; mv in/3.json .; touch -d '2099-01-01' in/1.json; run || bad "it fails"
check "it is not said once" [ "$(grep -c 'warning: file .*in/1.json. is from the future' err)" = 1 ]
mv 3.json in/; touch in/3.json; job ", maxFileAge '100000 days'"; goes_on

for pack in gzip zstd; do
    begin "$pack file cut short"; three_files; job; calm
    if ! command -v $pack >/dev/null; then skipped=$((skipped + 1)); echo "skipped  $case: there is no $pack"; continue; fi
    end=$([ $pack = gzip ] && echo gz || echo zst)
    $pack -c in/2.json >whole; rm in/2.json
    head -c $(($(stat -c %s whole) - 9)) whole >"in/2.json.$end"; touch -d '2026-01-01 00:00:02' "in/2.json.$end"
    fails "in/2.json.$end"
    cp whole "in/2.json.$end"; touch -d '2026-01-01 00:00:02' "in/2.json.$end"
    goes_on
done
begin "gzip that is none"; three_files; job; calm; mv in/2.json text; cp text in/2.json.gz; touch -d '2026-01-01 00:00:02' in/2.json.gz; fails in/2.json.gz
gzip -c text >in/2.json.gz; touch -d '2026-01-01 00:00:02' in/2.json.gz; goes_on

# ---- Checkpoint: a flipped bit in each kind of file -----------------------------------------------------------------------

# flip FILE [BYTE]: flips a bit in the middle, or in that byte.
flip() { python3 - "$@" <<'PY'
import sys
path = sys.argv[1]
b = bytearray(open(path, "rb").read())
at = int(sys.argv[2]) if len(sys.argv) > 2 else len(b) // 2
b[at] ^= 0x10
open(path, "wb").write(b)
PY
}
begin "checkpoint, as it is"; three_files; job; calm; mv in/3.json .; touch -d '2026-01-01 00:00:03' 3.json; run || bad "the first half"
rm -rf half; mkdir half; cp -rp out ck half; mv 3.json in/; goes_on
half() { begin "flipped bit in $1"; three_files; job; cp -rp half/out half/ck .; }
last() { ls "$1" | grep -v '^\.' | sort -n | tail -n 1; } # the newest file of a folder
for what in metadata offsets commits sources/0 state/0; do
    half "$what"
    file=ck/$what; [ -d "$file" ] && file=$file/$(last "$file")
    flip "$file"
    case $what in
    metadata) fails ck/metadata ;;
    *) fails "$(basename "$file")" ;;
    esac
    cp -p "half/$file" "$file"
    goes_on
done
half "the first byte of a changelog"; file=ck/state/0/$(last ck/state/0); flip "$file" 0; fails "$file"; cp -p "half/$file" "$file"; goes_on
half "an empty changelog"; : >"$file"; fails "$file"; cp -p "half/$file" "$file"; goes_on
half "a changelog cut short"; head -c 100 "half/$file" >"$file"; fails "$file"; cp -p "half/$file" "$file"; goes_on
half "no changelog"; rm "$file"; fails "$(basename "$file")"; cp -p "half/$file" "$file"; goes_on
half "the sink's log is gone"; rm -r out/_spark_metadata; fails FLOODMARK_LOG_HOLE _spark_metadata; rm -rf out/_spark_metadata; cp -rp half/out/_spark_metadata out/; goes_on
half "the sink's log is empty"; rm -f out/_spark_metadata/*; fails FLOODMARK_LOG_HOLE _spark_metadata; cp -rp half/out/_spark_metadata/. out/_spark_metadata/; goes_on
half "the log of the sink"; file=out/_spark_metadata/$(last out/_spark_metadata); flip "$file" 1; run
check "it is not said" bash -c '! "$1" sql "SELECT * FROM read_files('"'out'"', format => '"'text'"')" >/dev/null 2>err && grep -q "$2" err' - "$program" "$file"
cp -p "half/$file" "$file"; goes_on
half "no metadata"; rm ck/metadata; fails STREAMING_CHECKPOINT_MISSING_METADATA_FILE ck; cp -p half/ck/metadata ck/; goes_on
half "no offset of the last batch"; file=ck/offsets/$(last ck/offsets); rm "$file"; fails ck/offsets; cp -p "half/$file" "$file"; goes_on

# The newest snapshot is damaged: the one before it and the changelogs do.
begin "damaged snapshot"; for i in $(seq 10 34); do events "in/$i.json" $((i - 10)) 2; touch -d "2026-01-01 00:00:$i" "in/$i.json"; done; job; calm
mv in/34.json .; run || bad "the first part"; n=$(ls ck/state/0/*.snapshot 2>/dev/null | wc -l)
check "there are $n snapshots, not 2" [ "$n" = 2 ]
flip "$(ls ck/state/0/*.snapshot | sort -V | tail -n 1)"; mv 34.json in/; goes_on

# ---- Two runs, another query, signals -------------------------------------------------------------------------------------

begin "second run on the same checkpoint"; three_files; job; calm
sed -i "s/outputMode 'append'/outputMode 'append', trigger '0 seconds'/" job.sql
"$program" run job.sql -c spark.sql.session.timeZone=UTC --progress none >/dev/null 2>first.err & first=$!
for _ in $(seq 100); do [ -e ck/commits/2 ] && break; sleep 0.05; done
fails IN_USE ck
kill -TERM $first; wait $first; check "the first run ends with $?" [ $? = 0 ]; cp first.err err
goes_on

begin "changed keys"; three_files; job; run || bad "the first run"
job "" "SELECT k, v, window.start AS s, count(*) AS n FROM STREAM events WATERMARK at DELAY OF INTERVAL 1 MINUTE GROUP BY window(at, '2 minutes'), k, v"
fails STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE "grouping keys" ck/state/0
begin "changed aggregates"; three_files; job; run || bad "the first run"
job "" "SELECT k, window.start AS s, sum(v) AS v, min(v) AS n FROM STREAM events WATERMARK at DELAY OF INTERVAL 1 MINUTE GROUP BY window(at, '2 minutes'), k"
fails STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE aggregates ck/state/0
begin "changed window"; three_files; job; run || bad "the first run"
job "" "SELECT k, window.start AS s, sum(v) AS v, count(*) AS n FROM STREAM events WATERMARK at DELAY OF INTERVAL 1 MINUTE GROUP BY window(at, '4 minutes', '1 minute'), k"
run; code=$?; check "another window over old state: exit code $code, not 1" [ "$code" = 1 ]
begin "no aggregate any more"; three_files; job; run || bad "the first run"; job "" "SELECT k, at AS s, v, 1 AS n FROM STREAM events"; fails STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA ck/state
begin "an aggregate more"; three_files; job "" "SELECT k, at AS s, v, 1 AS n FROM STREAM events"; run || bad "the first run"; job; fails ck/state/0
begin "another set of streams"; three_files; job; run || bad "the first run"
job "" "SELECT k, at AS s, v, 1 AS n FROM STREAM events UNION ALL SELECT k, at, v, 2 FROM STREAM events"; fails FLOODMARK_SOURCES_CHANGED ck

for signal in TERM INT; do
    begin "SIG$signal in the middle"
    for i in $(seq 10 40); do events "in/$i.json" $((i - 10)) 2; touch -d "2026-01-01 00:00:$i" "in/$i.json"; done; job; calm
    python3 - "$program" "$signal" <<'PY' || bad "the run that was stopped: see above"
import os, signal, subprocess, sys, time
p = subprocess.Popen([sys.argv[1], "run", "job.sql", "-c", "spark.sql.session.timeZone=UTC", "--available-now", "--progress", "none"], stderr=open("err", "w"))
while not os.path.exists("ck/commits/1") and p.poll() is None:
    time.sleep(0.001)
if p.poll() is None:
    p.send_signal(getattr(signal, "SIG" + sys.argv[2]))
code = p.wait()
if code != 0: print("exit code", code)
sys.exit(code != 0)
PY
    goes_on
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
