/* plan/fold.c: constants are computed once, conditions that are decided go away.
 *
 * Never out of its branch: an expression that fails stays where it is, and fails there when a row gets to it. */
#include "plan/optimize_impl.h"

#include "expr/eval.h"

bool fm_expr_is_literal_bool(const fm_expr *e, bool x)
{
    return e->kind == FM_EXPR_LITERAL && e->type->id == FM_TYPE_BOOL && !fm_vec_is_null(&e->value, 0) &&
           fm_vec_bool(&e->value)[0] == x;
}

bool fm_expr_is_null_literal(const fm_expr *e)
{
    return e->kind == FM_EXPR_LITERAL && fm_vec_is_null(&e->value, 0);
}

static bool is_call(const fm_expr *e, const char *name)
{
    return e->kind == FM_EXPR_CALL && strcmp(e->function->name, name) == 0;
}

static fm_status literal_bool(fm_optimizer *o, bool x, fm_expr **e, fm_error *err)
{
    *e = fm_expr_literal_bool(o->arena, x);
    if (!*e) return fm_no_memory(o->arena, err);
    (*e)->nullable = false;
    return FM_OK;
}

static fm_status literal_null(fm_optimizer *o, fm_expr **e, fm_error *err)
{
    *e = fm_expr_literal_null(o->arena, (*e)->type);
    return *e ? FM_OK : fm_no_memory(o->arena, err);
}

static fm_status simplify_and(fm_optimizer *o, fm_expr **e, bool is_and, fm_error *err)
{
    fm_expr *a = (*e)->args[0], *b = (*e)->args[1];

    if (fm_expr_is_literal_bool(a, !is_and) || fm_expr_is_literal_bool(b, !is_and)) {
        return literal_bool(o, !is_and, e, err);
    }
    if (fm_expr_is_literal_bool(a, is_and)) *e = b;
    else if (fm_expr_is_literal_bool(b, is_and)) *e = a;
    else if (a->deterministic && fm_expr_same(a, b)) *e = a;
    return FM_OK;
}

static fm_status simplify_not(fm_optimizer *o, fm_expr **e, fm_error *err)
{
    fm_expr *a = (*e)->args[0];

    if (fm_expr_is_literal_bool(a, true)) return literal_bool(o, false, e, err);
    if (fm_expr_is_literal_bool(a, false)) return literal_bool(o, true, e, err);
    if (a->kind == FM_EXPR_NOT) *e = a->args[0];
    return FM_OK;
}

/* Branches that cannot be taken go; one that must be taken is the last. */
static fm_status simplify_case(fm_optimizer *o, fm_expr **e, fm_error *err)
{
    fm_expr *c = *e, **args = fm_arena_array(o->arena, fm_expr *, c->n_args);
    int32_t n = 0, i = 0;

    if (!args) return fm_no_memory(o->arena, err);
    for (; i + 1 < c->n_args; i += 2) {
        fm_expr *when = c->args[i];
        if (fm_expr_is_literal_bool(when, false) || fm_expr_is_null_literal(when)) continue;
        if (fm_expr_is_literal_bool(when, true)) {
            args[n++] = c->args[i + 1];
            break;
        }
        args[n++] = when;
        args[n++] = c->args[i + 1];
    }
    if (i + 1 == c->n_args) args[n++] = c->args[i];
    if (n == c->n_args) return FM_OK;
    if (n == 0) return literal_null(o, e, err);
    if (n == 1) {
        *e = args[0];
        return FM_OK;
    }
    fm_expr *copy = fm_expr_copy_node(o->arena, c);
    if (!copy) return fm_no_memory(o->arena, err);
    copy->args = args;
    copy->n_args = n;
    *e = copy;
    return FM_OK;
}

/* A field of a struct that is made on the spot. */
static void simplify_field(fm_expr **e)
{
    const fm_expr *base = (*e)->args[0];

    if (is_call(base, "named_struct") && 2 * (*e)->index + 1 < base->n_args) *e = base->args[2 * (*e)->index + 1];
}

/* The type is known, so the value is not computed: what would fail does not. */
static fm_status compute_type(fm_optimizer *o, fm_expr **e, fm_error *err)
{
    fm_strbuf text = {0};
    fm_pos pos = (*e)->pos;

    fm_type_text((*e)->args[0]->type, &text);
    *e = fm_expr_literal_str(o->arena, fm_type_string(), fm_strbuf_str(&text));
    fm_strbuf_fini(&text);
    if (!*e) return fm_no_memory(o->arena, err);
    (*e)->nullable = false;
    (*e)->pos = pos;
    return FM_OK;
}

