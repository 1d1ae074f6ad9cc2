/* plan/analyze_impl.h: what the files of the analyzer share.
 *
 * One recursive pass, children first, makes resolved nodes. An expression goes through two steps: names become
 * columns (analyze_names.c), then calls become functions and get types (analyze_expr.c). Between the two a tree
 * still reads as it was written, which is when unnamed columns get their names.
 *
 * Some expressions want work below the node they stand in: window() wants a TIME_WINDOW, window_time() a
 * PROJECT, explode() a GENERATE, OVER an OVER node. They become columns at once and are noted in the scope's
 * `below`; the node puts the work under itself once all its expressions are resolved. */
#ifndef FM_PLAN_ANALYZE_IMPL_H
#define FM_PLAN_ANALYZE_IMPL_H

#include "plan/analyze.h"
#include "plan/plan_impl.h"

typedef struct fm_cte_frame {
    const fm_cte *cte;
    const struct fm_cte_frame *up; /* what the CTE itself may name */
    bool *used;                    /* set when the query names it */
} fm_cte_frame;

struct fm_scope;

typedef struct fm_analyzer {
    const fm_analysis *a;
    fm_arena *arena;
    const fm_session_conf *conf;
    const fm_cte_frame *ctes;
    const struct fm_scope *outer; /* columns of the query around a subquery: only to say that they are not seen */
    int32_t next_id, next_node;
    int32_t depth;                /* plans upon plans, views and CTEs included */
    int32_t uses;                 /* views and CTEs analyzed so far: each use is analyzed anew */
    bool wants_metadata;          /* the query asks for _metadata of files, or for the file that a row is in */
    bool wants_input_file;        /* likewise, for the file alone, which shows through queries by name, too */
    bool read_as_stream;          /* inside a view that stands under STREAM */
    bool beyond_spark;            /* below one of our hints: Spark's check of a window's start is not made */
} fm_analyzer;

/* Work below a node. Lists live in the arena. */
typedef struct fm_below {
    fm_expr **times;              /* ALIAS(window_time(column)) */
    int32_t n_times, cap_times;
    fm_expr **overs;              /* ALIAS(call with OVER) */
    int32_t n_overs, cap_overs;
    fm_plan *window;              /* TIME_WINDOW or SESSION_WINDOW without its child, or NULL */
    fm_attr window_attr;
    fm_error *refusal;            /* the window call is wrong: said when nothing else is */
    fm_plan **subqueries;         /* of at most one row, one column, hidden */
    int32_t n_subqueries, cap_subqueries;
    struct fm_made_rows *generators; /* each over those before it */
    int32_t n_generators, cap_generators;
} fm_below;

/* A generator, and what it makes of each row. */
typedef struct fm_made_rows {
    fm_expr *generator;           /* resolved FM_EXPR_GENERATOR */
    fm_attr *columns;             /* [n] */
    int32_t n;
} fm_made_rows;

typedef struct fm_lambda_frame {
    const fm_str *names;
    fm_expr *const *vars;         /* NULL while names are resolved */
    int32_t n;
    const struct fm_lambda_frame *up;
} fm_lambda_frame;

/* What a name may mean, and what an expression may hold, at one place of the query. */
typedef struct fm_scope {
    fm_analyzer *an;
    const fm_attr *attrs;         /* columns, first choice */
    int32_t n_attrs;
    const fm_attr *more;          /* second choice */
    int32_t n_more;
    const fm_attr *agg_attrs;     /* what arguments of aggregates see instead, or NULL */
    int32_t n_agg_attrs;
    const fm_attr *aliases;       /* lateral column aliases so far: third choice */
    int32_t n_aliases;
    fm_below *below;              /* NULL: none of that may stand here */
    bool aggregates;              /* aggregate functions may stand here */
    bool in_aggregate;
    bool in_window;          /* within an argument of window(): what is there is computed below, whichever way */
    bool generators;              /* a generator may be the whole expression */
    bool used_alias;              /* set when a name became a lateral alias */
    const fm_plan *child;         /* what the columns come from; NULL: nothing, or many things */
    const char *clause;           /* "the WHERE clause": for messages */
    const char *no_aggregate;     /* condition when an aggregate stands where none may */
    fm_str over_name;             /* name of the select item that is being resolved */
    const fm_grouping *grouping;  /* what grouping() looks at, or NULL */
    const fm_lambda_frame *lambdas;
    const struct fm_scope *outer;
    int32_t depth;
} fm_scope;

