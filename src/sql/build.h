/* sql/build.h: what the grammar's actions make: nodes of plans and expressions; used by the grammar only.
 *
 * Builders never fail at the call: the first failure is kept in fm_parse and asked for by the driver. A builder given
 * NULL where it needs a node gives NULL: something before it has failed. */
#ifndef FM_SQL_BUILD_H
#define FM_SQL_BUILD_H

#include "plan/plan.h"
#include "sql/token.h"

/* Growing lists; passed by value, items in the arena. */
typedef struct fm_exprs {
    fm_expr **items;
    int32_t n, cap;
} fm_exprs;
typedef struct fm_names {
    fm_str *items;
    int32_t n, cap;
    fm_pos pos;
} fm_names;

/* Parts of statements, as the grammar collects them. */
typedef struct fm_create {
    fm_token at;
    bool or_replace, refresh, must_exist; /* must_exist: REPLACE TABLE */
} fm_create;
typedef struct fm_column {
    fm_token name, type;
    bool not_null;
    fm_column_def def;
} fm_column;
typedef struct fm_columns {
    fm_field *items;
    int32_t n, cap;
    fm_column_def *defs; /* [cap] */
} fm_columns;
typedef struct fm_merge_clauses {
    fm_merge_clause *items;
    int32_t n, cap;
} fm_merge_clauses;
typedef struct fm_paths {
    fm_name_path *items;
    int32_t n, cap;
} fm_paths;
typedef struct fm_assignments {
    fm_paths columns;
    fm_exprs values;
    bool star;
} fm_assignments;
typedef enum fm_clause {
    FM_CLAUSE_USING,
    FM_CLAUSE_OPTIONS,
    FM_CLAUSE_TBLPROPERTIES,
    FM_CLAUSE_PARTITIONED,
    FM_CLAUSE_COMMENT,
    FM_CLAUSE_LOCATION
} fm_clause;
typedef struct fm_clauses {
    uint32_t given; /* bits by fm_clause */
    fm_str format, comment;
    fm_options options, properties;
    fm_names partition_by;
} fm_clauses;
typedef struct fm_ctes {
    fm_cte *items;
    int32_t n, cap;
} fm_ctes;

/* One statement being parsed. */
typedef struct fm_parse {
    fm_arena *arena;
    fm_str text;           /* the whole text; places are in it */
    fm_plan *result;
    fm_expr *result_expr;
    fm_status status;      /* the first failure */
    bool unexpected;       /* it is a token that cannot stand there; nothing is in err yet */
    fm_error *err;
    const fm_token *last;  /* the token that the grammar was given last */
    fm_clauses spare;      /* stands in when memory is out; nobody reads it */
} fm_parse;

