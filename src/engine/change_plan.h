/* engine/change_plan.h: UPDATE, DELETE and MERGE as one query: which rows of a table go, and which come.
 *
 *     action  INT      1 deleted, 2 updated, 3 inserted
 *     file    STRING   where the row is that goes; null for inserts
 *     row     BIGINT   its place in the file
 *     ...              the columns of the table: the row that comes; null for deletes
 *
 * The table is read under a name of its own with two more columns, source/delta_source.h. MERGE is a join: outer on the side whose
 * rows matter without a match; a row's action is that of the first clause whose condition holds. */
#ifndef FM_ENGINE_CHANGE_PLAN_H
#define FM_ENGINE_CHANGE_PLAN_H

#include "plan/plan.h"
#include "table/delta/delta_schema.h"

enum { FM_CHANGE_DELETED = 1, FM_CHANGE_UPDATED, FM_CHANGE_INSERTED };
enum { FM_CHANGE_ACTION, FM_CHANGE_FILE, FM_CHANGE_ROW, FM_CHANGE_COLUMNS };

/* *out: unresolved; reads the table as `target`. columns: [schema->type->n_fields] of the query's further columns, which is
 * n_columns of them: those of the table that somebody sets (generated ones that nobody sets are left out). */
fm_status fm_change_plan(const fm_plan *statement, fm_str target, const fm_delta_schema *schema, fm_arena *arena, fm_plan **out, int32_t **columns,
                         int32_t *n_columns, fm_error *err);

#endif
