/* expr/fn_format_number.c: format_number(x, digits), format_number(x, pattern).
 *
 * Rule   Spark, FormatNumber: null for digits below 0; a pattern is java.text.DecimalFormat's, '' is that of no digits behind the
 *        point.
 * Cases  tests/golden/functions/format.test */
#include "expr/call_args.h"
#include "expr/decimal_format.h"
#include "expr/kernel.h"
#include "expr/text.h"

static void add_lane(const fm_decimal_format *f, const fm_vec *x, int64_t i, fm_strbuf *out)
{
    switch (x->type->id) {
    case FM_TYPE_I8: fm_decimal_format_decimal(f, fm_vec_i8(x)[i], 0, out); break;
    case FM_TYPE_I16: fm_decimal_format_decimal(f, fm_vec_i16(x)[i], 0, out); break;
    case FM_TYPE_I32: fm_decimal_format_decimal(f, fm_vec_i32(x)[i], 0, out); break;
    case FM_TYPE_I64: fm_decimal_format_decimal(f, fm_vec_i64(x)[i], 0, out); break;
    case FM_TYPE_F32: fm_decimal_format_f64(f, (double)fm_vec_f32(x)[i], out); break;
    case FM_TYPE_F64: fm_decimal_format_f64(f, fm_vec_f64(x)[i], out); break;
    default: fm_decimal_format_decimal(f, fm_vec_decimal(x)[i], x->type->scale, out); break;
    }
}

static fm_status by_digits(fm_call *call, const fm_vec *args, fm_vec *out)
{
    uint64_t *own = NULL;
    fm_strbuf buf = {0};
    fm_status st = FM_OK;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        int32_t digits = fm_vec_i32(&args[1])[i];
        fm_decimal_format f;
        if (fm_call_lane_null(out, i)) continue;
        if (digits < 0) {
            st = fm_out_null(call, out, &own, i);
            continue;
        }
        if (digits > FM_FORMAT_DIGITS_MAX) {
            st = fm_fail(call->err, FM_UNSUPPORTED, "FLOODMARK_FORMAT_NOT_SUPPORTED",
                         "format_number gives at most %d digits behind the point, not %d.", FM_FORMAT_DIGITS_MAX, (int)digits);
            break;
        }
        fm_decimal_format_fixed(digits, &f);
        add_lane(&f, &args[0], i, &buf);
        st = fm_out_buffer(call, out, i, &buf);
    }
    fm_strbuf_fini(&buf);
    return st;
}

static fm_status by_pattern(fm_call *call, const fm_vec *args, fm_vec *out)
{
    fm_strbuf buf = {0};
    fm_str last = {NULL, 0};
    fm_decimal_format f;
    fm_status st = FM_OK;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        fm_str pattern = fm_vec_str(&args[1], i);
        if (fm_call_lane_null(out, i)) continue;
        if (!last.ptr || !fm_str_eq(pattern, last)) {
            if (!pattern.len) {
                fm_decimal_format_fixed(0, &f);
            } else if (!fm_decimal_format_parse(pattern, &f)) {
                st = fm_fail(call->err, FM_INVALID, "FLOODMARK_NUMBER_PATTERN",
                             "'%.*s' is not a pattern for numbers, such as '#,##0.00'.", FM_STR_ARG(pattern));
                break;
            }
            last = pattern;
        }
        add_lane(&f, &args[0], i, &buf);
        st = fm_out_buffer(call, out, i, &buf);
    }
    fm_strbuf_fini(&buf);
    return st;
}

static fm_status bind_format_number(fm_bind *b, fm_error *err)
{
    static const fm_picked digits = {by_digits}, pattern = {by_pattern};
    const fm_type *x = b->args[0]->type, *how = b->args[1]->type;
    if (!fm_type_is_numeric(x) && x->id != FM_TYPE_NULL) return fm_fail_arg_type(b, 0, "\"NUMERIC\"", err);
    if (x->id == FM_TYPE_NULL) b->cast_args[0] = fm_type_f64();
    b->returns = fm_type_string();
    b->nullable = true;
    b->bound = how->id == FM_TYPE_STRING ? &pattern : &digits;
    if (fm_type_is_integer(how) || how->id == FM_TYPE_NULL) b->cast_args[1] = fm_type_i32();
    else if (how->id != FM_TYPE_STRING) return fm_fail_arg_type(b, 1, "(\"INT\" or \"STRING\")", err);
    return FM_OK;
}

const fm_function fm_fn_format_number = {
    .name = "format_number", .args = {FM_ARG_ANY, FM_ARG_ANY, FM_ARG_END}, .args_min = 2, .args_max = 2,
    .bind = bind_format_number, .kernel = fm_run_picked, .nulls = FM_NULLS_STRICT, .can_fail = true,
    .usage = "format_number(expr1, expr2)", .since = "1.5.0",
    .doc = "Writes a number with commas and so many digits behind the point, or by a pattern such as '#,##0.00'.",
};
