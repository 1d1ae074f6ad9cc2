/* expr/fn_aes.c: aes_encrypt(x, key[, mode[, padding[, iv[, aad]]]]), aes_decrypt(x, key[, mode[, padding[, aad]]]), try_aes_decrypt.
 *
 * Rule   Spark: ECB and CBC with PKCS padding, GCM with none; the IV stands before the cipher text, and is drawn where
 *        none is given.
 * Cases  tests/golden/functions/crypt.test */
#include "expr/crypt.h"
#include "expr/kernel.h"
#include "expr/text.h"

static fm_str arg_at(const fm_call *call, const fm_vec *args, int a, int32_t i, fm_str absent)
{
    return a < call->expr->n_args ? fm_vec_str(&args[a], i) : absent;
}

static fm_status mode_of(fm_call *call, fm_str mode, fm_str padding, fm_aes_mode *out)
{
    bool standard = fm_str_eq_ci(padding, FM_STR("DEFAULT")), pkcs = standard || fm_str_eq_ci(padding, FM_STR("PKCS"));
    bool none = standard || fm_str_eq_ci(padding, FM_STR("NONE"));
    if (fm_str_eq_ci(mode, FM_STR("ECB")) && pkcs) *out = FM_AES_ECB;
    else if (fm_str_eq_ci(mode, FM_STR("CBC")) && pkcs) *out = FM_AES_CBC;
    else if (fm_str_eq_ci(mode, FM_STR("GCM")) && none) *out = FM_AES_GCM;
    else
        return fm_fail(call->err, FM_INVALID, "UNSUPPORTED_FEATURE.AES_MODE",
                       "The feature is not supported: AES-%.*s with the padding %.*s by the `aes_encrypt`/`aes_decrypt` function.",
                       FM_STR_ARG(mode), FM_STR_ARG(padding));
    return FM_OK;
}

static fm_status check_key(fm_call *call, fm_str key)
{
    if (key.len == 16 || key.len == 24 || key.len == 32) return FM_OK;
    return fm_fail(call->err, FM_INVALID, "INVALID_PARAMETER_VALUE.AES_KEY_LENGTH",
                   "The value of parameter(s) `key` in `aes_encrypt`/`aes_decrypt` is invalid: expects a binary value with 16, 24 or "
                   "32 bytes, but got %zu bytes.", key.len);
}

static const char *name_of(fm_aes_mode mode) { return mode == FM_AES_ECB ? "ECB" : mode == FM_AES_CBC ? "CBC" : "GCM"; }

static fm_status check_aad(fm_call *call, fm_aes_mode mode, fm_str aad)
{
    if (!aad.len || mode == FM_AES_GCM) return FM_OK;
    return fm_fail(call->err, FM_INVALID, "UNSUPPORTED_FEATURE.AES_MODE_AAD",
                   "The feature is not supported: `%s` with AES-%s does not support additional authenticate data (AAD).",
                   call->function->name, name_of(mode));
}

static fm_status check_iv(fm_call *call, fm_aes_mode mode, fm_str iv)
{
    if (!iv.len || iv.len == fm_aes_iv_size(mode)) return FM_OK;
    if (mode == FM_AES_ECB)
        return fm_fail(call->err, FM_INVALID, "UNSUPPORTED_FEATURE.AES_MODE_IV",
                       "The feature is not supported: `aes_encrypt` with AES-ECB does not support initialization vectors (IVs).");
    return fm_fail(call->err, FM_INVALID, "INVALID_PARAMETER_VALUE.AES_IV_LENGTH",
                   "The value of parameter(s) `iv` in `aes_encrypt`/`aes_decrypt` is invalid: supports 16-byte CBC IVs and 12-byte "
                   "GCM IVs, but got %zu bytes for %s.", iv.len, name_of(mode));
}

static fm_status aes_encrypt(fm_call *call, const fm_vec *args, fm_vec *out)
{
    fm_strbuf buf = {0};
    fm_status st = FM_OK;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        fm_str key = fm_vec_str(&args[1], i), iv = arg_at(call, args, 4, i, FM_STR("")), aad = arg_at(call, args, 5, i, FM_STR(""));
        fm_aes_mode mode = FM_AES_GCM;
        if (fm_call_lane_null(out, i)) continue;
        st = mode_of(call, arg_at(call, args, 2, i, FM_STR("GCM")), arg_at(call, args, 3, i, FM_STR("DEFAULT")), &mode);
        if (st == FM_OK) st = check_key(call, key);
        if (st == FM_OK) st = check_iv(call, mode, iv);
        if (st == FM_OK) st = check_aad(call, mode, aad);
        if (st == FM_OK) st = fm_aes_encrypt(mode, key, iv, aad, fm_vec_str(&args[0], i), &buf, call->err);
        if (st == FM_OK) st = fm_out_buffer(call, out, i, &buf);
    }
    fm_strbuf_fini(&buf);
    return st;
}

