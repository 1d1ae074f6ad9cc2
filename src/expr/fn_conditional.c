/* expr/fn_conditional.c: nullif, nullifzero, zeroifnull, nanvl, greatest, least, typeof, assert_true, raise_error.
 *
 * if() and nvl2() are CASE expressions (call.c); coalesce, nvl and ifnull stand in fn_coalesce.c.
 *
 * Cases  tests/golden/functions/conditional.test */
#include "expr/cast.h"
#include "expr/coerce.h"
#include "expr/decimal.h"
#include "expr/eval_internal.h"
#include "expr/kernel.h"
#include "expr/resolve_text.h"

/* --- nullif ------------------------------------------------------------------------------------------ */

static fm_status as_type(fm_call *call, const fm_vec *v, const fm_type *type, fm_vec *out)
{
    return fm_cast_run(v, type, call->ansi ? FM_CAST_ANSI : FM_CAST_LEGACY, call->conf, call->arena, out,
                       call->err);
}

/* a where it does not equal b. bound: the type they are compared in. */
static fm_status nullif(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const fm_type *type = call->bound;
    uint64_t *keep = fm_arena_buffer(call->arena, (size_t)fm_bit_words(call->rows) * 8, false);
    fm_vec a, b;
    if (!keep) return fm_no_memory(call->arena, call->err);
    FM_TRY(as_type(call, &args[0], type, &a));
    FM_TRY(as_type(call, &args[1], type, &b));
    fm_bits_fill(keep, call->rows);
    for (int64_t i = 0; i < call->rows; i++)
        if (!fm_vec_is_null(&a, i) && !fm_vec_is_null(&b, i) && fm_vec_cmp(&a, i, &b, i) == 0)
            fm_bit_clear(keep, i);
    return fm_vec_mask(out, &args[0], keep, call->arena, call->err);
}

static fm_status bind_nullif(fm_bind *b, fm_error *err)
{
    const fm_type *x = b->args[0]->type, *y = b->args[1]->type;
    const fm_type *type = fm_type_common(b->arena, b->conf, x, y);
    /* Without ANSI a comparison, unlike a union, turns the string into the other type. */
    if (!b->conf->ansi && x->id != y->id && type && type->id == FM_TYPE_STRING) {
        const fm_type *other = x->id == FM_TYPE_STRING ? y : x;
        if (other->id != FM_TYPE_NULL) type = other;
    }
    if (!type)
        return fm_fail_bind(b, err, "BINARY_OP_DIFF_TYPES",
                            "the left and right operands of the binary operator have incompatible types (%s "
                            "and %s).",
                            x, y);
    b->bound = type;
    b->returns = x;
    b->nullable = true;
    return FM_OK;
}

/* --- zeros and nulls --------------------------------------------------------------------------------- */

static bool is_zero(const fm_vec *v, int64_t i)
{
    switch (v->type->id) {
    case FM_TYPE_I8: return fm_vec_i8(v)[i] == 0;
    case FM_TYPE_I16: return fm_vec_i16(v)[i] == 0;
    case FM_TYPE_I32: return fm_vec_i32(v)[i] == 0;
    case FM_TYPE_I64: return fm_vec_i64(v)[i] == 0;
    case FM_TYPE_F32: return fm_vec_f32(v)[i] == 0;
    case FM_TYPE_F64: return fm_vec_f64(v)[i] == 0;
    default: return fm_vec_decimal(v)[i] == 0;
    }
}

/* nullif(x, 0). bound: the number a text is compared as, or NULL. */
static fm_status nullifzero(fm_call *call, const fm_vec *args, fm_vec *out)
{
    uint64_t *keep = fm_arena_buffer(call->arena, (size_t)fm_bit_words(call->rows) * 8, false);
    fm_vec number = args[0];
    if (!keep) return fm_no_memory(call->arena, call->err);
    if (call->bound) FM_TRY(as_type(call, &args[0], call->bound, &number));
    fm_bits_fill(keep, call->rows);
    for (int64_t i = 0; i < call->rows; i++)
        if (!fm_vec_is_null(&number, i) && is_zero(&number, i)) fm_bit_clear(keep, i);
    return fm_vec_mask(out, &args[0], keep, call->arena, call->err);
}

