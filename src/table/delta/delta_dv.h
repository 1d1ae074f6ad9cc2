/* table/delta/delta_dv.h: deletion vectors: which rows of a data file are gone.
 *
 * In memory a set of rows is plain bits, one for each row of the data file; on disk a RoaringBitmapArray:
 *     magic 1681511377, u32 | buckets, u64 | for each: key, u32, the high half of its rows, and a 32-bit Roaring bitmap
 * In a file of vectors each stands behind its length and before its CRC-32, both big-endian; in the log it is Z85.
 *
 * Rule  Delta protocol, "Deletion Vectors", "Deletion Vector Format"; the Roaring format specification */
#ifndef FM_TABLE_DELTA_DELTA_DV_H
#define FM_TABLE_DELTA_DELTA_DV_H

#include "table/delta/delta_log.h"

typedef struct fm_delta_rows {
    uint64_t *bits; /* [fm_bit_words(rows)] 1: gone */
    int64_t rows;   /* of the data file */
    int64_t gone;
} fm_delta_rows;

/* The vector of a data file of `rows` rows, in arena. FM_CORRUPT: damaged, or it names rows that the file has not. */
fm_status fm_delta_dv_read(const fm_delta_log *log, const fm_delta_dv *dv, int64_t rows, fm_arena *arena, fm_delta_rows *out, fm_error *err);

/* Writes vectors into one new file in the table's folder, synced, and sets dvs[n], in arena. */
fm_status fm_delta_dv_write(const fm_delta_log *log, const fm_delta_rows *sets, int32_t n, fm_arena *arena, fm_delta_dv *dvs, fm_error *err);

/* Where the file of a vector lies (storage 'u' and 'p'), NUL-terminated in arena. */
fm_status fm_delta_dv_path(const fm_delta_log *log, const fm_delta_dv *dv, fm_arena *arena, fm_str *out, fm_error *err);

/* Bytes <-> set, for tests: what stands between length and CRC. */
void fm_delta_rows_encode(const fm_delta_rows *set, fm_strbuf *out);
fm_status fm_delta_rows_decode(fm_str bytes, fm_delta_rows *set, fm_error *err); /* set->bits zeroed, set->rows given */

/* Z85: 4 bytes are 5 characters. Lengths must fit; false: they don't, or a character is none of the alphabet. */
bool fm_z85_decode(fm_str text, fm_strbuf *out);
void fm_z85_encode(fm_str bytes, fm_strbuf *out); /* len a multiple of 4 */

#endif
