/* expr/hll_table.h: the bias of HyperLogLog++ by precision and raw estimate; made for hll.c. */
#ifndef FM_EXPR_HLL_TABLE_H
#define FM_EXPR_HLL_TABLE_H

enum { FM_HLL_BIAS_PRECISION_MIN = 4, FM_HLL_BIAS_ROWS = 15 };

typedef struct fm_hll_biases {
    int n;
    const double *raw;  /* [n] raw estimates, rising */
    const double *bias; /* [n] how much too large each was */
} fm_hll_biases;

extern const fm_hll_biases fm_hll_bias_table[FM_HLL_BIAS_ROWS]; /* by precision - FM_HLL_BIAS_PRECISION_MIN */

#endif
