/* expr/fn_list.c: functions of arrays that look into them: size, array_contains, array_position, array_max, array_join;
 * and array(...).
 *
 * Rule   Spark: elements compare as SQL groups them (NaN equals NaN); null elements are kept by what does not look for
 *        values. array_contains: null when the value is not there but a null is.
 * Cases  tests/golden/functions/array.test */
#include "expr/fn_list_impl.h"

#include "expr/aggregates.h"
#include "expr/call_args.h"
#include "expr/cast.h"
#include "expr/coerce.h"
#include "expr/resolve_text.h"
#include "expr/text.h"

/* ---- What binds share ------------------------------------------------------------------------------------------- */

bool fm_bind_is_bare_null(const fm_bind *b, int32_t i)
{
    const fm_expr *e = b->args[i];
    const fm_type *t = e->type;
    while (t->n_fields == 1 && t->id == FM_TYPE_LIST) t = t->fields[0].type;
    if (t->id == FM_TYPE_MAP) t = t->fields[0].type;
    return t->id == FM_TYPE_NULL && e->kind == FM_EXPR_LITERAL && fm_vec_is_null(&e->value, 0);
}

fm_status fm_list_bind_value(fm_bind *b, int32_t value, bool wide, fm_error *err)
{
    const fm_type *list = b->args[0]->type, *x = b->args[value]->type;
    const fm_type *common = wide ? fm_type_common_no_string(b->arena, b->conf, fm_list_element(list), x)
                                 : fm_type_tightest(b->arena, fm_list_element(list), x);
    if (!common || fm_bind_is_bare_null(b, 0))
        return fm_fail_bind(b, err, "ARRAY_FUNCTION_DIFF_TYPES",
                            "The array and the value should have like types, but they are %s and %s.", list, x);
    b->cast_args[0] = fm_type_list(b->arena, common, list->fields[0].nullable);
    b->cast_args[value] = common;
    return b->cast_args[0] ? FM_OK : fm_no_memory(b->arena, err);
}

fm_status fm_list_bind_same(fm_bind *b, fm_error *err)
{
    (void)err;
    b->returns = b->args[0]->type;
    return FM_OK;
}

fm_status fm_list_bind_ordered(const fm_bind *b, int32_t i, fm_error *err)
{
    if (fm_type_orders(fm_list_element(b->args[i]->type))) return FM_OK;
    return fm_fail_bind(b, err, "INVALID_ORDERING_TYPE", "The function does not support ordering on type %s.", b->args[i]->type, NULL);
}

fm_status fm_list_too_long(fm_call *call)
{
    return fm_fail(call->err, FM_INVALID, "COLLECTION_SIZE_LIMIT_EXCEEDED.FUNCTION",
                   "Can't create array which exceeds the array size limit, in the function `%s`.", call->function->name);
}

static fm_status bind_element(fm_bind *b, fm_error *err)
{
    b->returns = fm_list_element(b->args[0]->type);
    b->nullable = true;
    return fm_list_bind_ordered(b, 0, err);
}

static uint64_t *new_validity(fm_call *call, fm_vec *out)
{
    uint64_t *bits = fm_arena_buffer(call->arena, (size_t)fm_bit_words(out->len) * 8, true);
    out->validity = bits;
    return bits;
}

/* ---- size -------------------------------------------------------------------------------------------------- */

static fm_status array_size(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    for (int32_t i = 0; i < out->len; i++)
        fm_vec_i32_out(out)[i] = args[0].offsets[i + 1] - args[0].offsets[i];
    return FM_OK;
}

