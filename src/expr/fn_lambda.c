/* expr/fn_lambda.c: functions that take a function: transform, filter, exists, forall, aggregate, zip_with, map_filter,
 * transform_keys, transform_values.
 *
 * A lambda runs once over all elements of the batch: row_of says which row each belongs to. Only aggregate must go step by
 * step: its n-th step runs over the rows whose array has an n-th element.
 *
 * Rule   Spark: exists and forall are three-valued; a null array gives null.
 * Cases  tests/golden/functions/transform.test */
#include "expr/call_args.h"
#include "expr/coerce.h"
#include "expr/eval.h"
#include "expr/fn_list_impl.h"
#include "expr/lane_set.h"
#include "expr/map_build.h"
#include "expr/resolve_text.h"

/* The elements of a list or map column, all in one vector per child, and where each belongs. */
typedef struct flat {
    int32_t n, first;
    int32_t *row_of;
    fm_vec children[2];
    fm_vec place; /* its index in its array */
} flat;

static fm_status flatten_rows(fm_call *call, const fm_vec *c, flat *f)
{
    int32_t *rows;
    f->first = c->offsets[0];
    f->n = c->offsets[c->len] - f->first;
    f->row_of = fm_arena_array(call->arena, int32_t, f->n);
    rows = fm_arena_array(call->arena, int32_t, f->n);
    if (!f->row_of || !rows) return fm_no_memory(call->arena, call->err);
    FM_TRY(fm_vec_init(&f->place, fm_type_i32(), f->n, call->arena, call->err));
    for (int32_t i = 0; i < c->len; i++)
        for (int32_t k = c->offsets[i]; k < c->offsets[i + 1]; k++) {
            f->row_of[k - f->first] = i;
            rows[k - f->first] = k;
            fm_vec_i32_out(&f->place)[k - f->first] = k - c->offsets[i];
        }
    for (int32_t p = 0; p < c->type->n_fields; p++)
        FM_TRY(fm_vec_gather(&f->children[p], &c->children[p], rows, f->n, call->arena, call->err));
    return FM_OK;
}

static fm_status offsets_from_zero(fm_call *call, const fm_vec *c, fm_vec *out)
{
    int32_t *offsets = fm_arena_buffer(call->arena, ((size_t)c->len + 1) * 4, false);
    if (!offsets) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i <= c->len; i++) offsets[i] = c->offsets[i] - c->offsets[0];
    out->offsets = offsets;
    out->validity = c->validity;
    return FM_OK;
}

static bool is_true(const fm_vec *v, int32_t i) { return v->values && !fm_vec_is_null(v, i) && fm_vec_bool(v)[i]; }

/* ---- what lambdas take ------------------------------------------------------------------------------------- */

/* (element[, index]) */
static fm_status element_params(const fm_bind *b, int32_t i, const fm_type **types, bool *nullable, int32_t *n, fm_error *err)
{
    const fm_type *list = b->args[0]->type;
    (void)i;
    if (fm_bind_is_bare_null(b, 0)) return fm_fail_arg_type(b, 0, "\"ARRAY\"", err);
    types[0] = list->fields[0].type;
    nullable[0] = list->fields[0].nullable;
    types[1] = fm_type_i32();
    nullable[1] = false;
    *n = 2;
    return FM_OK;
}

static fm_status one_param(const fm_bind *b, int32_t i, const fm_type **types, bool *nullable, int32_t *n, fm_error *err)
{
    FM_TRY(element_params(b, i, types, nullable, n, err));
    *n = 1;
    return FM_OK;
}

static fm_status entry_params(const fm_bind *b, int32_t i, const fm_type **types, bool *nullable, int32_t *n, fm_error *err)
{
    const fm_type *m = b->args[0]->type;
    (void)i;
    if (fm_bind_is_bare_null(b, 0)) return fm_fail_arg_type(b, 0, "\"MAP\"", err);
    types[0] = m->fields[0].type;
    types[1] = m->fields[1].type;
    nullable[1] = m->fields[1].nullable;
    *n = 2;
    return FM_OK;
}

/* ---- transform, filter, exists, forall --------------------------------------------------------------------- */

