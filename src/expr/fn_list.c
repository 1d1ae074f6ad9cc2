/* expr/fn_list.c: functions of arrays: size, array_contains, array_position, array_distinct, array_max, slice, flatten, ...
 *
 * Rule   Spark: elements compare as SQL groups them (NaN equals NaN); null elements are kept by what does not look for
 *        values. array_contains: null when the value is not there but a null is.
 * Cases  tests/golden/functions/array_contains.test */
#include "column/builder.h"
#include "expr/call_args.h"
#include "expr/cast.h"
#include "expr/coerce.h"
#include "expr/kernel.h"
#include "expr/resolve_text.h"
#include "expr/text.h"

static const fm_type *element_of(const fm_type *list) { return list->fields[0].type; }

/* (array, value): both are cast to a common element type. */
static fm_status bind_list_value(fm_bind *b, fm_error *err)
{
    const fm_type *list = b->args[0]->type;
    const fm_type *common = fm_type_common(b->arena, b->conf, element_of(list), b->args[1]->type);
    if (!common)
        return fm_fail_bind(b, err, "ARRAY_FUNCTION_DIFF_TYPES",
                            "The array and the value should have like types, but they are %s and %s.", list,
                            b->args[1]->type);
    b->cast_args[0] = fm_type_list(b->arena, common, true);
    b->cast_args[1] = common;
    return b->cast_args[0] ? FM_OK : fm_no_memory(b->arena, err);
}

static fm_status bind_lists(fm_bind *b, fm_error *err)
{
    b->returns = fm_type_common_of(b->arena, b->conf, b->args, b->n_args);
    if (!b->returns)
        return fm_fail_bind(b, err, "BINARY_ARRAY_DIFF_TYPES",
                            "The arrays should have like types, but they are %s and %s.", b->args[0]->type,
                            b->args[b->n_args - 1]->type);
    for (int32_t i = 0; i < b->n_args; i++) b->cast_args[i] = b->returns;
    return FM_OK;
}

static fm_status bind_overlap(fm_bind *b, fm_error *err)
{
    FM_TRY(bind_lists(b, err));
    b->returns = fm_type_bool();
    return FM_OK;
}

static fm_status bind_same(fm_bind *b, fm_error *err)
{
    (void)err;
    b->returns = b->args[0]->type;
    return FM_OK;
}

static fm_status bind_element(fm_bind *b, fm_error *err)
{
    (void)err;
    b->returns = element_of(b->args[0]->type);
    b->nullable = true;
    return FM_OK;
}

static uint64_t *new_validity(fm_call *call, fm_vec *out)
{
    uint64_t *bits = fm_arena_buffer(call->arena, (size_t)fm_bit_words(out->len) * 8, true);
    out->validity = bits;
    return bits;
}

/* ---- size -------------------------------------------------------------------------------------------------- */

static fm_status size(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    for (int32_t i = 0; i < out->len; i++)
        fm_vec_i32_out(out)[i] = args[0].offsets[i + 1] - args[0].offsets[i];
    return FM_OK;
}

static fm_status bind_size(fm_bind *b, fm_error *err)
{
    fm_type_id id = b->args[0]->type->id;
    b->returns = fm_type_i32();
    if (id == FM_TYPE_LIST || id == FM_TYPE_MAP || id == FM_TYPE_NULL) return FM_OK;
    return fm_fail_arg_type(b, 0, "(\"ARRAY\" or \"MAP\")", err);
}

/* ---- looking for a value ----------------------------------------------------------------------------------- */

/* Index of the first element from `from` on that is x's lane j, or -1; *nulls: whether a null was met. */
static int32_t find(const fm_vec *list, int64_t i, const fm_vec *x, int64_t j, bool *nulls)
{
    const fm_vec *elements = &list->children[0];
    for (int32_t k = list->offsets[i]; k < list->offsets[i + 1]; k++) {
        if (fm_vec_is_null(elements, k)) {
            *nulls = true;
            continue;
        }
        if (fm_vec_same(elements, k, x, j)) return k;
    }
    return -1;
}

