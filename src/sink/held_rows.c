/* sink/held_rows.c: copies of batches. */
#include "sink/held_rows.h"

fm_status fm_held_rows_add(fm_held_rows *held, const fm_batch *batch, fm_error *err)
{
    int32_t n = batch->schema->n_fields;
    fm_batch *copy = fm_arena_one(held->arena, fm_batch);
    fm_vec *columns = fm_arena_array(held->arena, fm_vec, n);

    if (batch->rows == 0) return FM_OK;
    if (!copy || !columns) return fm_no_memory(held->arena, err);
    for (int32_t i = 0; i < n; i++) {
        FM_TRY(fm_vec_copy(&columns[i], &batch->columns[i], held->arena, err));
        columns[i].type = held->schema->fields[i].type; /* the batch's own types end with its query */
    }
    if (held->n == held->cap) {
        int32_t cap = held->cap ? held->cap * 2 : 16;
        const fm_batch **more = fm_arena_array(held->arena, const fm_batch *, cap);
        if (!more) return fm_no_memory(held->arena, err);
        if (held->n) memcpy(more, held->batches, (size_t)held->n * sizeof *more);
        held->batches = more;
        held->cap = cap;
    }
    *copy = (fm_batch){.schema = held->schema, .rows = batch->rows, .columns = columns};
    held->batches[held->n++] = copy;
    held->rows += batch->rows;
    return FM_OK;
}

void fm_held_rows_clear(fm_held_rows *held)
{
    if (held->arena) fm_arena_reset(held->arena);
    held->batches = NULL;
    held->n = held->cap = 0;
    held->rows = 0;
}
