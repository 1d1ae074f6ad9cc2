/* plan/analyze_aggregate.c: GROUP BY, HAVING, DISTINCT, and what may look into an aggregation from above.
 *
 * Rule  Spark, ResolveReferencesInAggregate, ResolveAggregateFunctions, CheckAnalysis: every column of a result
 *       expression stands inside an aggregate function or inside an expression that is grouped by. */
#include "plan/analyze_impl.h"

static fm_status fail_missing(const fm_plan *agg, const fm_expr *column, fm_pos pos, fm_error *err)
{
    if (!agg->n_group_exprs) {
        return fm_fail_at(err, FM_INVALID, "MISSING_GROUP_BY", pos.line, pos.column,
                          "The query does not include a GROUP BY clause, so the column `%.*s` has no single value. Add "
                          "GROUP BY, or aggregate the column.",
                          FM_STR_ARG(column->name));
    }
    return fm_fail_at(err, FM_INVALID, "MISSING_AGGREGATION", pos.line, pos.column,
                      "The non-aggregating expression \"%.*s\" is based on columns which are not participating in the "
                      "GROUP BY clause.\nAdd the columns or the expression to the GROUP BY, aggregate the expression, "
                      "or use \"any_value(%.*s)\" if you do not care which of the values within a group is returned.",
                      FM_STR_ARG(column->name), FM_STR_ARG(column->name));
}

static bool is_group(const fm_plan *agg, const fm_expr *e)
{
    for (int32_t i = 0; i < agg->n_group_exprs; i++) {
        if (fm_expr_same(agg->group_exprs[i], e)) return true;
    }
    return false;
}

static fm_status check_result(const fm_plan *agg, const fm_expr *e, fm_error *err)
{
    if (e->kind == FM_EXPR_AGGREGATE || is_group(agg, e)) return FM_OK;
    if (e->kind == FM_EXPR_ATTRIBUTE) return fail_missing(agg, e, e->pos, err);
    for (int32_t i = 0; i < e->n_args; i++) FM_TRY(check_result(agg, e->args[i], err));
    return FM_OK;
}

/* --- looking into an aggregation --------------------------------------------------------------------- */

static bool is_bare(const fm_plan *project)
{
    for (int32_t i = 0; i < project->n_exprs; i++) {
        if (project->exprs[i]->kind != FM_EXPR_ATTRIBUTE) return false;
    }
    return true;
}

fm_plan *fm_aggregate_below(fm_plan *p)
{
    while (p->kind == FM_PLAN_HINT || (p->kind == FM_PLAN_FILTER && p->is_having) ||
           (p->kind == FM_PLAN_PROJECT && is_bare(p))) {
        p = p->children[0];
    }
    return p->kind == FM_PLAN_AGGREGATE && !p->is_distinct ? p : NULL;
}

/* An expression being put in terms of an aggregation's result. */
typedef struct settling {
    fm_analyzer *an;
    const fm_plan *agg;
    fm_expr **items;           /* the aggregation's, and those added */
    int32_t n, cap;
    const fm_attr *allowed;    /* columns that may stay as they are */
    int32_t n_allowed;
    const fm_expr *leftover;   /* a column of the input that is neither grouped by nor aggregated */
} settling;

static fm_status start_settling(settling *s, fm_analyzer *an, const fm_plan *agg, fm_error *err)
{
    *s = (settling){.an = an, .agg = agg};
    for (int32_t i = 0; i < agg->n_exprs; i++) {
        if (!FM_GROW(an->arena, s->items, s->n, s->cap)) return fm_no_memory(an->arena, err);
        s->items[s->n++] = agg->exprs[i];
    }
    return FM_OK;
}

static fm_status result_column(settling *s, fm_expr *e, fm_expr **out, fm_error *err)
{
    fm_arena *arena = s->an->arena;
    fm_strbuf text = {0};

    for (int32_t i = 0; i < s->n; i++) {
        if (!fm_expr_same(fm_expr_unalias(s->items[i]), e)) continue;
        fm_attr a = fm_attr_of(s->items[i], s->agg->children[0]->output, s->agg->children[0]->n_output);
        *out = fm_attr_expr(arena, &a);
        return *out ? FM_OK : fm_no_memory(arena, err);
    }
    fm_expr *item = e;
    if (e->kind != FM_EXPR_ATTRIBUTE) {
        fm_expr_auto_name(e, &text);
        fm_str name = fm_arena_str(arena, fm_strbuf_str(&text));
        fm_strbuf_fini(&text);
        item = name.ptr ? fm_alias_expr(arena, e, name, s->an->next_id++) : NULL;
    }
    if (!item || !FM_GROW(arena, s->items, s->n, s->cap)) return fm_no_memory(arena, err);
    s->items[s->n++] = item;
    return result_column(s, e, out, err);
}

