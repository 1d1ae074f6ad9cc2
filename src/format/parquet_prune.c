/* format/parquet_prune.c: leaves out row groups and pages that no wanted row can be in.
 *
 * For each predicate, in the order of what they cost: the chunk's least and greatest value and number of nulls; its Bloom
 * filter; then least and greatest value of each page, which leave ranges of rows. The ranges of all predicates are cut with
 * each other. Nothing here may fail for what it reads: an index that is damaged prunes nothing. */
#include "format/parquet_prune.h"

#include <stdlib.h>

#include "base/hash.h"

enum { INDEX_SIZE_MAX = 64 << 20, BLOOM_HEADER_SIZE = 64 };

/* ---- One predicate ------------------------------------------------------------------------------------------ */

/* Bounds of some values: those of a chunk, or of a page. */
typedef struct bounds {
    const fm_vec *min, *max; /* NULL: not known */
    int64_t nulls;           /* -1: not known */
    int64_t values;          /* nulls included; -1: not known */
    bool all_null;
} bounds;

static bool may_equal(const bounds *b, const fm_vec *value, int64_t i)
{
    if (b->min && fm_vec_cmp(value, i, b->min, 0) < 0) return false;
    return !(b->max && fm_vec_cmp(value, i, b->max, 0) > 0);
}

/* Floats: NaN is above all in our order, and left out of statistics: an upper bound says nothing about it. */
static bool nan_may_hide(const fm_vec *value) { return value->type->id == FM_TYPE_F32 || value->type->id == FM_TYPE_F64; }

/* Whether a row with such values may meet the predicate. */
static bool may_meet(const fm_parquet_predicate *p, const bounds *b)
{
    bool all_null = b->all_null || (b->values >= 0 && b->nulls == b->values);

    if (p->op == FM_PARQUET_IS_NULL) return b->nulls != 0;
    if (all_null) return false;
    switch (p->op) {
    case FM_PARQUET_EQ: return may_equal(b, &p->value, 0) || (nan_may_hide(&p->value) && b->max && fm_vec_cmp(&p->value, 0, b->max, 0) > 0);
    case FM_PARQUET_IN:
        if (nan_may_hide(&p->value)) return true;
        for (int32_t i = 0; i < p->value.len; i++)
            if (!fm_vec_is_null(&p->value, i) && may_equal(b, &p->value, i)) return true;
        return false;
    case FM_PARQUET_LT: return !b->min || fm_vec_cmp(b->min, 0, &p->value, 0) < 0;
    case FM_PARQUET_LE: return !b->min || fm_vec_cmp(b->min, 0, &p->value, 0) <= 0;
    case FM_PARQUET_GT: return nan_may_hide(&p->value) || !b->max || fm_vec_cmp(b->max, 0, &p->value, 0) > 0;
    case FM_PARQUET_GE: return nan_may_hide(&p->value) || !b->max || fm_vec_cmp(b->max, 0, &p->value, 0) >= 0;
    default: return true;
    }
}

/* ---- Bloom filters ------------------------------------------------------------------------------------------ */

uint32_t fm_pq_bloom_bit(uint64_t hash, int32_t word)
{
    static const uint32_t salt[8] = {0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU, 0x705495c7U, 0x2df1424bU, 0x9efc4947U, 0x5c6bfb31U};

    return (uint32_t)1 << ((uint32_t)hash * salt[word] >> 27);
}

bool fm_pq_bloom_hash(const fm_pq_element *e, const fm_vec *value, int64_t i, uint64_t *out)
{
    int32_t small;
    int64_t wide;

    switch (value->type->id) {
    case FM_TYPE_STRING:
    case FM_TYPE_BINARY: {
        fm_str s = fm_vec_str(value, i);
        *out = fm_xxh64(s.ptr, s.len, 0);
        return e->type == FM_PQ_BYTE_ARRAY || (e->type == FM_PQ_FIXED && (int64_t)s.len == e->type_length);
    }
    case FM_TYPE_I8: small = fm_vec_i8(value)[i]; break;
    case FM_TYPE_I16: small = fm_vec_i16(value)[i]; break;
    case FM_TYPE_I32:
    case FM_TYPE_DATE: small = fm_vec_i32(value)[i]; break;
    case FM_TYPE_I64:
        wide = fm_vec_i64(value)[i];
        *out = fm_xxh64(&wide, sizeof wide, 0);
        return e->type == FM_PQ_INT64;
    case FM_TYPE_TIMESTAMP:
    case FM_TYPE_TIMESTAMP_NTZ:
        wide = fm_vec_i64(value)[i];
        *out = fm_xxh64(&wide, sizeof wide, 0);
        return e->type == FM_PQ_INT64 && e->unit == FM_PQ_MICROS;
    case FM_TYPE_F64: /* 0.0 and -0.0 are equal and hash apart */
        *out = fm_xxh64(&fm_vec_f64(value)[i], 8, 0);
        return e->type == FM_PQ_DOUBLE && fm_vec_f64(value)[i] != 0 && fm_vec_f64(value)[i] == fm_vec_f64(value)[i];
    default: return false;
    }
    *out = fm_xxh64(&small, sizeof small, 0);
    return e->type == FM_PQ_INT32;
}

