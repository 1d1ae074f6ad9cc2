/* source/delta_source.h: what the parts of the Delta source share.
 *
 * delta_feed.c     the change data feed: columns, range
 * delta_source.c   options, schema, batch reads, reading data files
 * delta_stream.c   the stream's side: offsets, limits, what commits may hold */
#ifndef FM_SOURCE_DELTA_SOURCE_H
#define FM_SOURCE_DELTA_SOURCE_H

#include "source/source.h"
#include "table/delta/delta_changes.h"
#include "table/delta/delta_prune.h"
#include "table/delta/delta_scan.h"
#include "table/delta/delta_snapshot.h"

/* Columns that the option floodmarkRows adds: the data file a row is in, as the log names it, and its place there. For statements
 * that change rows; no user's column. */
#define FM_DELTA_FILE_COLUMN "__floodmark_file"
#define FM_DELTA_ROW_COLUMN "__floodmark_row"

/* A place in the log. Rule: Delta's DeltaSourceOffset. `index` is that of the last file taken of a version; BASE: none yet. */
enum { FM_DELTA_BASE_INDEX = -100 };
typedef struct fm_delta_place {
    int64_t version, index;
    bool is_initial; /* files are those of the snapshot at `version`, by modification time and path */
} fm_delta_place;

typedef struct fm_delta_source {
    fm_source base;
    fm_source_env env;
    fm_arena *arena;
    fm_delta_log log;
    fm_delta_snapshot *snapshot; /* as it was opened: schema, files of a batch read; NULL: no table yet (a stream) */
    const fm_type *out_schema;   /* of batches pushed */
    int32_t *table_columns;      /* [n_wanted] columns of the table; -1: it has none of that name: nulls */
    int32_t *scan_columns;       /* [n_scan] those of the table, in order */
    int32_t n_wanted, n_scan;
    bool want_metadata;          /* a column behind the wanted ones: _metadata */
    bool want_position, want_row; /* want_row: the scan gives the place of each row */
    bool is_feed;                /* option readChangeFeed: the table has _change_type, _commit_version and _commit_timestamp, too */
    int64_t feed_start, feed_end; /* versions of a batch read of the feed */
    const fm_delta_schema *scan_schema; /* scan_columns index it: the snapshot's, of a feed with _change_type */
    bool has_rows;               /* option floodmarkRows: the table has the two columns below */
    fm_delta_pruner pruner;      /* conditions on columns of the table */
    const fm_condition **scan_conditions; /* [n_scan_conditions] the same, columns index scan_columns */
    int32_t n_scan_conditions;
    /* a stream: */
    bool is_stream;
    fm_str table_id;
    fm_str start_path;           /* where the first place is kept; NULL-terminated */
    fm_delta_place begin;        /* the first place */
    bool has_begin;
    int64_t files_max, bytes_max; /* of a micro-batch; 0: no limit */
    bool ignore_deletes, ignore_changes, skip_changes, fail_on_loss;
    fm_str starting_version, starting_timestamp;
    int64_t target;              /* AvailableNow: no commit beyond; -1: none */
    fm_delta_place quiet_from, quiet_to; /* between them there is nothing to read */
    int64_t looked_us;           /* when the folder was listed to find lost commits */
    fm_delta_snapshot *initial;  /* the snapshot at begin.version, while it is read */
} fm_delta_source;

/* A split: one data file, or a piece of a feed. */
typedef struct fm_delta_split {
    fm_delta_change change;
} fm_delta_split;

/* Splits as they gather. */
typedef struct fm_delta_splits {
    fm_arena *arena;
    fm_split *items;
    int32_t n, cap;
} fm_delta_splits;
/* Copies the piece. */
fm_status fm_delta_splits_add(fm_delta_splits *l, const fm_delta_change *change, fm_error *err);

extern const char *const fm_delta_source_options[];
fm_status fm_delta_stream_open(fm_delta_source *s, const fm_options *options, const char *metadata_dir, fm_error *err);
fm_status fm_delta_stream_restore(fm_source *source, fm_str start, fm_error *err);
fm_status fm_delta_stream_latest(fm_source *source, fm_str start, fm_read_limit limit, fm_arena *arena, fm_str *end, fm_str *latest, fm_error *err);
fm_status fm_delta_stream_fix(fm_source *source, fm_error *err);
fm_status fm_delta_stream_splits(fm_delta_source *s, fm_str start, fm_str end, fm_arena *arena, fm_split **out, int32_t *n, fm_error *err);
/* Whether a file may hold a wanted row. scratch is reset. */
fm_status fm_delta_source_keeps(const fm_delta_source *s, const fm_delta_file *file, fm_arena *scratch, bool *keeps, fm_error *err);
/* delta_feed.c */
#define FM_DELTA_COMMIT_VERSION "_commit_version"
#define FM_DELTA_COMMIT_TIMESTAMP "_commit_timestamp"
fm_status fm_delta_feed_wanted(const fm_options *o, bool *out, fm_error *err);
/* The table's columns and those of the feed. DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS. */
fm_status fm_delta_feed_columns(const fm_type *table, fm_arena *arena, const fm_type **out, fm_error *err);
/* Sets feed_start and feed_end of a batch read, from its options. */
fm_status fm_delta_feed_range(fm_delta_source *s, const fm_options *o, fm_error *err);
/* The pieces of one commit of a range; what may not be read is refused. FM_NOT_FOUND: it is not there. */
fm_status fm_delta_feed_commit(const fm_delta_source *s, int64_t version, int64_t start, int64_t end, fm_arena *arena, fm_delta_changes *out, fm_error *err);
/* Deep copies, for splits. */
fm_status fm_delta_file_copy(fm_arena *arena, const fm_delta_file *in, fm_delta_file *out, fm_error *err);
/* The version that options versionAsOf and timestampAsOf name; -1: the latest. */
fm_status fm_delta_travel(const fm_source_env *env, const fm_delta_log *log, const fm_options *options, int64_t *version, fm_error *err);

#endif
