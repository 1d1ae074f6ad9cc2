/* column/map_sort.c: maps with their entries in the order of their keys, so that maps that are the same look the same.
 *
 * Rule  Spark 4, GROUP BY on a map (map_sort): its entries go by their key, at every level of the value. */
#include <stdlib.h>

#include "column/vec.h"

static int by_key(const void *a, const void *b, void *keys)
{
    return fm_vec_cmp(keys, *(const int32_t *)a, keys, *(const int32_t *)b);
}

/* Where each of the entries comes from; NULL when all stand in order already. */
static fm_status order_entries(const fm_vec *v, fm_arena *arena, int32_t **out, fm_error *err)
{
    const fm_vec *keys = &v->children[0];
    bool sorted = true;

    *out = NULL;
    for (int32_t i = 0; i < v->len && sorted; i++) {
        for (int32_t j = v->offsets[i] + 1; j < v->offsets[i + 1] && sorted; j++) sorted = fm_vec_cmp(keys, j - 1, keys, j) < 0;
    }
    if (sorted) return FM_OK;
    int32_t *order = fm_arena_array(arena, int32_t, keys->len);
    if (!order) return fm_no_memory(arena, err);
    for (int32_t j = 0; j < keys->len; j++) order[j] = j;
    for (int32_t i = 0; i < v->len; i++) {
        size_t n = (size_t)(v->offsets[i + 1] - v->offsets[i]);
        if (n > 1) qsort_r(order + v->offsets[i], n, sizeof *order, by_key, (void *)(uintptr_t)keys);
    }
    *out = order;
    return FM_OK;
}

fm_status fm_vec_sort_maps(fm_vec *out, const fm_vec *in, fm_arena *arena, fm_error *err)
{
    int32_t *order = NULL;

    *out = *in;
    if (!fm_type_holds_map(in->type)) return FM_OK;
    fm_vec *children = fm_arena_array(arena, fm_vec, in->type->n_fields);
    if (!children) return fm_no_memory(arena, err);
    out->children = children;
    for (int32_t c = 0; c < in->type->n_fields; c++) FM_TRY(fm_vec_sort_maps(&children[c], &in->children[c], arena, err));
    if (in->type->id != FM_TYPE_MAP) return FM_OK;
    FM_TRY(order_entries(in, arena, &order, err));
    for (int32_t c = 0; order && c < 2; c++) {
        fm_vec child = children[c];
        FM_TRY(fm_vec_gather(&children[c], &child, order, child.len, arena, err));
    }
    return FM_OK;
}
