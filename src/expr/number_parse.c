/* expr/number_parse.c: text to numbers by CAST's rules.
 *
 * Doubles are read exactly. Most take one division or product of two exact doubles (Clinger). The rest takes the
 * leading 64 digits of the product with a 128-bit power of ten (Daniel Lemire, "Number parsing at a gigabyte
 * per second", 2021), which settles the rounding but for texts of more than 19 digits that lie next to the
 * middle of two doubles; those go to the C library. */
#include <math.h>
#include <stdlib.h>

#include "base/limits.h"
#include "expr/cast.h"
#include "expr/decimal.h"
#include "expr/pow10_table.h"

/* What Spark trims around numbers, dates and booleans: blanks and ISO control characters. */
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

/* --- a number taken apart ---------------------------------------------------------------------------- */

/* [sign] digits [. digits] [e [sign] digits]: value = digits * 10^exponent. */
typedef struct scanned {
    bool negative;
    bool cut;            /* more than 19 significant digits: digits holds the first 19 */
    bool cut_nonzero;    /* some digit cut was not zero */
    uint64_t digits;
    int64_t exponent;
    fm_str integer, fraction; /* the runs of digits */
    int64_t written_exponent;
    size_t len;          /* characters taken */
} scanned;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* False when there is no digit, or an exponent without digits. */
static bool scan(fm_str text, scanned *out)
{
    const char *p = text.ptr, *end = p + text.len, *start;
    scanned s = {0};
    int significant = 0;
    int64_t dropped = 0;
    if (p < end && (*p == '-' || *p == '+')) s.negative = *p++ == '-';
    start = p;
    while (p < end && is_digit(*p)) p++;
    s.integer = (fm_str){start, (size_t)(p - start)};
    s.fraction = (fm_str){p, 0};
    if (p < end && *p == '.') {
        start = ++p;
        while (p < end && is_digit(*p)) p++;
        s.fraction = (fm_str){start, (size_t)(p - start)};
    }
    if (s.integer.len + s.fraction.len == 0) return false;
    for (int part = 0; part < 2; part++) {
        fm_str run = part ? s.fraction : s.integer;
        for (size_t i = 0; i < run.len; i++) {
            unsigned d = (unsigned)(run.ptr[i] - '0');
            if (significant == 0 && d == 0) continue;
            if (significant < 19) {
                s.digits = s.digits * 10 + d;
                significant++;
            } else {
                s.cut = true;
                s.cut_nonzero |= d != 0;
                dropped++;
            }
        }
    }
    s.exponent = dropped - (int64_t)s.fraction.len;
    if (p < end && (*p == 'e' || *p == 'E')) {
        bool negative = false;
        int64_t e = 0;
        p++;
        if (p < end && (*p == '-' || *p == '+')) negative = *p++ == '-';
        if (p == end || !is_digit(*p)) return false;
        for (; p < end && is_digit(*p); p++)
            if (e < 100000000) e = e * 10 + (*p - '0');
        s.written_exponent = negative ? -e : e;
        s.exponent += s.written_exponent;
    }
    s.len = (size_t)(p - text.ptr);
    *out = s;
    return true;
}

/* --- doubles ----------------------------------------------------------------------------------------- */

