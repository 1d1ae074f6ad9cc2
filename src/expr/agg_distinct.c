/* expr/agg_distinct.c: f(DISTINCT x, ...): any aggregate over the different values of its arguments. Batch queries only:
 * streams refuse it, as Spark does.
 *
 * State   a distinct bag of the arguments. The aggregate itself runs over it when the group is finished.
 * Cases   tests/golden/functions/distinct.test */
#include <stdlib.h>

#include "column/key.h"
#include "expr/agg_bag.h"
#include "expr/aggregates.h"

typedef struct bound {
    const fm_aggregate *inner;
    const void *inner_bound;
} bound;

static const fm_aggregate agg_distinct;

fm_status fm_agg_make_distinct(fm_arena *arena, fm_expr *e, fm_error *err)
{
    bound *own = fm_arena_one(arena, bound);
    if (!own) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < e->n_args; i++)
        if (!fm_type_orders(e->args[i]->type))
            return fm_fail_at(err, FM_INVALID, "UNSUPPORTED_FEATURE.SET_OPERATION_ON_MAP_TYPE", e->pos.line, e->pos.column,
                              "Maps have no equality in DISTINCT: take map_entries() of them, or their keys.");
    *own = (bound){e->aggregate, e->bound};
    e->aggregate = &agg_distinct;
    e->bound = own;
    return FM_OK;
}

static fm_status update(const fm_agg_call *call, char *const *entries, const fm_vec *args,
                        const uint8_t *keep, int32_t n, fm_error *err)
{
    for (int32_t i = 0; i < n; i++)
        if (!keep || keep[i]) FM_TRY(fm_agg_bag_count(fm_agg_state(call, entries[i]), args, call->n_args, i, 1, err));
    return FM_OK;
}

/* ---- The aggregate over the values ---------------------------------------------------------------------------------- */

enum { ROWS_AT_ONCE = 1024 };

/* The next values of the bag as vectors; *n 0: no more. */
static fm_status next_rows(const fm_agg_call *call, const fm_agg_bag *bag, size_t *at, fm_arena *arena, fm_vec *args, int32_t *n, fm_error *err)
{
    fm_builder **builders = fm_arena_array(arena, fm_builder *, call->n_args + 1);
    fm_agg_bag_head head;
    fm_str lanes;
    if (!builders) return fm_no_memory(arena, err);
    for (int32_t a = 0; a < call->n_args; a++) {
        builders[a] = fm_builder_new(arena, call->arg_types[a], ROWS_AT_ONCE);
        if (!builders[a]) return fm_no_memory(arena, err);
    }
    for (*n = 0; *n < ROWS_AT_ONCE && fm_agg_bag_next(bag, at, &head, &lanes); ++*n) {
        size_t from = 0;
        for (int32_t a = 0; a < call->n_args; a++) FM_TRY(fm_lane_decode(lanes, &from, builders[a], err));
    }
    for (int32_t a = 0; a < call->n_args; a++) FM_TRY(fm_builder_finish(builders[a], &args[a], err));
    return FM_OK;
}

static fm_status update_inner(const fm_agg_call *inner, const fm_agg_bag *bag, char *state, fm_arena *scratch, fm_error *err)
{
    char *entries[ROWS_AT_ONCE];
    for (int32_t i = 0; i < ROWS_AT_ONCE; i++) entries[i] = state;
    for (size_t at = 0;;) {
        fm_vec *args;
        int32_t n = 0;
        fm_arena_reset(scratch);
        args = fm_arena_array(scratch, fm_vec, inner->n_args + 1);
        if (!args) return fm_no_memory(scratch, err);
        FM_TRY(next_rows(inner, bag, &at, scratch, args, &n, err));
        if (n == 0) return FM_OK;
        FM_TRY(inner->aggregate->update(inner, entries, args, NULL, n, err));
    }
}

static fm_status finish_one(const fm_agg_call *inner, const fm_agg_bag *bag, char *state, uint32_t size, fm_arena *scratch,
                            fm_builder *out, fm_error *err)
{
    fm_vec value;
    fm_status st;
    memset(state, 0, size);
    if (inner->aggregate->init) inner->aggregate->init(inner, state);
    st = update_inner(inner, bag, state, scratch, err);
    if (st == FM_OK) st = inner->aggregate->finish(inner, &state, 1, scratch, &value, err);
    if (st == FM_OK) {
        /* The builder shares long strings: what it takes must not lie in scratch. */
        fm_strbuf bytes = {0};
        size_t at = 0;
        st = fm_lane_encode(&value, 0, &bytes, err);
        if (st == FM_OK) st = fm_lane_decode(fm_strbuf_str(&bytes), &at, out, err);
        fm_strbuf_fini(&bytes);
    }
    if (inner->aggregate->fini) inner->aggregate->fini(inner, state);
    return st;
}

static fm_status finish(const fm_agg_call *call, char *const *entries, int32_t n, fm_arena *arena,
                        fm_vec *out, fm_error *err)
{
    const bound *own = call->bound;
    fm_agg_call inner = *call;
    inner.aggregate = own->inner;
    inner.bound = own->inner_bound;
    inner.offset = 0;
    uint32_t size = own->inner->state_size(&inner);
    fm_builder *b = fm_builder_new(arena, call->returns, n);
    fm_arena *scratch = fm_arena_new(0);
    char *state = fm_arena_alloc(arena, size + 8, 16);
    fm_status st = b && scratch && state ? FM_OK : fm_no_memory(arena, err);
    for (int32_t i = 0; i < n && st == FM_OK; i++)
        st = finish_one(&inner, *(fm_agg_bag **)fm_agg_state(call, entries[i]), state, size, scratch, b, err);
    if (st == FM_OK) st = fm_builder_finish(b, out, err);
    fm_arena_free(scratch);
    return st;
}

static fm_status load(const fm_agg_call *call, fm_str bytes, size_t *at, void *state, fm_error *err)
{
    return fm_agg_bag_load(bytes, at, true, call->arg_types, call->n_args, state, err);
}

static const fm_aggregate agg_distinct = {
    .name = "distinct", .order_dependent = true, .state_size = fm_agg_bags_size, .update = update, .merge = fm_agg_bags_merge_distinct, .finish = finish,
    .fini = fm_agg_bags_fini, .save = fm_agg_bags_save, .load = load, .memory = fm_agg_bags_memory,
};
