/* sink/delta_upsert.h: rows that take the place of rows with the same key: update mode into a Delta table.
 *
 *     for each data file that may hold one of the keys (by its statistics and partition):
 *         find the rows with a key of the batch
 *         none               the file stays
 *         deletion vectors   the file stays, its vector takes the rows in (delta.enableDeletionVectors)
 *         copy on write      a new file has the other rows
 *     the batch's rows are added
 *
 * All of it is one commit. A null is a key like any other: it is the group of nulls. */
#ifndef FM_SINK_DELTA_UPSERT_H
#define FM_SINK_DELTA_UPSERT_H

#include "sink/delta_sink.h"

/* Merges the rows that the writers hold and commits; tries again when other writers changed what was read. */
fm_status fm_delta_upsert_commit(fm_delta_sink *s, int64_t batch_id, int64_t *rows, fm_arena *arena, fm_error *err);

#endif
