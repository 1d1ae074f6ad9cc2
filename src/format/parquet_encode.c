/* format/parquet_encode.c: runs, deltas, dictionaries. */
#include "format/parquet_encode.h"

#include <stdlib.h>

#include "base/hash.h"

static void put_varint(fm_strbuf *out, uint64_t x)
{
    for (; x >= 0x80; x >>= 7) fm_strbuf_add_char(out, (char)(uint8_t)(x | 0x80));
    fm_strbuf_add_char(out, (char)(uint8_t)x);
}

static void store64(uint8_t *p, uint64_t x)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    memcpy(p, &x, sizeof x);
}

/* ---- Runs --------------------------------------------------------------------------------------------------- */

/* Values [n] of width <= 32 bits, lowest bit first; the last group of 8 is filled with zeros. */
static void pack_bits(const uint32_t *values, int64_t n, int32_t width, fm_strbuf *out)
{
    size_t size = (size_t)((n + 7) / 8) * (size_t)width;
    uint64_t word = 0;
    int32_t have = 0;

    if (!fm_strbuf_reserve(out, size + 16)) return;
    uint8_t *at = (uint8_t *)out->ptr + out->len, *end = at + size;
    for (int64_t i = 0; i < n; i++) {
        word |= (uint64_t)values[i] << have;
        have += width;
        if (have >= 32) { /* 32 bits leave at once; up to 31 stay */
            store64(at, word);
            at += 4;
            word >>= 32;
            have -= 32;
        }
    }
    store64(at, word);
    if (end > at + 8) memset(at + 8, 0, (size_t)(end - at - 8));
    out->len += size;
    out->ptr[out->len] = 0;
}

static void put_packed(const uint32_t *values, int64_t n, int32_t width, fm_strbuf *out)
{
    if (n == 0) return;
    put_varint(out, (uint64_t)((n + 7) / 8) << 1 | 1);
    pack_bits(values, n, width, out);
}

void fm_pq_encode_same(uint32_t value, int64_t n, int32_t width, fm_strbuf *out)
{
    if (n == 0) return;
    put_varint(out, (uint64_t)n << 1);
    for (int32_t bits = 0; bits < width; bits += 8) fm_strbuf_add_char(out, (char)(uint8_t)(value >> bits));
}

static bool eight_same(const uint32_t *v)
{
    uint32_t differ = 0;

    for (int i = 1; i < 8; i++) differ |= v[i] ^ v[0];
    return differ == 0;
}

void fm_pq_encode_runs(const uint32_t *values, int64_t n, int32_t width, fm_strbuf *out)
{
    int64_t from = 0, i = 0;

    while (i + 8 <= n) { /* packed values come in groups of 8, so runs are looked for at every eighth */
        if (!eight_same(values + i)) {
            i += 8;
            continue;
        }
        int64_t end = i + 8;
        while (end < n && values[end] == values[i]) end++;
        put_packed(values + from, i - from, width, out);
        fm_pq_encode_same(values[i], end - i, width, out);
        from = i = end;
    }
    put_packed(values + from, n - from, width, out);
}

void fm_pq_encode_levels(const uint8_t *levels, int64_t n, int32_t width, fm_strbuf *out)
{
    uint32_t *wide = malloc((size_t)(n + 1) * sizeof *wide);

    if (!wide) {
        out->failed = true;
        return;
    }
    for (int64_t i = 0; i < n; i++) wide[i] = levels[i];
    fm_pq_encode_runs(wide, n, width, out);
    free(wide);
}

/* ---- Deltas ------------------------------------------------------------------------------------------------- */

enum { DELTA_BLOCK = 128, DELTA_MINIS = 4, DELTA_MINI = DELTA_BLOCK / DELTA_MINIS };

static uint64_t load(const void *values, int64_t i, int32_t size)
{
    int32_t x;
    uint64_t y;

    if (size == 4) {
        memcpy(&x, (const char *)values + i * 4, 4);
        return (uint64_t)(int64_t)x;
    }
    memcpy(&y, (const char *)values + i * 8, 8);
    return y;
}

