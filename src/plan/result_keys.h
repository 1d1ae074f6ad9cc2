/* plan/result_keys.h: which columns of a result tell the groups of an aggregation apart: what update mode upserts by. */
#ifndef FM_PLAN_RESULT_KEYS_H
#define FM_PLAN_RESULT_KEYS_H

#include "plan/plan.h"

/* plan: analyzed. keys: indexes among the visible columns, in arena. *n 0: the result is none of an aggregation.
 *
 * A column is a key when it is a grouping expression, or the start or the end of a window that is grouped by.
 * missing: in arena, SQL of the first grouping expression that no column shows; empty: all are there. */
fm_status fm_result_keys(const fm_plan *plan, fm_arena *arena, int32_t **keys, int32_t *n, fm_str *missing, fm_error *err);

#endif
