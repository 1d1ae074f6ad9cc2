/* format/format.h: the contract of file formats: bytes <-> batches.
 *
 * A reader is fed whole blocks that end at a record boundary (a line), as the file source cuts them; it turns each
 * into batches of up to FM_BATCH_ROWS_DECODE rows. Readers keep what they learn (field order) from
 * block to block and belong to one thread. Formats with a footer (Parquet) are read through the file itself instead, in
 * pieces: file_schema and read_piece take the place of infer_..., can_split, read_block and whole_records. */
#ifndef FM_FORMAT_FORMAT_H
#define FM_FORMAT_FORMAT_H

#include "base/options.h"
#include "column/batch.h"
#include "column/condition.h"
#include "expr/zone.h"
#include "os/fs.h"

typedef enum fm_bad_mode { FM_BAD_PERMISSIVE, FM_BAD_DROPMALFORMED, FM_BAD_FAILFAST } fm_bad_mode;

/* What a reader is told when it is made. */
typedef struct fm_read_spec {
    const fm_type *schema;    /* STRUCT: the file's columns, as declared, nullable */
    const int32_t *wanted;    /* [n_wanted] indexes into schema, in output order: decode only these */
    int32_t n_wanted;         /* but whether a record is bad is judged as Spark does: by the wanted columns */
    const fm_condition *const *conditions; /* [n_conditions] all hold of the rows wanted; columns are places in `wanted`. They prune only */
    int32_t n_conditions;
    const fm_options *options;
    const fm_zone *zone;      /* session zone */
    fm_str corrupt_column;    /* spark.sql.columnNameOfCorruptRecord, default _corrupt_record */
    bool case_sensitive;      /* names of columns in files */
} fm_read_spec;

typedef struct fm_block {
    const char *bytes;        /* [len], then FM_BLOCK_PADDING zero bytes; lives until the batches are done with */
    size_t len;
    fm_str file;              /* for messages and source positions */
    int64_t offset;           /* of bytes[0] in the (decompressed) file */
    int64_t first_line;       /* 1-based number of the first line, or 0 when not known */
} fm_block;

typedef struct fm_read_counts {
    int64_t rows;             /* delivered */
    int64_t bad;              /* records that were malformed: nulled or dropped by the mode */
} fm_read_counts;

typedef struct fm_reader fm_reader; /* each format's own struct starts with `const fm_format *format` */
typedef struct fm_inferrer fm_inferrer; /* likewise */

/* Where batches go. `lines`: [batch->rows] 1-based line of each row when block.first_line was known, else NULL. */
typedef struct fm_batch_out {
    void *ctx;
    fm_status (*push)(void *ctx, const fm_batch *batch, const int64_t *lines, fm_error *err);
} fm_batch_out;

typedef struct fm_writer fm_writer;

