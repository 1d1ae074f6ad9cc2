/* exec/query.h: a physical plan made ready to run: what stream/ drives micro-batch by micro-batch, and engine/ runs
 * once for batch queries.
 *
 * It owns workers, operators and state; it knows nothing of triggers, logs or progress. All calls come from one
 * thread, the coordinator. */
#ifndef FM_EXEC_QUERY_H
#define FM_EXEC_QUERY_H

#include "exec/operator.h"
#include "sink/sink.h"
#include "source/source.h"

typedef struct fm_exec fm_exec;

typedef struct fm_exec_env {
    fm_fs *fs;
    fm_clock *clock;
    const fm_session_conf *conf;
    const fm_source_env *sources;
    const fm_sink_env *sinks;
    int32_t workers;               /* 1..FM_WORKERS_MAX */
    bool pin_threads;
    size_t memory_budget;          /* bytes; 0: default */
    const char *checkpoint;        /* folder; NULL: a batch query, or state in memory */
    fm_wake *cancelled;
} fm_exec_env;

/* Event times seen by one WATERMARK node in one micro-batch: ms, floored; a null event time counts as 0. */
typedef struct fm_event_time_stats {
    int32_t node_id;
    int64_t delay_us;
    int64_t count, min_ms, max_ms;
    double avg_ms;
} fm_event_time_stats;

/* One streaming source of the plan, in plan order. */
typedef struct fm_exec_source {
    fm_source *source;
    const fm_table_def *table;
} fm_exec_source;

/* Input of one micro-batch: per source its range. */
typedef struct fm_exec_input {
    fm_str start, end;             /* both empty: nothing from this source */
} fm_exec_input;

/* A row that missed a window, told for people. */
typedef struct fm_late_text {
    fm_str row;                    /* its columns, as text */
    fm_str source;                 /* "file:line", or empty */
    int64_t late_us;               /* watermark minus event time */
    int64_t start_us, end_us;      /* the (latest) window it missed; both 0: no window */
} fm_late_text;

enum { FM_LATE_TEXTS_MAX = 20, FM_WINDOWS_TOLD_MAX = 64 };

typedef struct fm_exec_result {
    int64_t input_rows;            /* all sources */
    int64_t *source_rows;          /* [n_sources] */
    int64_t bad_rows;              /* malformed records that the reader nulled or dropped */
    int64_t output_rows;           /* -1: the sink does not count */
    fm_event_time_stats *event_times; /* [n_watermarks], in plan order from the sink */
    fm_op_stats *operators;        /* [n_operators], sink-nearest first */
    int64_t late_rows_kept;        /* written to late sinks */
    fm_late_text *late_texts;      /* [n_late_texts] the first of them */
    int32_t n_late_texts;
    fm_op_window *windows;         /* [n_windows] open after the micro-batch, of the first operator that has some */
    int32_t n_windows;
    bool sink_skipped;             /* the sink had this batch already */
} fm_exec_result;

/* From an optimized plan. sink NULL: rows go to `collect` (batch queries). Opens sources with metadata folders
 * <checkpoint>/sources/<i> and the state at `version`. */
fm_status fm_exec_open(const fm_exec_env *env, const fm_plan *plan, fm_output_mode mode,
                       const fm_sink_spec *sink, const fm_emit *collect, int64_t state_version,
                       fm_exec **out, fm_error *err);
void fm_exec_close(fm_exec *exec); /* accepts NULL; stops the workers */

int32_t fm_exec_sources(const fm_exec *exec, const fm_exec_source **out);
int32_t fm_exec_operators(const fm_exec *exec);   /* stateful ones */
const fm_op_type *fm_exec_operator(const fm_exec *exec, int32_t operator_id);
int32_t fm_exec_watermark_nodes(const fm_exec *exec);
const fm_sink *fm_exec_sink(const fm_exec *exec);

/* Per operator its input watermark, given a global one. Rule: semantics 1.5. out_us[n_operators]; 0 when the
 * global watermark is 0. */
fm_status fm_exec_propagate(const fm_exec *exec, int64_t global_us, int64_t *out_us, fm_error *err);
/* Whether some operator wants a batch without data, now that the global watermark is `global_us`. Rule: 3.2. */
bool fm_exec_wants_batch(const fm_exec *exec, int64_t global_us);

/* Runs one micro-batch to the end: reads, pushes, finishes, commits the sink, then makes state version
 * run->batch_id + 1 durable. input NULL: a no-data batch (or, for batch queries, everything there is).
 * late_us, evict_us: [n_operators]. *result lives in arena. */
fm_status fm_exec_run(fm_exec *exec, const fm_run_context *run, const fm_exec_input *input,
                      const int64_t *late_us, const int64_t *evict_us, fm_arena *arena,
                      fm_exec_result *result, fm_error *err);
/* Off the batch's path: snapshots, clean-up. */
fm_status fm_exec_maintain(fm_exec *exec, int64_t oldest_version, fm_error *err);

/* Text of the physical plan, for EXPLAIN. Sources are asked which columns they know before they read. */
fm_status fm_exec_explain(const fm_plan *plan, fm_output_mode mode, const fm_source_env *sources, fm_strbuf *out, fm_error *err);

#endif
