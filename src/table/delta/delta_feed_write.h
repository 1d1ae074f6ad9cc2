/* table/delta/delta_feed_write.h: files of the change data feed, for commits that change rows of a table that has it.
 *
 *     _change_data/cdc-00000-<uuid>.c000.zstd.parquet    the table's columns, and _change_type
 *
 * A commit that only adds rows, or takes whole files away, needs none: readers see that from its actions. When there is one, readers
 * look at nothing else, so all rows that the commit changed stand in them: also those that are new. */
#ifndef FM_TABLE_DELTA_DELTA_FEED_WRITE_H
#define FM_TABLE_DELTA_DELTA_FEED_WRITE_H

#include "table/delta/delta_changes.h"
#include "table/delta/delta_write.h"

typedef enum fm_delta_change_type { FM_DELTA_INSERT, FM_DELTA_DELETE, FM_DELTA_UPDATE_PREIMAGE, FM_DELTA_UPDATE_POSTIMAGE } fm_delta_change_type;

typedef struct fm_delta_feed_writer fm_delta_feed_writer; /* belongs to one thread */

/* What it is given lives as long as the writer. */
fm_status fm_delta_feed_writer_new(const fm_delta_log *log, const fm_delta_schema *schema, const fm_delta_metadata *metadata, const fm_zone *zone,
                                   fm_delta_feed_writer **out, fm_error *err);
/* Files that were written go unless keep_files. Accepts NULL. */
void fm_delta_feed_writer_free(fm_delta_feed_writer *w, bool keep_files);
/* Rows of the table's schema. */
fm_status fm_delta_feed_writer_add(fm_delta_feed_writer *w, fm_delta_change_type type, const fm_batch *rows, fm_error *err);
/* The rows of a data file that `hits` marks. */
fm_status fm_delta_feed_writer_add_hits(fm_delta_feed_writer *w, fm_delta_change_type type, const fm_delta_file *file, const fm_delta_rows *hits, fm_error *err);
/* All durable. They live as long as the writer. */
fm_status fm_delta_feed_writer_finish(fm_delta_feed_writer *w, const fm_delta_file **files, int32_t *n, fm_error *err);

#endif
