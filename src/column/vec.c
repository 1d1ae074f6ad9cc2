/* column/vec.c: making vectors out of vectors. */
#include "column/vec.h"

fm_view fm_view_copy(fm_arena *arena, const char *ptr, size_t len, bool *ok)
{
    if (len <= FM_VIEW_INLINE) return fm_view_of(ptr, len);
    char *copy = fm_arena_alloc(arena, len, 1);
    if (!copy) {
        *ok = false;
        return (fm_view){0};
    }
    memcpy(copy, ptr, len);
    return fm_view_of(copy, len);
}

fm_status fm_vec_init(fm_vec *out, const fm_type *type, int32_t len, fm_arena *arena, fm_error *err)
{
    size_t width = fm_type_width(type);

    *out = (fm_vec){.type = type, .len = len};
    if (width == 0) return FM_OK;
    out->values = fm_arena_buffer(arena, (size_t)len * width, true);
    return out->values ? FM_OK : fm_no_memory(arena, err);
}

static fm_status make_children(fm_vec *out, fm_arena *arena, fm_vec **children, fm_error *err)
{
    *children = fm_arena_array(arena, fm_vec, out->type->n_fields);
    if (!*children) return fm_no_memory(arena, err);
    out->children = *children;
    return FM_OK;
}

static uint64_t *new_bitmap(fm_arena *arena, int64_t n)
{
    return fm_arena_buffer(arena, (size_t)fm_bit_words(n) * 8, true);
}

fm_status fm_vec_nulls(fm_vec *out, const fm_type *type, int32_t len, fm_arena *arena, fm_error *err)
{
    fm_vec *children;

    FM_TRY(fm_vec_init(out, type, len, arena, err));
    if (type->id == FM_TYPE_NULL) return FM_OK;
    out->validity = new_bitmap(arena, len);
    if (!out->validity) return fm_no_memory(arena, err);
    if (!fm_type_is_nested(type)) return FM_OK;
    FM_TRY(make_children(out, arena, &children, err));
    bool is_struct = type->id == FM_TYPE_STRUCT;
    for (int32_t i = 0; i < type->n_fields; i++) {
        FM_TRY(fm_vec_nulls(&children[i], type->fields[i].type, is_struct ? len : 0, arena, err));
    }
    if (is_struct) return FM_OK;
    out->offsets = fm_arena_buffer(arena, ((size_t)len + 1) * sizeof(int32_t), true);
    return out->offsets ? FM_OK : fm_no_memory(arena, err);
}

/* ---- Gather ------------------------------------------------------------------------------------------------ */

/* all: no row is -1, so nothing is asked. */
#define GATHER(T)                                                                                               \
    static void gather_##T(T *restrict out, const T *restrict in, const int32_t *restrict rows, int32_t n, bool all) \
    {                                                                                                           \
        if (all) {                                                                                              \
            for (int32_t i = 0; i < n; i++) out[i] = in[rows[i]];                                               \
        } else {                                                                                                \
            for (int32_t i = 0; i < n; i++) out[i] = rows[i] >= 0 ? in[rows[i]] : (T){0};                       \
        }                                                                                                       \
    }
GATHER(uint8_t)
GATHER(uint16_t)
GATHER(uint32_t)
GATHER(uint64_t)
GATHER(fm_view) /* decimals too: 16 bytes, and a single value need not stand at a multiple of 16 */
#undef GATHER

static void gather_values(fm_vec *out, const fm_vec *in, const int32_t *rows, int32_t n, bool all)
{
    void *to = (void *)(uintptr_t)out->values;

    switch (fm_type_width(in->type)) {
    case 1: gather_uint8_t(to, in->values, rows, n, all); break;
    case 2: gather_uint16_t(to, in->values, rows, n, all); break;
    case 4: gather_uint32_t(to, in->values, rows, n, all); break;
    case 8: gather_uint64_t(to, in->values, rows, n, all); break;
    case 16: gather_fm_view(to, in->values, rows, n, all); break;
    default: break;
    }
}

