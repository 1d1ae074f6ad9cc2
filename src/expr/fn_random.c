/* expr/fn_random.c: rand, randn, uniform, randstr, uuid, monotonically_increasing_id, spark_partition_id.
 *
 * Each call in a tree of operators has a generator of its own, which goes on from batch to batch and begins anew with each
 * micro-batch. Workers are Spark's partitions: the seed is that of the call plus the worker's number.
 *
 * Rule   Spark: the same seed gives the same values. Without one it is drawn when the query starts.
 * Cases  tests/golden/functions/random.test */
#include <stdio.h>

#include "base/hash.h"
#include "expr/call_args.h"
#include "expr/cast.h"
#include "expr/coerce.h"
#include "expr/eval.h"
#include "expr/kernel.h"
#include "expr/mersenne.h"
#include "expr/resolve_text.h"
#include "expr/spark_random.h"
#include "expr/text.h"

/* What bind leaves. */
typedef struct draw {
    bool has_seed;
    int64_t seed;
    double min, max;     /* uniform */
    int32_t len;         /* randstr */
} draw;

/* A call's generator on one worker. */
typedef struct drawing {
    bool begun;
    int64_t batch_id;
    int64_t rows;        /* monotonically_increasing_id */
    fm_spark_random random;
    fm_mersenne *twister; /* uuid */
} drawing;

/* ---- seeds ------------------------------------------------------------------------------------------------- */

static int64_t seed_of(const fm_call *call, const draw *d)
{
    uint64_t x;
    if (d->has_seed) return (int64_t)((uint64_t)d->seed + (uint64_t)call->partition);
    x = fm_hash_u128(call->conf->entropy[0], call->conf->entropy[1]);
    x = fm_hash_u128(x, (uint64_t)call->run->now_us);
    x = fm_hash_u128(x, (uint64_t)call->run->batch_id);
    x = fm_hash_u128(x, (uint64_t)(uintptr_t)call->state); /* which call of which query */
    return (int64_t)x;
}

/* The call's generator; *out NULL with FM_LIMIT. */
static fm_status drawing_of(fm_call *call, drawing **out, bool twister)
{
    drawing *d = *call->state;
    if (!d) *call->state = d = fm_arena_one(call->keep, drawing);
    if (!d) return fm_no_memory(call->keep, call->err);
    if (twister && !d->twister && !(d->twister = fm_arena_one(call->keep, fm_mersenne)))
        return fm_no_memory(call->keep, call->err);
    if (!d->begun || d->batch_id != call->run->batch_id) {
        int64_t seed = call->bound ? seed_of(call, call->bound) : 0;
        d->begun = true;
        d->batch_id = call->run->batch_id;
        d->rows = 0;
        if (twister)
            fm_mersenne_init(d->twister, seed);
        else
            fm_spark_random_init(&d->random, seed);
    }
    *out = d;
    return FM_OK;
}

/* Argument i is a seed, if it is there. */
static fm_status bind_seed(fm_bind *b, int32_t i, draw *d, fm_error *err)
{
    const fm_type *type;
    fm_expr *seed;
    fm_value value;
    if (b->n_args <= i) return FM_OK;
    type = b->args[i]->type;
    if (!fm_type_is_integer(type) && type->id != FM_TYPE_NULL)
        return fm_fail_arg_type(b, i, "(\"INT\" or \"BIGINT\")", err);
    if (!fm_bind_is_constant(b, i))
        return fm_fail_at(err, FM_INVALID, "SEED_EXPRESSION_IS_UNFOLDABLE", b->pos.line, b->pos.column,
                          "The seed of `%.*s` must be constant.", FM_STR_ARG(b->name));
    FM_TRY(fm_expr_cast(b->arena, b->conf, b->args[i], fm_type_i64(), false, false, &seed, err));
    FM_TRY(fm_eval_constant(b->arena, b->conf, seed, &value, err));
    d->has_seed = true;
    if (!fm_vec_is_null(&value, 0)) d->seed = fm_vec_i64(&value)[0];
    return FM_OK;
}

static fm_status bind_draw(fm_bind *b, const fm_type *returns, int32_t seed_at, draw **out, fm_error *err)
{
    draw *d = fm_arena_one(b->arena, draw);
    if (!d) return fm_no_memory(b->arena, err);
    b->returns = returns;
    b->nullable = false;
    b->bound = d;
    *out = d;
    return bind_seed(b, seed_at, d, err);
}

/* ---- rand, randn ------------------------------------------------------------------------------------------- */

static fm_status bind_rand(fm_bind *b, fm_error *err)
{
    draw *d = NULL;
    return bind_draw(b, fm_type_f64(), 0, &d, err);
}

static fm_status rand_kernel(fm_call *call, const fm_vec *args, fm_vec *out)
{
    drawing *d;
    (void)args;
    FM_TRY(drawing_of(call, &d, false));
    for (int32_t i = 0; i < out->len; i++) fm_vec_f64_out(out)[i] = fm_spark_random_f64(&d->random);
    return FM_OK;
}

