/* expr/agg_decimal.h: running sums of decimals: what sum(decimal) and avg(decimal) share; decimals among other numbers. */
#ifndef FM_EXPR_AGG_DECIMAL_H
#define FM_EXPR_AGG_DECIMAL_H

#include "expr/agg_lanes.h"
#include "expr/decimal.h"

/* The sum in two words, since states are aligned to 8 bytes only, and how many values went in. Zero bytes are
 * the empty state. A sum beyond 38 digits becomes FM_AGG_DECIMAL_OVERFLOWED and stays so. */
typedef struct fm_agg_decimal {
    uint64_t lo, hi;
    int64_t count;
} fm_agg_decimal;

#define FM_AGG_DECIMAL_OVERFLOWED ((fm_i128)(((fm_u128)1 << 127) - 1))

static inline fm_i128 fm_agg_decimal_sum(const fm_agg_decimal *s)
{
    return (fm_i128)(((fm_u128)s->hi << 64) | s->lo);
}

/* Adds the lanes that count / takes src in; neither can fail: finish tells of an overflow. */
fm_status fm_agg_decimal_update(const fm_agg_call *call, char *const *entries, const fm_vec *x,
                                const uint8_t *keep, int32_t n);
fm_status fm_agg_decimal_merge(const fm_agg_call *call, char *const *dst, char *const *src,
                               int32_t n);

/* Lanes [from, from + n) of a column of numbers, of any type, as doubles. A decimal goes by its text, as Java's BigDecimal
 * does. buffer: [FM_AGG_CHUNK]. */
const double *fm_agg_doubles(const fm_vec *x, int32_t from, int32_t n, double *buffer);

#endif
