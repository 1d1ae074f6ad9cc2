/* base/xorshift.h: the random numbers that Spark draws when it samples, so that the same seed chooses the same rows. */
#ifndef FM_BASE_XORSHIFT_H
#define FM_BASE_XORSHIFT_H

#include <stdint.h>

typedef struct fm_xorshift {
    uint64_t state;
} fm_xorshift;

/* rule  Spark, XORShiftRandom: the seed is hashed by MurmurHash3 (of Scala) into the first state */
void fm_xorshift_init(fm_xorshift *r, int64_t seed);
/* In [0, 1), as java.util.Random makes a double of two draws. */
double fm_xorshift_double(fm_xorshift *r);

#endif
