/* format/parquet_column.h: one leaf of a file, read row after row: pages become vectors. */
#ifndef FM_FORMAT_PARQUET_COLUMN_H
#define FM_FORMAT_PARQUET_COLUMN_H

#include "format/parquet_decode.h"

/* Memory of a page: [size] and padding. */
typedef struct fm_pq_buffer {
    struct fm_pq_buffer *next;
    size_t cap;
    uint8_t bytes[];
} fm_pq_buffer;

/* The bytes of a chunk, page by page. */
typedef struct fm_pq_pages {
    const fm_parquet_file *file;
    const fm_pq_leaf *leaf;
    const fm_pq_chunk *chunk;
    int32_t group;
    int64_t at, end;        /* in the file: the next header; the end of the chunk */
    uint8_t *window;        /* [window_cap] bytes of the file from window_at on */
    size_t window_len, window_cap;
    int64_t window_at;
    fm_pq_packer *packer;
    fm_pq_buffer *free;     /* to be used again */
    fm_pq_buffer *retired;  /* batches handed out may point into them */
} fm_pq_pages;

/* A page: its header and unpacked bytes, in *buffer, which the caller gives back. */
typedef struct fm_pq_page_data {
    fm_pq_page header;
    fm_pq_buffer *buffer;
    const uint8_t *bytes;   /* [size] levels and values; v2: levels, not packed, then values */
    size_t size;
} fm_pq_page_data;

void fm_pq_pages_start(fm_pq_pages *p, int32_t group);
/* The next page; bytes NULL at the end of the chunk. Pages of unknown kinds are passed over. */
fm_status fm_pq_pages_next(fm_pq_pages *p, fm_pq_page_data *out, fm_error *err);
void fm_pq_pages_fini(fm_pq_pages *p);
/* Gives a buffer back: at once, or once the batch being made is done with. */
void fm_pq_pages_give(fm_pq_pages *p, fm_pq_buffer *buffer, bool in_use);
void fm_pq_pages_recycle(fm_pq_pages *p); /* the batch is done with */
fm_status fm_pq_page_corrupt(const fm_pq_pages *p, fm_error *err, const char *what);

/* What was read of a leaf. */
typedef struct fm_pq_leaf_rows {
    fm_vec vec;             /* lanes: levels with def >= def_lane */
    const uint8_t *def;     /* [n_levels]; NULL: all max_def */
    const uint8_t *rep;     /* [n_levels]; NULL: all 0 */
    int64_t n_levels;
} fm_pq_leaf_rows;

typedef struct fm_pq_column {
    fm_pq_pages pages;
    const fm_pq_leaf *leaf;
    fm_pq_conversion conversion;
    bool want_levels;       /* somebody above needs them: a struct, a list */
    uint8_t def_lane;       /* lanes exist from this level on: of an item of the nearest list, else 0 */
    int64_t row;            /* next row in the row group */
    /* of the chunk: */
    uint8_t *dictionary;    /* [n_dictionary] values of conversion.size bytes */
    size_t dictionary_cap;
    int64_t n_dictionary;
    fm_pq_buffer *dictionary_page;
    fm_pq_location *locations; /* [n_locations] pages by rows; NULL: not known */
    int32_t n_locations;
    int64_t group_rows;
    /* of the page: */
    fm_pq_buffer *page;
    bool views_out;         /* views into the page, or into values.text, were handed out in this batch */
    int64_t left;           /* levels not taken yet */
    fm_pq_runs def_runs;
    uint8_t *levels;        /* [levels_cap] rep and def levels of the page, for leaves in lists, or oldest encodings */
    size_t levels_cap;
    const uint8_t *def_at, *rep_at; /* next of them; NULL: from def_runs */
    fm_pq_values values;
    void **texts;           /* [n_texts] of values, in use by the batch */
    int32_t n_texts, cap_texts;
    /* scratch: */
    uint32_t *indexes;      /* [FM_BATCH_ROWS_MAX] */
    uint8_t *dense, *defs, *reps; /* growing: a batch of a leaf in lists */
    size_t dense_cap, defs_cap, reps_cap;
} fm_pq_column;

/* The rest of *c is set by the caller: pages.file, pages.packer, leaf, conversion, want_levels, def_lane. */
void fm_pq_column_fini(fm_pq_column *c);
/* Goes to the first row of a row group. locations may be NULL; they live as long as the group is read. */
fm_status fm_pq_column_start(fm_pq_column *c, int32_t group, fm_pq_location *locations, int32_t n_locations, fm_error *err);
/* Goes forward to a row of the group; whole pages are passed over when locations are known. */
fm_status fm_pq_column_seek(fm_pq_column *c, int64_t row, fm_error *err);
/* The next `rows` rows. What it gives lives in arena and in the column until the next read. */
fm_status fm_pq_column_read(fm_pq_column *c, int32_t rows, fm_arena *arena, fm_pq_leaf_rows *out, fm_error *err);

#endif