/* Parts of queries. */
enum { FM_ALL = 1, FM_DISTINCT = 2 };
typedef struct fm_select {
    fm_token at;
    fm_exprs hints, list;
    bool distinct;
} fm_select;
typedef struct fm_join_cond {
    fm_expr *on;
    fm_names using_names;
} fm_join_cond;
typedef struct fm_sample {
    fm_token at; /* kind 0: no TABLESAMPLE */
    fm_expr *size, *of; /* of: BUCKET size OUT OF of */
    const char *unit;
    int64_t seed;
    bool has_seed;
} fm_sample;
typedef struct fm_watermark_clause {
    fm_token at;
    fm_expr *expr; /* NULL: no WATERMARK */
    fm_token delay;
} fm_watermark_clause;
typedef struct fm_alias_clause {
    fm_str name;
    fm_names column_names;
} fm_alias_clause;
typedef struct fm_group {
    fm_exprs exprs;
    bool given, all;
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
typedef struct fm_call_parts {
    fm_token close;
    fm_exprs args, within;
    fm_expr *filter;
    bool distinct, ignore_nulls, over;
} fm_call_parts;

/* ---- Failures and lists (build.c) */
void fm_parse_fail(fm_parse *p, fm_pos pos, fm_status st, const char *condition, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void fm_parse_no_memory(fm_parse *p);
void fm_parse_too_deep(fm_parse *p, const fm_token *at);
void fm_build_refuse(fm_parse *p, const fm_token *at, const char *what);
fm_pos fm_pos_span(fm_pos a, fm_pos b);
/* Takes the depth and the number of nodes below into those of a node; refuses what is too deep or too large. */
void fm_build_measure(fm_parse *p, int32_t *depth, int32_t *nodes, int32_t depth_below, int32_t nodes_below, fm_pos pos);
/* Room for one item more; the array, or NULL: memory is out, and p knows. */
void *fm_build_grow(fm_parse *p, void *items, int32_t n, int32_t *cap, size_t size, size_t align);
#define FM_BUILD_GROW(p, list, T) fm_build_grow(p, (list)->items, (list)->n, &(list)->cap, sizeof(T), _Alignof(T))
fm_exprs fm_build_list(fm_parse *p, fm_exprs list, fm_expr *e);
fm_exprs fm_build_concat(fm_parse *p, fm_exprs a, fm_exprs b);
fm_names fm_build_name(fm_parse *p, fm_names list, const fm_token *t);
const fm_token *fm_build_keep(fm_parse *p, const fm_token *t);

/* ---- Expressions (build_expr.c). `close` is the token a node ends with; its place spans all of its parts. */
/* A node over args. NULL when memory is out or the statement has failed already. */
fm_expr *fm_build_expr(fm_parse *p, fm_expr_kind kind, fm_pos pos, fm_exprs args);
fm_expr *fm_build_unary(fm_parse *p, const fm_token *at, const char *name, fm_expr *x);
fm_expr *fm_build_binary(fm_parse *p, const fm_token *at, const char *name, fm_expr *a, fm_expr *b);
fm_expr *fm_build_shift(fm_parse *p, const fm_token *at, fm_expr *a, fm_expr *b);
fm_expr *fm_build_balanced(fm_parse *p, fm_expr_kind kind, fm_exprs list);
fm_expr *fm_build_not(fm_parse *p, const fm_token *at, int negated, fm_expr *e);
fm_expr *fm_build_between(fm_parse *p, const fm_token *at, fm_expr *x, fm_expr *low, fm_expr *high);
fm_expr *fm_build_in(fm_parse *p, const fm_token *at, const fm_token *close, fm_expr *x, fm_exprs list);
fm_expr *fm_build_like(fm_parse *p, const fm_token *at, const char *name, fm_expr *x, fm_expr *pattern, const fm_token *escape);
fm_expr *fm_build_like_many(fm_parse *p, const fm_token *at, const char *name, fm_expr *x, int negated, int any, fm_exprs patterns);
fm_expr *fm_build_is_bool(fm_parse *p, const fm_token *at, int negated, fm_expr *x, bool value);
fm_expr *fm_build_subquery(fm_parse *p, fm_expr_kind kind, const fm_token *at, const fm_token *close, fm_expr *x, fm_plan *query);
fm_expr *fm_build_bracketed(fm_parse *p, const fm_token *at, const fm_token *close, fm_expr *e);
fm_expr *fm_build_row(fm_parse *p, const fm_token *at, const fm_token *close, fm_expr *first, fm_exprs rest);
fm_expr *fm_build_column_name(fm_parse *p, const fm_token *t);
fm_expr *fm_build_dot(fm_parse *p, fm_expr *e, const fm_token *name);
fm_expr *fm_build_index(fm_parse *p, const fm_token *close, fm_expr *e, fm_expr *index);
fm_expr *fm_build_cast(fm_parse *p, const fm_token *at, const fm_token *close, fm_expr *e, const fm_token *type, bool try_cast);
fm_expr *fm_build_case(fm_parse *p, const fm_token *at, const fm_token *close, fm_expr *x, fm_exprs whens, fm_expr *otherwise);
fm_expr *fm_build_alias(fm_parse *p, fm_expr *e, const fm_token *name);
fm_expr *fm_build_multi_alias(fm_parse *p, fm_expr *e, fm_names names);
fm_expr *fm_build_star(fm_parse *p, fm_expr *qualifier, const fm_token *at, fm_names except);
fm_expr *fm_build_sort_key(fm_parse *p, fm_expr *e, int descending, int nulls_first);

/* ---- Calls (build_call.c) */
fm_expr *fm_build_call(fm_parse *p, fm_pos pos, fm_str name, fm_exprs args);
fm_expr *fm_build_function(fm_parse *p, fm_names name, fm_call_parts call);
fm_expr *fm_build_qualified_function(fm_parse *p, fm_expr *qualifier, const fm_token *name, fm_call_parts call);
fm_expr *fm_build_special(fm_parse *p, const fm_token *at, const fm_token *close, const char *name, fm_expr *a, fm_expr *b, fm_expr *c, fm_expr *d);
fm_expr *fm_build_named_argument(fm_parse *p, const fm_token *name, fm_expr *e);
fm_expr *fm_build_lambda(fm_parse *p, fm_pos pos, fm_names params, fm_expr *body);
fm_expr *fm_build_hint(fm_parse *p, const fm_token *name, fm_exprs args);

/* ---- Literals (build_literal.c) */
fm_expr *fm_build_strings(fm_parse *p, fm_names parts);
fm_expr *fm_build_word(fm_parse *p, const fm_token *t);
fm_expr *fm_build_number(fm_parse *p, const fm_token *sign, const fm_token *t);
fm_expr *fm_build_null(fm_parse *p, const fm_token *t);
fm_expr *fm_build_bool(fm_parse *p, const fm_token *t, bool value);
fm_expr *fm_build_typed(fm_parse *p, const fm_token *type, const fm_token *value);
fm_expr *fm_build_interval(fm_parse *p, const fm_token *t);

/* ---- Queries (build_query.c) and what stands in FROM (build_relation.c) */
fm_plan *fm_build_node(fm_parse *p, fm_plan_kind kind, fm_pos pos, fm_plan *child);
fm_plan *fm_build_node2(fm_parse *p, fm_plan_kind kind, fm_pos pos, fm_plan *a, fm_plan *b);
/* Sets the expressions of a node; NULL when the node is NULL or one of them is missing. */
fm_plan *fm_build_with_exprs(fm_parse *p, fm_plan *node, fm_exprs exprs);
fm_plan *fm_build_with_expr(fm_parse *p, fm_plan *node, fm_expr *e);
fm_plan *fm_build_order_limit(fm_parse *p, fm_plan *query, fm_exprs order, fm_expr *limit, fm_expr *offset);
fm_cte fm_build_cte(const fm_token *name, fm_names column_names, fm_plan *query);
fm_ctes *fm_build_cte_list(fm_parse *p, fm_ctes *list, fm_cte cte);
fm_plan *fm_build_with(fm_parse *p, const fm_token *at, fm_ctes *ctes, fm_plan *body);
fm_plan *fm_build_union(fm_parse *p, const fm_token *at, fm_plan *a, fm_plan *b, bool all);
fm_plan *fm_build_set_op(fm_parse *p, const fm_token *at, fm_plan *a, fm_plan *b, const char *op, bool all);
fm_plan *fm_build_values(fm_parse *p, const fm_token *at, fm_exprs rows);
fm_plan *fm_build_table_query(fm_parse *p, const fm_token *at, fm_names name);
fm_plan *fm_build_select(fm_parse *p, fm_select select, fm_plan *from, fm_laterals *laterals, fm_expr *where, fm_group group, fm_expr *having);
/* cube, rollup, "grouping sets", struct: a call over sets; GROUP BY columns GROUPING SETS (sets); a list of one. */
fm_expr *fm_build_sets(fm_parse *p, const fm_token *at, const char *name, fm_exprs sets);
fm_expr *fm_build_sets_of(fm_parse *p, const fm_token *at, fm_exprs columns, fm_exprs sets);
fm_exprs fm_build_one(fm_parse *p, fm_expr *e);
fm_laterals *fm_build_lateral(fm_parse *p, fm_laterals *list, const fm_token *at, bool outer, fm_expr *generator, fm_alias_clause alias);
fm_laterals *fm_build_all_laterals(fm_parse *p, fm_laterals *a, fm_laterals *b);

fm_plan *fm_build_join(fm_parse *p, const fm_token *at, fm_plan *a, fm_join_type type, bool natural, fm_plan *b, fm_join_cond cond);
fm_plan *fm_build_table(fm_parse *p, fm_names name, bool streaming, fm_options *options);
fm_plan *fm_build_table_function(fm_parse *p, fm_names name, fm_exprs args, bool streaming);
fm_plan *fm_build_query_relation(fm_parse *p, fm_plan *query);
fm_alias_clause fm_build_table_alias(fm_parse *p, const fm_token *name, fm_names column_names);
fm_sample fm_build_sample(fm_parse *p, const fm_token *at, fm_expr *size, fm_expr *of, const char *unit, const fm_token *seed);
/* A name that has to be a certain word. */
void fm_build_expect_word(fm_parse *p, const fm_token *word, const char *wanted);
fm_plan *fm_build_relation(fm_parse *p, fm_plan *base, fm_sample sample, fm_watermark_clause watermark, fm_alias_clause alias);

/* ---- Statements (build_statement.c) */
fm_plan *fm_build_explain(fm_parse *p, const fm_token *at, fm_explain_mode mode, fm_plan *statement);
fm_columns *fm_build_column(fm_parse *p, fm_columns *list, fm_column column);
fm_clauses *fm_build_clauses(fm_parse *p);
/* Notes that a clause stands there, once. */
fm_clauses *fm_build_clause(fm_parse *p, fm_clauses *clauses, fm_clause which, const fm_token *at);
fm_clauses *fm_build_provider(fm_parse *p, fm_clauses *clauses, fm_names format);
void fm_build_add_options(fm_parse *p, fm_clauses *clauses, const fm_options *options);
void fm_build_add_location(fm_parse *p, fm_clauses *clauses, const fm_token *location);
fm_options *fm_build_option(fm_parse *p, fm_options *list, const fm_token *key, const fm_token *value);
fm_token fm_build_join_key(fm_parse *p, const fm_token *a, const fm_token *b);
fm_token fm_build_negated(fm_parse *p, const fm_token *t);
fm_plan *fm_build_create_table(fm_parse *p, fm_create create, bool temporary, bool if_not_exists, fm_names name, fm_columns *columns, fm_clauses *clauses,
                               fm_plan *query);
fm_plan *fm_build_create_streaming_table(fm_parse *p, fm_create create, bool if_not_exists, fm_names name, fm_columns *columns, fm_clauses *clauses,
                                         fm_plan *query);
fm_plan *fm_build_create_view(fm_parse *p, fm_create create, bool temporary, bool if_not_exists, fm_names name, fm_names column_names, fm_plan *query);
fm_plan *fm_build_drop(fm_parse *p, const fm_token *at, const char *what, bool if_exists, fm_names name);
fm_plan *fm_build_show(fm_parse *p, const fm_token *at, const char *what, const fm_token *pattern);
fm_plan *fm_build_show_columns(fm_parse *p, const fm_token *at, fm_names table);
fm_plan *fm_build_describe(fm_parse *p, const fm_token *at, const char *what, fm_names name, fm_plan *query);

/* ---- Statements that write tables (build_write.c) */
void fm_build_add_properties(fm_parse *p, fm_clauses *clauses, const fm_options *options);
/* The text of an expression, as it stands. */
fm_str fm_build_text_of(fm_parse *p, const fm_expr *e);
/* What stands between a table's name and the query of INSERT. */
typedef struct fm_insert {
    fm_names columns;
    fm_assignments partition; /* values NULL: dynamic */
    fm_expr *replace;
    bool by_name, overwrite;
    fm_options *options;
} fm_insert;
typedef struct fm_partition_item {
    fm_names name;
    fm_expr *value;
} fm_partition_item;
fm_plan *fm_build_insert(fm_parse *p, const fm_token *at, fm_names name, fm_insert how, fm_plan *query);
fm_plan *fm_build_insert_with(fm_parse *p, const fm_token *at, fm_ctes *ctes, fm_plan *insert);
fm_plan *fm_build_target(fm_parse *p, fm_names name, fm_alias_clause alias);
fm_plan *fm_build_update(fm_parse *p, const fm_token *at, fm_plan *target, fm_assignments set, fm_expr *where);
fm_plan *fm_build_delete(fm_parse *p, const fm_token *at, fm_plan *target, fm_expr *where);
fm_plan *fm_build_merge(fm_parse *p, const fm_token *at, bool evolve, fm_plan *target, fm_plan *source, fm_expr *on, fm_merge_clauses *clauses);
fm_merge_clauses *fm_build_merge_clause(fm_parse *p, fm_merge_clauses *list, fm_merge_clause clause);
fm_merge_clause fm_build_clause_of(const fm_token *at, fm_merge_when when, fm_expr *condition, fm_merge_action action, fm_assignments set);
fm_paths fm_build_path(fm_parse *p, fm_paths list, fm_names name);
/* value NULL: none is given (PARTITION). */
fm_assignments fm_build_assignment(fm_parse *p, fm_assignments list, fm_names column, fm_expr *value);
fm_assignments fm_build_insert_list(fm_parse *p, fm_paths columns, fm_exprs values, const fm_token *at);
fm_plan *fm_build_maintain(fm_parse *p, const fm_token *at, const char *what, fm_names name, fm_options *options, fm_expr *where);
fm_options *fm_build_maintain_option(fm_parse *p, fm_options *list, const char *key, const fm_token *value);
fm_names fm_build_folder(fm_parse *p, const fm_token *path);
/* ALTER TABLE; what as in FM_PLAN_ALTER_TABLE. */
fm_plan *fm_build_alter(fm_parse *p, const fm_token *at, const char *what, fm_names table, fm_names names, bool if_exists, const fm_options *options);
fm_plan *fm_build_add_columns(fm_parse *p, const fm_token *at, fm_names table, fm_columns *columns);
fm_options *fm_build_constraint(fm_parse *p, const fm_token *name, const fm_expr *check);
/* A property without a value, for UNSET. */
fm_options *fm_build_unset(fm_parse *p, fm_options *list, const fm_token *key);

#endif
