/* plan/push_filters.c: filters go down, as far as they may.
 *
 * push(plan, conditions) gives the plan of FILTER(conditions, plan): each condition goes into the children where
 * the node lets it pass, and stays above where not.
 *
 * Rule  Spark, PushPredicateThroughNonJoin, PushPredicateThroughJoin, EliminateOuterJoin, InferFiltersFromConstraints.
 *       How far a filter goes is not only a matter of speed: rows that a filter removes below a WATERMARK are not seen
 *       by its statistics, and groups that it removes below an AGGREGATE are neither state nor late. A filter passes a
 *       WATERMARK when it is deterministic and does not use the event time. */
#include "plan/optimize_impl.h"

enum { SUBSTITUTED_SIZE_MAX = 2000 }; /* nodes a condition may grow to when aliases in it are spelled out */

bool fm_conds_have(const fm_conds *list, const fm_expr *e)
{
    for (int32_t i = 0; i < list->n; i++) {
        if (fm_expr_same(list->items[i], e)) return true;
    }
    return false;
}

fm_status fm_conds_add(fm_optimizer *o, fm_conds *list, fm_expr *e, fm_error *err)
{
    if (fm_expr_is_literal_bool(e, true) || fm_conds_have(list, e)) return FM_OK;
    if (!FM_GROW(o->arena, list->items, list->n, list->cap)) return fm_no_memory(o->arena, err);
    list->items[list->n++] = e;
    return FM_OK;
}

static fm_status add_all(fm_optimizer *o, fm_conds *list, const fm_conds *more, fm_error *err)
{
    for (int32_t i = 0; i < more->n; i++) FM_TRY(fm_conds_add(o, list, more->items[i], err));
    return FM_OK;
}

static fm_status add_conjuncts(fm_optimizer *o, fm_conds *list, fm_expr *e, fm_error *err)
{
    fm_conds split = {0};

    FM_TRY(fm_expr_conjuncts(o->arena, e, &split.items, &split.n, &split.cap, err));
    return add_all(o, list, &split, err);
}

/* FILTER(conds, plan). */
static fm_status wrap(fm_optimizer *o, const fm_conds *conds, fm_plan *plan, fm_plan **out, fm_error *err)
{
    fm_expr *e;

    *out = plan;
    if (!conds->n) return FM_OK;
    e = fm_expr_conjunction(o->arena, conds->items, conds->n);
    return fm_plan_filter(o->arena, plan, e, conds->items[0]->pos, out, err);
}

static fm_status push(fm_optimizer *o, fm_plan *plan, const fm_conds *conds, fm_plan **out, fm_error *err);

/* Into the one child what may go there; the rest stays above. */
static fm_status push_into_child(fm_optimizer *o, fm_plan *plan, const fm_conds *down, const fm_conds *stay,
                                 fm_plan **out, fm_error *err)
{
    fm_plan *child;

    FM_TRY(push(o, plan->children[0], down, &child, err));
    FM_TRY(fm_plan_with_children(o->arena, plan, &child, out, err));
    return wrap(o, stay, *out, out, err);
}

/* Conditions of a FILTER come before those above it. One that is not deterministic keeps all above where they are. */
static fm_status push_filter(fm_optimizer *o, fm_plan *plan, const fm_conds *conds, fm_plan **out, fm_error *err)
{
    fm_conds own = {0}, down = {0}, stay = {0};

    FM_TRY(add_conjuncts(o, &own, plan->exprs[0], err));
    for (int32_t i = 0; i < own.n; i++) {
        FM_TRY(fm_conds_add(o, own.items[i]->deterministic ? &down : &stay, own.items[i], err));
    }
    if (!stay.n) FM_TRY(add_all(o, &down, conds, err));
    FM_TRY(push(o, plan->children[0], &down, out, err));
    if (!stay.n) return FM_OK;
    FM_TRY(wrap(o, &stay, *out, out, err));
    return wrap(o, conds, *out, out, err);
}

/* A text must not be parsed twice, once for the condition and once for what is kept. */
static bool has_json(const fm_expr *e, void *ctx)
{
    *(bool *)ctx |= e->kind == FM_EXPR_CALL && fm_str_eq(fm_str_c(e->function->name), FM_STR("from_json"));
    return true;
}

