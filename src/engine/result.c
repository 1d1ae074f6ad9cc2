/* engine/result.c: rows of batch queries and commands, kept until the caller is done with them. */
#include "column/builder.h"
#include "engine/session_impl.h"

fm_result *fm_result_new(fm_error *err)
{
    static const fm_type no_columns = {.id = FM_TYPE_STRUCT};
    fm_arena *arena = fm_arena_new(0);
    fm_result *r = arena ? fm_arena_one(arena, fm_result) : NULL;

    if (!r) {
        fm_arena_free(arena);
        fm_no_memory(NULL, err);
        return NULL;
    }
    r->arena = arena;
    r->schema = &no_columns;
    return r;
}

void fm_result_free(fm_result *r)
{
    if (r) fm_arena_free(r->arena);
}

/* Takes over a batch that lives in r->arena already. */
static fm_status add_batch(fm_result *r, const fm_batch *batch, fm_error *err)
{
    if (r->n_batches == r->cap_batches) {
        int32_t cap = r->cap_batches ? r->cap_batches * 2 : 8;
        const fm_batch **more = fm_arena_array(r->arena, const fm_batch *, cap);
        if (!more) return fm_no_memory(r->arena, err);
        if (r->n_batches) memcpy(more, r->batches, (size_t)r->n_batches * sizeof *more);
        r->batches = more;
        r->cap_batches = cap;
    }
    r->batches[r->n_batches++] = batch;
    r->rows += batch->rows;
    return FM_OK;
}

fm_status fm_result_push(void *ctx, const fm_batch *batch, fm_error *err)
{
    fm_result *r = ctx;
    const fm_batch *copy;

    if (batch->rows == 0) return FM_OK;
    FM_TRY(fm_batch_copy(batch, r->schema, r->arena, &copy, err));
    return add_batch(r, copy, err);
}

fm_status fm_result_strings(fm_result *r, const char *const *names, int32_t n_columns, const fm_str *cells,
                            int64_t rows, fm_error *err)
{
    fm_field *fields = fm_arena_array(r->arena, fm_field, n_columns);

    if (!fields) return fm_no_memory(r->arena, err);
    for (int32_t c = 0; c < n_columns; c++) fields[c] = (fm_field){fm_str_c(names[c]), fm_type_string(), true};
    r->schema = fm_type_struct(r->arena, fields, n_columns);
    if (!r->schema) return fm_no_memory(r->arena, err);
    for (int64_t from = 0; from < rows; from += FM_RESULT_ROWS) {
        int32_t n = (int32_t)(rows - from < FM_RESULT_ROWS ? rows - from : FM_RESULT_ROWS);
        fm_vec *columns = fm_arena_array(r->arena, fm_vec, n_columns);
        fm_batch *batch = fm_arena_one(r->arena, fm_batch);
        if (!columns || !batch) return fm_no_memory(r->arena, err);
        for (int32_t c = 0; c < n_columns; c++) {
            fm_builder *b = fm_builder_new(r->arena, fm_type_string(), n);
            if (!b) return fm_no_memory(r->arena, err);
            for (int32_t i = 0; i < n; i++) {
                fm_str cell = cells[(from + i) * n_columns + c];
                if (cell.ptr) fm_builder_str(b, cell);
                else fm_builder_null(b);
            }
            FM_TRY(fm_builder_finish(b, &columns[c], err));
        }
        *batch = (fm_batch){.schema = r->schema, .rows = n, .columns = columns};
        FM_TRY(add_batch(r, batch, err));
    }
    return FM_OK;
}
