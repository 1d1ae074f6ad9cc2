/* format/parquet_leaf.c: pages and chunks of one leaf.
 *
 * Encodings. A chunk begins with a dictionary. When its first page is full it must have paid: if the dictionary and the
 * numbers take more than the values themselves, it is dropped, the page is made plain, and the leaf has none from then on. One that
 * grows beyond DICTIONARY_SIZE later is closed: what follows is plain. Plain integers are tried as deltas, page by page.
 *
 * A page is cut at a row, so that the page index can point to it. */
#include "format/parquet_leaf.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/hash.h"
#include "base/time_text.h"

enum {
    DICTIONARY_SIZE = 1 << 20,     /* bytes of a dictionary's page, about: it should stay in cache */
    JULIAN_1970 = 2440588
};

/* ---- Memory ------------------------------------------------------------------------------------------------- */

bool fm_pq_leaf_init(fm_pq_leaf_writer *w)
{
    w->dictionary_on = w->may_dictionary;
    return !w->may_dictionary || fm_pq_dictionary_init(&w->dictionary, w->storage.size, w->storage.views);
}

void fm_pq_leaf_fini(fm_pq_leaf_writer *w)
{
    fm_strbuf *bufs[] = {&w->defs, &w->reps, &w->values, &w->pages, &w->notes_text, &w->body, &w->packed};

    for (size_t i = 0; i < sizeof bufs / sizeof bufs[0]; i++) fm_strbuf_fini(bufs[i]);
    fm_pq_extent_fini(&w->page_extent);
    fm_pq_extent_fini(&w->extent);
    fm_pq_extent_fini(&w->file_extent);
    fm_pq_dictionary_fini(&w->dictionary);
    free(w->indexes);
    free(w->notes);
    free(w->hashes);
    free(w->scratch);
    *w = (fm_pq_leaf_writer){0};
}

static bool room(void **p, int64_t *cap, int64_t need, size_t size)
{
    if (need <= *cap && *p) return true;
    int64_t more = need + need / 2 + 1024;
    void *q = realloc(*p, (size_t)more * size);
    if (!q) return false;
    *p = q;
    *cap = more;
    return true;
}

static void *scratch(fm_pq_leaf_writer *w, size_t size)
{
    if (size <= w->scratch_size && w->scratch) return w->scratch;
    free(w->scratch);
    w->scratch_size = size + size / 2 + 64;
    w->scratch = malloc(w->scratch_size);
    return w->scratch;
}

size_t fm_pq_leaf_held(const fm_pq_leaf_writer *w)
{
    size_t page = w->dictionary_on ? (size_t)w->n_values * 2 + w->dictionary.bytes : w->values.len;

    return w->pages.len + page + w->defs.len / 8 + w->reps.len / 8;
}

/* ---- Values to PLAIN ---------------------------------------------------------------------------------------- */

static void put_views(const fm_view *v, int64_t n, fm_strbuf *out)
{
    size_t size = 0;

    for (int64_t i = 0; i < n; i++) size += v[i].len + 4;
    if (!fm_strbuf_reserve(out, size + 16)) return;
    char *at = out->ptr + out->len;
    for (int64_t i = 0; i < n; i++) {
        memcpy(at, &v[i].len, 4);
        at += 4;
        if (v[i].len <= FM_VIEW_INLINE) memcpy(at, v[i].u.inlined, FM_VIEW_INLINE); /* whole words; the rest is written over */
        else memcpy(at, v[i].u.out.ptr, v[i].len);
        at += v[i].len;
    }
    out->len += size;
    out->ptr[out->len] = 0;
}

static void put_int96(const int64_t *v, int64_t n, fm_strbuf *out)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t day = fm_floor_div(v[i], FM_US_PER_DAY), nanos = fm_floor_mod(v[i], FM_US_PER_DAY) * 1000;
        int32_t julian = (int32_t)(day + JULIAN_1970);
        fm_strbuf_add(out, (fm_str){(const char *)&nanos, 8});
        fm_strbuf_add(out, (fm_str){(const char *)&julian, 4});
    }
}

