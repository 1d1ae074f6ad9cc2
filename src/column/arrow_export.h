/* column/arrow_export.h: rows leave through the Arrow C data interface. */
#ifndef FM_COLUMN_ARROW_EXPORT_H
#define FM_COLUMN_ARROW_EXPORT_H

#include "column/batch.h"

struct ArrowSchema;
struct ArrowArray;

/* Deep copies: the receiver owns both until it calls their release. Strings become utf8 with 32-bit
 * offsets, booleans bits, decimals decimal128, timestamps "tsu:UTC" or "tsu:", intervals "tiM" and "tDu". */
fm_status fm_arrow_export_schema(const fm_type *schema, struct ArrowSchema *out, fm_error *err);
fm_status fm_arrow_export_batch(const fm_batch *batch, struct ArrowArray *out, fm_error *err);
/* The reverse, for sources made by the host: checks everything, copies into arena. */
fm_status fm_arrow_import_schema(const struct ArrowSchema *in, fm_arena *arena, const fm_type **out,
                                 fm_error *err);
fm_status fm_arrow_import_batch(const struct ArrowArray *in, const fm_type *schema, fm_arena *arena,
                                fm_batch *out, fm_error *err);

#endif
