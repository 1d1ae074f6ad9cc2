/* table/delta/delta_write.c: writing data files. */
#include "table/delta/delta_write.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/time_text.h"
#include "column/key.h"
#include "os/random.h"
#include "table/delta/delta_path.h"
#include "table/delta/delta_value.h"

enum { FLUSH_SIZE = 1 << 20, STATS_COLUMNS = 32 };
#define FILE_SIZE_DEFAULT (INT64_C(128) << 20)

/* A partition, and its file when one is open. */
typedef struct part {
    fm_str key;              /* of its values; in w->arena */
    fm_delta_map values;
    fm_str folder;           /* "k=a/", not encoded; empty: none */
    fm_parquet_writer *parquet;
    fm_file *file;
    fm_str path, name;       /* of the file: absolute; as the log has it */
    fm_strbuf out;
    int64_t written;         /* bytes */
    int64_t used;            /* when it was written last, by w->uses */
} part;

struct fm_delta_writer {
    fm_delta_target target;
    int32_t index;
    fm_arena *arena;         /* files and partitions */
    fm_arena *scratch;       /* one write */
    fm_parquet_codec codec;
    const fm_type *file_schema;
    const fm_parquet_ids *file_ids;
    int32_t *file_columns;   /* [file_schema->n_fields] columns of the rows */
    int32_t n_columns;       /* of the rows */
    part *parts;             /* [n_parts] */
    int32_t n_parts, cap_parts, n_open;
    fm_delta_index by_key;
    fm_delta_file *files;    /* [n_files] finished */
    fm_str *paths;           /* [n_files] absolute */
    int32_t n_files, cap_files, n_names;
    int64_t rows, uses, columns_max;
    bool kept;               /* finish was called */
};

/* ---- Opening --------------------------------------------------------------------------------------------------- */

/* Columns of the files: those of the schema without partitions, with the extra ones behind. */
static fm_status choose_columns(fm_delta_writer *w, fm_error *err)
{
    const fm_delta_schema *s = w->target.schema;
    const fm_type *extra = w->target.extra;
    int32_t n_extra = extra ? extra->n_fields : 0, n = s->data->n_fields;
    fm_field *fields = fm_arena_array(w->arena, fm_field, n + n_extra);
    fm_parquet_ids *ids = fm_arena_array(w->arena, fm_parquet_ids, n + n_extra);

    w->file_columns = fm_arena_array(w->arena, int32_t, n + n_extra);
    if (!fields || !ids || !w->file_columns) return fm_no_memory(w->arena, err);
    for (int32_t i = 0; i < n; i++) {
        fields[i] = s->data->fields[i];
        if (s->data_ids) ids[i] = s->data_ids[i];
        w->file_columns[i] = s->data_columns[i];
    }
    for (int32_t i = 0; i < n_extra; i++) {
        fields[n + i] = extra->fields[i];
        ids[n + i].id = FM_PARQUET_NO_ID;
        w->file_columns[n + i] = s->type->n_fields + i;
    }
    w->n_columns = s->type->n_fields + n_extra;
    w->file_ids = s->data_ids ? ids : NULL;
    w->file_schema = fm_type_struct(w->arena, fields, n + n_extra);
    if (!w->file_schema) return fm_no_memory(w->arena, err);
    if (n + n_extra == 0) {
        return fm_fail(err, FM_INVALID, "DELTA_NON_PARTITION_COLUMN_ABSENT", "Data written into Delta needs to contain at least one non-partitioned column.");
    }
    return fm_parquet_can_write(w->file_schema, err) ? FM_OK : (err ? err->status : FM_INVALID);
}

static fm_status init_writer(fm_delta_writer *w, fm_error *err)
{
    fm_str codec = fm_delta_map_get(&w->target.metadata->configuration, "delta.parquet.compression.codec", FM_STR("zstd"));

    w->arena = fm_arena_new(0);
    w->scratch = fm_arena_new(0);
    if (!w->arena || !w->scratch) return fm_no_memory(NULL, err);
    if (w->target.file_size <= 0) w->target.file_size = FILE_SIZE_DEFAULT;
    w->columns_max = fm_delta_property_i64(w->target.metadata, "delta.dataSkippingNumIndexedCols", STATS_COLUMNS);
    FM_TRY(fm_parquet_codec_parse(codec, &w->codec, err));
    return choose_columns(w, err);
}

