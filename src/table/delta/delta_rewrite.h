/* table/delta/delta_rewrite.h: taking rows out of data files, which themselves never change.
 *
 *     deletion vectors   the file stays, its vector takes the rows in; a file without rows left goes
 *     copy on write      a new file has the other rows
 *
 * New rows go to the same writer, so that a commit of both is one set of files. */
#ifndef FM_TABLE_DELTA_DELTA_REWRITE_H
#define FM_TABLE_DELTA_DELTA_REWRITE_H

#include "table/delta/delta_scan.h"
#include "table/delta/delta_write.h"

typedef struct fm_delta_rewrite_spec {
    const fm_delta_log *log;
    const fm_delta_schema *schema;     /* of the rows that are read and written */
    const fm_delta_metadata *metadata;
    bool use_vectors;
    const fm_zone *zone;
    int32_t files_max;                 /* that may be changed, at most */
    int64_t file_size;                 /* of new files; 0: the default */
} fm_delta_rewrite_spec;

typedef struct fm_delta_rewrite fm_delta_rewrite; /* belongs to one thread */

/* What the spec points at lives as long as the rewrite. */
fm_status fm_delta_rewrite_new(const fm_delta_rewrite_spec *spec, fm_delta_rewrite **out, fm_error *err);
/* Data files that were written go, too, unless keep_files: a commit names them, or may. Accepts NULL. */
void fm_delta_rewrite_free(fm_delta_rewrite *rw, bool keep_files);
/* Where new rows are written. */
fm_delta_writer *fm_delta_rewrite_writer(fm_delta_rewrite *rw);
/* The rows `hits` of a file go; its others stay. hits->gone 0: nothing happens. The file lives until finish's results are used. */
fm_status fm_delta_rewrite_file(fm_delta_rewrite *rw, const fm_delta_file *file, const fm_delta_rows *hits, fm_error *err);
/* All rows of a file go into new files, and the file goes: many small ones become one. */
fm_status fm_delta_rewrite_pack(fm_delta_rewrite *rw, const fm_delta_file *file, fm_error *err);
/* All is durable. *adds: new files and those with new vectors. They live as long as the rewrite. */
fm_status fm_delta_rewrite_finish(fm_delta_rewrite *rw, const fm_delta_file **adds, int32_t *n_adds, const fm_delta_file **removes, int32_t *n_removes,
                                  fm_error *err);

#endif
