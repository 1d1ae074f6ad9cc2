/* expr/fn_bucket.c: bit_count(x), bit_get(x, pos), factorial(n), width_bucket(value, min, max, buckets).
 *
 * Rule   Spark: bit_count widens to 64 bits with the sign. bit_get: pos counts from the right, from 0, and must be in the type.
 *        factorial: 0 to 20, null else. width_bucket: 0 below, buckets + 1 above; null where the buckets make no sense.
 * Cases  tests/golden/functions/number.test */
#include <math.h>

#include "expr/call_args.h"
#include "expr/kernel.h"

static int64_t integer_at(const fm_vec *v, int64_t i)
{
    switch (v->type->id) {
    case FM_TYPE_BOOL: return fm_vec_bool(v)[i];
    case FM_TYPE_I8: return fm_vec_i8(v)[i];
    case FM_TYPE_I16: return fm_vec_i16(v)[i];
    case FM_TYPE_I32: return fm_vec_i32(v)[i];
    default: return fm_vec_i64(v)[i];
    }
}

/* ---- bit_count, bit_get ------------------------------------------------------------------------------------ */

static fm_status bind_bit_count(fm_bind *b, fm_error *err)
{
    const fm_type *type = b->args[0]->type;
    b->returns = fm_type_i32();
    if (fm_type_is_integer(type) || type->id == FM_TYPE_BOOL || type->id == FM_TYPE_NULL) return FM_OK;
    return fm_fail_arg_type(b, 0, "(\"INTEGRAL\" or \"BOOLEAN\")", err);
}

static fm_status bit_count(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    for (int32_t i = 0; i < out->len; i++) fm_vec_i32_out(out)[i] = __builtin_popcountll((uint64_t)integer_at(&args[0], i));
    return FM_OK;
}

static fm_status bind_bit_get(fm_bind *b, fm_error *err)
{
    const fm_type *type = b->args[0]->type;
    b->returns = fm_type_simple(FM_TYPE_I8);
    if (type->id == FM_TYPE_NULL) b->cast_args[0] = fm_type_i32();
    else if (!fm_type_is_integer(type)) return fm_fail_arg_type(b, 0, "\"INTEGRAL\"", err);
    return FM_OK;
}

static fm_status bit_get(fm_call *call, const fm_vec *args, fm_vec *out)
{
    int32_t bits = 8 * (int32_t)fm_type_width(args[0].type);
    for (int32_t i = 0; i < out->len; i++) {
        int32_t pos = fm_vec_i32(&args[1])[i];
        if (fm_call_lane_null(out, i)) continue;
        if (pos < 0 || pos >= bits)
            return fm_fail(call->err, FM_INVALID, "INVALID_PARAMETER_VALUE.BIT_POSITION_RANGE",
                           "The value of parameter(s) `pos` in `%s` is invalid: expects an integer value in [0, %d), but got %d.",
                           call->function->name, (int)bits, (int)pos);
        fm_vec_i8_out(out)[i] = (int8_t)((uint64_t)integer_at(&args[0], i) >> pos & 1);
    }
    return FM_OK;
}

/* ---- factorial --------------------------------------------------------------------------------------------- */

static fm_status bind_factorial(fm_bind *b, fm_error *err)
{
    (void)err;
    b->returns = fm_type_i64();
    b->nullable = true;
    return FM_OK;
}

static fm_status factorial(fm_call *call, const fm_vec *args, fm_vec *out)
{
    enum { FACTORIAL_MAX = 20 }; /* 21! has more than 63 bits */
    uint64_t *own = NULL;
    for (int32_t i = 0; i < out->len; i++) {
        int32_t n = fm_vec_i32(&args[0])[i];
        int64_t product = 1;
        if (fm_call_lane_null(out, i)) continue;
        if (n < 0 || n > FACTORIAL_MAX) {
            FM_TRY(fm_out_null(call, out, &own, i));
            continue;
        }
        for (int32_t k = 2; k <= n; k++) product *= k;
        fm_vec_i64_out(out)[i] = product;
    }
    return FM_OK;
}

/* ---- width_bucket ------------------------------------------------------------------------------------------ */

