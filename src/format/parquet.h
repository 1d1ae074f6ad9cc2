/* format/parquet.h: Parquet files, read and written by our own code. The formats' table (format/parquet_format.c)
 * and tables kept as logs of commits (src/table) stand on it.
 *
 *     file    'PAR1' | row group | row group | ... | page index | footer | its length, u32 | 'PAR1'
 *     group   a chunk for each leaf of the schema, a chunk is a row of pages, each with values and levels
 *
 * Types. A column has the type Spark gives it: INT32 with no annotation is INT, INT64 with TIMESTAMP(MICROS, adjusted
 * to UTC) TIMESTAMP, an unsigned INT64 DECIMAL(20,0), and so on; docs/parquet.md has the table. Nothing of a
 * file is trusted: every length, count and offset is checked, and what breaks is FM_CORRUPT naming file and column.
 *
 * Threads. An open file is immutable: any number of readers, one per thread, may stand on it. */
#ifndef FM_FORMAT_PARQUET_H
#define FM_FORMAT_PARQUET_H

#include "base/options.h"
#include "column/batch.h"
#include "column/condition.h"
#include "os/fs.h"

/* Field ids of a type's fields, a tree of the same shape. */
enum { FM_PARQUET_NO_ID = -1 };
typedef struct fm_parquet_ids {
    int32_t id;                            /* FM_PARQUET_NO_ID: none */
    const struct fm_parquet_ids *children; /* [type->n_fields]; NULL: nothing below has one */
} fm_parquet_ids;

/* ---- An open file ------------------------------------------------------------------------------------------- */

typedef struct fm_parquet_file fm_parquet_file;

/* Opens a file and reads its footer; everything about it lives in `arena`, the handle until fm_parquet_close.
 *
 * size    bytes of the file when the caller knows them (a table's log does), else -1
 * errors  FM_NOT_FOUND, FM_UNAVAILABLE: of the file system; FM_CORRUPT: no Parquet file, or a damaged one, naming it;
 *         FM_UNSUPPORTED: encrypted files, and those whose columns are in other files */
fm_status fm_parquet_open(fm_fs *fs, const char *path, int64_t size, fm_arena *arena, fm_parquet_file **out,
                          fm_error *err);
void fm_parquet_close(fm_parquet_file *file); /* accepts NULL; readers on it are closed before */

/* STRUCT: all columns, names as in the file; a column is nullable iff it is OPTIONAL. The types are Spark's own when its
 * metadata say more than Parquet's schema (intervals, and TIMESTAMP_NTZ of old writers). */
const fm_type *fm_parquet_schema(const fm_parquet_file *file);
/* FM_UNSUPPORTED, PARQUET_TYPE_ILLEGAL: a column has a type that is not read (TIME, UUID, INTERVAL); it is VOID in the schema.
 * The other columns can be read all the same. */
fm_status fm_parquet_check_schema(const fm_parquet_file *file, fm_error *err);
/* [fm_parquet_schema()->n_fields]: the field ids of the columns; NULL: the file has none. */
const fm_parquet_ids *fm_parquet_field_ids(const fm_parquet_file *file);
int64_t fm_parquet_rows(const fm_parquet_file *file);
/* Key-value metadata; {NULL, 0} when absent. */
fm_str fm_parquet_metadata(const fm_parquet_file *file, fm_str key);
/* "parquet-mr version 1.16.0 (build ...)"; may be empty. */
fm_str fm_parquet_created_by(const fm_parquet_file *file);

typedef struct fm_parquet_row_group {
    int64_t first_row, rows;
    int64_t offset; /* of its first byte in the file */
    int64_t size;   /* bytes in the file */
} fm_parquet_row_group;
int32_t fm_parquet_row_groups(const fm_parquet_file *file);
fm_parquet_row_group fm_parquet_row_group_at(const fm_parquet_file *file, int32_t i);

/* What the values of a leaf column are known to be. */
typedef struct fm_parquet_stats {
    int64_t null_count;       /* -1: not known */
    const fm_vec *min, *max;  /* one lane of the leaf's type; NULL: not known. NaN is left out of them */
    bool min_exact, max_exact; /* false: only a bound (a long string was cut) */
} fm_parquet_stats;
/* Of one row group and the leaf that a path of names leads to through structs ({"a", "b"} for a.b; names compare
 * exactly). What cannot be trusted (broken writers, unknown orders) is not known. Vectors live in arena.
 * FM_NOT_FOUND: no such leaf. */
fm_status fm_parquet_stats_of(const fm_parquet_file *file, int32_t row_group, const fm_str *path, int32_t n_path,
                              fm_arena *arena, fm_parquet_stats *out, fm_error *err);

/* ---- Reading ------------------------------------------------------------------------------------------------ */

typedef struct fm_parquet_read {
    const fm_type *schema;     /* STRUCT: what batches look like: any columns, in any order, parts of structs too. A column
                                  or part that the file lacks gives nulls. Types that Spark's reader widens are widened
                                  (INT to BIGINT or DOUBLE, FLOAT to DOUBLE, DATE to TIMESTAMP_NTZ, decimals) */
    const fm_type *file_names; /* same shape: the names in the file, where they differ (column mapping); NULL: schema's */
    const fm_parquet_ids *ids; /* [schema->n_fields]: fields that have an id are found by it, never by name; NULL: by name */
    bool case_sensitive;       /* how names compare; a name that then fits two columns is refused */
    const fm_condition *const *conditions; /* [n_conditions] on columns of schema, all of them hold: rows that cannot meet them
                                              may be left out, others may be delivered */
    int32_t n_conditions;
    int32_t batch_rows;        /* at most; 0: FM_BATCH_ROWS_DECODE; never above FM_BATCH_ROWS_MAX */
} fm_parquet_read;

