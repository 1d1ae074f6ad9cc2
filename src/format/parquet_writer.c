/* format/parquet_writer.c: writes Parquet files: rows into leaves, leaves into row groups, the footer at the end. */
#include <stdlib.h>

#include "base/limits.h"
#include "format/parquet_shred.h"
#include "format/spark_schema.h"

enum {
    ROW_GROUP_SIZE = 128 << 20, /* as Spark's */
    PAGE_SIZE = 1 << 20,
    PAGE_ROWS = 20000           /* what a reader that prunes pages must read at least; parquet-java's number */
};

struct fm_parquet_writer {
    fm_parquet_write spec;
    fm_arena *arena;           /* as long as the writer */
    fm_arena *scratch;         /* one batch */
    fm_pq_part root;
    fm_pq_leaf_writer *leaves; /* [n_leaves] */
    int32_t n_leaves;
    fm_pq_packer packer;
    fm_strbuf spark_schema;
    int64_t at;                /* bytes of the file so far */
    int64_t rows, group_rows;
    fm_pq_group_entry *groups, **groups_end;
    int32_t n_groups;
    bool started, finished;
    fm_parquet_written result;
};

static const int32_t codecs[] = {FM_PQ_UNCOMPRESSED, FM_PQ_SNAPPY, FM_PQ_GZIP, FM_PQ_ZSTD, FM_PQ_LZ4_RAW};

fm_status fm_parquet_codec_parse(fm_str name, fm_parquet_codec *out, fm_error *err)
{
    static const struct {
        const char *name;
        fm_parquet_codec codec;
    } names[] = {{"none", FM_PARQUET_UNCOMPRESSED}, {"uncompressed", FM_PARQUET_UNCOMPRESSED}, {"snappy", FM_PARQUET_SNAPPY},
                 {"gzip", FM_PARQUET_GZIP}, {"zstd", FM_PARQUET_ZSTD}, {"lz4", FM_PARQUET_LZ4_RAW}, {"lz4_raw", FM_PARQUET_LZ4_RAW}};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!fm_str_eq_ci(name, fm_str_c(names[i].name))) continue;
        *out = names[i].codec;
        return FM_OK;
    }
    return fm_fail(err, FM_INVALID, "CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION",
                   "The codec %.*s is not available. Available codecs are uncompressed, none, snappy, gzip, zstd, lz4, lz4_raw.", FM_STR_ARG(name));
}

const char *fm_parquet_codec_extension(fm_parquet_codec codec)
{
    static const char *const names[] = {"", ".snappy", ".gz", ".zstd", ".lz4raw"};

    return names[codec];
}

bool fm_parquet_can_write(const fm_type *schema, fm_error *err)
{
    fm_arena *scratch = fm_arena_new(0);
    fm_pq_part root;
    int32_t n;
    fm_status st = scratch ? fm_pq_parts_build(schema, NULL, scratch, &root, &n, err) : fm_no_memory(NULL, err);

    fm_arena_free(scratch);
    return st == FM_OK;
}

/* ---- Opening ------------------------------------------------------------------------------------------------ */

static fm_status open_leaf(fm_parquet_writer *w, const fm_pq_part *p, fm_error *err)
{
    fm_pq_leaf_writer *l = &w->leaves[p->leaf];
    const fm_parquet_write *s = &w->spec;

    l->type = p->type;
    l->storage = fm_pq_storage_of(p->type, s->timestamps);
    l->max_def = p->def;
    l->max_rep = p->rep;
    l->codec = codecs[s->codec];
    l->level = s->level;
    l->page_size = s->page_size > 0 ? s->page_size : PAGE_SIZE;
    l->page_rows = PAGE_ROWS;
    l->page_index = !s->no_page_index;
    l->may_dictionary = !s->no_dictionary && p->type->id != FM_TYPE_BOOL;
    l->packer = &w->packer;
    for (int32_t i = 0; i < s->n_bloom_columns; i++)
        if (&w->root.children[s->bloom_columns[i]] == p)
            l->want_bloom = l->storage.views || (l->storage.size < 16 && l->storage.size > 1 && !l->storage.int96 && !l->storage.to_millis);
    return fm_pq_leaf_init(l) ? FM_OK : fm_no_memory(NULL, err);
}

