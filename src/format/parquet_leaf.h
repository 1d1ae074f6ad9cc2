/* format/parquet_leaf.h: one leaf column being written: values gather into pages, pages into the chunk of a row group. */
#ifndef FM_FORMAT_PARQUET_LEAF_H
#define FM_FORMAT_PARQUET_LEAF_H

#include "format/parquet_codec.h"
#include "format/parquet_encode.h"

/* How values of a type stand in the file. */
typedef struct fm_pq_storage {
    fm_pq_type type;
    int32_t fixed_size;    /* FIXED: bytes */
    int32_t size;          /* bytes of a value while it is held: 1 booleans, 4, 8, 16; views 16 */
    bool views;
    bool to_millis, int96; /* of timestamps */
} fm_pq_storage;

/* Least and greatest of some values that are there. */
typedef struct fm_pq_extent {
    bool any, nan;
    union {
        int64_t i;
        double f;
        fm_i128 d;
    } min, max;
    fm_strbuf min_text, max_text;
} fm_pq_extent;
void fm_pq_extent_clear(fm_pq_extent *e);
void fm_pq_extent_fini(fm_pq_extent *e);
/* Takes in n values of a type, dense, as fm_vec holds them. */
void fm_pq_extent_add(fm_pq_extent *e, const fm_type *type, const void *values, int64_t n);
void fm_pq_extent_merge(fm_pq_extent *into, const fm_type *type, const fm_pq_extent *from);
/* A bound as the file holds it, in PLAIN; long texts are cut to a bound (*exact false). */
void fm_pq_extent_put(const fm_pq_extent *e, const fm_type *type, const fm_pq_storage *s, bool is_min, fm_strbuf *out, bool *exact);

/* What the page index says of a page. */
typedef struct fm_pq_page_note {
    int64_t offset;        /* from the chunk's first byte */
    int64_t first_row;     /* of the row group */
    int32_t size;
    int64_t nulls;
    bool all_null;
    size_t min_at, min_len, max_at, max_len; /* in the leaf's notes_text */
} fm_pq_page_note;

typedef struct fm_pq_leaf_writer {
    /* fixed: */
    const fm_type *type;
    fm_pq_storage storage;
    uint8_t max_def, max_rep;
    int32_t codec, level;
    int32_t page_size, page_rows;
    bool may_dictionary, want_bloom, page_index;
    fm_pq_packer *packer;
    /* the page: */
    int64_t levels, rows, nulls;
    fm_strbuf defs, reps;      /* [levels]; defs empty while all are max_def */
    fm_strbuf values;          /* dense, PLAIN but for booleans (a byte each) and what is scaled at the end */
    int64_t n_values;
    uint32_t *indexes;         /* [n_values] while the dictionary is on */
    int64_t cap_indexes;
    fm_pq_extent page_extent;
    /* the chunk: */
    fm_pq_dictionary dictionary;
    bool dictionary_on, hopeless;
    fm_strbuf pages;           /* packed data pages, one behind the other */
    int64_t unpacked_size;     /* of the pages, headers included */
    fm_pq_page_note *notes;
    int32_t n_notes, cap_notes;
    fm_strbuf notes_text;
    fm_pq_extent extent;
    int64_t chunk_levels, chunk_rows, chunk_nulls;
    uint32_t encodings;        /* bits 1 << fm_pq_encoding */
    uint64_t *hashes;          /* [n_hashes] of values, for the Bloom filter */
    int64_t n_hashes, cap_hashes;
    /* the file: */
    fm_pq_extent file_extent;
    int64_t file_nulls, file_size;
    void *scratch;
    size_t scratch_size;
    fm_strbuf body, packed;    /* of the page being made */
} fm_pq_leaf_writer;

bool fm_pq_leaf_init(fm_pq_leaf_writer *w);
void fm_pq_leaf_fini(fm_pq_leaf_writer *w);
/* Takes `levels` pairs of levels (def NULL: all max_def; rep NULL: all 0), `rows` rows of them new, and the values of those
 * that have one, dense. False: no memory. */
bool fm_pq_leaf_add(fm_pq_leaf_writer *w, int64_t levels, int64_t rows, const uint8_t *def, const uint8_t *rep, const void *values,
                    int64_t n_values);
/* Bytes held for the row group. */
size_t fm_pq_leaf_held(const fm_pq_leaf_writer *w);

/* What the footer says of a chunk. */
typedef struct fm_pq_chunk_written {
    int64_t size;              /* bytes appended: dictionary page and data pages */
    int64_t unpacked_size;
    int64_t dictionary_size;   /* of the dictionary's page; 0: none */
} fm_pq_chunk_written;
/* Ends the chunk: appends its bytes to out. What the leaf noted of it stays until fm_pq_leaf_next. */
bool fm_pq_leaf_end_chunk(fm_pq_leaf_writer *w, fm_strbuf *out, fm_pq_chunk_written *written);
void fm_pq_leaf_next(fm_pq_leaf_writer *w);

#endif
