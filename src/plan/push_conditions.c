/* plan/push_conditions.c: what of a FILTER right above a READ the source is told, so that it can pass over what no wanted row is in.
 *
 * The FILTER stays. A conjunct goes when it is made of comparisons of a column, or of a field of a struct, with constants. A column
 * that is cast to a wider type for the comparison is compared by itself, when the constant has its value in the column's type.
 *
 * Rule  Spark, DataSourceStrategy.translateFilter, UnwrapCastInBinaryComparison */
#include "plan/optimize_impl.h"

#include "column/builder.h"
#include "expr/cast.h"

/* What is being translated. */
typedef struct translation {
    fm_optimizer *o;
    const fm_plan *read;
} translation;

/* ---- Columns ---------------------------------------------------------------------------------------------------- */

/* The column of the table, and fields, that an expression is; false: it is none. */
static bool find_path(const translation *t, const fm_expr *e, fm_condition *c)
{
    const fm_attr *attr;
    const fm_type *schema = t->read->table->schema;

    c->type = e->type;
    if (e->kind == FM_EXPR_FIELD) {
        if (!find_path(t, e->args[0], c) || c->n_path == FM_CONDITION_PATH_MAX) return false;
        c->path[c->n_path++] = e->index;
        c->type = e->type;
        return true;
    }
    if (e->kind != FM_EXPR_ATTRIBUTE) return false;
    attr = fm_attr_find(t->read->output, t->read->n_output, e->attr_id);
    if (!attr || attr->hidden) return false;
    for (int32_t i = 0; i < schema->n_fields; i++) {
        if (!fm_str_eq(schema->fields[i].name, attr->name)) continue;
        c->path[0] = i;
        c->n_path = 1;
        return true;
    }
    return false;
}

/* Whether every value of `from` has one of its own in `to`, in the same order. */
static bool keeps_order(const fm_type *from, const fm_type *to)
{
    if (fm_type_is_integer(from) && fm_type_is_integer(to)) return from->id <= to->id;
    if (fm_type_is_integer(from) && to->id == FM_TYPE_DECIMAL) return to->precision - to->scale >= (from->id == FM_TYPE_I64 ? 19 : 10);
    if (fm_type_is_integer(from) && to->id == FM_TYPE_F64) return from->id != FM_TYPE_I64;
    if (from->id == FM_TYPE_DECIMAL && to->id == FM_TYPE_DECIMAL) {
        return to->scale >= from->scale && to->precision - to->scale >= from->precision - from->scale;
    }
    return (from->id == FM_TYPE_F32 && to->id == FM_TYPE_F64) || (from->id == FM_TYPE_DATE && to->id == FM_TYPE_TIMESTAMP_NTZ);
}

/* As find_path, through casts that keep the order. */
static bool find_column(const translation *t, const fm_expr *e, fm_condition *c)
{
    while (e->kind == FM_EXPR_CAST && e->type && e->args[0]->type && keeps_order(e->args[0]->type, e->type)) e = e->args[0];
    return find_path(t, e, c);
}

static bool comparable(const fm_type *t)
{
    return !fm_type_is_nested(t) && t->id != FM_TYPE_NULL && !fm_type_is_interval(t);
}

/* ---- Constants -------------------------------------------------------------------------------------------------- */

/* The constant in the column's type; *ok false: it has no such value. */
static fm_status to_type(const translation *t, const fm_vec *value, const fm_type *type, fm_vec *out, bool *ok, fm_error *err)
{
    fm_vec back;

    *out = *value;
    *ok = !fm_vec_is_null(value, 0);
    if (!*ok || fm_type_eq(value->type, type)) return FM_OK;
    *ok = keeps_order(type, value->type);
    if (!*ok) return FM_OK;
    FM_TRY(fm_cast_run(value, type, FM_CAST_TRY, t->o->conf, t->o->arena, out, err));
    *ok = !fm_vec_is_null(out, 0);
    if (!*ok) return FM_OK;
    FM_TRY(fm_cast_run(out, value->type, FM_CAST_TRY, t->o->conf, t->o->arena, &back, err));
    *ok = !fm_vec_is_null(&back, 0) && fm_vec_cmp(&back, 0, value, 0) == 0;
    return FM_OK;
}

