/* expr/agg_collect.c: collect_list(x), array_agg(x), collect_set(x).
 *
 * State   a bag; of collect_set a distinct one.
 * Rule    Spark: nulls are left out, nothing gives an empty array. collect_set holds NaN once, 0.0 and -0.0 as one; its
 *         order is not specified, here that of the first rows. Maps have no equality: not in a set.
 * Cases   tests/golden/functions/collect_list.test */
#include "expr/agg_bag.h"
#include "expr/aggregates.h"
#include "column/key.h"
#include "expr/resolve_text.h"

extern const fm_aggregate fm_agg_collect_list, fm_agg_collect_set;

static bool is_set(const fm_agg_call *call) { return call->aggregate == &fm_agg_collect_set; }

static fm_status bind_list(fm_bind *b, fm_error *err)
{
    b->returns = fm_type_list(b->arena, b->args[0]->type, false);
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

static fm_status bind_set(fm_bind *b, fm_error *err)
{
    if (!fm_type_orders(b->args[0]->type))
        return fm_fail_bind(b, err, "UNSUPPORTED_INPUT_TYPE",
                            "The input of `collect_set` can't be \"MAP\" type data, but it is %s.",
                            b->args[0]->type, NULL);
    return bind_list(b, err);
}

static fm_status update(const fm_agg_call *call, char *const *entries, const fm_vec *args,
                        const uint8_t *keep, int32_t n, fm_error *err)
{
    for (int32_t i = 0; i < n; i++) {
        fm_agg_bag **bag = fm_agg_state(call, entries[i]);
        if ((keep && !keep[i]) || fm_vec_is_null(&args[0], i)) continue;
        FM_TRY(is_set(call) ? fm_agg_bag_count(bag, args, 1, i, 1, err) : fm_agg_bag_add(bag, args, 1, i, err));
    }
    return FM_OK;
}

static fm_status finish(const fm_agg_call *call, char *const *entries, int32_t n, fm_arena *arena,
                        fm_vec *out, fm_error *err)
{
    fm_builder *b = fm_builder_new(arena, call->returns, n), *element;
    if (!b) return fm_no_memory(arena, err);
    element = fm_builder_child(b, 0);
    for (int32_t i = 0; i < n; i++) {
        const fm_agg_bag *bag = *(fm_agg_bag **)fm_agg_state(call, entries[i]);
        fm_agg_bag_head head;
        fm_str lanes = {bag ? bag->bytes : NULL, bag ? bag->len : 0};
        size_t at = 0, from;
        if (is_set(call)) {
            while (fm_agg_bag_next(bag, &at, &head, &lanes)) {
                from = 0;
                FM_TRY(fm_lane_decode(lanes, &from, element, err));
            }
        } else {
            while (at < lanes.len) FM_TRY(fm_lane_decode(lanes, &at, element, err));
        }
        fm_builder_end(b);
    }
    return fm_builder_finish(b, out, err);
}

static fm_status load(const fm_agg_call *call, fm_str bytes, size_t *at, void *state, fm_error *err)
{
    return fm_agg_bag_load(bytes, at, is_set(call), call->arg_types, 1, state, err);
}

#define COMMON                                                                                \
    .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = 1, .never_null = true,       \
    .order_dependent = true, .state_size = fm_agg_bags_size, .update = update,                      \
    .finish = finish, .fini = fm_agg_bags_fini, .save = fm_agg_bags_save, .load = load, .memory = fm_agg_bags_memory, .since = "2.0.0"

const fm_aggregate fm_agg_collect_list = {
    COMMON, .name = "collect_list", .merge = fm_agg_bags_merge, .aliases = {"array_agg"}, .bind = bind_list,
    .usage = "collect_list(expr)", .doc = "Returns the values that are not null as an array.",
};
const fm_aggregate fm_agg_collect_set = {
    COMMON, .name = "collect_set", .merge = fm_agg_bags_merge_distinct, .bind = bind_set, .usage = "collect_set(expr)",
    .doc = "Returns the values that are not null as an array, each once.",
};
