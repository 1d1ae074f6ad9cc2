/* format/parquet_file.c: opens Parquet files: footer, row groups, statistics.
 *
 *     ... footer | u32 length of the footer | 'PAR1'
 *
 * One read takes the end of the file, which has the whole footer of all but the widest files. */
#include "format/parquet_impl.h"

#include <math.h>
#include <stdio.h>

#include "base/limits.h"

enum {
    TAIL_SIZE = 64 << 10,     /* bytes read at first */
    MAGIC_SIZE = 4,
    END_SIZE = 8              /* length and magic */
};

fm_status fm_pq_corrupt(const fm_parquet_file *file, fm_error *err, const char *format, ...)
{
    char what[512];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return fm_fail(err, FM_CORRUPT, "FAILED_READ_FILE.NO_HINT",
                   "Encountered error while reading file '%.*s': it is damaged, or no Parquet file: %s. Restore it, remove it, or set "
                   "option ignoreCorruptFiles to 'true' to go on without it.",
                   FM_STR_ARG(file->path), what);
}

fm_status fm_pq_read_at(const fm_parquet_file *file, int64_t offset, void *out, size_t size, fm_error *err)
{
    size_t got = 0;

    if (offset < 0 || offset > file->size || (int64_t)size > file->size - offset)
        return fm_pq_corrupt(file, err, "it points beyond its own end, to byte %lld", (long long)offset);
    FM_TRY(fm_file_read_at(file->file, offset, out, size, &got, err));
    return got == size ? FM_OK : fm_pq_corrupt(file, err, "it ends at byte %lld, before its end", (long long)offset + (long long)got);
}

/* ---- The footer --------------------------------------------------------------------------------------------- */