static void put_millis(const int64_t *v, int64_t n, fm_strbuf *out)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t ms = fm_floor_div(v[i], 1000);
        fm_strbuf_add(out, (fm_str){(const char *)&ms, 8});
    }
}

/* Decimals are held in 128 bits whatever they are kept in. */
static void put_narrow(const fm_i128 *v, int64_t n, int32_t size, fm_strbuf *out)
{
    if (!fm_strbuf_reserve(out, (size_t)n * (size_t)size + 8)) return;
    for (int64_t i = 0; i < n; i++) {
        int64_t x = (int64_t)v[i];
        memcpy(out->ptr + out->len, &x, 8); /* little-endian: the low half is written over by the next */
        out->len += (size_t)size;
    }
    out->ptr[out->len] = 0;
}

static void put_fixed(const fm_i128 *v, int64_t n, int32_t size, fm_strbuf *out)
{
    if (!fm_strbuf_reserve(out, (size_t)n * (size_t)size)) return;
    for (int64_t i = 0; i < n; i++)
        for (int32_t b = size; b-- > 0;) out->ptr[out->len++] = (char)(uint8_t)((fm_u128)v[i] >> (b * 8));
    out->ptr[out->len] = 0;
}

/* n values as PLAIN; booleans a byte each, until the page is made. */
static void put_plain(const fm_pq_leaf_writer *w, const void *values, int64_t n, fm_strbuf *out)
{
    const fm_pq_storage *s = &w->storage;

    if (s->views) put_views(values, n, out);
    else if (s->int96) put_int96(values, n, out);
    else if (s->to_millis) put_millis(values, n, out);
    else if (s->type == FM_PQ_FIXED) put_fixed(values, n, s->fixed_size, out);
    else if (s->size == 16) put_narrow(values, n, s->type == FM_PQ_INT32 ? 4 : 8, out);
    else fm_strbuf_add(out, (fm_str){values, (size_t)n * (size_t)s->size});
}

static void put_bools(const char *values, int64_t n, fm_strbuf *out)
{
    for (int64_t i = 0; i < n; i += 8) {
        unsigned byte = 0;
        for (int64_t k = i; k < n && k < i + 8; k++) byte |= (unsigned)(values[k] != 0) << (k - i);
        fm_strbuf_add_char(out, (char)(uint8_t)byte);
    }
}

/* ---- Pages -------------------------------------------------------------------------------------------------- */

static void put_page_header(const fm_pq_leaf_writer *w, fm_pq_page_kind kind, fm_pq_encoding encoding, int64_t n, size_t unpacked,
                            fm_str packed, fm_strbuf *out)
{
    int32_t last = 0, inner = 0;

    fm_thrift_put_i32(out, &last, 1, (int32_t)kind);
    fm_thrift_put_i32(out, &last, 2, (int32_t)unpacked);
    fm_thrift_put_i32(out, &last, 3, (int32_t)packed.len);
    fm_thrift_put_i32(out, &last, 4, (int32_t)(uint32_t)crc32(0, (const unsigned char *)packed.ptr, (unsigned)packed.len));
    fm_thrift_put_struct(out, &last, kind == FM_PQ_DICTIONARY_PAGE ? 7 : 5);
    fm_thrift_put_i32(out, &inner, 1, (int32_t)n);
    fm_thrift_put_i32(out, &inner, 2, (int32_t)encoding);
    if (kind == FM_PQ_DATA_PAGE) {
        fm_thrift_put_i32(out, &inner, 3, FM_PQ_RLE);
        fm_thrift_put_i32(out, &inner, 4, FM_PQ_RLE);
    }
    fm_thrift_put_end(out);
    fm_thrift_put_end(out);
    (void)w;
}

/* Packs w->body and appends it as a page. */
static bool put_page(fm_pq_leaf_writer *w, fm_pq_page_kind kind, fm_pq_encoding encoding, int64_t n, fm_strbuf *out)
{
    size_t from = out->len;

    fm_strbuf_clear(&w->packed);
    if (!fm_strbuf_ok(&w->body) || w->body.len > INT32_MAX) return false;
    fm_str body = {w->body.ptr ? w->body.ptr : "", w->body.len}, packed = body;
    if (w->codec != FM_PQ_UNCOMPRESSED) {
        if (!fm_pq_pack(w->packer, w->codec, w->level, body, &w->packed)) return false;
        packed = fm_strbuf_str(&w->packed);
    }
    put_page_header(w, kind, encoding, n, body.len, packed, out);
    w->unpacked_size += (int64_t)(out->len - from + body.len);
    fm_strbuf_add(out, packed);
    w->encodings |= 1U << encoding;
    return fm_strbuf_ok(out);
}