static fm_status array_contains(fm_call *call, const fm_vec *args, fm_vec *out)
{
    uint64_t *valid = new_validity(call, out);
    if (!valid) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < out->len; i++) {
        bool nulls = false, found;
        if (fm_vec_is_null(&args[0], i) || fm_vec_is_null(&args[1], i)) continue;
        found = find(&args[0], i, &args[1], i, &nulls) >= 0;
        if (!found && nulls) continue;
        fm_bit_set(valid, i);
        fm_vec_bool_out(out)[i] = found;
    }
    return FM_OK;
}

static fm_status array_position(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    for (int32_t i = 0; i < out->len; i++) {
        bool nulls;
        int32_t k;
        if (fm_call_lane_null(out, i)) continue;
        k = find(&args[0], i, &args[1], i, &nulls);
        fm_vec_i64_out(out)[i] = k < 0 ? 0 : k - args[0].offsets[i] + 1;
    }
    return FM_OK;
}

static fm_status bind_contains(fm_bind *b, fm_error *err)
{
    b->returns = fm_type_bool();
    return bind_list_value(b, err);
}

static fm_status bind_position(fm_bind *b, fm_error *err)
{
    b->returns = fm_type_i64();
    return bind_list_value(b, err);
}

static fm_status arrays_overlap(fm_call *call, const fm_vec *args, fm_vec *out)
{
    uint64_t *valid = new_validity(call, out);
    if (!valid) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < out->len; i++) {
        const fm_vec *b = &args[1].children[0];
        bool nulls = false, found = false, both;
        if (fm_vec_is_null(&args[0], i) || fm_vec_is_null(&args[1], i)) continue;
        both = args[0].offsets[i + 1] > args[0].offsets[i] && args[1].offsets[i + 1] > args[1].offsets[i];
        for (int32_t k = args[0].offsets[i]; k < args[0].offsets[i + 1]; k++)
            nulls |= fm_vec_is_null(&args[0].children[0], k);
        for (int32_t k = args[1].offsets[i]; k < args[1].offsets[i + 1] && !found; k++) {
            bool ignored;
            if (fm_vec_is_null(b, k))
                nulls = true;
            else
                found = find(&args[0], i, b, k, &ignored) >= 0;
        }
        if (!found && nulls && both) continue;
        fm_bit_set(valid, i);
        fm_vec_bool_out(out)[i] = found;
    }
    return FM_OK;
}

/* ---- elements kept or left out ----------------------------------------------------------------------------- */

/* Builds a list a lane; begin and end of each come from the callers. */
typedef struct maker {
    fm_builder *list, *element;
} maker;

static bool make(fm_call *call, const fm_vec *out, maker *m)
{
    m->list = fm_builder_new(call->arena, out->type, out->len);
    if (m->list) m->element = fm_builder_child(m->list, 0);
    return m->list != NULL;
}

/* Whether lane j of x is among elements [from, to) of v, nulls being equal. */
static bool is_among(const fm_vec *v, int32_t from, int32_t to, const fm_vec *x, int64_t j)
{
    for (int32_t k = from; k < to; k++)
        if (fm_vec_same(v, k, x, j)) return true;
    return false;
}

typedef enum set_rule { DISTINCT, UNION, INTERSECT, EXCEPT } set_rule;

static void add_new(maker *m, const fm_vec *list, int64_t i, const fm_vec *other, int64_t j, set_rule rule)
{
    const fm_vec *v = &list->children[0];
    for (int32_t k = list->offsets[i]; k < list->offsets[i + 1]; k++) {
        if (is_among(v, list->offsets[i], k, v, k)) continue;
        if (other) {
            bool in_other = is_among(&other->children[0], other->offsets[j], other->offsets[j + 1], v, k);
            if (in_other != (rule == INTERSECT)) continue;
        }
        fm_builder_lane(m->element, v, k);
    }
}

static fm_status sets(fm_call *call, const fm_vec *args, fm_vec *out, set_rule rule)
{
    maker m;
    if (!make(call, out, &m)) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < out->len; i++) {
        if (fm_vec_is_null(&args[0], i) || (rule != DISTINCT && fm_vec_is_null(&args[1], i))) {
            fm_builder_null(m.list);
            continue;
        }
        add_new(&m, &args[0], i, rule >= INTERSECT ? &args[1] : NULL, i, rule);
        if (rule == UNION) add_new(&m, &args[1], i, &args[0], i, EXCEPT);
        fm_builder_end(m.list);
    }
    return fm_builder_finish(m.list, out, call->err);
}

