/* expr/agg_cell.c: one value of any type inside an aggregate's state. */
#include "expr/agg_cell.h"

#include <stdlib.h>

#include "column/key.h"
#include "expr/decimal.h"

static bool is_fixed(const fm_type *type) { return fm_type_width(type) && !fm_type_is_view(type); }

static fm_view view_of(const fm_agg_cell *cell)
{
    fm_view view;
    memcpy(&view, cell->words, sizeof view);
    return view;
}

/* Takes a copy of bytes. */
static fm_status set_bytes(fm_agg_cell *cell, fm_str bytes, fm_error *err)
{
    fm_view view;
    char *own = NULL;
    if (bytes.len > UINT32_MAX)
        return fm_fail(err, FM_LIMIT, "FLOODMARK_VALUE_TOO_LONG",
                       "An aggregate was to keep a value of %zu bytes; the most is 4 GB.", bytes.len);
    if (bytes.len > FM_VIEW_INLINE) {
        own = malloc(bytes.len);
        if (!own) return fm_no_memory(NULL, err);
        memcpy(own, bytes.ptr, bytes.len);
    }
    view = fm_view_of(own ? own : bytes.ptr, bytes.len);
    memcpy(cell->words, &view, sizeof view);
    cell->tag = FM_AGG_CELL_VALUE;
    return FM_OK;
}

void fm_agg_cell_clear(const fm_type *type, fm_agg_cell *cell)
{
    if (cell->tag == FM_AGG_CELL_VALUE && !is_fixed(type)) {
        fm_view view = view_of(cell);
        if (view.len > FM_VIEW_INLINE) free((void *)(uintptr_t)view.u.out.ptr);
    }
    *cell = (fm_agg_cell){0};
}

fm_status fm_agg_cell_set(const fm_type *type, fm_agg_cell *cell, const fm_vec *v, int64_t i,
                          fm_error *err)
{
    size_t width = fm_type_width(type);
    fm_strbuf text = {0};
    fm_status st;

    fm_agg_cell_clear(type, cell);
    if (fm_vec_is_null(v, i)) {
        cell->tag = FM_AGG_CELL_NULL;
        return FM_OK;
    }
    if (is_fixed(type)) {
        memcpy(cell->words, (const char *)v->values + (size_t)i * width, width);
        cell->tag = FM_AGG_CELL_VALUE;
        return FM_OK;
    }
    if (fm_type_is_view(type)) return set_bytes(cell, fm_vec_str(v, i), err);
    st = fm_lane_encode(v, i, &text, err);
    if (st == FM_OK) st = set_bytes(cell, fm_strbuf_str(&text), err);
    fm_strbuf_fini(&text);
    return st;
}

fm_status fm_agg_cell_copy(const fm_type *type, fm_agg_cell *dst, const fm_agg_cell *src,
                           fm_error *err)
{
    fm_view view;
    fm_agg_cell_clear(type, dst);
    if (src->tag != FM_AGG_CELL_VALUE || is_fixed(type)) {
        *dst = *src;
        return FM_OK;
    }
    view = view_of(src);
    return set_bytes(dst, fm_view_str(&view), err);
}

/* ---- Reading ----------------------------------------------------------------------------------------------- */

fm_status fm_agg_cell_append(const fm_type *type, const fm_agg_cell *cell, fm_builder *out,
                             fm_error *err)
{
    fm_i128 words;
    fm_vec lane = {.type = type, .len = 1, .values = &words};
    fm_view view;
    size_t at = 0;

    if (cell->tag != FM_AGG_CELL_VALUE) {
        fm_builder_null(out);
        return FM_OK;
    }
    memcpy(&words, cell->words, sizeof words);
    if (is_fixed(type)) {
        fm_builder_lane(out, &lane, 0);
        return FM_OK;
    }
    view = view_of(cell);
    if (!fm_type_is_view(type)) return fm_lane_decode(fm_view_str(&view), &at, out, err);
    fm_builder_str(out, fm_view_str(&view));
    return FM_OK;
}

/* The cell as a vector of one lane; *words is its room. */
static fm_status as_vec(const fm_type *type, const fm_agg_cell *cell, fm_i128 *words,
                        fm_arena **scratch, fm_vec *out, fm_error *err)
{
    fm_builder *builder;
    memcpy(words, cell->words, sizeof *words);
    *out = (fm_vec){.type = type, .len = 1, .values = words};
    if (!fm_type_is_nested(type)) return FM_OK;
    if (!*scratch) *scratch = fm_arena_new(0);
    if (!*scratch) return fm_no_memory(NULL, err);
    builder = fm_builder_new(*scratch, type, 1);
    if (!builder) return fm_no_memory(*scratch, err);
    FM_TRY(fm_agg_cell_append(type, cell, builder, err));
    return fm_builder_finish(builder, out, err);
}

