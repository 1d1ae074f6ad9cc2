/* expr/agg_min_max_cell.c: min(x) and max(x) of strings, binaries, decimals, arrays and structs. Numbers and times are
 * in agg_min_max.c, which chooses.
 *
 * State   a cell.
 * Rule    Spark, Min and Max: nulls are skipped; strings compare by bytes, structs by field, arrays by element. */
#include "expr/agg_cell.h"
#include "expr/aggregates.h"
#include "expr/resolve_text.h"

static bool is_min(const fm_agg_call *call) { return call->aggregate == &fm_agg_min_cell; }

bool fm_type_orders(const fm_type *type)
{
    if (type->id == FM_TYPE_MAP) return false;
    for (int32_t i = 0; i < type->n_fields; i++)
        if (!fm_type_orders(type->fields[i].type)) return false;
    return true;
}

fm_status fm_agg_bind_ordered(fm_bind *b, fm_error *err)
{
    if (!fm_type_orders(b->args[0]->type))
        return fm_fail_bind(b, err, "INVALID_ORDERING_TYPE",
                            "The aggregate does not support ordering on type %s.", b->args[0]->type,
                            NULL);
    b->returns = b->args[0]->type;
    return FM_OK;
}

static fm_status update(const fm_agg_call *call, char *const *entries, const fm_vec *v,
                             const uint8_t *keep, int32_t n, fm_error *err)
{
    fm_arena *scratch = NULL;
    fm_status st = FM_OK;
    for (int32_t i = 0; i < n && st == FM_OK; i++) {
        fm_agg_cell *cell = fm_agg_state(call, entries[i]);
        int order = 0;
        if ((keep && !keep[i]) || fm_vec_is_null(v, i)) continue;
        if (cell->tag == FM_AGG_CELL_VALUE) {
            st = fm_agg_cell_cmp_lane(v->type, cell, v, i, &scratch, &order, err);
            if (is_min(call) ? order <= 0 : order >= 0) continue;
        }
        if (st == FM_OK) st = fm_agg_cell_set(v->type, cell, v, i, err);
    }
    fm_arena_free(scratch);
    return st;
}

static fm_status merge(const fm_agg_call *call, char *const *dst, char *const *src, int32_t n,
                             fm_error *err)
{
    fm_arena *scratch = NULL;
    fm_status st = FM_OK;
    for (int32_t i = 0; i < n && st == FM_OK; i++) {
        fm_agg_cell *d = fm_agg_state(call, dst[i]);
        const fm_agg_cell *s = fm_agg_state(call, src[i]);
        int order = 0;
        if (s->tag != FM_AGG_CELL_VALUE) continue;
        if (d->tag == FM_AGG_CELL_VALUE) {
            st = fm_agg_cell_cmp(call->returns, d, s, &scratch, &order, err);
            if (is_min(call) ? order <= 0 : order >= 0) continue;
        }
        if (st == FM_OK) st = fm_agg_cell_copy(call->returns, d, s, err);
    }
    fm_arena_free(scratch);
    return st;
}

static uint32_t state_size(const fm_agg_call *call)
{
    (void)call;
    return sizeof(fm_agg_cell);
}

const fm_aggregate fm_agg_min_cell = {
    .name = "min", .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = 1,
    .bind = fm_agg_bind_ordered, .state_size = state_size, .update = update, .merge = merge,
    .finish = fm_agg_cells_finish, .fini = fm_agg_cells_fini, .save = fm_agg_cells_save,
    .load = fm_agg_cells_load, .memory = fm_agg_cells_memory,
    .usage = "min(expr)", .doc = "Returns the smallest value.", .since = "1.0.0",
};

const fm_aggregate fm_agg_max_cell = {
    .name = "max", .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = 1,
    .bind = fm_agg_bind_ordered, .state_size = state_size, .update = update, .merge = merge,
    .finish = fm_agg_cells_finish, .fini = fm_agg_cells_fini, .save = fm_agg_cells_save,
    .load = fm_agg_cells_load, .memory = fm_agg_cells_memory,
    .usage = "max(expr)", .doc = "Returns the largest value.", .since = "1.0.0",
};
