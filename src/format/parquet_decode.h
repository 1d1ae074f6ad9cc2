/* format/parquet_decode.h: decoders of pages: runs of small integers, and values by their encoding.
 *
 * All buffers given to them are followed by FM_BLOCK_PADDING readable bytes, so that whole words may be loaded; what a
 * decoder takes is checked against the real end. A decoder keeps its first failure: it says false from then on. */
#ifndef FM_FORMAT_PARQUET_DECODE_H
#define FM_FORMAT_PARQUET_DECODE_H

#include "format/parquet_impl.h"

/* ---- parquet_levels.c: RLE and bit-packed runs -------------------------------------------------------------- */

/*     run     varint n << 1, the value in whole bytes          n times that value
 *             varint g << 1 | 1, g * width bytes               g groups of 8 values of `width` bits, lowest bit first */
typedef struct fm_pq_runs {
    const uint8_t *at, *end;
    int32_t width;     /* bits of a value, 0..32 */
    int64_t left;      /* values of the run that are not taken yet */
    bool packed;
    uint32_t value;    /* of a run of one value */
    uint64_t bit;      /* packed: where the next value begins, from `at` on */
    const uint8_t *next; /* behind the run */
} fm_pq_runs;

void fm_pq_runs_init(fm_pq_runs *r, const uint8_t *bytes, size_t size, int32_t width);
bool fm_pq_runs_u32(fm_pq_runs *r, uint32_t *out, int64_t n);
bool fm_pq_runs_u8(fm_pq_runs *r, uint8_t *out, int64_t n); /* width <= 8 */

/* out[n] of `width` bits (1..64) from bit `bit` of bytes on, lowest bit first. */
void fm_pq_unpack_u32(const uint8_t *bytes, uint64_t bit, int32_t width, uint32_t *out, int64_t n);
void fm_pq_unpack_u64(const uint8_t *bytes, uint64_t bit, int32_t width, uint64_t *out, int64_t n);
/* Levels of the oldest kind: highest bit first. False: too few bytes. */
bool fm_pq_unpack_msb(const uint8_t *bytes, size_t size, int32_t width, uint8_t *out, int64_t n);
/* Bits of the largest value. */
static inline int32_t fm_pq_bits_of(uint32_t max) { return max ? 32 - __builtin_clz(max) : 0; }

/* ---- parquet_decode.c: values ------------------------------------------------------------------------------- */

/* DELTA_BINARY_PACKED */
typedef struct fm_pq_delta {
    const uint8_t *at, *end;
    int64_t total;     /* values of the stream */
    int64_t left;      /* not taken yet */
    uint64_t last;     /* value taken last */
    bool first;        /* the first value stands in the header */
    uint64_t min_delta;
    int32_t block, minis, per_mini;
    const uint8_t *widths; /* of the block */
    int32_t mini;      /* the one being read */
    int32_t mini_left;
    uint64_t bit;      /* in it */
    const uint8_t *mini_at;
} fm_pq_delta;
bool fm_pq_delta_init(fm_pq_delta *d, const uint8_t *bytes, size_t size);
bool fm_pq_delta_read(fm_pq_delta *d, uint64_t *out, int64_t n);
/* Where the stream ends, once all of it was read. */
const uint8_t *fm_pq_delta_end(const fm_pq_delta *d);

/* Values of a page, before they are converted. Zero it first; it keeps its memory from page to page. */
typedef struct fm_pq_values {
    int32_t encoding;
    int32_t type, raw_size; /* physical */
    const uint8_t *at, *end;
    int64_t pos;            /* values taken: BYTE_STREAM_SPLIT, booleans, strings of delta encodings */
    fm_pq_runs runs;        /* dictionary indexes, booleans */
    fm_pq_delta delta;
    fm_view *views;         /* [n_views] the strings of a page of a delta encoding */
    int64_t n_views;
    char *text;             /* what they point to, for DELTA_BYTE_ARRAY */
    void *scratch;          /* [scratch_size] values that do not lie in the page as they are */
    size_t scratch_size;
} fm_pq_values;
void fm_pq_values_fini(fm_pq_values *v);

/* Starts a page. values: how many there are at most. keep_text: hand the text of strings over instead of reusing it; its
 * receiver frees it. FM_UNSUPPORTED: encodings that do not go with the type; FM_CORRUPT; FM_LIMIT. The error lacks a place. */
fm_status fm_pq_values_start(fm_pq_values *v, const fm_pq_element *e, int32_t encoding, const uint8_t *bytes, size_t size,
                             int64_t values, char **old_text, fm_error *err);
/* The next n values, raw[n] of raw_size bytes, in the page or in scratch; false: there are fewer, or no memory. Not for
 * dictionary indexes: those are taken from `runs`. */
bool fm_pq_values_next(fm_pq_values *v, int64_t n, const void **raw);

#endif
