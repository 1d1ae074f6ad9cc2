/* plan/analyze_select.c: select lists, WHERE, ORDER BY, LIMIT, LATERAL VIEW. */
#include "plan/analyze_impl.h"

#include <stdio.h>

#include "base/limits.h"
#include "expr/coerce.h"
#include "expr/generator.h"

fm_status fm_expand_items(const fm_scope *s, fm_expr *const *exprs, int32_t n, fm_expr ***out,
                          int32_t *n_out, bool *had_star, fm_error *err)
{
    int32_t cap = 0;

    *out = NULL;
    *n_out = 0;
    *had_star = false;
    for (int32_t i = 0; i < n; i++) {
        if (exprs[i]->kind == FM_EXPR_STAR) {
            *had_star = true;
            FM_TRY(fm_expand_star(s, exprs[i], out, n_out, &cap, err));
            continue;
        }
        if (!FM_GROW(s->an->arena, *out, *n_out, cap)) return fm_no_memory(s->an->arena, err);
        (*out)[(*n_out)++] = exprs[i];
    }
    if (*n_out <= FM_SCHEMA_FIELDS_MAX) return FM_OK;
    return fm_fail(err, FM_LIMIT, "FLOODMARK_TOO_MANY_COLUMNS", "A select list gives %d columns; at most %d are allowed.",
                   (int)*n_out, FM_SCHEMA_FIELDS_MAX);
}

/* The generator call of a select item, or NULL. */
static fm_expr *generator_of(fm_expr *item)
{
    bool outer;

    if (item->kind == FM_EXPR_ALIAS || item->kind == FM_EXPR_MULTI_ALIAS) item = item->args[0];
    if (item->kind != FM_EXPR_UNRESOLVED_CALL || item->has_over || !fm_generator_find(item->name, &outer)) return NULL;
    return item;
}

/* Resolves a generator call; its columns become attributes, named as the function has them or by `names`. */
static fm_status resolve_generator(fm_scope *s, fm_expr *call, bool outer, const fm_str *names, int32_t n_names,
                                   fm_str qualifier, fm_below *below, fm_error *err)
{
    fm_analyzer *an = s->an;
    fm_expr *renamed;
    fm_scope inner = *s;

    inner.generators = inner.used_alias = false;
    inner.clause = "the arguments of a generator";
    FM_TRY(fm_resolve_names(&inner, call, &renamed, err));
    if (inner.used_alias) {
        return fm_fail_at(err, FM_UNSUPPORTED, "UNSUPPORTED_FEATURE.LATERAL_COLUMN_ALIAS_IN_GENERATOR", call->pos.line, call->pos.column,
                          "%.*s uses a name that stands in the same select list; put that into a sub-query.", FM_STR_ARG(call->name));
    }
    fm_expr **args = fm_arena_array(an->arena, fm_expr *, renamed->n_args);
    if (!args) return fm_no_memory(an->arena, err);
    for (int32_t i = 0; i < renamed->n_args; i++) FM_TRY(fm_resolve_types(&inner, renamed->args[i], &args[i], err));
    if (!FM_GROW(an->arena, below->generators, below->n_generators, below->cap_generators)) return fm_no_memory(an->arena, err);
    fm_made_rows *made = &below->generators[below->n_generators];
    FM_TRY(fm_generator_resolve(an->arena, an->conf, call->name, args, renamed->n_args, outer, call->pos, &made->generator, err));
    const fm_type *type = made->generator->type;
    if (n_names && n_names != type->n_fields) {
        return fm_fail_at(err, FM_INVALID, "UDTF_ALIAS_NUMBER_MISMATCH", call->pos.line, call->pos.column,
                          "The number of aliases supplied in the AS clause does not match the number of columns output "
                          "by %.*s: expected %d aliases, but got %d.",
                          FM_STR_ARG(call->name), (int)type->n_fields, (int)n_names);
    }
    made->columns = fm_arena_array(an->arena, fm_attr, type->n_fields);
    if (!made->columns) return fm_no_memory(an->arena, err);
    made->n = type->n_fields;
    below->n_generators++;
    for (int32_t i = 0; i < type->n_fields; i++) {
        made->columns[i] = (fm_attr){.id = an->next_id++, .name = n_names ? names[i] : type->fields[i].name,
                                        .qualifier = qualifier, .type = type->fields[i].type,
                                        .nullable = type->fields[i].nullable || outer};
    }
    return FM_OK;
}

