/* expr/fn_digest.c: md5(x), sha1(x), sha2(x, bits), hmac(key, message[, algorithm]).
 *
 * Rule   Spark, Md5, Sha1, Sha2: hexadecimal, small letters; 0 bits are 256; other counts than 224, 256, 384 and 512 give null.
 * Cases  tests/golden/functions/digest.test, crypt.test */
#include "expr/crypt.h"
#include "expr/kernel.h"
#include "expr/text.h"

/* ---- md5, sha, sha2 ---------------------------------------------------------------------------------------- */

/* The digest of bytes as lane i of out. */
static fm_status hash_lane(fm_hasher *h, fm_call *call, fm_vec *out, int32_t i, fm_str bytes)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char digest[FM_DIGEST_SIZE_MAX];
    char text[2 * FM_DIGEST_SIZE_MAX];
    size_t size = 0;
    FM_TRY(fm_hasher_run(h, bytes, digest, &size, call->err));
    for (size_t k = 0; k < size; k++) {
        text[2 * k] = digits[digest[k] >> 4];
        text[2 * k + 1] = digits[digest[k] & 15];
    }
    return fm_out_text(call, out, i, (fm_str){text, 2 * size});
}

static fm_status digest(fm_call *call, const fm_vec *args, fm_vec *out, const char *name)
{
    fm_hasher *h = NULL;
    fm_status st = fm_hasher_new(name, &h, call->err);
    for (int32_t i = 0; i < out->len && st == FM_OK; i++)
        if (!fm_call_lane_null(out, i)) st = hash_lane(h, call, out, i, fm_vec_str(&args[0], i));
    fm_hasher_free(h);
    return st;
}

static fm_status md5(fm_call *call, const fm_vec *args, fm_vec *out) { return digest(call, args, out, "MD5"); }
static fm_status sha1(fm_call *call, const fm_vec *args, fm_vec *out) { return digest(call, args, out, "SHA1"); }

static const char *sha2_name(int32_t bits)
{
    switch (bits) {
    case 224: return "SHA224";
    case 0:
    case 256: return "SHA256";
    case 384: return "SHA384";
    case 512: return "SHA512";
    default: return NULL;
    }
}

static fm_status sha2(fm_call *call, const fm_vec *args, fm_vec *out)
{
    uint64_t *own = NULL;
    fm_hasher *h = NULL;
    int32_t ready = -1; /* bits h is for */
    fm_status st = FM_OK;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        int32_t bits = fm_vec_i32(&args[1])[i];
        if (fm_call_lane_null(out, i)) continue;
        if (!sha2_name(bits)) {
            st = fm_out_null(call, out, &own, i);
            continue;
        }
        if (bits != ready) {
            fm_hasher_free(h);
            h = NULL;
            st = fm_hasher_new(sha2_name(bits), &h, call->err);
            ready = bits;
        }
        if (st == FM_OK) st = hash_lane(h, call, out, i, fm_vec_str(&args[0], i));
    }
    fm_hasher_free(h);
    return st;
}

static fm_status bind_sha2(fm_bind *b, fm_error *err)
{
    (void)err;
    b->returns = fm_type_string();
    b->nullable = true;
    return FM_OK;
}

/* ---- hmac -------------------------------------------------------------------------------------------------- */

static const char *algorithm_of(fm_str name)
{
    static const char *const algorithms[][2] = {{"SHA-224", "SHA224"}, {"SHA-256", "SHA256"}, {"SHA-384", "SHA384"},
                                                {"SHA-512", "SHA512"}, {"SHA-1", "SHA1"},     {"MD5", "MD5"}};
    for (size_t i = 0; i < sizeof algorithms / sizeof algorithms[0]; i++)
        if (fm_str_eq_ci(name, fm_str_c(algorithms[i][0]))) return algorithms[i][1];
    return NULL;
}

static fm_status hmac(fm_call *call, const fm_vec *args, fm_vec *out)
{
    for (int32_t i = 0; i < out->len; i++) {
        fm_str name = call->expr->n_args > 2 ? fm_vec_str(&args[2], i) : FM_STR("SHA-256"), key = fm_vec_str(&args[0], i);
        unsigned char mac[FM_DIGEST_SIZE_MAX];
        size_t size = 0;
        if (fm_call_lane_null(out, i)) continue;
        if (!algorithm_of(name))
            return fm_fail(call->err, FM_INVALID, "INVALID_PARAMETER_VALUE.HMAC_ALGORITHM",
                           "The value of parameter(s) `algorithm` in `hmac` is invalid: expects one of the algorithms 'SHA-224', "
                           "'SHA-256', 'SHA-384', 'SHA-512', 'SHA-1', 'MD5', but got '%.*s'.", FM_STR_ARG(name));
        if (!key.len)
            return fm_fail(call->err, FM_INVALID, "INVALID_PARAMETER_VALUE.HMAC_CRYPTO_ERROR",
                           "The value of parameter(s) `key` in `hmac` is invalid: detail message: Empty key");
        FM_TRY(fm_hmac(algorithm_of(name), key, fm_vec_str(&args[1], i), mac, &size, call->err));
        FM_TRY(fm_out_text(call, out, i, (fm_str){(const char *)mac, size}));
    }
    return FM_OK;
}

static const fm_type *binary(void) { return fm_type_simple(FM_TYPE_BINARY); }

/* ---- entries ----------------------------------------------------------------------------------------------- */

const fm_function fm_fn_md5 = {
    .name = "md5", .args = {FM_ARG_BINARY, FM_ARG_END}, .args_min = 1, .args_max = 1, .returns = fm_type_string,
    .kernel = md5, .nulls = FM_NULLS_STRICT, .usage = "md5(expr)", .since = "1.5.0",
    .doc = "Returns the MD5 digest in hexadecimal.",
};

const fm_function fm_fn_sha = {
    .name = "sha", .aliases = {"sha1"}, .args = {FM_ARG_BINARY, FM_ARG_END}, .args_min = 1, .args_max = 1,
    .returns = fm_type_string, .kernel = sha1, .nulls = FM_NULLS_STRICT, .usage = "sha(expr)", .since = "1.5.0",
    .doc = "Returns the SHA-1 digest in hexadecimal.",
};

const fm_function fm_fn_sha2 = {
    .name = "sha2", .args = {FM_ARG_BINARY, FM_ARG_I32, FM_ARG_END}, .args_min = 2, .args_max = 2, .bind = bind_sha2,
    .kernel = sha2, .nulls = FM_NULLS_STRICT, .usage = "sha2(expr, bitLength)", .since = "1.5.0",
    .doc = "Returns the SHA-2 digest of bitLength bits in hexadecimal.",
};

const fm_function fm_fn_hmac = {
    .name = "hmac", .args = {FM_ARG_BINARY, FM_ARG_BINARY, FM_ARG_STRING, FM_ARG_END}, .args_min = 2, .args_max = 3,
    .returns = binary, .kernel = hmac, .nulls = FM_NULLS_STRICT, .can_fail = true,
    .usage = "hmac(key, message[, algorithm])", .shown = {NULL, NULL, "SHA-256"}, .since = "4.3.0",
    .doc = "Returns the keyed digest of a message, by SHA-256 unless told otherwise.",
};
