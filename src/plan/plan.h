/* plan/plan.h: the logical plan: what SQL, Spark Connect and the C API all make. Its nodes are those of
 * Spark's DataFrame world.
 *
 * Phases: unresolved (parser) -> fm_analyze -> resolved -> fm_optimize -> exec's physical plan. Nodes are
 * immutable and live in the query's arena; a rewrite makes new nodes and shares the rest. */
#ifndef FM_PLAN_PLAN_H
#define FM_PLAN_PLAN_H

#include "base/options.h"
#include "column/condition.h"
#include "expr/aggregate.h"

typedef enum fm_plan_kind {
    /* unresolved only */
    FM_PLAN_RELATION,       /* name parts; streaming; options (WITH (...)); a table, view or CTE by name */
    FM_PLAN_TABLE_FUNCTION, /* name, exprs = arguments (named ones as ALIAS); streaming: read_files(...) */
    FM_PLAN_WITH,           /* children[0]: body; ctes[] */
    FM_PLAN_LATERAL_VIEW,   /* children[0]; exprs[0] generator call; alias, column aliases; outer */
    FM_PLAN_HINT,           /* children[0]; name; exprs: arguments */
    /* both */
    FM_PLAN_ONE_ROW,        /* SELECT without FROM */
    FM_PLAN_VALUES,         /* rows: exprs, n_columns each: VALUES */
    FM_PLAN_PROJECT,        /* children[0]; exprs: select list */
    FM_PLAN_FILTER,         /* children[0]; exprs[0]: condition */
    FM_PLAN_AGGREGATE,      /* children[0]; group_exprs[]; exprs: result list. Unresolved: HAVING is a FILTER
                               above with is_having; group_exprs may be ordinals and aliases, all: GROUP BY ALL. Analyzed: exprs mix
                               groups and FM_EXPR_AGGREGATEs freely. Optimized: group_exprs are ATTRIBUTEs of the
                               child, exprs are some of them, and ALIASes of FM_EXPR_AGGREGATEs; what is computed
                               of groups stands in a PROJECT below, what is computed of results in one above */
    FM_PLAN_JOIN,           /* children[2]; join_type; exprs[0]: condition or none; using_names */
    FM_PLAN_UNION,          /* children[n], by position; UNION (distinct) is DISTINCT above */
    FM_PLAN_SET_OP,         /* children[2]; set_op INTERSECT / EXCEPT, all */
    FM_PLAN_DISTINCT,       /* children[0]; resolved: an AGGREGATE over all columns with is_distinct */
    FM_PLAN_SORT,           /* children[0]; exprs: FM_EXPR_SORT_KEY */
    FM_PLAN_LIMIT,          /* children[0]; limit; offset */
    FM_PLAN_SUBQUERY_ALIAS, /* children[0]; alias; column_names */
    FM_PLAN_WATERMARK,      /* children[0]; exprs[0]: column or expression (ALIAS); delay_us. Resolved: event_time
                               is the attribute; node_id unique in the query */
    FM_PLAN_DEDUPLICATE,    /* children[0]; column_names (none: all); within_watermark. Resolved: exprs are the
                               key columns, ATTRIBUTEs */
    FM_PLAN_SAMPLE,         /* children[0]: TABLESAMPLE; refused on streams */
    /* resolved only */
    FM_PLAN_READ,           /* table: a source; streaming; output has its columns. Column pruning narrows
                               `output`; what of the filter above the source may know stands in exprs (applied
                               again above) and, made plain, in conditions. A last
                               column that is hidden, position_id, wants the source position of each row */
    FM_PLAN_EMPTY,          /* no rows; output */
    FM_PLAN_TIME_WINDOW,    /* children[0]; exprs[0]: time; window; output = child's + window struct. Rows with a
                               null time are dropped, a row is repeated for each of its windows */
    FM_PLAN_SESSION_WINDOW, /* children[0]; exprs[0]: time, exprs[1]: gap, INTERVAL_DT or STRING (read row by row with
                               fm_text_to_interval; no interval is null); output = child's + session_window,
                               [time, time + gap). Rows with a null time, a null gap or a gap <= 0 are dropped */
    FM_PLAN_GENERATE,       /* children[0]; exprs[0]: FM_EXPR_GENERATOR; outer; output = child's + generated */
    FM_PLAN_BAD_ROWS,       /* children[0]; exprs: pairs of a column that was parsed (a STRING that holds the bad record, or a STRUCT with
                               such a last field: see FM_BAD_REASON_OPTION) and the text it came of (or NULL), then the position (or
                               NULL): ATTRIBUTEs. Rows that are bad go no further. Output = child's; of STRUCTs, good[k]: the same
                               without the last field, in the place of the pair's first */
    FM_PLAN_OVER,           /* OVER (...) functions: exists to be refused on streams */
    /* commands: children as said; never below another node */
    FM_PLAN_CREATE_TABLE,   /* name; table def; if_not_exists, or_replace */
    FM_PLAN_CREATE_VIEW,    /* name; children[0]; or_replace; temporary */
    FM_PLAN_CREATE_STREAMING_TABLE, /* name; table def: the sink; children[0]: the query; a job starts it */
    FM_PLAN_DROP,           /* name; drop_what; if_exists */
    FM_PLAN_SET,            /* options: key, value; none: show all */
    FM_PLAN_EXPLAIN,        /* children[0]; explain_mode */
    FM_PLAN_SHOW,           /* show_what: TABLES, VIEWS, FUNCTIONS, STREAMS; pattern in name */
    FM_PLAN_INSERT,         /* name: the table; children[0]: the query; column_names as written; all: OVERWRITE; by_name;
                               exprs[0]: of REPLACE WHERE; clauses[0]: PARTITION, values NULL: dynamic; options: WITH */
    FM_PLAN_UPDATE,         /* children[0]: the table, under its alias; clauses[0] */
    FM_PLAN_DELETE,         /* children[0]: the table, under its alias; clauses[0] */
    FM_PLAN_MERGE,          /* children[0]: the table, children[1]: the source; exprs[0]: ON; clauses; outer: WITH SCHEMA EVOLUTION */
    FM_PLAN_MAINTAIN,       /* name: the table; what: OPTIMIZE, VACUUM, RESTORE, HISTORY, DETAIL, PROPERTIES; options; exprs[0]: WHERE;
                               column_names: ZORDER BY */
    FM_PLAN_ALTER_TABLE,    /* name: the table; what: ADD COLUMNS (table), SET and UNSET PROPERTIES (options), ADD CONSTRAINT (options:
                               name, SQL), DROP CONSTRAINT (name), RENAME COLUMN (column_names: old, new), DROP COLUMNS (column_names),
                               RENAME (name); if_exists */
    FM_PLAN_DESCRIBE        /* name: a table or view; or children[0]: a query; or function: describe_function */
} fm_plan_kind;

