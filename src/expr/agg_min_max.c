/* expr/agg_min_max.c: min(x) and max(x); bool_and(x) and bool_or(x), which are these of BOOLEAN.
 *
 * State   types of up to 4 bytes, and FLOAT and DOUBLE: 8 bytes. Values are turned into unsigned integers of
 *         the same order that are never 0 (for min: of the opposite order), so that both are "the larger of
 *         two integers" and zero bytes are the empty state.
 *         BIGINT, timestamps, day-time intervals: {int64 value, int64 present}, since all 2^64 are taken.
 *         The rest: a cell, agg_min_max_cell.c.
 * Rule    Spark, Min and Max: nulls are skipped; NaN is the largest number; strings compare by bytes.
 *         -0.0 sorts below 0.0 here, while Spark keeps which came first; they are equal in SQL.
 * Cases   tests/golden/functions/min.test, max.test */
#include "expr/agg_lanes.h"
#include "expr/aggregates.h"

typedef struct wide_state {
    int64_t value;
    int64_t present;
} wide_state;

static bool is_min(const fm_agg_call *call)
{
    return call->aggregate == &fm_agg_min || call->aggregate == &fm_agg_bool_and;
}

static bool is_wide(const fm_type *type)
{
    return fm_type_width(type) == 8 && type->id != FM_TYPE_F64;
}

static uint32_t state_size(const fm_agg_call *call)
{
    return is_wide(call->returns) ? sizeof(wide_state) : sizeof(uint64_t);
}

/* ---- Keys of narrow values --------------------------------------------------------------------------------- */

#define SIGN (UINT64_C(1) << 63)

/* -Infinity becomes 0x000FFFFFFFFFFFFF, NaN (one NaN) 0xFFF8000000000000: neither they nor their complements
 * are 0. */
static inline uint64_t key_of_f64(double x)
{
    uint64_t bits;
    if (x != x) return UINT64_C(0xFFF8000000000000);
    memcpy(&bits, &x, sizeof bits);
    return bits & SIGN ? ~bits : bits | SIGN;
}

static inline double f64_of_key(uint64_t key)
{
    double x;
    key = key & SIGN ? key & ~SIGN : ~key;
    memcpy(&x, &key, sizeof x);
    return x;
}

/* x fits 32 bits: keys are 2^63 - 2^31 .. 2^63 + 2^31. */
static inline uint64_t key_of_i64(int64_t x) { return (uint64_t)x + SIGN; }
static inline int64_t i64_of_key(uint64_t key) { return (int64_t)(key - SIGN); }

static const uint64_t *keys_of(const fm_vec *v, int32_t from, int32_t n, bool flip, uint64_t *keys)
{
    int64_t integers[FM_AGG_CHUNK];
    double doubles[FM_AGG_CHUNK];
    uint64_t mask = flip ? UINT64_MAX : 0;
    if (v->type->id == FM_TYPE_F32 || v->type->id == FM_TYPE_F64) {
        const double *x = fm_agg_f64(v, from, n, doubles);
        for (int32_t i = 0; i < n; i++) keys[i] = key_of_f64(x[i]) ^ mask;
    } else {
        const int64_t *x = fm_agg_i64(v, from, n, integers);
        for (int32_t i = 0; i < n; i++) keys[i] = key_of_i64(x[i]) ^ mask;
    }
    return keys;
}

static void keep_larger(char *const *restrict entries, uint32_t offset,
                        const uint64_t *restrict keys, const uint8_t *restrict live, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        uint64_t *s = (uint64_t *)(void *)(entries[i] + offset);
        uint64_t key = live ? keys[i] & (0 - (uint64_t)live[i]) : keys[i];
        *s = *s > key ? *s : key;
    }
}

static void update_keyed(const fm_agg_call *call, char *const *entries, const fm_vec *x,
                         const uint8_t *keep, int32_t n)
{
    uint64_t keys[FM_AGG_CHUNK];
    uint8_t buffer[FM_AGG_CHUNK];
    for (int32_t from = 0; from < n; from += FM_AGG_CHUNK) {
        int32_t len = fm_agg_chunk(from, n);
        const uint8_t *live = fm_agg_live(x, 1, keep, from, len, buffer);
        keep_larger(entries + from, call->offset, keys_of(x, from, len, is_min(call), keys), live, len);
    }
}

static void put_key(fm_vec *out, int32_t i, uint64_t key)
{
    switch (out->type->id) {
    case FM_TYPE_F64: fm_vec_f64_out(out)[i] = f64_of_key(key); break;
    case FM_TYPE_F32: fm_vec_f32_out(out)[i] = (float)f64_of_key(key); break;
    case FM_TYPE_BOOL:
    case FM_TYPE_I8: fm_vec_i8_out(out)[i] = (int8_t)i64_of_key(key); break;
    case FM_TYPE_I16: fm_vec_i16_out(out)[i] = (int16_t)i64_of_key(key); break;
    default: fm_vec_i32_out(out)[i] = (int32_t)i64_of_key(key); break;
    }
}

