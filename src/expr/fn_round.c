/* expr/fn_round.c: abs(x), sign(x), round(x[, d]), bround(x[, d]), ceil(x), floor(x).
 *
 * Rule   Spark: abs of the smallest integer overflows under ANSI. round goes half up (away from zero), bround half to even;
 *        doubles are rounded by their shortest text. round of DECIMAL(p, s) to d digits is DECIMAL(p - s + d + 1, d), of
 *        integers the same type. ceil and floor give BIGINT, under
 *        ANSI an error beyond it, of DECIMAL(p, s) DECIMAL(p - s + 1, 0).
 * Cases  tests/golden/functions/round.test */
#include <math.h>
#include <stdio.h>

#include "expr/call_args.h"
#include "expr/cast.h"
#include "expr/decimal.h"
#include "expr/eval.h"
#include "expr/kernel.h"
#include "expr/resolve_text.h"

static fm_status overflow(fm_call *call)
{
    return fm_fail(call->err, FM_INVALID, "ARITHMETIC_OVERFLOW",
                   "Overflow. If necessary set \"spark.sql.ansi.enabled\" to \"false\" to bypass this error.");
}

/* Numbers, text that is one, and intervals. */
static fm_status bind_number(fm_bind *b, fm_error *err)
{
    const fm_type *type = b->args[0]->type;
    if (type->id == FM_TYPE_STRING || type->id == FM_TYPE_NULL) b->cast_args[0] = type = fm_type_f64();
    b->returns = type;
    if (fm_type_is_numeric(type) || fm_type_is_interval(type)) return FM_OK;
    return fm_fail_bind(b, err, "UNEXPECTED_INPUT_TYPE",
                        "The first parameter requires the (\"NUMERIC\" or \"INTERVAL DAY TO SECOND\" or "
                        "\"INTERVAL YEAR TO MONTH\") type, however it has the type %s.",
                        type, NULL);
}

static fm_status bind_sign(fm_bind *b, fm_error *err)
{
    FM_TRY(bind_number(b, err));
    if (!fm_type_is_interval(b->returns)) b->cast_args[0] = fm_type_f64();
    b->returns = fm_type_f64();
    return FM_OK;
}

static int64_t read_int(const fm_vec *v, int32_t i)
{
    switch (fm_type_width(v->type)) {
    case 1: return fm_vec_i8(v)[i];
    case 2: return fm_vec_i16(v)[i];
    case 4: return fm_vec_i32(v)[i];
    default: return fm_vec_i64(v)[i];
    }
}

/* false: it does not fit and is wrapped. */
static bool write_int(fm_vec *v, int32_t i, fm_i128 x)
{
    switch (fm_type_width(v->type)) {
    case 1: fm_vec_i8_out(v)[i] = (int8_t)x; return (int8_t)x == x;
    case 2: fm_vec_i16_out(v)[i] = (int16_t)x; return (int16_t)x == x;
    case 4: fm_vec_i32_out(v)[i] = (int32_t)x; return (int32_t)x == x;
    default: fm_vec_i64_out(v)[i] = (int64_t)x; return (int64_t)x == x;
    }
}

/* ---- abs, sign --------------------------------------------------------------------------------------------- */

static fm_status abs_of(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const fm_vec *x = &args[0];
    for (int32_t i = 0; i < out->len; i++) {
        if (out->type->id == FM_TYPE_F64) {
            fm_vec_f64_out(out)[i] = fabs(fm_vec_f64(x)[i]);
        } else if (out->type->id == FM_TYPE_F32) {
            fm_vec_f32_out(out)[i] = fabsf(fm_vec_f32(x)[i]);
        } else if (out->type->id == FM_TYPE_DECIMAL) {
            fm_i128 d = fm_vec_decimal(x)[i];
            if (d < 0) d = fm_decimal_negate(d);
            if (!fm_decimal_fits(d, out->type->precision)) return fm_decimal_too_long(call, d, out->type);
            fm_vec_decimal_out(out)[i] = d;
        } else {
            fm_i128 n = read_int(x, i);
            if (!write_int(out, i, n < 0 ? -n : n) && (call->ansi || fm_type_is_interval(out->type))) return overflow(call);
        }
    }
    return FM_OK;
}

