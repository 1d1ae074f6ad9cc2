/* engine/session.h: a session: settings, a catalog of tables and views, memory tables, and what starts queries.
 *
 * What floodmark.h stands on, and what Spark Connect will. A session belongs to one thread at a time; the queries it
 * started run on their own (engine/running.h). */
#ifndef FM_ENGINE_SESSION_H
#define FM_ENGINE_SESSION_H

#include "plan/analyze.h"
#include "sink/memory_table.h"
#include "stream/streaming_query.h"

typedef struct fm_session fm_session;

typedef struct fm_session_env {
    fm_fs *fs;              /* NULL: the real one */
    fm_clock *clock;        /* NULL: the real one */
    void (*print)(void *ctx, fm_str text); /* console sink; NULL: standard output */
    void *print_ctx;
    void (*warn)(void *ctx, fm_str text);  /* what a query waits for; NULL: nobody is told */
    void *warn_ctx;
    /* Sources and sinks that the host adds, by format name; NULL: none. */
    const fm_source_type *(*find_source)(void *ctx, fm_str format);
    const fm_sink_type *(*find_sink)(void *ctx, fm_str format);
    void *find_ctx;
} fm_session_env;

fm_status fm_session_new(const fm_session_env *env, fm_session **out, fm_error *err);
void fm_session_free(fm_session *session); /* its queries must be closed before; accepts NULL */

/* The statement that runs ends with FLOODMARK_CANCELLED, and so does every later one. Streams go on. Any thread, signal handlers too. */
void fm_session_stop(fm_session *session);
/* FLOODMARK_CANCELLED once it was stopped. */
fm_status fm_session_stopped(const fm_session *session, fm_error *err);

/* SET key = value, as -c does. Unknown floodmark.* and spark.sql.streaming.* keys name the nearest; a bad value is
 * refused at once. Keys of Spark that mean nothing here are kept and have no effect. */
fm_status fm_session_set(fm_session *session, fm_str key, fm_str value, fm_error *err);
/* The same, as the host's word, to which RESET goes back. */
fm_status fm_session_configure(fm_session *session, fm_str key, fm_str value, fm_error *err);
/* RESET: a key, or (empty) all of them, as fm_session_configure left them, else as if never set. */
fm_status fm_session_reset(fm_session *session, fm_str key, fm_error *err);
const fm_options *fm_session_settings(const fm_session *session);
const fm_session_conf *fm_session_conf_of(const fm_session *session);

/* Declares a table (copied) or a view. replace=false: TABLE_OR_VIEW_ALREADY_EXISTS. The plan of a view is unresolved, is
 * analyzed at each use and must live as long as the session: fm_session_arena is the place for it. */
fm_arena *fm_session_arena(fm_session *session);
fm_status fm_session_add_table(fm_session *session, const fm_table_def *table, bool is_stream, bool replace,
                               fm_error *err);
fm_status fm_session_add_view(fm_session *session, fm_str name, const fm_plan *plan, bool replace,
                              fm_error *err);
fm_status fm_session_drop(fm_session *session, fm_str name, bool is_view, bool if_exists, fm_error *err);

/* Unresolved -> resolved, in arena. */
fm_status fm_session_analyze(fm_session *session, const fm_plan *plan, fm_arena *arena, fm_plan **out,
                             fm_error *err);

/* Rows of a batch query or of a command, kept in memory. */
typedef struct fm_result {
    fm_arena *arena;
    const fm_type *schema;   /* STRUCT; no fields: a command without rows */
    const fm_batch **batches;
    int32_t n_batches, cap_batches;
    int64_t rows;
    bool is_text;            /* one row, one column: a text to be shown as it stands, such as a plan */
} fm_result;
void fm_result_free(fm_result *result); /* accepts NULL */

/* Runs one statement that starts no stream: a batch query, DDL, SET, EXPLAIN, SHOW, DESCRIBE. */
fm_status fm_session_execute(fm_session *session, const fm_plan *statement, fm_result **out, fm_error *err);

/* How a stream is started: what CREATE STREAMING TABLE, writeStream and a bare SELECT say. */
typedef struct fm_start {
    fm_str name;              /* queryName or table name; may be empty */
    fm_str format;            /* of the sink */
    const fm_options *options; /* the sink's; outputMode, trigger, checkpointLocation, queryName are taken out of it */
    const fm_str *partition_by;
    int32_t n_partition_by;
    const fm_options *properties; /* TBLPROPERTIES; or NULL */
    fm_str comment;
    const fm_type *columns;    /* that the statement declares: they must be those of the query; or NULL */
    bool makes_table;          /* CREATE STREAMING TABLE: of files, no two columns may have one name then */
    const fm_trigger *trigger; /* overrides the options' and the session's; or NULL */
    void (*on_progress)(void *ctx, fm_progress_ref *progress);
    void *on_progress_ctx;
} fm_start;

/* A query opened at its checkpoint, not yet running. */
typedef struct fm_prepared {
    fm_arena *arena;          /* plan, texts */
    fm_query *query;
    fm_str name;
    fm_str checkpoint;
    fm_str format;
    fm_output_mode mode;
} fm_prepared;

/* plan: an unresolved query over at least one stream. Phases, for messages: analysis, then start (streaming checks, sink,
 * checkpoint); *started_at: 0 failed in analysis, 1 at start. */
fm_status fm_session_prepare(fm_session *session, const fm_plan *plan, const fm_start *start,
                             fm_prepared **out, int *phase, fm_error *err);
void fm_prepared_free(fm_prepared *prepared); /* closes the query; accepts NULL */

/* True for statements that start a stream: CREATE STREAMING TABLE, and a query over a stream (it is analyzed for that). */
fm_status fm_session_is_stream(fm_session *session, const fm_plan *statement, bool *out, fm_error *err);

#endif