static fm_status push_project(fm_optimizer *o, fm_plan *plan, const fm_conds *conds, fm_plan **out, fm_error *err)
{
    fm_conds down = {0}, stay = {0};
    bool deterministic = !plan->rows_seen;

    for (int32_t i = 0; i < plan->n_exprs; i++) deterministic &= plan->exprs[i]->deterministic;
    for (int32_t i = 0; i < conds->n; i++) {
        fm_expr *e;
        FM_TRY(fm_substitute(o, conds->items[i], plan->exprs, plan->n_exprs, &e, err));
        bool parses = false;
        fm_expr_walk(e, has_json, &parses);
        bool goes = deterministic && !parses && fm_expr_size(e, SUBSTITUTED_SIZE_MAX) < SUBSTITUTED_SIZE_MAX;
        if (goes) FM_TRY(fm_simplify(o, e, &e, err));
        FM_TRY(goes ? add_conjuncts(o, &down, e, err) : fm_conds_add(o, &stay, conds->items[i], err));
    }
    return push_into_child(o, plan, &down, &stay, out, err);
}

static fm_status push_watermark(fm_optimizer *o, fm_plan *plan, const fm_conds *conds, fm_plan **out, fm_error *err)
{
    fm_conds down = {0}, stay = {0};

    for (int32_t i = 0; i < conds->n; i++) {
        fm_expr *e = conds->items[i];
        bool goes = e->deterministic && !fm_expr_uses(e, plan->event_time_id);
        FM_TRY(fm_conds_add(o, goes ? &down : &stay, e, err));
    }
    return push_into_child(o, plan, &down, &stay, out, err);
}

/* SORT, GENERATE, the windows: deterministic conditions on columns of the child pass. */
static fm_status push_past(fm_optimizer *o, fm_plan *plan, const fm_conds *conds, const fm_conds *more, fm_plan **out,
                           fm_error *err)
{
    const fm_plan *child = plan->children[0];
    fm_conds down = {0}, stay = {0};
    bool deterministic = true;

    for (int32_t i = 0; i < plan->n_exprs; i++) deterministic &= plan->exprs[i]->deterministic;
    if (more) FM_TRY(add_all(o, &down, more, err));
    for (int32_t i = 0; i < conds->n; i++) {
        fm_expr *e = conds->items[i];
        bool goes = deterministic && e->deterministic && fm_expr_within(e, child->output, child->n_output);
        FM_TRY(fm_conds_add(o, goes ? &down : &stay, e, err));
    }
    return push_into_child(o, plan, &down, &stay, out, err);
}

static bool uses_event_time(const fm_plan *plan, const fm_expr *time)
{
    for (int32_t i = 0; i < plan->n_output; i++) {
        if (plan->output[i].watermark_node && fm_expr_uses(time, plan->output[i].id)) return true;
    }
    return false;
}

static bool is_no_watermark(const fm_plan *p, void *ctx)
{
    (void)ctx;
    return p->kind != FM_PLAN_WATERMARK;
}

/* A window drops rows without a time. Where its time is not the event time, that filter goes below the watermark. */
static fm_status push_window(fm_optimizer *o, fm_plan *plan, const fm_conds *conds, fm_plan **out, fm_error *err)
{
    const fm_plan *child = plan->children[0];
    fm_expr *time = plan->exprs[0], **args = fm_arena_array(o->arena, fm_expr *, 1), *not_null;
    fm_conds more = {0};

    if (!args) return fm_no_memory(o->arena, err);
    if (time->nullable && time->deterministic && !uses_event_time(child, time) &&
        !fm_plan_walk(child, is_no_watermark, NULL)) {
        args[0] = time;
        FM_TRY(fm_call_resolve(o->arena, o->conf, FM_STR("isnotnull"), args, 1, plan->pos, NULL, &not_null, err));
        FM_TRY(fm_conds_add(o, &more, not_null, err));
    }
    return push_past(o, plan, conds, &more, out, err);
}

static fm_status push_union(fm_optimizer *o, fm_plan *plan, const fm_conds *conds, fm_plan **out, fm_error *err)
{
    fm_plan **children = fm_arena_array(o->arena, fm_plan *, plan->n_children);
    fm_conds down = {0}, stay = {0};

    if (!children) return fm_no_memory(o->arena, err);
    for (int32_t i = 0; i < conds->n; i++) {
        FM_TRY(fm_conds_add(o, conds->items[i]->deterministic ? &down : &stay, conds->items[i], err));
    }
    for (int32_t k = 0; k < plan->n_children; k++) {
        fm_plan *child = plan->children[k];
        fm_expr **columns = fm_plan_columns(o->arena, child, 0);
        fm_conds here = {0};
        if (!columns) return fm_no_memory(o->arena, err);
        for (int32_t i = 0; i < plan->n_output; i++) { /* the union's column i is the child's column i */
            columns[i] = fm_alias_expr(o->arena, columns[i], plan->output[i].name, plan->output[i].id);
            if (!columns[i]) return fm_no_memory(o->arena, err);
        }
        for (int32_t i = 0; i < down.n; i++) {
            fm_expr *e;
            FM_TRY(fm_substitute(o, down.items[i], columns, plan->n_output, &e, err));
            FM_TRY(fm_conds_add(o, &here, e, err));
        }
        FM_TRY(push(o, child, &here, &children[k], err));
    }
    FM_TRY(fm_plan_with_children(o->arena, plan, children, out, err));
    return wrap(o, &stay, *out, out, err);
}

