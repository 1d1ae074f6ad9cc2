/* expr/fn_epoch.c: timestamps and dates as counts since 1970: unix_seconds, timestamp_seconds, unix_date and kin.
 *
 * Cases  tests/golden/functions/epoch.test */
#include <math.h>

#include "base/checked.h"
#include "expr/decimal.h"
#include "expr/kernel.h"
#include "expr/time_parts.h"

static fm_status overflow(fm_call *call)
{
    return fm_fail(call->err, FM_INVALID, "ARITHMETIC_OVERFLOW",
                   "long overflow. If necessary set \"spark.sql.ansi.enabled\" to \"false\" to bypass this error.");
}

/* --- to counts --------------------------------------------------------------------------------------- */

static fm_status floor_by(const fm_vec *args, int64_t unit_us, fm_vec *out)
{
    const int64_t *restrict us = fm_vec_i64(args);
    int64_t *restrict to = fm_vec_i64_out(out);
    for (int64_t i = 0; i < out->len; i++) to[i] = fm_floor_div(us[i], unit_us);
    return FM_OK;
}
static fm_status unix_seconds(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    return floor_by(args, FM_US_PER_SECOND, out);
}
static fm_status unix_millis(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    return floor_by(args, FM_US_PER_MS, out);
}
static fm_status unix_micros(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    if (out->len) memcpy(fm_vec_i64_out(out), args[0].values, (size_t)out->len * 8);
    return FM_OK;
}
/* A date is a count of days already. */
static fm_status same_days(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    if (out->len) memcpy(fm_vec_i32_out(out), args[0].values, (size_t)out->len * 4);
    return FM_OK;
}

/* --- from counts ------------------------------------------------------------------------------------- */

static fm_status scale_by(fm_call *call, const fm_vec *args, int64_t unit_us, fm_vec *out)
{
    for (int64_t i = 0; i < out->len; i++)
        if (!fm_mul_i64(fm_vec_i64(args)[i], unit_us, &fm_vec_i64_out(out)[i]) && !fm_call_lane_null(out, i))
            return overflow(call);
    return FM_OK;
}
static fm_status timestamp_millis(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return scale_by(call, args, FM_US_PER_MS, out);
}
static fm_status timestamp_micros(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return scale_by(call, args, 1, out);
}

/* Seconds may have a fraction; NaN and infinity are no time. */
static fm_status timestamp_seconds(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const fm_type *type = args[0].type;
    uint64_t *own = NULL;
    if (type->id == FM_TYPE_I64) return scale_by(call, args, FM_US_PER_SECOND, out);
    for (int64_t i = 0; i < out->len; i++) {
        int64_t *to = &fm_vec_i64_out(out)[i];
        if (fm_call_lane_null(out, i)) continue;
        if (type->id == FM_TYPE_F64) {
            double us = fm_vec_f64(args)[i] * 1e6;
            if (us - us != 0) {
                FM_TRY(fm_out_null(call, out, &own, i));
                continue;
            }
            if (!(fabs(us) < 9223372036854775808.0)) return overflow(call);
            *to = (int64_t)us;
        } else {
            fm_i128 x = fm_vec_decimal(args)[i], us, part = 1;
            int drop = type->scale - 6;
            bool fits = true;
            if (drop > 0) {
                part = fm_pow10_i128(drop);
                us = x / part;
            } else {
                fits = !__builtin_mul_overflow(x, fm_pow10_i128(-drop), &us);
            }
            if (!fits || us != (int64_t)us) return overflow(call);
            if (x % part != 0)
                return fm_fail(call->err, FM_INVALID, "ARITHMETIC_OVERFLOW",
                               "Rounding necessary: a timestamp has microseconds, the seconds given have more "
                               "than six digits behind the point. Round them first.");
            *to = (int64_t)us;
        }
    }
    return FM_OK;
}

static fm_status bind_timestamp_seconds(fm_bind *b, fm_error *err)
{
    const fm_type *type = b->args[0]->type;
    (void)err;
    b->returns = fm_type_timestamp();
    if (type->id == FM_TYPE_F32 || type->id == FM_TYPE_F64) {
        b->cast_args[0] = fm_type_f64();
        b->nullable = true;
    } else if (type->id != FM_TYPE_DECIMAL) {
        b->cast_args[0] = fm_type_i64();
    }
    return FM_OK;
}

static const fm_type *date_type(void) { return fm_type_simple(FM_TYPE_DATE); }

static fm_status bind_whole(fm_bind *b, fm_error *err)
{
    (void)err;
    b->cast_args[0] = fm_type_i64();
    b->returns = fm_type_timestamp();
    return FM_OK;
}

#define ENTRY(ident, class, type, run, ...)                                                   \
    const fm_function fm_fn_##ident = {                                                       \
        .name = #ident, .args = {class, FM_ARG_END}, .args_min = 1, .args_max = 1, .returns = type, \
        .kernel = run, .nulls = FM_NULLS_STRICT, .since = "3.1.0", .usage = #ident "(x)", __VA_ARGS__}

ENTRY(unix_seconds, FM_ARG_TIMESTAMP, fm_type_i64, unix_seconds, .exact = true, .doc = "Returns the seconds since 1970 UTC.");
ENTRY(unix_millis, FM_ARG_TIMESTAMP, fm_type_i64, unix_millis, .exact = true, .doc = "Returns the milliseconds since 1970 UTC.");
ENTRY(unix_micros, FM_ARG_TIMESTAMP, fm_type_i64, unix_micros, .exact = true, .doc = "Returns the microseconds since 1970 UTC.");
ENTRY(unix_date, FM_ARG_DATE, fm_type_i32, same_days, .exact = true, .doc = "Returns the days since 1970-01-01.");
ENTRY(date_from_unix_date, FM_ARG_I32, date_type, same_days, .doc = "Returns the date that many days after 1970-01-01.");
ENTRY(timestamp_millis, FM_ARG_INTEGRAL, NULL, timestamp_millis, .bind = bind_whole, .can_fail = true,
      .doc = "Returns the timestamp that many milliseconds after 1970 UTC.");
ENTRY(timestamp_micros, FM_ARG_INTEGRAL, NULL, timestamp_micros, .bind = bind_whole,
      .doc = "Returns the timestamp that many microseconds after 1970 UTC.");
ENTRY(timestamp_seconds, FM_ARG_NUMERIC, NULL, timestamp_seconds, .exact = true, .bind = bind_timestamp_seconds, .can_fail = true,
      .doc = "Returns the timestamp that many seconds after 1970 UTC.");
