/* plan/analyze_expr.c: expressions get types: calls become functions, aggregates, generators; casts are put in. */
#include "plan/analyze_impl.h"

#include "base/checked.h"
#include "base/limits.h"
#include "base/time_text.h"
#include "expr/cast.h"
#include "expr/coerce.h"
#include "expr/eval.h"
#include "expr/generator.h"

fm_scope fm_scope_of(fm_analyzer *an, const fm_plan *child, const char *clause)
{
    return (fm_scope){.an = an, .attrs = child ? child->output : NULL, .n_attrs = child ? child->n_output : 0,
                      .child = child, .clause = clause, .outer = an->outer};
}

fm_status fm_fold(fm_analyzer *an, fm_expr *e, fm_expr **out, fm_error *err)
{
    fm_value value;

    *out = e;
    if (e->kind == FM_EXPR_LITERAL || !fm_expr_is_constant(e)) return FM_OK;
    FM_TRY(fm_eval_constant(an->arena, an->conf, e, &value, err));
    fm_expr *literal = fm_expr_literal_null(an->arena, e->type);
    if (!literal) return fm_no_memory(an->arena, err);
    literal->value = value;
    literal->nullable = fm_vec_is_null(&value, 0);
    literal->pos = e->pos;
    *out = literal;
    return FM_OK;
}

static fm_status resolve_lambda(void *ctx, const fm_expr *lambda, const fm_type *const *param_types,
                                const bool *param_nullable, int n_params, fm_expr **out, fm_error *err)
{
    fm_scope inner = *(fm_scope *)ctx;
    fm_arena *arena = inner.an->arena;
    fm_expr *copy = fm_expr_copy_node(arena, lambda);
    fm_expr **args = fm_arena_array(arena, fm_expr *, n_params + 1);

    if (!copy || !args) return fm_no_memory(arena, err);
    for (int i = 0; i < n_params; i++) {
        fm_expr *var = fm_expr_new(arena, FM_EXPR_LAMBDA_VAR, lambda->pos);
        if (!var) return fm_no_memory(arena, err);
        var->name = lambda->parts[i];
        var->attr_id = inner.an->next_id++;
        var->type = param_types[i];
        var->nullable = param_nullable[i];
        var->deterministic = true;
        args[i + 1] = var;
    }
    fm_lambda_frame frame = {.names = lambda->parts, .vars = args + 1, .n = n_params, .up = inner.lambdas};
    inner.lambdas = &frame;
    inner.aggregates = inner.generators = false;
    inner.clause = "a lambda function";
    FM_TRY(fm_resolve_types(&inner, lambda->args[0], &args[0], err));
    copy->args = args;
    copy->n_args = n_params + 1;
    copy->type = args[0]->type;
    copy->nullable = args[0]->nullable;
    copy->deterministic = args[0]->deterministic;
    *out = copy;
    return FM_OK;
}

/* A NAME that step one left is a lambda's parameter, with fields behind it. */
static fm_status resolve_variable(fm_scope *s, fm_expr *name, fm_expr **out, fm_error *err)
{
    fm_analyzer *an = s->an;

    for (const fm_lambda_frame *f = s->lambdas; f; f = f->up) {
        for (int32_t i = 0; i < f->n; i++) {
            if (!fm_name_eq(an, f->names[i], name->parts[0])) continue;
            fm_expr *e = f->vars[i];
            for (int32_t j = 1; j < name->n_parts; j++) {
                fm_expr *key = fm_expr_literal_str(an->arena, fm_type_string(), name->parts[j]);
                fm_expr *extract = fm_expr_new(an->arena, FM_EXPR_EXTRACT, name->pos);
                if (!key || !extract) return fm_no_memory(an->arena, err);
                extract->n_args = 2;
                FM_TRY(fm_expr_resolve_node(an->arena, an->conf, extract, (fm_expr *[]){e, key}, &e, err));
            }
            *out = e;
            return FM_OK;
        }
    }
    return fm_fail_column(s, name, err);
}

