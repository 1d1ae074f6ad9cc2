/* expr/agg_sum.c: sum(x) and try_sum(x) of integers, intervals and floating point; decimals are in
 * agg_sum_decimal.c.
 *
 * State   integers, intervals: {int64 sum, int64 count}; count 0: nothing yet, -1: overflowed (try_sum).
 *         floating point: 8 bytes, the bits of the sum XOR those of -0.0. A sum begins at +0.0 and can never be
 *         -0.0, so -0.0 stands for "nothing yet": zero bytes are the empty state, no flag is needed, and
 *         (-0.0 + x) + 0.0 is the first sum without a branch.
 * Rule    Spark, Sum: integers sum to BIGINT. ANSI: an overflow of the running sum fails, even if later values
 *         would bring it back; else it wraps, and try_sum gives NULL. Only nulls, or nothing: NULL.
 * Cases   tests/golden/functions/sum.test */
#include "base/checked.h"
#include "expr/agg_decimal.h"
#include "expr/agg_lanes.h"
#include "expr/aggregates.h"
#include "expr/call_args.h"

typedef struct int_sum {
    int64_t sum, count;
} int_sum;

enum { OVERFLOWED = -1 };

static bool is_try(const fm_agg_call *call) { return call->aggregate == &fm_agg_try_sum; }
/* ---- Integers and intervals -------------------------------------------------------------------------------- */

/* Adds x to a sum of the width of type; false: it overflowed, and the sum is wrapped. */
static bool add_int(const fm_type *type, int64_t *sum, int64_t x)
{
    bool fits = fm_add_i64(*sum, x, sum);
    if (type->id == FM_TYPE_INTERVAL_YM && (*sum < INT32_MIN || *sum > INT32_MAX)) {
        *sum = (int32_t)(uint32_t)(uint64_t)*sum;
        fits = false;
    }
    return fits;
}

static fm_status fail_overflow(const fm_agg_call *call, fm_error *err)
{
    return fm_type_is_interval(call->returns)
               ? fm_fail(err, FM_INVALID, "INTERVAL_ARITHMETIC_OVERFLOW.WITH_SUGGESTION",
                         "Integer overflow while operating with intervals. Use 'try_sum' to tolerate overflow and "
                         "return NULL instead.")
               : fm_agg_overflow(err, "Overflow in sum of integers", "try_sum");
}

/* The loops return whether any sum overflowed. */
static bool sum_all(char *const *restrict entries, uint32_t offset, const int64_t *restrict x,
                    int32_t n)
{
    bool overflow = false;
    for (int32_t i = 0; i < n; i++) {
        int_sum *s = (int_sum *)(void *)(entries[i] + offset);
        overflow |= __builtin_add_overflow(s->sum, x[i], &s->sum);
        s->count++;
    }
    return overflow;
}

static bool sum_live(char *const *restrict entries, uint32_t offset, const int64_t *restrict x,
                     const uint8_t *restrict live, int32_t n)
{
    bool overflow = false;
    for (int32_t i = 0; i < n; i++) {
        int_sum *s = (int_sum *)(void *)(entries[i] + offset);
        /* Null lanes hold zero, but those that FILTER leaves out do not. */
        overflow |= __builtin_add_overflow(s->sum, live[i] ? x[i] : 0, &s->sum);
        s->count += live[i];
    }
    return overflow;
}

/* The careful loop: intervals and try_sum. */
static bool sum_sticky(const fm_agg_call *call, char *const *entries, const int64_t *x,
                       const uint8_t *live, int32_t n)
{
    bool overflow = false;
    for (int32_t i = 0; i < n; i++) {
        int_sum *s = fm_agg_state(call, entries[i]);
        if ((live && !live[i]) || s->count == OVERFLOWED) continue;
        if (add_int(call->returns, &s->sum, x[i])) {
            s->count++;
        } else {
            overflow = true;
            s->count = OVERFLOWED;
        }
    }
    return overflow;
}

