/* expr/agg_lanes.h: what the update loops of aggregates share: which lanes count, and integer and floating lanes
 * widened to one type, so that a loop is written once.
 *
 * update() has no arena: lanes are worked off in chunks whose scratch fits the stack. */
#ifndef FM_EXPR_AGG_LANES_H
#define FM_EXPR_AGG_LANES_H

#include "expr/aggregate.h"

enum { FM_AGG_CHUNK = 512 };

static inline void *fm_agg_state(const fm_agg_call *call, char *entry)
{
    return entry + call->offset;
}

/* [n] 1 where lane from + i is kept and no argument is null; NULL when all are. buffer: [FM_AGG_CHUNK]. */
static inline const uint8_t *fm_agg_live(const fm_vec *args, int32_t n_args, const uint8_t *keep,
                                         int32_t from, int32_t n, uint8_t *buffer)
{
    bool all = !keep;
    for (int32_t a = 0; a < n_args; a++)
        all &= !args[a].validity && args[a].type->id != FM_TYPE_NULL;
    if (all) return NULL;
    for (int32_t i = 0; i < n; i++) buffer[i] = keep ? keep[from + i] != 0 : 1;
    for (int32_t a = 0; a < n_args; a++) {
        bool is_null = args[a].type->id == FM_TYPE_NULL;
        if (!args[a].validity && !is_null) continue;
        for (int32_t i = 0; i < n; i++) buffer[i] &= !is_null && fm_bit_get(args[a].validity, from + i);
    }
    return buffer;
}

/* Lanes [from, from + n) of any type stored as an integer of up to 8 bytes, as int64. buffer: [FM_AGG_CHUNK]. */
static inline const int64_t *fm_agg_i64(const fm_vec *v, int32_t from, int32_t n, int64_t *buffer)
{
    switch (fm_type_width(v->type)) {
    case 1:
        for (int32_t i = 0; i < n; i++)
            buffer[i] = v->type->id == FM_TYPE_BOOL ? fm_vec_bool(v)[from + i] : fm_vec_i8(v)[from + i];
        return buffer;
    case 2:
        for (int32_t i = 0; i < n; i++) buffer[i] = fm_vec_i16(v)[from + i];
        return buffer;
    case 4:
        for (int32_t i = 0; i < n; i++) buffer[i] = fm_vec_i32(v)[from + i];
        return buffer;
    default: return fm_vec_i64(v) + from;
    }
}

/* Lanes of FLOAT, DOUBLE or an integer type, as double. */
static inline const double *fm_agg_f64(const fm_vec *v, int32_t from, int32_t n, double *buffer)
{
    int64_t integers[FM_AGG_CHUNK];
    const int64_t *x;
    if (v->type->id == FM_TYPE_F64) return fm_vec_f64(v) + from;
    if (v->type->id == FM_TYPE_F32) {
        for (int32_t i = 0; i < n; i++) buffer[i] = fm_vec_f32(v)[from + i];
        return buffer;
    }
    x = fm_agg_i64(v, from, n, integers);
    for (int32_t i = 0; i < n; i++) buffer[i] = (double)x[i];
    return buffer;
}

static inline int32_t fm_agg_chunk(int32_t from, int32_t n)
{
    return n - from < FM_AGG_CHUNK ? n - from : FM_AGG_CHUNK;
}

/* out->validity for n lanes, all null as yet; a finish sets the bits of lanes that have a value. */
static inline uint64_t *fm_agg_validity(fm_vec *out, int32_t n, fm_arena *arena)
{
    uint64_t *bits = fm_arena_buffer(arena, (size_t)fm_bit_words(n) * sizeof(uint64_t), true);
    out->validity = bits;
    return bits;
}

/* ARITHMETIC_OVERFLOW, as Spark says it: what is "Overflow", "Overflow in sum of decimals". */
static inline fm_status fm_agg_overflow(fm_error *err, const char *what, const char *hint)
{
    return fm_fail(err, FM_INVALID, "ARITHMETIC_OVERFLOW",
                   "%s. Use '%s' to tolerate overflow and return NULL instead. If necessary set "
                   "\"spark.sql.ansi.enabled\" to \"false\" to bypass this error.",
                   what, hint);
}

#endif