static fm_status sign_of(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    for (int32_t i = 0; i < out->len; i++) {
        double x = fm_type_is_interval(args[0].type) ? (double)read_int(&args[0], i) : fm_vec_f64(&args[0])[i];
        fm_vec_f64_out(out)[i] = x > 0 ? 1 : x < 0 ? -1 : x; /* keeps 0.0, -0.0 and NaN */
    }
    return FM_OK;
}

/* ---- round, bround ----------------------------------------------------------------------------------------- */

typedef enum rounding_mode { HALF_UP, HALF_EVEN, TO_CEILING, TO_FLOOR } rounding_mode;

typedef struct rounding {
    fm_picked picked;
    int32_t digits;
    rounding_mode mode;
} rounding;

enum { DIGITS_MAX = 1000 };

/* x / 10^drop, rounded. */
static fm_i128 round_digits(fm_i128 x, int drop, rounding_mode mode)
{
    fm_i128 unit, q, r;
    if (drop <= 0) return x;
    if (drop > 38) return mode == TO_CEILING ? x > 0 : mode == TO_FLOOR ? -(x < 0) : 0;
    unit = fm_pow10_i128(drop);
    q = x / unit;
    r = x % unit;
    if (mode == TO_CEILING) return q + (r > 0);
    if (mode == TO_FLOOR) return q - (r < 0);
    if (r < 0) r = -r;
    if (r > unit - r || (r == unit - r && (mode == HALF_UP || q % 2))) q += x < 0 ? -1 : 1;
    return q;
}


/* The digits of a shortest decimal text ("1.25E-5"), its exponent of ten, its sign. False: not a number. */
static bool text_digits(fm_str text, fm_i128 *digits, int *exponent)
{
    bool negative = false, point = false;
    size_t i = 0;
    *digits = 0;
    *exponent = 0;
    if (i < text.len && text.ptr[i] == '-') {
        negative = true;
        i++;
    }
    for (; i < text.len && text.ptr[i] != 'E'; i++) {
        if (text.ptr[i] == '.') {
            point = true;
            continue;
        }
        if (text.ptr[i] < '0' || text.ptr[i] > '9') return false;
        *digits = *digits * 10 + (text.ptr[i] - '0');
        *exponent -= point;
    }
    if (i < text.len) {
        int64_t e = 0;
        if (!fm_str_to_i64((fm_str){text.ptr + i + 1, text.len - i - 1}, &e)) return false;
        *exponent += (int)e;
    }
    if (negative) *digits = -*digits;
    return true;
}

static double round_text(fm_str text, double x, const rounding *r)
{
    fm_i128 digits;
    int exponent, drop;
    char buffer[64], number[24];
    fm_str rounded;
    double out;
    if (!text_digits(text, &digits, &exponent)) return x;
    drop = -r->digits - exponent;
    if (drop <= 0) return x;
    digits = round_digits(digits, drop, r->mode);
    rounded = (fm_str){number, fm_i64_text((int64_t)digits, number)};
    rounded = (fm_str){buffer, (size_t)snprintf(buffer, sizeof buffer, "%.*sE%d", FM_STR_ARG(rounded), -(int)r->digits)};
    return fm_text_to_double(rounded, &out) ? out : x;
}

/* A decimal that rounding made longer than its type: 99 to -2 digits is 100. */
static fm_status does_not_fit(fm_call *call, fm_i128 x, fm_vec *out, uint64_t **own, int64_t i)
{
    char text[FM_DECIMAL_TEXT_SIZE];

    if (!call->ansi) return fm_out_null(call, out, own, i);
    fm_str value = {text, fm_decimal_text(x, out->type->scale, text)};
    return fm_fail(call->err, FM_INVALID, "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION",
                   "The %.*s cannot be represented as Decimal(%d, %d). If necessary set "
                   "\"spark.sql.ansi.enabled\" to \"false\" to bypass this error, and return NULL instead.",
                   FM_STR_ARG(value), out->type->precision, out->type->scale);
}

