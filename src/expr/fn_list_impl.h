/* expr/fn_list_impl.h: what the files fn_list*.c share. */
#ifndef FM_EXPR_FN_LIST_IMPL_H
#define FM_EXPR_FN_LIST_IMPL_H

#include "column/builder.h"
#include "expr/kernel.h"

enum { FM_LIST_ELEMENTS_MAX = 1 << 28 }; /* elements that the arrays of one batch may come to */

static inline const fm_type *fm_list_element(const fm_type *list) { return list->fields[0].type; }

/* A list being made, a lane at a time. */
typedef struct fm_list_maker {
    fm_builder *list, *element;
} fm_list_maker;

static inline bool fm_list_make(fm_call *call, const fm_vec *out, fm_list_maker *m)
{
    m->list = fm_builder_new(call->arena, out->type, out->len);
    if (m->list) m->element = fm_builder_child(m->list, 0);
    return m->list != NULL;
}

/* Adds elements [from, to) of a list's lanes. */
static inline void fm_list_add(fm_list_maker *m, const fm_vec *elements, int32_t from, int32_t to)
{
    for (int32_t k = from; k < to; k++) fm_builder_lane(m->element, elements, k);
}

/* Whether argument i was written NULL, of no type. */
bool fm_bind_is_bare_null(const fm_bind *b, int32_t i);
/* (array, value): both get a common element type, the array's argument 0, the value's argument `value`.
 * wide: decimals meet integers too. DATATYPE_MISMATCH.ARRAY_FUNCTION_DIFF_TYPES. */
fm_status fm_list_bind_value(fm_bind *b, int32_t value, bool wide, fm_error *err);
/* The result is of the type of argument 0. */
fm_status fm_list_bind_same(fm_bind *b, fm_error *err);
/* The elements of argument i must have an order: DATATYPE_MISMATCH.INVALID_ORDERING_TYPE. */
fm_status fm_list_bind_ordered(const fm_bind *b, int32_t i, fm_error *err);
/* COLLECTION_SIZE_LIMIT_EXCEEDED.FUNCTION */
fm_status fm_list_too_long(fm_call *call);

#endif
