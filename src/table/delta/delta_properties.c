/* table/delta/delta_properties.c: TBLPROPERTIES. */
#include "table/delta/delta_properties.h"

#include "expr/cast.h"

typedef enum value_kind { ANY, BOOL, COUNT, INTERVAL, REFUSED_TRUE, REFUSED } value_kind;

/* Delta's own; REFUSED_TRUE: what we cannot honour when it is on. Sorted by nothing: looked through. */
static const struct {
    const char *key;
    value_kind kind;
} known[] = {
    {"delta.appendOnly", BOOL}, {"delta.autoOptimize.autoCompact", ANY}, {"delta.autoOptimize.optimizeWrite", BOOL},
    {"delta.autoOptimize", BOOL}, {"delta.checkpoint.writeStatsAsJson", BOOL}, {"delta.checkpoint.writeStatsAsStruct", BOOL},
    {"delta.checkpointInterval", COUNT}, {"delta.checkpointPolicy", ANY}, {"delta.checkpointRetentionDuration", INTERVAL},
    {"delta.columnMapping.mode", ANY}, {"delta.dataSkippingNumIndexedCols", ANY}, {"delta.dataSkippingStatsColumns", ANY},
    {"delta.deletedFileRetentionDuration", INTERVAL}, {"delta.enableChangeDataFeed", BOOL}, {"delta.enableDeletionVectors", BOOL},
    {"delta.enableExpiredLogCleanup", BOOL}, {"delta.enableFullRetentionRollback", BOOL}, {"delta.enableInCommitTimestamps", BOOL},
    {"delta.enableRowTracking", REFUSED_TRUE}, {"delta.enableTypeWidening", BOOL}, {"delta.enableIcebergCompatV1", REFUSED_TRUE},
    {"delta.enableIcebergCompatV2", REFUSED_TRUE}, {"delta.enableIcebergCompatV3", REFUSED_TRUE}, {"delta.isolationLevel", ANY},
    {"delta.logRetentionDuration", INTERVAL}, {"delta.parquet.compression.codec", ANY}, {"delta.randomizeFilePrefixes", BOOL},
    {"delta.randomPrefixLength", COUNT}, {"delta.sampleRetentionDuration", INTERVAL}, {"delta.setTransactionRetentionDuration", INTERVAL},
    {"delta.targetFileSize", ANY}, {"delta.tuneFileSizesForRewrites", BOOL}, {"delta.universalFormat.enabledFormats", REFUSED},
    {"delta.compatibility.symlinkFormatManifest.enabled", REFUSED_TRUE}, {"delta.coordinatedCommits.commitCoordinator-preview", REFUSED},
};
enum { KNOWN = sizeof known / sizeof known[0] };
#define FEATURE_PREFIX "delta.feature."

static fm_status bad_value(fm_str key, fm_str value, const char *wanted, fm_error *err)
{
    return fm_fail(err, FM_INVALID, "DELTA_INVALID_PROPERTY_VALUE", "The value '%.*s' of the table property %.*s is invalid: it must be %s.", FM_STR_ARG(value), FM_STR_ARG(key), wanted);
}

static fm_status check_value(fm_str key, fm_str value, value_kind kind, fm_error *err)
{
    fm_interval interval;
    int64_t n;
    bool on = fm_str_eq_ci(value, FM_STR("true")), off = fm_str_eq_ci(value, FM_STR("false"));

    switch (kind) {
    case ANY: break;
    case BOOL: return on || off ? FM_OK : bad_value(key, value, "true or false", err);
    case COUNT: return fm_str_to_i64(value, &n) && n > 0 ? FM_OK : bad_value(key, value, "a number above 0", err);
    case INTERVAL: return fm_text_to_interval(value, &interval, NULL) == FM_OK && interval.months == 0 ? FM_OK : bad_value(key, value, "an interval of days or less, as 'interval 7 days'", err);
    case REFUSED_TRUE:
        if (!on) break;
        return fm_fail(err, FM_UNSUPPORTED, "DELTA_UNSUPPORTED_FEATURES_IN_CONFIG", "The table property %.*s = %.*s is not available here.", FM_STR_ARG(key), FM_STR_ARG(value));
    case REFUSED: return fm_fail(err, FM_UNSUPPORTED, "DELTA_UNSUPPORTED_FEATURES_IN_CONFIG", "The table property %.*s is not available here.", FM_STR_ARG(key));
    }
    return FM_OK;
}

