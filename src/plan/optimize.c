/* plan/optimize.c: the order of the passes, and the first of them: plans in their plain form. */
#include "plan/optimize_impl.h"

#include "expr/coerce.h"

fm_status fm_pass_children(fm_optimizer *o, fm_plan *plan, fm_pass pass, fm_plan **out, fm_error *err)
{
    fm_plan **children = fm_arena_array(o->arena, fm_plan *, plan->n_children);

    if (!children) return fm_no_memory(o->arena, err);
    for (int32_t i = 0; i < plan->n_children; i++) FM_TRY(pass(o, plan->children[i], &children[i], err));
    return fm_plan_with_children(o->arena, plan, children, out, err);
}

typedef struct substitution {
    fm_expr *const *named;
    int32_t n;
} substitution;

static fm_status substitute_node(void *ctx, fm_expr **e, fm_error *err)
{
    const substitution *s = ctx;

    (void)err;
    for (int32_t i = 0; (*e)->kind == FM_EXPR_ATTRIBUTE && i < s->n; i++) {
        if (s->named[i]->attr_id != (*e)->attr_id) continue;
        *e = fm_expr_unalias(s->named[i]);
        break;
    }
    return FM_OK;
}

fm_status fm_substitute(fm_optimizer *o, fm_expr *e, fm_expr *const *named, int32_t n, fm_expr **out, fm_error *err)
{
    return fm_expr_rewrite(o->arena, e, substitute_node, &(substitution){named, n}, out, err);
}

/* --- aggregations in their plain form ------------------------------------------------------------------ */

/* An aggregation taken apart: groups are columns, results are groups and aggregates. */
typedef struct parts {
    fm_optimizer *o;
    const fm_plan *agg;
    fm_expr **below;           /* ALIASes of computed groups, for a PROJECT below */
    int32_t n_below, cap_below;
    fm_expr **groups;          /* ATTRIBUTEs, one per expression of agg->group_exprs */
    fm_expr **items;           /* the plain aggregation's results */
    int32_t n_items, cap_items;
} parts;

static fm_status add_group(parts *s, int32_t i, fm_error *err)
{
    fm_optimizer *o = s->o;
    fm_expr *g = s->agg->group_exprs[i];
    fm_strbuf text = {0};

    s->groups[i] = g;
    if (g->kind == FM_EXPR_ATTRIBUTE) return FM_OK;
    for (int32_t k = 0; k < i; k++) {
        if (!fm_expr_same(s->agg->group_exprs[k], g)) continue;
        s->groups[i] = s->groups[k];
        return FM_OK;
    }
    fm_expr_auto_name(g, &text);
    fm_str name = fm_arena_str(o->arena, fm_strbuf_str(&text));
    fm_strbuf_fini(&text);
    fm_expr *alias = name.ptr ? fm_alias_expr(o->arena, g, name, o->next_id++) : NULL;
    if (!alias || !FM_GROW(o->arena, s->below, s->n_below, s->cap_below)) return fm_no_memory(o->arena, err);
    s->below[s->n_below++] = alias;
    fm_attr column = fm_attr_of(alias, NULL, 0);
    s->groups[i] = fm_attr_expr(o->arena, &column);
    return s->groups[i] ? FM_OK : fm_no_memory(o->arena, err);
}

/* The result column that is `e`, an aggregate or a group; added when there is none. alias: how it was called. */
static fm_status result(parts *s, fm_expr *e, const fm_expr *alias, fm_expr **out, fm_error *err)
{
    fm_arena *arena = s->o->arena;
    fm_strbuf text = {0};

    for (int32_t i = 0; i < s->n_items; i++) {
        if (!fm_expr_same(fm_expr_unalias(s->items[i]), e)) continue;
        fm_attr known = {.id = s->items[i]->attr_id, .name = s->items[i]->name, .type = s->items[i]->type,
                         .nullable = s->items[i]->nullable};
        *out = fm_attr_expr(arena, &known);
        return *out ? FM_OK : fm_no_memory(arena, err);
    }
    fm_expr *item = e;
    if (e->kind != FM_EXPR_ATTRIBUTE) {
        fm_str name = alias ? alias->name : FM_STR("");
        if (!alias) {
            fm_expr_auto_name(e, &text);
            name = fm_arena_str(arena, fm_strbuf_str(&text));
            fm_strbuf_fini(&text);
            if (!name.ptr) return fm_no_memory(arena, err);
        }
        item = fm_alias_expr(arena, e, name, alias ? alias->attr_id : s->o->next_id++);
    }
    if (!item || !FM_GROW(arena, s->items, s->n_items, s->cap_items)) return fm_no_memory(arena, err);
    s->items[s->n_items++] = item;
    return result(s, e, alias, out, err);
}

