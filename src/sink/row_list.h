/* sink/row_list.h: rows that a sink keeps: deep copies of batches in an arena of their own. One owner at a time. */
#ifndef FM_SINK_ROW_LIST_H
#define FM_SINK_ROW_LIST_H

#include "column/batch.h"

typedef struct fm_row_list {
    fm_arena *arena;         /* made with the first row */
    const fm_type *schema;   /* borrowed: lives longer than the list */
    const fm_batch **batches;
    int32_t n, cap;
    int64_t rows;
} fm_row_list;

/* Copies the first `rows_max` rows of a batch behind what is there; none when the batch is empty. */
fm_status fm_row_list_add(fm_row_list *list, const fm_batch *batch, int64_t rows_max, fm_error *err);
/* Empty again; memory is kept for the next round. */
void fm_row_list_reset(fm_row_list *list);
void fm_row_list_fini(fm_row_list *list);

#endif
