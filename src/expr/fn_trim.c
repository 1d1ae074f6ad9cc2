/* expr/fn_trim.c: trim([chars,] s), btrim(s[, chars]), ltrim([chars,] s), rtrim([chars,] s).
 *
 * Rule   Spark, StringTrim and its kin: blanks (U+0020 only) or any of the characters given come off. TRIM(BOTH x FROM
 *        y) is trim(x, y).
 * Cases  tests/golden/functions/trim.test */
#include "expr/text.h"

static bool is_among(fm_str chars, fm_str c) { return fm_text_find(chars, c, 0) >= 0; }

static fm_str trim_left(fm_str text, fm_str chars)
{
    while (text.len > 0) {
        size_t size = fm_char_at(text, 0);
        if (!is_among(chars, (fm_str){text.ptr, size})) break;
        text.ptr += size;
        text.len -= size;
    }
    return text;
}

static fm_str trim_right(fm_str text, fm_str chars)
{
    while (text.len > 0) {
        size_t at = text.len - 1;
        while (at > 0 && ((unsigned char)text.ptr[at] & 0xC0) == 0x80) at--;
        if (at + fm_char_at(text, at) != text.len) at = text.len - 1; /* malformed: byte by byte */
        if (!is_among(chars, (fm_str){text.ptr + at, text.len - at})) break;
        text.len = at;
    }
    return text;
}

typedef enum side { LEFT = 1, RIGHT = 2, BOTH = 3 } side;

static fm_status trim_side(const fm_vec *text, const fm_vec *chars, fm_vec *out, side ends)
{
    for (int32_t i = 0; i < out->len; i++) {
        fm_str x = fm_vec_str(text, i), off = chars ? fm_vec_str(chars, i) : FM_STR(" ");
        if (ends & LEFT) x = trim_left(x, off);
        if (ends & RIGHT) x = trim_right(x, off);
        fm_out_slice(out, i, x);
    }
    return FM_OK;
}

/* The characters come first when they are given. */
static fm_status chars_first(fm_call *call, const fm_vec *args, fm_vec *out, side ends)
{
    if (call->expr->n_args == 1) return trim_side(&args[0], NULL, out, ends);
    return trim_side(&args[1], &args[0], out, ends);
}

static fm_status trim(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return chars_first(call, args, out, BOTH);
}

static fm_status ltrim(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return chars_first(call, args, out, LEFT);
}

static fm_status rtrim(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return chars_first(call, args, out, RIGHT);
}

static fm_status btrim(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return trim_side(&args[0], call->expr->n_args > 1 ? &args[1] : NULL, out, BOTH);
}

const fm_function fm_fn_trim = {
    .name = "trim", .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_END}, .args_min = 1, .args_max = 2,
    .returns = fm_type_string, .kernel = trim, .nulls = FM_NULLS_STRICT, .usage = "trim([chars,] str)",
    .doc = "Takes blanks, or the given characters, off both ends.", .since = "1.5.0",
};

const fm_function fm_fn_ltrim = {
    .name = "ltrim", .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_END}, .args_min = 1, .args_max = 2,
    .returns = fm_type_string, .kernel = ltrim, .nulls = FM_NULLS_STRICT, .usage = "ltrim([chars,] str)",
    .doc = "Takes blanks, or the given characters, off the beginning.", .since = "1.5.0",
};

const fm_function fm_fn_rtrim = {
    .name = "rtrim", .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_END}, .args_min = 1, .args_max = 2,
    .returns = fm_type_string, .kernel = rtrim, .nulls = FM_NULLS_STRICT, .usage = "rtrim([chars,] str)",
    .doc = "Takes blanks, or the given characters, off the end.", .since = "1.5.0",
};

const fm_function fm_fn_btrim = {
    .name = "btrim", .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_END}, .args_min = 1, .args_max = 2,
    .returns = fm_type_string, .kernel = btrim, .nulls = FM_NULLS_STRICT, .usage = "btrim(str[, chars])",
    .doc = "Takes blanks, or the given characters, off both ends.", .since = "3.2.0",
};
