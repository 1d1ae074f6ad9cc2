/* table/delta/delta_scan.c: reading data files. */
#include "table/delta/delta_scan.h"

#include <inttypes.h>

#include "base/limits.h"
#include "table/delta/delta_path.h"
#include "table/delta/delta_value.h"

struct fm_delta_scan {
    fm_delta_scan_spec spec;
    const fm_type *out;          /* wanted columns, and the row */
    fm_parquet_read read;
    int32_t *from_file;          /* [n_wanted] column of the read, or -1 */
    int32_t n_read;
    fm_arena *file;              /* one file: footer, deletion vector, partition values */
    fm_arena *batch;             /* one batch */
    fm_arena *columns;           /* columns added here */
};

/* What is asked of the Parquet reader: the wanted columns that stand in data files. */
static fm_status make_read(fm_delta_scan *s, fm_arena *arena, fm_error *err)
{
    const fm_delta_schema *schema = s->spec.schema;
    int32_t n = s->spec.n_wanted;
    fm_field *fields = fm_arena_array(arena, fm_field, n), *names = fm_arena_array(arena, fm_field, n);
    fm_parquet_ids *ids = fm_arena_array(arena, fm_parquet_ids, n);
    const fm_condition **conditions = fm_arena_array(arena, const fm_condition *, s->spec.n_conditions);
    int32_t n_conditions = 0;

    s->from_file = fm_arena_array(arena, int32_t, n);
    if (!fields || !names || !ids || !conditions || !s->from_file) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) {
        int32_t c = s->spec.wanted[i];
        s->from_file[i] = -1;
        if (schema->is_partition[c] || schema->type->fields[c].type->id == FM_TYPE_NULL) continue;
        fields[s->n_read] = schema->type->fields[c];
        fields[s->n_read].nullable = true; /* a file older than the column lacks it */
        names[s->n_read] = schema->physical->fields[c];
        if (schema->ids) ids[s->n_read] = schema->ids[c];
        s->from_file[i] = s->n_read++;
    }
    for (int32_t i = 0; i < s->spec.n_conditions; i++) {
        FM_TRY(fm_condition_remap(s->spec.conditions[i], s->from_file, arena, &conditions[n_conditions], err));
        n_conditions += conditions[n_conditions] != NULL;
    }
    s->read = (fm_parquet_read){.schema = fm_type_struct(arena, fields, s->n_read), .conditions = conditions, .n_conditions = n_conditions};
    if (schema->mapping != FM_DELTA_BY_NAME_ITSELF) s->read.file_names = fm_type_struct(arena, names, s->n_read);
    if (schema->mapping == FM_DELTA_BY_ID) s->read.ids = ids;
    return s->read.schema && (schema->mapping == FM_DELTA_BY_NAME_ITSELF || s->read.file_names) ? FM_OK : fm_no_memory(arena, err);
}

static fm_status make_output(fm_delta_scan *s, fm_arena *arena, fm_error *err)
{
    int32_t n = s->spec.n_wanted;
    fm_field *fields = fm_arena_array(arena, fm_field, n + 1);

    if (!fields) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) {
        fields[i] = s->spec.schema->type->fields[s->spec.wanted[i]];
        fields[i].nullable = true;
    }
    if (s->spec.want_row) fields[n++] = (fm_field){FM_STR("_row"), fm_type_i64(), false};
    s->out = fm_type_struct(arena, fields, n);
    return s->out ? FM_OK : fm_no_memory(arena, err);
}

fm_status fm_delta_scan_new(const fm_delta_scan_spec *spec, fm_arena *arena, fm_delta_scan **out, fm_error *err)
{
    fm_delta_scan *s = fm_arena_one(arena, fm_delta_scan);

    *out = NULL;
    if (!s) return fm_no_memory(arena, err);
    s->spec = *spec;
    FM_TRY(make_read(s, arena, err));
    FM_TRY(make_output(s, arena, err));
    s->file = fm_arena_new(0);
    s->batch = fm_arena_new(0);
    s->columns = fm_arena_new(0);
    if (!s->file || !s->batch || !s->columns) {
        fm_delta_scan_free(s);
        return fm_no_memory(NULL, err);
    }
    *out = s;
    return FM_OK;
}