static fm_status simplify_call(fm_optimizer *o, fm_expr **e, fm_error *err)
{
    fm_expr *c = *e;

    if (is_call(c, "isnull") && !c->args[0]->nullable && c->args[0]->deterministic) return literal_bool(o, false, e, err);
    if (is_call(c, "isnotnull") && !c->args[0]->nullable && c->args[0]->deterministic) {
        return literal_bool(o, true, e, err);
    }
    if (is_call(c, "typeof")) return compute_type(o, e, err);
    for (int32_t i = 0; c->function->nulls == FM_NULLS_STRICT && i < c->n_args; i++) {
        if (fm_expr_is_null_literal(c->args[i])) return literal_null(o, e, err);
    }
    return FM_OK;
}

static bool folds(const fm_expr *e)
{
    switch (e->kind) {
    case FM_EXPR_CALL:
    case FM_EXPR_CAST:
    case FM_EXPR_CASE:
    case FM_EXPR_IN_LIST:
    case FM_EXPR_FIELD:
    case FM_EXPR_AND:
    case FM_EXPR_OR:
    case FM_EXPR_NOT: return fm_expr_is_constant(e);
    default: return false;
    }
}

static fm_status compute(fm_optimizer *o, fm_expr **e, fm_error *err)
{
    fm_value value;
    fm_error failure = FM_ERROR_INIT;
    fm_status st = fm_eval_constant(o->arena, o->conf, *e, &value, &failure);

    if (st == FM_LIMIT) {
        if (err) *err = failure;
        return st;
    }
    if (st != FM_OK) return FM_OK; /* it fails for the rows that get here, if any */
    fm_expr *literal = fm_expr_literal_null(o->arena, (*e)->type);
    if (!literal) return fm_no_memory(o->arena, err);
    literal->value = value;
    literal->nullable = fm_vec_is_null(&value, 0);
    literal->pos = (*e)->pos;
    *e = literal;
    return FM_OK;
}

static fm_status simplify_node(void *ctx, fm_expr **e, fm_error *err)
{
    fm_optimizer *o = ctx;

    switch ((*e)->kind) {
    case FM_EXPR_AND: FM_TRY(simplify_and(o, e, true, err)); break;
    case FM_EXPR_OR: FM_TRY(simplify_and(o, e, false, err)); break;
    case FM_EXPR_NOT: FM_TRY(simplify_not(o, e, err)); break;
    case FM_EXPR_CASE: FM_TRY(simplify_case(o, e, err)); break;
    case FM_EXPR_FIELD: simplify_field(e); break;
    case FM_EXPR_CALL: FM_TRY(simplify_call(o, e, err)); break;
    case FM_EXPR_CAST:
        if (fm_type_eq((*e)->type, (*e)->args[0]->type)) *e = (*e)->args[0];
        break;
    default: break;
    }
    return folds(*e) ? compute(o, e, err) : FM_OK;
}

fm_status fm_simplify(fm_optimizer *o, fm_expr *e, fm_expr **out, fm_error *err)
{
    return fm_expr_rewrite(o->arena, e, simplify_node, o, out, err);
}

static fm_status simplify_list(fm_optimizer *o, fm_expr **list, int32_t n, fm_expr ***out, bool *changed, fm_error *err)
{
    fm_expr **copy = fm_arena_array(o->arena, fm_expr *, n);

    if (!copy) return fm_no_memory(o->arena, err);
    for (int32_t i = 0; i < n; i++) {
        FM_TRY(fm_simplify(o, list[i], &copy[i], err));
        *changed |= copy[i] != list[i];
    }
    *out = copy;
    return FM_OK;
}

static fm_status empty(fm_optimizer *o, const fm_plan *p, fm_plan **out, fm_error *err)
{
    fm_plan *e = fm_plan_new(o->arena, FM_PLAN_EMPTY, p->pos);

    if (!e) return fm_no_memory(o->arena, err);
    e->output = p->output;
    e->n_output = p->n_output;
    *out = e;
    return fm_plan_finish(o->arena, e, err);
}

