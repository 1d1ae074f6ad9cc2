/* expr/fn_digest.c: md5(x), sha1(x), sha2(x, bits): the only file that includes OpenSSL's digests.
 *
 * Rule   Spark, Md5, Sha1, Sha2: hexadecimal, small letters; 0 bits are 256; other counts than 224, 256, 384 and 512 give null.
 * Cases  tests/golden/functions/digest.test */
#include <openssl/evp.h>

#include "expr/kernel.h"
#include "expr/text.h"

/* One digest of many values. */
typedef struct hasher {
    EVP_MD *kind;
    EVP_MD_CTX *context;
} hasher;

static void hasher_fini(hasher *h)
{
    EVP_MD_CTX_free(h->context);
    EVP_MD_free(h->kind);
    *h = (hasher){0};
}

static fm_status hasher_init(hasher *h, const char *name, fm_call *call)
{
    h->kind = EVP_MD_fetch(NULL, name, NULL);
    h->context = EVP_MD_CTX_new();
    if (h->kind && h->context) return FM_OK;
    if (h->kind) return fm_no_memory(NULL, call->err);
    return fm_fail(call->err, FM_UNSUPPORTED, "FLOODMARK_DIGEST_NOT_AVAILABLE",
                   "OpenSSL does not offer %s here, which %s needs; is it configured for FIPS?", name, call->function->name);
}

/* The digest of bytes as lane i of out. */
static fm_status hash_lane(hasher *h, fm_call *call, fm_vec *out, int32_t i, fm_str bytes)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char digest[EVP_MAX_MD_SIZE];
    char text[2 * EVP_MAX_MD_SIZE];
    unsigned size = 0;
    if (!EVP_DigestInit_ex(h->context, h->kind, NULL) || !EVP_DigestUpdate(h->context, bytes.ptr, bytes.len) ||
        !EVP_DigestFinal_ex(h->context, digest, &size))
        return fm_fail(call->err, FM_UNSUPPORTED, "FLOODMARK_DIGEST_NOT_AVAILABLE", "OpenSSL failed to compute %s.",
                       call->function->name);
    for (unsigned k = 0; k < size; k++) {
        text[2 * k] = digits[digest[k] >> 4];
        text[2 * k + 1] = digits[digest[k] & 15];
    }
    return fm_out_text(call, out, i, (fm_str){text, 2 * (size_t)size});
}

static fm_status digest(fm_call *call, const fm_vec *args, fm_vec *out, const char *name)
{
    hasher h = {0};
    fm_status st = hasher_init(&h, name, call);
    for (int32_t i = 0; i < out->len && st == FM_OK; i++)
        if (!fm_call_lane_null(out, i)) st = hash_lane(&h, call, out, i, fm_vec_str(&args[0], i));
    hasher_fini(&h);
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
    hasher h = {0};
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
            hasher_fini(&h);
            st = hasher_init(&h, sha2_name(bits), call);
            ready = bits;
        }
        if (st == FM_OK) st = hash_lane(&h, call, out, i, fm_vec_str(&args[0], i));
    }
    hasher_fini(&h);
    return st;
}

static fm_status bind_sha2(fm_bind *b, fm_error *err)
{
    (void)err;
    b->returns = fm_type_string();
    b->nullable = true;
    return FM_OK;
}

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
