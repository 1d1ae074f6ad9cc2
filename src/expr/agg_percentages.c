/* expr/agg_percentages.c: the percentages argument of percentile and its kin. */
#include "expr/agg_percentages.h"

#include "expr/call_args.h"
#include "expr/coerce.h"
#include "expr/eval.h"
#include "expr/kernel.h"
#include "expr/resolve_text.h"

static fm_status fail_range(const fm_bind *b, fm_error *err)
{
    return fm_fail_bind(b, err, "VALUE_OUT_OF_RANGE", "The percentage must be between [0.0, 1.0].", NULL, NULL);
}

static fm_status fail_null(const fm_bind *b, fm_error *err)
{
    return fm_fail_bind(b, err, "UNEXPECTED_NULL", "The percentage must not be null.", NULL, NULL);
}

fm_status fm_bind_percentages(const fm_bind *b, int32_t i, fm_percentages *out, fm_error *err)
{
    const fm_type *from = b->args[i]->type, *to = fm_type_f64();
    fm_expr *cast;
    fm_value value;
    const fm_vec *numbers = &value;

    out->is_list = from->id == FM_TYPE_LIST;
    if (out->is_list) {
        if (from->fields[0].nullable && from->fields[0].type->id != FM_TYPE_NULL)
            return fm_fail_arg_type(b, i, "\"ARRAY<DOUBLE>\"", err);
        if (from->fields[0].nullable) return fail_null(b, err);
        to = fm_type_list(b->arena, fm_type_f64(), false);
        if (!to) return fm_no_memory(b->arena, err);
    }
    if (!fm_type_implicit(b->conf, from, to) && from->id != FM_TYPE_NULL)
        return fm_fail_arg_type(b, i, out->is_list ? "\"ARRAY<DOUBLE>\"" : "\"DOUBLE\"", err);
    if (!fm_bind_is_constant(b, i))
        return fm_fail_bind(b, err, "NON_FOLDABLE_INPUT", "the input `percentage` should be a foldable %s expression.", to, NULL);
    FM_TRY(fm_expr_cast(b->arena, b->conf, b->args[i], to, false, false, &cast, err));
    FM_TRY(fm_eval_constant(b->arena, b->conf, cast, &value, err));
    if (fm_vec_is_null(&value, 0)) return fail_null(b, err);
    out->n = 1;
    int32_t first = 0;
    if (out->is_list) {
        numbers = &value.children[0];
        first = value.offsets[0];
        out->n = value.offsets[1] - first;
    }
    out->values = out->n ? fm_vec_f64(numbers) + first : NULL;
    for (int32_t k = 0; k < out->n; k++) {
        if (fm_vec_is_null(numbers, first + k)) return fail_null(b, err);
        if (out->values[k] < 0 || out->values[k] > 1) return fail_range(b, err);
    }
    return FM_OK;
}

fm_status fm_percentages_type(const fm_bind *b, const fm_percentages *p, const fm_type *element, const fm_type **out,
                              fm_error *err)
{
    *out = p->is_list ? fm_type_list(b->arena, element, false) : element;
    return *out ? FM_OK : fm_no_memory(b->arena, err);
}
