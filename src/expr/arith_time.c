/* expr/arith_time.c: + - * / of dates, timestamps and intervals.
 *
 * Rule  Spark, BinaryArithmeticWithDatetimeResolver: a date and an interval of days is a date, with hours a
 *       timestamp; whole days and months go by the session's calendar; timestamps are subtracted as their
 *       clocks show them; numbers times intervals are rounded half up. */
#include <math.h>

#include "base/checked.h"
#include "expr/arith.h"
#include "expr/cast.h"
#include "expr/coerce.h"
#include "expr/decimal.h"
#include "expr/time_parts.h"

static bool is_ym(const fm_type *t) { return t->id == FM_TYPE_INTERVAL_YM; }
static bool is_dt(const fm_type *t) { return t->id == FM_TYPE_INTERVAL_DT; }
static bool is_date(const fm_type *t) { return t->id == FM_TYPE_DATE; }

/* --- intervals with each other ----------------------------------------------------------------------- */

static fm_status add_intervals(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const fm_arith *a = call->bound;
    uint64_t *own = NULL;
    for (int64_t i = 0; i < out->len; i++) {
        bool fits;
        if (is_ym(out->type)) {
            int32_t x = fm_vec_i32(&args[0])[i], y = fm_vec_i32(&args[1])[i];
            int32_t *to = &fm_vec_i32_out(out)[i];
            fits = a->op == FM_ADD ? !__builtin_add_overflow(x, y, to) : !__builtin_sub_overflow(x, y, to);
        } else {
            int64_t x = fm_vec_i64(&args[0])[i], y = fm_vec_i64(&args[1])[i];
            int64_t *to = &fm_vec_i64_out(out)[i];
            fits = a->op == FM_ADD ? fm_add_i64(x, y, to) : fm_sub_i64(x, y, to);
        }
        if (!fits && !fm_call_lane_null(out, i)) FM_TRY(fm_interval_overflow(call, out, &own, i));
    }
    return FM_OK;
}

/* div: how often one interval goes into another. */
static fm_status divide_intervals(fm_call *call, const fm_vec *args, fm_vec *out)
{
    uint64_t *own = NULL;
    for (int64_t i = 0; i < out->len; i++) {
        bool ym = is_ym(args[0].type);
        int64_t x = ym ? fm_vec_i32(&args[0])[i] : fm_vec_i64(&args[0])[i];
        int64_t y = ym ? fm_vec_i32(&args[1])[i] : fm_vec_i64(&args[1])[i];
        if (fm_call_lane_null(out, i)) continue;
        if (y == 0)
            FM_TRY(fm_arith_zero(call, out, &own, i));
        else if (x == INT64_MIN && y == -1)
            FM_TRY(fm_arith_overflow(call, NULL, out, &own, i));
        else
            fm_vec_i64_out(out)[i] = x / y;
    }
    return FM_OK;
}

/* --- intervals times and over numbers ---------------------------------------------------------------- */

/* Half up, away from zero; false: out of range. */
static bool round_f64(double x, int64_t *out)
{
    double r = x < 0 ? -floor(-x + 0.5) : floor(x + 0.5);
    if (fabs(x) >= 4503599627370496.0) r = x; /* no fraction */
    if (!(r >= -9223372036854775808.0 && r < 9223372036854775808.0)) return false;
    *out = (int64_t)r;
    return true;
}

static bool divide_half_up(int64_t x, int64_t y, int64_t *out)
{
    fm_i128 q;
    if (!fm_decimal_div(x, 0, y, &q)) return false;
    *out = (int64_t)q;
    return q == *out;
}

static int64_t number_lane(const fm_vec *v, int64_t i)
{
    switch (v->type->id) {
    case FM_TYPE_I8: return fm_vec_i8(v)[i];
    case FM_TYPE_I16: return fm_vec_i16(v)[i];
    case FM_TYPE_I32: return fm_vec_i32(v)[i];
    default: return fm_vec_i64(v)[i];
    }
}

