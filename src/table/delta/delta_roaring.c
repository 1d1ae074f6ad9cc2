/* table/delta/delta_roaring.c: sets of rows as Roaring bitmaps, and back.
 *
 *     32-bit bitmap   cookie | [run flags] | per container: key u16, cardinality - 1 u16 | [offsets, u32 each] | containers
 *     container       rows that share their upper 16 bits: an array of u16 (up to 4096), 8 KiB of bits, or runs */
#include <inttypes.h>

#include "base/bits.h"
#include "table/delta/delta_dv.h"

enum {
    MAGIC = 1681511377, COOKIE = 12346, COOKIE_RUNS = 12347, ARRAY_MAX = 4096, BITMAP_SIZE = 8192, OFFSETS_FROM = 4,
    CONTAINER_ROWS = 65536
};

typedef struct cursor {
    const unsigned char *at, *end;
    fm_error *err;
} cursor;

static fm_status damaged(cursor *c, const char *what)
{
    return fm_fail(c->err, FM_CORRUPT, "DELTA_DELETION_VECTOR_INVALID", "A deletion vector is damaged: %s.", what);
}

static bool take_int(cursor *c, int size, uint64_t *out)
{
    if (c->end - c->at < size) return false;
    *out = 0;
    for (int i = 0; i < size; i++) *out |= (uint64_t)c->at[i] << (8 * i);
    c->at += size;
    return true;
}

static fm_status set_row(cursor *c, fm_delta_rows *set, uint64_t row)
{
    if (row >= (uint64_t)set->rows) return damaged(c, "it names a row that the data file has not");
    if (!fm_bit_get(set->bits, (int64_t)row)) set->gone++;
    fm_bit_set(set->bits, (int64_t)row);
    return FM_OK;
}

static fm_status read_runs(cursor *c, uint64_t base, fm_delta_rows *set)
{
    uint64_t n, start, length;

    if (!take_int(c, 2, &n)) return damaged(c, "it ends too early");
    for (uint64_t i = 0; i < n; i++) {
        if (!take_int(c, 2, &start) || !take_int(c, 2, &length)) return damaged(c, "it ends too early");
        if (start + length >= CONTAINER_ROWS) return damaged(c, "a run leaves its container");
        for (uint64_t k = start; k <= start + length; k++) FM_TRY(set_row(c, set, base + k));
    }
    return FM_OK;
}

static fm_status read_bits(cursor *c, uint64_t base, fm_delta_rows *set)
{
    uint64_t word;

    for (uint64_t w = 0; w < BITMAP_SIZE / 8; w++) {
        if (!take_int(c, 8, &word)) return damaged(c, "it ends too early");
        for (; word; word &= word - 1) FM_TRY(set_row(c, set, base + w * 64 + (uint64_t)fm_ctz64(word)));
    }
    return FM_OK;
}

static fm_status read_array(cursor *c, uint64_t base, uint32_t n, fm_delta_rows *set)
{
    uint64_t x;

    for (uint32_t i = 0; i < n; i++) {
        if (!take_int(c, 2, &x)) return damaged(c, "it ends too early");
        FM_TRY(set_row(c, set, base + x));
    }
    return FM_OK;
}

static fm_status read_bitmap(cursor *c, uint64_t base, fm_delta_rows *set)
{
    uint64_t cookie, n;
    const unsigned char *runs = NULL;

    if (!take_int(c, 4, &cookie)) return damaged(c, "it ends too early");
    if ((cookie & 0xFFFF) == COOKIE_RUNS) {
        n = (cookie >> 16) + 1;
        runs = c->at;
        if ((uint64_t)(c->end - c->at) < (n + 7) / 8) return damaged(c, "it ends too early");
        c->at += (n + 7) / 8;
    } else if (cookie != COOKIE || !take_int(c, 4, &n) || n > CONTAINER_ROWS) {
        return damaged(c, "it is no Roaring bitmap");
    }
    const unsigned char *heads = c->at;
    uint64_t skip = n * 4 + (!runs || n >= OFFSETS_FROM ? n * 4 : 0);
    if ((uint64_t)(c->end - c->at) < skip) return damaged(c, "it ends too early");
    c->at += skip;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t key = heads[i * 4] | (uint64_t)heads[i * 4 + 1] << 8;
        uint32_t count = (uint32_t)(heads[i * 4 + 2] | heads[i * 4 + 3] << 8) + 1;
        if (runs && (runs[i / 8] >> (i % 8) & 1)) FM_TRY(read_runs(c, base + (key << 16), set));
        else if (count > ARRAY_MAX) FM_TRY(read_bits(c, base + (key << 16), set));
        else FM_TRY(read_array(c, base + (key << 16), count, set));
    }
    return FM_OK;
}

