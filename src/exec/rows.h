/* exec/rows.h: rows kept in memory: what a sort and the table side of a join hold. */
#ifndef FM_EXEC_ROWS_H
#define FM_EXEC_ROWS_H

#include "column/batch.h"

/* Batches, copied. Rows are numbered through all of them. */
typedef struct fm_rows {
    fm_arena *arena;
    const fm_type *schema;
    const fm_batch **batches;
    int32_t n, cap;
    int64_t rows;
} fm_rows;

typedef struct fm_row_ref {
    int32_t batch, row;
} fm_row_ref;

fm_status fm_rows_init(fm_rows *rows, const fm_type *schema, size_t budget, fm_error *err);
void fm_rows_reset(fm_rows *rows);
void fm_rows_fini(fm_rows *rows);
/* As fm_emit's push: ctx is the fm_rows. */
fm_status fm_rows_push(void *ctx, const fm_batch *batch, fm_error *err);
/* Column c of the rows refs[n] as a vector; a batch of -1 gives null. */
fm_status fm_rows_gather(const fm_rows *rows, int32_t column, const fm_row_ref *refs, int32_t n, fm_arena *arena, fm_vec *out, fm_error *err);

#endif
