/* engine/insert_table.h: the rows of a query into a Delta table, in one commit. */
#ifndef FM_ENGINE_INSERT_TABLE_H
#define FM_ENGINE_INSERT_TABLE_H

#include "engine/change_rows.h"

typedef enum fm_insert_mode {
    FM_INSERT_APPEND,
    FM_INSERT_OVERWRITE,         /* all that is there goes */
    FM_INSERT_DYNAMIC,           /* the partitions go that rows come to */
    FM_INSERT_REPLACE            /* the rows go of which `replace` is true; rows that come must be of them */
} fm_insert_mode;

typedef struct fm_insertion {
    fm_insert_mode mode;
    const fm_plan *query;
    const fm_str *names;         /* [n_names] columns by position; NULL: the query's own */
    int32_t n_names;
    const fm_expr *replace;
    fm_str replace_sql;
    bool merge_schema;
    bool makes_table;            /* CREATE TABLE AS */
    fm_delta_wish wish;          /* CREATE TABLE AS: what the table is made with */
    const char *operation;
    fm_str parameters;           /* JSON; no ptr: those of WRITE */
    fm_pos pos;
} fm_insertion;

/* One try: c is begun; the caller ends it. errors  INSERT_COLUMN_ARITY_MISMATCH and kin, DELTA_METADATA_MISMATCH,
 * DELTA_REPLACE_WHERE_MISMATCH; FM_CONFLICT: try again */
fm_status fm_insert_rows(fm_change *c, const fm_insertion *insertion, fm_error *err);

#endif
