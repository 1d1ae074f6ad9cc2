/* source/file_source.c: files as a source, batch and stream: options, schema, planning.
 *
 * The files of a format are a source of the format's name. A micro-batch's files are cut into
 * pieces of PIECE_SIZE, whatever the number of workers, so that a replay has the same splits. */
#include "source/file_source.h"

#include "base/limits.h"
#include "expr/cast.h"
#include "source/decompress.h"
#include "source/glob.h"
#include "source/sources.h"
#include "table/file_uri.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    PIECE_SIZE = 4 << 20 /* bytes of a file one split reads */
};

static const char *const file_options[] = {"path",
                                           "pathGlobFilter",
                                           "recursiveFileLookup",
                                           "basePath",
                                           "ignoreMissingFiles",
                                           "ignoreCorruptFiles",
                                           "modifiedBefore",
                                           "modifiedAfter",
                                           "maxFilesPerTrigger",
                                           "maxBytesPerTrigger",
                                           "latestFirst",
                                           "maxFileAge",
                                           "fileNameOnly",
                                           "cleanSource",
                                           "sourceArchiveDir",
                                           "maxCachedFiles",
                                           "discardCachedInputRatio",
                                           NULL};

/* ---- options ---- */

static const fm_format *format_of(const fm_table_def *table)
{
    return fm_format_find(table->format);
}

static bool is_function(const fm_table_def *table) { return fm_str_eq_ci(table->name, FM_STR("read_files")); }

static fm_status check_names(const fm_table_def *table, const fm_format *format, fm_error *err)
{
    static const char *const none[] = {NULL};
    static const char *const arguments[] = {"format", "schema", NULL}; /* never among the options, but may be meant */
    const char *const *known[] = {file_options, format->read_options ? format->read_options : none,
                                  format->write_options ? format->write_options : none, is_function(table) ? arguments : none};
    char what[128];

    if (is_function(table)) snprintf(what, sizeof what, "read_files(format => '%s')", format->name);
    else snprintf(what, sizeof what, "table %.*s (%s)", FM_STR_ARG(table->name), format->name);
    return fm_options_check(&table->options, what, known, 4, err);
}

static fm_status read_path(const fm_source_env *env, const fm_table_def *table, fm_arena *arena,
                           fm_str *out, fm_error *err)
{
    fm_str path = fm_options_get(&table->options, "path", (fm_str){"", 0});

    if (path.len == 0)
        return fm_fail(
            err, FM_INVALID, "FLOODMARK_MISSING_OPTION",
            "Table %.*s: option path is missing. Say where its files are: OPTIONS (path 'in/').",
            FM_STR_ARG(table->name));
    FM_TRY(fm_user_path(arena, path, &path, err));
    return fm_fs_absolute(env->fs, path, arena, out, err);
}

static fm_status read_limits(const fm_options *o, fm_file_options *out, fm_error *err)
{
    FM_TRY(fm_options_i64(o, "maxFilesPerTrigger", 0, 1, INT64_MAX, &out->files_max, err));
    FM_TRY(fm_options_i64(o, "maxBytesPerTrigger", 0, 1, INT64_MAX, &out->bytes_max, err));
    if (out->files_max && out->bytes_max)
        return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_OPTION",
                       "Options maxFilesPerTrigger and maxBytesPerTrigger exclude each other: give "
                       "one of them.");
    FM_TRY(fm_options_bool(o, "latestFirst", false, &out->latest_first, err));
    FM_TRY(fm_options_bool(o, "fileNameOnly", false, &out->name_only, err));
    FM_TRY(fm_options_i64(o, "maxCachedFiles", 10000, 0, INT64_MAX, &out->cached_max, err));
    const fm_option *ratio = fm_options_find(o, "discardCachedInputRatio");
    out->discard_ratio = 0.2;
    if (ratio && (!fm_text_to_double(ratio->value, &out->discard_ratio) ||
                  !(out->discard_ratio >= 0) || out->discard_ratio > 1))
        return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_OPTION",
                       "Option discardCachedInputRatio '%.*s' must be a number from 0 to 1.",
                       FM_STR_ARG(ratio->value));
    int64_t age_us;
    FM_TRY(fm_options_duration(o, "maxFileAge", INT64_C(7) * 86400 * 1000000, &age_us, err));
    out->max_age_ms = age_us / 1000;
    return FM_OK;
}

