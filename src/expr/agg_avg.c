/* expr/agg_avg.c: avg(x), mean(x), try_avg(x).
 *
 * State   numbers: {double sum, int64 count}; decimals: fm_agg_decimal; intervals: {int64 sum, int64 count}, count
 *         -1: overflowed (try_avg).
 * Rule    Spark, Average: integers and floats are summed as doubles, so large integers lose digits and never
 *         overflow; DECIMAL(p, s) gives DECIMAL(p + 4, s + 4), both cut at 38; intervals are divided half up.
 *         Nothing but nulls: NULL.
 * Cases   tests/golden/functions/avg.test */
#include "base/checked.h"
#include "expr/agg_decimal.h"
#include "expr/agg_lanes.h"
#include "expr/aggregates.h"
#include "expr/call_args.h"

typedef struct f64_avg {
    double sum;
    int64_t count;
} f64_avg;

typedef struct interval_avg {
    int64_t sum, count;
} interval_avg;

enum { OVERFLOWED = -1 };

static bool is_try(const fm_agg_call *call) { return call->aggregate == &fm_agg_try_avg; }

static fm_status bind(fm_bind *b, fm_error *err)
{
    const fm_type *t = b->args[0]->type;
    switch (t->id) {
    case FM_TYPE_DECIMAL:
        b->returns = fm_type_decimal(b->arena, t->precision + 4 > 38 ? 38 : t->precision + 4,
                                     t->scale + 4 > 38 ? 38 : t->scale + 4);
        break;
    case FM_TYPE_INTERVAL_YM:
    case FM_TYPE_INTERVAL_DT: b->returns = fm_type_simple(t->id); break;
    case FM_TYPE_STRING:
    case FM_TYPE_NULL:
        b->cast_args[0] = fm_type_f64();
        b->returns = fm_type_f64();
        break;
    default:
        if (!fm_type_is_numeric(t))
            return fm_fail_arg_type(b, 0, "\"NUMERIC\" or \"ANSI INTERVAL\"", err);
        b->returns = fm_type_f64();
    }
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

static uint32_t state_size(const fm_agg_call *call)
{
    return call->returns->id == FM_TYPE_DECIMAL ? sizeof(fm_agg_decimal) : sizeof(f64_avg);
}

/* ---- Numbers ----------------------------------------------------------------------------------------------- */

static void avg_all(char *const *restrict entries, uint32_t offset, const double *restrict x,
                    int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        f64_avg *s = (f64_avg *)(void *)(entries[i] + offset);
        s->sum += x[i];
        s->count++;
    }
}

static void avg_live(char *const *restrict entries, uint32_t offset, const double *restrict x,
                     const uint8_t *restrict live, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        f64_avg *s = (f64_avg *)(void *)(entries[i] + offset);
        s->sum += live[i] ? x[i] : 0.0; /* a sum that began at 0.0 is never -0.0: adding 0.0 keeps it */
        s->count += live[i];
    }
}

static fm_status update_f64(const fm_agg_call *call, char *const *entries, const fm_vec *args,
                            const uint8_t *keep, int32_t n)
{
    double wide[FM_AGG_CHUNK];
    uint8_t buffer[FM_AGG_CHUNK];
    for (int32_t from = 0; from < n; from += FM_AGG_CHUNK) {
        int32_t len = fm_agg_chunk(from, n);
        const uint8_t *live = fm_agg_live(args, 1, keep, from, len, buffer);
        const double *x = fm_agg_f64(&args[0], from, len, wide);
        if (live)
            avg_live(entries + from, call->offset, x, live, len);
        else
            avg_all(entries + from, call->offset, x, len);
    }
    return FM_OK;
}

/* ---- Intervals --------------------------------------------------------------------------------------------- */

static bool add_interval(const fm_type *type, int64_t *sum, int64_t x)
{
    return fm_add_i64(*sum, x, sum) &&
           (type->id == FM_TYPE_INTERVAL_DT || (*sum >= INT32_MIN && *sum <= INT32_MAX));
}

static fm_status add_or_fail(const fm_agg_call *call, interval_avg *s, int64_t x, int64_t count,
                             fm_error *err)
{
    if (s->count == OVERFLOWED) return FM_OK;
    if (count == OVERFLOWED || !add_interval(call->returns, &s->sum, x)) {
        s->count = OVERFLOWED;
        if (is_try(call)) return FM_OK;
        return fm_fail(err, FM_INVALID, "INTERVAL_ARITHMETIC_OVERFLOW.WITH_SUGGESTION",
                       "Integer overflow while operating with intervals. Use `try_avg` to tolerate overflow "
                       "and return NULL instead.");
    }
    s->count += count;
    return FM_OK;
}