static fm_condition *new_condition(const translation *t, fm_condition_op op)
{
    fm_condition *c = fm_arena_one(t->o->arena, fm_condition);

    if (c) c->op = op;
    return c;
}

/* column op constant. */
static fm_status comparison(const translation *t, fm_condition_op op, const fm_expr *column, const fm_expr *constant, const fm_condition **out,
                            fm_error *err)
{
    fm_condition *c = new_condition(t, op);
    bool ok;

    if (!c) return fm_no_memory(t->o->arena, err);
    if (constant->kind != FM_EXPR_LITERAL || !find_column(t, column, c) || !comparable(c->type)) return FM_OK;
    if (op == FM_COND_SAME && fm_vec_is_null(&constant->value, 0)) {
        c->op = FM_COND_IS_NULL;
        *out = c;
        return FM_OK;
    }
    FM_TRY(to_type(t, &constant->value, c->type, &c->value, &ok, err));
    if (ok) *out = c;
    return FM_OK;
}

/* column LIKE 'prefix%' and its kin. */
static fm_status text_match(const translation *t, fm_condition_op op, const fm_expr *column, fm_str text, const fm_condition **out, fm_error *err)
{
    fm_condition *c = new_condition(t, op);

    if (!c) return fm_no_memory(t->o->arena, err);
    if (text.len == 0 || !find_path(t, column, c) || c->type->id != FM_TYPE_STRING) return FM_OK;
    FM_TRY(fm_vec_init(&c->value, c->type, 1, t->o->arena, err));
    fm_vec_view_out(&c->value)[0] = fm_view_of(text.ptr, text.len);
    *out = c;
    return FM_OK;
}

/* Rule: Spark, LikeSimplification: one % at an end, or at both; nothing else that means anything. */
static fm_status like(const translation *t, const fm_expr *e, const fm_condition **out, fm_error *err)
{
    if (e->n_args != 2 || e->args[1]->kind != FM_EXPR_LITERAL || fm_vec_is_null(&e->args[1]->value, 0)) return FM_OK;
    fm_str p = fm_vec_str(&e->args[1]->value, 0);
    bool first = p.len > 1 && p.ptr[0] == '%', last = p.len > 1 && p.ptr[p.len - 1] == '%';
    fm_str text = {p.ptr + first, p.len - first - last};
    if (p.len < 2 || memchr(text.ptr, '%', text.len) || memchr(text.ptr, '_', text.len) || memchr(text.ptr, '\\', text.len)) return FM_OK;
    if (!first && !last) return comparison(t, FM_COND_EQ, e->args[0], e->args[1], out, err);
    return text_match(t, first && last ? FM_COND_CONTAINS : first ? FM_COND_ENDS_WITH : FM_COND_STARTS_WITH, e->args[0], text, out, err);
}

/* ---- Expressions ------------------------------------------------------------------------------------------------ */

static fm_status translate(const translation *t, const fm_expr *e, const fm_condition **out, fm_error *err);

static fm_status in_list(const translation *t, const fm_expr *e, const fm_condition **out, fm_error *err)
{
    fm_condition *c = new_condition(t, FM_COND_IN);

    if (!c) return fm_no_memory(t->o->arena, err);
    if (!find_column(t, e->args[0], c) || !comparable(c->type)) return FM_OK;
    fm_builder *values = fm_builder_new(t->o->arena, c->type, e->n_args);
    if (!values) return fm_no_memory(t->o->arena, err);
    for (int32_t i = 1; i < e->n_args; i++) {
        fm_vec value;
        bool ok;
        if (e->args[i]->kind != FM_EXPR_LITERAL) return FM_OK;
        if (fm_vec_is_null(&e->args[i]->value, 0)) continue; /* nothing equals it */
        FM_TRY(to_type(t, &e->args[i]->value, c->type, &value, &ok, err));
        if (!ok) return FM_OK;
        fm_builder_lane(values, &value, 0);
    }
    if (fm_builder_len(values) == 0) return FM_OK;
    FM_TRY(fm_builder_finish(values, &c->value, err));
    *out = c;
    return FM_OK;
}

