/* sink/delta_sink.h: the inside of the Delta sink, for its files only. */
#ifndef FM_SINK_DELTA_SINK_H
#define FM_SINK_DELTA_SINK_H

#include "sink/delta_shape.h"
#include "sink/row_list.h"
#include "table/delta/delta_commit.h"
#include "table/delta/delta_write.h"

typedef struct fm_delta_sink_writer {
    fm_sink_writer base;
    fm_delta_writer *files;     /* append, complete: rows go straight to files; NULL: none was made */
    fm_row_list rows;           /* update: rows wait for the merge; optimized writes: for those of the other writers */
    bool gathers;               /* append, complete: rows wait, until they are many */
    fm_delta_shape *shape;
    fm_arena *arena, *scratch;  /* the micro-batch; one write */
} fm_delta_sink_writer;

typedef struct fm_delta_sink {
    fm_sink base;
    fm_sink_env env;
    fm_delta_log log;
    const fm_type *rows;        /* of the result */
    fm_output_mode mode;
    fm_str app_id;              /* the query's; no ptr: batches are not told apart */
    fm_str query_id, user_metadata;
    const char *operation;
    fm_delta_wish wish;
    fm_delta_map properties;      /* of the table, when this query makes it */
    int32_t *keys;              /* [n_keys] columns of the result that a row is found by (update) */
    int32_t n_keys;
    fm_delta_snapshot *snapshot;
    fm_arena *batch;            /* the plan of this micro-batch */
    fm_delta_plan plan;
    fm_delta_sink_writer *writers; /* [FM_SINK_WRITERS_MAX] */
    int32_t n_writers;
    fm_delta_writer *gathered;  /* optimized writes: the rows that waited; or NULL */
    bool uncertain;             /* a commit may be there: its files must stay */
} fm_delta_sink;

/* What all writers wrote, in arena, and the metrics of the commit as JSON. */
fm_status fm_delta_sink_files(fm_delta_sink *s, fm_arena *arena, fm_delta_file **out, int32_t *n, int64_t *rows, fm_error *err);
/* Commits adds and removes of the micro-batch. Conflicts as fm_delta_commit_run gives them. */
fm_status fm_delta_sink_commit(fm_delta_sink *s, int64_t batch_id, fm_delta_commit *c, int64_t rows, fm_arena *arena, fm_error *err);
/* Decides how the result gets into the table as it is now, into s->plan. */
fm_status fm_delta_sink_plan(fm_delta_sink *s, fm_error *err);

#endif
