/* sink/memory_table.h: the rows of memory sinks, by name: held by the session, asked by its queries and written by its
 * streams. Every call may come from any thread; what comes back are copies.
 *
 * Rows belong to the stream that wrote them, known by the id of its checkpoint: when it is opened again it goes on with
 * what is there, and a batch it has written already is passed over. A stream of another checkpoint begins with an
 * empty table. Rule: Spark's memory sink; the names fold case. */
#ifndef FM_SINK_MEMORY_TABLE_H
#define FM_SINK_MEMORY_TABLE_H

#include "column/batch.h"
#include "plan/plan.h"

typedef struct fm_memory_tables fm_memory_tables;

fm_memory_tables *fm_memory_tables_new(void); /* NULL: out of memory */
void fm_memory_tables_free(fm_memory_tables *tables); /* no sink may be open; accepts NULL */

/* What one micro-batch left in a table. */
typedef struct fm_memory_batch {
    int64_t batch_id;
    const fm_batch **batches; /* [n] */
    int32_t n;
    int64_t rows;
} fm_memory_batch;

/* A copy of the schema in arena; NULL: there is no such table (or memory is out). */
const fm_type *fm_memory_table_schema(fm_memory_tables *tables, fm_str name, fm_arena *arena);
/* All rows, in the order they came. Copies in arena. FM_NOT_FOUND: no such table. */
fm_status fm_memory_table_read(fm_memory_tables *tables, fm_str name, fm_arena *arena, const fm_batch ***out,
                               int32_t *n, fm_error *err);
/* The same by micro-batch, those that brought no rows included: after complete mode the last one only. */
fm_status fm_memory_table_batches(fm_memory_tables *tables, fm_str name, fm_arena *arena, fm_memory_batch **out,
                                  int32_t *n, fm_error *err);
/* Names of all tables, sorted by when they were made; in arena, NULL-terminated. NULL: out of memory. */
const char **fm_memory_table_names(fm_memory_tables *tables, fm_arena *arena);
/* DROP: the rows go, the name too unless a stream is writing it. FM_NOT_FOUND. */
fm_status fm_memory_table_drop(fm_memory_tables *tables, fm_str name, fm_error *err);

#endif