/* INTERVAL 'text' outside of places that read the text themselves. */
static fm_status resolve_interval_text(fm_scope *s, fm_expr *e, fm_expr **out, fm_error *err)
{
    fm_interval x;

    FM_TRY(fm_text_to_interval(fm_vec_str(&e->value, 0), &x, err));
    if (x.months && (x.days || x.us)) {
        return fm_fail_at(err, FM_UNSUPPORTED, "FLOODMARK_MIXED_INTERVAL", e->pos.line, e->pos.column,
                          "An interval of months and of days or less at once is not built; add two intervals.");
    }
    int64_t us;
    if (!fm_mul_i64(x.days, FM_US_PER_DAY, &us) || !fm_add_i64(us, x.us, &us)) {
        return fm_fail_at(err, FM_INVALID, "INTERVAL_ARITHMETIC_OVERFLOW", e->pos.line, e->pos.column,
                          "The interval is longer than 64 bits of microseconds hold.");
    }
    *out = x.months ? fm_expr_literal_i64(s->an->arena, fm_type_simple(FM_TYPE_INTERVAL_YM), x.months)
                    : fm_expr_literal_i64(s->an->arena, fm_type_simple(FM_TYPE_INTERVAL_DT), us);
    return *out ? FM_OK : fm_no_memory(s->an->arena, err);
}

static fm_status fail_aggregate_place(const fm_scope *s, const fm_expr *e, fm_error *err)
{
    fm_strbuf text = {0};
    const char *condition = s->in_aggregate   ? "NESTED_AGGREGATE_FUNCTION"
                            : s->no_aggregate ? s->no_aggregate
                                              : "UNSUPPORTED_EXPR_FOR_OPERATOR";

    fm_expr_sql(e, &text);
    fm_status st =
        s->in_aggregate
            ? fm_fail_at(err, FM_INVALID, condition, e->pos.line, e->pos.column,
                         "It is not allowed to use an aggregate function in the argument of another aggregate "
                         "function: %s. Please use the inner aggregate function in a sub-query.",
                         text.ptr ? text.ptr : "")
            : fm_fail_at(err, FM_INVALID, condition, e->pos.line, e->pos.column,
                         "Aggregate functions are not allowed in %s, but found %s. Compute it in a sub-query, or "
                         "use HAVING for conditions on groups.",
                         s->clause, text.ptr ? text.ptr : "");
    fm_strbuf_fini(&text);
    return st;
}

static fm_status resolve_arg_list(fm_scope *s, const fm_expr *e, fm_expr **args, fm_error *err)
{
    for (int32_t i = 0; i < e->n_args; i++) {
        args[i] = e->args[i];
        if (e->args[i]->kind == FM_EXPR_LAMBDA) continue;
        FM_TRY(fm_resolve_types(s, e->args[i], &args[i], err));
    }
    return FM_OK;
}

static fm_status resolve_aggregate_call(fm_scope *s, const fm_expr *e, fm_expr **args, fm_expr **out,
                                        fm_error *err)
{
    fm_scope inner = *s;
    fm_expr *filter = NULL;

    if (s->in_aggregate || !s->aggregates) return fail_aggregate_place(s, e, err);
    inner.in_aggregate = true;
    FM_TRY(resolve_arg_list(&inner, e, args, err));
    if (e->filter) {
        FM_TRY(fm_resolve_types(&inner, e->filter, &filter, err));
        if (filter->type->id != FM_TYPE_BOOL && filter->type->id != FM_TYPE_NULL) {
            return fm_fail_at(err, FM_INVALID, "INVALID_AGGREGATE_FILTER.NOT_BOOLEAN", filter->pos.line,
                              filter->pos.column, "The FILTER expression of an aggregate must be a condition.");
        }
        if (!filter->deterministic) {
            return fm_fail_at(err, FM_INVALID, "INVALID_AGGREGATE_FILTER.NON_DETERMINISTIC", filter->pos.line,
                              filter->pos.column, "FILTER expression is non-deterministic, it cannot be used in "
                                                  "aggregate functions.");
        }
    }
    for (int32_t i = 0; i < e->n_args; i++) {
        if (args[i]->deterministic) continue;
        return fm_fail_at(err, FM_INVALID, "AGGREGATE_FUNCTION_WITH_NONDETERMINISTIC_EXPRESSION", e->pos.line,
                          e->pos.column,
                          "Non-deterministic expressions should not appear in the arguments of the aggregate "
                          "function %.*s. Compute them in a sub-query.",
                          FM_STR_ARG(e->name));
    }
    return fm_aggregate_resolve(s->an->arena, s->an->conf, e->name, args, e->n_args, e->distinct, e->ignore_nulls,
                                filter, e->pos, out, err);
}

/* What OVER functions without an aggregate's name give: only their types are of interest, since they are not
 * run yet. */
