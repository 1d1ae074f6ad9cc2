/* exec/bad_rows.h: BAD_ROWS: the operator (op_bad_rows.c) and the sink of what it keeps (bad_sink.c); for the files of exec/ only. */
#ifndef FM_EXEC_BAD_ROWS_H
#define FM_EXEC_BAD_ROWS_H

#include "column/builder.h"
#include "exec/exec_impl.h"

typedef struct fm_bad_record {
    fm_str position; /* "topic-partition@offset", "file:line"; ptr NULL: unknown */
    fm_str bytes, reason;
} fm_bad_record;

/* The sink of a hint, opened by the first that asks; built by one thread. */
fm_status fm_bad_sink_open(fm_tree *tree, const fm_bad_rows *b, fm_bad_sink **out, fm_error *err);

/* Rows for it: a builder, records added, all written. By any worker. */
fm_builder *fm_bad_sink_builder(const fm_bad_sink *s, fm_arena *arena, int32_t rows); /* NULL: no memory */
fm_status fm_bad_sink_add(const fm_bad_sink *s, fm_builder *rows, const fm_bad_record *r, fm_arena *arena, fm_error *err);
fm_status fm_bad_sink_write(fm_bad_sink *s, int32_t worker, int64_t batch_id, fm_builder *rows, fm_error *err);

/* How many rows the operator found in the micro-batch that its reader has not counted. */
int64_t fm_op_bad_rows_found(const fm_op *op);

#endif
