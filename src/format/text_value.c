/* format/text_value.c: numbers, times and binary values from text. */
#include "format/text_value.h"

#include "base/time_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- numbers ---- */

bool fm_integer_text(fm_str text, bool plus, int64_t *out)
{
    const char *p = text.ptr, *end = p + text.len;
    bool negative = text.len && *p == '-';
    uint64_t value = 0, limit = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;

    if (negative || (plus && text.len && *p == '+')) p++;
    if (p == end) return false;
    for (; p < end; p++) {
        unsigned digit = (unsigned)(unsigned char)*p - '0';
        if (digit > 9) return false;
        if (value > (limit - digit) / 10) return false;
        value = value * 10 + digit;
    }
    *out = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

static bool special_number(fm_str text, double *out)
{
    static const struct {
        const char *text;
        double value;
    } specials[] = {
        {"NaN", NAN},
        {"INF", INFINITY},
        {"+INF", INFINITY},
        {"-INF", -INFINITY},
        {"Infinity", INFINITY},
        {"+Infinity", INFINITY},
        {"-Infinity", -INFINITY},
    };

    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++) {
        if (!fm_str_eq(text, fm_str_c(specials[i].text))) continue;
        *out = specials[i].value;
        return true;
    }
    return false;
}

/* Digits and exponent of a decimal number. */
typedef struct decimal_parts {
    uint64_t digits;  /* without the point; exact when n_digits <= 19 */
    int32_t n_digits; /* significant ones */
    int32_t exponent; /* of ten, to multiply digits with; clamped to +-100000 */
    bool negative;
} decimal_parts;

static bool split_number(fm_str text, decimal_parts *out)
{
    const char *p = text.ptr, *end = p + text.len;
    decimal_parts d = {0};
    bool any = false;
    int64_t exponent = 0;

    if (p < end && *p == '-') {
        d.negative = true;
        p++;
    }
    for (bool fraction = false; p < end; p++) {
        unsigned digit = (unsigned)(unsigned char)*p - '0';
        if (digit > 9) {
            if (*p != '.' || fraction) break;
            fraction = true;
            continue;
        }
        any = true;
        if (fraction) exponent--;
        if (d.n_digits == 0 && digit == 0) continue;
        d.n_digits++;
        if (d.n_digits <= 19) d.digits = d.digits * 10 + digit;
    }
    if (!any) return false;
    if (p < end && (*p == 'e' || *p == 'E')) {
        bool negative = false;
        int64_t e = 0;
        p++;
        if (p < end && (*p == '+' || *p == '-')) negative = *p++ == '-';
        if (p == end) return false;
        for (; p < end && *p >= '0' && *p <= '9'; p++)
            if (e < 1000000) e = e * 10 + (*p - '0');
        exponent += negative ? -e : e;
    }
    if (p != end) return false;
    if (exponent > 100000) exponent = 100000;
    if (exponent < -100000) exponent = -100000;
    d.exponent = (int32_t)exponent;
    *out = d;
    return true;
}

bool fm_number_text_f64(fm_str text, double *out)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    decimal_parts d;

    if (!split_number(text, &d)) return special_number(text, out);
    /* Both operands are exact, so the one rounding of the operation is the only one. */
    if (d.n_digits <= 19 && d.digits <= (UINT64_C(1) << 53) && d.exponent >= -22 &&
        d.exponent <= 22) {
        double x = (double)d.digits;
        x = d.exponent < 0 ? x / powers[-d.exponent] : x * powers[d.exponent];
        *out = d.negative ? -x : x;
        return true;
    }
    if (d.n_digits == 0) {
        *out = d.negative ? -0.0 : 0.0;
        return true;
    }
    return fm_text_to_double(text, out);
}

/* The significant digits of a double that has few of them, with the place of the first: 12.5 is
 * "125", 1. */
static size_t exact_digits(double x, char *out, size_t size, int64_t *place)
{
    char text[256];
    size_t n = 0;
    const char *p = text;

    snprintf(text, sizeof text, "%.200e", fabs(x));
    for (; *p && *p != 'e'; p++) /* what stands between the digits depends on the locale */
        if (*p >= '0' && *p <= '9' && n < size) out[n++] = *p;
    while (n > 0 && out[n - 1] == '0') n--;
    *place = *p == 'e' ? strtol(p + 1, NULL, 10) : 0;
    return n;
}

/* Which of two is larger in size: the number a text stands for, or x; neither is zero. <0, 0, >0.
 */
