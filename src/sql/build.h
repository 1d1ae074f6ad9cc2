/* sql/build.h: what the grammar's actions make: nodes of plans and expressions; used by the grammar only.
 *
 * Builders never fail at the call: the first failure is kept in fm_parse and asked for at the end. */
#ifndef FM_SQL_BUILD_H
#define FM_SQL_BUILD_H

#include "plan/plan.h"
#include "sql/token.h"

/* One statement being parsed. */
typedef struct fm_parse {
    fm_arena *arena;
    fm_str text;           /* the whole text; positions are in it */
    fm_plan *result;
    fm_expr *result_expr;
    fm_status status;      /* the first failure */
    fm_error *err;
    const fm_tokens *tokens;
    bool (*expects)(void *ctx, int kind); /* whether the grammar would take a token of that kind now */
    void *expects_ctx;
} fm_parse;

typedef struct fm_exprs {
    fm_expr **items;
    int32_t n, cap;
} fm_exprs;
typedef struct fm_names {
    fm_str *items;
    int32_t n, cap;
    fm_pos pos;
} fm_names;
typedef struct fm_clauses {
    fm_str format, comment;
    fm_options options;
    fm_names partition_by;
} fm_clauses;
typedef struct fm_cte_clause {
    fm_str name;
    fm_plan *plan;
    fm_names column_names;
} fm_cte_clause;
typedef struct fm_ctes {
    fm_cte_clause *items;
    int32_t n, cap;
} fm_ctes;
typedef struct fm_join_cond {
    fm_expr *on;
    fm_names using_names;
} fm_join_cond;
typedef struct fm_watermark_clause {
    fm_expr *expr;
    fm_str delay;
    fm_pos pos;
} fm_watermark_clause;
typedef struct fm_alias_clause {
    fm_str name;
    fm_names column_names;
} fm_alias_clause;
typedef struct fm_group {
    fm_exprs exprs;
    bool given, all;
    const char *sets;      /* "CUBE" and kin; NULL: plain */
} fm_group;
typedef struct fm_lateral {
    fm_expr *generator;
    fm_alias_clause alias;
    bool outer;
    fm_pos pos;
} fm_lateral;
typedef struct fm_laterals {
    fm_lateral *items;
    int32_t n, cap;
} fm_laterals;

void fm_parse_syntax_error(fm_parse *p, const fm_token *token);
void fm_parse_too_deep(fm_parse *p);

/* Lists */
fm_exprs fm_build_list(fm_parse *p, fm_exprs list, fm_expr *e);
fm_exprs fm_build_concat(fm_parse *p, fm_exprs a, fm_exprs b);
fm_names fm_build_name(fm_parse *p, fm_names list, const fm_token *t);
fm_names fm_build_names_of(fm_parse *p, const fm_expr *e);

/* Expressions (build_expr.c) */
fm_expr *fm_build_call(fm_parse *p, const fm_token *t, fm_exprs args, int distinct);
fm_expr *fm_build_call_c(fm_parse *p, const fm_token *t, const char *name, fm_expr *a, fm_expr *b);
fm_expr *fm_build_call3(fm_parse *p, const fm_token *t, const char *name, fm_expr *a, fm_expr *b, fm_expr *c);
fm_expr *fm_build_function(fm_parse *p, fm_names name, int distinct, fm_exprs args, fm_exprs within, int ignore_nulls,
                           fm_expr *filter, int over);
