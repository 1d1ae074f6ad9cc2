/* column/key.h: key columns of rows as bytes that are equal iff the keys are the same (fm_vec_same), with
 * their hash. The state store keeps these bytes; from them the key columns are made again.
 *
 * Encoding, column after column: one byte 0 for null, 1 for a value; then the value: fixed width types
 * little-endian in their width (floats normalised: one NaN, no -0.0); strings as u32 length and bytes,
 * but the last column's string goes without its length; LIST as u32 count and elements; STRUCT as its
 * fields; MAP as a LIST of its entries in the order of their keys. Stable: state files hold it.
 *
 * An encoding of up to 15 bytes is inline: compared as two words, no pointer followed. */
#ifndef FM_COLUMN_KEY_H
#define FM_COLUMN_KEY_H

#include "column/batch.h"

enum { FM_KEY_INLINE = 15, FM_KEY_TAG_OUT = 0xFF };

typedef struct fm_key {
    union {
        struct {
            uint64_t lo, hi;
        } w;
        struct {
            unsigned char bytes[FM_KEY_INLINE]; /* beyond the length: zero */
            uint8_t tag;                        /* length 0..15, or FM_KEY_TAG_OUT */
        } in;
        struct {
            const unsigned char *ptr;
            uint32_t len;
            uint8_t pad[3]; /* zero */
            uint8_t tag;    /* FM_KEY_TAG_OUT */
        } out;
    } u;
    uint64_t hash; /* fm_hash_u128 of the words when inline, fm_hash_bytes else */
} fm_key;
_Static_assert(sizeof(fm_key) == 24, "a key is 24 bytes");

static inline bool fm_key_is_inline(const fm_key *k) { return k->u.in.tag != FM_KEY_TAG_OUT; }
static inline fm_str fm_key_bytes(const fm_key *k)
{
    if (fm_key_is_inline(k)) return (fm_str){(const char *)k->u.in.bytes, k->u.in.tag};
    return (fm_str){(const char *)k->u.out.ptr, k->u.out.len};
}
static inline bool fm_key_eq(const fm_key *a, const fm_key *b)
{
    if (fm_key_is_inline(a)) return a->u.w.lo == b->u.w.lo && a->u.w.hi == b->u.w.hi;
    return a->hash == b->hash && fm_str_eq(fm_key_bytes(a), fm_key_bytes(b));
}
/* The virtual shard that owns a key. */
static inline int fm_key_shard(uint64_t hash) { return (int)(hash >> 58); } /* FM_VIRTUAL_SHARDS 64 */

/* keys[rows] of the given columns. Long keys live in arena. n_columns 0: every row has the empty key. */
fm_status fm_keys_encode(const fm_vec *const *columns, int32_t n_columns, int32_t rows,
                         fm_arena *arena, fm_key *keys, fm_error *err);
/* A key from its bytes, as read back from a file; long bytes are pointed at. */
fm_key fm_key_of_bytes(fm_str bytes);
/* The key columns again: out[n_columns] of n lanes each, of types[]; strings copied to arena.
 * FM_CORRUPT when bytes do not parse. */
fm_status fm_keys_decode(const fm_key *keys, int32_t n, const fm_type *const *types,
                         int32_t n_columns, fm_arena *arena, fm_vec *out, fm_error *err);

/* One lane of any type (maps too) as self-delimiting bytes, for state values and files, and back: the
 * lane is appended to `out`, *at is moved past it; FM_CORRUPT when bytes do not parse. */
struct fm_builder;
fm_status fm_lane_encode(const fm_vec *v, int64_t i, fm_strbuf *out, fm_error *err);
fm_status fm_lane_decode(fm_str bytes, size_t *at, struct fm_builder *out, fm_error *err);

#endif