/* What is known to have no rows. Streams keep their sources, whose files still make batches. */
static bool has_no_rows(const fm_plan *p)
{
    bool left_only = p->kind == FM_PLAN_JOIN && (p->join_type == FM_JOIN_LEFT || p->join_type == FM_JOIN_LEFT_SEMI ||
                                                 p->join_type == FM_JOIN_LEFT_ANTI);
    bool inner = p->kind == FM_PLAN_JOIN && (p->join_type == FM_JOIN_INNER || p->join_type == FM_JOIN_CROSS);

    if (p->streaming || !p->n_children) return false;
    bool first = p->children[0]->kind == FM_PLAN_EMPTY;
    switch (p->kind) {
    case FM_PLAN_FILTER:
        return first || fm_expr_is_literal_bool(p->exprs[0], false) || fm_expr_is_null_literal(p->exprs[0]);
    case FM_PLAN_PROJECT:
    case FM_PLAN_SORT:
    case FM_PLAN_DEDUPLICATE:
    case FM_PLAN_GENERATE:
    case FM_PLAN_TIME_WINDOW:
    case FM_PLAN_SESSION_WINDOW:
    case FM_PLAN_SAMPLE: return first;
    case FM_PLAN_LIMIT: return first || p->limit == 0;
    case FM_PLAN_AGGREGATE: return first && p->n_group_exprs;
    case FM_PLAN_JOIN: return (first && (left_only || inner)) || (p->children[1]->kind == FM_PLAN_EMPTY && inner);
    default: return false;
    }
}

/* A union of one: the child under the union's names. */
static fm_status rename_columns(fm_optimizer *o, fm_plan *child, const fm_plan *as, fm_plan **out, fm_error *err)
{
    fm_expr **exprs = fm_plan_columns(o->arena, child, 0);

    if (!exprs) return fm_no_memory(o->arena, err);
    for (int32_t i = 0; i < as->n_output; i++) {
        exprs[i] = fm_alias_expr(o->arena, exprs[i], as->output[i].name, as->output[i].id);
    }
    return fm_plan_project(o->arena, child, exprs, as->n_output, as->pos, out, err);
}

/* Children of a UNION that are empty go. */
static fm_status drop_empty(fm_optimizer *o, fm_plan *p, fm_plan **out, fm_error *err)
{
    fm_plan **children = fm_arena_array(o->arena, fm_plan *, p->n_children);
    int32_t n = 0;

    *out = p;
    if (!children) return fm_no_memory(o->arena, err);
    for (int32_t i = 0; i < p->n_children; i++) {
        if (p->children[i]->kind != FM_PLAN_EMPTY) children[n++] = p->children[i];
    }
    if (n == p->n_children) return FM_OK;
    if (n == 0) return empty(o, p, out, err);
    if (n == 1) return rename_columns(o, children[0], p, out, err);
    fm_plan *copy = fm_arena_one(o->arena, fm_plan);
    if (!copy) return fm_no_memory(o->arena, err);
    *copy = *p;
    copy->children = children;
    copy->n_children = n;
    *out = copy;
    return FM_OK;
}

fm_status fm_fold_plan(fm_optimizer *o, fm_plan *plan, fm_plan **out, fm_error *err)
{
    fm_expr **exprs = NULL, **groups = NULL;
    bool changed = false;
    fm_plan *p;

    FM_TRY(fm_pass_children(o, plan, fm_fold_plan, &p, err));
    FM_TRY(simplify_list(o, p->exprs, p->n_exprs, &exprs, &changed, err));
    FM_TRY(simplify_list(o, p->group_exprs, p->n_group_exprs, &groups, &changed, err));
    if (changed) {
        fm_plan *copy = fm_arena_one(o->arena, fm_plan);
        if (!copy) return fm_no_memory(o->arena, err);
        *copy = *p;
        copy->exprs = exprs;
        copy->group_exprs = groups;
        p = copy;
        FM_TRY(fm_plan_finish(o->arena, p, err));
    }
    *out = p;
    if (p->kind == FM_PLAN_FILTER && fm_expr_is_literal_bool(p->exprs[0], true)) *out = p->children[0];
    else if (has_no_rows(p)) return empty(o, p, out, err);
    else if (p->kind == FM_PLAN_UNION && !p->streaming) return drop_empty(o, p, out, err);
    return FM_OK;
}
