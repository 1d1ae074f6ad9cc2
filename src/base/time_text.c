/* base/time_text.c: days to dates and back.
 *
 * A calendar "era" is 400 years = 146097 days, after which the calendar repeats. Within an era, years
 * are counted from March, so that the leap day is the last day of its year and the lengths of the
 * months before any month follow one line: (153 * month + 2) / 5 days. */
#include "base/time_text.h"

#include <stdio.h>

enum {
    DAYS_PER_ERA = 146097,
    DAYS_TO_EPOCH = 719468 /* from 0000-03-01 to 1970-01-01 */
};

int32_t fm_days_from_civil(int32_t year, int32_t month, int32_t day)
{
    int64_t y = (int64_t)year - (month <= 2);
    int64_t era = fm_floor_div(y, 400), year_of_era = fm_floor_mod(y, 400);
    int64_t month_from_march = month > 2 ? month - 3 : month + 9;
    int64_t day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    int64_t days = era * DAYS_PER_ERA + day_of_era - DAYS_TO_EPOCH;

    if (days < INT32_MIN) return INT32_MIN;
    if (days > INT32_MAX) return INT32_MAX;
    return (int32_t)days;
}

static void civil_from_days(int64_t days, int64_t *year, int32_t *month, int32_t *day)
{
    int64_t shifted = days + DAYS_TO_EPOCH;
    int64_t era = fm_floor_div(shifted, DAYS_PER_ERA), day_of_era = fm_floor_mod(shifted, DAYS_PER_ERA);
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month_from_march = (5 * day_of_year + 2) / 153;

    *day = (int32_t)(day_of_year - (153 * month_from_march + 2) / 5 + 1);
    *month = (int32_t)(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
    *year = era * 400 + year_of_era + (*month <= 2);
}

void fm_civil_from_days(int32_t days, int32_t *year, int32_t *month, int32_t *day)
{
    int64_t y;

    civil_from_days(days, &y, month, day);
    *year = (int32_t)y;
}

int32_t fm_days_in_month(int32_t year, int32_t month)
{
    static const int8_t lens[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return lens[month - 1] + (month == 2 && leap);
}

/* Writes `fraction` with `digits` digits behind the second. Years beyond 9999 carry a plus. */
static size_t iso(int64_t epoch_s, int64_t fraction, int digits, char out[FM_ISO_TEXT_SIZE])
{
    int64_t year, second_of_day = fm_floor_mod(epoch_s, 86400);
    int32_t month, day;

    civil_from_days(fm_floor_div(epoch_s, 86400), &year, &month, &day);
    const char *sign = year < 0 ? "-" : year > 9999 ? "+" : "";
    long long years = (long long)(year < 0 ? -year : year);
    return (size_t)snprintf(out, FM_ISO_TEXT_SIZE, "%s%04lld-%02d-%02dT%02d:%02d:%02d.%0*dZ", sign,
                            years, month, day, (int)(second_of_day / 3600),
                            (int)(second_of_day / 60 % 60), (int)(second_of_day % 60), digits,
                            (int)fraction);
}

size_t fm_iso_ms(int64_t epoch_ms, char out[FM_ISO_TEXT_SIZE])
{
    return iso(fm_floor_div(epoch_ms, 1000), fm_floor_mod(epoch_ms, 1000), 3, out);
}

size_t fm_iso_us(int64_t epoch_us, char out[FM_ISO_TEXT_SIZE])
{
    return iso(fm_floor_div(epoch_us, FM_US_PER_SECOND), fm_floor_mod(epoch_us, FM_US_PER_SECOND), 6,
               out);
}