static fm_status update_int(const fm_agg_call *call, char *const *entries, const fm_vec *args,
                            const uint8_t *keep, int32_t n, fm_error *err)
{
    bool sticky = is_try(call) || fm_type_is_interval(call->returns), overflow = false;
    int64_t wide[FM_AGG_CHUNK];
    uint8_t buffer[FM_AGG_CHUNK];
    for (int32_t from = 0; from < n; from += FM_AGG_CHUNK) {
        int32_t len = fm_agg_chunk(from, n);
        const uint8_t *live = fm_agg_live(args, 1, keep, from, len, buffer);
        const int64_t *x = fm_agg_i64(&args[0], from, len, wide);
        if (sticky)
            overflow |= sum_sticky(call, entries + from, x, live, len);
        else if (live)
            overflow |= sum_live(entries + from, call->offset, x, live, len);
        else
            overflow |= sum_all(entries + from, call->offset, x, len);
    }
    /* Intervals have no wrapping form: they fail without ANSI, too. */
    if (overflow && !is_try(call) && (call->ansi || sticky)) return fail_overflow(call, err);
    return FM_OK;
}

static fm_status merge_int(const fm_agg_call *call, char *const *dst, char *const *src, int32_t n,
                           fm_error *err)
{
    bool overflow = false, sticky = is_try(call) || fm_type_is_interval(call->returns);
    for (int32_t i = 0; i < n; i++) {
        int_sum *d = fm_agg_state(call, dst[i]);
        const int_sum *s = fm_agg_state(call, src[i]);
        bool fits = add_int(call->returns, &d->sum, s->sum);
        if (sticky && (!fits || d->count == OVERFLOWED || s->count == OVERFLOWED))
            d->count = OVERFLOWED;
        else
            d->count += s->count;
        overflow |= !fits;
    }
    if (overflow && !is_try(call) && (call->ansi || sticky)) return fail_overflow(call, err);
    return FM_OK;
}

static fm_status finish_int(const fm_agg_call *call, char *const *entries, int32_t n,
                            fm_arena *arena, fm_vec *out, fm_error *err)
{
    uint64_t *valid = fm_agg_validity(out, n, arena);
    if (!valid) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) {
        const int_sum *s = fm_agg_state(call, entries[i]);
        if (s->count <= 0) continue;
        fm_bit_set(valid, i);
        if (call->returns->id == FM_TYPE_INTERVAL_YM)
            fm_vec_i32_out(out)[i] = (int32_t)s->sum;
        else
            fm_vec_i64_out(out)[i] = s->sum;
    }
    return FM_OK;
}

/* ---- Floating point ---------------------------------------------------------------------------------------- */

#define EMPTY_BITS UINT64_C(0x8000000000000000) /* -0.0 */

static inline double sum_of(uint64_t state)
{
    double x;
    state ^= EMPTY_BITS;
    memcpy(&x, &state, sizeof x);
    return x;
}

static inline uint64_t state_of(double sum)
{
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    return bits ^ EMPTY_BITS;
}

static void sum_f64_all(char *const *restrict entries, uint32_t offset, const double *restrict x,
                        int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        uint64_t *s = (uint64_t *)(void *)(entries[i] + offset);
        *s = state_of((sum_of(*s) + x[i]) + 0.0); /* + 0.0 makes a -0.0 that came in 0.0 */
    }
}

static void sum_f64_live(char *const *restrict entries, uint32_t offset, const double *restrict x,
                         const uint8_t *restrict live, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        uint64_t *s = (uint64_t *)(void *)(entries[i] + offset);
        if (live[i]) *s = state_of((sum_of(*s) + x[i]) + 0.0);
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
            sum_f64_live(entries + from, call->offset, x, live, len);
        else
            sum_f64_all(entries + from, call->offset, x, len);
    }
    return FM_OK;
}

static fm_status merge_f64(const fm_agg_call *call, char *const *dst, char *const *src, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        uint64_t *d = fm_agg_state(call, dst[i]);
        const uint64_t *s = fm_agg_state(call, src[i]);
        if (*s) *d = state_of((sum_of(*d) + sum_of(*s)) + 0.0);
    }
    return FM_OK;
}

static fm_status finish_f64(const fm_agg_call *call, char *const *entries, int32_t n,
                            fm_arena *arena, fm_vec *out, fm_error *err)
{
    uint64_t *valid = fm_agg_validity(out, n, arena);
    if (!valid) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) {
        uint64_t state = *(const uint64_t *)fm_agg_state(call, entries[i]);
        if (!state) continue;
        fm_bit_set(valid, i);
        fm_vec_f64_out(out)[i] = sum_of(state);
    }
    return FM_OK;
}