static fm_status open_leaves(fm_parquet_writer *w, const fm_pq_part *p, fm_error *err)
{
    if (!fm_type_is_nested(p->type)) return open_leaf(w, p, err);
    for (int32_t i = 0; i < p->type->n_fields; i++) FM_TRY(open_leaves(w, &p->children[i], err));
    return FM_OK;
}

static fm_status writer_open(fm_parquet_writer *w, fm_error *err)
{
    FM_TRY(fm_pq_parts_build(w->spec.schema, w->spec.ids, w->arena, &w->root, &w->n_leaves, err));
    w->leaves = fm_arena_array(w->arena, fm_pq_leaf_writer, w->n_leaves);
    if (!w->leaves) return fm_no_memory(w->arena, err);
    FM_TRY(open_leaves(w, &w->root, err));
    fm_spark_schema_print(w->spec.schema, &w->spark_schema);
    return fm_strbuf_ok(&w->spark_schema) ? FM_OK : fm_no_memory(NULL, err);
}

fm_status fm_parquet_writer_new(const fm_parquet_write *spec, fm_parquet_writer **out, fm_error *err)
{
    fm_parquet_writer *w = calloc(1, sizeof *w);

    *out = NULL;
    if (!w) return fm_no_memory(NULL, err);
    w->spec = *spec;
    if (w->spec.row_group_size <= 0) w->spec.row_group_size = ROW_GROUP_SIZE;
    if (w->spec.row_group_rows <= 0) w->spec.row_group_rows = INT64_MAX;
    w->groups_end = &w->groups;
    w->arena = fm_arena_new(0);
    w->scratch = fm_arena_new(0);
    fm_status st = w->arena && w->scratch ? FM_OK : fm_no_memory(NULL, err);
    if (st == FM_OK && spec->metadata) { /* copied: it may be the caller's for the call only */
        fm_options *more = fm_arena_one(w->arena, fm_options);
        bool ok = more != NULL;
        for (int32_t i = 0; ok && i < spec->metadata->n; i++) ok = fm_options_set(w->arena, more, spec->metadata->items[i].key, spec->metadata->items[i].value);
        w->spec.metadata = more;
        if (!ok) st = fm_no_memory(w->arena, err);
    }
    if (st == FM_OK) st = writer_open(w, err);
    w->spec.bloom_columns = NULL;
    if (st == FM_OK) *out = w;
    else fm_parquet_writer_free(w);
    return st;
}

void fm_parquet_writer_free(fm_parquet_writer *w)
{
    if (!w) return;
    for (int32_t i = 0; w->leaves && i < w->n_leaves; i++) fm_pq_leaf_fini(&w->leaves[i]);
    fm_pq_packer_fini(&w->packer);
    fm_strbuf_fini(&w->spark_schema);
    fm_arena_free(w->arena);
    fm_arena_free(w->scratch);
    free(w);
}

int64_t fm_parquet_writer_held(const fm_parquet_writer *w)
{
    size_t size = 0;

    for (int32_t i = 0; i < w->n_leaves; i++) size += fm_pq_leaf_held(&w->leaves[i]);
    return (int64_t)size;
}

/* ---- Row groups --------------------------------------------------------------------------------------------- */

/* The text of `buf` from `from` on, cut off it and kept in the arena. */
static fm_status keep(fm_parquet_writer *w, fm_strbuf *buf, fm_str *out, fm_error *err)
{
    *out = fm_strbuf_ok(buf) ? fm_arena_str(w->arena, fm_strbuf_str(buf)) : (fm_str){NULL, 0};
    fm_strbuf_clear(buf);
    return out->ptr ? FM_OK : fm_no_memory(w->arena, err);
}