static fm_status bind_nullifzero(fm_bind *b, fm_error *err)
{
    const fm_type *type = b->args[0]->type;
    b->nullable = true;
    b->returns = type;
    if (type->id == FM_TYPE_NULL) b->returns = b->cast_args[0] = fm_type_i32();
    else if (type->id == FM_TYPE_STRING) b->bound = b->conf->ansi ? fm_type_i64() : fm_type_i32();
    else if (!fm_type_is_numeric(type))
        return fm_fail_bind(b, err, "BINARY_OP_DIFF_TYPES",
                            "the left and right operands of the binary operator have incompatible types (%s "
                            "and %s).",
                            type, fm_type_i32());
    return FM_OK;
}

/* coalesce(x, 0). Null lanes of numbers hold 0 already. */
static fm_status zeroifnull(fm_call *call, const fm_vec *args, fm_vec *out)
{
    fm_view zero = fm_view_of("0", 1);
    if (args[0].type->id != FM_TYPE_STRING) {
        *out = args[0];
        out->validity = NULL;
        return FM_OK;
    }
    for (int64_t i = 0; i < call->rows; i++)
        fm_vec_view_out(out)[i] = fm_vec_is_null(&args[0], i) ? zero : fm_vec_view(&args[0])[i];
    return FM_OK;
}

static fm_status bind_zeroifnull(fm_bind *b, fm_error *err)
{
    const fm_type *type = fm_type_common(b->arena, b->conf, b->args[0]->type, fm_type_i32());
    if (!type)
        return fm_fail_bind(b, err, "DATA_DIFF_TYPES",
                            "Input to `coalesce` should all be the same type, but there are %s and %s.",
                            b->args[0]->type, fm_type_i32());
    b->returns = b->cast_args[0] = type;
    b->nullable = false;
    return FM_OK;
}

/* --- nanvl ------------------------------------------------------------------------------------------- */

static fm_status nanvl(fm_call *call, const fm_vec *args, fm_vec *out)
{
    fm_vec is_nan;
    FM_TRY(fm_vec_init(&is_nan, fm_type_bool(), call->rows, call->arena, call->err));
    for (int64_t i = 0; i < call->rows; i++)
        fm_vec_bool_out(&is_nan)[i] = args[0].type->id == FM_TYPE_F32
                                          ? fm_vec_f32(&args[0])[i] != fm_vec_f32(&args[0])[i]
                                          : fm_vec_f64(&args[0])[i] != fm_vec_f64(&args[0])[i];
    return fm_vec_blend(out, &is_nan, &args[1], &args[0], call->arena, call->err);
}

static fm_status bind_nanvl(fm_bind *b, fm_error *err)
{
    bool floats = b->args[0]->type->id == FM_TYPE_F32 && b->args[1]->type->id == FM_TYPE_F32;
    (void)err;
    b->returns = floats ? fm_type_simple(FM_TYPE_F32) : fm_type_f64();
    b->cast_args[0] = b->cast_args[1] = b->returns;
    b->nullable = true;
    return FM_OK;
}

/* --- greatest, least --------------------------------------------------------------------------------- */