static fm_status array_distinct(fm_call *call, const fm_vec *args, fm_vec *out) { return sets(call, args, out, DISTINCT); }
static fm_status array_union(fm_call *call, const fm_vec *args, fm_vec *out) { return sets(call, args, out, UNION); }
static fm_status array_intersect(fm_call *call, const fm_vec *args, fm_vec *out) { return sets(call, args, out, INTERSECT); }
static fm_status array_except(fm_call *call, const fm_vec *args, fm_vec *out) { return sets(call, args, out, EXCEPT); }

static fm_status array_compact(fm_call *call, const fm_vec *args, fm_vec *out)
{
    maker m;
    if (!make(call, out, &m)) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < out->len; i++) {
        if (fm_vec_is_null(&args[0], i)) {
            fm_builder_null(m.list);
            continue;
        }
        for (int32_t k = args[0].offsets[i]; k < args[0].offsets[i + 1]; k++)
            if (!fm_vec_is_null(&args[0].children[0], k)) fm_builder_lane(m.element, &args[0].children[0], k);
        fm_builder_end(m.list);
    }
    return fm_builder_finish(m.list, out, call->err);
}

static fm_status array_remove(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const fm_vec *v = &args[0].children[0];
    maker m;
    if (!make(call, out, &m)) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < out->len; i++) {
        if (fm_vec_is_null(&args[0], i) || fm_vec_is_null(&args[1], i)) {
            fm_builder_null(m.list);
            continue;
        }
        for (int32_t k = args[0].offsets[i]; k < args[0].offsets[i + 1]; k++)
            if (!fm_vec_same(v, k, &args[1], i)) fm_builder_lane(m.element, v, k);
        fm_builder_end(m.list);
    }
    return fm_builder_finish(m.list, out, call->err);
}

static fm_status bind_list_and_value(fm_bind *b, fm_error *err)
{
    FM_TRY(bind_list_value(b, err));
    b->returns = b->cast_args[0];
    return FM_OK;
}

static fm_status add_at_end(fm_call *call, const fm_vec *args, fm_vec *out, bool front)
{
    maker m;
    if (!make(call, out, &m)) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < out->len; i++) {
        if (fm_vec_is_null(&args[0], i)) {
            fm_builder_null(m.list);
            continue;
        }
        if (front) fm_builder_lane(m.element, &args[1], i);
        for (int32_t k = args[0].offsets[i]; k < args[0].offsets[i + 1]; k++)
            fm_builder_lane(m.element, &args[0].children[0], k);
        if (!front) fm_builder_lane(m.element, &args[1], i);
        fm_builder_end(m.list);
    }
    return fm_builder_finish(m.list, out, call->err);
}

static fm_status array_append(fm_call *call, const fm_vec *args, fm_vec *out) { return add_at_end(call, args, out, false); }
static fm_status array_prepend(fm_call *call, const fm_vec *args, fm_vec *out) { return add_at_end(call, args, out, true); }

/* ---- max, min ---------------------------------------------------------------------------------------------- */

static fm_status extreme(fm_call *call, const fm_vec *args, fm_vec *out, bool max)
{
    const fm_vec *v = &args[0].children[0];
    int32_t *from = fm_arena_array(call->arena, int32_t, out->len);
    if (!from) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < out->len; i++) {
        from[i] = -1;
        if (fm_vec_is_null(&args[0], i)) continue;
        for (int32_t k = args[0].offsets[i]; k < args[0].offsets[i + 1]; k++) {
            int order;
            if (fm_vec_is_null(v, k)) continue;
            order = from[i] < 0 ? 0 : fm_vec_cmp(v, k, v, from[i]);
            if (from[i] < 0 || (max ? order > 0 : order < 0)) from[i] = k;
        }
    }
    return fm_vec_gather(out, v, from, out->len, call->arena, call->err);
}

static fm_status array_max(fm_call *call, const fm_vec *args, fm_vec *out) { return extreme(call, args, out, true); }
static fm_status array_min(fm_call *call, const fm_vec *args, fm_vec *out) { return extreme(call, args, out, false); }

