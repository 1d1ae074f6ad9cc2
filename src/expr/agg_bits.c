/* expr/agg_bits.c: bit_and(x), bit_or(x), bit_xor(x) of integers.
 *
 * State   {int64 bits, int64 present}.
 * Cases   tests/golden/functions/bit_and.test */
#include "expr/agg_lanes.h"

typedef struct bits_state {
    int64_t bits, present;
} bits_state;

extern const fm_aggregate fm_agg_bit_and, fm_agg_bit_or, fm_agg_bit_xor;

static uint32_t state_size(const fm_agg_call *call)
{
    (void)call;
    return sizeof(bits_state);
}

static fm_status bind(fm_bind *b, fm_error *err)
{
    (void)err;
    b->returns = b->args[0]->type;
    return FM_OK;
}

static inline void take(const fm_aggregate *a, bits_state *s, int64_t x)
{
    s->bits = !s->present           ? x
              : a == &fm_agg_bit_and ? s->bits & x
              : a == &fm_agg_bit_or  ? s->bits | x
                                     : s->bits ^ x;
    s->present = 1;
}

static fm_status update(const fm_agg_call *call, char *const *entries, const fm_vec *args,
                        const uint8_t *keep, int32_t n, fm_error *err)
{
    int64_t wide[FM_AGG_CHUNK];
    uint8_t buffer[FM_AGG_CHUNK];
    (void)err;
    for (int32_t from = 0; from < n; from += FM_AGG_CHUNK) {
        int32_t len = fm_agg_chunk(from, n);
        const uint8_t *live = fm_agg_live(args, 1, keep, from, len, buffer);
        const int64_t *x = fm_agg_i64(&args[0], from, len, wide);
        for (int32_t i = 0; i < len; i++)
            if (!live || live[i]) take(call->aggregate, fm_agg_state(call, entries[from + i]), x[i]);
    }
    return FM_OK;
}

static fm_status merge(const fm_agg_call *call, char *const *dst, char *const *src, int32_t n,
                       fm_error *err)
{
    (void)err;
    for (int32_t i = 0; i < n; i++) {
        const bits_state *s = fm_agg_state(call, src[i]);
        if (s->present) take(call->aggregate, fm_agg_state(call, dst[i]), s->bits);
    }
    return FM_OK;
}

static fm_status finish(const fm_agg_call *call, char *const *entries, int32_t n, fm_arena *arena,
                        fm_vec *out, fm_error *err)
{
    uint64_t *valid;
    FM_TRY(fm_vec_init(out, call->returns, n, arena, err));
    valid = fm_agg_validity(out, n, arena);
    if (!valid) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) {
        const bits_state *s = fm_agg_state(call, entries[i]);
        if (!s->present) continue;
        fm_bit_set(valid, i);
        switch (fm_type_width(out->type)) {
        case 1: fm_vec_i8_out(out)[i] = (int8_t)s->bits; break;
        case 2: fm_vec_i16_out(out)[i] = (int16_t)s->bits; break;
        case 4: fm_vec_i32_out(out)[i] = (int32_t)s->bits; break;
        default: fm_vec_i64_out(out)[i] = s->bits; break;
        }
    }
    return FM_OK;
}

#define COMMON                                                                                \
    .args = {FM_ARG_INTEGRAL, FM_ARG_END}, .args_min = 1, .args_max = 1, .bind = bind,        \
    .state_size = state_size, .update = update, .merge = merge, .finish = finish, .since = "3.0.0"

const fm_aggregate fm_agg_bit_and = {
    COMMON, .name = "bit_and", .usage = "bit_and(expr)", .doc = "Returns the bits that are set in all values.",
};
const fm_aggregate fm_agg_bit_or = {
    COMMON, .name = "bit_or", .usage = "bit_or(expr)", .doc = "Returns the bits that are set in any value.",
};
const fm_aggregate fm_agg_bit_xor = {
    COMMON, .name = "bit_xor", .usage = "bit_xor(expr)",
    .doc = "Returns the bits that are set in an odd number of values.",
};