static fm_status null_test(const translation *t, fm_condition_op op, const fm_expr *e, const fm_condition **out, fm_error *err)
{
    fm_condition *c = new_condition(t, op);

    if (!c) return fm_no_memory(t->o->arena, err);
    if (find_path(t, e->args[0], c)) *out = c;
    return FM_OK;
}

/* NOT goes down to the comparisons. Rule: Spark, BooleanSimplification; NaN has its place in SQL's order, so that not less is greater
 * or equal. */
static fm_status not_of(const translation *t, const fm_condition *inner, const fm_condition **out, fm_error *err)
{
    static const fm_condition_op opposite[] = {[FM_COND_LT] = FM_COND_GE, [FM_COND_LE] = FM_COND_GT, [FM_COND_GT] = FM_COND_LE, [FM_COND_GE] = FM_COND_LT,
                                               [FM_COND_IS_NULL] = FM_COND_NOT_NULL, [FM_COND_NOT_NULL] = FM_COND_IS_NULL,
                                               [FM_COND_AND] = FM_COND_OR, [FM_COND_OR] = FM_COND_AND};
    fm_condition *c = new_condition(t, FM_COND_NOT);

    *out = NULL;
    if (!inner) return FM_OK;
    if (!c) return fm_no_memory(t->o->arena, err);
    *out = c;
    switch (inner->op) {
    case FM_COND_NOT: *out = inner->left; return FM_OK;
    case FM_COND_EQ:
    case FM_COND_SAME:
    case FM_COND_IN:
    case FM_COND_STARTS_WITH:
    case FM_COND_ENDS_WITH:
    case FM_COND_CONTAINS: c->left = inner; return FM_OK;
    default: break;
    }
    *c = *inner;
    c->op = opposite[inner->op];
    if (!inner->left) return FM_OK;
    FM_TRY(not_of(t, inner->left, &c->left, err));
    return not_of(t, inner->right, &c->right, err);
}

static fm_status call(const translation *t, const fm_expr *e, const fm_condition **out, fm_error *err)
{
    static const struct {
        const char *name;
        fm_condition_op op, turned; /* turned: constant op column */
    } ops[] = {{"=", FM_COND_EQ, FM_COND_EQ}, {"<=>", FM_COND_SAME, FM_COND_SAME}, {"<", FM_COND_LT, FM_COND_GT},
               {"<=", FM_COND_LE, FM_COND_GE}, {">", FM_COND_GT, FM_COND_LT}, {">=", FM_COND_GE, FM_COND_LE}, {"!=", FM_COND_EQ, FM_COND_EQ}};
    static const struct {
        const char *name;
        fm_condition_op op;
    } matches[] = {{"startswith", FM_COND_STARTS_WITH}, {"endswith", FM_COND_ENDS_WITH}, {"contains", FM_COND_CONTAINS}};
    const char *name = e->function->name;

    if (strcmp(name, "isnull") == 0) return null_test(t, FM_COND_IS_NULL, e, out, err);
    if (strcmp(name, "isnotnull") == 0) return null_test(t, FM_COND_NOT_NULL, e, out, err);
    if (strcmp(name, "like") == 0) return like(t, e, out, err);
    for (size_t i = 0; i < sizeof matches / sizeof *matches; i++) {
        if (strcmp(name, matches[i].name) != 0) continue;
        if (e->args[1]->kind != FM_EXPR_LITERAL || fm_vec_is_null(&e->args[1]->value, 0) || e->args[1]->type->id != FM_TYPE_STRING) return FM_OK;
        return text_match(t, matches[i].op, e->args[0], fm_vec_str(&e->args[1]->value, 0), out, err);
    }
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        if (strcmp(name, ops[i].name) != 0) continue;
        bool turned = e->args[0]->kind == FM_EXPR_LITERAL;
        FM_TRY(comparison(t, turned ? ops[i].turned : ops[i].op, e->args[turned], e->args[!turned], out, err));
        return name[0] == '!' && *out ? not_of(t, *out, out, err) : FM_OK;
    }
    return FM_OK;
}