static fm_status settle(settling *s, fm_expr *e, fm_expr **out, fm_error *err)
{
    fm_expr *copy = e;

    if (e->kind == FM_EXPR_AGGREGATE || is_group(s->agg, e)) return result_column(s, e, out, err);
    *out = e;
    if (e->kind == FM_EXPR_ATTRIBUTE) {
        if (!fm_attr_find(s->allowed, s->n_allowed, e->attr_id) && !s->leftover) s->leftover = e;
        return FM_OK;
    }
    for (int32_t i = 0; i < e->n_args; i++) {
        fm_expr *now;
        FM_TRY(settle(s, e->args[i], &now, err));
        if (now == e->args[i]) continue;
        if (copy == e) copy = fm_expr_copy_node(s->an->arena, e);
        if (!copy) return fm_no_memory(s->an->arena, err);
        copy->args[i] = now;
    }
    *out = copy;
    return FM_OK;
}

static fm_status with_items(fm_analyzer *an, const fm_plan *agg, fm_expr **items, int32_t n, fm_plan **out,
                            fm_error *err)
{
    fm_plan *copy = fm_arena_one(an->arena, fm_plan);

    if (!copy) return fm_no_memory(an->arena, err);
    *copy = *agg;
    copy->exprs = items;
    copy->n_exprs = n;
    *out = copy;
    return fm_plan_finish(an->arena, copy, err);
}

/* The chain of nodes down to the aggregation, over one with more items; they are let through to the top. */
static fm_status rebuild(fm_analyzer *an, fm_plan *p, const settling *s, fm_plan **out, fm_error *err)
{
    fm_plan *child;

    if (p == s->agg) return with_items(an, p, s->items, s->n, out, err);
    FM_TRY(rebuild(an, p->children[0], s, &child, err));
    if (p->kind != FM_PLAN_PROJECT) return fm_plan_with_children(an->arena, p, &child, out, err);
    fm_expr **exprs = fm_arena_array(an->arena, fm_expr *, p->n_exprs + child->n_output);
    int32_t n = p->n_exprs;
    if (!exprs) return fm_no_memory(an->arena, err);
    if (n) memcpy(exprs, p->exprs, sizeof *exprs * (size_t)n);
    for (int32_t i = 0; i < child->n_output; i++) {
        const fm_attr *a = &child->output[i];
        bool is_new = !fm_attr_find(p->children[0]->output, p->children[0]->n_output, a->id);
        if (is_new) exprs[n++] = fm_attr_expr(an->arena, a);
    }
    return fm_plan_project(an->arena, child, exprs, n, p->pos, out, err);
}

/* One way to read a name: `attrs` before `more`. */
static fm_status try_over(fm_analyzer *an, const fm_plan *plan, settling *s, fm_expr *e, bool columns_first,
                          const char *clause, fm_expr **out, fm_error *err)
{
    const fm_plan *input = s->agg->children[0];
    fm_scope scope = fm_scope_of(an, columns_first ? input : plan, clause);

    scope.more = columns_first ? plan->output : input->output;
    scope.n_more = columns_first ? plan->n_output : input->n_output;
    scope.agg_attrs = input->output;
    scope.n_agg_attrs = input->n_output;
    scope.aggregates = true;
    scope.grouping = s->agg->grouping;
    FM_TRY(fm_resolve_expr(&scope, e, out, err));
    FM_TRY(fm_put_groups(an, s->agg->grouping, *out, out, err));
    s->allowed = plan->output;
    s->n_allowed = plan->n_output;
    FM_TRY(settle(s, *out, out, err));
    return s->leftover ? fail_missing(s->agg, s->leftover, s->leftover->pos, err) : FM_OK;
}

fm_status fm_resolve_over_aggregate(fm_analyzer *an, fm_plan **plan, fm_expr *e, bool columns_first,
                                    const char *clause, fm_expr **out, fm_error *err)
{
    settling s;
    const fm_plan *agg = fm_aggregate_below(*plan);
    fm_error first = FM_ERROR_INIT;

    fm_assert(agg);
    FM_TRY(start_settling(&s, an, agg, err));
    fm_status st = try_over(an, *plan, &s, e, columns_first, clause, out, &first);
    if (st == FM_INVALID && columns_first) {
        FM_TRY(start_settling(&s, an, agg, err));
        fm_error second = FM_ERROR_INIT;
        st = try_over(an, *plan, &s, e, false, clause, out, &second);
    }
    if (st != FM_OK) {
        if (err) *err = first;
        return st;
    }
    return s.n == agg->n_exprs ? FM_OK : rebuild(an, *plan, &s, plan, err);
}

