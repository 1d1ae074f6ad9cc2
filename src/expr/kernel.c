/* expr/kernel.c: what kernels of several files share. */
#include "expr/kernel.h"

#include "expr/cast.h"

#include "expr/eval.h"

fm_status fm_out_null(fm_call *call, fm_vec *out, uint64_t **own, int64_t i)
{
    if (!*own) {
        int64_t words = fm_bit_words(out->len);
        *own = fm_arena_buffer(call->arena, (size_t)words * 8, false);
        if (!*own) return fm_no_memory(call->arena, call->err);
        if (out->validity)
            memcpy(*own, out->validity, (size_t)words * 8);
        else
            fm_bits_fill(*own, out->len);
        out->validity = *own;
    }
    fm_bit_clear(*own, i);
    return FM_OK;
}

fm_status fm_run_picked(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return ((const fm_picked *)call->bound)->kernel(call, args, out);
}

bool fm_bind_is_constant(const fm_bind *b, int32_t i) { return fm_expr_is_constant(b->args[i]); }

fm_status fm_eval_constant_of(const fm_bind *b, int32_t i, fm_value *out, fm_error *err)
{
    return fm_eval_constant(b->arena, b->conf, b->args[i], out, err);
}

fm_status fm_decimal_too_long(fm_call *call, fm_i128 x, const fm_type *type)
{
    char text[FM_DECIMAL_TEXT_SIZE];
    fm_str value = {text, fm_decimal_text(x, type->scale, text)};

    return fm_fail(call->err, FM_INVALID, "NUMERIC_VALUE_OUT_OF_RANGE.WITHOUT_SUGGESTION",
                   "The %.*s cannot be represented as Decimal(%d, %d).", FM_STR_ARG(value), type->precision, type->scale);
}
