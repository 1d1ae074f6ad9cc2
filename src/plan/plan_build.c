/* plan/plan_build.c: resolved nodes and their output columns. */
#include "plan/plan_impl.h"

#include "base/limits.h"

const fm_attr *fm_attr_find(const fm_attr *attrs, int32_t n, int32_t id)
{
    for (int32_t i = 0; i < n; i++) {
        if (attrs[i].id == id) return &attrs[i];
    }
    return NULL;
}

fm_expr *fm_attr_expr(fm_arena *arena, const fm_attr *attr)
{
    fm_expr *e = fm_expr_new(arena, FM_EXPR_ATTRIBUTE, (fm_pos){0});

    if (!e) return NULL;
    e->attr_id = attr->id;
    e->name = attr->name;
    e->type = attr->type;
    e->nullable = attr->nullable;
    e->deterministic = true;
    return e;
}

fm_expr *fm_alias_expr(fm_arena *arena, fm_expr *e, fm_str name, int32_t attr_id)
{
    fm_expr *alias = fm_expr_new(arena, FM_EXPR_ALIAS, e->pos);

    if (!alias) return NULL;
    alias->args = fm_arena_array(arena, fm_expr *, 1);
    if (!alias->args) return NULL;
    alias->args[0] = e;
    alias->n_args = 1;
    alias->name = name;
    alias->attr_id = attr_id;
    alias->type = e->type;
    alias->nullable = e->nullable;
    alias->deterministic = e->deterministic;
    return alias;
}

fm_expr *fm_expr_unalias(const fm_expr *e)
{
    while (e->kind == FM_EXPR_ALIAS) e = e->args[0];
    return (fm_expr *)(uintptr_t)e;
}

int32_t fm_expr_tag_source(const fm_expr *e)
{
    e = fm_expr_unalias(e);
    if (e->kind == FM_EXPR_ATTRIBUTE) return e->attr_id;
    if (e->kind == FM_EXPR_CALL && strcmp(e->function->name, "window_time") == 0 &&
        e->args[0]->kind == FM_EXPR_ATTRIBUTE) {
        return e->args[0]->attr_id;
    }
    return 0;
}

/* A struct that was made by window() stays one only as a bare column. */
static const fm_type *without_window_mark(const fm_type *type, fm_type *plain)
{
    if (!type->is_window) return type;
    *plain = *type;
    plain->is_window = false;
    return plain;
}

fm_attr fm_attr_of(const fm_expr *named, const fm_attr *input, int32_t n)
{
    const fm_attr *source = fm_attr_find(input, n, fm_expr_tag_source(named));
    fm_attr out;

    if (named->kind == FM_EXPR_ATTRIBUTE) {
        fm_assert(source); /* a column of the child */
        out = *source;
        out.nullable = named->nullable;
        return out;
    }
    fm_assert(named->kind == FM_EXPR_ALIAS && named->attr_id);
    out = (fm_attr){.id = named->attr_id, .name = named->name, .type = named->type,
                    .nullable = named->nullable};
    if (source) {
        out.watermark_node = source->watermark_node;
        out.delay_us = source->delay_us;
        out.is_session = source->is_session && named->type->is_window;
    }
    return out;
}

static bool kind_is_not(const fm_expr *e, void *ctx) { return e->kind != *(fm_expr_kind *)ctx; }

bool fm_expr_has(const fm_expr *e, fm_expr_kind kind)
{
    return !fm_expr_walk(e, kind_is_not, &kind);
}

typedef struct attr_list {
    const fm_attr *attrs;
    int32_t n;
} attr_list;

static bool is_known(const fm_expr *e, void *ctx)
{
    const attr_list *known = ctx;
    return e->kind != FM_EXPR_ATTRIBUTE || fm_attr_find(known->attrs, known->n, e->attr_id);
}

bool fm_expr_within(const fm_expr *e, const fm_attr *attrs, int32_t n)
{
    return fm_expr_walk(e, is_known, &(attr_list){attrs, n});
}

