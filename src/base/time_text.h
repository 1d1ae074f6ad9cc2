/* base/time_text.h: the proleptic Gregorian calendar in UTC, and ISO text of instants.
 *
 * Days are counted from 1970-01-01, microseconds from 1970-01-01T00:00:00Z. Time zones are not here:
 * see expr/zone.h. */
#ifndef FM_BASE_TIME_TEXT_H
#define FM_BASE_TIME_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FM_US_PER_MS INT64_C(1000)
#define FM_US_PER_SECOND INT64_C(1000000)
#define FM_US_PER_MINUTE (60 * FM_US_PER_SECOND)
#define FM_US_PER_HOUR (3600 * FM_US_PER_SECOND)
#define FM_US_PER_DAY (86400 * FM_US_PER_SECOND)

/* month 1..12, day 1..31. A day beyond int32 (years beyond about +-5.8 million) saturates. */
int32_t fm_days_from_civil(int32_t year, int32_t month, int32_t day);
void fm_civil_from_days(int32_t days, int32_t *year, int32_t *month, int32_t *day);
int32_t fm_days_in_month(int32_t year, int32_t month);

/* Division that rounds towards minus infinity; b > 0. */
static inline int64_t fm_floor_div(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return q - (a % b < 0);
}

static inline int64_t fm_floor_mod(int64_t a, int64_t b)
{
    int64_t r = a % b;
    return r < 0 ? r + b : r;
}

enum { FM_ISO_TEXT_SIZE = 40 };
/* "2026-01-01T10:00:00.123Z": always three digits, as progress and logs write it; years beyond 9999
 * with a plus, as ISO wants it. Returns length. */
size_t fm_iso_ms(int64_t epoch_ms, char out[FM_ISO_TEXT_SIZE]);
/* "2026-01-01T10:00:00.123456Z": always six digits. */
size_t fm_iso_us(int64_t epoch_us, char out[FM_ISO_TEXT_SIZE]);

#endif
