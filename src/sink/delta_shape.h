/* sink/delta_shape.h: rows of a result -> rows of a Delta table: columns by name, casts, default and generated columns, constraints.
 *
 * Rule  Delta protocol: "Generated Columns", "Default Columns", "CHECK Constraints", "Column Invariants"; casts are ANSI's */
#ifndef FM_SINK_DELTA_SHAPE_H
#define FM_SINK_DELTA_SHAPE_H

#include "sink/sink.h"
#include "table/delta/delta_evolve.h"

typedef struct fm_delta_shape fm_delta_shape; /* belongs to one thread */

/* rows: STRUCT of the result. plan lives as long as the shape, which lives in arena.
 * errors  of compiling: a constraint that is no SQL of ours; FM_UNSUPPORTED when the session cannot compile */
fm_status fm_delta_shape_new(const fm_sink_env *env, const fm_delta_plan *plan, const fm_type *rows, fm_arena *arena, fm_delta_shape **out,
                             fm_error *err);
/* One more condition on rows: REPLACE WHERE. Once at most. errors  DELTA_REPLACE_WHERE_MISMATCH, when run */
fm_status fm_delta_shape_require(fm_delta_shape *s, fm_str sql, fm_arena *arena, fm_error *err);
/* *out lives in arena and in `in`. errors  casts that fail; DELTA_VIOLATE_CONSTRAINT_WITH_VALUES, naming constraint and row */
fm_status fm_delta_shape_run(fm_delta_shape *s, const fm_batch *in, fm_arena *arena, const fm_batch **out, fm_error *err);

#endif