static bool is_another(const fm_expr *e, void *ctx)
{
    return e->kind != FM_EXPR_ATTRIBUTE || e->attr_id != *(int32_t *)ctx;
}

bool fm_expr_uses(const fm_expr *e, int32_t attr_id) { return !fm_expr_walk(e, is_another, &attr_id); }

static bool count_down(const fm_expr *e, void *ctx) { return --*(int32_t *)ctx > 0; }

int32_t fm_expr_size(const fm_expr *e, int32_t most)
{
    int32_t left = most;

    fm_expr_walk(e, count_down, &left);
    return most - left;
}

fm_status fm_expr_rewrite(fm_arena *arena, fm_expr *e, fm_expr_change change, void *ctx,
                          fm_expr **out, fm_error *err)
{
    fm_expr *copy = e;

    for (int32_t i = 0; i < e->n_args + (e->filter ? 1 : 0); i++) {
        fm_expr *old = i < e->n_args ? e->args[i] : e->filter, *now;
        FM_TRY(fm_expr_rewrite(arena, old, change, ctx, &now, err));
        if (now == old) continue;
        if (copy == e) copy = fm_expr_copy_node(arena, e);
        if (!copy) return fm_no_memory(arena, err);
        if (i < e->n_args) copy->args[i] = now;
        else copy->filter = now;
    }
    *out = copy;
    return change(ctx, out, err);
}

fm_plan *fm_plan_over(fm_arena *arena, fm_plan_kind kind, fm_plan *child, fm_pos pos)
{
    fm_plan *p = fm_plan_new(arena, kind, pos);

    if (!p) return NULL;
    p->children = fm_arena_array(arena, fm_plan *, 1);
    if (!p->children) return NULL;
    p->children[0] = child;
    p->n_children = 1;
    return p;
}

/* The child's columns, then `more` that the caller fills in. */
static fm_status child_output(fm_arena *arena, fm_plan *p, int32_t more, fm_error *err)
{
    const fm_plan *child = p->children[0];

    if (!more) {
        p->output = child->output;
        p->n_output = child->n_output;
        return FM_OK;
    }
    p->output = fm_arena_array(arena, fm_attr, child->n_output + more);
    if (!p->output) return fm_no_memory(arena, err);
    if (child->n_output) memcpy(p->output, child->output, sizeof(fm_attr) * (size_t)child->n_output);
    p->n_output = child->n_output + more;
    return FM_OK;
}

/* The child's columns; what a STRUCT that was parsed becomes stands in its place. */
static fm_status bad_rows_output(fm_arena *arena, fm_plan *p, fm_error *err)
{
    const fm_plan *child = p->children[0];

    p->n_output = child->n_output;
    p->output = fm_arena_array(arena, fm_attr, child->n_output);
    if (!p->output) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < child->n_output; i++) {
        p->output[i] = child->output[i];
        for (int32_t k = 0; k < p->n_exprs / 2; k++)
            if (p->good[k].id && p->exprs[2 * k]->attr_id == child->output[i].id) p->output[i] = p->good[k];
    }
    return FM_OK;
}

static fm_status list_output(fm_arena *arena, fm_plan *p, fm_error *err)
{
    const fm_plan *child = p->children[0];
    fm_attr *old = p->output;
    int32_t n_old = p->n_output;

    p->output = fm_arena_array(arena, fm_attr, p->n_exprs);
    if (!p->output) return fm_no_memory(arena, err);
    p->n_output = p->n_exprs;
    for (int32_t i = 0; i < p->n_exprs; i++) {
        fm_attr a = fm_attr_of(p->exprs[i], child->output, child->n_output);
        const fm_attr *before = fm_attr_find(old, n_old, a.id);
        if (p->exprs[i]->kind == FM_EXPR_ALIAS && a.type->is_window && !fm_expr_tag_source(p->exprs[i])) {
            fm_type *plain = fm_arena_one(arena, fm_type);
            if (!plain) return fm_no_memory(arena, err);
            a.type = without_window_mark(a.type, plain);
        }
        if (before) a.hidden = before->hidden; /* a rewritten node keeps what it hides */
        p->output[i] = a;
    }
    return FM_OK;
}