static fm_status update_interval(const fm_agg_call *call, char *const *entries, const fm_vec *args,
                                 const uint8_t *keep, int32_t n, fm_error *err)
{
    int64_t wide[FM_AGG_CHUNK];
    uint8_t buffer[FM_AGG_CHUNK];
    for (int32_t from = 0; from < n; from += FM_AGG_CHUNK) {
        int32_t len = fm_agg_chunk(from, n);
        const uint8_t *live = fm_agg_live(args, 1, keep, from, len, buffer);
        const int64_t *x = fm_agg_i64(&args[0], from, len, wide);
        for (int32_t i = 0; i < len; i++)
            if (!live || live[i])
                FM_TRY(add_or_fail(call, fm_agg_state(call, entries[from + i]), x[i], 1, err));
    }
    return FM_OK;
}

/* a / b, halves away from zero; b > 0. */
static int64_t div_half_up(int64_t a, int64_t b)
{
    int64_t q = a / b, r = a % b;
    uint64_t distance = r < 0 ? 0 - (uint64_t)r : (uint64_t)r;
    if (distance >= (uint64_t)b - distance) q += a < 0 ? -1 : 1;
    return q;
}

/* ---- The entry --------------------------------------------------------------------------------------------- */

static fm_status update(const fm_agg_call *call, char *const *entries, const fm_vec *args,
                        const uint8_t *keep, int32_t n, fm_error *err)
{
    switch (call->returns->id) {
    case FM_TYPE_F64: return update_f64(call, entries, args, keep, n);
    case FM_TYPE_DECIMAL: return fm_agg_decimal_update(call, entries, &args[0], keep, n);
    default: return update_interval(call, entries, args, keep, n, err);
    }
}

static fm_status merge(const fm_agg_call *call, char *const *dst, char *const *src, int32_t n,
                       fm_error *err)
{
    if (call->returns->id == FM_TYPE_DECIMAL) return fm_agg_decimal_merge(call, dst, src, n);
    for (int32_t i = 0; i < n; i++) {
        if (call->returns->id == FM_TYPE_F64) {
            f64_avg *d = fm_agg_state(call, dst[i]);
            const f64_avg *s = fm_agg_state(call, src[i]);
            d->sum += s->sum;
            d->count += s->count;
        } else {
            const interval_avg *s = fm_agg_state(call, src[i]);
            FM_TRY(add_or_fail(call, fm_agg_state(call, dst[i]), s->sum, s->count, err));
        }
    }
    return FM_OK;
}

/* false: NULL. */
static fm_status finish_decimal(const fm_agg_call *call, const fm_agg_decimal *s, fm_i128 *out,
                                bool *present, fm_error *err)
{
    const fm_type *from = call->arg_types[0], *to = call->returns;
    fm_i128 sum = fm_agg_decimal_sum(s);
    int sum_precision = from->precision + 10 > 38 ? 38 : from->precision + 10;
    *present = s->count > 0;
    if (!*present) return FM_OK;
    if (fm_decimal_fits(sum, sum_precision)) {
        if (fm_decimal_div(sum, to->scale - from->scale, s->count, out) &&
            fm_decimal_fits(*out, to->precision))
            return FM_OK;
    }
    *present = false;
    if (!call->ansi || is_try(call)) return FM_OK;
    return fm_agg_overflow(err, "Overflow in sum of decimals", "try_avg");
}

static fm_status finish(const fm_agg_call *call, char *const *entries, int32_t n, fm_arena *arena,
                        fm_vec *out, fm_error *err)
{
    uint64_t *valid;
    FM_TRY(fm_vec_init(out, call->returns, n, arena, err));
    valid = fm_agg_validity(out, n, arena);
    if (!valid) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) {
        void *state = fm_agg_state(call, entries[i]);
        bool present;
        if (call->returns->id == FM_TYPE_F64) {
            const f64_avg *s = state;
            present = s->count > 0;
            if (present) fm_vec_f64_out(out)[i] = s->sum / (double)s->count;
        } else if (call->returns->id == FM_TYPE_DECIMAL) {
            fm_i128 x = 0;
            FM_TRY(finish_decimal(call, state, &x, &present, err));
            if (present) fm_vec_decimal_out(out)[i] = x;
        } else {
            const interval_avg *s = state;
            int64_t x = s->count > 0 ? div_half_up(s->sum, s->count) : 0;
            present = s->count > 0;
            if (call->returns->id == FM_TYPE_INTERVAL_YM)
                fm_vec_i32_out(out)[i] = (int32_t)x;
            else
                fm_vec_i64_out(out)[i] = x;
        }
        if (present) fm_bit_set(valid, i);
    }
    return FM_OK;
}

const fm_aggregate fm_agg_avg = {
    .name = "avg", .aliases = {"mean"}, .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = 1,
    .bind = bind, .state_size = state_size, .update = update, .merge = merge, .finish = finish,
    .usage = "avg(expr)", .doc = "Returns the mean of the values.", .since = "1.0.0",
};

const fm_aggregate fm_agg_try_avg = {
    .name = "try_avg", .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = 1, .bind = bind,
    .state_size = state_size, .update = update, .merge = merge, .finish = finish,
    .usage = "try_avg(expr)", .doc = "Returns the mean of the values, NULL when their sum overflows.",
    .since = "3.3.0",
};
