/* column/random_vec.h: random types and vectors from a seed, for tests. */
#ifndef FM_COLUMN_RANDOM_VEC_H
#define FM_COLUMN_RANDOM_VEC_H

#include "column/builder.h"

typedef struct fm_random {
    uint64_t state;
} fm_random;

uint64_t fm_random_next(fm_random *r, uint64_t bound); /* 0..bound-1 */
/* Any type; for keys: no maps in it. Nested up to three deep. */
const fm_type *fm_random_type(fm_random *r, fm_arena *arena, bool for_key);
/* n lanes; a value comes from few or from many, nulls from never to always. Verified. */
fm_vec fm_random_vec(fm_random *r, fm_arena *arena, const fm_type *type, int32_t n);

#endif
