/* expr/fn_substring.c: substring(s, pos[, len]), left, right, substring_index, split_part, overlay.
 *
 * Rule   Spark, Substring: positions count from 1, 0 is 1, negative ones from the end; a piece that begins before
 *        the text is cut, not moved: substring('hello', -10, 7) is 'he'. Binaries by bytes.
 * Cases  tests/golden/functions/substring.test, substring_index.test, split_part.test, overlay.test */
#include "expr/kernel.h"
#include "expr/text.h"

static fm_status bind_first(fm_bind *b, fm_error *err)
{
    (void)err;
    b->returns = b->args[0]->type;
    return FM_OK;
}

/* Characters of a string, bytes of a binary. */
static int64_t units(fm_str x, bool text) { return text ? fm_text_chars(x) : (int64_t)x.len; }
static fm_str slice(fm_str x, bool text, int64_t from, int64_t to)
{
    int64_t n = (int64_t)x.len;
    if (text) return fm_text_slice(x, from, to);
    from = from < 0 ? 0 : from > n ? n : from;
    to = to < from ? from : to > n ? n : to;
    return (fm_str){x.ptr + from, (size_t)(to - from)};
}

static fm_str substring_of(fm_str x, bool text, int32_t pos, int32_t len)
{
    int64_t start = pos > 0 ? (int64_t)pos - 1 : pos == 0 ? 0 : units(x, text) + pos;
    /* As Spark: the end of a start below the text stays where it is, an endless length ends nowhere. */
    int64_t end = len == INT32_MAX && start >= 0 ? INT64_MAX : start + len;
    return slice(x, text, start, end);
}

static fm_status substring(fm_call *call, const fm_vec *args, fm_vec *out)
{
    bool text = args[0].type->id == FM_TYPE_STRING;
    int32_t n_args = call->expr->n_args;
    for (int32_t i = 0; i < out->len; i++)
        fm_out_slice(out, i, substring_of(fm_vec_str(&args[0], i), text, fm_vec_i32(&args[1])[i],
                                          n_args > 2 ? fm_vec_i32(&args[2])[i] : INT32_MAX));
    return FM_OK;
}

static fm_status left(fm_call *call, const fm_vec *args, fm_vec *out)
{
    bool text = args[0].type->id == FM_TYPE_STRING;
    (void)call;
    for (int32_t i = 0; i < out->len; i++)
        fm_out_slice(out, i, slice(fm_vec_str(&args[0], i), text, 0, fm_vec_i32(&args[1])[i]));
    return FM_OK;
}

static fm_status right(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    for (int32_t i = 0; i < out->len; i++) {
        fm_str x = fm_vec_str(&args[0], i);
        int32_t n = fm_vec_i32(&args[1])[i];
        int64_t chars = fm_text_chars(x);
        fm_out_slice(out, i, fm_text_slice(x, n <= 0 ? chars : chars - n, chars));
    }
    return FM_OK;
}

/* ---- substring_index --------------------------------------------------------------------------------------- */

static ptrdiff_t find_back(fm_str text, fm_str part, ptrdiff_t from)
{
    for (ptrdiff_t at = from; at >= 0; at--)
        if ((size_t)at + part.len <= text.len && memcmp(text.ptr + at, part.ptr, part.len) == 0) return at;
    return -1;
}

static fm_str substring_index_of(fm_str text, fm_str part, int32_t count)
{
    if (part.len == 0 || count == 0) return (fm_str){text.ptr, 0};
    if (count > 0) {
        ptrdiff_t at = -1;
        for (; count > 0; count--) { /* occurrences may overlap: each is looked for one byte on */
            at = fm_text_find(text, part, (size_t)(at + 1));
            if (at < 0) return text;
        }
        return (fm_str){text.ptr, (size_t)at};
    }
    ptrdiff_t at = (ptrdiff_t)text.len - (ptrdiff_t)part.len + 1;
    for (; count < 0; count++) {
        at = find_back(text, part, at - 1);
        if (at < 0) return text;
    }
    return (fm_str){text.ptr + at + part.len, text.len - (size_t)at - part.len};
}

static fm_status substring_index(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    for (int32_t i = 0; i < out->len; i++)
        fm_out_slice(out, i, substring_index_of(fm_vec_str(&args[0], i), fm_vec_str(&args[1], i),
                                                fm_vec_i32(&args[2])[i]));
    return FM_OK;
}

/* ---- split_part -------------------------------------------------------------------------------------------- */

static int64_t count_parts(fm_str text, fm_str by)
{
    int64_t n = 1;
    if (by.len == 0) return 1;
    for (ptrdiff_t at = 0; (at = fm_text_find(text, by, (size_t)at)) >= 0; n++) at += (ptrdiff_t)by.len;
    return n;
}

/* Part n, counted from 0; empty when there is none. */
static fm_str part_of(fm_str text, fm_str by, int64_t n)
{
    size_t start = 0;
    if (n < 0) return (fm_str){text.ptr, 0};
    if (by.len == 0) return n == 0 ? text : (fm_str){text.ptr, 0};
    for (;; n--) {
        ptrdiff_t at = fm_text_find(text, by, start);
        size_t end = at < 0 ? text.len : (size_t)at;
        if (n == 0) return (fm_str){text.ptr + start, end - start};
        if (at < 0) return (fm_str){text.ptr, 0};
        start = end + by.len;
    }
}

