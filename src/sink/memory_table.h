/* sink/memory_table.h: tables in memory, by name: what the memory sink writes and queries read. Any thread. */
#ifndef FM_SINK_MEMORY_TABLE_H
#define FM_SINK_MEMORY_TABLE_H

#include "column/batch.h"

typedef struct fm_memory_tables fm_memory_tables;

fm_memory_tables *fm_memory_tables_new(void);
void fm_memory_tables_free(fm_memory_tables *tables); /* accepts NULL */

/* The schema of a table, copied into arena; NULL: no such table. */
const fm_type *fm_memory_table_schema(fm_memory_tables *tables, fm_str name, fm_arena *arena);
/* Makes the table when missing. FM_INVALID when it is there with another schema. */
fm_status fm_memory_table_declare(fm_memory_tables *tables, fm_str name, const fm_type *schema, fm_error *err);
/* Adds (or, replace, puts in place of what is there) the rows of a micro-batch of a run. A batch id of a query that the
 * table has is passed over: *added false. query: who writes, so that two queries may share a table. */
fm_status fm_memory_table_add(fm_memory_tables *tables, fm_str name, fm_str query, int64_t batch_id, bool replace,
                              const fm_batch *const *batches, int32_t n, bool *added, fm_error *err);
/* Whether a batch of a query is in already. */
bool fm_memory_table_has(fm_memory_tables *tables, fm_str name, fm_str query, int64_t batch_id);
/* Calls visit for copies of all batches; copies live in arena. */
fm_status fm_memory_table_read(fm_memory_tables *tables, fm_str name, fm_arena *arena, const fm_batch ***out, int32_t *n, fm_error *err);

#endif
