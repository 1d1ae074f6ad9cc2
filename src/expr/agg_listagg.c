/* expr/agg_listagg.c: listagg(x[, delimiter]) [WITHIN GROUP (ORDER BY k, ...)]: texts (or binaries) joined.
 *
 * State   a bag of x and the keys.
 * Rule    Spark, ListAgg: nulls are left out, nothing gives null; without an order, as the rows came. The delimiter is a
 *         constant, none where it is null.
 * Cases   tests/golden/functions/listagg.test */
#include <stdlib.h>

#include "column/key.h"
#include "expr/agg_bag.h"
#include "expr/aggregates.h"
#include "expr/call_args.h"
#include "expr/coerce.h"
#include "expr/eval.h"
#include "expr/kernel.h"
#include "expr/resolve_text.h"

typedef struct bound {
    fm_str delimiter;
    int32_t n_keys;
    fm_expr *const *keys;
    int32_t kept[8];      /* which arguments the bag holds: x, then the keys */
    const fm_type *types[8];
} bound;

enum { KEYS_MAX = 6 };

static const bound *bound_of(const fm_agg_call *call) { return call->bound; }

static fm_status bind_delimiter(fm_bind *b, const fm_type *type, bound *own, fm_error *err)
{
    const fm_type *from = b->args[1]->type;
    fm_expr *cast;
    fm_value value;
    if (from->id == FM_TYPE_NULL) return FM_OK;
    if (type->id == FM_TYPE_BINARY ? from->id != FM_TYPE_BINARY : from->id == FM_TYPE_BINARY)
        return fm_fail_bind(b, err, "DATA_DIFF_TYPES", "Input to `listagg` should all be the same type, but it's (%s or %s).", type, from);
    if (!fm_type_implicit(b->conf, from, type)) return fm_fail_arg_type(b, 1, "(\"STRING\" or \"BINARY\")", err);
    if (!fm_bind_is_constant(b, 1))
        return fm_fail_bind(b, err, "NON_FOLDABLE_INPUT", "the input `delimiter` should be a foldable %s expression.", type, NULL);
    FM_TRY(fm_expr_cast(b->arena, b->conf, b->args[1], type, false, false, &cast, err));
    FM_TRY(fm_eval_constant(b->arena, b->conf, cast, &value, err));
    if (fm_vec_is_null(&value, 0)) return FM_OK;
    own->delimiter = fm_arena_str(b->arena, fm_vec_str(&value, 0));
    return own->delimiter.ptr || !own->delimiter.len ? FM_OK : fm_no_memory(b->arena, err);
}

static fm_status fail_distinct(const fm_bind *b, fm_error *err)
{
    return fm_fail_at(err, FM_INVALID, "INVALID_WITHIN_GROUP_EXPRESSION.MISMATCH_WITH_DISTINCT_INPUT", b->pos.line, b->pos.column,
                      "Invalid function `%.*s` with WITHIN GROUP. With DISTINCT the values can only be ordered by themselves: "
                      "write the same expression in ORDER BY.",
                      FM_STR_ARG(b->name));
}

static fm_status bind(fm_bind *b, fm_error *err)
{
    bound *own = fm_arena_one(b->arena, bound);
    int32_t first_key = b->n_args - b->n_keys;
    const fm_type *type = b->args[0]->type;
    if (!own) return fm_no_memory(b->arena, err);
    if (type->id != FM_TYPE_STRING && type->id != FM_TYPE_BINARY) {
        if (!fm_type_implicit(b->conf, type, fm_type_string())) return fm_fail_arg_type(b, 0, "(\"STRING\" or \"BINARY\")", err);
        b->cast_args[0] = type = fm_type_string();
    }
    if (first_key == 2) FM_TRY(bind_delimiter(b, type, own, err));
    if (b->n_keys > KEYS_MAX)
        return fm_fail_at(err, FM_LIMIT, "FLOODMARK_TOO_MANY_ARGUMENTS", b->pos.line, b->pos.column, "%.*s() takes at most %d keys to order by.", FM_STR_ARG(b->name), KEYS_MAX);
    own->n_keys = b->n_keys;
    own->keys = b->keys;
    own->types[0] = type;
    for (int32_t k = 0; k < b->n_keys; k++) {
        const fm_expr *key = b->args[first_key + k];
        if (b->distinct && !fm_expr_same(key, b->args[0])) return fail_distinct(b, err);
        if (!fm_type_orders(key->type))
            return fm_fail_bind(b, err, "INVALID_ORDERING_TYPE", "The `sortorder` does not support ordering on type %s.", key->type, NULL);
        own->kept[1 + k] = first_key + k;
        own->types[1 + k] = key->type;
    }
    b->returns = type;
    b->bound = own;
    return FM_OK;
}

