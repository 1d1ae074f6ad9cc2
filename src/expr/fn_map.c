/* expr/fn_map.c: map(...), map_keys, map_values, map_entries, map_contains_key, element_at, try_element_at.
 *
 * Rule   Spark: a key is never null and stands once (map_build.h). element_at counts from 1, or from the end; 0 is an error,
 *        outside the array too under ANSI; try_element_at gives null.
 * Cases  tests/golden/functions/map.test */
#include "expr/aggregates.h"
#include "expr/call_args.h"
#include "expr/cast.h"
#include "expr/coerce.h"
#include "expr/fn_list_impl.h"
#include "expr/map_build.h"
#include "expr/resolve_text.h"

/* ---- map --------------------------------------------------------------------------------------------------- */

static const fm_type *common_of_every_second(fm_bind *b, int32_t first, bool *nullable)
{
    const fm_type *t = b->args[first]->type;
    for (int32_t i = first; t && i < b->n_args; i += 2) {
        t = fm_type_common(b->arena, b->conf, t, b->args[i]->type);
        *nullable |= b->args[i]->nullable;
    }
    return t;
}

static fm_status bind_map(fm_bind *b, fm_error *err)
{
    const fm_type *key = fm_type_null(), *value = fm_type_null();
    bool key_nullable = false, value_nullable = false;
    b->nullable = false;
    if (b->n_args % 2)
        return fm_fail_at(err, FM_INVALID, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", b->pos.line, b->pos.column,
                          "The `map` requires 2n (n > 0) parameters but the actual number is %d: write key and value in "
                          "turn.", (int)b->n_args);
    if (b->n_args) {
        key = common_of_every_second(b, 0, &key_nullable);
        value = common_of_every_second(b, 1, &value_nullable);
    }
    if (!key || !value)
        return fm_fail_bind(b, err, key ? "CREATE_MAP_VALUE_DIFF_TYPES" : "CREATE_MAP_KEY_DIFF_TYPES",
                            "The keys, and the values, of `map` should be of one type each.", NULL, NULL);
    for (int32_t i = 0; i < b->n_args; i++) b->cast_args[i] = i % 2 ? value : key;
    return fm_bind_map_type(b, key, value, value_nullable, &b->returns, err);
}

/* Every second argument, from `first` on, row by row. */
static fm_status interleave(fm_call *call, const fm_vec *args, int32_t first, int32_t rows, const fm_type *type, fm_vec *out)
{
    fm_builder *b = fm_builder_new(call->arena, type, rows * (call->expr->n_args / 2));
    if (!b) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < rows; i++)
        for (int32_t a = first; a < call->expr->n_args; a += 2) fm_builder_lane(b, &args[a], i);
    return fm_builder_finish(b, out, call->err);
}

static fm_status map(fm_call *call, const fm_vec *args, fm_vec *out)
{
    int32_t n = call->expr->n_args / 2, *offsets = fm_map_offsets(call, out->len);
    fm_vec keys, values;
    if (!offsets) return fm_no_memory(call->arena, call->err);
    if ((int64_t)n * out->len > FM_LIST_ELEMENTS_MAX) return fm_list_too_long(call);
    for (int32_t i = 0; i <= out->len; i++) offsets[i] = i * n;
    FM_TRY(interleave(call, args, 0, out->len, out->type->fields[0].type, &keys));
    FM_TRY(interleave(call, args, 1, out->len, out->type->fields[1].type, &values));
    return fm_map_build(call, &keys, &values, offsets, NULL, out);
}

/* ---- parts of maps ----------------------------------------------------------------------------------------- */

