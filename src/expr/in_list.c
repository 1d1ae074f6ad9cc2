/* expr/in_list.c: x IN (a, b, ...): true when some element equals x, else null when x or an element is null,
 * else false. Lists of constants become a hash set once; other lists are compared lane by lane. */
#include "base/hash.h"
#include "expr/eval_internal.h"

struct fm_in_set {
    const fm_type *type;
    fm_vec values;     /* the distinct non-null constants, in no order */
    uint32_t *slots;   /* [mask + 1] 1 + index into values, 0: empty */
    uint64_t mask;
    bool has_null;
};

/* The hash of one lane; equal lanes (fm_vec_same) have equal hashes. */
static uint64_t lane_hash(const fm_vec *v, int64_t i)
{
    switch (v->type->id) {
    case FM_TYPE_BOOL:
    case FM_TYPE_I8: return fm_hash_u64((uint64_t)fm_vec_i8(v)[i]);
    case FM_TYPE_I16: return fm_hash_u64((uint64_t)fm_vec_i16(v)[i]);
    case FM_TYPE_I32:
    case FM_TYPE_DATE:
    case FM_TYPE_INTERVAL_YM: return fm_hash_u64((uint64_t)fm_vec_i32(v)[i]);
    case FM_TYPE_DECIMAL: {
        fm_u128 x = (fm_u128)fm_vec_decimal(v)[i];
        return fm_hash_u128((uint64_t)x, (uint64_t)(x >> 64));
    }
    case FM_TYPE_STRING:
    case FM_TYPE_BINARY: {
        fm_str s = fm_vec_str(v, i);
        return fm_hash_bytes(s.ptr, s.len);
    }
    default: return fm_hash_u64((uint64_t)fm_vec_i64(v)[i]);
    }
}

/* Floating point has -0.0 and NaN to fold, nested types have no flat hash: they go lane by lane. */
static bool hashable(const fm_type *type)
{
    return fm_type_width(type) > 0 && type->id != FM_TYPE_F32 && type->id != FM_TYPE_F64;
}

static bool set_has(const fm_in_set *set, const fm_vec *x, int64_t i, uint64_t *slot)
{
    uint64_t at = lane_hash(x, i) & set->mask;
    while (set->slots[at] && !fm_vec_same(&set->values, set->slots[at] - 1, x, i))
        at = (at + 1) & set->mask;
    *slot = at;
    return set->slots[at] != 0;
}

fm_status fm_in_set_new(fm_arena *arena, fm_expr *const *literals, int32_t n, fm_in_set **out,
                        fm_error *err)
{
    const fm_vec **parts = fm_arena_array(arena, const fm_vec *, n);
    fm_in_set *set = fm_arena_one(arena, fm_in_set);
    int32_t count = 0;
    *out = NULL;
    if (!parts || !set) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) {
        if (!hashable(literals[i]->type) || !fm_type_eq(literals[i]->type, literals[0]->type))
            return FM_OK;
        if (fm_vec_is_null(&literals[i]->value, 0))
            set->has_null = true;
        else
            parts[count++] = &literals[i]->value;
    }
    if (n == 0 || count == 0) return FM_OK;
    set->type = literals[0]->type;
    FM_TRY(fm_vec_concat(&set->values, parts, count, arena, err));
    set->mask = fm_pow2_at_least((uint64_t)count * 2 + 2) - 1;
    set->slots = fm_arena_array(arena, uint32_t, set->mask + 1);
    if (!set->slots) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < count; i++) {
        uint64_t slot;
        if (!set_has(set, &set->values, i, &slot)) set->slots[slot] = (uint32_t)i + 1;
    }
    *out = set;
    return FM_OK;
}

/* Where nothing was found the answer is null if the list has a null; x null gives null. */
static fm_status finish(const fm_vec *x, const uint8_t *unknown, fm_arena *arena, fm_vec *out,
                        fm_error *err)
{
    const uint8_t *found = fm_vec_bool(out);
    out->validity = x->validity;
    if (unknown) {
        uint64_t *valid = fm_arena_buffer(arena, (size_t)fm_bit_words(out->len) * 8, true);
        if (!valid) return fm_no_memory(arena, err);
        for (int32_t i = 0; i < out->len; i++)
            if (found[i] || !unknown[i]) fm_bit_set(valid, i);
        FM_TRY(fm_vec_and_validity(out, valid, arena, err));
    }
    fm_vec_clear_nulls(out);
    return FM_OK;
}

fm_status fm_in_set_run(const fm_in_set *set, const fm_vec *x, fm_arena *arena, fm_vec *out,
                        fm_error *err)
{
    uint8_t *found, *unknown = NULL;
    if (x->type->id == FM_TYPE_NULL) return fm_vec_nulls(out, fm_type_bool(), x->len, arena, err);
    FM_TRY(fm_vec_init(out, fm_type_bool(), x->len, arena, err));
    found = fm_vec_bool_out(out);
    for (int32_t i = 0; i < x->len; i++) {
        uint64_t slot;
        found[i] = set_has(set, x, i, &slot);
    }
    if (set->has_null) {
        unknown = fm_arena_buffer(arena, (size_t)x->len, false);
        if (!unknown) return fm_no_memory(arena, err);
        memset(unknown, 1, (size_t)x->len);
    }
    return finish(x, unknown, arena, out, err);
}

fm_status fm_in_list_run(const fm_vec *x, const fm_vec *list, int32_t n, fm_arena *arena, fm_vec *out,
                         fm_error *err)
{
    uint8_t *found, *unknown;
    if (x->type->id == FM_TYPE_NULL) return fm_vec_nulls(out, fm_type_bool(), x->len, arena, err);
    FM_TRY(fm_vec_init(out, fm_type_bool(), x->len, arena, err));
    found = fm_vec_bool_out(out);
    unknown = fm_arena_buffer(arena, (size_t)x->len, true);
    if (!unknown) return fm_no_memory(arena, err);
    for (int32_t k = 0; k < n; k++)
        for (int32_t i = 0; i < x->len; i++) {
            if (found[i] || fm_vec_is_null(x, i)) continue;
            if (fm_vec_is_null(&list[k], i))
                unknown[i] = 1;
            else
                found[i] = fm_vec_cmp(x, i, &list[k], i) == 0;
        }
    return finish(x, unknown, arena, out, err);
}
