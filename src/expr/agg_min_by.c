/* expr/agg_min_by.c: min_by(x, y) and max_by(x, y): x of the row where y is smallest or largest.
 *
 * State   two cells: x and y.
 * Rule    Spark, MinBy and MaxBy: rows with a null y do not count; of equal y the later row wins.
 * Cases   tests/golden/functions/max_by.test */
#include "expr/agg_cell.h"
#include "expr/aggregates.h"
#include "expr/resolve_text.h"

typedef struct best {
    fm_agg_cell x, y;
} best;

static const fm_type *type_x(const fm_agg_call *call) { return call->arg_types[0]; }
static const fm_type *type_y(const fm_agg_call *call) { return call->arg_types[1]; }

static uint32_t state_size(const fm_agg_call *call)
{
    (void)call;
    return sizeof(best);
}

static fm_status bind(fm_bind *b, fm_error *err)
{
    if (!fm_type_orders(b->args[1]->type))
        return fm_fail_bind(b, err, "INVALID_ORDERING_TYPE",
                            "The aggregate does not support ordering on type %s.", b->args[1]->type,
                            NULL);
    if (b->n_args == 3) return fm_agg_bind_top_by(b, err);
    b->returns = b->args[0]->type;
    return FM_OK;
}

static const fm_aggregate *choose_min(const fm_bind *b) { return b->n_args == 3 ? &fm_agg_min_by_k : &fm_agg_min_by; }
static const fm_aggregate *choose_max(const fm_bind *b) { return b->n_args == 3 ? &fm_agg_max_by_k : &fm_agg_max_by; }

/* order: of the old y against the new. */
static bool new_wins(const fm_agg_call *call, int order)
{
    return call->aggregate == &fm_agg_min_by ? order >= 0 : order <= 0;
}

static fm_status update(const fm_agg_call *call, char *const *entries, const fm_vec *args,
                        const uint8_t *keep, int32_t n, fm_error *err)
{
    fm_arena *scratch = NULL;
    fm_status st = FM_OK;
    for (int32_t i = 0; i < n && st == FM_OK; i++) {
        best *s = fm_agg_state(call, entries[i]);
        int order = 0;
        if ((keep && !keep[i]) || fm_vec_is_null(&args[1], i)) continue;
        if (s->y.tag == FM_AGG_CELL_VALUE)
            st = fm_agg_cell_cmp_lane(type_y(call), &s->y, &args[1], i, &scratch, &order, err);
        if (st != FM_OK || !new_wins(call, order)) continue;
        st = fm_agg_cell_set(type_x(call), &s->x, &args[0], i, err);
        if (st == FM_OK) st = fm_agg_cell_set(type_y(call), &s->y, &args[1], i, err);
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
        best *d = fm_agg_state(call, dst[i]);
        const best *s = fm_agg_state(call, src[i]);
        int order = 0;
        if (s->y.tag != FM_AGG_CELL_VALUE) continue;
        if (d->y.tag == FM_AGG_CELL_VALUE)
            st = fm_agg_cell_cmp(type_y(call), &d->y, &s->y, &scratch, &order, err);
        if (st != FM_OK || !new_wins(call, order)) continue;
        st = fm_agg_cell_copy(type_x(call), &d->x, &s->x, err);
        if (st == FM_OK) st = fm_agg_cell_copy(type_y(call), &d->y, &s->y, err);
    }
    fm_arena_free(scratch);
    return st;
}

static void fini(const fm_agg_call *call, void *state)
{
    best *s = state;
    fm_agg_cell_clear(type_x(call), &s->x);
    fm_agg_cell_clear(type_y(call), &s->y);
}

static fm_status save(const fm_agg_call *call, const void *state, fm_strbuf *out, fm_error *err)
{
    const best *s = state;
    FM_TRY(fm_agg_cell_save(type_x(call), &s->x, out, err));
    return fm_agg_cell_save(type_y(call), &s->y, out, err);
}

static fm_status load(const fm_agg_call *call, fm_str bytes, size_t *at, void *state, fm_error *err)
{
    best *s = state;
    FM_TRY(fm_agg_cell_load(type_x(call), bytes, at, &s->x, err));
    return fm_agg_cell_load(type_y(call), bytes, at, &s->y, err);
}

static size_t memory(const fm_agg_call *call, const void *state)
{
    const best *s = state;
    return fm_agg_cell_memory(type_x(call), &s->x) + fm_agg_cell_memory(type_y(call), &s->y);
}

#define COMMON                                                                                \
    .args = {FM_ARG_ANY, FM_ARG_ANY, FM_ARG_ANY, FM_ARG_END}, .args_min = 2, .args_max = 3, .bind = bind, \
    .state_size = state_size, .order_dependent = true, .update = update, .merge = merge,      \
    .finish = fm_agg_cells_finish, .fini = fini, .save = save, .load = load,                  \
    .memory = memory, .since = "3.0.0"

/* finish reads the first cell, x, which is of the type returned. */
const fm_aggregate fm_agg_min_by = {
    COMMON, .name = "min_by", .choose = choose_min, .usage = "min_by(x, y[, k])",
    .doc = "Returns x of the row with the smallest y, or of the k rows.",
};
const fm_aggregate fm_agg_max_by = {
    COMMON, .name = "max_by", .choose = choose_max, .usage = "max_by(x, y[, k])",
    .doc = "Returns x of the row with the largest y, or of the k rows.",
};
