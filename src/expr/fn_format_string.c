/* expr/fn_format_string.c: format_string(format, ...), printf.
 *
 * Cases  tests/golden/functions/format.test */
#include "expr/java_format.h"
#include "expr/kernel.h"
#include "expr/text.h"

static fm_status format_string(fm_call *call, const fm_vec *args, fm_vec *out)
{
    fm_strbuf buf = {0};
    fm_status st = FM_OK;
    out->validity = args[0].validity;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        if (fm_vec_is_null(&args[0], i)) continue;
        st = fm_java_format(fm_vec_str(&args[0], i), args + 1, call->expr->n_args - 1, i, &buf, call->err);
        if (st == FM_OK) st = fm_out_buffer(call, out, i, &buf);
    }
    fm_strbuf_fini(&buf);
    return st;
}

/* A constant format that counts from 0 is refused before anything runs. */
static fm_status bind_format_string(fm_bind *b, fm_error *err)
{
    fm_error ignored = FM_ERROR_INIT;
    fm_value value;
    b->returns = fm_type_string();
    b->nullable = b->args[0]->nullable;
    if (!fm_bind_is_constant(b, 0) || fm_eval_constant_of(b, 0, &value, &ignored) != FM_OK || fm_vec_is_null(&value, 0))
        return FM_OK;
    if (fm_text_find(fm_vec_str(&value, 0), FM_STR("%0$"), 0) >= 0)
        return fm_fail_at(err, FM_INVALID, "INVALID_PARAMETER_VALUE.ZERO_INDEX", b->pos.line, b->pos.column,
                          "The value of parameter(s) `strfmt` in `format_string` is invalid: expects %%1$, %%2$ and so on, but "
                          "got %%0$.");
    return FM_OK;
}

const fm_function fm_fn_format_string = {
    .name = "format_string", .aliases = {"printf"}, .args = {FM_ARG_STRING, FM_ARG_ANY, FM_ARG_END}, .args_min = 1,
    .args_max = -1, .bind = bind_format_string, .kernel = format_string, .nulls = FM_NULLS_CUSTOM, .can_fail = true,
    .usage = "format_string(strfmt, obj, ...)", .since = "1.5.0",
    .doc = "Writes values by a format such as '%s has %,d', that of Java's String.format.",
};
