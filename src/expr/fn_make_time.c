/* expr/fn_make_time.c: make_date, make_timestamp, make_dt_interval, make_ym_interval: times from their parts.
 *
 * Rule   Spark: parts out of range are an error under ANSI and null else; second 60 is the next minute.
 * Cases  tests/golden/functions/make_time.test */
#include "base/checked.h"
#include "expr/coerce.h"
#include "expr/kernel.h"
#include "expr/time_parts.h"
#include "expr/zone_cache.h"

typedef struct making {
    bool fails, ntz;
} making;

static fm_status out_of_bounds(fm_call *call, const char *what, int64_t value, fm_vec *out, uint64_t **own,
                               int64_t i, bool fails)
{
    if (!fails) return fm_out_null(call, out, own, i);
    return fm_fail(call->err, FM_INVALID, "DATETIME_FIELD_OUT_OF_BOUNDS.WITHOUT_SUGGESTION",
                   "Invalid value for %s: %lld.",
                   what, (long long)value);
}

/* The day; *bad names the part that does not fit, if any. */
static int32_t day_of(int32_t year, int32_t month, int32_t day, const char **bad, int64_t *value)
{
    *bad = NULL;
    if (year < -999999 || year > 999999) *bad = "Year", *value = year;
    else if (month < 1 || month > 12) *bad = "MonthOfYear (valid values 1 - 12)", *value = month;
    else if (!fm_civil_valid(year, month, day)) *bad = "DayOfMonth (valid values 1 - 28/31)", *value = day;
    return *bad ? 0 : fm_days_from_civil(year, month, day);
}

static fm_status make_date(fm_call *call, const fm_vec *args, fm_vec *out)
{
    uint64_t *own = NULL;
    for (int64_t i = 0; i < out->len; i++) {
        const char *bad;
        int64_t value;
        if (fm_call_lane_null(out, i)) continue;
        fm_vec_i32_out(out)[i] = day_of(fm_vec_i32(&args[0])[i], fm_vec_i32(&args[1])[i],
                                        fm_vec_i32(&args[2])[i], &bad, &value);
        if (bad) FM_TRY(out_of_bounds(call, bad, value, out, &own, i, call->ansi));
    }
    return FM_OK;
}

/* year, month, day, hour, minute, second (DECIMAL(16, 6)), [zone]. */
static fm_status make_timestamp(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const making *m = call->bound;
    fm_zone_cache zones = {.arena = call->arena};
    uint64_t *own = NULL;
    for (int64_t i = 0; i < out->len; i++) {
        int32_t hour, minute;
        int64_t second_us, value = 0, local_us;
        const char *bad;
        const fm_zone *zone = call->conf->zone;
        int32_t days;
        if (fm_call_lane_null(out, i)) continue;
        days = day_of(fm_vec_i32(&args[0])[i], fm_vec_i32(&args[1])[i], fm_vec_i32(&args[2])[i], &bad, &value);
        hour = fm_vec_i32(&args[3])[i];
        minute = fm_vec_i32(&args[4])[i];
        second_us = (int64_t)fm_vec_decimal(&args[5])[i];
        if (!bad && (hour < 0 || hour > 23)) bad = "HourOfDay (valid values 0 - 23)", value = hour;
        if (!bad && (minute < 0 || minute > 59)) bad = "MinuteOfHour (valid values 0 - 59)", value = minute;
        if (!bad && (second_us < 0 || second_us > 60 * FM_US_PER_SECOND))
            bad = "SecondOfMinute (valid values 0 - 59)", value = second_us / FM_US_PER_SECOND;
        if (bad) {
            FM_TRY(out_of_bounds(call, bad, value, out, &own, i, m->fails));
            continue;
        }
        if (call->expr->n_args == 7)
            FM_TRY(fm_zone_cache_get(&zones, fm_vec_str(&args[6], i), &zone, call->err));
        int64_t clock_us = hour * FM_US_PER_HOUR + minute * FM_US_PER_MINUTE + second_us;
        if (!fm_mul_i64(days, FM_US_PER_DAY, &local_us) || !fm_add_i64(local_us, clock_us, &local_us)) return fm_fail(call->err, FM_INVALID, "DATETIME_OVERFLOW",
                                                                        "Datetime operation overflow: make_timestamp.");
        fm_vec_i64_out(out)[i] = m->ntz ? local_us : fm_zone_to_utc(zone, local_us);
    }
    return FM_OK;
}