/* --- analyze.c --- */
fm_status fm_analyze_plan(fm_analyzer *an, const fm_plan *plan, fm_plan **out, fm_error *err);
/* children[0] of an unresolved node, analyzed. */
fm_status fm_analyze_child(fm_analyzer *an, const fm_plan *plan, fm_plan **out, fm_error *err);

/* --- analyze_names.c --- */
bool fm_name_eq(const fm_analyzer *an, fm_str a, fm_str b);
/* The column a path names, struct fields behind it as FM_EXPR_FIELD; *out stays NULL when there is none.
 * Errors: AMBIGUOUS_REFERENCE, FIELD_NOT_FOUND, INVALID_EXTRACT_BASE_FIELD_TYPE. */
fm_status fm_find_column(const fm_scope *s, const fm_attr *attrs, int32_t n, const fm_expr *name,
                         fm_expr **out, fm_error *err);
fm_status fm_fail_column(const fm_scope *s, const fm_expr *name, fm_error *err);
/* Step one: NAMEs and stars in arguments become columns; lambda parameters stay NAMEs. */
fm_status fm_resolve_names(fm_scope *s, fm_expr *e, fm_expr **out, fm_error *err);
/* Appends what a star of a select list stands for. */
fm_status fm_expand_star(const fm_scope *s, const fm_expr *star, fm_expr ***list, int32_t *n,
                         int32_t *cap, fm_error *err);
bool fm_is_aggregate_call(const fm_expr *e);  /* a call of an aggregate function, without OVER */
bool fm_has_aggregate_call(const fm_expr *e); /* such a call anywhere in an unresolved tree */

/* --- analyze_expr.c --- */
fm_scope fm_scope_of(fm_analyzer *an, const fm_plan *child, const char *clause);
fm_status fm_resolve_types(fm_scope *s, fm_expr *e, fm_expr **out, fm_error *err);
fm_status fm_resolve_expr(fm_scope *s, fm_expr *e, fm_expr **out, fm_error *err); /* both steps */
fm_status fm_resolve_bool(fm_scope *s, fm_expr *e, const char *condition, fm_expr **out, fm_error *err);
/* A select item: a bare column stays one, anything else becomes an ALIAS with an identity. */
fm_status fm_resolve_named(fm_scope *s, fm_expr *e, fm_expr **out, fm_error *err);
/* A resolved constant folded to a literal; others as they are. */
fm_status fm_fold(fm_analyzer *an, fm_expr *e, fm_expr **out, fm_error *err);

/* --- analyze_metadata.c --- */
/* Whether a query names _metadata or calls input_file_name() and its kin. */
bool fm_wants_metadata(const fm_plan *query);
bool fm_wants_input_file(const fm_plan *query);
/* When an unresolved expression calls input_file_name() or its kin: *child with the hidden column that it reads, if it is not there
 * and can be had through projections and filters. */
fm_status fm_reach_files(fm_analyzer *an, fm_expr *const *exprs, int32_t n, fm_expr *const *more, int32_t n_more, fm_plan **child, fm_error *err);
/* Adds the hidden column to a READ whose source has it, if the query wants it. */
fm_status fm_add_metadata(fm_analyzer *an, fm_plan *read, fm_str qualifier, fm_error *err);
bool fm_is_input_file_call(const fm_expr *e);
bool fm_has_input_file_call(const fm_expr *e);
/* Whether a resolved expression is the hidden column itself. */
bool fm_is_metadata(const fm_scope *s, const fm_expr *e);
fm_status fm_resolve_input_file(const fm_scope *s, const fm_expr *e, fm_expr **out, fm_error *err);

/* --- analyze_window.c --- */
bool fm_is_window_call(const fm_expr *e);
/* Resolves the window calls in a list first, so that the name "window" means the new column. */
fm_status fm_find_windows(fm_scope *s, fm_expr *const *exprs, int32_t n, fm_error *err);
fm_status fm_resolve_window_call(fm_scope *s, const fm_expr *call, fm_expr **args, fm_expr **out,
                                 fm_error *err);
