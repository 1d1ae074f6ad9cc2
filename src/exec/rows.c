/* exec/rows.c: keeping rows. */
#include "exec/rows.h"

#include "column/builder.h"

fm_status fm_rows_init(fm_rows *rows, const fm_type *schema, size_t budget, fm_error *err)
{
    *rows = (fm_rows){.arena = fm_arena_new(budget), .schema = schema};
    return rows->arena ? FM_OK : fm_no_memory(NULL, err);
}

void fm_rows_reset(fm_rows *rows)
{
    fm_arena_reset(rows->arena);
    rows->batches = NULL;
    rows->n = rows->cap = 0;
    rows->rows = 0;
}

void fm_rows_fini(fm_rows *rows)
{
    fm_arena_free(rows->arena);
    rows->arena = NULL;
}

fm_status fm_rows_push(void *ctx, const fm_batch *batch, fm_error *err)
{
    fm_rows *rows = ctx;

    if (batch->rows == 0) return FM_OK;
    if (rows->n == rows->cap) {
        int32_t cap = rows->cap ? rows->cap * 2 : 16;
        const fm_batch **more = fm_arena_array(rows->arena, const fm_batch *, cap);
        if (!more) return fm_no_memory(rows->arena, err);
        if (rows->n) memcpy(more, rows->batches, (size_t)rows->n * sizeof *more);
        rows->batches = more;
        rows->cap = cap;
    }
    FM_TRY(fm_batch_copy(batch, rows->schema, rows->arena, &rows->batches[rows->n], err));
    rows->n++;
    rows->rows += batch->rows;
    return FM_OK;
}

fm_status fm_rows_gather(const fm_rows *rows, int32_t column, const fm_row_ref *refs, int32_t n, fm_arena *arena, fm_vec *out, fm_error *err)
{
    fm_builder *b = fm_builder_new(arena, rows->schema->fields[column].type, n);

    if (!b) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) {
        if (refs[i].batch < 0) fm_builder_null(b);
        else fm_builder_lane(b, &rows->batches[refs[i].batch]->columns[column], refs[i].row);
    }
    return fm_builder_finish(b, out, err);
}
