/* source/delta_source.c: Delta tables: batch reads, and reading the data files of both kinds of reads. */
#include "source/delta_source.h"

#include <inttypes.h>
#include <stdlib.h>

#include "expr/cast.h"
#include "source/file_source.h"
#include "source/sources.h"
#include "table/delta/delta_path.h"

const char *const fm_delta_source_options[] = {
    "path", "versionAsOf", "timestampAsOf", "startingVersion", "startingTimestamp", "ignoreDeletes", "ignoreChanges", "skipChangeCommits",
    "maxFilesPerTrigger", "maxBytesPerTrigger", "failOnDataLoss", "readChangeFeed", "readChangeData", "endingVersion", "endingTimestamp", "floodmarkRows",
    NULL};

/* ---- Schema ------------------------------------------------------------------------------------------------------- */

static fm_status open_log(const fm_source_env *env, const fm_table_def *table, fm_arena *arena, fm_delta_log *log, fm_error *err)
{
    static const char *const *const known[] = {fm_delta_source_options};
    fm_str path = fm_str_trim(fm_options_get(&table->options, "path", FM_STR("")));

    FM_TRY(fm_options_check(&table->options, "The Delta source", known, 1, err));
    if (path.len == 0) {
        return fm_fail(err, FM_INVALID, "FLOODMARK_PATH_MISSING", "'path' is not specified: name the folder of the Delta table, as in OPTIONS (path 'gold/totals').");
    }
    return fm_delta_log_init(log, env->fs, env->clock, path, arena, err);
}

fm_status fm_delta_travel(const fm_source_env *env, const fm_delta_log *log, const fm_options *options, int64_t *version, fm_error *err)
{
    fm_str number = fm_str_trim(fm_options_get(options, "versionAsOf", FM_STR(""))), time = fm_str_trim(fm_options_get(options, "timestampAsOf", FM_STR("")));
    int64_t us;

    *version = -1;
    if (number.len && time.len) {
        return fm_fail(err, FM_INVALID, "DELTA_ONEOF_IN_TIMETRAVEL", "Please either provide 'versionAsOf' or 'timestampAsOf' for time travel.");
    }
    if (number.len) {
        if (!fm_str_to_i64(number, version) || *version < 0) {
            return fm_fail(err, FM_INVALID, "DELTA_VERSION_INVALID", "The provided version (%.*s) is not a valid version.", FM_STR_ARG(number));
        }
        return FM_OK;
    }
    if (!time.len) return FM_OK;
    if (!fm_text_to_timestamp(time, env->conf->zone, &us)) {
        return fm_fail(err, FM_INVALID, "DELTA_TIMESTAMP_INVALID", "The provided timestamp (%.*s) cannot be converted to a valid timestamp.", FM_STR_ARG(time));
    }
    return fm_delta_version_at(log, us / 1000, false, version, err);
}

/* Two more columns, where a row is, for who changes rows. */
static fm_status add_row_columns(fm_arena *arena, const fm_type **type, fm_error *err)
{
    int32_t n = (*type)->n_fields;
    fm_field *fields = fm_arena_array(arena, fm_field, n + 2);

    if (!fields) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) fields[i] = (*type)->fields[i];
    fields[n] = (fm_field){FM_STR(FM_DELTA_FILE_COLUMN), fm_type_string(), true};
    fields[n + 1] = (fm_field){FM_STR(FM_DELTA_ROW_COLUMN), fm_type_i64(), true};
    *type = fm_type_struct(arena, fields, n + 2);
    return *type ? FM_OK : fm_no_memory(arena, err);
}

