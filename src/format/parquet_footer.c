/* format/parquet_footer.c: what stands behind the pages: statistics, page index, Bloom filters, FileMetaData.
 * Field numbers are those of parquet.thrift. */
#include <stdlib.h>

#include "format/parquet_prune.h"
#include "format/parquet_shred.h"

#define CREATED_BY "floodmark version 0.1.0 (build floodmark)"
/* Spark takes dates and timestamps for those of the proleptic calendar, as ours are, when the version is 3 or above. */
#define SPARK_VERSION "4.3.0"

enum { BLOOM_SIZE_MIN = 32, BLOOM_SIZE_MAX = 1 << 20, BLOOM_BITS_PER_VALUE = 10 /* one false hit in a hundred */ };

/* ---- A chunk ------------------------------------------------------------------------------------------------ */

void fm_pq_put_statistics(const fm_pq_leaf_writer *w, fm_strbuf *out)
{
    int32_t last = 0;
    fm_strbuf min = {0}, max = {0};
    bool min_exact = true, max_exact = true, bounded = w->extent.any && !w->extent.nan && !w->storage.int96;

    if (bounded) {
        fm_pq_extent_put(&w->extent, w->type, &w->storage, true, &min, &min_exact);
        fm_pq_extent_put(&w->extent, w->type, &w->storage, false, &max, &max_exact);
    }
    fm_thrift_put_i64(out, &last, 3, w->chunk_nulls);
    if (bounded) {
        fm_thrift_put_binary(out, &last, 5, fm_strbuf_str(&max));
        fm_thrift_put_binary(out, &last, 6, fm_strbuf_str(&min));
        fm_thrift_put_bool(out, &last, 7, max_exact);
        fm_thrift_put_bool(out, &last, 8, min_exact);
    }
    fm_thrift_put_end(out);
    out->failed |= min.failed || max.failed;
    fm_strbuf_fini(&min);
    fm_strbuf_fini(&max);
}

static fm_str note_text(const fm_pq_leaf_writer *w, size_t at, size_t len)
{
    return len ? (fm_str){w->notes_text.ptr + at, len} : (fm_str){"", 0};
}

void fm_pq_put_column_index(const fm_pq_leaf_writer *w, fm_strbuf *out)
{
    int32_t last = 0;

    fm_thrift_put_list(out, &last, 1, FM_THRIFT_TRUE, w->n_notes);
    for (int32_t i = 0; i < w->n_notes; i++) fm_thrift_put_truth(out, w->notes[i].all_null);
    fm_thrift_put_list(out, &last, 2, FM_THRIFT_BINARY, w->n_notes);
    for (int32_t i = 0; i < w->n_notes; i++) fm_thrift_put_bytes(out, note_text(w, w->notes[i].min_at, w->notes[i].min_len));
    fm_thrift_put_list(out, &last, 3, FM_THRIFT_BINARY, w->n_notes);
    for (int32_t i = 0; i < w->n_notes; i++) fm_thrift_put_bytes(out, note_text(w, w->notes[i].max_at, w->notes[i].max_len));
    fm_thrift_put_i32(out, &last, 4, 0); /* boundary order: none is claimed */
    fm_thrift_put_list(out, &last, 5, FM_THRIFT_I64, w->n_notes);
    for (int32_t i = 0; i < w->n_notes; i++) fm_thrift_put_int(out, w->notes[i].nulls);
    fm_thrift_put_end(out);
}

void fm_pq_put_offset_index(const fm_pq_leaf_writer *w, int64_t pages_offset, fm_strbuf *out)
{
    int32_t last = 0;

    fm_thrift_put_list(out, &last, 1, FM_THRIFT_STRUCT, w->n_notes);
    for (int32_t i = 0; i < w->n_notes; i++) {
        int32_t inner = 0;
        fm_thrift_put_i64(out, &inner, 1, pages_offset + w->notes[i].offset);
        fm_thrift_put_i32(out, &inner, 2, w->notes[i].size);
        fm_thrift_put_i64(out, &inner, 3, w->notes[i].first_row);
        fm_thrift_put_end(out);
    }
    fm_thrift_put_end(out);
}

