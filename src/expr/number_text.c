/* expr/number_text.c: numbers as text: integers, decimals, and doubles by Java's rules.
 *
 * The digits of a double are the shortest that read back the same, and of those the nearest: Raffaello
 * Giulietti's Schubfach ("The Schubfach way to render doubles", 2020), which Java itself uses since 19. In short: let
 * v = c * 2^q be the value, and the numbers that round to it the interval from half a unit below to half a
 * unit above. With k the largest power of ten not longer than that interval, it holds at least one and at
 * most ten multiples of 10^k, and at most one multiple of 10^(k+1). So two candidates of each kind are all one has
 * to look at. v, and the ends, are scaled by 10^-k with one 128-bit multiplication; the bits cut off are
 * folded into the lowest ("round to odd"), which keeps every comparison exact. */
#include <math.h>

#include "expr/cast.h"
#include "expr/pow10_table.h"

/* digits * 10^exponent */
typedef struct decimal_float {
    uint64_t digits;
    int exponent;
} decimal_float;

/* floor(q * log10(2)) and floor(log10(3/4 * 2^q)), by fixed point; exact for |q| < 1600. */
static int floor_log10_pow2(int q) { return (int)(((int64_t)q * 1262611) >> 22); }
static int floor_log10_pow2_short(int q) { return (int)(((int64_t)q * 1262611 - 524031) >> 22); }
/* floor(k * log2(10)). */
static int floor_log2_pow10(int k) { return (int)(((int64_t)k * 1741647) >> 19); }

/* g * c / 2^128, g of 128 bits, the cut bits folded into the lowest. */
static uint64_t scaled_to_odd(uint64_t g_high, uint64_t g_low, uint64_t c)
{
    unsigned __int128 low = (unsigned __int128)g_low * c;
    unsigned __int128 sum = (unsigned __int128)g_high * c + (uint64_t)(low >> 64);
    return (uint64_t)(sum >> 64) | ((uint64_t)sum > 1);
}

/* The shortest digits of c * 2^q * 10^-drop. closer: the neighbour below is half as far as the one above, as at a
 * power of two. drop: 1 when c was multiplied by ten, so that the result has two digits. */
static decimal_float shortest(uint64_t c, int q, bool closer, int drop)
{
    bool even = (c & 1) == 0; /* the ends of the interval round to v only then */
    uint64_t low = 4 * c - 2 + closer, middle = 4 * c, high = 4 * c + 2;
    int k = closer ? floor_log10_pow2_short(q) : floor_log10_pow2(q);
    int h = q + floor_log2_pow10(-k) + 1;
    const uint64_t *g = fm_pow10_table[-k - FM_POW10_MIN];
    /* The scale is rounded up unless it is exact. */
    bool exact = -k >= 0 && -k <= 55;
    uint64_t g_low = g[1] + !exact, g_high = g[0] + (!exact && g_low == 0);
    uint64_t from = scaled_to_odd(g_high, g_low, low << h) + !even;
    uint64_t v = scaled_to_odd(g_high, g_low, middle << h);
    uint64_t to = scaled_to_odd(g_high, g_low, high << h) - !even;
    uint64_t s = v / 4;

    if (s >= 100) { /* a digit fewer, when one of its two neighbours is inside: at least two digits stay */
        uint64_t t = s / 10;
        bool down = from <= 40 * t, up = 40 * t + 40 <= to;
        if (down != up) return (decimal_float){t + up, k + 1 - drop};
    }
    bool down = from <= 4 * s, up = 4 * s + 4 <= to;
    if (down != up) return (decimal_float){s + up, k - drop};
    uint64_t half = 4 * s + 2;
    bool round_up = v > half || (v == half && (s & 1));
    return (decimal_float){s + round_up, k - drop};
}

static const char digit_pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
    "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
    "8081828384858687888990919293949596979899";

static int digit_count(uint64_t x)
{
    static const uint64_t power[] = {
        0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000,
        UINT64_C(10000000000), UINT64_C(100000000000), UINT64_C(1000000000000),
        UINT64_C(10000000000000), UINT64_C(100000000000000), UINT64_C(1000000000000000),
        UINT64_C(10000000000000000), UINT64_C(100000000000000000), UINT64_C(1000000000000000000),
        UINT64_C(10000000000000000000)};
    int guess = ((64 - __builtin_clzll(x | 1)) * 1233) >> 12; /* floor(bits * log10(2)) */
    return guess + 1 - (x < power[guess]);
}

