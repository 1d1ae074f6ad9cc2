/* expr/lane_set.h: lanes found again by value: what array_distinct, array_union and map keys stand on. Equality is that of
 * groups: NaN is NaN, 0.0 is -0.0. Nulls are the caller's business. */
#ifndef FM_EXPR_LANE_SET_H
#define FM_EXPR_LANE_SET_H

#include "column/vec.h"

typedef struct fm_lane_slot {
    int32_t lane; /* + 1; 0 free */
    uint32_t hash;
    const fm_vec *v;
} fm_lane_slot;

typedef struct fm_lane_set {
    fm_arena *arena;
    fm_lane_slot *slots;
    uint32_t n_slots, cap;
} fm_lane_set;

/* Empties the set and makes room for n lanes. Memory is taken from arena and kept for the next use. */
fm_status fm_lane_set_begin(fm_lane_set *set, fm_arena *arena, int32_t n, fm_error *err);
/* The lane equal to v's lane i, or -1; found lanes may be of any vector that was added. */
int32_t fm_lane_set_find(const fm_lane_set *set, const fm_vec *v, int32_t i);
/* As find, and adds the lane when there was none. */
int32_t fm_lane_set_add(fm_lane_set *set, const fm_vec *v, int32_t i);

#endif