fm_status fm_delta_writer_new(const fm_delta_target *target, int32_t index, fm_delta_writer **out, fm_error *err)
{
    fm_delta_writer *w = calloc(1, sizeof *w);

    *out = NULL;
    if (!w) return fm_no_memory(NULL, err);
    w->target = *target;
    w->index = index;
    fm_status st = init_writer(w, err);
    if (st == FM_OK) *out = w;
    else fm_delta_writer_free(w);
    return st;
}

static void close_part(part *p)
{
    fm_parquet_writer_free(p->parquet);
    fm_file_close(p->file, NULL);
    fm_strbuf_fini(&p->out);
    p->parquet = NULL;
    p->file = NULL;
    p->out = (fm_strbuf){0};
}

void fm_delta_writer_abort(fm_delta_writer *w)
{
    for (int32_t i = 0; i < w->n_files; i++) fm_fs_remove(w->target.log->fs, w->paths[i].ptr, NULL);
    w->n_files = 0;
}

void fm_delta_writer_free(fm_delta_writer *w)
{
    if (!w) return;
    for (int32_t i = 0; i < w->n_parts; i++) {
        bool was_open = w->parts[i].file != NULL;
        close_part(&w->parts[i]);
        if (was_open) fm_fs_remove(w->target.log->fs, w->parts[i].path.ptr, NULL);
    }
    if (!w->kept) fm_delta_writer_abort(w);
    fm_delta_index_fini(&w->by_key);
    fm_arena_free(w->arena);
    fm_arena_free(w->scratch);
    free(w);
}

/* ---- Files ------------------------------------------------------------------------------------------------------ */

static fm_status open_file(fm_delta_writer *w, part *p, fm_error *err)
{
    fm_fs *fs = w->target.log->fs;
    char uuid[FM_UUID_TEXT_SIZE];
    fm_parquet_write spec = {.schema = w->file_schema, .ids = w->file_ids, .codec = w->codec};
    fm_strbuf encoded = {0};

    fm_uuid(uuid);
    fm_str plain = fm_arena_printf(w->arena, "%.*s%.*s%s-%05" PRId32 "-%s.c%03" PRId32 "%s.parquet", FM_STR_ARG(w->target.folder), FM_STR_ARG(p->folder),
                                   w->target.folder.len ? "cdc" : "part", w->index, uuid, w->n_names, fm_parquet_codec_extension(w->codec));
    if (!plain.ptr) return fm_no_memory(w->arena, err);
    fm_delta_path_encode(plain, &encoded);
    p->name = fm_arena_str(w->arena, fm_strbuf_str(&encoded));
    bool ok = fm_strbuf_ok(&encoded);
    fm_strbuf_fini(&encoded);
    p->path = fm_arena_printf(w->arena, "%s/%s", w->target.log->root.ptr, plain.ptr);
    if (!ok || !p->name.ptr || !p->path.ptr) return fm_no_memory(w->arena, err);
    w->n_names = (w->n_names + 1) % 1000;
    fm_str dir = fm_arena_str(w->scratch, (fm_str){p->path.ptr, (size_t)(strrchr(p->path.ptr, '/') - p->path.ptr)});
    if (!dir.ptr) return fm_no_memory(w->scratch, err);
    FM_TRY(fm_fs_mkdirs(fs, dir.ptr, err));
    FM_TRY(fm_parquet_writer_new(&spec, &p->parquet, err));
    p->written = 0;
    fm_status st = fm_file_open(fs, p->path.ptr, FM_OPEN_CREATE_NEW, &p->file, err);
    if (st == FM_OK) w->n_open++;
    return st;
}

static fm_status flush_file(part *p, fm_error *err)
{
    if (!fm_strbuf_ok(&p->out)) return fm_no_memory(NULL, err);
    if (p->out.len == 0) return FM_OK;
    FM_TRY(fm_file_write(p->file, p->out.ptr, p->out.len, err));
    p->written += (int64_t)p->out.len;
    fm_strbuf_clear(&p->out);
    return FM_OK;
}