/* Conditions on groups alone go below: the groups they refuse are then never made. */
static fm_status push_aggregate(fm_optimizer *o, fm_plan *plan, const fm_conds *conds, fm_plan **out, fm_error *err)
{
    const fm_plan *child = plan->children[0];
    fm_conds down = {0}, stay = {0};
    bool open = plan->n_group_exprs > 0;

    for (int32_t i = 0; i < plan->n_exprs; i++) open &= plan->exprs[i]->deterministic;
    for (int32_t i = 0; i < conds->n; i++) {
        fm_expr *e = conds->items[i];
        bool goes = open && e->deterministic && fm_expr_has(e, FM_EXPR_ATTRIBUTE) &&
                    fm_expr_within(e, child->output, child->n_output);
        FM_TRY(fm_conds_add(o, goes ? &down : &stay, e, err));
    }
    return push_into_child(o, plan, &down, &stay, out, err);
}

/* --- joins ------------------------------------------------------------------------------------------- */

static bool within(const fm_expr *e, const fm_plan *side) { return fm_expr_within(e, side->output, side->n_output); }

static fm_status null_column(void *ctx, fm_expr **e, fm_error *err)
{
    fm_optimizer *o = ctx;

    if ((*e)->kind != FM_EXPR_ATTRIBUTE) return FM_OK;
    *e = fm_expr_literal_null(o->arena, (*e)->type);
    return *e ? FM_OK : fm_no_memory(o->arena, err);
}

/* Whether a row of nulls on `side` never passes. */
static fm_status refuses_nulls(fm_optimizer *o, const fm_conds *conds, const fm_plan *side, bool *out, fm_error *err)
{
    *out = false;
    for (int32_t i = 0; i < conds->n && !*out; i++) {
        fm_expr *e = conds->items[i];
        if (!e->deterministic || !fm_expr_has(e, FM_EXPR_ATTRIBUTE) || !within(e, side)) continue;
        FM_TRY(fm_expr_rewrite(o->arena, e, null_column, o, &e, err));
        FM_TRY(fm_simplify(o, e, &e, err));
        *out = fm_expr_is_null_literal(e) || fm_expr_is_literal_bool(e, false);
    }
    return FM_OK;
}

/* An outer join whose null rows are filtered away is a smaller one. */
static fm_status shrink_outer(fm_optimizer *o, const fm_plan *join, const fm_conds *conds, fm_join_type *type,
                              fm_error *err)
{
    bool left, right; /* null rows on that side are refused */

    *type = join->join_type;
    if (*type != FM_JOIN_LEFT && *type != FM_JOIN_RIGHT && *type != FM_JOIN_FULL) return FM_OK;
    FM_TRY(refuses_nulls(o, conds, join->children[0], &left, err));
    FM_TRY(refuses_nulls(o, conds, join->children[1], &right, err));
    if (*type == FM_JOIN_LEFT && right) *type = FM_JOIN_INNER;
    else if (*type == FM_JOIN_RIGHT && left) *type = FM_JOIN_INNER;
    else if (*type == FM_JOIN_FULL && left && right) *type = FM_JOIN_INNER;
    else if (*type == FM_JOIN_FULL && left) *type = FM_JOIN_LEFT;
    else if (*type == FM_JOIN_FULL && right) *type = FM_JOIN_RIGHT;
    return FM_OK;
}

typedef struct join_conds {
    fm_conds left, right;  /* go into the sides */
    fm_conds on;           /* stay in the condition */
    fm_conds above;        /* stay above the join */
} join_conds;

static bool is_inner(fm_join_type type) { return type == FM_JOIN_INNER || type == FM_JOIN_CROSS; }

