/* table/delta/delta_protocol.c: table features. */
#include "table/delta/delta_protocol.h"
#include "table/delta/delta_properties.h"

#include <inttypes.h>

#include "base/time_text.h"
#include "expr/cast.h"

/* Every feature we can honour. from_version: the writer version that implies it, below 7; 0: none does. */
static const struct {
    const char *name;
    bool for_readers;
    int8_t from_version;
} features[] = {
    {"appendOnly", false, 2},
    {"invariants", false, 2},
    {"checkConstraints", false, 3},
    {"changeDataFeed", false, 4},
    {"generatedColumns", false, 4},
    {"columnMapping", true, 5},
    {"identityColumns", false, 6}, /* refused when a column uses it */
    {"deletionVectors", true, 0},
    {"timestampNtz", true, 0},
    {"v2Checkpoint", true, 0},
    {"vacuumProtocolCheck", true, 0},
    {"typeWidening", true, 0},
    {"typeWidening-preview", true, 0},
    {"domainMetadata", false, 0},
    {"inCommitTimestamp", false, 0},
    {"inCommitTimestamp-preview", false, 0},
    {"allowColumnDefaults", false, 0},
    {"clustering", false, 0},
    {"variantType", true, 0}, /* refused when a column has the type; delta-rs lists it for tables that have none */
    {"variantType-preview", true, 0},
    {"variantShredding", true, 0},
    {"variantShredding-preview", true, 0},
    {"checkpointProtection", false, 0}, /* we remove no log files of such a table */
};
enum { FEATURES = sizeof features / sizeof features[0] };

static bool is_known(fm_str name)
{
    for (int i = 0; i < FEATURES; i++) {
        if (fm_str_eq(name, fm_str_c(features[i].name))) return true;
    }
    return false;
}

bool fm_delta_feature_known(fm_str name, bool *for_readers)
{
    for (int i = 0; i < FEATURES; i++) {
        *for_readers = features[i].for_readers;
        if (fm_str_eq(name, fm_str_c(features[i].name))) return true;
    }
    return false;
}

static fm_status check_versions(const fm_delta_protocol *p, fm_str table, fm_error *err)
{
    if (p->min_reader >= 0 && p->min_reader <= 3 && p->min_writer >= 0 && p->min_writer <= 7) return FM_OK;
    return fm_fail(err, FM_UNSUPPORTED, "DELTA_INVALID_PROTOCOL_VERSION",
                   "The Delta table '%.*s' wants a reader of version %" PRId32 " and a writer of version %" PRId32
                   "; here are readers up to version 3 and writers up to version 7.",
                   FM_STR_ARG(table), p->min_reader, p->min_writer);
}

/* Names those of a list that are not known; 0: all are. */
static int list_unknown(const fm_str *names, int32_t n, fm_strbuf *out)
{
    int found = 0;

    for (int32_t i = 0; i < n; i++) {
        if (is_known(names[i])) continue;
        if (found++) fm_strbuf_add_c(out, ", ");
        fm_strbuf_add(out, names[i]);
    }
    return found;
}

static fm_status refuse(fm_str table, const char *unknown, bool write, fm_error *err)
{
    return fm_fail(err, FM_UNSUPPORTED, write ? "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE" : "DELTA_UNSUPPORTED_FEATURES_FOR_READ",
                   "Unsupported Delta %s feature: table \"%.*s\" requires %s table feature(s) that are unsupported by this version of "
                   "floodmark: %s. The table is left as it is.",
                   write ? "write" : "read", FM_STR_ARG(table), write ? "writer" : "reader", unknown);
}

static fm_status check_list(const fm_str *names, int32_t n, fm_str table, bool write, fm_error *err)
{
    fm_strbuf unknown = {0};
    fm_status st = FM_OK;

    if (list_unknown(names, n, &unknown)) st = refuse(table, unknown.ptr ? unknown.ptr : "?", write, err);
    fm_strbuf_fini(&unknown);
    return st;
}

fm_status fm_delta_check_read(const fm_delta_protocol *p, fm_str table, fm_error *err)
{
    FM_TRY(check_versions(p, table, err));
    return check_list(p->reader_features, p->n_reader_features, table, false, err);
}

static bool has_identity(const fm_delta_schema *schema)
{
    for (int32_t i = 0; i < schema->type->n_fields; i++) {
        if (schema->fields[i].is_identity) return true;
    }
    return false;
}