/* *good false: not made by this key. Failures of another kind are given as such. */
static fm_status decrypt_lane(fm_call *call, const fm_vec *args, int32_t i, fm_strbuf *buf, bool *good)
{
    fm_str key = fm_vec_str(&args[1], i), aad = arg_at(call, args, 4, i, FM_STR(""));
    fm_aes_mode mode = FM_AES_GCM;
    FM_TRY(mode_of(call, arg_at(call, args, 2, i, FM_STR("GCM")), arg_at(call, args, 3, i, FM_STR("DEFAULT")), &mode));
    FM_TRY(check_key(call, key));
    FM_TRY(check_aad(call, mode, aad));
    return fm_aes_decrypt(mode, key, aad, fm_vec_str(&args[0], i), buf, good, call->err);
}

static fm_status decrypt_lanes(fm_call *call, const fm_vec *args, fm_vec *out, bool try)
{
    fm_strbuf buf = {0};
    uint64_t *own = NULL;
    fm_status st = FM_OK;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        bool good = false;
        if (fm_call_lane_null(out, i)) continue;
        st = decrypt_lane(call, args, i, &buf, &good);
        if (try && st == FM_INVALID) st = FM_OK;
        if (st != FM_OK) break;
        if (good) {
            st = fm_out_buffer(call, out, i, &buf);
        } else if (try) {
            fm_strbuf_clear(&buf);
            st = fm_out_null(call, out, &own, i);
        } else {
            st = fm_fail(call->err, FM_INVALID, "INVALID_PARAMETER_VALUE.AES_CRYPTO_ERROR",
                         "The value of parameter(s) `expr`, `key` in `aes_encrypt`/`aes_decrypt` is invalid: the bytes were not "
                         "encrypted with this key, mode and additional data, or are not whole.");
        }
    }
    fm_strbuf_fini(&buf);
    return st;
}

static fm_status aes_decrypt(fm_call *call, const fm_vec *args, fm_vec *out) { return decrypt_lanes(call, args, out, false); }
static fm_status try_aes_decrypt(fm_call *call, const fm_vec *args, fm_vec *out) { return decrypt_lanes(call, args, out, true); }

static fm_status bind_bytes(fm_bind *b, fm_error *err)
{
    (void)err;
    b->returns = fm_type_simple(FM_TYPE_BINARY);
    b->nullable = true;
    return FM_OK;
}

#define ENTRY(ident, ...)                                                                                         \
    const fm_function fm_fn_##ident = {.name = #ident, .args_min = 2, .bind = bind_bytes, .kernel = ident,        \
                                       .nulls = FM_NULLS_STRICT, .can_fail = true, __VA_ARGS__}

ENTRY(aes_encrypt, .args = {FM_ARG_BINARY, FM_ARG_BINARY, FM_ARG_STRING, FM_ARG_STRING, FM_ARG_BINARY, FM_ARG_BINARY, FM_ARG_END},
      .args_max = 6, .usage = "aes_encrypt(expr, key[, mode[, padding[, iv[, aad]]]])",
      .shown = {NULL, NULL, "GCM", "DEFAULT", "", ""}, .since = "3.3.0",
      .doc = "Encrypts bytes by AES in the mode ECB, CBC or GCM.");
ENTRY(aes_decrypt, .args = {FM_ARG_BINARY, FM_ARG_BINARY, FM_ARG_STRING, FM_ARG_STRING, FM_ARG_BINARY, FM_ARG_END}, .args_max = 5,
      .usage = "aes_decrypt(expr, key[, mode[, padding[, aad]]])", .shown = {NULL, NULL, "GCM", "DEFAULT", ""},
      .since = "3.3.0", .doc = "Decrypts what aes_encrypt gave.");
ENTRY(try_aes_decrypt, .args = {FM_ARG_BINARY, FM_ARG_BINARY, FM_ARG_STRING, FM_ARG_STRING, FM_ARG_BINARY, FM_ARG_END},
      .args_max = 5, .usage = "try_aes_decrypt(expr, key[, mode[, padding[, aad]]])",
      .shown = {NULL, NULL, "GCM", "DEFAULT", ""}, .since = "3.5.0", .doc = "As aes_decrypt, null where that would fail.");
