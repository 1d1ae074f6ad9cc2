/* expr/agg_approx_count_distinct.c: approx_count_distinct(x[, relativeSD]).
 *
 * State   a HyperLogLog++ sketch (hll.h) of the xxHash64 of the values, under seed 42.
 * Rule    Spark, HyperLogLogPlusPlus: nulls do not count; relativeSD is a literal, 0.05 unless given, and not shown in
 *         the column's name.
 * Cases   tests/golden/functions/approx_count_distinct.test */
#include "expr/agg_cell.h"
#include "expr/coerce.h"
#include "expr/hll.h"
#include "expr/spark_hash.h"

typedef struct bound {
    int precision;
} bound;

static int precision_of(const fm_agg_call *call) { return ((const bound *)call->bound)->precision; }

/* A decimal or double literal, not a formula that gives one. */
static fm_status read_relative_sd(const fm_bind *b, double *out, fm_error *err)
{
    const fm_expr *e = b->args[1];
    fm_expr *cast;
    bool fits = e->kind == FM_EXPR_LITERAL && e->name.len == 0 && !fm_vec_is_null(&e->value, 0) &&
                (e->type->id == FM_TYPE_F64 || e->type->id == FM_TYPE_DECIMAL);
    if (!fits)
        return fm_fail_at(err, FM_INVALID, "_LEGACY_ERROR_TEMP_1104", b->pos.line, b->pos.column,
                          "The second argument should be a double literal, as in approx_count_distinct(x, 0.01).");
    FM_TRY(fm_expr_cast(b->arena, b->conf, b->args[1], fm_type_f64(), false, false, &cast, err));
    *out = fm_vec_f64(&cast->value)[0];
    return FM_OK;
}

static fm_status bind(fm_bind *b, fm_error *err)
{
    double relative_sd = 0.05;
    bound *own = fm_arena_one(b->arena, bound);
    if (!own) return fm_no_memory(b->arena, err);
    if (b->n_args == 2) FM_TRY(read_relative_sd(b, &relative_sd, err));
    own->precision = fm_hll_precision(relative_sd);
    if (own->precision < FM_HLL_PRECISION_MIN)
        return fm_fail_at(err, FM_INVALID, "FAILED_FUNCTION_CALL", b->pos.line, b->pos.column,
                          "Failed preparing of the function `approx_count_distinct` for call: a relative error of %g is "
                          "too large. Use a lower one, at most 0.39.", relative_sd);
    if (own->precision > FM_HLL_PRECISION_MAX)
        return fm_fail_at(err, FM_LIMIT, "FLOODMARK_SKETCH_TOO_LARGE", b->pos.line, b->pos.column,
                          "A relative error of %g in approx_count_distinct() wants more than 16 MB for a group. Use a "
                          "larger one, or count(DISTINCT ...) over a batch.", relative_sd);
    b->bound = own;
    return FM_OK;
}

static uint32_t state_size(const fm_agg_call *call)
{
    (void)call;
    return sizeof(fm_hll *);
}

static fm_status update(const fm_agg_call *call, char *const *entries, const fm_vec *args,
                        const uint8_t *keep, int32_t n, fm_error *err)
{
    int precision = precision_of(call);
    for (int32_t i = 0; i < n; i++) {
        if ((keep && !keep[i]) || fm_vec_is_null(&args[0], i)) continue;
        uint64_t hash = (uint64_t)fm_spark_xxhash64(&args[0], i, FM_SPARK_HASH_SEED);
        FM_TRY(fm_hll_add(fm_agg_state(call, entries[i]), precision, hash, err));
    }
    return FM_OK;
}

static fm_status merge(const fm_agg_call *call, char *const *dst, char *const *src, int32_t n,
                       fm_error *err)
{
    for (int32_t i = 0; i < n; i++)
        FM_TRY(fm_hll_merge(fm_agg_state(call, dst[i]), precision_of(call),
                            *(fm_hll **)fm_agg_state(call, src[i]), err));
    return FM_OK;
}

static fm_status finish(const fm_agg_call *call, char *const *entries, int32_t n, fm_arena *arena,
                        fm_vec *out, fm_error *err)
{
    FM_TRY(fm_vec_init(out, call->returns, n, arena, err));
    for (int32_t i = 0; i < n; i++)
        fm_vec_i64_out(out)[i] = fm_hll_estimate(*(fm_hll **)fm_agg_state(call, entries[i]), precision_of(call));
    return FM_OK;
}

static void fini(const fm_agg_call *call, void *state)
{
    (void)call;
    fm_hll_free(*(fm_hll **)state);
    *(fm_hll **)state = NULL;
}

static fm_status save(const fm_agg_call *call, const void *state, fm_strbuf *out, fm_error *err)
{
    fm_hll_save(*(fm_hll *const *)state, precision_of(call), out);
    return fm_agg_saved(out, err);
}

static fm_status load(const fm_agg_call *call, fm_str bytes, size_t *at, void *state, fm_error *err)
{
    return fm_hll_load(bytes, at, precision_of(call), state, err);
}

static size_t memory(const fm_agg_call *call, const void *state)
{
    (void)call;
    return fm_hll_memory(*(fm_hll *const *)state);
}

const fm_aggregate fm_agg_approx_count_distinct = {
    .name = "approx_count_distinct", .args = {FM_ARG_ANY, FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = 2,
    .returns = fm_type_i64, .bind = bind, .never_null = true, .state_size = state_size, .update = update,
    .merge = merge, .finish = finish, .fini = fini, .save = save, .load = load, .memory = memory,
    .usage = "approx_count_distinct(expr[, relativeSD])", .since = "1.6.0",
    .doc = "Returns how many different values there are, by HyperLogLog++.",
};
