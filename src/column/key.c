/* column/key.c: keys as bytes, and back.
 *
 * Rows are encoded a few hundred at a time and column after column, so that no loop asks for the type of a value. First the
 * sizes are added up. When every key of the chunk fits inline, it is put together in a register of 16 bytes: each column
 * shifts its flag and value to where the row stands. Otherwise the columns write through one cursor per row into one block. */
#include "column/key.h"

#include "base/hash.h"
#include "base/limits.h"
#include "column/builder.h"

enum { CHUNK = 512 }; /* rows: the temporaries of a chunk stay in L1 */

/* ---- Single values: nested ones in keys, and everything in lanes --------------------------------------------- */

static uint32_t normal_f32(uint32_t bits)
{
    if ((bits & 0x7FFFFFFF) > 0x7F800000) return 0x7FC00000; /* one NaN */
    return bits == 0x80000000 ? 0 : bits;                    /* no -0.0 */
}

static uint64_t normal_f64(uint64_t bits)
{
    if ((bits & UINT64_C(0x7FFFFFFFFFFFFFFF)) > UINT64_C(0x7FF0000000000000)) return UINT64_C(0x7FF8000000000000);
    return bits == UINT64_C(0x8000000000000000) ? 0 : bits;
}

/* Bytes of lane i with its flag; a string with its length. */
static size_t lane_size(const fm_vec *v, int64_t i)
{
    size_t size = 1;

    if (fm_vec_is_null(v, i)) return 1;
    if (fm_type_is_view(v->type)) return 1 + 4 + (size_t)fm_vec_view(v)[i].len;
    if (!fm_type_is_nested(v->type)) return 1 + fm_type_width(v->type);
    if (v->type->id == FM_TYPE_STRUCT) {
        for (int32_t f = 0; f < v->type->n_fields; f++) size += lane_size(&v->children[f], i);
        return size;
    }
    for (int32_t j = v->offsets[i]; j < v->offsets[i + 1]; j++) {
        for (int32_t c = 0; c < v->type->n_fields; c++) size += lane_size(&v->children[c], j);
    }
    return size + 4;
}

static unsigned char *put_u32(unsigned char *p, uint32_t x)
{
    memcpy(p, &x, sizeof x);
    return p + sizeof x;
}

static unsigned char *put_fixed(const fm_vec *v, int64_t i, bool normal, unsigned char *p)
{
    size_t width = fm_type_width(v->type);
    uint32_t f32;
    uint64_t f64;

    memcpy(p, (const char *)v->values + (size_t)i * width, width);
    if (normal && v->type->id == FM_TYPE_F32) {
        memcpy(&f32, p, sizeof f32);
        f32 = normal_f32(f32);
        memcpy(p, &f32, sizeof f32);
    } else if (normal && v->type->id == FM_TYPE_F64) {
        memcpy(&f64, p, sizeof f64);
        f64 = normal_f64(f64);
        memcpy(p, &f64, sizeof f64);
    }
    return p + width;
}

/* Writes lane_size bytes. normal: floats as keys have them. */
static unsigned char *put_lane(const fm_vec *v, int64_t i, bool normal, unsigned char *p)
{
    bool present = !fm_vec_is_null(v, i);

    *p++ = present;
    if (!present) return p;
    if (fm_type_is_view(v->type)) {
        fm_str text = fm_vec_str(v, i);
        p = put_u32(p, (uint32_t)text.len);
        if (text.len) memcpy(p, text.ptr, text.len);
        return p + text.len;
    }
    if (!fm_type_is_nested(v->type)) return put_fixed(v, i, normal, p);
    if (v->type->id == FM_TYPE_STRUCT) {
        for (int32_t f = 0; f < v->type->n_fields; f++) p = put_lane(&v->children[f], i, normal, p);
        return p;
    }
    p = put_u32(p, (uint32_t)(v->offsets[i + 1] - v->offsets[i]));
    for (int32_t j = v->offsets[i]; j < v->offsets[i + 1]; j++) {
        for (int32_t c = 0; c < v->type->n_fields; c++) p = put_lane(&v->children[c], j, normal, p);
    }
    return p;
}

