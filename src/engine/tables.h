/* engine/tables.h: statements that make, write and look after Delta tables.
 *
 * A table is named by its folder, delta.`gold/totals`, or by a name: of a CREATE TABLE of the session, or of a table in the folder
 * of the setting floodmark.warehouse, where a table t without a LOCATION is the folder t. */
#ifndef FM_ENGINE_TABLES_H
#define FM_ENGINE_TABLES_H

#include "engine/session_impl.h"
#include "table/delta/delta_snapshot.h"

/* Names of the warehouse's tables, [*n] in arena, sorted. */
fm_status fm_warehouse_names(fm_session *s, fm_arena *arena, fm_str **out, int32_t *n, fm_error *err);
/* A table of the warehouse, by name. FM_NOT_FOUND. *out lives as long as the session. */
fm_status fm_warehouse_find(fm_session *s, fm_str name, const fm_table_def **out, fm_error *err);
/* Where a table without a LOCATION lies, in the session's arena. FM_INVALID: a name that is no name of a folder. */
fm_status fm_warehouse_path(fm_session *s, fm_str name, fm_str *out, fm_error *err);

/* The Delta table that name parts stand for. FM_INVALID: TABLE_OR_VIEW_NOT_FOUND, DELTA_TABLE_ONLY_OPERATION. */
fm_status fm_delta_table_of(fm_session *s, const fm_str *parts, int32_t n, fm_pos pos, const fm_table_def **out, fm_error *err);
/* Its log. *log lives in arena. */
fm_status fm_delta_log_of(fm_session *s, const fm_table_def *table, fm_arena *arena, fm_delta_log *log, fm_error *err);

/* Rule: Spark: a table that is made has no two columns of one name. errors  COLUMN_ALREADY_EXISTS */
fm_status fm_columns_differ(const fm_session_conf *conf, const fm_type *columns, fm_pos pos, fm_error *err);
/* The option path of a table that is made; empty: there is none. errors  INVALID_EMPTY_LOCATION: there is one, and it says nothing */
fm_status fm_location_of(const fm_options *options, fm_str *out, fm_error *err);

/* Runs a query that is no stream; rows go to emit. *schema, in arena, is known before the first row: begin is called with it. */
typedef struct fm_rows_to {
    void *ctx;
    fm_status (*begin)(void *ctx, const fm_type *schema, fm_error *err);
    fm_status (*push)(void *ctx, const fm_batch *batch, fm_error *err);
    fm_status (*planned)(void *ctx, const fm_plan *optimized, fm_error *err); /* before anything is read; NULL: nobody looks */
} fm_rows_to;
fm_status fm_session_query_into(fm_session *s, const fm_plan *query, fm_arena *arena, const fm_rows_to *to, fm_error *err);

/* Forgets a name; a table of the warehouse goes with its files. */
fm_status fm_session_drop_table(fm_session *s, fm_str name, bool if_exists, fm_error *err);
fm_status fm_session_create_delta(fm_session *s, const fm_plan *p, fm_result *r, fm_error *err);
/* What Delta keeps of columns: comments, defaults, generation. NULL columns: *out NULL. */
fm_status fm_column_fields(const fm_type *type, const fm_column_def *columns, fm_arena *arena, fm_delta_field **out, fm_error *err);
fm_status fm_session_insert(fm_session *s, const fm_plan *p, fm_result *r, fm_error *err);
fm_status fm_session_change(fm_session *s, const fm_plan *p, fm_result *r, fm_error *err); /* UPDATE, DELETE, MERGE */
fm_status fm_session_alter(fm_session *s, const fm_plan *p, fm_error *err);
fm_status fm_session_maintain(fm_session *s, const fm_plan *p, fm_result *r, fm_error *err);

/* A result of one row of numbers. */
fm_status fm_result_counts(fm_result *r, const char *const *names, const int64_t *counts, int32_t n, fm_error *err);

#endif
