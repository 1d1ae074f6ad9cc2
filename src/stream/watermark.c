/* stream/watermark.c: the arithmetic of watermarks. */
#include "stream/watermark.h"

fm_status fm_watermark_init(fm_watermark *wm, fm_watermark_policy policy, int32_t n_nodes,
                            int64_t global_ms, fm_arena *arena, fm_error *err)
{
    *wm = (fm_watermark){.policy = policy, .n_nodes = n_nodes, .global_ms = global_ms};
    wm->node_ms = fm_arena_array(arena, int64_t, n_nodes);
    return wm->node_ms ? FM_OK : fm_no_memory(arena, err);
}

/* The candidate of one node: its largest event time ever, minus the delay. An event time so early that the
 * subtraction leaves the calendar is no reason to wrap around to the far future. */
static int64_t node_candidate(int64_t node_ms, const fm_watermark_seen *seen)
{
    int64_t candidate;

    if (seen->count == 0) return node_ms;
    if (__builtin_sub_overflow(seen->max_ms, seen->delay_ms, &candidate)) return node_ms;
    return candidate > node_ms ? candidate : node_ms;
}

int64_t fm_watermark_advance(fm_watermark *wm, const fm_watermark_seen *seen)
{
    if (wm->n_nodes == 0) return wm->global_ms;
    int64_t chosen = wm->policy == FM_WATERMARK_MIN ? INT64_MAX : INT64_MIN;

    for (int32_t i = 0; i < wm->n_nodes; i++) {
        int64_t node = wm->node_ms[i] = node_candidate(wm->node_ms[i], &seen[i]);
        bool takes = wm->policy == FM_WATERMARK_MIN ? node < chosen : node > chosen;
        if (takes) chosen = node;
    }
    if (chosen > wm->global_ms) wm->global_ms = chosen;
    return wm->global_ms;
}

fm_status fm_watermark_policy_parse(fm_str text, fm_watermark_policy *out, fm_error *err)
{
    if (fm_str_eq_ci(text, FM_STR("min"))) {
        *out = FM_WATERMARK_MIN;
    } else if (fm_str_eq_ci(text, FM_STR("max"))) {
        *out = FM_WATERMARK_MAX;
    } else {
        return fm_fail(err, FM_INVALID, "INVALID_CONF_VALUE",
                       "The value '%.*s' in the config \"spark.sql.streaming.multipleWatermarkPolicy\" is "
                       "invalid. Write 'min' (the slowest stream decides) or 'max'.",
                       FM_STR_ARG(text));
    }
    return FM_OK;
}

const char *fm_watermark_policy_name(fm_watermark_policy policy)
{
    return policy == FM_WATERMARK_MAX ? "max" : "min";
}