static fm_status bind_part(fm_bind *b, int32_t part, fm_error *err)
{
    const fm_field *field = &b->args[0]->type->fields[part];
    b->returns = fm_type_list(b->arena, field->type, part == 1 && field->nullable);
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

static fm_status bind_keys(fm_bind *b, fm_error *err) { return bind_part(b, 0, err); }
static fm_status bind_values(fm_bind *b, fm_error *err) { return bind_part(b, 1, err); }

static fm_status map_keys(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    out->validity = args[0].validity;
    out->offsets = args[0].offsets;
    out->children = &args[0].children[0];
    return FM_OK;
}

static fm_status map_values(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    out->validity = args[0].validity;
    out->offsets = args[0].offsets;
    out->children = &args[0].children[1];
    return FM_OK;
}

static fm_status bind_entries(fm_bind *b, fm_error *err)
{
    const fm_type *m = b->args[0]->type, *entry;
    fm_field fields[2] = {{FM_STR("key"), m->fields[0].type, false},
                          {FM_STR("value"), m->fields[1].type, m->fields[1].nullable}};
    entry = fm_type_struct(b->arena, fields, 2);
    b->returns = entry ? fm_type_list(b->arena, entry, false) : NULL;
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

static fm_status map_entries(fm_call *call, const fm_vec *args, fm_vec *out)
{
    fm_vec *entry = fm_arena_one(call->arena, fm_vec);
    if (!entry) return fm_no_memory(call->arena, call->err);
    *entry = (fm_vec){.type = out->type->fields[0].type, .len = args[0].children[0].len, .children = args[0].children};
    out->validity = args[0].validity;
    out->offsets = args[0].offsets;
    out->children = entry;
    return FM_OK;
}

/* Index of x's lane j among the keys of lane i, or -1. */
static int32_t find_key(const fm_vec *m, int64_t i, const fm_vec *x, int64_t j)
{
    for (int32_t k = m->offsets[i]; k < m->offsets[i + 1]; k++)
        if (fm_vec_same(&m->children[0], k, x, j)) return k;
    return -1;
}

/* (map, key): both get a common type of key. wide: decimals meet integers too. */
static fm_status bind_key(fm_bind *b, bool wide, fm_error *err)
{
    const fm_type *m = b->args[0]->type, *x = b->args[1]->type;
    const fm_type *key = wide ? fm_type_common_no_string(b->arena, b->conf, m->fields[0].type, x) : fm_type_tightest(b->arena, m->fields[0].type, x);
    if (!key || fm_bind_is_bare_null(b, 0))
        return fm_fail_bind(b, err, "MAP_FUNCTION_DIFF_TYPES", "The map and the key should have like types, but they are %s and %s.", m, x);
    b->cast_args[1] = key;
    b->cast_args[0] = fm_type_map(b->arena, key, m->fields[1].type, m->fields[1].nullable);
    return b->cast_args[0] ? FM_OK : fm_no_memory(b->arena, err);
}

static fm_status bind_contains_key(fm_bind *b, fm_error *err)
{
    b->returns = fm_type_bool();
    if (b->args[1]->type->id == FM_TYPE_NULL)
        return fm_fail_bind(b, err, "NULL_TYPE", "Null typed values cannot be used as arguments of `map_contains_key`.", NULL, NULL);
    return bind_key(b, true, err);
}

static fm_status map_contains_key(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    for (int32_t i = 0; i < out->len; i++)
        if (!fm_call_lane_null(out, i)) fm_vec_bool_out(out)[i] = find_key(&args[0], i, &args[1], i) >= 0;
    return FM_OK;
}

/* ---- element_at -------------------------------------------------------------------------------------------- */

static fm_status bind_element_at(fm_bind *b, fm_error *err)
{
    const fm_type *t = b->args[0]->type;
    b->nullable = true;
    if (t->id == FM_TYPE_LIST) {
        if (!fm_type_is_integer(b->args[1]->type) || b->args[1]->type->id == FM_TYPE_I64)
            return fm_fail_arg_type(b, 1, "\"INT\"", err);
        b->returns = t->fields[0].type;
        b->cast_args[1] = fm_type_i32();
        return FM_OK;
    }
    if (t->id != FM_TYPE_MAP) return fm_fail_arg_type(b, 0, "(\"ARRAY\" or \"MAP\")", err);
    FM_TRY(bind_key(b, false, err));
    b->returns = t->fields[1].type;
    return FM_OK;
}

static fm_status element(fm_call *call, const fm_vec *args, fm_vec *out, bool strict)
{
    const fm_vec *c = &args[0];
    bool list = c->type->id == FM_TYPE_LIST;
    int32_t *from = fm_arena_array(call->arena, int32_t, out->len);
    if (!from) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < out->len; i++) {
        int64_t k, n;
        from[i] = -1;
        if (fm_vec_is_null(c, i) || fm_vec_is_null(&args[1], i)) continue;
        if (!list) {
            from[i] = find_key(c, i, &args[1], i);
            continue;
        }
        k = fm_vec_i32(&args[1])[i];
        n = c->offsets[i + 1] - c->offsets[i];
        if (k == 0)
            return fm_fail(call->err, FM_INVALID, "INVALID_INDEX_OF_ZERO",
                           "The index 0 is invalid. An index shall be either < 0 or > 0 (the first element has index 1).");
        if (k > n || -k > n) {
            if (!strict) continue;
            return fm_fail(call->err, FM_INVALID, "INVALID_ARRAY_INDEX_IN_ELEMENT_AT",
                           "The index %lld is out of bounds. The array has %lld elements. Use `try_element_at` to "
                           "tolerate accessing element at invalid index and return NULL instead.",
                           (long long)k, (long long)n);
        }
        from[i] = (int32_t)(k > 0 ? c->offsets[i] + k - 1 : c->offsets[i + 1] + k);
    }
    return fm_vec_gather(out, &c->children[list ? 0 : 1], from, out->len, call->arena, call->err);
}

static fm_status element_at(fm_call *call, const fm_vec *args, fm_vec *out) { return element(call, args, out, call->ansi); }
static fm_status try_element_at(fm_call *call, const fm_vec *args, fm_vec *out) { return element(call, args, out, false); }

#define MAP_1 .args = {FM_ARG_MAP, FM_ARG_END}, .args_min = 1, .args_max = 1

const fm_function fm_fn_map = {
    .name = "map", .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 0, .args_max = -1, .bind = bind_map, .kernel = map,
    .nulls = FM_NULLS_CUSTOM, .can_fail = true, .usage = "map(key, value, ...)", .doc = "Returns a map of the arguments.", .since = "2.0.0",
};
const fm_function fm_fn_map_keys = {
    .name = "map_keys", MAP_1, .bind = bind_keys, .kernel = map_keys, .nulls = FM_NULLS_CUSTOM, .usage = "map_keys(map)",
    .doc = "Returns the keys as an array.", .since = "2.0.0",
};
const fm_function fm_fn_map_values = {
    .name = "map_values", MAP_1, .bind = bind_values, .kernel = map_values, .nulls = FM_NULLS_CUSTOM, .usage = "map_values(map)",
    .doc = "Returns the values as an array.", .since = "2.0.0",
};
const fm_function fm_fn_map_entries = {
    .name = "map_entries", MAP_1, .bind = bind_entries, .kernel = map_entries, .nulls = FM_NULLS_CUSTOM, .usage = "map_entries(map)",
    .doc = "Returns the entries as an array of structs.", .since = "3.0.0",
};
const fm_function fm_fn_map_contains_key = {
    .name = "map_contains_key", .args = {FM_ARG_MAP, FM_ARG_ANY, FM_ARG_END}, .args_min = 2, .args_max = 2,
    .bind = bind_contains_key, .kernel = map_contains_key, .nulls = FM_NULLS_STRICT, .usage = "map_contains_key(map, key)",
    .doc = "Whether the map has the key.", .since = "3.3.0",
};
const fm_function fm_fn_element_at = {
    .name = "element_at", .args = {FM_ARG_ANY, FM_ARG_ANY, FM_ARG_END}, .args_min = 2, .args_max = 2, .bind = bind_element_at,
    .kernel = element_at, .nulls = FM_NULLS_CUSTOM, .can_fail = true, .usage = "element_at(collection, key)",
    .doc = "Returns the element at a place counted from 1, or the value of a key.", .since = "2.4.0",
};
const fm_function fm_fn_try_element_at = {
    .name = "try_element_at", .args = {FM_ARG_ANY, FM_ARG_ANY, FM_ARG_END}, .args_min = 2, .args_max = 2, .bind = bind_element_at,
    .kernel = try_element_at, .nulls = FM_NULLS_CUSTOM, .can_fail = true, .usage = "try_element_at(collection, key)",
    .doc = "As element_at; null outside the array.", .since = "3.3.0",
};
