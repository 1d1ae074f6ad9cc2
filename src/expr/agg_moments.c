/* expr/agg_moments.c: stddev, variance, skewness, kurtosis: central moments, updated row by row.
 *
 * State   {n, mean, m2, m3, m4} as doubles, as far as the function needs them. m_k is the sum of (x - mean)^k; a row
 *         moves the mean by (x - mean) / n and the sums by what that move does to them (Welford, Meng).
 * Rule    Spark, CentralMomentAgg: the same updates in the same order, so that even roundings are equal. Nothing:
 *         NULL; sample forms of one row, skewness and kurtosis of equal values: NULL.
 * Cases   tests/golden/functions/stddev.test */
#include <math.h>

#include "expr/agg_lanes.h"

typedef struct moments {
    double n, mean, m2, m3, m4; /* m3, m4 only when the function's order reaches them */
} moments;

extern const fm_aggregate fm_agg_skewness, fm_agg_kurtosis, fm_agg_stddev_samp, fm_agg_stddev_pop,
    fm_agg_var_samp, fm_agg_var_pop;

static int order_of(const fm_agg_call *call)
{
    return call->aggregate == &fm_agg_kurtosis ? 4 : call->aggregate == &fm_agg_skewness ? 3 : 2;
}

static uint32_t state_size(const fm_agg_call *call)
{
    return (uint32_t)(order_of(call) + 1) * sizeof(double);
}

/* m3 and m4 lie behind the end of the states of lower orders: touched only when order says so. */
static inline void add(moments *s, double x, int order)
{
    double n = s->n + 1, delta = x - s->mean, step = delta / n;
    double m2 = s->m2 + delta * (delta - step);
    if (order >= 3) {
        double delta_2 = delta * delta, step_2 = step * step;
        double m3 = s->m3 - 3 * step * m2 + delta * (delta_2 - step_2);
        if (order >= 4)
            s->m4 = s->m4 - 4 * step * m3 - 6 * step_2 * m2 + delta * (delta * delta_2 - step * step_2);
        s->m3 = m3;
    }
    s->n = n;
    s->mean += step;
    s->m2 = m2;
}

static fm_status update(const fm_agg_call *call, char *const *entries, const fm_vec *args,
                        const uint8_t *keep, int32_t n, fm_error *err)
{
    double wide[FM_AGG_CHUNK];
    uint8_t buffer[FM_AGG_CHUNK];
    int order = order_of(call);
    (void)err;
    for (int32_t from = 0; from < n; from += FM_AGG_CHUNK) {
        int32_t len = fm_agg_chunk(from, n);
        const uint8_t *live = fm_agg_live(args, 1, keep, from, len, buffer);
        const double *x = fm_agg_f64(&args[0], from, len, wide);
        for (int32_t i = 0; i < len; i++)
            if (!live || live[i]) add(fm_agg_state(call, entries[from + i]), x[i], order);
    }
    return FM_OK;
}

static void take_in(moments *d, const moments *s, int order)
{
    double n1 = d->n, n2 = s->n, n = n1 + n2, delta = s->mean - d->mean;
    double step = n == 0 ? 0 : delta / n;
    double m2_1 = d->m2, m2_2 = s->m2;
    d->n = n;
    d->mean += step * n2;
    d->m2 = m2_1 + m2_2 + delta * step * n1 * n2;
    if (order < 3) return;
    double m3_1 = d->m3, m3_2 = s->m3;
    d->m3 = m3_1 + m3_2 + step * step * delta * n1 * n2 * (n1 - n2) + 3 * step * (n1 * m2_2 - n2 * m2_1);
    if (order < 4) return;
    d->m4 = d->m4 + s->m4 + step * step * step * delta * n1 * n2 * (n1 * n1 - n1 * n2 + n2 * n2) +
            step * step * 6 * (n1 * n1 * m2_2 + n2 * n2 * m2_1) + 4 * step * (n1 * m3_2 - n2 * m3_1);
}

static fm_status merge(const fm_agg_call *call, char *const *dst, char *const *src, int32_t n,
                       fm_error *err)
{
    (void)err;
    for (int32_t i = 0; i < n; i++)
        take_in(fm_agg_state(call, dst[i]), fm_agg_state(call, src[i]), order_of(call));
    return FM_OK;
}

/* false: NULL. */
static bool result(const fm_agg_call *call, const moments *s, double *out)
{
    const fm_aggregate *a = call->aggregate;
    if (s->n == 0) return false;
    if (a == &fm_agg_skewness || a == &fm_agg_kurtosis) {
        if (s->m2 == 0) return false;
        *out = a == &fm_agg_skewness ? sqrt(s->n) * s->m3 / sqrt(s->m2 * s->m2 * s->m2)
                                     : s->n * s->m4 / (s->m2 * s->m2) - 3;
        return true;
    }
    if (a == &fm_agg_var_samp || a == &fm_agg_stddev_samp) {
        if (s->n == 1) return false;
        *out = s->m2 / (s->n - 1);
    } else {
        *out = s->m2 / s->n;
    }
    if (a == &fm_agg_stddev_samp || a == &fm_agg_stddev_pop) *out = sqrt(*out);
    return true;
}

static fm_status finish(const fm_agg_call *call, char *const *entries, int32_t n, fm_arena *arena,
                        fm_vec *out, fm_error *err)
{
    uint64_t *valid;
    FM_TRY(fm_vec_init(out, call->returns, n, arena, err));
    valid = fm_agg_validity(out, n, arena);
    if (!valid) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) {
        if (!result(call, fm_agg_state(call, entries[i]), &fm_vec_f64_out(out)[i])) continue;
        fm_bit_set(valid, i);
    }
    return FM_OK;
}

#define COMMON                                                                                \
    .args = {FM_ARG_F64, FM_ARG_END}, .args_min = 1, .args_max = 1, .returns = fm_type_f64,   \
    .state_size = state_size, .update = update, .merge = merge, .finish = finish, .since = "1.6.0"

const fm_aggregate fm_agg_stddev_samp = {
    COMMON, .name = "stddev_samp", .aliases = {"stddev", "std"}, .usage = "stddev_samp(expr)",
    .doc = "Returns the standard deviation of a sample.",
};
const fm_aggregate fm_agg_stddev_pop = {
    COMMON, .name = "stddev_pop", .usage = "stddev_pop(expr)",
    .doc = "Returns the standard deviation of a population.",
};
const fm_aggregate fm_agg_var_samp = {
    COMMON, .name = "var_samp", .aliases = {"variance"}, .usage = "var_samp(expr)",
    .doc = "Returns the variance of a sample.",
};
const fm_aggregate fm_agg_var_pop = {
    COMMON, .name = "var_pop", .usage = "var_pop(expr)", .doc = "Returns the variance of a population.",
};
const fm_aggregate fm_agg_skewness = {
    COMMON, .name = "skewness", .usage = "skewness(expr)",
    .doc = "Returns how lopsided the values lie about their mean.",
};
const fm_aggregate fm_agg_kurtosis = {
    COMMON, .name = "kurtosis", .usage = "kurtosis(expr)",
    .doc = "Returns how heavy the tails are, 0 for a normal distribution.",
};