fm_status fm_delta_check_write(const fm_delta_protocol *p, const fm_delta_metadata *m, const fm_delta_schema *schema, fm_str table,
                               fm_error *err)
{
    FM_TRY(fm_delta_check_read(p, table, err));
    FM_TRY(check_list(p->writer_features, p->n_writer_features, table, true, err));
    if (has_identity(schema)) return refuse(table, "identityColumns", true, err);
    if (!fm_str_eq_ci(m->provider, FM_STR("parquet"))) return refuse(table, "a format of data files other than Parquet", true, err);
    return FM_OK;
}

bool fm_delta_has_feature(const fm_delta_protocol *p, const char *feature)
{
    fm_str name = fm_str_c(feature);

    for (int32_t i = 0; i < p->n_writer_features; i++) {
        if (fm_str_eq(p->writer_features[i], name)) return true;
    }
    if (p->min_writer >= 7) return false;
    for (int i = 0; i < FEATURES; i++) {
        if (fm_str_eq(name, fm_str_c(features[i].name))) return features[i].from_version && p->min_writer >= features[i].from_version;
    }
    return false;
}

static fm_status append(fm_arena *arena, fm_str **list, int32_t *n, const char *name, fm_error *err)
{
    fm_str *more = fm_arena_array(arena, fm_str, *n + 1);

    if (!more) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < *n; i++) more[i] = (*list)[i];
    more[(*n)++] = fm_str_c(name);
    *list = more;
    return FM_OK;
}

/* From versions to lists of what they imply. */
static fm_status to_lists(fm_arena *arena, fm_delta_protocol *p, fm_error *err)
{
    int32_t writer = p->min_writer;

    for (int i = 0; i < FEATURES; i++) {
        if (!features[i].from_version || writer < features[i].from_version) continue;
        FM_TRY(append(arena, &p->writer_features, &p->n_writer_features, features[i].name, err));
        if (features[i].for_readers && p->min_reader >= 3) {
            FM_TRY(append(arena, &p->reader_features, &p->n_reader_features, features[i].name, err));
        }
    }
    p->min_writer = 7;
    p->has_writer_features = true;
    return FM_OK;
}

fm_status fm_delta_add_feature(fm_arena *arena, fm_delta_protocol *p, const char *feature, bool for_readers, fm_error *err)
{
    bool listed = false;

    if (p->min_writer < 7) FM_TRY(to_lists(arena, p, err));
    if (for_readers && p->min_reader < 3) {
        if (p->min_reader == 2) FM_TRY(append(arena, &p->reader_features, &p->n_reader_features, "columnMapping", err));
        p->min_reader = 3;
        p->has_reader_features = true;
    }
    for (int32_t i = 0; i < p->n_writer_features; i++) listed |= fm_str_eq(p->writer_features[i], fm_str_c(feature));
    if (!listed) FM_TRY(append(arena, &p->writer_features, &p->n_writer_features, feature, err));
    if (!for_readers) return FM_OK;
    listed = false;
    for (int32_t i = 0; i < p->n_reader_features; i++) listed |= fm_str_eq(p->reader_features[i], fm_str_c(feature));
    return listed ? FM_OK : append(arena, &p->reader_features, &p->n_reader_features, feature, err);
}

bool fm_delta_property(const fm_delta_metadata *m, const char *key, bool absent)
{
    fm_str v = fm_str_trim(fm_delta_map_get(&m->configuration, key, FM_STR("")));

    return v.len ? fm_str_eq_ci(v, FM_STR("true")) : absent;
}

int64_t fm_delta_property_i64(const fm_delta_metadata *m, const char *key, int64_t absent)
{
    fm_str v = fm_str_trim(fm_delta_map_get(&m->configuration, key, FM_STR("")));
    int64_t out;

    return fm_str_to_i64(v, &out) ? out : absent;
}

int64_t fm_delta_property_ms(const fm_delta_metadata *m, const char *key, int64_t absent)
{
    fm_str v = fm_str_trim(fm_delta_map_get(&m->configuration, key, FM_STR("")));
    fm_interval interval;

    if (v.len == 0 || fm_text_to_interval(v, &interval, NULL) != FM_OK) return absent;
    return interval.us / FM_US_PER_MS + (interval.days + INT64_C(31) * interval.months) * (FM_US_PER_DAY / FM_US_PER_MS);
}