bool fm_pq_put_bloom(const fm_pq_leaf_writer *w, fm_strbuf *out)
{
    int64_t distinct = w->dictionary_on && w->dictionary.n ? w->dictionary.n : w->n_hashes;
    size_t size = BLOOM_SIZE_MIN;
    int32_t last = 0, none = 0;

    while (size < BLOOM_SIZE_MAX && (int64_t)size * 8 < distinct * BLOOM_BITS_PER_VALUE) size *= 2;
    uint32_t *words = calloc(size / 4, sizeof *words);
    if (!words) return false;
    for (int64_t i = 0; i < w->n_hashes; i++) {
        uint32_t *block = words + fm_pq_bloom_block(w->hashes[i], size / 32) * 8;
        for (int32_t b = 0; b < 8; b++) block[b] |= fm_pq_bloom_bit(w->hashes[i], b);
    }
    fm_thrift_put_i32(out, &last, 1, (int32_t)size);
    for (int32_t id = 2; id <= 4; id++) { /* the algorithm, the hash, no packing: the first of each union */
        fm_thrift_put_struct(out, &last, id);
        none = 0;
        fm_thrift_put_struct(out, &none, 1);
        fm_thrift_put_end(out);
        fm_thrift_put_end(out);
    }
    fm_thrift_put_end(out);
    fm_strbuf_add(out, (fm_str){(const char *)words, size});
    free(words);
    return fm_strbuf_ok(out);
}

/* ---- The schema --------------------------------------------------------------------------------------------- */

/* What a leaf means, in the old words and the new. */
typedef struct meaning {
    int32_t converted; /* -1: none */
    fm_pq_logical logical;
    fm_pq_unit unit;
    bool adjusted;
    int32_t bits;
} meaning;

static meaning meaning_of(const fm_type *t, const fm_pq_storage *s)
{
    switch (t->id) {
    case FM_TYPE_I8: return (meaning){.converted = 15, .logical = FM_PQ_INTEGER, .bits = 8};
    case FM_TYPE_I16: return (meaning){.converted = 16, .logical = FM_PQ_INTEGER, .bits = 16};
    case FM_TYPE_STRING: return (meaning){.converted = 0, .logical = FM_PQ_STRING};
    case FM_TYPE_DECIMAL: return (meaning){.converted = 5, .logical = FM_PQ_DECIMAL};
    case FM_TYPE_DATE: return (meaning){.converted = 6, .logical = FM_PQ_DATE};
    case FM_TYPE_LIST: return (meaning){.converted = 3, .logical = FM_PQ_LIST};
    case FM_TYPE_MAP: return (meaning){.converted = 1, .logical = FM_PQ_MAP};
    case FM_TYPE_TIMESTAMP:
        if (s->int96) break;
        return (meaning){.converted = s->to_millis ? 9 : 10, .logical = FM_PQ_TIMESTAMP, .unit = s->to_millis ? FM_PQ_MILLIS : FM_PQ_MICROS, .adjusted = true};
    case FM_TYPE_TIMESTAMP_NTZ: return (meaning){.converted = -1, .logical = FM_PQ_TIMESTAMP, .unit = FM_PQ_MICROS};
    default: break;
    }
    return (meaning){.converted = -1};
}

static void put_logical(const meaning *m, const fm_type *t, fm_strbuf *out)
{
    int32_t last = 0, inner = 0, unit = 0;

    fm_thrift_put_struct(out, &last, (int32_t)m->logical);
    if (m->logical == FM_PQ_DECIMAL) {
        fm_thrift_put_i32(out, &inner, 1, t->scale);
        fm_thrift_put_i32(out, &inner, 2, t->precision);
    } else if (m->logical == FM_PQ_TIMESTAMP) {
        fm_thrift_put_bool(out, &inner, 1, m->adjusted);
        fm_thrift_put_struct(out, &inner, 2);
        fm_thrift_put_struct(out, &unit, (int32_t)m->unit);
        fm_thrift_put_end(out);
        fm_thrift_put_end(out);
    } else if (m->logical == FM_PQ_INTEGER) {
        fm_thrift_put_i8(out, &inner, 1, (int8_t)m->bits);
        fm_thrift_put_bool(out, &inner, 2, true);
    }
    fm_thrift_put_end(out);
    fm_thrift_put_end(out);
}

static void put_group(fm_str name, int32_t repetition, int32_t n_children, int32_t field_id, const meaning *m, const fm_type *t, fm_strbuf *out)
{
    int32_t last = 0;

    if (repetition >= 0) fm_thrift_put_i32(out, &last, 3, repetition);
    fm_thrift_put_binary(out, &last, 4, name);
    fm_thrift_put_i32(out, &last, 5, n_children);
    if (m->converted >= 0) fm_thrift_put_i32(out, &last, 6, m->converted);
    if (field_id >= 0) fm_thrift_put_i32(out, &last, 9, field_id);
    if (m->logical) {
        fm_thrift_put_struct(out, &last, 10);
        put_logical(m, t, out);
    }
    fm_thrift_put_end(out);
}

