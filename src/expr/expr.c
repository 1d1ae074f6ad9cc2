/* expr/expr.c: making, copying, comparing and walking expression trees. */
#include "expr/expr.h"

#include "expr/aggregate.h"

fm_expr *fm_expr_new(fm_arena *arena, fm_expr_kind kind, fm_pos pos)
{
    fm_expr *e = fm_arena_one(arena, fm_expr);
    if (!e) return NULL;
    e->kind = kind;
    e->pos = pos;
    e->nullable = true;
    e->deterministic = true;
    return e;
}

static fm_expr *literal_new(fm_arena *arena, const fm_type *type)
{
    fm_expr *e = fm_expr_new(arena, FM_EXPR_LITERAL, (fm_pos){0});
    if (!e || !type) return NULL;
    e->type = type;
    e->nullable = false;
    if (fm_vec_init(&e->value, type, 1, arena, NULL) != FM_OK) return NULL;
    return e;
}

fm_expr *fm_expr_literal_null(fm_arena *arena, const fm_type *type)
{
    fm_expr *e = fm_expr_new(arena, FM_EXPR_LITERAL, (fm_pos){0});
    if (!e || !type) return NULL;
    e->type = type;
    if (fm_vec_nulls(&e->value, type, 1, arena, NULL) != FM_OK) return NULL;
    return e;
}

fm_expr *fm_expr_literal_bool(fm_arena *arena, bool x)
{
    fm_expr *e = literal_new(arena, fm_type_bool());
    if (e) fm_vec_bool_out(&e->value)[0] = x;
    return e;
}

fm_expr *fm_expr_literal_i32(fm_arena *arena, int32_t x)
{
    return fm_expr_literal_i64(arena, fm_type_i32(), x);
}

fm_expr *fm_expr_literal_i64(fm_arena *arena, const fm_type *type, int64_t x)
{
    fm_expr *e = literal_new(arena, type);
    if (!e) return NULL;
    switch (fm_type_width(type)) {
    case 1: fm_vec_i8_out(&e->value)[0] = (int8_t)x; break;
    case 2: fm_vec_i16_out(&e->value)[0] = (int16_t)x; break;
    case 4: fm_vec_i32_out(&e->value)[0] = (int32_t)x; break;
    default: fm_vec_i64_out(&e->value)[0] = x; break;
    }
    return e;
}

fm_expr *fm_expr_literal_f64(fm_arena *arena, const fm_type *type, double x)
{
    fm_expr *e = literal_new(arena, type);
    if (!e) return NULL;
    if (type->id == FM_TYPE_F32)
        fm_vec_f32_out(&e->value)[0] = (float)x;
    else
        fm_vec_f64_out(&e->value)[0] = x;
    return e;
}

fm_expr *fm_expr_literal_decimal(fm_arena *arena, const fm_type *type, fm_i128 unscaled)
{
    fm_expr *e = literal_new(arena, type);
    if (e) fm_vec_decimal_out(&e->value)[0] = unscaled;
    return e;
}

fm_expr *fm_expr_literal_str(fm_arena *arena, const fm_type *type, fm_str x)
{
    fm_expr *e = literal_new(arena, type);
    bool ok = true;
    if (!e) return NULL;
    fm_vec_view_out(&e->value)[0] = fm_view_copy(arena, x.ptr, x.len, &ok);
    return ok ? e : NULL;
}

fm_expr *fm_expr_call(fm_arena *arena, fm_str name, fm_expr **args, int32_t n, fm_pos pos)
{
    fm_expr *e = fm_expr_new(arena, FM_EXPR_UNRESOLVED_CALL, pos);
    if (!e) return NULL;
    e->name = name;
    e->n_args = n;
    e->args = fm_arena_array(arena, fm_expr *, n);
    if (!e->args) return NULL;
    for (int32_t i = 0; i < n; i++) e->args[i] = args[i];
    return e;
}

fm_expr *fm_expr_copy_node(fm_arena *arena, const fm_expr *e)
{
    fm_expr *copy = fm_arena_one(arena, fm_expr);
    if (!copy) return NULL;
    *copy = *e;
    if (e->n_args && e->args) {
        copy->args = fm_arena_array(arena, fm_expr *, e->n_args);
        if (!copy->args) return NULL;
        for (int32_t i = 0; i < e->n_args; i++) copy->args[i] = e->args[i];
    }
    return copy;
}

bool fm_expr_walk(const fm_expr *e, bool (*visit)(const fm_expr *e, void *ctx), void *ctx)
{
    if (!visit(e, ctx)) return false;
    for (int32_t i = 0; i < e->n_args; i++)
        if (!fm_expr_walk(e->args[i], visit, ctx)) return false;
    return !e->filter || fm_expr_walk(e->filter, visit, ctx);
}

/* A lambda's parameters are bound inside the tree, so they do not make it depend on a row. A variable of a
 * lambda outside the tree does; `ctx` is the tree, to look for its lambda. */
typedef struct lambda_search {
    int32_t attr_id;
    bool found;
} lambda_search;