/* Whether a filter, [blocks] of 32 bytes, may hold the hash. */
static bool bloom_has(const uint8_t *bits, size_t blocks, uint64_t hash)
{
    const uint8_t *block = bits + fm_pq_bloom_block(hash, blocks) * 32;

    for (int32_t w = 0; w < 8; w++) {
        uint32_t word;
        memcpy(&word, block + (size_t)w * 4, 4);
        if (!(word & fm_pq_bloom_bit(hash, w))) return false;
    }
    return true;
}

/* Whether the chunk's filter, if it has one that can be read, leaves the predicate possible. */
static bool bloom_may_meet(const fm_parquet_file *file, const fm_pq_chunk *c, const fm_pq_element *e, const fm_parquet_predicate *p)
{
    char head[BLOOM_HEADER_SIZE];
    size_t head_size = sizeof head, taken;
    int32_t size;
    bool may = true;

    if (c->bloom_offset <= 0 || (p->op != FM_PARQUET_EQ && p->op != FM_PARQUET_IN)) return true;
    if (file->size - c->bloom_offset < (int64_t)head_size) head_size = c->bloom_offset < file->size ? (size_t)(file->size - c->bloom_offset) : 0;
    if (fm_pq_read_at(file, c->bloom_offset, head, head_size, NULL) != FM_OK) return true;
    if (!fm_pq_bloom_parse((fm_str){head, head_size}, &size, &taken)) return true;
    uint8_t *bits = malloc((size_t)size);
    if (bits && fm_pq_read_at(file, c->bloom_offset + (int64_t)taken, bits, (size_t)size, NULL) == FM_OK) {
        may = false;
        for (int32_t i = 0; i < p->value.len && !may; i++) {
            uint64_t hash;
            if (fm_vec_is_null(&p->value, i)) continue;
            may = !fm_pq_bloom_hash(e, &p->value, i, &hash) || bloom_has(bits, (size_t)size / 32, hash);
        }
    }
    free(bits);
    return may;
}

/* ---- Page index --------------------------------------------------------------------------------------------- */

static fm_status read_index(const fm_parquet_file *file, int64_t offset, int32_t size, fm_arena *arena, fm_str *out, fm_error *err)
{
    *out = (fm_str){NULL, 0};
    if (offset <= 0 || size <= 0 || size > INDEX_SIZE_MAX || offset > file->size - size) return FM_OK;
    char *bytes = fm_arena_alloc(arena, (size_t)size, 1);
    if (!bytes) return fm_no_memory(arena, err);
    *out = (fm_str){bytes, (size_t)size};
    return fm_pq_read_at(file, offset, bytes, (size_t)size, err);
}

fm_status fm_pq_locations(const fm_parquet_file *file, int32_t group, const fm_pq_leaf *leaf, fm_arena *arena, fm_pq_location **out,
                          int32_t *n, fm_error *err)
{
    const fm_pq_row_group *g = &file->footer.groups[group];
    const fm_pq_chunk *c = &g->chunks[leaf - file->leaves];
    fm_str bytes;

    *out = NULL;
    *n = 0;
    FM_TRY(read_index(file, c->offset_index_offset, c->offset_index_size, arena, &bytes, err));
    if (!bytes.ptr || !fm_pq_offset_index_parse(bytes, arena, out, n)) *n = 0;
    int64_t start = fm_pq_chunk_start(c), end = start + c->packed_size;
    bool good = *n > 0 && (*out)[0].first_row == 0;
    for (int32_t i = 0; good && i < *n; i++) {
        const fm_pq_location *l = &(*out)[i];
        good = l->offset >= start && l->offset < end && l->first_row >= 0 && l->first_row < g->rows;
        if (i > 0) good = good && l->first_row > l[-1].first_row && l->offset > l[-1].offset;
    }
    if (!good) {
        *out = NULL;
        *n = 0;
    }
    return FM_OK;
}

