/* expr/cast_internal.h: the pieces of CAST, one file each, and how they tell of values that do not fit.
 *
 * Every piece gets `out` with type, len, zeroed values and in's validity. A lane that cannot be cast is given
 * to fm_cast_bad: under ANSI that ends the cast with an error naming the value, else the lane becomes null. */
#ifndef FM_EXPR_CAST_INTERNAL_H
#define FM_EXPR_CAST_INTERNAL_H

#include "expr/cast.h"

typedef struct fm_casting {
    const fm_vec *in;
    const fm_type *to;
    fm_cast_mode mode;
    const fm_session_conf *conf;
    fm_arena *arena;
    fm_error *err;
    fm_vec *out;
    uint64_t *valid; /* out's own validity once a lane was cleared, else NULL */
} fm_casting;

typedef enum fm_cast_fault {
    FM_CAST_MALFORMED, /* CAST_INVALID_INPUT */
    FM_CAST_OVERFLOWS, /* CAST_OVERFLOW */
    FM_CAST_RANGE,     /* NUMERIC_VALUE_OUT_OF_RANGE: a decimal that does not fit */
    FM_CAST_BEYOND     /* NUMERIC_OUT_OF_SUPPORTED_RANGE: text of a number that no decimal holds */
} fm_cast_fault;

/* Lane i cannot be cast. FM_OK: it is null now. */
fm_status fm_cast_bad(fm_casting *c, int64_t i, fm_cast_fault fault);
/* Clears lane i whatever the mode. */
fm_status fm_cast_null(fm_casting *c, int64_t i);
static inline bool fm_cast_lane(const fm_casting *c, int64_t i) /* not null */
{
    return fm_bit_valid(c->in->validity, i);
}

/* As Java: stops at the ends of BIGINT, NaN is 0. */
int64_t fm_f64_to_i64_sat(double x);

fm_status fm_cast_to_string(fm_casting *c);
fm_status fm_cast_from_string(fm_casting *c);
fm_status fm_cast_number(fm_casting *c);      /* integers, floats, booleans to each other */
fm_status fm_cast_to_decimal(fm_casting *c);  /* from numbers, booleans, timestamps */
fm_status fm_cast_from_decimal(fm_casting *c); /* to numbers, booleans, timestamps */
fm_status fm_cast_time(fm_casting *c);        /* dates, timestamps, intervals; to and from numbers */
fm_status fm_cast_nested(fm_casting *c);      /* sets out whole */

#endif
