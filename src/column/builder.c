/* column/builder.c: vectors that grow lane by lane. */
#include "column/builder.h"

struct fm_builder {
    fm_arena *arena;
    const fm_type *type;
    int32_t len, cap;     /* cap 0: nothing was appended yet */
    int32_t rows_hint;    /* lanes to make room for at the first append */
    size_t width;
    char *values;
    uint64_t *validity;   /* NULL until the first null */
    int32_t *offsets;     /* LIST, MAP: [cap + 1] */
    fm_builder *children; /* [type->n_fields] */
    bool failed;          /* memory ran out, or a string was too long; lanes are then no longer counted */
};

static bool has_offsets(const fm_builder *b) { return b->type->id == FM_TYPE_LIST || b->type->id == FM_TYPE_MAP; }

static bool init(fm_builder *b, fm_arena *arena, const fm_type *type, int32_t rows_hint)
{
    *b = (fm_builder){.arena = arena, .type = type, .width = fm_type_width(type), .rows_hint = rows_hint};
    if (!fm_type_is_nested(type)) return true;
    b->children = fm_arena_array(arena, fm_builder, type->n_fields);
    if (!b->children) return false;
    for (int32_t i = 0; i < type->n_fields; i++) {
        if (!init(&b->children[i], arena, type->fields[i].type, rows_hint)) return false;
    }
    return true;
}

fm_builder *fm_builder_new(fm_arena *arena, const fm_type *type, int32_t rows_hint)
{
    fm_builder *b = fm_arena_one(arena, fm_builder);

    return b && init(b, arena, type, rows_hint) ? b : NULL;
}

fm_builder *fm_builder_child(fm_builder *b, int32_t i)
{
    fm_assert(i >= 0 && i < b->type->n_fields);
    return &b->children[i];
}

int32_t fm_builder_len(const fm_builder *b) { return b->len; }
const fm_type *fm_builder_type(const fm_builder *b) { return b->type; }

static void *regrow(fm_arena *arena, const void *old, size_t old_size, size_t size)
{
    char *p = fm_arena_buffer(arena, size, true);

    if (p && old_size) memcpy(p, old, old_size);
    return p;
}

static bool grow(fm_builder *b)
{
    int32_t least = b->rows_hint > 0 ? b->rows_hint : 1;

    if (b->cap > INT32_MAX / 4 || least > INT32_MAX / 4) return b->failed = true, false;
    int32_t cap = b->cap ? b->cap * 2 : (least + 63) & ~63;
    if (b->width) {
        b->values = regrow(b->arena, b->values, (size_t)b->len * b->width, (size_t)cap * b->width);
        b->failed |= !b->values;
    }
    if (b->validity) {
        b->validity = regrow(b->arena, b->validity, (size_t)fm_bit_words(b->len) * 8, (size_t)fm_bit_words(cap) * 8);
        b->failed |= !b->validity;
    }
    if (has_offsets(b)) {
        size_t old = b->offsets ? ((size_t)b->len + 1) * 4 : 0;
        b->offsets = regrow(b->arena, b->offsets, old, ((size_t)cap + 1) * 4);
        b->failed |= !b->offsets;
    }
    b->cap = cap;
    return !b->failed;
}

/* Room for one more lane; false: memory is out. */
static inline bool room(fm_builder *b)
{
    if (b->len < b->cap && !b->failed) return true;
    return !b->failed && grow(b);
}

static inline void mark_valid(fm_builder *b)
{
    if (b->validity) fm_bit_set(b->validity, b->len);
    b->len++;
}

/* Drops what was appended to the children from lane `len` of theirs on. */
static void cut_children(fm_builder *b, int32_t len)
{
    for (int32_t c = 0; c < b->type->n_fields; c++) fm_builder_truncate(&b->children[c], len);
}

static void add_null_lane(fm_builder *b)
{
    if (!room(b)) return;
    if (b->offsets) cut_children(b, b->offsets[b->len]); /* elements of a lane that turned out to be null */
    if (!b->validity && b->type->id != FM_TYPE_NULL) {
        b->validity = fm_arena_buffer(b->arena, (size_t)fm_bit_words(b->cap) * 8, true);
        if (!b->validity) {
            b->failed = true;
            return;
        }
        fm_bits_fill(b->validity, b->len);
    }
    if (b->validity) fm_bit_clear(b->validity, b->len); /* a lane that was cut off may have left its bit */
    if (b->width) memset(b->values + (size_t)b->len * b->width, 0, b->width);
    if (b->offsets) b->offsets[b->len + 1] = b->offsets[b->len];
    b->len++;
}

void fm_builder_null(fm_builder *b)
{
    if (b->type->id == FM_TYPE_STRUCT) {
        /* Children may have got a value already, from a record that turned out to be null. */
        for (int32_t i = 0; i < b->type->n_fields; i++) {
            if (b->children[i].len <= b->len) fm_builder_null(&b->children[i]);
        }
    }
    add_null_lane(b);
}