static fm_status room_for_file(fm_delta_writer *w, fm_error *err)
{
    if (w->n_files < w->cap_files) return FM_OK;
    int32_t cap = w->cap_files ? w->cap_files * 2 : 16;
    fm_delta_file *files = fm_arena_array(w->arena, fm_delta_file, cap);
    fm_str *paths = fm_arena_array(w->arena, fm_str, cap);
    if (!files || !paths) return fm_no_memory(w->arena, err);
    for (int32_t i = 0; i < w->n_files; i++) {
        files[i] = w->files[i];
        paths[i] = w->paths[i];
    }
    w->files = files;
    w->paths = paths;
    w->cap_files = cap;
    return FM_OK;
}

static fm_status describe_file(fm_delta_writer *w, const part *p, const fm_file_stat *stat, fm_delta_file *out, fm_error *err)
{
    fm_strbuf stats = {0};

    *out = (fm_delta_file){.path = p->name, .partition_values = p->values, .size = stat->size, .modified_ms = stat->modified_ms, .deleted_ms = -1,
                           .data_change = true, .base_row_id = -1, .row_commit_version = -1};
    if (w->target.folder.len) return FM_OK;
    fm_delta_stats_print(fm_parquet_writer_result(p->parquet), w->columns_max, &stats);
    out->stats = fm_strbuf_ok(&stats) ? fm_arena_str(w->arena, fm_strbuf_str(&stats)) : (fm_str){0};
    fm_strbuf_fini(&stats);
    return out->stats.ptr ? FM_OK : fm_no_memory(w->arena, err);
}

static fm_status finish_file(fm_delta_writer *w, part *p, fm_error *err)
{
    fm_file_stat stat;
    fm_status closed;

    if (!p->file) return FM_OK;
    FM_TRY(room_for_file(w, err));
    FM_TRY(fm_parquet_writer_finish(p->parquet, &p->out, err));
    FM_TRY(flush_file(p, err));
    FM_TRY(fm_file_sync(p->file, err));
    FM_TRY(fm_file_stat_of(p->file, &stat, err));
    FM_TRY(describe_file(w, p, &stat, &w->files[w->n_files], err));
    w->paths[w->n_files++] = p->path;
    closed = fm_file_close(p->file, err);
    p->file = NULL;
    close_part(p);
    w->n_open--;
    return closed;
}

/* The partition that was not written for longest gives its place. */
static fm_status make_place(fm_delta_writer *w, fm_error *err)
{
    part *oldest = NULL;

    if (w->n_open < FM_DELTA_OPEN_FILES_MAX) return FM_OK;
    for (int32_t i = 0; i < w->n_parts; i++) {
        if (w->parts[i].file && (!oldest || w->parts[i].used < oldest->used)) oldest = &w->parts[i];
    }
    return finish_file(w, oldest, err);
}

/* ---- Partitions --------------------------------------------------------------------------------------------------- */

static fm_status describe_part(fm_delta_writer *w, const fm_batch *batch, int64_t row, part *p, fm_error *err)
{
    const fm_delta_schema *s = w->target.schema;
    fm_strbuf folder = {0}, text = {0};
    bool ok = true;

    p->values = (fm_delta_map){fm_arena_array(w->arena, fm_str, s->n_partitions), fm_arena_array(w->arena, fm_str, s->n_partitions), s->n_partitions};
    if (!p->values.keys || !p->values.values) return fm_no_memory(w->arena, err);
    for (int32_t i = 0; i < s->n_partitions; i++) {
        int32_t c = s->partitions[i];
        fm_strbuf_clear(&text);
        p->values.keys[i] = fm_arena_str(w->arena, s->fields[c].physical); /* outlives the plan it came with */
        ok &= p->values.keys[i].ptr != NULL;
        if (fm_delta_partition_text(&batch->columns[c], row, &text)) {
            p->values.values[i] = fm_arena_str(w->arena, fm_strbuf_str(&text));
            ok &= p->values.values[i].ptr != NULL;
        }
        fm_delta_partition_folder(s->fields[c].physical, p->values.values[i], &folder);
        fm_strbuf_add_char(&folder, '/');
    }
    if (s->n_partitions) p->folder = fm_arena_str(w->arena, fm_strbuf_str(&folder));
    ok &= fm_strbuf_ok(&folder) && fm_strbuf_ok(&text) && (s->n_partitions == 0 || p->folder.ptr);
    fm_strbuf_fini(&folder);
    fm_strbuf_fini(&text);
    return ok ? FM_OK : fm_no_memory(w->arena, err);
}

