/* expr/fn_zone.c: from_utc_timestamp, to_utc_timestamp, convert_timezone, window_time.
 *
 * Rule   Spark: from_utc_timestamp(t, z) is what z's clock shows at t, read as if it were UTC's; to_utc_timestamp the other
 *        way. window_time is the last microsecond of a window.
 * Cases  tests/golden/functions/zone.test */
#include "base/checked.h"
#include "expr/kernel.h"
#include "expr/resolve_text.h"
#include "expr/time_parts.h"
#include "expr/zone_cache.h"

/* A zone argument: `fixed` when it is constant, else looked up row by row. */
typedef struct zones_bound {
    const fm_zone *fixed[2];
} zones_bound;

static fm_status bind_zone(fm_bind *b, int32_t i, const fm_zone **out, fm_error *err)
{
    fm_value id;
    if (!fm_bind_is_constant(b, i)) return FM_OK;
    FM_TRY(fm_eval_constant_of(b, i, &id, err));
    if (fm_vec_is_null(&id, 0)) return FM_OK;
    fm_error later = FM_ERROR_INIT; /* an unknown zone fails for the first row that needs it, as in Spark */
    const fm_zone *zone = NULL;
    fm_status st = fm_zone_open(b->arena, fm_vec_str(&id, 0), &zone, &later);
    if (st == FM_OK) *out = zone;
    else if (st != FM_INVALID && err) *err = later;
    return st == FM_INVALID ? FM_OK : st;
}

static fm_status zone_of(fm_zone_cache *cache, const fm_zone *fixed, const fm_vec *ids, int64_t i,
                         const fm_zone **out, fm_error *err)
{
    *out = fixed;
    return fixed ? FM_OK : fm_zone_cache_get(cache, fm_vec_str(ids, i), out, err);
}

static fm_status shift(fm_call *call, const fm_vec *args, bool from_utc, fm_vec *out)
{
    const zones_bound *bound = call->bound;
    fm_zone_cache cache = {.arena = call->arena};
    for (int64_t i = 0; i < out->len; i++) {
        const fm_zone *zone;
        int64_t us = fm_vec_i64(&args[0])[i];
        if (fm_call_lane_null(out, i)) continue;
        FM_TRY(zone_of(&cache, bound->fixed[0], &args[1], i, &zone, call->err));
        fm_vec_i64_out(out)[i] = from_utc ? fm_zone_to_local(zone, us) : fm_zone_to_utc(zone, us);
    }
    return FM_OK;
}

static fm_status from_utc_timestamp(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return shift(call, args, true, out);
}
static fm_status to_utc_timestamp(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return shift(call, args, false, out);
}

static fm_status bind_shift(fm_bind *b, fm_error *err)
{
    zones_bound *bound = fm_arena_one(b->arena, zones_bound);
    if (!bound) return fm_no_memory(b->arena, err);
    b->bound = bound;
    b->returns = fm_type_timestamp();
    return bind_zone(b, 1, &bound->fixed[0], err);
}

/* convert_timezone([from,] to, ntz) */
static fm_status convert_timezone(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const zones_bound *bound = call->bound;
    int32_t n = call->expr->n_args;
    const fm_vec *time = &args[n - 1];
    fm_zone_cache cache = {.arena = call->arena};
    for (int64_t i = 0; i < out->len; i++) {
        const fm_zone *from = call->conf->zone, *to;
        if (fm_call_lane_null(out, i)) continue;
        if (n == 3) FM_TRY(zone_of(&cache, bound->fixed[0], &args[0], i, &from, call->err));
        FM_TRY(zone_of(&cache, bound->fixed[1], &args[n - 2], i, &to, call->err));
        fm_vec_i64_out(out)[i] = fm_zone_to_local(to, fm_zone_to_utc(from, fm_vec_i64(time)[i]));
    }
    return FM_OK;
}

static fm_status bind_convert(fm_bind *b, fm_error *err)
{
    const fm_type *ntz = fm_type_simple(FM_TYPE_TIMESTAMP_NTZ);
    zones_bound *bound = fm_arena_one(b->arena, zones_bound);
    if (!bound) return fm_no_memory(b->arena, err);
    b->bound = bound;
    b->returns = ntz;
    for (int32_t i = 0; i + 1 < b->n_args; i++) b->cast_args[i] = fm_type_string();
    b->cast_args[b->n_args - 1] = ntz;
    if (b->n_args == 3) FM_TRY(bind_zone(b, 0, &bound->fixed[0], err));
    return bind_zone(b, b->n_args - 2, &bound->fixed[1], err);
}

static fm_status window_time(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const int64_t *restrict end = fm_vec_i64(&args[0].children[1]);
    (void)call;
    for (int64_t i = 0; i < out->len; i++)
        fm_vec_i64_out(out)[i] = (int64_t)((uint64_t)end[i] - 1);
    return FM_OK;
}

static fm_status bind_window_time(fm_bind *b, fm_error *err)
{
    const fm_type *window = b->args[0]->type;
    if (window->id != FM_TYPE_STRUCT || !window->is_window)
        return fm_fail_bind(b, err, "UNEXPECTED_INPUT_TYPE",
                            "The first parameter requires a window made by window() or session_window(), however "
                            "it has the type %s.",
                            window, NULL);
    b->returns = window->fields[1].type;
    return FM_OK;
}

#define ENTRY(ident, bound_by, ...)                                                           \
    const fm_function fm_fn_##ident = {.name = #ident, .bind = bound_by, .kernel = ident,     \
                                       .nulls = FM_NULLS_STRICT, __VA_ARGS__}

ENTRY(from_utc_timestamp, bind_shift, .args = {FM_ARG_TIMESTAMP, FM_ARG_STRING, FM_ARG_END}, .args_min = 2,
      .args_max = 2, .can_fail = true, .usage = "from_utc_timestamp(ts, zone)", .since = "1.5.0",
      .doc = "Returns what the clock of a zone shows at a time of UTC.");
ENTRY(to_utc_timestamp, bind_shift, .args = {FM_ARG_TIMESTAMP, FM_ARG_STRING, FM_ARG_END}, .args_min = 2,
      .args_max = 2, .can_fail = true, .usage = "to_utc_timestamp(ts, zone)", .since = "1.5.0",
      .doc = "Returns the time of UTC at which the clock of a zone shows ts.");
ENTRY(convert_timezone, bind_convert, .args = {FM_ARG_ANY, FM_ARG_ANY, FM_ARG_ANY, FM_ARG_END}, .args_min = 2,
      .args_max = 3, .can_fail = true, .usage = "convert_timezone([from,] to, ts)", .since = "3.4.0",
      .doc = "Returns what the clock of one zone shows when that of another shows ts.");
ENTRY(window_time, bind_window_time, .args = {FM_ARG_STRUCT, FM_ARG_END}, .args_min = 1, .args_max = 1,
      .usage = "window_time(window)", .since = "3.4.0", .doc = "Returns the event time of a window: its last microsecond.");
