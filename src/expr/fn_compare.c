/* expr/fn_compare.c: = <=> < <= > >= and !=.
 *
 * Rule   Spark: NaN equals NaN and is larger than any number, -0.0 equals 0.0, text compares by its bytes;
 *        both sides are cast to a common type (strings become what they meet); <=> treats null as a value.
 * Cases  tests/golden/functions/comparison.test */
#include "base/limits.h"
#include "expr/coerce.h"
#include "expr/decimal.h"
#include "expr/eval_internal.h"
#include "expr/kernel.h"
#include "expr/resolve_text.h"

typedef enum compare_op { OP_EQ, OP_LT, OP_LE, OP_GT, OP_GE, OP_NE } compare_op;

/* --- loops ------------------------------------------------------------------------------------------- */

#define LOOP(name, T, TEST)                                                                   \
    static void name(uint8_t *restrict out, const void *restrict left, const void *restrict right, \
                     int64_t n)                                                               \
    {                                                                                         \
        const T *restrict x = left, *restrict y = right;                                      \
        for (int64_t i = 0; i < n; i++) {                                                     \
            T a = x[i], b = y[i];                                                             \
            out[i] = (TEST);                                                                  \
        }                                                                                     \
    }
#define LOOPS(name, T)                                                                        \
    LOOP(eq_##name, T, a == b)                                                                \
    LOOP(lt_##name, T, a < b)                                                                 \
    LOOP(le_##name, T, a <= b)
/* NaN is equal to itself and behind all numbers. */
#define FLOAT_LOOPS(name, T)                                                                  \
    LOOP(eq_##name, T, (a == b) | ((a != a) & (b != b)))                                      \
    LOOP(lt_##name, T, (a < b) | ((a == a) & (b != b)))                                       \
    LOOP(le_##name, T, (a <= b) | (b != b))
LOOPS(u8, uint8_t)
LOOPS(i8, int8_t)
LOOPS(i16, int16_t)
LOOPS(i32, int32_t)
LOOPS(i64, int64_t)
LOOPS(i128, fm_i128)
FLOAT_LOOPS(f32, float)
FLOAT_LOOPS(f64, double)

/* The first eight bytes of a view are its length and first four bytes: they settle most inequalities. */
static inline uint64_t view_head(const fm_view *v)
{
    uint64_t head;
    memcpy(&head, v, sizeof head);
    return head;
}

static void eq_view(uint8_t *restrict out, const void *restrict left, const void *restrict right,
                    int64_t n)
{
    const fm_view *x = left, *y = right;
    for (int64_t i = 0; i < n; i++)
        out[i] = view_head(&x[i]) == view_head(&y[i]) && fm_view_eq(&x[i], &y[i]);
}

static void lt_view(uint8_t *restrict out, const void *restrict left, const void *restrict right,
                    int64_t n)
{
    const fm_view *x = left, *y = right;
    for (int64_t i = 0; i < n; i++) out[i] = fm_view_cmp(&x[i], &y[i]) < 0;
}

static void le_view(uint8_t *restrict out, const void *restrict left, const void *restrict right,
                    int64_t n)
{
    const fm_view *x = left, *y = right;
    for (int64_t i = 0; i < n; i++) out[i] = fm_view_cmp(&x[i], &y[i]) <= 0;
}

typedef void (*loop_fn)(uint8_t *restrict out, const void *restrict left, const void *restrict right,
                        int64_t n);

/* {=, <, <=}; the others are these with the sides or the answer turned. */
static const loop_fn *loops_of(const fm_type *type)
{
    static const loop_fn u8[] = {eq_u8, lt_u8, le_u8}, i8[] = {eq_i8, lt_i8, le_i8},
                         i16[] = {eq_i16, lt_i16, le_i16}, i32[] = {eq_i32, lt_i32, le_i32},
                         i64[] = {eq_i64, lt_i64, le_i64}, i128[] = {eq_i128, lt_i128, le_i128},
                         f32[] = {eq_f32, lt_f32, le_f32}, f64[] = {eq_f64, lt_f64, le_f64},
                         view[] = {eq_view, lt_view, le_view};
    switch (type->id) {
    case FM_TYPE_BOOL: return u8;
    case FM_TYPE_I8: return i8;
    case FM_TYPE_I16: return i16;
    case FM_TYPE_I32:
    case FM_TYPE_DATE:
    case FM_TYPE_INTERVAL_YM: return i32;
    case FM_TYPE_I64:
    case FM_TYPE_TIMESTAMP:
    case FM_TYPE_TIMESTAMP_NTZ:
    case FM_TYPE_INTERVAL_DT: return i64;
    case FM_TYPE_DECIMAL: return i128;
    case FM_TYPE_F32: return f32;
    case FM_TYPE_F64: return f64;
    case FM_TYPE_STRING:
    case FM_TYPE_BINARY: return view;
    default: return NULL;
    }
}

static void invert(uint8_t *restrict bytes, int64_t n)
{
    for (int64_t i = 0; i < n; i++) bytes[i] ^= 1;
}

static void compare_nested(compare_op op, uint8_t *out, const uint64_t *valid, const fm_vec *a,
                           const fm_vec *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int order;
        if (!fm_bit_valid(valid, i)) continue;
        order = fm_vec_cmp(a, i, b, i);
        switch (op) {
        case OP_EQ: out[i] = order == 0; break;
        case OP_NE: out[i] = order != 0; break;
        case OP_LT: out[i] = order < 0; break;
        case OP_LE: out[i] = order <= 0; break;
        case OP_GT: out[i] = order > 0; break;
        case OP_GE: out[i] = order >= 0; break;
        }
    }
}

static fm_status compare(compare_op op, const fm_vec *args, fm_vec *out)
{
    const loop_fn *loops = loops_of(args[0].type);
    const void *a = args[0].values, *b = args[1].values;
    uint8_t *to = fm_vec_bool_out(out);
    if (!loops) {
        compare_nested(op, to, out->validity, &args[0], &args[1], out->len);
        return FM_OK;
    }
    switch (op) {
    case OP_EQ: loops[0](to, a, b, out->len); break;
    case OP_NE:
        loops[0](to, a, b, out->len);
        invert(to, out->len);
        break;
    case OP_LT: loops[1](to, a, b, out->len); break;
    case OP_LE: loops[2](to, a, b, out->len); break;
    case OP_GT: loops[1](to, b, a, out->len); break;
    case OP_GE: loops[2](to, b, a, out->len); break;
    }
    return FM_OK;
}

/* null <=> null is true, null <=> x false; never null. */
static fm_status equal_nulls(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const loop_fn *loops = loops_of(args[0].type);
    uint8_t *to = fm_vec_bool_out(out);
    (void)call;
    if (args[0].type->id == FM_TYPE_NULL) {
        memset(to, 1, (size_t)out->len);
        return FM_OK;
    }
    if (loops && !args[0].validity && !args[1].validity) {
        loops[0](to, args[0].values, args[1].values, out->len);
        return FM_OK;
    }
    if (loops) loops[0](to, args[0].values, args[1].values, out->len);
    for (int64_t i = 0; i < out->len; i++) {
        bool null_a = fm_vec_is_null(&args[0], i), null_b = fm_vec_is_null(&args[1], i);
        if (null_a || null_b)
            to[i] = null_a && null_b;
        else if (!loops)
            to[i] = fm_vec_cmp(&args[0], i, &args[1], i) == 0;
    }
    return FM_OK;
}

/* --- types ------------------------------------------------------------------------------------------- */

static bool orderable(const fm_type *t)
{
    if (t->id == FM_TYPE_MAP) return false;
    for (int32_t i = 0; i < t->n_fields; i++)
        if (!orderable(t->fields[i].type)) return false;
    return true;
}

/* The type both sides are compared in; NULL: none. */
static const fm_type *comparing_type(const fm_bind *b, const fm_type *x, const fm_type *y)
{
    const fm_type *other;
    if (x->id != FM_TYPE_STRING && y->id != FM_TYPE_STRING) {
        /* Without ANSI a boolean may stand beside a number: true is 1. */
        if (!b->conf->ansi && x->id == FM_TYPE_BOOL && fm_type_is_numeric(y)) return y;
        if (!b->conf->ansi && y->id == FM_TYPE_BOOL && fm_type_is_numeric(x)) return x;
        const fm_type *common = fm_type_common(b->arena, b->conf, x, y);
        return common || !fm_type_same_shape(x, y) ? common : x;
    }
    other = x->id == FM_TYPE_STRING ? y : x;
    if (other->id == FM_TYPE_STRING || other->id == FM_TYPE_NULL) return fm_type_string();
    if (b->conf->ansi) return fm_type_common(b->arena, b->conf, x, y);
    if (other->id == FM_TYPE_DECIMAL) return fm_type_f64();
    return fm_type_is_nested(other) ? NULL : other;
}

/* A whole number as a literal beside a decimal takes the digits it has, no more. */
static const fm_type *type_of(const fm_bind *b, int i)
{
    const fm_expr *e = b->args[i];
    int64_t x;
    int digits = 1;
    if (b->args[1 - i]->type->id != FM_TYPE_DECIMAL || e->kind != FM_EXPR_LITERAL ||
        !fm_type_is_integer(e->type) || fm_vec_is_null(&e->value, 0))
        return e->type;
    switch (e->type->id) {
    case FM_TYPE_I8: x = fm_vec_i8(&e->value)[0]; break;
    case FM_TYPE_I16: x = fm_vec_i16(&e->value)[0]; break;
    case FM_TYPE_I32: x = fm_vec_i32(&e->value)[0]; break;
    default: x = fm_vec_i64(&e->value)[0]; break;
    }
    for (x /= 10; x; x /= 10) digits++;
    return fm_type_decimal(b->arena, digits, 0);
}

static fm_status bind_compare(fm_bind *b, fm_error *err)
{
    const fm_type *x = type_of(b, 0), *y = type_of(b, 1), *type;
    if (!x || !y) return fm_no_memory(b->arena, err);
    type = comparing_type(b, x, y);
    if (!type)
        return fm_fail_bind(b, err, "BINARY_OP_DIFF_TYPES",
                            "the left and right operands of the binary operator have incompatible types (%s "
                            "and %s).",
                            b->args[0]->type, b->args[1]->type);
    if (!orderable(type))
        return fm_fail_bind(b, err, "INVALID_ORDERING_TYPE",
                            "The operator does not support ordering on type %s.", type, NULL);
    b->returns = fm_type_bool();
    b->cast_args[0] = b->cast_args[1] = type;
    return FM_OK;
}

static fm_status bind_equal_nulls(fm_bind *b, fm_error *err)
{
    FM_TRY(bind_compare(b, err));
    b->nullable = false;
    return FM_OK;
}

/* --- whole numbers beside decimal literals ----------------------------------------------------------- */

static bool is_decimal_literal(const fm_expr *e) { return e->kind == FM_EXPR_LITERAL && e->type->id == FM_TYPE_DECIMAL && !fm_vec_is_null(&e->value, 0); }

/* The largest whole number that is at most the literal, or the smallest that is at least. */
static fm_i128 whole(const fm_expr *literal, bool up)
{
    fm_i128 x = fm_vec_decimal(&literal->value)[0], unit = fm_pow10_i128(literal->type->scale), q = x / unit, rest = x % unit;

    if (up) return q + (rest > 0);
    return q - (rest < 0);
}

fm_status fm_compare_as_whole(fm_arena *arena, fm_str operator_name, fm_expr **args, fm_expr **out, fm_error *err)
{
    bool less = operator_name.len && operator_name.ptr[0] == '<', greater = operator_name.len && operator_name.ptr[0] == '>';
    bool or_equal = operator_name.len == 2 && operator_name.ptr[1] == '=';

    *out = NULL;
    if ((!less && !greater) || operator_name.len > 2 || (operator_name.len == 2 && !or_equal)) return FM_OK;
    int at = is_decimal_literal(args[1]) ? 1 : 0;
    if (!is_decimal_literal(args[at]) || !fm_type_is_integer(args[1 - at]->type)) return FM_OK;
    /* As if the literal stood on the right: x < 3.5 is x < 4, x <= 3.5 is x <= 3, x > 3.5 is x > 3, x >= 3.5 is x >= 4. */
    if (at == 0) less = !less;
    fm_i128 value = whole(args[at], less != or_equal);
    fm_i128 exact = fm_vec_decimal(&args[at]->value)[0], unit = fm_pow10_i128(args[at]->type->scale);
    if (exact / unit > INT64_MAX || exact / unit < INT64_MIN || value > INT64_MAX || value < INT64_MIN) {
        fm_expr *call = fm_expr_call(arena, operator_name, args, 2, args[at]->pos);
        *out = fm_expr_literal_bool(arena, less == (exact > 0));
        if (*out) (*out)->written = call;
        return *out && call ? FM_OK : fm_no_memory(arena, err);
    }
    const fm_expr *written = args[at];
    args[at] = fm_expr_literal_i64(arena, fm_type_i64(), (int64_t)value);
    if (!args[at]) return fm_no_memory(arena, err);
    args[at]->written = written;
    return FM_OK;
}

/* --- entries ----------------------------------------------------------------------------------------- */

#define ENTRY(ident, c_name, op, ...)                                                         \
    static fm_status run_##ident(fm_call *call, const fm_vec *args, fm_vec *out)              \
    {                                                                                         \
        (void)call;                                                                           \
        return compare(op, args, out);                                                        \
    }                                                                                         \
    const fm_function fm_fn_##ident = {                                                       \
        .name = c_name, .args = {FM_ARG_ANY, FM_ARG_ANY, FM_ARG_END}, .args_min = 2, .args_max = 2, \
        .bind = bind_compare, .kernel = run_##ident, .nulls = FM_NULLS_STRICT, .since = "1.0.0", \
        __VA_ARGS__}

ENTRY(op_eq, "=", OP_EQ, .aliases = {"=="}, .usage = "a = b", .doc = "Returns whether a equals b.");
ENTRY(op_ne, "!=", OP_NE, .aliases = {"<>"}, .usage = "a != b", .doc = "Returns whether a differs from b.");
ENTRY(op_lt, "<", OP_LT, .usage = "a < b", .doc = "Returns whether a is less than b.");
ENTRY(op_le, "<=", OP_LE, .usage = "a <= b", .doc = "Returns whether a is at most b.");
ENTRY(op_gt, ">", OP_GT, .usage = "a > b", .doc = "Returns whether a is greater than b.");
ENTRY(op_ge, ">=", OP_GE, .usage = "a >= b", .doc = "Returns whether a is at least b.");

const fm_function fm_fn_op_eq_null = {
    .name = "<=>",
    .aliases = {"equal_null"},
    .args = {FM_ARG_ANY, FM_ARG_ANY, FM_ARG_END},
    .args_min = 2,
    .args_max = 2,
    .bind = bind_equal_nulls,
    .kernel = equal_nulls,
    .nulls = FM_NULLS_CUSTOM,
    .usage = "a <=> b",
    .doc = "Returns whether a equals b, where null equals null.",
    .since = "1.1.0",
};