static fm_status add_feature(fm_arena *arena, fm_str name, fm_str value, fm_delta_protocol *p, fm_error *err)
{
    bool for_readers;

    if (!fm_str_eq_ci(value, FM_STR("supported")) && !fm_str_eq_ci(value, FM_STR("enabled"))) return bad_value(name, value, "'supported'", err);
    if (!fm_delta_feature_known(name, &for_readers)) {
        return fm_fail(err, FM_UNSUPPORTED, "DELTA_UNSUPPORTED_FEATURES_IN_CONFIG", "Unsupported table features: %.*s.", FM_STR_ARG(name));
    }
    fm_str copy = fm_arena_str(arena, name);
    return copy.ptr ? fm_delta_add_feature(arena, p, copy.ptr, for_readers, err) : fm_no_memory(arena, err);
}

static fm_status set_version(fm_str key, fm_str value, int32_t max, int32_t *version, fm_error *err)
{
    int64_t n;

    if (!fm_str_to_i64(value, &n) || n < 1 || n > max) return bad_value(key, value, max == 3 ? "a version from 1 to 3" : "a version from 1 to 7", err);
    if (n < max && n > *version) *version = (int32_t)n; /* the last versions come with the features that need them */
    return FM_OK;
}

static fm_status set_one(fm_arena *arena, fm_str key, fm_str value, fm_delta_metadata *m, fm_delta_protocol *p, fm_error *err)
{
    fm_str prefix = FM_STR("delta."), feature = FM_STR(FEATURE_PREFIX);

    if (key.len < prefix.len || !fm_str_eq_ci((fm_str){key.ptr, prefix.len}, prefix)) return fm_delta_map_set(arena, &m->configuration, key, value, err);
    if (fm_str_starts(key, FM_STR("delta.constraints."))) {
        return fm_fail(err, FM_INVALID, "DELTA_ADD_CONSTRAINTS", "Please use ALTER TABLE ADD CONSTRAINT to add CHECK constraints.");
    }
    if (key.len > feature.len && fm_str_eq_ci((fm_str){key.ptr, feature.len}, feature)) {
        return add_feature(arena, (fm_str){key.ptr + feature.len, key.len - feature.len}, value, p, err);
    }
    if (fm_str_eq_ci(key, FM_STR("delta.minReaderVersion"))) return set_version(key, value, 3, &p->min_reader, err);
    if (fm_str_eq_ci(key, FM_STR("delta.minWriterVersion"))) return set_version(key, value, 7, &p->min_writer, err);
    for (int i = 0; i < KNOWN; i++) {
        if (!fm_str_eq_ci(key, fm_str_c(known[i].key))) continue;
        FM_TRY(check_value(key, value, known[i].kind, err));
        return fm_delta_map_set(arena, &m->configuration, fm_str_c(known[i].key), value, err);
    }
    return fm_fail(err, FM_INVALID, "DELTA_UNKNOWN_CONFIGURATION", "Unknown configuration was specified: %.*s.", FM_STR_ARG(key));
}

fm_status fm_delta_properties_set(fm_arena *arena, const fm_delta_map *properties, fm_delta_metadata *m, fm_delta_protocol *p, fm_error *err)
{
    for (int32_t i = 0; i < properties->n; i++) FM_TRY(set_one(arena, properties->keys[i], properties->values[i], m, p, err));
    fm_str mapping = fm_delta_map_get(&m->configuration, "delta.columnMapping.mode", FM_STR("none"));
    bool fine = fm_str_eq_ci(mapping, FM_STR("none")) || fm_str_eq_ci(mapping, FM_STR("name")) || fm_str_eq_ci(mapping, FM_STR("id"));
    if (!fine) return bad_value(FM_STR("delta.columnMapping.mode"), mapping, "none, name or id", err);
    fm_str isolation = fm_delta_map_get(&m->configuration, "delta.isolationLevel", FM_STR("Serializable"));
    fine = fm_str_eq_ci(isolation, FM_STR("Serializable")) || fm_str_eq_ci(isolation, FM_STR("WriteSerializable")) || fm_str_eq_ci(isolation, FM_STR("SnapshotIsolation"));
    if (!fine) return bad_value(FM_STR("delta.isolationLevel"), isolation, "Serializable or WriteSerializable", err);
    return FM_OK;
}

fm_status fm_delta_property_unset(fm_arena *arena, fm_delta_metadata *m, fm_str key, bool *there, fm_error *err)
{
    fm_delta_map old = m->configuration, fresh = {0};

    *there = false;
    for (int32_t i = 0; i < old.n; i++) {
        if (fm_str_eq(old.keys[i], key)) *there = true;
        else FM_TRY(fm_delta_map_set(arena, &fresh, old.keys[i], old.values[i], err));
    }
    m->configuration = fresh;
    return FM_OK;
}