static void put_leaf(const fm_pq_part *p, const fm_pq_storage *s, const meaning *m, fm_strbuf *out)
{
    int32_t last = 0;

    fm_thrift_put_i32(out, &last, 1, (int32_t)s->type);
    if (s->type == FM_PQ_FIXED) fm_thrift_put_i32(out, &last, 2, s->fixed_size);
    fm_thrift_put_i32(out, &last, 3, p->nullable ? FM_PQ_OPTIONAL : FM_PQ_REQUIRED);
    fm_thrift_put_binary(out, &last, 4, p->name);
    if (m->converted >= 0) fm_thrift_put_i32(out, &last, 6, m->converted);
    if (m->logical == FM_PQ_DECIMAL) {
        fm_thrift_put_i32(out, &last, 7, p->type->scale);
        fm_thrift_put_i32(out, &last, 8, p->type->precision);
    }
    if (p->field_id >= 0) fm_thrift_put_i32(out, &last, 9, p->field_id);
    if (m->logical) {
        fm_thrift_put_struct(out, &last, 10);
        put_logical(m, p->type, out);
    }
    fm_thrift_put_end(out);
}

static int32_t put_elements(const fm_pq_part *p, const fm_pq_leaf_writer *leaves, bool root, fm_strbuf *out)
{
    static const meaning nothing = {.converted = -1};
    bool shell = p->type->id == FM_TYPE_LIST || p->type->id == FM_TYPE_MAP;
    meaning m = meaning_of(p->type, fm_type_is_nested(p->type) ? NULL : &leaves[p->leaf].storage);
    int32_t n = 1, repetition = root ? -1 : p->nullable ? FM_PQ_OPTIONAL : FM_PQ_REQUIRED;

    if (!fm_type_is_nested(p->type)) {
        put_leaf(p, &leaves[p->leaf].storage, &m, out);
        return 1;
    }
    put_group(p->name, repetition, shell ? 1 : p->type->n_fields, p->field_id, &m, p->type, out);
    if (shell) {
        put_group(p->type->id == FM_TYPE_LIST ? FM_STR("list") : FM_STR("key_value"), FM_PQ_REPEATED, p->type->n_fields, -1, &nothing, p->type, out);
        n++;
    }
    for (int32_t i = 0; i < p->type->n_fields; i++) n += put_elements(&p->children[i], leaves, false, out);
    return n;
}

/* ---- FileMetaData ------------------------------------------------------------------------------------------- */

static int32_t path_len(const fm_pq_part *p, int32_t leaf);

/* The names on the way to a leaf, the groups of lists and maps among them; counts them when out is NULL. */
static int32_t put_path(const fm_pq_part *p, int32_t leaf, bool root, fm_strbuf *out)
{
    int32_t n = 0;

    if (!root) {
        if (out) fm_thrift_put_bytes(out, p->name);
        n++;
    }
    if (!fm_type_is_nested(p->type)) return n;
    if (p->type->id != FM_TYPE_STRUCT) {
        if (out) fm_thrift_put_bytes(out, p->type->id == FM_TYPE_LIST ? FM_STR("list") : FM_STR("key_value"));
        n++;
    }
    int32_t i = p->type->n_fields - 1;
    while (i > 0 && p->children[i].leaf > leaf) i--;
    return n + put_path(&p->children[i], leaf, false, out);
}

static int32_t path_len(const fm_pq_part *p, int32_t leaf) { return put_path(p, leaf, true, NULL); }

static void put_chunk_meta(const fm_pq_part *root, int32_t leaf, const fm_pq_leaf_writer *w, const fm_pq_chunk_entry *c, fm_strbuf *out)
{
    int32_t last = 0, n = 0;

    fm_thrift_put_i32(out, &last, 1, (int32_t)w->storage.type);
    for (int32_t e = 0; e <= FM_PQ_BYTE_STREAM_SPLIT; e++) n += (int32_t)(c->encodings >> e & 1);
    fm_thrift_put_list(out, &last, 2, FM_THRIFT_I32, n);
    for (int32_t e = 0; e <= FM_PQ_BYTE_STREAM_SPLIT; e++)
        if (c->encodings >> e & 1) fm_thrift_put_int(out, e);
    fm_thrift_put_list(out, &last, 3, FM_THRIFT_BINARY, path_len(root, leaf));
    put_path(root, leaf, true, out);
    fm_thrift_put_i32(out, &last, 4, w->codec);
    fm_thrift_put_i64(out, &last, 5, c->values);
    fm_thrift_put_i64(out, &last, 6, c->unpacked_size);
    fm_thrift_put_i64(out, &last, 7, c->size);
    fm_thrift_put_i64(out, &last, 9, c->offset + c->dictionary_size);
    if (c->dictionary_size) fm_thrift_put_i64(out, &last, 11, c->offset);
    fm_thrift_put_struct(out, &last, 12);
    fm_strbuf_add(out, c->stats);
    if (c->bloom.len) {
        fm_thrift_put_i64(out, &last, 14, c->bloom_at);
        fm_thrift_put_i32(out, &last, 15, (int32_t)c->bloom.len);
    }
    fm_thrift_put_end(out);
}

