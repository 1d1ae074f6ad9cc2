/* expr/agg_percentile_approx.c: percentile_approx(x, p[, accuracy]).
 *
 * State   a Greenwald-Khanna summary (quantile_summary.h) with the error 1 / accuracy.
 * Rule    Spark, ApproximatePercentile: values are looked at as doubles; the result is of the type of x, without a
 *         fraction where that has none. Slices merged would give other values than rows in turn: no slices.
 * Cases   tests/golden/functions/percentile_approx.test */
#include <math.h>

#include "base/checked.h"
#include "expr/agg_cell.h"
#include "expr/agg_decimal.h"
#include "expr/agg_percentages.h"
#include "expr/call_args.h"
#include "expr/cast.h"
#include "expr/coerce.h"
#include "expr/eval.h"
#include "expr/kernel.h"
#include "expr/quantile_summary.h"
#include "expr/resolve_text.h"

typedef struct bound {
    fm_percentages p;
    double error;
} bound;

static const bound *bound_of(const fm_agg_call *call) { return call->bound; }

static fm_status bind_accuracy(fm_bind *b, double *error, fm_error *err)
{
    const fm_type *t = b->args[2]->type;
    fm_expr *cast;
    fm_value value;
    if (!fm_type_is_integer(t) && t->id != FM_TYPE_NULL) return fm_fail_arg_type(b, 2, "\"INTEGRAL\"", err);
    if (!fm_bind_is_constant(b, 2))
        return fm_fail_bind(b, err, "NON_FOLDABLE_INPUT", "the input `accuracy` should be a foldable %s expression.", fm_type_i32(), NULL);
    FM_TRY(fm_expr_cast(b->arena, b->conf, b->args[2], fm_type_i64(), false, false, &cast, err));
    FM_TRY(fm_eval_constant(b->arena, b->conf, cast, &value, err));
    if (fm_vec_is_null(&value, 0)) return fm_fail_bind(b, err, "UNEXPECTED_NULL", "The accuracy must not be null.", NULL, NULL);
    if (fm_vec_i64(&value)[0] < 1 || fm_vec_i64(&value)[0] > INT32_MAX)
        return fm_fail_bind(b, err, "VALUE_OUT_OF_RANGE", "The accuracy must be between (0, 2147483647].", NULL, NULL);
    *error = 1.0 / (double)fm_vec_i64(&value)[0];
    return FM_OK;
}

static fm_status bind(fm_bind *b, fm_error *err)
{
    const fm_type *t = b->args[0]->type;
    bound *own = fm_arena_one(b->arena, bound);
    if (!own) return fm_no_memory(b->arena, err);
    if (t->id == FM_TYPE_STRING || t->id == FM_TYPE_NULL) b->cast_args[0] = t = fm_type_f64();
    if (!fm_type_is_numeric(t) && t->id != FM_TYPE_DATE && !fm_type_is_timestamp(t) && t->id != FM_TYPE_INTERVAL_YM &&
        t->id != FM_TYPE_INTERVAL_DT)
        return fm_fail_arg_type(b, 0,
                                "(\"NUMERIC\" or \"DATE\" or \"TIMESTAMP\" or \"TIMESTAMP_NTZ\" or \"INTERVAL YEAR TO MONTH\" or "
                                "\"INTERVAL DAY TO SECOND\")", err);
    own->error = 1.0 / 10000;
    if (b->n_args == 3) FM_TRY(bind_accuracy(b, &own->error, err));
    FM_TRY(fm_bind_percentages(b, 1, &own->p, err));
    b->bound = own;
    return fm_percentages_type(b, &own->p, t, &b->returns, err);
}

static uint32_t state_size(const fm_agg_call *call)
{
    (void)call;
    return sizeof(fm_quantile_summary *);
}

static fm_status update(const fm_agg_call *call, char *const *entries, const fm_vec *args,
                        const uint8_t *keep, int32_t n, fm_error *err)
{
    double wide[FM_AGG_CHUNK];
    uint8_t buffer[FM_AGG_CHUNK];
    for (int32_t from = 0; from < n; from += FM_AGG_CHUNK) {
        int32_t len = fm_agg_chunk(from, n);
        const uint8_t *live = fm_agg_live(args, 1, keep, from, len, buffer);
        const double *x = fm_agg_doubles(&args[0], from, len, wide);
        for (int32_t i = 0; i < len; i++)
            if (!live || live[i])
                FM_TRY(fm_quantile_summary_add(fm_agg_state(call, entries[from + i]), bound_of(call)->error, x[i], err));
    }
    return FM_OK;
}

