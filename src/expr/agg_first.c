/* expr/agg_first.c: first(x[, ignoreNulls]), last(x[, ignoreNulls]), any_value(x[, ignoreNulls]).
 *
 * State   a cell: empty, null, or a value.
 * Rule    Spark, First and Last: the first or last row in the order of the input; with ignoreNulls (or IGNORE NULLS)
 *         the first or last value that is not null. any_value is first.
 * Cases   tests/golden/functions/first.test */
#include "expr/agg_cell.h"
#include "expr/aggregates.h"
#include "expr/eval.h"

typedef struct settings {
    bool ignore_nulls, last;
} settings;

static const settings *settings_of(const fm_agg_call *call) { return call->bound; }

static fm_status bind(fm_bind *b, bool last, fm_error *err)
{
    settings *s = fm_arena_one(b->arena, settings);
    if (!s) return fm_no_memory(b->arena, err);
    s->ignore_nulls = b->ignore_nulls;
    s->last = last;
    if (b->n_args > 1) {
        fm_value v;
        if (b->args[1]->type->id != FM_TYPE_BOOL || !fm_expr_is_constant(b->args[1]))
            return fm_fail_at(err, FM_INVALID, "_LEGACY_ERROR_TEMP_1210", b->pos.line, b->pos.column,
                              "The second argument in %.*s should be a boolean literal.", FM_STR_ARG(b->name));
        FM_TRY(fm_eval_constant(b->arena, b->conf, b->args[1], &v, err));
        s->ignore_nulls |= !fm_vec_is_null(&v, 0) && fm_vec_bool(&v)[0];
    }
    b->bound = s;
    b->returns = b->args[0]->type;
    return FM_OK;
}

static fm_status bind_first(fm_bind *b, fm_error *err) { return bind(b, false, err); }
static fm_status bind_last(fm_bind *b, fm_error *err) { return bind(b, true, err); }

static uint32_t state_size(const fm_agg_call *call)
{
    (void)call;
    return sizeof(fm_agg_cell);
}

static bool takes(const settings *s, const fm_agg_cell *cell, bool null)
{
    if (null && s->ignore_nulls) return false;
    return s->last || cell->tag == FM_AGG_CELL_EMPTY;
}

static fm_status update(const fm_agg_call *call, char *const *entries, const fm_vec *args,
                        const uint8_t *keep, int32_t n, fm_error *err)
{
    const settings *s = settings_of(call);
    for (int32_t i = 0; i < n; i++) {
        fm_agg_cell *cell = fm_agg_state(call, entries[i]);
        if (keep && !keep[i]) continue;
        if (takes(s, cell, fm_vec_is_null(&args[0], i)))
            FM_TRY(fm_agg_cell_set(call->returns, cell, &args[0], i, err));
    }
    return FM_OK;
}

static fm_status merge(const fm_agg_call *call, char *const *dst, char *const *src, int32_t n,
                       fm_error *err)
{
    const settings *s = settings_of(call);
    for (int32_t i = 0; i < n; i++) {
        fm_agg_cell *d = fm_agg_state(call, dst[i]);
        const fm_agg_cell *from = fm_agg_state(call, src[i]);
        if (from->tag != FM_AGG_CELL_EMPTY && takes(s, d, from->tag == FM_AGG_CELL_NULL))
            FM_TRY(fm_agg_cell_copy(call->returns, d, from, err));
    }
    return FM_OK;
}

/* Fixed width values need no memory of their own: their states are plain bytes. */
static const fm_aggregate first_plain, last_plain, any_value_plain;

static bool is_plain(const fm_bind *b)
{
    return fm_type_width(b->returns) > 0 && !fm_type_is_view(b->returns);
}

static const fm_aggregate *choose_first(const fm_bind *b) { return is_plain(b) ? &first_plain : &fm_agg_first; }
static const fm_aggregate *choose_last(const fm_bind *b) { return is_plain(b) ? &last_plain : &fm_agg_last; }
static const fm_aggregate *choose_any_value(const fm_bind *b)
{
    return is_plain(b) ? &any_value_plain : &fm_agg_any_value;
}

#define COMMON                                                                                \
    .args = {FM_ARG_ANY, FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = 2,               \
    .order_dependent = true, .state_size = state_size, .update = update, .merge = merge,      \
    .finish = fm_agg_cells_finish, .since = "2.0.0"
#define OWNED                                                                                 \
    .fini = fm_agg_cells_fini, .save = fm_agg_cells_save, .load = fm_agg_cells_load,          \
    .memory = fm_agg_cells_memory
#define FIRST                                                                                 \
    .name = "first", .aliases = {"first_value"}, .bind = bind_first,                          \
    .usage = "first(expr[, ignoreNulls])", .doc = "Returns the value of the first row."
#define LAST                                                                                  \
    .name = "last", .aliases = {"last_value"}, .bind = bind_last,                             \
    .usage = "last(expr[, ignoreNulls])", .doc = "Returns the value of the last row."
#define ANY_VALUE                                                                             \
    .name = "any_value", .bind = bind_first, .usage = "any_value(expr[, ignoreNulls])",       \
    .doc = "Returns the value of some row."

const fm_aggregate fm_agg_first = {COMMON, OWNED, FIRST, .choose = choose_first};
const fm_aggregate fm_agg_last = {COMMON, OWNED, LAST, .choose = choose_last};
const fm_aggregate fm_agg_any_value = {COMMON, OWNED, ANY_VALUE, .choose = choose_any_value};
static const fm_aggregate first_plain = {COMMON, FIRST};
static const fm_aggregate last_plain = {COMMON, LAST};
static const fm_aggregate any_value_plain = {COMMON, ANY_VALUE};