fm_status fm_lane_encode(const fm_vec *v, int64_t i, fm_strbuf *out, fm_error *err)
{
    size_t size = lane_size(v, i);

    if (!fm_strbuf_reserve(out, size + 1)) return fm_no_memory(NULL, err);
    put_lane(v, i, false, (unsigned char *)out->ptr + out->len);
    out->len += size;
    out->ptr[out->len] = 0;
    return FM_OK;
}

/* ---- Keys from columns --------------------------------------------------------------------------------------- */

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

/* A key that fits, from its bytes as one number, the first byte lowest. */
static inline void set_inline(fm_key *k, fm_u128 bytes, uint64_t len)
{
    uint64_t lo = (uint64_t)bytes, hi = (uint64_t)(bytes >> 64) | len << 56;

    k->u.w.lo = lo;
    k->u.w.hi = hi;
    k->hash = fm_hash_u128(lo, hi);
}

typedef enum part_kind {
    PART_FLAG,   /* the byte 1 alone: a struct without nulls, whose fields follow as parts */
    PART_FIXED,
    PART_TEXT,   /* with its length */
    PART_TAIL,   /* the last column's text, without */
    PART_NESTED
} part_kind;

/* What a key is made of, in order. */
typedef struct part {
    part_kind kind;
    uint8_t width; /* PART_FIXED */
    const fm_vec *v;
} part;

/* The temporaries of a chunk of rows. */
typedef struct chunk {
    int32_t from, rows; /* of the batch */
    size_t sizes[CHUNK];
    union {
        fm_u128 keys[CHUNK];          /* inline: the bytes so far */
        unsigned char *cursors[CHUNK]; /* else: where the row's next byte goes */
    } at;
    uint8_t done[CHUNK];  /* inline: how many bytes there are */
    uint64_t values[CHUNK]; /* a fixed width column up to 8 bytes, floats normal */
} chunk;

/* A view's bytes as a number, for up to 15 of them. */
static inline fm_u128 text_bits(const fm_view *v)
{
    uint64_t lo;
    uint32_t mid;
    fm_u128 bits = 0;

    if (v->len <= FM_VIEW_INLINE) {
        memcpy(&lo, v->u.inlined, sizeof lo);
        memcpy(&mid, v->u.inlined + 8, sizeof mid);
        return lo | (fm_u128)mid << 64;
    }
    memcpy(&bits, v->u.out.ptr, v->len < sizeof bits ? v->len : sizeof bits);
    return bits;
}

/* ---- One string, the commonest key: its view becomes the key by shifting ---- */

static fm_status encode_text(const fm_vec *v, int32_t rows, fm_arena *arena, fm_key *keys, fm_error *err)
{
    const fm_view *views = fm_vec_view(v);
    size_t long_bytes = 0;
    unsigned char *block = NULL;

    for (int32_t i = 0; i < rows; i++) {
        uint64_t valid = fm_bit_valid(v->validity, i);
        const fm_view *view = &views[i];
        if (view->len < FM_KEY_INLINE) {
            set_inline(&keys[i], text_bits(view) << 8 | valid, view->len + 1);
            continue;
        }
        if (!block) { /* the first long one: room for it and all that may follow */
            for (int32_t k = i; k < rows; k++) long_bytes += views[k].len < FM_KEY_INLINE ? 0 : (size_t)views[k].len + 1;
            block = fm_arena_alloc(arena, long_bytes, 1);
            if (!block) return fm_no_memory(arena, err);
        }
        if (view->len == UINT32_MAX) return fm_fail(err, FM_LIMIT, "FLOODMARK_KEY_TOO_LONG", "A key has more than 4 GiB.");
        block[0] = 1;
        memcpy(block + 1, view->u.out.ptr, view->len);
        keys[i] = fm_key_of_bytes((fm_str){(const char *)block, (size_t)view->len + 1});
        block += (size_t)view->len + 1;
    }
    return FM_OK;
}

/* ---- Any columns ---- */

