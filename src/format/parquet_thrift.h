/* format/parquet_thrift.h: Thrift's compact protocol, as Parquet's footers and page headers are written in.
 *
 *     struct   (delta of field id, 4 bits | type, 4 bits) value ... 0
 *     integer  zigzag, then 7 bits a byte, lowest first
 *     list     (n, 4 bits | type, 4 bits), or 15 and n as a varint; then the elements
 *     binary   length, bytes
 *
 * Input is hostile: a reader never looks beyond its end, no list has more elements than bytes follow, nesting is bounded.
 * It keeps its first failure; what it gives then is zero. */
#ifndef FM_FORMAT_PARQUET_THRIFT_H
#define FM_FORMAT_PARQUET_THRIFT_H

#include "base/str.h"

typedef enum fm_thrift_type {
    FM_THRIFT_TRUE = 1, FM_THRIFT_FALSE, FM_THRIFT_I8, FM_THRIFT_I16, FM_THRIFT_I32, FM_THRIFT_I64, FM_THRIFT_DOUBLE,
    FM_THRIFT_BINARY, FM_THRIFT_LIST, FM_THRIFT_SET, FM_THRIFT_MAP, FM_THRIFT_STRUCT, FM_THRIFT_UUID
} fm_thrift_type;

typedef struct fm_thrift_in {
    const uint8_t *at, *end;
    int32_t depth; /* of structs entered */
    bool failed;
} fm_thrift_in;

/* A field of the struct being read; start with id 0. */
typedef struct fm_thrift_field {
    int32_t id;
    uint8_t type;
} fm_thrift_field;

/* Enters a struct: the fields of `f` begin. False: too deep. */
bool fm_thrift_enter(fm_thrift_in *in, fm_thrift_field *f);
/* The next field, or false at the end of the struct, or after a failure. Its value must be read or skipped. */
bool fm_thrift_next(fm_thrift_in *in, fm_thrift_field *f);
/* Skips the value of a field. */
void fm_thrift_skip(fm_thrift_in *in, const fm_thrift_field *f);

/* Values of a field; a type that does not fit is a failure. */
bool fm_thrift_bool(fm_thrift_in *in, const fm_thrift_field *f);
int64_t fm_thrift_int(fm_thrift_in *in, const fm_thrift_field *f); /* I8..I64 */
int32_t fm_thrift_i32(fm_thrift_in *in, const fm_thrift_field *f);
fm_str fm_thrift_binary(fm_thrift_in *in, const fm_thrift_field *f); /* within the input */
/* How many elements of `type` follow; a list of another type is a failure and gives 0. */
int32_t fm_thrift_list(fm_thrift_in *in, const fm_thrift_field *f, fm_thrift_type type);
bool fm_thrift_truth(fm_thrift_in *in); /* an element of a list of booleans: a byte */
/* An element of a list. */
static inline fm_thrift_field fm_thrift_element(fm_thrift_type type) { return (fm_thrift_field){0, (uint8_t)type}; }

/* Writing: fields in rising order of ids; *last is the id before, 0 at the start of a struct. */
void fm_thrift_put_bool(fm_strbuf *out, int32_t *last, int32_t id, bool x);
void fm_thrift_put_i32(fm_strbuf *out, int32_t *last, int32_t id, int32_t x);
void fm_thrift_put_i64(fm_strbuf *out, int32_t *last, int32_t id, int64_t x);
void fm_thrift_put_i8(fm_strbuf *out, int32_t *last, int32_t id, int8_t x);
void fm_thrift_put_binary(fm_strbuf *out, int32_t *last, int32_t id, fm_str bytes);
void fm_thrift_put_struct(fm_strbuf *out, int32_t *last, int32_t id); /* its fields follow, then end */
void fm_thrift_put_list(fm_strbuf *out, int32_t *last, int32_t id, fm_thrift_type type, int32_t n);
void fm_thrift_put_end(fm_strbuf *out);
/* Elements of lists. */
void fm_thrift_put_int(fm_strbuf *out, int64_t x);
void fm_thrift_put_bytes(fm_strbuf *out, fm_str bytes);
void fm_thrift_put_truth(fm_strbuf *out, bool x);

#endif
