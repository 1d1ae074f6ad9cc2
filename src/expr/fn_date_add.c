/* expr/fn_date_add.c: date_add, date_sub, datediff, add_months, months_between, last_day, next_day.
 *
 * Cases  tests/golden/functions/date_add.test */
#include <math.h>

#include "base/limits.h"
#include "expr/kernel.h"
#include "expr/time_parts.h"

/* --- days -------------------------------------------------------------------------------------------- */

static fm_status date_add(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const uint32_t *restrict a = args[0].values, *restrict n = args[1].values;
    uint32_t *restrict to = (uint32_t *)fm_vec_i32_out(out);
    (void)call;
    for (int64_t i = 0; i < out->len; i++) to[i] = a[i] + n[i]; /* wraps, as Spark's does */
    return FM_OK;
}

static fm_status date_sub(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const uint32_t *restrict a = args[0].values, *restrict n = args[1].values;
    uint32_t *restrict to = (uint32_t *)fm_vec_i32_out(out);
    (void)call;
    for (int64_t i = 0; i < out->len; i++) to[i] = a[i] - n[i];
    return FM_OK;
}

/* --- months ------------------------------------------------------------------------------------------ */

static fm_status add_months(fm_call *call, const fm_vec *args, fm_vec *out)
{
    for (int64_t i = 0; i < out->len; i++)
        if (!fm_days_add_months(fm_vec_i32(&args[0])[i], fm_vec_i32(&args[1])[i], &fm_vec_i32_out(out)[i]) &&
            !fm_call_lane_null(out, i))
            return fm_fail(call->err, FM_INVALID, "DATETIME_OVERFLOW",
                           "Datetime operation overflow: add %d months to the day %d since 1970-01-01.",
                           (int)fm_vec_i32(&args[1])[i], (int)fm_vec_i32(&args[0])[i]);
    return FM_OK;
}

/* Seconds that have gone by since the local day began: after a change of the clock not what the clock shows. */
static int64_t since_midnight_s(int64_t us, const fm_zone *zone)
{
    int64_t local = fm_zone_to_local(zone, us);

    return fm_floor_div(us - fm_zone_to_utc(zone, local - fm_floor_mod(local, FM_US_PER_DAY)), FM_US_PER_SECOND);
}

/* Whole months when both are the same day of the month or both the last of it; else a month has 31 days. */
static double months_apart(int64_t a_us, int64_t b_us, const fm_zone *zone, bool round_off)
{
    int32_t year[2], month[2], day[2], last[2];
    int64_t local[2] = {fm_zone_to_local(zone, a_us), fm_zone_to_local(zone, b_us)};
    double difference, seconds;
    for (int k = 0; k < 2; k++) {
        fm_civil_from_days(fm_day_of_us(local[k]), &year[k], &month[k], &day[k]);
        last[k] = fm_days_in_month(year[k], month[k]);
    }
    difference = (double)(((int64_t)year[0] * 12 + month[0]) - ((int64_t)year[1] * 12 + month[1]));
    if (day[0] == day[1] || (day[0] == last[0] && day[1] == last[1])) return difference;
    seconds = (double)((day[0] - day[1]) * INT64_C(86400) + since_midnight_s(a_us, zone) - since_midnight_s(b_us, zone));
    difference += seconds / (31.0 * 86400.0);
    return round_off ? floor(difference * 1e8 + 0.5) / 1e8 : difference;
}

static fm_status months_between(fm_call *call, const fm_vec *args, fm_vec *out)
{
    bool can_choose = call->expr->n_args == 3;
    for (int64_t i = 0; i < out->len; i++) {
        bool round_off = !can_choose || fm_vec_bool(&args[2])[i];
        if (fm_call_lane_null(out, i)) continue;
        fm_vec_f64_out(out)[i] = months_apart(fm_vec_i64(&args[0])[i], fm_vec_i64(&args[1])[i],
                                              call->conf->zone, round_off);
    }
    return FM_OK;
}

static fm_status last_day(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    for (int64_t i = 0; i < out->len; i++) {
        int32_t year, month, day;
        fm_civil_from_days(fm_vec_i32(args)[i], &year, &month, &day);
        fm_vec_i32_out(out)[i] = fm_days_from_civil(year, month, fm_days_in_month(year, month));
    }
    return FM_OK;
}

/* --- next_day ---------------------------------------------------------------------------------------- */

