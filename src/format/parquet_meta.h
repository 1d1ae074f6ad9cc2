/* format/parquet_meta.h: the records of a Parquet file that say where things are, as the format's Thrift schema has them:
 * the footer, the header of a page, the page index. "pq" in names is Parquet, in these files only. */
#ifndef FM_FORMAT_PARQUET_META_H
#define FM_FORMAT_PARQUET_META_H

#include "base/arena.h"
#include "format/parquet_thrift.h"

/* The numbers of the format. */
typedef enum fm_pq_type {
    FM_PQ_BOOLEAN, FM_PQ_INT32, FM_PQ_INT64, FM_PQ_INT96, FM_PQ_FLOAT, FM_PQ_DOUBLE, FM_PQ_BYTE_ARRAY, FM_PQ_FIXED,
    FM_PQ_TYPES
} fm_pq_type;

typedef enum fm_pq_repetition { FM_PQ_REQUIRED, FM_PQ_OPTIONAL, FM_PQ_REPEATED } fm_pq_repetition;

typedef enum fm_pq_encoding {
    FM_PQ_PLAIN = 0, FM_PQ_PLAIN_DICTIONARY = 2, FM_PQ_RLE = 3, FM_PQ_BIT_PACKED = 4, FM_PQ_DELTA_BINARY_PACKED = 5,
    FM_PQ_DELTA_LENGTH_BYTE_ARRAY = 6, FM_PQ_DELTA_BYTE_ARRAY = 7, FM_PQ_RLE_DICTIONARY = 8, FM_PQ_BYTE_STREAM_SPLIT = 9
} fm_pq_encoding;

typedef enum fm_pq_codec {
    FM_PQ_UNCOMPRESSED, FM_PQ_SNAPPY, FM_PQ_GZIP, FM_PQ_LZO, FM_PQ_BROTLI, FM_PQ_LZ4, FM_PQ_ZSTD, FM_PQ_LZ4_RAW
} fm_pq_codec;

/* What a leaf or group means: the fields of the union LogicalType, and the older ConvertedType in its words. */
typedef enum fm_pq_logical {
    FM_PQ_PLAIN_TYPE, FM_PQ_STRING, FM_PQ_MAP, FM_PQ_LIST, FM_PQ_ENUM, FM_PQ_DECIMAL, FM_PQ_DATE, FM_PQ_TIME, FM_PQ_TIMESTAMP,
    FM_PQ_INTEGER = 10, FM_PQ_UNKNOWN, FM_PQ_JSON, FM_PQ_BSON, FM_PQ_UUID, FM_PQ_FLOAT16, FM_PQ_VARIANT, FM_PQ_GEOMETRY,
    FM_PQ_GEOGRAPHY,
    FM_PQ_INTERVAL = 100, /* by ConvertedType alone */
    FM_PQ_MAP_KEY_VALUE,
    FM_PQ_LOGICAL_OTHER
} fm_pq_logical;

typedef enum fm_pq_unit { FM_PQ_MILLIS = 1, FM_PQ_MICROS, FM_PQ_NANOS } fm_pq_unit;

/* SchemaElement */
typedef struct fm_pq_element {
    fm_str name;
    int32_t type;        /* fm_pq_type; -1: a group */
    int32_t type_length; /* FIXED: bytes */
    int32_t repetition;  /* fm_pq_repetition; -1: the root */
    int32_t n_children;
    int32_t field_id;    /* -1: none */
    fm_pq_logical logical;
    int32_t precision, scale; /* DECIMAL */
    fm_pq_unit unit;          /* TIME, TIMESTAMP */
    bool adjusted;            /* to UTC */
    int32_t bits;             /* INTEGER */
    bool is_signed;
} fm_pq_element;

/* Statistics; values as PLAIN has them, without a length. ptr NULL: not given. */
typedef struct fm_pq_statistics {
    fm_str old_min, old_max; /* order of signed bytes: right for signed numbers only */
    fm_str min, max;
    int64_t null_count;      /* -1: not given */
    bool min_inexact, max_inexact;
} fm_pq_statistics;

/* ColumnChunk with its ColumnMetaData */
typedef struct fm_pq_chunk {
    bool elsewhere; /* file_path is set */
    bool encrypted;
    bool has_meta;
    int32_t type, codec;
    int64_t values;
    int64_t unpacked_size, packed_size;
    int64_t data_offset, dictionary_offset; /* -1: none */
    int64_t offset_index_offset, column_index_offset, bloom_offset; /* -1: none */
    int32_t offset_index_size, column_index_size, bloom_size;       /* bloom_size -1: not given */
    fm_pq_statistics stats;
} fm_pq_chunk;

typedef struct fm_pq_row_group {
    fm_pq_chunk *chunks; /* [n_chunks] one per leaf */
    int32_t n_chunks;
    int64_t size, rows, first_row;
    int64_t offset; /* of its first byte */
    int64_t packed_size;
} fm_pq_row_group;

typedef struct fm_pq_pair {
    fm_str key, value;
} fm_pq_pair;

/* FileMetaData; strings point into the footer's bytes. */
typedef struct fm_pq_footer {
    int32_t version;
    fm_pq_element *elements;
    int32_t n_elements;
    int64_t rows;
    fm_pq_row_group *groups;
    int32_t n_groups;
    fm_pq_pair *pairs;
    int32_t n_pairs;
    fm_str created_by;
    uint8_t *orders; /* [n_orders] field of ColumnOrder: 1 TYPE_ORDER */
    int32_t n_orders;
    bool encrypted;
} fm_pq_footer;

/* False: the bytes are no footer, or memory is out. Counts are bounded by the bytes there are. */
bool fm_pq_footer_parse(fm_str bytes, fm_arena *arena, fm_pq_footer *out);

typedef enum fm_pq_page_kind { FM_PQ_DATA_PAGE, FM_PQ_INDEX_PAGE, FM_PQ_DICTIONARY_PAGE, FM_PQ_DATA_PAGE_V2 } fm_pq_page_kind;

/* PageHeader with the header of its kind */
typedef struct fm_pq_page {
    int32_t kind;
    int32_t unpacked_size, packed_size;
    bool has_crc;
    uint32_t crc;
    int32_t values;   /* levels too: nulls count */
    int32_t encoding;
    int32_t def_encoding, rep_encoding; /* v1 */
    int32_t nulls, rows, def_size, rep_size; /* v2 */
    bool packed;      /* v2: the values are */
} fm_pq_page;

/* *size: bytes of the header. False: none, or cut off by the end of `bytes`. */
bool fm_pq_page_parse(fm_str bytes, fm_pq_page *out, size_t *size);

/* OffsetIndex */
typedef struct fm_pq_location {
    int64_t offset, first_row;
    int32_t size; /* header included */
} fm_pq_location;
bool fm_pq_offset_index_parse(fm_str bytes, fm_arena *arena, fm_pq_location **out, int32_t *n);

/* ColumnIndex; [n] of each. Null counts NULL: not given. */
typedef struct fm_pq_column_index {
    bool *null_pages;
    fm_str *min, *max;
    int64_t *null_counts;
    int32_t n;
} fm_pq_column_index;
bool fm_pq_column_index_parse(fm_str bytes, fm_arena *arena, fm_pq_column_index *out);

/* BloomFilterHeader: *bits_size bytes of blocks follow the *size bytes of the header. False: none, or of an unknown kind. */
bool fm_pq_bloom_parse(fm_str bytes, int32_t *bits_size, size_t *size);

#endif