static fm_status split_part(fm_call *call, const fm_vec *args, fm_vec *out)
{
    for (int32_t i = 0; i < out->len; i++) {
        fm_str text = fm_vec_str(&args[0], i), by = fm_vec_str(&args[1], i);
        int64_t n = fm_vec_i32(&args[2])[i];
        if (fm_call_lane_null(out, i)) continue;
        if (n == 0)
            return fm_fail(call->err, FM_INVALID, "INVALID_INDEX_OF_ZERO",
                           "The index 0 is invalid. An index shall be either < 0 or > 0 (the first element has "
                           "index 1).");
        if (n < 0) n = count_parts(text, by) + n + 1;
        fm_out_slice(out, i, part_of(text, by, n - 1));
    }
    return FM_OK;
}

/* ---- overlay ----------------------------------------------------------------------------------------------- */

static fm_status overlay(fm_call *call, const fm_vec *args, fm_vec *out)
{
    bool text = args[0].type->id == FM_TYPE_STRING;
    fm_strbuf buf = {0};
    fm_status st = FM_OK;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        fm_str x = fm_vec_str(&args[0], i), by = fm_vec_str(&args[1], i);
        int64_t pos = fm_vec_i32(&args[2])[i], len = call->expr->n_args > 3 ? fm_vec_i32(&args[3])[i] : -1;
        if (len < 0) len = units(by, text);
        fm_strbuf_add(&buf, slice(x, text, 0, pos - 1));
        fm_strbuf_add(&buf, by);
        /* Spark reads what follows with substring(): a place below 1 counts from the end, or is the first. */
        if (pos + len <= INT32_MAX && pos + len >= INT32_MIN)
            fm_strbuf_add(&buf, substring_of(x, text, (int32_t)(pos + len), INT32_MAX));
        st = fm_out_buffer(call, out, i, &buf);
    }
    fm_strbuf_fini(&buf);
    return st;
}

static fm_status bind_overlay(fm_bind *b, fm_error *err)
{
    (void)err;
    b->returns = b->args[0]->type;
    b->cast_args[1] = b->args[0]->type;
    return FM_OK;
}

const fm_function fm_fn_substring = {
    .name = "substring", .aliases = {"substr"},
    .args = {FM_ARG_STRING_OR_BINARY, FM_ARG_I32, FM_ARG_I32, FM_ARG_END}, .args_min = 2, .args_max = 3,
    .bind = bind_first, .kernel = substring, .nulls = FM_NULLS_STRICT,
    .usage = "substring(str, pos[, len])", .shown = {NULL, NULL, "2147483647"},
    .doc = "Returns the part of str that begins at pos and is len long.", .since = "1.5.0",
};

const fm_function fm_fn_left = {
    .name = "left", .args = {FM_ARG_STRING_OR_BINARY, FM_ARG_I32, FM_ARG_END}, .args_min = 2, .args_max = 2,
    .bind = bind_first, .kernel = left, .nulls = FM_NULLS_STRICT, .usage = "left(str, len)",
    .doc = "Returns the first len characters.", .since = "2.3.0",
};

const fm_function fm_fn_right = {
    .name = "right", .args = {FM_ARG_STRING, FM_ARG_I32, FM_ARG_END}, .args_min = 2, .args_max = 2,
    .returns = fm_type_string, .kernel = right, .nulls = FM_NULLS_STRICT, .usage = "right(str, len)",
    .doc = "Returns the last len characters.", .since = "2.3.0",
};

const fm_function fm_fn_substring_index = {
    .name = "substring_index", .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_I32, FM_ARG_END},
    .args_min = 3, .args_max = 3, .returns = fm_type_string, .kernel = substring_index,
    .nulls = FM_NULLS_STRICT, .usage = "substring_index(str, delim, count)", .since = "1.5.0",
    .doc = "Returns what stands before the count-th delimiter, from the end when count is negative.",
};

const fm_function fm_fn_split_part = {
    .name = "split_part", .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_I32, FM_ARG_END},
    .args_min = 3, .args_max = 3, .returns = fm_type_string, .kernel = split_part, .can_fail = true,
    .nulls = FM_NULLS_STRICT, .usage = "split_part(str, delim, n)", .since = "3.3.0",
    .doc = "Returns the n-th part between delimiters, from the end when n is negative.",
};

const fm_function fm_fn_overlay = {
    .name = "overlay", .args = {FM_ARG_STRING_OR_BINARY, FM_ARG_STRING_OR_BINARY, FM_ARG_I32, FM_ARG_I32, FM_ARG_END},
    .args_min = 3, .args_max = 4, .bind = bind_overlay, .kernel = overlay, .nulls = FM_NULLS_STRICT,
    .usage = "overlay(str, replacement, pos[, len])", .shown = {NULL, NULL, NULL, "-1"},
    .doc = "Puts a replacement over the characters at pos.", .since = "3.0.0",
};
