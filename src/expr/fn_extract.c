/* expr/fn_extract.c: a[i], m[k] and a.field of an array of structs; get(a, i).
 *
 * Rule  Spark: indexes count from 0; one outside the array is an error under ANSI and null else (get: always null). A
 *       key that a map lacks gives null. The names "[]" and "." cannot be written: the analyzer makes the calls. */
#include "expr/call_args.h"
#include "expr/fn_list_impl.h"
#include "expr/coerce.h"
#include "expr/kernel.h"
#include "expr/resolve_text.h"

/* --- by index ---------------------------------------------------------------------------------------- */

static fm_status by_index(fm_call *call, const fm_vec *args, fm_vec *out, bool strict)
{
    const fm_vec *list = &args[0];
    const int64_t *index = fm_vec_i64(&args[1]);
    int32_t *from = fm_arena_array(call->arena, int32_t, call->rows);
    if (!from) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < call->rows; i++) {
        int32_t n;
        from[i] = -1;
        if (fm_vec_is_null(list, i) || fm_vec_is_null(&args[1], i)) continue;
        n = list->offsets[i + 1] - list->offsets[i];
        if (index[i] >= 0 && index[i] < n)
            from[i] = list->offsets[i] + (int32_t)index[i];
        else if (strict)
            return fm_fail(call->err, FM_INVALID, "INVALID_ARRAY_INDEX",
                           "The index %lld is out of bounds. The array has %d elements. Use the SQL function "
                           "`get()` to tolerate accessing element at invalid index and return NULL instead.",
                           (long long)index[i], (int)n);
    }
    return fm_vec_gather(out, &list->children[0], from, call->rows, call->arena, call->err);
}

static fm_status list_item(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return by_index(call, args, out, call->ansi);
}

static fm_status get(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return by_index(call, args, out, false);
}

/* --- by key ------------------------------------------------------------------------------------------ */

static fm_status map_value(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const fm_vec *map = &args[0], *keys = &map->children[0];
    int32_t *from = fm_arena_array(call->arena, int32_t, call->rows);
    if (!from) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < call->rows; i++) {
        from[i] = -1;
        if (fm_vec_is_null(map, i) || fm_vec_is_null(&args[1], i)) continue;
        for (int32_t k = map->offsets[i]; k < map->offsets[i + 1]; k++)
            if (fm_vec_cmp(keys, k, &args[1], i) == 0) {
                from[i] = k;
                break;
            }
    }
    return fm_vec_gather(out, &map->children[1], from, call->rows, call->arena, call->err);
}

static fm_status bind_item(fm_bind *b, fm_error *err)
{
    static const fm_picked item = {list_item}, value = {map_value};
    const fm_type *base = b->args[0]->type, *key = b->args[1]->type;
    b->nullable = true;
    if (base->id == FM_TYPE_MAP) {
        const fm_type *type = fm_type_common(b->arena, b->conf, base->fields[0].type, key);
        b->bound = &value;
        b->returns = base->fields[1].type;
        /* The key is cast to the map's type; a wider one is not: it could not be found again. */
        if (!type || !fm_type_implicit(b->conf, key, base->fields[0].type))
            return fm_fail_bind(b, err, "UNEXPECTED_INPUT_TYPE",
                                "The key requires the type %s, however it has the type %s.",
                                base->fields[0].type, key);
        b->cast_args[1] = base->fields[0].type;
        return FM_OK;
    }
    b->bound = &item;
    b->returns = base->fields[0].type;
    if (!fm_type_is_integer(key) && key->id != FM_TYPE_NULL)
        return fm_fail_bind(b, err, "UNEXPECTED_INPUT_TYPE",
                            "The index of an array requires the \"INTEGRAL\" type, however it has the type %s.",
                            key, NULL);
    b->cast_args[1] = fm_type_i64();
    return FM_OK;
}

static fm_status bind_get(fm_bind *b, fm_error *err)
{
    if (fm_bind_is_bare_null(b, 0)) return fm_fail_arg_type(b, 0, "\"ARRAY\"", err);
    (void)err;
    b->returns = b->args[0]->type->fields[0].type;
    b->nullable = true;
    return FM_OK;
}

/* --- a field of every element ------------------------------------------------------------------------ */

/* bound: the index of the field. The offsets stay, the elements become their field. */
static fm_status fields(fm_call *call, const fm_vec *args, fm_vec *out)
{
    int32_t index = *(const int32_t *)call->bound;
    const fm_vec *elements = &args[0].children[0];
    fm_vec *child = fm_arena_one(call->arena, fm_vec);
    int32_t *rows;
    if (!child) return fm_no_memory(call->arena, call->err);
    *child = elements->children[index];
    if (elements->validity) { /* null structs have null fields */
        rows = fm_arena_array(call->arena, int32_t, elements->len);
        if (!rows) return fm_no_memory(call->arena, call->err);
        for (int32_t i = 0; i < elements->len; i++) rows[i] = fm_vec_is_null(elements, i) ? -1 : i;
        FM_TRY(fm_vec_gather(child, &elements->children[index], rows, elements->len, call->arena,
                             call->err));
    }
    *out = args[0];
    out->type = call->expr->type;
    out->children = child;
    return FM_OK;
}

static fm_status bind_fields(fm_bind *b, fm_error *err)
{
    const fm_type *list = b->args[0]->type, *of;
    int32_t *index = fm_arena_one(b->arena, int32_t);
    fm_str name = fm_vec_str(&b->args[1]->value, 0);
    if (!index) return fm_no_memory(b->arena, err);
    fm_assert(list->id == FM_TYPE_LIST && list->fields[0].type->id == FM_TYPE_STRUCT);
    of = list->fields[0].type;
    for (*index = 0; *index < of->n_fields; ++*index) {
        fm_str field = of->fields[*index].name;
        if (b->conf->case_sensitive ? fm_str_eq(field, name) : fm_str_eq_ci(field, name)) break;
    }
    fm_assert(*index < of->n_fields); /* the analyzer looked it up */
    b->bound = index;
    b->nullable = b->args[0]->nullable;
    b->returns = fm_type_list(b->arena, of->fields[*index].type,
                              list->fields[0].nullable || of->fields[*index].nullable);
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

const fm_function fm_fn_op_item = {
    .name = "[]",
    .args = {FM_ARG_ANY, FM_ARG_ANY, FM_ARG_END},
    .args_min = 2,
    .args_max = 2,
    .bind = bind_item,
    .kernel = fm_run_picked,
    .nulls = FM_NULLS_CUSTOM,
    .can_fail = true,
    .usage = "a[i]",
    .doc = "Returns the element of an array by its index, or the value of a map by its key.",
    .since = "1.0.0",
};

const fm_function fm_fn_op_fields = {
    .name = ".",
    .args = {FM_ARG_ANY, FM_ARG_ANY, FM_ARG_END},
    .args_min = 2,
    .args_max = 2,
    .bind = bind_fields,
    .kernel = fields,
    .nulls = FM_NULLS_CUSTOM,
    .usage = "a.field",
    .doc = "Returns the array of one field of an array of structs.",
    .since = "1.0.0",
};

const fm_function fm_fn_get = {
    .name = "get",
    .args = {FM_ARG_LIST, FM_ARG_I64, FM_ARG_END},
    .args_min = 2,
    .args_max = 2,
    .bind = bind_get,
    .kernel = get,
    .nulls = FM_NULLS_CUSTOM,
    .usage = "get(array, index)",
    .doc = "Returns the element of an array by its index from 0, null when there is none.",
    .since = "3.4.0",
};
