/* expr/fn_concat.c: concat(...), ||, concat_ws(sep, ...), repeat, space, lpad, rpad, elt.
 *
 * Rule   Spark, Concat: arrays of one element type; binaries when all are; else texts. concat_ws skips nulls and takes
 *        arrays of strings apart. lpad, rpad cut to len; nothing to pad with: unchanged.
 * Cases  tests/golden/functions/concat.test, lpad.test */
#include "column/builder.h"
#include "expr/call_args.h"
#include "expr/coerce.h"
#include "expr/kernel.h"
#include "expr/resolve_text.h"
#include "expr/text.h"

/* ---- concat ------------------------------------------------------------------------------------------------ */

static fm_status bind_concat(fm_bind *b, fm_error *err)
{
    bool lists = false, binaries = b->n_args > 0;
    b->returns = fm_type_string();
    for (int32_t i = 0; i < b->n_args; i++) {
        fm_type_id id = b->args[i]->type->id;
        lists |= id == FM_TYPE_LIST;
        binaries &= id == FM_TYPE_BINARY;
    }
    if (binaries) b->returns = fm_type_simple(FM_TYPE_BINARY);
    if (lists) {
        b->returns = fm_type_common_of(b->arena, b->conf, b->args, b->n_args);
        if (!b->returns || b->returns->id != FM_TYPE_LIST)
            return fm_fail_bind(b, err, "DATA_DIFF_TYPES",
                                "Input to `concat` should all be the same type, but there are %s and %s.",
                                b->args[0]->type, b->args[b->n_args - 1]->type);
    }
    for (int32_t i = 0; i < b->n_args; i++) {
        if (!lists && !fm_type_implicit(b->conf, b->args[i]->type, b->returns) &&
            b->args[i]->type->id != FM_TYPE_BINARY)
            return fm_fail_arg_type(b, i, "\"STRING\" or \"BINARY\" or \"ARRAY\"", err);
        b->cast_args[i] = b->returns;
    }
    return FM_OK;
}

static fm_status concat_lists(fm_call *call, const fm_vec *args, fm_vec *out)
{
    int32_t n = call->expr->n_args;
    fm_builder *b = fm_builder_new(call->arena, out->type, out->len), *child;
    if (!b) return fm_no_memory(call->arena, call->err);
    child = fm_builder_child(b, 0);
    for (int32_t i = 0; i < out->len; i++) {
        if (fm_call_lane_null(out, i)) {
            fm_builder_null(b);
            continue;
        }
        for (int32_t a = 0; a < n; a++)
            for (int32_t k = args[a].offsets[i]; k < args[a].offsets[i + 1]; k++)
                fm_builder_lane(child, &args[a].children[0], k);
        fm_builder_end(b);
    }
    return fm_builder_finish(b, out, call->err);
}

static fm_status concat(fm_call *call, const fm_vec *args, fm_vec *out)
{
    int32_t n = call->expr->n_args;
    if (out->type->id == FM_TYPE_LIST) return concat_lists(call, args, out);
    for (int32_t i = 0; i < out->len; i++) {
        size_t size = 0, at = 0;
        char small[FM_VIEW_INLINE], *to = small;
        fm_status st;
        if (fm_call_lane_null(out, i)) continue;
        for (int32_t a = 0; a < n; a++) size += fm_vec_view(&args[a])[i].len;
        if (size > FM_VIEW_INLINE && !(to = fm_out_room(call, size, &st))) return st;
        for (int32_t a = 0; a < n; a++) {
            fm_str part = fm_vec_str(&args[a], i);
            if (part.len) memcpy(to + at, part.ptr, part.len);
            at += part.len;
        }
        fm_out_slice(out, i, (fm_str){to, size});
    }
    return FM_OK;
}

/* ---- concat_ws --------------------------------------------------------------------------------------------- */

static fm_status bind_concat_ws(fm_bind *b, fm_error *err)
{
    b->returns = fm_type_string();
    b->nullable = b->args[0]->nullable;
    for (int32_t i = 1; i < b->n_args; i++) {
        const fm_type *t = b->args[i]->type;
        if (t->id == FM_TYPE_LIST) {
            if (t->fields[0].type->id == FM_TYPE_STRING) continue;
            b->cast_args[i] = fm_type_list(b->arena, fm_type_string(), t->fields[0].nullable);
            if (!b->cast_args[i]) return fm_no_memory(b->arena, err);
            if (!fm_type_implicit(b->conf, t, b->cast_args[i]))
                return fm_fail_arg_type(b, i, "\"STRING\" or \"ARRAY<STRING>\"", err);
        } else if (fm_type_implicit(b->conf, t, fm_type_string())) {
            b->cast_args[i] = fm_type_string();
        } else {
            return fm_fail_arg_type(b, i, "\"STRING\" or \"ARRAY<STRING>\"", err);
        }
    }
    return FM_OK;
}

static void join(fm_strbuf *buf, bool *first, fm_str separator, const fm_vec *v, int64_t i)
{
    if (fm_vec_is_null(v, i)) return;
    if (!*first) fm_strbuf_add(buf, separator);
    *first = false;
    fm_strbuf_add(buf, fm_vec_str(v, i));
}

