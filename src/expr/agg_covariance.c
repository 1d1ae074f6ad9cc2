/* expr/agg_covariance.c: covar_pop(x, y), covar_samp(x, y), corr(x, y), and the regr_ functions.
 *
 * State   {n, mean of x, mean of y, sum of (x - mean x)(y - mean y)}, and for corr and regr_ the two sums of squares.
 *         regr_avgx, regr_avgy: sums in place of the means.
 * Rule    Spark, Covariance, PearsonCorrelation and CentralMomentAgg, step by step, so that roundings are the same. Rows
 *         where either is null do not count. regr_f(y, x) has the dependent variable first; regr_sxy and regr_r2 look at
 *         it as x nevertheless.
 * Cases   tests/golden/functions/corr.test */
#include <math.h>

#include "expr/agg_lanes.h"

typedef struct pairs {
    double n, mean_x, mean_y, xy;
    double xx, yy; /* only where the function wants them */
} pairs;

typedef enum kind {
    COVAR_POP, COVAR_SAMP, CORR, REGR_COUNT, REGR_AVGX, REGR_AVGY, REGR_SXX, REGR_SYY, REGR_SXY, REGR_SLOPE,
    REGR_INTERCEPT, REGR_R2, KINDS
} kind;

extern const fm_aggregate fm_agg_covar_pop, fm_agg_covar_samp, fm_agg_corr, fm_agg_regr_count,
    fm_agg_regr_avgx, fm_agg_regr_avgy, fm_agg_regr_sxx, fm_agg_regr_syy, fm_agg_regr_sxy,
    fm_agg_regr_slope, fm_agg_regr_intercept, fm_agg_regr_r2;

static kind kind_of(const fm_agg_call *call)
{
    static const fm_aggregate *const entries[KINDS] = {
        &fm_agg_covar_pop, &fm_agg_covar_samp, &fm_agg_corr, &fm_agg_regr_count, &fm_agg_regr_avgx,
        &fm_agg_regr_avgy, &fm_agg_regr_sxx, &fm_agg_regr_syy, &fm_agg_regr_sxy, &fm_agg_regr_slope,
        &fm_agg_regr_intercept, &fm_agg_regr_r2,
    };
    int k = 0;
    while (k < KINDS - 1 && entries[k] != call->aggregate) k++;
    return (kind)k;
}

static bool wants_squares(kind k) { return k >= CORR; }

static uint32_t state_size(const fm_agg_call *call)
{
    return wants_squares(kind_of(call)) ? sizeof(pairs) : 4 * sizeof(double);
}

/* The functions that stand on CentralMomentAgg, which takes its steps in another way. */
static bool is_by_moments(kind k) { return k > REGR_COUNT && k != REGR_R2; }
static bool is_mean(kind k) { return k == REGR_AVGX || k == REGR_AVGY; }

static inline void add(pairs *s, double x, double y, kind k)
{
    double n = s->n + 1, dx = x - s->mean_x, dy = y - s->mean_y;
    double mean_x = s->mean_x + dx / n, mean_y = s->mean_y + dy / n;
    s->n = n;
    if (is_mean(k)) {
        s->mean_x += x;
        s->mean_y += y;
        return;
    }
    s->xy += dx * (y - mean_y);
    if (is_by_moments(k)) {
        s->xx += dx * (dx - dx / n);
        s->yy += dy * (dy - dy / n);
    } else if (wants_squares(k)) {
        s->xx += dx * (x - mean_x);
        s->yy += dy * (y - mean_y);
    }
    s->mean_x = mean_x;
    s->mean_y = mean_y;
}

static fm_status update(const fm_agg_call *call, char *const *entries, const fm_vec *args,
                        const uint8_t *keep, int32_t n, fm_error *err)
{
    kind k = kind_of(call);
    bool regression = k > CORR && k != REGR_SXY && k != REGR_R2; /* regr_f(y, x) */
    const double *x = fm_vec_f64(&args[regression ? 1 : 0]), *y = fm_vec_f64(&args[regression ? 0 : 1]);
    uint8_t buffer[FM_AGG_CHUNK];
    (void)err;
    for (int32_t from = 0; from < n; from += FM_AGG_CHUNK) {
        int32_t len = fm_agg_chunk(from, n);
        const uint8_t *live = fm_agg_live(args, 2, keep, from, len, buffer);
        for (int32_t i = 0; i < len; i++)
            if (!live || live[i])
                add(fm_agg_state(call, entries[from + i]), x[from + i], y[from + i], k);
    }
    return FM_OK;
}

static void take_in(pairs *d, const pairs *s, kind k)
{
    double n1 = d->n, n2 = s->n, n = n1 + n2;
    double dx = s->mean_x - d->mean_x, dx_n = n == 0 ? 0 : dx / n;
    double dy = s->mean_y - d->mean_y, dy_n = n == 0 ? 0 : dy / n;
    d->n = n;
    if (is_mean(k)) {
        d->mean_x += s->mean_x;
        d->mean_y += s->mean_y;
        return;
    }
    d->mean_x += dx_n * n2;
    d->mean_y += dy_n * n2;
    d->xy = d->xy + s->xy + dx * dy_n * n1 * n2;
    if (!wants_squares(k)) return;
    d->xx = d->xx + s->xx + dx * dx_n * n1 * n2;
    d->yy = d->yy + s->yy + dy * dy_n * n1 * n2;
}

