/* expr/fn_map_make.c: maps made of other values: map_concat, map_from_arrays, map_from_entries, str_to_map.
 *
 * Rule   Spark; keys are checked by map_build.h.
 * Cases  tests/golden/functions/map.test */
#include "expr/call_args.h"
#include "expr/coerce.h"
#include "expr/fn_list_impl.h"
#include "expr/map_build.h"
#include "expr/regex.h"
#include "expr/resolve_text.h"

/* Keys and values of all lanes being gathered. */
typedef struct gathering {
    fm_builder *keys, *values;
    int32_t *offsets;
} gathering;

static fm_status begin(fm_call *call, const fm_vec *out, gathering *g)
{
    g->keys = fm_builder_new(call->arena, out->type->fields[0].type, out->len);
    g->values = fm_builder_new(call->arena, out->type->fields[1].type, out->len);
    g->offsets = fm_map_offsets(call, out->len);
    return g->keys && g->values && g->offsets ? FM_OK : fm_no_memory(call->arena, call->err);
}

static fm_status end(fm_call *call, gathering *g, const uint64_t *validity, fm_vec *out)
{
    fm_vec keys, values;
    FM_TRY(fm_builder_finish(g->keys, &keys, call->err));
    FM_TRY(fm_builder_finish(g->values, &values, call->err));
    return fm_map_build(call, &keys, &values, g->offsets, validity, out);
}

/* ---- map_concat --------------------------------------------------------------------------------------------------- */

static fm_status bind_concat(fm_bind *b, fm_error *err)
{
    const fm_type *key = NULL, *value = NULL;
    bool nullable = false;
    for (int32_t i = 0; i < b->n_args; i++) {
        const fm_type *t = b->args[i]->type;
        if (t->id != FM_TYPE_MAP)
            return fm_fail_bind(b, err, "MAP_CONCAT_DIFF_TYPES", "The `map_concat` should all be of type map, but there is %s.", t, NULL);
        key = key ? fm_type_common_no_string(b->arena, b->conf, key, t->fields[0].type) : t->fields[0].type;
        value = value ? fm_type_common_no_string(b->arena, b->conf, value, t->fields[1].type) : t->fields[1].type;
        if (!key || !value)
            return fm_fail_bind(b, err, "DATA_DIFF_TYPES", "Input to `map_concat` should all be the same type, but there are %s and %s.",
                                b->args[0]->type, t);
        nullable |= t->fields[1].nullable;
    }
    if (!key) key = value = fm_type_string();
    FM_TRY(fm_bind_map_type(b, key, value, nullable, &b->returns, err));
    for (int32_t i = 0; i < b->n_args; i++) b->cast_args[i] = b->returns;
    return FM_OK;
}

static fm_status map_concat(fm_call *call, const fm_vec *args, fm_vec *out)
{
    gathering g;
    FM_TRY(begin(call, out, &g));
    for (int32_t i = 0; i < out->len; i++) {
        for (int32_t a = 0; a < call->expr->n_args && !fm_call_lane_null(out, i); a++)
            for (int32_t k = args[a].offsets[i]; k < args[a].offsets[i + 1]; k++) {
                fm_builder_lane(g.keys, &args[a].children[0], k);
                fm_builder_lane(g.values, &args[a].children[1], k);
            }
        g.offsets[i + 1] = fm_builder_len(g.keys);
    }
    return end(call, &g, out->validity, out);
}

/* ---- map_from_arrays, map_from_entries ---------------------------------------------------------------------------- */

static fm_status bind_from_arrays(fm_bind *b, fm_error *err)
{
    const fm_field *values = &b->args[1]->type->fields[0];
    return fm_bind_map_type(b, fm_list_element(b->args[0]->type), values->type, values->nullable, &b->returns, err);
}