static bool scale_by(int64_t x, const fm_vec *by, int64_t i, bool divide, bool *zero, int64_t *out)
{
    double d;
    fm_i128 r;
    *zero = false;
    switch (by->type->id) {
    case FM_TYPE_F32:
    case FM_TYPE_F64:
        d = by->type->id == FM_TYPE_F32 ? (double)fm_vec_f32(by)[i] : fm_vec_f64(by)[i];
        *zero = divide && d == 0;
        return !*zero && round_f64(divide ? (double)x / d : (double)x * d, out);
    case FM_TYPE_DECIMAL:
        r = fm_vec_decimal(by)[i];
        *zero = divide && r == 0;
        if (*zero || !(divide ? fm_decimal_div(x, by->type->scale, r, &r)
                              : fm_decimal_mul(x, r, by->type->scale, &r)))
            return false;
        *out = (int64_t)r;
        return r == *out;
    default:
        *zero = divide && number_lane(by, i) == 0;
        if (*zero) return false;
        return divide ? divide_half_up(x, number_lane(by, i), out) : fm_mul_i64(x, number_lane(by, i), out);
    }
}

/* args[0] or args[1] is the interval. */
static fm_status scale_interval(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const fm_arith *a = call->bound;
    const fm_vec *interval = fm_type_is_interval(args[0].type) ? &args[0] : &args[1];
    const fm_vec *number = interval == &args[0] ? &args[1] : &args[0];
    uint64_t *own = NULL;
    for (int64_t i = 0; i < out->len; i++) {
        bool ym = is_ym(out->type), zero, fits;
        int64_t x = ym ? fm_vec_i32(interval)[i] : fm_vec_i64(interval)[i], r = 0;
        if (fm_call_lane_null(out, i)) continue;
        fits = scale_by(x, number, i, a->op == FM_DIV, &zero, &r);
        if (zero) {
            if (a->on_fault == FM_FAULT_NULL)
                FM_TRY(fm_out_null(call, out, &own, i));
            else
                return fm_fail(call->err, FM_INVALID, "INTERVAL_DIVIDED_BY_ZERO",
                               "Division by zero. Use `try_divide` to tolerate divisor being 0 and return "
                               "NULL instead.");
        } else if (!fits || (ym && r != (int32_t)r)) {
            FM_TRY(fm_interval_overflow(call, out, &own, i));
        } else if (ym) {
            fm_vec_i32_out(out)[i] = (int32_t)r;
        } else {
            fm_vec_i64_out(out)[i] = r;
        }
    }
    return FM_OK;
}

/* --- dates and timestamps and intervals -------------------------------------------------------------- */

/* The interval, with its sign turned for a subtraction; false: the smallest has no opposite. */
static bool signed_interval(const fm_arith *a, const fm_vec *v, int64_t i, int64_t *out)
{
    int64_t x = is_ym(v->type) ? fm_vec_i32(v)[i] : fm_vec_i64(v)[i];
    if (a->op == FM_ADD) {
        *out = x;
        return true;
    }
    return fm_sub_i64(0, x, out);
}

static fm_status overflow(fm_call *call, fm_vec *out, uint64_t **own, int64_t i)
{
    const fm_arith *a = call->bound;
    if (a->on_fault == FM_FAULT_NULL) return fm_out_null(call, out, own, i);
    return fm_datetime_overflow(call);
}

static fm_status add_to_date(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const fm_arith *a = call->bound;
    const fm_vec *date = is_date(args[0].type) ? &args[0] : &args[1];
    const fm_vec *interval = date == &args[0] ? &args[1] : &args[0];
    uint64_t *own = NULL;
    for (int64_t i = 0; i < out->len; i++) {
        int64_t by, sum;
        int32_t *to = &fm_vec_i32_out(out)[i];
        bool fits;
        if (fm_call_lane_null(out, i)) continue;
        fits = signed_interval(a, interval, i, &by);
        if (is_ym(interval->type)) {
            fits = fits && fm_days_add_months(fm_vec_i32(date)[i], by, to);
        } else {
            fits = fits && fm_add_i64(fm_vec_i32(date)[i], by / FM_US_PER_DAY, &sum) && sum == (int32_t)sum;
            if (fits) *to = (int32_t)sum;
        }
        if (!fits) FM_TRY(overflow(call, out, &own, i));
    }
    return FM_OK;
}

