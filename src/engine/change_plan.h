/* engine/change_plan.h: UPDATE, DELETE and MERGE as one query: which rows of a table go, and which come.
 *
 *     action  INT      FM_CHANGE_DELETED, UPDATED, INSERTED (engine/change_rows.h)
 *     clause  INT      which of the statement's clauses it was
 *     file    STRING   where the row is that goes; null for inserts
 *     row     BIGINT   its place in the file
 *     ...     n_new    columns of the table: the row that comes; null for deletes
 *     ...     n_old    all columns of the table: the row that goes, when it is wanted; null for inserts
 *
 * The table is read under a name of its own with two more columns, source/delta_source.h. MERGE is a join: outer on the side whose
 * rows matter without a match; a row's action is that of the first clause whose condition holds.
 *
 * Rule  Delta, MergeIntoCommand, UpdateCommand, DeleteCommand: structs by the names of their fields; a column that an INSERT does not
 *       name gets its default, or null; one that an UPDATE does not name stays; generated ones that nobody sets are left to who
 *       writes the rows. Names in WHEN NOT MATCHED are those of the source, in NOT MATCHED BY SOURCE those of the table. */
#ifndef FM_ENGINE_CHANGE_PLAN_H
#define FM_ENGINE_CHANGE_PLAN_H

#include "engine/session.h"
#include "plan/plan.h"
#include "table/delta/delta_schema.h"

enum { FM_CHANGE_ACTION, FM_CHANGE_CLAUSE, FM_CHANGE_FILE, FM_CHANGE_ROW, FM_CHANGE_COLUMNS };

typedef struct fm_change_query {
    fm_session *s;
    const fm_plan *statement;
    fm_str target;               /* what the table is read as */
    const fm_delta_schema *have; /* of the table as it is read */
    const fm_delta_schema *want; /* as it is written: may have more columns */
    const fm_type *source;       /* STRUCT: columns of the source of MERGE; else NULL */
    bool evolve;                 /* a column that the source lacks is no error */
    bool want_old;
    int64_t *source_rows;        /* of MERGE: how many rows the source had, once the query has run */
} fm_change_query;

/* *out: unresolved. *n_new: columns that come. errors  UNRESOLVED_COLUMN, DELTA_CONFLICT_SET_COLUMN,
 * DELTA_MERGE_UNRESOLVED_EXPRESSION, DELTA_UPDATE_SCHEMA_MISMATCH_EXPRESSION, of defaults that cannot be read */
fm_status fm_change_plan(const fm_change_query *query, fm_arena *arena, fm_plan **out, int32_t *n_new, fm_error *err);

/* What a relation is called: its alias, or the last part of its name. */
fm_str fm_change_name_of(const fm_plan *relation);
/* The column of `type` that an assignment is about, and how many of its parts stand before it (an alias: 1); -1: none. */
int32_t fm_change_find_column(const fm_name_path *path, fm_str alias, const fm_type *type, int32_t *skip);

#endif
