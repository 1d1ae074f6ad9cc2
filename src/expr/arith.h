/* expr/arith.h: + - * / % div and their kin: types of results, and the faults they have in common. */
#ifndef FM_EXPR_ARITH_H
#define FM_EXPR_ARITH_H

#include "expr/kernel.h"

typedef enum fm_arith_op {
    FM_ADD, FM_SUB, FM_MUL, FM_DIV, FM_REM, FM_PMOD, FM_INT_DIV
} fm_arith_op;

/* What bind keeps of an operator call; `kernel` comes first, so that it is a fm_picked. */
typedef struct fm_arith {
    fm_picked picked;
    fm_arith_op op;
    fm_on_fault on_fault;
    int precision, scale; /* decimals: of the exact result's type */
    const fm_zone *zone;  /* time: the session's; NULL for TIMESTAMP_NTZ */
    const fm_type *back;  /* the result is cast to this: string + interval */
} fm_arith;

/* Numbers of both sides: decides the types, casts and kernel. *done stays false when the types are no numbers
 * (nor strings that become numbers). */
fm_status fm_arith_bind_numbers(fm_bind *b, fm_arith *a, bool *done, fm_error *err);
/* Dates, timestamps and intervals on one side or both. */
fm_status fm_arith_bind_time(fm_bind *b, fm_arith *a, bool *done, fm_error *err);

/* Result type of a decimal operation. Rule: Spark, DecimalPrecision with allowPrecisionLoss. */
void fm_decimal_result(fm_arith_op op, int p1, int s1, int p2, int s2, int *precision, int *scale);
fm_status fm_arith_decimal(fm_call *call, const fm_vec *args, fm_vec *out);

/* A lane without a result: null, or the error. `own` as in fm_out_null. */
fm_status fm_arith_overflow(fm_call *call, const fm_vec *args, fm_vec *out, uint64_t **own, int64_t i);
fm_status fm_arith_zero(fm_call *call, fm_vec *out, uint64_t **own, int64_t i);
fm_status fm_arith_range(fm_call *call, fm_vec *out, uint64_t **own, int64_t i, fm_str value,
                         const fm_type *type);
fm_status fm_interval_overflow(fm_call *call, fm_vec *out, uint64_t **own, int64_t i);
fm_status fm_datetime_overflow(fm_call *call);

#endif