/* Whether no row is -1. */
static bool all_rows(const int32_t *rows, int32_t n)
{
    int32_t sign = 0;

    for (int32_t i = 0; i < n; i++) sign |= rows[i];
    return sign >= 0;
}

static fm_status gather_validity(fm_vec *out, const fm_vec *in, const int32_t *rows, int32_t n, bool all, fm_arena *arena,
                                 fm_error *err)
{
    if ((all && !in->validity) || in->type->id == FM_TYPE_NULL) return FM_OK;
    uint64_t *bits = new_bitmap(arena, n);
    if (!bits) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) {
        bool valid = rows[i] >= 0 && fm_bit_valid(in->validity, rows[i]);
        bits[i >> 6] |= (uint64_t)valid << (i & 63);
    }
    out->validity = bits;
    return FM_OK;
}

/* Lists and maps: their elements are gathered by a list of element indexes. */
static fm_status gather_elements(fm_vec *out, const fm_vec *in, const int32_t *rows, int32_t n, fm_arena *arena, fm_error *err)
{
    int32_t *offsets = fm_arena_buffer(arena, ((size_t)n + 1) * sizeof *offsets, true);
    fm_vec *children;
    int64_t total = 0;

    if (!offsets) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) {
        if (rows[i] >= 0) total += in->offsets[rows[i] + 1] - in->offsets[rows[i]];
        if (total > INT32_MAX) return fm_fail(err, FM_LIMIT, "FLOODMARK_BATCH_TOO_LARGE", "A batch has more than 2^31 rows or array elements.");
        offsets[i + 1] = (int32_t)total;
    }
    int32_t *elements = fm_arena_array(arena, int32_t, total);
    if (!elements) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) {
        if (rows[i] < 0) continue;
        int32_t from = in->offsets[rows[i]];
        for (int32_t j = offsets[i]; j < offsets[i + 1]; j++) elements[j] = from + j - offsets[i];
    }
    out->offsets = offsets;
    FM_TRY(make_children(out, arena, &children, err));
    for (int32_t c = 0; c < in->type->n_fields; c++) {
        FM_TRY(fm_vec_gather(&children[c], &in->children[c], elements, (int32_t)total, arena, err));
    }
    return FM_OK;
}

fm_status fm_vec_gather(fm_vec *out, const fm_vec *in, const int32_t *rows, int32_t n, fm_arena *arena, fm_error *err)
{
    fm_vec *children;
    size_t width = fm_type_width(in->type);

    bool all = all_rows(rows, n);

    *out = (fm_vec){.type = in->type, .len = n};
    FM_TRY(gather_validity(out, in, rows, n, all, arena, err));
    if (width) {
        out->values = fm_arena_buffer(arena, (size_t)n * width, false);
        if (!out->values) return fm_no_memory(arena, err);
        gather_values(out, in, rows, n, all);
    }
    if (in->type->id == FM_TYPE_LIST || in->type->id == FM_TYPE_MAP) return gather_elements(out, in, rows, n, arena, err);
    if (in->type->id != FM_TYPE_STRUCT) return FM_OK;
    FM_TRY(make_children(out, arena, &children, err));
    for (int32_t c = 0; c < in->type->n_fields; c++) {
        FM_TRY(fm_vec_gather(&children[c], &in->children[c], rows, n, arena, err));
    }
    return FM_OK;
}

fm_status fm_vec_repeat(fm_vec *out, const fm_vec *in, int32_t i, int32_t len, fm_arena *arena, fm_error *err)
{
    int32_t *rows = fm_arena_alloc(arena, (size_t)len * sizeof *rows + 1, 4);

    if (!rows) return fm_no_memory(arena, err);
    for (int32_t j = 0; j < len; j++) rows[j] = i;
    return fm_vec_gather(out, in, rows, len, arena, err);
}

/* ---- Concat ------------------------------------------------------------------------------------------------ */

/* Lanes of a vector that are to be appended. */
typedef struct piece {
    const fm_vec *v;
    int32_t from, n;
} piece;