static const fm_type *over_type(const fm_expr *e, fm_expr *const *args)
{
    static const char *const ranks[] = {"row_number", "rank", "dense_rank", "ntile"};
    static const char *const shares[] = {"percent_rank", "cume_dist"};
    static const char *const values[] = {"lag", "lead", "first_value", "last_value", "nth_value"};

    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        if (fm_str_eq_ci(e->name, fm_str_c(ranks[i]))) return fm_type_i32();
    }
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        if (fm_str_eq_ci(e->name, fm_str_c(shares[i]))) return fm_type_f64();
    }
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (fm_str_eq_ci(e->name, fm_str_c(values[i])) && e->n_args) return args[0]->type;
    }
    return NULL;
}

/* f(...) OVER (...): a column of an OVER node below. */
static fm_status resolve_over(fm_scope *s, const fm_expr *e, fm_expr **args, fm_expr **out, fm_error *err)
{
    fm_analyzer *an = s->an;
    fm_scope inner = *s;
    fm_expr *call = fm_expr_copy_node(an->arena, e);

    if (!s->below) {
        return fm_fail_at(err, FM_INVALID, "UNSUPPORTED_EXPR_FOR_OPERATOR", e->pos.line, e->pos.column,
                          "Functions with OVER are not allowed in %s.", s->clause);
    }
    inner.below = NULL;
    FM_TRY(resolve_arg_list(&inner, e, args, err));
    if (!call) return fm_no_memory(an->arena, err);
    call->args = args;
    call->type = over_type(e, args);
    if (!call->type) {
        fm_expr *plain;
        if (fm_aggregate_find(e->name)) {
            FM_TRY(fm_aggregate_resolve(an->arena, an->conf, e->name, args, e->n_args, false, e->ignore_nulls, NULL,
                                        e->pos, &plain, err));
        } else {
            FM_TRY(fm_call_resolve(an->arena, an->conf, e->name, args, e->n_args, e->pos, NULL, &plain, err));
        }
        call->type = plain->type;
    }
    call->nullable = true;
    call->deterministic = false;
    fm_below *b = s->below;
    fm_str name = s->over_name.len ? s->over_name : fm_arena_printf(an->arena, "_we%d", (int)b->n_overs);
    fm_expr *alias = fm_alias_expr(an->arena, call, name, an->next_id++);
    if (!alias || !FM_GROW(an->arena, b->overs, b->n_overs, b->cap_overs)) return fm_no_memory(an->arena, err);
    b->overs[b->n_overs++] = alias;
    fm_attr column = fm_attr_of(alias, NULL, 0);
    *out = fm_attr_expr(an->arena, &column);
    return *out ? FM_OK : fm_no_memory(an->arena, err);
}

static fm_status check_plain_call(const fm_expr *e, fm_error *err)
{
    const char *what = e->distinct ? "DISTINCT" : e->filter ? "FILTER" : e->ignore_nulls ? "IGNORE NULLS" : NULL;

    if (!what) return FM_OK;
    return fm_fail_at(err, FM_INVALID, "INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX", e->pos.line,
                      e->pos.column, "The function `%.*s` does not support %s: it is no aggregate function.",
                      FM_STR_ARG(e->name), what);
}

static fm_status resolve_call(fm_scope *s, const fm_expr *e, fm_expr **out, fm_error *err)
{
    fm_analyzer *an = s->an;
    fm_expr **args = fm_arena_array(an->arena, fm_expr *, e->n_args);
    fm_lambda_resolver lambdas = {.resolve = resolve_lambda, .ctx = s};
    bool outer;

    if (!args) return fm_no_memory(an->arena, err);
    if (e->has_over) return resolve_over(s, e, args, out, err);
    if (fm_aggregate_find(e->name)) return resolve_aggregate_call(s, e, args, out, err);
    FM_TRY(check_plain_call(e, err));
    if (fm_is_input_file_call(e)) return fm_resolve_input_file(s, e, out, err);
    bool in_window = s->in_window;
    s->in_window |= fm_is_window_call(e);
    FM_TRY(resolve_arg_list(s, e, args, err));
    s->in_window = in_window;
    if (fm_is_window_call(e)) return fm_resolve_window_call(s, e, args, out, err);
    if (fm_str_eq_ci(e->name, FM_STR("window_time")) && e->n_args == 1) {
        return fm_resolve_window_time(s, e, args[0], out, err);
    }
    if (fm_generator_find(e->name, &outer)) {
        bool select = strcmp(s->clause, "SELECT") == 0 || strcmp(s->clause, "the select list") == 0 ||
                      strcmp(s->clause, "the arguments of a generator") == 0;
        return fm_fail_at(err, FM_INVALID,
                          select ? "UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS" : "UNSUPPORTED_GENERATOR.OUTSIDE_SELECT", e->pos.line, e->pos.column,
                          "The generator %.*s is not supported inside of another expression or in %s: put it into "
                          "the select list by itself, or in LATERAL VIEW.",
                          FM_STR_ARG(e->name), s->clause);
    }
    if (fm_is_grouping_call(e)) return fm_resolve_grouping(s, e, args, out, err);
    FM_TRY(fm_call_resolve(an->arena, an->conf, e->name, args, e->n_args, e->pos, &lambdas, out, err));
    return FM_OK;
}