void fm_delta_scan_free(fm_delta_scan *s)
{
    if (!s) return;
    fm_arena_free(s->file);
    fm_arena_free(s->batch);
    fm_arena_free(s->columns);
}

const fm_type *fm_delta_scan_schema(const fm_delta_scan *s) { return s->out; }

/* ---- One file ------------------------------------------------------------------------------------------------- */

/* The file that is being read. */
typedef struct one_file {
    fm_delta_scan *s;
    const fm_vec *partitions;    /* [n_wanted] one lane each; those of columns that the file has not */
    fm_delta_rows gone;          /* no bits: none */
    fm_delta_push push;
    void *ctx;
} one_file;

static fm_status partition_lanes(fm_delta_scan *s, const fm_delta_file *file, const fm_vec **out, fm_error *err)
{
    const fm_delta_schema *schema = s->spec.schema;
    fm_vec *lanes = fm_arena_array(s->file, fm_vec, s->spec.n_wanted);

    if (!lanes) return fm_no_memory(s->file, err);
    for (int32_t i = 0; i < s->spec.n_wanted; i++) {
        int32_t c = s->spec.wanted[i];
        const fm_type *type = schema->type->fields[c].type;
        if (s->from_file[i] >= 0) continue;
        const fm_str *text = schema->is_partition[c] ? fm_delta_map_find(&file->partition_values, schema->fields[c].physical) : NULL;
        FM_TRY(fm_delta_partition_value(text ? *text : (fm_str){0}, type, s->spec.zone, s->file, &lanes[i], err));
    }
    *out = lanes;
    return FM_OK;
}

/* The rows of a batch that are not gone: their places, in s->columns. NULL: all of them. */
static fm_status rows_left(const one_file *f, int64_t first_row, int32_t rows, const int32_t **out, int32_t *n, fm_error *err)
{
    int64_t gone = 0;

    *out = NULL;
    *n = rows;
    if (!f->gone.bits) return FM_OK;
    if (first_row < 0 || first_row + rows > f->gone.rows) return fm_fail(err, FM_CORRUPT, "FLOODMARK_PARQUET_DAMAGED", "A data file has more rows than its footer says.");
    for (int32_t i = 0; i < rows; i++) gone += fm_bit_get(f->gone.bits, first_row + i);
    if (gone == 0) return FM_OK;
    int32_t *places = fm_arena_array(f->s->columns, int32_t, rows);
    if (!places) return fm_no_memory(f->s->columns, err);
    *n = 0;
    for (int32_t i = 0; i < rows; i++) {
        if (!fm_bit_get(f->gone.bits, first_row + i)) places[(*n)++] = i;
    }
    *out = places;
    return FM_OK;
}

static fm_status push_rows(const one_file *f, const fm_batch *in, int64_t first_row, int32_t rows, fm_error *err)
{
    fm_delta_scan *s = f->s;
    const int32_t *places;
    int32_t n;

    fm_arena_reset(s->columns);
    FM_TRY(rows_left(f, first_row, rows, &places, &n, err));
    if (n == 0) return FM_OK;
    fm_vec *columns = fm_arena_array(s->columns, fm_vec, s->out->n_fields);
    if (!columns) return fm_no_memory(s->columns, err);
    for (int32_t i = 0; i < s->spec.n_wanted; i++) {
        if (s->from_file[i] < 0) FM_TRY(fm_vec_repeat(&columns[i], &f->partitions[i], 0, n, s->columns, err));
        else if (places) FM_TRY(fm_vec_gather(&columns[i], &in->columns[s->from_file[i]], places, n, s->columns, err));
        else columns[i] = in->columns[s->from_file[i]];
    }
    if (s->spec.want_row) {
        fm_vec *row = &columns[s->spec.n_wanted];
        FM_TRY(fm_vec_init(row, fm_type_i64(), n, s->columns, err));
        for (int32_t i = 0; i < n; i++) fm_vec_i64_out(row)[i] = first_row + (places ? places[i] : i);
    }
    fm_batch batch = {.schema = s->out, .rows = n, .columns = columns};
    return f->push(f->ctx, &batch, err);
}

