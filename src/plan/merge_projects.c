/* plan/merge_projects.c: one PROJECT where two follow each other, none where it does nothing, and windows right
 * below the aggregations they are for.
 *
 *     AGGREGATE                      AGGREGATE
 *     PROJECT window, upper(k) AS u  TIME_WINDOW      each row computes once, then falls into its windows
 *     TIME_WINDOW                    PROJECT upper(k) AS u, ...
 *
 * Merging copies an expression to where its alias is used, so it is done only where that is once, or where it
 * is a bare column. */
#include "plan/optimize_impl.h"

static bool is_cheap(const fm_expr *named)
{
    const fm_expr *e = fm_expr_unalias(named);

    while (e->kind == FM_EXPR_FIELD) e = e->args[0];
    return e->kind == FM_EXPR_ATTRIBUTE || e->kind == FM_EXPR_LITERAL;
}

typedef struct use_count {
    int32_t id, n;
    bool in_lambda;
} use_count;

static bool count_uses(const fm_expr *e, void *ctx)
{
    use_count *c = ctx;

    c->in_lambda |= e->kind == FM_EXPR_LAMBDA && fm_expr_uses(e, c->id); /* evaluated for each element */
    c->n += e->kind == FM_EXPR_ATTRIBUTE && e->attr_id == c->id;
    return true;
}

enum { MERGED_SIZE_MAX = 500 }; /* nodes of an expression that is still merged: else towers of views grow without end */

static bool has_large(const fm_plan *project)
{
    for (int32_t i = 0; i < project->n_exprs; i++) {
        if (fm_expr_size(project->exprs[i], MERGED_SIZE_MAX) >= MERGED_SIZE_MAX) return true;
    }
    return false;
}

static bool can_merge(const fm_plan *top, const fm_plan *bottom)
{
    if (has_large(top) || has_large(bottom)) return false;
    for (int32_t i = 0; i < bottom->n_exprs; i++) {
        use_count c = {.id = bottom->exprs[i]->attr_id};
        if (is_cheap(bottom->exprs[i])) continue;
        for (int32_t k = 0; k < top->n_exprs; k++) fm_expr_walk(top->exprs[k], count_uses, &c);
        if (c.n > 1 || c.in_lambda) return false;
        /* One that is not deterministic is moved only as it is, not into another expression. */
        for (int32_t k = 0; !bottom->exprs[i]->deterministic && k < top->n_exprs; k++) {
            if (fm_expr_uses(top->exprs[k], c.id) && fm_expr_unalias(top->exprs[k])->kind != FM_EXPR_ATTRIBUTE) return false;
        }
    }
    return true;
}

/* The item of a PROJECT that makes a column; NULL when there is none. */
static fm_expr *item_of(const fm_plan *project, int32_t id)
{
    for (int32_t i = 0; i < project->n_exprs; i++) {
        if (project->exprs[i]->attr_id == id) return project->exprs[i];
    }
    return NULL;
}

static fm_status merge(fm_optimizer *o, fm_plan *top, fm_plan *bottom, fm_plan **out, fm_error *err)
{
    fm_expr **exprs = fm_arena_array(o->arena, fm_expr *, top->n_exprs);

    if (!exprs) return fm_no_memory(o->arena, err);
    for (int32_t i = 0; i < top->n_exprs; i++) {
        fm_expr *item = top->exprs[i];
        fm_expr *below = item->kind == FM_EXPR_ATTRIBUTE ? item_of(bottom, item->attr_id) : NULL;
        if (below) { /* the column as the lower one made it */
            exprs[i] = below;
            continue;
        }
        FM_TRY(fm_substitute(o, item, bottom->exprs, bottom->n_exprs, &exprs[i], err));
    }
    return fm_plan_project(o->arena, bottom->children[0], exprs, top->n_exprs, top->pos, out, err);
}

/* Gives out exactly what comes in. */
static bool does_nothing(const fm_plan *p)
{
    const fm_plan *child = p->children[0];

    if (p->n_exprs != child->n_output) return false;
    for (int32_t i = 0; i < p->n_exprs; i++) {
        if (p->exprs[i]->kind != FM_EXPR_ATTRIBUTE || p->exprs[i]->attr_id != child->output[i].id) return false;
    }
    return true;
}

static fm_status merge_node(fm_optimizer *o, fm_plan *p, fm_plan **out, fm_error *err);

/* --- windows ----------------------------------------------------------------------------------------- */

static bool is_window(const fm_plan *p) { return p->kind == FM_PLAN_TIME_WINDOW || p->kind == FM_PLAN_SESSION_WINDOW; }

/* A PROJECT over a window node whose expressions use the window column only bare: they can be computed below. */
static bool can_sink(const fm_plan *project)
{
    const fm_plan *w = project->children[0];
    bool computes = false;

    if (!is_window(w)) return false;
    for (int32_t i = 0; i < project->n_exprs; i++) {
        const fm_expr *e = project->exprs[i], *inner = fm_expr_unalias(e);
        if (!e->deterministic) return false;
        if (inner->kind == FM_EXPR_ATTRIBUTE) continue;
        if (fm_expr_uses(inner, w->window_id)) return false;
        computes = true;
    }
    return computes;
}

