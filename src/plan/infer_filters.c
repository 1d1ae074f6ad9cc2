/* plan/infer_filters.c: what a join implies for the rows of its sides.
 *
 * Rule  Spark, InferFiltersFromConstraints, ConstraintHelper. From a.k = b.k AND a.k <> 'x' follows b.k <> 'x', and that
 *       a.k and b.k are not null. On streams it shows: rows taken away below a watermark are not in its statistics, and
 *       never in the state of the join. */
#include "plan/optimize_impl.h"

enum { KNOWN_MAX = 200 }; /* conditions looked at per join: the work grows with their square */

static fm_status add_deterministic(fm_optimizer *o, fm_expr *condition, fm_conds *out, fm_error *err)
{
    fm_conds split = {0};

    FM_TRY(fm_expr_conjuncts(o->arena, condition, &split.items, &split.n, &split.cap, err));
    for (int32_t i = 0; i < split.n; i++) {
        if (split.items[i]->deterministic) FM_TRY(fm_conds_add(o, out, split.items[i], err));
    }
    return FM_OK;
}

static fm_status add_list(fm_optimizer *o, const fm_conds *from, fm_conds *out, fm_error *err)
{
    for (int32_t i = 0; i < from->n && out->n < KNOWN_MAX; i++) {
        if (from->items[i]->deterministic) FM_TRY(fm_conds_add(o, out, from->items[i], err));
    }
    return FM_OK;
}

/* Conditions on the input of a PROJECT in the names of its output. */
static fm_status rename_known(fm_optimizer *o, const fm_plan *project, fm_conds *list, fm_error *err)
{
    fm_expr **back = fm_arena_array(o->arena, fm_expr *, project->n_exprs);
    int32_t n = 0;

    if (!back) return fm_no_memory(o->arena, err);
    for (int32_t i = 0; i < project->n_exprs; i++) {
        const fm_expr *item = project->exprs[i], *source = fm_expr_unalias(item);
        if (item == source || source->kind != FM_EXPR_ATTRIBUTE) continue;
        if (fm_attr_find(project->output, project->n_output, source->attr_id)) continue;
        fm_expr *column = fm_attr_expr(o->arena, &project->output[i]);
        back[n] = column ? fm_alias_expr(o->arena, column, column->name, source->attr_id) : NULL;
        if (!back[n++]) return fm_no_memory(o->arena, err);
    }
    for (int32_t i = 0; i < list->n; i++) FM_TRY(fm_substitute(o, list->items[i], back, n, &list->items[i], err));
    return FM_OK;
}

/* What holds for the output of a plan. Knowing less only filters less. */
static fm_status known(fm_optimizer *o, const fm_plan *p, fm_conds *out, fm_error *err)
{
    fm_conds list = {0};
    bool first = p->n_children > 0, second = false, condition = false;

    switch (p->kind) {
    case FM_PLAN_JOIN:
        first = p->join_type != FM_JOIN_RIGHT && p->join_type != FM_JOIN_FULL;
        second = p->join_type == FM_JOIN_INNER || p->join_type == FM_JOIN_CROSS || p->join_type == FM_JOIN_RIGHT;
        condition = first && p->join_type != FM_JOIN_LEFT && p->join_type != FM_JOIN_LEFT_ANTI;
        break;
    case FM_PLAN_UNION: first = false; break;
    case FM_PLAN_FILTER: condition = true; break;
    default: break;
    }
    if (first) FM_TRY(known(o, p->children[0], &list, err));
    if (second) FM_TRY(known(o, p->children[1], &list, err));
    if (condition && p->n_exprs) FM_TRY(add_deterministic(o, p->exprs[0], &list, err));
    if (p->kind == FM_PLAN_PROJECT) FM_TRY(rename_known(o, p, &list, err));
    for (int32_t i = 0; i < list.n && out->n < KNOWN_MAX; i++) {
        if (fm_expr_within(list.items[i], p->output, p->n_output)) FM_TRY(fm_conds_add(o, out, list.items[i], err));
    }
    return FM_OK;
}

static bool is_equality(const fm_expr *e)
{
    return e->kind == FM_EXPR_CALL && strcmp(e->function->name, "=") == 0 && e->args[0]->kind == FM_EXPR_ATTRIBUTE &&
           e->args[1]->kind == FM_EXPR_ATTRIBUTE;
}

/* c with column `from` replaced by `to`, when it has it. */
static fm_status carry_over(fm_optimizer *o, fm_expr *c, const fm_expr *from, fm_expr *to, fm_conds *out, fm_error *err)
{
    fm_expr *alias, *e;

    if (!fm_expr_uses(c, from->attr_id)) return FM_OK;
    alias = fm_alias_expr(o->arena, to, to->name, from->attr_id);
    if (!alias) return fm_no_memory(o->arena, err);
    FM_TRY(fm_substitute(o, c, &alias, 1, &e, err));
    return fm_conds_add(o, out, e, err);
}

