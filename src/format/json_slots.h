/* format/json_slots.h: the columns of a batch while it is being decoded.
 *
 * A slot is one column, or one field within struct columns; its values are written straight into
 * the arrays of the batch, at the row's index. Only lists and maps are made by a builder, lane
 * after lane.
 *
 * 1. Every row below `rows` of every slot was written: a value, or a null with a zero behind it.
 * 2. The validity bits from `rows` on are ones, so a writer of values need not touch them.
 * 3. A builder has exactly one lane per row. */
#ifndef FM_FORMAT_JSON_SLOTS_H
#define FM_FORMAT_JSON_SLOTS_H

#include "base/limits.h"
#include "column/batch.h"
#include "column/builder.h"

/* Field names to indexes. */
typedef struct fm_json_names {
    const fm_field *fields;
    int32_t n;
    uint32_t mask;  /* of the table's size; 0: few fields, looked through */
    int32_t *table; /* index + 1, or 0 */
} fm_json_names;
fm_status fm_json_names_init(fm_json_names *names, const fm_type *type, fm_arena *arena,
                             fm_error *err);
int32_t fm_json_names_find(const fm_json_names *names, fm_str name); /* -1: none */

typedef struct fm_json_slot fm_json_slot;
struct fm_json_slot {
    const fm_type *type;
    void *values;       /* [FM_BATCH_ROWS_DECODE] of scalars; NULL for nested types */
    uint64_t *validity; /* [FM_BATCH_ROWS_DECODE] bits */
    bool has_null;
    bool made_by_builder; /* LIST, MAP */
    int32_t n_children;   /* STRUCT */
    fm_json_slot *children;
    fm_json_names names; /* STRUCT */
    fm_builder *builder;
    uint64_t seen; /* number of the record that wrote it last */
};

/* Makes the tree of slots of a STRUCT type; lives in arena (the query's). */
fm_status fm_json_slots_init(fm_json_slot *root, const fm_type *type, fm_arena *arena,
                             fm_error *err);
/* Gives every slot empty arrays in arena (the batch's). */
fm_status fm_json_slots_begin(fm_json_slot *root, fm_arena *arena, fm_error *err);
/* Writes a null at `row`, into all that is below the slot, too. */
void fm_json_slot_null(fm_json_slot *slot, int32_t row);
/* Restores rules 2 and 3 after a row that was written but is not kept. */
void fm_json_slots_undo(fm_json_slot *root, int32_t row);
/* One slot as a vector of `rows` lanes, its parts in arena. */
fm_status fm_json_slot_finish(fm_json_slot *slot, int32_t rows, fm_arena *arena, fm_vec *out,
                              fm_error *err);
/* The columns: root's children as vectors of `rows` lanes, in arena. */
fm_status fm_json_slots_finish(fm_json_slot *root, int32_t rows, fm_arena *arena,
                               const fm_vec **out, fm_error *err);

static inline void fm_json_slot_set_valid(fm_json_slot *slot, int32_t row)
{
    if (slot->has_null) fm_bit_set(slot->validity, row);
}

#endif