static fm_status delta_schema(const fm_source_env *env, const fm_table_def *table, bool is_stream, fm_arena *arena, const fm_type **out, fm_error *err)
{
    fm_delta_log log;
    fm_delta_snapshot *snapshot;
    int64_t version;

    FM_TRY(open_log(env, table, arena, &log, err));
    *out = table->schema;
    if (*out) return FM_OK;
    FM_TRY(fm_delta_travel(env, &log, &table->options, &version, err));
    fm_status st = fm_delta_snapshot_load(&log, version, &snapshot, err);
    if (st == FM_NOT_FOUND) return fm_fail(err, FM_INVALID, "DELTA_TABLE_NOT_FOUND", "Delta table '%s' doesn't exist.", log.root.ptr);
    if (st != FM_OK) return st;
    *out = fm_type_copy(arena, snapshot->schema->type);
    fm_delta_snapshot_free(snapshot);
    if (!*out) return fm_no_memory(arena, err);
    bool is_feed;
    FM_TRY(fm_delta_feed_wanted(&table->options, &is_feed, err));
    if (is_feed) return fm_delta_feed_columns(*out, arena, out, err);
    return fm_options_find(&table->options, "floodmarkRows") ? add_row_columns(arena, out, err) : FM_OK;
}

/* ---- Opening ------------------------------------------------------------------------------------------------------- */

/* In table_columns: nulls, the two columns of where a row is, and those of a feed. */
enum { COLUMN_NONE = -1, COLUMN_FILE = -2, COLUMN_ROW = -3, COLUMN_CHANGE = -4, COLUMN_VERSION = -5, COLUMN_TIME = -6 };

static fm_status changed(const fm_delta_source *s, fm_str column, fm_error *err)
{
    return fm_fail(err, FM_INVALID, "DELTA_SCHEMA_CHANGE_SINCE_ANALYSIS",
                   "The schema of the Delta table '%s' has changed in an incompatible way since the query was read: column `%.*s` has another type. Run it again.",
                   s->log.root.ptr, FM_STR_ARG(column));
}

/* The place of a wanted column that is none of the table's. */
static int32_t added_column(const fm_delta_source *s, fm_str name)
{
    if (s->has_rows && fm_str_eq(name, FM_STR(FM_DELTA_FILE_COLUMN))) return COLUMN_FILE;
    if (s->has_rows && fm_str_eq(name, FM_STR(FM_DELTA_ROW_COLUMN))) return COLUMN_ROW;
    if (s->is_feed && fm_str_eq(name, FM_STR(FM_DELTA_CHANGE_TYPE))) return COLUMN_CHANGE;
    if (s->is_feed && fm_str_eq(name, FM_STR(FM_DELTA_COMMIT_VERSION))) return COLUMN_VERSION;
    if (s->is_feed && fm_str_eq(name, FM_STR(FM_DELTA_COMMIT_TIMESTAMP))) return COLUMN_TIME;
    return COLUMN_NONE;
}

/* Wanted columns by name among those of the table. */
static fm_status find_columns(fm_delta_source *s, const fm_source_spec *spec, fm_error *err)
{
    fm_field *fields = fm_arena_array(s->arena, fm_field, spec->n_wanted + 2);
    int32_t n = spec->n_wanted;

    s->n_wanted = n;
    s->table_columns = fm_arena_array(s->arena, int32_t, n);
    s->scan_columns = fm_arena_array(s->arena, int32_t, n);
    if (!fields || !s->table_columns || !s->scan_columns) return fm_no_memory(s->arena, err);
    for (int32_t i = 0; i < n; i++) {
        const fm_field *f = &spec->schema->fields[spec->wanted[i]];
        int32_t c = s->snapshot ? fm_delta_schema_find(s->snapshot->schema->type, f->name) : -1;
        fields[i] = *f;
        if (c < 0) c = added_column(s, f->name);
        s->want_row |= c == COLUMN_ROW;
        s->table_columns[i] = c;
        if (c == COLUMN_CHANGE) s->scan_columns[s->n_scan++] = s->scan_schema->type->n_fields - 1;
        if (c < 0) continue;
        if (!fm_type_eq(f->type, s->snapshot->schema->type->fields[c].type)) return changed(s, f->name, err);
        s->scan_columns[s->n_scan++] = c;
    }
    if (s->want_metadata) fields[n++] = (fm_field){FM_STR("_metadata"), fm_file_metadata_type(spec->table), false};
    if (s->want_position) fields[n++] = (fm_field){FM_STR("_position"), fm_type_string(), false};
    s->out_schema = fm_type_struct(s->arena, fields, n);
    return s->out_schema ? FM_OK : fm_no_memory(s->arena, err);
}