/* No column of the file is wanted: its rows are only counted. */
static fm_status push_counted(const one_file *f, int64_t rows, fm_error *err)
{
    for (int64_t at = 0; at < rows; at += FM_BATCH_ROWS_DECODE) {
        int32_t n = rows - at < FM_BATCH_ROWS_DECODE ? (int32_t)(rows - at) : FM_BATCH_ROWS_DECODE;
        FM_TRY(push_rows(f, NULL, at, n, err));
    }
    return FM_OK;
}

static fm_status push_read(const one_file *f, fm_parquet_file *parquet, fm_error *err)
{
    fm_delta_scan *s = f->s;
    fm_parquet_reader *reader;
    const fm_batch *batch;
    int64_t first_row;

    FM_TRY(fm_parquet_reader_new(parquet, &s->read, &reader, err));
    fm_status st = FM_OK;
    while (st == FM_OK) {
        fm_arena_reset(s->batch);
        st = fm_parquet_reader_next(reader, s->batch, &batch, &first_row, err);
        if (st != FM_OK || !batch) break;
        st = push_rows(f, batch, first_row, batch->rows, err);
    }
    fm_parquet_reader_free(reader);
    return st;
}

static fm_status find_gone(one_file *f, const fm_delta_file *file, const fm_delta_rows *but, int64_t rows, fm_error *err)
{
    fm_delta_scan *s = f->s;

    if (file->dv) FM_TRY(fm_delta_dv_read(s->spec.log, file->dv, rows, s->file, &f->gone, err));
    if (!but) return FM_OK;
    if (but->rows != rows) return fm_fail(err, FM_CORRUPT, "FLOODMARK_PARQUET_DAMAGED", "A data file has another number of rows than before.");
    if (!f->gone.bits) {
        f->gone = *but;
        return FM_OK;
    }
    for (int64_t w = 0; w < fm_bit_words(rows); w++) f->gone.bits[w] |= but->bits[w];
    return FM_OK;
}

fm_status fm_delta_scan_file(fm_delta_scan *s, const fm_delta_file *file, const fm_delta_rows *but, fm_delta_push push, void *ctx, fm_error *err)
{
    one_file f = {.s = s, .push = push, .ctx = ctx};
    fm_parquet_file *parquet = NULL;
    fm_str path;

    fm_arena_reset(s->file);
    FM_TRY(fm_delta_path_resolve(s->file, s->spec.log->root, file->path, &path, err));
    FM_TRY(partition_lanes(s, file, &f.partitions, err));
    fm_status st = fm_parquet_open(s->spec.log->fs, path.ptr, file->size, s->file, &parquet, err);
    if (st == FM_NOT_FOUND) {
        return fm_fail(err, FM_CORRUPT, "DELTA_FILE_NOT_FOUND",
                       "The data file '%s' of a Delta table is missing. Was it removed by VACUUM with a retention shorter than the read, or by hand?",
                       path.ptr);
    }
    if (st == FM_OK) st = find_gone(&f, file, but, fm_parquet_rows(parquet), err);
    if (st == FM_OK) st = s->n_read ? push_read(&f, parquet, err) : push_counted(&f, fm_parquet_rows(parquet), err);
    fm_parquet_close(parquet);
    return fm_context(err, st, "reading '%s'", path.ptr);
}

fm_status fm_delta_file_rows(const fm_delta_log *log, const fm_delta_file *file, int64_t *rows, fm_error *err)
{
    fm_arena *arena = fm_arena_new(0);
    fm_parquet_file *parquet = NULL;
    fm_str path = {0};

    if (!arena) return fm_no_memory(NULL, err);
    fm_status st = fm_delta_path_resolve(arena, log->root, file->path, &path, err);
    if (st == FM_OK) st = fm_parquet_open(log->fs, path.ptr, file->size, arena, &parquet, err);
    if (st == FM_OK) *rows = fm_parquet_rows(parquet);
    fm_parquet_close(parquet);
    fm_arena_free(arena);
    return st;
}