/* The archive must not lie where the source looks: as deep as the shorter of both paths reaches
 * they must differ. */
static bool archive_in_source(fm_str archive, fm_str pattern)
{
    fm_str below;

    return fm_file_path_in(archive, pattern, &below) || fm_file_path_in(pattern, archive, &below);
}

static fm_status read_cleaning(const fm_source_env *env, const fm_options *o, fm_arena *arena,
                               fm_file_options *out, fm_error *err)
{
    fm_str mode = fm_options_get(o, "cleanSource", FM_STR("off"));
    fm_str dir = fm_options_get(o, "sourceArchiveDir", (fm_str){"", 0});

    if (fm_str_eq_ci(mode, FM_STR("off"))) return FM_OK;
    out->clean = fm_str_eq_ci(mode, FM_STR("delete")) ? FM_CLEAN_DELETE : FM_CLEAN_ARCHIVE;
    if (out->clean == FM_CLEAN_DELETE) return FM_OK;
    if (!fm_str_eq_ci(mode, FM_STR("archive")))
        return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_OPTION",
                       "Option cleanSource '%.*s' is not known: use archive, delete or off.",
                       FM_STR_ARG(mode));
    if (dir.len == 0)
        return fm_fail(
            err, FM_INVALID, "FLOODMARK_MISSING_OPTION",
            "Option cleanSource 'archive' needs option sourceArchiveDir: where finished files go.");
    FM_TRY(fm_user_path(arena, dir, &dir, err));
    FM_TRY(fm_fs_absolute(env->fs, dir, arena, &out->archive_dir, err));
    if (!archive_in_source(out->archive_dir, out->listing.path)) return FM_OK;
    return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_OPTION",
                   "Option sourceArchiveDir '%.*s' lies within the source's path '%.*s', or around "
                   "it: archived files "
                   "would be read again. Choose a folder beside it.",
                   FM_STR_ARG(out->archive_dir), FM_STR_ARG(out->listing.path));
}

/* modifiedAfter, modifiedBefore: a local time of the session, for batch reads. */
static fm_status read_time(const fm_source_env *env, const fm_options *o, const char *key,
                           bool is_stream, int64_t *out, fm_error *err)
{
    const fm_option *option = fm_options_find(o, key);
    int64_t us;

    if (!option) return FM_OK;
    if (is_stream)
        return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_OPTION",
                       "Option %s is for batch reads; leave it out of a stream.", key);
    if (!fm_text_to_timestamp(option->value, env->conf->zone, &us))
        return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_OPTION",
                       "Option %s '%.*s' is no time: write it like 2026-01-01T10:00:00.", key,
                       FM_STR_ARG(option->value));
    *out = us / 1000;
    return FM_OK;
}

static fm_status read_options(const fm_source_env *env, const fm_table_def *table, bool is_stream,
                              fm_arena *arena, fm_file_options *out, fm_error *err)
{
    const fm_options *o = &table->options;
    fm_file_listing *l = &out->listing;
    bool ignore_log;

    *out = (fm_file_options){
        .listing = {
            .fs = env->fs, .clock = env->clock, .after_ms = INT64_MIN, .before_ms = INT64_MAX}};
    FM_TRY(read_path(env, table, arena, &l->path, err));
    l->is_glob = fm_is_glob(l->path);
    l->must_match = !is_stream;
    l->name_filter = fm_arena_str(arena, fm_options_get(o, "pathGlobFilter", (fm_str){"", 0}));
    if (!l->name_filter.ptr) return fm_no_memory(arena, err);
    FM_TRY(fm_options_bool(o, "recursiveFileLookup", false, &l->recursive, err));
    FM_TRY(fm_options_bool(env->session, "spark.sql.streaming.fileStreamSink.ignoreMetadata", false,
                           &ignore_log, err));
    l->obey_sink_log = !ignore_log;
    FM_TRY(read_time(env, o, "modifiedAfter", is_stream, &l->after_ms, err));
    FM_TRY(read_time(env, o, "modifiedBefore", is_stream, &l->before_ms, err));
    bool missing, corrupt;
    FM_TRY(
        fm_options_bool(env->session, "spark.sql.files.ignoreMissingFiles", false, &missing, err));
    FM_TRY(
        fm_options_bool(env->session, "spark.sql.files.ignoreCorruptFiles", false, &corrupt, err));
    FM_TRY(fm_options_bool(o, "ignoreMissingFiles", missing, &out->ignore_missing, err));
    FM_TRY(fm_options_bool(o, "ignoreCorruptFiles", corrupt, &out->ignore_corrupt, err));
    FM_TRY(read_limits(o, out, err));
    return read_cleaning(env, o, arena, out, err);
}

