/* format/parquet_prune.c: leaves out row groups and pages that no wanted row can be in.
 *
 * For each comparison, in the order of what they cost: the chunk's least and greatest value and number of nulls; its Bloom
 * filter; then least and greatest value of each page, which leave ranges of rows. AND cuts the ranges of its sides with each
 * other, OR joins them; NOT goes down to the comparisons. Nothing here may fail for what it reads: an index that is damaged
 * prunes nothing. */
#include "format/parquet_prune.h"

#include <stdlib.h>

#include "base/hash.h"

enum { INDEX_SIZE_MAX = 64 << 20, BLOOM_HEADER_SIZE = 64 };

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

/* Whether the chunk's filter, if it has one that can be read, leaves the comparison possible. */
static bool bloom_may_meet(const fm_parquet_file *file, const fm_pq_chunk *c, const fm_pq_element *e, const fm_condition *p)
{
    char head[BLOOM_HEADER_SIZE];
    size_t head_size = sizeof head, taken;
    int32_t size;
    bool may = true;

    if (c->bloom_offset <= 0 || (p->op != FM_COND_EQ && p->op != FM_COND_SAME && p->op != FM_COND_IN)) return true;
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

/* The rows of pages that may meet the comparison; *n -1: not known. */
static fm_status page_ranges(const fm_parquet_file *file, int32_t group, const fm_pq_leaf *leaf, const fm_condition *p, bool negated,
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
        fm_bounds b = {.nulls = index.null_counts ? index.null_counts[i] : -1, .rows = -1, .all_null = index.null_pages[i]};
        if (!b.all_null) {
            FM_TRY(fm_pq_bound(leaf, index.min[i], p->type, true, arena, &b.min, err));
            FM_TRY(fm_pq_bound(leaf, index.max[i], p->type, false, arena, &b.max, err));
            if (!b.min || !b.max) b.min = b.max = NULL; /* NaN: the other is not to be trusted */
        }
        if (!fm_condition_leaf_may(p, negated, &b)) continue;
        int64_t from = pages[i].first_row, to = i + 1 < n_pages ? pages[i + 1].first_row : g->rows;
        if (*n > 0 && (*out)[*n - 1].to == from) (*out)[*n - 1].to = to;
        else (*out)[(*n)++] = (fm_pq_range){from, to};
    }
    return FM_OK;
}

/* ---- Ranges ------------------------------------------------------------------------------------------------- */

/* Ranges of rows of one group. */
typedef struct ranges {
    fm_pq_range *items; /* [n] rising and apart */
    int32_t n;
} ranges;

static fm_status intersect(const ranges *a, const ranges *b, fm_arena *arena, ranges *out, fm_error *err)
{
    fm_pq_range *to = fm_arena_array(arena, fm_pq_range, a->n + b->n);
    int32_t n = 0;

    if (!to) return fm_no_memory(arena, err);
    for (int32_t i = 0, k = 0; i < a->n && k < b->n;) {
        const fm_pq_range *x = &a->items[i], *y = &b->items[k];
        fm_pq_range both = {x->from > y->from ? x->from : y->from, x->to < y->to ? x->to : y->to};
        if (both.from < both.to) to[n++] = both;
        if (x->to < y->to) i++;
        else k++;
    }
    *out = (ranges){to, n};
    return FM_OK;
}

static fm_status join(const ranges *a, const ranges *b, fm_arena *arena, ranges *out, fm_error *err)
{
    fm_pq_range *to = fm_arena_array(arena, fm_pq_range, a->n + b->n);
    int32_t n = 0;

    if (!to) return fm_no_memory(arena, err);
    for (int32_t i = 0, k = 0; i < a->n || k < b->n;) {
        bool first = k == b->n || (i < a->n && a->items[i].from <= b->items[k].from);
        fm_pq_range next = first ? a->items[i++] : b->items[k++];
        if (n > 0 && next.from <= to[n - 1].to) to[n - 1].to = next.to > to[n - 1].to ? next.to : to[n - 1].to;
        else to[n++] = next;
    }
    *out = (ranges){to, n};
    return FM_OK;
}

