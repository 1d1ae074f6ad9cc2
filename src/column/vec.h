/* column/vec.h: one column of a batch: Arrow's layout in memory, with two differences that keep kernels
 * simple: a boolean takes a byte (0 or 1), and a string view points straight at its bytes. The
 * Arrow C data interface at the border (column/arrow_export.h) turns both into Arrow's own.
 *
 *   validity   bits, least first, 1 for present; NULL when nothing is null
 *   values     fixed width types: [len] values; STRING, BINARY: [len] fm_view; else NULL
 *   offsets    LIST, MAP: int32[len + 1] into children[0], starting anywhere, never falling
 *   children   LIST: 1 (elements); MAP: 2 (keys, values), offsets index both; STRUCT: one per field,
 *              each of the struct's len
 *
 * Always so: 1. null lanes of `values` hold zero (a zero view is an empty string), null lanes of
 * LIST and MAP are empty; children of a null STRUCT lane may hold anything well-formed, and readers look
 * at the struct's validity first. 2. buffers are 64-byte aligned and padded with 64 readable bytes
 * (fm_arena_buffer). 3. A vector is frozen once handed on; vectors share buffers freely within the
 * lifetime of their arena. 4. map keys are never null. */
#ifndef FM_COLUMN_VEC_H
#define FM_COLUMN_VEC_H

#include "base/arena.h"
#include "base/bits.h"
#include "column/type.h"

typedef __int128 fm_i128;
typedef unsigned __int128 fm_u128;

/* A string or binary value: up to 12 bytes inline (rest zero), longer ones by pointer with their
 * first 4 bytes kept for comparing. The bytes pointed to live as long as the batch: in its arena or in
 * the input block it holds. */
enum { FM_VIEW_INLINE = 12 };
typedef struct fm_view {
    uint32_t len;
    union {
        char inlined[FM_VIEW_INLINE];
        struct {
            char prefix[4];
            const char *ptr; /* at offset 8 */
        } __attribute__((packed, aligned(4))) out;
    } u;
} fm_view;
_Static_assert(sizeof(fm_view) == 16, "a view is 16 bytes");

static inline const char *fm_view_ptr(const fm_view *v)
{
    return v->len <= FM_VIEW_INLINE ? v->u.inlined : v->u.out.ptr;
}
/* Valid while *v stays where it is. */
static inline fm_str fm_view_str(const fm_view *v) { return (fm_str){fm_view_ptr(v), v->len}; }
/* Makes a view of bytes; long ones are pointed at, not copied. */
static inline fm_view fm_view_of(const char *ptr, size_t len)
{
    fm_view v = {.len = (uint32_t)len};
    if (len <= FM_VIEW_INLINE) {
        if (len) memcpy(v.u.inlined, ptr, len);
    } else {
        memcpy(v.u.out.prefix, ptr, 4);
        v.u.out.ptr = ptr;
    }
    return v;
}
/* As fm_view_of, long bytes copied into arena; *ok is cleared when memory is out. */
fm_view fm_view_copy(fm_arena *arena, const char *ptr, size_t len, bool *ok);
bool fm_view_eq(const fm_view *a, const fm_view *b);
int fm_view_cmp(const fm_view *a, const fm_view *b); /* unsigned bytes; <0, 0, >0 */

typedef struct fm_vec fm_vec;
struct fm_vec {
    const fm_type *type;
    int32_t len;
    const uint64_t *validity;
    const void *values;
    const int32_t *offsets;
    const fm_vec *children;
};

static inline bool fm_vec_is_null(const fm_vec *v, int64_t i)
{
    return v->type->id == FM_TYPE_NULL || !fm_bit_valid(v->validity, i);
}
/* Typed access to the values; the type must fit. DATE is i32, timestamps and INTERVAL_DT are i64,
 * INTERVAL_YM is i32. */
