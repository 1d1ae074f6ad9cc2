/* expr/eval_internal.h: what the evaluator shares with the files of src/expr that run its special forms. */
#ifndef FM_EXPR_EVAL_INTERNAL_H
#define FM_EXPR_EVAL_INTERNAL_H

#include "expr/eval.h"

extern const fm_function fm_fn_coalesce; /* the evaluator knows it by address: lazy arguments */

/* A resolved CAST node: whether any value may make it fail. */
bool fm_cast_can_fail(const fm_expr *cast);

/* Writes zero (an empty view) into the null lanes of a fixed width or view vector; nothing for others. The
 * buffer must still be ours. */
void fm_vec_clear_nulls(fm_vec *v);
/* out: in with the lanes that `valid` (a bitmap) clears set to null, zeroed as the rules want. Shares in's
 * buffers when nothing is to be cleared. */
fm_status fm_vec_mask(fm_vec *out, const fm_vec *in, const uint64_t *valid, fm_arena *arena,
                      fm_error *err);
/* out[i] = condition[i] is true ? a[i] : b[i], for fixed width and view types. */
fm_status fm_vec_blend(fm_vec *out, const fm_vec *condition, const fm_vec *a, const fm_vec *b,
                       fm_arena *arena, fm_error *err);
/* Packs n bytes of 0 and 1 into a bitmap of fm_bit_words(n) words. */
void fm_bits_of_bytes(uint64_t *restrict bits, const uint8_t *restrict bytes, int64_t n);

/* Three-valued AND, OR, NOT over lanes. */
fm_status fm_bool_and_or(bool is_and, const fm_vec *a, const fm_vec *b, int32_t rows, fm_arena *arena,
                         fm_vec *out, fm_error *err);
fm_status fm_bool_not(const fm_vec *a, int32_t rows, fm_arena *arena, fm_vec *out, fm_error *err);

/* x IN (constants): a set made once. *out NULL when the type has none (nested types). */
typedef struct fm_in_set fm_in_set;
fm_status fm_in_set_new(fm_arena *arena, fm_expr *const *literals, int32_t n, fm_in_set **out,
                        fm_error *err);
fm_status fm_in_set_run(const fm_in_set *set, const fm_vec *x, fm_arena *arena, fm_vec *out,
                        fm_error *err);
/* x IN (list[n]) lane by lane. */
fm_status fm_in_list_run(const fm_vec *x, const fm_vec *list, int32_t n, fm_arena *arena, fm_vec *out,
                         fm_error *err);

#endif
