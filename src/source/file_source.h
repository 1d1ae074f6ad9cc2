/* source/file_source.h: what the parts of the file source share.
 *
 * file_source.c   options, schema, planning: which files belong to a batch, in which pieces
 * file_stream.c   the stream's side: new files, the log of those taken, cleaning
 * file_reader.c   reads a piece
 * file_metadata.c the column _metadata
 * file_own.c      whether a file to come would be read
 * file_prune.c    what is left out because of the filters above
 * file_infer.c    the columns of files that declare none */
#ifndef FM_SOURCE_FILE_SOURCE_H
#define FM_SOURCE_FILE_SOURCE_H

#include "format/format.h"
#include "source/decompress.h"
#include "source/file_list.h"
#include "source/file_seen.h"
#include "source/source.h"
#include "table/file_log.h"

typedef enum fm_clean_mode { FM_CLEAN_OFF, FM_CLEAN_DELETE, FM_CLEAN_ARCHIVE } fm_clean_mode;

typedef struct fm_file_options {
    fm_file_listing listing;
    bool ignore_missing, ignore_corrupt;
    int64_t files_max; /* maxFilesPerTrigger; 0: no limit */
    int64_t bytes_max; /* maxBytesPerTrigger; 0: no limit */
    bool latest_first;
    bool name_only; /* fileNameOnly */
    int64_t max_age_ms;
    int64_t cached_max;   /* maxCachedFiles */
    double discard_ratio; /* discardCachedInputRatio */
    fm_clean_mode clean;
    fm_str archive_dir; /* absolute */
} fm_file_options;

/* Where a wanted column comes from. */
typedef struct fm_file_column {
    int32_t from_format; /* index among the columns the format delivers, or -1 */
    int32_t from_path;   /* index among the partition columns, or -1 */
} fm_file_column;

typedef struct fm_file_source {
    fm_source base;
    fm_source_env env;
    fm_arena *arena;
    const fm_format *format;
    const fm_table_def *table;
    fm_file_options options;
    fm_session_conf conf;      /* for values in paths */
    const fm_type *out_schema; /* of batches pushed: wanted columns, and the position */
    bool want_position;
    bool want_metadata; /* a column behind the wanted ones: what fm_file_metadata_type says */
    fm_file_column *columns; /* [n_wanted] */
    int32_t n_wanted;
    fm_field *partitions; /* columns whose values stand in paths */
    int32_t n_partitions;
    fm_read_spec read; /* for the format's readers */
    const fm_condition *const *conditions; /* [n_conditions] the source's: file_prune.c */
    int32_t n_conditions;
    int32_t *in_path; /* [schema->n_fields] column of a condition: place in partitions, or -1 */
    fm_str line_sep;   /* empty: \n, \r\n or \r */
    /* a stream: */
    bool is_stream;
    fm_file_log log;
    fm_seen_files seen;
    fm_arena *listed;       /* memory of the listings below */
    fm_folder_marks marks;  /* of the last listing */
    int64_t quiet_since_us; /* monotonic: when that found nothing new, in folders long unchanged; 0: it did */
    fm_strbuf uri;          /* scratch */
    fm_listed_file *target; /* AvailableNow: what was there at the start; or NULL */
    size_t n_target;
    bool has_target;
    fm_arena *cached;       /* memory of unread */
    fm_listed_file *unread; /* left over by a limit */
    size_t n_unread;
    bool told_future; /* that a file's time hides others was said */
    bool told_unclean; /* that files cannot be cleaned was said */
    int64_t cleaned; /* highest log entry whose files were cleaned; -1: not known */
} fm_file_source;

/* A split: a piece of a file, [from, to) with the rule of lines below; to -1: the whole file.
 * A piece has the lines that start in (from, to], the first one also that which starts at 0. */
typedef struct fm_file_split {
    fm_str path;
    int64_t from, to;
    const fm_vec *partition_values; /* [n_partitions] of one lane each */
    int64_t length, size, modified_ms; /* of the piece; of the file */
} fm_file_split;

/* file_metadata.c: _metadata: STRUCT<file_path, file_name, file_size, file_block_start, file_block_length, file_modification_time>, of
 * Parquet row_index, too. */
const fm_type *fm_file_metadata_type(const fm_table_def *table);
/* Its lanes, of that type, for rows of one piece. lines: their numbers in the file from 1; NULL: not numbered. */
fm_status fm_file_metadata(const fm_type *type, const fm_file_split *split, const int64_t *lines, int32_t rows, fm_arena *arena, fm_vec *out,
                           fm_error *err);

/* file_prune.c: what conditions are good for; after the columns are planned. */
fm_status fm_file_prune_init(fm_file_source *s, const fm_source_spec *spec, fm_error *err);
/* Whether a file with these values in its path, [n_partitions] of one lane, may hold a wanted row. */
bool fm_file_prune_keeps(const fm_file_source *s, const fm_vec *values);

/* file_own.c: whether an absolute path lies at what a pattern of folders stands for, or below; *below: what of the path is, from its '/' on. */
bool fm_file_path_in(fm_str path, fm_str pattern, fm_str *below);
/* Whether a table's stream would read a file at this absolute path, were it there. */
fm_status fm_file_reads(const fm_source_env *env, const fm_table_def *table, fm_str path, fm_arena *arena, bool *out, fm_error *err);

/* file_stream.c */
fm_status fm_file_stream_open(fm_file_source *s, const char *metadata_dir, fm_error *err);
fm_status fm_file_stream_restore(fm_source *source, fm_str start, fm_error *err);
fm_status fm_file_stream_latest(fm_source *source, fm_str start, fm_read_limit limit,
                                fm_arena *arena, fm_str *end, fm_str *latest, fm_error *err);
fm_status fm_file_stream_fix(fm_source *source, fm_error *err);
fm_status fm_file_stream_commit(fm_source *source, fm_str end, fm_error *err);
void fm_file_stream_close(fm_file_source *s);
/* Files of the log entries in (start, end], in order. */
fm_status fm_file_stream_files(fm_file_source *s, fm_str start, fm_str end, fm_arena *arena,
                               fm_listed_file **out, size_t *n, fm_error *err);

/* file_reader.c */
fm_status fm_file_reader_open(fm_source *source, fm_arena *arena, fm_split_reader **out,
                              fm_error *err);
fm_status fm_file_reader_read(fm_split_reader *reader, const fm_split *split,
                              fm_status (*push)(void *ctx, const fm_batch *batch, fm_error *err),
                              void *ctx, fm_wake *cancelled, fm_error *err);
void fm_file_reader_counts(fm_split_reader *reader, int64_t *rows, int64_t *bad);
void fm_file_reader_close(fm_split_reader *reader);

/* file_infer.c: the columns that stand in the files; UNABLE_TO_INFER_SCHEMA when there is no file. */
fm_status fm_file_infer(const fm_source_env *env, const fm_table_def *table, const fm_file_options *o,
                        const fm_listed_file *files, size_t n, fm_arena *arena, const fm_type **out, fm_error *err);

/* Opens a file of a table for reading: unpacked, and as UTF-8 by the option encoding. FM_NOT_FOUND. */
fm_status fm_file_open_text(const fm_source_env *env, const fm_table_def *table, const char *path, fm_byte_stream **out,
                            fm_error *err);
/* The error for a file that is listed but not there. */
fm_status fm_file_missing(const char *path, fm_error *err);

#endif
