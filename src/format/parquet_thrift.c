/* format/parquet_thrift.c: the compact protocol, read and written. */
#include "format/parquet_thrift.h"

enum { DEPTH_MAX = 32 }; /* of structs and lists: the footer has 6 */

/* ---- Reading ------------------------------------------------------------------------------------------------ */

static uint64_t fail(fm_thrift_in *in)
{
    in->failed = true;
    in->at = in->end;
    return 0;
}

static uint8_t read_byte(fm_thrift_in *in)
{
    return in->at < in->end ? *in->at++ : (uint8_t)fail(in);
}

static uint64_t read_varint(fm_thrift_in *in)
{
    uint64_t x = 0;

    for (int shift = 0; shift < 64; shift += 7) {
        if (in->at == in->end) return fail(in);
        uint8_t b = *in->at++;
        x |= (uint64_t)(b & 0x7F) << shift;
        if (b < 0x80) return x;
    }
    return fail(in);
}

static int64_t read_zigzag(fm_thrift_in *in)
{
    uint64_t x = read_varint(in);

    return (int64_t)(x >> 1 ^ (0 - (x & 1)));
}

bool fm_thrift_enter(fm_thrift_in *in, fm_thrift_field *f)
{
    if (++in->depth > DEPTH_MAX) fail(in);
    *f = (fm_thrift_field){0};
    return !in->failed;
}

bool fm_thrift_next(fm_thrift_in *in, fm_thrift_field *f)
{
    uint8_t b = read_byte(in);

    if (b == 0 || in->failed) {
        in->depth--;
        return false;
    }
    f->type = b & 15;
    f->id = b >> 4 ? f->id + (b >> 4) : (int32_t)(int16_t)read_zigzag(in);
    return !in->failed;
}

static void skip_value(fm_thrift_in *in, uint8_t type, bool in_list, int32_t depth);

static void skip_bytes(fm_thrift_in *in, uint64_t n)
{
    if (n > (uint64_t)(in->end - in->at)) fail(in);
    else in->at += n;
}

static void skip_list(fm_thrift_in *in, int32_t depth)
{
    uint8_t head = read_byte(in);
    uint64_t n = head >> 4 == 15 ? read_varint(in) : head >> 4;

    if (n > (uint64_t)(in->end - in->at)) fail(in);
    for (uint64_t i = 0; i < n && !in->failed; i++) skip_value(in, head & 15, true, depth);
}

static void skip_map(fm_thrift_in *in, int32_t depth)
{
    uint64_t n = read_varint(in);

    if (n == 0) return;
    uint8_t types = read_byte(in);
    if (n > (uint64_t)(in->end - in->at)) fail(in);
    for (uint64_t i = 0; i < n && !in->failed; i++) {
        skip_value(in, types >> 4, true, depth);
        skip_value(in, types & 15, true, depth);
    }
}

static void skip_value(fm_thrift_in *in, uint8_t type, bool in_list, int32_t depth)
{
    fm_thrift_field f;

    if (depth > DEPTH_MAX) fail(in);
    switch (in->failed ? 0 : type) {
    case FM_THRIFT_TRUE:
    case FM_THRIFT_FALSE:
        if (in_list) skip_bytes(in, 1);
        break;
    case FM_THRIFT_I8: skip_bytes(in, 1); break;
    case FM_THRIFT_I16:
    case FM_THRIFT_I32:
    case FM_THRIFT_I64: read_varint(in); break;
    case FM_THRIFT_DOUBLE: skip_bytes(in, 8); break;
    case FM_THRIFT_UUID: skip_bytes(in, 16); break;
    case FM_THRIFT_BINARY: skip_bytes(in, read_varint(in)); break;
    case FM_THRIFT_LIST:
    case FM_THRIFT_SET: skip_list(in, depth + 1); break;
    case FM_THRIFT_MAP: skip_map(in, depth + 1); break;
    case FM_THRIFT_STRUCT:
        for (fm_thrift_enter(in, &f); fm_thrift_next(in, &f);) skip_value(in, f.type, false, depth + 1);
        break;
    default: fail(in);
    }
}

void fm_thrift_skip(fm_thrift_in *in, const fm_thrift_field *f) { skip_value(in, f->type, false, in->depth); }

bool fm_thrift_bool(fm_thrift_in *in, const fm_thrift_field *f)
{
    if (f->type != FM_THRIFT_TRUE && f->type != FM_THRIFT_FALSE) fail(in);
    return f->type == FM_THRIFT_TRUE;
}

bool fm_thrift_truth(fm_thrift_in *in) { return read_byte(in) == FM_THRIFT_TRUE; }

int64_t fm_thrift_int(fm_thrift_in *in, const fm_thrift_field *f)
{
    if (f->type == FM_THRIFT_I8) return (int8_t)read_byte(in);
    if (f->type < FM_THRIFT_I16 || f->type > FM_THRIFT_I64) return (int64_t)fail(in);
    return read_zigzag(in);
}