static fm_status join_output(fm_arena *arena, fm_plan *p, fm_error *err)
{
    const fm_plan *l = p->children[0], *r = p->children[1];
    bool left_only = p->join_type == FM_JOIN_LEFT_SEMI || p->join_type == FM_JOIN_LEFT_ANTI;
    bool null_left = p->join_type == FM_JOIN_RIGHT || p->join_type == FM_JOIN_FULL;
    bool null_right = p->join_type == FM_JOIN_LEFT || p->join_type == FM_JOIN_FULL;
    int32_t n = l->n_output + (left_only ? 0 : r->n_output);

    p->output = fm_arena_array(arena, fm_attr, n);
    if (!p->output) return fm_no_memory(arena, err);
    p->n_output = n;
    for (int32_t i = 0; i < n; i++) {
        bool left = i < l->n_output;
        p->output[i] = left ? l->output[i] : r->output[i - l->n_output];
        p->output[i].nullable |= left ? null_left : null_right;
    }
    return FM_OK;
}

/* Rule: Spark, EventTimeWatermark: the column is tagged, and a tag that another column had goes away. */
static fm_status watermark_output(fm_arena *arena, fm_plan *p, fm_error *err)
{
    const fm_plan *child = p->children[0];

    p->output = fm_arena_array(arena, fm_attr, child->n_output);
    if (!p->output) return fm_no_memory(arena, err);
    p->n_output = child->n_output;
    for (int32_t i = 0; i < p->n_output; i++) {
        bool tagged = child->output[i].id == p->event_time_id;
        p->output[i] = child->output[i];
        p->output[i].watermark_node = tagged ? p->node_id : 0;
        p->output[i].delay_us = tagged ? p->delay_us : 0;
    }
    return FM_OK;
}

static fm_status window_output(fm_arena *arena, fm_plan *p, fm_error *err)
{
    const fm_plan *child = p->children[0];
    const fm_attr *time = fm_attr_find(child->output, child->n_output, fm_expr_tag_source(p->exprs[0]));
    bool session = p->kind == FM_PLAN_SESSION_WINDOW;
    const fm_type *type = fm_type_window(arena, p->exprs[0]->type);

    if (!type) return fm_no_memory(arena, err);
    FM_TRY(child_output(arena, p, 1, err));
    p->output[child->n_output] = (fm_attr){
        .id = p->window_id, .name = session ? FM_STR("session_window") : FM_STR("window"), .type = type,
        .watermark_node = time ? time->watermark_node : 0, .delay_us = time ? time->delay_us : 0,
        .is_session = session};
    return FM_OK;
}

static fm_status alias_output(fm_arena *arena, fm_plan *p, fm_error *err)
{
    FM_TRY(child_output(arena, p, 0, err));
    p->output = fm_arena_array(arena, fm_attr, p->n_output);
    if (!p->output) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < p->n_output; i++) {
        p->output[i] = p->children[0]->output[i];
        p->output[i].qualifier = p->name;
    }
    return FM_OK;
}

static fm_status over_output(fm_arena *arena, fm_plan *p, fm_error *err)
{
    const fm_plan *child = p->children[0];

    FM_TRY(child_output(arena, p, p->n_exprs, err));
    for (int32_t i = 0; i < p->n_exprs; i++) {
        p->output[child->n_output + i] = fm_attr_of(p->exprs[i], child->output, child->n_output);
    }
    return FM_OK;
}

/* The tag that a stateful node goes by. */
static void find_event_time(fm_plan *p)
{
    const fm_plan *child = p->children[0];

    p->event_time_id = 0;
    if (p->kind == FM_PLAN_AGGREGATE) {
        for (int32_t i = 0; i < p->n_group_exprs && !p->event_time_id; i++) {
            if (p->group_exprs[i]->kind != FM_EXPR_ATTRIBUTE) continue;
            const fm_attr *a = fm_attr_find(child->output, child->n_output, p->group_exprs[i]->attr_id);
            if (a && a->watermark_node) p->event_time_id = a->id;
        }
    } else {
        for (int32_t i = 0; i < child->n_output && !p->event_time_id; i++) {
            if (child->output[i].watermark_node) p->event_time_id = child->output[i].id;
        }
    }
}

