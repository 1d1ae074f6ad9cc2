/* source/source.h: the contract of sources: where rows come from.
 *
 * A streaming source says how far it can read (an offset: one line of JSON, opaque to the engine, written
 * in the offset log), cuts what lies between two offsets into splits, and reads splits on any worker. The same
 * two offsets must give the same rows in the same splits, on any day, with any number of workers: that is what
 * makes a replay exact. The planning calls belong to the query's coordinator; split readers to one worker
 * each, at the same time as others. */
#ifndef FM_SOURCE_SOURCE_H
#define FM_SOURCE_SOURCE_H

#include "base/options.h"
#include "column/batch.h"
#include "expr/function.h"
#include "os/clock.h"
#include "os/fs.h"
#include "plan/plan.h"

typedef struct fm_source fm_source;             /* each source's own struct starts with `fm_source base` */
typedef struct fm_split_reader fm_split_reader; /* likewise */
struct fm_source_type;

struct fm_source {
    const struct fm_source_type *type;
};
struct fm_split_reader {
    const struct fm_source_type *type;
};

typedef struct fm_source_env {
    fm_fs *fs;
    fm_clock *clock;
    const fm_session_conf *conf;
    const fm_options *session;     /* SET and -c keys */
    fm_str corrupt_column;
    struct fm_memory_tables *memory; /* tables in memory of the session; or NULL */
    /* One line that people should see while the query goes on: what it waits for. Any thread may call it; NULL: nobody looks. */
    void (*warn)(void *ctx, fm_str text);
    void *warn_ctx;
    /* Whether the query, or the statement, was asked to end: who waits for somebody else then gives up with FM_CANCELLED. Any thread
     * may ask; NULL: it never is. */
    bool (*stopped)(void *ctx);
    void *stopped_ctx;
    /* Source types that the session adds to the table: memory tables, the host's. NULL: none. */
    const struct fm_source_type *(*find_more)(void *ctx, fm_str format);
    void *find_more_ctx;
} fm_source_env;

typedef struct fm_source_spec {
    const fm_table_def *table;
    const fm_type *schema;         /* all columns of the relation */
    const int32_t *wanted;         /* [n_wanted] columns to deliver, in this order */
    int32_t n_wanted;
    const fm_condition *const *conditions; /* [n_conditions] on columns of schema, all of which are wanted: rows that cannot meet
                                      them all may be left out; others may be delivered. Leaving out must not hang on the worker */
    int32_t n_conditions;
    bool want_metadata;            /* deliver one more column behind those, the STRUCT that the type's metadata gives */
    bool want_position;            /* deliver one more column at the end, STRING, where each row came from:
                                      "file:line" or "topic-partition@offset" */
    const char *metadata_dir;      /* <checkpoint>/sources/<i>, for what the source keeps; NULL: batch read */
} fm_source_spec;

/* Of a source whose rows have all columns of the relation: the columns to deliver, [spec->n_wanted] in arena, and the schema
 * of what comes out, with _position behind them when that is wanted. */
fm_status fm_source_columns(const fm_source_spec *spec, fm_arena *arena, const int32_t **wanted, const fm_type **schema, fm_error *err);

/* How much a micro-batch may take. */
typedef enum fm_read_limit { FM_READ_LIMITED, FM_READ_ALL } fm_read_limit;

/* A piece of work for one worker: opaque to the engine. */
typedef struct fm_split {
    int64_t index;    /* place in the order of the input, from 0 */
    int64_t size_hint; /* bytes or rows: only for progress */
    const void *data; /* the source's own; lives in the arena given to plan_splits */
} fm_split;

typedef struct fm_source_metric {
    fm_str name, value;
} fm_source_metric;

