/* sink/held_rows.h: rows a sink holds until its batch is committed: what console and memory have in common. */
#ifndef FM_SINK_HELD_ROWS_H
#define FM_SINK_HELD_ROWS_H

#include "column/batch.h"
#include "os/thread.h"

typedef struct fm_held_rows {
    fm_arena *arena;
    const fm_type *schema; /* outlives the rows */
    const fm_batch **batches;
    int32_t n, cap;
    int64_t rows;
} fm_held_rows;

/* Copies a batch in. arena must be set. */
fm_status fm_held_rows_add(fm_held_rows *held, const fm_batch *batch, fm_error *err);
void fm_held_rows_clear(fm_held_rows *held);

#endif
