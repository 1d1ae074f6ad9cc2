/* column/key_decode.c: columns from keys, and lanes from their bytes. The bytes may come from a damaged file: everything is
 * checked, and what does not parse is FM_CORRUPT. */
#include "base/limits.h"
#include "column/builder.h"
#include "column/key.h"

static fm_status corrupt(fm_error *err)
{
    return fm_fail(err, FM_CORRUPT, "FLOODMARK_STATE_DAMAGED",
                   "Stored bytes are not a value of the type that they should be. The state is damaged, or was written by "
                   "another query.");
}

static bool get_u32(fm_str bytes, size_t *at, uint32_t *out)
{
    if (bytes.len - *at < sizeof *out) return false;
    memcpy(out, bytes.ptr + *at, sizeof *out);
    *at += sizeof *out;
    return true;
}

static bool get_flag(fm_str bytes, size_t *at, bool *out)
{
    if (*at >= bytes.len || (unsigned char)bytes.ptr[*at] > 1) return false;
    *out = bytes.ptr[(*at)++];
    return true;
}

static bool fits_decimal(fm_i128 x, int precision)
{
    fm_i128 bound = 1;

    for (int i = 0; i < precision; i++) bound *= 10; /* 10^38 < 2^127 */
    return x < bound && x > -bound;
}

/* ---- Lanes --------------------------------------------------------------------------------------------------- */

static bool get_fixed(fm_str bytes, size_t *at, fm_builder *b, const fm_type *type)
{
    size_t width = fm_type_width(type);
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    float f32;
    double f64;
    fm_i128 i128;

    if (bytes.len - *at < width) return false;
    const char *p = bytes.ptr + *at;
    *at += width;
    switch (type->id) {
    case FM_TYPE_NULL: return false; /* is never present */
    case FM_TYPE_BOOL:
        if ((unsigned char)*p > 1) return false;
        fm_builder_bool(b, *p);
        return true;
    case FM_TYPE_F32:
        memcpy(&f32, p, sizeof f32);
        fm_builder_f64(b, f32);
        return true;
    case FM_TYPE_F64:
        memcpy(&f64, p, sizeof f64);
        fm_builder_f64(b, f64);
        return true;
    case FM_TYPE_DECIMAL:
        memcpy(&i128, p, sizeof i128);
        if (!fits_decimal(i128, type->precision)) return false;
        fm_builder_decimal(b, i128);
        return true;
    default: break;
    }
    switch (width) {
    case 1: memcpy(&i8, p, sizeof i8), i64 = i8; break;
    case 2: memcpy(&i16, p, sizeof i16), i64 = i16; break;
    case 4: memcpy(&i32, p, sizeof i32), i64 = i32; break;
    default: memcpy(&i64, p, sizeof i64); break;
    }
    fm_builder_i64(b, i64);
    return true;
}

static bool get_lane(fm_str bytes, size_t *at, int depth, fm_builder *b);

/* Elements of a list, entries of a map. */
static bool get_elements(fm_str bytes, size_t *at, int depth, fm_builder *b)
{
    const fm_type *type = fm_builder_type(b);
    uint32_t n;

    if (!get_u32(bytes, at, &n) || n > bytes.len - *at) return false; /* each takes a byte at least */
    for (uint32_t j = 0; j < n; j++) {
        /* Keys of maps are never null. */
        if (type->id == FM_TYPE_MAP && (*at >= bytes.len || bytes.ptr[*at] == 0)) return false;
        for (int32_t c = 0; c < type->n_fields; c++) {
            if (!get_lane(bytes, at, depth + 1, fm_builder_child(b, c))) return false;
        }
    }
    fm_builder_end(b);
    return true;
}

static bool get_lane(fm_str bytes, size_t *at, int depth, fm_builder *b)
{
    const fm_type *type = fm_builder_type(b);
    bool flag;
    uint32_t len;

    if (depth > 2 * FM_TYPE_DEPTH_MAX || !get_flag(bytes, at, &flag)) return false;
    if (!flag) {
        fm_builder_null(b);
        return true;
    }
    switch (type->id) {
    case FM_TYPE_STRING:
    case FM_TYPE_BINARY:
        if (!get_u32(bytes, at, &len) || len > bytes.len - *at) return false;
        fm_builder_str(b, (fm_str){bytes.ptr + *at, len});
        *at += len;
        return true;
    case FM_TYPE_LIST:
    case FM_TYPE_MAP: return get_elements(bytes, at, depth, b);
    case FM_TYPE_STRUCT:
        for (int32_t f = 0; f < type->n_fields; f++) {
            if (!get_lane(bytes, at, depth + 1, fm_builder_child(b, f))) return false;
        }
        fm_builder_end(b);
        return true;
    default: return get_fixed(bytes, at, b, type);
    }
}