typedef enum fm_join_type {
    FM_JOIN_INNER, FM_JOIN_CROSS, FM_JOIN_LEFT, FM_JOIN_RIGHT, FM_JOIN_FULL, FM_JOIN_LEFT_SEMI,
    FM_JOIN_LEFT_ANTI
} fm_join_type;

typedef enum fm_explain_mode {
    FM_EXPLAIN_SIMPLE, /* physical plan */
    FM_EXPLAIN_EXTENDED, /* parsed, analyzed, optimized, physical */
    FM_EXPLAIN_FORMATTED
} fm_explain_mode;

/* WHEN ... THEN of MERGE; UPDATE and DELETE have one. */
typedef enum fm_merge_when { FM_WHEN_MATCHED, FM_WHEN_NOT_MATCHED, FM_WHEN_NOT_MATCHED_BY_SOURCE } fm_merge_when;
typedef enum fm_merge_action { FM_MERGE_UPDATE, FM_MERGE_DELETE, FM_MERGE_INSERT } fm_merge_action;
typedef struct fm_name_path {
    fm_str *parts;              /* [n] as written: a, t.a, s.x */
    int32_t n;
    fm_pos pos;
} fm_name_path;
typedef struct fm_merge_clause {
    fm_merge_when when;
    fm_merge_action action;
    fm_expr *condition;         /* NULL: always */
    bool star;                  /* UPDATE SET *, INSERT * */
    fm_name_path *columns;      /* [n] of the table, and fields in them */
    fm_expr **values;           /* [n] a NAME DEFAULT is the column's default */
    int32_t n;
    fm_pos pos;
} fm_merge_clause;

/* A column of a resolved node. */
typedef struct fm_attr {
    int32_t id;             /* unique in the query; kept through filters, projections of bare columns */
    fm_str name;
    fm_str qualifier;       /* alias or table it can be called by; empty: none */
    const fm_type *type;
    bool nullable;
    bool hidden;            /* not part of SELECT *: source position, the row kept for late_rows */
    int32_t watermark_node; /* tagged: node_id of the WATERMARK that tagged it (or its window); 0: not */
    int64_t delay_us;       /* of that watermark */
    bool is_session;        /* made by session_window(), or a bare copy of such a column */
} fm_attr;

/* window(time, duration, slide, start): µs. */
typedef struct fm_window_spec {
    int64_t duration_us, slide_us, start_us;
} fm_window_spec;

