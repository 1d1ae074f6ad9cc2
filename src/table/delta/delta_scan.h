/* table/delta/delta_scan.h: rows of the data files of a table, as its schema has them: partition columns from the log, deleted rows
 * left out, columns found by name, physical name or id. */
#ifndef FM_TABLE_DELTA_DELTA_SCAN_H
#define FM_TABLE_DELTA_DELTA_SCAN_H

#include "column/batch.h"
#include "expr/zone.h"
#include "table/delta/delta_dv.h"
#include "table/delta/delta_schema.h"

typedef struct fm_delta_scan_spec {
    const fm_delta_log *log;
    const fm_delta_schema *schema;
    const int32_t *wanted;       /* [n_wanted] columns of schema->type, in output order */
    int32_t n_wanted;
    bool want_row;               /* one more column at the end, BIGINT: the row's place in its data file, from 0 */
    const fm_condition *const *conditions; /* [n_conditions] all hold; columns index `wanted`: they prune only */
    int32_t n_conditions;
    const fm_zone *zone;         /* of partition timestamps without a zone */
} fm_delta_scan_spec;

typedef struct fm_delta_scan fm_delta_scan; /* belongs to one thread */
typedef fm_status (*fm_delta_push)(void *ctx, const fm_batch *batch, fm_error *err);

/* The spec is copied; what it points at lives as long as the scan, which lives in arena but for what free gives back. */
fm_status fm_delta_scan_new(const fm_delta_scan_spec *spec, fm_arena *arena, fm_delta_scan **out, fm_error *err);
void fm_delta_scan_free(fm_delta_scan *scan); /* accepts NULL */
/* STRUCT: what batches look like; every column nullable. */
const fm_type *fm_delta_scan_schema(const fm_delta_scan *scan);
/* Pushes the rows of one file, in its order; batches live until push returns.
 * but    rows to leave out besides those of the deletion vector, or NULL */
fm_status fm_delta_scan_file(fm_delta_scan *scan, const fm_delta_file *file, const fm_delta_rows *but, fm_delta_push push, void *ctx, fm_error *err);

/* How many rows a data file has, deleted ones too: from its footer. */
fm_status fm_delta_file_rows(const fm_delta_log *log, const fm_delta_file *file, int64_t *rows, fm_error *err);

#endif