static fm_status bind_make(fm_bind *b, const fm_type *type, bool try, fm_error *err)
{
    making *m = fm_arena_one(b->arena, making);
    if (!m) return fm_no_memory(b->arena, err);
    if (b->n_args > 5) b->cast_args[5] = fm_type_decimal(b->arena, 16, 6);
    m->fails = b->conf->ansi && !try;
    m->ntz = type->id == FM_TYPE_TIMESTAMP_NTZ;
    b->bound = m;
    b->returns = type;
    if (!m->fails) b->nullable = true;
    return FM_OK;
}
static fm_status bind_make_date(fm_bind *b, fm_error *err)
{
    (void)err;
    b->returns = fm_type_simple(FM_TYPE_DATE);
    if (!b->conf->ansi) b->nullable = true;
    return FM_OK;
}
static fm_status bind_make_timestamp(fm_bind *b, fm_error *err)
{
    return bind_make(b, fm_type_timestamp(), false, err);
}
static fm_status bind_try_make_timestamp(fm_bind *b, fm_error *err)
{
    return bind_make(b, fm_type_timestamp(), true, err);
}
static fm_status bind_make_ntz(fm_bind *b, fm_error *err)
{
    return bind_make(b, fm_type_simple(FM_TYPE_TIMESTAMP_NTZ), false, err);
}

static fm_status bind_try_make_ntz(fm_bind *b, fm_error *err)
{
    return bind_make(b, fm_type_simple(FM_TYPE_TIMESTAMP_NTZ), true, err);
}

/* --- intervals --------------------------------------------------------------------------------------- */

static fm_status interval_overflow(fm_call *call)
{
    return fm_fail(call->err, FM_INVALID, "INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION",
                   "Integer overflow while operating with intervals. Try devising appropriate values for the "
                   "interval parameters.");
}

/* days, hours, minutes, seconds (DECIMAL(18, 6)); those left out are 0. */
static fm_status make_dt_interval(fm_call *call, const fm_vec *args, fm_vec *out)
{
    static const int64_t unit_us[] = {FM_US_PER_DAY, FM_US_PER_HOUR, FM_US_PER_MINUTE};
    int32_t n = call->expr->n_args;
    for (int64_t i = 0; i < out->len; i++) {
        int64_t us = 0;
        bool fits = true;
        if (fm_call_lane_null(out, i)) continue;
        for (int32_t k = 0; k < n && fits; k++) {
            int64_t part = 0;
            if (k == 3) part = (int64_t)fm_vec_decimal(&args[k])[i];
            else fits = fm_mul_i64(fm_vec_i32(&args[k])[i], unit_us[k], &part);
            fits = fits && fm_add_i64(us, part, &us);
        }
        if (!fits) return interval_overflow(call);
        fm_vec_i64_out(out)[i] = us;
    }
    return FM_OK;
}

static fm_status bind_make_dt(fm_bind *b, fm_error *err)
{
    if (b->n_args > 3) {
        b->cast_args[3] = fm_type_decimal(b->arena, 18, 6);
        if (!b->cast_args[3]) return fm_no_memory(b->arena, err);
    }
    b->returns = fm_type_simple(FM_TYPE_INTERVAL_DT);
    return FM_OK;
}

static fm_status make_ym_interval(fm_call *call, const fm_vec *args, fm_vec *out)
{
    int32_t n = call->expr->n_args;
    for (int64_t i = 0; i < out->len; i++) {
        int64_t months = 0;
        if (fm_call_lane_null(out, i)) continue;
        if (n > 0) months = (int64_t)fm_vec_i32(&args[0])[i] * 12;
        if (n > 1) months += fm_vec_i32(&args[1])[i];
        if (months != (int32_t)months) return interval_overflow(call);
        fm_vec_i32_out(out)[i] = (int32_t)months;
    }
    return FM_OK;
}

