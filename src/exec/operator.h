/* exec/operator.h: the contract of physical operators.
 *
 * Operators form a tree that rows are pushed up through: from scans to the sink. There is a tree per worker. Rows
 * stay at the worker that read them until an operator needs them elsewhere: at the owner of their key (KEYED), or at
 * one place (SINGLE). There they arrive in the order of the input, so that results do not hang on the number of workers.
 *
 *   begin    a micro-batch begins
 *   push     one batch in, any number of batches out, during the input of a micro-batch
 *   finish   the input is over: emit, evict, hand on
 *   save     the state of the batch is written (version batch_id + 1)
 *   commit   it is made durable
 *
 * finish runs at each worker for KEYED operators, else at worker 0. save, commit, maintain, stats and windows are asked of
 * worker 0's copy, for all; commit on any thread, while the sink makes its part durable, and no worker runs. An operator that
 * keeps nothing has NULL for finish and commit. */
#ifndef FM_EXEC_OPERATOR_H
#define FM_EXEC_OPERATOR_H

#include "expr/eval.h"
#include "plan/plan.h"
#include "state/state_store.h"

struct fm_op_type;

/* The watermarks of an operator in a micro-batch, µs; late: LW, of the batch before; evict: EW, of this one. */
typedef struct fm_op_watermarks {
    int64_t late_us, evict_us;
} fm_op_watermarks;

/* One micro-batch, as operators see it. */
typedef struct fm_op_batch {
    const fm_run_context *run;
    const fm_op_watermarks *watermarks; /* [operator_id]; all 0 when there is no watermark */
    fm_output_mode mode;
    bool is_stream;
} fm_op_batch;

typedef struct fm_op fm_op;
struct fm_op {
    const struct fm_op_type *type;
    const fm_type *schema;     /* of what it gives out */
    int32_t operator_id;       /* stateful: 0 nearest the sink; else -1 */
};

/* Where an operator's output goes: the next operator's push, or an exchange, or a sink writer. */
typedef struct fm_emit {
    void *ctx;
    fm_status (*push)(void *ctx, const fm_batch *batch, fm_error *err);
} fm_emit;

/* Numbers of a stateful operator over one micro-batch, summed over shards. */
typedef struct fm_op_stats {
    int64_t rows_total, rows_updated, rows_removed, rows_dropped_by_watermark, memory_size;
    int64_t late_rows;         /* raw input rows that missed a window: ours, beside Spark's number */
    int64_t updates_us, removals_us, commit_us;
    int64_t custom_duplicates; /* dedup: numDroppedDuplicateRows; -1: none */
} fm_op_stats;

/* An open window of an operator's state. */
typedef struct fm_op_window {
    int64_t start_us, end_us, groups;
} fm_op_window;

/* Where copies of an operator stand. */
typedef enum fm_op_placement {
    FM_OP_LOCAL,               /* one per worker, on the rows that the worker has */
    FM_OP_KEYED,               /* one per worker; it sends rows to the owner of their key by itself, and each finishes its own */
    FM_OP_SINGLE               /* at worker 0 alone, which gets all rows in the order of the input */
} fm_op_placement;

typedef struct fm_op_type {
    const char *name;          /* as EXPLAIN shows it: "Filter" */
    const char *spark_name;    /* stateful: operatorName of progress, "stateStoreSave" */
    fm_op_placement placement;
    fm_status (*begin)(fm_op *op, const fm_op_batch *mb, fm_error *err); /* a micro-batch begins; or NULL */
    fm_status (*push)(fm_op *op, const fm_op_batch *mb, int32_t input, const fm_batch *in, fm_arena *arena,
                      const fm_emit *out, fm_error *err); /* input: which child, 0 or 1 */
    fm_status (*finish)(fm_op *op, const fm_op_batch *mb, fm_arena *arena, const fm_emit *out,
                        fm_error *err);
    /* The half of commit that needs processors, when all workers are free; NULL: commit does it. */
    fm_status (*save)(fm_op *op, const fm_op_batch *mb, fm_error *err);
    fm_status (*commit)(fm_op *op, const fm_op_batch *mb, fm_error *err);
    fm_status (*maintain)(fm_op *op, int64_t oldest_version, fm_error *err);
    void (*stats)(const fm_op *op, fm_op_stats *out); /* adds to *out */
    /* Windows whose state is open, the earliest first, at most n; returns how many. NULL: it has none. */
    int32_t (*windows)(const fm_op *op, fm_op_window *out, int32_t n);
    void (*close)(fm_op *op);
} fm_op_type;

#endif
