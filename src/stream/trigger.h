/* stream/trigger.h: when a micro-batch begins. */
#ifndef FM_STREAM_TRIGGER_H
#define FM_STREAM_TRIGGER_H

#include "base/status.h"
#include "base/str.h"

typedef enum fm_trigger_kind {
    FM_TRIGGER_ASAP,          /* as soon as the last one ended */
    FM_TRIGGER_PROCESSING,    /* every interval, on ticks aligned to the epoch */
    FM_TRIGGER_ONCE,          /* one micro-batch over all there is, without no-data batches */
    FM_TRIGGER_AVAILABLE_NOW  /* what is there now, within the limits, then no-data batches, then end */
} fm_trigger_kind;

typedef struct fm_trigger {
    fm_trigger_kind kind;
    int64_t interval_us;      /* PROCESSING: > 0 */
} fm_trigger;

/* "", "30 seconds", "0 seconds" (ASAP), "processingTime 30 seconds", "once", "availableNow", any case. FM_INVALID. */
fm_status fm_trigger_parse(fm_str text, fm_trigger *out, fm_error *err);

/* The next tick after `now_us`: aligned to the epoch, not to the start. Rule: Spark, ProcessingTimeExecutor. A
 * micro-batch that took longer than the interval is followed at once: when last_tick_us + interval <= now_us
 * the answer is now_us. */
int64_t fm_trigger_next_us(const fm_trigger *trigger, int64_t last_tick_us, int64_t now_us);

#endif
