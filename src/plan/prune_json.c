/* plan/prune_json.c: from_json reads only the fields that are used.
 *
 *     PROJECT d.a, d.b                              PROJECT d.a, d.b
 *     FILTER d.b > 0                                FILTER d.b > 0
 *     PROJECT from_json(x, 'a, b, c, ...') AS d     PROJECT from_json(x, 'a, b') AS d
 *
 * What the others hold can then not spoil a text; nor could it before, as a field that is bad is null by itself. Where bad
 * texts are told (options: FAILFAST, a column of corrupt records), all fields stay.
 *
 * Rule  Spark, OptimizeCsvJsonExprs: only without options. */
#include "plan/optimize_impl.h"

static bool is_corrupt_record(fm_str name) { return fm_str_eq_ci(name, FM_STR("_corrupt_record")); }

/* The call to narrow; NULL: it is none, or must stay. */
static fm_expr *json_call(fm_expr *named)
{
    fm_expr *e = fm_expr_unalias(named);

    if (e->kind != FM_EXPR_CALL || !fm_str_eq(fm_str_c(e->function->name), FM_STR("from_json"))) return NULL;
    if (e->n_args != 2 || e->type->id != FM_TYPE_STRUCT || e->type->n_fields < 2) return NULL;
    for (int32_t i = 0; i < e->type->n_fields; i++)
        if (is_corrupt_record(e->type->fields[i].name)) return NULL;
    return e;
}

/* Which fields of a column are taken out of it. */
typedef struct field_uses {
    int32_t attr_id;
    bool whole;       /* the column is used as it is */
    uint8_t *fields;  /* [n_fields] */
    int32_t *new_at;  /* [n_fields] places in the narrower struct */
    const fm_type *type;
} field_uses;

static void count_uses(const fm_expr *e, field_uses *u)
{
    if (e->kind == FM_EXPR_FIELD && e->args[0]->kind == FM_EXPR_ATTRIBUTE && e->args[0]->attr_id == u->attr_id) {
        u->fields[e->index] = 1;
        return;
    }
    if (e->kind == FM_EXPR_ATTRIBUTE && e->attr_id == u->attr_id) u->whole = true;
    for (int32_t i = 0; i < e->n_args; i++) count_uses(e->args[i], u);
    if (e->filter) count_uses(e->filter, u);
}

/* The fields that are used, as a type; NULL: all of them, or it cannot be written as a text. */
static fm_status narrower(fm_optimizer *o, const fm_type *type, field_uses *u, const fm_type **out, fm_error *err)
{
    fm_field *fields = fm_arena_array(o->arena, fm_field, type->n_fields);
    const fm_type *made, *again = NULL;
    fm_error ignored = FM_ERROR_INIT;
    fm_strbuf text = {0};
    int32_t n = 0;

    *out = NULL;
    u->new_at = fm_arena_array(o->arena, int32_t, type->n_fields);
    if (!fields || !u->new_at) return fm_no_memory(o->arena, err);
    for (int32_t i = 0; i < type->n_fields; i++) {
        u->new_at[i] = n;
        if (u->fields[i]) fields[n++] = type->fields[i];
    }
    if (n == 0 || n == type->n_fields) return FM_OK;
    made = fm_type_struct(o->arena, fields, n);
    if (!made) return fm_no_memory(o->arena, err);
    fm_type_text(made, &text);
    if (fm_strbuf_ok(&text) && fm_type_parse(o->arena, fm_strbuf_str(&text), &again, &ignored) == FM_OK && fm_type_eq(again, made))
        *out = made;
    fm_strbuf_fini(&text);
    return FM_OK;
}

static fm_status narrow_call(fm_optimizer *o, const fm_expr *call, const fm_type *type, fm_expr **out, fm_error *err)
{
    fm_expr **args = fm_arena_array(o->arena, fm_expr *, 2);
    fm_strbuf text = {0};

    if (!args) return fm_no_memory(o->arena, err);
    fm_type_text(type, &text);
    args[0] = call->args[0];
    args[1] = fm_strbuf_ok(&text) ? fm_expr_literal_str(o->arena, fm_type_string(), fm_strbuf_str(&text)) : NULL;
    fm_strbuf_fini(&text);
    if (!args[1]) return fm_no_memory(o->arena, err);
    return fm_call_resolve(o->arena, o->conf, FM_STR("from_json"), args, 2, call->pos, NULL, out, err);
}

typedef struct moving {
    fm_optimizer *o;
    const field_uses *uses;
} moving;