static fm_status round_lanes(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const rounding *r = call->bound;
    const fm_vec *x = &args[0];
    uint64_t *own = NULL;
    char text[FM_DOUBLE_TEXT_SIZE];
    for (int32_t i = 0; i < out->len; i++) {
        if (fm_call_lane_null(out, i)) continue;
        if (out->type->id == FM_TYPE_F64) {
            size_t len = fm_double_text(fm_vec_f64(x)[i], text);
            fm_vec_f64_out(out)[i] = round_text((fm_str){text, len}, fm_vec_f64(x)[i], r);
        } else if (out->type->id == FM_TYPE_F32) {
            size_t len = fm_float_text(fm_vec_f32(x)[i], text);
            fm_vec_f32_out(out)[i] = (float)round_text((fm_str){text, len}, fm_vec_f32(x)[i], r);
        } else if (out->type->id == FM_TYPE_DECIMAL) {
            fm_i128 d = round_digits(fm_vec_decimal(x)[i], x->type->scale - r->digits, r->mode);
            if (r->digits < 0 && r->digits >= -38 && __builtin_mul_overflow(d, fm_pow10_i128(-r->digits), &d)) d = 0;
            fm_vec_decimal_out(out)[i] = d;
            if (!fm_decimal_fits(d, out->type->precision)) FM_TRY(does_not_fit(call, d, out, &own, i));
        } else {
            fm_i128 n = read_int(x, i);
            if (r->digits < 0) n = round_digits(n, -r->digits, r->mode);
            if (r->digits < 0 && n) n *= fm_pow10_i128(-r->digits);
            if (!write_int(out, i, n) && call->ansi) return overflow(call);
        }
    }
    return FM_OK;
}

