/* column/vec_cmp.c: comparing values, as ORDER BY and min/max do (fm_vec_cmp) and as GROUP BY does (fm_vec_same). */
#include <math.h>
#include <stdlib.h>

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

/* ---- Maps: sets of entries --------------------------------------------------------------------------------- */

enum { ENTRIES_PAIRWISE_MAX = 16 }; /* so few are compared each with each */

static bool same_entry(const fm_vec *a, int32_t x, const fm_vec *b, int32_t y)
{
    return fm_vec_same(&a->children[0], x, &b->children[0], y) && fm_vec_same(&a->children[1], x, &b->children[1], y);
}

/* Each of n entries of one is found in the other; no map has a key twice. */
static bool same_pairwise(const fm_vec *a, int32_t from_a, const fm_vec *b, int32_t from_b, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        bool found = false;
        for (int32_t j = 0; j < n && !found; j++) found = same_entry(a, from_a + i, b, from_b + j);
        if (!found) return false;
    }
    return true;
}

static int by_key(const void *a, const void *b, void *keys)
{
    return fm_vec_cmp(keys, *(const int32_t *)a, keys, *(const int32_t *)b);
}

/* Entries [from, from + n) in the order of their keys, which are never null nor maps. */
static int32_t *sorted_entries(const fm_vec *v, int32_t from, int32_t n)
{
    int32_t *entries = malloc((size_t)n * sizeof *entries);

    if (!entries) return NULL;
    for (int32_t i = 0; i < n; i++) entries[i] = from + i;
    qsort_r(entries, (size_t)n, sizeof *entries, by_key, (void *)(uintptr_t)&v->children[0]);
    return entries;
}

static bool same_map(const fm_vec *a, int64_t i, const fm_vec *b, int64_t j)
{
    int32_t x = a->offsets[i], y = b->offsets[j], n = a->offsets[i + 1] - x, k = 0;

    if (n != b->offsets[j + 1] - y) return false;
    while (k < n && same_entry(a, x + k, b, y + k)) k++; /* most often they have one order */
    x += k;
    y += k;
    n -= k;
    if (n <= ENTRIES_PAIRWISE_MAX) return same_pairwise(a, x, b, y, n);
    int32_t *of_a = sorted_entries(a, x, n), *of_b = sorted_entries(b, y, n);
    bool same = of_a && of_b;
    for (k = 0; k < n && same; k++) same = same_entry(a, of_a[k], b, of_b[k]);
    if (!of_a || !of_b) same = same_pairwise(a, x, b, y, n);
    free(of_a);
    free(of_b);
    return same;
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