/* Conditions on columns that the table has; one on another column is left to the filter above. */
static fm_status plan_pruning(fm_delta_source *s, const fm_source_spec *spec, fm_error *err)
{
    int32_t n = spec->n_conditions, scanned = 0, *in_table = fm_arena_array(s->arena, int32_t, spec->schema->n_fields),
            *in_scan = fm_arena_array(s->arena, int32_t, spec->schema->n_fields);
    const fm_condition **table = fm_arena_array(s->arena, const fm_condition *, n);
    bool push, skip;

    s->scan_conditions = fm_arena_array(s->arena, const fm_condition *, n);
    if (!table || !in_table || !in_scan || !s->scan_conditions) return fm_no_memory(s->arena, err);
    for (int32_t i = 0; i < spec->schema->n_fields; i++) in_table[i] = in_scan[i] = -1;
    for (int32_t i = 0; i < s->n_wanted; i++) {
        in_table[spec->wanted[i]] = s->table_columns[i];
        if (s->table_columns[i] >= 0) in_scan[spec->wanted[i]] = scanned;
        scanned += s->table_columns[i] >= 0 || s->table_columns[i] == COLUMN_CHANGE;
    }
    FM_TRY(fm_options_bool(s->env.session, "spark.sql.parquet.filterPushdown", true, &push, err));
    FM_TRY(fm_options_bool(s->env.session, "spark.databricks.delta.stats.skipping", true, &skip, err));
    if (!s->snapshot) return FM_OK;
    s->pruner = (fm_delta_pruner){.schema = s->snapshot->schema, .conditions = table, .zone = s->env.conf->zone, .no_stats = !skip};
    for (int32_t i = 0; i < n; i++) {
        FM_TRY(fm_condition_remap(spec->conditions[i], in_table, s->arena, &table[s->pruner.n_conditions], err));
        s->pruner.n_conditions += table[s->pruner.n_conditions] != NULL;
        FM_TRY(fm_condition_remap(spec->conditions[i], in_scan, s->arena, &s->scan_conditions[s->n_scan_conditions], err));
        s->n_scan_conditions += push && s->scan_conditions[s->n_scan_conditions] != NULL;
    }
    return FM_OK;
}

fm_status fm_delta_source_keeps(const fm_delta_source *s, const fm_delta_file *file, fm_arena *scratch, bool *keeps, fm_error *err)
{
    *keeps = true;
    if (s->pruner.n_conditions == 0) return FM_OK;
    fm_arena_reset(scratch);
    return fm_delta_file_may_hold(&s->pruner, file, scratch, keeps, err);
}

static fm_status delta_partitions(const fm_source_env *env, const fm_table_def *table, fm_arena *arena, bool **out, fm_error *err)
{
    fm_delta_log log;
    fm_delta_snapshot *snapshot;
    int64_t version;

    *out = fm_arena_array(arena, bool, table->schema->n_fields);
    if (!*out) return fm_no_memory(arena, err);
    FM_TRY(open_log(env, table, arena, &log, err));
    FM_TRY(fm_delta_travel(env, &log, &table->options, &version, err));
    FM_TRY(fm_delta_snapshot_load(&log, version, &snapshot, err));
    for (int32_t i = 0; i < table->schema->n_fields; i++) {
        int32_t c = fm_delta_schema_find(snapshot->schema->type, table->schema->fields[i].name);
        (*out)[i] = c >= 0 && snapshot->schema->is_partition[c];
    }
    fm_delta_snapshot_free(snapshot);
    return FM_OK;
}

