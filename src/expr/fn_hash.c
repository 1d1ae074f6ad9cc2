/* expr/fn_hash.c: hash(...), xxhash64(...), crc32(x).
 *
 * Rule   Spark, Murmur3Hash and XxHash64 with seed 42; nulls are passed over; maps have no hash.
 * Cases  tests/golden/functions/hash.test */
#include "expr/resolve_text.h"
#include "expr/spark_hash.h"
#include "expr/text.h"

static fm_status bind_hash(fm_bind *b, fm_error *err)
{
    b->nullable = false;
    for (int32_t i = 0; i < b->n_args; i++)
        if (fm_type_holds_map(b->args[i]->type))
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

/* The CRC-32 of zlib and Ethernet: reflected polynomial 0xEDB88320, four bits at a time. */
static uint32_t crc32_of(fm_str x)
{
    static const uint32_t table[16] = {
        0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
        0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
    };
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < x.len; i++) {
        crc ^= (unsigned char)x.ptr[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

static fm_status crc32(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    for (int32_t i = 0; i < out->len; i++)
        fm_vec_i64_out(out)[i] = crc32_of(fm_vec_str(&args[0], i));
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
    .returns = fm_type_i64, .kernel = crc32, .nulls = FM_NULLS_STRICT, .usage = "crc32(x)",
    .doc = "Returns the CRC-32 of the bytes.", .since = "1.5.0",
};
