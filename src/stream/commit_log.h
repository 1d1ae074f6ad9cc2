/* stream/commit_log.h: the commit log: micro-batch N is done; written after it.
 *
 *     v1
 *     {"nextBatchWatermarkMs":...,<base/seal.h>}
 *
 * "floodmarkNoDataNext":true stands behind it when the run would go on with a micro-batch although nothing new came, to
 * close what the watermark has passed. Spark keeps that in memory only, and a run that dies right then closes those windows
 * one micro-batch later than an undisturbed one, in which more rows are in time; its tools pass over the field. */
#ifndef FM_STREAM_COMMIT_LOG_H
#define FM_STREAM_COMMIT_LOG_H

#include "stream/batch_log.h"

typedef struct fm_commit {
    int64_t next_watermark_ms; /* 0 when the entry of an old checkpoint has none */
    bool no_data_next;
} fm_commit;

/* FM_NOT_FOUND: batch_id is not committed. */
fm_status fm_commit_log_read(fm_batch_log *log, int64_t batch_id, fm_arena *arena, fm_commit *out, fm_error *err);
fm_status fm_commit_log_add(fm_batch_log *log, int64_t batch_id, const fm_commit *commit, fm_error *err);
fm_status fm_commit_parse(fm_str text, fm_arena *arena, fm_commit *out, fm_error *err);

#endif
