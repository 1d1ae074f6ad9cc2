/* expr/cast_number.c: casts between integers, floating point, booleans and decimals.
 *
 * Loops run over all lanes and only tell whether some lane did not fit; then the lanes are gone through
 * one by one. Without ANSI integers wrap; floating point stops at the ends of INT or BIGINT, as in Java. */
#include "expr/cast_internal.h"

#include <math.h>

#include "expr/decimal.h"

/* --- integers to integers, to floating point --------------------------------------------------------- */

#define CONVERT(name, F, T)                                                                   \
    static bool name(void *restrict to, const void *restrict from, int64_t n)                 \
    {                                                                                         \
        const F *restrict x = from;                                                           \
        T *restrict out = to;                                                                 \
        for (int64_t i = 0; i < n; i++) out[i] = (T)x[i];                                     \
        return true;                                                                          \
    }
/* As CONVERT; false when some lane changed its value. */
#define NARROW(name, F, T)                                                                    \
    static bool name(void *restrict to, const void *restrict from, int64_t n)                 \
    {                                                                                         \
        const F *restrict x = from;                                                           \
        T *restrict out = to;                                                                 \
        F changed = 0;                                                                        \
        for (int64_t i = 0; i < n; i++) {                                                     \
            out[i] = (T)x[i];                                                                 \
            changed |= (F)(x[i] ^ (F)out[i]);                                                 \
        }                                                                                     \
        return changed == 0;                                                                  \
    }
CONVERT(i8_to_i16, int8_t, int16_t)
CONVERT(i8_to_i32, int8_t, int32_t)
CONVERT(i8_to_i64, int8_t, int64_t)
CONVERT(i8_to_f32, int8_t, float)
CONVERT(i8_to_f64, int8_t, double)
NARROW(i16_to_i8, int16_t, int8_t)
CONVERT(i16_to_i32, int16_t, int32_t)
CONVERT(i16_to_i64, int16_t, int64_t)
CONVERT(i16_to_f32, int16_t, float)
CONVERT(i16_to_f64, int16_t, double)
NARROW(i32_to_i8, int32_t, int8_t)
NARROW(i32_to_i16, int32_t, int16_t)
CONVERT(i32_to_i64, int32_t, int64_t)
CONVERT(i32_to_f32, int32_t, float)
CONVERT(i32_to_f64, int32_t, double)
NARROW(i64_to_i8, int64_t, int8_t)
NARROW(i64_to_i16, int64_t, int16_t)
NARROW(i64_to_i32, int64_t, int32_t)
CONVERT(i64_to_f32, int64_t, float)
CONVERT(i64_to_f64, int64_t, double)
CONVERT(f32_to_f64, float, double)
CONVERT(f64_to_f32, double, float)

typedef bool (*convert_fn)(void *restrict to, const void *restrict from, int64_t n);

/* [from][to], both counted from I8. */
static const convert_fn converts[6][6] = {
    {NULL, i8_to_i16, i8_to_i32, i8_to_i64, i8_to_f32, i8_to_f64},
    {i16_to_i8, NULL, i16_to_i32, i16_to_i64, i16_to_f32, i16_to_f64},
    {i32_to_i8, i32_to_i16, NULL, i32_to_i64, i32_to_f32, i32_to_f64},
    {i64_to_i8, i64_to_i16, i64_to_i32, NULL, i64_to_f32, i64_to_f64},
    {NULL, NULL, NULL, NULL, NULL, f32_to_f64},
    {NULL, NULL, NULL, NULL, f64_to_f32, NULL},
};

static int64_t integer_lane(const fm_vec *v, int64_t i)
{
    switch (v->type->id) {
    case FM_TYPE_BOOL: return fm_vec_bool(v)[i];
    case FM_TYPE_I8: return fm_vec_i8(v)[i];
    case FM_TYPE_I16: return fm_vec_i16(v)[i];
    case FM_TYPE_I32: return fm_vec_i32(v)[i];
    default: return fm_vec_i64(v)[i];
    }
}

