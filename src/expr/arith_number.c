/* expr/arith_number.c: arithmetic on integers and floating point, and the types of results of numbers.
 *
 * The loops take no branch on data; those that can overflow tell whether any lane did, and only then the
 * lanes are looked at one by one. */
#include <math.h>

#include "expr/arith.h"
#include "expr/coerce.h"
#include "expr/decimal.h"

/* --- add, subtract, multiply ------------------------------------------------------------------------- */

/* Integers of up to 32 bits are computed in 64, where nothing overflows; false: some lane does not fit. */
#define SMALL_INT(name, T, OP)                                                                \
    static bool name(void *restrict to, const void *restrict left, const void *restrict right, int64_t n) \
    {                                                                                         \
        const T *restrict a = left, *restrict b = right;                                      \
        T *restrict out = to;                                                                 \
        uint64_t changed = 0;                                                                 \
        for (int64_t i = 0; i < n; i++) {                                                     \
            int64_t x = (int64_t)a[i] OP (int64_t)b[i];                                       \
            out[i] = (T)x;                                                                    \
            changed |= (uint64_t)(x ^ (int64_t)(T)x);                                         \
        }                                                                                     \
        return changed == 0;                                                                  \
    }
SMALL_INT(add_i8, int8_t, +)
SMALL_INT(add_i16, int16_t, +)
SMALL_INT(add_i32, int32_t, +)
SMALL_INT(sub_i8, int8_t, -)
SMALL_INT(sub_i16, int16_t, -)
SMALL_INT(sub_i32, int32_t, -)
SMALL_INT(mul_i8, int8_t, *)
SMALL_INT(mul_i16, int16_t, *)
SMALL_INT(mul_i32, int32_t, *)

static bool add_i64(void *restrict to, const void *restrict left, const void *restrict right, int64_t n)
{
    const uint64_t *restrict a = left, *restrict b = right;
    uint64_t *restrict out = to, wrapped = 0;
    for (int64_t i = 0; i < n; i++) {
        uint64_t sum = a[i] + b[i];
        wrapped |= (a[i] ^ sum) & (b[i] ^ sum); /* the sign bit: both signs differ from the sum's */
        out[i] = sum;
    }
    return !(wrapped >> 63);
}

static bool sub_i64(void *restrict to, const void *restrict left, const void *restrict right, int64_t n)
{
    const uint64_t *restrict a = left, *restrict b = right;
    uint64_t *restrict out = to, wrapped = 0;
    for (int64_t i = 0; i < n; i++) {
        uint64_t difference = a[i] - b[i];
        wrapped |= (a[i] ^ b[i]) & (a[i] ^ difference);
        out[i] = difference;
    }
    return !(wrapped >> 63);
}

static bool mul_i64(void *restrict to, const void *restrict left, const void *restrict right, int64_t n)
{
    const int64_t *restrict a = left, *restrict b = right;
    int64_t *restrict out = to;
    unsigned wrapped = 0;
    for (int64_t i = 0; i < n; i++) wrapped |= __builtin_mul_overflow(a[i], b[i], &out[i]);
    return !wrapped;
}

#define FLOATING(name, T, OP)                                                                 \
    static bool name(void *restrict to, const void *restrict left, const void *restrict right, int64_t n) \
    {                                                                                         \
        const T *restrict a = left, *restrict b = right;                                      \
        T *restrict out = to;                                                                 \
        for (int64_t i = 0; i < n; i++) out[i] = a[i] OP b[i];                                \
        return true;                                                                          \
    }
FLOATING(add_f32, float, +)
FLOATING(add_f64, double, +)
FLOATING(sub_f32, float, -)
FLOATING(sub_f64, double, -)
FLOATING(mul_f32, float, *)
FLOATING(mul_f64, double, *)

typedef bool (*loop_fn)(void *restrict to, const void *restrict left, const void *restrict right, int64_t n);

/* [op][type from I8] */
static const loop_fn loops[3][6] = {
    {add_i8, add_i16, add_i32, add_i64, add_f32, add_f64},
    {sub_i8, sub_i16, sub_i32, sub_i64, sub_f32, sub_f64},
    {mul_i8, mul_i16, mul_i32, mul_i64, mul_f32, mul_f64},
};

static int64_t lane(const fm_vec *v, int64_t i)
{
    switch (v->type->id) {
    case FM_TYPE_I8: return fm_vec_i8(v)[i];
    case FM_TYPE_I16: return fm_vec_i16(v)[i];
    case FM_TYPE_I32: return fm_vec_i32(v)[i];
    default: return fm_vec_i64(v)[i];
    }
}

static bool lane_overflows(fm_arith_op op, const fm_vec *args, int64_t i)
{
    int64_t a = lane(&args[0], i), b = lane(&args[1], i), x;
    bool wraps = op == FM_ADD   ? __builtin_add_overflow(a, b, &x)
                 : op == FM_SUB ? __builtin_sub_overflow(a, b, &x)
                                : __builtin_mul_overflow(a, b, &x);
    switch (args[0].type->id) {
    case FM_TYPE_I8: return x != (int8_t)x;
    case FM_TYPE_I16: return x != (int16_t)x;
    case FM_TYPE_I32: return x != (int32_t)x;
    default: return wraps;
    }
}

