/* table/delta/delta_feed_write.c: writing the change data feed. */
#include "table/delta/delta_feed_write.h"

#include <stdlib.h>

struct fm_delta_feed_writer {
    const fm_delta_log *log;
    const fm_delta_schema *schema;
    const fm_zone *zone;
    fm_arena *arena;
    fm_arena *scratch;        /* one batch */
    const fm_type *rows;      /* STRUCT: the table's columns, and _change_type */
    fm_delta_writer *writer;
};

static fm_status init(fm_delta_feed_writer *w, const fm_delta_metadata *metadata, fm_error *err)
{
    const fm_type *type = w->schema->type;
    int32_t n = type->n_fields;

    w->arena = fm_arena_new(0);
    w->scratch = fm_arena_new(0);
    if (!w->arena || !w->scratch) return fm_no_memory(NULL, err);
    fm_field *fields = fm_arena_array(w->arena, fm_field, n + 1), added = {FM_STR(FM_DELTA_CHANGE_TYPE), fm_type_string(), true};
    if (!fields) return fm_no_memory(w->arena, err);
    for (int32_t i = 0; i < n; i++) fields[i] = type->fields[i];
    fields[n] = added;
    const fm_type *extra = fm_type_struct(w->arena, &added, 1);
    w->rows = fm_type_struct(w->arena, fields, n + 1);
    if (!extra || !w->rows) return fm_no_memory(w->arena, err);
    fm_delta_target target = {.log = w->log, .schema = w->schema, .metadata = metadata, .folder = FM_STR(FM_DELTA_CHANGE_FOLDER), .extra = extra};
    return fm_delta_writer_new(&target, 0, &w->writer, err);
}

fm_status fm_delta_feed_writer_new(const fm_delta_log *log, const fm_delta_schema *schema, const fm_delta_metadata *metadata, const fm_zone *zone,
                                   fm_delta_feed_writer **out, fm_error *err)
{
    fm_delta_feed_writer *w = calloc(1, sizeof *w);

    *out = NULL;
    if (!w) return fm_no_memory(NULL, err);
    w->log = log;
    w->schema = schema;
    w->zone = zone;
    fm_status st = init(w, metadata, err);
    if (st == FM_OK) *out = w;
    else fm_delta_feed_writer_free(w, false);
    return st;
}

void fm_delta_feed_writer_free(fm_delta_feed_writer *w, bool keep_files)
{
    if (!w) return;
    if (w->writer && !keep_files) fm_delta_writer_abort(w->writer);
    fm_delta_writer_free(w->writer);
    fm_arena_free(w->arena);
    fm_arena_free(w->scratch);
    free(w);
}

fm_status fm_delta_feed_writer_add(fm_delta_feed_writer *w, fm_delta_change_type type, const fm_batch *rows, fm_error *err)
{
    static const char *const names[] = {"insert", "delete", "update_preimage", "update_postimage"};
    int32_t n = w->schema->type->n_fields;
    fm_str name = fm_str_c(names[type]);

    if (rows->rows == 0) return FM_OK;
    fm_arena_reset(w->scratch);
    fm_vec *columns = fm_arena_array(w->scratch, fm_vec, n + 1);
    if (!columns) return fm_no_memory(w->scratch, err);
    for (int32_t i = 0; i < n; i++) columns[i] = rows->columns[i];
    FM_TRY(fm_vec_init(&columns[n], fm_type_string(), rows->rows, w->scratch, err));
    for (int32_t i = 0; i < rows->rows; i++) fm_vec_view_out(&columns[n])[i] = fm_view_of(name.ptr, name.len);
    fm_batch full = {.schema = w->rows, .rows = rows->rows, .columns = columns};
    return fm_delta_writer_write(w->writer, &full, err);
}

typedef struct hit_rows {
    fm_delta_feed_writer *w;
    fm_delta_change_type type;
} hit_rows;

static fm_status add_rows(void *ctx, const fm_batch *batch, fm_error *err)
{
    const hit_rows *h = ctx;

    return fm_delta_feed_writer_add(h->w, h->type, batch, err);
}

fm_status fm_delta_feed_writer_add_hits(fm_delta_feed_writer *w, fm_delta_change_type type, const fm_delta_file *file, const fm_delta_rows *hits, fm_error *err)
{
    int32_t n = w->schema->type->n_fields;
    fm_arena *arena = fm_arena_new(0);
    int32_t *wanted = arena ? fm_arena_array(arena, int32_t, n) : NULL;
    fm_delta_rows others = {.rows = hits->rows, .gone = hits->rows - hits->gone};
    fm_delta_scan_spec spec = {.log = w->log, .schema = w->schema, .wanted = wanted, .n_wanted = n, .zone = w->zone};
    hit_rows to = {w, type};
    fm_delta_scan *scan = NULL;

    if (arena) others.bits = fm_arena_array(arena, uint64_t, fm_bit_words(hits->rows) + 1);
    fm_status st = wanted && others.bits ? FM_OK : fm_no_memory(arena, err);
    for (int32_t i = 0; st == FM_OK && i < n; i++) wanted[i] = i;
    for (int64_t i = 0; st == FM_OK && i < fm_bit_words(hits->rows); i++) others.bits[i] = ~hits->bits[i];
    if (st == FM_OK) st = fm_delta_scan_new(&spec, arena, &scan, err);
    if (st == FM_OK) st = fm_delta_scan_file(scan, file, &others, add_rows, &to, err);
    fm_delta_scan_free(scan);
    fm_arena_free(arena);
    return st;
}

fm_status fm_delta_feed_writer_finish(fm_delta_feed_writer *w, const fm_delta_file **files, int32_t *n, fm_error *err)
{
    return fm_delta_writer_finish(w->writer, files, n, err);
}
