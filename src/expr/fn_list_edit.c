/* expr/fn_list_edit.c: arrays made of arrays: array_append, array_prepend, array_insert, array_remove, array_compact, slice,
 * flatten, array_repeat, arrays_zip.
 *
 * Rule   Spark.
 * Cases  tests/golden/functions/array_edit.test */
#include "expr/call_args.h"
#include "expr/coerce.h"
#include "expr/fn_list_impl.h"
#include "expr/resolve_text.h"

/* ---- elements left out, added at an end --------------------------------------------------------------------------- */

static fm_status array_compact(fm_call *call, const fm_vec *args, fm_vec *out)
{
    fm_list_maker m;
    if (!fm_list_make(call, out, &m)) return fm_no_memory(call->arena, call->err);
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
    fm_list_maker m;
    if (!fm_list_make(call, out, &m)) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < out->len; i++) {
        if (fm_vec_is_null(&args[0], i) || fm_vec_is_null(&args[1], i)) {
            fm_builder_null(m.list);
            continue;
        }
        for (int32_t k = args[0].offsets[i]; k < args[0].offsets[i + 1]; k++)
            if (fm_vec_is_null(v, k) || !fm_vec_same(v, k, &args[1], i)) fm_builder_lane(m.element, v, k);
        fm_builder_end(m.list);
    }
    return fm_builder_finish(m.list, out, call->err);
}

static fm_status bind_remove(fm_bind *b, fm_error *err)
{
    FM_TRY(fm_list_bind_ordered(b, 0, err));
    FM_TRY(fm_list_bind_value(b, 1, false, err));
    b->returns = b->cast_args[0];
    return FM_OK;
}