static fm_status open_source(fm_delta_source *s, const fm_source_spec *spec, fm_error *err)
{
    int64_t version = -1;

    FM_TRY(open_log(&s->env, spec->table, s->arena, &s->log, err));
    s->want_metadata = spec->want_metadata;
    s->want_position = s->want_row = spec->want_position;
    s->has_rows = fm_options_find(&spec->table->options, "floodmarkRows") != NULL;
    s->is_stream = spec->metadata_dir != NULL;
    FM_TRY(fm_delta_travel(&s->env, &s->log, &spec->table->options, &version, err));
    fm_status st = fm_delta_snapshot_load(&s->log, version, &s->snapshot, err);
    if (st == FM_NOT_FOUND) return fm_fail(err, FM_INVALID, "DELTA_TABLE_NOT_FOUND", "Delta table '%s' doesn't exist.", s->log.root.ptr);
    if (st != FM_OK) return st;
    FM_TRY(fm_delta_feed_wanted(&spec->table->options, &s->is_feed, err));
    s->scan_schema = s->snapshot->schema;
    if (s->is_feed) FM_TRY(fm_delta_schema_of_changes(s->snapshot->schema, s->arena, &s->scan_schema, err));
    FM_TRY(find_columns(s, spec, err));
    FM_TRY(plan_pruning(s, spec, err));
    if (s->is_feed && !s->is_stream) FM_TRY(fm_delta_feed_range(s, &spec->table->options, err));
    return s->is_stream ? fm_delta_stream_open(s, &spec->table->options, spec->metadata_dir, err) : FM_OK;
}

static void delta_close(fm_source *source)
{
    fm_delta_source *s = (fm_delta_source *)source;

    fm_delta_snapshot_free(s->snapshot);
    fm_delta_snapshot_free(s->initial);
}

static fm_status delta_open(const fm_source_env *env, const fm_source_spec *spec, fm_arena *arena, fm_source **out, fm_error *err)
{
    fm_delta_source *s = fm_arena_one(arena, fm_delta_source);

    *out = NULL;
    if (!s) return fm_no_memory(arena, err);
    s->base.type = &fm_source_delta;
    s->env = *env;
    s->arena = arena;
    s->target = -1;
    fm_status st = open_source(s, spec, err);
    if (st == FM_OK) *out = &s->base;
    else delta_close(&s->base);
    return st;
}

/* ---- Splits ---------------------------------------------------------------------------------------------------------- */

static fm_status copy_text(fm_arena *arena, fm_str *text, fm_error *err)
{
    if (!text->ptr) return FM_OK;
    *text = fm_arena_str(arena, *text);
    return text->ptr ? FM_OK : fm_no_memory(arena, err);
}

static fm_status copy_vector(fm_arena *arena, const fm_delta_dv *in, const fm_delta_dv **out, fm_error *err)
{
    fm_delta_dv *dv = fm_arena_one(arena, fm_delta_dv);

    if (!dv) return fm_no_memory(arena, err);
    *dv = *in;
    *out = dv;
    return copy_text(arena, &dv->path, err);
}

fm_status fm_delta_file_copy(fm_arena *arena, const fm_delta_file *in, fm_delta_file *out, fm_error *err)
{
    int32_t n = in->partition_values.n;
    fm_delta_map values = {fm_arena_array(arena, fm_str, n), fm_arena_array(arena, fm_str, n), n};

    if (!values.keys || !values.values) return fm_no_memory(arena, err);
    *out = *in;
    out->partition_values = values;
    out->tags = (fm_delta_map){0};
    FM_TRY(copy_text(arena, &out->path, err));
    FM_TRY(copy_text(arena, &out->stats, err));
    for (int32_t i = 0; i < n; i++) {
        values.keys[i] = in->partition_values.keys[i];
        values.values[i] = in->partition_values.values[i];
        FM_TRY(copy_text(arena, &values.keys[i], err));
        FM_TRY(copy_text(arena, &values.values[i], err));
    }
    return in->dv ? copy_vector(arena, in->dv, &out->dv, err) : FM_OK;
}

