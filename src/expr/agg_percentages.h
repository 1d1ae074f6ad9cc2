/* expr/agg_percentages.h: the percentages argument of percentile and its kin: a number or an array of numbers in [0, 1],
 * constant. */
#ifndef FM_EXPR_AGG_PERCENTAGES_H
#define FM_EXPR_AGG_PERCENTAGES_H

#include "expr/aggregate.h"

typedef struct fm_percentages {
    const double *values; /* [n] */
    int32_t n;
    bool is_list;         /* the result is an array */
} fm_percentages;

/* Reads argument i of the call being bound. Errors: DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE, NON_FOLDABLE_INPUT,
 * UNEXPECTED_NULL, VALUE_OUT_OF_RANGE. */
fm_status fm_bind_percentages(const fm_bind *b, int32_t i, fm_percentages *out, fm_error *err);
/* `element`, or an array of it. */
fm_status fm_percentages_type(const fm_bind *b, const fm_percentages *p, const fm_type *element, const fm_type **out,
                              fm_error *err);

#endif
