/* stream/checkpoint.h: the folder that holds all that is kept on disk for a query.
 *
 *     <checkpoint>/
 *       metadata        {"id":"<uuid>",<base/seal.h>}: the identity of the query, for ever
 *       offsets/N       before micro-batch N runs          (stream/offset_log.h)
 *       commits/N       after it                           (stream/commit_log.h)
 *       sources/<i>/    what source i keeps for itself
 *       state/<op>/     state of stateful operator op, in our own format
 *       floodmark.lock  held while a query runs: two runs on one folder would tear it apart */
#ifndef FM_STREAM_CHECKPOINT_H
#define FM_STREAM_CHECKPOINT_H

#include "os/random.h"
#include "stream/commit_log.h"
#include "stream/offset_log.h"

typedef struct fm_checkpoint {
    fm_fs *fs;
    const char *dir;
    char query_id[FM_UUID_TEXT_SIZE];
    fm_batch_log offsets, commits;
    fm_fs_lock *lock;
} fm_checkpoint;

/* Where a query goes on.
 *
 *   last offset entry L, last commit C        batch_id   rerun
 *   no offsets                                0          no
 *   C = L                                     L + 1      no
 *   C < L                                     L          yes: L ran perhaps in part; same offsets, same
 *                                                        watermark, same batch time again */
typedef struct fm_recovery {
    int64_t batch_id;          /* the micro-batch to run next */
    bool rerun;
    fm_offsets last;           /* entry L (the one to run again, or the one before batch_id); zero if none */
    fm_offsets before;         /* entry L - 1, when it is there: where a rerun starts reading */
    bool has_last, has_before;
    int64_t watermark_ms;      /* global watermark to start from */
    bool no_data_next;         /* batch_id is to run even if nothing new came */
    int64_t late_watermark_ms; /* that of the batch before batch_id: what decides lateness in it */
} fm_recovery;

/* Opens or makes the folder and takes the lock.
 *
 * errors  FM_CONFLICT: another process runs on it; FM_INVALID: offsets without metadata
 *         (STREAMING_CHECKPOINT_MISSING_METADATA_FILE), or state without a query
 *         (STREAMING_CHECKPOINT_DIRECTORY_NOT_EMPTY); FM_CORRUPT; FM_UNAVAILABLE */
fm_status fm_checkpoint_open(fm_checkpoint *ck, fm_fs *fs, const char *dir, fm_arena *arena,
                             fm_error *err);
void fm_checkpoint_close(fm_checkpoint *ck);

/* Reads the logs. Rule: semantics 8.7. *out lives in arena. */
fm_status fm_checkpoint_recover(fm_checkpoint *ck, fm_arena *arena, fm_recovery *out, fm_error *err);

#endif