typedef struct fm_format {
    const char *name;               /* "json" */
    const char *extension;          /* of files written: "json" */
    const char *const *read_options;  /* Spark's names, NULL-terminated */
    const char *const *write_options;
    const char *const *session_options; /* pairs: a key of the session, the option it stands in for; NULL-terminated; or NULL */
    /* A fixed schema (text), or NULL: must be given or inferred. */
    const fm_type *(*fixed_schema)(fm_arena *arena, const fm_options *options);
    /* Guessing a schema (format.infer_...; NULL: cannot). An inferrer is fed the files of a table one after the other, whole
     * records at a time as infer_whole says, and is asked once. infer_new is told no schema; its blocks live for the call. */
    fm_status (*infer_new)(fm_arena *arena, const fm_read_spec *spec, fm_inferrer **out, fm_error *err);
    fm_status (*infer_block)(fm_inferrer *inferrer, const fm_block *block, fm_error *err);
    size_t (*infer_whole)(fm_inferrer *inferrer, const char *bytes, size_t len); /* as whole_records */
    bool (*infer_enough)(const fm_inferrer *inferrer); /* what follows changes nothing; NULL: it may */
    fm_status (*infer_finish)(fm_inferrer *inferrer, fm_arena *arena, const fm_type **out, fm_error *err);
    void (*infer_free)(fm_inferrer *inferrer);
    /* A piece of a file that starts behind any \n may be read alone: lines are independent and end there. */
    bool (*can_split)(const fm_options *options);

    fm_status (*reader_new)(fm_arena *arena, const fm_read_spec *spec, fm_reader **out, fm_error *err);
    /* Decodes a block. Batches live in `arena`, which the reader resets between batches it pushes: whoever
     * receives one copies what it keeps. FAILFAST: MALFORMED_RECORD_IN_PARSING naming file, line, byte. */
    fm_status (*read_block)(fm_reader *reader, const fm_block *block, fm_arena *arena,
                            fm_batch_out *out, fm_read_counts *counts, fm_error *err);
    /* How many of `len` bytes, the start of what is left of a file, are whole records; 0: not one yet. More
     * bytes follow, else the rest is given to read_block as it is. Always 0 reads the file as one block. */
    size_t (*whole_records)(fm_reader *reader, const char *bytes, size_t len);
    void (*reader_free)(fm_reader *reader); /* for memory outside the arena; may be NULL */

    /* Formats with a footer; NULL for those read by blocks. The schema that a file has, widened into *schema unless
     * that is NULL. merges: whether all files of a table are to be asked, or one. */
    fm_status (*file_schema)(fm_fs *fs, const char *path, const fm_options *options, fm_arena *arena,
                             const fm_type **schema, fm_error *err);
    fm_status (*merges)(const fm_options *options, bool *out, fm_error *err);
    /* Decodes the parts of a file whose middle byte lies in [from, to); to < 0: to its end. Pieces of piece_size bytes
     * share a file out. Batches and `lines` (rows of the file, from 1; only if `numbered`) as read_block has them. */
    fm_status (*read_piece)(fm_reader *reader, fm_fs *fs, fm_str path, int64_t from, int64_t to, bool numbered,
                            fm_arena *arena, fm_batch_out *out, fm_read_counts *counts, fm_error *err);
    int64_t piece_size;

    /* Writing: rows are appended to a buffer the sink flushes to the file. Columns are schema's. */
    fm_status (*writer_new)(fm_arena *arena, const fm_type *schema, const fm_options *options,
                            const fm_zone *zone, fm_writer **out, fm_error *err);
    fm_status (*write_header)(fm_writer *writer, fm_strbuf *out, fm_error *err); /* csv header; or NULL */
    fm_status (*write_batch)(fm_writer *writer, const fm_batch *batch, fm_strbuf *out, fm_error *err);
    bool (*can_write)(const fm_type *schema, fm_error *err); /* e.g. csv: no nested types; sets err */
    /* Formats with a footer; NULL for others, whose writer serves many files one after the other. Here a writer is of one
     * file: write_end appends what is left, and writer_free takes its memory back. */
    fm_status (*write_end)(fm_writer *writer, fm_strbuf *out, fm_error *err);
    void (*writer_free)(fm_writer *writer);
    /* Formats that pack inside the file: the option compression is theirs, and this stands before the extension in file
     * names (".snappy"). NULL: files are packed whole. */
    fm_status (*pack_extension)(const fm_options *options, const char **out, fm_error *err);
} fm_format;

/* whole_records of line formats: up to and with the last line's end. sep empty: \n, \r\n or \r. */
size_t fm_lines_whole(fm_str sep, const char *bytes, size_t len);

/* How many lines end in the bytes. */
int64_t fm_lines_count(fm_str sep, const char *bytes, size_t len);

/* The options with those that the session sets besides; lives in arena. */
fm_status fm_format_options(const fm_format *format, const fm_options *options, const fm_options *session, fm_arena *arena,
                            const fm_options **out, fm_error *err);

/* By name, any case; NULL when unknown. */
const fm_format *fm_format_find(fm_str name);
const fm_format *const *fm_formats(int *n);

#endif
