/* expr/spark_hash.h: the hashes of values that SQL shows: hash() and xxhash64(), bit for bit as Spark computes
 * them. Not for keys: those are column/key.h and base/hash.h. */
#ifndef FM_EXPR_SPARK_HASH_H
#define FM_EXPR_SPARK_HASH_H

#include "column/vec.h"

enum { FM_SPARK_HASH_SEED = 42 };

/* Lane i under a seed; a null lane gives the seed back, so that columns and nested values are folded. */
int32_t fm_spark_murmur3(const fm_vec *v, int64_t i, int32_t seed);
int64_t fm_spark_xxhash64(const fm_vec *v, int64_t i, int64_t seed);

#endif