static fm_status batch_splits(const fm_delta_source *s, fm_arena *arena, fm_split **out, int32_t *n, fm_error *err)
{
    const fm_delta_snapshot *snapshot = s->snapshot;
    fm_delta_split *splits = fm_arena_array(arena, fm_delta_split, snapshot->n_live);

    fm_arena *scratch = fm_arena_new(0);
    fm_status st = FM_OK;

    *n = 0;
    *out = fm_arena_array(arena, fm_split, snapshot->n_live);
    if (!*out || !splits || !scratch) st = fm_no_memory(arena, err);
    for (int32_t i = 0; st == FM_OK && i < snapshot->n_entries; i++) {
        const fm_delta_entry *e = &snapshot->entries[i];
        bool keeps = false;
        if (e->is_live) st = fm_delta_source_keeps(s, &e->file, scratch, &keeps, err);
        if (!keeps) continue;
        splits[*n].change.file = e->file; /* lives as long as the source */
        (*out)[*n] = (fm_split){.index = *n, .size_hint = e->file.size, .data = &splits[*n]};
        (*n)++;
    }
    fm_arena_free(scratch);
    return st;
}

fm_status fm_delta_splits_add(fm_delta_splits *l, const fm_delta_change *change, fm_error *err)
{
    fm_delta_split *data = fm_arena_one(l->arena, fm_delta_split);

    if (!data) return fm_no_memory(l->arena, err);
    if (!FM_GROW(l->arena, l->items, l->n, l->cap)) return fm_no_memory(l->arena, err);
    data->change = *change;
    FM_TRY(fm_delta_file_copy(l->arena, &change->file, &data->change.file, err));
    if (change->only) FM_TRY(copy_vector(l->arena, change->only, &data->change.only, err));
    l->items[l->n] = (fm_split){.index = l->n, .size_hint = change->file.size, .data = data};
    l->n++;
    return FM_OK;
}

static fm_status feed_splits(const fm_delta_source *s, fm_arena *arena, fm_split **out, int32_t *n, fm_error *err)
{
    fm_delta_splits list = {.arena = arena};
    fm_arena *scratch = fm_arena_new(0), *pruning = fm_arena_new(0);
    fm_status st = scratch && pruning ? FM_OK : fm_no_memory(NULL, err);
    fm_delta_changes changes;

    for (int64_t v = s->feed_start; st == FM_OK && v <= s->feed_end; v++) {
        fm_arena_reset(scratch);
        st = fm_delta_feed_commit(s, v, s->feed_start, s->feed_end, scratch, &changes, err);
        if (st == FM_NOT_FOUND) {
            st = fm_fail(err, FM_INVALID, "DELTA_VERSION_NOT_FOUND", "Version %" PRId64 " of the Delta table '%s' is gone: its commit was cleaned.", v, s->log.root.ptr);
        }
        for (int32_t i = 0; st == FM_OK && i < changes.n; i++) {
            bool keeps;
            st = fm_delta_source_keeps(s, &changes.items[i].file, pruning, &keeps, err);
            if (st == FM_OK && keeps) st = fm_delta_splits_add(&list, &changes.items[i], err);
        }
    }
    fm_arena_free(scratch);
    fm_arena_free(pruning);
    *out = list.items;
    *n = list.n;
    return st;
}

static fm_status delta_splits(fm_source *source, fm_str start, fm_str end, int32_t workers, fm_arena *arena, fm_split **out, int32_t *n, fm_error *err)
{
    fm_delta_source *s = (fm_delta_source *)source;

    if (s->is_stream) return fm_delta_stream_splits(s, start, end, arena, out, n, err);
    return s->is_feed ? feed_splits(s, arena, out, n, err) : batch_splits(s, arena, out, n, err);
}

/* ---- Reading ----------------------------------------------------------------------------------------------------------- */

typedef struct delta_reader {
    fm_split_reader base;
    fm_delta_source *source;
    fm_delta_scan *scan;
    fm_arena *scratch; /* one batch */
    int64_t rows;
    const fm_delta_change *change;
    fm_status (*push)(void *ctx, const fm_batch *batch, fm_error *err);
    void *ctx;
    fm_wake *cancelled;
} delta_reader;