/* The extreme of the values that are not null; null only when all are. */
static fm_status extreme(fm_call *call, const fm_vec *args, int sign, fm_vec *out)
{
    int32_t n = call->expr->n_args;
    const fm_vec **parts = fm_arena_array(call->arena, const fm_vec *, n);
    int32_t *from = fm_arena_array(call->arena, int32_t, call->rows);
    fm_vec all;
    if (!parts || !from) return fm_no_memory(call->arena, call->err);
    if (call->expr->type->id == FM_TYPE_NULL)
        return fm_vec_nulls(out, call->expr->type, call->rows, call->arena, call->err);
    for (int32_t i = 0; i < call->rows; i++) {
        int32_t best = -1;
        for (int32_t k = 0; k < n; k++)
            if (!fm_vec_is_null(&args[k], i) &&
                (best < 0 || sign * fm_vec_cmp(&args[k], i, &args[best], i) > 0))
                best = k;
        from[i] = best < 0 ? -1 : best * call->rows + i;
    }
    for (int32_t k = 0; k < n; k++) parts[k] = &args[k];
    FM_TRY(fm_vec_concat(&all, parts, n, call->arena, call->err));
    return fm_vec_gather(out, &all, from, call->rows, call->arena, call->err);
}

static fm_status greatest(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return extreme(call, args, 1, out);
}

static fm_status least(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return extreme(call, args, -1, out);
}

static fm_status bind_extreme(fm_bind *b, fm_error *err)
{
    const fm_type *type = fm_type_null();
    b->nullable = true;
    for (int32_t i = 0; i < b->n_args; i++) {
        const fm_type *wider = fm_type_common_no_string(b->arena, b->conf, type, b->args[i]->type);
        if (!wider)
            return fm_fail_bind(b, err, "DATA_DIFF_TYPES",
                                "Input to `greatest` and `least` should all be the same type, but there are %s "
                                "and %s.",
                                type, b->args[i]->type);
        type = wider;
        b->nullable &= b->args[i]->nullable;
    }
    if (type->id == FM_TYPE_MAP)
        return fm_fail_bind(b, err, "INVALID_ORDERING_TYPE", "It does not support ordering on type %s.", type,
                            NULL);
    for (int32_t i = 0; i < b->n_args; i++) b->cast_args[i] = type;
    b->returns = type;
    return FM_OK;
}

/* --- typeof ------------------------------------------------------------------------------------------ */

static fm_status bind_typeof(fm_bind *b, fm_error *err)
{
    fm_strbuf text = {0};
    fm_str *name = fm_arena_one(b->arena, fm_str);
    if (!name) return fm_no_memory(b->arena, err);
    fm_type_text(b->args[0]->type, &text);
    *name = fm_arena_str(b->arena, fm_strbuf_str(&text));
    fm_strbuf_fini(&text);
    if (!name->ptr) return fm_no_memory(b->arena, err);
    b->bound = name;
    b->returns = fm_type_string();
    b->nullable = false;
    return FM_OK;
}

static fm_status type_of(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const fm_str *name = call->bound; /* lives with the query */
    fm_view view = fm_view_of(name->ptr, name->len);
    (void)args;
    for (int64_t i = 0; i < out->len; i++) fm_vec_view_out(out)[i] = view;
    return FM_OK;
}

/* --- errors on purpose ------------------------------------------------------------------------------- */

static fm_status bind_void(fm_bind *b, fm_error *err)
{
    (void)err;
    b->returns = fm_type_null();
    b->nullable = true;
    return FM_OK;
}

static fm_status raise_error(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const fm_vec *text = &args[call->expr->n_args - 1];
    if (call->rows == 0) return fm_vec_nulls(out, fm_type_null(), 0, call->arena, call->err);
    if (call->expr->n_args == 2 && !fm_vec_is_null(&args[0], 0))
        return fm_fail(call->err, FM_INVALID, "USER_RAISED_EXCEPTION_UNKNOWN_ERROR_CLASS",
                       "Found unknown error class %.*s.", FM_STR_ARG(fm_vec_str(&args[0], 0)));
    if (fm_vec_is_null(text, 0))
        return fm_fail(call->err, FM_INVALID, "USER_RAISED_EXCEPTION", "null");
    return fm_fail(call->err, FM_INVALID, "USER_RAISED_EXCEPTION", "%.*s", FM_STR_ARG(fm_vec_str(text, 0)));
}

