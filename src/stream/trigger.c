/* stream/trigger.c: parsing triggers, and the clock's ticks. */
#include "stream/trigger.h"

#include "base/time_text.h"
#include "expr/cast.h"

static fm_status bad_trigger(fm_str text, fm_error *err)
{
    return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_TRIGGER",
                   "'%.*s' is no trigger. Write an interval such as '30 seconds' (a micro-batch every 30 seconds), "
                   "'0 seconds' (as fast as possible), 'once' or 'availableNow'.",
                   FM_STR_ARG(text));
}

fm_status fm_trigger_parse(fm_str text, fm_trigger *out, fm_error *err)
{
    static const char prefix[] = "processingtime";
    fm_str rest = fm_str_trim(text);
    fm_interval interval;

    *out = (fm_trigger){.kind = FM_TRIGGER_ASAP};
    if (rest.len == 0) return FM_OK;
    if (fm_str_eq_ci(rest, FM_STR("once"))) {
        out->kind = FM_TRIGGER_ONCE;
        return FM_OK;
    }
    if (fm_str_eq_ci(rest, FM_STR("availablenow"))) {
        out->kind = FM_TRIGGER_AVAILABLE_NOW;
        return FM_OK;
    }
    size_t n = sizeof prefix - 1;
    if (rest.len > n && fm_str_eq_ci((fm_str){rest.ptr, n}, (fm_str){prefix, n})) {
        rest = fm_str_trim((fm_str){rest.ptr + n, rest.len - n});
    }
    if (fm_text_to_interval(rest, &interval, NULL) != FM_OK) return bad_trigger(text, err);
    int64_t us;
    if (interval.months != 0 || __builtin_mul_overflow((int64_t)interval.days, FM_US_PER_DAY, &us) ||
        __builtin_add_overflow(us, interval.us, &us) || us < 0) {
        return bad_trigger(text, err);
    }
    if (us > 0) *out = (fm_trigger){.kind = FM_TRIGGER_PROCESSING, .interval_us = us};
    return FM_OK;
}

int64_t fm_trigger_next_us(const fm_trigger *trigger, int64_t last_tick_us, int64_t now_us)
{
    int64_t i = trigger->interval_us;

    if (trigger->kind != FM_TRIGGER_PROCESSING) return now_us;
    int64_t next = fm_floor_div(last_tick_us, i) * i + i;
    return next <= now_us ? now_us : next;
}