static double make_double(uint64_t fraction, int biased_exponent)
{
    uint64_t bits = fraction | (uint64_t)biased_exponent << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The double nearest to w * 10^q, w != 0. */
static double nearest(uint64_t w, int64_t q)
{
    enum { MANTISSA_BITS = 52, SPARE = 64 - MANTISSA_BITS - 3 };
    unsigned __int128 high, low;
    uint64_t upper, lower, mantissa, g_high, g_low;
    int zeros, top, power;
    if (q < FM_POW10_MIN) return 0.0;
    if (q > 308) return INFINITY;
    zeros = __builtin_clzll(w);
    w <<= zeros;
    g_high = fm_pow10_table[q - FM_POW10_MIN][0];
    g_low = fm_pow10_table[q - FM_POW10_MIN][1];
    if (q >= -27 && q < 0) { /* reciprocals of exact powers are rounded up */
        g_low++;
        g_high += g_low == 0;
    }
    high = (unsigned __int128)w * g_high;
    upper = (uint64_t)(high >> 64);
    lower = (uint64_t)high;
    if ((upper & ((UINT64_C(1) << SPARE) - 1)) == (UINT64_C(1) << SPARE) - 1) {
        low = (unsigned __int128)w * g_low;
        lower += (uint64_t)(low >> 64);
        if (lower < (uint64_t)(low >> 64)) upper++;
    }
    top = (int)(upper >> 63);
    mantissa = upper >> (top + SPARE);
    power = (int)(((152170 + 65536) * q) >> 16) + 63 + top - zeros + 1023;
    if (power <= 0) { /* subnormal */
        if (-power + 1 >= 64) return 0.0;
        mantissa >>= -power + 1;
        mantissa += mantissa & 1;
        mantissa >>= 1;
        return make_double(mantissa & ((UINT64_C(1) << 52) - 1), mantissa >> 52 ? 1 : 0);
    }
    /* Exactly between two doubles: to the even one. Only small powers can get there. */
    if (lower <= 1 && q >= -4 && q <= 23 && (mantissa & 3) == 1 &&
        mantissa << (top + SPARE) == upper)
        mantissa &= ~UINT64_C(1);
    mantissa += mantissa & 1;
    mantissa >>= 1;
    if (mantissa >= UINT64_C(2) << 52) {
        mantissa = UINT64_C(1) << 52;
        power++;
    }
    if (power >= 0x7FF) return INFINITY;
    return make_double(mantissa & ((UINT64_C(1) << 52) - 1), power);
}

static double by_library(fm_str text)
{
    char small[128], *copy = text.len < sizeof small ? small : malloc(text.len + 1);
    double x;
    if (!copy) return NAN;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = 0;
    x = strtod(copy, NULL);
    if (copy != small) free(copy);
    return x;
}

static double double_of(const scanned *s, fm_str text)
{
    static const double exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double x;
    if (s->digits == 0) {
        x = 0.0;
    } else if (s->digits <= UINT64_C(1) << 53 && s->exponent >= -22 && s->exponent <= 22) {
        x = (double)s->digits;
        x = s->exponent < 0 ? x / exact[-s->exponent] : x * exact[s->exponent];
    } else {
        x = nearest(s->digits, s->exponent);
        if (s->cut_nonzero && x != nearest(s->digits + 1, s->exponent)) return by_library(text);
    }
    return s->negative ? -x : x;
}

/* Java's names, and those Spark adds; any case. */
static bool special_double(fm_str text, double *out)
{
    static const struct {
        const char *text;
        double value;
    } names[] = {
        {"nan", NAN}, {"inf", INFINITY}, {"+inf", INFINITY}, {"infinity", INFINITY},
        {"+infinity", INFINITY}, {"-inf", -INFINITY}, {"-infinity", -INFINITY},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (fm_str_eq_ci(text, fm_str_c(names[i].text))) {
            *out = names[i].value;
            return true;
        }
    return false;
}

bool fm_text_to_double(fm_str text, double *out)
{
    scanned s;
    text = trimmed(text);
    if (text.len == 0) return false;
    if (!scan(text, &s)) return special_double(text, out);
    /* Java takes one letter behind the number that says its type. */
    if (s.len + 1 == text.len) {
        char c = text.ptr[s.len];
        if (c != 'd' && c != 'D' && c != 'f' && c != 'F') return false;
    } else if (s.len != text.len) {
        return false;
    }
    *out = double_of(&s, (fm_str){text.ptr, s.len});
    return true;
}

/* --- integers ---------------------------------------------------------------------------------------- */

bool fm_text_to_i64(fm_str text, int64_t *out)
{
    text = trimmed(text);
    return fm_str_to_i64(text, out);
}

bool fm_text_to_i64_lenient(fm_str text, int64_t *out)
{
    size_t point = 0, sign;
    text = trimmed(text);
    while (point < text.len && text.ptr[point] != '.') point++;
    for (size_t i = point + 1; i < text.len; i++)
        if (!is_digit(text.ptr[i])) return false;
    sign = text.len && (text.ptr[0] == '-' || text.ptr[0] == '+');
    if (point < text.len && point == sign) { /* nothing before the point: zero */
        *out = 0;
        return true;
    }
    text.len = point;
    return fm_str_to_i64(text, out);
}

bool fm_text_to_float(fm_str text, float *out)
{
    scanned s;
    double x;
    if (!fm_text_to_double(text, &x)) return false;
    *out = (float)x;
    text = trimmed(text);
    /* Rounding twice would err where the double lies between two floats. */
    if (scan(text, &s)) {
        char small[128], *copy = s.len < sizeof small ? small : malloc(s.len + 1);
        if (!copy) return false;
        memcpy(copy, text.ptr, s.len);
        copy[s.len] = 0;
        *out = strtof(copy, NULL);
        if (copy != small) free(copy);
    }
    return true;
}

/* --- decimals ---------------------------------------------------------------------------------------- */

bool fm_text_to_decimal(fm_str text, int precision, int scale, fm_i128 *out)
{
    enum { DIGITS_MAX = 40 };
    scanned s;
    fm_u128 x = 0;
    int kept = 0;
    int64_t places; /* digits of the run that stand before the last place that is kept */
    bool half = false;
    text = trimmed(text);
    if (text.len == 0 || !scan(text, &s) || s.len != text.len) return false;
    places = (int64_t)s.integer.len + s.written_exponent + scale;
    for (int part = 0; part < 2; part++) {
        fm_str run = part ? s.fraction : s.integer;
        for (size_t i = 0; i < run.len; i++) {
            unsigned d = (unsigned)(run.ptr[i] - '0');
            if (places <= 0) {
                if (places == 0) half = d >= 5;
                places = -1;
                break;
            }
            places--;
            if (kept == 0 && d == 0) continue;
            if (++kept > DIGITS_MAX - 2) return false; /* over 38 digits */
            x = x * 10 + d;
        }
        if (places < 0) break;
    }
    if (x == 0 && places > 0) places = 0;
    for (; places > 0; places--) {
        if (++kept > DIGITS_MAX - 2) return false;
        x *= 10;
    }
    if (half) x++;
    if (x >= (fm_u128)fm_pow10_i128(precision)) return false;
    *out = s.negative ? -(fm_i128)x : (fm_i128)x;
    return true;
}
