/* expr/resolve_text.h: the messages of expressions whose types do not fit. */
#ifndef FM_EXPR_RESOLVE_TEXT_H
#define FM_EXPR_RESOLVE_TEXT_H

#include "expr/expr.h"

/* FM_INVALID, DATATYPE_MISMATCH.<kind>: Cannot resolve "<e>" due to data type mismatch: <why>. `why` is a
 * format with one %s, or two when b is given: the quoted types. */
fm_status fm_fail_mismatch(fm_error *err, const fm_expr *e, const char *kind, const char *why,
                           const fm_type *a, const fm_type *b);
/* FM_INVALID, INVALID_EXTRACT_BASE_FIELD_TYPE: e->args[0] has no parts. */
fm_status fm_fail_extract(fm_error *err, const fm_expr *e);
/* As fm_fail_mismatch, for a call that is being bound. */
struct fm_bind;
fm_status fm_fail_bind(const struct fm_bind *b, fm_error *err, const char *kind, const char *why,
                       const fm_type *x, const fm_type *y);

#endif