static void put_levels(const fm_strbuf *levels, int64_t n, uint8_t max, uint8_t all, fm_strbuf *out)
{
    size_t at = out->len;
    int32_t width = max ? 32 - __builtin_clz(max) : 0;

    if (max == 0) return;
    fm_strbuf_add(out, (fm_str){"\0\0\0\0", 4});
    if (levels->len) fm_pq_encode_levels((const uint8_t *)levels->ptr, n, width, out);
    else fm_pq_encode_same(all, n, width, out);
    uint32_t size = (uint32_t)(out->len - at - 4);
    if (fm_strbuf_ok(out)) memcpy(out->ptr + at, &size, 4);
}

/* Plain integers as deltas, when that is smaller; else as they are. */
static fm_pq_encoding put_numbers(fm_pq_leaf_writer *w)
{
    const fm_pq_storage *s = &w->storage;
    bool is_int = (s->type == FM_PQ_INT32 || s->type == FM_PQ_INT64);
    size_t from = w->body.len;

    if (is_int && w->n_values > 0) {
        fm_pq_encode_delta(w->values.ptr, w->n_values, s->type == FM_PQ_INT32 ? 4 : 8, &w->body);
        if (w->body.len - from < w->values.len - w->values.len / 8) return FM_PQ_DELTA_BINARY_PACKED;
        w->body.len = from;
    }
    fm_strbuf_add(&w->body, fm_strbuf_str(&w->values));
    return FM_PQ_PLAIN;
}

/* Values of the dictionary's numbers, as they are held; in scratch. */
static void *look_up(fm_pq_leaf_writer *w)
{
    size_t size = (size_t)w->storage.size;
    char *values = scratch(w, (size_t)w->n_values * size + 1);

    for (int64_t i = 0; values && i < w->n_values; i++) memcpy(values + (size_t)i * size, w->dictionary.values + w->indexes[i] * size, size);
    return values;
}

/* Gives the dictionary up before any page was made with it. */
static bool drop_dictionary(fm_pq_leaf_writer *w)
{
    void *values = look_up(w);

    if (!values) return false;
    put_plain(w, values, w->n_values, &w->values);
    fm_pq_dictionary_clear(&w->dictionary);
    w->dictionary_on = false;
    w->hopeless = true;
    return fm_strbuf_ok(&w->values);
}

static int32_t index_width(uint32_t n) { return n > 1 ? 32 - __builtin_clz(n - 1) : 0; }

/* Least and greatest text of the page, by the numbers that stand in it. */
static bool text_extent(fm_pq_leaf_writer *w)
{
    uint8_t *used = scratch(w, w->dictionary.n + 1);
    const fm_view *v = (const fm_view *)(const void *)w->dictionary.values;

    if (!used) return false;
    memset(used, 0, w->dictionary.n);
    for (int64_t i = 0; i < w->n_values; i++) used[w->indexes[i]] = 1;
    for (uint32_t i = 0; i < w->dictionary.n; i++)
        if (used[i]) fm_pq_extent_add(&w->page_extent, w->type, &v[i], 1);
    return true;
}

static bool note_page(fm_pq_leaf_writer *w, int64_t offset, size_t size)
{
    int64_t cap = w->cap_notes;
    bool exact;

    if (!room((void **)&w->notes, &cap, w->n_notes + 1, sizeof *w->notes)) return false;
    w->cap_notes = (int32_t)cap;
    fm_pq_page_note *p = &w->notes[w->n_notes++];
    *p = (fm_pq_page_note){.offset = offset, .first_row = w->chunk_rows, .size = (int32_t)size, .nulls = w->nulls, .all_null = w->n_values == 0};
    if (!w->page_extent.any || w->page_extent.nan || w->storage.int96) return true;
    p->min_at = w->notes_text.len;
    fm_pq_extent_put(&w->page_extent, w->type, &w->storage, true, &w->notes_text, &exact);
    p->max_at = w->notes_text.len;
    p->min_len = p->max_at - p->min_at;
    fm_pq_extent_put(&w->page_extent, w->type, &w->storage, false, &w->notes_text, &exact);
    p->max_len = w->notes_text.len - p->max_at;
    return fm_strbuf_ok(&w->notes_text);
}

