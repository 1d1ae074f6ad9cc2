/* sink/row_list.c: copies of batches. */
#include "sink/row_list.h"

static fm_status first_rows(const fm_batch *batch, int32_t n, fm_arena *arena, const fm_batch **out, fm_error *err)
{
    int32_t *rows = fm_arena_array(arena, int32_t, n);

    if (!rows) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) rows[i] = i;
    return fm_batch_gather(batch, rows, n, arena, out, err);
}

fm_status fm_row_list_add(fm_row_list *list, const fm_batch *batch, int64_t rows_max, fm_error *err)
{
    if (batch->rows == 0 || rows_max <= 0) return FM_OK;
    if (!list->arena) list->arena = fm_arena_new(0);
    if (!list->arena) return fm_no_memory(NULL, err);
    if (list->n == list->cap) {
        int32_t cap = list->cap ? list->cap * 2 : 16;
        const fm_batch **more = fm_arena_array(list->arena, const fm_batch *, cap);
        if (!more) return fm_no_memory(list->arena, err);
        if (list->n) memcpy(more, list->batches, (size_t)list->n * sizeof *more);
        list->batches = more;
        list->cap = cap;
    }
    if (batch->rows > rows_max) FM_TRY(first_rows(batch, (int32_t)rows_max, list->arena, &batch, err));
    FM_TRY(fm_batch_copy(batch, list->schema, list->arena, &list->batches[list->n], err));
    list->n++;
    list->rows += batch->rows;
    return FM_OK;
}

void fm_row_list_reset(fm_row_list *list)
{
    if (list->arena) fm_arena_reset(list->arena);
    *list = (fm_row_list){.arena = list->arena, .schema = list->schema};
}

void fm_row_list_fini(fm_row_list *list)
{
    fm_arena_free(list->arena);
    *list = (fm_row_list){.schema = list->schema};
}
