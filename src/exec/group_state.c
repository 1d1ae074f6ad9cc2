/* exec/group_state.c: one part of a GROUP BY's state: rows find their bucket and their entry, and the aggregates take
 * them in. Runs at the worker that owns the part, in the order of the input. */
#include "base/limits.h"
#include "exec/group.h"

enum { CHUNK = 512 }; /* rows taken at once: the entries they touch stay in the first-level cache from upsert to update */

fm_status fm_group_part_init(fm_group_part *part, const fm_group_spec *spec, fm_state_part *state, fm_state_part *late, int64_t mark, fm_error *err)
{
    *part = (fm_group_part){.spec = spec, .state = state, .late = late, .scratch = fm_arena_new(0)};
    if (!part->scratch) return fm_no_memory(NULL, err);
    return spec->kind == FM_GROUP_SLIDING ? fm_slices_new(part, mark, &part->slices, err) : FM_OK;
}

void fm_group_part_fini(fm_group_part *part)
{
    fm_slices_free(part->slices);
    fm_arena_free(part->scratch);
    *part = (fm_group_part){0};
}

void fm_group_part_begin(fm_group_part *part, const fm_group_bounds *bounds)
{
    fm_state_bucket *bucket;

    memset(part->cached, 0, sizeof part->cached);
    while ((bucket = fm_state_bucket_nth(part->late, 0))) fm_state_bucket_drop(part->late, bucket);
    part->dropped = part->updated = part->removed = 0;
    if (part->slices) fm_slices_begin(part->slices, bounds);
}

/* ---- Buckets ---------------------------------------------------------------------------------------------------- */

static inline uint32_t cache_place(int64_t time_us) { return (uint32_t)(((uint64_t)time_us * UINT64_C(0x9E3779B97F4A7C15)) >> 56); }

static fm_status find_bucket(fm_group_part *part, int64_t time_us, fm_state_bucket **out, fm_error *err)
{
    uint32_t at = cache_place(time_us);

    FM_TRY(fm_state_bucket_at(part->state, time_us, out, err));
    part->cached_times[at] = time_us;
    part->cached[at] = *out;
    return FM_OK;
}

static fm_status find_buckets(fm_group_part *part, const int64_t *times, int32_t n, fm_state_bucket **out, fm_error *err)
{
    _Static_assert(FM_GROUP_CACHE == 256, "cache_place gives eight bits");

    for (int32_t i = 0; i < n; i++) {
        uint32_t at = cache_place(times[i]);
        if (part->cached[at] && part->cached_times[at] == times[i]) out[i] = part->cached[at];
        else FM_TRY(find_bucket(part, times[i], &out[i], err));
    }
    return FM_OK;
}

/* ---- Rows ------------------------------------------------------------------------------------------------------- */

/* Lanes [from, from + n) of v; from is a multiple of 64. */
static fm_status cut_vec(const fm_vec *v, int32_t from, int32_t n, fm_arena *arena, fm_vec *out, fm_error *err)
{
    *out = *v;
    out->len = n;
    if (v->validity) out->validity = v->validity + from / 64;
    if (v->values) out->values = (const char *)v->values + (size_t)from * fm_type_width(v->type);
    if (v->offsets) out->offsets = v->offsets + from;
    if (v->type->id != FM_TYPE_STRUCT || v->type->n_fields == 0) return FM_OK;
    fm_vec *children = fm_arena_array(arena, fm_vec, v->type->n_fields);
    if (!children) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < v->type->n_fields; i++) FM_TRY(cut_vec(&v->children[i], from, n, arena, &children[i], err));
    out->children = children;
    return FM_OK;
}

/* FILTER (WHERE ...): what is null counts as false, and null lanes hold 0. *none: nothing passes. */
static const uint8_t *kept_lanes(const fm_vec *condition, bool *none)
{
    *none = condition->type->id == FM_TYPE_NULL;
    return *none ? NULL : fm_vec_bool(condition);
}

