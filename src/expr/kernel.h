/* expr/kernel.h: what kernels of several files share: clearing lanes of a result, and entries that bind picks a
 * kernel for. */
#ifndef FM_EXPR_KERNEL_H
#define FM_EXPR_KERNEL_H

#include "expr/function.h"

/* Makes lane i of a STRICT result null. *own is the result's own bitmap, NULL at first: made of the validity
 * that was preset when the first lane is cleared. */
fm_status fm_out_null(fm_call *call, fm_vec *out, uint64_t **own, int64_t i);

/* A decimal of more digits than its type has, where Spark fails even without ANSI: NUMERIC_VALUE_OUT_OF_RANGE.WITHOUT_SUGGESTION. */
fm_status fm_decimal_too_long(fm_call *call, fm_i128 x, const fm_type *type);

/* An entry whose kernel depends on the types: bind leaves the address of one of these as `bound`. */
typedef struct fm_picked {
    fm_kernel kernel;
} fm_picked;
/* A kernel that calls the picked one. */
fm_status fm_run_picked(fm_call *call, const fm_vec *args, fm_vec *out);

/* The value of argument i, which must be constant: DATATYPE_MISMATCH.NON_FOLDABLE_INPUT else. It is cast as
 * the entry's class says already. */
fm_status fm_eval_constant_of(const fm_bind *b, int32_t i, fm_value *out, fm_error *err);
/* Whether argument i is constant. */
bool fm_bind_is_constant(const fm_bind *b, int32_t i);

/* What an operator does with a result that does not exist. */
typedef enum fm_on_fault {
    FM_FAULT_WRAP, /* not ANSI: integers wrap, the rest is null */
    FM_FAULT_FAIL, /* ANSI */
    FM_FAULT_NULL  /* try_...: null */
} fm_on_fault;

#endif
