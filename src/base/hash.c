/* base/hash.c: hashes of bytes, by xxHash. */
#include "base/hash.h"

#include <xxhash.h>

uint64_t fm_hash_bytes(const void *bytes, size_t len) { return XXH3_64bits_withSeed(bytes, len, 42); }
uint64_t fm_checksum(const void *bytes, size_t len) { return XXH3_64bits(bytes, len); }