/* ---- schema ---- */

/* Where k=v folders begin: the listed folder, or option basePath. */
static fm_status base_path(const fm_source_env *env, const fm_table_def *table,
                           const fm_file_options *o, fm_arena *arena, fm_str *out, fm_error *err)
{
    const fm_option *base = fm_options_find(&table->options, "basePath");
    fm_str path;

    *out = o->listing.path;
    if (!base) return FM_OK;
    FM_TRY(fm_user_path(arena, base->value, &path, err));
    return fm_fs_absolute(env->fs, path, arena, out, err);
}

static int32_t find_field(const fm_type *type, fm_str name, bool case_sensitive)
{
    for (int32_t i = 0; type && i < type->n_fields; i++) {
        fm_str field = type->fields[i].name;
        if (case_sensitive ? fm_str_eq(field, name) : fm_str_eq_ci(field, name)) return i;
    }
    return -1;
}

/* The type of a partition column that is not declared: INT, BIGINT, DOUBLE, DATE, TIMESTAMP or
 * STRING, by its value. */
static const fm_type *value_type(const fm_source_env *env, fm_str value)
{
    int64_t i;
    double d;
    int32_t day;

    if (!value.ptr) return fm_type_string();
    if (fm_str_to_i64(value, &i))
        return i >= INT32_MIN && i <= INT32_MAX ? fm_type_i32() : fm_type_i64();
    if (value.len && value.ptr[value.len - 1] <= '9' && fm_text_to_double(value, &d))
        return fm_type_f64();
    if (value.len == 10 && fm_text_to_date(value, &day)) return fm_type_simple(FM_TYPE_DATE);
    if (value.len > 10 && fm_text_to_timestamp(value, env->conf->zone, &i))
        return fm_type_timestamp();
    return fm_type_string();
}

/* The partition columns: those that the table declares, or those in the path of the first file
 * found. */
static fm_status partition_fields(const fm_source_env *env, const fm_table_def *table,
                                  const fm_file_options *o, const fm_listed_file *files,
                                  size_t n_files, fm_arena *arena, fm_field **out, int32_t *n,
                                  fm_error *err)
{
    fm_path_value *values = NULL;
    int32_t n_values = 0;
    fm_str base;

    FM_TRY(base_path(env, table, o, arena, &base, err));
    if (n_files && !o->listing.recursive)
        FM_TRY(fm_path_values(files[0].path, base, arena, &values, &n_values, err));
    *n = table->n_partition_by ? table->n_partition_by : n_values;
    *out = fm_arena_array(arena, fm_field, *n);
    if (!*out) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < *n; i++) {
        fm_str name = table->n_partition_by ? table->partition_by[i] : values[i].name;
        int32_t declared = find_field(table->schema, name, env->conf->case_sensitive);
        (*out)[i] = (fm_field){name, fm_type_string(), true};
        if (declared >= 0) (*out)[i] = table->schema->fields[declared];
        for (int32_t v = 0; declared < 0 && v < n_values; v++)
            if (fm_str_eq(values[v].name, name)) (*out)[i].type = value_type(env, values[v].value);
        (*out)[i].nullable = true;
    }
    return FM_OK;
}

/* A name twice, at any level: which of the two a file's field would fill is anyone's guess. Rule: Spark,
 * checkSchemaColumnNameDuplication. */
