/* expr/logic.c: AND, OR and NOT in SQL's three-valued logic.
 *
 * With null lanes holding 0, the values of AND and OR are just & and |; what remains is validity:
 *     AND is known where both sides are, or one is known and false
 *     OR  is known where both sides are, or one is known and true */
#include "expr/eval_internal.h"

/* A boolean operand as lanes: a void literal is null on every lane. */
typedef struct operand {
    const uint8_t *values;
    const uint64_t *validity;
} operand;

static fm_status operand_of(const fm_vec *v, int32_t rows, fm_arena *arena, operand *out,
                            fm_error *err)
{
    if (v->type->id == FM_TYPE_NULL) {
        out->values = fm_arena_buffer(arena, (size_t)rows, true);
        out->validity = fm_arena_buffer(arena, (size_t)fm_bit_words(rows) * 8, true);
        return out->values && out->validity ? FM_OK : fm_no_memory(arena, err);
    }
    *out = (operand){v->values, v->validity};
    return FM_OK;
}

static void and_bytes(uint8_t *restrict out, const uint8_t *restrict a, const uint8_t *restrict b,
                      int64_t n)
{
    for (int64_t i = 0; i < n; i++) out[i] = a[i] & b[i];
}

static void or_bytes(uint8_t *restrict out, const uint8_t *restrict a, const uint8_t *restrict b,
                     int64_t n)
{
    for (int64_t i = 0; i < n; i++) out[i] = a[i] | b[i];
}

fm_status fm_bool_and_or(bool is_and, const fm_vec *a, const fm_vec *b, int32_t rows, fm_arena *arena,
                         fm_vec *out, fm_error *err)
{
    int64_t words = fm_bit_words(rows);
    uint64_t *valid, *bits_a, *bits_b;
    operand x, y;
    FM_TRY(operand_of(a, rows, arena, &x, err));
    FM_TRY(operand_of(b, rows, arena, &y, err));
    FM_TRY(fm_vec_init(out, fm_type_bool(), rows, arena, err));
    if (is_and)
        and_bytes(fm_vec_bool_out(out), x.values, y.values, rows);
    else
        or_bytes(fm_vec_bool_out(out), x.values, y.values, rows);
    if (!x.validity && !y.validity) return FM_OK;

    valid = fm_arena_buffer(arena, (size_t)words * 8, false);
    bits_a = fm_arena_buffer(arena, (size_t)words * 8, false);
    bits_b = fm_arena_buffer(arena, (size_t)words * 8, false);
    if (!valid || !bits_a || !bits_b) return fm_no_memory(arena, err);
    fm_bits_of_bytes(bits_a, x.values, rows);
    fm_bits_of_bytes(bits_b, y.values, rows);
    for (int64_t i = 0; i < words; i++) {
        uint64_t va = x.validity ? x.validity[i] : ~UINT64_C(0);
        uint64_t vb = y.validity ? y.validity[i] : ~UINT64_C(0);
        uint64_t decides_a = va & (is_and ? ~bits_a[i] : bits_a[i]);
        uint64_t decides_b = vb & (is_and ? ~bits_b[i] : bits_b[i]);
        valid[i] = (va & vb) | decides_a | decides_b;
    }
    out->validity = valid;
    /* Null lanes hold 0 as they must: null AND x is x & 0, and null OR x is null only where x is 0. */
    return FM_OK;
}

static void not_bytes(uint8_t *restrict out, const uint8_t *restrict a, int64_t n)
{
    for (int64_t i = 0; i < n; i++) out[i] = a[i] ^ 1;
}

fm_status fm_bool_not(const fm_vec *a, int32_t rows, fm_arena *arena, fm_vec *out, fm_error *err)
{
    operand x;
    FM_TRY(operand_of(a, rows, arena, &x, err));
    FM_TRY(fm_vec_init(out, fm_type_bool(), rows, arena, err));
    not_bytes(fm_vec_bool_out(out), x.values, rows);
    out->validity = x.validity;
    fm_vec_clear_nulls(out);
    return FM_OK;
}