static void set_integer(fm_vec *v, int64_t i, int64_t x)
{
    switch (v->type->id) {
    case FM_TYPE_I8: fm_vec_i8_out(v)[i] = (int8_t)x; break;
    case FM_TYPE_I16: fm_vec_i16_out(v)[i] = (int16_t)x; break;
    case FM_TYPE_I32: fm_vec_i32_out(v)[i] = (int32_t)x; break;
    default: fm_vec_i64_out(v)[i] = x; break;
    }
}

static int64_t integer_max(const fm_type *t)
{
    switch (t->id) {
    case FM_TYPE_I8: return INT8_MAX;
    case FM_TYPE_I16: return INT16_MAX;
    case FM_TYPE_I32: return INT32_MAX;
    default: return INT64_MAX;
    }
}

/* --- floating point to integers ---------------------------------------------------------------------- */

static double float_lane(const fm_vec *v, int64_t i)
{
    return v->type->id == FM_TYPE_F32 ? (double)fm_vec_f32(v)[i] : fm_vec_f64(v)[i];
}

int64_t fm_f64_to_i64_sat(double x)
{
    if (x != x) return 0;
    if (x >= 9223372036854775808.0) return INT64_MAX;
    if (x < -9223372036854775808.0) return INT64_MIN;
    return (int64_t)x;
}

static int32_t to_i32_sat(double x)
{
    if (x != x) return 0;
    if (x >= 2147483647.0) return INT32_MAX;
    if (x <= -2147483648.0) return INT32_MIN;
    return (int32_t)x;
}

/* Whether the whole part of x is in the range of an integer type of the given maximum. */
static bool whole_fits(double x, int64_t max)
{
    if (max == INT64_MAX) return x >= -9223372036854775808.0 && x < 9223372036854775808.0;
    return floor(x) <= (double)max && ceil(x) >= -(double)max - 1;
}

static fm_status float_to_integer(fm_casting *c)
{
    int64_t max = integer_max(c->to);
    for (int64_t i = 0; i < c->in->len; i++) {
        double x = float_lane(c->in, i);
        if (c->mode == FM_CAST_LEGACY) {
            set_integer(c->out, i, max == INT64_MAX ? fm_f64_to_i64_sat(x) : to_i32_sat(x));
        } else if (whole_fits(x, max)) {
            set_integer(c->out, i, (int64_t)x);
        } else if (fm_cast_lane(c, i)) {
            FM_TRY(fm_cast_bad(c, i, FM_CAST_OVERFLOWS));
        }
    }
    return FM_OK;
}

/* --- the numbers ------------------------------------------------------------------------------------- */

static fm_status to_bool(fm_casting *c)
{
    uint8_t *out = fm_vec_bool_out(c->out);
    bool is_float = c->in->type->id == FM_TYPE_F32 || c->in->type->id == FM_TYPE_F64;
    for (int64_t i = 0; i < c->in->len; i++)
        out[i] = is_float ? float_lane(c->in, i) != 0 : integer_lane(c->in, i) != 0;
    return FM_OK;
}

static fm_status from_bool(fm_casting *c)
{
    const uint8_t *in = fm_vec_bool(c->in);
    for (int64_t i = 0; i < c->in->len; i++) {
        if (c->to->id == FM_TYPE_F32) fm_vec_f32_out(c->out)[i] = in[i];
        else if (c->to->id == FM_TYPE_F64) fm_vec_f64_out(c->out)[i] = in[i];
        else set_integer(c->out, i, in[i]);
    }
    return FM_OK;
}

/* Big-endian bytes; only without ANSI. */
static fm_status integer_to_binary(fm_casting *c)
{
    size_t width = fm_type_width(c->in->type);
    for (int64_t i = 0; i < c->in->len; i++) {
        char bytes[8];
        uint64_t x = (uint64_t)integer_lane(c->in, i);
        if (!fm_cast_lane(c, i)) continue;
        for (size_t k = 0; k < width; k++) bytes[k] = (char)(x >> 8 * (width - 1 - k));
        fm_vec_view_out(c->out)[i] = fm_view_of(bytes, width);
    }
    return FM_OK;
}

