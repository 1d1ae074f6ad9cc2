/* stream/streaming_query.h: one streaming query: the micro-batch loop.
 *
 *            trigger fires
 *                 |
 *      how far can the sources be read? --- nothing new, no state to close ---> idle
 *                 |
 *      offset log: entry N        (what N reads, the watermark and the time it runs with)
 *                 |
 *      run N: read, compute, sink.commit(N), state version N + 1
 *                 |
 *      new watermark from the event times seen
 *                 |
 *      commit log: entry N
 *
 * A crash between any two of these lines leaves either no trace of N, or an offset entry without a commit: then N is
 * run again with the same offsets, watermark and batch time, over the state of version N, into a sink that takes N
 * once.
 *
 * A query belongs to the thread that calls it (its coordinator); fm_query_stop and fm_query_last_progress may be called
 * from others. */
#ifndef FM_STREAM_STREAMING_QUERY_H
#define FM_STREAM_STREAMING_QUERY_H

#include "exec/query.h"
#include "stream/checkpoint.h"
#include "stream/progress.h"
#include "stream/trigger.h"
#include "stream/watermark.h"

typedef struct fm_query fm_query;

typedef struct fm_query_spec {
    fm_exec_env exec;              /* checkpoint is set by the query */
    const fm_plan *plan;           /* optimized; outlives the query */
    fm_sink_spec sink;             /* query_id is set by the query */
    fm_output_mode mode;
    fm_trigger trigger;
    const char *checkpoint;        /* folder; never NULL */
    bool checkpoint_is_temporary;  /* removed when the query ends well */
    fm_str name;                   /* queryName, or empty */
    const fm_options *session;     /* settings: noDataMicroBatches.enabled, minBatchesToRetain, ... */
    /* Called on the coordinator after each micro-batch and idle report; may be NULL. */
    void (*on_progress)(void *ctx, fm_progress_ref *progress);
    void *on_progress_ctx;
} fm_query_spec;

/* Opens the checkpoint, recovers, opens sources, state and sink. */
fm_status fm_query_open(const fm_query_spec *spec, fm_query **out, fm_error *err);
void fm_query_close(fm_query *query); /* accepts NULL */

typedef enum fm_step { FM_STEP_RAN, FM_STEP_IDLE } fm_step;

/* Runs at most one micro-batch, now, whatever the trigger says about time.
 *
 * *what   RAN: a micro-batch ran to its commit; IDLE: there was nothing to do
 * errors  whatever ended the micro-batch; the query must then be closed, and goes on from its checkpoint when it is
 *         opened again */
fm_status fm_query_step(fm_query *query, fm_step *what, fm_error *err);

/* Runs micro-batches as the trigger says until it ends (once, available now), the query is stopped (FM_OK) or fails. */
fm_status fm_query_run(fm_query *query, fm_error *err);

/* Asks the query to end after the micro-batch in flight; `now`: that one is given up and leaves no trace. Any thread,
 * signal handlers too. */
void fm_query_stop(fm_query *query, bool now);

const char *fm_query_id(const fm_query *query);     /* UUID of the checkpoint */
/* The last micro-batch's or idle report; NULL before the first. The caller unrefs. Any thread. */
fm_progress_ref *fm_query_last_progress(fm_query *query);

#endif