/* Writes the n digits of x, which has no more, at out[0..n), zeros in front. */
static void put_digits(char *out, uint64_t x, int n)
{
    while (n > 8) { /* eight at a time: divisions of 32 bits, and not each waiting for the one before */
        uint32_t low = (uint32_t)(x % 100000000);
        x /= 100000000;
        n -= 8;
        for (int i = 6; i >= 0; i -= 2, low /= 100) memcpy(out + n + i, digit_pairs + 2 * (low % 100), 2);
    }
    while (n >= 2) {
        n -= 2;
        memcpy(out + n, digit_pairs + 2 * (x % 100), 2);
        x /= 100;
    }
    if (n) out[0] = (char)('0' + x % 10);
}

/* Java's layout: plain between 10^-3 and 10^7, else d.dddE[-]n; always a digit behind the point. */
static size_t put_java(decimal_float d, bool negative, char *out)
{
    char *p = out;
    int n, point;
    while (d.digits % 100000000 == 0 && d.digits) {
        d.digits /= 100000000;
        d.exponent += 8;
    }
    while (d.digits % 10 == 0 && d.digits) {
        d.digits /= 10;
        d.exponent++;
    }
    n = digit_count(d.digits);
    point = n + d.exponent; /* v = 0.digits * 10^point */
    if (negative) *p++ = '-';
    if (point > -3 && point <= 0) {
        memcpy(p, "0.000", 5);
        p += 2 - point;
        put_digits(p, d.digits, n);
        p += n;
    } else if (point > 0 && point <= 7) {
        if (n <= point) {
            put_digits(p, d.digits, n);
            memset(p + n, '0', (size_t)(point - n));
            p += point;
            *p++ = '.';
            *p++ = '0';
        } else {
            char digits[24]; /* up to 17; copied in pieces of a fixed size, which is no call */
            put_digits(digits, d.digits, n);
            memcpy(p, digits, 8);
            memcpy(p + point + 1, digits + point, 16);
            p[point] = '.';
            p += n + 1;
        }
    } else {
        int e = point - 1;
        put_digits(p + 1, d.digits, n);
        p[0] = p[1];
        p[1] = '.';
        p += n + 1;
        if (n == 1) *p++ = '0';
        *p++ = 'E';
        if (e < 0) {
            *p++ = '-';
            e = -e;
        }
        n = digit_count((uint64_t)e);
        put_digits(p, (uint64_t)e, n);
        p += n;
    }
    return (size_t)(p - out);
}

static size_t put_special(bool nan, bool negative, char *out)
{
    const char *text = nan ? "NaN" : negative ? "-Infinity" : "Infinity";
    size_t len = strlen(text);
    memcpy(out, text, len);
    return len;
}

/* A whole number below 2^53 is its own shortest text but for zeros at the end. */
static bool whole(uint64_t c, int q, int width, decimal_float *out)
{
    if (q > 0 || q <= -width || (c & ((UINT64_C(1) << -q) - 1))) return false;
    *out = (decimal_float){c >> -q, 0};
    return true;
}

/* Most doubles of data have three decimals at most. m / 1000 that gives x back is its shortest text: with no more than
 * fifteen digits, two different decimals are never the same double. 0: x is of another kind. */
static size_t put_thousandths(double x, char *out)
{
    double a = fabs(x);

    if (!(a >= 1e-3 && a < 1e7)) return 0;
    uint32_t whole_part, rest;
    uint64_t m = (uint64_t)(a * 1000 + 0.5);
    if ((double)m / 1000 != a) return 0;
    whole_part = (uint32_t)(m / 1000);
    rest = (uint32_t)(m % 1000);
    char *p = out;
    *p = '-';
    p += x < 0;
    int n = digit_count(whole_part);
    put_digits(p, whole_part, n);
    p += n;
    p[0] = '.';
    p[1] = (char)('0' + rest / 100);
    memcpy(p + 2, digit_pairs + 2 * (rest % 100), 2);
    return (size_t)(p + 4 - out) - (rest % 10 == 0) - (rest % 100 == 0);
}

