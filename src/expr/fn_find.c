/* expr/fn_find.c: contains, startswith, endswith, instr, locate, position, find_in_set.
 *
 * Rule   Spark: places count characters from 1; 0 is "not there". locate(part, text, pos): a pos below 1 finds nothing, a
 *        null pos is 0, a null text or part is null.
 * Cases  tests/golden/functions/contains.test, locate.test */
#include "expr/text.h"

/* ---- contains, startswith, endswith ------------------------------------------------------------------------ */

/* Both binary, or both text. */
static fm_status bind_pair(fm_bind *b, fm_error *err)
{
    (void)err;
    b->returns = fm_type_bool();
    if (b->args[0]->type->id != b->args[1]->type->id)
        b->cast_args[0] = b->cast_args[1] = fm_type_string();
    return FM_OK;
}

static fm_status contains(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    for (int32_t i = 0; i < out->len; i++)
        fm_vec_bool_out(out)[i] = fm_text_find(fm_vec_str(&args[0], i), fm_vec_str(&args[1], i), 0) >= 0;
    return FM_OK;
}

static fm_status startswith(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    for (int32_t i = 0; i < out->len; i++)
        fm_vec_bool_out(out)[i] = fm_str_starts(fm_vec_str(&args[0], i), fm_vec_str(&args[1], i));
    return FM_OK;
}

static fm_status endswith(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    for (int32_t i = 0; i < out->len; i++)
        fm_vec_bool_out(out)[i] = fm_str_ends(fm_vec_str(&args[0], i), fm_vec_str(&args[1], i));
    return FM_OK;
}

/* ---- instr, locate ----------------------------------------------------------------------------------------- */

/* Place of part in text, from character `pos` on, counted from 1; 0: not there. */
static int32_t place_of(fm_str text, fm_str part, int64_t pos)
{
    ptrdiff_t at;
    if (pos < 1) return 0;
    if (part.len == 0) return 1; /* as Spark: whatever pos says */
    at = fm_text_find(text, part, fm_text_offset(text, pos - 1));
    return at < 0 ? 0 : (int32_t)fm_text_chars((fm_str){text.ptr, (size_t)at}) + 1;
}

/* Place of the `nth` part whose begin is character `start` or, to the right, behind it. Overlapping ones count. */
static int32_t nth_place(fm_str text, fm_str part, int64_t start, int32_t nth)
{
    size_t from = fm_text_offset(text, start - 1);
    for (;; nth--) {
        ptrdiff_t at = fm_text_find(text, part, from);
        if (at < 0) return 0;
        if (nth == 1) return (int32_t)fm_text_chars((fm_str){text.ptr, (size_t)at}) + 1;
        from = (size_t)at + fm_char_at(text, (size_t)at);
    }
}

/* The same to the left, from character `start` on, counted from 1. */
static int32_t nth_place_back(fm_str text, fm_str part, int64_t start, int32_t nth)
{
    size_t at = fm_text_offset(text, start - 1);
    for (int64_t place = start; place >= 1; place--) {
        if (text.len - at >= part.len && memcmp(text.ptr + at, part.ptr, part.len) == 0 && --nth == 0) return (int32_t)place;
        while (at > 0 && ((unsigned char)text.ptr[--at] & 0xC0) == 0x80) {
        }
    }
    return 0;
}

static fm_status instr(fm_call *call, const fm_vec *args, fm_vec *out)
{
    for (int32_t i = 0; i < out->len; i++) {
        fm_str text = fm_vec_str(&args[0], i), part = fm_vec_str(&args[1], i);
        int64_t start = call->expr->n_args > 2 ? fm_vec_i32(&args[2])[i] : 1;
        int32_t nth = call->expr->n_args > 3 ? fm_vec_i32(&args[3])[i] : 1;
        if (fm_call_lane_null(out, i)) continue;
        if (nth <= 0)
            return fm_fail(call->err, FM_INVALID, "INVALID_PARAMETER_VALUE.OCCURRENCE",
                           "The value of parameter(s) `occurrence` in `instr` is invalid: expects a positive integer, but got %d.",
                           (int)nth);
        if (start != 0 && part.len == 0)
            fm_vec_i32_out(out)[i] = 1;
        else if (start > 0)
            fm_vec_i32_out(out)[i] = nth_place(text, part, start, nth);
        else if (start < 0)
            fm_vec_i32_out(out)[i] = nth_place_back(text, part, fm_text_chars(text) + 1 + start, nth);
    }
    return FM_OK;
}

