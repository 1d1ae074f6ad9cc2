/* sql/sql_dump.c: unresolved plans on one line, for tests. */
#include "sql/sql_dump.h"

#include <inttypes.h>
#include <stdio.h>

#include "expr/cast.h"

static void add_names(const fm_str *names, int32_t n, const char *between, fm_strbuf *out)
{
    for (int32_t i = 0; i < n; i++) fm_strbuf_printf(out, "%s%.*s", i ? between : "", FM_STR_ARG(names[i]));
}

static void add_exprs(fm_expr *const *exprs, int32_t n, fm_strbuf *out)
{
    for (int32_t i = 0; i < n; i++) {
        if (i) fm_strbuf_add_c(out, ", ");
        fm_expr_dump(exprs[i], out);
    }
}

static void add_literal(const fm_expr *e, fm_strbuf *out)
{
    bool text = e->value.type->id == FM_TYPE_STRING;

    if (fm_vec_is_null(&e->value, 0)) {
        fm_strbuf_add_c(out, "null");
        return;
    }
    fm_strbuf_add_c(out, text ? "'" : "");
    fm_value_text(&e->value, 0, fm_zone_utc(), out);
    fm_strbuf_add_c(out, text ? "'" : ":");
    if (!text) fm_type_text(e->value.type, out);
}

static void add_call(const char *name, const fm_expr *e, fm_strbuf *out)
{
    fm_strbuf_printf(out, "%s(%s", name, e->distinct ? "distinct " : "");
    add_exprs(e->args, e->n_args, out);
    if (e->plan) {
        if (e->n_args) fm_strbuf_add_c(out, ", ");
        fm_plan_dump(e->plan, out);
    }
    fm_strbuf_add_char(out, ')');
    if (e->ignore_nulls) fm_strbuf_add_c(out, " ignore nulls");
    if (e->filter) {
        fm_strbuf_add_c(out, " filter ");
        fm_expr_dump(e->filter, out);
    }
    if (e->has_over) fm_strbuf_add_c(out, " over");
}

void fm_expr_dump(const fm_expr *e, fm_strbuf *out)
{
    char name[256];

    switch (e->kind) {
    case FM_EXPR_NAME: add_names(e->parts, e->n_parts, ".", out); break;
    case FM_EXPR_STAR:
        add_names(e->parts, e->n_parts, ".", out);
        fm_strbuf_add_c(out, e->n_parts ? ".*" : "*");
        if (e->n_args) add_call(" except", e, out);
        break;
    case FM_EXPR_LITERAL: add_literal(e, out); break;
    case FM_EXPR_UNRESOLVED_CALL:
        snprintf(name, sizeof name, "%.*s", FM_STR_ARG(e->name));
        add_call(name, e, out);
        break;
    case FM_EXPR_ALIAS:
        fm_expr_dump(e->args[0], out);
        fm_strbuf_printf(out, " AS %.*s", FM_STR_ARG(e->name));
        break;
    case FM_EXPR_MULTI_ALIAS:
        fm_expr_dump(e->args[0], out);
        fm_strbuf_add_c(out, " AS (");
        add_names(e->parts, e->n_parts, ", ", out);
        fm_strbuf_add_char(out, ')');
        break;
    case FM_EXPR_CAST:
        fm_strbuf_printf(out, "%s%.*s(", e->try_cast ? "try_" : "", e->name.len ? 7 : 4, e->name.len ? "literal" : "cast");
        fm_expr_dump(e->args[0], out);
        fm_strbuf_add_c(out, " as ");
        if (e->cast_type) fm_type_text(e->cast_type, out);
        fm_strbuf_add_char(out, ')');
        break;
    case FM_EXPR_LAMBDA:
        fm_strbuf_add_char(out, '(');
        add_names(e->parts, e->n_parts, ", ", out);
        fm_strbuf_add_c(out, ") -> ");
        fm_expr_dump(e->args[0], out);
        break;
    case FM_EXPR_SORT_KEY:
        fm_expr_dump(e->args[0], out);
        fm_strbuf_printf(out, " %s nulls %s", e->descending ? "desc" : "asc", e->nulls_first ? "first" : "last");
        break;
    case FM_EXPR_EXTRACT: add_call("get", e, out); break;
    case FM_EXPR_AND: add_call(fm_str_eq(e->name, FM_STR("between")) ? "and between" : "and", e, out); break;
    case FM_EXPR_OR: add_call("or", e, out); break;
    case FM_EXPR_NOT: add_call("not", e, out); break;
    case FM_EXPR_CASE: add_call("case", e, out); break;
    case FM_EXPR_IN_LIST: add_call("in", e, out); break;
    case FM_EXPR_SUBQUERY: add_call("subquery", e, out); break;
    case FM_EXPR_EXISTS_SUBQUERY: add_call("exists", e, out); break;
    case FM_EXPR_IN_SUBQUERY: add_call("in", e, out); break;
    default: fm_strbuf_printf(out, "?%d", (int)e->kind); break;
    }
}

