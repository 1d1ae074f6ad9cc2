/* column/builder.h: makes a vector value by value, of any type, nested ones too.
 *
 * Append freely, ask once: a builder keeps its first failure until finish. For LIST and MAP: append the
 * elements to the child builder(s), then fm_builder_end closes the lane with what was added since the
 * last lane. For STRUCT: append one value to every child, then fm_builder_end. */
#ifndef FM_COLUMN_BUILDER_H
#define FM_COLUMN_BUILDER_H

#include "column/vec.h"

typedef struct fm_builder fm_builder;

/* Lives in arena, as do the buffers of what it makes. rows_hint: lanes to expect. NULL: out of memory. */
fm_builder *fm_builder_new(fm_arena *arena, const fm_type *type, int32_t rows_hint);
fm_builder *fm_builder_child(fm_builder *b, int32_t i); /* LIST 0; MAP 0 key, 1 value; STRUCT field i */
int32_t fm_builder_len(const fm_builder *b);
const fm_type *fm_builder_type(const fm_builder *b);

void fm_builder_null(fm_builder *b); /* any type; a STRUCT's children get nulls too */
void fm_builder_bool(fm_builder *b, bool x);
void fm_builder_i64(fm_builder *b, int64_t x); /* all integer, date, timestamp and interval types */
void fm_builder_f64(fm_builder *b, double x);  /* F32, F64 */
void fm_builder_decimal(fm_builder *b, fm_i128 unscaled);
void fm_builder_str(fm_builder *b, fm_str bytes);      /* STRING, BINARY; copies long ones */
void fm_builder_str_ref(fm_builder *b, fm_str bytes);  /* shares long ones: they outlive the vector */
void fm_builder_end(fm_builder *b);                    /* LIST, MAP, STRUCT: closes a lane */
void fm_builder_lane(fm_builder *b, const fm_vec *from, int64_t i); /* copies lane i, deep (shares strings) */
/* Drops the lanes from len on; a child is cut to match. For a record that turned out to be bad. */
void fm_builder_truncate(fm_builder *b, int32_t len);

/* The vector; the builder is empty again. FM_LIMIT when memory ran out on the way. */
fm_status fm_builder_finish(fm_builder *b, fm_vec *out, fm_error *err);

#endif
