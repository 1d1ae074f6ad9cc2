/* base/hash.c: hashes of bytes, by XXH3, whose 64-bit values are fixed for good since xxHash 0.8.0. */
#include "base/hash.h"

#define XXH_INLINE_ALL /* keys are short: a call into the library would cost as much as the hash */
#include <xxhash.h>

uint64_t fm_hash_bytes(const void *bytes, size_t len) { return XXH3_64bits_withSeed(bytes, len, 42); }
uint64_t fm_checksum(const void *bytes, size_t len) { return XXH3_64bits(bytes, len); }
uint64_t fm_xxh64(const void *bytes, size_t len, uint64_t seed) { return XXH64(bytes, len, seed); }