/* Of width 1..64. */
static void pack_mini(const uint64_t *v, int32_t width, fm_strbuf *out)
{
    unsigned __int128 word = 0;
    int32_t have = 0;

    if (width == 0 || !fm_strbuf_reserve(out, (size_t)width * DELTA_MINI / 8 + 16)) return;
    uint8_t *at = (uint8_t *)out->ptr + out->len;
    for (int i = 0; i < DELTA_MINI; i++) {
        word |= (unsigned __int128)v[i] << have;
        have += width;
        if (have >= 64) {
            store64(at, (uint64_t)word);
            at += 8;
            word >>= 64;
            have -= 64;
        }
    }
    store64(at, (uint64_t)word);
    out->len += (size_t)width * DELTA_MINI / 8;
    out->ptr[out->len] = 0;
}

static void put_block(uint64_t *deltas, int32_t n, int32_t size, fm_strbuf *out)
{
    int64_t least = n ? (int64_t)deltas[0] : 0;
    uint8_t widths[DELTA_MINIS];

    for (int32_t i = 1; i < n; i++) least = (int64_t)deltas[i] < least ? (int64_t)deltas[i] : least;
    for (int32_t i = 0; i < DELTA_BLOCK; i++) deltas[i] = i < n ? deltas[i] - (uint64_t)least : 0;
    if (size == 4) { /* differences of 32 bits wrap there */
        for (int32_t i = 0; i < n; i++) deltas[i] &= UINT32_MAX;
    }
    put_varint(out, (uint64_t)least << 1 ^ (least < 0 ? UINT64_MAX : 0));
    for (int32_t m = 0; m < DELTA_MINIS; m++) {
        uint64_t all = 0;
        for (int32_t i = 0; i < DELTA_MINI; i++) all |= deltas[m * DELTA_MINI + i];
        widths[m] = all ? (uint8_t)(64 - __builtin_clzll(all)) : 0;
        fm_strbuf_add_char(out, (char)widths[m]);
    }
    for (int32_t m = 0; m * DELTA_MINI < n; m++) pack_mini(deltas + (ptrdiff_t)m * DELTA_MINI, widths[m], out);
}

void fm_pq_encode_delta(const void *values, int64_t n, int32_t size, fm_strbuf *out)
{
    uint64_t deltas[DELTA_BLOCK], last = n ? load(values, 0, size) : 0;

    put_varint(out, DELTA_BLOCK);
    put_varint(out, DELTA_MINIS);
    put_varint(out, (uint64_t)n);
    put_varint(out, last << 1 ^ ((int64_t)last < 0 ? UINT64_MAX : 0));
    for (int64_t i = 1; i < n;) {
        int32_t k = n - i < DELTA_BLOCK ? (int32_t)(n - i) : DELTA_BLOCK;
        for (int32_t j = 0; j < k; j++) {
            uint64_t x = load(values, i + j, size);
            deltas[j] = size == 4 ? (uint64_t)(int64_t)(int32_t)(uint32_t)(x - last) : x - last;
            last = x;
        }
        put_block(deltas, k, size, out);
        i += k;
    }
}

/* ---- Dictionary --------------------------------------------------------------------------------------------- */

enum { SLOTS_FIRST = 1024 };

bool fm_pq_dictionary_init(fm_pq_dictionary *d, int32_t size, bool views)
{
    *d = (fm_pq_dictionary){.size = size, .views = views, .n_slots = SLOTS_FIRST};
    d->slots = calloc(SLOTS_FIRST, sizeof *d->slots);
    d->arena = views ? fm_arena_new(0) : NULL;
    return d->slots && (!views || d->arena);
}

void fm_pq_dictionary_clear(fm_pq_dictionary *d)
{
    if (d->slots) memset(d->slots, 0, d->n_slots * sizeof *d->slots);
    if (d->arena) fm_arena_reset(d->arena);
    d->n = 0;
    d->bytes = d->raw_bytes = 0;
}

void fm_pq_dictionary_fini(fm_pq_dictionary *d)
{
    fm_arena_free(d->arena);
    free(d->values);
    free(d->hashes);
    free(d->slots);
    *d = (fm_pq_dictionary){0};
}