static fm_status add_item(fm_scope *s, fm_expr *item, fm_expr ***items, int32_t *n, int32_t *cap, fm_error *err)
{
    if (!item || !FM_GROW(s->an->arena, *items, *n, *cap)) return fm_no_memory(s->an->arena, err);
    (*items)[(*n)++] = item;
    return FM_OK;
}

static fm_status generator_items(fm_scope *s, fm_expr *item, fm_expr *call, fm_expr ***items, int32_t *n, int32_t *cap,
                                 fm_error *err)
{
    const fm_str *names = item->kind == FM_EXPR_ALIAS ? &item->name : item->parts;
    int32_t n_names = item->kind == FM_EXPR_ALIAS ? 1 : item->kind == FM_EXPR_MULTI_ALIAS ? item->n_parts : 0;

    FM_TRY(resolve_generator(s, call, false, names, n_names, FM_STR(""), s->below, err));
    const fm_made_rows *made = &s->below->generators[s->below->n_generators - 1];
    for (int32_t i = 0; i < made->n; i++) FM_TRY(add_item(s, fm_attr_expr(s->an->arena, &made->columns[i]), items, n, cap, err));
    return FM_OK;
}

fm_status fm_resolve_items(fm_scope *s, fm_expr *const *exprs, int32_t n, fm_expr ***items,
                           int32_t *n_items, fm_error *err)
{
    fm_attr *aliases = NULL;
    int32_t cap = 0, aliases_cap = 0;

    *items = NULL;
    *n_items = 0;
    for (int32_t i = 0; i < n; i++) {
        fm_expr *call = s->generators ? generator_of(exprs[i]) : NULL, *item;
        int32_t first = *n_items;
        if (call) {
            FM_TRY(generator_items(s, exprs[i], call, items, n_items, &cap, err));
        } else {
            FM_TRY(fm_resolve_named(s, exprs[i], &item, err));
            FM_TRY(add_item(s, item, items, n_items, &cap, err));
        }
        if (exprs[i]->kind != FM_EXPR_ALIAS && exprs[i]->kind != FM_EXPR_MULTI_ALIAS) continue;
        for (int32_t k = first; k < *n_items; k++) {
            if (!FM_GROW(s->an->arena, aliases, s->n_aliases, aliases_cap)) return fm_no_memory(s->an->arena, err);
            aliases[s->n_aliases++] = call ? s->below->generators[s->below->n_generators - 1].columns[k - first] : fm_attr_of((*items)[k], s->attrs, s->n_attrs);
            s->aliases = aliases;
        }
    }
    s->n_aliases = 0;
    return FM_OK;
}

/* How many PROJECTs an item needs below its own: one more than the aliases it uses. */
typedef struct level_search {
    fm_expr *const *items;
    const int32_t *levels;
    int32_t n, level;
} level_search;

static bool raise_level(const fm_expr *e, void *ctx)
{
    level_search *search = ctx;

    for (int32_t i = 0; e->kind == FM_EXPR_ATTRIBUTE && i < search->n; i++) {
        const fm_expr *item = search->items[i];
        if (item->kind == FM_EXPR_ALIAS && item->attr_id == e->attr_id && search->levels[i] >= search->level) {
            search->level = search->levels[i] + 1;
        }
    }
    return true;
}

static fm_status stack_projects(fm_analyzer *an, fm_plan *child, fm_expr **items, int32_t n, fm_pos pos,
                                fm_plan **out, fm_error *err)
{
    int32_t *levels = fm_arena_array(an->arena, int32_t, n), most = 0;

    if (!levels) return fm_no_memory(an->arena, err);
    for (int32_t i = 0; i < n; i++) {
        level_search search = {items, levels, i, 0};
        fm_expr_walk(items[i], raise_level, &search);
        levels[i] = search.level;
        if (search.level > most) most = search.level;
    }
    for (int32_t level = 0; level < most; level++) {
        fm_expr **exprs = fm_plan_columns(an->arena, child, n);
        int32_t count = child->n_output;
        if (!exprs) return fm_no_memory(an->arena, err);
        for (int32_t i = 0; i < n; i++) {
            if (levels[i] == level && items[i]->kind == FM_EXPR_ALIAS) exprs[count++] = items[i];
        }
        FM_TRY(fm_plan_project(an->arena, child, exprs, count, pos, &child, err));
    }
    fm_expr **top = fm_arena_array(an->arena, fm_expr *, n);
    if (!top) return fm_no_memory(an->arena, err);
    for (int32_t i = 0; i < n; i++) {
        const fm_attr *made = items[i]->kind == FM_EXPR_ALIAS && levels[i] < most
                                  ? fm_attr_find(child->output, child->n_output, items[i]->attr_id)
                                  : NULL;
        top[i] = made ? fm_attr_expr(an->arena, made) : items[i];
    }
    return fm_plan_project(an->arena, child, top, n, pos, out, err);
}

