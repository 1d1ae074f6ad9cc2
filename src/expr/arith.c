/* expr/arith.c: the entries + - * / % div pmod, try_add and kin; the choice of their kernels and their faults.
 *
 * Rule  Spark, BinaryArithmetic; int / int is double, div is bigint, x / 0 an error under ANSI and null else. */
#include "expr/arith.h"

#include "expr/cast.h"
#include "expr/coerce.h"
#include "expr/resolve_text.h"

/* --- faults ------------------------------------------------------------------------------------------ */

static const char *try_name(fm_arith_op op)
{
    switch (op) {
    case FM_ADD: return "try_add";
    case FM_SUB: return "try_subtract";
    case FM_MUL: return "try_multiply";
    case FM_REM:
    case FM_PMOD: return "try_mod";
    default: return "try_divide";
    }
}

static const char *symbol(fm_arith_op op)
{
    static const char *const symbols[] = {"+", "-", "*", "/", "%", "pmod", "div"};
    return symbols[op];
}

fm_status fm_arith_overflow(fm_call *call, const fm_vec *args, fm_vec *out, uint64_t **own, int64_t i)
{
    const fm_arith *a = call->bound;
    fm_str left = {0}, right = {0};
    char text[2][32];
    if (a->on_fault != FM_FAULT_FAIL) return fm_out_null(call, out, own, i);
    if (out->type->id == FM_TYPE_I64 || out->type->id == FM_TYPE_I32 || !args)
        return fm_fail(call->err, FM_INVALID, "ARITHMETIC_OVERFLOW",
                       "%s. Use '%s' to tolerate overflow and return NULL instead. If necessary set "
                       "\"spark.sql.ansi.enabled\" to \"false\" to bypass this error.",
                       a->op == FM_INT_DIV ? "Overflow in integral divide" : "overflow", try_name(a->op));
    if (out->type->id == FM_TYPE_I8) {
        left = (fm_str){text[0], fm_i64_text(fm_vec_i8(&args[0])[i], text[0])};
        right = (fm_str){text[1], fm_i64_text(fm_vec_i8(&args[1])[i], text[1])};
    } else {
        left = (fm_str){text[0], fm_i64_text(fm_vec_i16(&args[0])[i], text[0])};
        right = (fm_str){text[1], fm_i64_text(fm_vec_i16(&args[1])[i], text[1])};
    }
    return fm_fail(call->err, FM_INVALID, "BINARY_ARITHMETIC_OVERFLOW",
                   "%.*s%s %s %.*s%s caused overflow. Use `%s` to ignore overflow problem and return NULL.",
                   FM_STR_ARG(left), out->type->id == FM_TYPE_I8 ? "Y" : "S", symbol(a->op),
                   FM_STR_ARG(right), out->type->id == FM_TYPE_I8 ? "Y" : "S", try_name(a->op));
}

fm_status fm_arith_zero(fm_call *call, fm_vec *out, uint64_t **own, int64_t i)
{
    const fm_arith *a = call->bound;
    bool remainder = a->op == FM_REM || a->op == FM_PMOD;
    if (a->on_fault != FM_FAULT_FAIL) return fm_out_null(call, out, own, i);
    return fm_fail(call->err, FM_INVALID, remainder ? "REMAINDER_BY_ZERO" : "DIVIDE_BY_ZERO",
                   "%s by zero. Use `%s` to tolerate divisor being 0 and return NULL instead. If necessary "
                   "set \"spark.sql.ansi.enabled\" to \"false\" to bypass this error.",
                   remainder ? "Remainder" : "Division", try_name(a->op));
}

fm_status fm_arith_range(fm_call *call, fm_vec *out, uint64_t **own, int64_t i, fm_str value,
                         const fm_type *type)
{
    const fm_arith *a = call->bound;
    if (a->on_fault != FM_FAULT_FAIL) return fm_out_null(call, out, own, i);
    return fm_fail(call->err, FM_INVALID, "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION",
                   "The %.*s cannot be represented as Decimal(%d, %d). If necessary set "
                   "\"spark.sql.ansi.enabled\" to \"false\" to bypass this error, and return NULL instead.",
                   FM_STR_ARG(value), type->precision, type->scale);
}

fm_status fm_interval_overflow(fm_call *call, fm_vec *out, uint64_t **own, int64_t i)
{
    const fm_arith *a = call->bound;
    if (a->on_fault == FM_FAULT_NULL) return fm_out_null(call, out, own, i);
    return fm_fail(call->err, FM_INVALID, "INTERVAL_ARITHMETIC_OVERFLOW.WITH_SUGGESTION",
                   "Integer overflow while operating with intervals. Use `%s` to tolerate overflow and return "
                   "NULL instead.",
                   try_name(a->op));
}

fm_status fm_datetime_overflow(fm_call *call)
{
    return fm_fail(call->err, FM_INVALID, "DATETIME_OVERFLOW",
                   "Datetime operation overflow: the result is beyond the calendar of the engine.");
}

/* --- binding ----------------------------------------------------------------------------------------- */