static const fm_type *ym_type(void) { return fm_type_simple(FM_TYPE_INTERVAL_YM); }

/* --- entries ----------------------------------------------------------------------------------------- */

#define TIMESTAMP_ENTRY(ident, bound_by, ...)                                                 \
    const fm_function fm_fn_##ident = {                                                       \
        .name = #ident,                                                                       \
        .args = {FM_ARG_I32, FM_ARG_I32, FM_ARG_I32, FM_ARG_I32, FM_ARG_I32, FM_ARG_NUMERIC, FM_ARG_STRING, \
                 FM_ARG_END},                                                                 \
        .args_min = 6, .bind = bound_by, .kernel = make_timestamp, .nulls = FM_NULLS_STRICT,  \
        .can_fail = true, __VA_ARGS__}

const fm_function fm_fn_make_date = {
    .name = "make_date",
    .args = {FM_ARG_I32, FM_ARG_I32, FM_ARG_I32, FM_ARG_END},
    .args_min = 3,
    .args_max = 3,
    .bind = bind_make_date,
    .kernel = make_date,
    .nulls = FM_NULLS_STRICT,
    .can_fail = true,
    .usage = "make_date(year, month, day)",
    .doc = "Returns the date of a year, month and day.",
    .since = "3.0.0",
};
TIMESTAMP_ENTRY(make_timestamp, bind_make_timestamp, .aliases = {"make_timestamp_ltz"}, .args_max = 7,
                .usage = "make_timestamp(year, month, day, hour, minute, second[, zone])", .since = "3.0.0",
                .doc = "Returns the timestamp of its parts on the clock of a zone, or the session's.");
TIMESTAMP_ENTRY(try_make_timestamp, bind_try_make_timestamp, .aliases = {"try_make_timestamp_ltz"}, .args_max = 7,
                .usage = "try_make_timestamp(year, month, day, hour, minute, second[, zone])", .since = "4.0.0",
                .doc = "As make_timestamp; null for parts out of range.");
TIMESTAMP_ENTRY(try_make_timestamp_ntz, bind_try_make_ntz, .args_max = 6,
                .usage = "try_make_timestamp_ntz(year, month, day, hour, minute, second)", .since = "4.0.0",
                .doc = "As make_timestamp_ntz; null for parts out of range.");
TIMESTAMP_ENTRY(make_timestamp_ntz, bind_make_ntz, .args_max = 6,
                .usage = "make_timestamp_ntz(year, month, day, hour, minute, second)", .since = "3.4.0",
                .doc = "Returns the timestamp without time zone of its parts.");

const fm_function fm_fn_make_dt_interval = {
    .name = "make_dt_interval",
    .args = {FM_ARG_I32, FM_ARG_I32, FM_ARG_I32, FM_ARG_NUMERIC, FM_ARG_END},
    .args_min = 0,
    .args_max = 4,
    .bind = bind_make_dt,
    .kernel = make_dt_interval,
    .nulls = FM_NULLS_STRICT,
    .can_fail = true,
    .shown = {"0", "0", "0", "0.000000"},
    .usage = "make_dt_interval([days[, hours[, minutes[, seconds]]]])",
    .doc = "Returns the interval of its parts.",
    .since = "3.2.0",
};

const fm_function fm_fn_make_ym_interval = {
    .name = "make_ym_interval",
    .args = {FM_ARG_I32, FM_ARG_I32, FM_ARG_END},
    .args_min = 0,
    .args_max = 2,
    .returns = ym_type,
    .kernel = make_ym_interval,
    .nulls = FM_NULLS_STRICT,
    .can_fail = true,
    .shown = {"0", "0"},
    .usage = "make_ym_interval([years[, months]])",
    .doc = "Returns the interval of years and months.",
    .since = "3.2.0",
};
