/* table/delta/delta_rewrite.c: copy on write, and deletion vectors. */
#include "table/delta/delta_rewrite.h"

#include <stdlib.h>

#include "base/bits.h"
#include "base/time_text.h"
#include "table/delta/delta_value.h"

struct fm_delta_rewrite {
    fm_delta_rewrite_spec spec;
    fm_arena *arena;
    fm_delta_writer *writer;
    fm_delta_file *removes, *changed; /* changed: files with new vectors */
    fm_delta_rows *vectors;           /* [n_changed] */
    int32_t n_removes, n_changed;
};

static fm_status init(fm_delta_rewrite *rw, fm_error *err)
{
    fm_delta_target target = {.log = rw->spec.log, .schema = rw->spec.schema, .metadata = rw->spec.metadata, .file_size = rw->spec.file_size};

    rw->arena = fm_arena_new(0);
    if (!rw->arena) return fm_no_memory(NULL, err);
    rw->removes = fm_arena_array(rw->arena, fm_delta_file, rw->spec.files_max);
    rw->changed = fm_arena_array(rw->arena, fm_delta_file, rw->spec.files_max);
    rw->vectors = fm_arena_array(rw->arena, fm_delta_rows, rw->spec.files_max);
    if (!rw->removes || !rw->changed || !rw->vectors) return fm_no_memory(rw->arena, err);
    return fm_delta_writer_new(&target, 0, &rw->writer, err);
}

fm_status fm_delta_rewrite_new(const fm_delta_rewrite_spec *spec, fm_delta_rewrite **out, fm_error *err)
{
    fm_delta_rewrite *rw = calloc(1, sizeof *rw);

    *out = NULL;
    if (!rw) return fm_no_memory(NULL, err);
    rw->spec = *spec;
    fm_status st = init(rw, err);
    if (st == FM_OK) *out = rw;
    else fm_delta_rewrite_free(rw, false);
    return st;
}

void fm_delta_rewrite_free(fm_delta_rewrite *rw, bool keep_files)
{
    if (!rw) return;
    if (rw->writer && !keep_files) fm_delta_writer_abort(rw->writer);
    fm_delta_writer_free(rw->writer);
    fm_arena_free(rw->arena);
    free(rw);
}

fm_delta_writer *fm_delta_rewrite_writer(fm_delta_rewrite *rw) { return rw->writer; }

static fm_status keep_row(void *ctx, const fm_batch *batch, fm_error *err) { return fm_delta_writer_write(ctx, batch, err); }

/* The rows that stay go to a new file. */
static fm_status copy_rest(fm_delta_rewrite *rw, const fm_delta_file *file, const fm_delta_rows *hits, fm_error *err)
{
    int32_t n = rw->spec.schema->type->n_fields;
    fm_arena *arena = fm_arena_new(0);
    int32_t *wanted = arena ? fm_arena_array(arena, int32_t, n) : NULL;
    fm_delta_scan_spec spec = {.log = rw->spec.log, .schema = rw->spec.schema, .wanted = wanted, .n_wanted = n, .zone = rw->spec.zone};
    fm_delta_scan *scan = NULL;
    fm_status st = wanted ? FM_OK : fm_no_memory(arena, err);

    for (int32_t i = 0; wanted && i < n; i++) wanted[i] = i;
    if (st == FM_OK) st = fm_delta_scan_new(&spec, arena, &scan, err);
    if (st == FM_OK) st = fm_delta_scan_file(scan, file, hits, keep_row, rw->writer, err);
    fm_delta_scan_free(scan);
    fm_arena_free(arena);
    return st;
}

/* The rows that go are taken into the file's deletion vector. */
static fm_status mark_gone(fm_delta_rewrite *rw, const fm_delta_file *file, const fm_delta_rows *hits, fm_error *err)
{
    fm_delta_rows *all = &rw->vectors[rw->n_changed];
    fm_delta_file *changed = &rw->changed[rw->n_changed];
    int64_t rows = hits->rows;

    *all = (fm_delta_rows){.rows = rows, .bits = fm_arena_array(rw->arena, uint64_t, fm_bit_words(rows) + 1)};
    if (!all->bits) return fm_no_memory(rw->arena, err);
    if (file->dv) FM_TRY(fm_delta_dv_read(rw->spec.log, file->dv, rows, rw->arena, all, err));
    for (int64_t w = 0; w < fm_bit_words(rows); w++) all->bits[w] |= hits->bits[w];
    all->gone = fm_bits_count(all->bits, rows);
    if (all->gone == rows) return FM_OK; /* nothing is left */
    *changed = *file;
    changed->data_change = true;
    FM_TRY(fm_delta_stats_loosen(rw->arena, file->stats, rows, &changed->stats, err));
    rw->n_changed++;
    return FM_OK;
}

static fm_status remove_file(fm_delta_rewrite *rw, const fm_delta_file *file)
{
    fm_delta_file *removed = &rw->removes[rw->n_removes];

    fm_assert(rw->n_removes < rw->spec.files_max);
    *removed = *file;
    removed->deleted_ms = fm_clock_now_us(rw->spec.log->clock) / FM_US_PER_MS;
    removed->data_change = true;
    rw->n_removes++;
    return FM_OK;
}

fm_status fm_delta_rewrite_pack(fm_delta_rewrite *rw, const fm_delta_file *file, fm_error *err)
{
    FM_TRY(remove_file(rw, file));
    return copy_rest(rw, file, NULL, err);
}

fm_status fm_delta_rewrite_file(fm_delta_rewrite *rw, const fm_delta_file *file, const fm_delta_rows *hits, fm_error *err)
{
    if (hits->gone == 0) return FM_OK;
    FM_TRY(remove_file(rw, file));
    return rw->spec.use_vectors ? mark_gone(rw, file, hits, err) : copy_rest(rw, file, hits, err);
}

fm_status fm_delta_rewrite_finish(fm_delta_rewrite *rw, const fm_delta_file **adds, int32_t *n_adds, const fm_delta_file **removes, int32_t *n_removes,
                                  fm_error *err)
{
    const fm_delta_file *files;
    fm_delta_dv *dvs = fm_arena_array(rw->arena, fm_delta_dv, rw->n_changed);
    int32_t n;

    FM_TRY(fm_delta_writer_finish(rw->writer, &files, &n, err));
    fm_delta_file *all = fm_arena_array(rw->arena, fm_delta_file, n + rw->n_changed);
    if (!all || !dvs) return fm_no_memory(rw->arena, err);
    if (rw->n_changed) FM_TRY(fm_delta_dv_write(rw->spec.log, rw->vectors, rw->n_changed, rw->arena, dvs, err));
    for (int32_t i = 0; i < n; i++) all[i] = files[i];
    for (int32_t i = 0; i < rw->n_changed; i++) {
        all[n + i] = rw->changed[i];
        all[n + i].dv = &dvs[i];
    }
    *adds = all;
    *n_adds = n + rw->n_changed;
    *removes = rw->removes;
    *n_removes = rw->n_removes;
    return FM_OK;
}
