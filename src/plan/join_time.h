/* plan/join_time.h: what a join condition says about time: when a buffered row can find no partner any more. */
#ifndef FM_PLAN_JOIN_TIME_H
#define FM_PLAN_JOIN_TIME_H

#include "plan/plan.h"

/* Equalities of a join condition with one side's columns on each side of the sign. */
typedef struct fm_join_key {
    fm_expr *left, *right; /* of children[0] and children[1] */
    bool null_safe;        /* <=>: null equals null */
} fm_join_key;

/* keys: [n] in arena, in the order of the condition; *rest: the other conjuncts, NULL when there are none.
 * Rule: Spark, ExtractEquiJoinKeys. */
fm_status fm_join_keys(fm_arena *arena, const fm_plan *join, fm_join_key **keys, int32_t *n, fm_expr **rest,
                       fm_error *err);

/* Whether the condition has such an equality at all. */
bool fm_join_has_key(const fm_plan *join);

/* Whether some equality key is a tagged column: state is then evicted by the key. */
bool fm_join_key_is_tagged(const fm_plan *join, const fm_join_key *keys, int32_t n);

/* From conjuncts as l.ts <= r.ts + INTERVAL 10 SECONDS: while the watermark is E, rows of children[side] whose column
 * *time_id is <= E + *offset_ms find no partner any more. False: the condition does not bound that side.
 * Rule: Spark, StreamingJoinHelper.getStateValueWatermark; of several bounds the smallest, closed ones (<=, >=) 1 ms
 * less. Only lower bounds of this side's time by a tagged column of the other side count. */
bool fm_join_state_offset(const fm_plan *join, int side, int32_t *time_id, int64_t *offset_ms);

#endif