/* ---- A row group -------------------------------------------------------------------------------------------- */

/* What a condition is held against. */
typedef struct pruning {
    const fm_parquet_file *file;
    int32_t group;
    const fm_pq_want *want; /* of the columns that conditions index */
    fm_arena *arena;
} pruning;

/* The leaf of a comparison; NULL: there is none here, or order and equality of its bounds are not those of the wanted type. */
static const fm_pq_want *want_of(const pruning *p, const fm_condition *c)
{
    const fm_pq_want *w = &p->want[c->path[0]];

    for (int32_t i = 1; i < c->n_path; i++) {
        if (!w->node || w->node->kind != FM_PQ_NODE_STRUCT || c->path[i] >= w->type->n_fields) return NULL;
        w = &w->children[c->path[i]];
    }
    if (!w->node || w->node->kind != FM_PQ_NODE_LEAF || w->node->refused || w->type->id == FM_TYPE_NULL) return NULL;
    return w->node->element->type != FM_PQ_INT96 && fm_type_eq(w->type, w->node->type) && fm_type_eq(w->type, c->type) ? w : NULL;
}

static fm_status prune_leaf(const pruning *p, const fm_condition *c, bool negated, ranges *out, fm_error *err)
{
    const fm_pq_want *want = want_of(p, c);
    const fm_pq_row_group *g = &p->file->footer.groups[p->group];
    fm_pq_range *pages = NULL;
    int32_t n_pages;
    fm_parquet_stats stats;

    if (!want) return FM_OK;
    const fm_pq_leaf *leaf = &p->file->leaves[want->node->leaf];
    const fm_pq_chunk *chunk = &g->chunks[want->node->leaf];
    FM_TRY(fm_pq_stats_read(p->file, leaf, &chunk->stats, want->type, p->arena, &stats, err));
    fm_bounds b = {stats.min, stats.max, chunk->values, stats.null_count, false};
    if (!fm_condition_leaf_may(c, negated, &b) || (!negated && !bloom_may_meet(p->file, chunk, leaf->element, c))) {
        out->n = 0;
        return FM_OK;
    }
    FM_TRY(page_ranges(p->file, p->group, leaf, c, negated, p->arena, &pages, &n_pages, err));
    if (n_pages >= 0) *out = (ranges){pages, n_pages};
    return FM_OK;
}

/* *out: all rows of the group at first; what is left of them. */
static fm_status prune(const pruning *p, const fm_condition *c, bool negated, ranges *out, fm_error *err)
{
    ranges left = *out, right = *out;

    if (c->op == FM_COND_NOT) return prune(p, c->left, !negated, out, err);
    if (c->op != FM_COND_AND && c->op != FM_COND_OR) return prune_leaf(p, c, negated, out, err);
    FM_TRY(prune(p, c->left, negated, &left, err));
    FM_TRY(prune(p, c->right, negated, &right, err));
    return ((c->op == FM_COND_AND) != negated ? intersect : join)(&left, &right, p->arena, out, err);
}

fm_status fm_pq_prune(const fm_parquet_file *file, int32_t group, const fm_parquet_read *spec, const fm_pq_want *want, fm_arena *arena,
                      fm_pq_range **out, int32_t *n, fm_error *err)
{
    pruning p = {file, group, want, arena};
    fm_pq_range *all = fm_arena_one(arena, fm_pq_range);

    if (!all) return fm_no_memory(arena, err);
    *all = (fm_pq_range){0, file->footer.groups[group].rows};
    ranges left = {all, all->to > 0};
    for (int32_t i = 0; i < spec->n_conditions && left.n > 0; i++) {
        ranges these = {all, 1};
        FM_TRY(prune(&p, spec->conditions[i], false, &these, err));
        FM_TRY(intersect(&left, &these, arena, &left, err));
    }
    *out = left.items;
    *n = left.n;
    return FM_OK;
}