/* ---- slice, flatten, array_repeat, array_join -------------------------------------------------------------- */

static fm_status slice(fm_call *call, const fm_vec *args, fm_vec *out)
{
    maker m;
    if (!make(call, out, &m)) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < out->len; i++) {
        int64_t start, n, first, have;
        if (fm_vec_is_null(&args[0], i) || fm_vec_is_null(&args[1], i) || fm_vec_is_null(&args[2], i)) {
            fm_builder_null(m.list);
            continue;
        }
        start = fm_vec_i32(&args[1])[i];
        n = fm_vec_i32(&args[2])[i];
        have = args[0].offsets[i + 1] - args[0].offsets[i];
        if (start == 0)
            return fm_fail(call->err, FM_INVALID, "INVALID_PARAMETER_VALUE.START",
                           "The value of parameter(s) `start` in `slice` is invalid: Expects a positive or a negative "
                           "value for `start`, but got 0.");
        if (n < 0)
            return fm_fail(call->err, FM_INVALID, "INVALID_PARAMETER_VALUE.LENGTH",
                           "The value of parameter(s) `length` in `slice` is invalid: Expects `length` greater than or "
                           "equal to 0, but got %lld.", (long long)n);
        first = start > 0 ? start - 1 : have + start;
        for (int64_t k = first; first >= 0 && k < have && k < first + n; k++)
            fm_builder_lane(m.element, &args[0].children[0], args[0].offsets[i] + k);
        fm_builder_end(m.list);
    }
    return fm_builder_finish(m.list, out, call->err);
}

static fm_status bind_flatten(fm_bind *b, fm_error *err)
{
    b->returns = element_of(b->args[0]->type);
    b->nullable = true;
    return b->returns->id == FM_TYPE_LIST ? FM_OK : fm_fail_arg_type(b, 0, "\"ARRAY\" of \"ARRAY\"", err);
}

static fm_status flatten(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const fm_vec *inner = &args[0].children[0];
    maker m;
    if (!make(call, out, &m)) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < out->len; i++) {
        bool null = fm_vec_is_null(&args[0], i);
        for (int32_t k = args[0].offsets[i]; k < args[0].offsets[i + 1]; k++) null |= fm_vec_is_null(inner, k);
        if (null) {
            fm_builder_null(m.list);
            continue;
        }
        for (int32_t k = args[0].offsets[i]; k < args[0].offsets[i + 1]; k++)
            for (int32_t e = inner->offsets[k]; e < inner->offsets[k + 1]; e++)
                fm_builder_lane(m.element, &inner->children[0], e);
        fm_builder_end(m.list);
    }
    return fm_builder_finish(m.list, out, call->err);
}

static fm_status bind_join(fm_bind *b, fm_error *err)
{
    b->returns = fm_type_string();
    b->cast_args[0] = fm_type_list(b->arena, fm_type_string(), true);
    return b->cast_args[0] ? FM_OK : fm_no_memory(b->arena, err);
}

static fm_status array_join(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const fm_vec *v = &args[0].children[0];
    fm_strbuf buf = {0};
    fm_status st = FM_OK;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        bool first = true;
        if (fm_call_lane_null(out, i)) continue;
        for (int32_t k = args[0].offsets[i]; k < args[0].offsets[i + 1]; k++) {
            bool null = fm_vec_is_null(v, k);
            if (null && call->expr->n_args < 3) continue;
            if (!first) fm_strbuf_add(&buf, fm_vec_str(&args[1], i));
            first = false;
            fm_strbuf_add(&buf, null ? fm_vec_str(&args[2], i) : fm_vec_str(v, k));
        }
        st = fm_out_buffer(call, out, i, &buf);
    }
    fm_strbuf_fini(&buf);
    return st;
}

