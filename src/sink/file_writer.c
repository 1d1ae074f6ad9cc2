/* sink/file_writer.c: routes rows to data files.
 *
 * Without partition columns there is one file. With them there is one per folder, found by the key of the partition
 * columns in a small hash table. Only so many files are open at once: the one not used for longest is finished when
 * another is needed; should its partition come again, it gets a second file. */
#include "sink/file_writer.h"

#include <stdio.h>

#include "base/limits.h"
#include "column/key.h"
#include "os/random.h"
#include "sink/partition_path.h"

enum {
    OPEN_FILES_MAX = 32,             /* of one writer: bounds descriptors and buffers */
    FLUSH_SIZE = FM_BLOCK_SIZE,      /* bytes gathered before a write */
    FLUSH_SIZE_PARTITIONED = 256 << 10 /* less, since there are many buffers */
};

typedef struct fm_partition {
    fm_key key;
    fm_str dir;
    char uuid[FM_UUID_TEXT_SIZE];
    fm_part_file *file; /* NULL: not open */
    fm_writer *writer;  /* of the open file, of formats with a footer */
    fm_str path;        /* of the open file */
    int32_t n_files;    /* made so far */
    int64_t used;       /* writer's clock at the last write */
    int32_t local;      /* place among the partitions of the batch being written, or -1 */
} partition;

fm_status fm_file_writer_begin(fm_file_writer *w, fm_error *err)
{
    const fm_file_target *t = w->target;

    if (!w->arena) w->arena = fm_arena_new(0);
    if (!w->scratch) w->scratch = fm_arena_new(0);
    if (!w->query) w->query = fm_arena_new(0);
    if (!w->arena || !w->scratch || !w->query) return fm_no_memory(NULL, err);
    fm_arena_reset(w->arena);
    w->rows = w->clock = 0;
    w->files = NULL;
    w->partitions = NULL;
    w->slots = NULL;
    w->n_files = w->cap_files = w->n_partitions = w->cap_partitions = w->n_slots = w->n_open = 0;
    if (w->format_writer || t->format->write_end) return FM_OK;
    return t->format->writer_new(w->query, t->data_schema, t->options, t->zone, &w->format_writer, err);
}

/* ---- Files ------------------------------------------------------------------------------------------------- */

static fm_status add_file(fm_file_writer *w, const fm_written_file *file, fm_error *err)
{
    if (w->n_files == w->cap_files) {
        int32_t cap = w->cap_files ? w->cap_files * 2 : 8;
        fm_written_file *more = fm_arena_array(w->arena, fm_written_file, cap);
        if (!more) return fm_no_memory(w->arena, err);
        if (w->n_files) memcpy(more, w->files, (size_t)w->n_files * sizeof *more);
        w->files = more;
        w->cap_files = cap;
    }
    w->files[w->n_files++] = *file;
    return FM_OK;
}

static void free_writer(const fm_file_target *t, partition *p)
{
    if (p->writer) t->format->writer_free(p->writer);
    p->writer = NULL;
}

static fm_status finish_file(fm_file_writer *w, partition *p, fm_error *err)
{
    if (p->writer) {
        fm_status st = w->target->format->write_end(p->writer, fm_part_file_text(p->file), err);
        free_writer(w->target, p);
        if (st != FM_OK) return st;
    }
    /* Recorded first: whatever happens to it, abort removes it. */
    FM_TRY(add_file(w, &(fm_written_file){.path = p->path, .dir = p->dir}, err));
    fm_part_file *file = p->file;
    p->file = NULL;
    w->n_open--;
    return fm_part_file_finish(file, &w->files[w->n_files - 1].stat, err);
}

static fm_status make_room(fm_file_writer *w, fm_error *err)
{
    partition *oldest = NULL;

    if (w->n_open < OPEN_FILES_MAX) return FM_OK;
    for (int32_t i = 0; i < w->n_partitions; i++) {
        partition *p = &w->partitions[i];
        if (p->file && (!oldest || p->used < oldest->used)) oldest = p;
    }
    return finish_file(w, oldest, err);
}

/* Rule: Spark names files part-<task>-<uuid>-c<n>.<ext>, and below partition folders with a dot before the c. */
static fm_status open_file(fm_file_writer *w, partition *p, fm_error *err)
{
    const fm_file_target *t = w->target;

    FM_TRY(make_room(w, err));
    if (p->n_files == 0) fm_uuid(p->uuid);
    p->path = fm_arena_printf(w->arena, "%s/part-%05d-%s%cc%03d%s.%s%s", p->dir.len == 1 ? "" : p->dir.ptr, w->index, p->uuid,
                              t->n_partition_columns ? '.' : '-', p->n_files, t->pack_extension, t->format->extension,
                              fm_pack_extension(t->pack));
    if (!p->path.ptr) return fm_no_memory(w->arena, err);
    if (p->n_files == 0) FM_TRY(fm_fs_mkdirs(t->fs, p->dir.ptr, err));
    FM_TRY(fm_part_file_open(t->fs, p->path.ptr, t->pack, &p->file, err));
    p->n_files++;
    w->n_open++;
    if (t->format->write_end) FM_TRY(t->format->writer_new(w->arena, t->data_schema, t->options, t->zone, &p->writer, err));
    return t->format->write_header ? t->format->write_header(w->format_writer, fm_part_file_text(p->file), err) : FM_OK;
}