static fm_status resolve_children(fm_scope *s, const fm_expr *e, fm_expr **out, fm_error *err)
{
    fm_arena *arena = s->an->arena;
    fm_expr **args = fm_arena_array(arena, fm_expr *, e->n_args);

    if (!args) return fm_no_memory(arena, err);
    FM_TRY(resolve_arg_list(s, e, args, err));
    FM_TRY(fm_expr_resolve_node(arena, s->an->conf, e, args, out, err));
    return FM_OK;
}

static fm_status fail_place(const fm_scope *s, const fm_expr *e, const char *what, fm_error *err)
{
    return fm_fail_at(err, FM_UNSUPPORTED, "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY", e->pos.line, e->pos.column,
                      "%s may stand only as a condition of WHERE, alone or beside others joined with AND; not in %s.",
                      what, s->clause);
}

static fm_status resolve_by_kind(fm_scope *s, fm_expr *e, fm_expr **out, fm_error *err)
{
    *out = e;
    switch (e->kind) {
    case FM_EXPR_LITERAL:
    case FM_EXPR_ATTRIBUTE:
    case FM_EXPR_LAMBDA_VAR: return FM_OK;
    case FM_EXPR_NAME: return resolve_variable(s, e, out, err);
    case FM_EXPR_UNRESOLVED_CALL: return resolve_call(s, e, out, err);
    case FM_EXPR_INTERVAL_TEXT: return resolve_interval_text(s, e, out, err);
    case FM_EXPR_SUBQUERY: return fm_resolve_subquery(s, e, out, err);
    case FM_EXPR_EXISTS_SUBQUERY: return fail_place(s, e, "EXISTS (SELECT ...)", err);
    case FM_EXPR_IN_SUBQUERY: return fail_place(s, e, "IN (SELECT ...)", err);
    case FM_EXPR_LAMBDA:
        return fm_fail_at(err, FM_INVALID, "INVALID_LAMBDA_FUNCTION_CALL.NON_HIGHER_ORDER_FUNCTION", e->pos.line,
                          e->pos.column, "A lambda function should only be used in a higher order function.");
    case FM_EXPR_MULTI_ALIAS:
        return fm_fail_at(err, FM_INVALID, "MULTI_ALIAS_WITHOUT_GENERATOR", e->pos.line, e->pos.column,
                          "Multi part aliasing is not supported here: only functions as posexplode() give several "
                          "columns.");
    default: return resolve_children(s, e, out, err);
    }
}

/* Beyond this a value cannot be kept in state, or written down. */
static fm_status check_type_depth(const fm_expr *e, fm_error *err)
{
    if (!e->type || fm_type_depth(e->type) <= 2 * FM_TYPE_DEPTH_MAX) return FM_OK;
    return fm_fail_at(err, FM_LIMIT, "FLOODMARK_TYPE_DEPTH", e->pos.line, e->pos.column,
                      "The type of the expression is nested more than %d deep. Flatten it, or keep inner parts as text (to_json).",
                      2 * FM_TYPE_DEPTH_MAX);
}

fm_status fm_resolve_types(fm_scope *s, fm_expr *e, fm_expr **out, fm_error *err)
{
    *out = e;
    if (e->type) return FM_OK; /* literals, and columns with their fields, which were typed with their names */
    if (++s->depth > 2 * FM_EXPR_DEPTH_MAX) {
        return fm_fail_at(err, FM_LIMIT, "FLOODMARK_EXPRESSION_TOO_DEEP", e->pos.line, e->pos.column,
                          "The expression is nested more than %d deep.", 2 * FM_EXPR_DEPTH_MAX);
    }
    fm_status st = resolve_by_kind(s, e, out, err);
    s->depth--;
    return st == FM_OK ? check_type_depth(*out, err) : st;
}