static bool find_lambda(const fm_expr *e, void *ctx)
{
    lambda_search *search = ctx;
    if (e->kind != FM_EXPR_LAMBDA) return true;
    for (int32_t i = 1; i < e->n_args; i++)
        if (e->args[i]->attr_id == search->attr_id) search->found = true;
    return !search->found;
}

static bool constant_node(const fm_expr *e, void *ctx)
{
    switch (e->kind) {
    case FM_EXPR_LITERAL:
    case FM_EXPR_ALIAS:
    case FM_EXPR_CAST:
    case FM_EXPR_LAMBDA:
    case FM_EXPR_AND:
    case FM_EXPR_OR:
    case FM_EXPR_NOT:
    case FM_EXPR_CASE:
    case FM_EXPR_IN_LIST:
    case FM_EXPR_FIELD: return true;
    case FM_EXPR_CALL: return !e->function->nondeterministic && !e->function->per_batch;
    case FM_EXPR_LAMBDA_VAR: {
        lambda_search search = {e->attr_id, false};
        fm_expr_walk(ctx, find_lambda, &search);
        return search.found;
    }
    default: return false;
    }
}

bool fm_expr_is_constant(const fm_expr *e)
{
    return e->type && fm_expr_walk(e, constant_node, (void *)(uintptr_t)e);
}

static bool same_literal(const fm_expr *a, const fm_expr *b)
{
    bool null_a = fm_vec_is_null(&a->value, 0), null_b = fm_vec_is_null(&b->value, 0);
    if (null_a || null_b) return null_a == null_b;
    return fm_vec_same(&a->value, 0, &b->value, 0);
}

/* Names and places are not looked at, except where the name is the meaning. */
static bool same_node(const fm_expr *a, const fm_expr *b)
{
    if (a->kind != b->kind || a->n_args != b->n_args) return false;
    if (!a->type != !b->type || (a->type && !fm_type_eq(a->type, b->type))) return false;
    switch (a->kind) {
    case FM_EXPR_LITERAL: return same_literal(a, b);
    case FM_EXPR_ATTRIBUTE:
    case FM_EXPR_LAMBDA_VAR: return a->attr_id == b->attr_id;
    case FM_EXPR_COLUMN:
    case FM_EXPR_FIELD: return a->index == b->index;
    case FM_EXPR_CAST: return a->ansi == b->ansi && a->try_cast == b->try_cast;
    case FM_EXPR_CALL:
        return a->function == b->function && a->ansi == b->ansi &&
               !a->function->nondeterministic;
    case FM_EXPR_AGGREGATE:
        return a->aggregate == b->aggregate && a->ansi == b->ansi &&
               a->distinct == b->distinct && a->ignore_nulls == b->ignore_nulls && a->index == b->index &&
               (!a->distinct || fm_str_eq_ci(a->name, b->name)); /* DISTINCT: one entry for all names */
    case FM_EXPR_SORT_KEY:
        return a->descending == b->descending && a->nulls_first == b->nulls_first;
    case FM_EXPR_GENERATOR: return fm_str_eq_ci(a->name, b->name);
    case FM_EXPR_ALIAS:
    case FM_EXPR_AND:
    case FM_EXPR_OR:
    case FM_EXPR_NOT:
    case FM_EXPR_CASE:
    case FM_EXPR_IN_LIST: return true;
    default: return false; /* unresolved, or a lambda: compared by same_lambda */
    }
}

/* Pairs of lambda variables that stand for each other. */
typedef struct var_pair {
    const struct var_pair *outer;
    const fm_expr *a, *b;
} var_pair;

static bool same(const fm_expr *a, const fm_expr *b, const var_pair *pairs);

static bool same_lambda(const fm_expr *a, const fm_expr *b, const var_pair *pairs, int32_t i)
{
    if (i == a->n_args) return same(a->args[0], b->args[0], pairs);
    var_pair pair = {pairs, a->args[i], b->args[i]};
    return fm_type_eq(a->args[i]->type, b->args[i]->type) && same_lambda(a, b, &pair, i + 1);
}

static bool same(const fm_expr *a, const fm_expr *b, const var_pair *pairs)
{
    /* An alias changes the name of a value, not the value. */
    while (a->kind == FM_EXPR_ALIAS) a = a->args[0];
    while (b->kind == FM_EXPR_ALIAS) b = b->args[0];
    if (a->kind == FM_EXPR_LAMBDA)
        return b->kind == FM_EXPR_LAMBDA && a->type && b->type && a->n_args == b->n_args &&
               same_lambda(a, b, pairs, 1);
    if (a->kind == FM_EXPR_LAMBDA_VAR && b->kind == FM_EXPR_LAMBDA_VAR) {
        for (const var_pair *p = pairs; p; p = p->outer)
            if (p->a->attr_id == a->attr_id || p->b->attr_id == b->attr_id)
                return p->a->attr_id == a->attr_id && p->b->attr_id == b->attr_id;
    }
    if (!same_node(a, b)) return false;
    for (int32_t i = 0; i < a->n_args; i++)
        if (!same(a->args[i], b->args[i], pairs)) return false;
    if (!a->filter != !b->filter) return false;
    return !a->filter || same(a->filter, b->filter, pairs);
}

bool fm_expr_same(const fm_expr *a, const fm_expr *b) { return same(a, b, NULL); }
