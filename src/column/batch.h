/* column/batch.h: a few thousand rows: what operators hand to each other.
 *
 * A batch is immutable once handed on. It borrows: its vectors live in the arena of whoever made it and in
 * the input block it was decoded from, both kept until the receiver returns. A receiver that keeps rows
 * longer copies them (fm_vec_copy, the state store). */
#ifndef FM_COLUMN_BATCH_H
#define FM_COLUMN_BATCH_H

#include "column/vec.h"

/* Names and types of the columns of a relation: the fields of a STRUCT type. */
typedef struct fm_batch {
    const fm_type *schema; /* a STRUCT: one field per column */
    int32_t rows;          /* 0..FM_BATCH_ROWS_MAX */
    const fm_vec *columns; /* [schema->n_fields], each of `rows` lanes */
} fm_batch;

/* Rows of `in` for which keep[i] is not 0; shares columns when all are kept. *out lives in arena. */
fm_status fm_batch_filter(const fm_batch *in, const uint8_t *keep, fm_arena *arena,
                          const fm_batch **out, fm_error *err);
fm_status fm_batch_gather(const fm_batch *in, const int32_t *rows, int32_t n, fm_arena *arena,
                          const fm_batch **out, fm_error *err);
fm_status fm_batch_verify(const fm_batch *batch, fm_error *err);

/* A deep copy in arena that owns everything but `schema`, which becomes its own: equal types, other names at most. For what
 * outlives the batch and its types. */
fm_status fm_batch_copy(const fm_batch *batch, const fm_type *schema, fm_arena *arena, const fm_batch **out,
                        fm_error *err);

#endif
