/* expr/fn_truth.c: IS NULL, IS TRUE and their kin: questions about a value that are never null themselves; isnan.
 *
 * Cases  tests/golden/functions/truth.test */
#include "expr/eval_internal.h"

/* 1 where the lane is null. */
static void null_bytes(const fm_vec *v, uint8_t *out, int64_t n)
{
    if (v->type->id == FM_TYPE_NULL) {
        memset(out, 1, (size_t)n);
    } else if (v->validity) {
        for (int64_t i = 0; i < n; i++) out[i] = !fm_bit_get(v->validity, i);
    }
}

static fm_status is_null(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    null_bytes(args, fm_vec_bool_out(out), out->len);
    return FM_OK;
}

static fm_status is_not_null(fm_call *call, const fm_vec *args, fm_vec *out)
{
    uint8_t *to = fm_vec_bool_out(out);
    (void)call;
    null_bytes(args, to, out->len);
    for (int64_t i = 0; i < out->len; i++) to[i] ^= 1;
    return FM_OK;
}

/* Null lanes hold 0: so the bytes of a boolean already say "is true". */
static fm_status is_true(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    memcpy(fm_vec_bool_out(out), args[0].values, (size_t)out->len);
    return FM_OK;
}

static fm_status is_not_true(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    for (int64_t i = 0; i < out->len; i++) fm_vec_bool_out(out)[i] = fm_vec_bool(args)[i] ^ 1;
    return FM_OK;
}

static fm_status is_false(fm_call *call, const fm_vec *args, fm_vec *out)
{
    uint8_t *to = fm_vec_bool_out(out);
    (void)call;
    null_bytes(args, to, out->len);
    for (int64_t i = 0; i < out->len; i++) to[i] = !to[i] & !fm_vec_bool(args)[i];
    return FM_OK;
}

static fm_status is_not_false(fm_call *call, const fm_vec *args, fm_vec *out)
{
    uint8_t *to = fm_vec_bool_out(out);
    FM_TRY(is_false(call, args, out));
    for (int64_t i = 0; i < out->len; i++) to[i] ^= 1;
    return FM_OK;
}

static fm_status is_nan(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const double *x = fm_vec_f64(args);
    (void)call;
    for (int64_t i = 0; i < out->len; i++) fm_vec_bool_out(out)[i] = x[i] != x[i];
    return FM_OK;
}

static fm_status bind(fm_bind *b, fm_error *err)
{
    (void)err;
    b->returns = fm_type_bool();
    b->nullable = false;
    return FM_OK;
}

#define ENTRY(ident, c_name, class, run, ...)                                                 \
    const fm_function fm_fn_##ident = {                                                       \
        .name = c_name, .args = {class, FM_ARG_END}, .args_min = 1, .args_max = 1, .bind = bind, \
        .kernel = run, .nulls = FM_NULLS_CUSTOM, .since = "1.0.0", __VA_ARGS__}

ENTRY(isnull, "isnull", FM_ARG_ANY, is_null, .usage = "isnull(x)", .doc = "Returns whether x is null.");
ENTRY(isnotnull, "isnotnull", FM_ARG_ANY, is_not_null, .usage = "isnotnull(x)",
      .doc = "Returns whether x is not null.");
ENTRY(isunknown, "isunknown", FM_ARG_BOOL, is_null, .usage = "x IS UNKNOWN",
      .doc = "Returns whether the truth value x is null.");
ENTRY(isnotunknown, "isnotunknown", FM_ARG_BOOL, is_not_null, .usage = "x IS NOT UNKNOWN",
      .doc = "Returns whether the truth value x is not null.");
ENTRY(istrue, "istrue", FM_ARG_BOOL, is_true, .usage = "x IS TRUE", .doc = "Returns whether x is true.");
ENTRY(isnottrue, "isnottrue", FM_ARG_BOOL, is_not_true, .usage = "x IS NOT TRUE",
      .doc = "Returns whether x is false or null.");
ENTRY(isfalse, "isfalse", FM_ARG_BOOL, is_false, .usage = "x IS FALSE", .doc = "Returns whether x is false.");
ENTRY(isnotfalse, "isnotfalse", FM_ARG_BOOL, is_not_false, .usage = "x IS NOT FALSE",
      .doc = "Returns whether x is true or null.");
ENTRY(isnan, "isnan", FM_ARG_F64, is_nan, .usage = "isnan(x)", .doc = "Returns whether x is NaN; false for null.");

/* not(x) as a function is the NOT operator's kernel. */
static fm_status not(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return fm_bool_not(args, call->rows, call->arena, out, call->err);
}

const fm_function fm_fn_not = {
    .name = "not",
    .aliases = {"!"},
    .args = {FM_ARG_BOOL, FM_ARG_END},
    .args_min = 1,
    .args_max = 1,
    .returns = fm_type_bool,
    .kernel = not,
    .nulls = FM_NULLS_STRICT,
    .usage = "NOT x",
    .doc = "Returns true for false and false for true.",
    .since = "1.0.0",
};
