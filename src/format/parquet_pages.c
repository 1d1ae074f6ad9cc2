/* format/parquet_pages.c: the pages of a column chunk: found, read, checked and unpacked.
 *
 *     chunk    [dictionary page] data page, data page, ...
 *     page     header (Thrift) | v1: packed (repetition levels, definition levels, values)
 *                              | v2: repetition levels, definition levels, packed (values)
 *
 * The chunk is read through a window of WINDOW_SIZE bytes, so that a chunk of any size takes little memory. */
#include <stdlib.h>
#include <zlib.h>

#include "base/limits.h"
#include "format/parquet_column.h"

enum {
    WINDOW_SIZE = 1 << 20,      /* bytes read at once */
    HEADER_SIZE_FIRST = 256,    /* bytes a page's header usually fits */
    HEADER_SIZE_MAX = 16 << 20, /* with statistics of long strings in it */
    TAIL_SLACK = 128            /* old writers left the dictionary's header out of a chunk's size */
};

fm_status fm_pq_page_corrupt(const fm_pq_pages *p, fm_error *err, const char *what)
{
    return fm_pq_corrupt(p->file, err, "column '%.*s' of row group %d, near byte %lld: %s", FM_STR_ARG(p->leaf->element->name),
                         p->group, (long long)p->at, what);
}

void fm_pq_pages_start(fm_pq_pages *p, int32_t group)
{
    p->group = group;
    p->chunk = &p->file->footer.groups[group].chunks[p->leaf - p->file->leaves];
    p->at = fm_pq_chunk_start(p->chunk);
    p->end = p->at + p->chunk->packed_size;
    p->end = p->file->size - p->end > TAIL_SLACK ? p->end + TAIL_SLACK : p->file->size;
    p->window_len = 0;
}

/* ---- Buffers ------------------------------------------------------------------------------------------------ */

static fm_pq_buffer *take_buffer(fm_pq_pages *p, size_t size)
{
    for (fm_pq_buffer **at = &p->free; *at; at = &(*at)->next) {
        fm_pq_buffer *b = *at;
        if (b->cap < size) continue;
        *at = b->next;
        return b;
    }
    fm_pq_buffer *b = p->free; /* too small: replaced */
    if (b) p->free = b->next;
    free(b);
    b = malloc(sizeof *b + size + FM_BLOCK_PADDING);
    if (b) b->cap = size;
    return b;
}

void fm_pq_pages_give(fm_pq_pages *p, fm_pq_buffer *buffer, bool in_use)
{
    if (!buffer) return;
    fm_pq_buffer **list = in_use ? &p->retired : &p->free;
    buffer->next = *list;
    *list = buffer;
}

static void free_list(fm_pq_buffer *b)
{
    while (b) {
        fm_pq_buffer *next = b->next;
        free(b);
        b = next;
    }
}

void fm_pq_pages_recycle(fm_pq_pages *p)
{
    fm_pq_buffer *b = p->retired;

    if (!b) return;
    p->retired = b->next; /* one is kept for the next page */
    free_list(p->retired);
    p->retired = NULL;
    fm_pq_pages_give(p, b, false);
}

void fm_pq_pages_fini(fm_pq_pages *p)
{
    free_list(p->free);
    free_list(p->retired);
    free(p->window);
    p->free = p->retired = NULL;
    p->window = NULL;
}

/* ---- Bytes of the file -------------------------------------------------------------------------------------- */

/* At least `size` bytes from p->at on, or fewer at the end of the chunk; *out [*len] within the window. */
static fm_status look(fm_pq_pages *p, size_t size, const uint8_t **out, size_t *len, fm_error *err)
{
    int64_t left = p->end - p->at;

    if ((int64_t)size > left) size = (size_t)left;
    int64_t inside = p->at - p->window_at;
    if (p->window_len && inside >= 0 && inside <= (int64_t)p->window_len && p->window_len - (size_t)inside >= size) {
        *out = p->window + inside;
        *len = p->window_len - (size_t)inside;
        return FM_OK;
    }
    size_t want = size > WINDOW_SIZE ? size : left > WINDOW_SIZE ? WINDOW_SIZE : (size_t)left;
    if (want > p->window_cap || !p->window) {
        free(p->window);
        p->window_cap = 0;
        p->window = malloc(want + FM_BLOCK_PADDING);
        if (!p->window) return fm_no_memory(NULL, err);
        p->window_cap = want;
    }
    p->window_len = 0;
    FM_TRY(fm_pq_read_at(p->file, p->at, p->window, want, err));
    p->window_at = p->at;
    p->window_len = want;
    *out = p->window;
    *len = want;
    return FM_OK;
}

