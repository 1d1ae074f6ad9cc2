/* column/vec.c: making vectors out of vectors. */
#include "column/vec.h"

#include "column/builder.h"

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

#define GATHER(T)                                                                             \
    static void gather_##T(T *restrict out, const T *restrict in, const int32_t *restrict rows, int32_t n) \
    {                                                                                         \
        for (int32_t i = 0; i < n; i++) out[i] = rows[i] >= 0 ? in[rows[i]] : (T){0};         \
    }
GATHER(uint8_t)
GATHER(uint16_t)
GATHER(uint32_t)
GATHER(uint64_t)
GATHER(fm_u128)
#undef GATHER

static void gather_values(fm_vec *out, const fm_vec *in, const int32_t *rows, int32_t n)
{
    void *to = (void *)(uintptr_t)out->values;

    switch (fm_type_width(in->type)) {
    case 1: gather_uint8_t(to, in->values, rows, n); break;
    case 2: gather_uint16_t(to, in->values, rows, n); break;
    case 4: gather_uint32_t(to, in->values, rows, n); break;
    case 8: gather_uint64_t(to, in->values, rows, n); break;
    case 16: gather_fm_u128(to, in->values, rows, n); break;
    default: break;
    }
}

static fm_status gather_validity(fm_vec *out, const fm_vec *in, const int32_t *rows, int32_t n, fm_arena *arena, fm_error *err)
{
    bool any = in->validity != NULL;

    for (int32_t i = 0; i < n && !any; i++) any = rows[i] < 0;
    if (!any || in->type->id == FM_TYPE_NULL) return FM_OK;
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
        if (total > INT32_MAX) return fm_fail(err, FM_LIMIT, "FLOODMARK_BATCH_TOO_LARGE", "A batch has more than 2^31 array elements.");
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

    *out = (fm_vec){.type = in->type, .len = n};
    FM_TRY(gather_validity(out, in, rows, n, arena, err));
    if (width) {
        out->values = fm_arena_buffer(arena, (size_t)n * width, false);
        if (!out->values) return fm_no_memory(arena, err);
        gather_values(out, in, rows, n);
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

fm_status fm_vec_concat(fm_vec *out, const fm_vec *const *parts, int32_t n, fm_arena *arena, fm_error *err)
{
    fm_assert(n > 0);
    int64_t total = 0;

    for (int32_t p = 0; p < n; p++) total += parts[p]->len;
    if (total > INT32_MAX) return fm_fail(err, FM_LIMIT, "FLOODMARK_BATCH_TOO_LARGE", "A batch has more than 2^31 rows.");
    fm_builder *b = fm_builder_new(arena, parts[0]->type, (int32_t)total);
    if (!b) return fm_no_memory(arena, err);
    for (int32_t p = 0; p < n; p++) {
        for (int32_t i = 0; i < parts[p]->len; i++) fm_builder_lane(b, parts[p], i);
    }
    return fm_builder_finish(b, out, err);
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

/* ---- Verify ------------------------------------------------------------------------------------------------ */

static fm_status broken(fm_error *err, const char *rule)
{
    return fm_fail(err, FM_CORRUPT, "FLOODMARK_BAD_VECTOR", "A vector breaks a rule: %s. This is a bug.", rule);
}

static fm_status verify_values(const fm_vec *v, fm_error *err)
{
    static const char zeros[16];
    size_t width = fm_type_width(v->type);

    if (width && !v->values) return broken(err, "values are missing");
    for (int32_t i = 0; width && i < v->len; i++) {
        const char *value = (const char *)v->values + (size_t)i * width;
        if (fm_vec_is_null(v, i) && memcmp(value, zeros, width) != 0) return broken(err, "a null lane is not zero");
        if (v->type->id == FM_TYPE_BOOL && *(const uint8_t *)value > 1) return broken(err, "a boolean is neither 0 nor 1");
        if (!fm_type_is_view(v->type)) continue;
        const fm_view *view = (const fm_view *)value;
        if (view->len <= FM_VIEW_INLINE) {
            if (memcmp(view->u.inlined + view->len, zeros, FM_VIEW_INLINE - view->len) != 0) return broken(err, "an inline view is not padded with zeros");
        } else if (!view->u.out.ptr || memcmp(view->u.out.ptr, view->u.out.prefix, 4) != 0) {
            return broken(err, "the prefix of a view is not that of its bytes");
        }
    }
    return FM_OK;
}

static fm_status verify_lists(const fm_vec *v, fm_error *err)
{
    if (!v->offsets) return broken(err, "offsets are missing");
    if (v->offsets[0] < 0) return broken(err, "an offset is negative");
    for (int32_t i = 0; i < v->len; i++) {
        if (v->offsets[i + 1] < v->offsets[i]) return broken(err, "offsets fall");
        if (fm_vec_is_null(v, i) && v->offsets[i + 1] != v->offsets[i]) return broken(err, "a null list is not empty");
    }
    for (int32_t c = 0; c < v->type->n_fields; c++) {
        if (v->children[c].len < v->offsets[v->len]) return broken(err, "offsets point behind the elements");
    }
    if (v->type->id != FM_TYPE_MAP) return FM_OK;
    for (int32_t j = v->offsets[0]; j < v->offsets[v->len]; j++) {
        if (fm_vec_is_null(&v->children[0], j)) return broken(err, "a map key is null");
    }
    return FM_OK;
}

fm_status fm_vec_verify(const fm_vec *v, fm_error *err)
{
    if (!v->type || v->len < 0) return broken(err, "type or length is missing");
    FM_TRY(verify_values(v, err));
    if (!fm_type_is_nested(v->type)) return FM_OK;
    if (v->type->n_fields && !v->children) return broken(err, "children are missing");
    if (v->type->id != FM_TYPE_STRUCT) FM_TRY(verify_lists(v, err));
    for (int32_t c = 0; c < v->type->n_fields; c++) {
        if (!fm_type_eq(v->children[c].type, v->type->fields[c].type)) return broken(err, "a child has another type than its field");
        if (v->type->id == FM_TYPE_STRUCT && v->children[c].len != v->len) return broken(err, "a child of a struct has another length");
        FM_TRY(fm_vec_verify(&v->children[c], err));
    }
    return FM_OK;
}
