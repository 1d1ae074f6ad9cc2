/* column/batch.c: picking rows. */
#include "column/batch.h"

fm_status fm_batch_gather(const fm_batch *in, const int32_t *rows, int32_t n, fm_arena *arena, const fm_batch **out, fm_error *err)
{
    int32_t n_columns = in->schema->n_fields;
    fm_vec *columns = fm_arena_array(arena, fm_vec, n_columns);
    fm_batch *batch = fm_arena_one(arena, fm_batch);

    if (!columns || !batch) return fm_no_memory(arena, err);
    for (int32_t c = 0; c < n_columns; c++) FM_TRY(fm_vec_gather(&columns[c], &in->columns[c], rows, n, arena, err));
    *batch = (fm_batch){.schema = in->schema, .rows = n, .columns = columns};
    *out = batch;
    return FM_OK;
}

fm_status fm_batch_filter(const fm_batch *in, const uint8_t *keep, fm_arena *arena, const fm_batch **out, fm_error *err)
{
    int32_t *rows = fm_arena_alloc(arena, ((size_t)in->rows + 1) * sizeof *rows, 4);
    int32_t n = 0;

    if (!rows) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < in->rows; i++) {
        rows[n] = i;
        n += keep[i] != 0;
    }
    if (n == in->rows) {
        *out = in;
        return FM_OK;
    }
    return fm_batch_gather(in, rows, n, arena, out, err);
}

fm_status fm_batch_copy(const fm_batch *batch, const fm_type *schema, fm_arena *arena, const fm_batch **out,
                        fm_error *err)
{
    int32_t n = schema->n_fields;
    fm_vec *columns = fm_arena_array(arena, fm_vec, n);
    fm_batch *copy = fm_arena_one(arena, fm_batch);

    if (!columns || !copy) return fm_no_memory(arena, err);
    for (int32_t c = 0; c < n; c++) FM_TRY(fm_vec_copy_as(&columns[c], &batch->columns[c], schema->fields[c].type, arena, err));
    *copy = (fm_batch){.schema = schema, .rows = batch->rows, .columns = columns};
    *out = copy;
    return FM_OK;
}
