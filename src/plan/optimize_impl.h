/* plan/optimize_impl.h: the passes of the optimizer, in the order they run. Each takes a resolved plan and gives one
 * with the same output columns (ids and all), the same rows and the same watermarks.
 *
 *   tidy         scopes and hints out, INTERSECT and EXCEPT as joins, aggregations in their plain form
 *   fold         constants computed, conditions simplified
 *   push         filters as far down as they go
 *   prune        columns nobody reads
 *   merge        PROJECTs over PROJECTs, and such that do nothing
 *   prune JSON   fields of from_json that nobody takes
 *   conditions   what the sources are told of the filters above them */
#ifndef FM_PLAN_OPTIMIZE_IMPL_H
#define FM_PLAN_OPTIMIZE_IMPL_H

#include "plan/analyze.h"
#include "plan/plan_impl.h"

typedef struct fm_optimizer {
    fm_arena *arena;
    const fm_session_conf *conf;
    int32_t next_id;
} fm_optimizer;

/* Applies a pass to the children of a node. */
typedef fm_status (*fm_pass)(fm_optimizer *o, fm_plan *plan, fm_plan **out, fm_error *err);
fm_status fm_pass_children(fm_optimizer *o, fm_plan *plan, fm_pass pass, fm_plan **out, fm_error *err);

fm_status fm_tidy_plan(fm_optimizer *o, fm_plan *plan, fm_plan **out, fm_error *err);
fm_status fm_fold_plan(fm_optimizer *o, fm_plan *plan, fm_plan **out, fm_error *err);
fm_status fm_push_filters(fm_optimizer *o, fm_plan *plan, fm_plan **out, fm_error *err);
/* Keeps of the root what it gives out now. */
fm_status fm_prune_columns(fm_optimizer *o, fm_plan *plan, fm_plan **out, fm_error *err);
fm_status fm_merge_projects(fm_optimizer *o, fm_plan *plan, fm_plan **out, fm_error *err);
/* PROJECTs right above others, perhaps with FILTERs between: what they take of a from_json is all it reads. */
fm_status fm_prune_json(fm_optimizer *o, fm_plan *plan, fm_plan **out, fm_error *err);

/* FILTERs right above READs: what of them the source can go by is said in the READ; the FILTER stays. */
fm_status fm_push_conditions(fm_optimizer *o, fm_plan *plan, fm_plan **out, fm_error *err);

/* One expression: fold.c. */
fm_status fm_simplify(fm_optimizer *o, fm_expr *e, fm_expr **out, fm_error *err);
bool fm_expr_is_literal_bool(const fm_expr *e, bool x);
bool fm_expr_is_null_literal(const fm_expr *e);

/* Attributes of e replaced by what project->exprs gives them. */
fm_status fm_substitute(fm_optimizer *o, fm_expr *e, fm_expr *const *named, int32_t n, fm_expr **out,
                        fm_error *err);

/* A list of conditions that all hold. */
typedef struct fm_conds {
    fm_expr **items;
    int32_t n, cap;
} fm_conds;

bool fm_conds_have(const fm_conds *list, const fm_expr *e);
/* Adds e unless it is there, or TRUE. */
fm_status fm_conds_add(fm_optimizer *o, fm_conds *list, fm_expr *e, fm_error *err);

/* infer_filters.c: conditions that a join implies for its sides: what its equalities carry from one side to the
 * other, and that columns compared are not null. Adds to left and right, which hold what is known already. */
fm_status fm_infer_join(fm_optimizer *o, const fm_plan *join, const fm_conds *condition, fm_conds *left,
                        fm_conds *right, fm_error *err);

#endif
