/* expr/lanes.c: small operations on the lanes of whole vectors: validity, blending, packing of booleans. */
#include "expr/eval_internal.h"

fm_status fm_vec_and_validity(fm_vec *out, const uint64_t *valid, fm_arena *arena, fm_error *err)
{
    int64_t words = fm_bit_words(out->len);
    const uint64_t *before = out->validity;
    uint64_t *both;
    if (!valid) return FM_OK;
    if (!before || before == valid) {
        out->validity = valid;
        return FM_OK;
    }
    both = fm_arena_buffer(arena, (size_t)words * sizeof(uint64_t), false);
    if (!both) return fm_no_memory(arena, err);
    for (int64_t i = 0; i < words; i++) both[i] = before[i] & valid[i];
    out->validity = both;
    return FM_OK;
}

/* Calls for every null lane: the body sees `i`. Full words, the common case, cost one test. */
#define FOR_NULL_LANES(validity, len, i)                                                      \
    for (int64_t fm_w = 0; fm_w < fm_bit_words(len); fm_w++)                                  \
        for (uint64_t fm_b = ~(validity)[fm_w]; fm_b; fm_b &= fm_b - 1)                       \
            for (int64_t i = fm_w * 64 + fm_ctz64(fm_b), fm_once = 1; fm_once && i < (len); fm_once = 0)

/* Looks before it writes: a kernel may have handed on a vector of its arguments, which others read; its null
 * lanes are zero already. */
static void clear_lanes(void *values, size_t width, const uint64_t *validity, int64_t len)
{
    switch (width) {
    case 1:
        FOR_NULL_LANES(validity, len, i)
        if (((const uint8_t *)values)[i]) ((uint8_t *)values)[i] = 0;
        break;
    case 2:
        FOR_NULL_LANES(validity, len, i)
        if (((const uint16_t *)values)[i]) ((uint16_t *)values)[i] = 0;
        break;
    case 4:
        FOR_NULL_LANES(validity, len, i)
        if (((const uint32_t *)values)[i]) ((uint32_t *)values)[i] = 0;
        break;
    case 8:
        FOR_NULL_LANES(validity, len, i)
        if (((const uint64_t *)values)[i]) ((uint64_t *)values)[i] = 0;
        break;
    default:
        FOR_NULL_LANES(validity, len, i)
        if (((const fm_i128 *)values)[i]) ((fm_i128 *)values)[i] = 0;
        break;
    }
}

void fm_vec_clear_nulls(fm_vec *v)
{
    size_t width = fm_type_width(v->type);
    if (v->validity && width) clear_lanes((void *)(uintptr_t)v->values, width, v->validity, v->len);
}

/* Whether some lane is present in `has` (NULL: all are) but not in `keeps`. */
static bool clears_any(const uint64_t *has, const uint64_t *keeps, int64_t len)
{
    int64_t words = len >> 6, rest = len & 63;
    for (int64_t i = 0; i < words; i++)
        if ((has ? has[i] : ~UINT64_C(0)) & ~keeps[i]) return true;
    if (!rest) return false;
    return ((has ? has[words] : ~UINT64_C(0)) & ~keeps[words] & ((UINT64_C(1) << rest) - 1)) != 0;
}

fm_status fm_vec_mask(fm_vec *out, const fm_vec *in, const uint64_t *valid, fm_arena *arena,
                      fm_error *err)
{
    size_t width = fm_type_width(in->type);
    int32_t *rows;
    *out = *in;
    if (!valid || in->type->id == FM_TYPE_NULL || !clears_any(in->validity, valid, in->len))
        return FM_OK;
    if (in->type->id == FM_TYPE_STRUCT) /* what lies under a null struct is not looked at */
        return fm_vec_and_validity(out, valid, arena, err);
    if (width) {
        void *values = fm_arena_buffer(arena, width * (size_t)in->len, false);
        if (!values) return fm_no_memory(arena, err);
        if (in->len) memcpy(values, in->values, width * (size_t)in->len);
        out->values = values;
        FM_TRY(fm_vec_and_validity(out, valid, arena, err));
        fm_vec_clear_nulls(out);
        return FM_OK;
    }
    rows = fm_arena_array(arena, int32_t, in->len);
    if (!rows) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < in->len; i++) rows[i] = fm_bit_get(valid, i) ? i : -1;
    return fm_vec_gather(out, in, rows, in->len, arena, err);
}

