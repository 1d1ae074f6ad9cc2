/* format/parquet_prune.h: which rows of a row group conditions leave. */
#ifndef FM_FORMAT_PARQUET_PRUNE_H
#define FM_FORMAT_PARQUET_PRUNE_H

#include "format/parquet_nest.h"

/* Rows [from, to) of a row group. */
typedef struct fm_pq_range {
    int64_t from, to;
} fm_pq_range;

/* Fills *out [*n], rising and apart; n 0: no row can meet the conditions. By statistics, Bloom filters, page index; what is
 * damaged among them prunes nothing. Memory is arena's. want [spec->schema->n_fields]. */
fm_status fm_pq_prune(const fm_parquet_file *file, int32_t group, const fm_parquet_read *spec, const fm_pq_want *want, fm_arena *arena,
                      fm_pq_range **out, int32_t *n, fm_error *err);
/* Where the pages of a chunk stand, or *out NULL when the file does not say, or not credibly. */
fm_status fm_pq_locations(const fm_parquet_file *file, int32_t group, const fm_pq_leaf *leaf, fm_arena *arena, fm_pq_location **out,
                          int32_t *n, fm_error *err);

/* XXH64 of a lane as Bloom filters hash it: of its PLAIN bytes. False: the type is not one that they hold. */
bool fm_pq_bloom_hash(const fm_pq_element *e, const fm_vec *value, int64_t i, uint64_t *out);
/* The eight bits that a hash sets in its block of 32 bytes. */
uint32_t fm_pq_bloom_bit(uint64_t hash, int32_t word);
static inline size_t fm_pq_bloom_block(uint64_t hash, size_t blocks) { return (size_t)((hash >> 32) * blocks >> 32); }

#endif
