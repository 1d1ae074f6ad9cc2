/* base/bits.c: whole bitmaps. */
#include "base/bits.h"

int64_t fm_bits_count(const uint64_t *bits, int64_t n)
{
    int64_t count = 0;

    for (int64_t i = 0; i < n >> 6; i++) count += fm_popcount64(bits[i]);
    if (n & 63) count += fm_popcount64(bits[n >> 6] & (((uint64_t)1 << (n & 63)) - 1));
    return count;
}

void fm_bits_fill(uint64_t *bits, int64_t n)
{
    for (int64_t i = 0; i < n >> 6; i++) bits[i] = ~(uint64_t)0;
    if (n & 63) bits[n >> 6] = ((uint64_t)1 << (n & 63)) - 1;
}
