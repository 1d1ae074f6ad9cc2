/* base/xorshift.c: Spark's XORShiftRandom. */
#include "base/xorshift.h"

static uint32_t rotl(uint32_t x, int by) { return (x << by) | (x >> (32 - by)); }

static uint32_t mix(uint32_t h, uint32_t k)
{
    h ^= rotl(k * 0xCC9E2D51u, 15) * 0x1B873593u;
    return rotl(h, 13) * 5 + 0xE6546B64u;
}

/* MurmurHash3 of the eight bytes of x, highest first. */
static uint32_t hash_long(uint64_t x, uint32_t seed)
{
    uint32_t h = mix(seed, __builtin_bswap32((uint32_t)(x >> 32)));

    h = mix(h, __builtin_bswap32((uint32_t)x)) ^ 8u;
    h = (h ^ (h >> 16)) * 0x85EBCA6Bu;
    h = (h ^ (h >> 13)) * 0xC2B2AE35u;
    return h ^ (h >> 16);
}

void fm_xorshift_init(fm_xorshift *r, int64_t seed)
{
    uint32_t low = hash_long((uint64_t)seed, 0x3C074A61u);

    r->state = (uint64_t)hash_long((uint64_t)seed, low) << 32 | low;
}

static uint64_t next_bits(fm_xorshift *r, int bits)
{
    uint64_t x = r->state;

    x ^= x << 21;
    x ^= x >> 35;
    x ^= x << 4;
    r->state = x;
    return x & ((UINT64_C(1) << bits) - 1);
}

double fm_xorshift_double(fm_xorshift *r)
{
    uint64_t high = next_bits(r, 26);

    return (double)((high << 27) + next_bits(r, 27)) * 0x1p-53;
}
