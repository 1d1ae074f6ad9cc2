/* format/parquet_column.c: one leaf, row after row: levels and values of its pages become a vector.
 *
 * A leaf outside of lists has one level a row: the values go straight to their place in the vector, are then moved apart
 * where nulls stand. A leaf in lists has any number a row: its levels are gathered until the next row begins. */
#include "format/parquet_column.h"

#include <stdlib.h>

#include "base/limits.h"

static fm_status corrupt(const fm_pq_column *c, fm_error *err, const char *what) { return fm_pq_page_corrupt(&c->pages, err, what); }

void fm_pq_column_fini(fm_pq_column *c)
{
    fm_pq_pages_give(&c->pages, c->page, false);
    fm_pq_pages_give(&c->pages, c->dictionary_page, false);
    fm_pq_pages_fini(&c->pages);
    fm_pq_values_fini(&c->values);
    for (int32_t i = 0; i < c->n_texts; i++) free(c->texts[i]);
    free(c->texts);
    free(c->dictionary);
    free(c->levels);
    free(c->indexes);
    free(c->dense);
    free(c->defs);
    free(c->reps);
    *c = (fm_pq_column){0};
}

static bool grow(uint8_t **p, size_t *cap, size_t need)
{
    if (need <= *cap) return true;
    size_t more = need + need / 2 + 64;
    uint8_t *q = realloc(*p, more);
    if (!q) return false;
    *p = q;
    *cap = more;
    return true;
}

/* ---- Chunks ------------------------------------------------------------------------------------------------- */

static fm_status read_dictionary(fm_pq_column *c, fm_pq_page_data *page, fm_error *err)
{
    fm_pq_values plain = {0};
    const void *raw;
    char *text;
    int64_t n = page->header.values;
    size_t size = (size_t)n * (size_t)c->conversion.size;

    if (c->dictionary_page) return corrupt(c, err, "it has a second dictionary");
    c->dictionary_page = page->buffer;
    page->buffer = NULL;
    /* Each value but a boolean takes a byte at least, strings four. */
    if (c->leaf->element->type == FM_PQ_BOOLEAN || n > (int64_t)page->size) return corrupt(c, err, "its dictionary is shorter than it says");
    if (!grow(&c->dictionary, &c->dictionary_cap, size + FM_BLOCK_PADDING)) return fm_no_memory(NULL, err);
    FM_TRY(fm_pq_values_start(&plain, c->leaf->element, FM_PQ_PLAIN, page->bytes, page->size, n, &text, err));
    bool ok = fm_pq_values_next(&plain, n, &raw) && fm_pq_convert_run(&c->conversion, raw, n, c->dictionary);
    fm_pq_values_fini(&plain);
    c->n_dictionary = n;
    return ok ? FM_OK : corrupt(c, err, "its dictionary cannot be decoded");
}

/* Puts the page away that was being read, and what its strings point to. */
static fm_status leave_page(fm_pq_column *c, fm_error *err)
{
    fm_pq_pages_give(&c->pages, c->page, c->views_out);
    c->page = NULL;
    c->left = 0;
    (void)err;
    return FM_OK;
}

fm_status fm_pq_column_start(fm_pq_column *c, int32_t group, fm_pq_location *locations, int32_t n_locations, fm_error *err)
{
    FM_TRY(leave_page(c, err));
    fm_pq_pages_give(&c->pages, c->dictionary_page, true);
    c->dictionary_page = NULL;
    c->n_dictionary = 0;
    c->row = 0;
    c->locations = locations;
    c->n_locations = n_locations;
    c->group_rows = c->pages.file->footer.groups[group].rows;
    c->pages.leaf = c->leaf;
    fm_pq_pages_start(&c->pages, group);
    return FM_OK;
}

/* ---- Pages -------------------------------------------------------------------------------------------------- */

