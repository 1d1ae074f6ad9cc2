/* expr/fn_timestamp_add.c: timestampadd(unit, n, ts), timestampdiff(unit, a, b); the unit comes as text.
 *
 * Rule   Spark: DAY and longer units go by the session's calendar, shorter ones by time that passes; differences are those
 *        of the clocks, whole units only.
 * Cases  tests/golden/functions/timestamp_add.test */
#include "base/checked.h"
#include "expr/kernel.h"
#include "expr/resolve_text.h"
#include "expr/time_parts.h"

typedef struct unit {
    const char *name;
    int64_t us;     /* 0: counted in months */
    int32_t months;
    bool by_clock;  /* a day of the calendar */
} unit;

static const unit units[] = {
    {"MICROSECOND", 1, 0, false},
    {"MILLISECOND", FM_US_PER_MS, 0, false},
    {"SECOND", FM_US_PER_SECOND, 0, false},
    {"MINUTE", FM_US_PER_MINUTE, 0, false},
    {"HOUR", FM_US_PER_HOUR, 0, false},
    {"DAY", FM_US_PER_DAY, 0, true},
    {"DAYOFYEAR", FM_US_PER_DAY, 0, true},
    {"WEEK", 7 * FM_US_PER_DAY, 0, true},
    {"MONTH", 0, 1, true},
    {"QUARTER", 0, 3, true},
    {"YEAR", 0, 12, true},
};

static fm_status bind_unit(fm_bind *b, bool with_day_of_year, fm_error *err)
{
    fm_value name;
    FM_TRY(fm_eval_constant_of(b, 0, &name, err));
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (!fm_vec_is_null(&name, 0) && fm_str_eq_ci(fm_vec_str(&name, 0), fm_str_c(units[i].name)) &&
            (with_day_of_year || strcmp(units[i].name, "DAYOFYEAR"))) {
            b->bound = &units[i];
            return FM_OK;
        }
    return fm_fail_at(err, FM_INVALID, "INVALID_PARAMETER_VALUE.DATETIME_UNIT", b->pos.line, b->pos.column,
                      "The value of parameter(s) `unit` in `%.*s` is invalid: expects one of the units without "
                      "quotes YEAR, QUARTER, MONTH, WEEK, DAY, DAYOFYEAR, HOUR, MINUTE, SECOND, MILLISECOND, "
                      "MICROSECOND, but got the string literal '%.*s'.",
                      FM_STR_ARG(b->name),
                      FM_STR_ARG(fm_vec_is_null(&name, 0) ? FM_STR("NULL") : fm_vec_str(&name, 0)));
}

static fm_status bind_add(fm_bind *b, fm_error *err)
{
    FM_TRY(bind_unit(b, true, err));
    b->returns = b->args[2]->type->id == FM_TYPE_TIMESTAMP_NTZ ? b->args[2]->type : fm_type_timestamp();
    b->cast_args[2] = b->returns;
    return FM_OK;
}

static bool add(const unit *u, int64_t n, int64_t us, const fm_zone *zone, int64_t *out)
{
    int64_t by;
    if (u->months)
        return fm_mul_i64(n, u->months, &by) && by == (int32_t)by && fm_timestamp_add_months(us, by, zone, out);
    if (!fm_mul_i64(n, u->us, &by)) return false;
    return u->by_clock ? fm_timestamp_add_day_time(us, by, zone, out) : fm_add_i64(us, by, out);
}

static fm_status timestampadd(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const unit *u = call->bound;
    const fm_zone *zone = out->type->id == FM_TYPE_TIMESTAMP ? call->conf->zone : NULL;
    for (int64_t i = 0; i < out->len; i++)
        if (!fm_call_lane_null(out, i) &&
            !add(u, fm_vec_i64(&args[1])[i], fm_vec_i64(&args[2])[i], zone, &fm_vec_i64_out(out)[i]))
            return fm_fail(call->err, FM_INVALID, "DATETIME_OVERFLOW",
                           "Datetime operation overflow: add %lld %s to a timestamp.",
                           (long long)fm_vec_i64(&args[1])[i], u->name);
    return FM_OK;
}

/* Whole months from a to b, both local clocks. As java.time counts: a last day that is not full is left out first. */
static int64_t months_between(int64_t a_us, int64_t b_us)
{
    int32_t year[2], month[2], day[2], days[2] = {fm_day_of_us(a_us), fm_day_of_us(b_us)};
    int64_t a_clock = fm_floor_mod(a_us, FM_US_PER_DAY), b_clock = fm_floor_mod(b_us, FM_US_PER_DAY), packed[2];
    if (days[1] > days[0] && b_clock < a_clock) days[1]--;
    else if (days[1] < days[0] && b_clock > a_clock) days[1]++;
    for (int k = 0; k < 2; k++) {
        fm_civil_from_days(days[k], &year[k], &month[k], &day[k]);
        packed[k] = ((int64_t)year[k] * 12 + month[k]) * 32 + day[k];
    }
    return (packed[1] - packed[0]) / 32;
}

static fm_status timestampdiff(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const unit *u = call->bound;
    for (int64_t i = 0; i < out->len; i++) {
        int64_t a, b, difference;
        if (fm_call_lane_null(out, i)) continue;
        a = fm_vec_i64(&args[1])[i];
        b = fm_vec_i64(&args[2])[i];
        a = fm_zone_to_local(call->conf->zone, a);
        b = fm_zone_to_local(call->conf->zone, b);
        if (u->months) {
            fm_vec_i64_out(out)[i] = months_between(a, b) / u->months;
        } else {
            if (!fm_sub_i64(b, a, &difference))
                return fm_fail(call->err, FM_INVALID, "DATETIME_OVERFLOW",
                               "Datetime operation overflow: the difference of two timestamps is beyond BIGINT "
                               "microseconds.");
            fm_vec_i64_out(out)[i] = difference / u->us;
        }
    }
    return FM_OK;
}

static fm_status bind_diff(fm_bind *b, fm_error *err)
{
    FM_TRY(bind_unit(b, false, err));
    b->returns = fm_type_i64();
    return FM_OK;
}

const fm_function fm_fn_timestampadd = {
    .name = "timestampadd",
    .args = {FM_ARG_STRING, FM_ARG_I64, FM_ARG_ANY_TIMESTAMP, FM_ARG_END},
    .args_min = 3,
    .args_max = 3,
    .bind = bind_add,
    .kernel = timestampadd,
    .nulls = FM_NULLS_STRICT,
    .can_fail = true,
    .usage = "timestampadd(unit, n, ts)",
    .doc = "Returns the timestamp n units later.",
    .since = "3.3.0",
};

const fm_function fm_fn_timestampdiff = {
    .name = "timestampdiff",
    .args = {FM_ARG_STRING, FM_ARG_TIMESTAMP, FM_ARG_TIMESTAMP, FM_ARG_END},
    .args_min = 3,
    .args_max = 3,
    .bind = bind_diff,
    .kernel = timestampdiff,
    .nulls = FM_NULLS_STRICT,
    .can_fail = true,
    .usage = "timestampdiff(unit, start, end)",
    .doc = "Returns the whole units from start to end.",
    .since = "3.3.0",
};
