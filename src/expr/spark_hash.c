/* expr/spark_hash.c: Murmur3 (32 bits) and xxHash (64 bits) of values.
 *
 * Rule  Spark, HashExpression: BOOLEAN, integers up to INT, DATE and year-month intervals are hashed as 4 bytes, BIGINT,
 *       timestamps and day-time intervals as 8; FLOAT and DOUBLE as their bits, -0.0 as 0.0; DECIMAL of up to 18
 *       digits as its unscaled BIGINT, wider ones as the bytes of the unscaled number, big-endian and as few as hold
 *       it; arrays, maps (key, value, key, ...) and structs fold their parts. Murmur3 here differs from the
 *       published one in its tail: each of the last bytes is mixed in as a word of its own, with its sign. */
#include "expr/spark_hash.h"

#include <math.h>

#include "base/hash.h"

/* ---- The two functions over 4 bytes, 8 bytes, and any number ----------------------------------------------- */

static inline uint32_t rotl32(uint32_t x, int n) { return x << n | x >> (32 - n); }
static inline uint64_t rotl64(uint64_t x, int n) { return x << n | x >> (64 - n); }

static inline uint32_t mix_word(uint32_t h, uint32_t k)
{
    k = rotl32(k * 0xCC9E2D51u, 15) * 0x1B873593u;
    return rotl32(h ^ k, 13) * 5 + 0xE6546B64u;
}

static inline uint32_t finish32(uint32_t h, uint32_t len)
{
    h ^= len;
    h = (h ^ h >> 16) * 0x85EBCA6Bu;
    h = (h ^ h >> 13) * 0xC2B2AE35u;
    return h ^ h >> 16;
}

static uint32_t murmur3_4(uint32_t x, uint32_t seed) { return finish32(mix_word(seed, x), 4); }

static uint32_t murmur3_8(uint64_t x, uint32_t seed)
{
    return finish32(mix_word(mix_word(seed, (uint32_t)x), (uint32_t)(x >> 32)), 8);
}

static uint32_t murmur3_bytes(fm_str bytes, uint32_t seed)
{
    size_t at = 0;
    for (; at + 4 <= bytes.len; at += 4) {
        const unsigned char *p = (const unsigned char *)bytes.ptr + at;
        seed = mix_word(seed, p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
    }
    for (; at < bytes.len; at++) seed = mix_word(seed, (uint32_t)(int32_t)(signed char)bytes.ptr[at]);
    return finish32(seed, (uint32_t)bytes.len);
}

#define P1 UINT64_C(0x9E3779B185EBCA87)
#define P2 UINT64_C(0xC2B2AE3D27D4EB4F)
#define P3 UINT64_C(0x165667B19E3779F9)
#define P4 UINT64_C(0x85EBCA77C2B2AE63)
#define P5 UINT64_C(0x27D4EB2F165667C5)

static inline uint64_t finish64(uint64_t h)
{
    h = (h ^ h >> 33) * P2;
    h = (h ^ h >> 29) * P3;
    return h ^ h >> 32;
}

static uint64_t xx_4(uint32_t x, uint64_t seed)
{
    return finish64(rotl64((seed + P5 + 4) ^ x * P1, 23) * P2 + P3);
}

static uint64_t xx_8(uint64_t x, uint64_t seed)
{
    return finish64(rotl64((seed + P5 + 8) ^ rotl64(x * P2, 31) * P1, 27) * P1 + P4);
}

static uint64_t xx_bytes(fm_str bytes, uint64_t seed)
{
    return fm_xxh64(bytes.len ? bytes.ptr : "", bytes.len, seed);
}

/* ---- Values ------------------------------------------------------------------------------------------------ */

typedef struct hasher {
    bool wide; /* xxHash */
    uint64_t h;
} hasher;

static void add_4(hasher *s, uint32_t x) { s->h = s->wide ? xx_4(x, s->h) : murmur3_4(x, (uint32_t)s->h); }
static void add_8(hasher *s, uint64_t x) { s->h = s->wide ? xx_8(x, s->h) : murmur3_8(x, (uint32_t)s->h); }
static void add_bytes(hasher *s, fm_str x)
{
    s->h = s->wide ? xx_bytes(x, s->h) : murmur3_bytes(x, (uint32_t)s->h);
}

static void add_f32(hasher *s, float x)
{
    uint32_t bits;
    if (x == 0) x = 0; /* -0.0 */
    if (isnan(x)) x = NAN;
    memcpy(&bits, &x, sizeof bits);
    add_4(s, isnan(x) ? 0x7FC00000u : bits);
}

static void add_f64(hasher *s, double x)
{
    uint64_t bits;
    if (x == 0) x = 0;
    memcpy(&bits, &x, sizeof bits);
    add_8(s, isnan(x) ? UINT64_C(0x7FF8000000000000) : bits);
}

/* Big-endian two's complement in as few bytes as hold the sign. */
static void add_wide_decimal(hasher *s, fm_i128 x)
{
    char bytes[16];
    size_t n = 0, skip = 0;
    for (int shift = 120; shift >= 0; shift -= 8) bytes[n++] = (char)(unsigned char)((fm_u128)x >> shift);
    while (skip < 15 && bytes[skip] == (x < 0 ? (char)-1 : 0) && ((signed char)bytes[skip + 1] < 0) == (x < 0)) skip++;
    add_bytes(s, (fm_str){bytes + skip, n - skip});
}

static void add_lane(hasher *s, const fm_vec *v, int64_t i)
{
    if (fm_vec_is_null(v, i)) return;
    switch (v->type->id) {
    case FM_TYPE_BOOL: add_4(s, fm_vec_bool(v)[i]); break;
    case FM_TYPE_I8: add_4(s, (uint32_t)(int32_t)fm_vec_i8(v)[i]); break;
    case FM_TYPE_I16: add_4(s, (uint32_t)(int32_t)fm_vec_i16(v)[i]); break;
    case FM_TYPE_I32:
    case FM_TYPE_DATE:
    case FM_TYPE_INTERVAL_YM: add_4(s, (uint32_t)fm_vec_i32(v)[i]); break;
    case FM_TYPE_F32: add_f32(s, fm_vec_f32(v)[i]); break;
    case FM_TYPE_F64: add_f64(s, fm_vec_f64(v)[i]); break;
    case FM_TYPE_DECIMAL:
        if (v->type->precision <= 18)
            add_8(s, (uint64_t)fm_vec_decimal(v)[i]);
        else
            add_wide_decimal(s, fm_vec_decimal(v)[i]);
        break;
    case FM_TYPE_STRING:
    case FM_TYPE_BINARY: add_bytes(s, fm_vec_str(v, i)); break;
    case FM_TYPE_STRUCT:
        for (int32_t f = 0; f < v->type->n_fields; f++) add_lane(s, &v->children[f], i);
        break;
    case FM_TYPE_LIST:
    case FM_TYPE_MAP:
        for (int32_t k = v->offsets[i]; k < v->offsets[i + 1]; k++)
            for (int32_t f = 0; f < v->type->n_fields; f++) add_lane(s, &v->children[f], k);
        break;
    default: add_8(s, (uint64_t)fm_vec_i64(v)[i]); break;
    }
}

int32_t fm_spark_murmur3(const fm_vec *v, int64_t i, int32_t seed)
{
    hasher s = {false, (uint32_t)seed};
    add_lane(&s, v, i);
    return (int32_t)(uint32_t)s.h;
}

int64_t fm_spark_xxhash64(const fm_vec *v, int64_t i, int64_t seed)
{
    hasher s = {true, (uint64_t)seed};
    add_lane(&s, v, i);
    return (int64_t)s.h;
}