static int compare_text(fm_str text, double x)
{
    char digits[208];
    int64_t place, text_place = 0, exponent = 0;
    size_t n = exact_digits(x, digits, sizeof digits, &place), at = 0;
    bool fraction = false, started = false;
    const char *mark = memchr(text.ptr, 'e', text.len);
    int order = 0;

    if (!mark) mark = memchr(text.ptr, 'E', text.len);
    size_t len = mark ? (size_t)(mark - text.ptr) : text.len;
    if (mark && !fm_integer_text((fm_str){mark + 1, text.len - len - 1}, true, &exponent)) return 0;
    for (size_t i = 0; i < len; i++) { /* the first significant digit's place */
        if (text.ptr[i] == '.') fraction = true;
        if (text.ptr[i] < '0' || text.ptr[i] > '9') continue;
        if (text.ptr[i] != '0') started = true;
        if (!fraction && started) text_place++;
        if (fraction && !started) text_place--;
    }
    text_place += exponent - 1;
    if (text_place != place) return text_place < place ? -1 : 1;
    started = false;
    for (size_t i = 0; i < len && order == 0; i++) {
        char c = text.ptr[i];
        if (c < '0' || c > '9' || (!started && c == '0')) continue;
        started = true;
        char other = at < n ? digits[at] : '0';
        at++;
        order = c < other ? -1 : c > other;
    }
    return order == 0 && at < n ? -1 : order;
}

bool fm_number_text_f32(fm_str text, float *out)
{
    double x;

    if (!fm_number_text_f64(text, &x)) return false;
    *out = (float)x;
    /* Rounding twice is wrong only when the double lies in the middle of two floats and the text
     * does not: then the text decides. */
    if (!isfinite(x) || x == 0 || !isfinite(*out) || (double)*out == x) return true;
    float other = nextafterf(*out, (double)*out < x ? INFINITY : -INFINITY);
    if (!isfinite(other) || fabs(x - (double)*out) != fabs((double)other - x)) return true;
    int order = compare_text(text, x);
    if (order == 0) return true;
    float small = fabsf(*out) < fabsf(other) ? *out : other;
    float large = fabsf(*out) < fabsf(other) ? other : *out;
    *out = order < 0 ? small : large;
    return true;
}

/* ---- times ---- */

static bool two_digits(const char *p, int32_t max, int32_t *out)
{
    unsigned a = (unsigned)(unsigned char)p[0] - '0', b = (unsigned)(unsigned char)p[1] - '0';

    *out = (int32_t)(a * 10 + b);
    return a <= 9 && b <= 9 && *out <= max;
}

/* "2026-01-01" -> its midnight. */
static bool day_text(const char *p, fm_date_cache *cache, int64_t *out)
{
    int32_t century, year, month, day;

    if (cache->filled && memcmp(p, cache->text, sizeof cache->text) == 0) {
        *out = cache->day_us;
        return true;
    }
    if (p[4] != '-' || p[7] != '-') return false;
    if (!two_digits(p, 99, &century) || !two_digits(p + 2, 99, &year)) return false;
    if (!two_digits(p + 5, 12, &month) || !two_digits(p + 8, 31, &day)) return false;
    year += century * 100;
    if (month == 0 || day == 0 || day > fm_days_in_month(year, month)) return false;
    memcpy(cache->text, p, sizeof cache->text);
    cache->day_us = (int64_t)fm_days_from_civil(year, month, day) * FM_US_PER_DAY;
    cache->filled = true;
    *out = cache->day_us;
    return true;
}

bool fm_file_day(fm_str text, fm_date_cache *cache, int64_t *out)
{
    return text.len == 10 && day_text(text.ptr, cache, out);
}

typedef enum zone_form { ZONE_NONE, ZONE_FIXED, ZONE_OTHER } zone_form;

/* The usual form up to the zone: local µs and, for a fixed zone, its offset. False for any other
 * form. */