int32_t fm_thrift_i32(fm_thrift_in *in, const fm_thrift_field *f)
{
    int64_t x = fm_thrift_int(in, f);

    return x < INT32_MIN || x > INT32_MAX ? (int32_t)fail(in) : (int32_t)x;
}

fm_str fm_thrift_binary(fm_thrift_in *in, const fm_thrift_field *f)
{
    uint64_t len = f->type == FM_THRIFT_BINARY ? read_varint(in) : fail(in);
    const char *at = (const char *)in->at;

    if (f->type != FM_THRIFT_BINARY || len > (uint64_t)(in->end - in->at)) fail(in);
    if (in->failed) return (fm_str){"", 0};
    in->at += len;
    return (fm_str){at, (size_t)len};
}

int32_t fm_thrift_list(fm_thrift_in *in, const fm_thrift_field *f, fm_thrift_type type)
{
    if (f->type != FM_THRIFT_LIST) return (int32_t)fail(in);
    uint8_t head = read_byte(in);
    uint64_t n = head >> 4 == 15 ? read_varint(in) : head >> 4;
    bool fits = (head & 15) == type || (type == FM_THRIFT_TRUE && (head & 15) == FM_THRIFT_FALSE);

    /* Every element takes a byte at least. */
    if ((!fits && n > 0) || n > (uint64_t)(in->end - in->at) || n > INT32_MAX) return (int32_t)fail(in);
    return (int32_t)n;
}

/* ---- Writing ------------------------------------------------------------------------------------------------ */

static void put_varint(fm_strbuf *out, uint64_t x)
{
    for (; x >= 0x80; x >>= 7) fm_strbuf_add_char(out, (char)(uint8_t)(x | 0x80));
    fm_strbuf_add_char(out, (char)(uint8_t)x);
}

static void put_field(fm_strbuf *out, int32_t *last, int32_t id, fm_thrift_type type)
{
    int32_t delta = id - *last;

    *last = id;
    if (delta > 0 && delta <= 15) {
        fm_strbuf_add_char(out, (char)(uint8_t)(delta << 4 | (int)type));
        return;
    }
    fm_strbuf_add_char(out, (char)type);
    fm_thrift_put_int(out, id);
}

void fm_thrift_put_int(fm_strbuf *out, int64_t x) { put_varint(out, (uint64_t)x << 1 ^ (x < 0 ? UINT64_MAX : 0)); }

void fm_thrift_put_bytes(fm_strbuf *out, fm_str bytes)
{
    put_varint(out, bytes.len);
    fm_strbuf_add(out, bytes);
}

void fm_thrift_put_truth(fm_strbuf *out, bool x) { fm_strbuf_add_char(out, x ? FM_THRIFT_TRUE : FM_THRIFT_FALSE); }

void fm_thrift_put_bool(fm_strbuf *out, int32_t *last, int32_t id, bool x)
{
    put_field(out, last, id, x ? FM_THRIFT_TRUE : FM_THRIFT_FALSE);
}

void fm_thrift_put_i8(fm_strbuf *out, int32_t *last, int32_t id, int8_t x)
{
    put_field(out, last, id, FM_THRIFT_I8);
    fm_strbuf_add_char(out, (char)x);
}

void fm_thrift_put_i32(fm_strbuf *out, int32_t *last, int32_t id, int32_t x)
{
    put_field(out, last, id, FM_THRIFT_I32);
    fm_thrift_put_int(out, x);
}

void fm_thrift_put_i64(fm_strbuf *out, int32_t *last, int32_t id, int64_t x)
{
    put_field(out, last, id, FM_THRIFT_I64);
    fm_thrift_put_int(out, x);
}

void fm_thrift_put_binary(fm_strbuf *out, int32_t *last, int32_t id, fm_str bytes)
{
    put_field(out, last, id, FM_THRIFT_BINARY);
    fm_thrift_put_bytes(out, bytes);
}

void fm_thrift_put_struct(fm_strbuf *out, int32_t *last, int32_t id) { put_field(out, last, id, FM_THRIFT_STRUCT); }

void fm_thrift_put_list(fm_strbuf *out, int32_t *last, int32_t id, fm_thrift_type type, int32_t n)
{
    put_field(out, last, id, FM_THRIFT_LIST);
    if (n < 15) {
        fm_strbuf_add_char(out, (char)(uint8_t)(n << 4 | (int)type));
        return;
    }
    fm_strbuf_add_char(out, (char)(uint8_t)(0xF0 | (int)type));
    put_varint(out, (uint64_t)n);
}

void fm_thrift_put_end(fm_strbuf *out) { fm_strbuf_add_char(out, 0); }
