/* format/parquet_shred.h: batches are taken apart into leaves with levels. */
#ifndef FM_FORMAT_PARQUET_SHRED_H
#define FM_FORMAT_PARQUET_SHRED_H

#include "column/batch.h"
#include "format/parquet.h"
#include "format/parquet_leaf.h"

/* A column or a part of one that is written; lists and maps have their items as children. */
typedef struct fm_pq_part {
    const fm_type *type;
    fm_str name;
    int32_t field_id;           /* FM_PARQUET_NO_ID: none */
    bool nullable;
    uint8_t def, rep;           /* levels of a value that is there; of an item for lists and maps: def + 1, rep + 1 */
    int32_t leaf;               /* first leaf at or below */
    struct fm_pq_part *children; /* [type->n_fields] */
    bool in_list;               /* below a list or a map */
} fm_pq_part;

/* The parts of a schema; counts leaves on in *n_leaves. FM_UNSUPPORTED: types without a place in Parquet. */
fm_status fm_pq_parts_build(const fm_type *schema, const fm_parquet_ids *ids, fm_arena *arena, fm_pq_part *root, int32_t *n_leaves,
                            fm_error *err);
/* How values of a leaf's type are kept. */
fm_pq_storage fm_pq_storage_of(const fm_type *type, fm_parquet_timestamps timestamps);
/* Adds the rows of a batch to leaves[]; scratch is for the call. FM_INVALID: a null where the schema has none. */
fm_status fm_pq_shred(const fm_pq_part *root, const fm_batch *batch, fm_pq_leaf_writer *leaves, fm_arena *scratch, fm_error *err);

/* ---- parquet_footer.c: what stands behind the pages --------------------------------------------------------- */

/* A chunk of a finished row group, for the footer. */
typedef struct fm_pq_chunk_entry {
    int64_t offset, size, unpacked_size, dictionary_size, values;
    uint32_t encodings;
    fm_str stats;               /* a Statistics struct, ready */
    fm_str column_index, offset_index, bloom; /* ready; offset index needs the chunk's offset, so it is made late */
    int64_t column_index_at, offset_index_at, bloom_at;
} fm_pq_chunk_entry;

typedef struct fm_pq_group_entry {
    struct fm_pq_group_entry *next;
    int64_t rows, offset, size, unpacked_size;
    fm_pq_chunk_entry *chunks;  /* [n_leaves] */
} fm_pq_group_entry;

/* Appends a Statistics struct, ColumnIndex, OffsetIndex or Bloom filter of the leaf's chunk. */
void fm_pq_put_statistics(const fm_pq_leaf_writer *w, fm_strbuf *out);
void fm_pq_put_column_index(const fm_pq_leaf_writer *w, fm_strbuf *out);
void fm_pq_put_offset_index(const fm_pq_leaf_writer *w, int64_t pages_offset, fm_strbuf *out);
bool fm_pq_put_bloom(const fm_pq_leaf_writer *w, fm_strbuf *out);
/* Appends FileMetaData. */
void fm_pq_put_footer(const fm_pq_part *root, const fm_pq_leaf_writer *leaves, int32_t n_leaves, const fm_pq_group_entry *groups,
                      int32_t n_groups, int64_t rows, const fm_parquet_write *spec, fm_str spark_schema, fm_strbuf *out);

#endif
