/* engine/tables.c: names of Delta tables. */
#include "engine/tables.h"

#include <stdlib.h>

#include "column/builder.h"
#include "format/format.h"

/* ---- The warehouse ---------------------------------------------------------------------------------------------------- */

fm_status fm_warehouse_path(fm_session *s, fm_str name, fm_str *out, fm_error *err)
{
    fm_str folder = fm_options_get(&s->settings, "floodmark.warehouse", FM_STR("spark-warehouse")), root;
    bool fine = name.len > 0 && name.len < 200 && name.ptr[0] != '.' && name.ptr[0] != '_';

    for (size_t i = 0; i < name.len; i++) fine &= name.ptr[i] != '/' && name.ptr[i] != 0;
    if (!fine) return fm_fail(err, FM_INVALID, "INVALID_SCHEMA_OR_RELATION_NAME", "`%.*s` is not a valid name for tables.", FM_STR_ARG(name));
    FM_TRY(fm_fs_absolute(s->env.fs, folder.len ? folder : FM_STR("spark-warehouse"), s->arena, &root, err));
    *out = fm_arena_printf(s->arena, "%s/%.*s", root.ptr, FM_STR_ARG(name));
    return out->ptr ? FM_OK : fm_no_memory(s->arena, err);
}

static fm_status path_def(fm_session *s, fm_str name, fm_str path, const fm_table_def **out, fm_error *err)
{
    fm_table_def *def = fm_arena_one(s->arena, fm_table_def);

    if (!def) return fm_no_memory(s->arena, err);
    def->name = fm_arena_str(s->arena, name);
    def->format = FM_STR("delta");
    if (!def->name.ptr || !fm_options_set(s->arena, &def->options, FM_STR("path"), path)) return fm_no_memory(s->arena, err);
    *out = def;
    return FM_OK;
}

fm_status fm_warehouse_find(fm_session *s, fm_str name, const fm_table_def **out, fm_error *err)
{
    fm_file_stat stat;
    fm_str path;

    if (fm_warehouse_path(s, name, &path, NULL) != FM_OK) return FM_NOT_FOUND;
    fm_str log = fm_arena_printf(s->arena, "%s/_delta_log", path.ptr);
    if (!log.ptr) return fm_no_memory(s->arena, err);
    if (fm_fs_stat(s->env.fs, log.ptr, &stat, NULL) != FM_OK) return FM_NOT_FOUND;
    return path_def(s, name, path, out, err);
}

static int by_name(const void *a, const void *b) { return fm_str_cmp(*(const fm_str *)a, *(const fm_str *)b); }

fm_status fm_warehouse_names(fm_session *s, fm_arena *arena, fm_str **out, int32_t *n, fm_error *err)
{
    fm_str folder = fm_options_get(&s->settings, "floodmark.warehouse", FM_STR("spark-warehouse")), root;
    fm_dir_entry *entries;
    fm_file_stat stat;
    size_t found = 0;

    *n = 0;
    FM_TRY(fm_fs_absolute(s->env.fs, folder.len ? folder : FM_STR("spark-warehouse"), arena, &root, err));
    if (fm_fs_list(s->env.fs, root.ptr, arena, &entries, &found, NULL) != FM_OK) found = 0; /* no table was made yet */
    *out = fm_arena_array(arena, fm_str, found);
    if (!*out) return fm_no_memory(arena, err);
    for (size_t i = 0; i < found; i++) {
        fm_str log = fm_arena_printf(arena, "%s/%s/_delta_log", root.ptr, entries[i].name.ptr);
        if (!log.ptr) return fm_no_memory(arena, err);
        if (entries[i].stat.is_dir && fm_fs_stat(s->env.fs, log.ptr, &stat, NULL) == FM_OK) (*out)[(*n)++] = entries[i].name;
    }
    if (*n) qsort(*out, (size_t)*n, sizeof **out, by_name);
    return FM_OK;
}

/* ---- Tables by name --------------------------------------------------------------------------------------------------- */

fm_status fm_delta_table_of(fm_session *s, const fm_str *parts, int32_t n, fm_pos pos, const fm_table_def **out, fm_error *err)
{
    fm_relation *r;
    fm_str name = parts[n - 1];

    if (n == 2 && fm_str_eq_ci(parts[0], FM_STR("delta"))) return path_def(s, parts[1], parts[1], out, err);
    r = n <= 2 ? fm_session_find(s, name) : NULL;
    if (r && r->table && fm_str_eq_ci(r->table->format, FM_STR("delta"))) {
        *out = r->table;
        return FM_OK;
    }
    if (r) {
        return fm_fail_at(err, FM_INVALID, "DELTA_TABLE_ONLY_OPERATION", pos.line, pos.column,
                          "`%.*s` is not a Delta table: UPDATE, DELETE, MERGE, ALTER TABLE, OPTIMIZE, VACUUM, RESTORE, DESCRIBE HISTORY and SHOW TBLPROPERTIES are for those.", FM_STR_ARG(name));
    }
    fm_status st = n <= 2 ? fm_warehouse_find(s, name, out, err) : FM_NOT_FOUND;
    if (st != FM_NOT_FOUND) return st;
    if (n == 2 && fm_format_find(parts[0])) {
        return fm_fail_at(err, FM_INVALID, "DELTA_TABLE_ONLY_OPERATION", pos.line, pos.column,
                          "%.*s.`%.*s` is no Delta table. To write files, declare a table over the folder: CREATE TABLE t (...) USING %.*s LOCATION '%.*s', then INSERT INTO t.",
                          FM_STR_ARG(parts[0]), FM_STR_ARG(name), FM_STR_ARG(parts[0]), FM_STR_ARG(name));
    }
    return fm_fail_at(err, FM_INVALID, "TABLE_OR_VIEW_NOT_FOUND", pos.line, pos.column,
                      "The table or view `%.*s` cannot be found. Verify the spelling, or name a folder: delta.`path`.", FM_STR_ARG(name));
}

