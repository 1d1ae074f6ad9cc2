/* expr/fn_conv.c: bin(n), conv(text, from, to), chr(n).
 *
 * Rule   Spark, NumberConverter: digits up to the first that is none; 64 bits unsigned, of which a negative target base makes a
 *        signed number; too large is all ones without ANSI. chr: the low byte as a character of Latin 1; '' below zero.
 * Cases  tests/golden/functions/binary.test */
#include "expr/kernel.h"
#include "expr/text.h"

enum { BASE_MIN = 2, BASE_MAX = 36, DIGITS_MAX = 64 };

/* ---- bin --------------------------------------------------------------------------------------------------- */

/* x in a base, at the end of text[DIGITS_MAX]. */
static fm_str digits_of(uint64_t x, uint32_t base, char text[DIGITS_MAX])
{
    char *at = text + DIGITS_MAX;
    do {
        *--at = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[x % base];
        x /= base;
    } while (x);
    return (fm_str){at, (size_t)(text + DIGITS_MAX - at)};
}

static fm_status bin(fm_call *call, const fm_vec *args, fm_vec *out)
{
    char text[DIGITS_MAX];
    for (int32_t i = 0; i < out->len; i++)
        FM_TRY(fm_out_text(call, out, i, digits_of((uint64_t)fm_vec_i64(&args[0])[i], 2, text)));
    return FM_OK;
}

/* ---- conv -------------------------------------------------------------------------------------------------- */

static uint32_t digit_value(char c)
{
    if (c >= '0' && c <= '9') return (uint32_t)(c - '0');
    if (c >= 'a' && c <= 'z') return (uint32_t)(c - 'a') + 10;
    if (c >= 'A' && c <= 'Z') return (uint32_t)(c - 'A') + 10;
    return UINT32_MAX;
}

/* False: it does not fit; *out is all ones then. */
static bool read_digits(fm_str text, uint32_t base, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < text.len && digit_value(text.ptr[i]) < base; i++)
        if (__builtin_mul_overflow(*out, (uint64_t)base, out) ||
            __builtin_add_overflow(*out, (uint64_t)digit_value(text.ptr[i]), out)) {
            *out = UINT64_MAX;
            return false;
        }
    return true;
}

static fm_str trim_blanks(fm_str text)
{
    while (text.len && text.ptr[0] == ' ') text.ptr++, text.len--;
    while (text.len && text.ptr[text.len - 1] == ' ') text.len--;
    return text;
}

static bool is_base(int32_t base) { return base >= BASE_MIN && base <= BASE_MAX; }

static fm_status conv(fm_call *call, const fm_vec *args, fm_vec *out)
{
    uint64_t *own = NULL;
    for (int32_t i = 0; i < out->len; i++) {
        fm_str text = trim_blanks(fm_vec_str(&args[0], i)), digits;
        int32_t from = fm_vec_i32(&args[1])[i], to = fm_vec_i32(&args[2])[i];
        char room[DIGITS_MAX + 1];
        bool negative;
        uint64_t x;
        if (fm_call_lane_null(out, i)) continue;
        if (!text.len || !is_base(from) || !(is_base(to) || (to < 0 && to != INT32_MIN && is_base(-to)))) {
            FM_TRY(fm_out_null(call, out, &own, i));
            continue;
        }
        negative = text.ptr[0] == '-';
        if (negative) text.ptr++, text.len--;
        if (!read_digits(text, (uint32_t)from, &x) && call->ansi)
            return fm_fail(call->err, FM_INVALID, "ARITHMETIC_OVERFLOW",
                           "Overflow in function conv(). If necessary set \"spark.sql.ansi.enabled\" to \"false\" to bypass "
                           "this error.");
        if (negative && to > 0) x = x >> 63 ? UINT64_MAX : 0 - x;
        if (to < 0 && x >> 63) {
            x = 0 - x;
            negative = true;
        }
        digits = digits_of(x, (uint32_t)(to < 0 ? -to : to), room + 1);
        if (negative && to < 0) {
            digits.ptr--;
            digits.len++;
            room[digits.ptr - room] = '-';
        }
        FM_TRY(fm_out_text(call, out, i, digits));
    }
    return FM_OK;
}

static fm_status bind_conv(fm_bind *b, fm_error *err)
{
    (void)err;
    b->returns = fm_type_string();
    b->nullable = true;
    return FM_OK;
}

/* ---- chr --------------------------------------------------------------------------------------------------- */

static fm_status chr(fm_call *call, const fm_vec *args, fm_vec *out)
{
    for (int32_t i = 0; i < out->len; i++) {
        int64_t n = fm_vec_i64(&args[0])[i];
        char utf8[4];
        if (n >= 0) FM_TRY(fm_out_text(call, out, i, (fm_str){utf8, fm_char_encode((uint32_t)(n & 0xFF), utf8)}));
    }
    return FM_OK;
}

const fm_function fm_fn_bin = {
    .name = "bin", .args = {FM_ARG_I64, FM_ARG_END}, .args_min = 1, .args_max = 1, .returns = fm_type_string,
    .kernel = bin, .nulls = FM_NULLS_STRICT, .usage = "bin(expr)", .since = "1.5.0",
    .doc = "Returns an integer in binary digits.",
};

const fm_function fm_fn_conv = {
    .name = "conv", .args = {FM_ARG_STRING, FM_ARG_I32, FM_ARG_I32, FM_ARG_END}, .args_min = 3, .args_max = 3,
    .bind = bind_conv, .kernel = conv, .nulls = FM_NULLS_STRICT, .can_fail = true,
    .usage = "conv(num, from_base, to_base)", .since = "1.5.0", .doc = "Writes a number of one base in another.",
};

const fm_function fm_fn_char = {
    .name = "char", .aliases = {"chr"}, .args = {FM_ARG_I64, FM_ARG_END}, .args_min = 1, .args_max = 1,
    .returns = fm_type_string, .kernel = chr, .nulls = FM_NULLS_STRICT, .usage = "char(expr)", .since = "2.3.0",
    .doc = "Returns the character whose code is the low byte of expr.",
};