static fm_status add_to_timestamp(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const fm_arith *a = call->bound;
    const fm_vec *time = fm_type_is_interval(args[0].type) ? &args[1] : &args[0];
    const fm_vec *interval = time == &args[0] ? &args[1] : &args[0];
    uint64_t *own = NULL;
    fm_vec result = *out;
    if (a->back) { /* the text of the sum: out holds views, so the sums need a place of their own */
        const uint64_t *validity = out->validity;
        FM_TRY(fm_vec_init(&result, time->type, out->len, call->arena, call->err));
        result.validity = validity;
    }
    for (int64_t i = 0; i < out->len; i++) {
        int64_t by, *to = &fm_vec_i64_out(&result)[i];
        bool fits;
        if (fm_call_lane_null(out, i)) continue;
        fits = signed_interval(a, interval, i, &by);
        if (is_ym(interval->type))
            fits = fits && fm_timestamp_add_months(fm_vec_i64(time)[i], by, a->zone, to);
        else
            fits = fits && fm_timestamp_add_day_time(fm_vec_i64(time)[i], by, a->zone, to);
        if (!fits) FM_TRY(overflow(call, &result, &own, i));
    }
    if (!a->back) {
        *out = result;
        return FM_OK;
    }
    return fm_cast_run(&result, a->back, FM_CAST_ANSI, call->conf, call->arena, out, call->err);
}

static fm_status subtract_dates(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const int32_t *restrict x = fm_vec_i32(&args[0]), *restrict y = fm_vec_i32(&args[1]);
    int64_t *restrict to = fm_vec_i64_out(out);
    uint64_t *own = NULL;
    for (int64_t i = 0; i < out->len; i++)
        if (!fm_mul_i64((int64_t)x[i] - y[i], FM_US_PER_DAY, &to[i]) && !fm_call_lane_null(out, i))
            FM_TRY(fm_interval_overflow(call, out, &own, i));
    return FM_OK;
}

/* The difference of what the clocks show: over the end of summer time an hour more than has passed. */
static fm_status subtract_timestamps(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const fm_arith *a = call->bound;
    uint64_t *own = NULL;
    for (int64_t i = 0; i < out->len; i++) {
        int64_t x = fm_vec_i64(&args[0])[i], y = fm_vec_i64(&args[1])[i];
        if (a->zone) {
            x = fm_zone_to_local(a->zone, x);
            y = fm_zone_to_local(a->zone, y);
        }
        if (!fm_sub_i64(x, y, &fm_vec_i64_out(out)[i]) && !fm_call_lane_null(out, i))
            FM_TRY(fm_interval_overflow(call, out, &own, i));
    }
    return FM_OK;
}

/* date + n, date - n: days. */
static fm_status add_days(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const fm_arith *a = call->bound;
    const fm_vec *date = is_date(args[0].type) ? &args[0] : &args[1];
    const int32_t *days = fm_vec_i32(date == &args[0] ? &args[1] : &args[0]);
    for (int64_t i = 0; i < out->len; i++) {
        uint32_t d = (uint32_t)fm_vec_i32(date)[i];
        fm_vec_i32_out(out)[i] = (int32_t)(a->op == FM_ADD ? d + (uint32_t)days[i] : d - (uint32_t)days[i]);
    }
    return FM_OK;
}

/* --- binding ----------------------------------------------------------------------------------------- */

static void pick(fm_bind *b, fm_arith *a, fm_kernel kernel, const fm_type *returns, bool *done)
{
    a->picked.kernel = kernel;
    b->returns = returns;
    *done = true;
}

/* A date or timestamp (x, at args[at]) plus or minus an interval. */
static void bind_datetime_interval(fm_bind *b, fm_arith *a, const fm_type *x, const fm_type *interval, int at,
                                   bool *done)
{
    a->zone = b->conf->zone;
    if (is_date(x) && (is_ym(interval) ||
                       (interval->unit_from == FM_UNIT_DAY && interval->unit_to == FM_UNIT_DAY))) {
        pick(b, a, add_to_date, x, done);
    } else if (is_date(x)) {
        b->cast_args[at] = fm_type_timestamp();
        pick(b, a, add_to_timestamp, fm_type_timestamp(), done);
    } else if (fm_type_is_timestamp(x)) {
        if (x->id == FM_TYPE_TIMESTAMP_NTZ) a->zone = NULL;
        pick(b, a, add_to_timestamp, x, done);
    } else if (x->id == FM_TYPE_STRING && is_dt(interval)) {
        b->cast_args[at] = fm_type_timestamp();
        a->back = x;
        pick(b, a, add_to_timestamp, x, done);
    }
}

