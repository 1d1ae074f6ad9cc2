/* format/parquet_impl.h: what the files of the Parquet reader share.
 *
 *     parquet_meta.c      bytes of the footer -> records         parquet_thrift.c
 *     parquet_schema.c    schema elements -> a tree of nodes with our types
 *     parquet_file.c      opens a file: footer, row groups, statistics
 *     parquet_chunk.c     a column chunk: pages read, checked, unpacked      parquet_codec.c
 *     parquet_levels.c    runs of small integers: levels, dictionary indexes, booleans
 *     parquet_decode.c    values of a page by their encoding -> physical values
 *     parquet_convert.c   physical values -> values of our types
 *     parquet_column.c    a leaf: rows wanted -> one vector and its levels
 *     parquet_reader.c    wanted columns -> batches; nested ones are put together by parquet_nest.c
 *     parquet_prune.c     which row groups and rows predicates leave
 *
 * Levels. For each value of a leaf, and for each null and empty list on the way to it, there is a pair: the repetition level
 * says which list goes on (0: a new row), the definition level how much of the path is there. */
#ifndef FM_FORMAT_PARQUET_IMPL_H
#define FM_FORMAT_PARQUET_IMPL_H

#include "format/parquet.h"
#include "format/parquet_codec.h"

enum {
    FM_PQ_LEVEL_MAX = 255,              /* levels fit a byte */
    FM_PQ_PAGE_SIZE_MAX = 1 << 30,      /* bytes of a page, unpacked */
    FM_PQ_NESTED_VALUES_MAX = 1 << 26,  /* levels of one page of a column in lists; they are held at once */
    FM_PQ_FOOTER_SIZE_MAX = 256 << 20   /* bytes */
};

/* How physical values become values of a type. */
typedef enum fm_pq_convert {
    FM_PQ_SAME,          /* the bytes are the value: BOOL, I32, I64, F32, F64, views */
    FM_PQ_I32_TO_I8, FM_PQ_I32_TO_I16, FM_PQ_I32_TO_I64, FM_PQ_U8_TO_I16, FM_PQ_U16_TO_I32, FM_PQ_U32_TO_I64,
    FM_PQ_I32_TO_F64, FM_PQ_F32_TO_F64, FM_PQ_F16_TO_F32, FM_PQ_DAYS_TO_US,
    FM_PQ_MILLIS_TO_US, FM_PQ_NANOS_TO_US, FM_PQ_INT96_TO_US,
    FM_PQ_I32_TO_DECIMAL, FM_PQ_I64_TO_DECIMAL, FM_PQ_U64_TO_DECIMAL, FM_PQ_FIXED_TO_DECIMAL,
    FM_PQ_VIEW_TO_DECIMAL,
    FM_PQ_FIXED_TO_VIEW,
    FM_PQ_TO_VOID
} fm_pq_convert;

typedef enum fm_pq_node_kind { FM_PQ_NODE_LEAF, FM_PQ_NODE_STRUCT, FM_PQ_NODE_LIST, FM_PQ_NODE_MAP } fm_pq_node_kind;

/* A column or a part of one, as users see it: the groups that only spell out a list or a map are not there. */
typedef struct fm_pq_node {
    fm_pq_node_kind kind;
    fm_str name;
    const fm_type *type;
    bool nullable;
    int32_t field_id;
    const fm_pq_element *element;
    int32_t leaf, n_leaves;   /* the first leaf at or below, and how many */
    uint8_t def_present;      /* the value is not null from this definition level on */
    uint8_t rep_item, def_item; /* LIST, MAP: levels of an item: it begins at rep <= rep_item, exists from def_item on */
    struct fm_pq_node *children; /* LIST 1, MAP 2, STRUCT any */
    int32_t n_children;
    const char *refused;      /* why it cannot be read (static text); NULL: it can */
} fm_pq_node;

typedef struct fm_pq_leaf {
    const fm_pq_element *element;
    const fm_pq_node *node;
    uint8_t max_def, max_rep;
} fm_pq_leaf;

struct fm_parquet_file {
    fm_fs *fs;
    fm_file *file;
    fm_str path;
    int64_t size;
    fm_pq_footer footer;
    fm_pq_node root;          /* STRUCT */
    fm_pq_leaf *leaves;       /* [n_leaves] */
    int32_t n_leaves;
    const fm_parquet_ids *ids;
    bool legacy_dates, legacy_int96; /* written in the hybrid calendar, by Spark's own word */
};

/* FM_CORRUPT naming the file. */
fm_status fm_pq_corrupt(const fm_parquet_file *file, fm_error *err, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Reads [offset, offset + size) of the file, all of it, or FM_CORRUPT. */
fm_status fm_pq_read_at(const fm_parquet_file *file, int64_t offset, void *out, size_t size, fm_error *err);

/* The leaf that a path of names leads to through structs; NULL: none. */
const fm_pq_leaf *fm_pq_find_leaf(const fm_parquet_file *file, const fm_str *path, int32_t n);
/* What a chunk's statistics say of its values, as `want`; min and max in arena. Without what cannot be trusted. */
fm_status fm_pq_stats_read(const fm_parquet_file *file, const fm_pq_leaf *leaf, const fm_pq_statistics *s, const fm_type *want,
                           fm_arena *arena, fm_parquet_stats *out, fm_error *err);
/* One value as statistics and indexes hold it; *out NULL when it cannot be trusted. is_min: of a lower bound. */
fm_status fm_pq_bound(const fm_pq_leaf *leaf, fm_str bytes, const fm_type *want, bool is_min, fm_arena *arena,
                      const fm_vec **out, fm_error *err);
/* First byte of a chunk. */
int64_t fm_pq_chunk_start(const fm_pq_chunk *c);

/* Makes root, leaves and ids from the footer's elements. */
fm_status fm_pq_schema_build(fm_parquet_file *file, fm_arena *arena, fm_error *err);
/* The type of a leaf by its element; NULL and *refused when it has none. */
const fm_type *fm_pq_leaf_type(const fm_pq_element *e, fm_arena *arena, const char **refused);

/* ---- parquet_convert.c -------------------------------------------------------------------------------------- */

/* How values of a leaf become values of a type. */
typedef struct fm_pq_conversion {
    fm_pq_convert kind;
    const fm_type *want;
    int32_t scale_up; /* a decimal is multiplied by 10^that */
    int32_t raw_size; /* bytes of a physical value: views for BYTE_ARRAY, a byte for BOOLEAN */
    int32_t size;     /* bytes of a value of `want` */
} fm_pq_conversion;
/* False: Spark's reader refuses that. */
bool fm_pq_conversion_of(const fm_pq_element *e, const fm_type *have, const fm_type *want, fm_pq_conversion *out);
/* out[n] from raw[n]; raw need not be aligned. Views of FIXED point into raw. False: a value does not fit. */
bool fm_pq_convert_run(const fm_pq_conversion *c, const void *raw, int64_t n, void *out);

#endif