static int32_t count_parts(const fm_vec *v)
{
    int32_t n = 1;

    if (v->type->id != FM_TYPE_STRUCT || v->validity) return 1;
    for (int32_t f = 0; f < v->type->n_fields; f++) n += count_parts(&v->children[f]);
    return n;
}

static part *add_parts(const fm_vec *v, bool last, part *p)
{
    if (v->type->id == FM_TYPE_STRUCT && !v->validity) {
        *p++ = (part){.kind = PART_FLAG};
        for (int32_t f = 0; f < v->type->n_fields; f++) p = add_parts(&v->children[f], false, p);
        return p;
    }
    *p = (part){.v = v, .width = (uint8_t)fm_type_width(v->type)};
    p->kind = fm_type_is_nested(v->type) ? PART_NESTED : !fm_type_is_view(v->type) ? PART_FIXED : last ? PART_TAIL : PART_TEXT;
    return p + 1;
}

/* Whether lane i is present, as a number; the NULL type never is. */
static inline uint64_t present(const fm_vec *v, int64_t i)
{
    return v->type->id == FM_TYPE_NULL ? 0 : fm_bit_valid(v->validity, i);
}

static void add_sizes(const part *p, chunk *c)
{
    const fm_vec *v = p->v;

    switch (p->kind) {
    case PART_FLAG:
        for (int32_t i = 0; i < c->rows; i++) c->sizes[i] += 1;
        break;
    case PART_FIXED:
        for (int32_t i = 0; i < c->rows; i++) c->sizes[i] += 1 + p->width * present(v, c->from + i);
        break;
    case PART_TEXT:
    case PART_TAIL:
        for (int32_t i = 0; i < c->rows; i++) {
            size_t prefix = p->kind == PART_TEXT ? 4 * present(v, c->from + i) : 0;
            c->sizes[i] += 1 + prefix + fm_vec_view(v)[c->from + i].len;
        }
        break;
    case PART_NESTED:
        for (int32_t i = 0; i < c->rows; i++) c->sizes[i] += lane_size(v, c->from + i);
        break;
    }
}

/* c->values: a fixed width column of up to 8 bytes. */
static void load_values(const part *p, chunk *c)
{
    const void *values = p->v->values;
    int32_t from = c->from, n = c->rows;

    switch (p->width) {
    case 1:
        for (int32_t i = 0; i < n; i++) c->values[i] = ((const uint8_t *)values)[from + i];
        break;
    case 2:
        for (int32_t i = 0; i < n; i++) c->values[i] = ((const uint16_t *)values)[from + i];
        break;
    case 4:
        for (int32_t i = 0; i < n; i++) c->values[i] = ((const uint32_t *)values)[from + i];
        break;
    case 8:
        for (int32_t i = 0; i < n; i++) c->values[i] = ((const uint64_t *)values)[from + i];
        break;
    default: /* the NULL type */
        for (int32_t i = 0; i < n; i++) c->values[i] = 0;
        break;
    }
    if (p->v->type->id == FM_TYPE_F32) {
        for (int32_t i = 0; i < n; i++) c->values[i] = normal_f32((uint32_t)c->values[i]);
    } else if (p->v->type->id == FM_TYPE_F64) {
        for (int32_t i = 0; i < n; i++) c->values[i] = normal_f64(c->values[i]);
    }
}

