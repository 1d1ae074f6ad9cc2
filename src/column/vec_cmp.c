/* column/vec_cmp.c: comparing values, as ORDER BY and min/max do (fm_vec_cmp) and as GROUP BY does (fm_vec_same). */
#include <math.h>

#include "column/vec.h"

bool fm_view_eq(const fm_view *a, const fm_view *b)
{
    if (a->len != b->len) return false;
    if (a->len <= FM_VIEW_INLINE) return memcmp(a->u.inlined, b->u.inlined, FM_VIEW_INLINE) == 0;
    return memcmp(a->u.out.prefix, b->u.out.prefix, 4) == 0 && memcmp(a->u.out.ptr, b->u.out.ptr, a->len) == 0;
}

int fm_view_cmp(const fm_view *a, const fm_view *b) { return fm_str_cmp(fm_view_str(a), fm_view_str(b)); }

#define CMP(a, b) (((a) > (b)) - ((a) < (b)))

/* NaN is the largest number and equal to itself; -0.0 equals 0.0 by ==. */
static int cmp_double(double a, double b)
{
    if (isnan(a) || isnan(b)) return CMP(isnan(a) != 0, isnan(b) != 0);
    return CMP(a, b);
}

static int cmp_nullable(const fm_vec *a, int64_t i, const fm_vec *b, int64_t j)
{
    bool a_null = fm_vec_is_null(a, i), b_null = fm_vec_is_null(b, j);

    if (a_null || b_null) return CMP(b_null, a_null);
    return fm_vec_cmp(a, i, b, j);
}

static int cmp_list(const fm_vec *a, int64_t i, const fm_vec *b, int64_t j)
{
    int32_t a_from = a->offsets[i], a_n = a->offsets[i + 1] - a_from;
    int32_t b_from = b->offsets[j], b_n = b->offsets[j + 1] - b_from;

    for (int32_t k = 0; k < a_n && k < b_n; k++) {
        int c = cmp_nullable(&a->children[0], a_from + k, &b->children[0], b_from + k);
        if (c) return c;
    }
    return CMP(a_n, b_n);
}

static int cmp_struct(const fm_vec *a, int64_t i, const fm_vec *b, int64_t j)
{
    for (int32_t f = 0; f < a->type->n_fields; f++) {
        int c = cmp_nullable(&a->children[f], i, &b->children[f], j);
        if (c) return c;
    }
    return 0;
}

int fm_vec_cmp(const fm_vec *a, int64_t i, const fm_vec *b, int64_t j)
{
    switch (a->type->id) {
    case FM_TYPE_BOOL: return CMP(fm_vec_bool(a)[i], fm_vec_bool(b)[j]);
    case FM_TYPE_I8: return CMP(fm_vec_i8(a)[i], fm_vec_i8(b)[j]);
    case FM_TYPE_I16: return CMP(fm_vec_i16(a)[i], fm_vec_i16(b)[j]);
    case FM_TYPE_I32:
    case FM_TYPE_DATE:
    case FM_TYPE_INTERVAL_YM: return CMP(fm_vec_i32(a)[i], fm_vec_i32(b)[j]);
    case FM_TYPE_I64:
    case FM_TYPE_TIMESTAMP:
    case FM_TYPE_TIMESTAMP_NTZ:
    case FM_TYPE_INTERVAL_DT: return CMP(fm_vec_i64(a)[i], fm_vec_i64(b)[j]);
    case FM_TYPE_F32: return cmp_double(fm_vec_f32(a)[i], fm_vec_f32(b)[j]);
    case FM_TYPE_F64: return cmp_double(fm_vec_f64(a)[i], fm_vec_f64(b)[j]);
    case FM_TYPE_DECIMAL: return CMP(fm_vec_decimal(a)[i], fm_vec_decimal(b)[j]);
    case FM_TYPE_STRING:
    case FM_TYPE_BINARY: return fm_view_cmp(&fm_vec_view(a)[i], &fm_vec_view(b)[j]);
    case FM_TYPE_LIST: return cmp_list(a, i, b, j);
    case FM_TYPE_STRUCT: return cmp_struct(a, i, b, j);
    default: return 0;
    }
}

/* Each entry of one must be found in the other; maps have no equal keys. */
static bool same_map(const fm_vec *a, int64_t i, const fm_vec *b, int64_t j)
{
    int32_t n = a->offsets[i + 1] - a->offsets[i];

    if (n != b->offsets[j + 1] - b->offsets[j]) return false;
    for (int32_t x = a->offsets[i]; x < a->offsets[i + 1]; x++) {
        bool found = false;
        for (int32_t y = b->offsets[j]; y < b->offsets[j + 1] && !found; y++) {
            found = fm_vec_same(&a->children[0], x, &b->children[0], y) && fm_vec_same(&a->children[1], x, &b->children[1], y);
        }
        if (!found) return false;
    }
    return true;
}

static bool same_list(const fm_vec *a, int64_t i, const fm_vec *b, int64_t j)
{
    int32_t n = a->offsets[i + 1] - a->offsets[i];

    if (n != b->offsets[j + 1] - b->offsets[j]) return false;
    for (int32_t k = 0; k < n; k++) {
        if (!fm_vec_same(&a->children[0], a->offsets[i] + k, &b->children[0], b->offsets[j] + k)) return false;
    }
    return true;
}

bool fm_vec_same(const fm_vec *a, int64_t i, const fm_vec *b, int64_t j)
{
    bool a_null = fm_vec_is_null(a, i), b_null = fm_vec_is_null(b, j);

    if (a_null || b_null) return a_null && b_null;
    switch (a->type->id) {
    case FM_TYPE_STRING:
    case FM_TYPE_BINARY: return fm_view_eq(&fm_vec_view(a)[i], &fm_vec_view(b)[j]);
    case FM_TYPE_MAP: return same_map(a, i, b, j);
    case FM_TYPE_LIST: return same_list(a, i, b, j);
    case FM_TYPE_STRUCT:
        for (int32_t f = 0; f < a->type->n_fields; f++) {
            if (!fm_vec_same(&a->children[f], i, &b->children[f], j)) return false;
        }
        return true;
    default: return fm_vec_cmp(a, i, b, j) == 0;
    }
}