static void reader_close(fm_split_reader *reader)
{
    delta_reader *r = (delta_reader *)reader;

    if (!r) return;
    fm_delta_scan_free(r->scan);
    fm_arena_free(r->scratch);
    free(r);
}

static fm_status reader_open(fm_source *source, fm_arena *arena, fm_split_reader **out, fm_error *err)
{
    fm_delta_source *s = (fm_delta_source *)source;
    delta_reader *r = calloc(1, sizeof *r);
    fm_delta_scan_spec spec = {.log = &s->log, .schema = s->scan_schema, .wanted = s->scan_columns, .n_wanted = s->n_scan,
                               .conditions = s->scan_conditions, .n_conditions = s->n_scan_conditions, .want_row = s->want_row, .zone = s->env.conf->zone};

    *out = NULL;
    if (!r) return fm_no_memory(NULL, err);
    r->base.type = source->type;
    r->source = s;
    r->scratch = fm_arena_new(0);
    fm_status st = r->scratch ? fm_delta_scan_new(&spec, arena, &r->scan, err) : fm_no_memory(NULL, err);
    if (st == FM_OK) *out = &r->base;
    else reader_close(&r->base);
    return st;
}

static fm_status position_column(delta_reader *r, const fm_vec *rows, int32_t n, fm_vec *out, fm_error *err)
{
    FM_TRY(fm_vec_init(out, fm_type_string(), n, r->scratch, err));
    for (int32_t i = 0; i < n; i++) {
        fm_str text = fm_arena_printf(r->scratch, "%.*s:%" PRId64, FM_STR_ARG(r->change->file.path), fm_vec_i64(rows)[i] + 1);
        if (!text.ptr) return fm_no_memory(r->scratch, err);
        fm_vec_view_out(out)[i] = fm_view_of(text.ptr, text.len);
    }
    return FM_OK;
}

/* A column of one value. */
static fm_status same_text(delta_reader *r, fm_str text, int32_t n, fm_vec *out, fm_error *err)
{
    FM_TRY(fm_vec_init(out, fm_type_string(), n, r->scratch, err));
    for (int32_t i = 0; i < n; i++) fm_vec_view_out(out)[i] = fm_view_of(text.ptr, text.len);
    return FM_OK;
}

static fm_status same_number(delta_reader *r, const fm_type *type, int64_t x, int32_t n, fm_vec *out, fm_error *err)
{
    FM_TRY(fm_vec_init(out, type, n, r->scratch, err));
    for (int32_t i = 0; i < n; i++) fm_vec_i64_out(out)[i] = x;
    return FM_OK;
}

/* A wanted column that is none of the table's; read: what the scan has for _change_type. */
static fm_status other_column(delta_reader *r, int32_t which, const fm_type *type, const fm_batch *in, const fm_vec *read, fm_vec *out, fm_error *err)
{
    const fm_delta_change *c = r->change;

    switch (which) {
    case COLUMN_ROW: *out = in->columns[r->source->n_scan]; return FM_OK;
    case COLUMN_FILE: return same_text(r, c->file.path, in->rows, out, err);
    case COLUMN_CHANGE:
        if (c->kind == FM_DELTA_CHANGE_FILE) *out = *read;
        else return same_text(r, c->kind == FM_DELTA_DELETED ? FM_STR("delete") : FM_STR("insert"), in->rows, out, err);
        return FM_OK;
    case COLUMN_VERSION: return same_number(r, type, c->version, in->rows, out, err);
    case COLUMN_TIME: return same_number(r, type, c->timestamp_ms * 1000, in->rows, out, err);
    default: return fm_vec_nulls(out, type, in->rows, r->scratch, err);
    }
}

/* _metadata: of the data file as the log has it. */
static fm_status metadata_column(delta_reader *r, int32_t n, const fm_type *type, fm_vec *out, fm_error *err)
{
    const fm_delta_file *f = &r->change->file;
    fm_file_split file = {.to = f->size, .length = f->size, .size = f->size, .modified_ms = f->modified_ms};

    FM_TRY(fm_delta_path_resolve(r->scratch, r->source->log.root, f->path, &file.path, err));
    return fm_file_metadata(type, &file, NULL, n, r->scratch, out, err);
}