static fm_status add_sub_mul(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const fm_arith *a = call->bound;
    loop_fn loop = loops[a->op][out->type->id - FM_TYPE_I8];
    uint64_t *own = NULL;
    if (loop((void *)(uintptr_t)out->values, args[0].values, args[1].values, out->len)) return FM_OK;
    if (a->on_fault == FM_FAULT_WRAP) return FM_OK;
    for (int64_t i = 0; i < out->len; i++)
        if (!fm_call_lane_null(out, i) && lane_overflows(a->op, args, i))
            FM_TRY(fm_arith_overflow(call, args, out, &own, i));
    return FM_OK;
}

/* --- divide ------------------------------------------------------------------------------------------ */

static fm_status divide_f64(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const double *restrict a = fm_vec_f64(&args[0]), *restrict b = fm_vec_f64(&args[1]);
    double *restrict to = fm_vec_f64_out(out);
    unsigned zeros = 0;
    uint64_t *own = NULL;
    for (int64_t i = 0; i < out->len; i++) {
        to[i] = a[i] / b[i];
        zeros |= b[i] == 0;
    }
    if (!zeros) return FM_OK;
    for (int64_t i = 0; i < out->len; i++)
        if (b[i] == 0 && !fm_call_lane_null(out, i)) FM_TRY(fm_arith_zero(call, out, &own, i));
    return FM_OK;
}

static fm_status divide_i64(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const int64_t *a = fm_vec_i64(&args[0]), *b = fm_vec_i64(&args[1]);
    int64_t *to = fm_vec_i64_out(out);
    const fm_arith *arith = call->bound;
    uint64_t *own = NULL;
    for (int64_t i = 0; i < out->len; i++) {
        if (b[i] == 0) {
            if (!fm_call_lane_null(out, i)) FM_TRY(fm_arith_zero(call, out, &own, i));
        } else if (b[i] == -1) {
            to[i] = (int64_t)(0 - (uint64_t)a[i]);
            if (a[i] == INT64_MIN && arith->on_fault != FM_FAULT_WRAP && !fm_call_lane_null(out, i))
                FM_TRY(fm_arith_overflow(call, NULL, out, &own, i));
        } else {
            to[i] = a[i] / b[i];
        }
    }
    return FM_OK;
}

/* --- remainder --------------------------------------------------------------------------------------- */

/* Java's %: the sign of a; and Spark's pmod: moved up by b once when negative. */
#define REMAINDER(name, T)                                                                    \
    static void name(void *restrict to, const void *restrict left, const void *restrict right, bool p, \
                     int64_t n)                                                               \
    {                                                                                         \
        const T *restrict a = left, *restrict b = right;                                      \
        T *restrict out = to;                                                                 \
        for (int64_t i = 0; i < n; i++) {                                                     \
            T r;                                                                              \
            if (b[i] == 0 || b[i] == -1) { /* -1: 0, and the smallest does not trap */        \
                out[i] = 0;                                                                   \
                continue;                                                                     \
            }                                                                                 \
            r = (T)(a[i] % b[i]);                                                             \
            if (p && r < 0) r = (T)((T)(r + b[i]) % b[i]);                                    \
            out[i] = r;                                                                       \
        }                                                                                     \
    }
REMAINDER(rem_i8, int8_t)
REMAINDER(rem_i16, int16_t)
REMAINDER(rem_i32, int32_t)
REMAINDER(rem_i64, int64_t)

static void rem_f64(void *restrict to, const void *restrict left, const void *restrict right, bool p,
                    int64_t n)
{
    const double *restrict a = left, *restrict b = right;
    double *restrict out = to;
    for (int64_t i = 0; i < n; i++) {
        double r = fmod(a[i], b[i]);
        if (p && r < 0) r = fmod(r + b[i], b[i]);
        out[i] = r;
    }
}

static void rem_f32(void *restrict to, const void *restrict left, const void *restrict right, bool p,
                    int64_t n)
{
    const float *restrict a = left, *restrict b = right;
    float *restrict out = to;
    for (int64_t i = 0; i < n; i++) {
        float r = fmodf(a[i], b[i]);
        if (p && r < 0) r = fmodf(r + b[i], b[i]);
        out[i] = r;
    }
}

static bool is_zero(const fm_vec *v, int64_t i)
{
    switch (v->type->id) {
    case FM_TYPE_F32: return fm_vec_f32(v)[i] == 0;
    case FM_TYPE_F64: return fm_vec_f64(v)[i] == 0;
    default: return lane(v, i) == 0;
    }
}

