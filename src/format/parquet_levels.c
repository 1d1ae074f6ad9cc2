/* format/parquet_levels.c: runs of small integers: levels, dictionary indexes, booleans; and bits unpacked.
 *
 * Unpacking goes eight values at a time: eight of `width` bits are `width` whole bytes, so every group starts at a byte. For
 * each width the compiler makes a body of its own, in which all shifts are constants. */
#include "format/parquet_decode.h"

static uint64_t load64(const uint8_t *p)
{
    uint64_t x;

    memcpy(&x, p, sizeof x);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    return x;
}

/* ---- Unpacking ---------------------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) void unpack8(const uint8_t *p, const int w, uint32_t *restrict out)
{
    const uint64_t mask = w == 32 ? UINT32_MAX : ((uint64_t)1 << w) - 1;

    if (w <= 8) {
        uint64_t x = load64(p);
        for (int i = 0; i < 8; i++) out[i] = (uint32_t)(x >> (i * w) & mask);
    } else if (w <= 16) {
        uint64_t lo = load64(p), hi = load64(p + w / 2);
        for (int i = 0; i < 4; i++) out[i] = (uint32_t)(lo >> (i * w) & mask);
        for (int i = 0; i < 4; i++) out[4 + i] = (uint32_t)(hi >> (i * w + (w & 1) * 4) & mask);
    } else {
        for (int i = 0; i < 8; i++) out[i] = (uint32_t)(load64(p + (i * w >> 3)) >> (i * w & 7) & mask);
    }
}

#define WIDTHS(X)                                                                                                      \
    X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21) \
    X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31) X(32)

/* groups of 8 */
static void unpack_groups(const uint8_t *p, int32_t width, uint32_t *restrict out, int64_t groups)
{
    switch (width) {
#define CASE(w) \
    case w:     \
        for (int64_t g = 0; g < groups; g++) unpack8(p + g * (w), w, out + g * 8); \
        break;
        WIDTHS(CASE)
#undef CASE
    default: break;
    }
}

void fm_pq_unpack_u32(const uint8_t *bytes, uint64_t bit, int32_t width, uint32_t *out, int64_t n)
{
    const uint64_t mask = ((uint64_t)1 << width) - 1;
    int64_t i = 0;

    for (; i < n && (bit & 7); i++, bit += (uint64_t)width) out[i] = (uint32_t)(load64(bytes + (bit >> 3)) >> (bit & 7) & mask);
    int64_t groups = (n - i) / 8;
    unpack_groups(bytes + (bit >> 3), width, out + i, groups);
    i += groups * 8;
    bit += (uint64_t)groups * 8 * (uint64_t)width;
    for (; i < n; i++, bit += (uint64_t)width) out[i] = (uint32_t)(load64(bytes + (bit >> 3)) >> (bit & 7) & mask);
}

void fm_pq_unpack_u64(const uint8_t *bytes, uint64_t bit, int32_t width, uint64_t *out, int64_t n)
{
    const uint64_t mask = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;

    for (int64_t i = 0; i < n; i++, bit += (uint64_t)width) {
        const uint8_t *p = bytes + (bit >> 3);
        int shift = (int)(bit & 7);
        uint64_t x = load64(p) >> shift;
        if (shift + width > 64) x |= (uint64_t)p[8] << (64 - shift);
        out[i] = x & mask;
    }
}

bool fm_pq_unpack_msb(const uint8_t *bytes, size_t size, int32_t width, uint8_t *out, int64_t n)
{
    if (((uint64_t)n * (uint64_t)width + 7) / 8 > size) return false;
    for (int64_t i = 0; i < n; i++) {
        uint32_t x = 0;
        for (int32_t b = 0; b < width; b++) {
            uint64_t bit = (uint64_t)i * (uint64_t)width + (uint64_t)b;
            x = x << 1 | (bytes[bit >> 3] >> (7 - (bit & 7)) & 1);
        }
        out[i] = (uint8_t)x;
    }
    return true;
}

/* ---- Runs --------------------------------------------------------------------------------------------------- */

void fm_pq_runs_init(fm_pq_runs *r, const uint8_t *bytes, size_t size, int32_t width)
{
    *r = (fm_pq_runs){.at = bytes, .end = bytes + size, .width = width, .next = bytes};
}

static bool next_run(fm_pq_runs *r)
{
    uint64_t head = 0;
    int shift = 0;

    r->at = r->next;
    for (;; shift += 7) {
        if (r->at == r->end || shift > 28) return false;
        uint8_t b = *r->at++;
        head |= (uint64_t)(b & 0x7F) << shift;
        if (b < 0x80) break;
    }
    size_t have = (size_t)(r->end - r->at);
    r->packed = head & 1;
    r->left = (int64_t)(head >> 1);
    if (r->packed) {
        /* The last run may be cut short: its padding is not always written. */
        uint64_t size = (uint64_t)r->left * (uint64_t)r->width;
        r->left *= 8;
        r->bit = 0;
        if (size > have) {
            r->left = (int64_t)(have * 8 / (uint64_t)r->width);
            size = have;
        }
        r->next = r->at + size;
        return true;
    }
    size_t size = (size_t)(r->width + 7) / 8;
    if (size > have) return false;
    r->value = size ? (uint32_t)(load64(r->at) & (((uint64_t)1 << (size * 8)) - 1)) : 0;
    r->next = r->at + size;
    return true;
}

/* Finds a run with values left; false at the end. */
static bool have_run(fm_pq_runs *r)
{
    while (r->left == 0)
        if (!next_run(r)) return false;
    return true;
}

bool fm_pq_runs_u32(fm_pq_runs *r, uint32_t *out, int64_t n)
{
    while (n > 0) {
        if (!have_run(r)) return false;
        int64_t k = n < r->left ? n : r->left;
        if (!r->packed) {
            for (int64_t i = 0; i < k; i++) out[i] = r->value;
        } else if (r->width == 0) {
            memset(out, 0, (size_t)k * sizeof *out);
        } else {
            fm_pq_unpack_u32(r->at, r->bit, r->width, out, k);
            r->bit += (uint64_t)k * (uint64_t)r->width;
        }
        out += k;
        n -= k;
        r->left -= k;
    }
    return true;
}

bool fm_pq_runs_u8(fm_pq_runs *r, uint8_t *out, int64_t n)
{
    uint32_t wide[512];

    while (n > 0) {
        if (!have_run(r)) return false;
        int64_t k = n < r->left ? n : r->left;
        if (!r->packed) {
            memset(out, (int)(uint8_t)r->value, (size_t)k);
            r->left -= k;
        } else {
            if (k > 512) k = 512;
            if (!fm_pq_runs_u32(r, wide, k)) return false;
            for (int64_t i = 0; i < k; i++) out[i] = (uint8_t)wide[i];
        }
        out += k;
        n -= k;
    }
    return true;
}
