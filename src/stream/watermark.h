/* stream/watermark.h: how far event time has come, across all watermark nodes of one query.
 *
 * The watermark is the event time up to which the query has stopped waiting. Each WATERMARK node of the plan has a
 * candidate of its own (its largest event time minus its delay); the global watermark is the smallest or the
 * largest of them.
 *
 * 1. It moves only between micro-batches, so a replay drops the rows the first run dropped.
 * 2. It never goes back, not even over a restart: the logs carry it.
 * 3. The candidates of the nodes are not carried over a restart: a node stands at 1970 until it sees a row again.
 *
 * Whole milliseconds since 1970 UTC throughout, as Spark's logs have it. */
#ifndef FM_STREAM_WATERMARK_H
#define FM_STREAM_WATERMARK_H

#include "base/arena.h"

/* spark.sql.streaming.multipleWatermarkPolicy */
typedef enum fm_watermark_policy {
    FM_WATERMARK_MIN, /* the slowest node decides: nothing is dropped that some stream may still bring */
    FM_WATERMARK_MAX  /* the fastest node decides: a slow stream loses its late rows */
} fm_watermark_policy;

typedef struct fm_watermark {
    fm_watermark_policy policy;
    int32_t n_nodes;
    int64_t *node_ms;   /* [n_nodes] candidate of each; 0 (1970) until it saw a row */
    int64_t global_ms;
} fm_watermark;

/* What one node saw in one micro-batch. */
typedef struct fm_watermark_seen {
    int64_t count;      /* rows; 0: nothing seen, the candidate stays */
    int64_t max_ms;     /* latest event time, floored to ms */
    int64_t delay_ms;   /* how long the node waits for late rows, >= 0 */
} fm_watermark_seen;

/* Starts at `global_ms`, what the logs carried over (0 for a new query). Memory in arena. */
fm_status fm_watermark_init(fm_watermark *wm, fm_watermark_policy policy, int32_t n_nodes,
                            int64_t global_ms, fm_arena *arena, fm_error *err);

/* Folds what a micro-batch saw into the watermark of the next.
 *
 * seen     [n_nodes]
 * returns  the new global watermark; never below the last one
 * rule     Spark, WatermarkTracker.updateWatermark */
int64_t fm_watermark_advance(fm_watermark *wm, const fm_watermark_seen *seen);

/* "min" or "max"; FM_INVALID, INVALID_CONF_VALUE otherwise. */
fm_status fm_watermark_policy_parse(fm_str text, fm_watermark_policy *out, fm_error *err);
const char *fm_watermark_policy_name(fm_watermark_policy policy);

#endif