static void add_options(const char *name, const fm_options *options, fm_strbuf *out)
{
    for (int32_t i = 0; i < options->n; i++) {
        const fm_option *o = &options->items[i];
        fm_strbuf_printf(out, "%s%.*s=%.*s", i ? " " : name, FM_STR_ARG(o->key), FM_STR_ARG(o->value));
        if (!o->value.ptr) fm_strbuf_add_char(out, '?');
    }
}

static void add_columns(const fm_table_def *t, fm_strbuf *out)
{
    for (int32_t i = 0; t->columns && i < t->schema->n_fields; i++) {
        const fm_column_def *c = &t->columns[i];
        fm_str name = t->schema->fields[i].name;
        if (c->default_sql.ptr) fm_strbuf_printf(out, " %.*s:default(%.*s)", FM_STR_ARG(name), FM_STR_ARG(c->default_sql));
        if (c->generated_sql.ptr) fm_strbuf_printf(out, " %.*s:generated(%.*s)", FM_STR_ARG(name), FM_STR_ARG(c->generated_sql));
        if (c->comment.ptr) fm_strbuf_printf(out, " %.*s:comment(%.*s)", FM_STR_ARG(name), FM_STR_ARG(c->comment));
        if (c->first) fm_strbuf_printf(out, " %.*s:first", FM_STR_ARG(name));
        if (c->after.ptr) fm_strbuf_printf(out, " %.*s:after(%.*s)", FM_STR_ARG(name), FM_STR_ARG(c->after));
    }
}

static void add_table(const fm_table_def *t, fm_strbuf *out)
{
    fm_strbuf_printf(out, " using %.*s", FM_STR_ARG(t->format));
    if (t->schema) {
        fm_strbuf_add_char(out, ' ');
        fm_type_text(t->schema, out);
        for (int32_t i = 0; i < t->schema->n_fields; i++) {
            if (!t->schema->fields[i].nullable) fm_strbuf_printf(out, " %.*s!", FM_STR_ARG(t->schema->fields[i].name));
        }
    }
    add_columns(t, out);
    add_options(" ", &t->options, out);
    add_options(" properties ", &t->properties, out);
    if (t->n_partition_by) {
        fm_strbuf_add_c(out, " by ");
        add_names(t->partition_by, t->n_partition_by, ",", out);
    }
    if (t->comment.len) fm_strbuf_printf(out, " -- %.*s", FM_STR_ARG(t->comment));
}

static const char *kind_name(const fm_plan *p)
{
    static const char *const joins[] = {"join", "cross", "left", "right", "full", "semi", "anti"};

    switch (p->kind) {
    case FM_PLAN_RELATION: return "relation";
    case FM_PLAN_TABLE_FUNCTION: return "function";
    case FM_PLAN_WITH: return "with";
    case FM_PLAN_LATERAL_VIEW: return "lateral";
    case FM_PLAN_HINT: return "hint";
    case FM_PLAN_ONE_ROW: return "one";
    case FM_PLAN_VALUES: return "values";
    case FM_PLAN_PROJECT: return "project";
    case FM_PLAN_FILTER: return p->is_having ? "having" : "filter";
    case FM_PLAN_AGGREGATE: return "aggregate";
    case FM_PLAN_JOIN: return joins[p->join_type];
    case FM_PLAN_UNION: return "union";
    case FM_PLAN_SET_OP: return fm_str_eq(p->set_op, FM_STR("EXCEPT")) ? "except" : "intersect";
    case FM_PLAN_DISTINCT: return "distinct";
    case FM_PLAN_SORT: return "sort";
    case FM_PLAN_LIMIT: return "limit";
    case FM_PLAN_SUBQUERY_ALIAS: return "as";
    case FM_PLAN_WATERMARK: return "watermark";
    case FM_PLAN_SAMPLE: return "sample";
    case FM_PLAN_CREATE_TABLE: return "create table";
    case FM_PLAN_CREATE_VIEW: return "create view";
    case FM_PLAN_CREATE_STREAMING_TABLE: return "create streaming table";
    case FM_PLAN_DROP: return "drop";
    case FM_PLAN_SET: return fm_str_eq(p->what, FM_STR("RESET")) ? "reset" : "set";
    case FM_PLAN_EXPLAIN: return "explain";
    case FM_PLAN_SHOW: return "show";
    case FM_PLAN_DESCRIBE: return "describe";
    case FM_PLAN_INSERT: return p->all ? "overwrite" : "insert";
    case FM_PLAN_UPDATE: return "update";
    case FM_PLAN_DELETE: return "delete";
    case FM_PLAN_MERGE: return "merge";
    case FM_PLAN_MAINTAIN: return "maintain";
    case FM_PLAN_ALTER_TABLE: return "alter table";
    default: return "?";
    }
}

