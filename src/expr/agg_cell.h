/* expr/agg_cell.h: one value of any type inside an aggregate's state, with memory of its own where it needs any.
 *
 * Fixed width values lie in the words; strings are views whose long bytes are ours; nested values are views of
 * their encoding (fm_lane_encode). Zero bytes are an empty cell. */
#ifndef FM_EXPR_AGG_CELL_H
#define FM_EXPR_AGG_CELL_H

#include "column/builder.h"
#include "expr/agg_lanes.h"

typedef enum fm_agg_cell_tag {
    FM_AGG_CELL_EMPTY, FM_AGG_CELL_NULL, FM_AGG_CELL_VALUE
} fm_agg_cell_tag;

typedef struct fm_agg_cell {
    uint64_t words[2];
    uint64_t tag; /* fm_agg_cell_tag */
} fm_agg_cell;

/* Takes lane i (null included) in place of what is there. */
fm_status fm_agg_cell_set(const fm_type *type, fm_agg_cell *cell, const fm_vec *v, int64_t i,
                          fm_error *err);
fm_status fm_agg_cell_copy(const fm_type *type, fm_agg_cell *dst, const fm_agg_cell *src,
                           fm_error *err);
void fm_agg_cell_clear(const fm_type *type, fm_agg_cell *cell); /* frees; empty again */
/* Appends the value; null for an empty cell. */
fm_status fm_agg_cell_append(const fm_type *type, const fm_agg_cell *cell, fm_builder *out,
                             fm_error *err);

/* SQL order of two values (fm_vec_cmp), into *order. *scratch: NULL at first, made when a nested type
 * needs it, freed by the caller. */
fm_status fm_agg_cell_cmp_lane(const fm_type *type, const fm_agg_cell *cell, const fm_vec *v,
                               int64_t i, fm_arena **scratch, int *order, fm_error *err);
fm_status fm_agg_cell_cmp(const fm_type *type, const fm_agg_cell *a, const fm_agg_cell *b,
                          fm_arena **scratch, int *order, fm_error *err);

fm_status fm_agg_cell_save(const fm_type *type, const fm_agg_cell *cell, fm_strbuf *out,
                           fm_error *err);
fm_status fm_agg_cell_load(const fm_type *type, fm_str bytes, size_t *at, fm_agg_cell *cell,
                           fm_error *err);
size_t fm_agg_cell_memory(const fm_type *type, const fm_agg_cell *cell);

/* The entries of an aggregate whose state is one cell of the type it returns. */
fm_status fm_agg_cells_finish(const fm_agg_call *call, char *const *entries, int32_t n,
                              fm_arena *arena, fm_vec *out, fm_error *err);
void fm_agg_cells_fini(const fm_agg_call *call, void *state);
fm_status fm_agg_cells_save(const fm_agg_call *call, const void *state, fm_strbuf *out,
                            fm_error *err);
fm_status fm_agg_cells_load(const fm_agg_call *call, fm_str bytes, size_t *at, void *state,
                            fm_error *err);
size_t fm_agg_cells_memory(const fm_agg_call *call, const void *state);

/* Plain values in a saved state, as the machine has them (little-endian). */
static inline void fm_agg_put(fm_strbuf *out, const void *value, size_t size)
{
    fm_strbuf_add(out, (fm_str){value, size});
}
static inline bool fm_agg_get(fm_str bytes, size_t *at, void *value, size_t size)
{
    if (bytes.len - *at < size) return false;
    if (size) memcpy(value, bytes.ptr + *at, size);
    *at += size;
    return true;
}
static inline fm_status fm_agg_saved(const fm_strbuf *out, fm_error *err)
{
    return fm_strbuf_ok(out) ? FM_OK : fm_no_memory(NULL, err);
}
fm_status fm_agg_corrupt(const fm_agg_call *call, fm_error *err); /* FM_CORRUPT, naming the function */

#endif
