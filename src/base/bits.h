/* base/bits.h: validity bitmaps (least bit first, 1 for present) and small bit tricks. */
#ifndef FM_BASE_BITS_H
#define FM_BASE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool fm_bit_get(const uint64_t *bits, int64_t i)
{
    return (bits[i >> 6] >> (i & 63)) & 1;
}

static inline void fm_bit_set(uint64_t *bits, int64_t i)
{
    bits[i >> 6] |= (uint64_t)1 << (i & 63);
}

static inline void fm_bit_clear(uint64_t *bits, int64_t i)
{
    bits[i >> 6] &= ~((uint64_t)1 << (i & 63));
}

/* A null bitmap means "all present". */
static inline bool fm_bit_valid(const uint64_t *bits, int64_t i)
{
    return !bits || fm_bit_get(bits, i);
}

static inline int64_t fm_bit_words(int64_t n) { return (n + 63) >> 6; }
static inline int fm_popcount64(uint64_t x) { return __builtin_popcountll(x); }
/* Index of the lowest set bit; x must not be 0. */
static inline int fm_ctz64(uint64_t x) { return __builtin_ctzll(x); }
static inline size_t fm_align_up(size_t x, size_t align) { return (x + align - 1) & ~(align - 1); }
/* Smallest power of two >= x; x >= 1. */
static inline uint64_t fm_pow2_at_least(uint64_t x)
{
    return x <= 1 ? 1 : (uint64_t)1 << (64 - __builtin_clzll(x - 1));
}

/* How many of the first n bits are set. */
int64_t fm_bits_count(const uint64_t *bits, int64_t n);
/* Sets the first n bits, clears the rest of the last word. */
void fm_bits_fill(uint64_t *bits, int64_t n);

#endif