static fm_status bind_repeat(fm_bind *b, fm_error *err)
{
    b->returns = fm_type_list(b->arena, b->args[0]->type, b->args[0]->nullable);
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

static fm_status array_repeat(fm_call *call, const fm_vec *args, fm_vec *out)
{
    maker m;
    int64_t total = 0;
    if (!make(call, out, &m)) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < out->len; i++) {
        int32_t n = fm_vec_is_null(&args[1], i) ? -1 : fm_vec_i32(&args[1])[i];
        if (fm_vec_is_null(&args[1], i)) {
            fm_builder_null(m.list);
            continue;
        }
        total += n > 0 ? n : 0;
        if (total > INT32_MAX / 4) return fm_no_memory(call->arena, call->err);
        for (int32_t k = 0; k < n; k++) fm_builder_lane(m.element, &args[0], i);
        fm_builder_end(m.list);
    }
    return fm_builder_finish(m.list, out, call->err);
}

/* ---- array(...) -------------------------------------------------------------------------------------------- */

static fm_status bind_array(fm_bind *b, fm_error *err)
{
    const fm_type *t = b->n_args ? fm_type_common_of(b->arena, b->conf, b->args, b->n_args) : fm_type_null();
    bool nullable = false;
    if (!t)
        return fm_fail_bind(b, err, "DATA_DIFF_TYPES",
                            "Input to `array` should all be the same type, but there are %s and %s.",
                            b->args[0]->type, b->args[b->n_args - 1]->type);
    for (int32_t i = 0; i < b->n_args; i++) {
        b->cast_args[i] = t;
        nullable |= b->args[i]->nullable;
    }
    b->nullable = false;
    b->returns = fm_type_list(b->arena, t, nullable);
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

static fm_status array(fm_call *call, const fm_vec *args, fm_vec *out)
{
    maker m;
    if (!make(call, out, &m)) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < out->len; i++) {
        for (int32_t a = 0; a < call->expr->n_args; a++) fm_builder_lane(m.element, &args[a], i);
        fm_builder_end(m.list);
    }
    return fm_builder_finish(m.list, out, call->err);
}

#define LIST_1 .args = {FM_ARG_LIST, FM_ARG_END}, .args_min = 1, .args_max = 1
#define LIST_2 .args = {FM_ARG_LIST, FM_ARG_LIST, FM_ARG_END}, .args_min = 2, .args_max = 2
#define LIST_VALUE .args = {FM_ARG_LIST, FM_ARG_ANY, FM_ARG_END}, .args_min = 2, .args_max = 2