fm_status fm_delta_rows_decode(fm_str bytes, fm_delta_rows *set, fm_error *err)
{
    cursor c = {(const unsigned char *)bytes.ptr, (const unsigned char *)bytes.ptr + bytes.len, err};
    uint64_t magic, buckets, key;

    if (!take_int(&c, 4, &magic) || magic != MAGIC) return damaged(&c, "it is of a format that is not known here");
    if (!take_int(&c, 8, &buckets)) return damaged(&c, "it ends too early");
    for (uint64_t i = 0; i < buckets; i++) {
        if (!take_int(&c, 4, &key)) return damaged(&c, "it ends too early");
        if (key > INT32_MAX) return damaged(&c, "a key is negative");
        FM_TRY(read_bitmap(&c, key << 32, set));
    }
    return FM_OK;
}

/* ---- Writing ------------------------------------------------------------------------------------------------- */

static void put_int(fm_strbuf *out, uint64_t x, int size)
{
    for (int i = 0; i < size; i++) fm_strbuf_add_char(out, (char)(unsigned char)(x >> (8 * i)));
}

static int64_t count_container(const fm_delta_rows *set, int64_t first)
{
    int64_t n = 0;

    for (int64_t w = first / 64; w < (first + CONTAINER_ROWS) / 64 && w < fm_bit_words(set->rows); w++) n += fm_popcount64(set->bits[w]);
    return n;
}

static void put_container(const fm_delta_rows *set, int64_t first, int64_t count, fm_strbuf *out)
{
    for (int64_t w = 0; w < CONTAINER_ROWS / 64; w++) {
        int64_t at = first / 64 + w;
        uint64_t word = at < fm_bit_words(set->rows) ? set->bits[at] : 0;
        if (count > ARRAY_MAX) put_int(out, word, 8);
        else for (; word; word &= word - 1) put_int(out, (uint64_t)w * 64 + (uint64_t)fm_ctz64(word), 2);
    }
}

/* One bucket: rows [first, first + 2^32). */
static void put_bitmap(const fm_delta_rows *set, int64_t first, int64_t end, fm_strbuf *out)
{
    uint64_t n = 0, offset;

    for (int64_t at = first; at < end; at += CONTAINER_ROWS) n += count_container(set, at) > 0;
    put_int(out, COOKIE, 4);
    put_int(out, n, 4);
    for (int64_t at = first; at < end; at += CONTAINER_ROWS) {
        int64_t count = count_container(set, at);
        if (count == 0) continue;
        put_int(out, (uint64_t)(at - first) >> 16, 2);
        put_int(out, (uint64_t)count - 1, 2);
    }
    offset = 8 + n * 8;
    for (int64_t at = first; at < end; at += CONTAINER_ROWS) {
        int64_t count = count_container(set, at);
        if (count == 0) continue;
        put_int(out, offset, 4);
        offset += count > ARRAY_MAX ? BITMAP_SIZE : (uint64_t)count * 2;
    }
    for (int64_t at = first; at < end; at += CONTAINER_ROWS) {
        int64_t count = count_container(set, at);
        if (count) put_container(set, at, count, out);
    }
}

void fm_delta_rows_encode(const fm_delta_rows *set, fm_strbuf *out)
{
    const int64_t bucket = INT64_C(1) << 32;
    uint64_t buckets = 0;

    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1) {
            put_int(out, MAGIC, 4);
            put_int(out, buckets, 8);
        }
        for (int64_t first = 0; first < set->rows; first += bucket) {
            int64_t end = set->rows - first < bucket ? set->rows : first + bucket, n = 0;
            for (int64_t at = first; at < end && n == 0; at += CONTAINER_ROWS) n = count_container(set, at);
            if (n == 0) continue;
            buckets += pass == 0;
            if (pass == 0) continue;
            put_int(out, (uint64_t)first >> 32, 4);
            put_bitmap(set, first, end, out);
        }
    }
}