static fm_status end_chunk(fm_parquet_writer *w, fm_pq_leaf_writer *l, int64_t *at, fm_pq_chunk_entry *c, fm_strbuf *out, fm_error *err)
{
    fm_pq_chunk_written written;
    fm_strbuf buf = {0};

    if (!fm_pq_leaf_end_chunk(l, out, &written)) return fm_no_memory(NULL, err);
    *c = (fm_pq_chunk_entry){.offset = *at, .size = written.size, .unpacked_size = written.unpacked_size,
                             .dictionary_size = written.dictionary_size, .values = l->chunk_levels, .encodings = l->encodings | 1U << FM_PQ_RLE};
    *at += written.size;
    l->file_size += written.size;
    fm_pq_put_statistics(l, &buf);
    fm_status st = keep(w, &buf, &c->stats, err);
    if (st == FM_OK && l->page_index) {
        fm_pq_put_offset_index(l, c->offset + c->dictionary_size, &buf);
        st = keep(w, &buf, &c->offset_index, err);
        if (st == FM_OK && !l->extent.nan && !l->storage.int96) {
            fm_pq_put_column_index(l, &buf);
            st = keep(w, &buf, &c->column_index, err);
        }
    }
    if (st == FM_OK && l->want_bloom) {
        if (!fm_pq_put_bloom(l, &buf)) buf.failed = true;
        st = keep(w, &buf, &c->bloom, err);
    }
    fm_strbuf_fini(&buf);
    fm_pq_leaf_next(l);
    return st;
}

static fm_status end_group(fm_parquet_writer *w, fm_strbuf *out, fm_error *err)
{
    fm_pq_group_entry *g = fm_arena_one(w->arena, fm_pq_group_entry);
    int64_t at = w->at;

    if (w->group_rows == 0) return FM_OK;
    if (g) g->chunks = fm_arena_array(w->arena, fm_pq_chunk_entry, w->n_leaves);
    if (!g || !g->chunks) return fm_no_memory(w->arena, err);
    g->rows = w->group_rows;
    g->offset = at;
    for (int32_t i = 0; i < w->n_leaves; i++) {
        FM_TRY(end_chunk(w, &w->leaves[i], &at, &g->chunks[i], out, err));
        g->size += g->chunks[i].size;
        g->unpacked_size += g->chunks[i].unpacked_size;
    }
    *w->groups_end = g;
    w->groups_end = &g->next;
    w->n_groups++;
    w->group_rows = 0;
    w->at = at;
    return FM_OK;
}

static void start(fm_parquet_writer *w, fm_strbuf *out)
{
    if (w->started) return;
    w->started = true;
    w->at = 4;
    fm_strbuf_add_c(out, "PAR1");
}

fm_status fm_parquet_writer_write(fm_parquet_writer *w, const fm_batch *batch, fm_strbuf *out, fm_error *err)
{
    fm_assert(!w->finished && batch->schema->n_fields == w->spec.schema->n_fields);
    start(w, out);
    if (batch->rows == 0) return fm_strbuf_ok(out) ? FM_OK : fm_no_memory(NULL, err);
    fm_arena_reset(w->scratch);
    FM_TRY(fm_pq_shred(&w->root, batch, w->leaves, w->scratch, err));
    w->rows += batch->rows;
    w->group_rows += batch->rows;
    if (w->group_rows >= w->spec.row_group_rows || fm_parquet_writer_held(w) >= w->spec.row_group_size) FM_TRY(end_group(w, out, err));
    return fm_strbuf_ok(out) ? FM_OK : fm_no_memory(NULL, err);
}

/* ---- The end ------------------------------------------------------------------------------------------------ */

static void put_indexes(fm_parquet_writer *w, fm_strbuf *out)
{
    for (int kind = 0; kind < 3; kind++) { /* each kind together, as readers fetch them */
        for (fm_pq_group_entry *g = w->groups; g; g = g->next) {
            for (int32_t i = 0; i < w->n_leaves; i++) {
                fm_pq_chunk_entry *c = &g->chunks[i];
                fm_str text = kind == 0 ? c->bloom : kind == 1 ? c->column_index : c->offset_index;
                int64_t *at = kind == 0 ? &c->bloom_at : kind == 1 ? &c->column_index_at : &c->offset_index_at;
                *at = w->at;
                fm_strbuf_add(out, text);
                w->at += (int64_t)text.len;
            }
        }
    }
}

