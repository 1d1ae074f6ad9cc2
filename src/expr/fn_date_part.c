/* expr/fn_date_part.c: year, month, day ... of dates, hour, minute, second of timestamps; extract and date_part.
 *
 * Rule   Spark: parts of the day are those of the session's clock; dayofweek 1 is Sunday, weekday 0 Monday; weeks and
 *        their years are ISO 8601's.
 * Cases  tests/golden/functions/date_part.test */
#include "base/limits.h"
#include "expr/coerce.h"
#include "expr/kernel.h"
#include "expr/resolve_text.h"
#include "expr/time_format.h"

/* --- parts of a day ---------------------------------------------------------------------------------- */

typedef struct civil {
    int32_t year, month, day;
} civil;

static civil civil_of(int32_t days)
{
    civil c;
    fm_civil_from_days(days, &c.year, &c.month, &c.day);
    return c;
}

static int32_t weekday(int32_t days) { return (int32_t)fm_floor_mod((int64_t)days + 3, 7); } /* 0 Monday */

static int32_t year_of(int32_t days) { return civil_of(days).year; }
static int32_t quarter_of(int32_t days) { return (civil_of(days).month - 1) / 3 + 1; }
static int32_t month_of(int32_t days) { return civil_of(days).month; }
static int32_t day_of(int32_t days) { return civil_of(days).day; }
static int32_t day_of_year(int32_t days) { return days - fm_days_from_civil(year_of(days), 1, 1) + 1; }
static int32_t day_of_week(int32_t days) { return (weekday(days) + 1) % 7 + 1; }
static int32_t day_of_week_iso(int32_t days) { return weekday(days) + 1; }
/* A week belongs to the year of its Thursday. */
static int32_t thursday(int32_t days) { return (int32_t)((uint32_t)days - (uint32_t)weekday(days) + 3); }
static int32_t week_of_year(int32_t days) { return (day_of_year(thursday(days)) - 1) / 7 + 1; }
static int32_t year_of_week(int32_t days) { return year_of(thursday(days)); }

/* No pointers per lane: each part gets its own loop. */
#define DATE_KERNEL(part)                                                                     \
    static fm_status part##_kernel(fm_call *call, const fm_vec *args, fm_vec *out)            \
    {                                                                                         \
        const int32_t *restrict days = fm_vec_i32(args);                                      \
        int32_t *restrict to = fm_vec_i32_out(out);                                           \
        (void)call;                                                                           \
        for (int64_t i = 0; i < out->len; i++) to[i] = part(days[i]);                         \
        return FM_OK;                                                                         \
    }
DATE_KERNEL(year_of)
DATE_KERNEL(quarter_of)
DATE_KERNEL(month_of)
DATE_KERNEL(day_of)
DATE_KERNEL(day_of_year)
DATE_KERNEL(day_of_week)
DATE_KERNEL(day_of_week_iso)
DATE_KERNEL(weekday)
DATE_KERNEL(week_of_year)
DATE_KERNEL(year_of_week)

static fm_status names(fm_call *call, const fm_vec *args, fm_vec *out, bool month)
{
    const int32_t *days = fm_vec_i32(args);
    (void)call;
    for (int64_t i = 0; i < out->len; i++) {
        const char *name = month ? fm_month_names[month_of(days[i]) - 1] : fm_day_names[weekday(days[i])];
        fm_vec_view_out(out)[i] = fm_view_of(name, 3);
    }
    return FM_OK;
}
static fm_status dayname_kernel(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return names(call, args, out, false);
}
static fm_status monthname_kernel(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return names(call, args, out, true);
}

/* --- parts of a time --------------------------------------------------------------------------------- */

static int64_t us_of_day(const fm_call *call, const fm_vec *v, int64_t i)
{
    int64_t us = fm_vec_i64(v)[i];
    if (v->type->id == FM_TYPE_TIMESTAMP) us = fm_zone_to_local(call->conf->zone, us);
    return fm_floor_mod(us, FM_US_PER_DAY);
}

#define TIME_KERNEL(name, value)                                                              \
    static fm_status name##_kernel(fm_call *call, const fm_vec *args, fm_vec *out)            \
    {                                                                                         \
        for (int64_t i = 0; i < out->len; i++) {                                              \
            int64_t us = us_of_day(call, args, i);                                            \
            fm_vec_i32_out(out)[i] = (int32_t)(value);                                        \
        }                                                                                     \
        return FM_OK;                                                                         \
    }
TIME_KERNEL(hour, us / FM_US_PER_HOUR)
TIME_KERNEL(minute, us / FM_US_PER_MINUTE % 60)
TIME_KERNEL(second, us / FM_US_PER_SECOND % 60)

/* With the fraction: DECIMAL(8, 6). */
static fm_status second_fraction_kernel(fm_call *call, const fm_vec *args, fm_vec *out)
{
    for (int64_t i = 0; i < out->len; i++)
        fm_vec_decimal_out(out)[i] = us_of_day(call, args, i) % FM_US_PER_MINUTE;
    return FM_OK;
}

/* --- parts of an interval ---------------------------------------------------------------------------- */

