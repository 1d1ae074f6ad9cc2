/* table/delta/delta_value.h: values as a log writes them: of partition columns, and of statistics.
 *
 * Rule  Delta protocol, "Partition Value Serialization", "Per-file Statistics"; the cutting of long strings as Delta does it */
#ifndef FM_TABLE_DELTA_DELTA_VALUE_H
#define FM_TABLE_DELTA_DELTA_VALUE_H

#include "expr/zone.h"
#include "format/parquet.h"
#include "table/delta/delta_schema.h"

/* Whether a column of this type may be a partition column; else FM_INVALID, DELTA_INVALID_PARTITION_COLUMN_TYPE. */
fm_status fm_delta_partition_check(fm_str name, const fm_type *type, fm_error *err);
/* Appends the text of lane i; false for null and for an empty text, which is the same by the protocol. Instants are UTC, ISO 8601. */
bool fm_delta_partition_text(const fm_vec *v, int64_t i, fm_strbuf *out);
/* One lane of `type` from a text; no ptr or empty: null. zone: of timestamps that name none. FM_CORRUPT,
 * DELTA_PARTITION_COLUMN_CAST_FAILED. */
fm_status fm_delta_partition_value(fm_str text, const fm_type *type, const fm_zone *zone, fm_arena *arena, fm_vec *out, fm_error *err);

/* Appends the statistics of a data file: numRecords, minValues, maxValues, nullCount of its first columns_max leaves. */
void fm_delta_stats_print(const fm_parquet_written *written, int64_t columns_max, fm_strbuf *out);
/* numRecords of statistics; -1: not said. */
int64_t fm_delta_stats_rows(fm_str stats);
/* The same statistics with "tightBounds":false, for a file that gets a deletion vector; numRecords is `rows`. */
fm_status fm_delta_stats_loosen(fm_arena *arena, fm_str stats, int64_t rows, fm_str *out, fm_error *err);

/* What statistics say of one leaf: lanes in arena, NULL when they don't say. null_count -1: not said. */
typedef struct fm_delta_bounds {
    const fm_vec *min, *max;
    int64_t rows, null_count;
} fm_delta_bounds;
/* stats: parsed, or NULL. Of the leaf that these physical names lead to, [n_path], from the top. No value lies outside the bounds but
 * NaN; they are widened where writers are known to round: a FLOAT that is a DOUBLE by now, decimals kept as doubles. */
fm_status fm_delta_stats_bounds(const fm_json *stats, const fm_str *path, int32_t n_path, const fm_type *type, fm_arena *arena,
                                fm_delta_bounds *out, fm_error *err);

#endif