static fm_status remainder_of(fm_call *call, const fm_vec *args, fm_vec *out)
{
    typedef void (*rem_fn)(void *restrict, const void *restrict, const void *restrict, bool, int64_t);
    static const rem_fn rems[] = {rem_i8, rem_i16, rem_i32, rem_i64, rem_f32, rem_f64};
    const fm_arith *a = call->bound;
    uint64_t *own = NULL;
    rems[out->type->id - FM_TYPE_I8]((void *)(uintptr_t)out->values, args[0].values, args[1].values,
                                     a->op == FM_PMOD, out->len);
    for (int64_t i = 0; i < out->len; i++)
        if (is_zero(&args[1], i) && !fm_call_lane_null(out, i))
            FM_TRY(fm_arith_zero(call, out, &own, i));
    return FM_OK;
}

/* --- binding ----------------------------------------------------------------------------------------- */

/* What a string stands for beside a type of number. */
static const fm_type *string_beside(const fm_session_conf *conf, const fm_type *other)
{
    if (!conf->ansi) return fm_type_f64();
    if (fm_type_is_integer(other)) return fm_type_i64();
    return fm_type_is_numeric(other) ? fm_type_f64() : NULL;
}

/* A whole number's type as decimal; a literal takes just the digits it has. */
static void decimal_digits(const fm_expr *e, int *precision, int *scale)
{
    fm_decimal_of_type(e->type, precision, scale);
    if (e->kind == FM_EXPR_LITERAL && fm_type_is_integer(e->type) && !fm_vec_is_null(&e->value, 0)) {
        int64_t x = lane(&e->value, 0);
        *precision = 1;
        for (x = x / 10; x; x /= 10) ++*precision;
    }
}

static fm_status bind_decimals(fm_bind *b, fm_arith *a, fm_error *err)
{
    int p1, s1, p2, s2;
    decimal_digits(b->args[0], &p1, &s1);
    decimal_digits(b->args[1], &p2, &s2);
    b->cast_args[0] = fm_type_decimal(b->arena, p1, s1);
    b->cast_args[1] = fm_type_decimal(b->arena, p2, s2);
    fm_decimal_result(a->op, p1, s1, p2, s2, &a->precision, &a->scale);
    b->returns = a->op == FM_INT_DIV ? fm_type_i64()
                                     : fm_type_decimal(b->arena, a->precision, a->scale);
    a->picked.kernel = fm_arith_decimal;
    return b->cast_args[0] && b->cast_args[1] && b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

fm_status fm_arith_bind_numbers(fm_bind *b, fm_arith *a, bool *done, fm_error *err)
{
    const fm_type *x = b->args[0]->type, *y = b->args[1]->type, *type;
    if (x->id == FM_TYPE_NULL && y->id == FM_TYPE_NULL) x = y = fm_type_f64();
    if (x->id == FM_TYPE_STRING && y->id != FM_TYPE_STRING) x = string_beside(b->conf, y);
    else if (y->id == FM_TYPE_STRING && x->id != FM_TYPE_STRING) y = string_beside(b->conf, x);
    else if (x->id == FM_TYPE_STRING && !b->conf->ansi) x = y = fm_type_f64();
    if (!x || !y) return FM_OK;
    if (x->id == FM_TYPE_NULL) x = y;
    if (y->id == FM_TYPE_NULL) y = x;
    if (!fm_type_is_numeric(x) || !fm_type_is_numeric(y)) return FM_OK;
    *done = true;

    if ((x->id == FM_TYPE_DECIMAL && y->id != FM_TYPE_F32 && y->id != FM_TYPE_F64) ||
        (y->id == FM_TYPE_DECIMAL && x->id != FM_TYPE_F32 && x->id != FM_TYPE_F64)) {
        if (b->args[0]->type->id == FM_TYPE_NULL || b->args[1]->type->id == FM_TYPE_NULL) {
            /* A null literal takes the other side's type first. */
            int p, s;
            fm_decimal_of_type(x, &p, &s);
            fm_decimal_result(a->op, p, s, p, s, &a->precision, &a->scale);
            b->cast_args[0] = b->cast_args[1] = x;
            b->returns = a->op == FM_INT_DIV ? fm_type_i64() : fm_type_decimal(b->arena, a->precision, a->scale);
            a->picked.kernel = fm_arith_decimal;
            return b->returns ? FM_OK : fm_no_memory(b->arena, err);
        }
        return bind_decimals(b, a, err);
    }
    if (a->op == FM_DIV) {
        type = fm_type_f64();
        a->picked.kernel = divide_f64;
    } else if (a->op == FM_INT_DIV) {
        if (!fm_type_is_integer(x) || !fm_type_is_integer(y)) {
            *done = false;
            return FM_OK;
        }
        type = fm_type_i64();
        a->picked.kernel = divide_i64;
    } else {
        type = fm_type_common(b->arena, b->conf, x, y);
        a->picked.kernel = a->op <= FM_MUL ? add_sub_mul : remainder_of;
    }
    if (!type) return fm_no_memory(b->arena, err);
    b->cast_args[0] = b->cast_args[1] = b->returns = type;
    return FM_OK;
}
