/* column/key.c: keys as bytes. */
#include "column/key.h"

#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/limits.h"
#include "column/builder.h"

/* ---- Encoding ---------------------------------------------------------------------------------------------- */

/* Fixed width values as keys: one NaN, no negative zero. */
static void put_fixed(const fm_vec *v, int64_t i, size_t width, char *out)
{
    memcpy(out, (const char *)v->values + (size_t)i * width, width);
    if (v->type->id == FM_TYPE_F64) {
        double x = fm_vec_f64(v)[i];
        if (isnan(x)) x = (double)NAN;
        if (x == 0) x = 0;
        memcpy(out, &x, sizeof x);
    } else if (v->type->id == FM_TYPE_F32) {
        float x = fm_vec_f32(v)[i];
        if (isnan(x)) x = NAN;
        if (x == 0) x = 0;
        memcpy(out, &x, sizeof x);
    }
}

static void put_u32(fm_strbuf *out, uint32_t x) { fm_strbuf_add(out, (fm_str){(const char *)&x, sizeof x}); }

static void put_lane(const fm_vec *v, int64_t i, bool last, fm_strbuf *out)
{
    size_t width = fm_type_width(v->type);
    char value[16];

    if (fm_vec_is_null(v, i)) {
        fm_strbuf_add_char(out, 0);
        return;
    }
    fm_strbuf_add_char(out, 1);
    if (fm_type_is_view(v->type)) {
        fm_str text = fm_vec_str(v, i);
        if (!last) put_u32(out, (uint32_t)text.len);
        fm_strbuf_add(out, text);
    } else if (width) {
        put_fixed(v, i, width, value);
        fm_strbuf_add(out, (fm_str){value, width});
    } else if (v->type->id == FM_TYPE_STRUCT) {
        for (int32_t f = 0; f < v->type->n_fields; f++) put_lane(&v->children[f], i, false, out);
    } else {
        put_u32(out, (uint32_t)(v->offsets[i + 1] - v->offsets[i]));
        for (int32_t j = v->offsets[i]; j < v->offsets[i + 1]; j++) {
            for (int32_t c = 0; c < v->type->n_fields; c++) put_lane(&v->children[c], j, false, out);
        }
    }
}

fm_key fm_key_of_bytes(fm_str bytes)
{
    fm_key k = {0};

    if (bytes.len <= FM_KEY_INLINE) {
        if (bytes.len) memcpy(k.u.in.bytes, bytes.ptr, bytes.len);
        k.u.in.tag = (uint8_t)bytes.len;
        k.hash = fm_hash_u128(k.u.w.lo, k.u.w.hi);
    } else {
        k.u.out.ptr = (const unsigned char *)bytes.ptr;
        k.u.out.len = (uint32_t)bytes.len;
        k.u.out.tag = FM_KEY_TAG_OUT;
        k.hash = fm_hash_bytes(bytes.ptr, bytes.len);
    }
    return k;
}

/* A byte 1 and the bytes behind it, long ones in arena. */
static bool key_of_string(fm_str text, fm_arena *arena, fm_key *out)
{
    fm_key k = {0};

    if (text.len + 1 <= FM_KEY_INLINE) {
        k.u.in.bytes[0] = 1;
        if (text.len) memcpy(k.u.in.bytes + 1, text.ptr, text.len);
        k.u.in.tag = (uint8_t)(text.len + 1);
        k.hash = fm_hash_u128(k.u.w.lo, k.u.w.hi);
    } else {
        char *bytes = fm_arena_alloc(arena, text.len + 1, 1);
        if (!bytes) return false;
        bytes[0] = 1;
        memcpy(bytes + 1, text.ptr, text.len);
        k = fm_key_of_bytes((fm_str){bytes, text.len + 1});
    }
    *out = k;
    return true;
}