static bool dictionary_pays(const fm_pq_leaf_writer *w)
{
    const fm_pq_dictionary *d = &w->dictionary;
    size_t numbers = (size_t)w->n_values * (size_t)index_width(d->n) / 8;

    return d->bytes + numbers < d->raw_bytes;
}

/* Makes a page of what was gathered. */
static bool end_page(fm_pq_leaf_writer *w)
{
    size_t from = w->pages.len;
    fm_pq_encoding encoding;
    bool ok = true;

    if (w->levels == 0) return true;
    if (w->dictionary_on && w->storage.views) ok = text_extent(w);
    if (ok && w->dictionary_on && w->n_notes == 0 && !dictionary_pays(w) && w->n_values > 0) ok = drop_dictionary(w);
    fm_strbuf_clear(&w->body);
    put_levels(&w->reps, w->levels, w->max_rep, 0, &w->body);
    put_levels(&w->defs, w->levels, w->max_def, w->max_def, &w->body);
    if (w->dictionary_on) {
        int32_t width = index_width(w->dictionary.n);
        encoding = FM_PQ_RLE_DICTIONARY;
        fm_strbuf_add_char(&w->body, (char)width);
        fm_pq_encode_runs(w->indexes, w->n_values, width, &w->body);
    } else if (w->storage.type == FM_PQ_BOOLEAN) {
        encoding = FM_PQ_PLAIN;
        put_bools(w->values.ptr, w->n_values, &w->body);
    } else {
        encoding = put_numbers(w);
    }
    ok = ok && put_page(w, FM_PQ_DATA_PAGE, encoding, w->levels, &w->pages) && note_page(w, (int64_t)from, w->pages.len - from);
    fm_pq_extent_merge(&w->extent, w->type, &w->page_extent);
    w->chunk_levels += w->levels;
    w->chunk_rows += w->rows;
    w->chunk_nulls += w->nulls;
    w->levels = w->rows = w->nulls = w->n_values = 0;
    fm_strbuf_clear(&w->defs);
    fm_strbuf_clear(&w->reps);
    fm_strbuf_clear(&w->values);
    fm_pq_extent_clear(&w->page_extent);
    if (w->dictionary_on && w->dictionary.bytes > DICTIONARY_SIZE) w->dictionary_on = false; /* closed: what is there stays */
    return ok;
}

/* ---- Taking in ---------------------------------------------------------------------------------------------- */

static bool add_hashes(fm_pq_leaf_writer *w, const void *values, int64_t n)
{
    size_t size = (size_t)w->storage.size;
    uint64_t last = 0;

    if (!room((void **)&w->hashes, &w->cap_hashes, w->n_hashes + n, sizeof *w->hashes)) return false;
    for (int64_t i = 0; i < n; i++) {
        const char *p = (const char *)values + (size_t)i * size;
        uint64_t h;
        if (w->storage.views) {
            fm_str s = fm_view_str((const fm_view *)(const void *)p);
            h = fm_xxh64(s.ptr, s.len, 0);
        } else {
            h = fm_xxh64(p, size, 0);
        }
        if (i == 0 || h != last) w->hashes[w->n_hashes++] = h;
        last = h;
    }
    return true;
}

