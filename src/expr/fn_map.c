/* expr/fn_map.c: map(...), map_keys, map_values, map_contains_key, element_at, try_element_at, sort_array.
 *
 * Rule   Spark: a key is never null and stands once (DUPLICATED_MAP_KEY). element_at counts from 1, or from the end; 0 is an
 *        error, outside the array too under ANSI; try_element_at gives null.
 * Cases  tests/golden/functions/map.test */
#include <stdlib.h>

#include "column/builder.h"
#include "expr/call_args.h"
#include "expr/cast.h"
#include "expr/coerce.h"
#include "expr/kernel.h"
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
    b->returns = fm_type_map(b->arena, key, value, value_nullable);
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

static fm_status fail_duplicate(fm_call *call, const fm_vec *key, int64_t i)
{
    fm_strbuf text = {0};
    fm_status st;
    fm_value_text(key, i, call->conf->zone ? call->conf->zone : fm_zone_utc(), &text);
    st = fm_fail(call->err, FM_INVALID, "DUPLICATED_MAP_KEY",
                 "Duplicate map key %.*s was found, please check the input data.",
                 FM_STR_ARG(fm_strbuf_str(&text)));
    fm_strbuf_fini(&text);
    return st;
}

static fm_status map(fm_call *call, const fm_vec *args, fm_vec *out)
{
    fm_builder *b = fm_builder_new(call->arena, out->type, out->len);
    if (!b) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < out->len; i++) {
        for (int32_t a = 0; a < call->expr->n_args; a += 2) {
            if (fm_vec_is_null(&args[a], i))
                return fm_fail(call->err, FM_INVALID, "NULL_MAP_KEY", "Cannot use null as map key.");
            for (int32_t e = 0; e < a; e += 2)
                if (fm_vec_same(&args[e], i, &args[a], i)) return fail_duplicate(call, &args[a], i);
            fm_builder_lane(fm_builder_child(b, 0), &args[a], i);
            fm_builder_lane(fm_builder_child(b, 1), &args[a + 1], i);
        }
        fm_builder_end(b);
    }
    return fm_builder_finish(b, out, call->err);
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

static fm_status bind_contains_key(fm_bind *b, fm_error *err)
{
    const fm_type *m = b->args[0]->type;
    const fm_type *key = fm_type_common(b->arena, b->conf, m->fields[0].type, b->args[1]->type);
    b->returns = fm_type_bool();
    if (!key) return fm_fail_arg_type(b, 1, "key", err);
    b->cast_args[1] = key;
    b->cast_args[0] = fm_type_map(b->arena, key, m->fields[1].type, m->fields[1].nullable);
    return b->cast_args[0] ? FM_OK : fm_no_memory(b->arena, err);
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
        if (!fm_type_is_integer(b->args[1]->type) && b->args[1]->type->id != FM_TYPE_NULL)
            return fm_fail_arg_type(b, 1, "\"INT\"", err);
        b->returns = t->fields[0].type;
        b->cast_args[1] = fm_type_i32();
        return FM_OK;
    }
    if (t->id != FM_TYPE_MAP) return fm_fail_arg_type(b, 0, "(\"ARRAY\" or \"MAP\")", err);
    FM_TRY(bind_contains_key(b, err));
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

/* ---- sort_array -------------------------------------------------------------------------------------------- */

typedef struct order_of {
    const fm_vec *v;
    bool descending;
} order_of;

static int compare(const void *a, const void *b, void *ctx)
{
    const order_of *o = ctx;
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    bool x_null = fm_vec_is_null(o->v, x), y_null = fm_vec_is_null(o->v, y);
    int order = x_null || y_null ? y_null - x_null : fm_vec_cmp(o->v, x, o->v, y);
    if (o->descending) order = -order;
    return order ? order : (x > y) - (x < y); /* stable */
}

static fm_status sort_array(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const fm_vec *list = &args[0];
    int32_t first = list->offsets[0], total = list->offsets[list->len] - first;
    int32_t *from = fm_arena_array(call->arena, int32_t, total);
    int32_t *offsets = fm_arena_buffer(call->arena, ((size_t)list->len + 1) * 4, false);
    fm_vec *child = fm_arena_one(call->arena, fm_vec);
    if (!from || !offsets || !child) return fm_no_memory(call->arena, call->err);
    for (int32_t k = 0; k < total; k++) from[k] = first + k;
    for (int32_t i = 0; i < list->len; i++) {
        order_of o = {&list->children[0], call->expr->n_args > 1 && !fm_vec_bool(&args[1])[i]};
        offsets[i] = list->offsets[i] - first;
        qsort_r(from + offsets[i], (size_t)(list->offsets[i + 1] - list->offsets[i]), sizeof *from, compare, &o);
    }
    offsets[list->len] = total;
    FM_TRY(fm_vec_gather(child, &list->children[0], from, total, call->arena, call->err));
    out->offsets = offsets;
    out->children = child;
    return FM_OK;
}

static fm_status bind_sort(fm_bind *b, fm_error *err)
{
    (void)err;
    b->returns = b->args[0]->type;
    return FM_OK;
}

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
const fm_function fm_fn_sort_array = {
    .name = "sort_array", .args = {FM_ARG_LIST, FM_ARG_BOOL, FM_ARG_END}, .args_min = 1, .args_max = 2, .bind = bind_sort,
    .kernel = sort_array, .nulls = FM_NULLS_STRICT, .usage = "sort_array(array[, ascending])", .shown = {NULL, "true"},
    .doc = "Returns the elements sorted, nulls first when ascending.", .since = "1.5.0",
};