static fm_status assert_true(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const uint8_t *holds = fm_vec_bool(&args[0]);
    for (int64_t i = 0; i < call->rows; i++) {
        fm_strbuf text = {0};
        fm_status st;
        if (holds[i]) continue; /* null lanes hold 0, and null is not true */
        if (call->expr->n_args == 2) {
            fm_str message = fm_vec_is_null(&args[1], i) ? FM_STR("null") : fm_vec_str(&args[1], i);
            return fm_fail(call->err, FM_INVALID, "USER_RAISED_EXCEPTION", "%.*s", FM_STR_ARG(message));
        }
        fm_expr_sql(call->expr->args[0], &text);
        st = fm_fail(call->err, FM_INVALID, "USER_RAISED_EXCEPTION", "'%.*s' is not true!",
                     FM_STR_ARG(fm_strbuf_str(&text)));
        fm_strbuf_fini(&text);
        return st;
    }
    return fm_vec_nulls(out, fm_type_null(), call->rows, call->arena, call->err);
}

/* --- entries ----------------------------------------------------------------------------------------- */

#define ENTRY(ident, from, to, bound_by, run, ...)                                            \
    const fm_function fm_fn_##ident = {                                                       \
        .name = #ident, .args_min = from, .args_max = to, .bind = bound_by, .kernel = run,    \
        .nulls = FM_NULLS_CUSTOM, __VA_ARGS__}

ENTRY(nullif, 2, 2, bind_nullif, nullif, .args = {FM_ARG_ANY, FM_ARG_ANY, FM_ARG_END}, .can_fail = true,
      .usage = "nullif(a, b)", .since = "2.0.0", .doc = "Returns null where a equals b, else a.");
ENTRY(nullifzero, 1, 1, bind_nullifzero, nullifzero, .args = {FM_ARG_ANY, FM_ARG_END}, .can_fail = true,
      .usage = "nullifzero(x)", .since = "4.0.0", .doc = "Returns null where x is 0, else x.");
ENTRY(zeroifnull, 1, 1, bind_zeroifnull, zeroifnull, .args = {FM_ARG_ANY, FM_ARG_END},
      .usage = "zeroifnull(x)", .since = "4.0.0", .doc = "Returns 0 where x is null, else x.");
ENTRY(nanvl, 2, 2, bind_nanvl, nanvl, .args = {FM_ARG_NUMERIC, FM_ARG_NUMERIC, FM_ARG_END},
      .usage = "nanvl(a, b)", .since = "1.5.0", .doc = "Returns b where a is NaN, else a.");
ENTRY(greatest, 2, -1, bind_extreme, greatest, .args = {FM_ARG_ANY, FM_ARG_END}, .usage = "greatest(a, b, ...)",
      .since = "1.5.0", .doc = "Returns the greatest of its arguments, nulls left out.");
ENTRY(least, 2, -1, bind_extreme, least, .args = {FM_ARG_ANY, FM_ARG_END}, .usage = "least(a, b, ...)",
      .since = "1.5.0", .doc = "Returns the least of its arguments, nulls left out.");
ENTRY(typeof, 1, 1, bind_typeof, type_of, .args = {FM_ARG_ANY, FM_ARG_END}, .usage = "typeof(x)",
      .since = "3.0.0", .doc = "Returns the name of the type of x.");
ENTRY(assert_true, 1, 2, bind_void, assert_true, .args = {FM_ARG_BOOL, FM_ARG_STRING, FM_ARG_END},
      .can_fail = true, .usage = "assert_true(x[, message])", .since = "2.0.0",
      .doc = "Fails unless x is true, else returns null.");
ENTRY(raise_error, 1, 2, bind_void, raise_error, .args = {FM_ARG_STRING, FM_ARG_ANY, FM_ARG_END},
      .can_fail = true, .nondeterministic = true, .usage = "raise_error(message)", .since = "3.1.0",
      .doc = "Fails with the message.");