fm_status fm_project_items(fm_analyzer *an, fm_plan *child, fm_expr **items, int32_t n, bool lateral,
                           fm_pos pos, fm_plan **out, fm_error *err)
{
    if (lateral) return stack_projects(an, child, items, n, pos, out, err);
    return fm_plan_project(an->arena, child, items, n, pos, out, err);
}

fm_status fm_analyze_project(fm_analyzer *an, const fm_plan *p, fm_plan **out, fm_error *err)
{
    fm_below below = {0};
    fm_plan *child;
    fm_expr **list, **items;
    int32_t n, n_items;
    bool had_star;

    for (int32_t i = 0; i < p->n_exprs; i++) {
        if (fm_has_aggregate_call(p->exprs[i])) return fm_analyze_aggregate(an, p, out, err);
    }
    FM_TRY(fm_analyze_child(an, p, &child, err));
    FM_TRY(fm_reach_files(an, p->exprs, p->n_exprs, NULL, 0, &child, err));
    fm_scope s = fm_scope_of(an, child, "the select list");
    s.below = &below;
    s.generators = true;
    FM_TRY(fm_expand_items(&s, p->exprs, p->n_exprs, &list, &n, &had_star, err));
    FM_TRY(fm_find_windows(&s, list, n, err));
    FM_TRY(fm_resolve_items(&s, list, n, &items, &n_items, err));
    FM_TRY(fm_put_below(an, &below, &child, err));
    FM_TRY(fm_project_items(an, child, items, n_items, s.used_alias, p->pos, out, err));
    (*out)->rows_seen = p->rows_seen;
    return FM_OK;
}

/* --- columns that a select list left out ------------------------------------------------------------- */

/* Nodes through which WHERE and ORDER BY above a select list may reach for columns it left out. */
static bool lets_through(const fm_plan *p)
{
    return p->kind == FM_PLAN_FILTER || p->kind == FM_PLAN_HINT || p->kind == FM_PLAN_SORT ||
           p->kind == FM_PLAN_LIMIT || p->kind == FM_PLAN_WATERMARK || p->kind == FM_PLAN_PROJECT ||
           p->kind == FM_PLAN_GENERATE || p->kind == FM_PLAN_TIME_WINDOW;
}

/* The columns below `plan` that it does not give out itself. Rule: Spark, resolveExprsAndAddMissingAttrs. */
static fm_status left_out(fm_analyzer *an, const fm_plan *plan, fm_attr **out, int32_t *n, fm_error *err)
{
    int32_t cap = 0;

    *out = NULL;
    *n = 0;
    for (const fm_plan *p = plan; lets_through(p); p = p->children[0]) {
        const fm_plan *child = p->children[0];
        if (p->kind != FM_PLAN_PROJECT) continue;
        for (int32_t i = 0; i < child->n_output; i++) {
            int32_t id = child->output[i].id;
            if (fm_attr_find(plan->output, plan->n_output, id) || fm_attr_find(*out, *n, id)) continue;
            if (!FM_GROW(an->arena, *out, *n, cap)) return fm_no_memory(an->arena, err);
            (*out)[(*n)++] = child->output[i];
        }
    }
    return FM_OK;
}

/* `plan` with those of `wanted` that `e` uses in its output, too. */
static fm_status expose(fm_analyzer *an, fm_plan *plan, const fm_attr *wanted, int32_t n, const fm_expr *e,
                        fm_plan **out, fm_error *err)
{
    fm_plan *child;

    *out = plan;
    if (fm_expr_within(e, plan->output, plan->n_output) || !lets_through(plan)) return FM_OK;
    FM_TRY(expose(an, plan->children[0], wanted, n, e, &child, err));
    if (plan->kind != FM_PLAN_PROJECT) return fm_plan_with_children(an->arena, plan, &child, out, err);
    fm_expr **exprs = fm_arena_array(an->arena, fm_expr *, plan->n_exprs + n);
    int32_t count = plan->n_exprs;
    if (!exprs) return fm_no_memory(an->arena, err);
    if (count) memcpy(exprs, plan->exprs, sizeof *exprs * (size_t)count);
    for (int32_t i = 0; i < n; i++) {
        const fm_attr *a = fm_attr_find(child->output, child->n_output, wanted[i].id);
        if (!a || !fm_expr_uses(e, a->id) || fm_attr_find(plan->output, plan->n_output, a->id)) continue;
        exprs[count++] = fm_attr_expr(an->arena, a);
    }
    return fm_plan_project(an->arena, child, exprs, count, plan->pos, out, err);
}