static fm_status concat_ws(fm_call *call, const fm_vec *args, fm_vec *out)
{
    fm_strbuf buf = {0};
    fm_status st = FM_OK;
    out->validity = args[0].validity;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        fm_str separator;
        bool first = true;
        if (args[0].type->id == FM_TYPE_NULL || fm_vec_is_null(&args[0], i)) continue;
        separator = fm_vec_str(&args[0], i);
        for (int32_t a = 1; a < call->expr->n_args; a++) {
            if (args[a].type->id != FM_TYPE_LIST)
                join(&buf, &first, separator, &args[a], i);
            else if (!fm_vec_is_null(&args[a], i))
                for (int32_t k = args[a].offsets[i]; k < args[a].offsets[i + 1]; k++)
                    join(&buf, &first, separator, &args[a].children[0], k);
        }
        st = fm_out_buffer(call, out, i, &buf);
    }
    fm_strbuf_fini(&buf);
    return st;
}

/* ---- repeat, space, lpad, rpad ----------------------------------------------------------------------------- */

static fm_status repeat_text(fm_call *call, fm_vec *out, int32_t i, fm_str x, int32_t times)
{
    fm_status st;
    char *to;
    size_t size;
    if (times <= 0 || x.len == 0) return FM_OK;
    size = x.len * (size_t)times;
    to = fm_out_room(call, size, &st);
    if (!to) return st;
    for (int32_t k = 0; k < times; k++) memcpy(to + (size_t)k * x.len, x.ptr, x.len);
    fm_out_slice(out, i, (fm_str){to, size});
    return FM_OK;
}

static fm_status repeat(fm_call *call, const fm_vec *args, fm_vec *out)
{
    for (int32_t i = 0; i < out->len; i++)
        if (!fm_call_lane_null(out, i))
            FM_TRY(repeat_text(call, out, i, fm_vec_str(&args[0], i), fm_vec_i32(&args[1])[i]));
    return FM_OK;
}

static fm_status space(fm_call *call, const fm_vec *args, fm_vec *out)
{
    for (int32_t i = 0; i < out->len; i++)
        FM_TRY(repeat_text(call, out, i, FM_STR(" "), fm_vec_i32(&args[0])[i]));
    return FM_OK;
}

typedef struct padding {
    bool text, left;
} padding;

static fm_str cut(fm_str x, bool text, int64_t n)
{
    if (text) return fm_text_slice(x, 0, n);
    return (fm_str){x.ptr, (int64_t)x.len < n ? x.len : (size_t)n};
}

static fm_status pad(fm_call *call, padding how, fm_str x, int32_t len, fm_str by, fm_vec *out, int32_t i)
{
    int64_t have = how.text ? fm_text_chars(x) : (int64_t)x.len;
    int64_t unit = how.text ? fm_text_chars(by) : (int64_t)by.len;
    int64_t missing = len - have;
    fm_str rest;
    size_t whole, size;
    char *to;
    fm_status st;
    if (len <= 0) return FM_OK;
    if (missing <= 0 || unit == 0) {
        fm_out_slice(out, i, cut(x, how.text, len));
        return FM_OK;
    }
    rest = cut(by, how.text, missing % unit);
    whole = (size_t)(missing / unit) * by.len;
    size = x.len + whole + rest.len;
    to = fm_out_room(call, size, &st);
    if (!to) return st;
    char *fill = how.left ? to : to + x.len;
    for (size_t k = 0; k < whole; k += by.len) memcpy(fill + k, by.ptr, by.len);
    if (rest.len) memcpy(fill + whole, rest.ptr, rest.len);
    if (x.len) memcpy(how.left ? to + size - x.len : to, x.ptr, x.len);
    fm_out_slice(out, i, (fm_str){to, size});
    return FM_OK;
}

static fm_status pad_lanes(fm_call *call, const fm_vec *args, fm_vec *out, bool left)
{
    padding how = {args[0].type->id == FM_TYPE_STRING, left};
    fm_str by = how.text ? FM_STR(" ") : (fm_str){"\0", 1};
    for (int32_t i = 0; i < out->len; i++) {
        if (fm_call_lane_null(out, i)) continue;
        if (call->expr->n_args > 2) by = fm_vec_str(&args[2], i);
        FM_TRY(pad(call, how, fm_vec_str(&args[0], i), fm_vec_i32(&args[1])[i], by, out, i));
    }
    return FM_OK;
}

static fm_status lpad(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return pad_lanes(call, args, out, true);
}

static fm_status rpad(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return pad_lanes(call, args, out, false);
}

/* Two binaries stay binary; a binary and a string are strings. */
static fm_status bind_pad(fm_bind *b, fm_error *err)
{
    (void)err;
    b->returns = b->args[0]->type;
    if (b->n_args > 2 && b->args[2]->type->id != b->args[0]->type->id) {
        b->returns = fm_type_string();
        b->cast_args[0] = b->cast_args[2] = fm_type_string();
    }
    return FM_OK;
}