static fm_status check_repeated(const fm_type *type, bool is_declared, bool case_sensitive, fm_error *err)
{
    for (int32_t i = 0; i < type->n_fields; i++) {
        const fm_field *field = &type->fields[i];
        if (type->id == FM_TYPE_STRUCT && find_field(type, field->name, case_sensitive) < i)
            return fm_fail(err, FM_INVALID, "COLUMN_ALREADY_EXISTS",
                           "The column `%.*s` already exists: %s.", FM_STR_ARG(field->name),
                           is_declared ? "it is declared twice, or in two cases while spark.sql.caseSensitive is false"
                                       : "the files have names that differ in case only. Declare the columns, or set "
                                         "spark.sql.caseSensitive to true");
        FM_TRY(check_repeated(field->type, is_declared, case_sensitive, err));
    }
    return FM_OK;
}

/* The columns that stand in files, and those that stand in paths. */
typedef struct file_schema {
    const fm_type *data;
    fm_field *partitions;
    int32_t n_partitions;
} file_schema;

static fm_status no_schema(const fm_table_def *table, fm_error *err)
{
    if (is_function(table)) {
        return fm_fail(err, FM_INVALID, "_LEGACY_ERROR_TEMP_2048",
                       "Schema must be specified when creating a streaming source of files: give read_files() a "
                       "schema => 'name TYPE, ...', or set spark.sql.streaming.schemaInference to true.");
    }
    return fm_fail(err, FM_INVALID, "_LEGACY_ERROR_TEMP_2048",
                   "Schema must be specified when creating a streaming source of files: declare the columns "
                   "of table %.*s, or set spark.sql.streaming.schemaInference to true.",
                   FM_STR_ARG(table->name));
}

static fm_status make_schema(const fm_source_env *env, const fm_table_def *table, bool is_stream,
                             fm_arena *arena, file_schema *out, fm_error *err)
{
    const fm_format *format = format_of(table);
    fm_file_options o;
    fm_listed_file *files = NULL;
    size_t n_files = 0;
    bool infers = true, has_log;

    if (!format)
        return fm_fail(err, FM_INVALID, "DATA_SOURCE_NOT_FOUND", "Unknown format '%.*s'.",
                       FM_STR_ARG(table->format));
    FM_TRY(check_names(table, format, err));
    FM_TRY(read_options(env, table, is_stream, arena, &o, err));
    if (is_stream)
        FM_TRY(fm_options_bool(env->session, "spark.sql.streaming.schemaInference", false, &infers,
                               err));
    const fm_type *data = table->schema;
    if (!data && format->fixed_schema) data = format->fixed_schema(arena, &table->options);
    if (!data && (!infers || (!format->infer_new && !format->file_schema))) return no_schema(table, err);
    FM_TRY(fm_file_list(&o.listing, false, arena, &files, &n_files, &has_log, err));
    FM_TRY(partition_fields(env, table, &o, files, n_files, arena, &out->partitions,
                            &out->n_partitions, err));
    if (!data) {
        FM_TRY(fm_file_infer(env, table, &o, files, n_files, arena, &data, err));
    }
    FM_TRY(check_repeated(data, table->schema, env->conf->case_sensitive, err));
    fm_field *fields = fm_arena_array(arena, fm_field, data->n_fields);
    int32_t n = 0;
    if (!fields) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < data->n_fields; i++) {
        bool in_path = false;
        for (int32_t p = 0; p < out->n_partitions; p++)
            in_path = in_path || fm_str_eq_ci(out->partitions[p].name, data->fields[i].name);
        if (!in_path) fields[n++] = data->fields[i];
    }
    const fm_type *type = fm_type_struct(arena, fields, n);
    out->data = type ? fm_type_as_nullable(arena, type) : NULL;
    return out->data ? FM_OK : fm_no_memory(arena, err);
}

static fm_status file_schema_of(const fm_source_env *env, const fm_table_def *table, bool is_stream,
                                fm_arena *arena, const fm_type **out, fm_error *err)
{
    file_schema s;

    FM_TRY(make_schema(env, table, is_stream, arena, &s, err));
    int32_t n = s.data->n_fields + s.n_partitions;
    fm_field *fields = fm_arena_array(arena, fm_field, n);
    if (!fields) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++)
        fields[i] = i < s.data->n_fields ? s.data->fields[i] : s.partitions[i - s.data->n_fields];
    *out = fm_type_struct(arena, fields, n);
    return *out ? FM_OK : fm_no_memory(arena, err);
}