/* One value that was kept track of, as a lane. */
static fm_status make_bound(fm_parquet_writer *w, const fm_pq_leaf_writer *l, bool is_min, const fm_vec **out, fm_error *err)
{
    const fm_pq_extent *e = &l->file_extent;
    fm_vec *v = fm_arena_one(w->arena, fm_vec);
    char *value = fm_arena_buffer(w->arena, 16, true);
    int64_t i = is_min ? e->min.i : e->max.i;
    double f = is_min ? e->min.f : e->max.f;
    float narrow = (float)f;
    fm_str text = fm_strbuf_str(is_min ? &e->min_text : &e->max_text);

    if (!v || !value) return fm_no_memory(w->arena, err);
    if (fm_type_is_view(l->type)) {
        fm_view view = fm_view_of(text.ptr, text.len);
        memcpy(value, &view, sizeof view);
    } else if (l->type->id == FM_TYPE_DECIMAL) {
        memcpy(value, is_min ? &e->min.d : &e->max.d, 16);
    } else if (l->type->id == FM_TYPE_F32) {
        memcpy(value, &narrow, 4);
    } else if (l->type->id == FM_TYPE_F64) {
        memcpy(value, &f, 8);
    } else {
        memcpy(value, &i, fm_type_width(l->type)); /* little-endian: the low bytes are the narrow number */
    }
    *v = (fm_vec){.type = l->type, .len = 1, .values = value};
    *out = v;
    return FM_OK;
}

static fm_status describe(fm_parquet_writer *w, const fm_pq_part *p, const fm_str *above, int32_t n_above, fm_parquet_column_written *columns,
                          fm_error *err)
{
    fm_str *path = fm_arena_array(w->arena, fm_str, n_above + 1);

    if (!path) return fm_no_memory(w->arena, err);
    if (n_above) memcpy(path, above, (size_t)n_above * sizeof *path);
    path[n_above] = p->name;
    if (p->type->id == FM_TYPE_STRUCT) {
        for (int32_t i = 0; i < p->type->n_fields; i++) FM_TRY(describe(w, &p->children[i], path, n_above + 1, columns, err));
        return FM_OK;
    }
    if (fm_type_is_nested(p->type)) return FM_OK;
    fm_pq_leaf_writer *l = &w->leaves[p->leaf];
    fm_parquet_column_written *c = &columns[w->result.n_columns++];
    *c = (fm_parquet_column_written){.path = path, .n_path = n_above + 1, .type = p->type, .null_count = l->file_nulls, .size = l->file_size};
    if (!l->file_extent.any || l->file_extent.nan || l->storage.int96) return FM_OK;
    FM_TRY(make_bound(w, l, true, &c->min, err));
    return make_bound(w, l, false, &c->max, err);
}

fm_status fm_parquet_writer_finish(fm_parquet_writer *w, fm_strbuf *out, fm_error *err)
{
    fm_assert(!w->finished);
    start(w, out);
    FM_TRY(end_group(w, out, err));
    put_indexes(w, out);
    size_t from = out->len;
    fm_pq_put_footer(&w->root, w->leaves, w->n_leaves, w->groups, w->n_groups, w->rows, &w->spec, fm_strbuf_str(&w->spark_schema), out);
    uint32_t len = (uint32_t)(out->len - from);
    fm_strbuf_add(out, (fm_str){(const char *)&len, 4});
    fm_strbuf_add_c(out, "PAR1");
    w->at += (int64_t)len + 8;
    w->finished = true;
    fm_parquet_column_written *columns = fm_arena_array(w->arena, fm_parquet_column_written, w->n_leaves);
    if (!columns || !fm_strbuf_ok(out)) return fm_no_memory(w->arena, err);
    w->result = (fm_parquet_written){.rows = w->rows, .size = w->at, .columns = columns};
    for (int32_t i = 0; i < w->root.type->n_fields; i++) FM_TRY(describe(w, &w->root.children[i], NULL, 0, columns, err));
    return FM_OK;
}

const fm_parquet_written *fm_parquet_writer_result(const fm_parquet_writer *w)
{
    fm_assert(w->finished);
    return &w->result;
}
