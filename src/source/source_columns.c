/* source/source_columns.c: which columns a source delivers. */
#include "source/source.h"

fm_status fm_source_columns(const fm_source_spec *spec, fm_arena *arena, const int32_t **wanted, const fm_type **schema, fm_error *err)
{
    fm_field *fields = fm_arena_array(arena, fm_field, spec->n_wanted + 1);
    int32_t *columns = fm_arena_array(arena, int32_t, spec->n_wanted);

    if (!fields || !columns) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < spec->n_wanted; i++) {
        columns[i] = spec->wanted[i];
        fields[i] = spec->schema->fields[spec->wanted[i]];
    }
    fields[spec->n_wanted] = (fm_field){FM_STR("_position"), fm_type_string(), true};
    *wanted = columns;
    *schema = fm_type_struct(arena, fields, spec->n_wanted + spec->want_position);
    return *schema ? FM_OK : fm_no_memory(arena, err);
}
