/* expr/fn_coalesce.c: coalesce(a, b, ...), nvl(a, b), ifnull(a, b): the first value that is not null.
 *
 * Rule   Spark, Coalesce: arguments are evaluated from the left, on rows that have no value yet. Where a later
 *        argument can fail, the evaluator does that itself (eval.c) and this kernel is not called.
 * Cases  tests/golden/functions/coalesce.test */
#include "expr/coerce.h"
#include "expr/eval_internal.h"
#include "expr/resolve_text.h"

static fm_status bind_coalesce(fm_bind *b, fm_error *err)
{
    const fm_type *type = fm_type_common_of(b->arena, b->conf, b->args, b->n_args);
    if (!type)
        return fm_fail_bind(b, err, "DATA_DIFF_TYPES",
                            "Input to `coalesce` should all be the same type, but there are %s and %s.",
                            b->args[0]->type, b->args[b->n_args - 1]->type);
    b->returns = type;
    b->nullable = true;
    for (int32_t i = 0; i < b->n_args; i++) {
        b->cast_args[i] = type;
        b->nullable &= b->args[i]->nullable;
    }
    return FM_OK;
}

static fm_status coalesce(fm_call *call, const fm_vec *args, fm_vec *out)
{
    int32_t n = call->expr->n_args;
    const fm_vec **parts = fm_arena_array(call->arena, const fm_vec *, n);
    int32_t *from = fm_arena_array(call->arena, int32_t, call->rows);
    fm_vec all;
    if (!parts || !from) return fm_no_memory(call->arena, call->err);
    if (n == 1 || !args[0].validity) {
        *out = args[0];
        return FM_OK;
    }
    for (int32_t k = 0; k < n; k++) parts[k] = &args[k];
    FM_TRY(fm_vec_concat(&all, parts, n, call->arena, call->err));
    for (int32_t i = 0; i < call->rows; i++) {
        int32_t k = 0;
        while (k < n && fm_vec_is_null(&args[k], i)) k++;
        from[i] = k < n ? k * call->rows + i : -1;
    }
    return fm_vec_gather(out, &all, from, call->rows, call->arena, call->err);
}

const fm_function fm_fn_coalesce = {
    .name = "coalesce",
    .aliases = {"nvl", "ifnull"},
    .args = {FM_ARG_ANY, FM_ARG_END},
    .args_min = 1,
    .args_max = -1,
    .bind = bind_coalesce,
    .kernel = coalesce,
    .nulls = FM_NULLS_CUSTOM,
    .usage = "coalesce(a, b, ...)",
    .doc = "Returns the first argument that is not null.",
    .since = "1.0.0",
};
