/* expr/fn_trunc.c: trunc(date, unit) and date_trunc(unit, timestamp): the beginning of the unit a time is in.
 *
 * Rule   Spark: weeks begin on Monday; the session's clock says where a day or hour begins; an unknown unit gives null.
 * Cases  tests/golden/functions/trunc.test */
#include "expr/kernel.h"
#include "expr/time_parts.h"

typedef enum unit {
    UNIT_NONE, UNIT_YEAR, UNIT_QUARTER, UNIT_MONTH, UNIT_WEEK, UNIT_DAY, UNIT_HOUR, UNIT_MINUTE,
    UNIT_SECOND, UNIT_MILLISECOND, UNIT_MICROSECOND
} unit;

static unit unit_named(fm_str name)
{
    static const struct {
        const char *name;
        unit unit;
    } names[] = {
        {"year", UNIT_YEAR}, {"yyyy", UNIT_YEAR}, {"yy", UNIT_YEAR}, {"quarter", UNIT_QUARTER},
        {"month", UNIT_MONTH}, {"mm", UNIT_MONTH}, {"mon", UNIT_MONTH}, {"week", UNIT_WEEK},
        {"day", UNIT_DAY}, {"dd", UNIT_DAY}, {"hour", UNIT_HOUR}, {"minute", UNIT_MINUTE},
        {"second", UNIT_SECOND}, {"millisecond", UNIT_MILLISECOND}, {"microsecond", UNIT_MICROSECOND},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (fm_str_eq_ci(name, fm_str_c(names[i].name))) return names[i].unit;
    return UNIT_NONE;
}

static int32_t trunc_days(int32_t days, unit to)
{
    int32_t year, month, day;
    if (to == UNIT_WEEK) return (int32_t)(days - fm_floor_mod((int64_t)days + 3, 7));
    if (to == UNIT_DAY) return days;
    fm_civil_from_days(days, &year, &month, &day);
    if (to == UNIT_YEAR) month = 1;
    if (to == UNIT_QUARTER) month = (month - 1) / 3 * 3 + 1;
    return fm_days_from_civil(year, month, 1);
}

static int64_t trunc_us(int64_t us, unit to, const fm_zone *zone)
{
    static const int64_t length[] = {[UNIT_HOUR] = FM_US_PER_HOUR, [UNIT_MINUTE] = FM_US_PER_MINUTE,
                                     [UNIT_SECOND] = FM_US_PER_SECOND, [UNIT_MILLISECOND] = FM_US_PER_MS,
                                     [UNIT_MICROSECOND] = 1};
    int64_t local_us = fm_zone_to_local(zone, us), begin_us;
    if (to <= UNIT_DAY) {
        int64_t day = trunc_days(fm_day_of_us(local_us), to);
        if (__builtin_mul_overflow(day, FM_US_PER_DAY, &begin_us)) return INT64_MIN;
        return fm_zone_to_utc(zone, begin_us);
    }
    /* Back from the instant itself: where the clock shows an hour twice, it is known which. */
    begin_us = us - fm_floor_mod(local_us, length[to]);
    if (fm_zone_offset_s(zone, begin_us) == fm_zone_offset_s(zone, us)) return begin_us;
    return fm_zone_to_utc(zone, local_us - fm_floor_mod(local_us, length[to]));
}

static fm_status date_trunc(fm_call *call, const fm_vec *args, fm_vec *out)
{
    bool constant = call->expr->args[0]->kind == FM_EXPR_LITERAL;
    unit to = UNIT_NONE;
    uint64_t *own = NULL;
    for (int64_t i = 0; i < out->len; i++) {
        if (i == 0 || !constant) to = unit_named(fm_vec_str(&args[0], i));
        if (fm_call_lane_null(out, i)) continue;
        if (to == UNIT_NONE)
            FM_TRY(fm_out_null(call, out, &own, i));
        else
            fm_vec_i64_out(out)[i] = trunc_us(fm_vec_i64(&args[1])[i], to, call->conf->zone);
    }
    return FM_OK;
}

static fm_status trunc_date(fm_call *call, const fm_vec *args, fm_vec *out)
{
    bool constant = call->expr->args[1]->kind == FM_EXPR_LITERAL;
    unit to = UNIT_NONE;
    uint64_t *own = NULL;
    for (int64_t i = 0; i < out->len; i++) {
        if (i == 0 || !constant) to = unit_named(fm_vec_str(&args[1], i));
        if (fm_call_lane_null(out, i)) continue;
        if (to == UNIT_NONE || to > UNIT_WEEK)
            FM_TRY(fm_out_null(call, out, &own, i));
        else
            fm_vec_i32_out(out)[i] = trunc_days(fm_vec_i32(&args[0])[i], to);
    }
    return FM_OK;
}

static fm_status bind_nullable(fm_bind *b, fm_error *err)
{
    (void)err;
    b->nullable = true;
    return FM_OK;
}

static const fm_type *date_type(void) { return fm_type_simple(FM_TYPE_DATE); }

const fm_function fm_fn_date_trunc = {
    .name = "date_trunc",
    .args = {FM_ARG_STRING, FM_ARG_TIMESTAMP, FM_ARG_END},
    .args_min = 2,
    .args_max = 2,
    .returns = fm_type_timestamp,
    .bind = bind_nullable,
    .kernel = date_trunc,
    .nulls = FM_NULLS_STRICT,
    .usage = "date_trunc(unit, ts)",
    .doc = "Returns the beginning of the unit (YEAR, MONTH, WEEK, DAY, HOUR, ...) that a timestamp is in.",
    .since = "2.3.0",
};

const fm_function fm_fn_trunc = {
    .name = "trunc",
    .args = {FM_ARG_DATE, FM_ARG_STRING, FM_ARG_END},
    .args_min = 2,
    .args_max = 2,
    .returns = date_type,
    .bind = bind_nullable,
    .kernel = trunc_date,
    .nulls = FM_NULLS_STRICT,
    .usage = "trunc(date, unit)",
    .doc = "Returns the beginning of the year, quarter, month or week that a date is in.",
    .since = "1.5.0",
};
