/* source/rate_micro_batch_source.c: rate-micro-batch: so many rows a micro-batch, whatever the
 * clock says.
 *
 * Rule: semantics 9.5. All rows of a batch have the same time, which moves on from batch to batch.
 */
#include "base/checked.h"
#include "format/json.h"
#include "source/rate_rows.h"
#include "source/sources.h"

#include <inttypes.h>

static const char *const options[] = {"rowsPerBatch", "numPartitions", "startTimestamp",
                                      "advanceMillisPerBatch", NULL};

typedef struct batch_source {
    fm_rate_source rows;
    int64_t rows_per_batch, partitions, start_ms, advance_ms;
    bool one_batch, has_target; /* AvailableNow: one batch, which is fixed at the first trigger */
    int64_t target_rows, target_ms;
} batch_source;

static fm_status read_options(const fm_table_def *table, batch_source *s, fm_error *err)
{
    static const char *const *const known[] = {options};
    const fm_options *o = &table->options;

    FM_TRY(fm_options_check(o, "source rate-micro-batch", known, 1, err));
    if (!fm_options_find(o, "rowsPerBatch"))
        return fm_fail(
            err, FM_INVALID, "FLOODMARK_MISSING_OPTION",
            "Source rate-micro-batch needs option rowsPerBatch: the rows of each micro-batch.");
    FM_TRY(fm_options_i64(o, "rowsPerBatch", 0, 1, INT64_C(1) << 40, &s->rows_per_batch, err));
    FM_TRY(fm_options_i64(o, "numPartitions", 1, 1, INT32_MAX, &s->partitions, err));
    FM_TRY(fm_options_i64(o, "startTimestamp", 0, 0, INT64_MAX / 1000000, &s->start_ms, err));
    return fm_options_i64(o, "advanceMillisPerBatch", 1000, 0, INT32_MAX, &s->advance_ms, err);
}

static fm_status batch_schema(const fm_source_env *env, const fm_table_def *table, bool is_stream,
                              fm_arena *arena, const fm_type **out, fm_error *err)
{
    batch_source s = {0};

    (void)env;
    (void)is_stream;
    FM_TRY(read_options(table, &s, err));
    return fm_rate_schema(arena, out, err);
}

static fm_status batch_open(const fm_source_env *env, const fm_source_spec *spec, fm_arena *arena,
                            fm_source **out, fm_error *err)
{
    batch_source *s = fm_arena_one(arena, batch_source);

    if (!s) return fm_no_memory(arena, err);
    FM_TRY(read_options(spec->table, s, err));
    FM_TRY(fm_rate_init(&s->rows, &fm_source_rate_micro_batch, env, spec, arena, err));
    if (!spec->metadata_dir)
        return fm_fail(err, FM_UNSUPPORTED, "UNSUPPORTED_FEATURE.BATCH_READ",
                       "The source rate-micro-batch has no end: read it as a stream.");
    *out = &s->rows.base;
    return FM_OK;
}

/* {"offset":rows so far,"timestamp":ms}; "" is the beginning. */
static fm_status parse_offset(const batch_source *s, fm_str text, int64_t *rows, int64_t *ms,
                              fm_error *err)
{
    fm_arena *arena;
    const fm_json *v = NULL;

    *rows = 0;
    *ms = s->start_ms;
    if (text.len == 0) return FM_OK;
    arena = fm_arena_new(0);
    if (!arena) return fm_no_memory(NULL, err);
    fm_status st = fm_json_read(arena, text, &v, err);
    if (st != FM_OK || !fm_json_i64(fm_json_get(v, "offset"), rows) ||
        !fm_json_i64(fm_json_get(v, "timestamp"), ms) || *rows < 0)
        st = fm_fail(err, FM_CORRUPT, "FLOODMARK_CORRUPT_LOG",
                     "The checkpoint's offset %.*s is none of a rate-micro-batch source. Was the "
                     "source of the query "
                     "changed? Use a new checkpointLocation then.",
                     FM_STR_ARG(text));
    fm_arena_free(arena);
    return st;
}

static fm_status batch_latest(fm_source *source, fm_str start, fm_read_limit limit, fm_arena *arena,
                              fm_str *end, fm_str *latest, fm_error *err)
{
    batch_source *s = (batch_source *)source;
    int64_t rows, ms;

    (void)limit;
    FM_TRY(parse_offset(s, start, &rows, &ms, err));
    if (s->has_target) {
        rows = s->target_rows;
        ms = s->target_ms;
    } else if (!fm_add_i64(rows, s->rows_per_batch, &rows) || !fm_add_i64(ms, s->advance_ms, &ms)) {
        return fm_fail(err, FM_LIMIT, "FLOODMARK_LIMIT",
                       "The source rate-micro-batch has counted to the end of BIGINT.");
    }
    if (s->one_batch && !s->has_target) {
        s->has_target = true;
        s->target_rows = rows;
        s->target_ms = ms;
    }
    *end = fm_arena_printf(arena, "{\"offset\":%" PRId64 ",\"timestamp\":%" PRId64 "}", rows, ms);
    *latest = (fm_str){"", 0};
    return end->ptr ? FM_OK : fm_no_memory(arena, err);
}

static fm_status batch_fix_target(fm_source *source, fm_error *err)
{
    (void)err;
    ((batch_source *)source)->one_batch = true;
    return FM_OK;
}

static fm_status batch_plan_splits(fm_source *source, fm_str start, fm_str end, int32_t workers,
                                   fm_arena *arena, fm_split **out, int32_t *n, fm_error *err)
{
    batch_source *s = (batch_source *)source;
    int64_t first, last, first_ms, last_ms;

    (void)workers;
    FM_TRY(parse_offset(s, start, &first, &first_ms, err));
    FM_TRY(parse_offset(s, end, &last, &last_ms, err));
    return fm_rate_splits(first, last, first_ms, 0, arena, out, n, err);
}

static void batch_description(const fm_source *source, fm_strbuf *out)
{
    const batch_source *s = (const batch_source *)source;

    fm_strbuf_printf(out,
                     "RatePerMicroBatchStream[rowsPerBatch=%" PRId64 ", numPartitions=%" PRId64
                     ", startTimestamp=%" PRId64 ", advanceMsPerBatch=%" PRId64 "]",
                     s->rows_per_batch, s->partitions, s->start_ms, s->advance_ms);
}

const fm_source_type fm_source_rate_micro_batch = {
    .name = "rate-micro-batch",
    .options = options,
    .can_stream = true,
    .schema = batch_schema,
    .open = batch_open,
    .close = fm_rate_close,
    .latest_offset = batch_latest,
    .fix_target = batch_fix_target,
    .plan_splits = batch_plan_splits,
    .description = batch_description,
    .reader_open = fm_rate_reader_open,
    .reader_read = fm_rate_reader_read,
    .reader_counts = fm_rate_reader_counts,
    .reader_close = fm_rate_reader_close,
};