static uint32_t little_endian(const unsigned char *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static fm_status encrypted(const fm_parquet_file *file, fm_error *err)
{
    return fm_fail(err, FM_UNSUPPORTED, "FLOODMARK_PARQUET_ENCRYPTED",
                   "File '%.*s' is encrypted (Parquet modular encryption), which is not built in. Decrypt it first.",
                   FM_STR_ARG(file->path));
}

static fm_status footer_bytes(const fm_parquet_file *file, fm_arena *arena, fm_str *out, fm_error *err)
{
    size_t tail = file->size < TAIL_SIZE ? (size_t)file->size : TAIL_SIZE;
    char *buf = fm_arena_alloc(arena, tail + 1, 1);

    if (!buf) return fm_no_memory(arena, err);
    if (file->size < MAGIC_SIZE + END_SIZE) return fm_pq_corrupt(file, err, "it has %lld bytes only", (long long)file->size);
    FM_TRY(fm_pq_read_at(file, file->size - (int64_t)tail, buf, tail, err));
    const char *end = buf + tail;
    if (memcmp(end - MAGIC_SIZE, "PARE", MAGIC_SIZE) == 0) return encrypted(file, err);
    if (memcmp(end - MAGIC_SIZE, "PAR1", MAGIC_SIZE) != 0) return fm_pq_corrupt(file, err, "it does not end with PAR1");
    size_t len = little_endian((const unsigned char *)end - END_SIZE);
    if ((int64_t)len > file->size - MAGIC_SIZE - END_SIZE)
        return fm_pq_corrupt(file, err, "its footer would have %zu bytes, more than there are", len);
    if (len > FM_PQ_FOOTER_SIZE_MAX)
        return fm_fail(err, FM_LIMIT, "FLOODMARK_LIMIT", "File '%.*s' has a footer of %zu bytes.", FM_STR_ARG(file->path), len);
    if (len + END_SIZE <= tail) {
        *out = (fm_str){end - END_SIZE - len, len};
        return FM_OK;
    }
    buf = fm_arena_alloc(arena, len, 1);
    if (!buf) return fm_no_memory(arena, err);
    *out = (fm_str){buf, len};
    return fm_pq_read_at(file, file->size - END_SIZE - (int64_t)len, buf, len, err);
}

int64_t fm_pq_chunk_start(const fm_pq_chunk *c)
{
    return c->dictionary_offset > 0 && c->dictionary_offset < c->data_offset ? c->dictionary_offset : c->data_offset;
}

static fm_status check_chunk(const fm_parquet_file *file, int32_t group, int32_t leaf, const fm_pq_chunk *c, fm_error *err)
{
    fm_str name = file->leaves[leaf].element->name;

    if (c->encrypted) return encrypted(file, err);
    if (c->elsewhere)
        return fm_fail(err, FM_UNSUPPORTED, "FLOODMARK_PARQUET_OTHER_FILE",
                       "File '%.*s' keeps its columns in other files, which is not built in.", FM_STR_ARG(file->path));
    if (!c->has_meta) return fm_pq_corrupt(file, err, "column '%.*s' of row group %d is not described", FM_STR_ARG(name), group);
    if (c->type != file->leaves[leaf].element->type)
        return fm_pq_corrupt(file, err, "column '%.*s' of row group %d has another type than the schema says", FM_STR_ARG(name), group);
    int64_t start = fm_pq_chunk_start(c);
    if (c->values < 0 || c->packed_size < 0 || start < 0 || start > file->size || c->packed_size > file->size - start)
        return fm_pq_corrupt(file, err, "column '%.*s' of row group %d lies beyond the end of the file", FM_STR_ARG(name), group);
    return FM_OK;
}

static fm_status check_groups(fm_parquet_file *file, fm_error *err)
{
    int64_t rows = 0;

    for (int32_t g = 0; g < file->footer.n_groups; g++) {
        fm_pq_row_group *group = &file->footer.groups[g];
        if (group->n_chunks != file->n_leaves)
            return fm_pq_corrupt(file, err, "row group %d has %d columns, the schema %d", g, group->n_chunks, file->n_leaves);
        if (group->rows < 0 || group->rows > INT64_MAX - rows) return fm_pq_corrupt(file, err, "row group %d has no number of rows", g);
        group->first_row = rows;
        rows += group->rows;
        group->offset = INT64_MAX;
        for (int32_t c = 0; c < group->n_chunks; c++) {
            FM_TRY(check_chunk(file, g, c, &group->chunks[c], err));
            int64_t start = fm_pq_chunk_start(&group->chunks[c]);
            if (start < group->offset) group->offset = start;
            group->packed_size += group->chunks[c].packed_size; /* each at most the file: no overflow below 2^31 of them */
            if (group->packed_size < 0) return fm_pq_corrupt(file, err, "row group %d is larger than the file", g);
        }
        if (group->n_chunks == 0) group->offset = 0;
    }
    file->footer.rows = rows; /* some writers leave the footer's own count at 0 */
    return FM_OK;
}

/* Spark before 3.0 wrote dates of the hybrid calendar; later ones say so when they do. */
static void note_calendar(fm_parquet_file *file)
{
    fm_str version = fm_parquet_metadata(file, FM_STR("org.apache.spark.version"));
    bool old = version.len > 1 && version.ptr[1] == '.' && version.ptr[0] < '3';

    file->legacy_dates = old || fm_parquet_metadata(file, FM_STR("org.apache.spark.legacyDateTime")).ptr;
    file->legacy_int96 = old || fm_parquet_metadata(file, FM_STR("org.apache.spark.legacyINT96")).ptr;
}

static fm_status open_footer(fm_parquet_file *file, fm_arena *arena, fm_error *err)
{
    fm_file_stat stat = {.size = file->size};
    fm_str bytes;

    if (file->size < 0) FM_TRY(fm_file_stat_of(file->file, &stat, err));
    file->size = stat.size;
    FM_TRY(footer_bytes(file, arena, &bytes, err));
    if (!fm_pq_footer_parse(bytes, arena, &file->footer)) return fm_pq_corrupt(file, err, "its footer cannot be parsed");
    if (file->footer.encrypted) return encrypted(file, err);
    FM_TRY(fm_pq_schema_build(file, arena, err));
    note_calendar(file);
    return check_groups(file, err);
}

fm_status fm_parquet_open(fm_fs *fs, const char *path, int64_t size, fm_arena *arena, fm_parquet_file **out, fm_error *err)
{
    fm_parquet_file *file = fm_arena_one(arena, fm_parquet_file);

    *out = NULL;
    if (!file) return fm_no_memory(arena, err);
    file->fs = fs;
    file->size = size;
    file->path = fm_arena_str(arena, fm_str_c(path));
    if (!file->path.ptr) return fm_no_memory(arena, err);
    FM_TRY(fm_file_open(fs, path, FM_OPEN_READ, &file->file, err));
    fm_status st = open_footer(file, arena, err);
    if (st == FM_OK) *out = file;
    else fm_parquet_close(file);
    return st;
}

void fm_parquet_close(fm_parquet_file *file)
{
    if (!file) return;
    fm_file_close(file->file, NULL);
    file->file = NULL;
}

/* ---- What it says ------------------------------------------------------------------------------------------- */

const fm_type *fm_parquet_schema(const fm_parquet_file *file) { return file->root.type; }
const fm_parquet_ids *fm_parquet_field_ids(const fm_parquet_file *file) { return file->ids; }
int64_t fm_parquet_rows(const fm_parquet_file *file) { return file->footer.rows; }
fm_str fm_parquet_created_by(const fm_parquet_file *file) { return file->footer.created_by; }
int32_t fm_parquet_row_groups(const fm_parquet_file *file) { return file->footer.n_groups; }

fm_status fm_parquet_check_schema(const fm_parquet_file *file, fm_error *err)
{
    for (int32_t i = 0; i < file->n_leaves; i++) {
        const fm_pq_node *n = file->leaves[i].node;
        if (!n->refused) continue;
        return fm_fail(err, FM_UNSUPPORTED, "PARQUET_TYPE_ILLEGAL",
                       "Illegal Parquet type: column '%.*s' of file '%.*s' is %s. Declare the columns you want and leave it out.",
                       FM_STR_ARG(file->leaves[i].element->name), FM_STR_ARG(file->path), n->refused);
    }
    return FM_OK;
}

fm_str fm_parquet_metadata(const fm_parquet_file *file, fm_str key)
{
    for (int32_t i = 0; i < file->footer.n_pairs; i++)
        if (fm_str_eq(file->footer.pairs[i].key, key)) return file->footer.pairs[i].value;
    return (fm_str){NULL, 0};
}

fm_parquet_row_group fm_parquet_row_group_at(const fm_parquet_file *file, int32_t i)
{
    const fm_pq_row_group *g = &file->footer.groups[i];

    fm_assert(i >= 0 && i < file->footer.n_groups);
    return (fm_parquet_row_group){g->first_row, g->rows, g->offset, g->packed_size};
}

/* ---- Statistics --------------------------------------------------------------------------------------------- */

const fm_pq_leaf *fm_pq_find_leaf(const fm_parquet_file *file, const fm_str *path, int32_t n)
{
    const fm_pq_node *node = &file->root;

    for (int32_t i = 0; i < n; i++) {
        const fm_pq_node *next = NULL;
        for (int32_t c = 0; node->kind == FM_PQ_NODE_STRUCT && c < node->n_children; c++)
            if (fm_str_eq(node->children[c].name, path[i])) next = &node->children[c];
        if (!next) return NULL;
        node = next;
    }
    return n > 0 && node->kind == FM_PQ_NODE_LEAF ? &file->leaves[node->leaf] : NULL;
}

/* A value of a floating type as a bound: NaN says nothing, and a zero may stand for the other one. */
static bool fix_float(const fm_type *type, bool is_min, void *value)
{
    if (type->id == FM_TYPE_F32) {
        float *x = value;
        if (*x == 0) *x = is_min ? -0.0F : 0.0F;
        return !isnan(*x);
    }
    if (type->id == FM_TYPE_F64) {
        double *x = value;
        if (*x == 0) *x = is_min ? -0.0 : 0.0;
        return !isnan(*x);
    }
    return true;
}

fm_status fm_pq_bound(const fm_pq_leaf *leaf, fm_str bytes, const fm_type *want, bool is_min, fm_arena *arena, const fm_vec **out,
                      fm_error *err)
{
    fm_pq_conversion c;
    const fm_pq_element *e = leaf->element;

    *out = NULL;
    /* INT96 has no order; an interval's physical order is not its own. */
    if (!bytes.ptr || e->type == FM_PQ_INT96 || !fm_pq_conversion_of(e, leaf->node->type, want, &c) || c.kind == FM_PQ_TO_VOID) return FM_OK;
    if (e->type != FM_PQ_BYTE_ARRAY && (int64_t)bytes.len != c.raw_size) return FM_OK;
    fm_vec *v = fm_arena_one(arena, fm_vec);
    char *value = fm_arena_buffer(arena, 16, true);
    fm_str copy = fm_arena_str(arena, bytes);
    if (!v || !value || !copy.ptr) return fm_no_memory(arena, err);
    fm_view view = fm_view_of(copy.ptr, copy.len);
    if (!fm_pq_convert_run(&c, e->type == FM_PQ_BYTE_ARRAY ? (const void *)&view : copy.ptr, 1, value)) return FM_OK;
    if (want->id == FM_TYPE_BOOL && (uint8_t)value[0] > 1) return FM_OK;
    if (!fix_float(want, is_min, value)) return FM_OK;
    *v = (fm_vec){.type = want, .len = 1, .values = value};
    *out = v;
    return FM_OK;
}

/* Whether min and max of the old kind are right: bytes were compared as signed, numbers by themselves. */
static bool old_order_fits(const fm_pq_element *e)
{
    if (e->logical == FM_PQ_INTEGER && !e->is_signed) return false;
    return e->type == FM_PQ_INT32 || e->type == FM_PQ_INT64 || e->type == FM_PQ_BOOLEAN || e->type == FM_PQ_FLOAT || e->type == FM_PQ_DOUBLE;
}

fm_status fm_pq_stats_read(const fm_parquet_file *file, const fm_pq_leaf *leaf, const fm_pq_statistics *s, const fm_type *want,
                           fm_arena *arena, fm_parquet_stats *out, fm_error *err)
{
    int32_t index = (int32_t)(leaf - file->leaves);
    bool ordered = index < file->footer.n_orders && file->footer.orders[index] == 1;
    fm_str min = s->min, max = s->max;

    *out = (fm_parquet_stats){.null_count = s->null_count, .min_exact = !s->min_inexact, .max_exact = !s->max_inexact};
    if (!ordered || (!min.ptr && !max.ptr)) {
        min = max = (fm_str){NULL, 0};
        if (old_order_fits(leaf->element)) min = s->old_min, max = s->old_max;
    }
    FM_TRY(fm_pq_bound(leaf, min, want, true, arena, &out->min, err));
    FM_TRY(fm_pq_bound(leaf, max, want, false, arena, &out->max, err));
    /* One of the two cannot be read (NaN): the other is not to be trusted. */
    if ((min.ptr && !out->min) || (max.ptr && !out->max)) out->min = out->max = NULL;
    return FM_OK;
}

fm_status fm_parquet_stats_of(const fm_parquet_file *file, int32_t row_group, const fm_str *path, int32_t n_path, fm_arena *arena,
                              fm_parquet_stats *out, fm_error *err)
{
    const fm_pq_leaf *leaf = fm_pq_find_leaf(file, path, n_path);

    fm_assert(row_group >= 0 && row_group < file->footer.n_groups);
    *out = (fm_parquet_stats){.null_count = -1};
    if (!leaf) return fm_fail(err, FM_NOT_FOUND, "FLOODMARK_PARQUET_NO_COLUMN", "File '%.*s' has no such column.", FM_STR_ARG(file->path));
    const fm_pq_chunk *c = &file->footer.groups[row_group].chunks[leaf - file->leaves];
    return fm_pq_stats_read(file, leaf, &c->stats, leaf->node->type, arena, out, err);
}