/* --- GROUP BY ---------------------------------------------------------------------------------------- */

/* The select item that has this alias, without it. */
static fm_expr *item_by_alias(const fm_analyzer *an, fm_expr *const *items, int32_t n, const fm_expr *name)
{
    for (int32_t i = 0; i < n && name->n_parts == 1; i++) {
        if (items[i]->kind == FM_EXPR_ALIAS && fm_name_eq(an, items[i]->name, name->parts[0])) {
            return items[i]->args[0];
        }
    }
    return NULL;
}

/* Names in GROUP BY that are no columns but aliases of select items become the items. */
static fm_status put_aliases(const fm_scope *s, fm_expr *e, fm_expr *const *items, int32_t n, fm_expr **out,
                             fm_error *err)
{
    fm_expr *copy, *column;

    *out = e;
    if (e->kind == FM_EXPR_NAME) {
        FM_TRY(fm_find_column(s, s->attrs, s->n_attrs, e, &column, err));
        fm_expr *item = column ? NULL : item_by_alias(s->an, items, n, e);
        if (item) *out = item;
        return FM_OK;
    }
    if (e->kind == FM_EXPR_LAMBDA) return FM_OK;
    copy = fm_expr_copy_node(s->an->arena, e);
    if (!copy) return fm_no_memory(s->an->arena, err);
    for (int32_t i = 0; i < e->n_args; i++) FM_TRY(put_aliases(s, e->args[i], items, n, &copy->args[i], err));
    *out = copy;
    return FM_OK;
}

static fm_status ordinal_group(const fm_expr *e, int64_t k, fm_expr *const *items, int32_t n, bool had_star,
                               fm_expr **out, fm_error *err)
{
    if (had_star) {
        return fm_fail_at(err, FM_INVALID, "STAR_GROUP_BY_POS", e->pos.line, e->pos.column,
                          "Star (*) is not allowed in a select list when GROUP BY an ordinal position is used.");
    }
    if (k < 1 || k > n) {
        return fm_fail_at(err, FM_INVALID, "GROUP_BY_POS_OUT_OF_RANGE", e->pos.line, e->pos.column,
                          "GROUP BY position %lld is not in select list (valid range is [1, %d]).", (long long)k,
                          (int)n);
    }
    *out = items[k - 1]->kind == FM_EXPR_ALIAS ? items[k - 1]->args[0] : items[k - 1];
    if (!fm_has_aggregate_call(*out)) return FM_OK;
    return fm_fail_at(err, FM_INVALID, "GROUP_BY_POS_AGGREGATE", e->pos.line, e->pos.column,
                      "GROUP BY %lld refers to an expression that contains an aggregate function. Aggregate functions are "
                      "not allowed in GROUP BY.",
                      (long long)k);
}

static bool is_group_by_all(const fm_scope *s, const fm_plan *p)
{
    fm_expr *e = p->n_group_exprs == 1 ? p->group_exprs[0] : NULL, *column = NULL;
    fm_error ignored = FM_ERROR_INIT;

    if (!e || e->kind != FM_EXPR_NAME || e->n_parts != 1 || !fm_str_eq_ci(e->parts[0], FM_STR("ALL"))) return false;
    return fm_find_column(s, s->attrs, s->n_attrs, e, &column, &ignored) == FM_OK && !column;
}

/* The groups as unresolved expressions: ordinals, aliases and ALL replaced. */
static fm_status written_groups(const fm_scope *s, const fm_plan *p, fm_expr *const *items, int32_t n, bool had_star,
                                fm_expr ***out, int32_t *n_out, fm_error *err)
{
    bool all = p->all || is_group_by_all(s, p);
    fm_expr **groups = fm_arena_array(s->an->arena, fm_expr *, all ? n : p->n_group_exprs);

    if (!groups) return fm_no_memory(s->an->arena, err);
    *out = groups;
    *n_out = 0;
    for (int32_t i = 0; all && i < n; i++) {
        if (fm_has_aggregate_call(items[i])) continue;
        groups[(*n_out)++] = items[i]->kind == FM_EXPR_ALIAS ? items[i]->args[0] : items[i];
    }
    for (int32_t i = 0; !all && i < p->n_group_exprs; i++) {
        fm_expr *e = p->group_exprs[i];
        bool ordinal = e->kind == FM_EXPR_LITERAL && e->type->id == FM_TYPE_I32 && !fm_vec_is_null(&e->value, 0);
        if (ordinal) FM_TRY(ordinal_group(e, fm_vec_i32(&e->value)[0], items, n, had_star, &e, err));
        else FM_TRY(put_aliases(s, e, items, n, &e, err));
        groups[(*n_out)++] = e;
    }
    return FM_OK;
}

