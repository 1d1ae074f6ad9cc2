/* expr/cast_from_string.c: CAST of text to every type that text can spell. */
#include "expr/cast_internal.h"

#include <math.h>

#include "expr/time_parts.h"

/* t, true, y, yes, 1 and their opposites, any case. */
static bool to_bool(fm_str text, uint8_t *out)
{
    static const char *const words[2][5] = {{"f", "false", "n", "no", "0"},
                                            {"t", "true", "y", "yes", "1"}};
    text = fm_str_trim(text);
    for (int truth = 0; truth < 2; truth++)
        for (int i = 0; i < 5; i++)
            if (fm_str_eq_ci(text, fm_str_c(words[truth][i]))) {
                *out = (uint8_t)truth;
                return true;
            }
    return false;
}

/* Integers: ANSI and TRY_CAST want an integer, without ANSI a fraction is cut. */
static bool to_integer(const fm_casting *c, fm_str text, int64_t *out)
{
    int64_t x, limit = 0;
    if (!(c->mode == FM_CAST_LEGACY ? fm_text_to_i64_lenient(text, &x) : fm_text_to_i64(text, &x)))
        return false;
    switch (c->to->id) {
    case FM_TYPE_I8: limit = INT8_MAX; break;
    case FM_TYPE_I16: limit = INT16_MAX; break;
    case FM_TYPE_I32: limit = INT32_MAX; break;
    default: limit = INT64_MAX; break;
    }
    *out = x;
    return x <= limit && x >= -limit - 1;
}

/* One lane; false when the text does not spell a value of the type. */
static bool parse_lane(fm_casting *c, int64_t i, fm_str text)
{
    int64_t x;
    switch (c->to->id) {
    case FM_TYPE_BOOL: return to_bool(text, &fm_vec_bool_out(c->out)[i]);
    case FM_TYPE_I8:
        if (!to_integer(c, text, &x)) return false;
        fm_vec_i8_out(c->out)[i] = (int8_t)x;
        return true;
    case FM_TYPE_I16:
        if (!to_integer(c, text, &x)) return false;
        fm_vec_i16_out(c->out)[i] = (int16_t)x;
        return true;
    case FM_TYPE_I32:
        if (!to_integer(c, text, &x)) return false;
        fm_vec_i32_out(c->out)[i] = (int32_t)x;
        return true;
    case FM_TYPE_I64: return to_integer(c, text, &fm_vec_i64_out(c->out)[i]);
    case FM_TYPE_F32: return fm_text_to_float(text, &fm_vec_f32_out(c->out)[i]);
    case FM_TYPE_F64: return fm_text_to_double(text, &fm_vec_f64_out(c->out)[i]);
    case FM_TYPE_DATE: return fm_text_to_date(text, &fm_vec_i32_out(c->out)[i]);
    case FM_TYPE_TIMESTAMP:
        return fm_text_to_timestamp(text, c->conf->zone, &fm_vec_i64_out(c->out)[i]);
    case FM_TYPE_TIMESTAMP_NTZ: return fm_text_to_timestamp_ntz(text, &fm_vec_i64_out(c->out)[i]);
    case FM_TYPE_INTERVAL_YM: return fm_text_to_interval_ym(text, c->to, &fm_vec_i32_out(c->out)[i]);
    case FM_TYPE_INTERVAL_DT: return fm_text_to_interval_dt(text, c->to, &fm_vec_i64_out(c->out)[i]);
    default: return false;
    }
}

/* A decimal may be no number, or a number too large: two errors. */
static fm_status parse_decimal(fm_casting *c, int64_t i, fm_str text)
{
    fm_i128 *out = &fm_vec_decimal_out(c->out)[i];
    double value;
    fm_str trimmed = fm_str_trim(text);
    if (fm_text_to_decimal(text, c->to->precision, c->to->scale, out)) return FM_OK;
    *out = 0;
    /* A number, but for its size: what ends in a digit or a point, since 1d is a double. */
    if (trimmed.len == 0 || strchr("dDfFyN", trimmed.ptr[trimmed.len - 1]) || !fm_text_to_double(text, &value) ||
        value != value)
        return fm_cast_bad(c, i, FM_CAST_MALFORMED);
    return fm_cast_bad(c, i, fabs(value) < 1e38 ? FM_CAST_RANGE : FM_CAST_BEYOND);
}

fm_status fm_cast_from_string(fm_casting *c)
{
    for (int64_t i = 0; i < c->in->len; i++) {
        if (!fm_cast_lane(c, i)) continue;
        if (c->to->id == FM_TYPE_DECIMAL)
            FM_TRY(parse_decimal(c, i, fm_vec_str(c->in, i)));
        else if (!parse_lane(c, i, fm_vec_str(c->in, i)))
            FM_TRY(fm_cast_bad(c, i, FM_CAST_MALFORMED));
    }
    return FM_OK;
}