static fm_status update(const fm_agg_call *call, char *const *entries, const fm_vec *args,
                        const uint8_t *keep, int32_t n, fm_error *err)
{
    const bound *own = bound_of(call);
    fm_vec kept[8];
    for (int32_t k = 0; k <= own->n_keys; k++) kept[k] = args[own->kept[k]];
    for (int32_t i = 0; i < n; i++)
        if ((!keep || keep[i]) && !fm_vec_is_null(&args[0], i))
            FM_TRY(fm_agg_bag_add(fm_agg_state(call, entries[i]), kept, 1 + own->n_keys, i, err));
    return FM_OK;
}

/* ---- The text ----------------------------------------------------------------------------------------------------- */

typedef struct rows {
    const bound *own;
    fm_vec columns[8]; /* x, keys */
} rows;

static int by_keys(const void *a, const void *b, void *ctx)
{
    const rows *r = ctx;
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    for (int32_t k = 0; k < r->own->n_keys; k++) {
        const fm_vec *v = &r->columns[1 + k];
        const fm_expr *key = r->own->keys[k];
        bool x_null = fm_vec_is_null(v, x), y_null = fm_vec_is_null(v, y);
        int order;
        if (x_null && y_null) continue;
        if (x_null || y_null) return x_null == key->nulls_first ? -1 : 1;
        order = fm_vec_cmp(v, x, v, y);
        if (order) return key->descending ? -order : order;
    }
    return (x > y) - (x < y); /* stable */
}

static fm_status decode(const fm_agg_bag *bag, rows *r, fm_arena *arena, fm_error *err)
{
    fm_builder *builders[8];
    fm_str bytes = {bag->bytes, bag->len};
    for (int32_t k = 0; k <= r->own->n_keys; k++) {
        builders[k] = fm_builder_new(arena, r->own->types[k], (int32_t)bag->n);
        if (!builders[k]) return fm_no_memory(arena, err);
    }
    for (size_t at = 0; at < bytes.len;)
        for (int32_t k = 0; k <= r->own->n_keys; k++) FM_TRY(fm_lane_decode(bytes, &at, builders[k], err));
    for (int32_t k = 0; k <= r->own->n_keys; k++) FM_TRY(fm_builder_finish(builders[k], &r->columns[k], err));
    return FM_OK;
}

static fm_status join(const bound *own, const fm_agg_bag *bag, fm_arena *arena, fm_strbuf *text, fm_error *err)
{
    rows r = {.own = own};
    int32_t n = (int32_t)bag->n, *order = fm_arena_array(arena, int32_t, n);
    if (!order) return fm_no_memory(arena, err);
    FM_TRY(decode(bag, &r, arena, err));
    for (int32_t i = 0; i < n; i++) order[i] = i;
    if (own->n_keys) qsort_r(order, (size_t)n, sizeof *order, by_keys, &r);
    for (int32_t i = 0; i < n; i++) {
        if (i) fm_strbuf_add(text, own->delimiter);
        fm_strbuf_add(text, fm_vec_str(&r.columns[0], order[i]));
    }
    return fm_agg_saved(text, err);
}

static fm_status finish(const fm_agg_call *call, char *const *entries, int32_t n, fm_arena *arena,
                        fm_vec *out, fm_error *err)
{
    fm_builder *b = fm_builder_new(arena, call->returns, n);
    fm_arena *scratch = fm_arena_new(0);
    fm_strbuf text = {0};
    fm_status st = b && scratch ? FM_OK : fm_no_memory(arena, err);
    for (int32_t i = 0; i < n && st == FM_OK; i++) {
        const fm_agg_bag *bag = *(fm_agg_bag **)fm_agg_state(call, entries[i]);
        if (!bag || bag->n == 0) {
            fm_builder_null(b);
            continue;
        }
        fm_arena_reset(scratch);
        fm_strbuf_clear(&text);
        st = join(bound_of(call), bag, scratch, &text, err);
        if (st == FM_OK) fm_builder_str(b, fm_strbuf_str(&text));
    }
    if (st == FM_OK) st = fm_builder_finish(b, out, err);
    fm_strbuf_fini(&text);
    fm_arena_free(scratch);
    return st;
}

static fm_status load(const fm_agg_call *call, fm_str bytes, size_t *at, void *state, fm_error *err)
{
    const bound *own = bound_of(call);
    return fm_agg_bag_load(bytes, at, false, own->types, 1 + own->n_keys, state, err);
}

const fm_aggregate fm_agg_listagg = {
    .name = "listagg", .aliases = {"string_agg"}, .args = {FM_ARG_ANY, FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = 2,
    .within = FM_WITHIN_MAYBE, .order_dependent = true, .bind = bind, .state_size = fm_agg_bags_size, .update = update,
    .merge = fm_agg_bags_merge, .finish = finish, .fini = fm_agg_bags_fini, .save = fm_agg_bags_save, .load = load, .memory = fm_agg_bags_memory,
    .usage = "listagg(expr[, delimiter]) [WITHIN GROUP (ORDER BY key, ...)]",
    .doc = "Joins the texts that are not null.", .since = "4.0.0",
};