static fm_status bind_transform(fm_bind *b, fm_error *err)
{
    b->returns = fm_type_list(b->arena, b->args[1]->type, b->args[1]->nullable);
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

static fm_status transform(fm_call *call, const fm_vec *args, fm_vec *out)
{
    flat f = {0};
    fm_vec *child = fm_arena_one(call->arena, fm_vec), params[2];
    if (!child) return fm_no_memory(call->arena, call->err);
    FM_TRY(flatten_rows(call, &args[0], &f));
    params[0] = f.children[0];
    params[1] = f.place;
    FM_TRY(fm_eval_lambda(call, 1, params, 2, f.row_of, f.n, child, call->err));
    out->children = child;
    return offsets_from_zero(call, &args[0], out);
}

static fm_status bind_predicate(fm_bind *b, fm_error *err)
{
    const fm_type *t = b->args[1]->type;
    if (t->id != FM_TYPE_BOOL && t->id != FM_TYPE_NULL) return fm_fail_arg_type(b, 1, "\"BOOLEAN\"", err);
    b->cast_args[1] = fm_type_bool();
    return FM_OK;
}

static fm_status bind_filter(fm_bind *b, fm_error *err)
{
    b->returns = b->args[0]->type;
    return bind_predicate(b, err);
}

static fm_status keep_true(fm_call *call, const fm_vec *c, const flat *f, const fm_vec *keep, fm_vec *out)
{
    int32_t *offsets = fm_arena_buffer(call->arena, ((size_t)c->len + 1) * 4, true);
    int32_t *kept = fm_arena_array(call->arena, int32_t, f->n), n = 0;
    fm_vec *children = fm_arena_array(call->arena, fm_vec, c->type->n_fields);
    if (!offsets || !kept || !children) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < c->len; i++) {
        for (int32_t k = c->offsets[i] - f->first; k < c->offsets[i + 1] - f->first; k++)
            if (is_true(keep, k)) kept[n++] = k;
        offsets[i + 1] = n;
    }
    for (int32_t p = 0; p < c->type->n_fields; p++)
        FM_TRY(fm_vec_gather(&children[p], &f->children[p], kept, n, call->arena, call->err));
    out->offsets = offsets;
    out->children = children;
    out->validity = c->validity;
    return FM_OK;
}

static fm_status filter(fm_call *call, const fm_vec *args, fm_vec *out)
{
    flat f = {0};
    fm_vec keep, params[2];
    bool map = args[0].type->id == FM_TYPE_MAP;
    FM_TRY(flatten_rows(call, &args[0], &f));
    params[0] = f.children[0];
    params[1] = map ? f.children[1] : f.place;
    FM_TRY(fm_eval_lambda(call, 1, params, 2, f.row_of, f.n, &keep, call->err));
    return keep_true(call, &args[0], &f, &keep, out);
}

static fm_status bind_quantifier(fm_bind *b, fm_error *err)
{
    b->returns = fm_type_bool();
    return bind_predicate(b, err);
}

/* decisive: the answer that ends the search: true for exists, false for forall. */
static fm_status quantify(fm_call *call, const fm_vec *args, fm_vec *out, bool decisive)
{
    flat f = {0};
    fm_vec answer;
    uint64_t *valid = fm_arena_buffer(call->arena, (size_t)fm_bit_words(out->len) * 8, true);
    if (!valid) return fm_no_memory(call->arena, call->err);
    FM_TRY(flatten_rows(call, &args[0], &f));
    FM_TRY(fm_eval_lambda(call, 1, f.children, 1, f.row_of, f.n, &answer, call->err));
    out->validity = valid;
    for (int32_t i = 0; i < out->len; i++) {
        bool found = false, nulls = false;
        if (fm_vec_is_null(&args[0], i)) continue;
        for (int32_t k = args[0].offsets[i] - f.first; k < args[0].offsets[i + 1] - f.first; k++) {
            bool null = fm_vec_is_null(&answer, k);
            nulls |= null;
            found |= !null && is_true(&answer, k) == decisive;
        }
        if (!found && nulls) continue;
        fm_bit_set(valid, i);
        fm_vec_bool_out(out)[i] = found == decisive;
    }
    return FM_OK;
}

static fm_status exists(fm_call *call, const fm_vec *args, fm_vec *out) { return quantify(call, args, out, true); }
static fm_status forall(fm_call *call, const fm_vec *args, fm_vec *out) { return quantify(call, args, out, false); }

/* ---- aggregate --------------------------------------------------------------------------------------------- */