fm_status fm_resolve_window_time(fm_scope *s, const fm_expr *call, fm_expr *arg, fm_expr **out,
                                 fm_error *err);
/* Puts what `below` wants over *child. */
fm_status fm_put_below(fm_analyzer *an, const fm_below *below, fm_plan **child, fm_error *err);

/* --- analyze_select.c --- */
fm_status fm_analyze_project(fm_analyzer *an, const fm_plan *plan, fm_plan **out, fm_error *err);
fm_status fm_analyze_filter(fm_analyzer *an, const fm_plan *plan, fm_plan **out, fm_error *err);
fm_status fm_analyze_sort(fm_analyzer *an, const fm_plan *plan, fm_plan **out, fm_error *err);
fm_status fm_analyze_limit(fm_analyzer *an, const fm_plan *plan, fm_plan **out, fm_error *err);
fm_status fm_analyze_lateral_view(fm_analyzer *an, const fm_plan *plan, fm_plan **out, fm_error *err);
/* A select list over a child. items: named, resolved. lateral: some use the aliases of others, which then
 * come from PROJECTs below. */
fm_status fm_project_items(fm_analyzer *an, fm_plan *child, fm_expr **items, int32_t n, bool lateral,
                           fm_pos pos, fm_plan **out, fm_error *err);
/* Resolves select items one by one, each seeing the aliases of those before. A generator gives several. */
fm_status fm_resolve_items(fm_scope *s, fm_expr *const *exprs, int32_t n, fm_expr ***items,
                           int32_t *n_items, fm_error *err);
/* The list with stars expanded. */
fm_status fm_expand_items(const fm_scope *s, fm_expr *const *exprs, int32_t n, fm_expr ***out,
                          int32_t *n_out, bool *had_star, fm_error *err);

/* --- analyze_aggregate.c --- */
/* plan: AGGREGATE, or a PROJECT that holds aggregates (or stands below HAVING). */
fm_status fm_analyze_aggregate(fm_analyzer *an, const fm_plan *plan, fm_plan **out, fm_error *err);
fm_status fm_analyze_having(fm_analyzer *an, const fm_plan *plan, fm_plan **out, fm_error *err);
/* The AGGREGATE that sort keys and HAVING conditions above `plan` may look into, or NULL. */
fm_plan *fm_aggregate_below(fm_plan *plan);
/* Resolves an expression over the result of `*plan`, whose aggregate is fm_aggregate_below(*plan): columns of
 * the result and of the aggregate's input, aggregate functions. What is not in the result is added to it at
 * the end, in *plan. columns_first: the aggregate's input before the result (HAVING). */
fm_status fm_resolve_over_aggregate(fm_analyzer *an, fm_plan **plan, fm_expr *e, bool columns_first,
                                    const char *clause, fm_expr **out, fm_error *err);
/* Cuts `plan` back to these of its columns. */
fm_status fm_keep_columns(fm_analyzer *an, fm_plan *plan, const fm_attr *columns, int32_t n,
                          fm_plan **out, fm_error *err);
/* DISTINCT: an AGGREGATE by all visible columns. */
fm_status fm_distinct(fm_analyzer *an, fm_plan *child, fm_pos pos, fm_plan **out, fm_error *err);

/* --- analyze_grouping.c --- */
bool fm_has_grouping_sets(fm_expr *const *exprs, int32_t n);
/* Resolves one expression that is grouped by. */
typedef fm_status (*fm_group_leaf)(void *ctx, fm_expr *e, fm_expr **out, fm_error *err);
/* The sets of a GROUP BY, multiplied out: all but the plan's part of *out. */
fm_status fm_find_grouping_sets(fm_scope *s, fm_expr *const *exprs, int32_t n, fm_group_leaf leaf, void *leaf_ctx, fm_grouping **out, fm_error *err);
/* Gives the columns their identities; then fm_put_expand puts the node that makes them over *child. */
fm_status fm_name_grouping(fm_analyzer *an, fm_grouping *grouping, fm_pos pos, fm_error *err);
fm_status fm_put_expand(fm_analyzer *an, const fm_grouping *grouping, fm_plan **child, fm_error *err);
/* e with what is grouped by, outside of aggregates, as columns of the node. grouping NULL: e itself. */
fm_status fm_put_groups(fm_analyzer *an, const fm_grouping *grouping, fm_expr *e, fm_expr **out, fm_error *err);
fm_status fm_put_groups_in_items(fm_analyzer *an, fm_grouping *grouping, fm_expr **items, int32_t n, fm_error *err);
/* grouping(column), grouping_id([columns]) */
bool fm_is_grouping_call(const fm_expr *e);
fm_status fm_resolve_grouping(fm_scope *s, const fm_expr *e, fm_expr *const *args, fm_expr **out, fm_error *err);

