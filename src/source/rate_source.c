/* source/rate_source.c: rate: so many rows a second, by the clock. For trying things out.
 *
 * Rule: semantics 9.4. The offset is the whole seconds since the source was made; that moment
 * stands in sources/<i>/0, so the same seconds give the same rows on any day. */
#include "base/checked.h"
#include "source/rate_rows.h"
#include "source/sources.h"

#include <inttypes.h>

static const char *const options[] = {"rowsPerSecond", "rampUpTime", "numPartitions", NULL};

enum { LOG_SIZE_MAX = 4096 };

typedef struct rate_source {
    fm_rate_source rows;
    int64_t rows_per_second, ramp_s;
    int64_t created_ms;
    int64_t last_ms; /* the clock may go back, the source does not */
    bool has_target;
    int64_t target_s;
} rate_source;

static fm_status read_options(const fm_source_env *env, const fm_table_def *table, rate_source *s,
                              fm_error *err)
{
    static const char *const *const known[] = {options};
    int64_t ramp_us, partitions;

    (void)env;
    FM_TRY(fm_options_check(&table->options, "source rate", known, 1, err));
    FM_TRY(fm_options_i64(&table->options, "rowsPerSecond", 1, 1, INT64_C(1) << 40,
                          &s->rows_per_second, err));
    FM_TRY(fm_options_i64(&table->options, "numPartitions", 1, 1, INT32_MAX, &partitions, err));
    FM_TRY(fm_options_duration(&table->options, "rampUpTime", 0, &ramp_us, err));
    s->ramp_s = ramp_us / 1000000;
    if (ramp_us >= 0 && s->ramp_s <= INT64_MAX / 2 / s->rows_per_second) return FM_OK;
    return fm_fail(err, FM_INVALID, "INCORRECT_RAMP_UP_RATE",
                   "Option rampUpTime of %" PRId64 " s is too long for %" PRId64
                   " rows per second. Make one of them smaller.",
                   s->ramp_s, s->rows_per_second);
}

static fm_status rate_schema(const fm_source_env *env, const fm_table_def *table, bool is_stream,
                             fm_arena *arena, const fm_type **out, fm_error *err)
{
    rate_source s = {0};

    (void)is_stream;
    FM_TRY(read_options(env, table, &s, err));
    return fm_rate_schema(arena, out, err);
}

/* The moment the source was made: written once. */
static fm_status read_creation(rate_source *s, const char *dir, fm_error *err)
{
    fm_fs *fs = s->rows.env.fs;
    fm_str path = fm_arena_printf(s->rows.arena, "%s/0", dir), text;

    if (!path.ptr) return fm_no_memory(s->rows.arena, err);
    fm_status st = fm_fs_read_all(fs, path.ptr, LOG_SIZE_MAX, s->rows.arena, &text, err);
    if (st == FM_OK) {
        if (fm_str_starts(text, FM_STR("v1\n")) &&
            fm_str_to_i64((fm_str){text.ptr + 3, text.len - 3}, &s->created_ms))
            return FM_OK;
        return fm_fail(
            err, FM_CORRUPT, "FLOODMARK_CORRUPT_LOG",
            "'%s' should hold v1 and a time in ms. Restore it from a backup, or start with a new "
            "checkpointLocation.",
            path.ptr);
    }
    if (st != FM_NOT_FOUND) return st;
    s->created_ms = fm_clock_now_us(s->rows.env.clock) / 1000;
    text = fm_arena_printf(s->rows.arena, "v1\n%" PRId64, s->created_ms);
    if (!text.ptr) return fm_no_memory(s->rows.arena, err);
    FM_TRY(fm_fs_mkdirs(fs, dir, err));
    return fm_fs_write_atomic(fs, path.ptr, text, false, err);
}

static fm_status rate_open(const fm_source_env *env, const fm_source_spec *spec, fm_arena *arena,
                           fm_source **out, fm_error *err)
{
    rate_source *s = fm_arena_one(arena, rate_source);

    if (!s) return fm_no_memory(arena, err);
    FM_TRY(read_options(env, spec->table, s, err));
    FM_TRY(fm_rate_init(&s->rows, &fm_source_rate, env, spec, arena, err));
    if (!spec->metadata_dir)
        return fm_fail(err, FM_UNSUPPORTED, "UNSUPPORTED_FEATURE.BATCH_READ",
                       "The source rate has no end: read it as a stream.");
    FM_TRY(read_creation(s, spec->metadata_dir, err));
    s->last_ms = s->created_ms;
    *out = &s->rows.base;
    return FM_OK;
}

