/* base/hash.h: the hash of keys, and checksums of what is written to disk. */
#ifndef FM_BASE_HASH_H
#define FM_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Folds a 64x64 -> 128 bit product: the mixing step of wyhash-like functions. */
static inline uint64_t fm_hash_mix(uint64_t a, uint64_t b)
{
    unsigned __int128 p = (unsigned __int128)a * b;
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

/* Hash of two words, as of an inline key of 16 bytes. Stable: state files depend on it. */
static inline uint64_t fm_hash_u128(uint64_t lo, uint64_t hi)
{
    return fm_hash_mix(lo ^ UINT64_C(0x9E3779B97F4A7C15), hi ^ UINT64_C(0xD6E8FEB86659FD93));
}

static inline uint64_t fm_hash_u64(uint64_t x) { return fm_hash_u128(x, UINT64_C(0xA0761D6478BD642F)); }

/* Hash of bytes; stable over versions and machines: state files depend on it. */
uint64_t fm_hash_bytes(const void *bytes, size_t len);

/* XXH64 of bytes: what the SQL function xxhash64 is made of. */
uint64_t fm_xxh64(const void *bytes, size_t len, uint64_t seed);

/* XXH3-64 of bytes: the checksum in our files. */
uint64_t fm_checksum(const void *bytes, size_t len);

#endif
