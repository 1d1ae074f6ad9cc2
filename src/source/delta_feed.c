/* source/delta_feed.c: the change data feed of a Delta table: the three columns it adds, and which commits a batch read takes.
 *
 * Rule  Delta, CDCReader: options startingVersion or startingTimestamp, endingVersion or endingTimestamp, both ends included */
#include <inttypes.h>

#include "expr/cast.h"
#include "source/delta_source.h"

fm_status fm_delta_feed_wanted(const fm_options *o, bool *out, fm_error *err)
{
    bool old;

    FM_TRY(fm_options_bool(o, "readChangeData", false, &old, err));
    return fm_options_bool(o, "readChangeFeed", old, out, err);
}

fm_status fm_delta_feed_columns(const fm_type *table, fm_arena *arena, const fm_type **out, fm_error *err)
{
    static const char *const names[] = {FM_DELTA_CHANGE_TYPE, FM_DELTA_COMMIT_VERSION, FM_DELTA_COMMIT_TIMESTAMP};
    const fm_type *const types[] = {fm_type_string(), fm_type_i64(), fm_type_timestamp()};
    int32_t n = table->n_fields;
    fm_field *fields = fm_arena_array(arena, fm_field, n + 3);

    if (!fields) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) fields[i] = table->fields[i];
    for (int32_t i = 0; i < 3; i++) {
        if (fm_delta_schema_find(table, fm_str_c(names[i])) >= 0) {
            return fm_fail(err, FM_INVALID, "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS",
                           "The table already contains the reserved column %s, which its change data feed uses. Rename it to read the feed.", names[i]);
        }
        fields[n + i] = (fm_field){fm_str_c(names[i]), types[i], true};
    }
    *out = fm_type_struct(arena, fields, n + 3);
    return *out ? FM_OK : fm_no_memory(arena, err);
}

/* ---- The range of a batch read ------------------------------------------------------------------------------------ */

/* The first version at or after a time (is_start), or the last at or before it. */
static fm_status version_of_time(const fm_delta_source *s, fm_str text, bool is_start, int64_t *out, fm_error *err)
{
    fm_delta_commit_time *times;
    int32_t n, i = 0;
    int64_t us;

    if (!fm_text_to_timestamp(text, s->env.conf->zone, &us)) {
        return fm_fail(err, FM_INVALID, "DELTA_TIMESTAMP_INVALID", "The provided timestamp (%.*s) cannot be converted to a valid timestamp.", FM_STR_ARG(text));
    }
    fm_arena *scratch = fm_arena_new(0);
    if (!scratch) return fm_no_memory(NULL, err);
    fm_status st = fm_delta_commit_times(&s->log, scratch, &times, &n, err);
    if (st == FM_OK) {
        int64_t ms = us / 1000;
        while (i < n && (is_start ? times[i].timestamp_ms < ms : times[i].timestamp_ms <= ms)) i++;
        if (is_start && i == n) {
            st = fm_fail(err, FM_INVALID, "DELTA_TIMESTAMP_GREATER_THAN_COMMIT", "The provided timestamp (%.*s) is after the latest version of the table.", FM_STR_ARG(text));
        } else if (!is_start && i == 0) {
            st = fm_fail(err, FM_INVALID, "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION", "The provided timestamp (%.*s) is before the earliest version of the table.",
                         FM_STR_ARG(text));
        } else {
            *out = times[is_start ? i : i - 1].version;
        }
    }
    fm_arena_free(scratch);
    return st;
}

/* One end; *out stays as it is when no option names it. */
static fm_status boundary(const fm_delta_source *s, const fm_options *o, const char *version_key, const char *time_key, bool is_start, bool *given, int64_t *out,
                          fm_error *err)
{
    fm_str version = fm_str_trim(fm_options_get(o, version_key, FM_STR(""))), time = fm_str_trim(fm_options_get(o, time_key, FM_STR("")));

    *given = version.len || time.len;
    if (version.len && time.len) {
        const char *which = is_start ? "starting" : "ending";
        return fm_fail(err, FM_INVALID, "DELTA_MULTIPLE_CDC_BOUNDARY",
                       "Multiple %s arguments provided for CDC read. Please provide one of either %sTimestamp or %sVersion.", which, which, which);
    }
    if (time.len) return version_of_time(s, time, is_start, out, err);
    if (version.len && (!fm_str_to_i64(version, out) || *out < 0)) {
        return fm_fail(err, FM_INVALID, "DELTA_VERSION_INVALID", "The provided version (%.*s) is not a valid version.", FM_STR_ARG(version));
    }
    return FM_OK;
}

