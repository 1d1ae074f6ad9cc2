/* expr/lane_set.c: lanes found again by value: a table of their places, open addressing. */
#include "expr/lane_set.h"

#include "expr/spark_hash.h"

fm_status fm_lane_set_begin(fm_lane_set *set, fm_arena *arena, int32_t n, fm_error *err)
{
    uint64_t want = fm_pow2_at_least(2 * ((uint64_t)n + 1));
    if (want > set->cap) {
        set->slots = fm_arena_alloc(arena, want * sizeof *set->slots, _Alignof(fm_lane_slot));
        if (!set->slots) return fm_no_memory(arena, err);
        set->cap = (uint32_t)want;
    }
    set->n_slots = (uint32_t)want;
    memset(set->slots, 0, want * sizeof *set->slots);
    return FM_OK;
}

/* The slot where the lane is, or where it goes. */
static fm_lane_slot *slot_of(const fm_lane_set *set, const fm_vec *v, int32_t i, uint32_t *hash)
{
    uint64_t wide = (uint64_t)fm_spark_xxhash64(v, i, FM_SPARK_HASH_SEED);
    uint32_t at;
    *hash = (uint32_t)(wide ^ wide >> 32);
    for (at = *hash & (set->n_slots - 1); set->slots[at].lane; at = (at + 1) & (set->n_slots - 1)) {
        const fm_lane_slot *s = &set->slots[at];
        if (s->hash == *hash && fm_vec_same(s->v, s->lane - 1, v, i)) break;
    }
    return &set->slots[at];
}

int32_t fm_lane_set_find(const fm_lane_set *set, const fm_vec *v, int32_t i)
{
    uint32_t hash;
    return slot_of(set, v, i, &hash)->lane - 1;
}

int32_t fm_lane_set_add(fm_lane_set *set, const fm_vec *v, int32_t i)
{
    uint32_t hash;
    fm_lane_slot *s = slot_of(set, v, i, &hash);
    if (s->lane) return s->lane - 1;
    *s = (fm_lane_slot){i + 1, hash, v};
    return -1;
}
