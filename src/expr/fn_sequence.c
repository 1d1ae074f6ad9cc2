/* expr/fn_sequence.c: sequence(start, stop[, step]): an array from start to stop, both included.
 *
 * Rule   Spark, Sequence: start and stop are widened to one type; integers go by a step of that type, times by an interval.
 *        Without a step, by 1 or a day, up or down. Every element is start plus a multiple of the step, not the one before
 *        plus the step: months from January 31 are February 28, March 31. A step that leads away from stop is an error.
 * Cases  tests/golden/functions/sequence.test */
#include "base/checked.h"
#include "column/builder.h"
#include "expr/call_args.h"
#include "expr/coerce.h"
#include "expr/kernel.h"
#include "expr/resolve_text.h"
#include "expr/time_parts.h"

enum { ELEMENTS_MAX = 1 << 28 }; /* of one batch's arrays: 2 GB of BIGINT */


static bool is_time(const fm_type *t) { return t->id == FM_TYPE_DATE || fm_type_is_timestamp(t); }

static fm_status bind(fm_bind *b, fm_error *err)
{
    const fm_type *step = b->n_args == 3 ? b->args[2]->type : NULL;
    const fm_type *type = fm_type_common(b->arena, b->conf, b->args[0]->type, b->args[1]->type);
    bool fits;

    if (type && step && !fm_type_is_interval(step) && !is_time(type)) type = fm_type_common(b->arena, b->conf, type, step);
    if (type && type->id == FM_TYPE_NULL) type = fm_type_i32();
    fits = type && (fm_type_is_integer(type) || is_time(type));
    if (fits && step && step->id != FM_TYPE_NULL) fits = is_time(type) == fm_type_is_interval(step);
    if (!fits)
        return fm_fail_bind(b, err, "SEQUENCE_WRONG_INPUT_TYPES",
                            "`sequence` uses the wrong parameter type. The parameter type must conform to: 1. The start and "
                            "stop expressions must resolve to the same type. 2. If they are dates or timestamps, the step must "
                            "be an interval, else it must be of their integral type.", NULL, NULL);
    b->cast_args[0] = b->cast_args[1] = type;
    if (step && !fm_type_is_interval(step)) b->cast_args[2] = is_time(type) ? fm_type_simple(FM_TYPE_INTERVAL_DT) : type;
    b->returns = fm_type_list(b->arena, type, false);
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

/* ---- One sequence ------------------------------------------------------------------------------------------------- */

/* Integers, days or µs with a step in the same unit; or times with a step by the calendar. */
typedef struct range {
    const fm_type *type;
    const fm_zone *zone;   /* NULL: a local clock */
    int64_t start, stop;
    bool by_calendar;
    int64_t step;          /* not by_calendar */
    int64_t months, days, us;
} range;

static int64_t integer_at(const fm_vec *v, int64_t i)
{
    switch (fm_type_width(v->type)) {
    case 1: return fm_vec_i8(v)[i];
    case 2: return fm_vec_i16(v)[i];
    case 4: return fm_vec_i32(v)[i];
    default: return fm_vec_i64(v)[i];
    }
}

static fm_status fail_boundaries(fm_call *call, const range *r)
{
    return fm_fail(call->err, FM_INVALID, "FLOODMARK_SEQUENCE_ILLEGAL",
                   "Illegal sequence boundaries: %lld to %lld by %lld. The step must lead from the start to the end.",
                   (long long)r->start, (long long)r->stop, (long long)r->step);
}

static fm_status fail_length(fm_call *call)
{
    return fm_fail(call->err, FM_INVALID, "COLLECTION_SIZE_LIMIT_EXCEEDED.PARAMETER",
                   "Can't create array with more elements than the array size limit: the value of the parameter(s) `count` in the "
                   "function `sequence` is invalid. Shorten the range, or lengthen the step.");
}

/* The interval's parts, and whether they are a plain number of the type's unit. */
static fm_status read_step(fm_call *call, const fm_vec *step, int64_t i, range *r)
{
    if (step->type->id == FM_TYPE_INTERVAL_YM) {
        r->months = fm_vec_i32(step)[i];
    } else {
        r->days = fm_vec_i64(step)[i] / FM_US_PER_DAY;
        r->us = fm_vec_i64(step)[i] % FM_US_PER_DAY;
    }
    if (r->type->id == FM_TYPE_DATE && r->months == 0 && r->days == 0)
        return fm_fail(call->err, FM_INVALID, "_LEGACY_ERROR_TEMP_3242",
                       "sequence step must be an interval day to second of day granularity if start and end values are dates.");
    r->by_calendar = r->type->id == FM_TYPE_DATE ? r->months != 0 || r->us != 0 : r->months != 0 || r->days != 0;
    r->step = r->type->id == FM_TYPE_DATE ? r->days : r->us;
    return FM_OK;
}

static fm_status read_range(fm_call *call, const fm_vec *args, int64_t i, range *r)
{
    *r = (range){.type = args[0].type, .start = integer_at(&args[0], i), .stop = integer_at(&args[1], i)};
    r->zone = r->type->id == FM_TYPE_TIMESTAMP ? call->conf->zone : NULL;
    if (call->expr->n_args == 3 && is_time(r->type)) return read_step(call, &args[2], i, r);
    if (call->expr->n_args == 3) {
        r->step = integer_at(&args[2], i);
        return FM_OK;
    }
    r->step = r->start <= r->stop ? 1 : -1;
    if (!fm_type_is_timestamp(r->type)) return FM_OK;
    r->by_calendar = true;
    r->days = r->step;
    return FM_OK;
}

/* About how long an interval is: a month of 28 days, so that no length is guessed too short. */
static fm_i128 about_us(const range *r)
{
    return ((fm_i128)r->months * 28 + r->days) * FM_US_PER_DAY + r->us;
}

static fm_status length_of(fm_call *call, const range *r, int64_t *out)
{
    fm_i128 step = r->by_calendar ? about_us(r) : r->step;
    int64_t unit = r->by_calendar && r->type->id == FM_TYPE_DATE ? FM_US_PER_DAY : 1;
    fm_i128 span = ((fm_i128)r->stop - r->start) * unit;
    bool fits = (step > 0 && span >= 0) || (step < 0 && span <= 0) || (step == 0 && span == 0);

    if (!fits) return fail_boundaries(call, r);
    span = step ? span / step + 1 : 1;
    if (span > ELEMENTS_MAX) return fail_length(call);
    *out = (int64_t)span;
    return FM_OK;
}

/* start + k steps by the calendar. false: beyond what the type holds, and so beyond stop. */
static bool element(const range *r, int64_t k, int64_t *out)
{
    int64_t days_us, us;
    if (!fm_mul_i64(r->days * FM_US_PER_DAY, k, &days_us) || !fm_mul_i64(r->us, k, &us)) return false;
    if (r->type->id == FM_TYPE_DATE) {
        int32_t day;
        if (!fm_days_add_months((int32_t)r->start, r->months * k, &day)) return false;
        *out = day + days_us / FM_US_PER_DAY + fm_floor_div(us, FM_US_PER_DAY);
        return true;
    }
    return fm_timestamp_add_months(r->start, r->months * k, r->zone, out) &&
           fm_timestamp_add_day_time(*out, days_us, r->zone, out) && fm_add_i64(*out, us, out);
}

static fm_status fill(fm_call *call, const range *r, fm_builder *out)
{
    int64_t n = 0;
    FM_TRY(length_of(call, r, &n));
    if ((int64_t)fm_builder_len(out) + n > ELEMENTS_MAX) return fail_length(call);
    if (r->by_calendar) n += 2; /* days of 23 hours: the end is looked for */
    for (int64_t k = 0; k < n; k++) {
        int64_t x = (int64_t)((uint64_t)r->start + (uint64_t)r->step * (uint64_t)k);
        if (r->by_calendar) {
            bool up = about_us(r) > 0;
            if (!element(r, k, &x) || (up ? x > r->stop : x < r->stop)) break;
        }
        fm_builder_i64(out, x);
    }
    return FM_OK;
}

static fm_status sequence(fm_call *call, const fm_vec *args, fm_vec *out)
{
    fm_builder *b = fm_builder_new(call->arena, out->type, out->len);
    if (!b) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < out->len; i++) {
        range r = {0};
        if (fm_call_lane_null(out, i)) {
            fm_builder_null(b);
            continue;
        }
        FM_TRY(read_range(call, args, i, &r));
        FM_TRY(fill(call, &r, fm_builder_child(b, 0)));
        fm_builder_end(b);
    }
    return fm_builder_finish(b, out, call->err);
}

const fm_function fm_fn_sequence = {
    .name = "sequence", .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 2, .args_max = 3, .bind = bind, .kernel = sequence,
    .nulls = FM_NULLS_STRICT, .can_fail = true, .usage = "sequence(start, stop[, step])",
    .doc = "Returns an array of the values from start to stop.", .since = "2.4.0",
};
