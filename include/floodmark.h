/* floodmark.h: event-time stream processing in one C library, with the semantics of Spark Structured Streaming.
 *
 *     floodmark_error err = {0};
 *     floodmark_session *s = floodmark_session_new(&err);
 *     floodmark_job *job = floodmark_job_open(s, "CREATE TABLE ...; CREATE STREAMING TABLE ... AS SELECT ...", NULL, &err);
 *     if (job) floodmark_job_wait(job, -1, &err);
 *     floodmark_job_free(job);
 *     floodmark_session_free(s);
 *
 * Functions that can fail return 0 (or a pointer) when they did well, and fill *err else. A session belongs to one thread
 * at a time; a query may be asked from any thread. Texts that come back are owned by the caller (floodmark_free) unless a
 * comment says otherwise. Sessions, jobs and texts that go in are not NULL unless a comment says so. Rows come and go through the
 * Arrow C data interface. */
#ifndef FLOODMARK_H
#define FLOODMARK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FLOODMARK_VERSION "0.1.0"

/* ---- The Arrow C data interface, as its specification gives it --------------------------------------------- */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};
#endif

/* ---- Errors ------------------------------------------------------------------------------------------------ */

/* What the caller can do about a failure. */
enum floodmark_status {
    FLOODMARK_OK = 0,
    FLOODMARK_INVALID,     /* the query, an option or the data is wrong */
    FLOODMARK_UNSUPPORTED, /* right, but not built */
    FLOODMARK_NOT_FOUND,
    FLOODMARK_CONFLICT,    /* somebody else writes, or runs, the same */
    FLOODMARK_UNAVAILABLE, /* I/O failed: a full disk, a missing permission, a peer that is away */
    FLOODMARK_LIMIT,       /* memory or another bound */
    FLOODMARK_CORRUPT,     /* bytes on disk are not what was written */
    FLOODMARK_CANCELLED
};

typedef struct floodmark_error {
    int status;            /* enum floodmark_status */
    int line, column;      /* 1-based place in the SQL text; 0: none */
    char condition[96];    /* Spark's error condition, or one of ours */
    char message[2048];    /* UTF-8: what happened and what to do */
} floodmark_error;

/* ---- Sessions ---------------------------------------------------------------------------------------------- */

typedef struct floodmark_session floodmark_session;

floodmark_session *floodmark_session_new(floodmark_error *err);
/* Its jobs and queries must be freed before. Accepts NULL. */
void floodmark_session_free(floodmark_session *session);

/* As SET key = value: Spark's keys and floodmark's (SET without a key lists them). */
int floodmark_session_set(floodmark_session *session, const char *key, const char *value, floodmark_error *err);

/* The statement that runs (floodmark_sql, the statements of floodmark_job_open) ends with FLOODMARK_CANCELLED, and so does every
 * later one of this session. Streams that run go on: floodmark_job_stop. From any thread; signal-safe. */
void floodmark_session_stop(floodmark_session *session);

/* Where the console sink writes: whole pieces of text, from the threads of queries, one at a time. Before any job. */
void floodmark_session_on_print(floodmark_session *session, void (*print)(void *ctx, const char *text, int64_t size), void *ctx);

/* One line, without a newline, that people should see while a query goes on: the Kafka broker it waits for. From the threads of
 * queries, one at a time. Before any job; without it nobody is told. */
void floodmark_session_on_warning(floodmark_session *session, void (*warn)(void *ctx, const char *line), void *ctx);

/* Runs one statement that starts no stream and hands its rows out: batches of a record, in order. A statement without rows
 * gives a stream without columns. The caller releases *out; after a failure there is nothing to release, and out->release is NULL. */
int floodmark_sql(floodmark_session *session, const char *sql, struct ArrowArrayStream *out, floodmark_error *err);
/* The rows of all statements of a text, ${variables} replaced, one after the other, as text: format "table" (as the console sink, uncut;
 * plans of EXPLAIN as they stand), "csv" or "json" (lines). NULL on failure. */
char *floodmark_sql_text(floodmark_session *session, const char *sql, const char *format, floodmark_error *err);

/* The plans of the queries of a text, in all phases; statements that declare are run, streams are not started. */
char *floodmark_explain_text(floodmark_session *session, const char *text, floodmark_error *err);

/* ---- Rows of the host -------------------------------------------------------------------------------------- */

