/* expr/decimal.h: decimal numbers: 128-bit integers that stand for themselves divided by a power of ten.
 *
 * A DECIMAL(p, s) lane x is x / 10^s with |x| < 10^p, p <= 38. Rounding is half up (away from zero). Products
 * and quotients are formed in 256 bits, so that they are exact before they are rounded. */
#ifndef FM_EXPR_DECIMAL_H
#define FM_EXPR_DECIMAL_H

#include "column/vec.h"

/* 10^n, 0 <= n <= 38. */
fm_i128 fm_pow10_i128(int n);
/* Whether |x| < 10^precision. */
bool fm_decimal_fits(fm_i128 x, int precision);
/* Precision and scale that hold every value of a numeric type; (38, 18) for others. Rule: DecimalType.forType. */
void fm_decimal_of_type(const fm_type *type, int *precision, int *scale);
/* x / 10^from as a multiple of 10^-to, half up; false: beyond 38 digits. */
bool fm_decimal_rescale(fm_i128 x, int from, int to, fm_i128 *out);
/* a / 10^sa + b / 10^sb as a multiple of 10^-scale, half up, subtract: minus b; scale <= max(sa, sb); false: beyond 38 digits. */
bool fm_decimal_add(fm_i128 a, int sa, fm_i128 b, int sb, bool subtract, int scale, fm_i128 *out);
/* -x as Spark has it: of more than 34 digits those behind the 34th are rounded to zeros, half to even. */
fm_i128 fm_decimal_negate(fm_i128 x);
/* a * b / 10^drop, half up (drop >= 0); false: beyond 38 digits. */
bool fm_decimal_mul(fm_i128 a, fm_i128 b, int drop, fm_i128 *out);
/* a * 10^raise / b, half up (b != 0; raise 0..76); false: beyond 38 digits. */
bool fm_decimal_div(fm_i128 a, int raise, fm_i128 b, fm_i128 *out);
/* Nearest double to x / 10^scale. */
double fm_decimal_to_f64(fm_i128 x, int scale);
/* The decimal digits of the shortest text of x, rounded half up to scale; false: NaN, infinite or too large. */
bool fm_decimal_of_f64(double x, int scale, fm_i128 *out);

#endif
