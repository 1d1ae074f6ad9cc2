/* expr/decimal.c: exact arithmetic on decimals, in 256 bits where 128 do not hold the way there. */
#include "expr/decimal.h"

#include "base/limits.h"
#include "expr/cast.h"

/* hi * 2^128 + lo. */
typedef struct u256 {
    fm_u128 hi, lo;
} u256;

fm_i128 fm_pow10_i128(int n)
{
    static const uint64_t small[] = {
        1u, 10u, 100u, 1000u, 10000u, 100000u, 1000000u, 10000000u, 100000000u, 1000000000u,
        UINT64_C(10000000000), UINT64_C(100000000000), UINT64_C(1000000000000),
        UINT64_C(10000000000000), UINT64_C(100000000000000), UINT64_C(1000000000000000),
        UINT64_C(10000000000000000), UINT64_C(100000000000000000), UINT64_C(1000000000000000000),
        UINT64_C(10000000000000000000)};
    fm_assert(n >= 0 && n <= FM_DECIMAL_PRECISION_MAX);
    if (n < 20) return (fm_i128)small[n];
    return (fm_i128)small[19] * (fm_i128)small[n - 19];
}

static fm_u128 magnitude(fm_i128 x) { return x < 0 ? 0 - (fm_u128)x : (fm_u128)x; }

bool fm_decimal_fits(fm_i128 x, int precision)
{
    return magnitude(x) < (fm_u128)fm_pow10_i128(precision);
}

void fm_decimal_of_type(const fm_type *type, int *precision, int *scale)
{
    *scale = 0;
    switch (type->id) {
    case FM_TYPE_DECIMAL: *precision = type->precision, *scale = type->scale; break;
    case FM_TYPE_BOOL: *precision = 1; break;
    case FM_TYPE_I8: *precision = 3; break;
    case FM_TYPE_I16: *precision = 5; break;
    case FM_TYPE_I32: *precision = 10; break;
    case FM_TYPE_I64: *precision = 20; break;
    case FM_TYPE_F32: *precision = 14, *scale = 7; break;
    case FM_TYPE_F64: *precision = 30, *scale = 15; break;
    default: *precision = 38, *scale = 18; break;
    }
}

static u256 multiply(fm_u128 a, fm_u128 b)
{
    uint64_t a0 = (uint64_t)a, a1 = (uint64_t)(a >> 64), b0 = (uint64_t)b, b1 = (uint64_t)(b >> 64);
    fm_u128 low = (fm_u128)a0 * b0, high = (fm_u128)a1 * b1;
    fm_u128 mid1 = (fm_u128)a0 * b1, mid2 = (fm_u128)a1 * b0;
    fm_u128 carry = (low >> 64) + (uint64_t)mid1 + (uint64_t)mid2; /* < 3 * 2^64 */
    u256 out;
    out.lo = (carry << 64) | (uint64_t)low;
    out.hi = high + (mid1 >> 64) + (mid2 >> 64) + (carry >> 64);
    return out;
}

/* Quotient and remainder of n / d; false when the quotient takes more than 128 bits. */
static bool divide(u256 n, fm_u128 d, fm_u128 *quotient, fm_u128 *rest)
{
    if (n.hi == 0) {
        *quotient = n.lo / d;
        *rest = n.lo % d;
        return true;
    }
    if (n.hi >= d) return false;
    if (d >> 64 == 0) { /* two steps of 128 / 64 bits */
        fm_u128 top = (n.hi << 64) | (n.lo >> 64); /* n.hi < d < 2^64 */
        fm_u128 q1 = top / d, r1 = top % d;
        fm_u128 bottom = (r1 << 64) | (uint64_t)n.lo;
        *quotient = (q1 << 64) | (bottom / d);
        *rest = bottom % d;
        return true;
    }
    /* Bit by bit: seldom, and only for numbers of more than 19 digits. */
    fm_u128 r = n.hi, q = 0;
    for (int i = 127; i >= 0; i--) {
        bool carry = r >> 127;
        r = (r << 1) | ((n.lo >> i) & 1);
        q <<= 1;
        if (carry || r >= d) {
            r -= d;
            q |= 1;
        }
    }
    *quotient = q;
    *rest = r;
    return true;
}

/* n / d, half up, with a sign; false beyond 38 digits. */
static bool divide_half_up(u256 n, fm_u128 d, bool negative, fm_i128 *out)
{
    fm_u128 quotient, rest;
    if (!divide(n, d, &quotient, &rest)) return false;
    if (rest >= d - rest) quotient++; /* rest * 2 >= d, without the overflow */
    if (quotient >= (fm_u128)fm_pow10_i128(FM_DECIMAL_PRECISION_MAX)) return false;
    *out = negative ? -(fm_i128)quotient : (fm_i128)quotient;
    return true;
}

