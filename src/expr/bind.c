/* expr/bind.c: attributes, which are identities, become indexes of the columns of a batch. */
#include "expr/eval.h"

fm_status fm_expr_bind(fm_arena *arena, const fm_expr *e, const int32_t *attr_ids, int32_t n,
                       fm_expr **out, fm_error *err)
{
    fm_expr *copy = fm_expr_copy_node(arena, e);
    if (!copy) return fm_no_memory(arena, err);
    if (e->kind == FM_EXPR_ATTRIBUTE) {
        for (int32_t i = 0; i < n; i++) {
            if (attr_ids[i] != e->attr_id) continue;
            copy->kind = FM_EXPR_COLUMN;
            copy->index = i;
            *out = copy;
            return FM_OK;
        }
        return fm_fail_at(err, FM_INVALID, "INTERNAL_ERROR_ATTRIBUTE_NOT_FOUND", e->pos.line,
                          e->pos.column, "Could not find the column `%.*s` (#%d) in the input.",
                          FM_STR_ARG(e->name), (int)e->attr_id);
    }
    for (int32_t i = 0; i < e->n_args; i++)
        FM_TRY(fm_expr_bind(arena, e->args[i], attr_ids, n, &copy->args[i], err));
    if (e->filter) FM_TRY(fm_expr_bind(arena, e->filter, attr_ids, n, &copy->filter, err));
    *out = copy;
    return FM_OK;
}