static inline const uint8_t *fm_vec_bool(const fm_vec *v) { return v->values; }
static inline const int8_t *fm_vec_i8(const fm_vec *v) { return v->values; }
static inline const int16_t *fm_vec_i16(const fm_vec *v) { return v->values; }
static inline const int32_t *fm_vec_i32(const fm_vec *v) { return v->values; }
static inline const int64_t *fm_vec_i64(const fm_vec *v) { return v->values; }
static inline const float *fm_vec_f32(const fm_vec *v) { return v->values; }
static inline const double *fm_vec_f64(const fm_vec *v) { return v->values; }
static inline const fm_i128 *fm_vec_decimal(const fm_vec *v) { return v->values; }
static inline const fm_view *fm_vec_view(const fm_vec *v) { return v->values; }
static inline fm_str fm_vec_str(const fm_vec *v, int64_t i)
{
    return fm_view_str((const fm_view *)v->values + i);
}

/* Gives `out` a zeroed value buffer (and no validity) for len values of a fixed width or view type, to be
 * filled through the writable accessors before it is handed on. */
fm_status fm_vec_init(fm_vec *out, const fm_type *type, int32_t len, fm_arena *arena,
                      fm_error *err);
#define FM_VEC_OUT(name, T) \
    static inline T *fm_vec_##name##_out(fm_vec *v) { return (T *)(uintptr_t)v->values; }
FM_VEC_OUT(bool, uint8_t)
FM_VEC_OUT(i8, int8_t)
FM_VEC_OUT(i16, int16_t)
FM_VEC_OUT(i32, int32_t)
FM_VEC_OUT(i64, int64_t)
FM_VEC_OUT(f32, float)
FM_VEC_OUT(f64, double)
FM_VEC_OUT(decimal, fm_i128)
FM_VEC_OUT(view, fm_view)
#undef FM_VEC_OUT

/* len nulls of any type. */
fm_status fm_vec_nulls(fm_vec *out, const fm_type *type, int32_t len, fm_arena *arena,
                       fm_error *err);
/* Lane i of `in` repeated len times. */
fm_status fm_vec_repeat(fm_vec *out, const fm_vec *in, int32_t i, int32_t len, fm_arena *arena,
                        fm_error *err);
/* out[j] = in[rows[j]]; a row of -1 gives null. Long strings are shared, not copied. */
fm_status fm_vec_gather(fm_vec *out, const fm_vec *in, const int32_t *rows, int32_t n,
                        fm_arena *arena, fm_error *err);
/* Appends vectors of one type: parts[0..n). */
fm_status fm_vec_concat(fm_vec *out, const fm_vec *const *parts, int32_t n, fm_arena *arena,
                        fm_error *err);
/* Everything copied into arena, long strings too: for what outlives its batch. */
fm_status fm_vec_copy(fm_vec *out, const fm_vec *in, fm_arena *arena, fm_error *err);
/* The same under another type object (an equal one, or one whose fields have other names), at every level: for a copy that
 * outlives the types of `in`. */
fm_status fm_vec_copy_as(fm_vec *out, const fm_vec *in, const fm_type *type, fm_arena *arena, fm_error *err);

/* SQL order of two non-null lanes: bytes for strings, NaN largest and equal to itself, -0.0 = 0.0,
 * structs by field and lists by element (null first), false < true. <0, 0, >0. Maps do not compare. */
int fm_vec_cmp(const fm_vec *a, int64_t i, const fm_vec *b, int64_t j);
/* As SQL groups: null equals null, NaN NaN, 0.0 -0.0; maps as sets of entries. */
bool fm_vec_same(const fm_vec *a, int64_t i, const fm_vec *b, int64_t j);

/* As `in`, but the entries of every map, at every level, in the order of their keys: same lanes then have same bytes. What needs
 * no change is shared. */
fm_status fm_vec_sort_maps(fm_vec *out, const fm_vec *in, fm_arena *arena, fm_error *err);

/* Checks every rule at the top; for debug builds and tests. FM_CORRUPT says which failed. */
fm_status fm_vec_verify(const fm_vec *v, fm_error *err);

/* One value as a 1-lane vector: what literals are. */
typedef fm_vec fm_value;

#endif