static fm_status resolve_groups(fm_scope *s, fm_expr **groups, int32_t n, fm_error *err)
{
    for (int32_t i = 0; i < n; i++) {
        FM_TRY(fm_resolve_expr(s, groups[i], &groups[i], err));
        groups[i] = fm_expr_unalias(groups[i]);
    }
    return FM_OK;
}

/* One expression of a grouping set: an ordinal, an alias, or over the input. */
typedef struct leaf_ctx {
    fm_scope *scope;
    fm_expr *const *items;
    int32_t n;
    bool had_star;
} leaf_ctx;

static fm_status resolve_leaf(void *ctx, fm_expr *e, fm_expr **out, fm_error *err)
{
    const leaf_ctx *l = ctx;
    bool ordinal = e->kind == FM_EXPR_LITERAL && e->type->id == FM_TYPE_I32 && !fm_vec_is_null(&e->value, 0);

    if (ordinal) FM_TRY(ordinal_group(e, fm_vec_i32(&e->value)[0], l->items, l->n, l->had_star, &e, err));
    *out = e;
    return resolve_groups(l->scope, out, 1, err);
}

/* ROLLUP and kin: *groups become the columns that the sets' rows have. One set without columns is no grouping at all. */
static fm_status group_by_sets(fm_scope *s, fm_expr *const *items, int32_t n, bool had_star, fm_expr ***groups, int32_t *n_groups,
                               fm_grouping **out, fm_pos pos, fm_error *err)
{
    fm_analyzer *an = s->an;
    leaf_ctx ctx = {s, items, n, had_star};
    fm_grouping *g;

    FM_TRY(fm_find_grouping_sets(s, *groups, *n_groups, resolve_leaf, &ctx, &g, err));
    *n_groups = 0;
    if (g->n == 0 && g->n_sets == 1) return FM_OK;
    FM_TRY(fm_name_grouping(an, g, pos, err));
    *groups = fm_arena_array(an->arena, fm_expr *, g->n_columns);
    if (!*groups) return fm_no_memory(an->arena, err);
    for (int32_t i = 0; i < g->n_columns; i++) {
        (*groups)[i] = fm_attr_expr(an->arena, &g->columns[i]);
        if (!(*groups)[i]) return fm_no_memory(an->arena, err);
    }
    *n_groups = g->n_columns;
    *out = g;
    return FM_OK;
}

/* Items that use each other's aliases: the aggregation gives their parts, PROJECTs put them together. */
static fm_status lateral_items(fm_analyzer *an, fm_plan *agg, fm_expr **items, int32_t n, fm_plan **out, fm_error *err)
{
    settling s;
    fm_attr *aliases = fm_arena_array(an->arena, fm_attr, n);
    fm_plan *parts = NULL;

    if (!aliases) return fm_no_memory(an->arena, err);
    agg->exprs = NULL;
    agg->n_exprs = 0;
    FM_TRY(start_settling(&s, an, agg, err));
    for (int32_t i = 0; i < n; i++) {
        if (items[i]->kind == FM_EXPR_ALIAS) aliases[s.n_allowed++] = fm_attr_of(items[i], NULL, 0);
    }
    s.allowed = aliases;
    for (int32_t i = 0; i < n; i++) FM_TRY(settle(&s, items[i], &items[i], err));
    if (s.leftover) return fail_missing(agg, s.leftover, s.leftover->pos, err);
    FM_TRY(with_items(an, agg, s.items, s.n, &parts, err));
    return fm_project_items(an, parts, items, n, true, agg->pos, out, err);
}