static fm_status randn(fm_call *call, const fm_vec *args, fm_vec *out)
{
    drawing *d;
    (void)args;
    FM_TRY(drawing_of(call, &d, false));
    for (int32_t i = 0; i < out->len; i++) fm_vec_f64_out(out)[i] = fm_spark_random_gaussian(&d->random);
    return FM_OK;
}

/* ---- uniform ----------------------------------------------------------------------------------------------- */

/* A bound as a double; *null when it is none. */
static fm_status bound_value(fm_bind *b, int32_t i, double *out, bool *null, fm_error *err)
{
    fm_expr *as_double;
    fm_value value;
    if (!fm_bind_is_constant(b, i))
        return fm_fail_bind(b, err, "NON_FOLDABLE_INPUT",
                            "the input `min` and `max` should be a foldable integer or floating-point expression.", NULL, NULL);
    FM_TRY(fm_expr_cast(b->arena, b->conf, b->args[i], fm_type_f64(), false, false, &as_double, err));
    FM_TRY(fm_eval_constant(b->arena, b->conf, as_double, &value, err));
    *null |= fm_vec_is_null(&value, 0);
    if (!fm_vec_is_null(&value, 0)) *out = fm_vec_f64(&value)[0];
    return FM_OK;
}

/* The wider of two integers or of two others; beside one that is not, an integer says nothing. */
static const fm_type *uniform_type(fm_bind *b)
{
    const fm_type *x = b->args[0]->type, *y = b->args[1]->type;
    if (x->id == FM_TYPE_NULL || y->id == FM_TYPE_NULL) return fm_type_null();
    if (fm_type_is_integer(x) && !fm_type_is_integer(y)) return y;
    if (fm_type_is_integer(y) && !fm_type_is_integer(x)) return x;
    if (x->id == FM_TYPE_F64 || y->id == FM_TYPE_F64) return fm_type_f64();
    if (x->id == FM_TYPE_F32 || y->id == FM_TYPE_F32) return fm_type_simple(FM_TYPE_F32);
    return fm_type_common(b->arena, b->conf, x, y);
}

static fm_status bind_uniform(fm_bind *b, fm_error *err)
{
    bool null = false;
    draw *d = NULL;
    for (int32_t i = 0; i < 2; i++)
        if (!fm_type_is_numeric(b->args[i]->type) && b->args[i]->type->id != FM_TYPE_NULL)
            return fm_fail_arg_type(b, i, "\"NUMERIC\"", err);
    FM_TRY(bind_draw(b, uniform_type(b), 2, &d, err));
    FM_TRY(bound_value(b, 0, &d->min, &null, err));
    FM_TRY(bound_value(b, 1, &d->max, &null, err));
    if (null) b->returns = fm_type_null();
    b->nullable = null;
    return FM_OK;
}

static fm_status uniform(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const draw *bounds = call->bound;
    fm_vec values;
    drawing *d;
    (void)args;
    if (out->type->id == FM_TYPE_NULL) return fm_vec_nulls(out, out->type, call->rows, call->arena, call->err);
    FM_TRY(drawing_of(call, &d, false));
    FM_TRY(fm_vec_init(&values, fm_type_f64(), call->rows, call->arena, call->err));
    for (int32_t i = 0; i < call->rows; i++)
        fm_vec_f64_out(&values)[i] = bounds->min + (bounds->max - bounds->min) * fm_spark_random_f64(&d->random);
    return fm_cast_run(&values, out->type, call->ansi ? FM_CAST_ANSI : FM_CAST_LEGACY, call->conf, call->arena, out, call->err);
}

/* ---- randstr ----------------------------------------------------------------------------------------------- */

static fm_status bind_randstr(fm_bind *b, fm_error *err)
{
    fm_value value;
    draw *d = NULL;
    FM_TRY(bind_draw(b, fm_type_string(), 1, &d, err));
    if (!fm_bind_is_constant(b, 0))
        return fm_fail_bind(b, err, "NON_FOLDABLE_INPUT", "the input `length` should be a foldable integer expression.", NULL,
                            NULL);
    FM_TRY(fm_eval_constant_of(b, 0, &value, err));
    if (!fm_vec_is_null(&value, 0)) d->len = fm_vec_i32(&value)[0];
    if (fm_vec_is_null(&value, 0) || d->len < 0)
        return fm_fail_bind(b, err, "VALUE_OUT_OF_RANGE", "The `length` must be between [0, 2147483647].", NULL, NULL);
    return FM_OK;
}

