/* expr/fn_encode.c: encode(s, charset), decode(bytes, charset), hex, unhex, base64, unbase64, to_binary, try_to_binary.
 *
 * decode(x, search, result, ...) is a CASE (call.c).
 *
 * Rule   Spark: charsets by name, others are refused; what a charset cannot hold fails. unhex: an odd first digit stands alone;
 *        null where a digit is none. base64 in lines of 76. to_binary: the format is constant: hex, utf-8, utf8 or base64.
 * Cases  tests/golden/functions/binary.test */
#include <stdio.h>

#include "expr/base64_text.h"
#include "expr/call_args.h"
#include "expr/charset.h"
#include "expr/kernel.h"
#include "expr/resolve_text.h"
#include "expr/text.h"

/* ---- charsets ---------------------------------------------------------------------------------------------- */

static const fm_type *binary(void) { return fm_type_simple(FM_TYPE_BINARY); }

static fm_status recode(fm_call *call, const fm_vec *args, fm_vec *out,
                        bool (*how)(fm_charset charset, fm_str in, fm_strbuf *out))
{
    fm_strbuf buf = {0};
    fm_status st = FM_OK;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        fm_str name = fm_vec_str(&args[1], i);
        fm_charset charset = fm_charset_find(name);
        if (fm_call_lane_null(out, i)) continue;
        if (charset == FM_CHARSET_NONE)
            st = fm_fail(call->err, FM_INVALID, "INVALID_PARAMETER_VALUE.CHARSET",
                         "The value of parameter(s) `charset` in `%s` is invalid: expects one of the %s, but got %.*s.",
                         call->function->name, fm_charset_names(), FM_STR_ARG(name));
        else if (!how(charset, fm_vec_str(&args[0], i), &buf))
            st = fm_fail(call->err, FM_INVALID, "MALFORMED_CHARACTER_CODING",
                         "Invalid value found when performing `%s` with %.*s", call->function->name, FM_STR_ARG(name));
        else
            st = fm_out_buffer(call, out, i, &buf);
    }
    fm_strbuf_fini(&buf);
    return st;
}

static fm_status encode(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return recode(call, args, out, fm_charset_encode);
}

static fm_status decode(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return recode(call, args, out, fm_charset_decode);
}

/* ---- hex, unhex -------------------------------------------------------------------------------------------- */

static fm_status hex_of_bytes(fm_call *call, const fm_vec *args, fm_vec *out)
{
    static const char digits[] = "0123456789ABCDEF";
    for (int32_t i = 0; i < out->len; i++) {
        fm_str bytes = fm_vec_str(&args[0], i);
        char small[FM_VIEW_INLINE], *to = small;
        fm_status st;
        if (2 * bytes.len > FM_VIEW_INLINE && !(to = fm_out_room(call, 2 * bytes.len, &st))) return st;
        for (size_t k = 0; k < bytes.len; k++) {
            to[2 * k] = digits[(unsigned char)bytes.ptr[k] >> 4];
            to[2 * k + 1] = digits[(unsigned char)bytes.ptr[k] & 15];
        }
        fm_out_slice(out, i, (fm_str){to, 2 * bytes.len});
    }
    return FM_OK;
}

static fm_status hex_of_number(fm_call *call, const fm_vec *args, fm_vec *out)
{
    for (int32_t i = 0; i < out->len; i++) {
        char text[24];
        int n = snprintf(text, sizeof text, "%llX", (unsigned long long)fm_vec_i64(&args[0])[i]);
        FM_TRY(fm_out_text(call, out, i, (fm_str){text, (size_t)n}));
    }
    return FM_OK;
}

static fm_status bind_hex(fm_bind *b, fm_error *err)
{
    static const fm_picked bytes = {hex_of_bytes}, number = {hex_of_number};
    const fm_type *type = b->args[0]->type;
    b->returns = fm_type_string();
    b->bound = &bytes;
    if (fm_type_is_view(type)) return FM_OK;
    if (fm_type_is_nested(type))
        return fm_fail_arg_type(b, 0, "(\"BIGINT\" or \"BINARY\" or \"STRING\")", err);
    if (fm_type_is_numeric(type) || type->id == FM_TYPE_NULL) {
        b->bound = &number;
        b->cast_args[0] = fm_type_i64();
    } else {
        b->cast_args[0] = fm_type_string();
    }
    return FM_OK;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if ((c | 32) >= 'a' && (c | 32) <= 'f') return (c | 32) - 'a' + 10;
    return -1;
}