/* ---- The entry --------------------------------------------------------------------------------------------- */

static fm_status bind(fm_bind *b, fm_error *err)
{
    const fm_type *t = b->args[0]->type;
    switch (t->id) {
    case FM_TYPE_I8:
    case FM_TYPE_I16:
    case FM_TYPE_I32:
    case FM_TYPE_I64: b->returns = fm_type_i64(); break;
    case FM_TYPE_DECIMAL:
        b->returns = fm_type_decimal(b->arena, t->precision + 10 > 38 ? 38 : t->precision + 10, t->scale);
        break;
    case FM_TYPE_INTERVAL_YM:
    case FM_TYPE_INTERVAL_DT: b->returns = t; break;
    case FM_TYPE_F32:
    case FM_TYPE_F64: b->returns = fm_type_f64(); break;
    case FM_TYPE_STRING:
    case FM_TYPE_NULL:
        b->returns = fm_type_f64();
        b->cast_args[0] = fm_type_f64();
        break;
    default: return fm_fail_arg_type(b, 0, "\"NUMERIC\" or \"ANSI INTERVAL\"", err);
    }
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

static uint32_t state_size(const fm_agg_call *call)
{
    switch (call->returns->id) {
    case FM_TYPE_F64: return sizeof(uint64_t);
    case FM_TYPE_DECIMAL: return sizeof(fm_agg_decimal);
    default: return sizeof(int_sum);
    }
}

static fm_status update(const fm_agg_call *call, char *const *entries, const fm_vec *args,
                        const uint8_t *keep, int32_t n, fm_error *err)
{
    switch (call->returns->id) {
    case FM_TYPE_F64: return update_f64(call, entries, args, keep, n);
    case FM_TYPE_DECIMAL: return fm_agg_decimal_update(call, entries, &args[0], keep, n);
    default: return update_int(call, entries, args, keep, n, err);
    }
}

static fm_status merge(const fm_agg_call *call, char *const *dst, char *const *src, int32_t n,
                       fm_error *err)
{
    switch (call->returns->id) {
    case FM_TYPE_F64: return merge_f64(call, dst, src, n);
    case FM_TYPE_DECIMAL: return fm_agg_decimal_merge(call, dst, src, n);
    default: return merge_int(call, dst, src, n, err);
    }
}

static fm_status finish_decimal(const fm_agg_call *call, char *const *entries, int32_t n,
                                fm_arena *arena, fm_vec *out, fm_error *err)
{
    uint64_t *valid = fm_agg_validity(out, n, arena);
    if (!valid) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) {
        const fm_agg_decimal *s = fm_agg_state(call, entries[i]);
        fm_i128 sum = fm_agg_decimal_sum(s);
        if (!s->count) continue;
        if (!fm_decimal_fits(sum, call->returns->precision)) {
            if (!call->ansi || is_try(call)) continue;
            return fm_agg_overflow(err, "Overflow in sum of decimals", "try_sum");
        }
        fm_bit_set(valid, i);
        fm_vec_decimal_out(out)[i] = sum;
    }
    return FM_OK;
}

static fm_status finish(const fm_agg_call *call, char *const *entries, int32_t n, fm_arena *arena,
                        fm_vec *out, fm_error *err)
{
    FM_TRY(fm_vec_init(out, call->returns, n, arena, err));
    switch (call->returns->id) {
    case FM_TYPE_F64: return finish_f64(call, entries, n, arena, out, err);
    case FM_TYPE_DECIMAL: return finish_decimal(call, entries, n, arena, out, err);
    default: return finish_int(call, entries, n, arena, out, err);
    }
}

const fm_aggregate fm_agg_sum = {
    .name = "sum", .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = 1, .bind = bind,
    .state_size = state_size, .update = update, .merge = merge, .finish = finish,
    .usage = "sum(expr)", .doc = "Returns the sum of the values.", .since = "1.0.0",
};

const fm_aggregate fm_agg_try_sum = {
    .name = "try_sum", .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = 1, .bind = bind,
    .state_size = state_size, .update = update, .merge = merge, .finish = finish,
    .usage = "try_sum(expr)", .doc = "Returns the sum of the values, NULL when it overflows.",
    .since = "3.3.0",
};
