/* expr/eval.h: runs bound expressions over batches, vector by vector.
 *
 * Branches that can fail (CASE, AND, OR, coalesce, if: Spark evaluates them lazily) are run only on the
 * lanes that need them: the evaluator gathers those rows, runs the branch on the dense rest and scatters the
 * result, so kernels know nothing of selections. Branches that cannot fail run over all lanes. */
#ifndef FM_EXPR_EVAL_H
#define FM_EXPR_EVAL_H

#include "column/batch.h"
#include "expr/function.h"

typedef struct fm_eval fm_eval;

/* Compiles a resolved tree whose attributes are bound (FM_EXPR_COLUMN). One evaluator serves one thread; the
 * tree may be shared. Lives in arena. */
fm_status fm_eval_new(fm_arena *arena, const fm_session_conf *conf, const fm_expr *e, fm_eval **out,
                      fm_error *err);
/* The worker it runs on, 0 unless told: what rand(seed) and spark_partition_id() depend on. */
void fm_eval_set_partition(fm_eval *eval, int32_t partition);
/* out: in->rows lanes of e->type; its memory is in `arena` or shared with `in`. The failure of a row names the
 * expression and the value, as Spark does (DIVIDE_BY_ZERO, CAST_INVALID_INPUT, ...). */
fm_status fm_eval_run(fm_eval *eval, const fm_run_context *run, const fm_batch *in, fm_arena *arena,
                      fm_vec *out, fm_error *err);
/* A constant expression's value, in arena. */
fm_status fm_eval_constant(fm_arena *arena, const fm_session_conf *conf, const fm_expr *e,
                           fm_value *out, fm_error *err);
/* For higher-order functions: runs the lambda argument `i` of the call over `rows` rows. params[] are vectors of
 * `rows` lanes; row_of[rows] says which outer row each belongs to (outer columns are gathered by it). */
fm_status fm_eval_lambda(fm_call *call, int32_t i, const fm_vec *params, int32_t n_params,
                         const int32_t *row_of, int32_t rows, fm_vec *out, fm_error *err);
/* Replaces attributes by column indexes: attr_ids[n] are the identities of the batch's columns. */
fm_status fm_expr_bind(fm_arena *arena, const fm_expr *e, const int32_t *attr_ids, int32_t n,
                       fm_expr **out, fm_error *err);

/* Intersects out->validity with `valid` (a bitmap of out->len bits), in arena. */
fm_status fm_vec_and_validity(fm_vec *out, const uint64_t *valid, fm_arena *arena, fm_error *err);

#endif
