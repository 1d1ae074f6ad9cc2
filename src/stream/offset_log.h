/* stream/offset_log.h: the offset log: what each micro-batch was meant to read, written before it runs.
 *
 * Spark's layout and text, version 1, so that its tools can read it and its jobs' offsets can be taken over:
 *
 *     v1
 *     {"batchWatermarkMs":...,"batchTimestampMs":...,"conf":{"key":"value",...},<base/seal.h>}
 *     <end offset of source 0, one line, or "-" while it has none>
 *     ... */
#ifndef FM_STREAM_OFFSET_LOG_H
#define FM_STREAM_OFFSET_LOG_H

#include "base/options.h"
#include "stream/batch_log.h"

typedef struct fm_offsets {
    int64_t watermark_ms;   /* in force for this batch */
    int64_t batch_time_ms;  /* current_timestamp() of this batch */
    fm_options conf;        /* settings pinned at the first start */
    int32_t n_sources;
    fm_str *ends;           /* [n_sources] end offset; empty: the source has none yet */
} fm_offsets;

/* Reads what micro-batch `batch_id` meant to read.
 *
 * out     set on FM_OK only; lives in `arena`
 * errors  FM_NOT_FOUND: no such entry, as at a first start; FM_CORRUPT; FM_UNAVAILABLE; FM_LIMIT
 * rule    Spark, OffsetSeqLog v1 */
fm_status fm_offset_log_read(fm_batch_log *log, int64_t batch_id, fm_arena *arena, fm_offsets *out,
                             fm_error *err);
fm_status fm_offset_log_add(fm_batch_log *log, int64_t batch_id, const fm_offsets *offsets,
                            fm_error *err);

/* The two halves, without files: for tests and fuzzing. */
fm_status fm_offsets_parse(fm_str text, fm_arena *arena, fm_offsets *out, fm_error *err);
void fm_offsets_print(const fm_offsets *offsets, fm_strbuf *out);

#endif