fm_status fm_plan_finish(fm_arena *arena, fm_plan *p, fm_error *err)
{
    fm_status st = FM_OK;

    p->resolved = true;
    if (p->n_children) p->streaming = false;
    for (int32_t i = 0; i < p->n_children; i++) p->streaming |= p->children[i]->streaming;
    switch (p->kind) {
    case FM_PLAN_ONE_ROW:
    case FM_PLAN_VALUES:
    case FM_PLAN_READ:
    case FM_PLAN_EMPTY:
    case FM_PLAN_UNION:
    case FM_PLAN_GENERATE: break;
    case FM_PLAN_PROJECT:
    case FM_PLAN_AGGREGATE: st = list_output(arena, p, err); break;
    case FM_PLAN_JOIN: st = join_output(arena, p, err); break;
    case FM_PLAN_WATERMARK: st = watermark_output(arena, p, err); break;
    case FM_PLAN_TIME_WINDOW:
    case FM_PLAN_SESSION_WINDOW: st = window_output(arena, p, err); break;
    case FM_PLAN_SUBQUERY_ALIAS: st = alias_output(arena, p, err); break;
    case FM_PLAN_OVER: st = over_output(arena, p, err); break;
    case FM_PLAN_BAD_ROWS: st = bad_rows_output(arena, p, err); break;
    default: st = p->n_children ? child_output(arena, p, 0, err) : FM_OK; break;
    }
    if (st == FM_OK && (p->kind == FM_PLAN_AGGREGATE || p->kind == FM_PLAN_DEDUPLICATE)) find_event_time(p);
    return st;
}

/* GENERATE: the child's columns may have changed below it, the generated ones stay. UNION keeps its own. */
static fm_status carry_output(fm_arena *arena, const fm_plan *old, fm_plan *p, fm_error *err)
{
    if (p->kind == FM_PLAN_GENERATE) {
        int32_t made = old->n_output - old->generator_first;
        FM_TRY(child_output(arena, p, made, err));
        for (int32_t i = 0; i < made; i++) {
            p->output[p->n_output - made + i] = old->output[old->generator_first + i];
        }
        p->generator_first = p->n_output - made;
    }
    return FM_OK;
}

fm_status fm_plan_with_children(fm_arena *arena, fm_plan *plan, fm_plan **children, fm_plan **out,
                                fm_error *err)
{
    bool same = true;

    for (int32_t i = 0; i < plan->n_children; i++) same &= children[i] == plan->children[i];
    *out = plan;
    if (same) return FM_OK;
    fm_plan *copy = fm_arena_one(arena, fm_plan);
    if (!copy) return fm_no_memory(arena, err);
    *copy = *plan;
    copy->children = fm_arena_array(arena, fm_plan *, plan->n_children);
    if (!copy->children) return fm_no_memory(arena, err);
    memcpy(copy->children, children, sizeof *children * (size_t)plan->n_children);
    *out = copy;
    FM_TRY(carry_output(arena, plan, copy, err));
    return fm_plan_finish(arena, copy, err);
}

fm_status fm_plan_project(fm_arena *arena, fm_plan *child, fm_expr **exprs, int32_t n, fm_pos pos,
                          fm_plan **out, fm_error *err)
{
    fm_plan *p = fm_plan_over(arena, FM_PLAN_PROJECT, child, pos);

    if (!p) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) {
        if (!exprs[i]) return fm_no_memory(arena, err);
    }
    p->exprs = exprs;
    p->n_exprs = n;
    *out = p;
    return fm_plan_finish(arena, p, err);
}

