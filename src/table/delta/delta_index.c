/* table/delta/delta_index.c: open addressing, linear probing. */
#include "table/delta/delta_index.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/hash.h"

struct fm_delta_slot {
    uint64_t hash;
    fm_str key;    /* no ptr: the slot is free */
    int32_t place; /* -1: taken out */
};

void fm_delta_index_fini(fm_delta_index *index)
{
    free(index->slots);
    *index = (fm_delta_index){0};
}

static struct fm_delta_slot *look(const fm_delta_index *index, fm_str key, uint64_t hash)
{
    uint32_t at = (uint32_t)hash & (index->cap - 1);

    while (index->slots[at].key.ptr && !(index->slots[at].hash == hash && fm_str_eq(index->slots[at].key, key))) {
        at = (at + 1) & (index->cap - 1);
    }
    return &index->slots[at];
}

int32_t fm_delta_index_find(const fm_delta_index *index, fm_str key)
{
    if (index->cap == 0) return -1;
    const struct fm_delta_slot *slot = look(index, key, fm_hash_bytes(key.ptr, key.len));
    return slot->key.ptr ? slot->place : -1;
}

static fm_status grow(fm_delta_index *index, fm_error *err)
{
    fm_delta_index more = {.cap = index->cap ? index->cap * 2 : 64};

    if (index->cap >= UINT32_C(1) << 30) return fm_fail(err, FM_LIMIT, "FLOODMARK_LIMIT", "A Delta table with more than %u files.", index->used);
    more.slots = calloc(more.cap, sizeof *more.slots);
    if (!more.slots) return fm_no_memory(NULL, err);
    for (uint32_t i = 0; i < index->cap; i++) {
        if (!index->slots[i].key.ptr || index->slots[i].place < 0) continue;
        *look(&more, index->slots[i].key, index->slots[i].hash) = index->slots[i];
        more.used++;
    }
    free(index->slots);
    *index = more;
    return FM_OK;
}

fm_status fm_delta_index_set(fm_delta_index *index, fm_str key, int32_t place, fm_error *err)
{
    uint64_t hash = fm_hash_bytes(key.ptr, key.len);

    fm_assert(key.ptr);
    if (index->used * 2 >= index->cap) FM_TRY(grow(index, err));
    struct fm_delta_slot *slot = look(index, key, hash);
    if (!slot->key.ptr) {
        if (place < 0) return FM_OK;
        index->used++;
        slot->hash = hash;
    }
    slot->key = key;
    slot->place = place;
    return FM_OK;
}