static fm_status merge(const fm_agg_call *call, char *const *dst, char *const *src, int32_t n,
                       fm_error *err)
{
    kind k = kind_of(call);
    (void)err;
    for (int32_t i = 0; i < n; i++)
        take_in(fm_agg_state(call, dst[i]), fm_agg_state(call, src[i]), k);
    return FM_OK;
}

/* false: NULL. */
static bool result(kind k, const pairs *s, double *out)
{
    if (s->n == 0) return false;
    switch (k) {
    case COVAR_POP: *out = s->xy / s->n; return true;
    case COVAR_SAMP: *out = s->xy / (s->n - 1); return s->n > 1;
    case CORR: *out = s->xy / sqrt(s->xx * s->yy); return s->n > 1 && s->xx * s->yy != 0;
    case REGR_AVGX: *out = s->mean_x / s->n; return true;
    case REGR_AVGY: *out = s->mean_y / s->n; return true;
    case REGR_SXX: *out = s->xx; return true;
    case REGR_SYY: *out = s->yy; return true;
    case REGR_SXY: *out = s->xy; return true;
    case REGR_SLOPE: *out = s->xy / s->xx; return s->xx != 0;
    case REGR_INTERCEPT: *out = s->mean_y - s->xy / s->xx * s->mean_x; return s->xx != 0;
    default: { /* REGR_R2: yy is of the independent variable */
        double r = s->xy / sqrt(s->xx * s->yy);
        if (s->yy == 0) return false;
        *out = s->xx == 0 ? 1 : r * r;
        return true;
    }
    }
}

static fm_status finish(const fm_agg_call *call, char *const *entries, int32_t n, fm_arena *arena,
                        fm_vec *out, fm_error *err)
{
    kind k = kind_of(call);
    uint64_t *valid;
    FM_TRY(fm_vec_init(out, call->returns, n, arena, err));
    if (k == REGR_COUNT) {
        for (int32_t i = 0; i < n; i++)
            fm_vec_i64_out(out)[i] = (int64_t)((const pairs *)fm_agg_state(call, entries[i]))->n;
        return FM_OK;
    }
    valid = fm_agg_validity(out, n, arena);
    if (!valid) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) {
        double x;
        if (!result(k, fm_agg_state(call, entries[i]), &x)) continue;
        fm_vec_f64_out(out)[i] = x;
        fm_bit_set(valid, i);
    }
    return FM_OK;
}

#define COMMON                                                                                \
    .args = {FM_ARG_F64, FM_ARG_F64, FM_ARG_END}, .args_min = 2, .args_max = 2,               \
    .state_size = state_size, .update = update, .merge = merge, .finish = finish

const fm_aggregate fm_agg_covar_pop = {
    COMMON, .name = "covar_pop", .returns = fm_type_f64, .usage = "covar_pop(x, y)", .since = "2.0.0",
    .doc = "Returns the covariance of a population.",
};
const fm_aggregate fm_agg_covar_samp = {
    COMMON, .name = "covar_samp", .returns = fm_type_f64, .usage = "covar_samp(x, y)", .since = "2.0.0",
    .doc = "Returns the covariance of a sample.",
};
const fm_aggregate fm_agg_corr = {
    COMMON, .name = "corr", .returns = fm_type_f64, .usage = "corr(x, y)", .since = "1.6.0",
    .doc = "Returns Pearson's coefficient of correlation.",
};
const fm_aggregate fm_agg_regr_count = {
    COMMON, .name = "regr_count", .returns = fm_type_i64, .never_null = true, .usage = "regr_count(y, x)",
    .since = "3.3.0", .doc = "Returns how many pairs are complete.",
};
const fm_aggregate fm_agg_regr_avgx = {
    COMMON, .name = "regr_avgx", .returns = fm_type_f64, .usage = "regr_avgx(y, x)", .since = "3.3.0",
    .doc = "Returns the mean of x over complete pairs.",
};
const fm_aggregate fm_agg_regr_avgy = {
    COMMON, .name = "regr_avgy", .returns = fm_type_f64, .usage = "regr_avgy(y, x)", .since = "3.3.0",
    .doc = "Returns the mean of y over complete pairs.",
};
const fm_aggregate fm_agg_regr_sxx = {
    COMMON, .name = "regr_sxx", .returns = fm_type_f64, .usage = "regr_sxx(y, x)", .since = "3.4.0",
    .doc = "Returns the sum of squares of x about its mean.",
};
const fm_aggregate fm_agg_regr_syy = {
    COMMON, .name = "regr_syy", .returns = fm_type_f64, .usage = "regr_syy(y, x)", .since = "3.4.0",
    .doc = "Returns the sum of squares of y about its mean.",
};
const fm_aggregate fm_agg_regr_sxy = {
    COMMON, .name = "regr_sxy", .returns = fm_type_f64, .usage = "regr_sxy(y, x)", .since = "3.4.0",
    .doc = "Returns the sum of products of x and y about their means.",
};
const fm_aggregate fm_agg_regr_slope = {
    COMMON, .name = "regr_slope", .returns = fm_type_f64, .usage = "regr_slope(y, x)", .since = "3.4.0",
    .doc = "Returns the slope of the line that fits best.",
};
const fm_aggregate fm_agg_regr_intercept = {
    COMMON, .name = "regr_intercept", .returns = fm_type_f64, .usage = "regr_intercept(y, x)", .since = "3.4.0",
    .doc = "Returns where the line that fits best meets the axis of y.",
};
const fm_aggregate fm_agg_regr_r2 = {
    COMMON, .name = "regr_r2", .returns = fm_type_f64, .usage = "regr_r2(y, x)", .since = "3.3.0",
    .doc = "Returns the share of the variance that the line explains.",
};
