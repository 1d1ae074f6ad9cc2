/* sink/partition_path.h: the folders that partitionBy puts files in: "k=a%2Fb/day=2026-03-01".
 *
 * Rule  Spark, ExternalCatalogUtils: name and value are escaped as Hive does, NULL and an empty text are
 *       __HIVE_DEFAULT_PARTITION__; values are as CAST(x AS STRING) gives them, timestamps in the session zone. */
#ifndef FM_SINK_PARTITION_PATH_H
#define FM_SINK_PARTITION_PATH_H

#include "column/batch.h"
#include "expr/zone.h"

/* Appends the folders of row i, no slash at the ends. */
void fm_partition_path(const fm_batch *batch, const int32_t *columns, int32_t n, int64_t i, const fm_zone *zone,
                       fm_strbuf *out);
/* One part of it. */
void fm_partition_escape(fm_str text, fm_strbuf *out);

#endif
