/* expr/time_parts.h: what the files about time in src/expr share. */
#ifndef FM_EXPR_TIME_PARTS_H
#define FM_EXPR_TIME_PARTS_H

#include "base/time_text.h"
#include "expr/cast.h"

/* Whether there is such a day. */
bool fm_civil_valid(int32_t year, int32_t month, int32_t day);

/* Zones named in text, without opening them: */
bool fm_zone_known(fm_str text);
/* "Z", "UTC", "+2", "+02:00", "GMT+1": seconds east; false for regions and for what is no zone. */
bool fm_zone_offset_of_text(fm_str text, int32_t *offset_s);
/* The instant of a local time in a region; false when there is no such zone. Slow (microseconds). */
bool fm_zone_text_to_utc(fm_str id, int64_t local_us, int64_t *utc_us);
/* Names of a zone at an instant, as java.time prints z ("CET") and zzzz ("Central European Standard Time");
 * appends to out. */
void fm_zone_name(const fm_zone *zone, int64_t utc_us, bool full, fm_strbuf *out);

/* A day and the µs in it. */
static inline int32_t fm_day_of_us(int64_t local_us)
{
    return (int32_t)fm_floor_div(local_us, FM_US_PER_DAY);
}

/* Days plus months, the day of the month cut to the month's length. False: beyond the years of int32. */
bool fm_days_add_months(int32_t days, int64_t months, int32_t *out);
/* ts + months, ts + days and µs, on the clock of the zone (NULL: none, a local clock). Rule: Spark,
 * timestampAddMonths, timestampAddDayTime: whole days go by the calendar. False: overflow. */
bool fm_timestamp_add_months(int64_t us, int64_t months, const fm_zone *zone, int64_t *out);
bool fm_timestamp_add_day_time(int64_t us, int64_t interval_us, const fm_zone *zone, int64_t *out);

/* Interval text. "INTERVAL '1 02:00:00' DAY TO SECOND" and the inner part alone. */
void fm_interval_ym_text(int32_t months, const fm_type *type, fm_strbuf *out);
void fm_interval_dt_text(int64_t us, const fm_type *type, fm_strbuf *out);
/* What CAST reads: "1-2", "INTERVAL '1-2' YEAR TO MONTH"; "1 02:03:04.5", "INTERVAL ... DAY TO SECOND", by the
 * units of the type. False: none, or out of range. */
bool fm_text_to_interval_ym(fm_str text, const fm_type *type, int32_t *out);
bool fm_text_to_interval_dt(fm_str text, const fm_type *type, int64_t *out);

#endif