static fm_status aggregate_params(const fm_bind *b, int32_t i, const fm_type **types, bool *nullable, int32_t *n, fm_error *err)
{
    if (fm_bind_is_bare_null(b, 0)) return fm_fail_arg_type(b, 0, "\"ARRAY\"", err);
    types[0] = b->args[1]->type;
    nullable[0] = true;
    if (i == 2) {
        types[1] = b->args[0]->type->fields[0].type;
        nullable[1] = b->args[0]->type->fields[0].nullable;
    }
    *n = i == 2 ? 2 : 1;
    return FM_OK;
}

static fm_status bind_aggregate(fm_bind *b, fm_error *err)
{
    if (!fm_type_eq(b->args[2]->type, b->args[1]->type)) {
        fm_strbuf text = {0};
        fm_type_sql(b->args[1]->type, &text);
        fm_str quoted = fm_arena_printf(b->arena, "\"%.*s\"", FM_STR_ARG(fm_strbuf_str(&text)));
        fm_strbuf_fini(&text);
        return quoted.ptr ? fm_fail_arg_type(b, 2, quoted.ptr, err) : fm_no_memory(b->arena, err);
    }
    b->returns = b->n_args > 3 ? b->args[3]->type : b->args[1]->type;
    return FM_OK;
}

static fm_status aggregate(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const fm_vec *list = &args[0];
    int32_t rows = list->len;
    int32_t *row_of = fm_arena_array(call->arena, int32_t, rows), *from = fm_arena_array(call->arena, int32_t, rows);
    int32_t *back = fm_arena_array(call->arena, int32_t, rows), *all = fm_arena_array(call->arena, int32_t, rows);
    fm_vec acc = args[1], joined;
    if (!row_of || !from || !back || !all) return fm_no_memory(call->arena, call->err);
    for (int32_t step = 0;; step++) {
        fm_vec params[2], next;
        const fm_vec *parts[2] = {&acc, &next};
        int32_t n = 0;
        for (int32_t i = 0; i < rows; i++) {
            back[i] = i;
            if (list->offsets[i] + step >= list->offsets[i + 1]) continue;
            back[i] = rows + n;
            from[n] = list->offsets[i] + step;
            row_of[n++] = i;
        }
        if (n == 0) break;
        FM_TRY(fm_vec_gather(&params[0], &acc, row_of, n, call->arena, call->err));
        FM_TRY(fm_vec_gather(&params[1], &list->children[0], from, n, call->arena, call->err));
        FM_TRY(fm_eval_lambda(call, 2, params, 2, row_of, n, &next, call->err));
        FM_TRY(fm_vec_concat(&joined, parts, 2, call->arena, call->err));
        FM_TRY(fm_vec_gather(&acc, &joined, back, rows, call->arena, call->err));
    }
    for (int32_t i = 0; i < rows; i++) all[i] = i;
    if (call->expr->n_args > 3) {
        fm_vec before = acc;
        FM_TRY(fm_eval_lambda(call, 3, &before, 1, all, rows, &acc, call->err));
    }
    for (int32_t i = 0; i < rows; i++) back[i] = fm_vec_is_null(list, i) ? -1 : i;
    return fm_vec_gather(out, &acc, back, rows, call->arena, call->err);
}

/* ---- zip_with ---------------------------------------------------------------------------------------------- */

static fm_status zip_params(const fm_bind *b, int32_t i, const fm_type **types, bool *nullable, int32_t *n, fm_error *err)
{
    (void)i;
    for (int32_t a = 0; a < 2; a++)
        if (fm_bind_is_bare_null(b, a)) return fm_fail_arg_type(b, a, "\"ARRAY\"", err);
    types[0] = b->args[0]->type->fields[0].type;
    types[1] = b->args[1]->type->fields[0].type;
    nullable[0] = nullable[1] = true;
    *n = 2;
    return FM_OK;
}

