/* sink/memory_table_impl.h: what the memory sink needs of memory tables beside their readers. */
#ifndef FM_SINK_MEMORY_TABLE_IMPL_H
#define FM_SINK_MEMORY_TABLE_IMPL_H

#include "sink/memory_table.h"
#include "sink/row_list.h"

/* A stream that writes a table: one open sink. */
typedef struct fm_memory_stream fm_memory_stream;

/* Opens or makes the table. query_id empty: nothing is known about who wrote before; rows stay and no batch counts as
 * seen. Several sinks of one query may write the same table; they are told apart by the order of opening.
 * FM_CONFLICT: another query is writing it. */
fm_status fm_memory_stream_open(fm_memory_tables *tables, fm_str name, fm_str query_id, const fm_type *schema,
                                fm_memory_stream **out, fm_error *err);
void fm_memory_stream_close(fm_memory_stream *stream); /* accepts NULL */
/* Whether this stream has written the batch, or a later one. */
bool fm_memory_stream_has(fm_memory_stream *stream, int64_t batch_id);
/* The schema as the table has it; lives as long as the stream is open. */
const fm_type *fm_memory_stream_schema(const fm_memory_stream *stream);
/* Adds what the lists hold (or replaces everything, with it) as batch batch_id. The lists are copied. */
fm_status fm_memory_stream_add(fm_memory_stream *stream, int64_t batch_id, const fm_row_list *const *lists, int32_t n,
                               bool replace, fm_error *err);

#endif