static bool usual_time(fm_str text, fm_date_cache *cache, int64_t *local_us, zone_form *form,
                       int64_t *offset_us)
{
    const char *p = text.ptr, *end = p + text.len;
    int32_t hour, minute, second;
    int64_t day_us, fraction = 0;

    if (text.len < 19 || (p[10] != 'T' && p[10] != ' ') || p[13] != ':' || p[16] != ':')
        return false;
    if (!two_digits(p + 11, 23, &hour) || !two_digits(p + 14, 59, &minute)) return false;
    if (!two_digits(p + 17, 59, &second) || !day_text(p, cache, &day_us)) return false;
    p += 19;
    if (p < end && *p == '.') {
        int digits = 0;
        for (p++; p < end && *p >= '0' && *p <= '9'; p++)
            if (digits < 6) {
                fraction = fraction * 10 + (*p - '0');
                digits++;
            }
        if (digits == 0) return false;
        for (; digits < 6; digits++) fraction *= 10;
    }
    *local_us = day_us + (hour * 3600 + minute * 60 + second) * FM_US_PER_SECOND + fraction;
    *offset_us = 0;
    *form = ZONE_NONE;
    if (p == end) return true;
    *form = ZONE_FIXED;
    if (*p == 'Z' && p + 1 == end) return true;
    if ((*p == '+' || *p == '-') && end - p == 6 && p[3] == ':' && two_digits(p + 1, 17, &hour) &&
        two_digits(p + 4, 59, &minute)) {
        *offset_us = (hour * 60 + minute) * FM_US_PER_MINUTE;
        if (*p == '-') *offset_us = -*offset_us;
        return true;
    }
    *form = ZONE_OTHER;
    return false;
}

bool fm_file_timestamp(fm_str text, const fm_zone *zone, fm_date_cache *cache, int64_t *out)
{
    int64_t local_us, offset_us;
    zone_form form;

    if (!usual_time(text, cache, &local_us, &form, &offset_us))
        return fm_text_to_timestamp(text, zone, out);
    *out = form == ZONE_NONE ? fm_zone_to_utc(zone, local_us) : local_us - offset_us;
    return true;
}

bool fm_file_timestamp_ntz(fm_str text, fm_date_cache *cache, int64_t *out)
{
    int64_t local_us, offset_us;
    zone_form form;

    if (usual_time(text, cache, &local_us, &form, &offset_us)) {
        *out = local_us;
        return form == ZONE_NONE;
    }
    fm_str t = fm_str_trim(text);
    size_t at =
        4; /* behind the year stand the month and the day, then 'T' or a blank and the time */
    while (at < t.len && t.ptr[at] != 'T' && t.ptr[at] != ' ') at++;
    for (at++; at < t.len; at++)
        if (!strchr("0123456789:.", t.ptr[at]) || t.ptr[at] == 0) return false;
    return fm_text_to_timestamp_ntz(text, out);
}

/* The text with its first "GMT" taken out, in buf. */
static fm_str without_gmt(fm_str text, char *buf, size_t size)
{
    ptrdiff_t at = fm_str_find(text, FM_STR("GMT"));

    if (at < 0 || text.len - 3 > size) return text;
    memcpy(buf, text.ptr, (size_t)at);
    memcpy(buf + at, text.ptr + at + 3, text.len - (size_t)at - 3);
    return (fm_str){buf, text.len - 3};
}

enum { TIME_TEXT_SIZE_MAX = 256 };

bool fm_file_timestamp_old(fm_str text, const fm_zone *zone, int64_t *out)
{
    char buf[TIME_TEXT_SIZE_MAX];

    return fm_text_to_timestamp(without_gmt(text, buf, sizeof buf), zone, out);
}

bool fm_file_date_old(fm_str text, int32_t *out)
{
    char buf[TIME_TEXT_SIZE_MAX];
    int64_t days;

    if (fm_text_to_date(without_gmt(text, buf, sizeof buf), out)) return true;
    if (!fm_integer_text(text, true, &days) || days < INT32_MIN || days > INT32_MAX) return false;
    *out = (int32_t)days;
    return true;
}

/* ---- base64 ---- */

static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool fm_base64_text(fm_str text, fm_strbuf *out)
{
    size_t i = 0;

    for (;;) {
        while (i < text.len && (unsigned char)text.ptr[i] <= ' ') i++;
        if (i == text.len) return true;
        if (text.len - i < 4) return false;
        const char *p = text.ptr + i;
        int a = base64_digit(p[0]), b = base64_digit(p[1]);
        int c = base64_digit(p[2]), d = base64_digit(p[3]);
        if (a < 0 || b < 0) return false;
        fm_strbuf_add_char(out, (char)(a << 2 | b >> 4));
        i += 4;
        if (p[2] == '=') { /* a padded group need not be the last: Jackson goes on */
            if (p[3] != '=') return false;
            continue;
        }
        if (c < 0) return false;
        fm_strbuf_add_char(out, (char)((b & 15) << 4 | c >> 2));
        if (p[3] == '=') continue;
        if (d < 0) return false;
        fm_strbuf_add_char(out, (char)((c & 3) << 6 | d));
    }
}