/* Which partition a row belongs to. Equal by the text of their values: -0.0 and 0.0 are two, null and an empty text one. */
static fm_status find_part(fm_delta_writer *w, const fm_batch *batch, int64_t row, int32_t *out, fm_error *err)
{
    const fm_delta_schema *s = w->target.schema;
    fm_strbuf key = {0};
    fm_status st = FM_OK;

    fm_strbuf_add_char(&key, 'p');
    for (int32_t i = 0; i < s->n_partitions; i++) {
        size_t before = key.len;
        if (fm_delta_partition_text(&batch->columns[s->partitions[i]], row, &key)) {
            size_t len = key.len - before;
            fm_strbuf_add_char(&key, 0);
            fm_strbuf_printf(&key, "%zu", len);
        }
        fm_strbuf_add_char(&key, 1);
    }
    if (!fm_strbuf_ok(&key)) st = fm_no_memory(NULL, err);
    *out = st == FM_OK ? fm_delta_index_find(&w->by_key, fm_strbuf_str(&key)) : -1;
    if (st == FM_OK && *out < 0) {
        if (w->n_parts == w->cap_parts) {
            int32_t cap = w->cap_parts ? w->cap_parts * 2 : 16;
            part *more = fm_arena_array(w->arena, part, cap);
            if (!more) st = fm_no_memory(w->arena, err);
            for (int32_t i = 0; more && i < w->n_parts; i++) more[i] = w->parts[i];
            if (more) {
                w->parts = more;
                w->cap_parts = cap;
            }
        }
        if (st == FM_OK) {
            part *p = &w->parts[w->n_parts];
            *p = (part){.key = fm_arena_str(w->arena, fm_strbuf_str(&key))};
            st = p->key.ptr ? describe_part(w, batch, row, p, err) : fm_no_memory(w->arena, err);
            if (st == FM_OK) st = fm_delta_index_set(&w->by_key, p->key, w->n_parts, err);
            if (st == FM_OK) *out = w->n_parts++;
        }
    }
    fm_strbuf_fini(&key);
    return st;
}

/* Neighbouring rows are mostly of one partition: whether two rows have the same values. */
static bool same_part(const fm_delta_writer *w, const fm_batch *batch, int64_t a, int64_t b)
{
    const fm_delta_schema *s = w->target.schema;

    for (int32_t i = 0; i < s->n_partitions; i++) {
        const fm_vec *v = &batch->columns[s->partitions[i]];
        if (v->type->id == FM_TYPE_F32 || v->type->id == FM_TYPE_F64 || !fm_vec_same(v, a, v, b)) return false;
    }
    return true;
}

/* ---- Rows ----------------------------------------------------------------------------------------------------------- */

static fm_status not_null_violated(fm_str name, fm_error *err)
{
    return fm_fail(err, FM_INVALID, "DELTA_NOT_NULL_CONSTRAINT_VIOLATED", "NOT NULL constraint violated for column: %.*s.", FM_STR_ARG(name));
}

/* Nulls where the schema has none. `live`: validity of the struct above; NULL: all. */
static fm_status check_nulls(const fm_vec *v, const fm_field *field, const uint64_t *live, fm_error *err)
{
    if (!field->nullable && v->validity) {
        for (int32_t i = 0; i < v->len; i++) {
            if (fm_vec_is_null(v, i) && fm_bit_valid(live, i)) return not_null_violated(field->name, err);
        }
    }
    if (field->type->id != FM_TYPE_STRUCT) return FM_OK;
    for (int32_t i = 0; i < field->type->n_fields; i++) FM_TRY(check_nulls(&v->children[i], &field->type->fields[i], v->validity, err));
    return FM_OK;
}

static fm_status write_part(fm_delta_writer *w, int32_t at, const fm_batch *batch, fm_error *err)
{
    part *p = &w->parts[at];

    if (!p->file) {
        FM_TRY(make_place(w, err));
        FM_TRY(open_file(w, p, err));
    }
    p->used = ++w->uses;
    FM_TRY(fm_parquet_writer_write(p->parquet, batch, &p->out, err));
    if (p->out.len >= FLUSH_SIZE) FM_TRY(flush_file(p, err));
    return p->written + (int64_t)p->out.len >= w->target.file_size ? finish_file(w, p, err) : FM_OK;
}

