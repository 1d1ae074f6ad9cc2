/* format/parquet_encode.h: encoders of pages: the reverse of parquet_decode.h, and the dictionary of a chunk. */
#ifndef FM_FORMAT_PARQUET_ENCODE_H
#define FM_FORMAT_PARQUET_ENCODE_H

#include "column/vec.h"
#include "format/parquet_meta.h"

/* Runs of values of `width` bits: repeated ones as runs of one value, others as bits. */
void fm_pq_encode_runs(const uint32_t *values, int64_t n, int32_t width, fm_strbuf *out);
/* The same of levels, and n times one level. */
void fm_pq_encode_levels(const uint8_t *levels, int64_t n, int32_t width, fm_strbuf *out);
void fm_pq_encode_same(uint32_t value, int64_t n, int32_t width, fm_strbuf *out);
/* DELTA_BINARY_PACKED of n little-endian values of 4 or 8 bytes. */
void fm_pq_encode_delta(const void *values, int64_t n, int32_t size, fm_strbuf *out);

/* The distinct values of a chunk, numbered in order of appearance. Values are 4, 8 or 16 bytes, or views; the bytes that views
 * point to are copied. */
typedef struct fm_pq_dictionary {
    fm_arena *arena;      /* of long strings; owned */
    int32_t size;         /* bytes of a value */
    bool views;
    uint8_t *values;      /* [n] */
    uint32_t *hashes;     /* [n] */
    uint32_t n, cap;
    uint32_t *slots;      /* [n_slots] number + 1, or 0 */
    uint32_t n_slots;
    size_t bytes;         /* of its page */
    size_t raw_bytes;     /* of the values that were looked up, in PLAIN */
} fm_pq_dictionary;

bool fm_pq_dictionary_init(fm_pq_dictionary *d, int32_t size, bool views);
void fm_pq_dictionary_clear(fm_pq_dictionary *d);
void fm_pq_dictionary_fini(fm_pq_dictionary *d);
/* The numbers of n values. False: no memory. */
bool fm_pq_dictionary_add(fm_pq_dictionary *d, const void *values, int64_t n, uint32_t *out);

#endif
