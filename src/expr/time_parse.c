/* expr/time_parse.c: dates and timestamps from text, by the lenient rules of CAST.
 *
 * Forms  [+-]yyyy...[-[m]m[-[d]d[(T| )rest]]], rest = [h]h:[m]m[:[s]s[.fraction]][zone]
 *        Years have four digits at least; fraction digits beyond six are cut; a zone is what a region id, Z or
 *        an offset may be. A time without a date is of today, which a replay would not give again:
 *        such text is refused. */
#include "base/time_text.h"
#include "expr/cast.h"
#include "expr/time_parts.h"

static fm_str trimmed(fm_str text)
{
    while (text.len && ((unsigned char)text.ptr[0] <= 32 || text.ptr[0] == 127)) {
        text.ptr++;
        text.len--;
    }
    while (text.len && ((unsigned char)text.ptr[text.len - 1] <= 32 || text.ptr[text.len - 1] == 127))
        text.len--;
    return text;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Reads min..max digits; false when there are fewer or more. */
static bool take_digits(fm_str text, size_t *at, int min, int max, int32_t *out)
{
    int n = 0;
    int32_t x = 0;
    while (*at < text.len && is_digit(text.ptr[*at])) {
        if (++n > max) return false;
        x = x * 10 + (text.ptr[*at] - '0');
        (*at)++;
    }
    *out = x;
    return n >= min;
}

static bool take(fm_str text, size_t *at, char c)
{
    if (*at >= text.len || text.ptr[*at] != c) return false;
    (*at)++;
    return true;
}

bool fm_civil_valid(int32_t year, int32_t month, int32_t day)
{
    return month >= 1 && month <= 12 && day >= 1 && day <= fm_days_in_month(year, month);
}

/* [+-]yyyy[-m[-d]]; *whole: all three were there. */
static bool take_date(fm_str text, size_t *at, int year_digits_max, int32_t *days, bool *whole)
{
    int32_t year, month = 1, day = 1;
    bool negative = take(text, at, '-');
    if (!negative) take(text, at, '+');
    *whole = false;
    if (!take_digits(text, at, 4, year_digits_max, &year)) return false;
    if (take(text, at, '-')) {
        if (!take_digits(text, at, 1, 2, &month)) return false;
        if (take(text, at, '-')) {
            if (!take_digits(text, at, 1, 2, &day)) return false;
            *whole = true;
        }
    }
    if (negative) year = -year;
    if (!fm_civil_valid(year, month, day)) return false;
    *days = fm_days_from_civil(year, month, day);
    return true;
}

bool fm_text_to_date(fm_str text, int32_t *out)
{
    size_t at = 0;
    bool whole;
    text = trimmed(text);
    if (!take_date(text, &at, 7, out, &whole)) return false;
    if (at == text.len) return true;
    return whole && (text.ptr[at] == ' ' || text.ptr[at] == 'T');
}

/* h:m[:s[.fraction]] as µs of the day; stops before a zone. */
static bool take_time(fm_str text, size_t *at, int64_t *us)
{
    int32_t hour, minute = 0, second = 0, fraction = 0;
    if (!take_digits(text, at, 1, 2, &hour)) return false;
    if (take(text, at, ':')) {
        if (!take_digits(text, at, 1, 2, &minute)) return false;
        if (take(text, at, ':')) {
            if (!take_digits(text, at, 1, 2, &second)) return false;
            if (take(text, at, '.')) {
                int n = 0;
                for (; *at < text.len && is_digit(text.ptr[*at]); (*at)++, n++)
                    if (n < 6) fraction = fraction * 10 + (text.ptr[*at] - '0');
                for (; n < 6; n++) fraction *= 10;
            }
        } else if (*at < text.len) {
            return false; /* a zone stands behind seconds only */
        }
    } else if (*at < text.len) {
        return false;
    }
    if (hour > 23 || minute > 59 || second > 59) return false;
    *us = ((int64_t)hour * 3600 + minute * 60 + second) * FM_US_PER_SECOND + fraction;
    return true;
}

/* The local time in text, and its zone, if any: zone.len 0. */
static bool parse(fm_str text, int64_t *local_us, fm_str *zone)
{
    size_t at = 0;
    int32_t days;
    int64_t us = 0, day_us;
    bool whole;
    *zone = (fm_str){0};
    text = trimmed(text);
    if (!take_date(text, &at, 6, &days, &whole)) return false;
    if (at < text.len) {
        if (!whole || (text.ptr[at] != ' ' && text.ptr[at] != 'T')) return false;
        at++;
        if (!take_time(text, &at, &us)) return false;
        *zone = trimmed((fm_str){text.ptr + at, text.len - at});
    }
    return !__builtin_mul_overflow((int64_t)days, FM_US_PER_DAY, &day_us) &&
           !__builtin_add_overflow(day_us, us, local_us);
}

bool fm_text_to_timestamp_ntz(fm_str text, int64_t *out)
{
    fm_str zone;
    /* A zone is read and left aside: the clock on the wall is what counts. */
    return parse(text, out, &zone) && (zone.len == 0 || fm_zone_known(zone));
}

bool fm_text_to_timestamp(fm_str text, const fm_zone *zone, int64_t *out)
{
    fm_str named;
    int64_t local_us;
    int32_t offset_s;
    if (!parse(text, &local_us, &named)) return false;
    if (named.len == 0) {
        *out = fm_zone_to_utc(zone, local_us);
        return true;
    }
    if (fm_zone_offset_of_text(named, &offset_s))
        return !__builtin_sub_overflow(local_us, offset_s * FM_US_PER_SECOND, out);
    return fm_zone_text_to_utc(named, local_us, out);
}