/* Both sides: a condition that lacks one would say less than the expression, which NOT above must not hear. */
static fm_status both(const translation *t, fm_condition_op op, const fm_expr *e, const fm_condition **out, fm_error *err)
{
    fm_condition *c = new_condition(t, op);

    if (!c) return fm_no_memory(t->o->arena, err);
    FM_TRY(translate(t, e->args[0], &c->left, err));
    if (c->left) FM_TRY(translate(t, e->args[1], &c->right, err));
    *out = c->right ? c : NULL;
    return FM_OK;
}

/* *out NULL: it is not as simple as that. */
static fm_status translate(const translation *t, const fm_expr *e, const fm_condition **out, fm_error *err)
{
    const fm_condition *inner = NULL;

    *out = NULL;
    if (e->depth > FM_CONDITION_DEPTH_MAX) return FM_OK;
    switch (e->kind) {
    case FM_EXPR_AND: return both(t, FM_COND_AND, e, out, err);
    case FM_EXPR_OR: return both(t, FM_COND_OR, e, out, err);
    case FM_EXPR_NOT:
        FM_TRY(translate(t, e->args[0], &inner, err));
        return not_of(t, inner, out, err);
    case FM_EXPR_IN_LIST: return in_list(t, e, out, err);
    case FM_EXPR_CALL: return call(t, e, out, err);
    case FM_EXPR_ATTRIBUTE:
    case FM_EXPR_FIELD: {
        fm_expr *yes = e->type->id == FM_TYPE_BOOL ? fm_expr_literal_bool(t->o->arena, true) : NULL;
        return yes ? comparison(t, FM_COND_EQ, e, yes, out, err) : FM_OK;
    }
    default: return FM_OK;
    }
}

/* ---- Plans ------------------------------------------------------------------------------------------------------ */

/* READ with the conjuncts of the filter above it that it can be told. */
static fm_status tell(fm_optimizer *o, const fm_expr *filter, const fm_plan *read, fm_plan **out, fm_error *err)
{
    translation t = {o, read};
    fm_conds all = {0};
    fm_plan *copy = fm_arena_one(o->arena, fm_plan);

    FM_TRY(fm_expr_conjuncts(o->arena, (fm_expr *)(uintptr_t)filter, &all.items, &all.n, &all.cap, err));
    fm_expr **exprs = fm_arena_array(o->arena, fm_expr *, all.n);
    const fm_condition **conditions = fm_arena_array(o->arena, const fm_condition *, all.n);
    if (!copy || !exprs || !conditions) return fm_no_memory(o->arena, err);
    *copy = *read;
    copy->exprs = exprs;
    copy->conditions = conditions;
    copy->n_exprs = 0;
    for (int32_t i = 0; i < all.n; i++) {
        if (!all.items[i]->deterministic) break; /* what comes behind it sees fewer rows */
        FM_TRY(translate(&t, all.items[i], &conditions[copy->n_exprs], err));
        if (conditions[copy->n_exprs]) exprs[copy->n_exprs++] = all.items[i];
    }
    *out = copy;
    return FM_OK;
}

fm_status fm_push_conditions(fm_optimizer *o, fm_plan *plan, fm_plan **out, fm_error *err)
{
    fm_plan *child;

    if (plan->kind != FM_PLAN_FILTER || plan->children[0]->kind != FM_PLAN_READ || !plan->children[0]->table->schema) {
        return fm_pass_children(o, plan, fm_push_conditions, out, err);
    }
    FM_TRY(tell(o, plan->exprs[0], plan->children[0], &child, err));
    if (child->n_exprs == 0) {
        *out = plan;
        return FM_OK;
    }
    return fm_plan_with_children(o->arena, plan, &child, out, err);
}
