/* plan/analyze.h: names, types and rules: from an unresolved plan to one that can run, by Spark's rules. */
#ifndef FM_PLAN_ANALYZE_H
#define FM_PLAN_ANALYZE_H

#include "plan/plan.h"

/* What the analyzer asks the world. */
typedef struct fm_catalog {
    void *ctx;
    /* A table or view by name: exactly one of *view (an unresolved plan, analyzed at each use) and *table
     * is set. FM_NOT_FOUND when there is none: the analyzer raises TABLE_OR_VIEW_NOT_FOUND. */
    fm_status (*find)(void *ctx, const fm_str *parts, int32_t n_parts, const fm_plan **view,
                      const fm_table_def **table, bool *table_is_stream, fm_error *err);
    /* The schema of a table that has none: its source knows or infers it. `streaming`: it is read as a stream. NULL: there
     * are no such tables. */
    fm_status (*schema)(void *ctx, const fm_table_def *table, bool streaming, fm_arena *arena, const fm_type **out,
                        fm_error *err);
    /* read_files(...), range(...) and kin: a table definition with its schema. */
    fm_status (*table_function)(void *ctx, const fm_plan *call, bool streaming, fm_arena *arena,
                                const fm_table_def **table, fm_error *err);
    /* The type of the hidden column _metadata of a table, a STRUCT; NULL: it has none. NULL: no table has. */
    const fm_type *(*metadata)(void *ctx, const fm_table_def *table);
    /* Known names, for "did you mean": NULL-terminated. */
    const char *const *(*names)(void *ctx, fm_arena *arena);
} fm_catalog;

typedef struct fm_analysis {
    fm_arena *arena;                /* the plan's */
    const fm_session_conf *conf;
    const fm_catalog *catalog;
} fm_analysis;

/* *out is resolved: every node has output, every expression a type. Names of the output columns are Spark's. */
fm_status fm_analyze(const fm_analysis *a, const fm_plan *plan, fm_plan **out, fm_error *err);

/* Rule: Spark, UnsupportedOperationChecker. Call on the analyzed plan of a query about to be started as a stream.
 * A plan without a stream: WRITE_STREAM_NOT_ALLOWED. */
fm_status fm_streaming_check(const fm_plan *plan, fm_output_mode mode, fm_error *err);

/* What Spark finds out only when it plans a micro-batch: joins of streams without an equality, sessions without a
 * further group, two event times in one stateful node, a watermark above a watermark (only once the global one,
 * watermark_us, is above 0). Call before each batch is run, on the analyzed or the optimized plan.
 * Errors: _LEGACY_ERROR_TEMP_1181, _LEGACY_ERROR_TEMP_3068, MULTIPLE_EVENT_TIME_COLUMNS, _LEGACY_ERROR_TEMP_3076. */
fm_status fm_streaming_check_batch(const fm_plan *plan, fm_output_mode mode, int64_t watermark_us, fm_error *err);

/* Constant folding, filters and columns pushed towards the source (through watermark nodes only when the
 * predicate is deterministic and does not use the event time), dead columns pruned, casts simplified.
 * The result gives the same rows and the same watermarks. */
fm_status fm_optimize(fm_arena *arena, const fm_session_conf *conf, const fm_plan *plan,
                      fm_plan **out, fm_error *err);

#endif