static fm_status bind_op(fm_bind *b, fm_arith_op op, bool try, fm_error *err)
{
    fm_arith *a = fm_arena_one(b->arena, fm_arith);
    bool done = false;
    if (!a) return fm_no_memory(b->arena, err);
    a->op = op;
    a->on_fault = try ? FM_FAULT_NULL : b->conf->ansi ? FM_FAULT_FAIL : FM_FAULT_WRAP;
    b->bound = a;
    FM_TRY(fm_arith_bind_time(b, a, &done, err));
    if (!done) FM_TRY(fm_arith_bind_numbers(b, a, &done, err));
    if (!done) {
        const fm_type *x = b->args[0]->type, *y = b->args[1]->type;
        bool met = fm_type_eq(x, y) || (x->id == FM_TYPE_STRING && fm_type_is_numeric(y)) ||
                   (y->id == FM_TYPE_STRING && fm_type_is_numeric(x));
        bool months_beside_text = (x->id == FM_TYPE_INTERVAL_YM && y->id == FM_TYPE_STRING) ||
                                  (y->id == FM_TYPE_INTERVAL_YM && x->id == FM_TYPE_STRING);
        bool days = (op == FM_ADD && (x->id == FM_TYPE_DATE) != (y->id == FM_TYPE_DATE)) ||
                    (op == FM_SUB && (x->id == FM_TYPE_DATE || fm_type_is_timestamp(y) || fm_type_is_timestamp(x)));
        if ((days && !fm_type_eq(x, y)) || ((fm_type_is_interval(x) || fm_type_is_interval(y)) && op <= FM_DIV && !months_beside_text))
            return fm_fail_bind(b, err, "UNEXPECTED_INPUT_TYPE",
                                "a date takes whole days, an interval, or another time beside it, however it has %s and %s.",
                                x, y);
        if (met)
            return fm_fail_bind(b, err, "BINARY_OP_WRONG_TYPE",
                                "the binary operator requires the input type (\"NUMERIC\" or \"INTERVAL DAY TO "
                                "SECOND\" or \"INTERVAL YEAR TO MONTH\" or \"INTERVAL\"), not %s.",
                                b->args[0]->type, NULL);
        return fm_fail_bind(b, err, "BINARY_OP_DIFF_TYPES",
                            "the left and right operands of the binary operator have incompatible types (%s "
                            "and %s).",
                            b->args[0]->type, b->args[1]->type);
    }
    /* Any fault can make a null of two values. */
    if (a->on_fault == FM_FAULT_NULL ||
        (a->on_fault == FM_FAULT_WRAP && (op >= FM_DIV || b->returns->id == FM_TYPE_DECIMAL)))
        b->nullable = true;
    return FM_OK;
}

#define ENTRY(ident, c_name, op, try, fails, ...)                                             \
    static fm_status bind_##ident(fm_bind *b, fm_error *err) { return bind_op(b, op, try, err); } \
    const fm_function fm_fn_##ident = {                                                       \
        .name = c_name, .args = {FM_ARG_ANY, FM_ARG_ANY, FM_ARG_END}, .args_min = 2, .args_max = 2, \
        .bind = bind_##ident, .kernel = fm_run_picked, .nulls = FM_NULLS_STRICT, .can_fail = fails, \
        __VA_ARGS__}

ENTRY(op_add, "+", FM_ADD, false, true, .usage = "a + b", .since = "1.0.0",
      .doc = "Returns a + b; numbers, intervals, or a date or timestamp and an interval.");
ENTRY(op_sub, "-", FM_SUB, false, true, .usage = "a - b", .since = "1.0.0",
      .doc = "Returns a - b; the difference of two timestamps is an interval.");
ENTRY(op_mul, "*", FM_MUL, false, true, .usage = "a * b", .since = "1.0.0", .doc = "Returns a * b.");
ENTRY(op_div, "/", FM_DIV, false, true, .usage = "a / b", .since = "1.0.0",
      .doc = "Returns a / b, a double unless a side is a decimal.");
ENTRY(op_rem, "%", FM_REM, false, true, .aliases = {"mod"}, .usage = "a % b", .since = "1.0.0",
      .doc = "Returns what is left of a / b, with the sign of a.");
ENTRY(op_int_div, "div", FM_INT_DIV, false, true, .usage = "a div b", .since = "3.0.0",
      .doc = "Returns a / b without its fraction, as a bigint.");
ENTRY(pmod, "pmod", FM_PMOD, false, true, .usage = "pmod(a, b)", .since = "1.5.0",
      .doc = "Returns what is left of a / b, not negative for a positive b.");
ENTRY(try_add, "try_add", FM_ADD, true, false, .usage = "try_add(a, b)", .since = "3.2.0",
      .doc = "Returns a + b, or null when it overflows.");
ENTRY(try_subtract, "try_subtract", FM_SUB, true, false, .usage = "try_subtract(a, b)", .since = "3.3.0",
      .doc = "Returns a - b, or null when it overflows.");
ENTRY(try_multiply, "try_multiply", FM_MUL, true, false, .usage = "try_multiply(a, b)", .since = "3.3.0",
      .doc = "Returns a * b, or null when it overflows.");
ENTRY(try_divide, "try_divide", FM_DIV, true, false, .usage = "try_divide(a, b)", .since = "3.2.0",
      .doc = "Returns a / b, or null when b is 0.");
ENTRY(try_mod, "try_mod", FM_REM, true, false, .usage = "try_mod(a, b)", .since = "4.0.0",
      .doc = "Returns what is left of a / b, or null when b is 0.");
