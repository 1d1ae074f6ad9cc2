/* expr/coerce.h: Spark's implicit casts (ANSI and not). Used by the analyzer, functions and set operations. */
#ifndef FM_EXPR_COERCE_H
#define FM_EXPR_COERCE_H

#include "expr/function.h"

/* The type both sides of =, CASE branches, UNION columns, coalesce() ... are cast to; NULL when there is
 * none. Rule: Spark, AnsiTypeCoercion / TypeCoercion.findWiderTypeForTwo. */
const fm_type *fm_type_common(fm_arena *arena, const fm_session_conf *conf, const fm_type *a,
                              const fm_type *b);
/* The same types at every level, whatever the fields of structs are called. */
bool fm_type_same_shape(const fm_type *a, const fm_type *b);
/* As fm_type_common, but a string meets only strings: greatest, least. */
const fm_type *fm_type_common_no_string(fm_arena *arena, const fm_session_conf *conf,
                                        const fm_type *a, const fm_type *b);
/* As fm_type_common_no_string, but only where no digits can be lost or invented: integers and floating types widen, a decimal
 * meets an integer only when it holds all of them. Rule: Spark, TypeCoercion.findTightestCommonType. */
const fm_type *fm_type_tightest(fm_arena *arena, const fm_type *a, const fm_type *b);
/* The common type of n expressions; NULL when there is none. */
const fm_type *fm_type_common_of(fm_arena *arena, const fm_session_conf *conf,
                                 fm_expr *const *args, int32_t n);
/* Whether an implicit cast from -> to is allowed (store and function arguments). */
bool fm_type_implicit(const fm_session_conf *conf, const fm_type *from, const fm_type *to);
/* The type that a call by that name casts to (int, bigint, string, date, ...); NULL for other names. */
const fm_type *fm_cast_function_type(fm_arena *arena, fm_str name);
/* e as `to`: e itself when it is of that type, a folded literal or a CAST node else; resolved. Checks that the
 * cast exists (explicit rules when is_explicit): DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION. */
fm_status fm_expr_cast(fm_arena *arena, const fm_session_conf *conf, fm_expr *e, const fm_type *to,
                       bool is_explicit, bool try_cast, fm_expr **out, fm_error *err);

/* Resolves the kinds that are not calls, given resolved args: types and nullability of AND, OR, NOT, CASE
 * (branches cast to their common type), IN_LIST, FIELD, EXTRACT (struct field by name, list index, map key),
 * ALIAS. Returns the resolved node. */
fm_status fm_expr_resolve_node(fm_arena *arena, const fm_session_conf *conf, const fm_expr *e,
                               fm_expr **args, fm_expr **out, fm_error *err);

/* A whole number ordered beside a decimal literal: `args` [2] become it beside a whole number that gives the same answer, x > 3.5 being
 * x > 3; or *out becomes TRUE or FALSE when the literal lies beyond BIGINT. Others stay as they are, *out NULL. (fn_compare.c)
 * Rule: Spark, DecimalPrecision: so the column is compared as it is, and the comparison goes down into what reads it. */
fm_status fm_compare_as_whole(fm_arena *arena, fm_str operator_name, fm_expr **args, fm_expr **out, fm_error *err);

#endif
