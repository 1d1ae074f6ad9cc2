/* plan/result_keys.c: grouping keys in a result. */
#include "plan/result_keys.h"

/* The group that each column of a node shows: an index, or -1. */
typedef struct shown {
    const fm_plan *aggregate; /* NULL: there is none below */
    int32_t *group;           /* [n_output] */
    bool *is_part;            /* [n_output] it is the start or end of the window, not the window itself */
} shown;

static const fm_expr *bare(const fm_expr *e)
{
    while (e->kind == FM_EXPR_ALIAS) e = e->args[0];
    return e;
}

/* window.start or window.end of what stands below */
static const fm_expr *window_of(const fm_expr *e)
{
    if (e->kind != FM_EXPR_FIELD || !e->args[0]->type || !e->args[0]->type->is_window) return NULL;
    return bare(e->args[0]);
}

static int32_t find_group(const fm_plan *aggregate, const fm_expr *e)
{
    for (int32_t g = 0; g < aggregate->n_group_exprs; g++) {
        if (fm_expr_same(e, bare(aggregate->group_exprs[g]))) return g;
        if (e->kind == FM_EXPR_ATTRIBUTE && aggregate->group_exprs[g]->kind == FM_EXPR_ALIAS && aggregate->group_exprs[g]->attr_id == e->attr_id) return g;
    }
    return -1;
}

static void of_aggregate(const fm_plan *p, shown *out)
{
    out->aggregate = p;
    for (int32_t i = 0; i < p->n_output; i++) {
        const fm_expr *e = i < p->n_exprs ? bare(p->exprs[i]) : NULL, *window = e ? window_of(e) : NULL;
        out->group[i] = e ? find_group(p, e) : -1;
        out->is_part[i] = false;
        if (out->group[i] >= 0 || !window) continue;
        out->group[i] = find_group(p, window);
        out->is_part[i] = true;
    }
}

static int32_t find_output(const fm_plan *p, int32_t attr_id)
{
    for (int32_t i = 0; i < p->n_output; i++) {
        if (p->output[i].id == attr_id) return i;
    }
    return -1;
}

/* A column of a node above, computed by e from the columns below. */
static void follow(const fm_plan *below, const shown *in, const fm_expr *e, int32_t *group, bool *is_part)
{
    const fm_expr *window = window_of(e), *source = window ? window : e;
    int32_t c = source->kind == FM_EXPR_ATTRIBUTE ? find_output(below, source->attr_id) : -1;

    *group = c < 0 ? -1 : in->group[c];
    *is_part = c >= 0 && (in->is_part[c] || window);
    if (window && c >= 0 && in->is_part[c]) *group = -1;
}

static fm_status look(const fm_plan *p, fm_arena *arena, shown *out, fm_error *err)
{
    shown below = {0};

    out->group = fm_arena_array(arena, int32_t, p->n_output);
    out->is_part = fm_arena_array(arena, bool, p->n_output);
    if (!out->group || !out->is_part) return fm_no_memory(arena, err);
    if (p->kind == FM_PLAN_AGGREGATE) {
        of_aggregate(p, out);
        return FM_OK;
    }
    for (int32_t i = 0; i < p->n_output; i++) out->group[i] = -1;
    if (p->n_children != 1) return FM_OK;
    FM_TRY(look(p->children[0], arena, &below, err)); /* no deeper than the analyzer let the plan be */
    out->aggregate = below.aggregate;
    for (int32_t i = 0; i < p->n_output; i++) {
        if (p->kind == FM_PLAN_PROJECT) {
            if (i < p->n_exprs) follow(p->children[0], &below, bare(p->exprs[i]), &out->group[i], &out->is_part[i]);
            continue;
        }
        int32_t c = find_output(p->children[0], p->output[i].id);
        if (c < 0) continue;
        out->group[i] = below.group[c];
        out->is_part[i] = below.is_part[c];
    }
    return FM_OK;
}

fm_status fm_result_keys(const fm_plan *plan, fm_arena *arena, int32_t **keys, int32_t *n, fm_str *missing, fm_error *err)
{
    shown s = {0};
    int32_t column = 0;
    fm_strbuf text = {0};

    *n = 0;
    *missing = FM_STR("");
    *keys = fm_arena_array(arena, int32_t, plan->n_output);
    if (!*keys) return fm_no_memory(arena, err);
    FM_TRY(look(plan, arena, &s, err));
    if (!s.aggregate) return FM_OK;
    for (int32_t i = 0; i < plan->n_output; i++) {
        if (plan->output[i].hidden) continue;
        if (s.group[i] >= 0) (*keys)[(*n)++] = column;
        column++;
    }
    for (int32_t g = 0; g < s.aggregate->n_group_exprs; g++) {
        bool there = false;
        for (int32_t i = 0; i < plan->n_output; i++) there |= !plan->output[i].hidden && s.group[i] == g;
        if (there) continue;
        fm_expr_sql(s.aggregate->group_exprs[g], &text);
        *missing = fm_arena_str(arena, fm_strbuf_str(&text));
        fm_strbuf_fini(&text);
        return missing->ptr ? FM_OK : fm_no_memory(arena, err);
    }
    return FM_OK;
}