static fm_status map_from_arrays(fm_call *call, const fm_vec *args, fm_vec *out)
{
    gathering g;
    FM_TRY(begin(call, out, &g));
    for (int32_t i = 0; i < out->len; i++) {
        int32_t from = args[0].offsets[i], n = args[0].offsets[i + 1] - from;
        if (!fm_call_lane_null(out, i)) {
            if (args[1].offsets[i + 1] - args[1].offsets[i] != n)
                return fm_fail(call->err, FM_INVALID, "_LEGACY_ERROR_TEMP_2128",
                               "The key array and value array of MapData must have the same length: there are %d keys and %d values.",
                               (int)n, (int)(args[1].offsets[i + 1] - args[1].offsets[i]));
            for (int32_t k = 0; k < n; k++) {
                fm_builder_lane(g.keys, &args[0].children[0], from + k);
                fm_builder_lane(g.values, &args[1].children[0], args[1].offsets[i] + k);
            }
        }
        g.offsets[i + 1] = fm_builder_len(g.keys);
    }
    return end(call, &g, out->validity, out);
}

static fm_status bind_from_entries(fm_bind *b, fm_error *err)
{
    const fm_type *list = b->args[0]->type, *pair = list->id == FM_TYPE_LIST ? fm_list_element(list) : NULL;
    if (!pair || pair->id != FM_TYPE_STRUCT || pair->n_fields != 2)
        return fm_fail_arg_type(b, 0, "\"ARRAY\" of pair \"STRUCT\"", err);
    b->nullable |= list->fields[0].nullable;
    return fm_bind_map_type(b, pair->fields[0].type, pair->fields[1].type, pair->fields[1].nullable, &b->returns, err);
}

/* A null entry makes the whole map null. */
static fm_status map_from_entries(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const fm_vec *pairs = &args[0].children[0];
    uint64_t *valid = fm_arena_buffer(call->arena, (size_t)fm_bit_words(out->len) * 8, true);
    gathering g;
    if (!valid) return fm_no_memory(call->arena, call->err);
    FM_TRY(begin(call, out, &g));
    for (int32_t i = 0; i < out->len; i++) {
        bool null = fm_vec_is_null(&args[0], i);
        for (int32_t k = args[0].offsets[i]; k < args[0].offsets[i + 1]; k++) null |= fm_vec_is_null(pairs, k);
        for (int32_t k = args[0].offsets[i]; k < args[0].offsets[i + 1] && !null; k++) {
            fm_builder_lane(g.keys, &pairs->children[0], k);
            fm_builder_lane(g.values, &pairs->children[1], k);
        }
        if (!null) fm_bit_set(valid, i);
        g.offsets[i + 1] = fm_builder_len(g.keys);
    }
    return end(call, &g, valid, out);
}

/* ---- str_to_map --------------------------------------------------------------------------------------------------- */

/* A delimiter, a regular expression, kept while it stays the same. */
typedef struct delimiter {
    fm_str text;
    fm_regex *regex;
    fm_regex_run *run;
} delimiter;

static void delimiter_fini(delimiter *d)
{
    fm_regex_run_free(d->run);
    fm_regex_free(d->regex);
    *d = (delimiter){0};
}

static fm_status use(fm_call *call, delimiter *d, fm_str pattern)
{
    if (d->regex && fm_str_eq(d->text, pattern)) return FM_OK;
    delimiter_fini(d);
    if (fm_regex_compile(pattern, &d->regex, call->err) != FM_OK) {
        fm_error why = *call->err;
        return fm_fail(call->err, why.status, why.condition, "The delimiter '%.*s' of `str_to_map` cannot be used: %s.", FM_STR_ARG(pattern), why.message);
    }
    d->text = pattern;
    return fm_regex_run_new(d->regex, &d->run, call->err);
}

/* Cuts the first part off *rest. false: *rest, the whole of it, is the last part. */
static fm_status cut(fm_call *call, delimiter *d, fm_str text, size_t *from, fm_str *part, bool *cut_off)
{
    size_t start = 0, end = 0;
    bool found = true;
    for (size_t at = *from; found && at <= text.len; at = fm_regex_next(d->run)) {
        FM_TRY(fm_regex_find(d->run, at, &found, call->err));
        if (!found || !fm_regex_group(d->run, 0, &start, &end) || end == 0) continue; /* of nothing at the begin: no cut */
        *part = (fm_str){text.ptr + *from, start - *from};
        *from = end;
        *cut_off = true;
        return FM_OK;
    }
    *part = (fm_str){text.ptr + *from, text.len - *from};
    *cut_off = false;
    return FM_OK;
}

