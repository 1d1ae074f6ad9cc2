/* table/delta/delta_compact.h: many small data files of a partition become a few large ones. No row changes: appends do not mind,
 * nor do readers of changes.
 *
 * Rule  Delta, OptimizeExecutor: files of a partition, the smallest first, are put into bins of up to file_size; a bin of one file stays
 *       as it is. AutoCompact: partitions with at least files_min small files only */
#ifndef FM_TABLE_DELTA_DELTA_COMPACT_H
#define FM_TABLE_DELTA_DELTA_COMPACT_H

#include "table/delta/delta_commit.h"

typedef struct fm_delta_compaction {
    int64_t small_size;  /* bytes: files below are packed */
    int64_t file_size;   /* bytes: of what comes of them, at most */
    int32_t files_min;   /* small files that a partition must have */
    bool take_vectors;   /* files with a deletion vector are rewritten, whatever their size */
    /* Whether a file is looked at; NULL: all are. */
    fm_status (*wants)(void *ctx, const fm_delta_file *file, bool *wanted, fm_error *err);
    void *ctx;
    const fm_zone *zone;
} fm_delta_compaction;

/* What was packed: new files, which no commit names yet, and those that they stand for. */
typedef struct fm_delta_packed {
    fm_delta_file *adds, *removes; /* without a change of data */
    int32_t n_adds, n_removes;
    int32_t n_considered, n_partitions; /* files looked at; partitions with something packed */
    struct fm_delta_rewrite **bins;     /* [n_bins] open until free */
    int32_t n_bins;
} fm_delta_packed;

/* Lists live in arena; free is called after a failure, too. */
fm_status fm_delta_pack(const fm_delta_snapshot *s, const fm_delta_compaction *c, fm_arena *arena, fm_delta_packed *out, fm_error *err);
/* The new files go unless keep_files: a commit names them, or may. */
void fm_delta_packed_free(fm_delta_packed *p, bool keep_files);

/* What the sinks do after a commit, if the session (spark.databricks.delta.autoCompact.enabled) or the table (delta.autoOptimize.autoCompact,
 * delta.autoOptimize) asks for it. Best effort: small files cost readers time, no rows. */
void fm_delta_auto_compact(fm_delta_snapshot *s, const fm_options *session, const fm_zone *zone);
/* Whether the session or the table (delta.autoOptimize.optimizeWrite) asks for few files. */
bool fm_delta_optimizes_writes(const fm_delta_metadata *m, const fm_options *session);

#endif
