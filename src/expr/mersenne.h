/* expr/mersenne.h: MT19937, as Apache Commons Math seeds and reads it: what Spark's uuid(seed) and shuffle(array, seed) draw from. */
#ifndef FM_EXPR_MERSENNE_H
#define FM_EXPR_MERSENNE_H

#include <stdint.h>

enum { FM_MERSENNE_WORDS = 624 };

typedef struct fm_mersenne {
    uint32_t words[FM_MERSENNE_WORDS];
    int at; /* the next word; FM_MERSENNE_WORDS: all are used up */
} fm_mersenne;

void fm_mersenne_init(fm_mersenne *m, int64_t seed);
uint32_t fm_mersenne_u32(fm_mersenne *m);
uint64_t fm_mersenne_u64(fm_mersenne *m); /* the high half is drawn first */

#endif