static fm_status too_many_lanes(fm_error *err)
{
    return fm_fail(err, FM_LIMIT, "FLOODMARK_BATCH_TOO_LARGE", "A batch has more than 2^31 rows or array elements.");
}

/* Sets bits [at, at + n) of `to` (zero so far) to those of `from` [start, start + n), or to 1. */
static void append_bits(uint64_t *to, int64_t at, const uint64_t *from, int64_t start, int64_t n)
{
    for (int64_t i = 0; i < n;) {
        int64_t room = 64 - ((at + i) & 63), k = n - i < room ? n - i : room, src = start + i;
        uint64_t word = ~(uint64_t)0;
        if (from) {
            word = from[src >> 6] >> (src & 63);
            /* The next word is only touched when it holds bits we want. */
            if ((src & 63) + k > 64) word |= from[(src >> 6) + 1] << (64 - (src & 63));
        }
        if (k < 64) word &= ((uint64_t)1 << k) - 1;
        to[(at + i) >> 6] |= word << ((at + i) & 63);
        i += k;
    }
}

static fm_status concat_pieces(fm_vec *out, const fm_type *type, const piece *pieces, int32_t n, fm_arena *arena, fm_error *err);

static fm_status concat_validity(fm_vec *out, const piece *pieces, int32_t n, fm_arena *arena, fm_error *err)
{
    bool any = false;
    int64_t at = 0;

    for (int32_t p = 0; p < n && !any; p++) any = pieces[p].v->validity != NULL;
    if (!any || out->type->id == FM_TYPE_NULL) return FM_OK;
    uint64_t *bits = new_bitmap(arena, out->len);
    if (!bits) return fm_no_memory(arena, err);
    for (int32_t p = 0; p < n; p++) {
        append_bits(bits, at, pieces[p].v->validity, pieces[p].from, pieces[p].n);
        at += pieces[p].n;
    }
    out->validity = bits;
    return FM_OK;
}

static fm_status concat_values(fm_vec *out, const piece *pieces, int32_t n, fm_arena *arena, fm_error *err)
{
    size_t width = fm_type_width(out->type);
    char *to = fm_arena_buffer(arena, (size_t)out->len * width, false);

    if (!to) return fm_no_memory(arena, err);
    out->values = to;
    for (int32_t p = 0; p < n; p++) {
        size_t size = (size_t)pieces[p].n * width;
        if (size) memcpy(to, (const char *)pieces[p].v->values + (size_t)pieces[p].from * width, size);
        to += size;
    }
    return FM_OK;
}

/* Lists and maps: the offsets go on where those of the piece before ended; pieces become those of the elements. */
static fm_status concat_offsets(fm_vec *out, const piece *pieces, int32_t n, piece *elements, fm_arena *arena, fm_error *err)
{
    int32_t *offsets = fm_arena_buffer(arena, ((size_t)out->len + 1) * sizeof *offsets, true);
    int64_t total = 0, at = 0;

    if (!offsets) return fm_no_memory(arena, err);
    for (int32_t p = 0; p < n; p++) {
        const int32_t *from = pieces[p].v->offsets + pieces[p].from;
        elements[p].from = from[0];
        elements[p].n = from[pieces[p].n] - from[0];
        if (total + elements[p].n > INT32_MAX) return too_many_lanes(err);
        for (int32_t i = 0; i < pieces[p].n; i++) offsets[at + i + 1] = (int32_t)(total + from[i + 1] - from[0]);
        total += elements[p].n;
        at += pieces[p].n;
    }
    out->offsets = offsets;
    return FM_OK;
}

static fm_status concat_children(fm_vec *out, const piece *pieces, int32_t n, fm_arena *arena, fm_error *err)
{
    piece *parts = fm_arena_array(arena, piece, n);
    fm_vec *children;

    if (!parts) return fm_no_memory(arena, err);
    for (int32_t p = 0; p < n; p++) parts[p] = pieces[p];
    if (out->type->id != FM_TYPE_STRUCT) FM_TRY(concat_offsets(out, pieces, n, parts, arena, err));
    FM_TRY(make_children(out, arena, &children, err));
    for (int32_t c = 0; c < out->type->n_fields; c++) {
        for (int32_t p = 0; p < n; p++) parts[p].v = &pieces[p].v->children[c];
        FM_TRY(concat_pieces(&children[c], out->type->fields[c].type, parts, n, arena, err));
    }
    return FM_OK;
}

