/* table/delta/delta_commit.h: one commit: put-if-absent, and what to do when somebody else was first.
 *
 *     try version v+1 --- the name is free -----------------> committed
 *         ^           \-- it is taken: read what is there
 *         |                 |-- it touches what we read ----> DELTA_CONCURRENT_...; nothing of ours is there
 *         +-----------------+-- it does not
 *
 * An append that read nothing of the table conflicts with no data of others, and with no compaction.
 *
 * Rule  Delta, OptimisticTransaction and ConflictChecker at WriteSerializable: a blind append of another does not disturb who
 *       read the table; deletes and rewrites (with a change of data) do */
#ifndef FM_TABLE_DELTA_DELTA_COMMIT_H
#define FM_TABLE_DELTA_DELTA_COMMIT_H

#include "table/delta/delta_snapshot.h"

enum { FM_DELTA_COMMIT_TRIES_MAX = 10000 }; /* versions lost to others before we give up */

typedef struct fm_delta_commit {
    const char *operation;           /* "STREAMING UPDATE", "WRITE", "MERGE" */
    bool no_data_change;             /* rows stay what they are: OPTIMIZE, VACUUM; said as isolation SnapshotIsolation */
    fm_str user_metadata;            /* no ptr: none */
    fm_str parameters;               /* JSON object: operationParameters; no ptr: {} */
    fm_str metrics;                  /* JSON object: operationMetrics; no ptr: none */
    const fm_delta_protocol *protocol; /* NULL: as it is */
    const fm_delta_metadata *metadata; /* NULL: as it is */
    const fm_delta_file *adds, *removes, *cdcs;
    int32_t n_adds, n_removes, n_cdcs;
    const fm_delta_domain *domains;
    int32_t n_domains;
    fm_str app_id;                   /* with app_version: this batch is committed once; no ptr: none */
    int64_t app_version;
    /* What was read of the snapshot that the commit stands on: */
    bool read_files;                 /* false: a blind append */
    /* Whether a file that another added would have been read. NULL with read_files: all would. */
    bool (*would_read)(void *ctx, const fm_delta_file *added);
    void *ctx;
    bool is_serializable;            /* blind appends of others count, too (delta.isolationLevel) */
} fm_delta_commit;

/* Commits on top of `s`, which is then at *version and has what others committed in between.
 *
 * errors  FM_CONFLICT: DELTA_CONCURRENT_APPEND, _DELETE_READ, _DELETE_DELETE, _TRANSACTION, DELTA_METADATA_CHANGED,
 *         DELTA_PROTOCOL_CHANGED: read again and start anew; nothing was committed, `s` is up to date.
 *         FM_UNAVAILABLE: the commit may or may not be there: look (fm_delta_snapshot_txn) */
fm_status fm_delta_commit_run(fm_delta_snapshot *s, const fm_delta_commit *c, int64_t *version, fm_error *err);

/* After a commit: a checkpoint when its version asks for one (delta.checkpointInterval), and then cleaning. Best effort: a failure
 * costs readers time, no rows. */
void fm_delta_maintain(const fm_delta_snapshot *s);

#endif
