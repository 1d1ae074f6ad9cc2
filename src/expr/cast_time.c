/* expr/cast_time.c: casts of dates, timestamps and intervals, to each other and to and from numbers. */
#include "expr/cast_internal.h"

#include <math.h>

#include "base/checked.h"
#include "expr/decimal.h"
#include "expr/time_parts.h"

/* A number of any type but DATE and its kin, whole part. */
static int64_t whole_lane(const fm_vec *v, int64_t i)
{
    switch (v->type->id) {
    case FM_TYPE_BOOL: return fm_vec_bool(v)[i];
    case FM_TYPE_I8: return fm_vec_i8(v)[i];
    case FM_TYPE_I16: return fm_vec_i16(v)[i];
    case FM_TYPE_I32:
    case FM_TYPE_INTERVAL_YM: return fm_vec_i32(v)[i];
    default: return fm_vec_i64(v)[i];
    }
}

/* Puts x where the target is an integer type; false: does not fit. Without ANSI it wraps. */
static bool put_integer(const fm_casting *c, int64_t i, int64_t x)
{
    bool wraps = c->mode == FM_CAST_LEGACY;
    switch (c->to->id) {
    case FM_TYPE_I8: fm_vec_i8_out(c->out)[i] = (int8_t)x; return wraps || x == (int8_t)x;
    case FM_TYPE_I16: fm_vec_i16_out(c->out)[i] = (int16_t)x; return wraps || x == (int16_t)x;
    case FM_TYPE_I32: fm_vec_i32_out(c->out)[i] = (int32_t)x; return wraps || x == (int32_t)x;
    default: fm_vec_i64_out(c->out)[i] = x; return true;
    }
}

static int64_t integer_lane(const fm_vec *v, int64_t i)
{
    switch (v->type->id) {
    case FM_TYPE_I8: return fm_vec_i8(v)[i];
    case FM_TYPE_I16: return fm_vec_i16(v)[i];
    case FM_TYPE_I32: return fm_vec_i32(v)[i];
    default: return fm_vec_i64(v)[i];
    }
}

/* --- dates and timestamps ---------------------------------------------------------------------------- */

static bool day_to_us(int32_t days, int64_t *us) { return fm_mul_i64(days, FM_US_PER_DAY, us); }

static fm_status datetime(fm_casting *c)
{
    const fm_type *from = c->in->type;
    const fm_zone *zone = c->conf->zone;
    for (int64_t i = 0; i < c->in->len; i++) {
        int64_t us;
        if (!fm_cast_lane(c, i)) continue;
        if (from->id == FM_TYPE_DATE) {
            if (!day_to_us(fm_vec_i32(c->in)[i], &us)) {
                FM_TRY(fm_cast_bad(c, i, FM_CAST_OVERFLOWS));
                continue;
            }
            fm_vec_i64_out(c->out)[i] = c->to->id == FM_TYPE_TIMESTAMP ? fm_zone_to_utc(zone, us) : us;
            continue;
        }
        us = fm_vec_i64(c->in)[i];
        if (c->to->id == FM_TYPE_DATE) {
            if (from->id == FM_TYPE_TIMESTAMP) us = fm_zone_to_local(zone, us);
            fm_vec_i32_out(c->out)[i] = fm_day_of_us(us);
        } else if (c->to->id == FM_TYPE_TIMESTAMP) {
            fm_vec_i64_out(c->out)[i] = fm_zone_to_utc(zone, us);
        } else {
            fm_vec_i64_out(c->out)[i] = fm_zone_to_local(zone, us);
        }
    }
    return FM_OK;
}

/* Seconds since 1970: whole numbers stop at the ends of the calendar. */
static fm_status number_to_timestamp(fm_casting *c)
{
    const fm_type *from = c->in->type;
    int64_t *out = fm_vec_i64_out(c->out);
    for (int64_t i = 0; i < c->in->len; i++) {
        if (!fm_cast_lane(c, i)) continue;
        if (from->id == FM_TYPE_F32 || from->id == FM_TYPE_F64) {
            double x = from->id == FM_TYPE_F32 ? (double)fm_vec_f32(c->in)[i] : fm_vec_f64(c->in)[i];
            double us = x * 1e6;
            if (x - x != 0)
                FM_TRY(fm_cast_bad(c, i, FM_CAST_MALFORMED));
            else if (c->mode != FM_CAST_LEGACY && !(fabs(us) < 9223372036854775808.0))
                FM_TRY(fm_cast_bad(c, i, FM_CAST_OVERFLOWS));
            else
                out[i] = fm_f64_to_i64_sat(us);
        } else if (from->id == FM_TYPE_DECIMAL) {
            fm_i128 us = fm_vec_decimal(c->in)[i];
            if (from->scale >= 6)
                us /= fm_pow10_i128(from->scale - 6);
            else if (__builtin_mul_overflow(us, fm_pow10_i128(6 - from->scale), &us))
                us = 0; /* beyond 38 digits: what is left of it means nothing, as in the low bits of Java */
            out[i] = (int64_t)(uint64_t)(fm_u128)us;
        } else if (from->id == FM_TYPE_BOOL) {
            out[i] = fm_vec_bool(c->in)[i];
        } else {
            int64_t seconds = whole_lane(c->in, i);
            if (!fm_mul_i64(seconds, FM_US_PER_SECOND, &out[i]))
                out[i] = seconds < 0 ? INT64_MIN : INT64_MAX;
        }
    }
    return FM_OK;
}