static fm_status write_rows(fm_file_writer *w, partition *p, const fm_batch *data, fm_error *err)
{
    const fm_file_target *t = w->target;

    p->used = ++w->clock;
    if (!p->file) FM_TRY(open_file(w, p, err));
    FM_TRY(t->format->write_batch(p->writer ? p->writer : w->format_writer, data, fm_part_file_text(p->file), err));
    return fm_part_file_flush(p->file, t->n_partition_columns ? FLUSH_SIZE_PARTITIONED : FLUSH_SIZE, err);
}

/* ---- Partitions -------------------------------------------------------------------------------------------- */

static fm_status add_partition(fm_file_writer *w, const fm_key *key, fm_str dir, int32_t *out, fm_error *err)
{
    if (w->n_partitions == w->cap_partitions) {
        int32_t cap = w->cap_partitions ? w->cap_partitions * 2 : 8;
        partition *more = fm_arena_array(w->arena, partition, cap);
        if (!more) return fm_no_memory(w->arena, err);
        if (w->n_partitions) memcpy(more, w->partitions, (size_t)w->n_partitions * sizeof *more);
        w->partitions = more;
        w->cap_partitions = cap;
    }
    partition *p = &w->partitions[w->n_partitions];
    *p = (partition){.dir = dir, .local = -1};
    if (key) *p = (partition){.key = *key, .dir = dir, .local = -1};
    if (key && !fm_key_is_inline(key)) {
        fm_str bytes = fm_arena_str(w->arena, fm_key_bytes(key));
        if (!bytes.ptr) return fm_no_memory(w->arena, err);
        p->key = fm_key_of_bytes(bytes);
    }
    *out = w->n_partitions++;
    return FM_OK;
}

static int32_t *find_slot(const fm_file_writer *w, const fm_key *key)
{
    uint32_t mask = (uint32_t)w->n_slots - 1, i = (uint32_t)key->hash & mask;

    while (w->slots[i] >= 0 && !fm_key_eq(&w->partitions[w->slots[i]].key, key)) i = (i + 1) & mask;
    return &w->slots[i];
}

static fm_status grow_slots(fm_file_writer *w, fm_error *err)
{
    if (w->n_slots && w->n_partitions < w->n_slots / 2) return FM_OK;
    w->n_slots = w->n_slots ? w->n_slots * 2 : 64;
    w->slots = fm_arena_array(w->arena, int32_t, w->n_slots);
    if (!w->slots) return fm_no_memory(w->arena, err);
    memset(w->slots, 0xFF, (size_t)w->n_slots * sizeof *w->slots); /* -1 */
    for (int32_t i = 0; i < w->n_partitions; i++) *find_slot(w, &w->partitions[i].key) = i;
    return FM_OK;
}

static fm_status partition_of(fm_file_writer *w, const fm_batch *batch, int32_t row, const fm_key *key, int32_t *out, fm_error *err)
{
    const fm_file_target *t = w->target;

    FM_TRY(grow_slots(w, err));
    int32_t *slot = find_slot(w, key);
    if (*slot < 0) {
        fm_strbuf folders = {0};
        fm_partition_path(batch, t->partition_columns, t->n_partition_columns, row, t->zone, &folders);
        fm_str dir = fm_arena_printf(w->arena, "%s/%s", t->dir.len == 1 ? "" : t->dir.ptr, folders.ptr ? folders.ptr : "");
        bool ok = fm_strbuf_ok(&folders) && dir.ptr;
        fm_strbuf_fini(&folders);
        if (!ok) return fm_no_memory(w->arena, err);
        FM_TRY(add_partition(w, key, dir, slot, err));
    }
    *out = *slot;
    return FM_OK;
}

/* The columns that go to files, of the given batch. */
static void pick_data(const fm_file_target *t, const fm_batch *batch, fm_vec *columns, fm_batch *out)
{
    for (int32_t c = 0; c < t->data_schema->n_fields; c++) columns[c] = batch->columns[t->data_columns[c]];
    *out = (fm_batch){.schema = t->data_schema, .rows = batch->rows, .columns = columns};
}

