/* stream/commit_log.h: the commit log: micro-batch N is done; written after it.
 *
 *     v1
 *     {"nextBatchWatermarkMs":...} */
#ifndef FM_STREAM_COMMIT_LOG_H
#define FM_STREAM_COMMIT_LOG_H

#include "stream/batch_log.h"

/* FM_NOT_FOUND: batch_id is not committed. A missing watermark (an old checkpoint) reads as 0. */
fm_status fm_commit_log_read(fm_batch_log *log, int64_t batch_id, fm_arena *arena,
                             int64_t *next_watermark_ms, fm_error *err);
fm_status fm_commit_log_add(fm_batch_log *log, int64_t batch_id, int64_t next_watermark_ms,
                            fm_error *err);
fm_status fm_commit_parse(fm_str text, fm_arena *arena, int64_t *next_watermark_ms, fm_error *err);

#endif