/* ---- elt --------------------------------------------------------------------------------------------------- */

static fm_status bind_elt(fm_bind *b, fm_error *err)
{
    bool binaries = true;
    b->nullable = true;
    for (int32_t i = 1; i < b->n_args; i++) binaries &= b->args[i]->type->id == FM_TYPE_BINARY;
    b->returns = binaries ? fm_type_simple(FM_TYPE_BINARY) : fm_type_string();
    for (int32_t i = 1; i < b->n_args; i++) {
        if (b->args[i]->type->id != FM_TYPE_BINARY && !fm_type_implicit(b->conf, b->args[i]->type, b->returns))
            return fm_fail_arg_type(b, i, "\"STRING\" or \"BINARY\"", err);
        b->cast_args[i] = b->returns;
    }
    return FM_OK;
}

static fm_status elt(fm_call *call, const fm_vec *args, fm_vec *out)
{
    int32_t n = call->expr->n_args - 1;
    uint64_t *valid = fm_arena_buffer(call->arena, (size_t)fm_bit_words(out->len) * 8, true);
    if (!valid) return fm_no_memory(call->arena, call->err);
    out->validity = valid;
    for (int32_t i = 0; i < out->len; i++) {
        int32_t k;
        if (fm_vec_is_null(&args[0], i)) continue;
        k = fm_vec_i32(&args[0])[i];
        if (k < 1 || k > n) {
            if (!call->ansi) continue;
            return fm_fail(call->err, FM_INVALID, "INVALID_ARRAY_INDEX",
                           "The index %d is out of bounds. The array has %d elements. Use the SQL function `get()` "
                           "to tolerate accessing element at invalid index and return NULL instead.",
                           (int)k, (int)n);
        }
        if (fm_vec_is_null(&args[k], i)) continue;
        fm_out_slice(out, i, fm_vec_str(&args[k], i));
        fm_bit_set(valid, i);
    }
    return FM_OK;
}

const fm_function fm_fn_concat = {
    .name = "concat", .aliases = {"||"}, .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 0, .args_max = -1,
    .bind = bind_concat, .kernel = concat, .nulls = FM_NULLS_STRICT, .usage = "concat(a, b, ...)",
    .doc = "Joins texts, binaries or arrays.", .since = "1.5.0",
};

const fm_function fm_fn_concat_ws = {
    .name = "concat_ws", .args = {FM_ARG_STRING, FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = -1,
    .bind = bind_concat_ws, .kernel = concat_ws, .nulls = FM_NULLS_CUSTOM,
    .usage = "concat_ws(sep, a, b, ...)", .since = "1.5.0",
    .doc = "Joins texts and arrays of texts with a separator, nulls left out.",
};

const fm_function fm_fn_repeat = {
    .name = "repeat", .args = {FM_ARG_STRING, FM_ARG_I32, FM_ARG_END}, .args_min = 2, .args_max = 2,
    .returns = fm_type_string, .kernel = repeat, .nulls = FM_NULLS_STRICT, .can_fail = true,
    .usage = "repeat(str, n)", .doc = "Returns str n times.", .since = "1.5.0",
};

const fm_function fm_fn_space = {
    .name = "space", .args = {FM_ARG_I32, FM_ARG_END}, .args_min = 1, .args_max = 1,
    .returns = fm_type_string, .kernel = space, .nulls = FM_NULLS_STRICT, .can_fail = true,
    .usage = "space(n)", .doc = "Returns n blanks.", .since = "1.5.0",
};

const fm_function fm_fn_lpad = {
    .name = "lpad", .args = {FM_ARG_STRING_OR_BINARY, FM_ARG_I32, FM_ARG_STRING_OR_BINARY, FM_ARG_END},
    .args_min = 2, .args_max = 3, .bind = bind_pad, .kernel = lpad, .nulls = FM_NULLS_STRICT, .can_fail = true,
    .usage = "lpad(str, len[, pad])", .shown = {NULL, NULL, " "}, .since = "1.5.0",
    .doc = "Returns str, filled on the left or cut, so that it is len long.",
};

const fm_function fm_fn_rpad = {
    .name = "rpad", .args = {FM_ARG_STRING_OR_BINARY, FM_ARG_I32, FM_ARG_STRING_OR_BINARY, FM_ARG_END},
    .args_min = 2, .args_max = 3, .bind = bind_pad, .kernel = rpad, .nulls = FM_NULLS_STRICT, .can_fail = true,
    .usage = "rpad(str, len[, pad])", .shown = {NULL, NULL, " "}, .since = "1.5.0",
    .doc = "Returns str, filled on the right or cut, so that it is len long.",
};

const fm_function fm_fn_elt = {
    .name = "elt", .args = {FM_ARG_I32, FM_ARG_ANY, FM_ARG_END}, .args_min = 2, .args_max = -1,
    .bind = bind_elt, .kernel = elt, .nulls = FM_NULLS_CUSTOM, .can_fail = true,
    .usage = "elt(n, a, b, ...)", .doc = "Returns the n-th of the texts.", .since = "2.0.0",
};