/* Levels of a page, all at once: out[n]. */
static fm_status page_levels(fm_pq_column *c, const uint8_t *bytes, size_t size, int32_t encoding, uint8_t max, uint8_t *out, int64_t n,
                             fm_error *err)
{
    int32_t width = fm_pq_bits_of(max);
    fm_pq_runs runs;

    if (encoding == FM_PQ_BIT_PACKED) {
        if (!fm_pq_unpack_msb(bytes, size, width, out, n)) return corrupt(c, err, "a page's levels are cut off");
    } else {
        fm_pq_runs_init(&runs, bytes, size, width);
        if (!fm_pq_runs_u8(&runs, out, n)) return corrupt(c, err, "a page's levels are cut off");
    }
    uint8_t most = 0;
    for (int64_t i = 0; i < n; i++) most = out[i] > most ? out[i] : most;
    return most > max ? corrupt(c, err, "a page's levels are too high") : FM_OK;
}

typedef struct level_bytes {
    const uint8_t *rep, *def, *values;
    size_t rep_size, def_size, values_size;
} level_bytes;

/* One kind of levels of a v1 page: behind their u32 size, or as many bits as there are. */
static fm_status cut_v1(fm_pq_column *c, int32_t encoding, uint8_t max, int64_t n, const uint8_t **at, const uint8_t *end, const uint8_t **out,
                        size_t *size, fm_error *err)
{
    *out = *at;
    *size = 0;
    if (max == 0) return FM_OK;
    uint64_t len;
    if (encoding == FM_PQ_BIT_PACKED) {
        len = ((uint64_t)n * (uint64_t)fm_pq_bits_of(max) + 7) / 8;
    } else if (encoding == FM_PQ_RLE) {
        uint32_t u;
        if (end - *at < 4) return corrupt(c, err, "a page's levels are cut off");
        memcpy(&u, *at, 4);
        *at += 4;
        len = u;
    } else {
        return corrupt(c, err, "a page's levels have an unknown encoding");
    }
    if (len > (uint64_t)(end - *at)) return corrupt(c, err, "a page's levels are cut off");
    *out = *at;
    *size = (size_t)len;
    *at += len;
    return FM_OK;
}

static fm_status cut_page(fm_pq_column *c, const fm_pq_page_data *page, level_bytes *out, fm_error *err)
{
    const fm_pq_page *h = &page->header;
    const uint8_t *at = page->bytes, *end = page->bytes + page->size;

    if (h->kind == FM_PQ_DATA_PAGE_V2) {
        *out = (level_bytes){.rep = at, .rep_size = (size_t)h->rep_size, .def = at + h->rep_size, .def_size = (size_t)h->def_size};
        at += h->rep_size + h->def_size;
    } else {
        FM_TRY(cut_v1(c, h->rep_encoding, c->leaf->max_rep, h->values, &at, end, &out->rep, &out->rep_size, err));
        FM_TRY(cut_v1(c, h->def_encoding, c->leaf->max_def, h->values, &at, end, &out->def, &out->def_size, err));
    }
    out->values = at;
    out->values_size = (size_t)(end - at);
    return FM_OK;
}

static fm_status start_levels(fm_pq_column *c, const fm_pq_page *h, const level_bytes *b, fm_error *err)
{
    bool v2 = h->kind == FM_PQ_DATA_PAGE_V2, in_list = c->leaf->max_rep > 0;
    int64_t n = h->values;

    c->def_at = c->rep_at = NULL;
    c->left = n;
    if (!in_list && (v2 || h->def_encoding != FM_PQ_BIT_PACKED)) {
        fm_pq_runs_init(&c->def_runs, b->def, b->def_size, fm_pq_bits_of(c->leaf->max_def));
        return FM_OK;
    }
    if (n > FM_PQ_NESTED_VALUES_MAX) return corrupt(c, err, "a page of too many values");
    if (!grow(&c->levels, &c->levels_cap, (size_t)n * 2 + FM_BLOCK_PADDING)) return fm_no_memory(NULL, err);
    c->rep_at = c->levels;
    c->def_at = c->levels + n;
    memset(c->levels, 0, (size_t)n * 2);
    if (in_list) FM_TRY(page_levels(c, b->rep, b->rep_size, v2 ? FM_PQ_RLE : h->rep_encoding, c->leaf->max_rep, c->levels, n, err));
    if (c->leaf->max_def == 0) return FM_OK;
    return page_levels(c, b->def, b->def_size, v2 ? FM_PQ_RLE : h->def_encoding, c->leaf->max_def, c->levels + n, n, err);
}