static fm_status read_header(fm_pq_pages *p, fm_pq_page *out, fm_error *err)
{
    for (size_t size = HEADER_SIZE_FIRST;; size *= 16) {
        const uint8_t *bytes = NULL;
        size_t len = 0, taken = 0;
        FM_TRY(look(p, size, &bytes, &len, err));
        if (fm_pq_page_parse((fm_str){(const char *)bytes, len}, out, &taken)) {
            p->at += (int64_t)taken;
            return FM_OK;
        }
        if (len < size || size >= HEADER_SIZE_MAX) return fm_pq_page_corrupt(p, err, "a page's header cannot be parsed");
    }
}

/* Unpacks a page: `plain` bytes of levels as they are, then the rest. */
static fm_status unpack(fm_pq_pages *p, const fm_pq_page *h, const uint8_t *bytes, fm_pq_page_data *out, fm_error *err)
{
    bool v2 = h->kind == FM_PQ_DATA_PAGE_V2;
    size_t plain = v2 ? (size_t)h->def_size + (size_t)h->rep_size : 0, size = (size_t)h->unpacked_size, packed = (size_t)h->packed_size;
    int32_t codec = v2 && !h->packed ? FM_PQ_UNCOMPRESSED : p->chunk->codec;

    if (v2 && (h->def_size < 0 || h->rep_size < 0 || plain > size || plain > packed)) return fm_pq_page_corrupt(p, err, "a page's levels are larger than itself");
    if (!fm_pq_codec_known(codec))
        return fm_fail(err, FM_UNSUPPORTED, "FLOODMARK_PARQUET_CODEC", "File '%.*s' is packed with %s, which is not built in.",
                       FM_STR_ARG(p->file->path), fm_pq_codec_name(codec) ? fm_pq_codec_name(codec) : "an unknown codec");
    out->buffer = take_buffer(p, size);
    if (!out->buffer) return fm_no_memory(NULL, err);
    if (plain) memcpy(out->buffer->bytes, bytes, plain);
    /* A v2 page of nulls has no values, and nothing packed. */
    bool ok = (size == plain && packed == plain) ||
              fm_pq_unpack(p->packer, codec, (fm_str){(const char *)bytes + plain, packed - plain}, out->buffer->bytes + plain, size - plain);
    memset(out->buffer->bytes + size, 0, FM_BLOCK_PADDING);
    out->bytes = out->buffer->bytes;
    out->size = size;
    if (ok) return FM_OK;
    fm_pq_pages_give(p, out->buffer, false);
    out->buffer = NULL;
    return fm_pq_page_corrupt(p, err, "a page cannot be unpacked");
}

fm_status fm_pq_pages_next(fm_pq_pages *p, fm_pq_page_data *out, fm_error *err)
{
    *out = (fm_pq_page_data){0};
    for (;;) {
        fm_pq_page *h = &out->header;
        const uint8_t *bytes = NULL;
        size_t len = 0;
        if (p->at >= p->end) return FM_OK;
        FM_TRY(read_header(p, h, err));
        if (h->packed_size < 0 || h->unpacked_size < 0 || h->packed_size > p->end - p->at || h->unpacked_size > FM_PQ_PAGE_SIZE_MAX)
            return fm_pq_page_corrupt(p, err, "a page of an impossible size");
        if (h->kind != FM_PQ_DATA_PAGE && h->kind != FM_PQ_DATA_PAGE_V2 && h->kind != FM_PQ_DICTIONARY_PAGE) {
            p->at += h->packed_size;
            continue;
        }
        if (h->values < 0) return fm_pq_page_corrupt(p, err, "a page without a number of values");
        FM_TRY(look(p, (size_t)h->packed_size, &bytes, &len, err));
        if (h->has_crc && h->crc != (uint32_t)crc32(0, bytes, (unsigned)h->packed_size))
            return fm_pq_page_corrupt(p, err, "a page's checksum is wrong");
        FM_TRY(unpack(p, h, bytes, out, err));
        p->at += h->packed_size;
        return FM_OK;
    }
}
