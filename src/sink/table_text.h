/* sink/table_text.h: rows as a table for people, in Spark's layout to the character: what show() and the console sink
 * print.
 *
 *     +--------------------+-----+
 *     |              window|count|
 *     +--------------------+-----+
 *     |{2026-03-01 12:00...|    1|
 *     +--------------------+-----+
 *     only showing top 1 row                                                                                          */
#ifndef FM_SINK_TABLE_TEXT_H
#define FM_SINK_TABLE_TEXT_H

#include "column/batch.h"
#include "expr/zone.h"

/* Appends the table, each line ended by a newline.
 *
 * batches   [n] of `schema`, one after the other
 * rows_max  rows to show; when there are more, a last line says so
 * truncate  > 0: cells are cut to this many characters and right-aligned; 0: whole, left-aligned
 * rule      Spark, Dataset.showString: a column is as wide as its widest cell, at least 3; East Asian wide characters
 *           count 2; control characters are shown as escapes; header cells are never cut */
void fm_table_text(const fm_type *schema, const fm_batch *const *batches, int32_t n, int64_t rows_max,
                   int32_t truncate, const fm_zone *zone, fm_strbuf *out);

/* One value as a cell shows it, before cutting. Rule: Spark, ToPrettyString: as CAST(x AS STRING), but NULL at any depth is
 * "NULL" and binary is "[61 62]". */
void fm_cell_text(const fm_vec *v, int64_t i, const fm_zone *zone, fm_strbuf *out);

#endif