static bool add_levels(fm_pq_leaf_writer *w, int64_t levels, const uint8_t *def, const uint8_t *rep)
{
    if (rep && w->max_rep) fm_strbuf_add(&w->reps, (fm_str){(const char *)rep, (size_t)levels});
    if (w->max_def == 0 || (!def && w->defs.len == 0)) return fm_strbuf_ok(&w->reps);
    if (w->defs.len == 0 && w->levels > 0) { /* until now all were there */
        if (!fm_strbuf_reserve(&w->defs, (size_t)(w->levels + levels))) return false;
        memset(w->defs.ptr, w->max_def, (size_t)w->levels);
        w->defs.len = (size_t)w->levels;
    }
    if (def) {
        fm_strbuf_add(&w->defs, (fm_str){(const char *)def, (size_t)levels});
    } else {
        if (!fm_strbuf_reserve(&w->defs, (size_t)levels)) return false;
        memset(w->defs.ptr + w->defs.len, w->max_def, (size_t)levels);
        w->defs.len += (size_t)levels;
    }
    return fm_strbuf_ok(&w->defs) && fm_strbuf_ok(&w->reps);
}

bool fm_pq_leaf_add(fm_pq_leaf_writer *w, int64_t levels, int64_t rows, const uint8_t *def, const uint8_t *rep, const void *values,
                    int64_t n_values)
{
    bool by_dictionary_text = w->dictionary_on && w->storage.views;

    if (!add_levels(w, levels, def, rep)) return false;
    if (!by_dictionary_text && !w->storage.int96) fm_pq_extent_add(&w->page_extent, w->type, values, n_values);
    if (w->want_bloom && n_values && !add_hashes(w, values, n_values)) return false;
    if (w->dictionary_on) {
        if (!room((void **)&w->indexes, &w->cap_indexes, w->n_values + n_values, sizeof *w->indexes)) return false;
        if (!fm_pq_dictionary_add(&w->dictionary, values, n_values, w->indexes + w->n_values)) return false;
    } else {
        put_plain(w, values, n_values, &w->values);
        if (!fm_strbuf_ok(&w->values)) return false;
    }
    w->levels += levels;
    w->rows += rows;
    w->n_values += n_values;
    w->nulls += levels - n_values;
    size_t size = w->dictionary_on ? w->dictionary.bytes : w->values.len;
    return (size < (size_t)w->page_size && w->rows < w->page_rows && w->levels < INT32_MAX / 2) || end_page(w);
}

/* ---- Chunks ------------------------------------------------------------------------------------------------- */

bool fm_pq_leaf_end_chunk(fm_pq_leaf_writer *w, fm_strbuf *out, fm_pq_chunk_written *written)
{
    size_t from = out->len;

    *written = (fm_pq_chunk_written){0};
    if (!end_page(w)) return false;
    if (w->dictionary.n > 0) {
        fm_strbuf_clear(&w->body);
        put_plain(w, w->dictionary.values, w->dictionary.n, &w->body);
        if (!put_page(w, FM_PQ_DICTIONARY_PAGE, FM_PQ_PLAIN, w->dictionary.n, out)) return false;
        written->dictionary_size = (int64_t)(out->len - from);
    } else if (w->dictionary_on && w->n_notes > 0 && w->encodings & 1U << FM_PQ_RLE_DICTIONARY) {
        /* Nulls only: an empty dictionary is still there for readers that look for it. */
        fm_strbuf_clear(&w->body);
        if (!put_page(w, FM_PQ_DICTIONARY_PAGE, FM_PQ_PLAIN, 0, out)) return false;
        written->dictionary_size = (int64_t)(out->len - from);
    }
    fm_strbuf_add(out, fm_strbuf_str(&w->pages));
    written->size = (int64_t)(out->len - from);
    written->unpacked_size = w->unpacked_size;
    return fm_strbuf_ok(out);
}

void fm_pq_leaf_next(fm_pq_leaf_writer *w)
{
    fm_pq_extent_merge(&w->file_extent, w->type, &w->extent);
    w->file_nulls += w->chunk_nulls;
    fm_pq_extent_clear(&w->extent);
    if (w->may_dictionary) fm_pq_dictionary_clear(&w->dictionary);
    w->dictionary_on = w->may_dictionary && !w->hopeless;
    fm_strbuf_clear(&w->pages);
    fm_strbuf_clear(&w->notes_text);
    w->n_notes = 0;
    w->unpacked_size = w->chunk_levels = w->chunk_rows = w->chunk_nulls = 0;
    w->encodings = 0;
    w->n_hashes = 0;
}
