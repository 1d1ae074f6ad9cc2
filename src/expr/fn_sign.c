/* expr/fn_sign.c: -x and +x.
 *
 * Rule  Spark, UnaryMinus: under ANSI the smallest integer has no opposite: an error. */
#include "expr/decimal.h"
#include "expr/kernel.h"

#include "expr/resolve_text.h"

static fm_status overflow(fm_call *call)
{
    return fm_fail(call->err, FM_INVALID, "ARITHMETIC_OVERFLOW",
                   "overflow. If necessary set \"spark.sql.ansi.enabled\" to \"false\" to bypass this error.");
}

#define NEGATE(name, T, U)                                                                    \
    static bool negate_##name(T *restrict out, const T *restrict x, int64_t n)                \
    {                                                                                         \
        U both = 0;                                                                           \
        for (int64_t i = 0; i < n; i++) {                                                     \
            out[i] = (T)(U)(0 - (U)x[i]);                                                     \
            both |= (U)((U)out[i] & (U)x[i]); /* both negative: only the smallest */          \
        }                                                                                     \
        return (both >> (8 * sizeof(T) - 1)) == 0;                                            \
    }
NEGATE(i8, int8_t, uint8_t)
NEGATE(i16, int16_t, uint16_t)
NEGATE(i32, int32_t, uint32_t)
NEGATE(i64, int64_t, uint64_t)
#undef NEGATE

static fm_status negate_decimals(fm_call *call, const fm_vec *args, fm_vec *out)
{
    for (int64_t i = 0; i < out->len; i++) {
        fm_i128 x = fm_decimal_negate(fm_vec_decimal(args)[i]);
        if (!fm_decimal_fits(x, out->type->precision)) return fm_decimal_too_long(call, x, out->type);
        fm_vec_decimal_out(out)[i] = x;
    }
    return FM_OK;
}

static fm_status negative(fm_call *call, const fm_vec *args, fm_vec *out)
{
    int64_t n = out->len;
    bool fits = true, interval = false;
    switch (out->type->id) {
    case FM_TYPE_I8: fits = negate_i8(fm_vec_i8_out(out), fm_vec_i8(args), n); break;
    case FM_TYPE_I16: fits = negate_i16(fm_vec_i16_out(out), fm_vec_i16(args), n); break;
    case FM_TYPE_INTERVAL_YM: interval = true; /* fall through */
    case FM_TYPE_I32: fits = negate_i32(fm_vec_i32_out(out), fm_vec_i32(args), n); break;
    case FM_TYPE_INTERVAL_DT: interval = true; /* fall through */
    case FM_TYPE_I64: fits = negate_i64(fm_vec_i64_out(out), fm_vec_i64(args), n); break;
    case FM_TYPE_F32:
        for (int64_t i = 0; i < n; i++) fm_vec_f32_out(out)[i] = -fm_vec_f32(args)[i];
        break;
    case FM_TYPE_F64:
        for (int64_t i = 0; i < n; i++) fm_vec_f64_out(out)[i] = -fm_vec_f64(args)[i];
        break;
    default:
        return negate_decimals(call, args, out);
    }
    /* Null lanes hold 0, so a lane that wrapped is one that is there. */
    return !fits && (call->ansi || interval) ? overflow(call) : FM_OK;
}

static fm_status positive(fm_call *call, const fm_vec *args, fm_vec *out)
{
    *out = args[0];
    return FM_OK;
}

static fm_status bind_sign(fm_bind *b, fm_error *err)
{
    const fm_type *type = b->args[0]->type;
    if (type->id == FM_TYPE_STRING || type->id == FM_TYPE_NULL) {
        type = fm_type_f64();
        b->cast_args[0] = type;
    }
    b->returns = type;
    if (fm_type_is_numeric(type) || type->id == FM_TYPE_INTERVAL_DT || type->id == FM_TYPE_INTERVAL_YM)
        return FM_OK;
    return fm_fail_bind(b, err, "UNEXPECTED_INPUT_TYPE",
                        "The first parameter requires the (\"NUMERIC\" or \"INTERVAL DAY TO SECOND\" or "
                        "\"INTERVAL YEAR TO MONTH\" or \"INTERVAL\") type, however it has the type %s.",
                        type, NULL);
}

const fm_function fm_fn_negative = {
    .name = "negative",
    .args = {FM_ARG_ANY, FM_ARG_END},
    .args_min = 1,
    .args_max = 1,
    .bind = bind_sign,
    .kernel = negative,
    .nulls = FM_NULLS_STRICT,
    .can_fail = true,
    .usage = "negative(x)",
    .doc = "Returns -x.",
    .since = "1.0.0",
};

const fm_function fm_fn_positive = {
    .name = "positive",
    .args = {FM_ARG_ANY, FM_ARG_END},
    .args_min = 1,
    .args_max = 1,
    .bind = bind_sign,
    .kernel = positive,
    .nulls = FM_NULLS_CUSTOM,
    .usage = "positive(x)",
    .doc = "Returns x.",
    .since = "1.5.0",
};