fm_status fm_lane_decode(fm_str bytes, size_t *at, struct fm_builder *out, fm_error *err)
{
    int32_t len = fm_builder_len(out);

    if (*at <= bytes.len && get_lane(bytes, at, 0, out)) return FM_OK;
    fm_builder_truncate(out, len); /* what was read of it is gone again */
    return corrupt(err);
}

/* ---- Keys: column after column, one cursor per row ----------------------------------------------------------- */

typedef struct reader {
    const fm_key *keys;
    int32_t n;
    uint32_t *at; /* [n] bytes read of each key */
    fm_arena *arena;
    fm_error *err;
} reader;

/* The flags of a column: cursors go past them; validity when there is a null. */
static fm_status read_flags(reader *r, bool *flags, fm_vec *out)
{
    bool any_null = false, bad = false;

    for (int32_t i = 0; i < r->n; i++) {
        fm_str bytes = fm_key_bytes(&r->keys[i]);
        unsigned char flag = r->at[i] < bytes.len ? (unsigned char)bytes.ptr[r->at[i]] : 2;
        bad |= flag > 1;
        any_null |= flag == 0;
        flags[i] = flag == 1;
        r->at[i]++;
    }
    if (bad) return corrupt(r->err);
    if (!any_null || out->type->id == FM_TYPE_NULL) return FM_OK;
    uint64_t *bits = fm_arena_buffer(r->arena, (size_t)fm_bit_words(r->n) * 8, true);
    if (!bits) return fm_no_memory(r->arena, r->err);
    for (int32_t i = 0; i < r->n; i++) bits[i >> 6] |= (uint64_t)flags[i] << (i & 63);
    out->validity = bits;
    return FM_OK;
}

#define READ_FIXED(T)                                                                    \
    static bool read_##T(reader *r, const bool *flags, T *values)                        \
    {                                                                                    \
        for (int32_t i = 0; i < r->n; i++) {                                             \
            if (!flags[i]) continue;                                                     \
            fm_str bytes = fm_key_bytes(&r->keys[i]);                                    \
            if (bytes.len - r->at[i] < sizeof(T)) return false;                          \
            memcpy(&values[i], bytes.ptr + r->at[i], sizeof(T));                         \
            r->at[i] += (uint32_t)sizeof(T);                                             \
        }                                                                                \
        return true;                                                                     \
    }
READ_FIXED(uint8_t)
READ_FIXED(uint16_t)
READ_FIXED(uint32_t)
READ_FIXED(uint64_t)
READ_FIXED(fm_i128)
#undef READ_FIXED

static bool read_values(reader *r, const bool *flags, fm_vec *out)
{
    void *values = (void *)(uintptr_t)out->values;
    bool good = true;

    switch (fm_type_width(out->type)) {
    case 0: /* the NULL type: never present */
        for (int32_t i = 0; i < r->n; i++) good &= !flags[i];
        return good;
    case 1: good = read_uint8_t(r, flags, values); break;
    case 2: good = read_uint16_t(r, flags, values); break;
    case 4: good = read_uint32_t(r, flags, values); break;
    case 8: good = read_uint64_t(r, flags, values); break;
    default: good = read_fm_i128(r, flags, values); break;
    }
    for (int32_t i = 0; out->type->id == FM_TYPE_BOOL && i < r->n; i++) good &= fm_vec_bool(out)[i] <= 1;
    for (int32_t i = 0; out->type->id == FM_TYPE_DECIMAL && i < r->n; i++) {
        good &= fits_decimal(fm_vec_decimal(out)[i], out->type->precision);
    }
    return good;
}

