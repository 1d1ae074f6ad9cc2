/* expr/fn_list_sets.c: arrays as sets: array_distinct, array_union, array_intersect, array_except, arrays_overlap.
 *
 * Rule   Spark: the first of equal elements stays, in the order of the input; null is one of the values. arrays_overlap is
 *        three-valued. Elements are found again by hash, so the cost is that of the elements.
 * Cases  tests/golden/functions/array_sets.test */
#include "expr/call_args.h"
#include "expr/coerce.h"
#include "expr/fn_list_impl.h"
#include "expr/lane_set.h"
#include "expr/resolve_text.h"

static fm_status bind_distinct(fm_bind *b, fm_error *err)
{
    b->returns = b->args[0]->type;
    return fm_list_bind_ordered(b, 0, err);
}

/* Two arrays of one element type, as far as numbers widen to each other without decimals. */
static fm_status bind_two(fm_bind *b, fm_error *err)
{
    const fm_type *x = b->args[0]->type, *y = b->args[1]->type, *element = NULL;
    bool lists = x->id == FM_TYPE_LIST && y->id == FM_TYPE_LIST;
    if (lists) element = fm_type_tightest(b->arena, fm_list_element(x), fm_list_element(y));
    if (!element)
        return fm_fail_bind(b, err, "BINARY_ARRAY_DIFF_TYPES",
                            "The input should have been two arrays of one element type, but it's [%s, %s].", x, y);
    FM_TRY(fm_list_bind_ordered(b, 0, err));
    FM_TRY(fm_list_bind_ordered(b, 1, err));
    b->returns = fm_type_list(b->arena, element, x->fields[0].nullable || y->fields[0].nullable);
    if (!b->returns) return fm_no_memory(b->arena, err);
    b->cast_args[0] = b->cast_args[1] = b->returns;
    return FM_OK;
}

static fm_status bind_overlap(fm_bind *b, fm_error *err)
{
    FM_TRY(bind_two(b, err));
    b->returns = fm_type_bool();
    return FM_OK;
}

/* ---- Sets --------------------------------------------------------------------------------------------------------- */

typedef enum set_rule { DISTINCT, UNION, INTERSECT, EXCEPT } set_rule;

/* What is known of a lane's elements so far. */
typedef struct known {
    fm_lane_set seen, other;
    bool seen_null, other_null;
} known;

static int32_t count_of(const fm_vec *list, int32_t i) { return list->offsets[i + 1] - list->offsets[i]; }

/* Adds the elements of lane i that were not seen before and that the rule wants. */
static void add_new(fm_list_maker *m, known *k, const fm_vec *list, int32_t i, set_rule rule)
{
    const fm_vec *v = &list->children[0];
    for (int32_t e = list->offsets[i]; e < list->offsets[i + 1]; e++) {
        bool null = fm_vec_is_null(v, e);
        if (rule >= INTERSECT) {
            bool in_other = null ? k->other_null : fm_lane_set_find(&k->other, v, e) >= 0;
            if (in_other != (rule == INTERSECT)) continue;
        }
        if (null ? k->seen_null : fm_lane_set_add(&k->seen, v, e) >= 0) continue;
        k->seen_null |= null;
        fm_builder_lane(m->element, v, e);
    }
}

static fm_status note_other(fm_call *call, known *k, const fm_vec *list, int32_t i)
{
    const fm_vec *v = &list->children[0];
    FM_TRY(fm_lane_set_begin(&k->other, call->arena, count_of(list, i), call->err));
    k->other_null = false;
    for (int32_t e = list->offsets[i]; e < list->offsets[i + 1]; e++) {
        if (fm_vec_is_null(v, e)) k->other_null = true;
        else fm_lane_set_add(&k->other, v, e);
    }
    return FM_OK;
}