/* WHEN ... THEN ... of statements that change rows. */
static void add_clauses(const fm_plan *p, fm_strbuf *out)
{
    static const char *const whens[] = {"matched", "not matched", "not matched by source"}, *const actions[] = {"update", "delete", "insert"};

    for (int32_t i = 0; i < p->n_clauses; i++) {
        const fm_merge_clause *c = &p->clauses[i];
        fm_strbuf_printf(out, " {%s", whens[c->when]);
        if (c->condition) {
            fm_strbuf_add_c(out, " and ");
            fm_expr_dump(c->condition, out);
        }
        fm_strbuf_printf(out, ": %s%s", actions[c->action], c->star ? " *" : "");
        for (int32_t k = 0; k < c->n; k++) {
            fm_strbuf_add_char(out, ' ');
            add_names(c->columns[k].parts, c->columns[k].n, ".", out);
            if (!c->values[k]) continue;
            fm_strbuf_add_char(out, '=');
            fm_expr_dump(c->values[k], out);
        }
        fm_strbuf_add_char(out, '}');
    }
}

static void add_flag(bool flag, const char *text, fm_strbuf *out)
{
    if (flag) fm_strbuf_printf(out, " %s", text);
}

/* What stands in a node besides its children. */
static void add_body(const fm_plan *p, fm_strbuf *out)
{
    bool alias = p->kind == FM_PLAN_SUBQUERY_ALIAS || p->kind == FM_PLAN_LATERAL_VIEW || p->kind == FM_PLAN_HINT || p->kind == FM_PLAN_TABLE_FUNCTION;

    add_names(p->name_parts, p->n_name_parts, ".", out);
    if (alias || p->kind == FM_PLAN_SHOW) fm_strbuf_add(out, p->name);
    if (p->n_column_names) {
        fm_strbuf_add_char(out, '(');
        add_names(p->column_names, p->n_column_names, ", ", out);
        fm_strbuf_add_char(out, ')');
    }
    if (alias && p->n_exprs) fm_strbuf_add_char(out, ' ');
    add_exprs(p->exprs, p->n_exprs, out);
    if (p->kind == FM_PLAN_AGGREGATE) {
        fm_strbuf_add_c(out, p->all ? " by all" : " by ");
        add_exprs(p->group_exprs, p->n_group_exprs, out);
    }
    if (p->kind == FM_PLAN_VALUES) fm_strbuf_printf(out, " /%d", (int)p->n_columns);
    if (p->kind == FM_PLAN_WATERMARK) fm_strbuf_printf(out, " %" PRId64, p->delay_us);
    if (p->limit_expr) fm_expr_dump(p->limit_expr, out);
    if (p->offset_expr) {
        fm_strbuf_add_c(out, " offset ");
        fm_expr_dump(p->offset_expr, out);
    }
    add_options(" ", &p->options, out);
    if (p->table) add_table(p->table, out);
    add_flag(p->streaming, "stream", out);
    add_flag(p->natural, "natural", out);
    add_flag(p->outer, "outer", out);
    add_flag(p->or_replace, "or replace", out);
    add_flag(p->if_not_exists, "if not exists", out);
    add_flag(p->if_exists, "if exists", out);
    add_flag(p->temporary, "temporary", out);
    add_flag(p->kind == FM_PLAN_SET_OP && p->all, "all", out);
    add_flag(p->kind == FM_PLAN_EXPLAIN && p->explain_mode == FM_EXPLAIN_EXTENDED, "extended", out);
    add_flag(p->kind == FM_PLAN_EXPLAIN && p->explain_mode == FM_EXPLAIN_FORMATTED, "formatted", out);
    add_clauses(p, out);
    add_flag(p->by_name, "by name", out);
    add_flag(p->must_exist, "must exist", out);
    if (p->what.len && p->kind != FM_PLAN_SET) fm_strbuf_printf(out, " %.*s", FM_STR_ARG(p->what));
}

void fm_plan_dump(const fm_plan *p, fm_strbuf *out)
{
    fm_strbuf body = {0};

    fm_strbuf_add_c(out, kind_name(p));
    add_body(p, &body);
    if (body.len) fm_strbuf_printf(out, "[%.*s]", FM_STR_ARG(fm_str_trim(fm_strbuf_str(&body))));
    fm_strbuf_fini(&body);
    if (!p->n_children && !p->n_ctes) return;
    fm_strbuf_add_char(out, '(');
    for (int32_t i = 0; i < p->n_ctes; i++) {
        const fm_cte *c = &p->ctes[i];
        fm_strbuf_printf(out, "%.*s", FM_STR_ARG(c->name));
        if (c->n_column_names) fm_strbuf_add_char(out, '(');
        add_names(c->column_names, c->n_column_names, ", ", out);
        fm_strbuf_add_c(out, c->n_column_names ? ")=" : "=");
        fm_plan_dump(c->plan, out);
        fm_strbuf_add_c(out, "; ");
    }
    for (int32_t i = 0; i < p->n_children; i++) {
        if (i) fm_strbuf_add_c(out, ", ");
        fm_plan_dump(p->children[i], out);
    }
    fm_strbuf_add_char(out, ')');
}