static void bind_two_times(fm_bind *b, fm_arith *a, const fm_type *x, const fm_type *y, bool *done)
{
    if (fm_type_is_timestamp(x) || fm_type_is_timestamp(y)) {
        /* Beside a local clock the other side is read as one. */
        bool ntz = x->id == FM_TYPE_TIMESTAMP_NTZ || y->id == FM_TYPE_TIMESTAMP_NTZ;
        const fm_type *type = ntz ? fm_type_simple(FM_TYPE_TIMESTAMP_NTZ) : fm_type_timestamp();
        a->zone = ntz ? NULL : b->conf->zone;
        b->cast_args[0] = b->cast_args[1] = type;
        pick(b, a, subtract_timestamps, fm_type_simple(FM_TYPE_INTERVAL_DT), done);
    } else {
        b->cast_args[0] = b->cast_args[1] = fm_type_simple(FM_TYPE_DATE);
        pick(b, a, subtract_dates, fm_type_interval(b->arena, FM_UNIT_DAY, FM_UNIT_DAY), done);
    }
}

static bool is_time(const fm_type *t) { return is_date(t) || fm_type_is_timestamp(t); }
static bool may_be_time(const fm_type *t)
{
    return is_time(t) || t->id == FM_TYPE_STRING || t->id == FM_TYPE_NULL;
}

static void bind_scale(fm_bind *b, fm_arith *a, const fm_type *interval, int number_at, bool *done)
{
    const fm_type *number = b->args[number_at]->type;
    const fm_type *returns = is_ym(interval) ? fm_type_interval(b->arena, FM_UNIT_YEAR, FM_UNIT_MONTH)
                                             : fm_type_interval(b->arena, FM_UNIT_DAY, FM_UNIT_SECOND);
    if (number->id == FM_TYPE_STRING || number->id == FM_TYPE_NULL)
        b->cast_args[number_at] = fm_type_f64();
    else if (!fm_type_is_numeric(number))
        return;
    pick(b, a, scale_interval, returns, done);
}

fm_status fm_arith_bind_time(fm_bind *b, fm_arith *a, bool *done, fm_error *err)
{
    const fm_type *x = b->args[0]->type, *y = b->args[1]->type;
    bool sum = a->op == FM_ADD, difference = a->op == FM_SUB;
    if (!is_time(x) && !is_time(y) && !fm_type_is_interval(x) && !fm_type_is_interval(y)) return FM_OK;

    if (sum || difference) {
        const fm_type *beside = fm_type_is_interval(x) ? x : y, *other = beside == x ? y : x;
        if (fm_type_is_interval(beside) && (other->id == beside->id || other->id == FM_TYPE_NULL)) {
            const fm_type *type = fm_type_common(b->arena, b->conf, x, y);
            if (!type) return fm_no_memory(b->arena, err);
            b->cast_args[0] = b->cast_args[1] = type;
            pick(b, a, add_intervals, type, done);
        } else if (fm_type_is_interval(y)) {
            bind_datetime_interval(b, a, x, y, 0, done);
        } else if (fm_type_is_interval(x) && sum) {
            bind_datetime_interval(b, a, y, x, 1, done);
        } else if (difference && may_be_time(x) && may_be_time(y) &&
                   (b->conf->ansi || is_date(x) || is_date(y) || (is_time(x) && is_time(y)))) {
            bind_two_times(b, a, x, y, done);
        } else if (is_date(x) || (is_date(y) && sum)) {
            int at = is_date(x) ? 1 : 0;
            const fm_type *days = b->args[at]->type;
            /* Whole numbers of days, no wider than INT. */
            if (days->id != FM_TYPE_NULL && !(days->id >= FM_TYPE_I8 && days->id <= FM_TYPE_I32)) return FM_OK;
            b->cast_args[at] = fm_type_i32();
            pick(b, a, add_days, fm_type_simple(FM_TYPE_DATE), done);
        }
    } else if (a->op == FM_MUL) {
        if (fm_type_is_interval(x)) bind_scale(b, a, x, 1, done);
        else if (fm_type_is_interval(y)) bind_scale(b, a, y, 0, done);
    } else if (a->op == FM_DIV && fm_type_is_interval(x)) {
        bind_scale(b, a, x, 1, done);
    } else if (a->op == FM_INT_DIV && fm_type_is_interval(x) && x->id == y->id) {
        pick(b, a, divide_intervals, fm_type_i64(), done);
    }
    if (*done && !b->returns) return fm_no_memory(b->arena, err);
    return FM_OK;
}
