/* engine/session_impl.h: the inside of a session, for the files of engine/ only. */
#ifndef FM_ENGINE_SESSION_IMPL_H
#define FM_ENGINE_SESSION_IMPL_H

#include "engine/session.h"

/* One name in the catalog: a table or a view. */
typedef struct fm_relation {
    fm_str name;
    const fm_table_def *table; /* or NULL */
    const fm_type *inferred;   /* of a table that declares no columns, once they were looked for */
    const fm_plan *view;       /* or NULL: unresolved */
    bool is_stream;            /* a table that may be read without the word STREAM */
} fm_relation;

struct fm_session {
    fm_session_env env;
    fm_arena *arena;           /* settings, tables, views: grows with DDL */
    fm_options settings;
    fm_options initial;        /* what the host set, not a statement: RESET goes back to it */
    fm_session_conf conf;      /* what settings say, for expressions */
    fm_relation *relations;
    int32_t n_relations, cap_relations;
    struct fm_memory_tables *memory;
    fm_source_env source_env;
    fm_sink_env sink_env;
    fm_catalog catalog;
    fm_wake *stop;             /* raised: statements end, and no more begin */
};

/* Looks a name up; NULL when there is none. */
fm_relation *fm_session_find(fm_session *session, fm_str name);
/* Refreshes what hangs on settings: conf and environments. */
fm_status fm_session_apply(fm_session *session, fm_error *err);
/* Fills in the callbacks the analyzer asks (engine/catalog.c). */
void fm_session_init_catalog(fm_session *session);
/* What a query runs with: workers, budget, environments. */
fm_exec_env fm_session_exec_env(fm_session *session);

/* SHOW, DESCRIBE, EXPLAIN, SET as rows (engine/show.c). */
fm_status fm_session_show(fm_session *session, const fm_plan *statement, fm_result *result, fm_error *err);
enum { FM_RESULT_ROWS = 1024 }; /* rows of a batch that result.c makes */
/* Copies a batch into a result (ctx) of the same schema; for fm_emit. */
fm_status fm_result_push(void *ctx, const fm_batch *batch, fm_error *err);
/* Gives a result string columns of these names, and rows of n_columns cells each; a cell without ptr is null. */
fm_status fm_result_strings(fm_result *result, const char *const *names, int32_t n_columns, const fm_str *cells,
                            int64_t rows, fm_error *err);
fm_result *fm_result_new(fm_error *err);

#endif
