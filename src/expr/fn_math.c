/* expr/fn_math.c: functions of one or two doubles: sqrt, exp, ln, pow, sin, ...; pi(), e().
 *
 * Rule   Spark: logarithms of numbers not above 0 (log1p: not above -1) are null; the rest is IEEE.
 * Cases  tests/golden/functions/sqrt.test */
#include <math.h>

#include "expr/kernel.h"

typedef double (*f1)(double);

static double degrees_of(double x) { return x * (180.0 / M_PI); }
static double radians_of(double x) { return x * (M_PI / 180.0); }
static double csc_of(double x) { return 1 / sin(x); }
static double sec_of(double x) { return 1 / cos(x); }
/* As near as a double can be, like Java's; cbrt of glibc is one off for 27. */
static double cbrt_of(double x) { return (double)cbrtl((long double)x); }
static double cot_of(double x) { return 1 / tan(x); }

static fm_status apply(const fm_vec *args, fm_vec *out, f1 f)
{
    for (int32_t i = 0; i < out->len; i++) fm_vec_f64_out(out)[i] = f(fm_vec_f64(&args[0])[i]);
    return FM_OK;
}

/* Null where x is not above `least`. */
static fm_status apply_log(fm_call *call, const fm_vec *args, fm_vec *out, f1 f, double least)
{
    uint64_t *own = NULL;
    for (int32_t i = 0; i < out->len; i++) {
        double x = fm_vec_f64(&args[0])[i];
        if (x <= least)
            FM_TRY(fm_out_null(call, out, &own, i));
        else
            fm_vec_f64_out(out)[i] = f(x);
    }
    return FM_OK;
}

#define KERNEL(id, f)                                                                         \
    static fm_status run_##id(fm_call *call, const fm_vec *args, fm_vec *out)                 \
    {                                                                                         \
        (void)call;                                                                           \
        return apply(args, out, f);                                                           \
    }
#define LOG_KERNEL(id, f, least)                                                              \
    static fm_status run_##id(fm_call *call, const fm_vec *args, fm_vec *out)                 \
    {                                                                                         \
        return apply_log(call, args, out, f, least);                                          \
    }
KERNEL(sqrt, sqrt)
KERNEL(cbrt, cbrt_of)
KERNEL(exp, exp)
KERNEL(expm1, expm1)
KERNEL(sin, sin)
KERNEL(cos, cos)
KERNEL(tan, tan)
KERNEL(cot, cot_of)
KERNEL(csc, csc_of)
KERNEL(sec, sec_of)
KERNEL(asinh, asinh)
KERNEL(acosh, acosh)
KERNEL(atanh, atanh)
KERNEL(asin, asin)
KERNEL(acos, acos)
KERNEL(atan, atan)
KERNEL(sinh, sinh)
KERNEL(cosh, cosh)
KERNEL(tanh, tanh)
KERNEL(degrees, degrees_of)
KERNEL(radians, radians_of)
KERNEL(rint, nearbyint)
LOG_KERNEL(ln, log, 0)
LOG_KERNEL(log10, log10, 0)
LOG_KERNEL(log2, log2, 0)
LOG_KERNEL(log1p, log1p, -1)

/* log(x), log(base, x) */
static fm_status run_log(fm_call *call, const fm_vec *args, fm_vec *out)
{
    uint64_t *own = NULL;
    if (call->expr->n_args == 1) return run_ln(call, args, out);
    for (int32_t i = 0; i < out->len; i++) {
        double base = fm_vec_f64(&args[0])[i], x = fm_vec_f64(&args[1])[i];
        if (base <= 0 || x <= 0)
            FM_TRY(fm_out_null(call, out, &own, i));
        else
            fm_vec_f64_out(out)[i] = log(x) / log(base);
    }
    return FM_OK;
}

static fm_status run_pow(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    for (int32_t i = 0; i < out->len; i++) {
        double x = fm_vec_f64(&args[0])[i], y = fm_vec_f64(&args[1])[i];
        /* Java: 1 to the NaN, and 1 to an infinity, is NaN. */
        fm_vec_f64_out(out)[i] = (isnan(y) || (fabs(x) == 1 && isinf(y))) ? NAN : pow(x, y);
    }
    return FM_OK;
}