/* Rows of one batch by partition, in order of first appearance, each partition's in the order of the batch. */
typedef struct routing {
    int32_t *partitions; /* [n] indexes */
    int32_t *starts;     /* [n + 1] into rows */
    int32_t *rows;
    int32_t n;
} routing;

static fm_status route(fm_file_writer *w, const fm_batch *batch, routing *r, fm_error *err)
{
    const fm_file_target *t = w->target;
    int32_t rows = batch->rows;
    const fm_vec **columns = fm_arena_array(w->scratch, const fm_vec *, t->n_partition_columns);
    fm_key *keys = fm_arena_array(w->scratch, fm_key, rows);
    int32_t *locals = fm_arena_array(w->scratch, int32_t, rows), *at = fm_arena_array(w->scratch, int32_t, rows + 1);

    r->partitions = fm_arena_array(w->scratch, int32_t, rows);
    r->starts = fm_arena_array(w->scratch, int32_t, rows + 2);
    r->rows = fm_arena_array(w->scratch, int32_t, rows);
    r->n = 0;
    if (!columns || !keys || !locals || !at || !r->partitions || !r->starts || !r->rows) return fm_no_memory(w->scratch, err);
    for (int32_t c = 0; c < t->n_partition_columns; c++) columns[c] = &batch->columns[t->partition_columns[c]];
    FM_TRY(fm_keys_encode(columns, t->n_partition_columns, rows, w->scratch, keys, err));
    for (int32_t i = 0; i < rows; i++) {
        int32_t p = 0;
        FM_TRY(partition_of(w, batch, i, &keys[i], &p, err));
        if (w->partitions[p].local < 0) {
            w->partitions[p].local = r->n;
            r->partitions[r->n++] = p;
        }
        locals[i] = w->partitions[p].local;
        r->starts[locals[i] + 1]++;
    }
    for (int32_t k = 0; k < r->n; k++) {
        r->starts[k + 1] += r->starts[k];
        at[k] = r->starts[k];
        w->partitions[r->partitions[k]].local = -1;
    }
    for (int32_t i = 0; i < rows; i++) r->rows[at[locals[i]]++] = i;
    return FM_OK;
}

static fm_status write_partitioned(fm_file_writer *w, const fm_batch *batch, const fm_batch *data, fm_error *err)
{
    routing r;

    FM_TRY(route(w, batch, &r, err));
    for (int32_t k = 0; k < r.n; k++) {
        const fm_batch *part = data;
        int32_t n = r.starts[k + 1] - r.starts[k];
        if (n < data->rows) FM_TRY(fm_batch_gather(data, r.rows + r.starts[k], n, w->scratch, &part, err));
        FM_TRY(write_rows(w, &w->partitions[r.partitions[k]], part, err));
    }
    return FM_OK;
}

fm_status fm_file_writer_write(fm_file_writer *w, const fm_batch *batch, fm_error *err)
{
    const fm_file_target *t = w->target;
    fm_batch data;
    int32_t first;

    if (batch->rows == 0) return FM_OK;
    fm_arena_reset(w->scratch);
    fm_vec *columns = fm_arena_array(w->scratch, fm_vec, t->data_schema->n_fields);
    if (!columns) return fm_no_memory(w->scratch, err);
    pick_data(t, batch, columns, &data);
    w->rows += batch->rows;
    if (t->n_partition_columns) return write_partitioned(w, batch, &data, err);
    if (w->n_partitions == 0) FM_TRY(add_partition(w, NULL, t->dir, &first, err));
    return write_rows(w, &w->partitions[0], &data, err);
}

fm_status fm_file_writer_finish(fm_file_writer *w, fm_error *err)
{
    for (int32_t i = 0; i < w->n_partitions; i++) {
        if (w->partitions[i].file) FM_TRY(finish_file(w, &w->partitions[i], err));
    }
    return FM_OK;
}

void fm_file_writer_abort(fm_file_writer *w)
{
    for (int32_t i = 0; i < w->n_partitions; i++) {
        partition *p = &w->partitions[i];
        free_writer(w->target, p);
        if (!p->file) continue;
        fm_part_file_abandon(p->file);
        p->file = NULL;
        fm_fs_remove(w->target->fs, p->path.ptr, NULL);
    }
    for (int32_t i = 0; i < w->n_files; i++) fm_fs_remove(w->target->fs, w->files[i].path.ptr, NULL);
    w->n_files = w->n_partitions = w->n_open = 0;
}

void fm_file_writer_fini(fm_file_writer *w)
{
    for (int32_t i = 0; i < w->n_partitions; i++) {
        free_writer(w->target, &w->partitions[i]);
        fm_part_file_abandon(w->partitions[i].file);
    }
    w->n_partitions = 0;
    fm_arena_free(w->arena);
    fm_arena_free(w->scratch);
    fm_arena_free(w->query);
    w->arena = w->scratch = w->query = NULL;
}
