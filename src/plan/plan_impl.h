/* plan/plan_impl.h: making resolved nodes, for the analyzer and the optimizer. Nobody else includes it. */
#ifndef FM_PLAN_PLAN_IMPL_H
#define FM_PLAN_PLAN_IMPL_H

#include "plan/plan.h"

/* NULL when absent. */
const fm_attr *fm_attr_find(const fm_attr *attrs, int32_t n, int32_t id);
/* The attribute as an expression. */
fm_expr *fm_attr_expr(fm_arena *arena, const fm_attr *attr);
/* e AS name, with an identity. */
fm_expr *fm_alias_expr(fm_arena *arena, fm_expr *e, fm_str name, int32_t attr_id);
/* What a named expression (ATTRIBUTE, or ALIAS with attr_id) adds to the output of a node over `input`.
 * Rule: Spark: an event-time tag follows bare columns, aliases of them and window_time() of a bare column;
 * everything else loses it, and loses the mark of windows. */
fm_attr fm_attr_of(const fm_expr *named, const fm_attr *input, int32_t n);
/* The column whose tag an expression carries on: 0 when none. */
int32_t fm_expr_tag_source(const fm_expr *e);
/* e without ALIASes around it. */
fm_expr *fm_expr_unalias(const fm_expr *e);
bool fm_expr_has(const fm_expr *e, fm_expr_kind kind); /* a node of that kind, itself included */
/* Every attribute of e is among attrs. */
bool fm_expr_within(const fm_expr *e, const fm_attr *attrs, int32_t n);
bool fm_expr_uses(const fm_expr *e, int32_t attr_id);
/* How many nodes, counted up to `most`. */
int32_t fm_expr_size(const fm_expr *e, int32_t most);

/* A rewrite, children first: `change` may give another node for *e (args already rewritten). Nodes that nothing
 * changes in are shared. */
typedef fm_status (*fm_expr_change)(void *ctx, fm_expr **e, fm_error *err);
fm_status fm_expr_rewrite(fm_arena *arena, fm_expr *e, fm_expr_change change, void *ctx,
                          fm_expr **out, fm_error *err);

/* Computes output, streaming and resolved of a node whose kind, children and expressions are set; for UNION,
 * READ, VALUES, EMPTY and GENERATE the output is set already. */
fm_status fm_plan_finish(fm_arena *arena, fm_plan *plan, fm_error *err);
/* A node with one child, not finished. */
fm_plan *fm_plan_over(fm_arena *arena, fm_plan_kind kind, fm_plan *child, fm_pos pos);
/* As `plan`, over other children; output recomputed. The same node when nothing changed. */
fm_status fm_plan_with_children(fm_arena *arena, fm_plan *plan, fm_plan **children, fm_plan **out,
                                fm_error *err);
fm_status fm_plan_project(fm_arena *arena, fm_plan *child, fm_expr **exprs, int32_t n, fm_pos pos,
                          fm_plan **out, fm_error *err);
fm_status fm_plan_filter(fm_arena *arena, fm_plan *child, fm_expr *condition, fm_pos pos,
                         fm_plan **out, fm_error *err);
/* All output columns of a node as expressions; [n_output], with room for `more`. */
fm_expr **fm_plan_columns(fm_arena *arena, const fm_plan *plan, int32_t more);
/* Visible output columns come first in no particular way: how many are not hidden. */
int32_t fm_plan_visible(const fm_plan *plan);
int32_t fm_plan_max_id(const fm_plan *plan); /* highest attr id in the tree, expressions included */

/* Splits at ANDs, left to right: appends to *list. */
fm_status fm_expr_conjuncts(fm_arena *arena, fm_expr *e, fm_expr ***list, int32_t *n, int32_t *cap,
                            fm_error *err);
/* The conjunction of list[n], n > 0; NULL when memory is out. */
fm_expr *fm_expr_conjunction(fm_arena *arena, fm_expr **list, int32_t n);

/* The streaming operators that keep state: AGGREGATE, DEDUPLICATE and JOINs of two streams. */
bool fm_plan_is_stateful(const fm_plan *plan);

#endif