/* The commonest key: one string. A view of up to 12 bytes becomes the two words of a key by shifts. */
static fm_status encode_strings(const fm_vec *v, int32_t rows, fm_arena *arena, fm_key *keys, fm_error *err)
{
    const fm_view *views = fm_vec_view(v);

    for (int32_t i = 0; i < rows; i++) {
        if (!fm_bit_valid(v->validity, i)) {
            keys[i] = fm_key_of_bytes((fm_str){"\0", 1});
            continue;
        }
        const fm_view *view = &views[i];
        if (view->len <= FM_VIEW_INLINE) {
            uint64_t a;
            uint32_t b;
            memcpy(&a, view->u.inlined, 8);
            memcpy(&b, view->u.inlined + 8, 4);
            uint64_t lo = a << 8 | 1, hi = a >> 56 | (uint64_t)b << 8 | (uint64_t)(view->len + 1) << 56;
            keys[i].u.w.lo = lo;
            keys[i].u.w.hi = hi;
            keys[i].hash = fm_hash_u128(lo, hi);
        } else if (!key_of_string(fm_view_str(view), arena, &keys[i])) {
            return fm_no_memory(arena, err);
        }
    }
    return FM_OK;
}

static fm_status encode_fixed(const fm_vec *v, int32_t rows, fm_arena *arena, fm_key *keys, fm_error *err)
{
    size_t width = fm_type_width(v->type);
    char bytes[17];

    if (width <= FM_KEY_INLINE - 1) {
        for (int32_t i = 0; i < rows; i++) {
            fm_key k = {0};
            bool valid = fm_bit_valid(v->validity, i);
            k.u.in.bytes[0] = valid;
            if (valid) put_fixed(v, i, width, (char *)k.u.in.bytes + 1);
            k.u.in.tag = (uint8_t)(valid ? width + 1 : 1);
            k.hash = fm_hash_u128(k.u.w.lo, k.u.w.hi);
            keys[i] = k;
        }
        return FM_OK;
    }
    for (int32_t i = 0; i < rows; i++) { /* decimals: 17 bytes do not fit inline */
        size_t n = 1;
        bytes[0] = fm_bit_valid(v->validity, i);
        if (bytes[0]) put_fixed(v, i, width, bytes + 1), n += width;
        fm_str copy = fm_arena_str(arena, (fm_str){bytes, n});
        if (!copy.ptr) return fm_no_memory(arena, err);
        keys[i] = fm_key_of_bytes(copy);
    }
    return FM_OK;
}

static fm_status encode_any(const fm_vec *const *columns, int32_t n_columns, int32_t rows, fm_arena *arena, fm_key *keys, fm_error *err)
{
    fm_strbuf text = {0};
    fm_status st = FM_OK;

    for (int32_t i = 0; i < rows && st == FM_OK; i++) {
        fm_strbuf_clear(&text);
        for (int32_t c = 0; c < n_columns; c++) put_lane(columns[c], i, c + 1 == n_columns, &text);
        fm_str bytes = {text.ptr ? text.ptr : "", text.len};
        if (bytes.len > FM_KEY_INLINE) bytes = fm_arena_str(arena, bytes);
        if (!fm_strbuf_ok(&text) || !bytes.ptr) st = fm_no_memory(arena, err);
        else keys[i] = fm_key_of_bytes(bytes);
    }
    fm_strbuf_fini(&text);
    return st;
}

fm_status fm_keys_encode(const fm_vec *const *columns, int32_t n_columns, int32_t rows, fm_arena *arena, fm_key *keys, fm_error *err)
{
    if (n_columns == 1 && fm_type_is_view(columns[0]->type)) return encode_strings(columns[0], rows, arena, keys, err);
    if (n_columns == 1 && fm_type_width(columns[0]->type)) return encode_fixed(columns[0], rows, arena, keys, err);
    return encode_any(columns, n_columns, rows, arena, keys, err);
}

fm_status fm_lane_encode(const fm_vec *v, int64_t i, fm_strbuf *out, fm_error *err)
{
    put_lane(v, i, false, out);
    return fm_strbuf_ok(out) ? FM_OK : fm_no_memory(NULL, err);
}

