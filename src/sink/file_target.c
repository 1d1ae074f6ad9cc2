/* sink/file_target.c: what the writers of data files are told: format, folder, packing, and which columns go where. */
#include <stdio.h>

#include "sink/file_batch.h"
#include "sink/file_writer.h"
#include "table/file_uri.h"

static const char *const file_options[] = {"path", "compression", "retention", NULL};

static int32_t find_column(const fm_type *schema, fm_str name, bool case_sensitive)
{
    for (int32_t i = 0; i < schema->n_fields; i++) {
        fm_str field = schema->fields[i].name;
        if (case_sensitive ? fm_str_eq(field, name) : fm_str_eq_ci(field, name)) return i;
    }
    return -1;
}

static fm_status check_partition(const fm_field *field, fm_error *err)
{
    if (!fm_type_is_nested(field->type) && field->type->id != FM_TYPE_BINARY) return FM_OK;
    return fm_fail(err, FM_INVALID, "INVALID_PARTITION_COLUMN_DATA_TYPE",
                   "Column `%.*s` cannot be a partition column: a folder cannot be named by a value that is binary or has parts.",
                   FM_STR_ARG(field->name));
}

/* Cuts the columns into those of the path and those of the files. */
static fm_status split_columns(const fm_sink_env *env, const fm_sink_spec *spec, fm_file_target *t, fm_arena *arena, fm_error *err)
{
    int32_t n = spec->schema->n_fields, n_data = 0;
    int32_t *partitions = fm_arena_array(arena, int32_t, spec->n_partition_by), *data = fm_arena_array(arena, int32_t, n);
    bool *taken = fm_arena_array(arena, bool, n);
    fm_field *fields = fm_arena_array(arena, fm_field, n);

    if (!partitions || !data || !taken || !fields) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < spec->n_partition_by; i++) {
        int32_t c = find_column(spec->schema, spec->partition_by[i], env->conf->case_sensitive);
        if (c < 0 || taken[c]) {
            return fm_fail(err, FM_INVALID, "FLOODMARK_PARTITION_COLUMN", "Partition column `%.*s` is %s the result.",
                           FM_STR_ARG(spec->partition_by[i]), c < 0 ? "no column of" : "named twice for");
        }
        FM_TRY(check_partition(&spec->schema->fields[c], err));
        taken[c] = true;
        partitions[i] = c;
    }
    for (int32_t c = 0; c < n; c++) {
        if (taken[c]) continue;
        fields[n_data] = spec->schema->fields[c];
        data[n_data++] = c;
    }
    if (spec->n_partition_by && n_data == 0) {
        return fm_fail(err, FM_INVALID, "ALL_PARTITION_COLUMNS_NOT_ALLOWED",
                       "Cannot use all columns for partition columns: nothing would be left for the files.");
    }
    t->partition_columns = partitions;
    t->n_partition_columns = spec->n_partition_by;
    t->data_columns = data;
    t->data_schema = fm_type_struct(arena, fields, n_data);
    return t->data_schema ? FM_OK : fm_no_memory(arena, err);
}

static fm_status read_options(const fm_sink_env *env, const fm_sink_spec *spec, fm_file_target *t, fm_arena *arena, fm_error *err)
{
    const fm_format *format = t->format;
    const char *const *known[] = {file_options, format->write_options};
    fm_str path = fm_options_get(spec->options, "path", FM_STR("")), plain;
    char what[64];

    snprintf(what, sizeof what, "The file sink (%s)", format->name);
    FM_TRY(fm_options_check(spec->options, what, known, format->write_options ? 2 : 1, err));
    if (fm_str_trim(path).len == 0) {
        return fm_fail(err, FM_INVALID, "FLOODMARK_PATH_MISSING",
                       "'path' is not specified: name the folder that the files go to, as in OPTIONS (path 'out/').");
    }
    FM_TRY(fm_user_path(arena, fm_str_trim(path), &plain, err));
    FM_TRY(fm_fs_absolute(env->fs, plain, arena, &t->dir, err));
    FM_TRY(fm_format_options(format, spec->options, env->session, arena, &t->options, err));
    t->pack_extension = "";
    if (format->pack_extension) FM_TRY(format->pack_extension(t->options, &t->pack_extension, err));
    else FM_TRY(fm_pack_parse(fm_options_get(spec->options, "compression", FM_STR("none")), &t->pack, err));
    return FM_OK;
}

fm_status fm_file_target_init(const fm_sink_env *env, const fm_sink_spec *spec, const fm_format *format, fm_file_target *t, fm_arena *arena, fm_error *err)
{
    if (!format || !format->writer_new) {
        return fm_fail(err, FM_UNSUPPORTED, "FLOODMARK_FORMAT_NOT_WRITTEN", "Files of the format '%.*s' cannot be written.", FM_STR_ARG(spec->format));
    }
    *t = (fm_file_target){.fs = env->fs, .format = format, .options = spec->options, .zone = env->conf->zone};
    FM_TRY(read_options(env, spec, t, arena, err));
    FM_TRY(split_columns(env, spec, t, arena, err));
    if (format->can_write && !format->can_write(t->data_schema, err)) return err ? err->status : FM_INVALID;
    return FM_OK;
}

fm_status fm_file_options_of(const fm_format *format, const fm_options *options, fm_arena *arena, fm_options *out, fm_error *err)
{
    const char *const *known[] = {file_options, format->write_options};

    *out = (fm_options){0};
    for (int32_t i = 0; i < options->n; i++) {
        bool writes = false;
        for (int k = 0; k < 2; k++) {
            for (const char *const *o = known[k]; o && *o; o++) writes |= fm_str_eq_ci(options->items[i].key, fm_str_c(*o));
        }
        if (writes && !fm_options_set(arena, out, options->items[i].key, options->items[i].value)) return fm_no_memory(arena, err);
    }
    return FM_OK;
}