/* Where conditions from above go. */
static fm_status place_above(fm_optimizer *o, const fm_plan *join, const fm_conds *conds, join_conds *to, fm_error *err)
{
    fm_join_type type = join->join_type;
    bool into_left = type != FM_JOIN_RIGHT && type != FM_JOIN_FULL;
    bool into_right = is_inner(type) || type == FM_JOIN_RIGHT;

    for (int32_t i = 0; i < conds->n; i++) {
        fm_expr *e = conds->items[i];
        fm_conds *list = &to->above;
        if (e->deterministic && into_left && within(e, join->children[0])) list = &to->left;
        else if (e->deterministic && into_right && within(e, join->children[1])) list = &to->right;
        else if (e->deterministic && is_inner(type)) list = &to->on;
        FM_TRY(fm_conds_add(o, list, e, err));
    }
    return FM_OK;
}

/* Where the conjuncts of ON go. */
static fm_status place_on(fm_optimizer *o, const fm_plan *join, join_conds *to, fm_error *err)
{
    fm_join_type type = join->join_type;
    bool into_left = is_inner(type) || type == FM_JOIN_RIGHT || type == FM_JOIN_LEFT_SEMI;
    bool into_right = is_inner(type) || type == FM_JOIN_LEFT || type == FM_JOIN_LEFT_SEMI || type == FM_JOIN_LEFT_ANTI;
    fm_conds on = {0};

    if (join->n_exprs) FM_TRY(add_conjuncts(o, &on, join->exprs[0], err));
    for (int32_t i = 0; i < on.n; i++) {
        fm_expr *e = on.items[i];
        fm_conds *list = &to->on;
        bool columns = e->deterministic && fm_expr_has(e, FM_EXPR_ATTRIBUTE);
        if (columns && into_left && within(e, join->children[0])) list = &to->left;
        else if (columns && into_right && within(e, join->children[1])) list = &to->right;
        FM_TRY(fm_conds_add(o, list, e, err));
    }
    return FM_OK;
}

static fm_status push_join(fm_optimizer *o, fm_plan *plan, const fm_conds *conds, fm_plan **out, fm_error *err)
{
    join_conds to = {0};
    fm_plan *join = fm_arena_one(o->arena, fm_plan);

    if (!join) return fm_no_memory(o->arena, err);
    *join = *plan;
    FM_TRY(shrink_outer(o, plan, conds, &join->join_type, err));
    FM_TRY(place_on(o, join, &to, err));
    FM_TRY(place_above(o, join, conds, &to, err));
    FM_TRY(fm_infer_join(o, join, &to.on, &to.left, &to.right, err));
    join->children = fm_arena_array(o->arena, fm_plan *, 2);
    join->exprs = fm_arena_array(o->arena, fm_expr *, 1);
    if (!join->children || !join->exprs) return fm_no_memory(o->arena, err);
    FM_TRY(push(o, plan->children[0], &to.left, &join->children[0], err));
    FM_TRY(push(o, plan->children[1], &to.right, &join->children[1], err));
    join->n_exprs = to.on.n ? 1 : 0;
    if (to.on.n && join->join_type == FM_JOIN_CROSS) join->join_type = FM_JOIN_INNER;
    if (to.on.n) {
        join->exprs[0] = fm_expr_conjunction(o->arena, to.on.items, to.on.n);
        if (!join->exprs[0]) return fm_no_memory(o->arena, err);
    }
    FM_TRY(fm_plan_finish(o->arena, join, err));
    return wrap(o, &to.above, join, out, err);
}

static fm_status push(fm_optimizer *o, fm_plan *plan, const fm_conds *conds, fm_plan **out, fm_error *err)
{
    switch (plan->kind) {
    case FM_PLAN_FILTER: return push_filter(o, plan, conds, out, err);
    case FM_PLAN_PROJECT: return push_project(o, plan, conds, out, err);
    case FM_PLAN_WATERMARK: return push_watermark(o, plan, conds, out, err);
    case FM_PLAN_UNION: return push_union(o, plan, conds, out, err);
    case FM_PLAN_AGGREGATE: return push_aggregate(o, plan, conds, out, err);
    case FM_PLAN_JOIN: return push_join(o, plan, conds, out, err);
    case FM_PLAN_SORT:
    case FM_PLAN_GENERATE: return push_past(o, plan, conds, NULL, out, err);
    case FM_PLAN_TIME_WINDOW:
    case FM_PLAN_SESSION_WINDOW: return push_window(o, plan, conds, out, err);
    default:
        FM_TRY(fm_pass_children(o, plan, fm_push_filters, out, err));
        return wrap(o, conds, *out, out, err);
    }
}

fm_status fm_push_filters(fm_optimizer *o, fm_plan *plan, fm_plan **out, fm_error *err)
{
    return push(o, plan, &(fm_conds){0}, out, err);
}
