/* sink/sink.h: the contract of sinks: where rows go.
 *
 * The engine calls begin(N); workers write with writers of their own, at the same time; then commit(N) makes the
 * rows of the batch visible, once: a sink that can tell (files, memory) ignores a batch id that it has already
 * committed, so that the same N twice leaves the result of once. abort or a crash before commit leaves nothing
 * visible. */
#ifndef FM_SINK_SINK_H
#define FM_SINK_SINK_H

#include "base/options.h"
#include "column/batch.h"
#include "expr/function.h"
#include "os/clock.h"
#include "os/fs.h"
#include "plan/plan.h"

struct fm_sink_type;
typedef struct fm_sink {
    const struct fm_sink_type *type;
} fm_sink;
typedef struct fm_sink_writer {
    fm_sink *sink;
} fm_sink_writer;

/* Rows of memory sinks by name: held by the session, queryable as tables; see sink/memory_table.h. */
struct fm_memory_tables;

typedef struct fm_sink_env {
    fm_fs *fs;
    fm_clock *clock;
    const fm_session_conf *conf;
    const fm_options *session;
    struct fm_memory_tables *memory;
    /* Text for the terminal, whole pieces at a time (console sink). */
    void (*print)(void *ctx, fm_str text);
    void *print_ctx;
    /* One line that people should see while the query goes on: what it waits for. Any thread may call it; NULL: nobody looks. */
    void (*warn)(void *ctx, fm_str text);
    void *warn_ctx;
    /* Sink types that the session adds to the table: the host's. NULL: none. */
    const struct fm_sink_type *(*find_more)(void *ctx, fm_str format);
    void *find_more_ctx;
    /* An expression in SQL over `columns`, bound to them by index: constraints, generated and default columns of tables. In
     * arena. NULL: tables that have such are not written. */
    fm_status (*compile)(const fm_session_conf *conf, fm_str sql, const fm_type *columns, fm_arena *arena, fm_expr **out,
                         fm_error *err);
} fm_sink_env;

typedef struct fm_sink_spec {
    fm_str format;
    fm_str query_name;
    fm_str query_id;             /* UUID of the checkpoint */
    const fm_options *options;
    const fm_type *schema;       /* STRUCT: names and types of the result */
    const fm_str *partition_by;
    int32_t n_partition_by;
    fm_output_mode mode;
    /* Key columns of an update-mode aggregation in the result, for sinks that upsert: indexes, or n_keys 0. */
    const int32_t *key_columns;
    int32_t n_key_columns;
    bool every_batch;            /* begin is called for each micro-batch of the query; else for those that have rows for it */
    const fm_options *properties; /* TBLPROPERTIES, for sinks that make a table; or NULL */
    fm_str comment;              /* of that table; may be empty */
    fm_str missing_key;          /* SQL of a grouping expression that no column shows: the keys tell too little; empty: none */
} fm_sink_spec;

typedef struct fm_sink_type {
    const char *name;                /* "console" */
    const char *const *options;
    uint8_t modes;                   /* bits 1 << fm_output_mode it takes; others: UNSUPPORTED_DATASOURCE */
    bool needs_checkpoint;           /* no temporary checkpoint: the user must name one */
    bool prints;                     /* its reader may be gone: a batch that is given up while it is printed counts as not printed */
    bool counts_rows;                /* numOutputRows is reported; else -1, as Spark's V1 sinks */
    fm_status (*open)(const fm_sink_env *env, const fm_sink_spec *spec, fm_arena *arena, fm_sink **out,
                      fm_error *err);
    /* Starts batch N with up to `writers` writers. *skip: N is committed already; nothing is to be written. */
    fm_status (*begin)(fm_sink *sink, int64_t batch_id, int32_t writers, bool *skip, fm_error *err);
    fm_status (*writer_open)(fm_sink *sink, int32_t index, fm_sink_writer **out, fm_error *err);
    fm_status (*write)(fm_sink_writer *writer, const fm_batch *batch, fm_error *err);
    fm_status (*writer_close)(fm_sink_writer *writer, fm_error *err); /* all handed over and durable */
    /* *rows: written in this batch. */
    fm_status (*commit)(fm_sink *sink, int64_t batch_id, int64_t *rows, fm_error *err);
    void (*abort)(fm_sink *sink, int64_t batch_id); /* after a failure; open writers are gone with it */
    void (*description)(const fm_sink *sink, fm_strbuf *out);
    void (*close)(fm_sink *sink);
} fm_sink_type;

const fm_sink_type *fm_sink_find(fm_str format);
const fm_sink_type *const *fm_sinks(int *n);

/* The session's additions first, then the table: how everybody looks a sink up. */
static inline const fm_sink_type *fm_sink_lookup(const fm_sink_env *env, fm_str format)
{
    const fm_sink_type *type = env->find_more ? env->find_more(env->find_more_ctx, format) : NULL;

    return type ? type : fm_sink_find(format);
}

#endif