/* 0 Monday; -1: no day of the week. */
static int day_named(fm_str name)
{
    static const char *const names[7][3] = {
        {"mo", "mon", "monday"},   {"tu", "tue", "tuesday"}, {"we", "wed", "wednesday"},
        {"th", "thu", "thursday"}, {"fr", "fri", "friday"},  {"sa", "sat", "saturday"},
        {"su", "sun", "sunday"}};
    for (int d = 0; d < 7; d++)
        for (int k = 0; k < 3; k++)
            if (fm_str_eq_ci(name, fm_str_c(names[d][k]))) return d;
    return -1;
}

static fm_status next_day(fm_call *call, const fm_vec *args, fm_vec *out)
{
    uint64_t *own = NULL;
    for (int64_t i = 0; i < out->len; i++) {
        int32_t days = fm_vec_i32(&args[0])[i];
        fm_str name = fm_vec_str(&args[1], i);
        int wanted;
        if (fm_call_lane_null(out, i)) continue;
        wanted = day_named(name);
        if (wanted < 0) {
            if (call->ansi)
                return fm_fail(call->err, FM_INVALID, "ILLEGAL_DAY_OF_WEEK",
                               "Illegal input for day of week: %.*s.", FM_STR_ARG(name));
            FM_TRY(fm_out_null(call, out, &own, i));
            continue;
        }
        /* 1..7 days on: never the day itself. */
        fm_vec_i32_out(out)[i] =
            (int32_t)((uint32_t)days + 1 + (uint32_t)fm_floor_mod(wanted - ((int64_t)days + 3) - 1, 7));
    }
    return FM_OK;
}

/* --- entries ----------------------------------------------------------------------------------------- */

static const fm_type *date_type(void) { return fm_type_simple(FM_TYPE_DATE); }

#define ENTRY(ident, type, ...)                                                               \
    const fm_function fm_fn_##ident = {.name = #ident, .returns = type, .kernel = ident,      \
                                       .nulls = FM_NULLS_STRICT, .since = "1.5.0", __VA_ARGS__}

ENTRY(date_add, date_type, .aliases = {"dateadd"}, .args = {FM_ARG_DATE, FM_ARG_I32, FM_ARG_END}, .args_min = 2,
      .args_max = 2, .usage = "date_add(start, days)", .doc = "Returns the date that many days later.");
ENTRY(date_sub, date_type, .args = {FM_ARG_DATE, FM_ARG_I32, FM_ARG_END}, .args_min = 2, .args_max = 2,
      .usage = "date_sub(start, days)", .doc = "Returns the date that many days earlier.");
ENTRY(add_months, date_type, .args = {FM_ARG_DATE, FM_ARG_I32, FM_ARG_END}, .args_min = 2, .args_max = 2,
      .can_fail = true, .usage = "add_months(start, months)",
      .doc = "Returns the date that many months later, the day cut to the month's length.");
ENTRY(months_between, fm_type_f64, .args = {FM_ARG_TIMESTAMP, FM_ARG_TIMESTAMP, FM_ARG_BOOL, FM_ARG_END},
      .args_min = 2, .args_max = 3, .shown = {[2] = "true"}, .usage = "months_between(a, b[, round])",
      .doc = "Returns the months from b to a; rounded to 8 digits unless round is false.");
ENTRY(last_day, date_type, .args = {FM_ARG_DATE, FM_ARG_END}, .args_min = 1, .args_max = 1,
      .usage = "last_day(date)", .doc = "Returns the last day of the date's month.");
ENTRY(next_day, date_type, .args = {FM_ARG_DATE, FM_ARG_STRING, FM_ARG_END}, .args_min = 2, .args_max = 2,
      .can_fail = true, .usage = "next_day(start, day)",
      .doc = "Returns the first day after start that is the named day of the week.");

const fm_function fm_fn_datediff = {
    .name = "datediff",
    .aliases = {"date_diff"},
    .args = {FM_ARG_DATE, FM_ARG_DATE, FM_ARG_END},
    .args_min = 2,
    .args_max = 2,
    .returns = fm_type_i32,
    .kernel = date_sub, /* the days of a date are counted as an INT is */
    .nulls = FM_NULLS_STRICT,
    .usage = "datediff(end, start)",
    .doc = "Returns the days from start to end.",
    .since = "1.5.0",
};
