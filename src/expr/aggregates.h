/* expr/aggregates.h: the entries that other entries share code with; the table is in aggregates.c. */
#ifndef FM_EXPR_AGGREGATES_H
#define FM_EXPR_AGGREGATES_H

#include "expr/aggregate.h"

extern const fm_aggregate fm_agg_sum, fm_agg_try_sum, fm_agg_avg, fm_agg_try_avg;
extern const fm_aggregate fm_agg_min, fm_agg_max, fm_agg_min_cell, fm_agg_max_cell;
extern const fm_aggregate fm_agg_max_by_k, fm_agg_min_by_k; /* max_by(x, y, k), min_by(x, y, k) */
/* bind of those, after that of max_by(x, y). */
fm_status fm_agg_bind_top_by(fm_bind *b, fm_error *err);
extern const fm_aggregate fm_agg_bool_and, fm_agg_bool_or;
extern const fm_aggregate fm_agg_first, fm_agg_last, fm_agg_any_value, fm_agg_min_by, fm_agg_max_by;

/* Turns a resolved call into one of its distinct rows. Error: UNSUPPORTED_... for arguments without equality. */
fm_status fm_agg_make_distinct(fm_arena *arena, fm_expr *e, fm_error *err);
/* bind of aggregates that return one of their values, by its order. Error: INVALID_ORDERING_TYPE. */
fm_status fm_agg_bind_ordered(fm_bind *b, fm_error *err);
/* Whether values of the type have an order: no maps in it. */
bool fm_type_orders(const fm_type *type);

#endif