/* Keeps the text that a batch points to until the next batch. */
static fm_status keep_text(fm_pq_column *c, char *text, fm_error *err)
{
    if (!text) return FM_OK;
    if (!c->views_out) {
        free(text);
        return FM_OK;
    }
    if (c->n_texts == c->cap_texts) {
        int32_t cap = c->cap_texts ? c->cap_texts * 2 : 8;
        void **more = realloc(c->texts, (size_t)cap * sizeof *more);
        if (!more) {
            free(text);
            return fm_no_memory(NULL, err);
        }
        c->texts = more;
        c->cap_texts = cap;
    }
    c->texts[c->n_texts++] = text;
    return FM_OK;
}

static bool is_dictionary(int32_t encoding) { return encoding == FM_PQ_PLAIN_DICTIONARY || encoding == FM_PQ_RLE_DICTIONARY; }

static fm_status start_page(fm_pq_column *c, fm_pq_page_data *page, fm_error *err)
{
    level_bytes b;
    char *old_text = NULL;

    c->page = page->buffer;
    FM_TRY(cut_page(c, page, &b, err));
    FM_TRY(start_levels(c, &page->header, &b, err));
    fm_status st = fm_pq_values_start(&c->values, c->leaf->element, page->header.encoding, b.values, b.values_size, page->header.values, &old_text, err);
    fm_status kept = keep_text(c, old_text, st == FM_OK ? err : NULL);
    c->views_out = false;
    if (st != FM_OK)
        return fm_context(err, st, "reading column '%.*s' of file '%.*s', row group %d", FM_STR_ARG(c->leaf->element->name),
                          FM_STR_ARG(c->pages.file->path), c->pages.group);
    return kept;
}

/* The next page with values in it. */
static fm_status next_page(fm_pq_column *c, fm_error *err)
{
    fm_pq_page_data page;

    FM_TRY(leave_page(c, err));
    for (;;) {
        FM_TRY(fm_pq_pages_next(&c->pages, &page, err));
        if (!page.bytes) return corrupt(c, err, "it ends before its rows do");
        if (page.header.kind != FM_PQ_DICTIONARY_PAGE) break;
        fm_status st = read_dictionary(c, &page, err);
        fm_pq_pages_give(&c->pages, page.buffer, false);
        if (st != FM_OK) return st;
    }
    return start_page(c, &page, err);
}

static fm_status have_levels(fm_pq_column *c, fm_error *err)
{
    while (c->left == 0) FM_TRY(next_page(c, err));
    return FM_OK;
}

/* ---- Values ------------------------------------------------------------------------------------------------- */

#define GATHER(T)                                                                    \
    do {                                                                             \
        T *restrict to = out;                                                        \
        const T *from = (const T *)(const void *)c->dictionary;                      \
        for (int64_t i = 0; i < n; i++) to[i] = from[c->indexes[i]];                 \
    } while (0)

static fm_status from_dictionary(fm_pq_column *c, int64_t n, void *out, fm_error *err)
{
    uint32_t most = 0;

    if (!fm_pq_runs_u32(&c->values.runs, c->indexes, n)) return corrupt(c, err, "a page has fewer values than it says");
    for (int64_t i = 0; i < n; i++) most = c->indexes[i] > most ? c->indexes[i] : most;
    if (n > 0 && most >= c->n_dictionary) return corrupt(c, err, "a page points beyond its dictionary");
    switch (c->conversion.size) {
    case 1: GATHER(uint8_t); break;
    case 2: GATHER(uint16_t); break;
    case 4: GATHER(uint32_t); break;
    case 8: GATHER(uint64_t); break;
    case 16: GATHER(fm_u128); break;
    default: break;
    }
    return FM_OK;
}

/* The next n values that are there, converted. */
static fm_status read_values(fm_pq_column *c, int64_t n, uint8_t *out, fm_error *err)
{
    const void *raw;

    c->views_out = c->views_out || (n > 0 && fm_type_is_view(c->conversion.want));
    if (!c->indexes) {
        c->indexes = malloc(FM_BATCH_ROWS_MAX * sizeof *c->indexes);
        if (!c->indexes) return fm_no_memory(NULL, err);
    }
    while (n > 0) {
        int64_t k = n < FM_BATCH_ROWS_MAX ? n : FM_BATCH_ROWS_MAX;
        if (is_dictionary(c->values.encoding)) {
            FM_TRY(from_dictionary(c, k, out, err));
        } else {
            if (!fm_pq_values_next(&c->values, k, &raw)) return corrupt(c, err, "a page has fewer values than it says");
            if (!fm_pq_convert_run(&c->conversion, raw, k, out))
                return corrupt(c, err, "a value does not fit the column's type");
        }
        out += k * c->conversion.size;
        n -= k;
    }
    return FM_OK;
}

