/* expr/fn_bits.c: & | ^ ~ and shifts of integers.
 *
 * Rule   Spark: both sides widen to the wider type; shift distances are taken modulo the width.
 * Cases  tests/golden/functions/bits.test */
#include "expr/coerce.h"
#include "expr/kernel.h"
#include "expr/resolve_text.h"

static void and_words(uint8_t *restrict out, const uint8_t *restrict a, const uint8_t *restrict b, int64_t n)
{
    for (int64_t i = 0; i < n; i++) out[i] = a[i] & b[i];
}
static void or_words(uint8_t *restrict out, const uint8_t *restrict a, const uint8_t *restrict b, int64_t n)
{
    for (int64_t i = 0; i < n; i++) out[i] = a[i] | b[i];
}
static void xor_words(uint8_t *restrict out, const uint8_t *restrict a, const uint8_t *restrict b, int64_t n)
{
    for (int64_t i = 0; i < n; i++) out[i] = a[i] ^ b[i];
}

/* Bitwise operators do not care where a number ends: they run over bytes. */
static int64_t byte_count(const fm_vec *v) { return v->len * (int64_t)fm_type_width(v->type); }

static fm_status bit_and(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    and_words((uint8_t *)(uintptr_t)out->values, args[0].values, args[1].values, byte_count(out));
    return FM_OK;
}
static fm_status bit_or(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    or_words((uint8_t *)(uintptr_t)out->values, args[0].values, args[1].values, byte_count(out));
    return FM_OK;
}
static fm_status bit_xor(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    xor_words((uint8_t *)(uintptr_t)out->values, args[0].values, args[1].values, byte_count(out));
    return FM_OK;
}
static fm_status bit_not(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const uint8_t *restrict in = args[0].values;
    uint8_t *restrict to = (uint8_t *)(uintptr_t)out->values;
    (void)call;
    for (int64_t i = 0; i < byte_count(out); i++) to[i] = (uint8_t)~in[i];
    return FM_OK;
}

/* What a side of another type counts as: a string under ANSI is a bigint. */
static const fm_type *as_integer(const fm_bind *b, const fm_expr *e)
{
    if (fm_type_is_integer(e->type) || e->type->id == FM_TYPE_NULL) return e->type;
    if (e->type->id == FM_TYPE_STRING && b->conf->ansi) return fm_type_i64();
    return NULL;
}

static fm_status bind_bits(fm_bind *b, fm_error *err)
{
    const fm_type *type = NULL;
    if (b->n_args == 2 && !fm_type_common(b->arena, b->conf, b->args[0]->type, b->args[1]->type))
        return fm_fail_bind(b, err, "BINARY_OP_DIFF_TYPES",
                            "the left and right operands of the binary operator have incompatible types (%s and %s).",
                            b->args[0]->type, b->args[1]->type);
    if (b->n_args == 2 && b->args[0]->type->id == FM_TYPE_STRING && b->args[1]->type->id == FM_TYPE_STRING)
        return fm_fail_bind(b, err, "BINARY_OP_WRONG_TYPE",
                            "the binary operator requires the input type \"INTEGRAL\", not %s.", b->args[0]->type, NULL);
    for (int32_t i = 0; i < b->n_args; i++) {
        const fm_type *one = as_integer(b, b->args[i]);
        if ((!one || b->args[i]->type->id == FM_TYPE_STRING) && b->n_args == 1)
            return fm_fail_bind(b, err, "UNEXPECTED_INPUT_TYPE",
                                "The first parameter requires the \"INTEGRAL\" type, however it has the type %s.",
                                b->args[i]->type, NULL);
        if (!one)
            return fm_fail_bind(b, err, "BINARY_OP_WRONG_TYPE",
                                "the binary operator requires the input type \"INTEGRAL\", not %s.",
                                b->args[i]->type, NULL);
        type = type ? fm_type_common(b->arena, b->conf, type, one) : one;
    }
    if (type->id == FM_TYPE_NULL) type = fm_type_i32();
    for (int32_t i = 0; i < b->n_args; i++) b->cast_args[i] = type;
    b->returns = type;
    return FM_OK;
}

/* --- shifts ------------------------------------------------------------------------------------------ */