/* The rows of pages that may meet the predicate; *n -1: not known. */
static fm_status page_ranges(const fm_parquet_file *file, int32_t group, const fm_pq_leaf *leaf, const fm_parquet_predicate *p,
                             fm_arena *arena, fm_pq_range **out, int32_t *n, fm_error *err)
{
    const fm_pq_row_group *g = &file->footer.groups[group];
    const fm_pq_chunk *c = &g->chunks[leaf - file->leaves];
    fm_pq_column_index index;
    fm_pq_location *pages;
    int32_t n_pages, at = (int32_t)(leaf - file->leaves);
    fm_str bytes;

    *n = -1;
    if (at >= file->footer.n_orders || file->footer.orders[at] != 1) return FM_OK; /* an order that is not known */
    FM_TRY(fm_pq_locations(file, group, leaf, arena, &pages, &n_pages, err));
    FM_TRY(read_index(file, c->column_index_offset, c->column_index_size, arena, &bytes, err));
    if (!pages || !bytes.ptr || !fm_pq_column_index_parse(bytes, arena, &index) || index.n != n_pages) return FM_OK;
    *out = fm_arena_array(arena, fm_pq_range, n_pages);
    if (!*out) return fm_no_memory(arena, err);
    *n = 0;
    for (int32_t i = 0; i < n_pages; i++) {
        bounds b = {.nulls = index.null_counts ? index.null_counts[i] : -1, .values = -1, .all_null = index.null_pages[i]};
        if (!b.all_null) {
            FM_TRY(fm_pq_bound(leaf, index.min[i], p->value.type ? p->value.type : leaf->node->type, true, arena, &b.min, err));
            FM_TRY(fm_pq_bound(leaf, index.max[i], p->value.type ? p->value.type : leaf->node->type, false, arena, &b.max, err));
        }
        if (!may_meet(p, &b)) continue;
        int64_t from = pages[i].first_row, to = i + 1 < n_pages ? pages[i + 1].first_row : g->rows;
        if (*n > 0 && (*out)[*n - 1].to == from) (*out)[*n - 1].to = to;
        else (*out)[(*n)++] = (fm_pq_range){from, to};
    }
    return FM_OK;
}

/* Cuts ranges a with b, into *out. */
static fm_status intersect(const fm_pq_range *a, int32_t n_a, const fm_pq_range *b, int32_t n_b, fm_arena *arena, fm_pq_range **out,
                           int32_t *n, fm_error *err)
{
    fm_pq_range *to = fm_arena_array(arena, fm_pq_range, n_a + n_b);

    if (!to) return fm_no_memory(arena, err);
    *n = 0;
    for (int32_t i = 0, k = 0; i < n_a && k < n_b;) {
        fm_pq_range both = {a[i].from > b[k].from ? a[i].from : b[k].from, a[i].to < b[k].to ? a[i].to : b[k].to};
        if (both.from < both.to) to[(*n)++] = both;
        if (a[i].to < b[k].to) i++;
        else k++;
    }
    *out = to;
    return FM_OK;
}

/* ---- A row group -------------------------------------------------------------------------------------------- */

/* Whether order and equality of the leaf's bounds are those of the wanted type. */
static bool can_prune(const fm_pq_want *want)
{
    return want->node && want->node->kind == FM_PQ_NODE_LEAF && !want->node->refused && want->type->id != FM_TYPE_NULL &&
           want->node->element->type != FM_PQ_INT96 && fm_type_eq(want->type, want->node->type);
}

static fm_status prune_by(const fm_parquet_file *file, int32_t group, const fm_parquet_predicate *p, const fm_pq_want *want, fm_arena *arena,
                          fm_pq_range **ranges, int32_t *n, fm_error *err)
{
    const fm_pq_leaf *leaf = &file->leaves[want->node->leaf];
    const fm_pq_chunk *c = &file->footer.groups[group].chunks[want->node->leaf];
    fm_parquet_stats stats;
    fm_pq_range *pages = NULL;
    int32_t n_pages;

    FM_TRY(fm_pq_stats_read(file, leaf, &c->stats, want->type, arena, &stats, err));
    bounds b = {stats.min, stats.max, stats.null_count, c->values, false};
    if (!may_meet(p, &b) || !bloom_may_meet(file, c, leaf->element, p)) {
        *n = 0;
        return FM_OK;
    }
    FM_TRY(page_ranges(file, group, leaf, p, arena, &pages, &n_pages, err));
    return n_pages < 0 ? FM_OK : intersect(*ranges, *n, pages, n_pages, arena, ranges, n, err);
}

fm_status fm_pq_prune(const fm_parquet_file *file, int32_t group, const fm_parquet_read *spec, const fm_pq_want *want, fm_arena *arena,
                      fm_pq_range **out, int32_t *n, fm_error *err)
{
    *out = fm_arena_one(arena, fm_pq_range);
    if (!*out) return fm_no_memory(arena, err);
    **out = (fm_pq_range){0, file->footer.groups[group].rows};
    *n = (*out)->to > 0;
    for (int32_t i = 0; i < spec->n_predicates && *n > 0; i++) {
        const fm_parquet_predicate *p = &spec->predicates[i];
        if (can_prune(&want[p->column])) FM_TRY(prune_by(file, group, p, &want[p->column], arena, out, n, err));
    }
    return FM_OK;
}
