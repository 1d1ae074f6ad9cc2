/* expr/crypt.h: digests, MACs and ciphers; the only door to OpenSSL's EVP. */
#ifndef FM_EXPR_CRYPT_H
#define FM_EXPR_CRYPT_H

#include "base/status.h"
#include "base/str.h"

enum { FM_DIGEST_SIZE_MAX = 64 };

/* A digest by OpenSSL's name: "MD5", "SHA1", "SHA256"; of many values. */
typedef struct fm_hasher fm_hasher;
/* errors  FM_UNSUPPORTED, FLOODMARK_DIGEST_NOT_AVAILABLE: not in this OpenSSL, as under FIPS; FM_LIMIT */
fm_status fm_hasher_new(const char *name, fm_hasher **out, fm_error *err);
void fm_hasher_free(fm_hasher *hasher); /* accepts NULL */
fm_status fm_hasher_run(fm_hasher *hasher, fm_str bytes, unsigned char out[FM_DIGEST_SIZE_MAX], size_t *size, fm_error *err);

/* HMAC of a message under a key that is not empty. name as fm_hasher_new. */
fm_status fm_hmac(const char *name, fm_str key, fm_str message, unsigned char out[FM_DIGEST_SIZE_MAX], size_t *size, fm_error *err);

typedef enum fm_aes_mode { FM_AES_ECB, FM_AES_CBC, FM_AES_GCM } fm_aes_mode;
enum { FM_AES_BLOCK_SIZE = 16, FM_AES_GCM_IV_SIZE = 12, FM_AES_GCM_TAG_SIZE = 16 };
static inline size_t fm_aes_iv_size(fm_aes_mode mode)
{
    return mode == FM_AES_ECB ? 0 : mode == FM_AES_CBC ? FM_AES_BLOCK_SIZE : FM_AES_GCM_IV_SIZE;
}

/* Appends the cipher text: the IV, what ECB and CBC make of the padded text (PKCS#7), or GCM's text and tag.
 * key  16, 24 or 32 bytes. iv  of fm_aes_iv_size, or empty: drawn at random */
fm_status fm_aes_encrypt(fm_aes_mode mode, fm_str key, fm_str iv, fm_str aad, fm_str text, fm_strbuf *out, fm_error *err);
/* The reverse. *good false: the bytes were not made by this key and aad, or are cut. */
fm_status fm_aes_decrypt(fm_aes_mode mode, fm_str key, fm_str aad, fm_str bytes, fm_strbuf *out, bool *good, fm_error *err);

#endif