const fm_function fm_fn_size = {
    .name = "size", .aliases = {"cardinality", "array_size"}, .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = 1, .bind = bind_size,
    .kernel = size, .nulls = FM_NULLS_STRICT, .usage = "size(collection)",
    .doc = "Returns how many elements or entries there are.", .since = "1.5.0",
};
const fm_function fm_fn_array = {
    .name = "array", .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 0, .args_max = -1, .bind = bind_array, .kernel = array,
    .nulls = FM_NULLS_CUSTOM, .usage = "array(a, b, ...)", .doc = "Returns an array of the arguments.", .since = "1.1.0",
};
const fm_function fm_fn_array_contains = {
    .name = "array_contains", LIST_VALUE, .bind = bind_contains, .kernel = array_contains, .nulls = FM_NULLS_CUSTOM,
    .usage = "array_contains(array, value)", .doc = "Whether the array holds the value.", .since = "1.5.0",
};
const fm_function fm_fn_array_position = {
    .name = "array_position", LIST_VALUE, .bind = bind_position, .kernel = array_position, .nulls = FM_NULLS_STRICT,
    .usage = "array_position(array, value)", .doc = "Returns the first place of the value, from 1; 0 if nowhere.", .since = "2.4.0",
};
const fm_function fm_fn_arrays_overlap = {
    .name = "arrays_overlap", LIST_2, .bind = bind_overlap, .kernel = arrays_overlap, .nulls = FM_NULLS_CUSTOM,
    .usage = "arrays_overlap(a, b)", .doc = "Whether the arrays share a value.", .since = "2.4.0",
};
const fm_function fm_fn_array_distinct = {
    .name = "array_distinct", LIST_1, .bind = bind_same, .kernel = array_distinct, .nulls = FM_NULLS_CUSTOM,
    .usage = "array_distinct(array)", .doc = "Returns each value once.", .since = "2.4.0",
};
const fm_function fm_fn_array_union = {
    .name = "array_union", LIST_2, .bind = bind_lists, .kernel = array_union, .nulls = FM_NULLS_CUSTOM,
    .usage = "array_union(a, b)", .doc = "Returns the values of either array, each once.", .since = "2.4.0",
};
const fm_function fm_fn_array_intersect = {
    .name = "array_intersect", LIST_2, .bind = bind_lists, .kernel = array_intersect, .nulls = FM_NULLS_CUSTOM,
    .usage = "array_intersect(a, b)", .doc = "Returns the values of both arrays, each once.", .since = "2.4.0",
};
const fm_function fm_fn_array_except = {
    .name = "array_except", LIST_2, .bind = bind_lists, .kernel = array_except, .nulls = FM_NULLS_CUSTOM,
    .usage = "array_except(a, b)", .doc = "Returns the values of a that are not in b, each once.", .since = "2.4.0",
};
const fm_function fm_fn_array_compact = {
    .name = "array_compact", LIST_1, .bind = bind_same, .kernel = array_compact, .nulls = FM_NULLS_CUSTOM,
    .usage = "array_compact(array)", .doc = "Leaves the nulls out.", .since = "3.4.0",
};
const fm_function fm_fn_array_remove = {
    .name = "array_remove", LIST_VALUE, .bind = bind_list_and_value, .kernel = array_remove, .nulls = FM_NULLS_CUSTOM,
    .usage = "array_remove(array, value)", .doc = "Leaves a value out.", .since = "2.4.0",
};
const fm_function fm_fn_array_append = {
    .name = "array_append", LIST_VALUE, .bind = bind_list_and_value, .kernel = array_append, .nulls = FM_NULLS_CUSTOM,
    .usage = "array_append(array, value)", .doc = "Puts a value behind the last.", .since = "3.4.0",
};
const fm_function fm_fn_array_prepend = {
    .name = "array_prepend", LIST_VALUE, .bind = bind_list_and_value, .kernel = array_prepend, .nulls = FM_NULLS_CUSTOM,
    .usage = "array_prepend(array, value)", .doc = "Puts a value before the first.", .since = "3.5.0",
};
const fm_function fm_fn_array_max = {
    .name = "array_max", LIST_1, .bind = bind_element, .kernel = array_max, .nulls = FM_NULLS_CUSTOM,
    .usage = "array_max(array)", .doc = "Returns the largest element.", .since = "2.4.0",
};
const fm_function fm_fn_array_min = {
    .name = "array_min", LIST_1, .bind = bind_element, .kernel = array_min, .nulls = FM_NULLS_CUSTOM,
    .usage = "array_min(array)", .doc = "Returns the smallest element.", .since = "2.4.0",
};
const fm_function fm_fn_slice = {
    .name = "slice", .args = {FM_ARG_LIST, FM_ARG_I32, FM_ARG_I32, FM_ARG_END}, .args_min = 3, .args_max = 3, .bind = bind_same,
    .kernel = slice, .nulls = FM_NULLS_CUSTOM, .can_fail = true, .usage = "slice(array, start, length)",
    .doc = "Returns the elements from start on, counted from 1 or from the end.", .since = "2.4.0",
};
const fm_function fm_fn_flatten = {
    .name = "flatten", LIST_1, .bind = bind_flatten, .kernel = flatten, .nulls = FM_NULLS_CUSTOM,
    .usage = "flatten(array_of_arrays)", .doc = "Joins the arrays of an array.", .since = "2.4.0",
};
const fm_function fm_fn_array_join = {
    .name = "array_join", .args = {FM_ARG_LIST, FM_ARG_STRING, FM_ARG_STRING, FM_ARG_END}, .args_min = 2, .args_max = 3,
    .bind = bind_join, .kernel = array_join, .nulls = FM_NULLS_STRICT, .usage = "array_join(array, sep[, null])",
    .doc = "Joins the elements with a separator.", .since = "2.4.0",
};
const fm_function fm_fn_array_repeat = {
    .name = "array_repeat", .args = {FM_ARG_ANY, FM_ARG_I32, FM_ARG_END}, .args_min = 2, .args_max = 2, .bind = bind_repeat,
    .kernel = array_repeat, .nulls = FM_NULLS_CUSTOM, .can_fail = true, .usage = "array_repeat(value, n)",
    .doc = "Returns an array of n times the value.", .since = "2.4.0",
};