static fm_status take_apart(parts *s, fm_expr *e, const fm_expr *alias, fm_expr **out, fm_error *err)
{
    fm_expr *copy = e;

    if (e->kind == FM_EXPR_AGGREGATE) return result(s, e, alias, out, err);
    for (int32_t i = 0; i < s->agg->n_group_exprs; i++) {
        if (fm_expr_same(s->agg->group_exprs[i], e)) return result(s, s->groups[i], NULL, out, err);
    }
    for (int32_t i = 0; i < e->n_args; i++) {
        fm_expr *now;
        FM_TRY(take_apart(s, e->args[i], NULL, &now, err));
        if (now == e->args[i]) continue;
        if (copy == e) copy = fm_expr_copy_node(s->o->arena, e);
        if (!copy) return fm_no_memory(s->o->arena, err);
        copy->args[i] = now;
    }
    *out = copy;
    return FM_OK;
}

/* One select item over the plain aggregation: the column itself where it is the same column, else an ALIAS. */
static fm_status put_item(parts *s, fm_expr *item, bool *same, fm_expr **out, fm_error *err)
{
    bool alias = item->kind == FM_EXPR_ALIAS;
    fm_expr *inner;

    FM_TRY(take_apart(s, alias ? item->args[0] : item, alias ? item : NULL, &inner, err));
    if (inner->kind == FM_EXPR_ATTRIBUTE && inner->attr_id == item->attr_id) {
        *out = inner;
        return FM_OK;
    }
    *same = false;
    *out = fm_alias_expr(s->o->arena, inner, item->name, item->attr_id);
    return *out ? FM_OK : fm_no_memory(s->o->arena, err);
}

static fm_status project_groups(parts *s, fm_plan **child, fm_error *err)
{
    fm_expr **exprs;
    int32_t n = (*child)->n_output;

    if (!s->n_below) return FM_OK;
    exprs = fm_plan_columns(s->o->arena, *child, s->n_below);
    if (!exprs) return fm_no_memory(s->o->arena, err);
    memcpy(exprs + n, s->below, sizeof *exprs * (size_t)s->n_below);
    return fm_plan_project(s->o->arena, *child, exprs, n + s->n_below, s->agg->pos, child, err);
}

/* Group columns, each once. */
static int32_t distinct_groups(fm_expr **groups, int32_t n)
{
    int32_t kept = 0;

    for (int32_t i = 0; i < n; i++) {
        bool again = false;
        for (int32_t k = 0; k < kept; k++) again |= groups[k]->attr_id == groups[i]->attr_id;
        if (!again) groups[kept++] = groups[i];
    }
    return kept;
}

static fm_status tidy_aggregate(fm_optimizer *o, fm_plan *p, fm_plan **out, fm_error *err)
{
    parts s = {.o = o, .agg = p, .groups = fm_arena_array(o->arena, fm_expr *, p->n_group_exprs)};
    fm_expr **exprs = fm_arena_array(o->arena, fm_expr *, p->n_exprs);
    fm_plan *agg = fm_arena_one(o->arena, fm_plan), *child = p->children[0];
    bool same = true;

    if (!s.groups || !exprs || !agg) return fm_no_memory(o->arena, err);
    for (int32_t i = 0; i < p->n_group_exprs; i++) FM_TRY(add_group(&s, i, err));
    for (int32_t i = 0; i < p->n_exprs; i++) FM_TRY(put_item(&s, p->exprs[i], &same, &exprs[i], err));
    FM_TRY(project_groups(&s, &child, err));
    *agg = *p;
    agg->children = fm_arena_array(o->arena, fm_plan *, 1);
    if (!agg->children) return fm_no_memory(o->arena, err);
    agg->children[0] = child;
    agg->group_exprs = s.groups;
    agg->n_group_exprs = distinct_groups(s.groups, p->n_group_exprs);
    agg->exprs = s.items;
    agg->n_exprs = s.n_items;
    *out = agg;
    FM_TRY(fm_plan_finish(o->arena, agg, err));
    same &= s.n_items == p->n_exprs;
    for (int32_t i = 0; same && i < p->n_exprs; i++) same = s.items[i]->attr_id == p->exprs[i]->attr_id;
    return same ? FM_OK : fm_plan_project(o->arena, agg, exprs, p->n_exprs, p->pos, out, err);
}

/* --- INTERSECT and EXCEPT ------------------------------------------------------------------------------ */

/* Rule: Spark, ReplaceIntersectWithSemiJoin, ReplaceExceptWithAntiJoin: the distinct rows of a semi or anti join on
 * all columns, nulls equal. */