static fm_status sets(fm_call *call, const fm_vec *args, fm_vec *out, set_rule rule)
{
    fm_list_maker m;
    known k = {0};
    if (!fm_list_make(call, out, &m)) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < out->len; i++) {
        if (fm_vec_is_null(&args[0], i) || (rule != DISTINCT && fm_vec_is_null(&args[1], i))) {
            fm_builder_null(m.list);
            continue;
        }
        k.seen_null = false;
        FM_TRY(fm_lane_set_begin(&k.seen, call->arena, count_of(&args[0], i) + (rule == UNION ? count_of(&args[1], i) : 0), call->err));
        if (rule >= INTERSECT) FM_TRY(note_other(call, &k, &args[1], i));
        add_new(&m, &k, &args[0], i, rule);
        if (rule == UNION) add_new(&m, &k, &args[1], i, rule);
        fm_builder_end(m.list);
    }
    return fm_builder_finish(m.list, out, call->err);
}

static fm_status array_distinct(fm_call *call, const fm_vec *args, fm_vec *out) { return sets(call, args, out, DISTINCT); }
static fm_status array_union(fm_call *call, const fm_vec *args, fm_vec *out) { return sets(call, args, out, UNION); }
static fm_status array_intersect(fm_call *call, const fm_vec *args, fm_vec *out) { return sets(call, args, out, INTERSECT); }
static fm_status array_except(fm_call *call, const fm_vec *args, fm_vec *out) { return sets(call, args, out, EXCEPT); }

static fm_status arrays_overlap(fm_call *call, const fm_vec *args, fm_vec *out)
{
    uint64_t *valid = fm_arena_buffer(call->arena, (size_t)fm_bit_words(out->len) * 8, true);
    known k = {0};
    if (!valid) return fm_no_memory(call->arena, call->err);
    out->validity = valid;
    for (int32_t i = 0; i < out->len; i++) {
        const fm_vec *v = &args[1].children[0];
        bool nulls, found = false, both;
        if (fm_vec_is_null(&args[0], i) || fm_vec_is_null(&args[1], i)) continue;
        both = count_of(&args[0], i) > 0 && count_of(&args[1], i) > 0;
        FM_TRY(note_other(call, &k, &args[0], i));
        nulls = k.other_null;
        for (int32_t e = args[1].offsets[i]; e < args[1].offsets[i + 1] && !found; e++) {
            if (fm_vec_is_null(v, e)) nulls = true;
            else found = fm_lane_set_find(&k.other, v, e) >= 0;
        }
        if (!found && nulls && both) continue;
        fm_bit_set(valid, i);
        fm_vec_bool_out(out)[i] = found;
    }
    return FM_OK;
}

#define LIST_1 .args = {FM_ARG_LIST, FM_ARG_END}, .args_min = 1, .args_max = 1
#define LIST_2 .args = {FM_ARG_ANY, FM_ARG_ANY, FM_ARG_END}, .args_min = 2, .args_max = 2

const fm_function fm_fn_arrays_overlap = {
    .name = "arrays_overlap", LIST_2, .bind = bind_overlap, .kernel = arrays_overlap, .nulls = FM_NULLS_CUSTOM,
    .usage = "arrays_overlap(a, b)", .doc = "Whether the arrays share a value.", .since = "2.4.0",
};
const fm_function fm_fn_array_distinct = {
    .name = "array_distinct", LIST_1, .bind = bind_distinct, .kernel = array_distinct, .nulls = FM_NULLS_CUSTOM,
    .usage = "array_distinct(array)", .doc = "Returns each value once.", .since = "2.4.0",
};
const fm_function fm_fn_array_union = {
    .name = "array_union", LIST_2, .bind = bind_two, .kernel = array_union, .nulls = FM_NULLS_CUSTOM,
    .usage = "array_union(a, b)", .doc = "Returns the values of either array, each once.", .since = "2.4.0",
};
const fm_function fm_fn_array_intersect = {
    .name = "array_intersect", LIST_2, .bind = bind_two, .kernel = array_intersect, .nulls = FM_NULLS_CUSTOM,
    .usage = "array_intersect(a, b)", .doc = "Returns the values of both arrays, each once.", .since = "2.4.0",
};
const fm_function fm_fn_array_except = {
    .name = "array_except", LIST_2, .bind = bind_two, .kernel = array_except, .nulls = FM_NULLS_CUSTOM,
    .usage = "array_except(a, b)", .doc = "Returns the values of a that are not in b, each once.", .since = "2.4.0",
};