static fm_status file_partitions(const fm_source_env *env, const fm_table_def *table, fm_arena *arena, bool **out, fm_error *err)
{
    fm_file_options o;
    fm_listed_file *files = NULL;
    size_t n_files = 0;
    fm_field *fields;
    int32_t n;
    bool has_log;

    *out = fm_arena_array(arena, bool, table->schema->n_fields);
    if (!*out) return fm_no_memory(arena, err);
    FM_TRY(read_options(env, table, false, arena, &o, err));
    if (!table->n_partition_by) FM_TRY(fm_file_list(&o.listing, false, arena, &files, &n_files, &has_log, err));
    FM_TRY(partition_fields(env, table, &o, files, n_files, arena, &fields, &n, err));
    for (int32_t i = 0; i < n; i++) {
        int32_t at = find_field(table->schema, fields[i].name, env->conf->case_sensitive);
        if (at >= 0) (*out)[at] = true;
    }
    return FM_OK;
}

/* ---- opening ---- */

/* Splits the wanted columns into those the format reads and those of the path; makes the schema of
 * batches. */
static fm_status plan_columns(fm_file_source *s, const fm_source_spec *spec,
                              const file_schema *schema, fm_error *err)
{
    int32_t *wanted = fm_arena_array(s->arena, int32_t, spec->n_wanted);
    fm_field *fields = fm_arena_array(s->arena, fm_field, spec->n_wanted + 2);

    s->columns = fm_arena_array(s->arena, fm_file_column, spec->n_wanted);
    s->partitions = fm_arena_array(s->arena, fm_field, schema->n_partitions + spec->n_wanted);
    if (!wanted || !fields || !s->columns || !s->partitions) return fm_no_memory(s->arena, err);
    s->n_partitions = schema->n_partitions;
    if (s->n_partitions)
        memcpy(s->partitions, schema->partitions, (size_t)s->n_partitions * sizeof *s->partitions);
    s->n_wanted = spec->n_wanted;
    s->read.n_wanted = 0;
    for (int32_t i = 0; i < spec->n_wanted; i++) {
        fields[i] = spec->schema->fields[spec->wanted[i]];
        int32_t at = find_field(schema->data, fields[i].name, true);
        s->columns[i] = (fm_file_column){-1, -1};
        for (int32_t p = 0; at < 0 && p < schema->n_partitions; p++)
            if (fm_str_eq_ci(schema->partitions[p].name, fields[i].name))
                s->columns[i].from_path = p;
        if (at < 0 &&
            s->columns[i].from_path < 0) { /* its files are gone since the query was analysed */
            s->columns[i].from_path = s->n_partitions;
            s->partitions[s->n_partitions++] = fields[i];
        }
        if (s->columns[i].from_path >= 0) continue;
        s->columns[i].from_format = s->read.n_wanted;
        wanted[s->read.n_wanted++] = at;
    }
    int32_t n = spec->n_wanted;
    if (spec->want_metadata) fields[n++] = (fm_field){FM_STR("_metadata"), fm_file_metadata_type(spec->table), false};
    if (spec->want_position) fields[n++] = (fm_field){FM_STR("_position"), fm_type_string(), true};
    s->out_schema = fm_type_struct(s->arena, fields, n);
    s->read.wanted = wanted;
    return s->out_schema ? FM_OK : fm_no_memory(s->arena, err);
}