fm_expr *fm_build_alias(fm_parse *p, fm_expr *e, const fm_token *name);
fm_expr *fm_build_multi_alias(fm_parse *p, fm_expr *e, fm_names names);
fm_expr *fm_build_star(fm_parse *p, const fm_token *t, fm_names qualifier, fm_names except);
fm_expr *fm_build_lambda(fm_parse *p, fm_names params, fm_expr *body, fm_pos pos);
fm_expr *fm_build_logic(fm_parse *p, fm_expr_kind kind, const fm_token *t, fm_expr *a, fm_expr *b);
fm_expr *fm_build_not(fm_parse *p, const fm_token *t, int negated, fm_expr *e);
fm_expr *fm_build_between(fm_parse *p, const fm_token *t, fm_expr *x, int negated, fm_expr *low, fm_expr *high);
fm_expr *fm_build_in(fm_parse *p, const fm_token *t, fm_expr *x, fm_exprs list);
fm_expr *fm_build_like(fm_parse *p, const fm_token *t, const char *name, fm_expr *x, fm_expr *pattern, fm_expr *escape);
fm_expr *fm_build_like_many(fm_parse *p, const fm_token *t, fm_expr *x, int any, fm_exprs patterns);
fm_expr *fm_build_is_bool(fm_parse *p, const fm_token *t, fm_expr *x, int negated, bool value);
fm_expr *fm_build_subquery(fm_parse *p, const fm_token *t, fm_expr_kind kind, fm_expr *x, fm_plan *query);
fm_expr *fm_build_negative(fm_parse *p, const fm_token *t, fm_expr *x);
fm_expr *fm_build_shift(fm_parse *p, const fm_token *t, fm_expr *a, fm_expr *b);
fm_expr *fm_build_string(fm_parse *p, const fm_token *t);
fm_expr *fm_build_hex(fm_parse *p, const fm_token *t);
fm_expr *fm_build_number(fm_parse *p, const fm_token *t);
fm_expr *fm_build_null(fm_parse *p, const fm_token *t);
fm_expr *fm_build_bool(fm_parse *p, const fm_token *t, bool value);
fm_expr *fm_build_typed(fm_parse *p, const fm_token *t);
fm_expr *fm_build_interval(fm_parse *p, const fm_token *t);
fm_expr *fm_build_row(fm_parse *p, const fm_token *t, fm_expr *first, fm_exprs rest);
fm_expr *fm_build_column(fm_parse *p, const fm_token *t);
fm_expr *fm_build_dot(fm_parse *p, fm_expr *e, const fm_token *name);
fm_expr *fm_build_index(fm_parse *p, const fm_token *t, fm_expr *e, fm_expr *index);
fm_expr *fm_build_cast(fm_parse *p, const fm_token *t, fm_expr *e, const fm_token *type, bool try_cast);
fm_expr *fm_build_case(fm_parse *p, const fm_token *t, fm_expr *x, fm_exprs whens, fm_expr *otherwise);
fm_expr *fm_build_trim(fm_parse *p, const fm_token *t, const char *name, fm_expr *chars, fm_expr *text);
fm_expr *fm_build_sort_key(fm_parse *p, fm_expr *e, int descending, int nulls_first);

/* Queries (build_plan.c) */
fm_plan *fm_build_order_limit(fm_parse *p, fm_plan *query, fm_exprs order, fm_expr *limit, fm_expr *offset);
fm_plan *fm_build_with(fm_parse *p, const fm_token *t, fm_ctes *ctes, fm_plan *body);
fm_ctes *fm_build_cte_list(fm_parse *p, fm_ctes *list, fm_cte_clause cte);
fm_plan *fm_build_set_op(fm_parse *p, const fm_token *t, fm_plan *a, fm_plan *b, const char *op, bool all);
fm_plan *fm_build_values(fm_parse *p, const fm_token *t, fm_exprs rows);
fm_plan *fm_build_select(fm_parse *p, const fm_token *t, fm_exprs hints, bool distinct, fm_exprs list, fm_plan *from,
                         fm_laterals *laterals, fm_expr *where, fm_group group, fm_expr *having);
fm_plan *fm_build_join(fm_parse *p, const fm_token *t, fm_plan *a, fm_join_type type, bool natural, fm_plan *b, fm_join_cond cond);
fm_plan *fm_build_table(fm_parse *p, fm_names name, bool streaming, fm_options *options);
fm_plan *fm_build_table_function(fm_parse *p, const fm_token *name, fm_exprs args, bool streaming);
fm_plan *fm_build_relation(fm_parse *p, fm_plan *base, bool sample, fm_watermark_clause watermark, fm_alias_clause alias);
fm_laterals *fm_build_lateral(fm_parse *p, fm_laterals *list, const fm_token *t, bool outer, fm_expr *generator, fm_alias_clause alias);

/* Statements (build_statement.c) */
fm_plan *fm_build_explain(fm_parse *p, int mode, fm_plan *statement);
fm_plan *fm_build_create_table(fm_parse *p, fm_plan_kind kind, const fm_token *t, bool or_replace, bool if_not_exists,
                               fm_names name, fm_token schema, fm_clauses *clauses, fm_plan *query);
fm_plan *fm_build_create_view(fm_parse *p, const fm_token *t, bool or_replace, bool temporary, bool if_not_exists,
                              fm_names name, fm_names column_names, fm_plan *query);
fm_plan *fm_build_drop(fm_parse *p, const fm_token *t, const char *what, bool if_exists, fm_names name);
fm_plan *fm_build_show(fm_parse *p, const fm_token *t, const char *what, const fm_token *pattern);
fm_plan *fm_build_describe(fm_parse *p, const char *what, fm_names name, fm_plan *query);
fm_clauses *fm_build_clauses(fm_parse *p);
fm_clauses *fm_build_add_options(fm_parse *p, fm_clauses *clauses, const fm_options *options);
fm_clauses *fm_build_add_location(fm_parse *p, fm_clauses *clauses, const fm_token *location);
fm_options *fm_build_option(fm_parse *p, fm_options *list, const fm_token *key, const fm_token *value);
fm_token fm_build_join_key(fm_parse *p, const fm_token *a, const fm_token *b);
fm_token fm_build_negated(fm_parse *p, const fm_token *t);

/* For the builders */
void fm_build_fail(fm_parse *p, fm_status st);
fm_plan *fm_build_node(fm_parse *p, fm_plan_kind kind, fm_pos pos, fm_plan *child);

#endif
