/* engine/settings.c: the table of settings. */
#include "engine/settings.h"

#include "expr/zone.h"

static const fm_setting settings[] = {
    {"floodmark.checkpointLocation", FM_SETTING_TEXT, "",
     "Checkpoint folder of a bare SELECT over a stream; unset: a temporary one."},
    {"floodmark.memoryBudget", FM_SETTING_SIZE, "0",
     "Bytes a query may hold at most; 0: 8 GiB an arena. A query over it fails with FLOODMARK_MEMORY_LIMIT."},
    {"floodmark.outputMode", FM_SETTING_TEXT, "append",
     "Output mode of a bare SELECT over a stream: append, update or complete."},
    {"floodmark.pinThreads", FM_SETTING_BOOL, "false", "Pins each worker to a core of its own."},
    {"floodmark.trigger", FM_SETTING_TEXT, "",
     "Trigger of a bare SELECT over a stream: an interval, 'once' or 'availableNow'; unset: as fast as possible."},
    {"floodmark.warehouse", FM_SETTING_TEXT, "spark-warehouse", "Folder of Delta tables that are named without a LOCATION."},
    {"floodmark.workers", FM_SETTING_COUNT, "0", "Worker threads of a query; 0: one per core."},
    {"spark.databricks.delta.autoCompact.enabled", FM_SETTING_TEXT, "",
     "Whether small files of Delta tables are packed after a stream's commit; else the table's delta.autoOptimize.autoCompact decides."},
    {"spark.databricks.delta.autoCompact.maxFileSize", FM_SETTING_COUNT, "134217728", "Bytes of a packed file."},
    {"spark.databricks.delta.autoCompact.minFileSize", FM_SETTING_COUNT, "half of maxFileSize", "Bytes below which a file is small."},
    {"spark.databricks.delta.autoCompact.minNumFiles", FM_SETTING_COUNT, "50", "Small files that a partition must have to be packed."},
    {"spark.databricks.delta.commitInfo.userMetadata", FM_SETTING_TEXT, "", "Text that goes into each commit, as userMetadata of DESCRIBE HISTORY."},
    {"spark.databricks.delta.optimize.maxFileSize", FM_SETTING_COUNT, "1073741824", "Bytes of a file that OPTIMIZE makes, at most."},
    {"spark.databricks.delta.optimize.minFileSize", FM_SETTING_COUNT, "1073741824", "Bytes below which OPTIMIZE packs a file with others."},
    {"spark.databricks.delta.optimizeWrite.enabled", FM_SETTING_TEXT, "",
     "Whether workers write files of a Delta table together; else the table's delta.autoOptimize.optimizeWrite decides."},
    {"spark.databricks.delta.retentionDurationCheck.enabled", FM_SETTING_BOOL, "true", "Whether VACUUM refuses to RETAIN less than the table's retention."},
    {"spark.databricks.delta.schema.autoMerge.enabled", FM_SETTING_BOOL, "false", "Whether INSERT and MERGE add columns that a Delta table lacks."},
    {"spark.databricks.delta.stats.skipping", FM_SETTING_BOOL, "true", "Whether data files are passed over by the statistics of the log."},
    {"spark.sql.ansi.enabled", FM_SETTING_BOOL, "true",
     "Overflow, bad casts and bad indexes are errors; false: null or wrap-around."},
    {"spark.sql.caseSensitive", FM_SETTING_BOOL, "false", "Whether names of columns fold case."},
    {"spark.sql.columnNameOfCorruptRecord", FM_SETTING_TEXT, "_corrupt_record",
     "Column that takes the text of a malformed record, when the schema has it."},
    {"spark.sql.files.ignoreCorruptFiles", FM_SETTING_BOOL, "false", "Whether a query goes on without files that are damaged."},
    {"spark.sql.files.ignoreMissingFiles", FM_SETTING_BOOL, "false", "Whether a query goes on without files that are gone."},
    {"spark.sql.mapKeyDedupPolicy", FM_SETTING_TEXT, "EXCEPTION",
     "What a key that stands twice in a new map does: EXCEPTION, or LAST_WIN: the last value stays."},
    {"spark.sql.parquet.compression.codec", FM_SETTING_TEXT, "snappy", "Compression of Parquet files: snappy, zstd, gzip, lz4 or none."},
    {"spark.sql.parquet.filterPushdown", FM_SETTING_BOOL, "true", "Whether filters leave row groups and pages out."},
    {"spark.sql.parquet.mergeSchema", FM_SETTING_BOOL, "false", "Whether all Parquet files of a folder are asked for their columns, not one."},
    {"spark.sql.parquet.outputTimestampType", FM_SETTING_TEXT, "TIMESTAMP_MICROS", "How Parquet files hold a TIMESTAMP: TIMESTAMP_MICROS, TIMESTAMP_MILLIS or INT96."},
    {"spark.sql.session.timeZone", FM_SETTING_ZONE, "the system's",
     "Zone of texts without zone, of calendar functions and of what is printed."},
    {"spark.sql.shuffle.partitions", FM_SETTING_COUNT, "64", "Written to the checkpoint for Spark's tools; no effect here."},
    {"spark.sql.sources.partitionOverwriteMode", FM_SETTING_TEXT, "static", "INSERT OVERWRITE replaces the whole table (static) or the partitions that it writes (dynamic)."},
    {"spark.sql.streaming.checkpointLocation", FM_SETTING_TEXT, "",
     "Parent folder of checkpoints of queries that name none."},
    {"spark.sql.streaming.fileSink.log.cleanupDelay", FM_SETTING_DURATION, "10 minutes", "How long entries of _spark_metadata stay that a compaction made needless."},
    {"spark.sql.streaming.fileSink.log.compactInterval", FM_SETTING_COUNT, "10", "Batches between compactions of _spark_metadata."},
    {"spark.sql.streaming.fileSink.log.deletion", FM_SETTING_BOOL, "true", "Whether such entries are deleted."},
    {"spark.sql.streaming.fileSource.log.compactInterval", FM_SETTING_COUNT, "10", "Entries between compactions of the seen-files log."},
    {"spark.sql.streaming.fileStreamSink.ignoreMetadata", FM_SETTING_BOOL, "false", "Whether a sink's folder is read without its _spark_metadata."},
    {"spark.sql.streaming.minBatchesToRetain", FM_SETTING_COUNT, "100", "Micro-batches whose logs and state are kept."},
    {"spark.sql.streaming.multipleWatermarkPolicy", FM_SETTING_TEXT, "min",
     "Global watermark out of several: min (the slowest stream decides) or max."},
    {"spark.sql.streaming.noDataMicroBatches.enabled", FM_SETTING_BOOL, "true",
     "Whether a micro-batch without input runs to close windows that the watermark has passed."},
    {"spark.sql.streaming.noDataProgressEventInterval", FM_SETTING_DURATION, "10s", "How often an idle query reports."},
    {"spark.sql.streaming.pollingDelay", FM_SETTING_DURATION, "1ms", "How long an idle query sleeps between looks at its sources."},
    {"spark.sql.streaming.schemaInference", FM_SETTING_BOOL, "false", "Whether a stream of files may infer its schema."},
};