/* Adds a part to keys that all fit. Null lanes hold zero, so their value adds nothing. */
static void shift_in(const part *p, chunk *c)
{
    const fm_vec *v = p->v;

    switch (p->kind) {
    case PART_FLAG:
        for (int32_t i = 0; i < c->rows; i++) {
            c->at.keys[i] |= (fm_u128)1 << 8 * c->done[i];
            c->done[i]++;
        }
        break;
    case PART_FIXED:
        load_values(p, c);
        for (int32_t i = 0; i < c->rows; i++) {
            uint64_t flag = present(v, c->from + i);
            c->at.keys[i] |= ((fm_u128)c->values[i] << 8 | flag) << 8 * c->done[i];
            c->done[i] = (uint8_t)(c->done[i] + 1 + p->width * flag);
        }
        break;
    case PART_TEXT:
    case PART_TAIL:
        for (int32_t i = 0; i < c->rows; i++) {
            const fm_view *view = &fm_vec_view(v)[c->from + i];
            uint64_t flag = present(v, c->from + i);
            fm_u128 bits = text_bits(view);
            uint64_t size = 1 + view->len;
            if (p->kind == PART_TEXT) {
                bits = bits << 32 | view->len;
                size += 4 * flag;
            }
            c->at.keys[i] |= (bits << 8 | flag) << 8 * c->done[i];
            c->done[i] = (uint8_t)(c->done[i] + size);
        }
        break;
    case PART_NESTED:
        for (int32_t i = 0; i < c->rows; i++) {
            unsigned char bytes[16] = {0};
            size_t size = lane_size(v, c->from + i); /* at most 15: the whole key fits */
            fm_u128 bits;
            put_lane(v, c->from + i, true, bytes);
            memcpy(&bits, bytes, sizeof bits);
            c->at.keys[i] |= bits << 8 * c->done[i];
            c->done[i] = (uint8_t)(c->done[i] + size);
        }
        break;
    }
}

static void encode_inline(const part *parts, int32_t n, chunk *c, fm_key *keys)
{
    memset(c->at.keys, 0, (size_t)c->rows * sizeof c->at.keys[0]);
    memset(c->done, 0, (size_t)c->rows);
    for (int32_t k = 0; k < n; k++) shift_in(&parts[k], c);
    for (int32_t i = 0; i < c->rows; i++) set_inline(&keys[i], c->at.keys[i], c->done[i]);
}

/* Writes a part at each row's cursor. */
static void write_out(const part *p, chunk *c)
{
    const fm_vec *v = p->v;
    unsigned char **at = c->at.cursors;

    switch (p->kind) {
    case PART_FLAG:
        for (int32_t i = 0; i < c->rows; i++) *at[i]++ = 1;
        break;
    case PART_FIXED:
        for (int32_t i = 0; i < c->rows; i++) {
            bool flag = present(v, c->from + i);
            *at[i]++ = flag;
            if (flag) at[i] = put_fixed(v, c->from + i, true, at[i]);
        }
        break;
    case PART_TEXT:
    case PART_TAIL:
        for (int32_t i = 0; i < c->rows; i++) {
            const fm_view *view = &fm_vec_view(v)[c->from + i];
            bool flag = present(v, c->from + i);
            *at[i]++ = flag;
            if (flag && p->kind == PART_TEXT) at[i] = put_u32(at[i], view->len);
            if (view->len) memcpy(at[i], fm_view_ptr(view), view->len);
            at[i] += view->len;
        }
        break;
    case PART_NESTED:
        for (int32_t i = 0; i < c->rows; i++) at[i] = put_lane(v, c->from + i, true, at[i]);
        break;
    }
}

/* As write_out for the fixed widths that are not the floats': the copy has a constant size. */
#define WRITE_FIXED(T)                                                                                     \
    static void write_##T(const part *p, chunk *c)                                                         \
    {                                                                                                      \
        const T *values = (const T *)p->v->values + c->from;                                               \
        for (int32_t i = 0; i < c->rows; i++) {                                                            \
            bool flag = fm_bit_valid(p->v->validity, c->from + i);                                         \
            unsigned char *at = c->at.cursors[i];                                                          \
            *at = flag;                                                                                    \
            if (flag) memcpy(at + 1, &values[i], sizeof(T));                                               \
            c->at.cursors[i] = at + 1 + sizeof(T) * flag;                                                  \
        }                                                                                                  \
    }
WRITE_FIXED(uint8_t)
WRITE_FIXED(uint16_t)
WRITE_FIXED(uint32_t)
WRITE_FIXED(uint64_t)
#undef WRITE_FIXED