static fm_status concat_pieces(fm_vec *out, const fm_type *type, const piece *pieces, int32_t n, fm_arena *arena, fm_error *err)
{
    int64_t total = 0;

    for (int32_t p = 0; p < n; p++) total += pieces[p].n;
    if (total > INT32_MAX) return too_many_lanes(err);
    *out = (fm_vec){.type = type, .len = (int32_t)total};
    FM_TRY(concat_validity(out, pieces, n, arena, err));
    if (fm_type_is_nested(type)) return concat_children(out, pieces, n, arena, err);
    return type->id == FM_TYPE_NULL ? FM_OK : concat_values(out, pieces, n, arena, err);
}

fm_status fm_vec_concat(fm_vec *out, const fm_vec *const *parts, int32_t n, fm_arena *arena, fm_error *err)
{
    fm_assert(n > 0);
    piece *pieces = fm_arena_array(arena, piece, n);

    if (!pieces) return fm_no_memory(arena, err);
    for (int32_t p = 0; p < n; p++) pieces[p] = (piece){parts[p], 0, parts[p]->len};
    return concat_pieces(out, parts[0]->type, pieces, n, arena, err);
}

/* ---- Copy -------------------------------------------------------------------------------------------------- */

static const void *copy_bytes(fm_arena *arena, const void *bytes, size_t size)
{
    void *p = fm_arena_buffer(arena, size, false);

    if (p && size) memcpy(p, bytes, size);
    return p;
}

static fm_status copy_views(fm_vec *out, const fm_vec *in, fm_arena *arena, fm_error *err)
{
    fm_view *to = fm_arena_buffer(arena, (size_t)in->len * sizeof *to, false);
    const fm_view *from = fm_vec_view(in);
    size_t total = 0, at = 0;

    if (!to) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < in->len; i++) total += from[i].len > FM_VIEW_INLINE ? from[i].len : 0;
    char *bytes = fm_arena_alloc(arena, total, 1);
    if (!bytes) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < in->len; i++) {
        to[i] = from[i];
        if (from[i].len <= FM_VIEW_INLINE) continue;
        memcpy(bytes + at, from[i].u.out.ptr, from[i].len);
        to[i].u.out.ptr = bytes + at;
        at += from[i].len;
    }
    out->values = to;
    return FM_OK;
}

fm_status fm_vec_copy(fm_vec *out, const fm_vec *in, fm_arena *arena, fm_error *err)
{
    return fm_vec_copy_as(out, in, in->type, arena, err);
}

fm_status fm_vec_copy_as(fm_vec *out, const fm_vec *in, const fm_type *type, fm_arena *arena, fm_error *err)
{
    fm_vec *children;
    size_t width = fm_type_width(type);

    fm_assert(out != in);
    *out = (fm_vec){.type = type, .len = in->len};
    if (in->validity) {
        out->validity = copy_bytes(arena, in->validity, (size_t)fm_bit_words(in->len) * 8);
        if (!out->validity) return fm_no_memory(arena, err);
    }
    if (fm_type_is_view(type)) return copy_views(out, in, arena, err);
    if (width) {
        out->values = copy_bytes(arena, in->values, (size_t)in->len * width);
        return out->values ? FM_OK : fm_no_memory(arena, err);
    }
    if (!fm_type_is_nested(type)) return FM_OK;
    if (in->offsets) {
        out->offsets = copy_bytes(arena, in->offsets, ((size_t)in->len + 1) * sizeof(int32_t));
        if (!out->offsets) return fm_no_memory(arena, err);
    }
    FM_TRY(make_children(out, arena, &children, err));
    for (int32_t i = 0; i < type->n_fields; i++) {
        FM_TRY(fm_vec_copy_as(&children[i], &in->children[i], type->fields[i].type, arena, err));
    }
    return FM_OK;
}