static bool grow(fm_pq_dictionary *d)
{
    if (d->n == d->cap) {
        uint32_t cap = d->cap ? d->cap * 2 : 512;
        uint8_t *values = realloc(d->values, (size_t)cap * (size_t)d->size);
        if (!values) return false;
        d->values = values;
        uint32_t *hashes = realloc(d->hashes, cap * sizeof *hashes);
        if (!hashes) return false;
        d->hashes = hashes;
        d->cap = cap;
    }
    if (d->n < d->n_slots / 2) return true;
    uint32_t *slots = calloc((size_t)d->n_slots * 2, sizeof *slots);
    if (!slots) return false;
    free(d->slots);
    d->slots = slots;
    d->n_slots *= 2;
    for (uint32_t i = 0; i < d->n; i++) {
        uint32_t at = d->hashes[i] & (d->n_slots - 1);
        while (slots[at]) at = (at + 1) & (d->n_slots - 1);
        slots[at] = i + 1;
    }
    return true;
}

/* One loop for each size, so that comparing is an instruction. */
#define ADD(name, T, HASH, SAME, KEEP, PLAIN_SIZE)                                                       \
    static bool name(fm_pq_dictionary *d, const T *values, int64_t n, uint32_t *restrict out)           \
    {                                                                                                    \
        for (int64_t i = 0; i < n; i++) {                                                                \
            const T *v = &values[i];                                                                     \
            d->raw_bytes += (PLAIN_SIZE);                                                                \
            if (i > 0 && SAME(v, &values[i - 1])) {                                                      \
                out[i] = out[i - 1];                                                                     \
                continue;                                                                                \
            }                                                                                            \
            uint32_t hash = (uint32_t)(HASH), at = hash & (d->n_slots - 1);                              \
            while (d->slots[at] && !(d->hashes[d->slots[at] - 1] == hash && SAME(v, (const T *)(const void *)d->values + d->slots[at] - 1))) \
                at = (at + 1) & (d->n_slots - 1);                                                        \
            if (!d->slots[at]) {                                                                         \
                if (!grow(d)) return false;                                                              \
                at = hash & (d->n_slots - 1);                                                            \
                while (d->slots[at]) at = (at + 1) & (d->n_slots - 1);                                   \
                bool ok = true;                                                                          \
                ((T *)(void *)d->values)[d->n] = KEEP;                                                   \
                if (!ok) return false;                                                                   \
                d->hashes[d->n] = hash;                                                                  \
                d->slots[at] = ++d->n;                                                                   \
                d->bytes += (PLAIN_SIZE);                                                                \
            }                                                                                            \
            out[i] = d->slots[at] - 1;                                                                   \
        }                                                                                                \
        return true;                                                                                     \
    }
#define SAME_NUMBER(a, b) (*(a) == *(b))
ADD(add_4, uint32_t, fm_hash_u64(*v) >> 20, SAME_NUMBER, *v, 4U)
ADD(add_8, uint64_t, fm_hash_u64(*v) >> 20, SAME_NUMBER, *v, 8U)
ADD(add_16, fm_u128, fm_hash_u128((uint64_t)*v, (uint64_t)(*v >> 64)) >> 20, SAME_NUMBER, *v, 16U)

static bool same_view(const fm_view *a, const fm_view *b)
{
    uint64_t x, y;

    memcpy(&x, a, 8);
    memcpy(&y, b, 8);
    if (x != y) return false; /* length and the first four bytes */
    if (a->len > FM_VIEW_INLINE) return memcmp(a->u.out.ptr, b->u.out.ptr, a->len) == 0;
    memcpy(&x, (const char *)a + 8, 8);
    memcpy(&y, (const char *)b + 8, 8);
    return x == y;
}

static uint64_t view_hash(const fm_view *v)
{
    uint64_t lo, hi;

    if (v->len > FM_VIEW_INLINE) return fm_hash_bytes(v->u.out.ptr, v->len);
    memcpy(&lo, v, 8);
    memcpy(&hi, (const char *)v + 8, 8);
    return fm_hash_u128(lo, hi);
}
ADD(add_view, fm_view, view_hash(v) >> 20, same_view, fm_view_copy(d->arena, fm_view_ptr(v), v->len, &ok), 4U + v->len)
#undef ADD

bool fm_pq_dictionary_add(fm_pq_dictionary *d, const void *values, int64_t n, uint32_t *out)
{
    if (d->views) return add_view(d, values, n, out);
    if (d->size == 4) return add_4(d, values, n, out);
    if (d->size == 8) return add_8(d, values, n, out);
    return add_16(d, values, n, out);
}