static fm_status merge(const fm_agg_call *call, char *const *dst, char *const *src, int32_t n,
                       fm_error *err)
{
    for (int32_t i = 0; i < n; i++)
        FM_TRY(fm_quantile_summary_merge(fm_agg_state(call, dst[i]), *(fm_quantile_summary **)fm_agg_state(call, src[i]),
                                         bound_of(call)->error, err));
    return FM_OK;
}

static int64_t whole(double x)
{
    if (isnan(x)) return 0;
    if (x >= 9223372036854775807.0) return INT64_MAX;
    if (x <= -9223372036854775808.0) return INT64_MIN;
    return (int64_t)x;
}

static void put(fm_builder *b, double x)
{
    const fm_type *t = fm_builder_type(b);
    if (t->id == FM_TYPE_F64 || t->id == FM_TYPE_F32) {
        fm_builder_f64(b, x);
    } else if (t->id == FM_TYPE_DECIMAL) {
        char text[FM_DOUBLE_TEXT_SIZE];
        fm_i128 unscaled;
        size_t len = fm_double_text(x, text);
        if (fm_text_to_decimal((fm_str){text, len}, t->precision, t->scale, &unscaled)) fm_builder_decimal(b, unscaled);
        else fm_builder_null(b);
    } else {
        fm_builder_i64(b, whole(x)); /* it was a value of this type */
    }
}

/* The input of the micro-batch is over when this is asked: what it brought is settled. */
static fm_status finish(const fm_agg_call *call, char *const *entries, int32_t n, fm_arena *arena,
                        fm_vec *out, fm_error *err)
{
    const bound *own = bound_of(call);
    fm_builder *b = fm_builder_new(arena, call->returns, n);
    double *values = fm_arena_array(arena, double, own->p.n + 1);
    if (!b || !values) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) {
        fm_quantile_summary *s = *(fm_quantile_summary **)fm_agg_state(call, entries[i]);
        FM_TRY(fm_quantile_summary_settle(s, own->error, err));
        if (own->p.n == 0 || !fm_quantile_summary_query(s, own->error, own->p.values, own->p.n, values)) {
            fm_builder_null(b);
            continue;
        }
        for (int32_t k = 0; k < own->p.n; k++) put(own->p.is_list ? fm_builder_child(b, 0) : b, values[k]);
        if (own->p.is_list) fm_builder_end(b);
    }
    return fm_builder_finish(b, out, err);
}

static void fini(const fm_agg_call *call, void *state)
{
    (void)call;
    fm_quantile_summary_free(*(fm_quantile_summary **)state);
    *(fm_quantile_summary **)state = NULL;
}

/* Saved at the end of a micro-batch, when what it brought belongs to the state. */
static fm_status save(const fm_agg_call *call, const void *state, fm_strbuf *out, fm_error *err)
{
    fm_quantile_summary *s = *(fm_quantile_summary *const *)state;
    FM_TRY(fm_quantile_summary_settle(s, bound_of(call)->error, err));
    fm_quantile_summary_save(s, out);
    return fm_agg_saved(out, err);
}

static fm_status load(const fm_agg_call *call, fm_str bytes, size_t *at, void *state, fm_error *err)
{
    (void)call;
    return fm_quantile_summary_load(bytes, at, state, err);
}

static size_t memory(const fm_agg_call *call, const void *state)
{
    (void)call;
    return fm_quantile_summary_memory(*(fm_quantile_summary *const *)state);
}

const fm_aggregate fm_agg_percentile_approx = {
    .name = "percentile_approx", .aliases = {"approx_percentile"}, .args = {FM_ARG_ANY, FM_ARG_ANY, FM_ARG_ANY, FM_ARG_END},
    .args_min = 2, .args_max = 3, .unread = 1 << 1 | 1 << 2, .unsliced = true, .bind = bind, .state_size = state_size,
    .update = update, .merge = merge, .finish = finish, .fini = fini, .save = save, .load = load, .memory = memory,
    .usage = "percentile_approx(expr, percentage[, accuracy])",
    .doc = "Returns nearly the value at a percentage of the values, in little memory.", .since = "2.1.0",
};