static fm_status update_all(const fm_group_spec *spec, char *const *values, const fm_vec *inputs, int32_t n, fm_error *err)
{
    for (int32_t a = 0; a < spec->n_calls; a++) {
        const fm_group_call *g = &spec->calls[a];
        fm_vec args[FM_GROUP_ARGS_MAX];
        const uint8_t *keep = NULL;
        bool none = false;
        for (int32_t k = 0; k < g->call.n_args; k++) args[k] = g->args[k] == FM_GROUP_NO_INPUT ? (fm_vec){.type = fm_type_null(), .len = n} : inputs[g->args[k]];
        if (g->filter != FM_GROUP_NO_INPUT) keep = kept_lanes(&inputs[g->filter], &none);
        if (!none) FM_TRY(g->call.aggregate->update(&g->call, values, args, keep, n, err));
    }
    return FM_OK;
}

static fm_status apply_chunk(fm_group_part *part, const int64_t *times, const fm_key *keys, const fm_vec *inputs, int32_t n, fm_error *err)
{
    fm_state_bucket *buckets[CHUNK];
    char *values[CHUNK];

    if (part->slices) {
        FM_TRY(fm_slices_upsert(part->slices, times, keys, n, values, err));
    } else if (times) {
        FM_TRY(find_buckets(part, times, n, buckets, err));
        FM_TRY(fm_state_upsert(part->state, buckets, keys, n, values, NULL, err));
    } else {
        FM_TRY(fm_state_bucket_at(part->state, FM_STATE_NO_TIME, &buckets[0], err));
        FM_TRY(fm_state_upsert_in(part->state, buckets[0], keys, n, values, NULL, err));
    }
    return update_all(part->spec, values, inputs, n, err);
}

/* Groups that late rows would have gone to. */
static fm_status note_late(fm_group_part *part, const fm_group_rows *rows, fm_error *err)
{
    for (int32_t i = 0; i < rows->n; i++) {
        fm_state_bucket *bucket;
        char *value;
        uint8_t touch;
        FM_TRY(fm_state_bucket_at(part->late, rows->times[i], &bucket, err));
        FM_TRY(fm_state_upsert_in(part->late, bucket, &rows->keys[i], 1, &value, &touch, err));
        part->dropped += touch == FM_STATE_FRESH;
    }
    return FM_OK;
}

fm_status fm_group_apply(fm_group_part *part, const fm_group_rows *rows, fm_error *err)
{
    int32_t n_inputs = part->spec->n_inputs;

    if (rows->late) return note_late(part, rows, err);
    fm_arena_reset(part->scratch);
    for (int32_t from = 0; from < rows->n; from += CHUNK) {
        int32_t n = rows->n - from < CHUNK ? rows->n - from : CHUNK;
        fm_vec *inputs = fm_arena_array(part->scratch, fm_vec, n_inputs);
        if (!inputs) return fm_no_memory(part->scratch, err);
        for (int32_t i = 0; i < n_inputs; i++) FM_TRY(cut_vec(&rows->inputs[i], from, n, part->scratch, &inputs[i], err));
        FM_TRY(apply_chunk(part, rows->times ? rows->times + from : NULL, rows->keys + from, inputs, n, err));
    }
    return FM_OK;
}

void fm_group_part_stats(const fm_group_part *part, fm_op_stats *out)
{
    fm_state_stats s;

    fm_state_part_stats(part->state, &s);
    out->memory_size += s.memory_size;
    out->rows_dropped_by_watermark += part->dropped;
    if (part->slices) {
        out->rows_total += fm_slices_rows(part->slices);
        out->rows_updated += part->updated;
        out->rows_removed += part->removed;
        out->memory_size += fm_slices_memory(part->slices);
    } else {
        out->rows_total += s.rows;
        out->rows_updated += s.rows_updated;
        out->rows_removed += s.rows_removed;
    }
}