#define SPREAD(T)                                                             \
    do {                                                                      \
        T *at = values;                                                       \
        for (int64_t i = n; i-- > 0;) {                                       \
            bool there = def[i] == max;                                       \
            at[i] = there ? at[--present] : (T)0;                             \
        }                                                                     \
    } while (0)

/* Moves `present` values, dense at the front, to the lanes that have one; the others hold zero. Backwards, so in place. */
static void spread(void *values, int32_t size, const uint8_t *def, uint8_t max, int64_t n, int64_t present)
{
    switch (size) {
    case 1: SPREAD(uint8_t); break;
    case 2: SPREAD(uint16_t); break;
    case 4: SPREAD(uint32_t); break;
    case 8: SPREAD(uint64_t); break;
    case 16: SPREAD(fm_u128); break;
    default: break;
    }
}

static int64_t count_equal(const uint8_t *def, uint8_t level, int64_t n)
{
    int64_t count = 0;

    for (int64_t i = 0; i < n; i++) count += def[i] == level;
    return count;
}

static uint64_t *validity_of(const uint8_t *def, uint8_t level, int64_t n, fm_arena *arena)
{
    uint64_t *bits = fm_arena_buffer(arena, (size_t)fm_bit_words(n) * 8, false);

    for (int64_t w = 0; bits && w < fm_bit_words(n); w++) {
        uint64_t x = 0;
        int64_t k = n - w * 64 < 64 ? n - w * 64 : 64;
        for (int64_t i = 0; i < k; i++) x |= (uint64_t)(def[w * 64 + i] >= level) << i;
        bits[w] = x;
    }
    return bits;
}

/* ---- Rows: one level each ----------------------------------------------------------------------------------- */

static fm_status take_defs(fm_pq_column *c, uint8_t *out, int64_t n, fm_error *err)
{
    if (c->def_at) {
        memcpy(out, c->def_at, (size_t)n);
        c->def_at += n;
        return FM_OK;
    }
    uint8_t most = 0;
    if (!fm_pq_runs_u8(&c->def_runs, out, n)) return corrupt(c, err, "a page's levels are cut off");
    for (int64_t i = 0; i < n; i++) most = out[i] > most ? out[i] : most;
    return most > c->leaf->max_def ? corrupt(c, err, "a page's levels are too high") : FM_OK;
}

static fm_status read_flat(fm_pq_column *c, int32_t rows, fm_arena *arena, fm_pq_leaf_rows *out, fm_error *err)
{
    uint8_t max = c->leaf->max_def;
    int32_t size = c->conversion.size;
    bool may_lack = max > 0, nulls = false;
    uint8_t *def = may_lack ? fm_arena_buffer(arena, (size_t)rows, false) : NULL;
    uint8_t *values = size ? fm_arena_buffer(arena, (size_t)rows * (size_t)size, false) : NULL;

    if ((may_lack && !def) || (size && !values)) return fm_no_memory(arena, err);
    for (int32_t done = 0; done < rows;) {
        FM_TRY(have_levels(c, err));
        int64_t k = c->left < rows - done ? c->left : rows - done, present = k;
        uint8_t *to = size ? values + (int64_t)done * size : NULL;
        if (may_lack) {
            FM_TRY(take_defs(c, def + done, k, err));
            present = count_equal(def + done, max, k);
        }
        if (size) FM_TRY(read_values(c, present, to, err));
        if (present < k) {
            nulls = true;
            spread(to, size, def + done, max, k, present);
        }
        c->left -= k;
        done += (int32_t)k;
    }
    out->vec = (fm_vec){.type = c->conversion.want, .len = rows, .values = values};
    out->def = c->want_levels ? def : NULL;
    out->n_levels = rows;
    if (nulls && size) {
        out->vec.validity = validity_of(def, max, rows, arena);
        if (!out->vec.validity) return fm_no_memory(arena, err);
    }
    return FM_OK;
}

