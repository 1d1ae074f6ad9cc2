/* table/delta/delta_index.h: a hash table from texts to places in an array. Keys are borrowed; memory is on the heap. */
#ifndef FM_TABLE_DELTA_DELTA_INDEX_H
#define FM_TABLE_DELTA_DELTA_INDEX_H

#include "base/status.h"
#include "base/str.h"

typedef struct fm_delta_index {
    struct fm_delta_slot *slots; /* [cap], a power of two; at most half are taken */
    uint32_t cap, used;
} fm_delta_index;

void fm_delta_index_fini(fm_delta_index *index);
/* The place of a key, or -1. */
int32_t fm_delta_index_find(const fm_delta_index *index, fm_str key);
/* Sets the place of a key that stays where it is; -1 takes the key out (its slot stays). */
fm_status fm_delta_index_set(fm_delta_index *index, fm_str key, int32_t place, fm_error *err);

#endif
