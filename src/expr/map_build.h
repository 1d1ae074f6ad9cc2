/* expr/map_build.h: maps made of keys and values: the checks that every function that makes a map shares. */
#ifndef FM_EXPR_MAP_BUILD_H
#define FM_EXPR_MAP_BUILD_H

#include "expr/function.h"

/* Sets *out (its type is a MAP, len lanes) from flat keys and values: lane i has [offsets[i], offsets[i + 1]) of both,
 * offsets[0] 0; null lanes (validity, may be NULL) are empty. A key that stands twice fails, or the last value stays at
 * the first place (spark.sql.mapKeyDedupPolicy LAST_WIN).
 * Errors: NULL_MAP_KEY, DUPLICATED_MAP_KEY. */
fm_status fm_map_build(fm_call *call, const fm_vec *keys, const fm_vec *values, const int32_t *offsets,
                       const uint64_t *validity, fm_vec *out);
/* int32[len + 1] for that, zeroed. NULL: out of memory. */
int32_t *fm_map_offsets(fm_call *call, int32_t len);
/* The type of a map's keys must have equality and hold no map: DATATYPE_MISMATCH.INVALID_MAP_KEY_TYPE. */
fm_status fm_bind_map_type(fm_bind *b, const fm_type *key, const fm_type *value, bool value_nullable, const fm_type **out,
                           fm_error *err);

#endif