size_t fm_double_text(double x, char out[FM_DOUBLE_TEXT_SIZE])
{
    uint64_t bits, fraction;
    int exponent;
    bool negative;
    decimal_float d;
    size_t short_text = put_thousandths(x, out);
    if (short_text) return short_text;
    memcpy(&bits, &x, sizeof bits);
    negative = bits >> 63;
    fraction = bits & ((UINT64_C(1) << 52) - 1);
    exponent = (int)(bits >> 52) & 0x7FF;
    if (exponent == 0x7FF) return put_special(fraction != 0, negative, out);
    if (exponent == 0 && fraction == 0) d = (decimal_float){0, 0};
    else if (exponent == 0 && fraction < 3) d = shortest(fraction * 10, -1074, false, 1);
    else if (exponent == 0) d = shortest(fraction, -1074, false, 0);
    else if (!whole(fraction | UINT64_C(1) << 52, exponent - 1075, 53, &d))
        d = shortest(fraction | UINT64_C(1) << 52, exponent - 1075, fraction == 0 && exponent > 1, 0);
    return put_java(d, negative, out);
}

size_t fm_float_text(float x, char out[FM_DOUBLE_TEXT_SIZE])
{
    uint32_t bits, fraction;
    int exponent;
    bool negative;
    decimal_float d;
    memcpy(&bits, &x, sizeof bits);
    negative = bits >> 31;
    fraction = bits & ((UINT32_C(1) << 23) - 1);
    exponent = (int)(bits >> 23) & 0xFF;
    if (exponent == 0xFF) return put_special(fraction != 0, negative, out);
    if (exponent == 0 && fraction == 0) d = (decimal_float){0, 0};
    else if (exponent == 0 && fraction < 8) d = shortest((uint64_t)fraction * 10, -149, false, 1);
    else if (exponent == 0) d = shortest(fraction, -149, false, 0);
    else if (!whole(fraction | UINT32_C(1) << 23, exponent - 150, 24, &d))
        d = shortest(fraction | UINT32_C(1) << 23, exponent - 150, fraction == 0 && exponent > 1, 0);
    return put_java(d, negative, out);
}

size_t fm_i64_text(int64_t x, char out[24])
{
    uint64_t magnitude = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
    int n = digit_count(magnitude);
    size_t sign = x < 0;
    if (sign) out[0] = '-';
    put_digits(out + sign, magnitude, n);
    return sign + (size_t)n;
}

size_t fm_decimal_text(fm_i128 unscaled, int scale, char out[FM_DECIMAL_TEXT_SIZE])
{
    fm_u128 rest = unscaled < 0 ? 0 - (fm_u128)unscaled : (fm_u128)unscaled;
    char digits[40];
    int n = 0;
    char *p = out;
    const uint64_t chunk = UINT64_C(10000000000000000000); /* 10^19 */
    uint64_t part[3];
    int parts = 0;
    do {
        part[parts++] = (uint64_t)(rest % chunk);
        rest /= chunk;
    } while (rest);
    n = digit_count(part[parts - 1]);
    put_digits(digits, part[parts - 1], n);
    for (int i = parts - 2; i >= 0; i--, n += 19) put_digits(digits + n, part[i], 19);

    if (unscaled < 0) *p++ = '-';
    if (n <= scale) {
        *p++ = '0';
        *p++ = '.';
        memset(p, '0', (size_t)(scale - n));
        p += scale - n;
        memcpy(p, digits, (size_t)n);
        return (size_t)(p - out) + (size_t)n;
    }
    memcpy(p, digits, (size_t)(n - scale));
    p += n - scale;
    if (scale) {
        *p++ = '.';
        memcpy(p, digits + n - scale, (size_t)scale);
        p += scale;
    }
    return (size_t)(p - out);
}

size_t fm_decimal_java_text(fm_i128 unscaled, int scale, char out[FM_DECIMAL_TEXT_SIZE])
{
    char digits[FM_DECIMAL_TEXT_SIZE];
    size_t n = fm_decimal_text(unscaled, 0, digits), sign = digits[0] == '-', len = sign + 1;
    int exponent = (int)(n - sign) - 1 - scale;

    if (scale == 0 || exponent >= -6) return fm_decimal_text(unscaled, scale, out);
    memcpy(out, digits, len);
    if (n > len) {
        out[len] = '.';
        memcpy(out + len + 1, digits + len, n - len);
        len = n + 1;
    }
    out[len++] = 'E';
    return len + fm_i64_text(exponent, out + len);
}