static fm_status locate(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const fm_vec *pos = call->expr->n_args > 2 ? &args[2] : NULL;
    uint64_t *valid = fm_arena_buffer(call->arena, (size_t)fm_bit_words(out->len) * 8, true);
    if (!valid) return fm_no_memory(call->arena, call->err);
    out->validity = valid;
    for (int32_t i = 0; i < out->len; i++) {
        if (pos && fm_vec_is_null(pos, i)) {
            fm_bit_set(valid, i); /* 0 */
            continue;
        }
        if (fm_vec_is_null(&args[0], i) || fm_vec_is_null(&args[1], i)) continue;
        fm_bit_set(valid, i);
        fm_vec_i32_out(out)[i] = place_of(fm_vec_str(&args[1], i), fm_vec_str(&args[0], i),
                                          pos ? fm_vec_i32(pos)[i] : 1);
    }
    return FM_OK;
}

/* ---- find_in_set ------------------------------------------------------------------------------------------- */

static int32_t place_in_set(fm_str word, fm_str set)
{
    int32_t n = 1;
    size_t start = 0;
    if (word.len && memchr(word.ptr, ',', word.len)) return 0;
    for (;; n++) {
        ptrdiff_t comma = fm_text_find(set, FM_STR(","), start);
        size_t end = comma < 0 ? set.len : (size_t)comma;
        if (fm_str_eq(word, (fm_str){set.ptr + start, end - start})) return n;
        if (comma < 0) return 0;
        start = end + 1;
    }
}

static fm_status find_in_set(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    for (int32_t i = 0; i < out->len; i++)
        fm_vec_i32_out(out)[i] = place_in_set(fm_vec_str(&args[0], i), fm_vec_str(&args[1], i));
    return FM_OK;
}

const fm_function fm_fn_contains = {
    .name = "contains", .args = {FM_ARG_STRING_OR_BINARY, FM_ARG_STRING_OR_BINARY, FM_ARG_END}, .args_min = 2,
    .args_max = 2, .bind = bind_pair, .kernel = contains, .nulls = FM_NULLS_STRICT,
    .usage = "contains(left, right)", .doc = "Whether right is somewhere in left.", .since = "3.3.0",
};

const fm_function fm_fn_startswith = {
    .name = "startswith", .args = {FM_ARG_STRING_OR_BINARY, FM_ARG_STRING_OR_BINARY, FM_ARG_END}, .args_min = 2,
    .args_max = 2, .bind = bind_pair, .kernel = startswith, .nulls = FM_NULLS_STRICT,
    .usage = "startswith(left, right)", .doc = "Whether left begins with right.", .since = "3.3.0",
};

const fm_function fm_fn_endswith = {
    .name = "endswith", .args = {FM_ARG_STRING_OR_BINARY, FM_ARG_STRING_OR_BINARY, FM_ARG_END}, .args_min = 2,
    .args_max = 2, .bind = bind_pair, .kernel = endswith, .nulls = FM_NULLS_STRICT,
    .usage = "endswith(left, right)", .doc = "Whether left ends with right.", .since = "3.3.0",
};

const fm_function fm_fn_instr = {
    .name = "instr", .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_I32, FM_ARG_I32, FM_ARG_END}, .args_min = 2, .args_max = 4,
    .returns = fm_type_i32, .kernel = instr, .nulls = FM_NULLS_STRICT, .can_fail = true, .shown = {NULL, NULL, NULL, "1"},
    .usage = "instr(str, part[, start[, occurrence]])", .since = "1.5.0",
    .doc = "Returns where part stands in str, counted from 1, looked for from start on, backward from a negative one; 0 if nowhere.",
};

const fm_function fm_fn_locate = {
    .name = "locate", .aliases = {"position"}, .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_I32, FM_ARG_END},
    .args_min = 2, .args_max = 3, .returns = fm_type_i32, .kernel = locate, .nulls = FM_NULLS_CUSTOM,
    .usage = "locate(part, str[, pos])", .shown = {NULL, NULL, "1"}, .since = "1.5.0",
    .doc = "Returns where part first stands in str from pos on, counted from 1; 0 if nowhere.",
};

const fm_function fm_fn_find_in_set = {
    .name = "find_in_set", .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_END}, .args_min = 2, .args_max = 2,
    .returns = fm_type_i32, .kernel = find_in_set, .nulls = FM_NULLS_STRICT,
    .usage = "find_in_set(str, list)", .since = "1.5.0",
    .doc = "Returns the place of str in a list of words between commas; 0 if it is not there.",
};