fm_status fm_cast_number(fm_casting *c)
{
    const fm_type *from = c->in->type, *to = c->to;
    convert_fn convert;
    if (to->id == FM_TYPE_BOOL) return to_bool(c);
    if (from->id == FM_TYPE_BOOL) return from_bool(c);
    if (to->id == FM_TYPE_BINARY) return integer_to_binary(c);
    convert = converts[from->id - FM_TYPE_I8][to->id - FM_TYPE_I8];
    if (!convert) return float_to_integer(c);
    if (convert((void *)(uintptr_t)c->out->values, c->in->values, c->in->len)) return FM_OK;
    if (c->mode == FM_CAST_LEGACY) return FM_OK; /* wrapped */
    for (int64_t i = 0; i < c->in->len; i++) {
        int64_t x = integer_lane(c->in, i), max = integer_max(to);
        if (fm_cast_lane(c, i) && (x > max || x < -max - 1))
            FM_TRY(fm_cast_bad(c, i, FM_CAST_OVERFLOWS));
    }
    return FM_OK;
}

/* --- decimals ---------------------------------------------------------------------------------------- */

/* One lane as a decimal of the target's scale; false: does not fit 38 digits. *nan: no number at all. */
static bool lane_to_decimal(const fm_casting *c, int64_t i, fm_i128 *out, bool *nan)
{
    const fm_type *from = c->in->type;
    double x;
    *nan = false;
    switch (from->id) {
    case FM_TYPE_DECIMAL:
        return fm_decimal_rescale(fm_vec_decimal(c->in)[i], from->scale, c->to->scale, out);
    case FM_TYPE_F32:
    case FM_TYPE_F64:
        x = float_lane(c->in, i);
        *nan = x - x != 0;
        return fm_decimal_of_f64(x, c->to->scale, out);
    default: return fm_decimal_rescale(integer_lane(c->in, i), 0, c->to->scale, out);
    }
}

fm_status fm_cast_to_decimal(fm_casting *c)
{
    fm_i128 *out = fm_vec_decimal_out(c->out);
    for (int64_t i = 0; i < c->in->len; i++) {
        bool nan;
        if (!fm_cast_lane(c, i)) continue;
        if (lane_to_decimal(c, i, &out[i], &nan) && fm_decimal_fits(out[i], c->to->precision)) continue;
        out[i] = 0;
        if (nan)
            FM_TRY(fm_cast_null(c, i)); /* even under ANSI */
        else
            FM_TRY(fm_cast_bad(c, i, FM_CAST_RANGE));
    }
    return FM_OK;
}

fm_status fm_cast_from_decimal(fm_casting *c)
{
    const fm_i128 *in = fm_vec_decimal(c->in);
    int scale = c->in->type->scale;
    int64_t max;
    if (c->to->id == FM_TYPE_BOOL) {
        for (int64_t i = 0; i < c->in->len; i++) fm_vec_bool_out(c->out)[i] = in[i] != 0;
        return FM_OK;
    }
    if (c->to->id == FM_TYPE_F64 || c->to->id == FM_TYPE_F32) {
        for (int64_t i = 0; i < c->in->len; i++) {
            if (c->to->id == FM_TYPE_F64) {
                fm_vec_f64_out(c->out)[i] = fm_decimal_to_f64(in[i], scale);
            } else {
                char text[FM_DECIMAL_TEXT_SIZE];
                fm_text_to_float((fm_str){text, fm_decimal_text(in[i], scale, text)},
                                 &fm_vec_f32_out(c->out)[i]);
            }
        }
        return FM_OK;
    }
    max = integer_max(c->to);
    for (int64_t i = 0; i < c->in->len; i++) {
        fm_i128 whole = in[i] / fm_pow10_i128(scale);
        if (c->mode == FM_CAST_LEGACY || (whole <= max && whole >= -(fm_i128)max - 1))
            set_integer(c->out, i, (int64_t)(uint64_t)(fm_u128)whole);
        else if (fm_cast_lane(c, i))
            FM_TRY(fm_cast_bad(c, i, FM_CAST_OVERFLOWS));
    }
    return FM_OK;
}