static fm_status bind_add(fm_bind *b, fm_error *err)
{
    if (fm_bind_is_bare_null(b, 0)) return fm_fail_arg_type(b, 0, "\"ARRAY\"", err);
    FM_TRY(fm_list_bind_value(b, 1, false, err));
    b->returns = fm_type_list(b->arena, b->cast_args[1], true);
    b->cast_args[0] = b->returns;
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

static fm_status add_at_end(fm_call *call, const fm_vec *args, fm_vec *out, bool front)
{
    fm_list_maker m;
    if (!fm_list_make(call, out, &m)) return fm_no_memory(call->arena, call->err);
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

/* ---- array_insert ------------------------------------------------------------------------------------------------- */

static fm_status bind_insert(fm_bind *b, fm_error *err)
{
    if (fm_bind_is_bare_null(b, 0) || b->args[0]->type->id != FM_TYPE_LIST)
        return fm_fail_bind(b, err, "ARRAY_FUNCTION_DIFF_TYPES", "The array and the value should have like types, but they are %s and %s.",
                            b->args[0]->type, b->args[2]->type);
    if (!fm_type_is_integer(b->args[1]->type) || b->args[1]->type->id == FM_TYPE_I64) return fm_fail_arg_type(b, 1, "\"INT\"", err);
    FM_TRY(fm_list_bind_value(b, 2, false, err));
    b->cast_args[1] = fm_type_i32();
    b->returns = fm_type_list(b->arena, b->cast_args[2], true);
    b->cast_args[0] = b->returns;
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

static void add_nulls(fm_list_maker *m, int64_t n)
{
    for (int64_t k = 0; k < n; k++) fm_builder_null(m->element);
}

/* Position 1 is before the first element, -1 behind the last; beyond the array the gap is filled with nulls. */
static fm_status insert_at(fm_call *call, fm_list_maker *m, const fm_vec *args, int32_t i)
{
    const fm_vec *v = &args[0].children[0];
    int64_t at = fm_vec_i32(&args[1])[i], n = args[0].offsets[i + 1] - args[0].offsets[i], before;
    int64_t length = at > 0 ? (at > n ? at : n + 1) : (-at > n + 1 ? -at : n + 1);
    if (at == 0)
        return fm_fail(call->err, FM_INVALID, "INVALID_INDEX_OF_ZERO",
                       "The index 0 is invalid. An index shall be either < 0 or > 0 (the first element has index 1).");
    if (length + fm_builder_len(m->element) > FM_LIST_ELEMENTS_MAX) return fm_list_too_long(call);
    before = at > 0 ? at - 1 : n + 1 + at;
    if (at < 0 && before < 0) {
        fm_builder_lane(m->element, &args[2], i);
        add_nulls(m, -before);
        fm_list_add(m, v, args[0].offsets[i], args[0].offsets[i + 1]);
        return FM_OK;
    }
    int32_t split = args[0].offsets[i] + (int32_t)(before < n ? before : n);
    fm_list_add(m, v, args[0].offsets[i], split);
    add_nulls(m, before - n);
    fm_builder_lane(m->element, &args[2], i);
    fm_list_add(m, v, split, args[0].offsets[i + 1]);
    return FM_OK;
}

static fm_status array_insert(fm_call *call, const fm_vec *args, fm_vec *out)
{
    fm_list_maker m;
    if (!fm_list_make(call, out, &m)) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < out->len; i++) {
        if (fm_vec_is_null(&args[0], i) || fm_vec_is_null(&args[1], i)) {
            fm_builder_null(m.list);
            continue;
        }
        FM_TRY(insert_at(call, &m, args, i));
        fm_builder_end(m.list);
    }
    return fm_builder_finish(m.list, out, call->err);
}

/* ---- arrays_zip --------------------------------------------------------------------------------------------------- */

/* The field of an argument: its column's name, or its number. */
static fm_str zipped_name(fm_arena *arena, const fm_expr *e, int32_t i)
{
    if (e->kind == FM_EXPR_ALIAS || e->kind == FM_EXPR_ATTRIBUTE) return e->name;
    if (e->kind == FM_EXPR_FIELD && e->args[0]->type) return e->args[0]->type->fields[e->index].name;
    return fm_arena_printf(arena, "%d", (int)i);
}

static fm_status bind_arrays_zip(fm_bind *b, fm_error *err)
{
    fm_field *fields = fm_arena_array(b->arena, fm_field, b->n_args + 1);
    const fm_type *row;
    if (!fields) return fm_no_memory(b->arena, err);
    for (int32_t i = 0; i < b->n_args; i++) {
        fields[i] = (fm_field){zipped_name(b->arena, b->args[i], i), fm_list_element(b->args[i]->type), true};
        if (!fields[i].name.ptr) return fm_no_memory(b->arena, err);
    }
    row = fm_type_struct(b->arena, fields, b->n_args);
    b->returns = row ? fm_type_list(b->arena, row, false) : NULL;
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

/* Of each argument the lanes that become its field: -1 behind its end. */
static fm_status zip_column(fm_call *call, const fm_vec *list, const int32_t *offsets, int32_t rows, fm_vec *out)
{
    int32_t total = offsets[rows], *from = fm_arena_array(call->arena, int32_t, total + 1);
    if (!from) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < rows; i++)
        for (int32_t k = 0; k < offsets[i + 1] - offsets[i]; k++)
            from[offsets[i] + k] = list->offsets[i] + k < list->offsets[i + 1] ? list->offsets[i] + k : -1;
    return fm_vec_gather(out, &list->children[0], from, total, call->arena, call->err);
}

static fm_status arrays_zip(fm_call *call, const fm_vec *args, fm_vec *out)
{
    int32_t n = call->expr->n_args, *offsets = fm_arena_buffer(call->arena, ((size_t)out->len + 1) * sizeof *offsets, true);
    fm_vec *row = fm_arena_one(call->arena, fm_vec), *columns = fm_arena_array(call->arena, fm_vec, n + 1);
    int64_t total = 0;
    if (!offsets || !row || !columns) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < out->len; i++) {
        int32_t longest = 0;
        for (int32_t a = 0; a < n && !fm_call_lane_null(out, i); a++) {
            int32_t length = args[a].offsets[i + 1] - args[a].offsets[i];
            if (length > longest) longest = length;
        }
        total += longest;
        if (total > FM_LIST_ELEMENTS_MAX) return fm_list_too_long(call);
        offsets[i + 1] = (int32_t)total;
    }
    for (int32_t a = 0; a < n; a++) FM_TRY(zip_column(call, &args[a], offsets, out->len, &columns[a]));
    *row = (fm_vec){.type = fm_list_element(out->type), .len = (int32_t)total, .children = columns};
    out->offsets = offsets;
    out->children = row;
    return FM_OK;
}

/* ---- slice, flatten, array_repeat ------------------------------------------------------------------------------- */

static fm_status slice(fm_call *call, const fm_vec *args, fm_vec *out)
{
    fm_list_maker m;
    if (!fm_list_make(call, out, &m)) return fm_no_memory(call->arena, call->err);
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
    b->returns = fm_list_element(b->args[0]->type);
    b->nullable = true;
    return b->returns->id == FM_TYPE_LIST ? FM_OK : fm_fail_arg_type(b, 0, "\"ARRAY\" of \"ARRAY\"", err);
}

static fm_status flatten(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const fm_vec *inner = &args[0].children[0];
    fm_list_maker m;
    if (!fm_list_make(call, out, &m)) return fm_no_memory(call->arena, call->err);
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

static fm_status bind_repeat(fm_bind *b, fm_error *err)
{
    b->returns = fm_type_list(b->arena, b->args[0]->type, b->args[0]->nullable);
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

static fm_status array_repeat(fm_call *call, const fm_vec *args, fm_vec *out)
{
    fm_list_maker m;
    int64_t total = 0;
    if (!fm_list_make(call, out, &m)) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < out->len; i++) {
        int32_t n = fm_vec_is_null(&args[1], i) ? -1 : fm_vec_i32(&args[1])[i];
        if (fm_vec_is_null(&args[1], i)) {
            fm_builder_null(m.list);
            continue;
        }
        total += n > 0 ? n : 0;
        if (total > FM_LIST_ELEMENTS_MAX) return fm_list_too_long(call);
        for (int32_t k = 0; k < n; k++) fm_builder_lane(m.element, &args[0], i);
        fm_builder_end(m.list);
    }
    return fm_builder_finish(m.list, out, call->err);
}

#define LIST_1 .args = {FM_ARG_LIST, FM_ARG_END}, .args_min = 1, .args_max = 1
#define LIST_VALUE .args = {FM_ARG_LIST, FM_ARG_ANY, FM_ARG_END}, .args_min = 2, .args_max = 2

const fm_function fm_fn_array_compact = {
    .name = "array_compact", LIST_1, .bind = fm_list_bind_same, .kernel = array_compact, .nulls = FM_NULLS_CUSTOM,
    .usage = "array_compact(array)", .doc = "Leaves the nulls out.", .since = "3.4.0",
};
const fm_function fm_fn_array_remove = {
    .name = "array_remove", LIST_VALUE, .bind = bind_remove, .kernel = array_remove, .nulls = FM_NULLS_CUSTOM,
    .usage = "array_remove(array, value)", .doc = "Leaves a value out.", .since = "2.4.0",
};
const fm_function fm_fn_array_append = {
    .name = "array_append", LIST_VALUE, .bind = bind_add, .kernel = array_append, .nulls = FM_NULLS_CUSTOM,
    .usage = "array_append(array, value)", .doc = "Puts a value behind the last.", .since = "3.4.0",
};
const fm_function fm_fn_array_prepend = {
    .name = "array_prepend", LIST_VALUE, .bind = bind_add, .kernel = array_prepend, .nulls = FM_NULLS_CUSTOM,
    .usage = "array_prepend(array, value)", .doc = "Puts a value before the first.", .since = "3.5.0",
};
const fm_function fm_fn_array_insert = {
    .name = "array_insert", .args = {FM_ARG_ANY, FM_ARG_ANY, FM_ARG_ANY, FM_ARG_END}, .args_min = 3, .args_max = 3, .bind = bind_insert,
    .kernel = array_insert, .nulls = FM_NULLS_CUSTOM, .can_fail = true, .usage = "array_insert(array, position, value)",
    .doc = "Puts a value at a position counted from 1, or from the end.", .since = "3.4.0",
};
const fm_function fm_fn_slice = {
    .name = "slice", .args = {FM_ARG_LIST, FM_ARG_I32, FM_ARG_I32, FM_ARG_END}, .args_min = 3, .args_max = 3, .bind = fm_list_bind_same,
    .kernel = slice, .nulls = FM_NULLS_CUSTOM, .can_fail = true, .usage = "slice(array, start, length)",
    .doc = "Returns the elements from start on, counted from 1 or from the end.", .since = "2.4.0",
};
const fm_function fm_fn_flatten = {
    .name = "flatten", LIST_1, .bind = bind_flatten, .kernel = flatten, .nulls = FM_NULLS_CUSTOM,
    .usage = "flatten(array_of_arrays)", .doc = "Joins the arrays of an array.", .since = "2.4.0",
};
const fm_function fm_fn_array_repeat = {
    .name = "array_repeat", .args = {FM_ARG_ANY, FM_ARG_I32_ONLY, FM_ARG_END}, .args_min = 2, .args_max = 2, .bind = bind_repeat,
    .kernel = array_repeat, .nulls = FM_NULLS_CUSTOM, .can_fail = true, .usage = "array_repeat(value, n)",
    .doc = "Returns an array of n times the value.", .since = "2.4.0",
};
const fm_function fm_fn_arrays_zip = {
    .name = "arrays_zip", .args = {FM_ARG_LIST, FM_ARG_END}, .args_min = 0, .args_max = -1, .bind = bind_arrays_zip,
    .kernel = arrays_zip, .nulls = FM_NULLS_STRICT, .usage = "arrays_zip(a, b, ...)",
    .doc = "Returns an array of structs of the elements at each place.", .since = "2.4.0",
};