void fm_bits_of_bytes(uint64_t *restrict bits, const uint8_t *restrict bytes, int64_t n)
{
    int64_t i = 0, words = fm_bit_words(n);
    for (int64_t w = 0; w < words; w++) {
        uint64_t word = 0;
        int64_t end = n - i < 64 ? n - i : 64, k = 0;
        /* Eight bytes of 0 or 1 to eight bits: the product lines them up in the top byte. */
        for (; k + 8 <= end; k += 8) {
            uint64_t eight;
            memcpy(&eight, bytes + i + k, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
            eight = __builtin_bswap64(eight);
#endif
            word |= ((eight * UINT64_C(0x0102040810204080)) >> 56) << k;
        }
        for (; k < end; k++) word |= (uint64_t)bytes[i + k] << k;
        bits[w] = word;
        i += end;
    }
}

/* --- blending ---------------------------------------------------------------------------------------- */

#define BLEND(name, T)                                                                        \
    static void blend_##name(T *restrict out, const uint8_t *restrict c, const T *restrict a, \
                             const T *restrict b, int64_t n)                                  \
    {                                                                                         \
        for (int64_t i = 0; i < n; i++) {                                                     \
            T mask = (T)(0 - (T)c[i]);                                                        \
            out[i] = (T)((a[i] & mask) | (b[i] & (T)~mask));                                  \
        }                                                                                     \
    }
BLEND(u8, uint8_t)
BLEND(u16, uint16_t)
BLEND(u32, uint32_t)
BLEND(u64, uint64_t)
BLEND(u128, fm_u128)
#undef BLEND

fm_status fm_vec_blend(fm_vec *out, const fm_vec *condition, const fm_vec *a, const fm_vec *b,
                       fm_arena *arena, fm_error *err)
{
    int64_t n = b->len, words = fm_bit_words(n);
    const fm_type *type = b->type;
    const uint8_t *c = condition->values; /* null lanes hold 0: not taken */
    fm_vec result;
    if (condition->type->id == FM_TYPE_NULL) {
        *out = *b;
        return FM_OK;
    }
    FM_TRY(fm_vec_init(&result, type, (int32_t)n, arena, err));
    switch (fm_type_width(type)) {
    case 1: blend_u8((uint8_t *)(uintptr_t)result.values, c, a->values, b->values, n); break;
    case 2: blend_u16((uint16_t *)(uintptr_t)result.values, c, a->values, b->values, n); break;
    case 4: blend_u32((uint32_t *)(uintptr_t)result.values, c, a->values, b->values, n); break;
    case 8: blend_u64((uint64_t *)(uintptr_t)result.values, c, a->values, b->values, n); break;
    default: blend_u128((fm_u128 *)(uintptr_t)result.values, c, a->values, b->values, n); break;
    }
    if (a->validity || b->validity) {
        uint64_t *valid = fm_arena_buffer(arena, (size_t)words * 8, false);
        uint64_t *taken = fm_arena_buffer(arena, (size_t)words * 8, false);
        if (!valid || !taken) return fm_no_memory(arena, err);
        fm_bits_of_bytes(taken, c, n);
        for (int64_t i = 0; i < words; i++) {
            uint64_t va = a->validity ? a->validity[i] : ~UINT64_C(0);
            uint64_t vb = b->validity ? b->validity[i] : ~UINT64_C(0);
            valid[i] = (va & taken[i]) | (vb & ~taken[i]);
        }
        result.validity = valid;
    }
    *out = result;
    return FM_OK;
}