/* --- analyze_join.c --- */
fm_status fm_analyze_join(fm_analyzer *an, const fm_plan *plan, fm_plan **out, fm_error *err);
fm_status fm_analyze_union(fm_analyzer *an, const fm_plan *plan, fm_plan **out, fm_error *err);
fm_status fm_analyze_set_op(fm_analyzer *an, const fm_plan *plan, fm_plan **out, fm_error *err);

/* --- analyze_subquery.c --- */
/* A scalar subquery: a column that a join below the node brings. */
fm_status fm_resolve_subquery(fm_scope *s, const fm_expr *e, fm_expr **out, fm_error *err);
/* Takes the conjuncts of a condition that are EXISTS and IN (SELECT ...) off it: *child gets SEMI and ANTI
 * joins; *rest is what is left, or NULL. */
fm_status fm_join_subqueries(fm_scope *s, fm_expr *condition, fm_plan **child, fm_expr **rest,
                             fm_error *err);

/* --- analyze_relation.c --- */
fm_status fm_analyze_relation(fm_analyzer *an, const fm_plan *plan, fm_plan **out, fm_error *err);
fm_status fm_analyze_table_function(fm_analyzer *an, const fm_plan *plan, fm_plan **out, fm_error *err);
fm_status fm_analyze_with(fm_analyzer *an, const fm_plan *plan, fm_plan **out, fm_error *err);
fm_status fm_analyze_values(fm_analyzer *an, const fm_plan *plan, fm_plan **out, fm_error *err);
fm_status fm_analyze_alias(fm_analyzer *an, const fm_plan *plan, fm_plan **out, fm_error *err);

/* --- analyze_time.c --- */
fm_status fm_analyze_watermark(fm_analyzer *an, const fm_plan *plan, fm_plan **out, fm_error *err);
fm_status fm_analyze_deduplicate(fm_analyzer *an, const fm_plan *plan, fm_plan **out, fm_error *err);

/* --- lateness.c --- */
/* A HINT that is one of ours: its settings. Unknown hints leave *known false. */
fm_status fm_hint_read(fm_analyzer *an, const fm_plan *plan, fm_lateness *out, bool *known, fm_error *err);
/* Hands the hints of a resolved plan to its stateful nodes, takes the HINT nodes out, and makes late rows travel. */
fm_status fm_apply_lateness(fm_analyzer *an, fm_plan *plan, fm_plan **out, fm_error *err);
/* Lets the source position of a plan's rows travel up to its top, as a hidden column; id 0: there is none. */
fm_status fm_carry_position(fm_analyzer *an, fm_plan *plan, fm_plan **out, fm_attr *position, fm_error *err);
/* FLOODMARK_HINT_ARGUMENTS: the hint `why`. */
fm_status fm_hint_fail(const fm_plan *hint, const char *why, fm_error *err);
/* A constant argument as text; names stand for themselves. */
fm_status fm_hint_text(const fm_plan *hint, int32_t i, const char *why, fm_str *out, fm_error *err);

/* --- bad_rows.c --- */
/* A HINT BAD_ROWS: what it says. Others leave *known false. */
fm_status fm_bad_rows_hint(fm_analyzer *an, const fm_plan *plan, fm_bad_rows *out, bool *known, fm_error *err);
/* Puts BAD_ROWS nodes into a resolved plan where its hints say so. The HINT nodes stay. */
fm_status fm_apply_bad_rows(fm_analyzer *an, fm_plan *plan, fm_plan **out, fm_error *err);

#endif
