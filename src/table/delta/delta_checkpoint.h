/* table/delta/delta_checkpoint.h: the state of a table in Parquet files, so that the log need not be read from its start. */
#ifndef FM_TABLE_DELTA_DELTA_CHECKPOINT_H
#define FM_TABLE_DELTA_DELTA_CHECKPOINT_H

#include "table/delta/delta_snapshot.h"

/* Calls visit with each action of a checkpoint and of the sidecars it names; what it is given lives during the call.
 * FM_CORRUPT, FM_NOT_FOUND: a damaged or incomplete one. */
fm_status fm_delta_checkpoint_read(const fm_delta_log *log, const fm_delta_listed_checkpoint *c, fm_delta_visit visit, void *ctx,
                                   fm_error *err);
/* Writes a checkpoint of the snapshot's version and _last_checkpoint. Tombstones older than the table's
 * delta.deletedFileRetentionDuration stay behind. A checkpoint that is there already is fine. */
fm_status fm_delta_checkpoint_write(const fm_delta_snapshot *s, fm_error *err);
/* Removes what the table's delta.logRetentionDuration lets go: commits and checkpoints before the newest checkpoint that is older
 * than it. Best effort. */
fm_status fm_delta_log_clean(const fm_delta_snapshot *s, fm_error *err);

#endif