static fm_status add_pair(fm_call *call, delimiter *d, fm_str pair, gathering *g)
{
    fm_str text, key;
    size_t from = 0;
    bool has_value;
    FM_TRY(fm_regex_begin(d->run, pair, &text, call->err));
    FM_TRY(cut(call, d, text, &from, &key, &has_value));
    fm_builder_str(g->keys, key);
    if (has_value) fm_builder_str(g->values, (fm_str){text.ptr + from, text.len - from});
    else fm_builder_null(g->values);
    return FM_OK;
}

static fm_status add_pairs(fm_call *call, delimiter *pairs, delimiter *keys, fm_str text, gathering *g)
{
    size_t from = 0;
    bool more = true;
    FM_TRY(fm_regex_begin(pairs->run, text, &text, call->err));
    while (more) {
        fm_str pair = {0};
        FM_TRY(cut(call, pairs, text, &from, &pair, &more));
        FM_TRY(add_pair(call, keys, pair, g));
    }
    return FM_OK;
}

static fm_status bind_str_to_map(fm_bind *b, fm_error *err)
{
    b->returns = fm_type_map(b->arena, fm_type_string(), fm_type_string(), true);
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

static fm_status str_to_map(fm_call *call, const fm_vec *args, fm_vec *out)
{
    int32_t n_args = call->expr->n_args;
    delimiter pairs = {0}, keys = {0};
    gathering g;
    fm_status st = begin(call, out, &g);
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        if (!fm_call_lane_null(out, i)) {
            st = use(call, &pairs, n_args > 1 ? fm_vec_str(&args[1], i) : FM_STR(","));
            if (st == FM_OK) st = use(call, &keys, n_args > 2 ? fm_vec_str(&args[2], i) : FM_STR(":"));
            if (st == FM_OK) st = add_pairs(call, &pairs, &keys, fm_vec_str(&args[0], i), &g);
        }
        g.offsets[i + 1] = fm_builder_len(g.keys);
    }
    delimiter_fini(&pairs);
    delimiter_fini(&keys);
    return st == FM_OK ? end(call, &g, out->validity, out) : st;
}

/* ---- Entries ------------------------------------------------------------------------------------------------------ */

const fm_function fm_fn_map_concat = {
    .name = "map_concat", .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 0, .args_max = -1, .bind = bind_concat,
    .kernel = map_concat, .nulls = FM_NULLS_STRICT, .can_fail = true, .usage = "map_concat(map, ...)",
    .doc = "Returns a map of the entries of all maps.", .since = "2.4.0",
};
const fm_function fm_fn_map_from_arrays = {
    .name = "map_from_arrays", .args = {FM_ARG_LIST, FM_ARG_LIST, FM_ARG_END}, .args_min = 2, .args_max = 2, .bind = bind_from_arrays,
    .kernel = map_from_arrays, .nulls = FM_NULLS_STRICT, .can_fail = true, .usage = "map_from_arrays(keys, values)",
    .doc = "Returns a map of keys and values at like places.", .since = "2.4.0",
};
const fm_function fm_fn_map_from_entries = {
    .name = "map_from_entries", .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = 1, .bind = bind_from_entries,
    .kernel = map_from_entries, .nulls = FM_NULLS_CUSTOM, .can_fail = true, .usage = "map_from_entries(array_of_structs)",
    .doc = "Returns a map of structs of key and value.", .since = "2.4.0",
};
const fm_function fm_fn_str_to_map = {
    .name = "str_to_map", .exact = true, .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_STRING, FM_ARG_END}, .args_min = 1, .args_max = 3,
    .bind = bind_str_to_map, .kernel = str_to_map, .nulls = FM_NULLS_STRICT, .can_fail = true,
    .usage = "str_to_map(text[, pairs[, key_value]])", .shown = {NULL, ",", ":"},
    .doc = "Returns a map of a text of keys and values between delimiters.", .since = "2.0.1",
};