static fm_status bind_zip(fm_bind *b, fm_error *err)
{
    b->returns = fm_type_list(b->arena, b->args[2]->type, b->args[2]->nullable);
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

static fm_status zip_with(fm_call *call, const fm_vec *args, fm_vec *out)
{
    int32_t *offsets = fm_arena_buffer(call->arena, ((size_t)out->len + 1) * 4, true), *from[2], *row_of, total, at = 0;
    uint64_t *valid = fm_arena_buffer(call->arena, (size_t)fm_bit_words(out->len) * 8, true);
    fm_vec params[2], *child = fm_arena_one(call->arena, fm_vec);
    if (!offsets || !valid || !child) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < out->len; i++) {
        int32_t n = args[0].offsets[i + 1] - args[0].offsets[i], m = args[1].offsets[i + 1] - args[1].offsets[i];
        bool null = fm_vec_is_null(&args[0], i) || fm_vec_is_null(&args[1], i);
        if (!null) fm_bit_set(valid, i);
        offsets[i + 1] = offsets[i] + (null ? 0 : n > m ? n : m);
    }
    total = offsets[out->len];
    from[0] = fm_arena_array(call->arena, int32_t, total);
    from[1] = fm_arena_array(call->arena, int32_t, total);
    row_of = fm_arena_array(call->arena, int32_t, total);
    if (!from[0] || !from[1] || !row_of) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < out->len; i++)
        for (int32_t k = 0; k < offsets[i + 1] - offsets[i]; k++, at++) {
            row_of[at] = i;
            for (int s = 0; s < 2; s++)
                from[s][at] = args[s].offsets[i] + k < args[s].offsets[i + 1] ? args[s].offsets[i] + k : -1;
        }
    for (int s = 0; s < 2; s++)
        FM_TRY(fm_vec_gather(&params[s], &args[s].children[0], from[s], total, call->arena, call->err));
    FM_TRY(fm_eval_lambda(call, 2, params, 2, row_of, total, child, call->err));
    out->offsets = offsets;
    out->validity = valid;
    out->children = child;
    return FM_OK;
}

/* ---- transform_values -------------------------------------------------------------------------------------- */

