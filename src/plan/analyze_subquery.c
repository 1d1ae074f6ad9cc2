/* plan/analyze_subquery.c: queries inside expressions.
 *
 * EXISTS and IN (SELECT ...) as conditions of WHERE become semi and anti joins. Of them alone the WHERE may look at the query
 * around it: what does becomes a condition of the join. A scalar subquery becomes a column: its
 * plan, which must give at most one row, is joined to what is below the node. */
#include "plan/analyze_impl.h"

#include "expr/coerce.h"

static fm_status subquery_plan(fm_scope *s, const fm_expr *e, fm_plan **out, fm_error *err)
{
    fm_analyzer *an = s->an;
    const fm_scope *outer = an->outer;

    an->outer = s;
    fm_status st = fm_analyze_plan(an, e->plan, out, err);
    an->outer = outer;
    if (st == FM_OK && (*out)->streaming) {
        return fm_fail_at(err, FM_UNSUPPORTED, "INVALID_SUBQUERY_EXPRESSION.STREAMING_QUERY", e->pos.line, e->pos.column,
                          "Invalid subquery: a stream is not allowed in the sub-query of an expression, since it would never "
                          "end. Join with it instead.");
    }
    return st;
}

/* --- what looks at the query around ------------------------------------------------------------------------- */

static bool is_not_outer(const fm_expr *e, void *ctx)
{
    const fm_scope *s = ctx;

    return e->kind != FM_EXPR_ATTRIBUTE || !fm_attr_find(s->attrs, s->n_attrs, e->attr_id);
}

static bool looks_out(const fm_scope *s, const fm_expr *e)
{
    fm_scope copy = *s;

    return !fm_expr_walk(e, is_not_outer, &copy);
}

static fm_status check_closed(const fm_scope *s, const fm_plan *p, const fm_expr *e, fm_error *err)
{
    bool out = false;

    for (int32_t i = 0; i < p->n_exprs; i++) out |= looks_out(s, p->exprs[i]);
    for (int32_t i = 0; i < p->n_group_exprs; i++) out |= looks_out(s, p->group_exprs[i]);
    if (out) {
        return fm_fail_at(err, FM_UNSUPPORTED, "FLOODMARK_CORRELATED_SUBQUERY", e->pos.line, e->pos.column,
                          "The subquery uses a column of the query around it where that is not built: it may do so in the WHERE "
                          "of EXISTS (SELECT ...) and IN (SELECT ...), without GROUP BY, LIMIT and sub-queries of its own. Write "
                          "it as a join.");
    }
    for (int32_t i = 0; i < p->n_children; i++) FM_TRY(check_closed(s, p->children[i], e, err));
    return FM_OK;
}

static fm_status both(fm_analyzer *an, fm_expr *a, fm_expr *b, fm_expr **out, fm_error *err)
{
    fm_expr *node = fm_expr_new(an->arena, FM_EXPR_AND, b->pos);

    *out = b;
    if (!a) return FM_OK;
    if (!node) return fm_no_memory(an->arena, err);
    node->n_args = 2;
    return fm_expr_resolve_node(an->arena, an->conf, node, (fm_expr *[]){a, b}, out, err);
}

/* Takes the conditions that look out from the filter at the top of a subquery. *value: its column, over what *plan then is. */
static fm_status pull_conditions(fm_scope *s, const fm_expr *e, fm_plan **plan, fm_expr **value, fm_expr **pulled, fm_error *err)
{
    fm_analyzer *an = s->an;
    fm_plan *project = *plan, *p = project;
    fm_expr **list = NULL, *rest = NULL;
    int32_t n = 0, cap = 0;

    *pulled = NULL;
    while (p->kind == FM_PLAN_SORT || (p->kind == FM_PLAN_PROJECT && p == project)) p = p->children[0];
    if (p->kind == FM_PLAN_FILTER && !p->is_having && looks_out(s, p->exprs[0])) {
        FM_TRY(fm_expr_conjuncts(an->arena, p->exprs[0], &list, &n, &cap, err));
        for (int32_t i = 0; i < n; i++) {
            fm_expr **to = looks_out(s, list[i]) ? pulled : &rest;
            FM_TRY(both(an, *to, list[i], to, err));
        }
        if (value && project->kind == FM_PLAN_PROJECT) {
            for (int32_t i = 0; i < project->n_exprs; i++) {
                if (!project->output[i].hidden) *value = fm_expr_unalias(project->exprs[i]);
            }
        }
        *plan = p->children[0];
        if (rest) FM_TRY(fm_plan_filter(an->arena, *plan, rest, p->pos, plan, err));
    }
    if (value && *value) {
        fm_plan probe = {.exprs = value, .n_exprs = 1};
        FM_TRY(check_closed(s, &probe, e, err));
    }
    return check_closed(s, *plan, e, err);
}