/* What CREATE TABLE and ADD COLUMNS say of a column besides name and type. */
typedef struct fm_column_def {
    fm_str default_sql, generated_sql, comment; /* no ptr: none */
    bool first;                 /* ADD COLUMNS: FIRST */
    fm_str after;               /* AFTER; no ptr: none */
} fm_column_def;

/* A table as CREATE TABLE declared it, or read_files() made it. */
typedef struct fm_table_def {
    fm_str name;
    fm_str format;              /* "json", "rate", ...; lower case */
    const fm_type *schema;      /* STRUCT, or NULL: the source knows or infers it */
    fm_options options;
    fm_str *partition_by;
    int32_t n_partition_by;
    fm_str comment;
    fm_options properties;      /* TBLPROPERTIES */
    const fm_column_def *columns; /* [schema->n_fields], or NULL */
    fm_pos pos;
} fm_table_def;

/* Lateness beyond Spark, from hints; off when zero.
 *
 * A hint holds for the nearest stateful nodes below it, on every path; one without a stateful node below holds for
 * the nearest above (a hint on the source). Of two, the nearer to the node wins, setting by setting.
 *
 * LATE_ROWS needs the row as it was where the watermark was declared. A PROJECT above that WATERMARK (above the
 * stateful node, where one stands in between) packs it in a hidden column, a STRUCT of
 *     row     STRUCT of the visible columns there
 *     source  STRING: where the row came from ("file:line"); null when unknown
 * which then travels through projections, filters, joins with tables and unions (by name, missing fields null)
 * to the stateful node, whose late_row_id names it. late_time_id names the event time beside it. */
typedef struct fm_lateness {
    int64_t allowed_us;          /* ALLOWED_LATENESS */
    bool by_event;               /* LATE_POLICY('event') */
    fm_str late_format, late_path; /* LATE_ROWS('json', 'late/') ; empty: not kept */
    fm_options late_options;     /* further arguments: pairs of key and value */
} fm_lateness;

/* BAD_ROWS('fail'), BAD_ROWS('drop'), BAD_ROWS('json', 'bad/'): what becomes of records that a JSON or CSV source, or from_json or
 * from_csv over the rows of a source, cannot read as they are declared. The hint holds for all that is below it; of two the nearer. */
typedef enum fm_bad_action { FM_BAD_ROWS_AS_SPARK, FM_BAD_ROWS_FAIL, FM_BAD_ROWS_DROP, FM_BAD_ROWS_KEEP } fm_bad_action;
typedef struct fm_bad_rows {
    fm_bad_action action;
    fm_str format, path;         /* KEEP */
    fm_options options;          /* of the sink: further arguments */
    int32_t number;              /* of the hint in the query, from 1: nodes of one hint share its sink */
    bool from_kafka, from_files; /* which kinds of sources are below the hint */
} fm_bad_rows;

typedef struct fm_plan fm_plan;

typedef struct fm_cte {
    fm_str name;
    fm_plan *plan;
    fm_str *column_names;
    int32_t n_column_names;
    fm_pos pos;
} fm_cte;

/* GROUPING SETS, CUBE, ROLLUP of a resolved AGGREGATE: what its group_exprs, columns of the GENERATE below, stand for. */
typedef struct fm_grouping {
    int32_t n;
    fm_expr **exprs;            /* [n] what is grouped by, over the input */
    uint64_t *masks;            /* [n_sets] bit i: the set holds exprs[i] */
    int32_t n_sets;
    bool numbered;              /* two sets are the same */
    fm_expr *generator;
    int32_t *item_ids;          /* [n] the select item that is exprs[i], or 0 */
    fm_attr *columns;           /* [n_columns] one for each of exprs; the grouping id; the set's number when numbered */
    int32_t n_columns;
} fm_grouping;
/* GROUP BY a, b GROUPING SETS (...), unresolved: a call of this, its first argument (a, b). */
#define FM_SETS_OF "grouping sets of"