static fm_status file_open(const fm_source_env *env, const fm_source_spec *spec, fm_arena *arena,
                           fm_source **out, fm_error *err)
{
    fm_file_source *s = fm_arena_one(arena, fm_file_source);
    file_schema schema;
    fm_reader *probe = NULL;

    if (!s) return fm_no_memory(arena, err);
    s->base.type = fm_source_find(spec->table->format);
    s->env = *env;
    s->arena = arena;
    s->table = spec->table;
    s->format = format_of(spec->table);
    s->is_stream = spec->metadata_dir != NULL;
    s->want_position = spec->want_position;
    s->want_metadata = spec->want_metadata;
    FM_TRY(make_schema(env, spec->table, s->is_stream, arena, &schema, err));
    FM_TRY(read_options(env, spec->table, s->is_stream, arena, &s->options, err));
    s->conf = *env->conf;
    s->line_sep = fm_options_get(&spec->table->options, "lineSep", (fm_str){"", 0});
    s->read = (fm_read_spec){.schema = schema.data,
                             .options = &spec->table->options,
                             .case_sensitive = env->conf->case_sensitive,
                             .zone = env->conf->zone,
                             .corrupt_column = env->corrupt_column};
    FM_TRY(plan_columns(s, spec, &schema, err));
    FM_TRY(fm_file_prune_init(s, spec, err));
    /* A reader is made once, so that wrong options of the format are found now. */
    FM_TRY(s->format->reader_new(arena, &s->read, &probe, err));
    if (s->format->reader_free) s->format->reader_free(probe);
    if (s->is_stream) {
        fm_status st = fm_file_stream_open(s, spec->metadata_dir, err);
        if (st != FM_OK) {
            fm_file_stream_close(s);
            return st;
        }
    }
    *out = &s->base;
    return FM_OK;
}

static void file_close(fm_source *source)
{
    fm_file_source *s = (fm_file_source *)source;

    if (s && s->is_stream) fm_file_stream_close(s);
}

/* ---- splits ---- */

/* One lane of a partition column's type from its text in the path. */
static fm_status path_value(fm_file_source *s, const fm_field *field, fm_str text, fm_arena *arena,
                            fm_vec *out, fm_error *err)
{
    fm_view *view = fm_arena_one(arena, fm_view);
    fm_vec *in = fm_arena_one(arena, fm_vec);

    if (!text.ptr || (text.len == 0 && field->type->id != FM_TYPE_STRING))
        return fm_vec_nulls(out, field->type, 1, arena, err);
    if (!view || !in) return fm_no_memory(arena, err);
    *view = fm_view_of(text.ptr, text.len);
    *in = (fm_vec){.type = fm_type_string(), .len = 1, .values = view};
    if (field->type->id == FM_TYPE_STRING) {
        *out = *in;
        return FM_OK;
    }
    return fm_cast_run(in, field->type, FM_CAST_ANSI, &s->conf, arena, out, err);
}

static fm_status path_vectors(fm_file_source *s, fm_str path, fm_arena *arena, const fm_vec **out,
                              fm_error *err)
{
    fm_path_value *values;
    int32_t n;
    fm_str base;
    fm_vec *vecs = fm_arena_array(arena, fm_vec, s->n_partitions);

    if (!vecs) return fm_no_memory(arena, err);
    FM_TRY(base_path(&s->env, s->table, &s->options, arena, &base, err));
    FM_TRY(fm_path_values(path, base, arena, &values, &n, err));
    for (int32_t p = 0; p < s->n_partitions; p++) {
        fm_str text = {NULL, 0};
        for (int32_t v = 0; v < n; v++)
            if (fm_str_eq_ci(values[v].name, s->partitions[p].name)) text = values[v].value;
        fm_status st = path_value(s, &s->partitions[p], text, arena, &vecs[p], err);
        if (st != FM_OK)
            return fm_context(err, st, "reading column %.*s from the path '%.*s'",
                              FM_STR_ARG(s->partitions[p].name), FM_STR_ARG(path));
    }
    *out = vecs;
    return FM_OK;
}

/* Pieces are Spark's blocks when a query sees them. */
static bool can_cut(const fm_file_source *s, fm_str path)
{
    return !s->want_position && !s->want_metadata && s->format->can_split && s->format->can_split(&s->table->options) &&
           !fm_is_packed(path);
}

typedef struct split_list {
    fm_split *items;
    size_t n, cap;
} split_list;

