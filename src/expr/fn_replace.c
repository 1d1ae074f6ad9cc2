/* expr/fn_replace.c: replace(s, from[, to]), translate(s, from, to), reverse(x), mask(s, ...).
 *
 * Rule   Spark: replace with nothing to look for leaves the text; translate: the first of equal characters of `from`
 *        counts, those beyond the length of `to` go. mask: letters and digits of any script; a null replacement keeps
 *        the characters of its kind.
 * Cases  tests/golden/functions/replace.test, mask.test */
#include "column/builder.h"
#include "expr/call_args.h"
#include "expr/text.h"

static void replace_into(fm_strbuf *buf, fm_str text, fm_str from, fm_str to)
{
    size_t start = 0;
    ptrdiff_t at;
    while (from.len && (at = fm_text_find(text, from, start)) >= 0) {
        fm_strbuf_add(buf, (fm_str){text.ptr + start, (size_t)at - start});
        fm_strbuf_add(buf, to);
        start = (size_t)at + from.len;
    }
    fm_strbuf_add(buf, (fm_str){text.ptr + start, text.len - start});
}

static fm_status replace(fm_call *call, const fm_vec *args, fm_vec *out)
{
    fm_strbuf buf = {0};
    fm_status st = FM_OK;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        fm_str text = fm_vec_str(&args[0], i), from = fm_vec_str(&args[1], i);
        if (fm_call_lane_null(out, i)) continue;
        if (from.len == 0 || fm_text_find(text, from, 0) < 0) {
            fm_out_slice(out, i, text);
            continue;
        }
        replace_into(&buf, text, from, call->expr->n_args > 2 ? fm_vec_str(&args[2], i) : FM_STR(""));
        st = fm_out_buffer(call, out, i, &buf);
    }
    fm_strbuf_fini(&buf);
    return st;
}

/* ---- translate --------------------------------------------------------------------------------------------- */

static void translate_into(fm_strbuf *buf, fm_str text, fm_str from, fm_str to)
{
    for (size_t at = 0, size; at < text.len; at += size) {
        fm_str c, by;
        ptrdiff_t found;
        int64_t n;
        size = fm_char_at(text, at);
        c = (fm_str){text.ptr + at, size};
        found = fm_text_find(from, c, 0);
        if (found < 0) {
            fm_strbuf_add(buf, c);
            continue;
        }
        n = fm_text_chars((fm_str){from.ptr, (size_t)found});
        by = fm_text_slice(to, n, n + 1);
        fm_strbuf_add(buf, by); /* empty beyond the end of `to` */
    }
}

static fm_status translate(fm_call *call, const fm_vec *args, fm_vec *out)
{
    fm_strbuf buf = {0};
    fm_status st = FM_OK;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        if (fm_call_lane_null(out, i)) continue;
        translate_into(&buf, fm_vec_str(&args[0], i), fm_vec_str(&args[1], i), fm_vec_str(&args[2], i));
        st = fm_out_buffer(call, out, i, &buf);
    }
    fm_strbuf_fini(&buf);
    return st;
}

/* ---- reverse ----------------------------------------------------------------------------------------------- */

static fm_status bind_reverse(fm_bind *b, fm_error *err)
{
    const fm_type *t = b->args[0]->type;
    (void)err;
    b->returns = t->id == FM_TYPE_LIST || t->id == FM_TYPE_BINARY ? t : fm_type_string();
    if (b->returns == t) return FM_OK;
    b->cast_args[0] = fm_type_string();
    return t->n_fields > 0
               ? fm_fail_arg_type(b, 0, "(\"STRING\" or \"BINARY\" or \"ARRAY\")", err)
               : FM_OK;
}

static fm_status reverse_list(fm_call *call, const fm_vec *x, fm_vec *out)
{
    int32_t *from, first = x->offsets[0], total = x->offsets[x->len] - first;
    int32_t *offsets = fm_arena_buffer(call->arena, ((size_t)x->len + 1) * 4, false);
    fm_vec *child = fm_arena_one(call->arena, fm_vec);
    from = fm_arena_array(call->arena, int32_t, total);
    if (!from || !offsets || !child) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < x->len; i++) {
        offsets[i] = x->offsets[i] - first;
        for (int32_t k = x->offsets[i], back = x->offsets[i + 1] - 1; back >= x->offsets[i]; k++, back--)
            from[k - first] = back;
    }
    offsets[x->len] = total;
    FM_TRY(fm_vec_gather(child, &x->children[0], from, total, call->arena, call->err));
    out->offsets = offsets;
    out->children = child;
    return FM_OK;
}

