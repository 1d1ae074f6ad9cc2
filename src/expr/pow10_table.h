/* expr/pow10_table.h: the leading 128 bits of powers of ten, for reading and printing doubles. */
#ifndef FM_EXPR_POW10_TABLE_H
#define FM_EXPR_POW10_TABLE_H

#include <stdint.h>

enum { FM_POW10_MIN = -342, FM_POW10_MAX = 324 };

/* [k - FM_POW10_MIN] = {high word, low word} of floor(10^k * 2^n), scaled to 128 bits. Exact for 0 <= k <= 55. */
extern const uint64_t fm_pow10_table[FM_POW10_MAX - FM_POW10_MIN + 1][2];

#endif