#define INTERVAL_KERNEL(name, in, to, value)                                                  \
    static fm_status name##_kernel(fm_call *call, const fm_vec *args, fm_vec *out)            \
    {                                                                                         \
        (void)call;                                                                           \
        for (int64_t i = 0; i < out->len; i++) {                                              \
            int64_t x = fm_vec_##in(args)[i];                                                 \
            fm_vec_##to##_out(out)[i] = (value);                                              \
        }                                                                                     \
        return FM_OK;                                                                         \
    }
INTERVAL_KERNEL(interval_years, i32, i32, (int32_t)(x / 12))
INTERVAL_KERNEL(interval_months, i32, i8, (int8_t)(x % 12))
INTERVAL_KERNEL(interval_days, i64, i32, (int32_t)(x / FM_US_PER_DAY))
INTERVAL_KERNEL(interval_hours, i64, i8, (int8_t)(x / FM_US_PER_HOUR % 24))
INTERVAL_KERNEL(interval_minutes, i64, i8, (int8_t)(x / FM_US_PER_MINUTE % 60))
INTERVAL_KERNEL(interval_seconds, i64, decimal, x % FM_US_PER_MINUTE)

/* --- extract, date_part ------------------------------------------------------------------------------ */

typedef struct part {
    const char *names; /* blank before and behind each */
    fm_kernel date, time, ym, dt;
} part;

static const part parts[] = {
    {" YEAR Y YEARS YR YRS ", year_of_kernel, NULL, interval_years_kernel, NULL},
    {" YEAROFWEEK ", year_of_week_kernel, NULL, NULL, NULL},
    {" QUARTER QTR ", quarter_of_kernel, NULL, NULL, NULL},
    {" MONTH MON MONS MONTHS ", month_of_kernel, NULL, interval_months_kernel, NULL},
    {" WEEK W WEEKS ", week_of_year_kernel, NULL, NULL, NULL},
    {" DAY D DAYS ", day_of_kernel, NULL, NULL, interval_days_kernel},
    {" DAYOFWEEK DOW ", day_of_week_kernel, NULL, NULL, NULL},
    {" DAYOFWEEK_ISO DOW_ISO ", day_of_week_iso_kernel, NULL, NULL, NULL},
    {" DOY ", day_of_year_kernel, NULL, NULL, NULL},
    {" HOUR H HOURS HR HRS ", NULL, hour_kernel, NULL, interval_hours_kernel},
    {" MINUTE M MIN MINS MINUTES ", NULL, minute_kernel, NULL, interval_minutes_kernel},
    {" SECOND S SEC SECONDS SECS ", NULL, second_fraction_kernel, NULL, interval_seconds_kernel},
};

static const part *find_part(fm_str name)
{
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        for (const char *p = parts[i].names; p[1]; p = strchr(p + 1, ' ')) {
            const char *end = strchr(p + 1, ' ');
            if (fm_str_eq_ci(name, (fm_str){p + 1, (size_t)(end - p - 1)})) return &parts[i];
        }
    return NULL;
}

static fm_status fail_field(const fm_bind *b, fm_str name, fm_error *err)
{
    fm_strbuf text = {0};
    fm_status st;
    fm_expr_sql(b->args[1], &text);
    st = fm_fail_at(err, FM_INVALID, "INVALID_EXTRACT_FIELD", b->pos.line, b->pos.column,
                    "Cannot extract `%.*s` from \"%.*s\".", FM_STR_ARG(name),
                    FM_STR_ARG(fm_strbuf_str(&text)));
    fm_strbuf_fini(&text);
    return st;
}

/* bound: the kernel for the part; it is given the source alone. */
static fm_status extract(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return ((const fm_picked *)call->bound)->kernel(call, &args[1], out);
}