static fm_status add_split(split_list *l, fm_arena *arena, fm_file_split piece, int64_t size,
                           fm_error *err)
{
    fm_file_split *data = fm_arena_one(arena, fm_file_split);

    if (!data) return fm_no_memory(arena, err);
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 64;
        fm_split *items = fm_arena_array(arena, fm_split, cap);
        if (!items) return fm_no_memory(arena, err);
        if (l->n) memcpy(items, l->items, l->n * sizeof *items);
        l->items = items;
        l->cap = cap;
    }
    *data = piece;
    l->items[l->n] = (fm_split){(int64_t)l->n, size, data};
    l->n++;
    return FM_OK;
}

static fm_status split_file(fm_file_source *s, const fm_listed_file *file, fm_arena *arena,
                            split_list *out, fm_error *err)
{
    enum { SPARK_BLOCK_SIZE = 128 << 20 };
    fm_file_split piece = {.path = file->path};
    fm_file_stat stat;
    fm_status st = fm_fs_stat(s->env.fs, file->path.ptr, &stat, err);

    if (st == FM_NOT_FOUND)
        return s->options.ignore_missing ? FM_OK : fm_file_missing(file->path.ptr, err);
    if (st != FM_OK) return st;
    if (s->n_partitions) FM_TRY(path_vectors(s, file->path, arena, &piece.partition_values, err));
    if (s->n_partitions && !fm_file_prune_keeps(s, piece.partition_values)) return FM_OK;
    int64_t size = stat.size, step = s->format->read_piece ? s->format->piece_size : can_cut(s, file->path) ? PIECE_SIZE : INT64_MAX;
    if (s->format->read_piece && s->want_metadata) step = SPARK_BLOCK_SIZE;
    piece.size = size;
    piece.modified_ms = stat.modified_ms;
    for (int64_t from = 0;; from += step) {
        bool last = size - from <= step;
        piece.from = from;
        piece.length = last ? size - from : step;
        piece.to = last ? -1 : from + step;
        FM_TRY(add_split(out, arena, piece, last ? size - from : step, err));
        if (last) return FM_OK;
    }
}

static fm_status file_plan_splits(fm_source *source, fm_str start, fm_str end, int32_t workers,
                                  fm_arena *arena, fm_split **out, int32_t *n, fm_error *err)
{
    fm_file_source *s = (fm_file_source *)source;
    fm_listed_file *files;
    size_t n_files;
    split_list splits = {0};
    bool has_log;

    (void)workers;
    if (s->is_stream)
        FM_TRY(fm_file_stream_files(s, start, end, arena, &files, &n_files, err));
    else
        FM_TRY(fm_file_list(&s->options.listing, false, arena, &files, &n_files, &has_log, err));
    for (size_t i = 0; i < n_files; i++) FM_TRY(split_file(s, &files[i], arena, &splits, err));
    if (splits.n > INT32_MAX)
        return fm_fail(err, FM_LIMIT, "FLOODMARK_LIMIT", "A micro-batch of too many files.");
    *out = splits.items;
    *n = (int32_t)splits.n;
    return FM_OK;
}

static void file_description(const fm_source *source, fm_strbuf *out)
{
    const fm_file_source *s = (const fm_file_source *)source;

    fm_strbuf_printf(out, "FileStreamSource[file:%.*s]", FM_STR_ARG(s->options.listing.path));
}

#define FILE_SOURCE(format_name)                                                                   \
    {                                                                                              \
        .name = format_name, .options = file_options, .can_stream = true, .can_batch = true,       \
        .prunes = true, .partitions = file_partitions, .metadata = fm_file_metadata_type,                                             \
        .schema = file_schema_of, .open = file_open, .close = file_close,                          \
        .restore = fm_file_stream_restore, .latest_offset = fm_file_stream_latest,                 \
        .fix_target = fm_file_stream_fix, .plan_splits = file_plan_splits,                         \
        .commit = fm_file_stream_commit, .description = file_description, .reads_file = fm_file_reads,         \
        .reader_open = fm_file_reader_open, .reader_read = fm_file_reader_read,                    \
        .reader_counts = fm_file_reader_counts, .reader_close = fm_file_reader_close               \
    }

const fm_source_type fm_source_csv = FILE_SOURCE("csv");
const fm_source_type fm_source_json = FILE_SOURCE("json");
const fm_source_type fm_source_parquet = FILE_SOURCE("parquet");
const fm_source_type fm_source_text = FILE_SOURCE("text");