/* ---- Rows: any number of levels each ------------------------------------------------------------------------ */

/* How many levels of the page belong to the `rows` rows that begin with *begun of them begun; counts on in *begun. */
static int64_t levels_of_rows(const fm_pq_column *c, int32_t rows, int32_t *begun)
{
    for (int64_t i = 0; i < c->left; i++) {
        if (c->rep_at[i] != 0) continue;
        if (*begun == rows) return i;
        ++*begun;
    }
    return c->left;
}

static bool chunk_is_over(const fm_pq_column *c)
{
    return c->pages.at >= fm_pq_chunk_start(c->pages.chunk) + c->pages.chunk->packed_size;
}

/* Gathers the levels and values of rows: defs, reps [*n_levels], dense [*n_values]. skip: nobody wants the values. */
static fm_status gather_rows(fm_pq_column *c, int32_t rows, bool skip, int64_t *n_levels, int64_t *n_values, fm_error *err)
{
    int32_t begun = 0, size = c->conversion.size;
    int64_t levels = 0, values = 0;

    for (;;) {
        /* The last row ends where the next begins, which may be on the next page. */
        if (c->left == 0 && begun == rows && (c->row + rows == c->group_rows || chunk_is_over(c))) break;
        FM_TRY(have_levels(c, err));
        if (levels == 0 && c->rep_at[0] != 0) return corrupt(c, err, "a row begins within a list");
        int64_t k = levels_of_rows(c, rows, &begun);
        if (k == 0) break;
        int64_t present = count_equal(c->def_at, c->leaf->max_def, k);
        if (levels + k > INT32_MAX) return fm_fail(err, FM_LIMIT, "FLOODMARK_LIMIT", "File '%.*s': %d rows have more than 2^31 list items.", FM_STR_ARG(c->pages.file->path), rows);
        size_t values_from = skip ? 0 : (size_t)values;
        if (!grow(&c->defs, &c->defs_cap, (size_t)(levels + k)) || !grow(&c->reps, &c->reps_cap, (size_t)(levels + k)) ||
            !grow(&c->dense, &c->dense_cap, (values_from + (size_t)present) * (size_t)size + 16))
            return fm_no_memory(NULL, err);
        if (!skip) {
            memcpy(c->defs + levels, c->def_at, (size_t)k);
            memcpy(c->reps + levels, c->rep_at, (size_t)k);
        }
        if (size) FM_TRY(read_values(c, present, c->dense + values_from * (size_t)size, err));
        c->def_at += k;
        c->rep_at += k;
        c->left -= k;
        levels += k;
        values += present;
        if (c->left > 0) break;
    }
    *n_levels = levels;
    *n_values = values;
    return begun == rows ? FM_OK : corrupt(c, err, "it ends before its rows do");
}

/* Values to the lanes of levels that have one; out has zeros. */
static void place_values(fm_pq_column *c, int64_t n_levels, uint8_t *out)
{
    const uint8_t *from = c->dense;
    size_t size = (size_t)c->conversion.size;

    for (int64_t i = 0; i < n_levels; i++) {
        if (c->defs[i] < c->def_lane) continue;
        if (c->defs[i] == c->leaf->max_def) {
            memcpy(out, from, size);
            from += size;
        }
        out += size;
    }
}

static fm_status read_nested(fm_pq_column *c, int32_t rows, fm_arena *arena, fm_pq_leaf_rows *out, fm_error *err)
{
    int64_t n_levels = 0, n_values = 0, lanes = 0;
    size_t size = (size_t)c->conversion.size;

    FM_TRY(gather_rows(c, rows, false, &n_levels, &n_values, err));
    for (int64_t i = 0; i < n_levels; i++) lanes += c->defs[i] >= c->def_lane;
    uint8_t *values = size ? fm_arena_buffer(arena, (size_t)lanes * size, true) : NULL;
    uint64_t *validity = n_values < lanes && size ? fm_arena_buffer(arena, (size_t)fm_bit_words(lanes) * 8, true) : NULL;
    uint8_t *def = fm_arena_buffer(arena, (size_t)n_levels, false), *rep = fm_arena_buffer(arena, (size_t)n_levels, false);
    if ((size && !values) || (n_values < lanes && size && !validity) || !def || !rep) return fm_no_memory(arena, err);
    memcpy(def, c->defs, (size_t)n_levels);
    memcpy(rep, c->reps, (size_t)n_levels);
    if (size) place_values(c, n_levels, values);
    for (int64_t i = 0, lane = 0; validity && i < n_levels; i++) {
        if (def[i] < c->def_lane) continue;
        if (def[i] == c->leaf->max_def) fm_bit_set(validity, lane);
        lane++;
    }
    out->vec = (fm_vec){.type = c->conversion.want, .len = (int32_t)lanes, .values = values, .validity = validity};
    out->def = def;
    out->rep = rep;
    out->n_levels = n_levels;
    return FM_OK;
}