static fm_status tidy_set_op(fm_optimizer *o, fm_plan *p, fm_plan **out, fm_error *err)
{
    fm_plan *l = p->children[0], *r = p->children[1];
    fm_plan *join = fm_plan_new(o->arena, FM_PLAN_JOIN, p->pos);
    fm_expr **equal = fm_arena_array(o->arena, fm_expr *, l->n_output);

    if (p->all) {
        return fm_fail_at(err, FM_UNSUPPORTED, "FLOODMARK_SET_OPERATION_ALL", p->pos.line, p->pos.column,
                          "%.*s ALL is not built; %.*s without ALL is.", FM_STR_ARG(p->set_op), FM_STR_ARG(p->set_op));
    }
    if (join) join->exprs = fm_arena_array(o->arena, fm_expr *, 1);
    if (!join || !join->exprs || !equal) return fm_no_memory(o->arena, err);
    for (int32_t i = 0; i < l->n_output; i++) {
        fm_expr **args = fm_arena_array(o->arena, fm_expr *, 2);
        if (!args) return fm_no_memory(o->arena, err);
        args[0] = fm_attr_expr(o->arena, &l->output[i]);
        args[1] = fm_attr_expr(o->arena, &r->output[i]);
        if (!args[0] || !args[1]) return fm_no_memory(o->arena, err);
        FM_TRY(fm_call_resolve(o->arena, o->conf, FM_STR("<=>"), args, 2, p->pos, NULL, &equal[i], err));
    }
    join->exprs[0] = fm_expr_conjunction(o->arena, equal, l->n_output);
    if (!join->exprs[0]) return fm_no_memory(o->arena, err);
    join->n_exprs = 1;
    join->children = p->children;
    join->n_children = 2;
    join->join_type = fm_str_eq_ci(p->set_op, FM_STR("EXCEPT")) ? FM_JOIN_LEFT_ANTI : FM_JOIN_LEFT_SEMI;
    FM_TRY(fm_plan_finish(o->arena, join, err));
    fm_plan *agg = fm_plan_over(o->arena, FM_PLAN_AGGREGATE, join, p->pos);
    if (!agg) return fm_no_memory(o->arena, err);
    agg->exprs = agg->group_exprs = fm_plan_columns(o->arena, join, 0);
    if (!agg->exprs) return fm_no_memory(o->arena, err);
    agg->n_exprs = agg->n_group_exprs = join->n_output;
    agg->is_distinct = true;
    *out = agg;
    return fm_plan_finish(o->arena, agg, err);
}

fm_status fm_tidy_plan(fm_optimizer *o, fm_plan *plan, fm_plan **out, fm_error *err)
{
    FM_TRY(fm_pass_children(o, plan, fm_tidy_plan, out, err));
    plan = *out;
    switch (plan->kind) {
    case FM_PLAN_SUBQUERY_ALIAS:
    case FM_PLAN_HINT: *out = plan->children[0]; return FM_OK;
    case FM_PLAN_SET_OP: return tidy_set_op(o, plan, out, err);
    case FM_PLAN_AGGREGATE: return tidy_aggregate(o, plan, out, err);
    default: return FM_OK;
    }
}

/* The root gives out its visible columns, whatever happens below. */
static fm_status fix_root(fm_optimizer *o, fm_plan *plan, fm_plan **out, fm_error *err)
{
    fm_expr **exprs = fm_arena_array(o->arena, fm_expr *, plan->n_output);
    int32_t n = 0;

    if (!exprs) return fm_no_memory(o->arena, err);
    for (int32_t i = 0; i < plan->n_output; i++) {
        if (!plan->output[i].hidden) exprs[n++] = fm_attr_expr(o->arena, &plan->output[i]);
    }
    return fm_plan_project(o->arena, plan, exprs, n, plan->pos, out, err);
}

fm_status fm_optimize(fm_arena *arena, const fm_session_conf *conf, const fm_plan *plan, fm_plan **out, fm_error *err)
{
    fm_optimizer o = {.arena = arena, .conf = conf, .next_id = fm_plan_max_id(plan) + 1};
    fm_plan *p = (fm_plan *)(uintptr_t)plan;

    *out = p;
    if (p->kind >= FM_PLAN_CREATE_TABLE) return FM_OK;
    FM_TRY(fix_root(&o, p, &p, err));
    FM_TRY(fm_tidy_plan(&o, p, &p, err));
    FM_TRY(fm_fold_plan(&o, p, &p, err));
    FM_TRY(fm_push_filters(&o, p, &p, err));
    FM_TRY(fm_merge_projects(&o, p, &p, err));
    FM_TRY(fm_prune_columns(&o, p, &p, err));
    FM_TRY(fm_merge_projects(&o, p, &p, err));
    FM_TRY(fm_prune_json(&o, p, &p, err));
    FM_TRY(fm_fold_plan(&o, p, &p, err));
    FM_TRY(fm_push_conditions(&o, p, &p, err));
    *out = p;
    return FM_OK;
}