/* The columns that the files have, under the files' names. */
static fm_status file_batch(fm_delta_writer *w, const fm_batch *in, const fm_batch **out, fm_error *err)
{
    fm_vec *columns = fm_arena_array(w->scratch, fm_vec, w->file_schema->n_fields);
    fm_batch *b = fm_arena_one(w->scratch, fm_batch);

    if (!columns || !b) return fm_no_memory(w->scratch, err);
    for (int32_t i = 0; i < w->file_schema->n_fields; i++) {
        columns[i] = in->columns[w->file_columns[i]];
        if (fm_type_is_nested(columns[i].type)) FM_TRY(fm_vec_copy_as(&columns[i], &in->columns[w->file_columns[i]], w->file_schema->fields[i].type, w->scratch, err));
        else columns[i].type = w->file_schema->fields[i].type;
    }
    *b = (fm_batch){w->file_schema, in->rows, columns};
    *out = b;
    return FM_OK;
}

static fm_status write_partitioned(fm_delta_writer *w, const fm_batch *batch, const fm_batch *files, fm_error *err)
{
    int32_t *of = fm_arena_array(w->scratch, int32_t, batch->rows), *rows = fm_arena_array(w->scratch, int32_t, batch->rows);
    const fm_batch *some;

    if (!of || !rows) return fm_no_memory(w->scratch, err);
    for (int32_t i = 0; i < batch->rows; i++) {
        if (i && same_part(w, batch, i, i - 1)) of[i] = of[i - 1];
        else FM_TRY(find_part(w, batch, i, &of[i], err));
    }
    for (int32_t i = 0; i < batch->rows; i++) {
        int32_t at = of[i], n = 0;
        if (at < 0) continue;
        for (int32_t k = i; k < batch->rows; k++) {
            if (of[k] != at) continue;
            rows[n++] = k;
            of[k] = -1;
        }
        FM_TRY(fm_batch_gather(files, rows, n, w->scratch, &some, err));
        FM_TRY(write_part(w, at, some, err));
    }
    return FM_OK;
}

fm_status fm_delta_writer_write(fm_delta_writer *w, const fm_batch *batch, fm_error *err)
{
    const fm_type *type = w->target.schema->type;
    const fm_batch *files = NULL;
    int32_t at;

    if (batch->rows == 0) return FM_OK;
    fm_arena_reset(w->scratch);
    for (int32_t i = 0; i < type->n_fields; i++) FM_TRY(check_nulls(&batch->columns[i], &type->fields[i], NULL, err));
    FM_TRY(file_batch(w, batch, &files, err));
    w->rows += batch->rows;
    if (w->target.schema->n_partitions) return write_partitioned(w, batch, files, err);
    FM_TRY(find_part(w, batch, 0, &at, err));
    return write_part(w, at, files, err);
}

int64_t fm_delta_writer_rows(const fm_delta_writer *w) { return w->rows; }

/* ---- The end ---------------------------------------------------------------------------------------------------------- */

static fm_str dir_of(fm_str path) { return (fm_str){path.ptr, (size_t)(strrchr(path.ptr, '/') - path.ptr)}; }

/* Names become durable: each folder once. */
static fm_status sync_folders(fm_delta_writer *w, fm_error *err)
{
    fm_delta_index done = {0};
    fm_status st = FM_OK;

    for (int32_t i = 0; st == FM_OK && i < w->n_files; i++) {
        fm_str dir = dir_of(w->paths[i]);
        if (fm_delta_index_find(&done, dir) >= 0) continue;
        fm_str text = fm_arena_str(w->scratch, dir);
        if (!text.ptr) st = fm_no_memory(w->scratch, err);
        if (st == FM_OK) st = fm_fs_sync_dir(w->target.log->fs, text.ptr, err);
        if (st == FM_OK) st = fm_delta_index_set(&done, dir, i, err);
    }
    fm_delta_index_fini(&done);
    return st;
}

fm_status fm_delta_writer_finish(fm_delta_writer *w, const fm_delta_file **files, int32_t *n, fm_error *err)
{
    for (int32_t i = 0; i < w->n_parts; i++) FM_TRY(finish_file(w, &w->parts[i], err));
    fm_arena_reset(w->scratch);
    FM_TRY(sync_folders(w, err));
    w->kept = true;
    *files = w->files;
    *n = w->n_files;
    return FM_OK;
}