static bool add_unhex(fm_strbuf *out, fm_str text)
{
    size_t at = text.len % 2;
    if (at) {
        if (hex_value(text.ptr[0]) < 0) return false;
        fm_strbuf_add_char(out, (char)hex_value(text.ptr[0]));
    }
    for (; at < text.len; at += 2) {
        int high = hex_value(text.ptr[at]), low = hex_value(text.ptr[at + 1]);
        if (high < 0 || low < 0) return false;
        fm_strbuf_add_char(out, (char)(high << 4 | low));
    }
    return true;
}

static fm_status unhex(fm_call *call, const fm_vec *args, fm_vec *out)
{
    fm_strbuf buf = {0};
    uint64_t *own = NULL;
    fm_status st = FM_OK;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        if (fm_call_lane_null(out, i)) continue;
        if (add_unhex(&buf, fm_vec_str(&args[0], i))) {
            st = fm_out_buffer(call, out, i, &buf);
            continue;
        }
        fm_strbuf_clear(&buf);
        st = fm_out_null(call, out, &own, i);
    }
    fm_strbuf_fini(&buf);
    return st;
}

static fm_status bind_binary(fm_bind *b, fm_error *err)
{
    (void)err;
    b->returns = binary();
    b->nullable = true;
    return FM_OK;
}

/* ---- base64, unbase64 -------------------------------------------------------------------------------------- */

static fm_status base64(fm_call *call, const fm_vec *args, fm_vec *out)
{
    fm_strbuf buf = {0};
    fm_status st = FM_OK;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        fm_base64_add(&buf, fm_vec_str(&args[0], i));
        st = fm_out_buffer(call, out, i, &buf);
    }
    fm_strbuf_fini(&buf);
    return st;
}

static fm_status fail_conversion(fm_call *call, fm_str text, const char *format)
{
    return fm_fail(call->err, FM_INVALID, "CONVERSION_INVALID_INPUT",
                   "The value '%.*s' (%s) cannot be converted to \"BINARY\" because it is malformed. Correct the value as per the "
                   "syntax, or change its format. Use `try_to_binary` to tolerate malformed input and return NULL instead.",
                   FM_STR_ARG(text), format);
}

static fm_status unbase64(fm_call *call, const fm_vec *args, fm_vec *out)
{
    fm_strbuf buf = {0};
    fm_status st = FM_OK;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        fm_str text = fm_vec_str(&args[0], i);
        if (fm_call_lane_null(out, i)) continue;
        st = fm_base64_read(&buf, text) ? fail_conversion(call, text, "'BASE64'") : fm_out_buffer(call, out, i, &buf);
    }
    fm_strbuf_fini(&buf);
    return st;
}

/* ---- to_binary --------------------------------------------------------------------------------------------- */

typedef enum binary_format { HEX, UTF_8, BASE64, NO_FORMAT, NULL_FORMAT } binary_format;

static binary_format format_of(fm_str name)
{
    if (fm_str_eq_ci(name, FM_STR("hex"))) return HEX;
    if (fm_str_eq_ci(name, FM_STR("utf-8")) || fm_str_eq_ci(name, FM_STR("utf8"))) return UTF_8;
    return fm_str_eq_ci(name, FM_STR("base64")) ? BASE64 : NO_FORMAT;
}

/* bound: a binary_format. */
static fm_status bind_format(fm_bind *b, bool try, fm_error *err)
{
    binary_format *format = fm_arena_one(b->arena, binary_format);
    fm_value value;
    if (!format) return fm_no_memory(b->arena, err);
    b->returns = binary();
    b->nullable = true;
    b->bound = format;
    *format = HEX;
    if (b->n_args < 2) return FM_OK;
    if (!fm_bind_is_constant(b, 1))
        return fm_fail_bind(b, err, "NON_FOLDABLE_INPUT", "the input `fmt` should be a foldable \"STRING\" expression.", NULL,
                            NULL);
    FM_TRY(fm_eval_constant_of(b, 1, &value, err));
    *format = fm_vec_is_null(&value, 0) ? NULL_FORMAT : format_of(fm_vec_str(&value, 0));
    if (*format == NO_FORMAT && !try)
        return fm_fail_bind(b, err, "INVALID_ARG_VALUE",
                            "The fmt value must to be a case-insensitive \"STRING\" literal of 'hex', 'utf-8', 'utf8', or "
                            "'base64'.", NULL, NULL);
    return FM_OK;
}

