/* expr/fn_now.c: current_timestamp and kin: the time of the micro-batch, so the same for all its rows and again when
 * the batch is run again; current_watermark.
 *
 * Cases  tests/golden/functions/now.test */
#include "expr/time_parts.h"

static fm_status fill_i64(fm_vec *out, int64_t x)
{
    int64_t *to = fm_vec_i64_out(out);
    for (int64_t i = 0; i < out->len; i++) to[i] = x;
    return FM_OK;
}

static fm_status current_timestamp(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)args;
    return fill_i64(out, call->run->now_us);
}

static fm_status localtimestamp(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)args;
    return fill_i64(out, fm_zone_to_local(call->conf->zone, call->run->now_us));
}

static fm_status current_date(fm_call *call, const fm_vec *args, fm_vec *out)
{
    int32_t today = fm_day_of_us(fm_zone_to_local(call->conf->zone, call->run->now_us));
    (void)args;
    for (int64_t i = 0; i < out->len; i++) fm_vec_i32_out(out)[i] = today;
    return FM_OK;
}

static fm_status current_timezone(fm_call *call, const fm_vec *args, fm_vec *out)
{
    fm_str id = fm_zone_id(call->conf->zone); /* lives with the session */
    fm_view view = fm_view_of(id.ptr, id.len);
    (void)args;
    for (int64_t i = 0; i < out->len; i++) fm_vec_view_out(out)[i] = view;
    return FM_OK;
}

static fm_status current_watermark(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)args;
    if (call->run->watermark_us == INT64_MIN)
        return fm_vec_nulls(out, out->type, out->len, call->arena, call->err);
    return fill_i64(out, call->run->watermark_us);
}

static const fm_type *ntz_type(void) { return fm_type_simple(FM_TYPE_TIMESTAMP_NTZ); }
static const fm_type *date_type(void) { return fm_type_simple(FM_TYPE_DATE); }

static fm_status never_null(fm_bind *b, fm_error *err)
{
    (void)err;
    b->nullable = false;
    return FM_OK;
}

#define ENTRY(ident, type, run, ...)                                                          \
    const fm_function fm_fn_##ident = {.name = #ident, .args = {FM_ARG_END}, .returns = type, \
                                       .kernel = run, .nulls = FM_NULLS_CUSTOM, __VA_ARGS__}

ENTRY(current_timestamp, fm_type_timestamp, current_timestamp, .aliases = {"now"}, .bind = never_null,
      .per_batch = true, .usage = "current_timestamp()", .since = "1.5.0",
      .doc = "Returns the time of the micro-batch.");
ENTRY(localtimestamp, ntz_type, localtimestamp, .bind = never_null, .per_batch = true,
      .usage = "localtimestamp()", .since = "3.4.0",
      .doc = "Returns the time of the micro-batch on the session's clock, without a zone.");
ENTRY(current_date, date_type, current_date, .aliases = {"curdate"}, .bind = never_null, .per_batch = true,
      .usage = "current_date()", .since = "1.5.0", .doc = "Returns the session's date at the time of the micro-batch.");
ENTRY(current_timezone, fm_type_string, current_timezone, .bind = never_null, .usage = "current_timezone()",
      .since = "3.1.0", .doc = "Returns the id of the session's time zone.");
ENTRY(current_watermark, fm_type_timestamp, current_watermark, .per_batch = true,
      .usage = "current_watermark()", .since = "floodmark 0.1",
      .doc = "Returns the watermark the micro-batch works with; null when the query has none.");