fm_status fm_pq_column_read(fm_pq_column *c, int32_t rows, fm_arena *arena, fm_pq_leaf_rows *out, fm_error *err)
{
    *out = (fm_pq_leaf_rows){0};
    fm_pq_pages_recycle(&c->pages);
    for (int32_t i = 0; i < c->n_texts; i++) free(c->texts[i]);
    c->n_texts = 0;
    fm_status st = c->leaf->max_rep ? read_nested(c, rows, arena, out, err) : read_flat(c, rows, arena, out, err);
    c->row += rows;
    return st;
}

/* ---- Going forward ------------------------------------------------------------------------------------------ */

static fm_status skip_flat(fm_pq_column *c, int64_t rows, fm_error *err)
{
    uint8_t def[FM_BATCH_ROWS_DECODE];

    while (rows > 0) {
        FM_TRY(have_levels(c, err));
        int64_t k = c->left < rows ? c->left : rows, present;
        if (k > FM_BATCH_ROWS_DECODE) k = FM_BATCH_ROWS_DECODE;
        present = k;
        if (c->leaf->max_def > 0) {
            FM_TRY(take_defs(c, def, k, err));
            present = count_equal(def, c->leaf->max_def, k);
        }
        if (!grow(&c->dense, &c->dense_cap, (size_t)present * (size_t)c->conversion.size + 16)) return fm_no_memory(NULL, err);
        if (c->conversion.size) FM_TRY(read_values(c, present, c->dense, err));
        c->left -= k;
        rows -= k;
        c->row += k;
    }
    return FM_OK;
}

static fm_status skip_nested(fm_pq_column *c, int64_t rows, fm_error *err)
{
    while (rows > 0) {
        int32_t k = rows < FM_BATCH_ROWS_DECODE ? (int32_t)rows : FM_BATCH_ROWS_DECODE;
        int64_t levels, values;
        FM_TRY(gather_rows(c, k, true, &levels, &values, err));
        c->row += k;
        rows -= k;
    }
    return FM_OK;
}

/* The page that has the row; -1: not known. */
static int32_t page_of(const fm_pq_column *c, int64_t row)
{
    int32_t lo = 0, hi = c->n_locations;

    while (lo < hi) {
        int32_t mid = lo + (hi - lo) / 2;
        if (c->locations[mid].first_row <= row) lo = mid + 1;
        else hi = mid;
    }
    return lo - 1;
}

fm_status fm_pq_column_seek(fm_pq_column *c, int64_t row, fm_error *err)
{
    if (row == c->row) return FM_OK;
    fm_assert(row > c->row);
    int32_t now = page_of(c, c->row), then = page_of(c, row);
    if (then > now && then >= 0) {
        /* The dictionary stands before the first page: it is read first. */
        if (!c->dictionary_page && fm_pq_chunk_start(c->pages.chunk) < c->locations[0].offset && c->pages.at == fm_pq_chunk_start(c->pages.chunk))
            FM_TRY(next_page(c, err));
        const fm_pq_location *to = &c->locations[then];
        if (to->offset < fm_pq_chunk_start(c->pages.chunk) || to->offset >= c->pages.end) return corrupt(c, err, "its page index points elsewhere");
        FM_TRY(leave_page(c, err));
        c->pages.at = to->offset;
        c->row = to->first_row;
    }
    return c->leaf->max_rep ? skip_nested(c, row - c->row, err) : skip_flat(c, row - c->row, err);
}