static fm_status move_field(void *ctx, fm_expr **e, fm_error *err)
{
    const moving *m = ctx;
    const fm_expr *from = *e;

    if (from->kind != FM_EXPR_FIELD || from->args[0]->kind != FM_EXPR_ATTRIBUTE || from->args[0]->attr_id != m->uses->attr_id)
        return FM_OK;
    fm_expr *field = fm_expr_copy_node(m->o->arena, from), *column = fm_expr_copy_node(m->o->arena, from->args[0]);
    if (!field || !column) return fm_no_memory(m->o->arena, err);
    column->type = m->uses->type;
    field->args[0] = column;
    field->index = m->uses->new_at[from->index];
    *e = field;
    return FM_OK;
}

/* A node's expressions, rewritten, in a copy of it. */
static fm_status move_fields(fm_optimizer *o, fm_plan *p, const field_uses *u, fm_plan *child, fm_plan **out, fm_error *err)
{
    moving m = {o, u};
    fm_plan *copy = fm_plan_over(o->arena, p->kind, child, p->pos);

    if (!copy) return fm_no_memory(o->arena, err);
    fm_plan **children = copy->children;
    *copy = *p;
    copy->children = children;
    copy->exprs = fm_arena_array(o->arena, fm_expr *, p->n_exprs);
    if (!copy->exprs) return fm_no_memory(o->arena, err);
    for (int32_t i = 0; i < p->n_exprs; i++) FM_TRY(fm_expr_rewrite(o->arena, p->exprs[i], move_field, &m, &copy->exprs[i], err));
    *out = copy;
    return fm_plan_finish(o->arena, copy, err);
}

/* p, FILTERs and a PROJECT at the bottom whose item `at` becomes narrower. */
static fm_status rebuild(fm_optimizer *o, fm_plan *p, int32_t at, fm_expr *item, const field_uses *u, fm_plan **out, fm_error *err)
{
    fm_plan *child = p->children[0], *made;

    if (child->kind == FM_PLAN_FILTER) {
        FM_TRY(rebuild(o, child, at, item, u, &made, err));
    } else {
        fm_expr **exprs = fm_arena_array(o->arena, fm_expr *, child->n_exprs);
        if (!exprs) return fm_no_memory(o->arena, err);
        memcpy(exprs, child->exprs, (size_t)child->n_exprs * sizeof *exprs);
        exprs[at] = item;
        FM_TRY(fm_plan_project(o->arena, child->children[0], exprs, child->n_exprs, child->pos, &made, err));
    }
    return move_fields(o, p, u, made, out, err);
}

static fm_status prune_item(fm_optimizer *o, fm_plan *top, const fm_plan *bottom, int32_t at, fm_plan **out, fm_error *err)
{
    fm_expr *item = bottom->exprs[at], *call = json_call(item), *narrow, *named;
    field_uses u = {.attr_id = item->attr_id};

    *out = top;
    if (!call || item->kind != FM_EXPR_ALIAS) return FM_OK;
    u.fields = fm_arena_array(o->arena, uint8_t, call->type->n_fields);
    if (!u.fields) return fm_no_memory(o->arena, err);
    for (const fm_plan *p = top; p != bottom; p = p->children[0])
        for (int32_t i = 0; i < p->n_exprs; i++) count_uses(p->exprs[i], &u);
    if (u.whole) return FM_OK;
    FM_TRY(narrower(o, call->type, &u, &u.type, err));
    if (!u.type) return FM_OK;
    FM_TRY(narrow_call(o, call, u.type, &narrow, err));
    u.type = narrow->type;
    named = fm_alias_expr(o->arena, narrow, item->name, item->attr_id);
    if (!named) return fm_no_memory(o->arena, err);
    return rebuild(o, top, at, named, &u, out, err);
}

fm_status fm_prune_json(fm_optimizer *o, fm_plan *plan, fm_plan **out, fm_error *err)
{
    FM_TRY(fm_pass_children(o, plan, fm_prune_json, out, err));
    if (plan->kind != FM_PLAN_PROJECT) return FM_OK;
    for (int32_t at = 0;; at++) {
        const fm_plan *bottom = (*out)->children[0];
        while (bottom->kind == FM_PLAN_FILTER) bottom = bottom->children[0];
        if (bottom->kind != FM_PLAN_PROJECT || at >= bottom->n_exprs) return FM_OK;
        FM_TRY(prune_item(o, *out, bottom, at, out, err));
    }
}