static fm_status bind_transform_values(fm_bind *b, fm_error *err)
{
    b->returns = fm_type_map(b->arena, b->args[0]->type->fields[0].type, b->args[1]->type, b->args[1]->nullable);
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

static fm_status transform_values(fm_call *call, const fm_vec *args, fm_vec *out)
{
    flat f = {0};
    fm_vec *children = fm_arena_array(call->arena, fm_vec, 2);
    if (!children) return fm_no_memory(call->arena, call->err);
    FM_TRY(flatten_rows(call, &args[0], &f));
    children[0] = f.children[0];
    FM_TRY(fm_eval_lambda(call, 1, f.children, 2, f.row_of, f.n, &children[1], call->err));
    out->children = children;
    return offsets_from_zero(call, &args[0], out);
}

/* ---- transform_keys ----------------------------------------------------------------------------------------------- */

static fm_status bind_transform_keys(fm_bind *b, fm_error *err)
{
    const fm_field *values = &b->args[0]->type->fields[1];
    return fm_bind_map_type(b, b->args[1]->type, values->type, values->nullable, &b->returns, err);
}

static fm_status transform_keys(fm_call *call, const fm_vec *args, fm_vec *out)
{
    flat f = {0};
    fm_vec keys, shape = *out;
    FM_TRY(flatten_rows(call, &args[0], &f));
    FM_TRY(fm_eval_lambda(call, 1, f.children, 2, f.row_of, f.n, &keys, call->err));
    FM_TRY(offsets_from_zero(call, &args[0], &shape));
    return fm_map_build(call, &keys, &f.children[1], shape.offsets, args[0].validity, out);
}

/* ---- map_zip_with ------------------------------------------------------------------------------------------------- */

static const fm_type *zipped_key(const fm_bind *b)
{
    return fm_type_tightest(b->arena, b->args[0]->type->fields[0].type, b->args[1]->type->fields[0].type);
}

static fm_status map_zip_params(const fm_bind *b, int32_t i, const fm_type **types, bool *nullable, int32_t *n, fm_error *err)
{
    (void)i;
    for (int32_t a = 0; a < 2; a++)
        if (fm_bind_is_bare_null(b, a)) return fm_fail_arg_type(b, a, "\"MAP\"", err);
    types[0] = zipped_key(b);
    if (!types[0])
        return fm_fail_bind(b, err, "MAP_ZIP_WITH_DIFF_TYPES", "Input to the `map_zip_with` should have been two maps with compatible key types, "
                            "but it's [%s, %s].", b->args[0]->type->fields[0].type, b->args[1]->type->fields[0].type);
    types[1] = b->args[0]->type->fields[1].type;
    types[2] = b->args[1]->type->fields[1].type;
    nullable[1] = nullable[2] = true;
    *n = 3;
    return FM_OK;
}

static fm_status bind_map_zip(fm_bind *b, fm_error *err)
{
    const fm_type *key = zipped_key(b);
    for (int32_t a = 0; a < 2; a++) {
        const fm_field *values = &b->args[a]->type->fields[1];
        b->cast_args[a] = fm_type_map(b->arena, key, values->type, values->nullable);
        if (!b->cast_args[a]) return fm_no_memory(b->arena, err);
    }
    return fm_bind_map_type(b, key, b->args[2]->type, b->args[2]->nullable, &b->returns, err);
}

/* The keys of both maps of each lane, once, and where their values stand: -1 in a map that has not the key. */
typedef struct zipped_maps {
    int32_t n, *row_of, *offsets, *keys, *values[2];
    uint64_t *valid;
} zipped_maps;

static fm_status open_zipped(fm_call *call, const fm_vec *args, int32_t rows, zipped_maps *z)
{
    int64_t most = (int64_t)(args[0].offsets[rows] - args[0].offsets[0]) + (args[1].offsets[rows] - args[1].offsets[0]);
    if (most > FM_LIST_ELEMENTS_MAX) return fm_list_too_long(call);
    z->row_of = fm_arena_array(call->arena, int32_t, most + 1);
    z->keys = fm_arena_array(call->arena, int32_t, most + 1);
    z->values[0] = fm_arena_array(call->arena, int32_t, most + 1);
    z->values[1] = fm_arena_array(call->arena, int32_t, most + 1);
    z->offsets = fm_map_offsets(call, rows);
    z->valid = fm_arena_buffer(call->arena, (size_t)fm_bit_words(rows) * 8, true);
    return z->row_of && z->keys && z->values[0] && z->values[1] && z->offsets && z->valid ? FM_OK : fm_no_memory(call->arena, call->err);
}

/* Keys of the second map are numbered behind all of the first: one vector of both is gathered from. */
static fm_status zip_lane(fm_call *call, const fm_vec *args, int32_t i, fm_lane_set *set, int32_t *place, zipped_maps *z)
{
    int32_t shift = args[0].children[0].len;
    FM_TRY(fm_lane_set_begin(set, call->arena, args[0].offsets[i + 1] - args[0].offsets[i], call->err));
    for (int32_t k = args[0].offsets[i]; k < args[0].offsets[i + 1]; k++) {
        fm_lane_set_add(set, &args[0].children[0], k);
        place[k] = z->n;
        z->row_of[z->n] = i;
        z->keys[z->n] = z->values[0][z->n] = k;
        z->values[1][z->n++] = -1;
    }
    for (int32_t k = args[1].offsets[i]; k < args[1].offsets[i + 1]; k++) {
        int32_t same = fm_lane_set_find(set, &args[1].children[0], k);
        if (same >= 0) {
            z->values[1][place[same]] = k;
            continue;
        }
        z->row_of[z->n] = i;
        z->keys[z->n] = shift + k;
        z->values[0][z->n] = -1;
        z->values[1][z->n++] = k;
    }
    return FM_OK;
}

static fm_status map_zip_with(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const fm_vec *both[2] = {&args[0].children[0], &args[1].children[0]};
    int32_t *place = fm_arena_array(call->arena, int32_t, both[0]->len + 1);
    fm_vec all, params[3], values;
    fm_lane_set set = {0};
    zipped_maps z = {0};
    if (!place) return fm_no_memory(call->arena, call->err);
    FM_TRY(open_zipped(call, args, out->len, &z));
    for (int32_t i = 0; i < out->len; i++) {
        if (!fm_vec_is_null(&args[0], i) && !fm_vec_is_null(&args[1], i)) {
            fm_bit_set(z.valid, i);
            FM_TRY(zip_lane(call, args, i, &set, place, &z));
        }
        z.offsets[i + 1] = z.n;
    }
    FM_TRY(fm_vec_concat(&all, both, 2, call->arena, call->err));
    FM_TRY(fm_vec_gather(&params[0], &all, z.keys, z.n, call->arena, call->err));
    for (int a = 0; a < 2; a++) FM_TRY(fm_vec_gather(&params[1 + a], &args[a].children[1], z.values[a], z.n, call->arena, call->err));
    FM_TRY(fm_eval_lambda(call, 2, params, 3, z.row_of, z.n, &values, call->err));
    return fm_map_build(call, &params[0], &values, z.offsets, z.valid, out);
}

#define LIST_LAMBDA .args = {FM_ARG_LIST, FM_ARG_LAMBDA, FM_ARG_END}, .args_min = 2, .args_max = 2, .nulls = FM_NULLS_CUSTOM
#define MAP_LAMBDA .args = {FM_ARG_MAP, FM_ARG_LAMBDA, FM_ARG_END}, .args_min = 2, .args_max = 2, .nulls = FM_NULLS_CUSTOM

const fm_function fm_fn_transform = {
    .name = "transform", LIST_LAMBDA, .index_optional = true, .bind = bind_transform, .lambda_params = element_params, .kernel = transform,
    .usage = "transform(array, x -> ...)", .doc = "Returns the array with a function applied to each element.", .since = "2.4.0",
};
const fm_function fm_fn_filter = {
    .name = "filter", LIST_LAMBDA, .index_optional = true, .bind = bind_filter, .lambda_params = element_params, .kernel = filter,
    .usage = "filter(array, x -> ...)", .doc = "Returns the elements for which the function is true.", .since = "2.4.0",
};
const fm_function fm_fn_exists = {
    .name = "exists", LIST_LAMBDA, .bind = bind_quantifier, .lambda_params = one_param, .kernel = exists,
    .usage = "exists(array, x -> ...)", .doc = "Whether the function is true for an element.", .since = "2.4.0",
};
const fm_function fm_fn_forall = {
    .name = "forall", LIST_LAMBDA, .bind = bind_quantifier, .lambda_params = one_param, .kernel = forall,
    .usage = "forall(array, x -> ...)", .doc = "Whether the function is true for all elements.", .since = "3.0.0",
};
const fm_function fm_fn_aggregate = {
    .name = "aggregate", .aliases = {"reduce"}, .args = {FM_ARG_LIST, FM_ARG_ANY, FM_ARG_LAMBDA, FM_ARG_LAMBDA, FM_ARG_END},
    .args_min = 3, .args_max = 4, .bind = bind_aggregate, .lambda_params = aggregate_params, .kernel = aggregate,
    .nulls = FM_NULLS_CUSTOM, .usage = "aggregate(array, start, (acc, x) -> ...[, acc -> ...])",
    .doc = "Folds the elements into one value.", .since = "2.4.0",
};
const fm_function fm_fn_zip_with = {
    .name = "zip_with", .args = {FM_ARG_LIST, FM_ARG_LIST, FM_ARG_LAMBDA, FM_ARG_END}, .args_min = 3, .args_max = 3,
    .bind = bind_zip, .lambda_params = zip_params, .kernel = zip_with, .nulls = FM_NULLS_CUSTOM,
    .usage = "zip_with(a, b, (x, y) -> ...)", .doc = "Joins two arrays element by element.", .since = "2.4.0",
};
const fm_function fm_fn_map_filter = {
    .name = "map_filter", MAP_LAMBDA, .bind = bind_filter, .lambda_params = entry_params, .kernel = filter,
    .usage = "map_filter(map, (k, v) -> ...)", .doc = "Returns the entries for which the function is true.", .since = "3.0.0",
};
const fm_function fm_fn_transform_values = {
    .name = "transform_values", MAP_LAMBDA, .bind = bind_transform_values, .lambda_params = entry_params,
    .kernel = transform_values, .usage = "transform_values(map, (k, v) -> ...)",
    .doc = "Returns the map with a function applied to each value.", .since = "3.0.0",
};
const fm_function fm_fn_transform_keys = {
    .name = "transform_keys", MAP_LAMBDA, .bind = bind_transform_keys, .lambda_params = entry_params,
    .kernel = transform_keys, .can_fail = true, .usage = "transform_keys(map, (k, v) -> ...)",
    .doc = "Returns the map with a function applied to each key.", .since = "3.0.0",
};
const fm_function fm_fn_map_zip_with = {
    .name = "map_zip_with", .args = {FM_ARG_MAP, FM_ARG_MAP, FM_ARG_LAMBDA, FM_ARG_END}, .args_min = 3, .args_max = 3,
    .bind = bind_map_zip, .lambda_params = map_zip_params, .kernel = map_zip_with, .nulls = FM_NULLS_CUSTOM, .can_fail = true,
    .usage = "map_zip_with(a, b, (k, x, y) -> ...)", .doc = "Joins two maps key by key.", .since = "3.0.0",
};
