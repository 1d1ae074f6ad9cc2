/* expr/fn_hash.c: hash(...), xxhash64(...), crc32(x).
 *
 * Rule   Spark, Murmur3Hash and XxHash64 with seed 42; nulls are passed over; maps have no hash.
 * Cases  tests/golden/functions/hash.test */
#include <zlib.h>

#include "expr/resolve_text.h"
#include "expr/spark_hash.h"
#include "expr/text.h"

static bool has_map(const fm_type *t)
{
    if (t->id == FM_TYPE_MAP) return true;
    for (int32_t i = 0; i < t->n_fields; i++)
        if (has_map(t->fields[i].type)) return true;
    return false;
}

static fm_status bind_hash(fm_bind *b, fm_error *err)
{
    b->nullable = false;
    for (int32_t i = 0; i < b->n_args; i++)
        if (has_map(b->args[i]->type))
            return fm_fail_bind(b, err, "HASH_MAP_TYPE",
                                "Input to the function cannot contain elements of the \"MAP\" type, but it has the "
                                "type %s.", b->args[i]->type, NULL);
    return FM_OK;
}

static fm_status hash(fm_call *call, const fm_vec *args, fm_vec *out)
{
    for (int32_t i = 0; i < out->len; i++) {
        int32_t h = FM_SPARK_HASH_SEED;
        for (int32_t a = 0; a < call->expr->n_args; a++) h = fm_spark_murmur3(&args[a], i, h);
        fm_vec_i32_out(out)[i] = h;
    }
    return FM_OK;
}

static fm_status xxhash64(fm_call *call, const fm_vec *args, fm_vec *out)
{
    for (int32_t i = 0; i < out->len; i++) {
        int64_t h = FM_SPARK_HASH_SEED;
        for (int32_t a = 0; a < call->expr->n_args; a++) h = fm_spark_xxhash64(&args[a], i, h);
        fm_vec_i64_out(out)[i] = h;
    }
    return FM_OK;
}

static fm_status crc32_lanes(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    for (int32_t i = 0; i < out->len; i++) {
        fm_str x = fm_vec_str(&args[0], i);
        fm_vec_i64_out(out)[i] = (int64_t)crc32_z(crc32_z(0, NULL, 0), (const Bytef *)x.ptr, x.len);
    }
    return FM_OK;
}

const fm_function fm_fn_hash = {
    .name = "hash", .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = -1, .returns = fm_type_i32,
    .bind = bind_hash, .kernel = hash, .nulls = FM_NULLS_CUSTOM, .usage = "hash(a, b, ...)",
    .doc = "Returns the 32-bit Murmur3 hash of the arguments.", .since = "2.0.0",
};

const fm_function fm_fn_xxhash64 = {
    .name = "xxhash64", .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = -1,
    .returns = fm_type_i64, .bind = bind_hash, .kernel = xxhash64, .nulls = FM_NULLS_CUSTOM,
    .usage = "xxhash64(a, b, ...)", .doc = "Returns the 64-bit xxHash of the arguments.", .since = "3.0.0",
};

const fm_function fm_fn_crc32 = {
    .name = "crc32", .args = {FM_ARG_BINARY, FM_ARG_END}, .args_min = 1, .args_max = 1,
    .returns = fm_type_i64, .kernel = crc32_lanes, .nulls = FM_NULLS_STRICT, .usage = "crc32(x)",
    .doc = "Returns the CRC-32 of the bytes.", .since = "1.5.0",
};