static fm_status check_one_column(const fm_plan *plan, const fm_expr *e, fm_error *err)
{
    int32_t n = fm_plan_visible(plan);

    if (n == 1) return FM_OK;
    return fm_fail_at(err, FM_INVALID, "INVALID_SUBQUERY_EXPRESSION.SCALAR_SUBQUERY_RETURN_MORE_THAN_ONE_OUTPUT_COLUMN",
                      e->pos.line, e->pos.column, "The sub-query must return only one column, but got %d.", (int)n);
}

/* Whether the plan itself says that there is no second row. */
static bool gives_one_row(const fm_plan *p)
{
    while (p->kind == FM_PLAN_PROJECT || p->kind == FM_PLAN_FILTER || p->kind == FM_PLAN_SUBQUERY_ALIAS ||
           p->kind == FM_PLAN_SORT) {
        p = p->children[0];
    }
    if (p->kind == FM_PLAN_LIMIT) return p->limit == 0 || p->limit == 1 || gives_one_row(p->children[0]);
    return p->kind == FM_PLAN_ONE_ROW || (p->kind == FM_PLAN_AGGREGATE && !p->n_group_exprs) ||
           (p->kind == FM_PLAN_VALUES && p->n_exprs == p->n_columns);
}

static fm_status check_scalar(const fm_scope *s, const fm_plan *plan, const fm_expr *e, fm_error *err)
{
    FM_TRY(check_one_column(plan, e, err));
    if (!gives_one_row(plan)) {
        return fm_fail_at(err, FM_UNSUPPORTED, "FLOODMARK_SCALAR_SUBQUERY", e->pos.line, e->pos.column,
                          "A sub-query that stands for a value must be one that gives one row at most, as SELECT max(x) "
                          "FROM t, or with LIMIT 1.");
    }
    if (s->below && (!s->aggregates || s->in_aggregate)) return FM_OK;
    return fm_fail_at(err, FM_UNSUPPORTED, "FLOODMARK_SCALAR_SUBQUERY", e->pos.line, e->pos.column,
                      "A sub-query that stands for a value is not built for %s%s: join with it, or compute it in a "
                      "sub-query of FROM.",
                      s->clause, s->aggregates ? " of an aggregation" : "");
}

fm_status fm_resolve_subquery(fm_scope *s, const fm_expr *e, fm_expr **out, fm_error *err)
{
    fm_analyzer *an = s->an;
    fm_below *b = s->below;
    fm_plan *plan;
    const fm_attr *value = NULL;

    FM_TRY(subquery_plan(s, e, &plan, err));
    FM_TRY(check_closed(s, plan, e, err));
    FM_TRY(check_scalar(s, plan, e, err));
    for (int32_t i = 0; i < plan->n_output; i++) {
        if (!plan->output[i].hidden) value = &plan->output[i];
    }
    fm_expr *column = fm_attr_expr(an->arena, value), **exprs = fm_arena_array(an->arena, fm_expr *, 1);
    if (!column || !exprs || !FM_GROW(an->arena, b->subqueries, b->n_subqueries, b->cap_subqueries)) {
        return fm_no_memory(an->arena, err);
    }
    exprs[0] = fm_alias_expr(an->arena, column, FM_STR("scalarsubquery()"), an->next_id++);
    FM_TRY(fm_plan_project(an->arena, plan, exprs, 1, e->pos, &plan, err));
    plan->output[0].hidden = true;
    plan->output[0].nullable = true;
    b->subqueries[b->n_subqueries++] = plan;
    *out = fm_attr_expr(an->arena, &plan->output[0]);
    return *out ? FM_OK : fm_no_memory(an->arena, err);
}

static fm_status semi_join(fm_analyzer *an, fm_plan *left, fm_plan *right, bool anti, fm_expr *condition, fm_pos pos,
                           fm_plan **out, fm_error *err)
{
    fm_plan *join = fm_plan_new(an->arena, FM_PLAN_JOIN, pos);

    if (join) {
        join->children = fm_arena_array(an->arena, fm_plan *, 2);
        join->exprs = fm_arena_array(an->arena, fm_expr *, 1);
    }
    if (!join || !join->children || !join->exprs) return fm_no_memory(an->arena, err);
    join->children[0] = left;
    join->children[1] = right;
    join->n_children = 2;
    join->join_type = anti ? FM_JOIN_LEFT_ANTI : FM_JOIN_LEFT_SEMI;
    join->exprs[0] = condition;
    join->n_exprs = condition ? 1 : 0;
    *out = join;
    return fm_plan_finish(an->arena, join, err);
}

