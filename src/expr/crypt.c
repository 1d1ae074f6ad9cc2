/* expr/crypt.c: digests, MACs and ciphers by OpenSSL's EVP. */
#include "expr/crypt.h"

#include <limits.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"

/* ---- digests ----------------------------------------------------------------------------------------------- */

struct fm_hasher {
    EVP_MD *kind;
    EVP_MD_CTX *context;
};

static fm_status not_available(const char *what, fm_error *err)
{
    return fm_fail(err, FM_UNSUPPORTED, "FLOODMARK_DIGEST_NOT_AVAILABLE",
                   "OpenSSL does not offer %s here; is it configured for FIPS?", what);
}

fm_status fm_hasher_new(const char *name, fm_hasher **out, fm_error *err)
{
    fm_hasher *h = calloc(1, sizeof *h);
    if (!h) return fm_no_memory(NULL, err);
    h->kind = EVP_MD_fetch(NULL, name, NULL);
    h->context = EVP_MD_CTX_new();
    if (!h->kind || !h->context) {
        bool known = h->kind != NULL;
        fm_hasher_free(h);
        return known ? fm_no_memory(NULL, err) : not_available(name, err);
    }
    *out = h;
    return FM_OK;
}

void fm_hasher_free(fm_hasher *h)
{
    if (!h) return;
    EVP_MD_CTX_free(h->context);
    EVP_MD_free(h->kind);
    free(h);
}

fm_status fm_hasher_run(fm_hasher *h, fm_str bytes, unsigned char out[FM_DIGEST_SIZE_MAX], size_t *size, fm_error *err)
{
    unsigned n = 0;
    if (!EVP_DigestInit_ex(h->context, h->kind, NULL) || !EVP_DigestUpdate(h->context, bytes.ptr, bytes.len) ||
        !EVP_DigestFinal_ex(h->context, out, &n))
        return not_available("this digest", err);
    *size = n;
    return FM_OK;
}

fm_status fm_hmac(const char *name, fm_str key, fm_str message, unsigned char out[FM_DIGEST_SIZE_MAX], size_t *size, fm_error *err)
{
    size_t n = 0;
    if (!EVP_Q_mac(NULL, "HMAC", NULL, name, NULL, key.ptr, key.len, (const unsigned char *)(message.ptr ? message.ptr : ""),
                   message.len, out, FM_DIGEST_SIZE_MAX, &n))
        return not_available(name, err);
    *size = n;
    return FM_OK;
}

/* ---- AES --------------------------------------------------------------------------------------------------- */

static const unsigned char *bytes_of(fm_str s) { return (const unsigned char *)(s.ptr ? s.ptr : ""); }

/* A context that is ready to run, or NULL. */
static EVP_CIPHER_CTX *open_cipher(fm_aes_mode mode, fm_str key, const unsigned char *iv, fm_str aad, bool encrypt)
{
    static const char *const modes[] = {"ECB", "CBC", "GCM"};
    char name[16];
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    EVP_CIPHER *cipher;
    int ignored;
    bool ok;
    snprintf(name, sizeof name, "AES-%d-%s", (int)key.len * 8, modes[mode]);
    cipher = EVP_CIPHER_fetch(NULL, name, NULL);
    ok = context && cipher && EVP_CipherInit_ex2(context, cipher, bytes_of(key), iv, encrypt, NULL);
    if (ok && mode == FM_AES_GCM && aad.len) ok = EVP_CipherUpdate(context, NULL, &ignored, bytes_of(aad), (int)aad.len);
    EVP_CIPHER_free(cipher);
    if (ok) return context;
    EVP_CIPHER_CTX_free(context);
    return NULL;
}

fm_status fm_aes_encrypt(fm_aes_mode mode, fm_str key, fm_str iv, fm_str aad, fm_str text, fm_strbuf *out, fm_error *err)
{
    size_t iv_size = fm_aes_iv_size(mode);
    unsigned char drawn[FM_AES_BLOCK_SIZE];
    EVP_CIPHER_CTX *context;
    int n = 0, last = 0;
    bool ok;
    if (text.len > INT_MAX - 64 || aad.len > INT_MAX) return fm_no_memory(NULL, err);
    if (iv_size && !iv.len) {
        if (RAND_bytes(drawn, (int)iv_size) != 1) return not_available("random bytes", err);
        iv = (fm_str){(const char *)drawn, iv_size};
    }
    fm_strbuf_add(out, iv);
    if (!fm_strbuf_reserve(out, text.len + 64)) return fm_no_memory(NULL, err);
    context = open_cipher(mode, key, bytes_of(iv), aad, true);
    if (!context) return not_available("AES", err);
    ok = EVP_CipherUpdate(context, (unsigned char *)out->ptr + out->len, &n, bytes_of(text), (int)text.len) &&
         EVP_CipherFinal_ex(context, (unsigned char *)out->ptr + out->len + n, &last);
    out->len += (size_t)(n + last);
    if (ok && mode == FM_AES_GCM) {
        ok = EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, FM_AES_GCM_TAG_SIZE, out->ptr + out->len);
        out->len += FM_AES_GCM_TAG_SIZE;
    }
    EVP_CIPHER_CTX_free(context);
    return ok ? FM_OK : not_available("AES", err);
}

fm_status fm_aes_decrypt(fm_aes_mode mode, fm_str key, fm_str aad, fm_str bytes, fm_strbuf *out, bool *good, fm_error *err)
{
    size_t iv_size = fm_aes_iv_size(mode), tag_size = mode == FM_AES_GCM ? FM_AES_GCM_TAG_SIZE : 0;
    fm_str iv = {bytes.ptr, iv_size}, text, tag;
    EVP_CIPHER_CTX *context;
    int n = 0, last = 0;
    *good = false;
    if (bytes.len > INT_MAX - 64 || aad.len > INT_MAX || bytes.len < iv_size + tag_size) return FM_OK;
    text = (fm_str){bytes.ptr + iv_size, bytes.len - iv_size - tag_size};
    tag = (fm_str){text.ptr + text.len, tag_size};
    if (!fm_strbuf_reserve(out, text.len + 64)) return fm_no_memory(NULL, err);
    context = open_cipher(mode, key, bytes_of(iv), aad, false);
    if (!context) return not_available("AES", err);
    *good = EVP_CipherUpdate(context, (unsigned char *)out->ptr + out->len, &n, bytes_of(text), (int)text.len) &&
            (!tag_size || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, (int)tag.len, (void *)(uintptr_t)tag.ptr)) &&
            EVP_CipherFinal_ex(context, (unsigned char *)out->ptr + out->len + n, &last);
    if (*good) out->len += (size_t)(n + last);
    EVP_CIPHER_CTX_free(context);
    return FM_OK;
}