fm_status fm_keep_columns(fm_analyzer *an, fm_plan *plan, const fm_attr *columns, int32_t n,
                          fm_plan **out, fm_error *err)
{
    *out = plan;
    if (plan->n_output == n) return FM_OK;
    fm_expr **exprs = fm_arena_array(an->arena, fm_expr *, n);
    if (!exprs) return fm_no_memory(an->arena, err);
    for (int32_t i = 0; i < n; i++) {
        exprs[i] = fm_attr_expr(an->arena, fm_attr_find(plan->output, plan->n_output, columns[i].id));
    }
    FM_TRY(fm_plan_project(an->arena, plan, exprs, n, plan->pos, out, err));
    for (int32_t i = 0; i < n; i++) (*out)->output[i].hidden = columns[i].hidden;
    return FM_OK;
}

/* --- WHERE ------------------------------------------------------------------------------------------- */

/* Conditions of a DataFrame's filter() may stand over an aggregation and use its functions, as HAVING. */
static bool is_over_aggregate(const fm_plan *p, fm_plan *child)
{
    return fm_has_aggregate_call(p->exprs[0]) && fm_aggregate_below(child) && child->kind == FM_PLAN_AGGREGATE;
}

fm_status fm_analyze_filter(fm_analyzer *an, const fm_plan *p, fm_plan **out, fm_error *err)
{
    fm_below below = {0};
    fm_plan *child;
    fm_expr *condition = NULL;
    fm_attr *more;
    int32_t n_more;

    FM_TRY(fm_analyze_child(an, p, &child, err));
    if (is_over_aggregate(p, child)) return fm_analyze_having(an, p, out, err);
    FM_TRY(fm_reach_files(an, p->exprs, p->n_exprs, NULL, 0, &child, err));
    const fm_attr *columns = child->output;
    int32_t n = child->n_output;
    FM_TRY(left_out(an, child, &more, &n_more, err));
    fm_scope s = fm_scope_of(an, child, "the WHERE clause");
    s.below = &below;
    s.more = more;
    s.n_more = n_more;
    s.no_aggregate = "INVALID_WHERE_CONDITION";
    FM_TRY(fm_join_subqueries(&s, p->exprs[0], &child, &condition, err));
    *out = child;
    if (!condition) return FM_OK;
    FM_TRY(fm_find_windows(&s, &condition, 1, err));
    FM_TRY(fm_resolve_bool(&s, condition, "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN", &condition, err));
    FM_TRY(expose(an, child, more, n_more, condition, &child, err));
    bool exposed = child->n_output != n;
    FM_TRY(fm_put_below(an, &below, &child, err));
    FM_TRY(fm_plan_filter(an->arena, child, condition, p->pos, out, err));
    return exposed ? fm_keep_columns(an, *out, columns, n, out, err) : FM_OK;
}

/* --- ORDER BY ---------------------------------------------------------------------------------------- */

static bool is_ordinal(const fm_expr *e, int64_t *k)
{
    if (e->kind != FM_EXPR_LITERAL || e->type->id != FM_TYPE_I32 || fm_vec_is_null(&e->value, 0)) return false;
    *k = fm_vec_i32(&e->value)[0];
    return true;
}

static fm_status ordinal_column(fm_analyzer *an, const fm_plan *child, const fm_expr *key, int64_t k, fm_expr **out,
                                fm_error *err)
{
    for (int32_t i = 0, seen = 0; i < child->n_output; i++) {
        if (child->output[i].hidden || ++seen != k) continue;
        *out = fm_attr_expr(an->arena, &child->output[i]);
        return *out ? FM_OK : fm_no_memory(an->arena, err);
    }
    return fm_fail_at(err, FM_INVALID, "ORDER_BY_POS_OUT_OF_RANGE", key->pos.line, key->pos.column,
                      "ORDER BY position %lld is not in select list (valid range is [1, %d]).", (long long)k,
                      (int)fm_plan_visible(child));
}