static fm_status timestamp_to_number(fm_casting *c)
{
    for (int64_t i = 0; i < c->in->len; i++) {
        int64_t us = fm_vec_i64(c->in)[i];
        bool fits = true;
        if (!fm_cast_lane(c, i)) continue;
        switch (c->to->id) {
        case FM_TYPE_BOOL: fm_vec_bool_out(c->out)[i] = us != 0; break;
        case FM_TYPE_F32: fm_vec_f32_out(c->out)[i] = (float)((double)us / 1e6); break;
        case FM_TYPE_F64: fm_vec_f64_out(c->out)[i] = (double)us / 1e6; break;
        case FM_TYPE_DECIMAL:
            if (!fm_decimal_of_f64((double)us / 1e6, c->to->scale, &fm_vec_decimal_out(c->out)[i]) ||
                !fm_decimal_fits(fm_vec_decimal_out(c->out)[i], c->to->precision)) {
                fm_vec_decimal_out(c->out)[i] = 0;
                FM_TRY(fm_cast_bad(c, i, FM_CAST_RANGE));
            }
            break;
        default: { /* without ANSI, too, what does not fit is no value */
            int64_t seconds = fm_floor_div(us, FM_US_PER_SECOND);
            fits = put_integer(c, i, seconds) && integer_lane(c->out, i) == seconds;
            break;
        }
        }
        if (!fits) FM_TRY(fm_cast_bad(c, i, FM_CAST_OVERFLOWS));
    }
    return FM_OK;
}

/* --- intervals --------------------------------------------------------------------------------------- */

/* What one of the type's last unit is, in the unit the values are kept in. */
static int64_t last_unit(const fm_type *t)
{
    static const int64_t units[] = {12, 1, FM_US_PER_DAY, FM_US_PER_HOUR, FM_US_PER_MINUTE,
                                    FM_US_PER_SECOND};
    return units[t->unit_to];
}

/* To fewer units: what is smaller than the last is cut. */
static fm_status interval_to_interval(fm_casting *c)
{
    int64_t unit = c->to->unit_to == FM_UNIT_SECOND ? 1 : last_unit(c->to);
    for (int64_t i = 0; i < c->in->len; i++) {
        if (c->to->id == FM_TYPE_INTERVAL_YM) {
            int32_t x = fm_vec_i32(c->in)[i];
            fm_vec_i32_out(c->out)[i] = x - x % (int32_t)unit;
        } else {
            int64_t x = fm_vec_i64(c->in)[i];
            fm_vec_i64_out(c->out)[i] = x - x % unit;
        }
    }
    return FM_OK;
}

static fm_status number_to_interval(fm_casting *c)
{
    int64_t unit = last_unit(c->to);
    bool is_decimal = c->in->type->id == FM_TYPE_DECIMAL;
    for (int64_t i = 0; i < c->in->len; i++) {
        fm_i128 x;
        if (!fm_cast_lane(c, i)) continue;
        if (is_decimal) {
            /* A decimal has parts of the unit: rounded half up to what is kept. */
            if (!fm_decimal_mul(fm_vec_decimal(c->in)[i], unit, c->in->type->scale, &x)) x = (fm_i128)INT64_MAX + 1;
        } else {
            x = (fm_i128)whole_lane(c->in, i) * unit;
        }
        if (c->to->id == FM_TYPE_INTERVAL_YM) {
            fm_vec_i32_out(c->out)[i] = (int32_t)(int64_t)(uint64_t)(fm_u128)x;
            if (x != fm_vec_i32_out(c->out)[i]) FM_TRY(fm_cast_bad(c, i, FM_CAST_OVERFLOWS));
        } else {
            fm_vec_i64_out(c->out)[i] = (int64_t)(uint64_t)(fm_u128)x;
            if (x != fm_vec_i64_out(c->out)[i]) FM_TRY(fm_cast_bad(c, i, FM_CAST_OVERFLOWS));
        }
    }
    return FM_OK;
}

static fm_status interval_to_number(fm_casting *c)
{
    int64_t unit = last_unit(c->in->type);
    for (int64_t i = 0; i < c->in->len; i++) {
        int64_t x = whole_lane(c->in, i);
        if (!fm_cast_lane(c, i)) continue;
        if (c->to->id == FM_TYPE_DECIMAL) {
            fm_i128 *out = &fm_vec_decimal_out(c->out)[i];
            if (fm_decimal_div(x, c->to->scale, unit, out) && fm_decimal_fits(*out, c->to->precision))
                continue;
            *out = 0;
            FM_TRY(fm_cast_bad(c, i, FM_CAST_RANGE));
        } else if (!put_integer(c, i, x / unit)) {
            FM_TRY(fm_cast_bad(c, i, FM_CAST_OVERFLOWS));
        }
    }
    return FM_OK;
}

fm_status fm_cast_time(fm_casting *c)
{
    const fm_type *from = c->in->type, *to = c->to;
    if (fm_type_is_interval(from) && fm_type_is_interval(to)) return interval_to_interval(c);
    if (fm_type_is_interval(to)) return number_to_interval(c);
    if (fm_type_is_interval(from)) return interval_to_number(c);
    if (from->id == FM_TYPE_DATE && !fm_type_is_timestamp(to)) {
        /* A date as a number or truth value, without ANSI: always null. */
        for (int64_t i = 0; i < c->in->len; i++) FM_TRY(fm_cast_null(c, i));
        return FM_OK;
    }
    if (from->id == FM_TYPE_DATE || (fm_type_is_timestamp(from) &&
                                     (to->id == FM_TYPE_DATE || fm_type_is_timestamp(to))))
        return datetime(c);
    if (to->id == FM_TYPE_TIMESTAMP) return number_to_timestamp(c);
    return timestamp_to_number(c);
}