fm_status fm_plan_filter(fm_arena *arena, fm_plan *child, fm_expr *condition, fm_pos pos,
                         fm_plan **out, fm_error *err)
{
    fm_plan *p = fm_plan_over(arena, FM_PLAN_FILTER, child, pos);

    if (p) p->exprs = fm_arena_array(arena, fm_expr *, 1);
    if (!p || !p->exprs || !condition) return fm_no_memory(arena, err);
    p->exprs[0] = condition;
    p->n_exprs = 1;
    *out = p;
    return fm_plan_finish(arena, p, err);
}

fm_expr **fm_plan_columns(fm_arena *arena, const fm_plan *plan, int32_t more)
{
    fm_expr **exprs = fm_arena_array(arena, fm_expr *, plan->n_output + more);

    for (int32_t i = 0; exprs && i < plan->n_output; i++) {
        exprs[i] = fm_attr_expr(arena, &plan->output[i]);
        if (!exprs[i]) return NULL;
    }
    return exprs;
}

int32_t fm_plan_visible(const fm_plan *plan)
{
    int32_t n = 0;

    for (int32_t i = 0; i < plan->n_output; i++) n += !plan->output[i].hidden;
    return n;
}

static bool raise_max(const fm_expr *e, void *ctx)
{
    int32_t *most = ctx;
    if (e->attr_id > *most) *most = e->attr_id;
    return true;
}

static bool raise_plan_max(const fm_plan *plan, void *ctx)
{
    int32_t *most = ctx;

    for (int32_t i = 0; i < plan->n_output; i++) {
        if (plan->output[i].id > *most) *most = plan->output[i].id;
    }
    for (int32_t i = 0; i < plan->n_exprs; i++) fm_expr_walk(plan->exprs[i], raise_max, ctx);
    for (int32_t i = 0; i < plan->n_group_exprs; i++) fm_expr_walk(plan->group_exprs[i], raise_max, ctx);
    return true;
}

int32_t fm_plan_max_id(const fm_plan *plan)
{
    int32_t most = 0;

    fm_plan_walk(plan, raise_plan_max, &most);
    return most;
}

fm_status fm_expr_conjuncts(fm_arena *arena, fm_expr *e, fm_expr ***list, int32_t *n, int32_t *cap,
                            fm_error *err)
{
    if (e->kind == FM_EXPR_AND) {
        for (int32_t i = 0; i < e->n_args; i++) {
            FM_TRY(fm_expr_conjuncts(arena, e->args[i], list, n, cap, err));
        }
        return FM_OK;
    }
    if (!FM_GROW(arena, *list, *n, *cap)) return fm_no_memory(arena, err);
    (*list)[(*n)++] = e;
    return FM_OK;
}

static fm_expr *both(fm_arena *arena, fm_expr *left, fm_expr *right)
{
    fm_expr *e = left && right ? fm_expr_new(arena, FM_EXPR_AND, left->pos) : NULL;

    if (e) e->args = fm_arena_array(arena, fm_expr *, 2);
    if (!e || !e->args) return NULL;
    e->n_args = 2;
    e->args[0] = left;
    e->args[1] = right;
    e->type = fm_type_bool();
    e->deterministic = left->deterministic && right->deterministic;
    e->nullable = left->nullable || right->nullable;
    return e;
}

/* Left-deep, as people write it; long lists are halved, so that their depth stays small. */
fm_expr *fm_expr_conjunction(fm_arena *arena, fm_expr **list, int32_t n)
{
    enum { LEFT_DEEP_MAX = 64 };
    fm_expr *e = list[0];

    fm_assert(n > 0);
    if (n > LEFT_DEEP_MAX) {
        return both(arena, fm_expr_conjunction(arena, list, n / 2),
                    fm_expr_conjunction(arena, list + n / 2, n - n / 2));
    }
    for (int32_t i = 1; i < n; i++) e = both(arena, e, list[i]);
    return e;
}

bool fm_plan_is_stateful(const fm_plan *p)
{
    if (!p->streaming) return false;
    if (p->kind == FM_PLAN_AGGREGATE || p->kind == FM_PLAN_DEDUPLICATE) return true;
    return p->kind == FM_PLAN_JOIN && p->children[0]->streaming && p->children[1]->streaming;
}
