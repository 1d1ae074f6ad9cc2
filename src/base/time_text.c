/* base/time_text.c: the calendar, and instants as ISO text. */
#include "base/time_text.h"

#include <stdio.h>

/* Days are counted in 400-year eras of 146,097 days, years begin in March so that the leap day comes last. */
int32_t fm_days_from_civil(int32_t year, int32_t month, int32_t day)
{
    int64_t y = (int64_t)year - (month <= 2);
    int64_t era = fm_floor_div(y, 400), year_of_era = y - era * 400;
    int64_t month_from_march = (month + 9) % 12;
    int64_t day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

    return (int32_t)(era * 146097 + day_of_era - 719468);
}

void fm_civil_from_days(int32_t days, int32_t *year, int32_t *month, int32_t *day)
{
    int64_t z = (int64_t)days + 719468;
    int64_t era = fm_floor_div(z, 146097), day_of_era = z - era * 146097;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month_from_march = (5 * day_of_year + 2) / 153;

    *day = (int32_t)(day_of_year - (153 * month_from_march + 2) / 5 + 1);
    *month = (int32_t)(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
    *year = (int32_t)(year_of_era + era * 400 + (*month <= 2));
}

int32_t fm_days_in_month(int32_t year, int32_t month)
{
    static const int8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && leap);
}

static size_t iso(int64_t seconds, int fraction, int digits, char out[FM_ISO_TEXT_SIZE])
{
    int64_t days = fm_floor_div(seconds, 86400);
    int rest = (int)fm_floor_mod(seconds, 86400);
    int32_t year, month, day;

    fm_civil_from_days((int32_t)days, &year, &month, &day);
    const char *sign = year > 9999 ? "+" : "";
    int n = snprintf(out, FM_ISO_TEXT_SIZE, "%s%0*d-%02d-%02dT%02d:%02d:%02d.%0*dZ", sign, year < 0 ? 5 : 4, year, month, day,
                     rest / 3600, rest / 60 % 60, rest % 60, digits, fraction);
    return n > 0 ? (size_t)n : 0;
}

size_t fm_iso_ms(int64_t epoch_ms, char out[FM_ISO_TEXT_SIZE])
{
    return iso(fm_floor_div(epoch_ms, 1000), (int)fm_floor_mod(epoch_ms, 1000), 3, out);
}

size_t fm_iso_us(int64_t epoch_us, char out[FM_ISO_TEXT_SIZE])
{
    return iso(fm_floor_div(epoch_us, 1000000), (int)fm_floor_mod(epoch_us, 1000000), 6, out);
}