typedef struct fm_source_type {
    const char *name;                        /* "json", "csv", "text" (file), "rate", ... */
    const char *const *options;              /* Spark's names, NULL-terminated, those of the format besides */
    bool can_stream, can_batch;
    bool prunes;                             /* heeds conditions; EXPLAIN shows them */
    bool fixed_schema;                       /* the same for whatever lies there: known without looking */
    /* The schema of a table: declared, fixed or inferred. is_stream: a stream needs a declared one unless
     * spark.sql.streaming.schemaInference. Checks the options: an unknown one names the nearest. */
    fm_status (*schema)(const fm_source_env *env, const fm_table_def *table, bool is_stream,
                        fm_arena *arena, const fm_type **out, fm_error *err);
    /* The columns of a table of known schema whose values the source knows before it reads (of folders, of the table's log), as
     * indexes into it: names of conditions on them alone stand apart in EXPLAIN. NULL: it has none. */
    fm_status (*partitions)(const fm_source_env *env, const fm_table_def *table, fm_arena *arena, bool **is_partition, fm_error *err);
    /* The type of the hidden column _metadata, STRUCT of where a row comes from; NULL: it has none. */
    const fm_type *(*metadata)(const fm_table_def *table);
    /* Whether a stream over this table would read a file at this absolute path, were it there. NULL: it reads no files. */
    fm_status (*reads_file)(const fm_source_env *env, const fm_table_def *table, fm_str path, fm_arena *arena, bool *out, fm_error *err);
    fm_status (*open)(const fm_source_env *env, const fm_source_spec *spec, fm_arena *arena,
                      fm_source **out, fm_error *err);
    void (*close)(fm_source *source);

    /* Takes up a stream where a checkpoint left it, before anything else; start: last offset taken, or empty. */
    fm_status (*restore)(fm_source *source, fm_str start, fm_error *err);
    /* How far a batch that starts at `start` (empty: the beginning) may go now. *end empty: there is nothing yet and
     * never was; equal to start: nothing new. Spark's offset text. *latest: where the source ends without the
     * limit, or empty when it does not say. Called once per trigger. */
    fm_status (*latest_offset)(fm_source *source, fm_str start, fm_read_limit limit, fm_arena *arena,
                               fm_str *end, fm_str *latest, fm_error *err);
    /* AvailableNow: fixes the last offset of this run at what is there now. */
    fm_status (*fix_target)(fm_source *source, fm_error *err);
    /* Splits of (start, end], in input order. Batch reads: both empty, everything there is. */
    fm_status (*plan_splits)(fm_source *source, fm_str start, fm_str end, int32_t workers,
                             fm_arena *arena, fm_split **out, int32_t *n, fm_error *err);
    /* The batch that ended at `end` is committed: files may be cleaned. Best effort. */
    fm_status (*commit)(fm_source *source, fm_str end, fm_error *err);
    /* The same, said at once, before anything else is asked. Takes no time to speak of; or NULL. */
    void (*committed)(fm_source *source, fm_str end);
    /* "FileStreamSource[file:/in]" */
    void (*description)(const fm_source *source, fm_strbuf *out);
    void (*metrics)(const fm_source *source, fm_arena *arena, fm_source_metric **out, int32_t *n);

    fm_status (*reader_open)(fm_source *source, fm_arena *arena, fm_split_reader **out, fm_error *err);
    /* Reads one whole split: pushes its batches, in order. Batches live until push returns. May be called for
     * many splits, one after the other; `cancelled` is asked now and then. */
    fm_status (*reader_read)(fm_split_reader *reader, const fm_split *split,
                             fm_status (*push)(void *ctx, const fm_batch *batch, fm_error *err), void *ctx,
                             fm_wake *cancelled, fm_error *err);
    /* Rows read and records found bad since the last call. */
    void (*reader_counts)(fm_split_reader *reader, int64_t *rows, int64_t *bad);
    void (*reader_close)(fm_split_reader *reader);
} fm_source_type;

/* By format name, any case; NULL when unknown. */
const fm_source_type *fm_source_find(fm_str format);
const fm_source_type *const *fm_sources(int *n);

/* The session's additions first, then the table: how everybody looks a source up. */
static inline const fm_source_type *fm_source_lookup(const fm_source_env *env, fm_str format)
{
    const fm_source_type *type = env->find_more ? env->find_more(env->find_more_ctx, format) : NULL;

    return type ? type : fm_source_find(format);
}

#endif