static fm_status bind_round(fm_bind *b, rounding_mode mode, fm_error *err)
{
    const fm_type *t = b->args[0]->type;
    rounding *r = fm_arena_one(b->arena, rounding);
    if (!r) return fm_no_memory(b->arena, err);
    *r = (rounding){.picked = {round_lanes}, .mode = mode};
    if (mode >= TO_CEILING && t->id != FM_TYPE_DECIMAL) { /* as many digits are a matter of decimals */
        int p, s;
        fm_decimal_of_type(t->id == FM_TYPE_NULL ? fm_type_f64() : t, &p, &s);
        t = fm_type_decimal(b->arena, p, s);
        if (!t) return fm_no_memory(b->arena, err);
        b->cast_args[0] = t;
        b->nullable |= !b->conf->ansi;
    }
    if (b->n_args > 1) {
        fm_value v;
        bool constant = fm_expr_is_constant(b->args[1]);
        if (constant) FM_TRY(fm_eval_constant(b->arena, b->conf, b->args[1], &v, err));
        if (mode >= TO_CEILING && (!constant || fm_vec_is_null(&v, 0)))
            return fm_fail_at(err, FM_INVALID, "NON_FOLDABLE_ARGUMENT", b->pos.line, b->pos.column,
                              "The function `%.*s` requires the parameter `scale` to be a foldable expression of the type \"INT\", "
                              "but the actual argument is a non-foldable.", FM_STR_ARG(b->name));
        if (!constant)
            return fm_fail_bind(b, err, "NON_FOLDABLE_INPUT", "the input `scale` should be a foldable \"INT\" expression.",
                                NULL, NULL);
        if (!fm_vec_is_null(&v, 0)) r->digits = fm_vec_i32(&v)[0];
        /* No number has more: beyond, nothing is rounded, or all of it. */
        if (r->digits > DIGITS_MAX) r->digits = DIGITS_MAX;
        if (r->digits < -DIGITS_MAX) r->digits = -DIGITS_MAX;
    }
    b->bound = r;
    b->returns = t;
    if (t->id == FM_TYPE_DECIMAL) {
        int whole = t->precision - t->scale, d = r->digits;
        /* Rounding 9.9 takes a digit more; below 0 the zeros at the end stay. */
        int least = whole + 1;
        int scale = d < 0 ? 0 : d < t->scale ? d : t->scale;
        int precision = d < 0 ? (least > -d + 1 ? least : -d + 1) : least + scale;
        b->returns = fm_type_decimal(b->arena, precision > 38 ? 38 : precision, scale);
    }
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

static fm_status bind_half_up(fm_bind *b, fm_error *err) { return bind_round(b, HALF_UP, err); }
static fm_status bind_half_even(fm_bind *b, fm_error *err) { return bind_round(b, HALF_EVEN, err); }

/* ---- ceil, floor ------------------------------------------------------------------------------------------- */

static int64_t whole_of_f64(double x)
{
    if (isnan(x)) return 0;
    if (x >= 9223372036854775808.0) return INT64_MAX;
    if (x < -9223372036854775808.0) return INT64_MIN;
    return (int64_t)x;
}

static fm_status whole(fm_call *call, const fm_vec *args, fm_vec *out, bool up)
{
    const fm_vec *x = &args[0];
    for (int32_t i = 0; i < out->len; i++) {
        if (x->type->id == FM_TYPE_F64) {
            double w = up ? ceil(fm_vec_f64(x)[i]) : floor(fm_vec_f64(x)[i]);
            if (call->ansi && (w >= 9223372036854775808.0 || w < -9223372036854775808.0)) return overflow(call); /* NaN is 0 */
            fm_vec_i64_out(out)[i] = whole_of_f64(w);
        } else if (x->type->id == FM_TYPE_DECIMAL) {
            fm_i128 unit = fm_pow10_i128(x->type->scale), d = fm_vec_decimal(x)[i], q = d / unit, r = d % unit;
            fm_vec_decimal_out(out)[i] = q + (up && r > 0) - (!up && r < 0);
        } else {
            fm_vec_i64_out(out)[i] = fm_vec_i64(x)[i];
        }
    }
    return FM_OK;
}

static fm_status ceil_of(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return whole(call, args, out, true);
}

static fm_status floor_of(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return whole(call, args, out, false);
}

static fm_status bind_whole(fm_bind *b, rounding_mode mode, fm_error *err)
{
    const fm_type *t = b->args[0]->type;
    if (b->n_args > 1) return bind_round(b, mode, err);
    fm_picked *picked = fm_arena_one(b->arena, fm_picked);
    if (!picked) return fm_no_memory(b->arena, err);
    picked->kernel = mode == TO_CEILING ? ceil_of : floor_of;
    b->bound = picked;
    b->returns = fm_type_i64();
    if (t->id == FM_TYPE_DECIMAL)
        b->returns = fm_type_decimal(b->arena, t->scale ? (t->precision - t->scale + 1 > 38 ? 38 : t->precision - t->scale + 1)
                                                        : t->precision, 0);
    else if (t->id == FM_TYPE_I64)
        return FM_OK;
    else
        b->cast_args[0] = fm_type_f64();
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

static fm_status bind_ceil(fm_bind *b, fm_error *err) { return bind_whole(b, TO_CEILING, err); }
static fm_status bind_floor(fm_bind *b, fm_error *err) { return bind_whole(b, TO_FLOOR, err); }

#define NUMBER .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = 1, .nulls = FM_NULLS_STRICT
#define WHOLE .args = {FM_ARG_NUMERIC, FM_ARG_I32, FM_ARG_END}, .args_min = 1, .args_max = 2, .nulls = FM_NULLS_STRICT, \
    .kernel = fm_run_picked, .can_fail = true
#define ROUNDS .args = {FM_ARG_NUMERIC, FM_ARG_I32, FM_ARG_END}, .args_min = 1, .args_max = 2, .nulls = FM_NULLS_STRICT, \
    .can_fail = true, .kernel = fm_run_picked, .shown = {NULL, "0"}

const fm_function fm_fn_abs = {
    .name = "abs", NUMBER, .bind = bind_number, .kernel = abs_of, .can_fail = true, .usage = "abs(x)",
    .doc = "Returns x without its sign.", .since = "1.2.0",
};
const fm_function fm_fn_sign = {
    .name = "sign", .aliases = {"signum"}, NUMBER, .bind = bind_sign,
    .kernel = sign_of, .usage = "sign(x)", .doc = "Returns -1.0, 0.0 or 1.0.",
    .since = "1.4.0",
};
const fm_function fm_fn_round = {
    .name = "round", ROUNDS, .bind = bind_half_up, .usage = "round(x[, digits])",
    .doc = "Rounds, halves away from zero.", .since = "1.5.0",
};
const fm_function fm_fn_bround = {
    .name = "bround", ROUNDS, .bind = bind_half_even, .usage = "bround(x[, digits])",
    .doc = "Rounds, halves to even.", .since = "2.0.0",
};
const fm_function fm_fn_ceil = {
    .name = "ceil", .aliases = {"ceiling"}, WHOLE, .bind = bind_ceil, .usage = "ceil(x[, digits])",
    .doc = "Returns the smallest whole number not below x.", .since = "1.4.0",
};
const fm_function fm_fn_floor = {
    .name = "floor", WHOLE, .bind = bind_floor, .usage = "floor(x[, digits])",
    .doc = "Returns the largest whole number not above x.", .since = "1.4.0",
};
