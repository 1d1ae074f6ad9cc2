/* expr/agg_mode.c: mode(x[, deterministic]), mode() WITHIN GROUP (ORDER BY x [DESC]): the value that came most often.
 *
 * State   a distinct bag: each value with how often it came.
 * Rule    Spark, Mode: nulls do not count. Of values that came equally often: with an order, or deterministic, the first
 *         by that order; else any, here that whose first row came first.
 * Cases   tests/golden/functions/mode.test */
#include "column/key.h"
#include "expr/agg_bag.h"
#include "expr/aggregates.h"
#include "expr/eval.h"
#include "expr/kernel.h"
#include "expr/resolve_text.h"

typedef struct bound {
    int32_t order; /* 0 none, 1 the smallest, -1 the largest */
} bound;

static fm_status bind_deterministic(fm_bind *b, bool *out, fm_error *err)
{
    const fm_expr *e = b->args[1];
    fm_value value;
    if (!fm_bind_is_constant(b, 1))
        return fm_fail_at(err, FM_INVALID, "NON_FOLDABLE_ARGUMENT", b->pos.line, b->pos.column,
                          "The function `mode` requires the parameter `deterministic` to be a foldable expression of the type "
                          "\"BOOLEAN\", but the actual argument is a non-foldable.");
    if (e->type->id != FM_TYPE_BOOL && e->type->id != FM_TYPE_NULL)
        return fm_fail_at(err, FM_INVALID, "UNEXPECTED_INPUT_TYPE", b->pos.line, b->pos.column,
                          "Parameter second of function `mode` requires the \"BOOLEAN\" type.");
    FM_TRY(fm_eval_constant(b->arena, b->conf, e, &value, err));
    if (fm_vec_is_null(&value, 0)) return fm_fail_bind(b, err, "UNEXPECTED_NULL", "The `deterministic` must not be null.", NULL, NULL);
    *out = fm_vec_bool(&value)[0];
    return FM_OK;
}

static fm_status bind(fm_bind *b, fm_error *err)
{
    bound *own = fm_arena_one(b->arena, bound);
    bool deterministic = false;
    if (!own) return fm_no_memory(b->arena, err);
    if (b->n_args == 0 || (b->n_keys == 0 && b->n_args > 2))
        return fm_fail_at(err, FM_INVALID, "INVALID_WITHIN_GROUP_EXPRESSION.WITHIN_GROUP_MISSING", b->pos.line, b->pos.column,
                          "Invalid function `mode` with WITHIN GROUP. Write mode(x), or mode() WITHIN GROUP (ORDER BY x).");
    if (b->n_keys && b->n_args > 1)
        return fm_fail_at(err, FM_INVALID, "INVALID_WITHIN_GROUP_EXPRESSION.WRONG_NUM_ORDERINGS", b->pos.line, b->pos.column,
                          "Invalid function `mode` with WITHIN GROUP. Write mode() WITHIN GROUP (ORDER BY x): one expression.");
    if (b->n_args == 2) FM_TRY(bind_deterministic(b, &deterministic, err));
    own->order = b->n_keys ? (b->keys[0]->descending ? -1 : 1) : deterministic;
    if (own->order && !fm_type_orders(b->args[0]->type))
        return fm_fail_bind(b, err, "INVALID_ORDERING_TYPE", "The `mode` does not support ordering on type %s.", b->args[0]->type, NULL);
    b->returns = b->args[0]->type;
    b->bound = own;
    return FM_OK;
}

static fm_status update(const fm_agg_call *call, char *const *entries, const fm_vec *args,
                        const uint8_t *keep, int32_t n, fm_error *err)
{
    for (int32_t i = 0; i < n; i++)
        if ((!keep || keep[i]) && !fm_vec_is_null(&args[0], i))
            FM_TRY(fm_agg_bag_count(fm_agg_state(call, entries[i]), args, 1, i, 1, err));
    return FM_OK;
}

/* The values that came most often, in the order they came first. */
static fm_status most_frequent(const fm_agg_call *call, const fm_agg_bag *bag, fm_arena *arena, fm_vec *out, fm_error *err)
{
    fm_builder *b = fm_builder_new(arena, call->arg_types[0], 1);
    fm_agg_bag_head head;
    fm_str lanes;
    int64_t most = 0;
    if (!b) return fm_no_memory(arena, err);
    for (size_t at = 0; fm_agg_bag_next(bag, &at, &head, &lanes);) most = head.count > most ? head.count : most;
    for (size_t at = 0, from; fm_agg_bag_next(bag, &at, &head, &lanes);) {
        from = 0;
        if (head.count == most) FM_TRY(fm_lane_decode(lanes, &from, b, err));
    }
    return fm_builder_finish(b, out, err);
}

static fm_status finish(const fm_agg_call *call, char *const *entries, int32_t n, fm_arena *arena,
                        fm_vec *out, fm_error *err)
{
    int32_t order = ((const bound *)call->bound)->order;
    fm_builder *b = fm_builder_new(arena, call->returns, n);
    if (!b) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) {
        fm_vec values;
        int32_t best = 0;
        FM_TRY(most_frequent(call, *(fm_agg_bag **)fm_agg_state(call, entries[i]), arena, &values, err));
        for (int32_t k = 1; order && k < values.len; k++)
            if (fm_vec_cmp(&values, k, &values, best) * order < 0) best = k;
        if (values.len) fm_builder_lane(b, &values, best);
        else fm_builder_null(b);
    }
    return fm_builder_finish(b, out, err);
}

static fm_status load(const fm_agg_call *call, fm_str bytes, size_t *at, void *state, fm_error *err)
{
    return fm_agg_bag_load(bytes, at, true, call->arg_types, 1, state, err);
}

const fm_aggregate fm_agg_mode = {
    .name = "mode", .args = {FM_ARG_ANY, FM_ARG_ANY, FM_ARG_END}, .args_min = 0, .args_max = 2, .within = FM_WITHIN_MAYBE,
    .unread = 1 << 1, .order_dependent = true, .bind = bind, .state_size = fm_agg_bags_size, .update = update, .merge = fm_agg_bags_merge_distinct,
    .finish = finish, .fini = fm_agg_bags_fini, .save = fm_agg_bags_save, .load = load, .memory = fm_agg_bags_memory,
    .usage = "mode(expr[, deterministic]), mode() WITHIN GROUP (ORDER BY expr)",
    .doc = "Returns the value that came most often.", .since = "3.4.0",
};
