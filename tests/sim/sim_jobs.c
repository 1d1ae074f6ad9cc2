/* tests/sim/sim_jobs.c: see sim_jobs.h. */
#include "sim_jobs.h"

const sim_job sim_job_demo = {
    .name = "demo",
    .folder = FM_DEMO_DIR "/in",
    .sql = "CREATE TABLE readings (device STRING, at TIMESTAMP, kwh DOUBLE) USING json"
           " OPTIONS (path '/in', maxFilesPerTrigger '1');"
           "CREATE STREAMING TABLE energy USING json"
           " OPTIONS (path '/out/rows', outputMode 'append', checkpointLocation '/out/checkpoint')"
           " AS SELECT /*+ LATE_ROWS('json', '/out/late') */ window.start AS s, device, sum(kwh) AS kwh, count(*) AS n"
           " FROM STREAM readings WATERMARK at DELAY OF INTERVAL 10 MINUTES GROUP BY window(at, '5 minutes'), device;",
    .look = "SELECT value FROM read_files('/out/rows', format => 'text');"
            /* All but the number of the micro-batch: after a restart none runs that has nothing to read, so numbers shift. */
            "SELECT to_json(struct(*)) FROM read_files('/out/late', format => 'json', schema => 'device STRING, at STRING, kwh STRING,"
            " late STRUCT<operator STRING, windows STRING, watermark STRING, lateness STRING, source STRING>');",
};

/* The files of the jobs below: each a minute or two on, with one line that comes late. */
#define LINE(key, minute, second, value) \
    "{\"k\":\"" key "\",\"at\":\"2026-03-01T10:" minute ":" second "Z\",\"v\":" value "}\n"
#define FILE_OF(number, minute, late) \
    {"/in/" number ".json", LINE("a", minute, "02", "3") LINE("b", minute, "58", "4") LINE("a", late, "30", "7") LINE("c", minute, "31", "1")}

static const sim_input half_an_hour[] = {
    FILE_OF("01", "00", "00"), FILE_OF("02", "01", "00"), FILE_OF("03", "03", "01"), FILE_OF("04", "04", "04"),
    FILE_OF("05", "06", "01"), FILE_OF("06", "07", "05"), FILE_OF("07", "09", "07"), FILE_OF("08", "10", "02"),
    FILE_OF("09", "11", "11"), FILE_OF("10", "13", "09"), FILE_OF("11", "14", "13"), FILE_OF("12", "16", "10"),
    FILE_OF("13", "17", "16"), FILE_OF("14", "19", "12"), FILE_OF("15", "20", "19"), FILE_OF("16", "21", "20"),
    FILE_OF("17", "23", "18"), FILE_OF("18", "24", "23"), FILE_OF("19", "26", "25"), FILE_OF("20", "27", "11"),
    FILE_OF("21", "29", "28"), FILE_OF("22", "30", "29"), FILE_OF("23", "32", "31"), {NULL, NULL},
};
static const sim_input ten_minutes[] = {
    FILE_OF("01", "00", "00"), FILE_OF("02", "01", "00"), FILE_OF("03", "03", "01"), FILE_OF("04", "04", "04"),
    FILE_OF("05", "06", "01"), FILE_OF("06", "07", "05"), FILE_OF("07", "09", "07"), FILE_OF("08", "10", "02"), {NULL, NULL},
};
/* Touches each key in the windows that are still open. */
static const sim_input last_file = FILE_OF("99", "11", "10");

#define EVENTS "CREATE TABLE events (k STRING, at TIMESTAMP, v BIGINT) USING json OPTIONS (path '/in', maxFilesPerTrigger '1');"