static fm_status parse_offset(fm_str text, int64_t *out, fm_error *err)
{
    *out = 0;
    if (text.len == 0 || (fm_str_to_i64(text, out) && *out >= 0)) return FM_OK;
    return fm_fail(err, FM_CORRUPT, "FLOODMARK_CORRUPT_LOG",
                   "The checkpoint's offset %.*s is none of a rate source. Was the source of the "
                   "query changed? Use a new "
                   "checkpointLocation then.",
                   FM_STR_ARG(text));
}

static fm_status rate_restore(fm_source *source, fm_str start, fm_error *err)
{
    rate_source *s = (rate_source *)source;
    int64_t seconds;

    FM_TRY(parse_offset(start, &seconds, err));
    if (seconds > (INT64_MAX - s->created_ms) / 1000)
        return parse_offset(FM_STR("-"), &seconds, err);
    if (s->last_ms < s->created_ms + seconds * 1000) s->last_ms = s->created_ms + seconds * 1000;
    return FM_OK;
}

static int64_t seconds_now(rate_source *s)
{
    int64_t now_ms = fm_clock_now_us(s->rows.env.clock) / 1000;

    if (now_ms > s->last_ms) s->last_ms = now_ms;
    return (s->last_ms - s->created_ms) / 1000;
}

static fm_status rate_latest(fm_source *source, fm_str start, fm_read_limit limit, fm_arena *arena,
                             fm_str *end, fm_str *latest, fm_error *err)
{
    rate_source *s = (rate_source *)source;
    int64_t now_s = seconds_now(s), at_s;

    (void)limit;
    FM_TRY(parse_offset(start, &at_s, err));
    if (s->has_target && now_s > s->target_s) now_s = s->target_s > at_s ? s->target_s : at_s;
    *end = fm_arena_printf(arena, "%" PRId64, now_s);
    *latest = *end;
    return end->ptr ? FM_OK : fm_no_memory(arena, err);
}

static fm_status rate_fix_target(fm_source *source, fm_error *err)
{
    rate_source *s = (rate_source *)source;

    (void)err;
    s->has_target = true;
    s->target_s = seconds_now(s);
    return FM_OK;
}

/* First value of a second; false when it does not fit. */
static bool value_at(const rate_source *s, int64_t second, int64_t *out)
{
    int64_t step = s->rows_per_second / (s->ramp_s + 1),
            ramped = second < s->ramp_s ? second : s->ramp_s;
    int64_t half = ramped % 2 ? (ramped + 1) / 2 : ramped / 2,
            other = ramped % 2 ? ramped : ramped + 1, rest;

    return fm_mul_i64(half, step, out) && fm_mul_i64(*out, other, out) &&
           fm_mul_i64(second - ramped, s->rows_per_second, &rest) && fm_add_i64(*out, rest, out);
}

static fm_status rate_plan_splits(fm_source *source, fm_str start, fm_str end, int32_t workers,
                                  fm_arena *arena, fm_split **out, int32_t *n, fm_error *err)
{
    rate_source *s = (rate_source *)source;
    int64_t from_s, to_s, first, last;

    (void)workers;
    FM_TRY(parse_offset(start, &from_s, err));
    FM_TRY(parse_offset(end, &to_s, err));
    if (!value_at(s, from_s, &first) || !value_at(s, to_s, &last) || from_s > INT64_MAX / 2000)
        return fm_fail(err, FM_LIMIT, "INCORRECT_END_OFFSET",
                       "%" PRId64 " rows per second for %" PRId64
                       " s are more than a BIGINT counts.",
                       s->rows_per_second, to_s);
    double ms_per_value =
        last > first ? (double)(to_s - from_s) * 1000.0 / (double)(last - first) : 0;
    return fm_rate_splits(first, last, s->created_ms + from_s * 1000, ms_per_value, arena, out, n,
                          err);
}

static void rate_description(const fm_source *source, fm_strbuf *out)
{
    const rate_source *s = (const rate_source *)source;

    fm_strbuf_printf(out,
                     "RateStreamV2[rowsPerSecond=%" PRId64 ", rampUpTimeSeconds=%" PRId64
                     ", numPartitions=default",
                     s->rows_per_second, s->ramp_s);
}

const fm_source_type fm_source_rate = {
    .name = "rate",
    .options = options,
    .can_stream = true,
    .schema = rate_schema,
    .open = rate_open,
    .close = fm_rate_close,
    .restore = rate_restore,
    .latest_offset = rate_latest,
    .fix_target = rate_fix_target,
    .plan_splits = rate_plan_splits,
    .description = rate_description,
    .reader_open = fm_rate_reader_open,
    .reader_read = fm_rate_reader_read,
    .reader_counts = fm_rate_reader_counts,
    .reader_close = fm_rate_reader_close,
};