static fm_status bind_width_bucket(fm_bind *b, fm_error *err)
{
    const fm_type *type = b->args[0]->type;
    bool interval = type->id == FM_TYPE_INTERVAL_YM || type->id == FM_TYPE_INTERVAL_DT;
    b->returns = fm_type_i64();
    b->nullable = true;
    for (int32_t i = 0; i < 3; i++) {
        const fm_type *t = b->args[i]->type;
        bool fits = interval ? t->id == type->id || t->id == FM_TYPE_NULL
                             : fm_type_is_numeric(t) || t->id == FM_TYPE_STRING || t->id == FM_TYPE_NULL;
        if (!fits)
            return fm_fail_arg_type(b, i, interval ? "an interval of one kind" : "(\"DOUBLE\" or an interval)", err);
        if (!interval || t->id == FM_TYPE_NULL) b->cast_args[i] = interval ? type : fm_type_f64();
    }
    return FM_OK;
}

static double number_at(const fm_vec *v, int64_t i)
{
    if (v->type->id == FM_TYPE_F64) return fm_vec_f64(v)[i];
    return v->type->id == FM_TYPE_INTERVAL_YM ? (double)fm_vec_i32(v)[i] : (double)fm_vec_i64(v)[i];
}

/* A double as a long, as Java casts it. */
static int64_t java_long(double x)
{
    if (x != x) return 0;
    if (x >= 0x1p63) return INT64_MAX;
    return x < -0x1p63 ? INT64_MIN : (int64_t)x;
}

static int64_t bucket_of(double value, double min, double max, int64_t buckets)
{
    double n = (double)buckets;
    if (min < max) {
        if (value < min) return 0;
        return value >= max ? buckets + 1 : java_long(n * (value - min) / (max - min)) + 1;
    }
    if (value > min) return 0;
    return value <= max ? buckets + 1 : java_long(n * (min - value) / (min - max)) + 1;
}

static fm_status width_bucket(fm_call *call, const fm_vec *args, fm_vec *out)
{
    uint64_t *own = NULL;
    for (int32_t i = 0; i < out->len; i++) {
        double value, min, max;
        int64_t buckets;
        if (fm_call_lane_null(out, i)) continue;
        value = number_at(&args[0], i);
        min = number_at(&args[1], i);
        max = number_at(&args[2], i);
        buckets = fm_vec_i64(&args[3])[i];
        if (buckets <= 0 || buckets == INT64_MAX || isnan(value) || !isfinite(min) || !isfinite(max) || min == max)
            FM_TRY(fm_out_null(call, out, &own, i));
        else
            fm_vec_i64_out(out)[i] = bucket_of(value, min, max, buckets);
    }
    return FM_OK;
}

#define ENTRY(ident, ...) \
    const fm_function fm_fn_##ident = {.name = #ident, .nulls = FM_NULLS_STRICT, .kernel = ident, __VA_ARGS__}

ENTRY(bit_count, .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = 1, .bind = bind_bit_count,
      .usage = "bit_count(expr)", .since = "3.0.0", .doc = "Returns how many bits of expr, as 64 bits with a sign, are set.");
ENTRY(bit_get, .aliases = {"getbit"}, .args = {FM_ARG_ANY, FM_ARG_I32, FM_ARG_END}, .args_min = 2, .args_max = 2,
      .bind = bind_bit_get, .can_fail = true, .usage = "bit_get(expr, pos)", .since = "3.2.0",
      .doc = "Returns a bit of expr, counted from the right, from 0.");
ENTRY(factorial, .args = {FM_ARG_I32, FM_ARG_END}, .args_min = 1, .args_max = 1, .bind = bind_factorial,
      .usage = "factorial(expr)", .since = "1.5.0", .doc = "Returns the factorial of a number from 0 to 20, null else.");
ENTRY(width_bucket, .args = {FM_ARG_ANY, FM_ARG_ANY, FM_ARG_ANY, FM_ARG_I64, FM_ARG_END}, .args_min = 4, .args_max = 4,
      .bind = bind_width_bucket, .usage = "width_bucket(value, min_value, max_value, num_bucket)", .since = "3.1.0",
      .doc = "Returns the number of the bucket, of num_bucket equally wide ones from min_value to max_value, that value is in.");