fm_status fm_delta_feed_range(fm_delta_source *s, const fm_options *o, fm_error *err)
{
    int64_t latest = s->snapshot->version;
    fm_delta_snapshot *first;
    bool has_start, has_end;

    s->feed_end = latest;
    FM_TRY(boundary(s, o, "startingVersion", "startingTimestamp", true, &has_start, &s->feed_start, err));
    FM_TRY(boundary(s, o, "endingVersion", "endingTimestamp", false, &has_end, &s->feed_end, err));
    if (!has_start) {
        return fm_fail(err, FM_INVALID, "DELTA_NO_START_FOR_CDC_READ", "No startingVersion or startingTimestamp provided for CDC read.");
    }
    if (s->feed_start > latest) {
        return fm_fail(err, FM_INVALID, "DELTA_CDC_START_VERSION_AFTER_LATEST",
                       "Start version %" PRId64 " for change data feed exceeds the latest table version %" PRId64 ".", s->feed_start, latest);
    }
    if (s->feed_end < s->feed_start) {
        return fm_fail(err, FM_INVALID, "DELTA_INVALID_CDC_RANGE", "CDC range from start %" PRId64 " to end %" PRId64 " was invalid. End cannot be before start.",
                       s->feed_start, s->feed_end);
    }
    if (s->feed_end > latest) s->feed_end = latest;
    FM_TRY(fm_delta_snapshot_load(&s->log, s->feed_start, &first, err));
    bool on = fm_delta_feed_is_on(&first->metadata);
    fm_delta_snapshot_free(first);
    return on ? FM_OK : fm_delta_feed_is_off(s->feed_start, s->feed_end, s->feed_start, err);
}

/* ---- Pieces ----------------------------------------------------------------------------------------------------------- */

/* Columns that rows of a commit have and those that are read have not, or in another type. */
static fm_status check_schema(const fm_delta_source *s, const fm_delta_metadata *m, int64_t version, fm_arena *scratch, fm_error *err)
{
    const fm_type *mine = s->snapshot->schema->type;
    const fm_delta_schema *then;

    FM_TRY(fm_delta_schema_read(scratch, m, &then, err));
    for (int32_t i = 0; i < then->type->n_fields; i++) {
        const fm_field *f = &then->type->fields[i];
        int32_t c = fm_delta_schema_find(mine, f->name);
        if (c >= 0 && (fm_type_eq(mine->fields[c].type, f->type) || !fm_type_is_nested(f->type))) continue; /* widened, or the reader refuses it */
        return fm_fail(err, FM_INVALID, "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE",
                       "Retrieving table changes between version %" PRId64 " and %" PRId64 " failed because of an incompatible schema change at version %" PRId64
                       ": column `%.*s` is gone or of another type since. Query the versions before and after it separately.",
                       s->feed_start, s->feed_end, version, FM_STR_ARG(f->name));
    }
    return FM_OK;
}

fm_status fm_delta_feed_commit(const fm_delta_source *s, int64_t version, int64_t start, int64_t end, fm_arena *arena, fm_delta_changes *out, fm_error *err)
{
    FM_TRY(fm_delta_changes_read(&s->log, version, arena, out, err));
    if (out->has_protocol) FM_TRY(fm_delta_check_read(&out->protocol, s->log.root, err));
    if (!out->has_metadata) return FM_OK;
    if (!fm_delta_feed_is_on(&out->metadata)) return fm_delta_feed_is_off(start, end, version, err);
    return version > start ? check_schema(s, &out->metadata, version, arena, err) : FM_OK;
}
