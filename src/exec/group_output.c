/* exec/group_output.c: groups become rows again when the input of a micro-batch is over. Rule: semantics 3.1.
 *
 *     append    emit the groups that the watermark has passed, and drop them
 *     update    emit the groups touched in this micro-batch; then drop those that it has passed
 *     complete  emit everything; drop nothing
 *
 * A group without a time (its time is null) is never passed. */
#include <stdlib.h>

#include "base/checked.h"
#include "exec/group.h"

enum { EMIT_ROWS = 2048 };

/* ---- Columns ---------------------------------------------------------------------------------------------------- */

/* The window or timestamp column of n groups, from their times. */
static fm_status time_column(const fm_group_spec *spec, const int64_t *times, int32_t n, fm_arena *arena, fm_vec *out, fm_error *err)
{
    const fm_type *type = spec->time_type;
    int32_t nulls = 0;

    for (int32_t i = 0; i < n; i++) nulls += times[i] == FM_STATE_NO_TIME;
    if (nulls == n) return fm_vec_nulls(out, type, n, arena, err);
    fm_assert(nulls == 0); /* groups without a time lie in a bucket of their own */
    if (type->id != FM_TYPE_STRUCT) {
        FM_TRY(fm_vec_init(out, type, n, arena, err));
        memcpy(fm_vec_i64_out(out), times, (size_t)n * sizeof *times);
        return FM_OK;
    }
    fm_vec *edges = fm_arena_array(arena, fm_vec, 2);
    if (!edges) return fm_no_memory(arena, err);
    FM_TRY(fm_vec_init(&edges[0], type->fields[0].type, n, arena, err));
    FM_TRY(fm_vec_init(&edges[1], type->fields[1].type, n, arena, err));
    for (int32_t i = 0; i < n; i++) fm_vec_i64_out(&edges[0])[i] = times[i] - spec->window.duration_us;
    memcpy(fm_vec_i64_out(&edges[1]), times, (size_t)n * sizeof *times);
    *out = (fm_vec){.type = type, .len = n, .children = edges};
    return FM_OK;
}

fm_status fm_group_emit(const fm_group_spec *spec, const int64_t *times, const fm_key *keys, char *const *values, int32_t n,
                        fm_arena *arena, const fm_emit *out, fm_error *err)
{
    int32_t n_columns = spec->schema->n_fields;
    fm_vec *columns = fm_arena_array(arena, fm_vec, n_columns), *key_columns = fm_arena_array(arena, fm_vec, spec->n_keys);

    if (!columns || !key_columns) return fm_no_memory(arena, err);
    FM_TRY(fm_keys_decode(keys, n, spec->key_types, spec->n_keys, arena, key_columns, err));
    for (int32_t c = 0; c < n_columns; c++) {
        const fm_group_output *o = &spec->outputs[c];
        const fm_agg_call *call = o->from == FM_FROM_AGGREGATE ? &spec->calls[o->index].call : NULL;
        if (o->from == FM_FROM_KEY) columns[c] = key_columns[o->index];
        else if (o->from == FM_FROM_TIME) FM_TRY(time_column(spec, times, n, arena, &columns[c], err));
        else FM_TRY(call->aggregate->finish(call, values, n, arena, &columns[c], err));
    }
    fm_batch batch = {.schema = spec->schema, .rows = n, .columns = columns};
    return out->push(out->ctx, &batch, err);
}

/* ---- Buckets ---------------------------------------------------------------------------------------------------- */

/* The end of a bucket's groups: that of the window. */
static int64_t end_of(const fm_group_spec *spec, const fm_state_bucket *bucket)
{
    int64_t time_us = fm_state_bucket_time(bucket);

    return spec->kind == FM_GROUP_TUMBLING ? fm_group_end(time_us, spec->window.duration_us) : time_us;
}

static fm_status emit_bucket(const fm_group_part *part, fm_state_bucket *bucket, bool touched_only, fm_arena *arena, const fm_emit *out, fm_error *err)
{
    fm_key keys[EMIT_ROWS];
    char *values[EMIT_ROWS];
    int64_t times[EMIT_ROWS], at = 0, end_us = end_of(part->spec, bucket);
    int32_t n;

    for (int32_t i = 0; i < EMIT_ROWS; i++) times[i] = end_us;
    while ((n = fm_state_scan(part->state, bucket, &at, touched_only, keys, values, EMIT_ROWS)) > 0) {
        fm_arena_reset(arena);
        FM_TRY(fm_group_emit(part->spec, times, keys, values, n, arena, out, err));
    }
    return FM_OK;
}

static fm_status emit_all(const fm_group_part *part, bool touched_only, fm_arena *arena, const fm_emit *out, fm_error *err)
{
    fm_state_bucket *bucket;

    for (int32_t i = 0; (bucket = fm_state_bucket_nth(part->state, i)); i++) FM_TRY(emit_bucket(part, bucket, touched_only, arena, out, err));
    return FM_OK;
}