const fm_setting *fm_settings(int *n)
{
    *n = (int)(sizeof settings / sizeof settings[0]);
    return settings;
}

const fm_setting *fm_setting_find(fm_str key)
{
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        if (fm_str_eq_ci(key, fm_str_c(settings[i].key))) return &settings[i];
    }
    return NULL;
}

static fm_status unknown_key(fm_str key, fm_error *err)
{
    const char *names[sizeof settings / sizeof settings[0]];
    int n = (int)(sizeof settings / sizeof settings[0]);

    for (int i = 0; i < n; i++) names[i] = settings[i].key;
    char hint[FM_DID_YOU_MEAN_SIZE];
    return fm_fail(err, FM_INVALID, "FLOODMARK_UNKNOWN_SETTING", "There is no setting '%.*s'.%s", FM_STR_ARG(key),
                   fm_str_did_you_mean(key, names, n, hint));
}

static fm_status bad_value(fm_str key, fm_str value, const char *accepted, fm_error *err)
{
    return fm_fail(err, FM_INVALID, "INVALID_CONF_VALUE", "The value '%.*s' in the config \"%.*s\" is invalid: write %s.",
                   FM_STR_ARG(value), FM_STR_ARG(key), accepted);
}

fm_status fm_setting_check(fm_str key, fm_str value, fm_error *err)
{
    const fm_setting *setting = fm_setting_find(key);
    fm_option item = {.key = key, .value = value};
    fm_options one = {.items = &item, .n = 1, .cap = 1};
    fm_str prefix = {key.ptr, key.len < 10 ? key.len : 10};
    bool flag;
    int64_t number;

    if (!setting) return fm_str_eq_ci(prefix, FM_STR("floodmark.")) ? unknown_key(key, err) : FM_OK;
    switch (setting->kind) {
    case FM_SETTING_BOOL:
        if (fm_options_bool(&one, setting->key, false, &flag, NULL) != FM_OK) {
            return bad_value(key, value, "true or false", err);
        }
        return FM_OK;
    case FM_SETTING_COUNT:
    case FM_SETTING_SIZE:
        if (fm_options_i64(&one, setting->key, 0, 0, INT64_MAX, &number, NULL) != FM_OK) {
            return bad_value(key, value, "a whole number, 0 or more", err);
        }
        return FM_OK;
    case FM_SETTING_DURATION:
        if (fm_options_duration(&one, setting->key, 0, &number, NULL) != FM_OK) {
            return bad_value(key, value, "a duration such as 10s or 500ms", err);
        }
        return FM_OK;
    case FM_SETTING_ZONE: {
        fm_arena *scratch = fm_arena_new(0);
        const fm_zone *zone;
        if (!scratch) return fm_no_memory(NULL, err);
        fm_status st = fm_zone_open(scratch, value, &zone, err);
        fm_arena_free(scratch);
        return st;
    }
    case FM_SETTING_TEXT: return FM_OK;
    }
    return FM_OK;
}
