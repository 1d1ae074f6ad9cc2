/* expr/time_add.c: the calendar's arithmetic: adding months and days to dates and instants. */
#include "expr/time_parts.h"

bool fm_days_add_months(int32_t days, int64_t months, int32_t *out)
{
    int32_t year, month, day, last;
    int64_t total;
    fm_civil_from_days(days, &year, &month, &day);
    total = (int64_t)year * 12 + (month - 1) + months;
    if (fm_floor_div(total, 12) < -5800000 || fm_floor_div(total, 12) > 5800000) return false;
    year = (int32_t)fm_floor_div(total, 12);
    month = (int32_t)fm_floor_mod(total, 12) + 1;
    last = fm_days_in_month(year, month);
    *out = fm_days_from_civil(year, month, day < last ? day : last);
    return true;
}

static int64_t to_local(const fm_zone *zone, int64_t us) { return zone ? fm_zone_to_local(zone, us) : us; }

/* The instant of a day and time of day, moved there from the instant `from_us`: where the clock shows a time
 * twice, the offset that was in force stays in force, as with java.time. False on overflow. */
static bool to_instant(const fm_zone *zone, int64_t from_us, int64_t days, int64_t us_of_day,
                       int64_t *out)
{
    int64_t local_us, same_us;
    int32_t offset_s;
    if (__builtin_mul_overflow(days, FM_US_PER_DAY, &local_us) ||
        __builtin_add_overflow(local_us, us_of_day, &local_us))
        return false;
    if (!zone) {
        *out = local_us;
        return true;
    }
    offset_s = fm_zone_offset_s(zone, from_us);
    if (__builtin_sub_overflow(local_us, offset_s * FM_US_PER_SECOND, &same_us)) return false;
    *out = fm_zone_offset_s(zone, same_us) == offset_s ? same_us : fm_zone_to_utc(zone, local_us);
    return true;
}

bool fm_timestamp_add_months(int64_t us, int64_t months, const fm_zone *zone, int64_t *out)
{
    int64_t local_us = to_local(zone, us);
    int32_t days;
    if (!fm_days_add_months(fm_day_of_us(local_us), months, &days)) return false;
    return to_instant(zone, us, days, fm_floor_mod(local_us, FM_US_PER_DAY), out);
}

bool fm_timestamp_add_day_time(int64_t us, int64_t interval_us, const fm_zone *zone, int64_t *out)
{
    int64_t days = interval_us / FM_US_PER_DAY, rest_us = interval_us % FM_US_PER_DAY;
    if (days) {
        int64_t local_us = to_local(zone, us);
        if (!to_instant(zone, us, fm_floor_div(local_us, FM_US_PER_DAY) + days,
                        fm_floor_mod(local_us, FM_US_PER_DAY), &us))
            return false;
    }
    return !__builtin_add_overflow(us, rest_us, out);
}