static void write_part(const part *p, chunk *c)
{
    fm_type_id id = p->v ? p->v->type->id : FM_TYPE_NULL;

    if (p->kind != PART_FIXED || id == FM_TYPE_F32 || id == FM_TYPE_F64) {
        write_out(p, c);
        return;
    }
    switch (p->width) {
    case 1: write_uint8_t(p, c); break;
    case 2: write_uint16_t(p, c); break;
    case 4: write_uint32_t(p, c); break;
    case 8: write_uint64_t(p, c); break;
    default: write_out(p, c); break;
    }
}

static fm_status encode_block(const part *parts, int32_t n, chunk *c, fm_arena *arena, fm_key *keys, fm_error *err)
{
    size_t total = 0;

    for (int32_t i = 0; i < c->rows; i++) {
        if (c->sizes[i] > UINT32_MAX) return fm_fail(err, FM_LIMIT, "FLOODMARK_KEY_TOO_LONG", "A key has more than 4 GiB.");
        total += c->sizes[i];
    }
    unsigned char *block = fm_arena_alloc(arena, total, 1), *at = block;
    if (!block) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < c->rows; i++) {
        c->at.cursors[i] = at;
        at += c->sizes[i];
    }
    for (int32_t k = 0; k < n; k++) write_part(&parts[k], c);
    at = block;
    for (int32_t i = 0; i < c->rows; i++) {
        keys[i] = fm_key_of_bytes((fm_str){(const char *)at, c->sizes[i]});
        at += c->sizes[i];
    }
    return FM_OK;
}

static fm_status encode_columns(const fm_vec *const *columns, int32_t n_columns, int32_t rows, fm_arena *arena,
                                fm_key *keys, fm_error *err)
{
    int32_t n = 0;
    chunk c;

    for (int32_t k = 0; k < n_columns; k++) n += count_parts(columns[k]);
    part *parts = fm_arena_array(arena, part, n), *end = parts;
    if (!parts) return fm_no_memory(arena, err);
    for (int32_t k = 0; k < n_columns; k++) end = add_parts(columns[k], k + 1 == n_columns, end);
    for (c.from = 0; c.from < rows; c.from += CHUNK) {
        size_t widest = 0;
        c.rows = rows - c.from < CHUNK ? rows - c.from : CHUNK;
        memset(c.sizes, 0, (size_t)c.rows * sizeof c.sizes[0]);
        for (int32_t k = 0; k < n; k++) add_sizes(&parts[k], &c);
        for (int32_t i = 0; i < c.rows; i++) widest = c.sizes[i] > widest ? c.sizes[i] : widest;
        if (widest <= FM_KEY_INLINE) encode_inline(parts, n, &c, keys + c.from);
        else FM_TRY(encode_block(parts, n, &c, arena, keys + c.from, err));
    }
    return FM_OK;
}

/* In columns that hold maps the entries get an order; without such columns nothing happens. */
static fm_status sort_maps(const fm_vec *const **columns, int32_t n_columns, fm_arena *arena, fm_error *err)
{
    const fm_vec **sorted = NULL;

    for (int32_t k = 0; k < n_columns; k++) {
        if (!fm_type_holds_map((*columns)[k]->type)) continue;
        if (!sorted) {
            sorted = fm_arena_array(arena, const fm_vec *, n_columns);
            if (!sorted) return fm_no_memory(arena, err);
            memcpy(sorted, *columns, (size_t)n_columns * sizeof(const fm_vec *));
            *columns = sorted;
        }
        fm_vec *v = fm_arena_array(arena, fm_vec, 1);
        if (!v) return fm_no_memory(arena, err);
        FM_TRY(fm_vec_sort_maps(v, sorted[k], arena, err));
        sorted[k] = v;
    }
    return FM_OK;
}

fm_status fm_keys_encode(const fm_vec *const *columns, int32_t n_columns, int32_t rows, fm_arena *arena, fm_key *keys,
                         fm_error *err)
{
    if (n_columns == 1 && fm_type_is_view(columns[0]->type)) return encode_text(columns[0], rows, arena, keys, err);
    FM_TRY(sort_maps(&columns, n_columns, arena, err));
    return encode_columns(columns, n_columns, rows, arena, keys, err);
}
