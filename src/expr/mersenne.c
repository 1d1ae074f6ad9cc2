/* expr/mersenne.c: MT19937, as Apache Commons Math seeds and reads it. */
#include "expr/mersenne.h"

enum { N = FM_MERSENNE_WORDS, M = 397 };

static uint32_t mixed(const uint32_t *words, int i) { return words[i - 1] ^ words[i - 1] >> 30; }

/* The reference's init_by_array, its key being the two halves of the seed, the high one first. */
void fm_mersenne_init(fm_mersenne *m, int64_t seed)
{
    const uint32_t key[2] = {(uint32_t)((uint64_t)seed >> 32), (uint32_t)seed};
    uint32_t *w = m->words;
    int i = 1, j = 0;
    w[0] = 19650218;
    for (int k = 1; k < N; k++) w[k] = 1812433253u * mixed(w, k) + (uint32_t)k;
    for (int k = 0; k < N; k++) {
        w[i] = (w[i] ^ mixed(w, i) * 1664525u) + key[j] + (uint32_t)j;
        if (++i == N) {
            w[0] = w[N - 1];
            i = 1;
        }
        j = (j + 1) % 2;
    }
    for (int k = 1; k < N; k++) {
        w[i] = (w[i] ^ mixed(w, i) * 1566083941u) - (uint32_t)i;
        if (++i == N) {
            w[0] = w[N - 1];
            i = 1;
        }
    }
    w[0] = 0x80000000u;
    m->at = N;
}

static void refill(fm_mersenne *m)
{
    uint32_t *w = m->words;
    for (int k = 0; k < N; k++) {
        uint32_t y = (w[k] & 0x80000000u) | (w[(k + 1) % N] & 0x7FFFFFFFu);
        w[k] = w[(k + M) % N] ^ y >> 1 ^ (y & 1 ? 0x9908B0DFu : 0);
    }
    m->at = 0;
}

uint32_t fm_mersenne_u32(fm_mersenne *m)
{
    uint32_t y;
    if (m->at == N) refill(m);
    y = m->words[m->at++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9D2C5680u;
    y ^= y << 15 & 0xEFC60000u;
    return y ^ y >> 18;
}

uint64_t fm_mersenne_u64(fm_mersenne *m)
{
    uint64_t high = fm_mersenne_u32(m);
    return high << 32 | fm_mersenne_u32(m);
}