fm_status fm_agg_cell_cmp_lane(const fm_type *type, const fm_agg_cell *cell, const fm_vec *v,
                               int64_t i, fm_arena **scratch, int *order, fm_error *err)
{
    fm_i128 words;
    fm_vec lane;
    if (*scratch) fm_arena_reset(*scratch);
    FM_TRY(as_vec(type, cell, &words, scratch, &lane, err));
    *order = fm_vec_cmp(&lane, 0, v, i);
    return FM_OK;
}

fm_status fm_agg_cell_cmp(const fm_type *type, const fm_agg_cell *a, const fm_agg_cell *b,
                          fm_arena **scratch, int *order, fm_error *err)
{
    fm_i128 words_a, words_b;
    fm_vec lane_a, lane_b;
    if (*scratch) fm_arena_reset(*scratch);
    FM_TRY(as_vec(type, a, &words_a, scratch, &lane_a, err));
    FM_TRY(as_vec(type, b, &words_b, scratch, &lane_b, err));
    *order = fm_vec_cmp(&lane_a, 0, &lane_b, 0);
    return FM_OK;
}

/* ---- Files ------------------------------------------------------------------------------------------------- */

fm_status fm_agg_corrupt(const fm_agg_call *call, fm_error *err)
{
    return fm_fail(err, FM_CORRUPT, "FLOODMARK_STATE_DAMAGED",
                   "A stored state of %s() does not have the form it was written in.",
                   call ? call->aggregate->name : "an aggregate");
}

/* tag byte; of a value: its bytes in their width, or u32 length and bytes. */
fm_status fm_agg_cell_save(const fm_type *type, const fm_agg_cell *cell, fm_strbuf *out,
                           fm_error *err)
{
    fm_strbuf_add_char(out, (char)cell->tag);
    if (cell->tag == FM_AGG_CELL_VALUE && is_fixed(type)) {
        fm_agg_put(out, cell->words, fm_type_width(type));
    } else if (cell->tag == FM_AGG_CELL_VALUE) {
        fm_view view = view_of(cell);
        fm_agg_put(out, &view.len, sizeof view.len);
        fm_strbuf_add(out, fm_view_str(&view));
    }
    return fm_agg_saved(out, err);
}

fm_status fm_agg_cell_load(const fm_type *type, fm_str bytes, size_t *at, fm_agg_cell *cell,
                           fm_error *err)
{
    uint8_t tag;
    uint32_t len;
    if (!fm_agg_get(bytes, at, &tag, 1) || tag > FM_AGG_CELL_VALUE) return fm_agg_corrupt(NULL, err);
    *cell = (fm_agg_cell){.tag = tag};
    if (tag != FM_AGG_CELL_VALUE) return FM_OK;
    cell->tag = FM_AGG_CELL_EMPTY; /* until it owns what it says */
    if (is_fixed(type)) {
        if (!fm_agg_get(bytes, at, cell->words, fm_type_width(type))) return fm_agg_corrupt(NULL, err);
        if (type->id == FM_TYPE_BOOL && cell->words[0] > 1) return fm_agg_corrupt(NULL, err);
        cell->tag = FM_AGG_CELL_VALUE;
        return FM_OK;
    }
    if (!fm_agg_get(bytes, at, &len, sizeof len) || bytes.len - *at < len)
        return fm_agg_corrupt(NULL, err);
    *at += len;
    return set_bytes(cell, (fm_str){bytes.ptr + *at - len, len}, err);
}

size_t fm_agg_cell_memory(const fm_type *type, const fm_agg_cell *cell)
{
    fm_view view = view_of(cell);
    if (cell->tag != FM_AGG_CELL_VALUE || is_fixed(type)) return 0;
    return view.len > FM_VIEW_INLINE ? view.len : 0;
}

/* ---- Aggregates whose state is one cell -------------------------------------------------------------------- */

fm_status fm_agg_cells_finish(const fm_agg_call *call, char *const *entries, int32_t n,
                              fm_arena *arena, fm_vec *out, fm_error *err)
{
    fm_builder *builder = fm_builder_new(arena, call->returns, n);
    if (!builder) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++)
        FM_TRY(fm_agg_cell_append(call->returns, fm_agg_state(call, entries[i]), builder, err));
    return fm_builder_finish(builder, out, err);
}

void fm_agg_cells_fini(const fm_agg_call *call, void *state)
{
    fm_agg_cell_clear(call->returns, state);
}

fm_status fm_agg_cells_save(const fm_agg_call *call, const void *state, fm_strbuf *out,
                            fm_error *err)
{
    return fm_agg_cell_save(call->returns, state, out, err);
}

fm_status fm_agg_cells_load(const fm_agg_call *call, fm_str bytes, size_t *at, void *state,
                            fm_error *err)
{
    return fm_agg_cell_load(call->returns, bytes, at, state, err);
}

size_t fm_agg_cells_memory(const fm_agg_call *call, const void *state)
{
    return fm_agg_cell_memory(call->returns, state);
}