static fm_status bind_to_binary(fm_bind *b, fm_error *err) { return bind_format(b, false, err); }
static fm_status bind_try_to_binary(fm_bind *b, fm_error *err) { return bind_format(b, true, err); }

static bool read_binary(binary_format format, fm_str text, fm_strbuf *buf)
{
    switch (format) {
    case HEX: return add_unhex(buf, text);
    case UTF_8: fm_text_repair(text, buf); return true;
    case BASE64: return fm_base64_is_strict(text) && !fm_base64_read(buf, text);
    default: return false;
    }
}

static fm_status binary_of(fm_call *call, const fm_vec *args, fm_vec *out, bool try)
{
    binary_format format = *(const binary_format *)call->bound;
    fm_strbuf buf = {0};
    uint64_t *own = NULL;
    fm_status st = FM_OK;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        fm_str text = fm_vec_str(&args[0], i);
        if (fm_call_lane_null(out, i)) continue;
        if (read_binary(format, text, &buf)) {
            st = fm_out_buffer(call, out, i, &buf);
        } else if (try) {
            fm_strbuf_clear(&buf);
            st = fm_out_null(call, out, &own, i);
        } else {
            st = fail_conversion(call, text, format == HEX ? "'HEX'" : "'BASE64'");
        }
    }
    fm_strbuf_fini(&buf);
    return st;
}

static fm_status to_binary(fm_call *call, const fm_vec *args, fm_vec *out) { return binary_of(call, args, out, false); }
static fm_status try_to_binary(fm_call *call, const fm_vec *args, fm_vec *out) { return binary_of(call, args, out, true); }

/* ---- entries ----------------------------------------------------------------------------------------------- */

#define ENTRY(ident, ...) \
    const fm_function fm_fn_##ident = {.name = #ident, .nulls = FM_NULLS_STRICT, .kernel = ident, __VA_ARGS__}

ENTRY(encode, .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_END}, .args_min = 2, .args_max = 2, .returns = binary,
      .can_fail = true, .usage = "encode(str, charset)", .since = "1.5.0", .doc = "Returns the bytes of str in a charset.");
ENTRY(decode, .args = {FM_ARG_BINARY, FM_ARG_STRING, FM_ARG_END}, .args_min = 2, .args_max = 2, .returns = fm_type_string,
      .can_fail = true, .usage = "decode(bin, charset)", .since = "1.5.0",
      .doc = "Returns the text that bytes hold in a charset; with more arguments, decode(expr, search, result[, search, "
             "result ...][, default]), the result behind the first search that equals expr.");
ENTRY(unhex, .args = {FM_ARG_STRING, FM_ARG_END}, .args_min = 1, .args_max = 1, .bind = bind_binary,
      .usage = "unhex(str)", .since = "1.5.0", .doc = "Returns the bytes that hexadecimal digits stand for.");
ENTRY(base64, .args = {FM_ARG_BINARY, FM_ARG_END}, .args_min = 1, .args_max = 1, .returns = fm_type_string,
      .usage = "base64(bin)", .since = "1.5.0", .doc = "Returns bytes as base64.");
ENTRY(unbase64, .args = {FM_ARG_STRING, FM_ARG_END}, .args_min = 1, .args_max = 1, .bind = bind_binary, .can_fail = true,
      .usage = "unbase64(str)", .since = "1.5.0", .doc = "Returns the bytes that base64 stands for.");
ENTRY(to_binary, .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_END}, .args_min = 1, .args_max = 2, .bind = bind_to_binary,
      .can_fail = true, .usage = "to_binary(str[, fmt])", .since = "3.3.0",
      .doc = "Returns the bytes that str stands for in the format hex, utf-8 or base64.");
ENTRY(try_to_binary, .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_END}, .args_min = 1, .args_max = 2,
      .bind = bind_try_to_binary, .usage = "try_to_binary(str[, fmt])", .since = "3.3.0",
      .doc = "As to_binary, null where that would fail.");

const fm_function fm_fn_hex = {
    .name = "hex", .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = 1, .bind = bind_hex,
    .kernel = fm_run_picked, .nulls = FM_NULLS_STRICT, .usage = "hex(expr)", .since = "1.5.0",
    .doc = "Returns an integer or bytes in hexadecimal.",
};
