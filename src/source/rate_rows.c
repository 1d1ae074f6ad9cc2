/* source/rate_rows.c: counts. */
#include "source/rate_rows.h"

#include "base/limits.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { SPLIT_ROWS = 1 << 18 }; /* values of one split, whatever the number of workers */

fm_status fm_rate_schema(fm_arena *arena, const fm_type **out, fm_error *err)
{
    fm_field fields[] = {{FM_STR("timestamp"), fm_type_timestamp(), true},
                         {FM_STR("value"), fm_type_i64(), true}};

    *out = fm_type_struct(arena, fields, 2);
    return *out ? FM_OK : fm_no_memory(arena, err);
}

fm_status fm_rate_init(fm_rate_source *s, const fm_source_type *type, const fm_source_env *env,
                       const fm_source_spec *spec, fm_arena *arena, fm_error *err)
{
    s->base.type = type;
    s->env = *env;
    s->arena = arena;
    s->want_position = spec->want_position;
    s->n_wanted = spec->n_wanted;
    return fm_source_columns(spec, arena, &s->wanted, &s->out_schema, err);
}

fm_status fm_rate_splits(int64_t first, int64_t end, int64_t start_ms, double ms_per_value,
                         fm_arena *arena, fm_split **out, int32_t *n, fm_error *err)
{
    int64_t count = end > first ? (end - first + SPLIT_ROWS - 1) / SPLIT_ROWS : 0;

    if (count > INT32_MAX)
        return fm_fail(err, FM_LIMIT, "FLOODMARK_LIMIT",
                       "A batch of %" PRId64 " rows is too many for one micro-batch.", end - first);
    *n = (int32_t)count;
    *out = fm_arena_array(arena, fm_split, count);
    fm_rate_split *splits = fm_arena_array(arena, fm_rate_split, count);
    if (!*out || !splits) return fm_no_memory(arena, err);
    for (int64_t i = 0; i < count; i++) {
        int64_t from = first + i * SPLIT_ROWS;
        int64_t to = end - from < SPLIT_ROWS ? end : from + SPLIT_ROWS;
        splits[i] = (fm_rate_split){from, to, first, start_ms, ms_per_value};
        (*out)[i] = (fm_split){i, to - from, &splits[i]};
    }
    return FM_OK;
}

void fm_rate_close(fm_source *source)
{
    (void)source;
}

/* ---- reading ---- */

typedef struct rate_reader {
    fm_split_reader base;
    const fm_rate_source *source;
    fm_arena *batch;
    int64_t rows;
} rate_reader;

fm_status fm_rate_reader_open(fm_source *source, fm_arena *arena, fm_split_reader **out,
                              fm_error *err)
{
    rate_reader *r = fm_arena_one(arena, rate_reader);

    if (!r) return fm_no_memory(arena, err);
    r->base.type = source->type;
    r->source = (const fm_rate_source *)source;
    r->batch = fm_arena_new(0);
    if (!r->batch) return fm_no_memory(NULL, err);
    *out = &r->base;
    return FM_OK;
}

void fm_rate_reader_close(fm_split_reader *reader)
{
    if (reader) fm_arena_free(((rate_reader *)reader)->batch);
}

void fm_rate_reader_counts(fm_split_reader *reader, int64_t *rows, int64_t *bad)
{
    rate_reader *r = (rate_reader *)reader;

    *rows = r->rows;
    *bad = 0;
    r->rows = 0;
}

/* Java's Math.round. */
static int64_t round_half_up(double x)
{
    return (int64_t)floor(x + 0.5);
}

static fm_status fill_column(const rate_reader *r, int32_t column, const fm_rate_split *split,
                             int64_t from, int32_t rows, fm_vec *out, fm_error *err)
{
    FM_TRY(
        fm_vec_init(out, column == 0 ? fm_type_timestamp() : fm_type_i64(), rows, r->batch, err));
    int64_t *values = fm_vec_i64_out(out);
    for (int32_t i = 0; i < rows; i++) {
        double since_ms = (double)(from + i - split->first) * split->ms_per_value;
        values[i] = column == 1 ? from + i : (split->start_ms + round_half_up(since_ms)) * 1000;
    }
    return FM_OK;
}

static fm_status fill_position(const rate_reader *r, int64_t from, int32_t rows, fm_vec *out,
                               fm_error *err)
{
    FM_TRY(fm_vec_init(out, fm_type_string(), rows, r->batch, err));
    fm_view *views = fm_vec_view_out(out);
    for (int32_t i = 0; i < rows; i++) {
        fm_str text = fm_arena_printf(r->batch, "value:%" PRId64, from + i);
        if (!text.ptr) return fm_no_memory(r->batch, err);
        views[i] = fm_view_of(text.ptr, text.len);
    }
    return FM_OK;
}

fm_status fm_rate_reader_read(fm_split_reader *reader, const fm_split *split,
                              fm_status (*push)(void *ctx, const fm_batch *batch, fm_error *err),
                              void *ctx, fm_wake *cancelled, fm_error *err)
{
    rate_reader *r = (rate_reader *)reader;
    const fm_rate_source *s = r->source;
    const fm_rate_split *range = split->data;

    for (int64_t from = range->from; from < range->to; from += FM_BATCH_ROWS_DECODE) {
        int32_t rows = range->to - from < FM_BATCH_ROWS_DECODE ? (int32_t)(range->to - from)
                                                               : FM_BATCH_ROWS_DECODE;
        if (cancelled && fm_wake_is_raised(cancelled))
            return fm_fail(err, FM_CANCELLED, "FLOODMARK_CANCELLED", "The query was stopped.");
        fm_arena_reset(r->batch);
        fm_vec *columns = fm_arena_array(r->batch, fm_vec, s->out_schema->n_fields);
        if (!columns) return fm_no_memory(r->batch, err);
        for (int32_t i = 0; i < s->n_wanted; i++)
            FM_TRY(fill_column(r, s->wanted[i], range, from, rows, &columns[i], err));
        if (s->want_position) FM_TRY(fill_position(r, from, rows, &columns[s->n_wanted], err));
        fm_batch batch = {.schema = s->out_schema, .rows = rows, .columns = columns};
        r->rows += rows;
        FM_TRY(push(ctx, &batch, err));
    }
    return FM_OK;
}