static fm_status shift_left(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const int32_t *by = fm_vec_i32(&args[1]);
    (void)call;
    for (int64_t i = 0; i < out->len; i++) {
        if (out->type->id == FM_TYPE_I64)
            fm_vec_i64_out(out)[i] = (int64_t)((uint64_t)fm_vec_i64(&args[0])[i] << (by[i] & 63));
        else
            fm_vec_i32_out(out)[i] = (int32_t)((uint32_t)fm_vec_i32(&args[0])[i] << (by[i] & 31));
    }
    return FM_OK;
}
static fm_status shift_right(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const int32_t *by = fm_vec_i32(&args[1]);
    (void)call;
    for (int64_t i = 0; i < out->len; i++) {
        if (out->type->id == FM_TYPE_I64)
            fm_vec_i64_out(out)[i] = fm_vec_i64(&args[0])[i] >> (by[i] & 63);
        else
            fm_vec_i32_out(out)[i] = fm_vec_i32(&args[0])[i] >> (by[i] & 31);
    }
    return FM_OK;
}
static fm_status shift_right_unsigned(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const int32_t *by = fm_vec_i32(&args[1]);
    (void)call;
    for (int64_t i = 0; i < out->len; i++) {
        if (out->type->id == FM_TYPE_I64)
            fm_vec_i64_out(out)[i] = (int64_t)((uint64_t)fm_vec_i64(&args[0])[i] >> (by[i] & 63));
        else
            fm_vec_i32_out(out)[i] = (int32_t)((uint32_t)fm_vec_i32(&args[0])[i] >> (by[i] & 31));
    }
    return FM_OK;
}

static fm_status bind_shift(fm_bind *b, fm_error *err)
{
    const fm_type *type = b->args[0]->type;
    if (type->id != FM_TYPE_I64 && (fm_type_is_numeric(type) || type->id == FM_TYPE_STRING || type->id == FM_TYPE_NULL))
        type = fm_type_i32();
    if (!fm_type_is_integer(type))
        return fm_fail_bind(b, err, "UNEXPECTED_INPUT_TYPE",
                            "The first parameter requires the (\"INT\" or \"BIGINT\") type, however it has the type %s.", type, NULL);
    b->cast_args[0] = b->returns = type;
    return FM_OK;
}

#define ENTRY(ident, c_name, n, bound_by, run, class0, class1, ...)                           \
    const fm_function fm_fn_##ident = {                                                       \
        .name = c_name, .args = {class0, class1, FM_ARG_END}, .args_min = n, .args_max = n,   \
        .bind = bound_by, .kernel = run, .nulls = FM_NULLS_STRICT, __VA_ARGS__}

ENTRY(op_bit_and, "&", 2, bind_bits, bit_and, FM_ARG_ANY, FM_ARG_ANY, .usage = "a & b", .since = "1.4.0",
      .doc = "Returns the bits set in both a and b.");
ENTRY(op_bit_or, "|", 2, bind_bits, bit_or, FM_ARG_ANY, FM_ARG_ANY, .usage = "a | b", .since = "1.4.0",
      .doc = "Returns the bits set in a or b.");
ENTRY(op_bit_xor, "^", 2, bind_bits, bit_xor, FM_ARG_ANY, FM_ARG_ANY, .usage = "a ^ b", .since = "1.4.0",
      .doc = "Returns the bits set in one of a and b.");
ENTRY(op_bit_not, "~", 1, bind_bits, bit_not, FM_ARG_ANY, FM_ARG_END, .usage = "~ a", .since = "1.4.0",
      .doc = "Returns a with every bit turned.");
ENTRY(shiftleft, "shiftleft", 2, bind_shift, shift_left, FM_ARG_ANY, FM_ARG_I32, .aliases = {"<<"},
      .usage = "shiftleft(a, n)", .since = "1.5.0", .doc = "Returns a with its bits moved left by n.");
ENTRY(shiftright, "shiftright", 2, bind_shift, shift_right, FM_ARG_ANY, FM_ARG_I32, .aliases = {">>"},
      .usage = "shiftright(a, n)", .since = "1.5.0",
      .doc = "Returns a with its bits moved right by n, the sign kept.");
ENTRY(shiftrightunsigned, "shiftrightunsigned", 2, bind_shift, shift_right_unsigned, FM_ARG_ANY, FM_ARG_I32,
      .aliases = {">>>"}, .usage = "shiftrightunsigned(a, n)", .since = "1.5.0",
      .doc = "Returns a with its bits moved right by n, zeros moved in.");
