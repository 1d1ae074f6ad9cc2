/* table/delta/delta_write.h: rows into new data files of a table; what a commit then adds.
 *
 *     part-00000-<uuid>.c000.zstd.parquet          k=a/part-00001-<uuid>.c000.zstd.parquet
 *
 * A file is nothing to readers until a commit names it; one that none names is garbage that VACUUM takes away.
 * Files are synced, their folders too, before finish returns. */
#ifndef FM_TABLE_DELTA_DELTA_WRITE_H
#define FM_TABLE_DELTA_DELTA_WRITE_H

#include "column/batch.h"
#include "table/delta/delta_snapshot.h"

enum { FM_DELTA_OPEN_FILES_MAX = 64 }; /* of one writer: partitions beyond it are finished, the longest unused first */

typedef struct fm_delta_target {
    const fm_delta_log *log;
    const fm_delta_schema *schema;       /* rows have its columns, in its order */
    const fm_delta_metadata *metadata;   /* codec and statistics follow its configuration */
    int64_t file_size;                   /* bytes, about: a file that is larger is followed by another; 0: 128 MiB */
    fm_str folder;                       /* below the table: "_change_data/"; empty: none */
    const fm_type *extra;                /* STRUCT of columns that come behind the schema's and are written too (_change_type); NULL */
} fm_delta_target;

typedef struct fm_delta_writer fm_delta_writer; /* belongs to one thread */

/* index: of the writer, in file names. The target is copied; what it points at lives as long as the writer. */
fm_status fm_delta_writer_new(const fm_delta_target *target, int32_t index, fm_delta_writer **out, fm_error *err);
/* Removes what it wrote unless finish was called; accepts NULL. */
void fm_delta_writer_free(fm_delta_writer *w);
/* Rows of the table. A null in a column that has none by the schema: FM_INVALID, DELTA_NOT_NULL_CONSTRAINT_VIOLATED. */
fm_status fm_delta_writer_write(fm_delta_writer *w, const fm_batch *batch, fm_error *err);
/* All files durable. They live as long as the writer. */
fm_status fm_delta_writer_finish(fm_delta_writer *w, const fm_delta_file **files, int32_t *n, fm_error *err);
int64_t fm_delta_writer_rows(const fm_delta_writer *w);
/* Removes the files it finished: the commit failed. Best effort. */
void fm_delta_writer_abort(fm_delta_writer *w);

#endif