static fm_status run_atan2(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    for (int32_t i = 0; i < out->len; i++)
        fm_vec_f64_out(out)[i] = atan2(fm_vec_f64(&args[0])[i] + 0.0, fm_vec_f64(&args[1])[i] + 0.0);
    return FM_OK;
}

static fm_status run_hypot(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    for (int32_t i = 0; i < out->len; i++)
        fm_vec_f64_out(out)[i] = hypot(fm_vec_f64(&args[0])[i], fm_vec_f64(&args[1])[i]);
    return FM_OK;
}

static fm_status run_pi(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    (void)args;
    for (int32_t i = 0; i < out->len; i++) fm_vec_f64_out(out)[i] = M_PI;
    return FM_OK;
}

static fm_status run_e(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    (void)args;
    for (int32_t i = 0; i < out->len; i++) fm_vec_f64_out(out)[i] = M_E;
    return FM_OK;
}

#define ONE(id, text) const fm_function fm_fn_##id = {.name = #id, .args = {FM_ARG_F64, FM_ARG_END}, .args_min = 1,        \
    .args_max = 1, .returns = fm_type_f64, .kernel = run_##id, .nulls = FM_NULLS_STRICT, .usage = #id "(x)", .doc = text,   \
    .since = "1.4.0"}

ONE(sqrt, "Returns the square root.");
ONE(cbrt, "Returns the cube root.");
ONE(exp, "Returns e to the power of x.");
ONE(expm1, "Returns exp(x) - 1.");
ONE(sin, "Returns the sine.");
ONE(cos, "Returns the cosine.");
ONE(tan, "Returns the tangent.");
ONE(cot, "Returns the cotangent.");
ONE(csc, "Returns the cosecant.");
ONE(sec, "Returns the secant.");
ONE(asinh, "Returns the inverse hyperbolic sine.");
ONE(acosh, "Returns the inverse hyperbolic cosine.");
ONE(atanh, "Returns the inverse hyperbolic tangent.");
ONE(asin, "Returns the arc sine.");
ONE(acos, "Returns the arc cosine.");
ONE(atan, "Returns the arc tangent.");
ONE(sinh, "Returns the hyperbolic sine.");
ONE(cosh, "Returns the hyperbolic cosine.");
ONE(tanh, "Returns the hyperbolic tangent.");
ONE(degrees, "Turns radians into degrees.");
ONE(radians, "Turns degrees into radians.");
ONE(rint, "Returns the nearest whole number, halves to even.");
ONE(ln, "Returns the natural logarithm.");
ONE(log10, "Returns the logarithm to base 10.");
ONE(log2, "Returns the logarithm to base 2.");
ONE(log1p, "Returns ln(1 + x).");

#define TWO .args = {FM_ARG_F64, FM_ARG_F64, FM_ARG_END}, .args_max = 2, .returns = fm_type_f64, .nulls = FM_NULLS_STRICT

const fm_function fm_fn_log = {
    .name = "log", TWO, .args_min = 1, .kernel = run_log, .usage = "log([base,] x)", .doc = "Returns the logarithm.", .since = "1.5.0",
};
const fm_function fm_fn_power = {
    .name = "power", .aliases = {"pow"}, TWO, .args_min = 2, .kernel = run_pow, .usage = "power(x, y)",
    .doc = "Returns x to the power of y.", .since = "1.4.0",
};
const fm_function fm_fn_atan2 = {
    .name = "atan2", TWO, .args_min = 2, .kernel = run_atan2, .usage = "atan2(y, x)",
    .doc = "Returns the angle of a point to the axis of x.", .since = "1.4.0",
};
const fm_function fm_fn_hypot = {
    .name = "hypot", TWO, .args_min = 2, .kernel = run_hypot, .usage = "hypot(x, y)", .doc = "Returns sqrt(x^2 + y^2).", .since = "1.4.0",
};
const fm_function fm_fn_pi = {
    .name = "pi", .args = {FM_ARG_END}, .returns = fm_type_f64, .kernel = run_pi, .nulls = FM_NULLS_STRICT, .usage = "pi()",
    .doc = "Returns pi.", .since = "1.5.0",
};
const fm_function fm_fn_e = {
    .name = "e", .args = {FM_ARG_END}, .returns = fm_type_f64, .kernel = run_e, .nulls = FM_NULLS_STRICT, .usage = "e()",
    .doc = "Returns e.", .since = "1.5.0",
};