static fm_status randstr(fm_call *call, const fm_vec *args, fm_vec *out)
{
    static const char pool[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    int32_t len = ((const draw *)call->bound)->len;
    drawing *d;
    (void)args;
    FM_TRY(drawing_of(call, &d, false));
    for (int32_t i = 0; i < out->len; i++) {
        fm_status st;
        char *room = fm_out_room(call, (size_t)len, &st);
        if (!room) return st;
        for (int32_t k = 0; k < len; k++) {
            int32_t x = fm_spark_random_i32(&d->random) % 62;
            room[k] = pool[x < 0 ? -x : x];
        }
        fm_out_slice(out, i, (fm_str){room, (size_t)len});
    }
    return FM_OK;
}

/* ---- uuid -------------------------------------------------------------------------------------------------- */

static fm_status bind_uuid(fm_bind *b, fm_error *err)
{
    draw *d = NULL;
    return bind_draw(b, fm_type_string(), 0, &d, err);
}

static fm_status uuid(fm_call *call, const fm_vec *args, fm_vec *out)
{
    enum { UUID_LEN = 36 };
    drawing *d;
    (void)args;
    FM_TRY(drawing_of(call, &d, true));
    for (int32_t i = 0; i < out->len; i++) {
        uint64_t high = (fm_mersenne_u64(d->twister) & UINT64_C(0xFFFFFFFFFFFF0FFF)) | 0x4000; /* version 4 */
        uint64_t low = (fm_mersenne_u64(d->twister) & UINT64_C(0x3FFFFFFFFFFFFFFF)) | UINT64_C(1) << 63; /* variant 1 */
        char text[UUID_LEN + 1];
        snprintf(text, sizeof text, "%08x-%04x-%04x-%04x-%012llx", (unsigned)(high >> 32), (unsigned)(high >> 16 & 0xFFFF),
                 (unsigned)(high & 0xFFFF), (unsigned)(low >> 48), (unsigned long long)(low & UINT64_C(0xFFFFFFFFFFFF)));
        FM_TRY(fm_out_text(call, out, i, (fm_str){text, UUID_LEN}));
    }
    return FM_OK;
}

/* ---- rows and workers -------------------------------------------------------------------------------------- */

static fm_status bind_i64(fm_bind *b, fm_error *err)
{
    (void)err;
    b->returns = fm_type_i64();
    b->nullable = false;
    return FM_OK;
}

/* The worker's number above 33 bits that count its rows of the micro-batch. */
static fm_status monotonically_increasing_id(fm_call *call, const fm_vec *args, fm_vec *out)
{
    drawing *d = NULL;
    (void)args;
    FM_TRY(drawing_of(call, &d, false));
    for (int32_t i = 0; i < out->len; i++) fm_vec_i64_out(out)[i] = ((int64_t)call->partition << 33) + d->rows++;
    return FM_OK;
}

static fm_status bind_i32(fm_bind *b, fm_error *err)
{
    (void)err;
    b->returns = fm_type_i32();
    b->nullable = false;
    return FM_OK;
}

static fm_status spark_partition_id(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)args;
    for (int32_t i = 0; i < out->len; i++) fm_vec_i32_out(out)[i] = call->partition;
    return FM_OK;
}

/* ---- entries ----------------------------------------------------------------------------------------------- */

#define ENTRY(ident, run, ...)                                                                            \
    const fm_function fm_fn_##ident = {.name = #ident, .nulls = FM_NULLS_CUSTOM, .nondeterministic = true, \
                                       .kernel = run, __VA_ARGS__}

ENTRY(rand, rand_kernel, .aliases = {"random"}, .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 0, .args_max = 1,
      .bind = bind_rand, .usage = "rand([seed])", .since = "1.5.0",
      .doc = "Returns a random number, all from 0 up to 1 being equally likely.");
ENTRY(randn, randn, .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 0, .args_max = 1, .bind = bind_rand,
      .usage = "randn([seed])", .since = "1.5.0", .doc = "Returns a random number of the standard normal distribution.");
ENTRY(uniform, uniform, .args = {FM_ARG_ANY, FM_ARG_ANY, FM_ARG_ANY, FM_ARG_END}, .args_min = 2, .args_max = 3,
      .bind = bind_uniform, .can_fail = true, .usage = "uniform(min, max[, seed])", .since = "4.0.0",
      .doc = "Returns a random number between two constant bounds.");
ENTRY(randstr, randstr, .args = {FM_ARG_I32, FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = 2, .bind = bind_randstr,
      .usage = "randstr(length[, seed])", .since = "4.0.0", .doc = "Returns a random text of digits and letters.");
ENTRY(uuid, uuid, .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 0, .args_max = 1, .bind = bind_uuid,
      .usage = "uuid([seed])", .since = "2.3.0", .doc = "Returns a universally unique identifier.");
ENTRY(monotonically_increasing_id, monotonically_increasing_id, .args = {FM_ARG_END}, .args_min = 0, .args_max = 0,
      .bind = bind_i64, .usage = "monotonically_increasing_id()", .since = "1.4.0",
      .doc = "Returns numbers that grow and never come twice in a batch, with gaps between workers.");
ENTRY(spark_partition_id, spark_partition_id, .args = {FM_ARG_END}, .args_min = 0, .args_max = 0, .bind = bind_i32,
      .usage = "spark_partition_id()", .since = "1.4.0", .doc = "Returns the number of the worker that has the row.");