fm_status fm_resolve_expr(fm_scope *s, fm_expr *e, fm_expr **out, fm_error *err)
{
    FM_TRY(fm_resolve_names(s, e, out, err));
    return fm_resolve_types(s, *out, out, err);
}

fm_status fm_resolve_bool(fm_scope *s, fm_expr *e, const char *condition, fm_expr **out, fm_error *err)
{
    FM_TRY(fm_resolve_expr(s, e, out, err));
    if ((*out)->type->id == FM_TYPE_BOOL) return FM_OK;
    /* NULL and, in ANSI mode, text are conditions too. */
    if ((*out)->type->id == FM_TYPE_NULL || (*out)->type->id == FM_TYPE_STRING) {
        return fm_expr_cast(s->an->arena, s->an->conf, *out, fm_type_bool(), false, false, out, err);
    }
    fm_strbuf text = {0}, type = {0};
    fm_expr_sql(*out, &text);
    fm_type_sql((*out)->type, &type);
    fm_status st = fm_fail_at(err, FM_INVALID, condition, e->pos.line, e->pos.column,
                              "The condition \"%s\" in %s has the invalid type \"%s\", expected \"BOOLEAN\".",
                              text.ptr ? text.ptr : "", s->clause, type.ptr ? type.ptr : "");
    fm_strbuf_fini(&text);
    fm_strbuf_fini(&type);
    return st;
}

/* The name of an item without AS: as the resolved tree reads, casts that were put in left out. */
static fm_status auto_name(fm_analyzer *an, const fm_expr *written, const fm_expr *typed, fm_str *out, fm_error *err)
{
    fm_strbuf text = {0};

    if (written->kind == FM_EXPR_NAME && written->n_parts) {
        *out = written->parts[written->n_parts - 1];
        return FM_OK;
    }
    fm_expr_auto_name(typed, &text);
    *out = fm_arena_str(an->arena, fm_strbuf_str(&text));
    bool ok = fm_strbuf_ok(&text) && out->ptr;
    fm_strbuf_fini(&text);
    return ok ? FM_OK : fm_no_memory(an->arena, err);
}

static bool is_no_window_call(const fm_expr *e, void *ctx)
{
    (void)ctx;
    return !fm_is_window_call(e);
}

/* An item that takes a window apart is named by the column that the window became: window.start. */
static fm_status name_by_window(fm_analyzer *an, const fm_expr *written, const fm_expr *typed, fm_str *name, fm_error *err)
{
    fm_strbuf text = {0};

    if (fm_expr_walk(written, is_no_window_call, NULL)) return FM_OK;
    fm_expr_sql(typed, &text);
    *name = fm_arena_str(an->arena, fm_strbuf_str(&text));
    bool ok = fm_strbuf_ok(&text) && name->ptr;
    fm_strbuf_fini(&text);
    return ok ? FM_OK : fm_no_memory(an->arena, err);
}

fm_status fm_resolve_named(fm_scope *s, fm_expr *e, fm_expr **out, fm_error *err)
{
    fm_analyzer *an = s->an;
    bool aliased = e->kind == FM_EXPR_ALIAS;
    fm_expr *inner = aliased ? e->args[0] : e, *names, *typed;
    fm_str name = e->name;

    FM_TRY(fm_resolve_names(s, inner, &names, err));
    s->over_name = aliased && inner->kind == FM_EXPR_UNRESOLVED_CALL && inner->has_over ? name : FM_STR("");
    FM_TRY(fm_resolve_types(s, names, &typed, err));
    s->over_name = FM_STR("");
    *out = typed;
    if (!aliased && typed->kind == FM_EXPR_ATTRIBUTE && !fm_is_metadata(s, typed)) return FM_OK;
    if (!aliased) FM_TRY(auto_name(an, inner, fm_has_input_file_call(inner) ? inner : typed, &name, err));
    if (!aliased) FM_TRY(name_by_window(an, inner, typed, &name, err));
    *out = fm_alias_expr(an->arena, fm_expr_unalias(typed), name, an->next_id++);
    if (!*out) return fm_no_memory(an->arena, err);
    (*out)->pos = e->pos;
    return FM_OK;
}