/* PROJECT(TIME_WINDOW(x)) -> PROJECT(TIME_WINDOW(PROJECT(x))), the upper one with bare columns only. */
static fm_status sink(fm_optimizer *o, fm_plan *project, fm_plan **out, fm_error *err)
{
    fm_plan *w = project->children[0], *child = w->children[0], *below;
    fm_expr **lower = fm_plan_columns(o->arena, child, project->n_exprs);
    fm_expr **upper = fm_arena_array(o->arena, fm_expr *, project->n_exprs);
    int32_t n = child->n_output;

    if (!lower || !upper) return fm_no_memory(o->arena, err);
    for (int32_t i = 0; i < project->n_exprs; i++) {
        fm_expr *e = project->exprs[i];
        upper[i] = e;
        if (fm_expr_unalias(e)->kind == FM_EXPR_ATTRIBUTE) continue;
        lower[n++] = e;
        upper[i] = fm_attr_expr(o->arena, &project->output[i]);
    }
    FM_TRY(fm_plan_project(o->arena, child, lower, n, project->pos, &below, err));
    FM_TRY(merge_node(o, below, &below, err));
    FM_TRY(fm_plan_with_children(o->arena, w, &below, &w, err));
    return fm_plan_project(o->arena, w, upper, project->n_exprs, project->pos, out, err);
}

/* --- aggregations over bare columns ---------------------------------------------------------------------- */

static bool is_bare(const fm_plan *p)
{
    for (int32_t i = 0; i < p->n_exprs; i++) {
        if (fm_expr_unalias(p->exprs[i])->kind != FM_EXPR_ATTRIBUTE) return false;
    }
    return true;
}

/* What a column of a bare PROJECT is called below it. */
static int32_t renamed_id(const fm_plan *project, int32_t id)
{
    const fm_expr *item = id ? item_of(project, id) : NULL;

    return item ? fm_expr_unalias(item)->attr_id : 0;
}

/* AGGREGATE over a PROJECT that only picks and renames: over what is below it. Groups that were renamed get their
 * names back above. */
static fm_status skip_project(fm_optimizer *o, fm_plan *agg, fm_plan **out, fm_error *err)
{
    fm_plan *project = agg->children[0], *copy = fm_arena_one(o->arena, fm_plan);
    fm_expr **exprs = fm_arena_array(o->arena, fm_expr *, agg->n_exprs);
    fm_expr **groups = fm_arena_array(o->arena, fm_expr *, agg->n_group_exprs);
    fm_expr **above = fm_arena_array(o->arena, fm_expr *, agg->n_exprs);
    bool renamed = false;

    if (!copy || !exprs || !groups || !above) return fm_no_memory(o->arena, err);
    *copy = *agg;
    for (int32_t i = 0; i < agg->n_group_exprs; i++) {
        FM_TRY(fm_substitute(o, agg->group_exprs[i], project->exprs, project->n_exprs, &groups[i], err));
    }
    for (int32_t i = 0; i < agg->n_exprs; i++) {
        FM_TRY(fm_substitute(o, agg->exprs[i], project->exprs, project->n_exprs, &exprs[i], err));
        above[i] = fm_attr_expr(o->arena, &agg->output[i]);
        if (exprs[i]->attr_id == agg->exprs[i]->attr_id) continue;
        above[i] = fm_alias_expr(o->arena, exprs[i], agg->output[i].name, agg->output[i].id);
        renamed = true;
    }
    copy->late_row_id = renamed_id(project, agg->late_row_id);
    copy->late_time_id = renamed_id(project, agg->late_time_id);
    copy->exprs = exprs;
    copy->group_exprs = groups;
    copy->children = project->children;
    *out = copy;
    FM_TRY(fm_plan_finish(o->arena, copy, err));
    return renamed ? fm_plan_project(o->arena, copy, above, agg->n_exprs, agg->pos, out, err) : FM_OK;
}

static fm_status merge_node(fm_optimizer *o, fm_plan *p, fm_plan **out, fm_error *err)
{
    *out = p;
    if (p->kind == FM_PLAN_AGGREGATE && p->children[0]->kind == FM_PLAN_PROJECT && is_bare(p->children[0])) {
        return skip_project(o, p, out, err);
    }
    if (p->kind != FM_PLAN_PROJECT || p->rows_seen) return FM_OK;
    fm_plan *child = p->children[0];
    if (child->kind == FM_PLAN_PROJECT && !child->rows_seen && can_merge(p, child)) {
        FM_TRY(merge(o, p, child, &p, err));
        return merge_node(o, p, out, err);
    }
    if (can_sink(p)) {
        FM_TRY(sink(o, p, out, err));
        return merge_node(o, *out, out, err);
    }
    if (does_nothing(p)) *out = child;
    return FM_OK;
}

fm_status fm_merge_projects(fm_optimizer *o, fm_plan *plan, fm_plan **out, fm_error *err)
{
    FM_TRY(fm_pass_children(o, plan, fm_merge_projects, &plan, err));
    return merge_node(o, plan, out, err);
}