typedef struct fm_parquet_reader fm_parquet_reader; /* belongs to one thread */

/* The spec is copied as far as it is kept; its types, ids and conditions live as long as the reader.
 * FM_INVALID, PARQUET_COLUMN_DATA_TYPE_MISMATCH: a column's type in the file cannot be read as the one wanted. */
fm_status fm_parquet_reader_new(const fm_parquet_file *file, const fm_parquet_read *spec, fm_parquet_reader **out,
                                fm_error *err);
void fm_parquet_reader_free(fm_parquet_reader *reader); /* accepts NULL */
/* From now on, the row groups [from, to) only; restarts at the first of them. A new reader has all. */
void fm_parquet_reader_range(fm_parquet_reader *reader, int32_t from, int32_t to);
/* From now on, the row groups whose middle byte lies in [from, to): so splits by bytes share a file out, as Spark does. */
void fm_parquet_reader_bytes(fm_parquet_reader *reader, int64_t from, int64_t to);
/* The next rows, or *out NULL at the end. They stand in the file one behind the other, as its rows *first_row and on,
 * counted from 0 (deletion vectors index them); row groups and pages that conditions exclude are left out.
 * The batch lives in arena and in the reader: until the next call, or until it is freed. */
fm_status fm_parquet_reader_next(fm_parquet_reader *reader, fm_arena *arena, const fm_batch **out, int64_t *first_row,
                                 fm_error *err);

/* ---- Writing ------------------------------------------------------------------------------------------------ */

typedef enum fm_parquet_codec {
    FM_PARQUET_UNCOMPRESSED, FM_PARQUET_SNAPPY, FM_PARQUET_GZIP, FM_PARQUET_ZSTD, FM_PARQUET_LZ4_RAW
} fm_parquet_codec;

typedef enum fm_parquet_timestamps { FM_PARQUET_MICROS, FM_PARQUET_MILLIS, FM_PARQUET_INT96 } fm_parquet_timestamps;

typedef struct fm_parquet_write {
    const fm_type *schema;       /* STRUCT */
    const fm_parquet_ids *ids;   /* [schema->n_fields]; NULL: none are written */
    fm_parquet_codec codec;
    int32_t level;               /* of gzip and zstd; 0: the codec's default (zstd 3) */
    int64_t row_group_size;      /* bytes, about, packed; 0: 128 MiB */
    int64_t row_group_rows;      /* at most; 0: no limit */
    int32_t page_size;           /* bytes, about, before packing; 0: 1 MiB */
    bool no_dictionary;          /* plain and delta encodings only */
    bool no_page_index;
    const int32_t *bloom_columns; /* [n_bloom_columns] indexes of leaf columns of schema that get a Bloom filter */
    int32_t n_bloom_columns;
    fm_parquet_timestamps timestamps; /* how TIMESTAMP is kept; MICROS unless asked for otherwise */
    const fm_options *metadata;  /* more key-value pairs for the footer; NULL: none */
} fm_parquet_write;

typedef struct fm_parquet_writer fm_parquet_writer; /* of one file; belongs to one thread */

/* "snappy", "zstd", "gzip", "lz4", "lz4_raw", "none", "uncompressed", any case. FM_INVALID names those there are. */
fm_status fm_parquet_codec_parse(fm_str name, fm_parquet_codec *out, fm_error *err);
/* As Spark puts it before ".parquet" in file names: ".snappy", ".zstd", ".gz", ".lz4raw", "". */
const char *fm_parquet_codec_extension(fm_parquet_codec codec);

/* Whether every type in schema has a place in a Parquet file (VOID has none); else sets err. */
bool fm_parquet_can_write(const fm_type *schema, fm_error *err);

/* spec is copied as far as it is kept; its types and ids live as long as the writer. */
fm_status fm_parquet_writer_new(const fm_parquet_write *spec, fm_parquet_writer **out, fm_error *err);
void fm_parquet_writer_free(fm_parquet_writer *writer); /* accepts NULL; a file not finished is none */
/* Takes rows of spec's schema; strings are copied. Whenever a row group is full its bytes are appended to `out`. The
 * file is what was appended to `out` from the first write to finish, in order; the caller clears `out` as it likes. */
fm_status fm_parquet_writer_write(fm_parquet_writer *writer, const fm_batch *batch, fm_strbuf *out, fm_error *err);
/* The last row group, page index and footer. Nothing but free may follow. */
fm_status fm_parquet_writer_finish(fm_parquet_writer *writer, fm_strbuf *out, fm_error *err);
/* Bytes that the open row group holds in memory: when many files are open, the largest may be cut off first. */
int64_t fm_parquet_writer_held(const fm_parquet_writer *writer);

/* What was written of one leaf column that stands below structs only (not in lists or maps). */
typedef struct fm_parquet_column_written {
    const fm_str *path; /* [n_path] names from the top */
    int32_t n_path;
    const fm_type *type;
    int64_t null_count; /* rows without a value, a null struct above included */
    const fm_vec *min, *max; /* one lane of type, whole values, exact; NULL: there is none (all null, or NaN among them) */
    int64_t size;       /* bytes in the file */
} fm_parquet_column_written;

typedef struct fm_parquet_written {
    int64_t rows, size; /* size: of the whole file */
    const fm_parquet_column_written *columns; /* [n_columns] in schema order */
    int32_t n_columns;
} fm_parquet_written;
/* After finish; lives as long as the writer. */
const fm_parquet_written *fm_parquet_writer_result(const fm_parquet_writer *writer);

#endif