/* ---- 64-bit integers --------------------------------------------------------------------------------------- */

static inline void take_wide(wide_state *s, int64_t x, bool min)
{
    bool better = min ? x < s->value : x > s->value;
    s->value = (!s->present | better) ? x : s->value;
    s->present = 1;
}

static void update_wide(const fm_agg_call *call, char *const *entries, const fm_vec *v,
                        const uint8_t *keep, int32_t n)
{
    const int64_t *x = fm_vec_i64(v);
    bool min = is_min(call);
    uint8_t buffer[FM_AGG_CHUNK];
    for (int32_t from = 0; from < n; from += FM_AGG_CHUNK) {
        int32_t len = fm_agg_chunk(from, n);
        const uint8_t *live = fm_agg_live(v, 1, keep, from, len, buffer);
        for (int32_t i = 0; i < len; i++)
            if (!live || live[i]) take_wide(fm_agg_state(call, entries[from + i]), x[from + i], min);
    }
}

/* ---- The entries ------------------------------------------------------------------------------------------- */

/* Whether the states of this file do. */
static bool has_plain_state(const fm_type *type)
{
    size_t width = fm_type_width(type);
    return width >= 1 && width <= 8;
}

static const fm_aggregate *choose_min(const fm_bind *b)
{
    return has_plain_state(b->args[0]->type) ? &fm_agg_min : &fm_agg_min_cell;
}

static const fm_aggregate *choose_max(const fm_bind *b)
{
    return has_plain_state(b->args[0]->type) ? &fm_agg_max : &fm_agg_max_cell;
}

static fm_status update(const fm_agg_call *call, char *const *entries, const fm_vec *args,
                        const uint8_t *keep, int32_t n, fm_error *err)
{
    (void)err;
    if (is_wide(call->returns))
        update_wide(call, entries, &args[0], keep, n);
    else
        update_keyed(call, entries, &args[0], keep, n);
    return FM_OK;
}

static fm_status merge(const fm_agg_call *call, char *const *dst, char *const *src, int32_t n,
                       fm_error *err)
{
    (void)err;
    for (int32_t i = 0; i < n; i++) {
        if (is_wide(call->returns)) {
            const wide_state *s = fm_agg_state(call, src[i]);
            if (s->present) take_wide(fm_agg_state(call, dst[i]), s->value, is_min(call));
        } else {
            const uint64_t *s = fm_agg_state(call, src[i]);
            uint64_t *d = fm_agg_state(call, dst[i]);
            if (*s > *d) *d = *s;
        }
    }
    return FM_OK;
}

static fm_status finish(const fm_agg_call *call, char *const *entries, int32_t n, fm_arena *arena,
                        fm_vec *out, fm_error *err)
{
    uint64_t flip = is_min(call) ? UINT64_MAX : 0, *valid;
    FM_TRY(fm_vec_init(out, call->returns, n, arena, err));
    valid = fm_agg_validity(out, n, arena);
    if (!valid) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) {
        const void *state = fm_agg_state(call, entries[i]);
        if (is_wide(call->returns)) {
            const wide_state *s = state;
            if (!s->present) continue;
            fm_vec_i64_out(out)[i] = s->value;
        } else {
            uint64_t key = *(const uint64_t *)state;
            if (!key) continue;
            put_key(out, i, key ^ flip);
        }
        fm_bit_set(valid, i);
    }
    return FM_OK;
}

const fm_aggregate fm_agg_min = {
    .name = "min", .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = 1,
    .bind = fm_agg_bind_ordered, .choose = choose_min, .state_size = state_size, .update = update,
    .merge = merge, .finish = finish,
    .usage = "min(expr)", .doc = "Returns the smallest value.", .since = "1.0.0",
};

const fm_aggregate fm_agg_max = {
    .name = "max", .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = 1,
    .bind = fm_agg_bind_ordered, .choose = choose_max, .state_size = state_size, .update = update,
    .merge = merge, .finish = finish,
    .usage = "max(expr)", .doc = "Returns the largest value.", .since = "1.0.0",
};

const fm_aggregate fm_agg_bool_and = {
    .name = "bool_and", .aliases = {"every"}, .args = {FM_ARG_BOOL, FM_ARG_END}, .args_min = 1, .args_max = 1,
    .returns = fm_type_bool, .state_size = state_size, .update = update, .merge = merge, .finish = finish,
    .usage = "bool_and(expr)", .doc = "Whether all values are true.", .since = "3.0.0",
};

const fm_aggregate fm_agg_bool_or = {
    .name = "bool_or", .aliases = {"some", "any"}, .args = {FM_ARG_BOOL, FM_ARG_END}, .args_min = 1,
    .args_max = 1, .returns = fm_type_bool, .state_size = state_size, .update = update, .merge = merge,
    .finish = finish, .usage = "bool_or(expr)", .doc = "Whether any value is true.", .since = "3.0.0",
};
