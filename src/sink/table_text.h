/* sink/table_text.h: rows as a table of text, as Spark's show() and console sink print them, to the character. */
#ifndef FM_SINK_TABLE_TEXT_H
#define FM_SINK_TABLE_TEXT_H

#include "column/batch.h"
#include "expr/zone.h"

/* Appends header, rows and rulers; rows beyond rows_max are left out, and a line says so. truncate > 0: cells of more
 * characters are cut to truncate - 3 and "...", and stand at the right; 0: uncut, at the left. */
void fm_table_text(const fm_type *schema, const fm_batch *const *batches, int32_t n_batches, int64_t rows_max, int truncate,
                   const fm_zone *zone, fm_strbuf *out);

#endif
