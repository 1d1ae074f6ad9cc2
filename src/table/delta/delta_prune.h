/* table/delta/delta_prune.h: data files that no wanted row is in: by the partition values and the statistics that the log has.
 *
 * Rule  Delta protocol, "Per-file Statistics"; what is missing there, or cannot be read, leaves the file in */
#ifndef FM_TABLE_DELTA_DELTA_PRUNE_H
#define FM_TABLE_DELTA_DELTA_PRUNE_H

#include "column/condition.h"
#include "table/delta/delta_value.h"

typedef struct fm_delta_pruner {
    const fm_delta_schema *schema;
    const fm_condition *const *conditions; /* [n_conditions] on columns of schema->type; all hold of the rows wanted */
    int32_t n_conditions;
    const fm_zone *zone;                   /* of partition timestamps without a zone */
    bool no_stats;                         /* by partition values only */
} fm_delta_pruner;

/* *may: whether the file may hold a row that meets the conditions. scratch is used, and grows. */
fm_status fm_delta_file_may_hold(const fm_delta_pruner *p, const fm_delta_file *file, fm_arena *scratch, bool *may, fm_error *err);

#endif
