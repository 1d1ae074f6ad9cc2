/* stream/micro_batch.h: one micro-batch from its offsets to its commit; used by query.c only. */
#ifndef FM_STREAM_MICRO_BATCH_H
#define FM_STREAM_MICRO_BATCH_H

#include "stream/streaming_query.h"

/* What a query carries from micro-batch to micro-batch. */
typedef struct fm_stream {
    const fm_query_spec *spec;
    fm_checkpoint checkpoint;
    fm_exec *exec;
    const fm_exec_source *sources;
    int32_t n_sources;
    fm_watermark watermark;
    fm_options pinned;          /* settings that go into every offset entry */
    int64_t batch_id;           /* the next micro-batch */
    int64_t late_watermark_ms;  /* watermark of the batch before batch_id */
    fm_str *starts;             /* [n_sources] where batch_id begins: end of the batch before; malloc'd texts */
    bool ran_one;               /* this run has executed a micro-batch: no-data batches may follow */
    bool no_data_next;          /* the run before was about to execute one when it ended */
    bool no_data_batches;       /* spark.sql.streaming.noDataMicroBatches.enabled */
    int64_t batches_to_retain;  /* spark.sql.streaming.minBatchesToRetain */
    const fm_offsets *rerun;    /* the logged entry of a batch that has to run again; NULL: none */
    char run_id[FM_UUID_TEXT_SIZE];
} fm_stream;

/* Durations of the steps, µs; -1: did not run. */
typedef struct fm_step_times {
    int64_t latest_offset_us, get_batch_us, planning_us, wal_us, add_batch_us, commit_us;
} fm_step_times;

/* The offsets of the next micro-batch, or none. */
typedef struct fm_batch_plan {
    bool run;                   /* false: nothing to do */
    bool has_data;              /* some source has something new; false: a no-data batch */
    bool no_data_allowed;       /* the trigger lets such batches run */
    bool logged;                /* the offset log has it already: a rerun */
    fm_offsets offsets;
    fm_str *latest;             /* [n_sources] for progress; may be empty */
} fm_batch_plan;

/* Asks the sources and decides. Lives in scratch. */
fm_status fm_batch_plan_next(fm_stream *s, fm_read_limit limit, bool no_data_allowed, fm_arena *scratch,
                             fm_batch_plan *out, fm_step_times *times, fm_error *err);
/* Writes the offset log, runs, moves the watermark, writes the commit log. *progress is filled; lives in scratch. */
fm_status fm_batch_execute(fm_stream *s, const fm_batch_plan *plan, fm_arena *scratch,
                           fm_progress *progress, fm_step_times *times, fm_error *err);

#endif