static fm_status bind_extract(fm_bind *b, fm_error *err)
{
    const fm_type *source = b->args[1]->type;
    fm_picked *picked = fm_arena_one(b->arena, fm_picked);
    const part *found;
    fm_value name;
    if (!picked) return fm_no_memory(b->arena, err);
    b->bound = picked;
    FM_TRY(fm_eval_constant_of(b, 0, &name, err));
    if (fm_vec_is_null(&name, 0)) { /* no field, no value */
        picked->kernel = second_fraction_kernel;
        b->cast_args[1] = fm_type_timestamp();
        b->returns = fm_type_decimal(b->arena, 8, 6);
        return b->returns ? FM_OK : fm_no_memory(b->arena, err);
    }
    found = find_part(fm_vec_str(&name, 0));
    if (!found) return fail_field(b, fm_vec_str(&name, 0), err);
    if (source->id == FM_TYPE_INTERVAL_YM || source->id == FM_TYPE_INTERVAL_DT) {
        picked->kernel = source->id == FM_TYPE_INTERVAL_YM ? found->ym : found->dt;
        /* Only the fields that the type has. */
        int unit = picked->kernel == interval_years_kernel     ? FM_UNIT_YEAR
                   : picked->kernel == interval_months_kernel  ? FM_UNIT_MONTH
                   : picked->kernel == interval_days_kernel    ? FM_UNIT_DAY
                   : picked->kernel == interval_hours_kernel   ? FM_UNIT_HOUR
                   : picked->kernel == interval_minutes_kernel ? FM_UNIT_MINUTE
                                                               : FM_UNIT_SECOND;
        if (!picked->kernel || unit < (int)source->unit_from || unit > (int)source->unit_to)
            return fail_field(b, fm_vec_str(&name, 0), err);
        if (picked->kernel == interval_seconds_kernel) b->returns = fm_type_decimal(b->arena, 8, 6);
        else if (picked->kernel == interval_years_kernel || picked->kernel == interval_days_kernel)
            b->returns = fm_type_i32();
        else b->returns = fm_type_simple(FM_TYPE_I8);
        return b->returns ? FM_OK : fm_no_memory(b->arena, err);
    }
    picked->kernel = found->date ? found->date : found->time;
    b->cast_args[1] = found->date ? fm_type_simple(FM_TYPE_DATE)
                      : source->id == FM_TYPE_TIMESTAMP_NTZ ? source
                                                            : fm_type_timestamp();
    b->returns = found->time == second_fraction_kernel ? fm_type_decimal(b->arena, 8, 6) : fm_type_i32();
    if (!fm_type_implicit(b->conf, source, b->cast_args[1]))
        return fm_fail_bind(b, err, "UNEXPECTED_INPUT_TYPE",
                            "The second parameter requires the (\"DATE\" or \"TIMESTAMP\" or \"INTERVAL\") type, "
                            "however it has the type %s.",
                            source, NULL);
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

/* --- entries ----------------------------------------------------------------------------------------- */

#define ENTRY(ident, class, run, ...)                                                         \
    const fm_function fm_fn_##ident = {                                                       \
        .name = #ident, .args = {class, FM_ARG_END}, .args_min = 1, .args_max = 1, .kernel = run, \
        .returns = fm_type_i32, .nulls = FM_NULLS_STRICT, .since = "1.5.0", .usage = #ident "(x)", __VA_ARGS__}
#define NAME_ENTRY(ident, run, ...)                                                           \
    const fm_function fm_fn_##ident = {                                                       \
        .name = #ident, .args = {FM_ARG_DATE, FM_ARG_END}, .args_min = 1, .args_max = 1, .kernel = run, \
        .returns = fm_type_string, .nulls = FM_NULLS_STRICT, .since = "4.0.0", .usage = #ident "(x)", __VA_ARGS__}
#define EXTRACT_ENTRY(ident, ...)                                                             \
    const fm_function fm_fn_##ident = {                                                       \
        .name = #ident, .args = {FM_ARG_STRING, FM_ARG_ANY, FM_ARG_END}, .args_min = 2, .args_max = 2, \
        .kernel = extract, .bind = bind_extract, .nulls = FM_NULLS_STRICT, .since = "3.0.0", __VA_ARGS__}

ENTRY(year, FM_ARG_DATE, year_of_kernel, .doc = "Returns the year of a date.");
ENTRY(quarter, FM_ARG_DATE, quarter_of_kernel, .doc = "Returns the quarter of a date, 1 to 4.");
ENTRY(month, FM_ARG_DATE, month_of_kernel, .doc = "Returns the month of a date, 1 to 12.");
ENTRY(day, FM_ARG_DATE, day_of_kernel, .aliases = {"dayofmonth"}, .doc = "Returns the day of the month of a date.");
ENTRY(dayofweek, FM_ARG_DATE, day_of_week_kernel, .doc = "Returns the day of the week, 1 Sunday to 7 Saturday.");
ENTRY(weekday, FM_ARG_DATE, weekday_kernel, .doc = "Returns the day of the week, 0 Monday to 6 Sunday.");
ENTRY(dayofyear, FM_ARG_DATE, day_of_year_kernel, .doc = "Returns the day of the year of a date, 1 to 366.");
ENTRY(weekofyear, FM_ARG_DATE, week_of_year_kernel, .doc = "Returns the ISO week of a date, 1 to 53.");
ENTRY(hour, FM_ARG_ANY_TIMESTAMP, hour_kernel, .doc = "Returns the hour of a timestamp on the session's clock.");
ENTRY(minute, FM_ARG_ANY_TIMESTAMP, minute_kernel,
      .doc = "Returns the minute of a timestamp on the session's clock.");
ENTRY(second, FM_ARG_ANY_TIMESTAMP, second_kernel,
      .doc = "Returns the second of a timestamp on the session's clock.");
NAME_ENTRY(dayname, dayname_kernel, .doc = "Returns the name of the day of the week: Mon.");
NAME_ENTRY(monthname, monthname_kernel, .doc = "Returns the name of the month: Jan.");
EXTRACT_ENTRY(extract, .usage = "extract(field FROM source)",
              .doc = "Returns a part of a date, timestamp or interval: year, hour, ...");
EXTRACT_ENTRY(date_part, .aliases = {"datepart"}, .usage = "date_part(field, source)",
              .doc = "Returns a part of a date, timestamp or interval: year, hour, ...");