bool fm_decimal_rescale(fm_i128 x, int from, int to, fm_i128 *out)
{
    if (to == from) {
        *out = x;
        return fm_decimal_fits(x, FM_DECIMAL_PRECISION_MAX);
    }
    if (to > from) {
        if (to - from > FM_DECIMAL_PRECISION_MAX) {
            *out = 0;
            return x == 0;
        }
        return !__builtin_mul_overflow(x, fm_pow10_i128(to - from), out) &&
               fm_decimal_fits(*out, FM_DECIMAL_PRECISION_MAX);
    }
    if (from - to > FM_DECIMAL_PRECISION_MAX) {
        *out = 0; /* |x| < 10^38: less than a half of what is kept */
        return true;
    }
    return divide_half_up((u256){0, magnitude(x)}, (fm_u128)fm_pow10_i128(from - to), x < 0, out);
}

bool fm_decimal_add(fm_i128 a, int sa, fm_i128 b, int sb, bool subtract, int scale, fm_i128 *out)
{
    int wide = sa > sb ? sa : sb;
    fm_i128 p, q;
    if (!__builtin_mul_overflow(a, fm_pow10_i128(wide - sa), &p) && !__builtin_mul_overflow(b, fm_pow10_i128(wide - sb), &q) &&
        !(subtract ? __builtin_sub_overflow(p, q, &p) : __builtin_add_overflow(p, q, &p)))
        return fm_decimal_rescale(p, wide, scale, out);
    u256 x = multiply(magnitude(a), (fm_u128)fm_pow10_i128(wide - sa));
    u256 y = multiply(magnitude(b), (fm_u128)fm_pow10_i128(wide - sb)), sum;
    bool negative = a < 0, b_negative = (b < 0) != subtract;

    if (negative == b_negative) {
        sum.hi = x.hi + y.hi + __builtin_add_overflow(x.lo, y.lo, &sum.lo); /* both below 10^76 */
    } else {
        if (x.hi < y.hi || (x.hi == y.hi && x.lo < y.lo)) {
            u256 swap = x;
            x = y;
            y = swap;
            negative = b_negative;
        }
        sum.hi = x.hi - y.hi - __builtin_sub_overflow(x.lo, y.lo, &sum.lo);
    }
    return divide_half_up(sum, (fm_u128)fm_pow10_i128(wide - scale), negative, out);
}

fm_i128 fm_decimal_negate(fm_i128 x)
{
    enum { KEPT = 34 }; /* MathContext.DECIMAL128 */
    fm_u128 m = magnitude(x), unit = 1;

    if (m < (fm_u128)fm_pow10_i128(KEPT)) return -x;
    while (m / unit >= (fm_u128)fm_pow10_i128(KEPT)) unit *= 10;
    fm_u128 q = m / unit, r = m % unit;
    q += r > unit - r || (r == unit - r && q % 2);
    m = q * unit;
    return x < 0 ? (fm_i128)m : -(fm_i128)m;
}

bool fm_decimal_mul(fm_i128 a, fm_i128 b, int drop, fm_i128 *out)
{
    u256 product = multiply(magnitude(a), magnitude(b));
    bool negative = (a < 0) != (b < 0) && a && b;
    if (drop > FM_DECIMAL_PRECISION_MAX) {
        /* In two steps: whether to round up hangs on the second alone, what the first cuts is below it. */
        fm_u128 whole, rest;
        if (!divide(product, (fm_u128)fm_pow10_i128(FM_DECIMAL_PRECISION_MAX), &whole, &rest))
            return false;
        product = (u256){0, whole};
        drop -= FM_DECIMAL_PRECISION_MAX;
    }
    return divide_half_up(product, (fm_u128)fm_pow10_i128(drop), negative, out);
}

bool fm_decimal_div(fm_i128 a, int raise, fm_i128 b, fm_i128 *out)
{
    u256 n;
    fm_u128 d = magnitude(b);
    if (raise <= FM_DECIMAL_PRECISION_MAX) {
        n = multiply(magnitude(a), (fm_u128)fm_pow10_i128(raise));
    } else {
        /* More than 38 digits are put behind a: what passes 256 bits cannot be 38 digits after the division. */
        u256 first = multiply(magnitude(a), (fm_u128)fm_pow10_i128(FM_DECIMAL_PRECISION_MAX));
        fm_u128 more = (fm_u128)fm_pow10_i128(raise - FM_DECIMAL_PRECISION_MAX);
        u256 low = multiply(first.lo, more), high = multiply(first.hi, more);
        if (high.hi) return false;
        n.lo = low.lo;
        if (__builtin_add_overflow(high.lo, low.hi, &n.hi)) return false;
    }
    return divide_half_up(n, d, (a < 0) != (b < 0) && a, out);
}

double fm_decimal_to_f64(fm_i128 x, int scale)
{
    static const double exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    char text[FM_DECIMAL_TEXT_SIZE];
    double out = 0;
    /* Both operands are exact, so the quotient is rounded once. */
    if (magnitude(x) <= (fm_u128)1 << 53 && scale <= 22) return (double)(int64_t)x / exact[scale];
    fm_text_to_double((fm_str){text, fm_decimal_text(x, scale, text)}, &out);
    return out;
}

bool fm_decimal_of_f64(double x, int scale, fm_i128 *out)
{
    char text[FM_DOUBLE_TEXT_SIZE];
    size_t len = fm_double_text(x, text);
    if (x - x != 0) return false; /* NaN, infinite */
    return fm_text_to_decimal((fm_str){text, len}, FM_DECIMAL_PRECISION_MAX, scale, out);
}