const sim_job sim_job_two_operators = {
    .name = "two operators",
    .inputs = half_an_hour,
    .settings = {"spark.sql.streaming.minBatchesToRetain", "2", "spark.sql.streaming.fileSink.log.compactInterval", "3",
                 "spark.sql.streaming.fileSource.log.compactInterval", "4", "spark.sql.streaming.fileSink.log.cleanupDelay", "0",
                 "spark.sql.streaming.fileSource.log.cleanupDelay", "0"},
    .sql = EVENTS
           "CREATE STREAMING TABLE sums USING csv"
           " OPTIONS (path '/out/rows', outputMode 'append', checkpointLocation '/out/checkpoint')"
           " PARTITIONED BY (what)"
           " AS SELECT 'key' AS what, k, window.start AS s, sum(v) AS v, count(*) AS n FROM STREAM events"
           " WATERMARK at DELAY OF INTERVAL 2 MINUTES GROUP BY window(at, '2 minutes'), k"
           " UNION ALL SELECT 'all', max(k), window.start, sum(v), count(*) FROM STREAM events"
           " WATERMARK at DELAY OF INTERVAL 3 MINUTES GROUP BY window(at, '4 minutes', '1 minute');",
    .look = "SELECT concat_ws('|', what, k, s, v, n) FROM read_files('/out/rows', format => 'csv',"
            " schema => 'k STRING, s STRING, v STRING, n STRING, what STRING');",
};

const sim_job sim_job_complete = {
    .name = "complete mode",
    .inputs = ten_minutes,
    .last = &last_file,
    .looks_inside = true,
    .sql = EVENTS
           "CREATE STREAMING TABLE sums USING memory OPTIONS (outputMode 'complete', checkpointLocation '/out/checkpoint')"
           " AS SELECT k, collect_list(v) AS l, window.start AS s, min_by(k, v) AS m"
           " FROM STREAM events GROUP BY window(at, '4 minutes'), k;",
    .look = "SELECT to_json(struct(*)) FROM sums;",
};

/* What a window came to in the end is the largest of what was said of it: a batch that runs again says it again. */
const sim_job sim_job_update = {
    .name = "update mode",
    .inputs = ten_minutes,
    .last = &last_file,
    .looks_inside = true,
    .sql = EVENTS
           "CREATE STREAMING TABLE sums USING memory OPTIONS (outputMode 'update', checkpointLocation '/out/checkpoint')"
           " AS SELECT k, window.start AS s, sum(v) AS v FROM STREAM events"
           " WATERMARK at DELAY OF INTERVAL 5 MINUTES GROUP BY window(at, '4 minutes', '1 minute'), k;",
    .look = "SELECT concat_ws('|', k, s, max(v)) FROM sums WHERE s >= TIMESTAMP '2026-03-01 10:08:00' GROUP BY k, s;",
};

const sim_job sim_job_delta = {
    .name = "Delta, append",
    .inputs = ten_minutes,
    .sql = EVENTS
           "CREATE TABLE IF NOT EXISTS delta.`/out/rows` (k STRING, s TIMESTAMP, v BIGINT) USING delta PARTITIONED BY (k)"
           " TBLPROPERTIES ('delta.checkpointInterval' = '2');"
           "CREATE STREAMING TABLE sums USING delta"
           " OPTIONS (path '/out/rows', outputMode 'append', checkpointLocation '/out/checkpoint')"
           " AS SELECT k, window.start AS s, sum(v) AS v FROM STREAM events"
           " WATERMARK at DELAY OF INTERVAL 2 MINUTES GROUP BY window(at, '2 minutes'), k;",
    .look = "SELECT concat_ws('|', k, s, v) FROM delta.`/out/rows`;",
};

const sim_job sim_job_delta_upsert = {
    .name = "Delta, upsert",
    .inputs = ten_minutes,
    .sql = EVENTS
           "CREATE TABLE IF NOT EXISTS delta.`/out/rows` (k STRING, s TIMESTAMP, v BIGINT, n BIGINT) USING delta"
           " TBLPROPERTIES ('delta.checkpointInterval' = '3', 'delta.enableDeletionVectors' = 'true');"
           "CREATE STREAMING TABLE sums USING delta"
           " OPTIONS (path '/out/rows', outputMode 'update', checkpointLocation '/out/checkpoint')"
           " AS SELECT k, window.start AS s, sum(v) AS v, count(*) AS n FROM STREAM events"
           " WATERMARK at DELAY OF INTERVAL 5 MINUTES GROUP BY window(at, '4 minutes'), k;",
    .look = "SELECT concat_ws('|', k, s, v, n) FROM delta.`/out/rows`;",
};