fm_status fm_delta_log_of(fm_session *s, const fm_table_def *table, fm_arena *arena, fm_delta_log *log, fm_error *err)
{
    return fm_delta_log_init(log, s->env.fs, s->env.clock, fm_options_get(&table->options, "path", FM_STR("")), arena, err);
}

fm_status fm_session_drop_table(fm_session *s, fm_str name, bool if_exists, fm_error *err)
{
    const fm_table_def *stored;
    fm_relation *r = fm_session_find(s, name);
    fm_str path = {0}, own, absolute;

    if (r && r->table) path = fm_options_get(&r->table->options, "path", FM_STR(""));
    if (path.len) {
        FM_TRY(fm_fs_absolute(s->env.fs, path, s->arena, &absolute, err));
        path = absolute;
    }
    if (fm_warehouse_path(s, name, &own, NULL) != FM_OK) own = (fm_str){0};
    bool is_stored = own.len && fm_warehouse_find(s, name, &stored, NULL) == FM_OK;
    if (r || !is_stored) FM_TRY(fm_session_drop(s, name, false, if_exists, err));
    /* Its files go with a table that lies in the warehouse; not with one of that name that lies elsewhere. */
    bool is_own = r ? own.len && path.len && fm_str_eq(path, own) : is_stored;
    return is_own ? fm_fs_remove_all(s->env.fs, own.ptr, err) : FM_OK;
}

/* ---- Queries ------------------------------------------------------------------------------------------------------------ */

fm_status fm_columns_differ(const fm_session_conf *conf, const fm_type *columns, fm_pos pos, fm_error *err)
{
    for (int32_t i = 0; i < columns->n_fields; i++) {
        fm_str name = columns->fields[i].name;
        for (int32_t k = 0; k < i; k++) {
            bool same = conf->case_sensitive ? fm_str_eq(columns->fields[k].name, name) : fm_str_eq_ci(columns->fields[k].name, name);
            if (!same) continue;
            return fm_fail_at(err, FM_INVALID, "COLUMN_ALREADY_EXISTS", pos.line, pos.column,
                              "The column `%.*s` already exists. Choose another name or rename the existing column.", FM_STR_ARG(name));
        }
    }
    return FM_OK;
}

fm_status fm_location_of(const fm_options *options, fm_str *out, fm_error *err)
{
    const fm_option *o = fm_options_find(options, "path");

    *out = o ? fm_str_trim(o->value) : (fm_str){"", 0};
    if (!o || out->len) return FM_OK;
    return fm_fail_at(err, FM_INVALID, "INVALID_EMPTY_LOCATION", o->line, o->column, "The location name cannot be empty string, but `%.*s` was given.",
                      FM_STR_ARG(o->value));
}

fm_status fm_session_query_into(fm_session *s, const fm_plan *query, fm_arena *arena, const fm_rows_to *to, fm_error *err)
{
    fm_plan *analyzed, *optimized;
    fm_exec *exec = NULL;
    fm_exec_result ran;
    fm_exec_env env = fm_session_exec_env(s);
    fm_run_context context = {.now_us = fm_clock_now_us(s->env.clock), .watermark_us = INT64_MIN};
    fm_emit emit = {.ctx = to->ctx, .push = to->push};
    int32_t n = 0;

    FM_TRY(fm_session_analyze(s, query, arena, &analyzed, err));
    if (analyzed->streaming) {
        return fm_fail_at(err, FM_INVALID, "FLOODMARK_STARTS_A_STREAM", query->pos.line, query->pos.column,
                          "The query reads a stream: CREATE STREAMING TABLE ... AS writes streams into tables.");
    }
    fm_field *fields = fm_arena_array(arena, fm_field, analyzed->n_output);
    if (!fields) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < analyzed->n_output; i++) {
        const fm_attr *a = &analyzed->output[i];
        if (!a->hidden) fields[n++] = (fm_field){a->name, a->type, a->nullable};
    }
    const fm_type *schema = fm_type_struct(arena, fields, n);
    if (!schema) return fm_no_memory(arena, err);
    FM_TRY(to->begin(to->ctx, schema, err));
    FM_TRY(fm_optimize(arena, &s->conf, analyzed, &optimized, err));
    if (to->planned) FM_TRY(to->planned(to->ctx, optimized, err));
    FM_TRY(fm_exec_open(&env, optimized, FM_MODE_COMPLETE, NULL, &emit, 0, &exec, err));
    fm_status st = fm_exec_run(exec, &context, NULL, NULL, NULL, arena, &ran, err);
    fm_exec_close(exec);
    return st;
}

fm_status fm_result_counts(fm_result *r, const char *const *names, const int64_t *counts, int32_t n, fm_error *err)
{
    fm_field *fields = fm_arena_array(r->arena, fm_field, n);
    fm_vec *columns = fm_arena_array(r->arena, fm_vec, n);

    if (!fields || !columns) return fm_no_memory(r->arena, err);
    for (int32_t i = 0; i < n; i++) {
        fields[i] = (fm_field){fm_str_c(names[i]), fm_type_i64(), true};
        FM_TRY(fm_vec_init(&columns[i], fm_type_i64(), 1, r->arena, err));
        fm_vec_i64_out(&columns[i])[0] = counts[i];
    }
    r->schema = fm_type_struct(r->arena, fields, n);
    if (!r->schema) return fm_no_memory(r->arena, err);
    fm_batch batch = {.schema = r->schema, .rows = 1, .columns = columns};
    return fm_result_push(r, &batch, err);
}
