/* engine/change_rows.h: rows that go from a Delta table and rows that come, in one commit: what INSERT, UPDATE, DELETE and MERGE
 * stand on.
 *
 *     try:   begin -> the table at its latest version
 *            plan  -> how rows get in, its files' rows by place
 *            hit, push ... -> rows that go, rows that come
 *            commit -> put if absent; a conflict begins anew with another try
 *
 * Rows that go leave their file by copy on write or by a deletion vector. A table with delta.enableChangeDataFeed gets change files,
 * `_change_data/cdc-...`: rows with `_change_type`, which a commit names in cdc actions. Then all of its changes stand there. */
#ifndef FM_ENGINE_CHANGE_ROWS_H
#define FM_ENGINE_CHANGE_ROWS_H

#include "engine/tables.h"
#include "sink/delta_shape.h"
#include "table/delta/delta_commit.h"
#include "table/delta/delta_feed_write.h"
#include "table/delta/delta_prune.h"
#include "table/delta/delta_rewrite.h"

enum { FM_CHANGE_DELETED = 1, FM_CHANGE_UPDATED, FM_CHANGE_INSERTED, FM_CHANGE_UPDATED_FROM }; /* _FROM: the row before */

typedef struct fm_change {
    fm_session *s;
    fm_arena *arena, *batch;      /* one try; one batch */
    fm_delta_log log;
    fm_delta_snapshot *snapshot;
    fm_delta_plan plan;
    const fm_type *rows;          /* STRUCT of what push gets */
    fm_delta_shape *shape;
    fm_delta_rewrite *rewrite;
    fm_delta_feed_writer *changes; /* change files; NULL: the table wants none, or none is needed */
    fm_delta_index by_path;
    fm_delta_rows *hits;          /* [n_entries] bits are made with the first hit */
    fm_delta_pruner *reads;       /* [n_reads] what queries read of the table: the files that these leave in */
    int32_t n_reads, cap_reads;
    int64_t rows_written;         /* by push */
    int64_t started_us;
    int64_t version;              /* of the commit */
} fm_change;

/* What a commit of changes did, for its metrics. */
typedef struct fm_change_totals {
    int64_t added_files, added_bytes, removed_files, removed_bytes, copied_rows, change_files, vectors_added, vectors_updated, vectors_removed;
} fm_change_totals;

/* Loads the table. errors: DELTA_TABLE_NOT_FOUND, and what forbids writing it. fm_change_end comes after, whatever happened; with
 * the status of the try. */
fm_status fm_change_begin(fm_change *c, fm_session *s, const fm_table_def *table, fm_error *err);
/* The same of a folder that may have no table yet: then its snapshot is empty, at version -1. */
fm_status fm_change_begin_new(fm_change *c, fm_session *s, fm_str path, fm_error *err);
/* The same to look only: the table need not be one that we may write. */
fm_status fm_change_begin_read(fm_change *c, fm_session *s, const fm_table_def *table, fm_error *err);
void fm_change_end(fm_change *c, fm_status st);

/* begin (one of the two for tables that are there), run, end: again and again while others are in the way. */
typedef fm_status (*fm_change_begin_fn)(fm_change *c, fm_session *s, const fm_table_def *table, fm_error *err);
enum { FM_CHANGE_TRIES_MAX = 20 };
fm_status fm_change_try(fm_change *c, fm_session *s, const fm_table_def *table, fm_change_begin_fn begin, fm_status (*run)(void *ctx, fm_error *err),
                        void *ctx, fm_error *err);
/* How rows of type `rows` get in; wish: what else is wished, or NULL. want_changes: change files, if the table wants them. */
fm_status fm_change_plan_rows(fm_change *c, const fm_type *rows, const fm_delta_wish *wish, bool want_changes, fm_error *err);
/* A row goes, by its file as the log names it, and its place. *fresh false: it went before. */
fm_status fm_change_hit(fm_change *c, fm_str path, int64_t row, bool *fresh, fm_error *err);
/* Notes where an optimized query reads the table, and which of its rows: what of others' commits is a conflict goes by that. Called
 * for each query of the try, before it runs. */
fm_status fm_change_note_reads(fm_change *c, const fm_plan *optimized, fm_error *err);
/* Rows come; some: [n] of them, or NULL: all. types: [in->rows] FM_CHANGE_* for the change files, or NULL: none. */
fm_status fm_change_push(fm_change *c, const fm_batch *in, const int32_t *some, int32_t n, const int32_t *types, fm_error *err);
/* Rows of the table, whole, into the change files only: those that went. */
fm_status fm_change_note(fm_change *c, const fm_batch *rows, const int32_t *types, fm_error *err);
/* Takes the hit rows out of their files, and finishes all: c->... into *commit, with totals. remove_all: all that is there goes.
 * What the commit has read is what was noted; everything, when commit->read_files was set before. */
fm_status fm_change_finish(fm_change *c, bool remove_all, fm_delta_commit *commit, fm_change_totals *totals, fm_error *err);
/* Reads the table, with rows' places, under a name that only this session's next query knows. */
fm_status fm_change_declare_target(fm_change *c, fm_error *err);
#define FM_CHANGE_TARGET "__floodmark_target"

/* Commits, and looks after the log. */
fm_status fm_change_commit(fm_change *c, fm_delta_commit *commit, fm_error *err);

/* {"key":"value",...}: parameters and metrics. A value without ptr is null. */
typedef struct fm_pair {
    const char *key;
    fm_str value;
} fm_pair;
fm_str fm_pairs_json(fm_arena *arena, const fm_pair *pairs, int32_t n);
typedef struct fm_metric {
    const char *name;
    int64_t value;
} fm_metric;
enum { FM_METRICS_MAX = 24 };
fm_str fm_metrics_json(fm_arena *arena, const fm_metric *metrics, int32_t n);
fm_str fm_number_text(fm_arena *arena, int64_t x);
/* ["a","b"] as text. */
fm_str fm_names_json(fm_arena *arena, const fm_str *names, int32_t n);

#endif
