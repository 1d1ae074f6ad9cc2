/* plan/prune_columns.c: columns that nobody above reads are not read, computed or carried.
 *
 * Needed columns go down as a set of ids. A node may still give out more than was asked of it; where the exact columns
 * matter (below UNION) a PROJECT cuts them. */
#include "plan/optimize_impl.h"

typedef struct id_set {
    uint64_t *bits;
    int32_t n; /* ids below n */
} id_set;

static fm_status new_set(fm_optimizer *o, id_set *set, fm_error *err)
{
    set->n = o->next_id;
    set->bits = fm_arena_array(o->arena, uint64_t, (size_t)set->n / 64 + 1);
    return set->bits ? FM_OK : fm_no_memory(o->arena, err);
}

static void put(id_set *set, int32_t id)
{
    if (id > 0 && id < set->n) set->bits[id / 64] |= UINT64_C(1) << (id % 64);
}

static bool has(const id_set *set, int32_t id) { return id < set->n && (set->bits[id / 64] >> (id % 64) & 1); }

static bool put_columns(const fm_expr *e, void *ctx)
{
    if (e->kind == FM_EXPR_ATTRIBUTE) put(ctx, e->attr_id);
    return true;
}

static void put_used(id_set *set, fm_expr *const *exprs, int32_t n)
{
    for (int32_t i = 0; i < n; i++) fm_expr_walk(exprs[i], put_columns, set);
}

static fm_status copy_set(fm_optimizer *o, const id_set *from, id_set *to, fm_error *err)
{
    FM_TRY(new_set(o, to, err));
    memcpy(to->bits, from->bits, ((size_t)from->n / 64 + 1) * sizeof *to->bits);
    return FM_OK;
}

static fm_status prune(fm_optimizer *o, fm_plan *p, const id_set *needed, fm_plan **out, fm_error *err);

/* The expressions whose columns are needed. */
static fm_status needed_exprs(fm_optimizer *o, const fm_plan *p, const id_set *needed, fm_expr ***out, int32_t *n,
                              fm_error *err)
{
    *out = fm_arena_array(o->arena, fm_expr *, p->n_exprs);
    *n = 0;
    if (!*out) return fm_no_memory(o->arena, err);
    for (int32_t i = 0; i < p->n_exprs; i++) {
        if (has(needed, p->exprs[i]->attr_id)) (*out)[(*n)++] = p->exprs[i];
    }
    return FM_OK;
}

/* PROJECT and AGGREGATE: fewer expressions, over a child that gives what they use. */
static fm_status prune_list(fm_optimizer *o, fm_plan *p, const id_set *needed, fm_plan **out, fm_error *err)
{
    id_set below;
    fm_plan *copy = fm_arena_one(o->arena, fm_plan);

    if (!copy) return fm_no_memory(o->arena, err);
    *copy = *p;
    FM_TRY(new_set(o, &below, err));
    FM_TRY(needed_exprs(o, p, needed, &copy->exprs, &copy->n_exprs, err));
    put_used(&below, copy->exprs, copy->n_exprs);
    put_used(&below, p->group_exprs, p->n_group_exprs);
    put(&below, p->late_row_id);
    put(&below, p->late_time_id);
    copy->children = fm_arena_array(o->arena, fm_plan *, 1);
    if (!copy->children) return fm_no_memory(o->arena, err);
    FM_TRY(prune(o, p->children[0], &below, &copy->children[0], err));
    *out = copy;
    return fm_plan_finish(o->arena, copy, err);
}

static fm_status prune_read(fm_optimizer *o, fm_plan *p, const id_set *needed, fm_plan **out, fm_error *err)
{
    fm_plan *copy = fm_arena_one(o->arena, fm_plan);

    if (!copy) return fm_no_memory(o->arena, err);
    *copy = *p;
    copy->output = fm_arena_array(o->arena, fm_attr, p->n_output);
    if (!copy->output) return fm_no_memory(o->arena, err);
    copy->n_output = 0;
    for (int32_t i = 0; i < p->n_output; i++) {
        bool stays = p->bad_rows.action && p->output[i].id != p->position_id; /* every field tells whether a record is bad */
        if (stays || has(needed, p->output[i].id)) copy->output[copy->n_output++] = p->output[i];
    }
    if (!has(needed, p->position_id)) copy->position_id = 0;
    if (!has(needed, p->metadata_id)) copy->metadata_id = 0;
    *out = copy;
    return FM_OK;
}