static fm_status equal(fm_analyzer *an, fm_expr *a, fm_expr *b, fm_pos pos, fm_expr **out, fm_error *err)
{
    fm_expr **args = fm_arena_array(an->arena, fm_expr *, 2);

    if (!args || !b) return fm_no_memory(an->arena, err);
    args[0] = a;
    args[1] = b;
    return fm_call_resolve(an->arena, an->conf, FM_STR("="), args, 2, pos, NULL, out, err);
}

/* x NOT IN (...) is no match only when every comparison is false: one that is null takes the row away, too. */
static fm_status equal_or_null(fm_analyzer *an, fm_expr *same, fm_expr **out, fm_error *err)
{
    fm_expr **args = fm_arena_array(an->arena, fm_expr *, 2), *is_null;
    fm_expr *either = fm_expr_new(an->arena, FM_EXPR_OR, same->pos);

    *out = same;
    if (!same->nullable) return FM_OK;
    if (!args || !either) return fm_no_memory(an->arena, err);
    args[0] = same;
    FM_TRY(fm_call_resolve(an->arena, an->conf, FM_STR("isnull"), args, 1, same->pos, NULL, &is_null, err));
    either->n_args = 2;
    return fm_expr_resolve_node(an->arena, an->conf, either, (fm_expr *[]){same, is_null}, out, err);
}

static fm_status join_in(fm_scope *s, const fm_expr *in, bool negated, fm_plan **child, fm_error *err)
{
    fm_analyzer *an = s->an;
    fm_plan *plan;
    fm_expr *value, *condition;
    const fm_attr *column = NULL;

    FM_TRY(subquery_plan(s, in, &plan, err));
    if (fm_plan_visible(plan) != 1) {
        return fm_fail_at(err, FM_INVALID, "DATATYPE_MISMATCH.IN_SUBQUERY_LENGTH_MISMATCH", in->pos.line,
                          in->pos.column,
                          "The number of columns in the left hand side of an IN subquery does not match the number of "
                          "columns in the output of subquery: 1 and %d.",
                          (int)fm_plan_visible(plan));
    }
    for (int32_t i = 0; i < plan->n_output; i++) {
        if (!plan->output[i].hidden) column = &plan->output[i];
    }
    fm_expr *found = fm_attr_expr(an->arena, column), *pulled;
    FM_TRY(fm_resolve_expr(s, in->args[0], &value, err));
    FM_TRY(pull_conditions(s, in, &plan, &found, &pulled, err));
    FM_TRY(equal(an, value, found, in->pos, &condition, err));
    if (negated) FM_TRY(equal_or_null(an, condition, &condition, err));
    FM_TRY(both(an, pulled, condition, &condition, err));
    return semi_join(an, *child, plan, negated, condition, in->pos, child, err);
}

static fm_status join_exists(fm_scope *s, const fm_expr *exists, bool negated, fm_plan **child, fm_error *err)
{
    fm_plan *plan;
    fm_expr *pulled;

    FM_TRY(subquery_plan(s, exists, &plan, err));
    FM_TRY(pull_conditions(s, exists, &plan, NULL, &pulled, err));
    return semi_join(s->an, *child, plan, negated, pulled, exists->pos, child, err);
}

fm_status fm_join_subqueries(fm_scope *s, fm_expr *condition, fm_plan **child, fm_expr **rest,
                             fm_error *err)
{
    fm_arena *arena = s->an->arena;
    fm_expr **list = NULL, *whole = condition;
    int32_t n = 0, cap = 0, left = 0;

    *rest = condition;
    if (!fm_expr_has(condition, FM_EXPR_EXISTS_SUBQUERY) && !fm_expr_has(condition, FM_EXPR_IN_SUBQUERY)) return FM_OK;
    FM_TRY(fm_expr_conjuncts(arena, condition, &list, &n, &cap, err));
    for (int32_t i = 0; i < n; i++) {
        bool negated = list[i]->kind == FM_EXPR_NOT;
        fm_expr *e = negated ? list[i]->args[0] : list[i];
        if (e->kind == FM_EXPR_EXISTS_SUBQUERY) FM_TRY(join_exists(s, e, negated, child, err));
        else if (e->kind == FM_EXPR_IN_SUBQUERY) FM_TRY(join_in(s, e, negated, child, err));
        else list[left++] = list[i];
    }
    *rest = NULL;
    for (int32_t i = 0; i < left; i++) {
        if (!*rest) {
            *rest = list[i];
            continue;
        }
        fm_expr *both = fm_expr_new(arena, FM_EXPR_AND, whole->pos), **args = fm_arena_array(arena, fm_expr *, 2);
        if (!both || !args) return fm_no_memory(arena, err);
        args[0] = *rest;
        args[1] = list[i];
        both->args = args;
        both->n_args = 2;
        *rest = both;
    }
    return FM_OK;
}