/* A source whose rows the host gives: CREATE TABLE t (columns) USING <name>. Rows are numbered from 0; the engine asks for
 * ranges, and may ask for one again after a restart: the same range must give the same rows. */
typedef struct floodmark_source {
    void *ctx;
    /* How many rows there are by now; never less than before, over restarts too: a query that has taken more fails. Non-zero: failed. */
    int (*available)(void *ctx, int64_t *rows);
    /* Rows [from, to) as one record batch (struct array) of the table's columns. Non-zero: failed. */
    int (*read)(void *ctx, int64_t from, int64_t to, struct ArrowArray *out);
} floodmark_source;

/* A sink that the host is: CREATE STREAMING TABLE t USING <name> AS ... . A batch that failed or was interrupted comes again
 * with the same id: whoever needs each row once writes the id with the rows. */
typedef struct floodmark_sink {
    void *ctx;
    int (*open)(void *ctx, const char *query_name, const struct ArrowSchema *schema);
    /* A record batch of micro-batch batch_id; the host owns `rows` (release it). Called several times a batch, from the threads
     * of the workers, by one at a time. */
    int (*write)(void *ctx, int64_t batch_id, struct ArrowArray *rows);
    int (*commit)(void *ctx, int64_t batch_id);
} floodmark_sink;

/* Names fold case and may be given once. A source needs both callbacks; a sink needs write, open and commit may be NULL. */
int floodmark_register_source(floodmark_session *session, const char *name, const floodmark_source *source, floodmark_error *err);
int floodmark_register_sink(floodmark_session *session, const char *name, const floodmark_sink *sink, floodmark_error *err);

/* ---- Jobs -------------------------------------------------------------------------------------------------- */

/* What a job tells while it runs. Members may be NULL. Called from the threads of its queries, one at a time. */
typedef struct floodmark_job_options {
    /* "once", "availableNow", an interval, or NULL: what the statements say. */
    const char *trigger;
    /* A statement of the job gave rows: text as of floodmark_sql_text(..., "table"). */
    void (*on_rows)(void *ctx, const char *statement, const char *text);
    /* A micro-batch is committed (or an idle report is due): Spark's progress as one line of JSON. */
    void (*on_progress)(void *ctx, const char *query_name, const char *json);
    /* The same, told to a person: rows in, windows opened and closed, late rows, the watermark. Several lines. */
    void (*on_story)(void *ctx, const char *query_name, const char *text);
    void *ctx;
    /* ${name} in the text: returns the value or NULL. ${env:NAME} is looked up in the environment. NULL: settings only. */
    const char *(*variable)(void *ctx, const char *name);
} floodmark_job_options;

/* A text of statements, and the streams it starts. */
typedef struct floodmark_job floodmark_job;

/* Runs the statements in order. Streams (CREATE STREAMING TABLE, and SELECT over a stream, which prints to the console) are
 * checked and opened, and begin to run once the whole text is done; so an error anywhere starts nothing. NULL on failure. */
floodmark_job *floodmark_job_open(floodmark_session *session, const char *text, const floodmark_job_options *options,
                                  floodmark_error *err);
/* Waits until all its queries have ended, or for timeout_ms (< 0: for ever). 1: ended well; 0: still running; -1: a query failed
 * (the others are stopped). */
int floodmark_job_wait(floodmark_job *job, int64_t timeout_ms, floodmark_error *err);
/* Asks its queries to end: after the micro-batch in flight, or (now) giving it up without a trace. Signal-safe. */
void floodmark_job_stop(floodmark_job *job, int now);
/* Stops, waits, frees. Accepts NULL. */
void floodmark_job_free(floodmark_job *job);

/* Streams of the job. */
int floodmark_job_queries(const floodmark_job *job);
/* Owned by the job. query: 0 to floodmark_job_queries() - 1; NULL for any other. */
const char *floodmark_query_name(const floodmark_job *job, int query);
const char *floodmark_query_id(const floodmark_job *job, int query);
/* The last micro-batch's progress as JSON, pretty: two-space indent. NULL before the first, and for a query that is none. */
char *floodmark_query_progress(const floodmark_job *job, int query, int pretty);

/* ---- Looking at checkpoints -------------------------------------------------------------------------------- */

/* What a checkpoint folder holds, in words. NULL on failure. */
char *floodmark_checkpoint_text(const char *folder, floodmark_error *err);

void floodmark_free(void *text);

#ifdef __cplusplus
}
#endif

#endif