/* ---- Decoding ---------------------------------------------------------------------------------------------- */

static fm_status corrupt(fm_error *err)
{
    return fm_fail(err, FM_CORRUPT, "FLOODMARK_STATE_DAMAGED", "A stored value does not have the form its type asks for.");
}

static bool get_u32(fm_str bytes, size_t *at, uint32_t *out)
{
    if (bytes.len - *at < sizeof *out) return false;
    memcpy(out, bytes.ptr + *at, sizeof *out);
    *at += sizeof *out;
    return true;
}

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
        fm_builder_decimal(b, i128);
        return true;
    default: break;
    }
    switch (width) {
    case 1: memcpy(&i8, p, 1), i64 = i8; break;
    case 2: memcpy(&i16, p, 2), i64 = i16; break;
    case 4: memcpy(&i32, p, 4), i64 = i32; break;
    default: memcpy(&i64, p, 8); break;
    }
    fm_builder_i64(b, i64);
    return true;
}

static bool get_lane(fm_str bytes, size_t *at, const fm_type *type, bool last, int depth, fm_builder *b)
{
    uint32_t n = 0;

    if (depth > FM_TYPE_DEPTH_MAX || *at >= bytes.len || (unsigned char)bytes.ptr[*at] > 1) return false;
    bool valid = bytes.ptr[(*at)++];
    if (!valid || type->id == FM_TYPE_NULL) {
        fm_builder_null(b);
        return true;
    }
    if (fm_type_is_view(type)) {
        if (last) n = (uint32_t)(bytes.len - *at);
        else if (!get_u32(bytes, at, &n)) return false;
        if (bytes.len - *at < n) return false;
        fm_builder_str(b, (fm_str){bytes.ptr + *at, n});
        *at += n;
        return true;
    }
    if (fm_type_width(type)) return get_fixed(bytes, at, b, type);
    if (type->id != FM_TYPE_STRUCT && !get_u32(bytes, at, &n)) return false;
    if (type->id == FM_TYPE_STRUCT) n = 1;
    else if (n > bytes.len - *at) return false; /* each element takes a byte at least */
    for (uint32_t j = 0; j < n; j++) {
        for (int32_t c = 0; c < type->n_fields; c++) {
            if (type->id == FM_TYPE_MAP && c == 0 && (*at >= bytes.len || bytes.ptr[*at] == 0)) return false;
            if (!get_lane(bytes, at, type->fields[c].type, false, depth + 1, fm_builder_child(b, c))) return false;
        }
    }
    fm_builder_end(b);
    return true;
}

fm_status fm_keys_decode(const fm_key *keys, int32_t n, const fm_type *const *types, int32_t n_columns, fm_arena *arena, fm_vec *out, fm_error *err)
{
    fm_builder **builders = fm_arena_array(arena, fm_builder *, n_columns);

    if (!builders) return fm_no_memory(arena, err);
    for (int32_t c = 0; c < n_columns; c++) {
        builders[c] = fm_builder_new(arena, types[c], n);
        if (!builders[c]) return fm_no_memory(arena, err);
    }
    for (int32_t i = 0; i < n; i++) {
        fm_str bytes = fm_key_bytes(&keys[i]);
        size_t at = 0;
        for (int32_t c = 0; c < n_columns; c++) {
            if (!get_lane(bytes, &at, types[c], c + 1 == n_columns, 0, builders[c])) return corrupt(err);
        }
        if (at != bytes.len) return corrupt(err);
    }
    for (int32_t c = 0; c < n_columns; c++) FM_TRY(fm_builder_finish(builders[c], &out[c], err));
    return FM_OK;
}

fm_status fm_lane_decode(fm_str bytes, size_t *at, struct fm_builder *out, fm_error *err)
{
    return get_lane(bytes, at, fm_builder_type(out), false, 0, out) ? FM_OK : corrupt(err);
}
