/* expr/fn_length.c: length(x), octet_length(x), bit_length(x), ascii(s).
 *
 * Rule   Spark, Length: characters of a string, bytes of a binary.
 * Cases  tests/golden/functions/length.test */
#include "expr/text.h"

static fm_status length(fm_call *call, const fm_vec *args, fm_vec *out)
{
    bool text = args[0].type->id == FM_TYPE_STRING;
    const fm_view *x = fm_vec_view(&args[0]);
    (void)call;
    for (int32_t i = 0; i < out->len; i++)
        fm_vec_i32_out(out)[i] = text ? (int32_t)fm_text_chars(fm_view_str(&x[i])) : (int32_t)x[i].len;
    return FM_OK;
}

static fm_status octet_length(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const fm_view *x = fm_vec_view(&args[0]);
    (void)call;
    for (int32_t i = 0; i < out->len; i++) fm_vec_i32_out(out)[i] = (int32_t)x[i].len;
    return FM_OK;
}

static fm_status bit_length(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const fm_view *x = fm_vec_view(&args[0]);
    (void)call;
    for (int32_t i = 0; i < out->len; i++) fm_vec_i32_out(out)[i] = (int32_t)(x[i].len * 8);
    return FM_OK;
}

static fm_status ascii(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    for (int32_t i = 0; i < out->len; i++) {
        fm_str text = fm_vec_str(&args[0], i);
        size_t size;
        fm_vec_i32_out(out)[i] = text.len ? (int32_t)fm_char_decode(text, 0, &size) : 0;
    }
    return FM_OK;
}

const fm_function fm_fn_length = {
    .name = "length", .aliases = {"len", "char_length", "character_length"},
    .args = {FM_ARG_STRING_OR_BINARY, FM_ARG_END}, .args_min = 1, .args_max = 1, .returns = fm_type_i32,
    .kernel = length, .nulls = FM_NULLS_STRICT, .usage = "length(expr)",
    .doc = "Returns how many characters a string or bytes a binary has.", .since = "1.5.0",
};

const fm_function fm_fn_octet_length = {
    .name = "octet_length", .args = {FM_ARG_STRING_OR_BINARY, FM_ARG_END}, .args_min = 1, .args_max = 1,
    .returns = fm_type_i32, .kernel = octet_length, .nulls = FM_NULLS_STRICT,
    .usage = "octet_length(expr)", .doc = "Returns how many bytes there are.", .since = "2.3.0",
};

const fm_function fm_fn_bit_length = {
    .name = "bit_length", .args = {FM_ARG_STRING_OR_BINARY, FM_ARG_END}, .args_min = 1, .args_max = 1,
    .returns = fm_type_i32, .kernel = bit_length, .nulls = FM_NULLS_STRICT,
    .usage = "bit_length(expr)", .doc = "Returns how many bits there are.", .since = "2.3.0",
};

const fm_function fm_fn_ascii = {
    .name = "ascii", .args = {FM_ARG_STRING, FM_ARG_END}, .args_min = 1, .args_max = 1,
    .returns = fm_type_i32, .kernel = ascii, .nulls = FM_NULLS_STRICT, .usage = "ascii(str)",
    .doc = "Returns the code point of the first character, 0 of an empty string.", .since = "1.5.0",
};