static void put_group_entry(const fm_pq_part *root, const fm_pq_leaf_writer *leaves, int32_t n_leaves, const fm_pq_group_entry *g, int32_t index,
                            fm_strbuf *out)
{
    int32_t last = 0;

    fm_thrift_put_list(out, &last, 1, FM_THRIFT_STRUCT, n_leaves);
    for (int32_t i = 0; i < n_leaves; i++) {
        const fm_pq_chunk_entry *c = &g->chunks[i];
        int32_t inner = 0;
        fm_thrift_put_i64(out, &inner, 2, c->offset);
        fm_thrift_put_struct(out, &inner, 3);
        put_chunk_meta(root, i, &leaves[i], c, out);
        if (c->offset_index.len) {
            fm_thrift_put_i64(out, &inner, 4, c->offset_index_at);
            fm_thrift_put_i32(out, &inner, 5, (int32_t)c->offset_index.len);
        }
        if (c->column_index.len) {
            fm_thrift_put_i64(out, &inner, 6, c->column_index_at);
            fm_thrift_put_i32(out, &inner, 7, (int32_t)c->column_index.len);
        }
        fm_thrift_put_end(out);
    }
    fm_thrift_put_i64(out, &last, 2, g->unpacked_size);
    fm_thrift_put_i64(out, &last, 3, g->rows);
    fm_thrift_put_i64(out, &last, 5, g->offset);
    fm_thrift_put_i64(out, &last, 6, g->size);
    if (index <= INT16_MAX) { /* ordinal: a 16 bit field */
        fm_strbuf_add_char(out, (char)(1 << 4 | FM_THRIFT_I16));
        fm_thrift_put_int(out, index);
    }
    fm_thrift_put_end(out);
}

static void put_pair(fm_str key, fm_str value, fm_strbuf *out)
{
    int32_t last = 0;

    fm_thrift_put_binary(out, &last, 1, key);
    fm_thrift_put_binary(out, &last, 2, value);
    fm_thrift_put_end(out);
}

void fm_pq_put_footer(const fm_pq_part *root, const fm_pq_leaf_writer *leaves, int32_t n_leaves, const fm_pq_group_entry *groups,
                      int32_t n_groups, int64_t rows, const fm_parquet_write *spec, fm_str spark_schema, fm_strbuf *out)
{
    int32_t last = 0, n_more = spec->metadata ? spec->metadata->n : 0, n_elements;
    fm_strbuf elements = {0};

    n_elements = put_elements(root, leaves, true, &elements);
    fm_thrift_put_i32(out, &last, 1, 1);
    fm_thrift_put_list(out, &last, 2, FM_THRIFT_STRUCT, n_elements);
    fm_strbuf_add(out, fm_strbuf_str(&elements));
    fm_thrift_put_i64(out, &last, 3, rows);
    fm_thrift_put_list(out, &last, 4, FM_THRIFT_STRUCT, n_groups);
    for (int32_t i = 0; groups; groups = groups->next, i++) put_group_entry(root, leaves, n_leaves, groups, i, out);
    fm_thrift_put_list(out, &last, 5, FM_THRIFT_STRUCT, 2 + n_more);
    put_pair(FM_STR("org.apache.spark.version"), FM_STR(SPARK_VERSION), out);
    put_pair(FM_STR("org.apache.spark.sql.parquet.row.metadata"), spark_schema, out);
    for (int32_t i = 0; i < n_more; i++) put_pair(spec->metadata->items[i].key, spec->metadata->items[i].value, out);
    fm_thrift_put_binary(out, &last, 6, FM_STR(CREATED_BY));
    fm_thrift_put_list(out, &last, 7, FM_THRIFT_STRUCT, n_leaves);
    for (int32_t i = 0; i < n_leaves; i++) { /* the order that goes with each type */
        int32_t inner = 0;
        fm_thrift_put_struct(out, &inner, 1);
        fm_thrift_put_end(out);
        fm_thrift_put_end(out);
    }
    fm_thrift_put_end(out);
    out->failed |= elements.failed;
    fm_strbuf_fini(&elements);
}