/* Strings: views into the keys first, then the long ones' bytes are copied in one go. last: up to the key's end. */
static fm_status read_texts(reader *r, const bool *flags, bool last, fm_view *views)
{
    size_t long_bytes = 0;

    for (int32_t i = 0; i < r->n; i++) {
        if (!flags[i]) continue;
        fm_str bytes = fm_key_bytes(&r->keys[i]);
        size_t at = r->at[i];
        uint32_t len = (uint32_t)(bytes.len - at);
        if (!last && !get_u32(bytes, &at, &len)) return corrupt(r->err);
        if (len > bytes.len - at) return corrupt(r->err);
        views[i] = fm_view_of(bytes.ptr + at, len);
        r->at[i] = (uint32_t)(at + len);
        long_bytes += len > FM_VIEW_INLINE ? len : 0;
    }
    if (long_bytes == 0) return FM_OK;
    char *block = fm_arena_alloc(r->arena, long_bytes, 1);
    if (!block) return fm_no_memory(r->arena, r->err);
    for (int32_t i = 0; i < r->n; i++) {
        if (views[i].len <= FM_VIEW_INLINE) continue;
        memcpy(block, views[i].u.out.ptr, views[i].len);
        views[i].u.out.ptr = block;
        block += views[i].len;
    }
    return FM_OK;
}

static fm_status read_nested(reader *r, const fm_type *type, fm_vec *out)
{
    fm_builder *b = fm_builder_new(r->arena, type, r->n);

    if (!b) return fm_no_memory(r->arena, r->err);
    for (int32_t i = 0; i < r->n; i++) {
        size_t at = r->at[i];
        fm_str bytes = fm_key_bytes(&r->keys[i]);
        if (at > bytes.len || !get_lane(bytes, &at, 0, b)) return corrupt(r->err);
        r->at[i] = (uint32_t)at;
    }
    return fm_builder_finish(b, out, r->err);
}

static fm_status read_column(reader *r, const fm_type *type, bool last, bool *flags, fm_vec *out)
{
    if (fm_type_is_nested(type)) return read_nested(r, type, out);
    *out = (fm_vec){.type = type, .len = r->n};
    FM_TRY(read_flags(r, flags, out));
    if (type->id != FM_TYPE_NULL) {
        out->values = fm_arena_buffer(r->arena, (size_t)r->n * fm_type_width(type), true);
        if (!out->values) return fm_no_memory(r->arena, r->err);
    }
    if (fm_type_is_view(type)) return read_texts(r, flags, last, fm_vec_view_out(out));
    return read_values(r, flags, out) ? FM_OK : corrupt(r->err);
}

/* One string, the commonest key: inline keys become views by shifting the flag out. False: it is not that easy. */
static bool read_short_texts(const fm_key *keys, int32_t n, fm_view *views)
{
    _Static_assert(FM_VIEW_INLINE == 12, "what is read of a key: twelve bytes behind the flag");
    uint32_t hard = 0;

    for (int32_t i = 0; i < n; i++) {
        uint64_t lo = keys[i].u.w.lo, hi = keys[i].u.w.hi, low = lo >> 8 | hi << 56;
        uint32_t high = (uint32_t)(hi >> 8), len = (uint32_t)keys[i].u.in.tag - 1;
        hard |= (len > FM_VIEW_INLINE) | ((lo & 0xFF) != 1);
        views[i].len = len;
        memcpy(views[i].u.inlined, &low, sizeof low);
        memcpy(views[i].u.inlined + sizeof low, &high, sizeof high);
    }
    return !hard;
}

static bool read_short_keys(const fm_key *keys, int32_t n, const fm_type *type, fm_arena *arena, fm_vec *out)
{
    if (!fm_type_is_view(type)) return false;
    fm_view *views = fm_arena_buffer(arena, (size_t)n * sizeof *views, false);
    if (!views || !read_short_texts(keys, n, views)) return false;
    *out = (fm_vec){.type = type, .len = n, .values = views};
    return true;
}

fm_status fm_keys_decode(const fm_key *keys, int32_t n, const fm_type *const *types, int32_t n_columns, fm_arena *arena,
                         fm_vec *out, fm_error *err)
{
    if (n_columns == 1 && read_short_keys(keys, n, types[0], arena, out)) return FM_OK;
    reader r = {.keys = keys, .n = n, .at = fm_arena_array(arena, uint32_t, n), .arena = arena, .err = err};
    bool *flags = fm_arena_array(arena, bool, n);

    if (!r.at || !flags) return fm_no_memory(arena, err);
    for (int32_t c = 0; c < n_columns; c++) FM_TRY(read_column(&r, types[c], c + 1 == n_columns, flags, &out[c]));
    for (int32_t i = 0; i < n; i++) {
        if (r.at[i] != fm_key_bytes(&keys[i]).len) return corrupt(err); /* something is left over */
    }
    return FM_OK;
}