/* ---- Closing, bucket by bucket: windows ---------------------------------------------------------------------------- */

static fm_status close_windows(fm_group_part *part, int64_t close_us, fm_arena *arena, const fm_emit *out, fm_error *err)
{
    fm_state_bucket *bucket;

    while ((bucket = fm_state_bucket_nth(part->state, 0)) && fm_state_bucket_time(bucket) != FM_STATE_NO_TIME && end_of(part->spec, bucket) <= close_us) {
        if (part->spec->mode == FM_MODE_APPEND) FM_TRY(emit_bucket(part, bucket, false, arena, out, err));
        fm_state_bucket_drop(part->state, bucket);
    }
    return FM_OK;
}

/* ---- Closing, group by group: timestamps ----------------------------------------------------------------------------- */

/* The timestamp of a group: one of its key columns. */
static fm_status times_of(const fm_group_spec *spec, const fm_key *keys, int32_t n, fm_arena *arena, int64_t *out, fm_error *err)
{
    fm_vec *columns = fm_arena_array(arena, fm_vec, spec->n_keys);
    int32_t k = 0;

    if (!columns) return fm_no_memory(arena, err);
    while (spec->key_columns[k] != spec->time_column) k++;
    FM_TRY(fm_keys_decode(keys, n, spec->key_types, spec->n_keys, arena, columns, err));
    memcpy(out, fm_vec_i64(&columns[k]), (size_t)n * sizeof *out);
    return FM_OK;
}

/* Of the bucket that the watermark stands in: the groups that it has passed. */
static fm_status close_some(fm_group_part *part, fm_state_bucket *bucket, int64_t close_us, fm_arena *arena, const fm_emit *out, fm_error *err)
{
    uint8_t *keep = malloc((size_t)fm_state_bucket_rows(bucket) + 1);
    fm_key keys[EMIT_ROWS];
    char *values[EMIT_ROWS];
    int64_t times[EMIT_ROWS], at = 0, from = 0;
    fm_status st = keep ? FM_OK : fm_no_memory(NULL, err);
    int32_t n, gone;

    while (st == FM_OK && (n = fm_state_scan(part->state, bucket, &at, false, keys, values, EMIT_ROWS)) > 0) {
        fm_arena_reset(arena);
        st = times_of(part->spec, keys, n, arena, times, err);
        gone = 0;
        for (int32_t i = 0; st == FM_OK && i < n; i++) {
            keep[from + i] = times[i] > close_us;
            keys[gone] = keys[i];
            values[gone] = values[i];
            gone += !keep[from + i];
        }
        if (st == FM_OK && gone && part->spec->mode == FM_MODE_APPEND) st = fm_group_emit(part->spec, times, keys, values, gone, arena, out, err);
        from = at;
    }
    if (st == FM_OK) st = fm_state_bucket_keep(part->state, bucket, keep, err);
    free(keep);
    return st;
}

static fm_status close_timestamps(fm_group_part *part, int64_t close_us, fm_arena *arena, const fm_emit *out, fm_error *err)
{
    fm_state_bucket *bucket;

    while ((bucket = fm_state_bucket_nth(part->state, 0))) {
        int64_t from_us = fm_state_bucket_time(bucket);
        if (from_us == FM_STATE_NO_TIME || from_us > close_us) return FM_OK;
        if ((uint64_t)close_us - (uint64_t)from_us < (uint64_t)part->spec->bucket_us - 1) return close_some(part, bucket, close_us, arena, out, err);
        if (part->spec->mode == FM_MODE_APPEND) FM_TRY(emit_bucket(part, bucket, false, arena, out, err));
        fm_state_bucket_drop(part->state, bucket);
    }
    return FM_OK;
}

/* ---- All of it -------------------------------------------------------------------------------------------------- */

fm_status fm_group_finish(fm_group_part *part, const fm_op_batch *mb, fm_arena *arena, const fm_emit *out, fm_error *err)
{
    const fm_group_spec *spec = part->spec;
    fm_group_bounds bounds = fm_group_bounds_of(spec, mb);

    if (part->slices) return fm_slices_finish(part->slices, mb, arena, out, err);
    if (!mb->is_stream || spec->mode == FM_MODE_COMPLETE) return emit_all(part, false, arena, out, err);
    if (spec->mode == FM_MODE_UPDATE) FM_TRY(emit_all(part, true, arena, out, err));
    if (!bounds.on) return FM_OK;
    return spec->kind == FM_GROUP_TIME ? close_timestamps(part, bounds.close_us, arena, out, err)
                                       : close_windows(part, bounds.close_us, arena, out, err);
}