static fm_status check_order(fm_analyzer *an, const fm_expr *key, fm_error *err)
{
    fm_strbuf text = {0}, type = {0};

    (void)an;
    if (key->type->id != FM_TYPE_MAP) return FM_OK;
    fm_expr_sql(key, &text);
    fm_type_sql(key->type, &type);
    fm_status st = fm_fail_at(err, FM_INVALID, "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE", key->pos.line,
                              key->pos.column, "Cannot sort by \"%s\": the type \"%s\" has no order.",
                              text.ptr ? text.ptr : "", type.ptr ? type.ptr : "");
    fm_strbuf_fini(&text);
    fm_strbuf_fini(&type);
    return st;
}

/* One key, over `*child`, which may get columns at the end. */
static fm_status sort_key(fm_analyzer *an, fm_plan **child, const fm_expr *key, fm_expr **out, fm_error *err)
{
    fm_expr *copy = fm_expr_copy_node(an->arena, key), *e = key->args[0];
    int64_t k;

    if (!copy) return fm_no_memory(an->arena, err);
    *out = copy;
    if (is_ordinal(e, &k)) {
        FM_TRY(ordinal_column(an, *child, e, k, &e, err));
    } else if (fm_aggregate_below(*child)) {
        FM_TRY(fm_resolve_over_aggregate(an, child, e, false, "ORDER BY", &e, err));
    } else {
        fm_attr *more;
        int32_t n_more;
        FM_TRY(left_out(an, *child, &more, &n_more, err));
        fm_scope s = fm_scope_of(an, *child, "ORDER BY");
        s.more = more;
        s.n_more = n_more;
        FM_TRY(fm_resolve_expr(&s, e, &e, err));
        FM_TRY(expose(an, *child, more, n_more, e, child, err));
    }
    copy->args[0] = e;
    copy->type = e->type;
    copy->nullable = e->nullable;
    copy->deterministic = e->deterministic;
    return check_order(an, e, err);
}

/* ORDER BY ALL, unless a column has that name. */
static fm_status is_order_by_all(fm_analyzer *an, const fm_plan *p, fm_plan *child, bool *out, fm_error *err)
{
    const fm_expr *e = p->n_exprs == 1 ? p->exprs[0]->args[0] : NULL;
    fm_scope s = fm_scope_of(an, child, "ORDER BY");
    fm_expr *column;

    *out = false;
    if (!e || e->kind != FM_EXPR_NAME || e->n_parts != 1 || !fm_str_eq_ci(e->parts[0], FM_STR("ALL"))) return FM_OK;
    FM_TRY(fm_find_column(&s, s.attrs, s.n_attrs, e, &column, err));
    *out = !column;
    return FM_OK;
}

static fm_status all_keys(fm_analyzer *an, const fm_plan *p, fm_plan *child, fm_plan *sort, fm_error *err)
{
    sort->exprs = fm_arena_array(an->arena, fm_expr *, child->n_output);
    if (!sort->exprs) return fm_no_memory(an->arena, err);
    for (int32_t i = 0; i < child->n_output; i++) {
        fm_expr *key = fm_expr_copy_node(an->arena, p->exprs[0]), *column = fm_attr_expr(an->arena, &child->output[i]);
        if (!key || !column) return fm_no_memory(an->arena, err);
        key->args[0] = column;
        key->type = column->type;
        key->nullable = column->nullable;
        FM_TRY(check_order(an, column, err));
        sort->exprs[sort->n_exprs++] = key;
    }
    return FM_OK;
}

fm_status fm_analyze_sort(fm_analyzer *an, const fm_plan *p, fm_plan **out, fm_error *err)
{
    fm_plan *child;
    bool all;

    FM_TRY(fm_analyze_child(an, p, &child, err));
    const fm_attr *columns = child->output;
    int32_t n = child->n_output;
    fm_plan *sort = fm_plan_over(an->arena, FM_PLAN_SORT, child, p->pos);
    if (!sort) return fm_no_memory(an->arena, err);
    FM_TRY(is_order_by_all(an, p, child, &all, err));
    if (all) {
        FM_TRY(all_keys(an, p, child, sort, err));
    } else {
        sort->exprs = fm_arena_array(an->arena, fm_expr *, p->n_exprs);
        if (!sort->exprs) return fm_no_memory(an->arena, err);
        sort->n_exprs = p->n_exprs;
        for (int32_t i = 0; i < p->n_exprs; i++) FM_TRY(sort_key(an, &child, p->exprs[i], &sort->exprs[i], err));
        sort->children[0] = child;
    }
    FM_TRY(fm_plan_finish(an->arena, sort, err));
    return fm_keep_columns(an, sort, columns, n, out, err);
}

