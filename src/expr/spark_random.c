/* expr/spark_random.c: the random numbers of Spark's rand(), randn(), uniform() and randstr(). */
#include "expr/spark_random.h"

#include <math.h>

enum { SEED_BYTES = 8 };

static uint32_t rotate(uint32_t x, int by) { return x << by | x >> (32 - by); }

/* Murmur3, 32 bits, of the seed's bytes, most significant first. */
static uint32_t murmur3(uint64_t seed, uint32_t hash)
{
    for (int word = 0; word < 2; word++) {
        uint32_t k = __builtin_bswap32((uint32_t)(seed >> (word ? 0 : 32))); /* read least significant first */
        k *= 0xCC9E2D51u;
        k = rotate(k, 15) * 0x1B873593u;
        hash = rotate(hash ^ k, 13) * 5 + 0xE6546B64u;
    }
    hash ^= SEED_BYTES;
    hash = (hash ^ hash >> 16) * 0x85EBCA6Bu;
    hash = (hash ^ hash >> 13) * 0xC2B2AE35u;
    return hash ^ hash >> 16;
}

void fm_spark_random_init(fm_spark_random *r, int64_t seed)
{
    uint32_t low = murmur3((uint64_t)seed, 0x3C074A61u), high = murmur3((uint64_t)seed, low);
    *r = (fm_spark_random){.state = (uint64_t)high << 32 | low};
}

static uint32_t next(fm_spark_random *r, int bits)
{
    uint64_t x = r->state;
    x ^= x << 21;
    x ^= x >> 35;
    x ^= x << 4;
    r->state = x;
    return (uint32_t)(x & ((UINT64_C(1) << bits) - 1));
}

int32_t fm_spark_random_i32(fm_spark_random *r) { return (int32_t)next(r, 32); }

double fm_spark_random_f64(fm_spark_random *r)
{
    uint64_t high = next(r, 26);
    return (double)(high << 27 | next(r, 27)) * 0x1p-53;
}

/* Marsaglia's polar method: a point in the unit circle gives two numbers. */
double fm_spark_random_gaussian(fm_spark_random *r)
{
    double a, b, square, factor;
    if (r->has_gaussian) {
        r->has_gaussian = false;
        return r->gaussian;
    }
    do {
        a = 2 * fm_spark_random_f64(r) - 1;
        b = 2 * fm_spark_random_f64(r) - 1;
        square = a * a + b * b;
    } while (square >= 1 || square == 0);
    factor = sqrt(-2 * log(square) / square);
    r->gaussian = b * factor;
    r->has_gaussian = true;
    return a * factor;
}