/* Puts columns that the table has not, metadata and positions, beside those of the scan. */
static fm_status push_full(void *ctx, const fm_batch *in, fm_error *err)
{
    delta_reader *r = ctx;
    const fm_delta_source *s = r->source;
    int32_t at = 0;

    if (r->cancelled && fm_wake_is_raised(r->cancelled)) return fm_fail(err, FM_CANCELLED, "FLOODMARK_CANCELLED", "The query was stopped.");
    fm_arena_reset(r->scratch);
    fm_vec *columns = fm_arena_array(r->scratch, fm_vec, s->out_schema->n_fields);
    if (!columns) return fm_no_memory(r->scratch, err);
    for (int32_t i = 0; i < s->n_wanted; i++) {
        const fm_vec *read = &in->columns[at];
        at += s->table_columns[i] >= 0 || s->table_columns[i] == COLUMN_CHANGE;
        if (s->table_columns[i] >= 0) columns[i] = *read;
        else FM_TRY(other_column(r, s->table_columns[i], s->out_schema->fields[i].type, in, read, &columns[i], err));
    }
    int32_t n = s->n_wanted;
    if (s->want_metadata) {
        FM_TRY(metadata_column(r, in->rows, s->out_schema->fields[n].type, &columns[n], err));
        n++;
    }
    if (s->want_position) FM_TRY(position_column(r, &in->columns[s->n_scan], in->rows, &columns[n], err));
    fm_batch full = {.schema = s->out_schema, .rows = in->rows, .columns = columns};
    r->rows += in->rows;
    return r->push(r->ctx, &full, err);
}

static fm_status reader_read(fm_split_reader *reader, const fm_split *split, fm_status (*push)(void *ctx, const fm_batch *batch, fm_error *err), void *ctx,
                             fm_wake *cancelled, fm_error *err)
{
    delta_reader *r = (delta_reader *)reader;
    const fm_delta_split *d = split->data;

    r->change = &d->change;
    r->push = push;
    r->ctx = ctx;
    r->cancelled = cancelled;
    return fm_delta_scan_change(r->scan, &r->source->log, &d->change, push_full, r, err);
}

static void reader_counts(fm_split_reader *reader, int64_t *rows, int64_t *bad)
{
    delta_reader *r = (delta_reader *)reader;

    *rows = r->rows;
    *bad = 0;
    r->rows = 0;
}

static fm_status delta_commit(fm_source *source, fm_str end, fm_error *err) { return FM_OK; }

static void delta_description(const fm_source *source, fm_strbuf *out)
{
    fm_strbuf_printf(out, "DeltaSource[%s]", ((const fm_delta_source *)source)->log.root.ptr);
}

static void delta_metrics(const fm_source *source, fm_arena *arena, fm_source_metric **out, int32_t *n)
{
    *out = NULL;
    *n = 0;
}

/* Rows of the change data feed are of commits, not of files. */
static const fm_type *delta_metadata(const fm_table_def *table)
{
    bool is_feed;

    if (fm_delta_feed_wanted(&table->options, &is_feed, NULL) != FM_OK || is_feed) return NULL;
    return fm_file_metadata_type(table);
}

const fm_source_type fm_source_delta = {
    .name = "delta", .options = fm_delta_source_options, .can_stream = true, .can_batch = true, .prunes = true, .schema = delta_schema,
    .partitions = delta_partitions, .metadata = delta_metadata, .open = delta_open,
    .close = delta_close, .restore = fm_delta_stream_restore, .latest_offset = fm_delta_stream_latest, .fix_target = fm_delta_stream_fix,
    .plan_splits = delta_splits, .commit = delta_commit, .description = delta_description, .metrics = delta_metrics, .reader_open = reader_open,
    .reader_read = reader_read, .reader_counts = reader_counts, .reader_close = reader_close,
};
