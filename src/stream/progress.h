/* stream/progress.h: what a micro-batch did, in numbers: Spark's StreamingQueryProgress.
 *
 * Made by the coordinator after each micro-batch; immutable and counted from then on, so that others may read it
 * while the query goes on. */
#ifndef FM_STREAM_PROGRESS_H
#define FM_STREAM_PROGRESS_H

#include "exec/query.h"
#include "os/random.h"

typedef struct fm_progress_source {
    fm_str description, start, end, latest; /* offsets: empty prints as null */
    int64_t rows;
    const fm_source_metric *metrics;
    int32_t n_metrics;
} fm_progress_source;

typedef struct fm_progress_operator {
    const char *name;           /* Spark's operatorName */
    fm_op_stats stats;
} fm_progress_operator;

typedef struct fm_progress {
    char query_id[FM_UUID_TEXT_SIZE], run_id[FM_UUID_TEXT_SIZE];
    fm_str name;                /* empty: null */
    int64_t timestamp_ms;       /* when the trigger fired */
    int64_t batch_id;
    int64_t duration_us;        /* the whole trigger */
    int64_t since_last_us;      /* from the trigger before to this one; 0: the first */
    int64_t rows;
    bool idle;                  /* no micro-batch ran: an idle report */
    /* durationMs, µs here; -1: the step did not run */
    int64_t add_batch_us, commit_offsets_us, get_batch_us, latest_offset_us, query_planning_us, wal_commit_us;
    bool has_watermark;
    int64_t watermark_ms;       /* in force for this batch */
    int64_t next_watermark_ms;  /* computed from it; not in Spark's JSON */
    int64_t event_count;        /* 0: no row passed a watermark node */
    int64_t event_min_ms, event_max_ms;
    double event_avg_ms;
    int32_t n_operators, n_sources;
    const fm_progress_operator *operators;
    const fm_progress_source *sources;
    fm_str sink_description;
    int64_t sink_rows;          /* -1: the sink does not count */
    int64_t bad_rows;           /* malformed records; not in Spark's JSON */
    int64_t late_rows;          /* raw late rows of all operators; not in Spark's JSON */
    const fm_late_text *late_texts; /* [n_late_texts] the first of those kept by LATE_ROWS; not in Spark's JSON */
    int32_t n_late_texts;
    const fm_op_window *windows; /* [n_windows] open after the micro-batch; not in Spark's JSON */
    int32_t n_windows;
} fm_progress;

/* Spark's JSON. pretty: two-space indent and " : "; else one line without blanks. Fields that Spark lacks go
 * into an object "floodmark" at the end: lateRows, badRows, nextWatermark. */
void fm_progress_json(const fm_progress *p, bool pretty, fm_strbuf *out);

/* A deep copy that owns itself. NULL: out of memory. */
typedef struct fm_progress_ref fm_progress_ref;
fm_progress_ref *fm_progress_ref_new(const fm_progress *p);
const fm_progress *fm_progress_of(const fm_progress_ref *ref);
fm_progress_ref *fm_progress_ref_take(fm_progress_ref *ref); /* one more owner */
void fm_progress_unref(fm_progress_ref *ref);                /* accepts NULL */

#endif
