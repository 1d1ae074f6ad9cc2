/* expr/agg_top_by.c: max_by(x, y, k) and min_by(x, y, k): x of the k rows where y is largest or smallest, as an array.
 *
 * State   a bag of pairs of x and y. When it has come to twice k it is cut back to the best k, in their order.
 * Rule    Spark, MaxMinByK: rows with a null y do not count, nothing gives null; of equal y the earlier row stands first.
 * Cases   tests/golden/functions/max_by.test */
#include <stdlib.h>

#include "column/key.h"
#include "expr/agg_bag.h"
#include "expr/aggregates.h"
#include "expr/call_args.h"
#include "expr/coerce.h"
#include "expr/eval.h"
#include "expr/kernel.h"
#include "expr/resolve_text.h"

enum { K_MAX = 100000, SLACK = 64 /* pairs beyond 2 k before a bag is cut */ };

typedef struct bound {
    int32_t k;
} bound;

static int32_t k_of(const fm_agg_call *call) { return ((const bound *)call->bound)->k; }

fm_status fm_agg_bind_top_by(fm_bind *b, fm_error *err)
{
    bound *own = fm_arena_one(b->arena, bound);
    const fm_type *t = b->args[2]->type;
    fm_expr *cast;
    fm_value value;
    if (!own) return fm_no_memory(b->arena, err);
    if (!fm_bind_is_constant(b, 2))
        return fm_fail_bind(b, err, "NON_FOLDABLE_INPUT", "the input k should be a foldable %s expression.", fm_type_i32(), NULL);
    if (!fm_type_implicit(b->conf, t, fm_type_i32())) return fm_fail_arg_type(b, 2, "\"INT\"", err);
    FM_TRY(fm_expr_cast(b->arena, b->conf, b->args[2], fm_type_i32(), false, false, &cast, err));
    FM_TRY(fm_eval_constant(b->arena, b->conf, cast, &value, err));
    own->k = fm_vec_is_null(&value, 0) ? 0 : fm_vec_i32(&value)[0];
    if (own->k < 1 || own->k > K_MAX)
        return fm_fail_bind(b, err, "VALUE_OUT_OF_RANGE", "The `k` must be between [1, 100000].", NULL, NULL);
    b->bound = own;
    b->returns = fm_type_list(b->arena, b->args[0]->type, true);
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

/* ---- The best ------------------------------------------------------------------------------------------------------- */

typedef struct pairs {
    fm_vec x, y;
    int32_t *order; /* [n] the best first */
    int32_t n;
    bool max;
} pairs;

static int by_y(const void *a, const void *b, void *ctx)
{
    const pairs *p = ctx;
    int32_t i = *(const int32_t *)a, j = *(const int32_t *)b;
    int order = fm_vec_cmp(&p->y, i, &p->y, j);
    if (p->max) order = -order;
    return order ? order : (i > j) - (i < j);
}

static fm_status sorted(const fm_agg_call *call, const fm_agg_bag *bag, fm_arena *arena, pairs *out, fm_error *err)
{
    fm_builder *x = fm_builder_new(arena, call->arg_types[0], (int32_t)bag->n), *y = fm_builder_new(arena, call->arg_types[1], (int32_t)bag->n);
    fm_str bytes = {bag->bytes, bag->len};
    *out = (pairs){.n = (int32_t)bag->n, .order = fm_arena_array(arena, int32_t, bag->n), .max = call->aggregate == &fm_agg_max_by_k};
    if (!x || !y || !out->order) return fm_no_memory(arena, err);
    for (size_t at = 0; at < bytes.len;) {
        FM_TRY(fm_lane_decode(bytes, &at, x, err));
        FM_TRY(fm_lane_decode(bytes, &at, y, err));
    }
    FM_TRY(fm_builder_finish(x, &out->x, err));
    FM_TRY(fm_builder_finish(y, &out->y, err));
    for (int32_t i = 0; i < out->n; i++) out->order[i] = i;
    qsort_r(out->order, (size_t)out->n, sizeof *out->order, by_y, out);
    return FM_OK;
}

static fm_status cut_back(const fm_agg_call *call, fm_agg_bag **bag, fm_error *err)
{
    fm_arena *arena;
    fm_agg_bag *kept = NULL;
    pairs p;
    if (!*bag || (*bag)->n < 2 * (int64_t)k_of(call) + SLACK) return FM_OK;
    arena = fm_arena_new(0);
    fm_status st = arena ? sorted(call, *bag, arena, &p, err) : fm_no_memory(NULL, err);
    for (int32_t i = 0; st == FM_OK && i < k_of(call); i++) {
        const fm_vec *columns[2] = {&p.x, &p.y};
        fm_vec lane[2] = {*columns[0], *columns[1]};
        st = fm_agg_bag_add(&kept, lane, 2, p.order[i], err);
    }
    fm_arena_free(arena);
    fm_agg_bag_free(st == FM_OK ? *bag : kept);
    if (st == FM_OK) *bag = kept;
    return st;
}

/* ---- The entry ------------------------------------------------------------------------------------------------------ */

static fm_status update(const fm_agg_call *call, char *const *entries, const fm_vec *args,
                        const uint8_t *keep, int32_t n, fm_error *err)
{
    for (int32_t i = 0; i < n; i++) {
        fm_agg_bag **bag = fm_agg_state(call, entries[i]);
        if ((keep && !keep[i]) || fm_vec_is_null(&args[1], i)) continue;
        FM_TRY(fm_agg_bag_add(bag, args, 2, i, err));
        FM_TRY(cut_back(call, bag, err));
    }
    return FM_OK;
}

static fm_status merge(const fm_agg_call *call, char *const *dst, char *const *src, int32_t n,
                       fm_error *err)
{
    for (int32_t i = 0; i < n; i++) {
        fm_agg_bag **d = fm_agg_state(call, dst[i]);
        FM_TRY(fm_agg_bag_add_all(d, *(fm_agg_bag **)fm_agg_state(call, src[i]), err));
        FM_TRY(cut_back(call, d, err));
    }
    return FM_OK;
}

static fm_status finish(const fm_agg_call *call, char *const *entries, int32_t n, fm_arena *arena,
                        fm_vec *out, fm_error *err)
{
    fm_builder *b = fm_builder_new(arena, call->returns, n);
    if (!b) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) {
        const fm_agg_bag *bag = *(fm_agg_bag **)fm_agg_state(call, entries[i]);
        pairs p;
        if (!bag || bag->n == 0) {
            fm_builder_null(b);
            continue;
        }
        FM_TRY(sorted(call, bag, arena, &p, err));
        for (int32_t k = 0; k < p.n && k < k_of(call); k++) fm_builder_lane(fm_builder_child(b, 0), &p.x, p.order[k]);
        fm_builder_end(b);
    }
    return fm_builder_finish(b, out, err);
}

static fm_status load(const fm_agg_call *call, fm_str bytes, size_t *at, void *state, fm_error *err)
{
    return fm_agg_bag_load(bytes, at, false, call->arg_types, 2, state, err);
}

#define COMMON                                                                                               \
    .order_dependent = true, .unread = 1 << 2, .state_size = fm_agg_bags_size, .update = update, .merge = merge,   \
    .finish = finish, .fini = fm_agg_bags_fini, .save = fm_agg_bags_save, .load = load, .memory = fm_agg_bags_memory

const fm_aggregate fm_agg_max_by_k = {COMMON, .name = "max_by"};
const fm_aggregate fm_agg_min_by_k = {COMMON, .name = "min_by"};
