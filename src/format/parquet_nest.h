/* format/parquet_nest.h: what is wanted of a file, as a tree, and how its vectors are put together. */
#ifndef FM_FORMAT_PARQUET_NEST_H
#define FM_FORMAT_PARQUET_NEST_H

#include "format/parquet_column.h"

/* A column or a part of one that is wanted. */
typedef struct fm_pq_want {
    const fm_type *type;
    const fm_pq_node *node;      /* NULL: the file has no such thing: nulls */
    int32_t column;              /* of the leaf; else the one whose levels tell what is there: the first read at or below */
    struct fm_pq_want *children; /* [type->n_fields] */
} fm_pq_want;

/* How names and ids lead to nodes. */
typedef struct fm_pq_match {
    const fm_parquet_file *file;
    bool case_sensitive;
    fm_arena *arena;
    fm_pq_column *columns; /* [n_columns], room for one per leaf of the file and then some */
    int32_t n_columns, cap_columns;
} fm_pq_match;

/* Fills want[type->n_fields] for a STRUCT's fields from the node's children. names: the same shape; ids NULL: by name. */
fm_status fm_pq_match_fields(fm_pq_match *m, const fm_pq_node *node, const fm_type *type, const fm_type *names,
                             const fm_parquet_ids *ids, fm_pq_want *want, fm_error *err);

/* The vector of a wanted thing: `len` lanes, one for each level with rep <= rep_lane and def >= def_lane. read [n_columns]:
 * what was read of each leaf. */
typedef struct fm_pq_lanes {
    int32_t len;
    uint8_t rep, def;
} fm_pq_lanes;
fm_status fm_pq_nest(const fm_parquet_file *file, const fm_pq_want *want, const fm_pq_leaf_rows *read, fm_pq_lanes lanes,
                     fm_arena *arena, fm_vec *out, fm_error *err);

#endif
