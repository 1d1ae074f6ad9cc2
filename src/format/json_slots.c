/* format/json_slots.c: arrays to decode into. */
#include "format/json_slots.h"

#include "base/hash.h"

enum { NAMES_LOOKED_THROUGH = 6 }; /* up to so many, comparing beats hashing */

static uint32_t name_hash(fm_str name)
{
    return (uint32_t)fm_hash_bytes(name.ptr, name.len);
}

fm_status fm_json_names_init(fm_json_names *names, const fm_type *type, fm_arena *arena,
                             fm_error *err)
{
    *names = (fm_json_names){.fields = type->fields, .n = type->n_fields};
    if (names->n <= NAMES_LOOKED_THROUGH) return FM_OK;
    uint32_t size = (uint32_t)fm_pow2_at_least((uint64_t)names->n * 2);
    names->table = fm_arena_array(arena, int32_t, size);
    if (!names->table) return fm_no_memory(arena, err);
    names->mask = size - 1;
    for (int32_t i = 0; i < names->n; i++) {
        uint32_t at = name_hash(names->fields[i].name) & names->mask;
        while (names->table[at]) at = (at + 1) & names->mask;
        names->table[at] = i + 1;
    }
    return FM_OK;
}

int32_t fm_json_names_find(const fm_json_names *names, fm_str name)
{
    if (!name.ptr) return -1;
    if (!names->table) {
        for (int32_t i = 0; i < names->n; i++)
            if (fm_str_eq(names->fields[i].name, name)) return i;
        return -1;
    }
    for (uint32_t at = name_hash(name) & names->mask; names->table[at];
         at = (at + 1) & names->mask) {
        int32_t i = names->table[at] - 1;
        if (fm_str_eq(names->fields[i].name, name)) return i;
    }
    return -1;
}

static fm_status slot_init(fm_json_slot *slot, const fm_type *type, fm_arena *arena, int depth,
                           fm_error *err)
{
    *slot = (fm_json_slot){.type = type};
    if (depth > FM_TYPE_DEPTH_MAX)
        return fm_fail(err, FM_LIMIT, "FLOODMARK_LIMIT", "A type nested deeper than %d.",
                       FM_TYPE_DEPTH_MAX);
    slot->made_by_builder = type->id == FM_TYPE_LIST || type->id == FM_TYPE_MAP;
    if (type->id != FM_TYPE_STRUCT) return FM_OK;
    slot->n_children = type->n_fields;
    slot->children = fm_arena_array(arena, fm_json_slot, type->n_fields);
    if (!slot->children) return fm_no_memory(arena, err);
    FM_TRY(fm_json_names_init(&slot->names, type, arena, err));
    for (int32_t i = 0; i < type->n_fields; i++)
        FM_TRY(slot_init(&slot->children[i], type->fields[i].type, arena, depth + 1, err));
    return FM_OK;
}

fm_status fm_json_slots_init(fm_json_slot *root, const fm_type *type, fm_arena *arena,
                             fm_error *err)
{
    return slot_init(root, type, arena, 0, err);
}

fm_status fm_json_slots_begin(fm_json_slot *slot, fm_arena *arena, fm_error *err)
{
    size_t width = fm_type_width(slot->type);

    slot->has_null = false;
    slot->seen = 0;
    if (slot->made_by_builder) {
        slot->builder = fm_builder_new(arena, slot->type, FM_BATCH_ROWS_DECODE);
        return slot->builder ? FM_OK : fm_no_memory(arena, err);
    }
    slot->validity = fm_arena_buffer(arena, FM_BATCH_ROWS_DECODE / 8, false);
    if (!slot->validity) return fm_no_memory(arena, err);
    memset(slot->validity, 0xFF, FM_BATCH_ROWS_DECODE / 8);
    if (width) {
        slot->values = fm_arena_buffer(arena, FM_BATCH_ROWS_DECODE * width, false);
        if (!slot->values) return fm_no_memory(arena, err);
    }
    for (int32_t i = 0; i < slot->n_children; i++)
        FM_TRY(fm_json_slots_begin(&slot->children[i], arena, err));
    return FM_OK;
}

void fm_json_slot_null(fm_json_slot *slot, int32_t row)
{
    if (slot->made_by_builder) {
        if (fm_builder_len(slot->builder) > row) fm_builder_truncate(slot->builder, row);
        fm_builder_null(slot->builder);
        return;
    }
    size_t width = fm_type_width(slot->type);
    if (width) memset((char *)slot->values + (size_t)row * width, 0, width);
    fm_bit_clear(slot->validity, row);
    slot->has_null = true;
    for (int32_t i = 0; i < slot->n_children; i++) fm_json_slot_null(&slot->children[i], row);
}

void fm_json_slots_undo(fm_json_slot *slot, int32_t row)
{
    if (slot->made_by_builder) {
        fm_builder_truncate(slot->builder, row);
        return;
    }
    fm_bit_set(slot->validity, row);
    for (int32_t i = 0; i < slot->n_children; i++) fm_json_slots_undo(&slot->children[i], row);
}

fm_status fm_json_slot_finish(fm_json_slot *slot, int32_t rows, fm_arena *arena, fm_vec *out,
                              fm_error *err)
{
    if (slot->made_by_builder) return fm_builder_finish(slot->builder, out, err);
    fm_vec *children = NULL;
    if (slot->type->id == FM_TYPE_STRUCT) {
        children = fm_arena_array(arena, fm_vec, slot->n_children);
        if (!children) return fm_no_memory(arena, err);
        for (int32_t i = 0; i < slot->n_children; i++)
            FM_TRY(fm_json_slot_finish(&slot->children[i], rows, arena, &children[i], err));
    }
    *out = (fm_vec){.type = slot->type,
                    .len = rows,
                    .validity = slot->has_null ? slot->validity : NULL,
                    .values = slot->values,
                    .children = children};
    return FM_OK;
}

fm_status fm_json_slots_finish(fm_json_slot *root, int32_t rows, fm_arena *arena,
                               const fm_vec **out, fm_error *err)
{
    fm_vec *columns = fm_arena_array(arena, fm_vec, root->n_children);

    if (!columns) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < root->n_children; i++)
        FM_TRY(fm_json_slot_finish(&root->children[i], rows, arena, &columns[i], err));
    *out = columns;
    return FM_OK;
}
