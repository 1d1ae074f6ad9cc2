/* expr/fn_to_number.c: to_number(text, template), try_to_number, to_char(number, template).
 *
 * to_char of dates, timestamps and bytes is date_format, hex, base64 or decode (call.c).
 *
 * Cases  tests/golden/functions/to_char.test */
#include "expr/call_args.h"
#include "expr/decimal.h"
#include "expr/kernel.h"
#include "expr/number_template.h"
#include "expr/resolve_text.h"
#include "expr/text.h"

/* bound: the template of argument 1; NULL: that is null, and so is every result. */
static fm_status bind_template(fm_bind *b, const fm_number_template **out, fm_error *err)
{
    fm_value value;
    *out = NULL;
    b->nullable = true;
    if (!fm_bind_is_constant(b, 1))
        return fm_fail_bind(b, err, "NON_FOLDABLE_INPUT", "the input `format` should be a foldable \"STRING\" expression.", NULL,
                            NULL);
    FM_TRY(fm_eval_constant_of(b, 1, &value, err));
    if (fm_vec_is_null(&value, 0)) return FM_OK;
    FM_TRY(fm_number_template_new(b->arena, fm_vec_str(&value, 0), out, err));
    b->bound = *out;
    return FM_OK;
}

/* ---- to_number --------------------------------------------------------------------------------------------- */

static fm_status bind_to_number(fm_bind *b, fm_error *err)
{
    const fm_number_template *t;
    int precision = 38, scale = 18;
    FM_TRY(bind_template(b, &t, err));
    if (t) fm_number_template_digits(t, &precision, &scale);
    b->returns = fm_type_decimal(b->arena, precision, scale);
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

static fm_status read_lanes(fm_call *call, const fm_vec *args, fm_vec *out, bool try)
{
    const fm_number_template *t = call->bound;
    uint64_t *own = NULL;
    for (int32_t i = 0; i < out->len; i++) {
        fm_str text = fm_vec_str(&args[0], i);
        if (fm_call_lane_null(out, i)) continue;
        if (fm_number_template_read(t, text, &fm_vec_decimal_out(out)[i])) continue;
        if (!try)
            return fm_fail(call->err, FM_INVALID, "INVALID_FORMAT.MISMATCH_INPUT",
                           "The format is invalid: %.*s. The input \"STRING\" %.*s does not match the format.",
                           FM_STR_ARG(fm_number_template_text(t)), FM_STR_ARG(text));
        FM_TRY(fm_out_null(call, out, &own, i));
    }
    return FM_OK;
}

static fm_status to_number(fm_call *call, const fm_vec *args, fm_vec *out) { return read_lanes(call, args, out, false); }
static fm_status try_to_number(fm_call *call, const fm_vec *args, fm_vec *out) { return read_lanes(call, args, out, true); }

/* ---- to_char ----------------------------------------------------------------------------------------------- */

static fm_status bind_to_char(fm_bind *b, fm_error *err)
{
    const fm_type *type = b->args[0]->type;
    const fm_number_template *t;
    int precision, scale;
    if (!fm_type_is_numeric(type) && type->id != FM_TYPE_STRING && type->id != FM_TYPE_NULL)
        return fm_fail_arg_type(b, 0, "\"NUMERIC\", a date, a timestamp or \"BINARY\"", err);
    b->returns = fm_type_string();
    if (type->id != FM_TYPE_DECIMAL) {
        fm_decimal_of_type(type, &precision, &scale);
        b->cast_args[0] = fm_type_decimal(b->arena, precision, scale);
        if (!b->cast_args[0]) return fm_no_memory(b->arena, err);
    }
    return bind_template(b, &t, err);
}

static fm_status to_char(fm_call *call, const fm_vec *args, fm_vec *out)
{
    fm_strbuf buf = {0};
    fm_status st = FM_OK;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        if (fm_call_lane_null(out, i)) continue;
        fm_number_template_print(call->bound, fm_vec_decimal(&args[0])[i], args[0].type->scale, &buf);
        st = fm_out_buffer(call, out, i, &buf);
    }
    fm_strbuf_fini(&buf);
    return st;
}

#define ENTRY(ident, ...)                                                                                        \
    const fm_function fm_fn_##ident = {.name = #ident, .args_min = 2, .args_max = 2, .nulls = FM_NULLS_STRICT,   \
                                       .kernel = ident, __VA_ARGS__}

ENTRY(to_number, .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_END}, .bind = bind_to_number, .can_fail = true,
      .usage = "to_number(expr, fmt)", .since = "3.3.0", .doc = "Reads a number by a template such as '$99,999.99'.");
ENTRY(try_to_number, .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_END}, .bind = bind_to_number,
      .usage = "try_to_number(expr, fmt)", .since = "3.3.0", .doc = "As to_number, null where that would fail.");
ENTRY(to_char, .aliases = {"to_varchar"}, .args = {FM_ARG_ANY, FM_ARG_STRING, FM_ARG_END}, .bind = bind_to_char,
      .usage = "to_char(expr, format)", .since = "3.4.0",
      .doc = "Writes a number by a template such as '$99,999.99', a date by a pattern, bytes as hex, base64 or utf-8.");