/* --- LIMIT ------------------------------------------------------------------------------------------- */

static fm_status fail_limit(const char *name, const char *kind, const fm_expr *e, const char *why, fm_error *err)
{
    char condition[FM_ERROR_CONDITION_SIZE];

    snprintf(condition, sizeof condition, "INVALID_LIMIT_LIKE_EXPRESSION.%s", kind);
    return fm_fail_at(err, FM_INVALID, condition, e->pos.line, e->pos.column, "The %s expression %s.", name, why);
}

static fm_status limit_value(fm_analyzer *an, const fm_plan *child, fm_expr *e, const char *name, int64_t *out, fm_error *err)
{
    fm_scope s = fm_scope_of(an, child, "LIMIT");
    fm_expr *value;
    fm_error local = FM_ERROR_INIT;

    if (!e) return FM_OK;
    if (fm_resolve_expr(&s, e, &value, &local) != FM_OK) {
        if (err) *err = local;
        return local.status;
    }
    if (!fm_expr_is_constant(value)) {
        return fail_limit(name, "IS_UNFOLDABLE", e, "must evaluate to a constant value", err);
    }
    FM_TRY(fm_fold(an, value, &value, err));
    if (!fm_type_is_integer(value->type) || value->type->id == FM_TYPE_I64) {
        return fail_limit(name, "DATA_TYPE", e, "must be of integer type", err);
    }
    if (fm_vec_is_null(&value->value, 0)) return fail_limit(name, "IS_NULL", e, "must not evaluate to NULL", err);
    FM_TRY(fm_expr_cast(an->arena, an->conf, value, fm_type_i32(), false, false, &value, err));
    FM_TRY(fm_fold(an, value, &value, err));
    *out = fm_vec_i32(&value->value)[0];
    if (*out < 0) return fail_limit(name, "IS_NEGATIVE", e, "must be equal to or greater than 0", err);
    return FM_OK;
}

fm_status fm_analyze_limit(fm_analyzer *an, const fm_plan *p, fm_plan **out, fm_error *err)
{
    fm_plan *child;

    FM_TRY(fm_analyze_child(an, p, &child, err));
    fm_plan *limit = fm_plan_over(an->arena, FM_PLAN_LIMIT, child, p->pos);
    if (!limit) return fm_no_memory(an->arena, err);
    limit->limit = p->limit;
    limit->offset = p->offset;
    FM_TRY(limit_value(an, child, p->limit_expr, "limit", &limit->limit, err));
    FM_TRY(limit_value(an, child, p->offset_expr, "offset", &limit->offset, err));
    *out = limit;
    return fm_plan_finish(an->arena, limit, err);
}

/* --- LATERAL VIEW ------------------------------------------------------------------------------------ */

fm_status fm_analyze_lateral_view(fm_analyzer *an, const fm_plan *p, fm_plan **out, fm_error *err)
{
    fm_below below = {0};
    fm_plan *child;
    fm_expr *call = p->exprs[0];

    FM_TRY(fm_analyze_child(an, p, &child, err));
    if (!generator_of(call)) {
        fm_expr *ignored;
        if (!fm_function_find(call->name) && !fm_aggregate_find(call->name)) { /* says that it is unknown */
            return fm_call_resolve(an->arena, an->conf, call->name, NULL, 0, call->pos, NULL, &ignored, err);
        }
        return fm_fail_at(err, FM_INVALID, "UNSUPPORTED_GENERATOR.NOT_GENERATOR", p->pos.line, p->pos.column,
                          "LATERAL VIEW wants a function that gives rows, as explode(); `%.*s` is none.",
                          FM_STR_ARG(call->name));
    }
    fm_scope s = fm_scope_of(an, child, "LATERAL VIEW");
    FM_TRY(resolve_generator(&s, generator_of(call), p->outer, p->column_names, p->n_column_names, p->name, &below,
                             err));
    FM_TRY(fm_put_below(an, &below, &child, err));
    child->outer = p->outer;
    *out = child;
    return FM_OK;
}