static fm_status reverse(fm_call *call, const fm_vec *args, fm_vec *out)
{
    if (out->type->id == FM_TYPE_LIST) return reverse_list(call, &args[0], out);
    for (int32_t i = 0; i < out->len; i++) {
        fm_str text = fm_vec_str(&args[0], i);
        char small[FM_VIEW_INLINE], *to = small;
        fm_status st;
        if (text.len > FM_VIEW_INLINE && !(to = fm_out_room(call, text.len, &st))) return st;
        for (size_t at = 0, size; at < text.len; at += size) {
            size = out->type->id == FM_TYPE_BINARY ? 1 : fm_char_at(text, at);
            memcpy(to + text.len - at - size, text.ptr + at, size);
        }
        fm_out_slice(out, i, (fm_str){to, text.len});
    }
    return FM_OK;
}

/* ---- mask -------------------------------------------------------------------------------------------------- */

enum { UPPER, LOWER, DIGIT, OTHER, KINDS };

static int kind_of(uint32_t c)
{
    if (c < 0x80)
        return c >= 'A' && c <= 'Z' ? UPPER : c >= 'a' && c <= 'z' ? LOWER : c >= '0' && c <= '9' ? DIGIT : OTHER;
    return fm_char_is_upper(c) ? UPPER : fm_char_is_lower(c) ? LOWER : fm_char_is_digit(c) ? DIGIT : OTHER;
}

static fm_status mask(fm_call *call, const fm_vec *args, fm_vec *out)
{
    fm_strbuf buf = {0};
    fm_status st = FM_OK;
    out->validity = args[0].validity;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        fm_str text, by[KINDS] = {FM_STR("X"), FM_STR("x"), FM_STR("n"), {NULL, 0}};
        if (fm_vec_is_null(&args[0], i)) continue;
        text = fm_vec_str(&args[0], i);
        for (int32_t a = 1; a < call->expr->n_args; a++)
            by[a - 1] = fm_vec_is_null(&args[a], i) ? (fm_str){NULL, 0} : fm_vec_str(&args[a], i);
        for (size_t at = 0, size; at < text.len; at += size) {
            fm_str to = by[kind_of(fm_char_decode(text, at, &size))];
            fm_strbuf_add(&buf, to.ptr ? to : (fm_str){text.ptr + at, size});
        }
        st = fm_out_buffer(call, out, i, &buf);
    }
    fm_strbuf_fini(&buf);
    return st;
}

const fm_function fm_fn_replace = {
    .name = "replace", .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_STRING, FM_ARG_END}, .args_min = 2,
    .args_max = 3, .returns = fm_type_string, .kernel = replace, .nulls = FM_NULLS_STRICT,
    .usage = "replace(str, search[, by])", .shown = {NULL, NULL, ""}, .since = "2.3.0",
    .doc = "Replaces all that is found of a text.",
};

const fm_function fm_fn_translate = {
    .name = "translate", .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_STRING, FM_ARG_END}, .args_min = 3,
    .args_max = 3, .returns = fm_type_string, .kernel = translate, .nulls = FM_NULLS_STRICT,
    .usage = "translate(str, from, to)", .since = "1.5.0",
    .doc = "Replaces each character of `from` by the one at its place in `to`.",
};

const fm_function fm_fn_reverse = {
    .name = "reverse", .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = 1, .bind = bind_reverse,
    .kernel = reverse, .nulls = FM_NULLS_STRICT, .usage = "reverse(expr)",
    .doc = "Returns the characters, bytes or elements in reverse order.", .since = "1.5.0",
};

const fm_function fm_fn_mask = {
    .name = "mask",
    .exact = true,
    .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_STRING, FM_ARG_STRING, FM_ARG_STRING, FM_ARG_END},
    .args_min = 1, .args_max = 5, .returns = fm_type_string, .kernel = mask, .nulls = FM_NULLS_CUSTOM,
    .usage = "mask(str[, upper[, lower[, digit[, other]]]])", .shown = {NULL, "X", "x", "n", "NULL"},
    .since = "3.4.0", .doc = "Replaces letters and digits, so that a text no longer tells what it said.",
};
