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
    bool is_auto;        /* said in the commit */
    /* Whether a file is of the partitions that are looked at; NULL: all are. */
    bool (*wants)(void *ctx, const fm_delta_file *file);
    void *ctx;
    fm_str predicate;    /* of wants, a JSON array of SQL texts, for the commit; no ptr: [] */
    const fm_zone *zone;
} fm_delta_compaction;

typedef struct fm_delta_compacted {
    int32_t n_adds, n_removes;
    int64_t added_size, removed_size;
    int64_t version; /* of the snapshot: the commit's if there was something to do */
} fm_delta_compacted;

/* Packs and commits (OPTIMIZE). FM_CONFLICT: another took one of the files away; nothing was done. */
fm_status fm_delta_compact(fm_delta_snapshot *s, const fm_delta_compaction *c, fm_delta_compacted *out, fm_error *err);

/* What the sinks do after a commit, if the session (spark.databricks.delta.autoCompact.enabled) or the table (delta.autoOptimize.autoCompact,
 * delta.autoOptimize) asks for it. Best effort: small files cost readers time, no rows. */
void fm_delta_auto_compact(fm_delta_snapshot *s, const fm_options *session, const fm_zone *zone);
/* Whether the session or the table (delta.autoOptimize.optimizeWrite) asks for few files. */
bool fm_delta_optimizes_writes(const fm_delta_metadata *m, const fm_options *session);

#endif