void fm_builder_bool(fm_builder *b, bool x)
{
    if (!room(b)) return;
    b->values[b->len] = x;
    mark_valid(b);
}

void fm_builder_i64(fm_builder *b, int64_t x)
{
    if (!room(b)) return;
    switch (b->width) {
    case 1: ((int8_t *)(void *)b->values)[b->len] = (int8_t)x; break;
    case 2: ((int16_t *)(void *)b->values)[b->len] = (int16_t)x; break;
    case 4: ((int32_t *)(void *)b->values)[b->len] = (int32_t)x; break;
    default: ((int64_t *)(void *)b->values)[b->len] = x; break;
    }
    mark_valid(b);
}

void fm_builder_f64(fm_builder *b, double x)
{
    if (!room(b)) return;
    if (b->width == 4) ((float *)(void *)b->values)[b->len] = (float)x;
    else ((double *)(void *)b->values)[b->len] = x;
    mark_valid(b);
}

void fm_builder_decimal(fm_builder *b, fm_i128 unscaled)
{
    if (!room(b)) return;
    ((fm_i128 *)(void *)b->values)[b->len] = unscaled;
    mark_valid(b);
}

void fm_builder_str(fm_builder *b, fm_str bytes)
{
    bool ok = bytes.len <= UINT32_MAX;

    if (!room(b)) return;
    if (ok) ((fm_view *)(void *)b->values)[b->len] = fm_view_copy(b->arena, bytes.ptr, bytes.len, &ok);
    b->failed |= !ok;
    mark_valid(b);
}

void fm_builder_str_ref(fm_builder *b, fm_str bytes)
{
    if (bytes.len > UINT32_MAX) b->failed = true;
    if (!room(b)) return;
    ((fm_view *)(void *)b->values)[b->len] = fm_view_of(bytes.ptr, bytes.len);
    mark_valid(b);
}

void fm_builder_end(fm_builder *b)
{
    if (!room(b)) return;
    if (b->offsets) b->offsets[b->len + 1] = b->children[0].len;
    mark_valid(b);
}

void fm_builder_lane(fm_builder *b, const fm_vec *from, int64_t i)
{
    if (fm_vec_is_null(from, i)) {
        fm_builder_null(b);
        return;
    }
    if (b->width) {
        if (!room(b)) return;
        memcpy(b->values + (size_t)b->len * b->width, (const char *)from->values + (size_t)i * b->width, b->width);
        mark_valid(b);
        return;
    }
    if (b->type->id == FM_TYPE_STRUCT) {
        for (int32_t c = 0; c < b->type->n_fields; c++) fm_builder_lane(&b->children[c], &from->children[c], i);
    } else {
        for (int32_t c = 0; c < b->type->n_fields; c++) {
            for (int32_t j = from->offsets[i]; j < from->offsets[i + 1]; j++) fm_builder_lane(&b->children[c], &from->children[c], j);
        }
    }
    fm_builder_end(b);
}

void fm_builder_truncate(fm_builder *b, int32_t len)
{
    bool is_struct = b->type->id == FM_TYPE_STRUCT;

    fm_assert(len >= 0);
    if (b->failed) return;
    /* Children may be ahead of their parent by what was appended for a lane that is not closed. */
    if (is_struct) cut_children(b, len);
    if (has_offsets(b)) cut_children(b, b->offsets && len <= b->len ? b->offsets[len] : 0);
    if (len < b->len) b->len = len;
}

/* A struct's children have a lane for each of its own, a list's at least as many as its offsets say. */
static bool is_closed(const fm_builder *b)
{
    bool is_struct = b->type->id == FM_TYPE_STRUCT;

    for (int32_t c = 0; c < b->type->n_fields; c++) {
        int32_t wanted = is_struct ? b->len : b->offsets ? b->offsets[b->len] : 0;
        if (!b->children[c].failed && (is_struct ? b->children[c].len != wanted : b->children[c].len < wanted)) return false;
    }
    return true;
}

fm_status fm_builder_finish(fm_builder *b, fm_vec *out, fm_error *err)
{
    *out = (fm_vec){.type = b->type, .len = b->len};
    if (b->failed || (b->cap == 0 && !grow(b))) return fm_no_memory(b->arena, err);
    fm_assert(is_closed(b));
    out->validity = b->validity;
    out->values = b->values;
    out->offsets = b->offsets;
    if (fm_type_is_nested(b->type)) {
        fm_vec *children = fm_arena_array(b->arena, fm_vec, b->type->n_fields);
        if (!children) return fm_no_memory(b->arena, err);
        for (int32_t i = 0; i < b->type->n_fields; i++) FM_TRY(fm_builder_finish(&b->children[i], &children[i], err));
        out->children = children;
    }
    b->len = b->cap = 0;
    b->values = NULL;
    b->validity = NULL;
    b->offsets = NULL;
    return FM_OK;
}