fm_status fm_analyze_aggregate(fm_analyzer *an, const fm_plan *p, fm_plan **out, fm_error *err)
{
    fm_below below = {0};
    fm_plan *child;
    fm_expr **list, **items, **groups = NULL;
    int32_t n, n_items, n_groups = 0;
    bool had_star;

    FM_TRY(fm_analyze_child(an, p, &child, err));
    FM_TRY(fm_reach_files(an, p->exprs, p->n_exprs, p->group_exprs, p->n_group_exprs, &child, err));
    fm_scope s = fm_scope_of(an, child, "the select list");
    s.below = &below;
    FM_TRY(fm_expand_items(&s, p->exprs, p->n_exprs, &list, &n, &had_star, err));
    FM_TRY(written_groups(&s, p, list, n, had_star, &groups, &n_groups, err));
    FM_TRY(fm_find_windows(&s, groups, n_groups, err));
    s.aggregates = true;
    FM_TRY(fm_find_windows(&s, list, n, err));
    fm_scope of_groups = s;
    of_groups.aggregates = false;
    of_groups.clause = "GROUP BY";
    of_groups.no_aggregate = "GROUP_BY_AGGREGATE";
    fm_grouping *grouping = NULL;
    if (fm_has_grouping_sets(groups, n_groups)) FM_TRY(group_by_sets(&of_groups, list, n, had_star, &groups, &n_groups, &grouping, p->pos, err));
    else FM_TRY(resolve_groups(&of_groups, groups, n_groups, err));
    s.grouping = grouping;
    FM_TRY(fm_resolve_items(&s, list, n, &items, &n_items, err));
    FM_TRY(fm_put_below(an, &below, &child, err));
    if (grouping) FM_TRY(fm_put_expand(an, grouping, &child, err));
    if (grouping) FM_TRY(fm_put_groups_in_items(an, grouping, items, n_items, err));

    fm_plan *agg = fm_plan_over(an->arena, FM_PLAN_AGGREGATE, child, p->pos);
    if (!agg) return fm_no_memory(an->arena, err);
    agg->group_exprs = groups;
    agg->n_group_exprs = n_groups;
    agg->grouping = grouping;
    agg->exprs = items;
    agg->n_exprs = n_items;
    *out = agg;
    if (s.used_alias) return lateral_items(an, agg, items, n_items, out, err);
    for (int32_t i = 0; i < n_items; i++) FM_TRY(check_result(agg, items[i], err));
    return fm_plan_finish(an->arena, agg, err);
}

fm_status fm_analyze_having(fm_analyzer *an, const fm_plan *p, fm_plan **out, fm_error *err)
{
    const fm_plan *below = p->children[0];
    fm_plan *child;
    fm_expr *condition;

    if (below->kind == FM_PLAN_PROJECT) FM_TRY(fm_analyze_aggregate(an, below, &child, err));
    else FM_TRY(fm_analyze_plan(an, below, &child, err));
    const fm_attr *columns = child->output;
    int32_t n = child->n_output;
    if (!fm_aggregate_below(child)) {
        return fm_fail_at(err, FM_UNSUPPORTED, "FLOODMARK_HAVING", p->pos.line, p->pos.column,
                          "HAVING beside select items that use each other's aliases is not built: put the query into a "
                          "sub-query and write WHERE.");
    }
    FM_TRY(fm_resolve_over_aggregate(an, &child, p->exprs[0], true, "HAVING", &condition, err));
    fm_scope s = fm_scope_of(an, child, "HAVING");
    FM_TRY(fm_resolve_bool(&s, condition, "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN", &condition, err));
    FM_TRY(fm_plan_filter(an->arena, child, condition, p->pos, out, err));
    (*out)->is_having = true;
    return fm_keep_columns(an, *out, columns, n, out, err);
}

fm_status fm_distinct(fm_analyzer *an, fm_plan *child, fm_pos pos, fm_plan **out, fm_error *err)
{
    fm_plan *agg = fm_plan_over(an->arena, FM_PLAN_AGGREGATE, child, pos);

    if (agg) agg->exprs = fm_arena_array(an->arena, fm_expr *, child->n_output);
    if (!agg || !agg->exprs) return fm_no_memory(an->arena, err);
    for (int32_t i = 0; i < child->n_output; i++) {
        const fm_attr *a = &child->output[i];
        if (a->hidden) continue;
        if (a->type->id == FM_TYPE_MAP) {
            return fm_fail_at(err, FM_INVALID, "UNSUPPORTED_FEATURE.SET_OPERATION_ON_MAP_TYPE", pos.line, pos.column,
                              "Cannot have MAP type columns in DataFrame which calls set operations (INTERSECT, EXCEPT, "
                              "DISTINCT), but the column `%.*s` is one.",
                              FM_STR_ARG(a->name));
        }
        agg->exprs[agg->n_exprs] = fm_attr_expr(an->arena, a);
        if (!agg->exprs[agg->n_exprs++]) return fm_no_memory(an->arena, err);
    }
    agg->group_exprs = agg->exprs;
    agg->n_group_exprs = agg->n_exprs;
    agg->is_distinct = true;
    *out = agg;
    return fm_plan_finish(an->arena, agg, err);
}