/* The size of NULL is NULL, and -1 without ANSI. */
static fm_status size(fm_call *call, const fm_vec *args, fm_vec *out)
{
    if (args[0].type->id == FM_TYPE_NULL) {
        if (call->ansi) return fm_vec_nulls(out, out->type, out->len, call->arena, call->err);
        for (int32_t i = 0; i < out->len; i++) fm_vec_i32_out(out)[i] = -1;
        return FM_OK;
    }
    FM_TRY(array_size(call, args, out));
    if (call->ansi) out->validity = args[0].validity;
    for (int32_t i = 0; !call->ansi && i < out->len; i++)
        if (fm_vec_is_null(&args[0], i)) fm_vec_i32_out(out)[i] = -1;
    return FM_OK;
}

static fm_status bind_size(fm_bind *b, fm_error *err)
{
    fm_type_id id = b->args[0]->type->id;
    b->returns = fm_type_i32();
    b->nullable &= b->conf->ansi;
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

/* (array, value), neither of them a bare NULL. */
static fm_status bind_search(fm_bind *b, fm_error *err)
{
    if (fm_bind_is_bare_null(b, 0) || b->args[1]->type->id == FM_TYPE_NULL)
        return fm_fail_bind(b, err, "NULL_TYPE", "Null typed values cannot be used as arguments of the function.", NULL, NULL);
    FM_TRY(fm_list_bind_ordered(b, 0, err));
    return fm_list_bind_value(b, 1, true, err);
}

static fm_status bind_contains(fm_bind *b, fm_error *err)
{
    b->returns = fm_type_bool();
    return bind_search(b, err);
}

static fm_status bind_position(fm_bind *b, fm_error *err)
{
    b->returns = fm_type_i64();
    if (b->args[1]->type->id == FM_TYPE_NULL && !fm_bind_is_bare_null(b, 0)) return fm_list_bind_value(b, 1, true, err);
    return bind_search(b, err);
}

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

/* ---- array_join ------------------------------------------------------------------------------------------------ */

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
    fm_list_maker m;
    if (!fm_list_make(call, out, &m)) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < out->len; i++) {
        for (int32_t a = 0; a < call->expr->n_args; a++) fm_builder_lane(m.element, &args[a], i);
        fm_builder_end(m.list);
    }
    return fm_builder_finish(m.list, out, call->err);
}

#define LIST_1 .args = {FM_ARG_LIST, FM_ARG_END}, .args_min = 1, .args_max = 1
#define LIST_VALUE .args = {FM_ARG_LIST, FM_ARG_ANY, FM_ARG_END}, .args_min = 2, .args_max = 2

const fm_function fm_fn_size = {
    .name = "size", .aliases = {"cardinality"}, .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = 1, .bind = bind_size,
    .kernel = size, .nulls = FM_NULLS_CUSTOM, .usage = "size(collection)",
    .doc = "Returns how many elements or entries there are.", .since = "1.5.0",
};
const fm_function fm_fn_array_size = {
    .name = "array_size", LIST_1, .returns = fm_type_i32, .kernel = array_size, .nulls = FM_NULLS_STRICT,
    .usage = "array_size(array)", .doc = "Returns how many elements there are.", .since = "3.3.0",
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
const fm_function fm_fn_array_max = {
    .name = "array_max", LIST_1, .bind = bind_element, .kernel = array_max, .nulls = FM_NULLS_CUSTOM,
    .usage = "array_max(array)", .doc = "Returns the largest element.", .since = "2.4.0",
};
const fm_function fm_fn_array_min = {
    .name = "array_min", LIST_1, .bind = bind_element, .kernel = array_min, .nulls = FM_NULLS_CUSTOM,
    .usage = "array_min(array)", .doc = "Returns the smallest element.", .since = "2.4.0",
};
const fm_function fm_fn_array_join = {
    .name = "array_join", .args = {FM_ARG_LIST, FM_ARG_STRING, FM_ARG_STRING, FM_ARG_END}, .args_min = 2, .args_max = 3,
    .bind = bind_join, .kernel = array_join, .nulls = FM_NULLS_STRICT, .usage = "array_join(array, sep[, null])",
    .doc = "Joins the elements with a separator.", .since = "2.4.0",
};