/* Nodes that hand on their child's columns and read some themselves. */
static fm_status prune_through(fm_optimizer *o, fm_plan *p, const id_set *needed, fm_plan **out, fm_error *err)
{
    id_set below;
    fm_plan *child;

    FM_TRY(copy_set(o, needed, &below, err));
    put_used(&below, p->exprs, p->n_exprs);
    put(&below, p->event_time_id);
    put(&below, p->late_row_id);
    put(&below, p->late_time_id);
    FM_TRY(prune(o, p->children[0], &below, &child, err));
    return fm_plan_with_children(o->arena, p, &child, out, err);
}

static fm_status prune_join(fm_optimizer *o, fm_plan *p, const id_set *needed, fm_plan **out, fm_error *err)
{
    id_set below;
    fm_plan *children[2];

    FM_TRY(copy_set(o, needed, &below, err));
    put_used(&below, p->exprs, p->n_exprs);
    for (int i = 0; i < 2; i++) FM_TRY(prune(o, p->children[i], &below, &children[i], err));
    return fm_plan_with_children(o->arena, p, children, out, err);
}

/* One child of a union, cut to the columns at the places kept. */
static fm_status prune_union_child(fm_optimizer *o, fm_plan *child, const int32_t *kept, int32_t n, fm_plan **out,
                                   fm_error *err)
{
    id_set below;
    fm_expr **exprs = fm_arena_array(o->arena, fm_expr *, n);
    fm_plan *pruned;
    bool exact = true;

    if (!exprs) return fm_no_memory(o->arena, err);
    FM_TRY(new_set(o, &below, err));
    for (int32_t i = 0; i < n; i++) put(&below, child->output[kept[i]].id);
    FM_TRY(prune(o, child, &below, &pruned, err));
    for (int32_t i = 0; i < n; i++) {
        const fm_attr *a = fm_attr_find(pruned->output, pruned->n_output, child->output[kept[i]].id);
        exact &= i < pruned->n_output && a == &pruned->output[i];
        exprs[i] = fm_attr_expr(o->arena, a);
    }
    *out = pruned;
    if (exact && pruned->n_output == n) return FM_OK;
    return fm_plan_project(o->arena, pruned, exprs, n, child->pos, out, err);
}

static fm_status prune_union(fm_optimizer *o, fm_plan *p, const id_set *needed, fm_plan **out, fm_error *err)
{
    fm_plan *copy = fm_arena_one(o->arena, fm_plan);
    int32_t *kept = fm_arena_array(o->arena, int32_t, p->n_output), n = 0;

    if (!copy || !kept) return fm_no_memory(o->arena, err);
    for (int32_t i = 0; i < p->n_output; i++) {
        if (has(needed, p->output[i].id)) kept[n++] = i;
    }
    *copy = *p;
    copy->output = fm_arena_array(o->arena, fm_attr, n);
    copy->children = fm_arena_array(o->arena, fm_plan *, p->n_children);
    if (!copy->output || !copy->children) return fm_no_memory(o->arena, err);
    copy->n_output = n;
    for (int32_t i = 0; i < n; i++) copy->output[i] = p->output[kept[i]];
    for (int32_t k = 0; k < p->n_children; k++) {
        FM_TRY(prune_union_child(o, p->children[k], kept, n, &copy->children[k], err));
    }
    *out = copy;
    return fm_plan_finish(o->arena, copy, err);
}

static fm_status prune(fm_optimizer *o, fm_plan *p, const id_set *needed, fm_plan **out, fm_error *err)
{
    switch (p->kind) {
    case FM_PLAN_READ: return prune_read(o, p, needed, out, err);
    case FM_PLAN_PROJECT:
    case FM_PLAN_AGGREGATE: return prune_list(o, p, needed, out, err);
    case FM_PLAN_JOIN: return prune_join(o, p, needed, out, err);
    case FM_PLAN_UNION: return prune_union(o, p, needed, out, err);
    default: break;
    }
    *out = p;
    return p->n_children == 1 ? prune_through(o, p, needed, out, err) : FM_OK;
}

fm_status fm_prune_columns(fm_optimizer *o, fm_plan *plan, fm_plan **out, fm_error *err)
{
    id_set all;

    FM_TRY(new_set(o, &all, err));
    for (int32_t i = 0; i < plan->n_output; i++) put(&all, plan->output[i].id);
    return prune(o, plan, &all, out, err);
}