struct fm_plan {
    fm_plan_kind kind;
    fm_pos pos;
    int32_t n_children;
    fm_plan **children;
    int32_t n_exprs;
    fm_expr **exprs;
    int32_t n_group_exprs;
    fm_expr **group_exprs;      /* unresolved: calls of cube, rollup, "grouping sets" and FM_SETS_OF too; a set is a struct call */
    const fm_grouping *grouping; /* resolved AGGREGATE, or NULL */
    /* resolved nodes: */
    fm_attr *output;
    int32_t n_output;
    bool streaming;             /* RELATION, TABLE_FUNCTION: STREAM was written. Resolved: any stream below */
    bool resolved;
    /* by kind: */
    fm_str *name_parts;         /* RELATION, commands */
    int32_t n_name_parts;
    fm_str name;                /* HINT, TABLE_FUNCTION, SUBQUERY_ALIAS alias, SHOW pattern, DROP name */
    fm_str *column_names;       /* SUBQUERY_ALIAS, LATERAL_VIEW, DEDUPLICATE, USING of JOIN */
    int32_t n_column_names;
    int32_t n_columns;          /* VALUES */
    fm_cte *ctes;
    int32_t n_ctes;
    fm_options options;         /* RELATION WITH (...), SET */
    const fm_table_def *table;  /* READ, CREATE_TABLE, CREATE_STREAMING_TABLE */
    int32_t source_index;       /* READ: place among the query's sources, in plan order; streams from 0 */
    fm_join_type join_type;
    bool natural, all, outer, is_having, is_distinct, within_watermark, if_not_exists, if_exists,
        or_replace, temporary, must_exist; /* must_exist: REPLACE TABLE, with or_replace */
    fm_str set_op;              /* "INTERSECT", "EXCEPT" */
    int64_t limit, offset;      /* LIMIT; limit -1: none (only OFFSET) */
    fm_expr *limit_expr, *offset_expr; /* unresolved */
    int64_t delay_us;           /* WATERMARK */
    fm_str delay_text;          /* WATERMARK: as written, for messages */
    bool delay_is_text;         /* from withWatermark(col, 'text'): parsed by the analyzer */
    int32_t node_id;            /* WATERMARK */
    int32_t event_time_id;      /* resolved WATERMARK: its attribute. AGGREGATE, DEDUPLICATE: the tagged column that
                                   lateness and eviction go by (of AGGREGATE a group, of DEDUPLICATE any column of
                                   the input; a timestamp or a window struct); 0: none */
    double fraction;            /* resolved SAMPLE: 0 to 1 */
    int64_t seed;               /* SAMPLE with REPEATABLE */
    bool has_seed;
    int64_t *rows_seen;         /* PROJECT: counts, over all runs, the rows that go through it; it is a wall for the optimizer then:
                                   no filter goes below it, no other projection is merged with it. NULL: nobody counts */
    fm_window_spec window;      /* TIME_WINDOW */
    int32_t window_id;          /* TIME_WINDOW, SESSION_WINDOW: attribute of the struct */
    int32_t generator_first;    /* GENERATE: index in output of the first generated column */
    fm_lateness lateness;       /* resolved AGGREGATE, DEDUPLICATE, JOIN of streams: hints that apply; HINT: its own */
    int32_t late_row_id;        /* with lateness.late_format: the child's hidden column STRUCT<row, source>: the
                                   row as it was at the WATERMARK; 0: none below */
    int32_t late_time_id;       /* with late_format or by_event: the child's column (hidden, or the event time itself)
                                   with the event time of each row, TIMESTAMP or TIMESTAMP_NTZ; 0: none below */
    const fm_condition **conditions; /* optimized READ: [n_exprs] what exprs say, on columns of table->schema */
    fm_bad_rows bad_rows;       /* BAD_ROWS, HINT; READ: all columns are read then */
    fm_attr *good;              /* BAD_ROWS: [(n_exprs - 1) / 2] see there */
    int32_t metadata_id;        /* READ: its hidden column _metadata, behind those of the table; 0: not wanted */
    int32_t position_id;        /* READ: its hidden STRING column "file:line", last in output; 0: not wanted */
    fm_explain_mode explain_mode;
    fm_str what;                /* SHOW, DROP, DESCRIBE: "TABLES", "VIEW", "FUNCTION" */
    fm_merge_clause *clauses;   /* MERGE, UPDATE, DELETE, INSERT */
    int32_t n_clauses;
    bool by_name;               /* INSERT ... BY NAME */
    fm_str sql;                 /* commands: the statement's text */
    int32_t depth, nodes;       /* as parsed, of plans and expressions below: as in fm_expr */
};

fm_plan *fm_plan_new(fm_arena *arena, fm_plan_kind kind, fm_pos pos);

typedef enum fm_output_mode { FM_MODE_APPEND, FM_MODE_UPDATE, FM_MODE_COMPLETE } fm_output_mode;
/* Any case. FM_INVALID: STREAMING_OUTPUT_MODE.INVALID. */
fm_status fm_output_mode_parse(fm_str text, fm_output_mode *out, fm_error *err);
const char *fm_output_mode_name(fm_output_mode mode); /* "append" */

/* Indented tree as EXPLAIN shows it, for plans of any phase. */
void fm_plan_text(const fm_plan *plan, fm_strbuf *out);
/* Calls visit for every node, parents first. */
bool fm_plan_walk(const fm_plan *plan, bool (*visit)(const fm_plan *plan, void *ctx), void *ctx);

#endif