static fm_status add_carried(fm_optimizer *o, fm_conds *all, fm_error *err)
{
    int32_t n = all->n;

    for (int32_t i = 0; i < n; i++) {
        fm_expr *eq = all->items[i];
        for (int32_t k = 0; k < n && is_equality(eq) && all->n < KNOWN_MAX; k++) {
            if (k == i) continue;
            FM_TRY(carry_over(o, all->items[k], eq->args[0], eq->args[1], all, err));
            FM_TRY(carry_over(o, all->items[k], eq->args[1], eq->args[0], all, err));
        }
    }
    return FM_OK;
}

/* Null when an argument is. */
static bool is_strict(const fm_expr *e)
{
    return e->kind == FM_EXPR_NOT || e->kind == FM_EXPR_CAST || e->kind == FM_EXPR_FIELD ||
           (e->kind == FM_EXPR_CALL && e->function->nulls == FM_NULLS_STRICT);
}

/* Columns without which e is null: IS NOT NULL holds for them where e holds. */
static fm_status add_not_null(fm_optimizer *o, const fm_expr *e, fm_conds *out, fm_error *err)
{
    for (int32_t i = 0; is_strict(e) && i < e->n_args; i++) {
        fm_expr *arg = e->args[i], **args, *test;
        FM_TRY(add_not_null(o, arg, out, err));
        if (arg->kind != FM_EXPR_ATTRIBUTE || !arg->nullable) continue;
        args = fm_arena_array(o->arena, fm_expr *, 1);
        if (!args) return fm_no_memory(o->arena, err);
        args[0] = arg;
        FM_TRY(fm_call_resolve(o->arena, o->conf, FM_STR("isnotnull"), args, 1, arg->pos, NULL, &test, err));
        FM_TRY(fm_conds_add(o, out, test, err));
    }
    return FM_OK;
}

static bool refuses_null(const fm_expr *e, int32_t id)
{
    if (e->kind == FM_EXPR_ATTRIBUTE) return e->attr_id == id;
    for (int32_t i = 0; is_strict(e) && i < e->n_args; i++) {
        if (refuses_null(e->args[i], id)) return true;
    }
    return false;
}

/* x IS NOT NULL beside a condition that no null x passes. */
static bool says_nothing_new(const fm_expr *e, const fm_conds *a, const fm_conds *b)
{
    const fm_conds *lists[2] = {a, b};

    if (e->kind != FM_EXPR_CALL || strcmp(e->function->name, "isnotnull") != 0) return false;
    for (int k = 0; k < 2 && e->args[0]->kind == FM_EXPR_ATTRIBUTE; k++) {
        for (int32_t i = 0; i < lists[k]->n; i++) {
            if (refuses_null(lists[k]->items[i], e->args[0]->attr_id)) return true;
        }
    }
    return false;
}

static fm_status add_to_side(fm_optimizer *o, const fm_plan *side, const fm_conds *all, fm_conds *out, fm_error *err)
{
    fm_conds there = {0};

    FM_TRY(known(o, side, &there, err));
    for (int32_t i = 0; i < all->n; i++) {
        fm_expr *e = all->items[i];
        if (!e->deterministic || !fm_expr_has(e, FM_EXPR_ATTRIBUTE) || fm_conds_have(&there, e)) continue;
        if (says_nothing_new(e, &there, out)) continue;
        if (fm_expr_within(e, side->output, side->n_output)) FM_TRY(fm_conds_add(o, out, e, err));
    }
    return FM_OK;
}

fm_status fm_infer_join(fm_optimizer *o, const fm_plan *join, const fm_conds *condition, fm_conds *left,
                        fm_conds *right, fm_error *err)
{
    fm_join_type t = join->join_type;
    bool both = t == FM_JOIN_INNER || t == FM_JOIN_CROSS || t == FM_JOIN_LEFT_SEMI;
    fm_conds all = {0}, not_null = {0};

    if (t == FM_JOIN_FULL) return FM_OK;
    FM_TRY(add_list(o, condition, &all, err));
    FM_TRY(add_list(o, left, &all, err));
    FM_TRY(add_list(o, right, &all, err));
    FM_TRY(known(o, join->children[0], &all, err));
    FM_TRY(known(o, join->children[1], &all, err));
    FM_TRY(add_carried(o, &all, err));
    for (int32_t i = 0; i < all.n; i++) FM_TRY(add_not_null(o, all.items[i], &not_null, err));
    FM_TRY(add_list(o, &not_null, &all, err));
    if (both || t == FM_JOIN_RIGHT) FM_TRY(add_to_side(o, join->children[0], &all, left, err));
    if (both || t == FM_JOIN_LEFT || t == FM_JOIN_LEFT_ANTI) FM_TRY(add_to_side(o, join->children[1], &all, right, err));
    return FM_OK;
}
