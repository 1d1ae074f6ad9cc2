/* engine/maintain_table.c: DESCRIBE HISTORY and DETAIL, OPTIMIZE, VACUUM, RESTORE of Delta tables. */
#include <inttypes.h>

#include "base/time_text.h"
#include "column/builder.h"
#include "engine/tables.h"
#include "expr/cast.h"
#include "table/delta/delta_commit.h"
#include "table/delta/delta_path.h"
#include "table/delta/delta_rewrite.h"

#define HOUR_MS INT64_C(3600000)

typedef struct maintenance {
    fm_session *s;
    const fm_plan *p;
    fm_arena *arena;
    fm_delta_log log;
    fm_delta_snapshot *snapshot;
    fm_result *r;
} maintenance;

/* ---- DESCRIBE HISTORY ------------------------------------------------------------------------------------------------------- */

typedef struct history {
    fm_delta_commit_info info;
    bool found;
} history;

static fm_status visit_info(void *ctx, const fm_delta_action *a, fm_error *err)
{
    history *h = ctx;

    if (a->kind == FM_DELTA_COMMIT_INFO && !h->found) {
        h->info = a->u.commit_info;
        h->found = true;
    }
    return FM_OK;
}

static void put_text(fm_builder *b, fm_str text)
{
    if (text.ptr) fm_builder_str(b, text);
    else fm_builder_null(b);
}

/* An object of the commit as a map of texts. */
static fm_status put_map(fm_builder *b, const fm_json *object, fm_error *err)
{
    if (!object || object->kind != FM_JSON_OBJECT) {
        fm_builder_null(b);
        return FM_OK;
    }
    for (int32_t i = 0; i < object->n; i++) {
        const fm_json *v = &object->items[i];
        fm_strbuf text = {0};
        fm_builder_str(fm_builder_child(b, 0), object->keys[i]);
        if (v->kind == FM_JSON_STRING) fm_strbuf_add(&text, v->text);
        else fm_delta_json_print(v, &text);
        bool ok = fm_strbuf_ok(&text);
        fm_builder_str(fm_builder_child(b, 1), text.len ? fm_strbuf_str(&text) : FM_STR(""));
        fm_strbuf_fini(&text);
        if (!ok) return fm_no_memory(NULL, err);
    }
    fm_builder_end(b);
    return FM_OK;
}

static fm_str info_text(const history *h, const char *key)
{
    const fm_json *v = h->found ? fm_json_get(h->info.json, key) : NULL;

    return v && v->kind == FM_JSON_STRING ? v->text : (fm_str){0};
}

static fm_status put_commit(maintenance *m, fm_builder *const *b, const fm_delta_commit_time *t, fm_arena *scratch, fm_error *err)
{
    history h = {0};
    fm_str name = fm_delta_commit_name(scratch, t->version);
    int64_t read_version;

    if (!name.ptr) return fm_no_memory(scratch, err);
    FM_TRY(fm_delta_log_read(&m->log, name, scratch, visit_info, &h, err));
    const fm_json *read = h.found ? fm_json_get(h.info.json, "readVersion") : NULL, *blind = h.found ? fm_json_get(h.info.json, "isBlindAppend") : NULL;
    fm_builder_i64(b[0], t->version);
    fm_builder_i64(b[1], t->timestamp_ms * FM_US_PER_MS);
    put_text(b[2], info_text(&h, "operation"));
    FM_TRY(put_map(b[3], h.found ? fm_json_get(h.info.json, "operationParameters") : NULL, err));
    if (fm_json_i64(read, &read_version)) fm_builder_i64(b[4], read_version);
    else fm_builder_null(b[4]);
    put_text(b[5], info_text(&h, "isolationLevel"));
    if (blind && blind->kind == FM_JSON_BOOL) fm_builder_bool(b[6], blind->boolean);
    else fm_builder_null(b[6]);
    FM_TRY(put_map(b[7], h.found ? fm_json_get(h.info.json, "operationMetrics") : NULL, err));
    put_text(b[8], info_text(&h, "userMetadata"));
    put_text(b[9], info_text(&h, "engineInfo"));
    return FM_OK;
}

static fm_status describe_history(maintenance *m, fm_error *err)
{
    enum { COLUMNS = 10, ROWS_MAX = 1000 };
    fm_delta_commit_time *times;
    fm_builder *b[COLUMNS];
    fm_vec columns[COLUMNS];
    const fm_type *type;
    int32_t n;

    FM_TRY(fm_type_parse_ddl(m->arena, FM_STR("version BIGINT, timestamp TIMESTAMP, operation STRING, operationParameters MAP<STRING, STRING>, readVersion BIGINT, "
                                              "isolationLevel STRING, isBlindAppend BOOLEAN, operationMetrics MAP<STRING, STRING>, userMetadata STRING, engineInfo STRING"),
                             &type, err));
    FM_TRY(fm_delta_commit_times(&m->log, m->arena, &times, &n, err));
    int32_t rows = n < ROWS_MAX ? n : ROWS_MAX;
    for (int i = 0; i < COLUMNS; i++) {
        b[i] = fm_builder_new(m->arena, type->fields[i].type, rows);
        if (!b[i]) return fm_no_memory(m->arena, err);
    }
    fm_arena *scratch = fm_arena_new(0);
    fm_status st = scratch ? FM_OK : fm_no_memory(NULL, err);
    for (int32_t i = n - 1; st == FM_OK && i >= n - rows; i--) {
        fm_arena_reset(scratch);
        st = put_commit(m, b, &times[i], scratch, err);
    }
    fm_arena_free(scratch);
    for (int i = 0; st == FM_OK && i < COLUMNS; i++) st = fm_builder_finish(b[i], &columns[i], err);
    if (st != FM_OK) return st;
    m->r->schema = type;
    fm_batch batch = {.schema = type, .rows = rows, .columns = columns};
    return fm_result_push(m->r, &batch, err);
}

/* ---- DESCRIBE DETAIL ---------------------------------------------------------------------------------------------------------- */

static fm_str joined(fm_arena *arena, const fm_str *items, int32_t n)
{
    fm_strbuf text = {0};

    fm_strbuf_add_char(&text, '[');
    for (int32_t i = 0; i < n; i++) {
        if (i) fm_strbuf_add_c(&text, ", ");
        fm_strbuf_add(&text, items[i]);
    }
    fm_strbuf_add_char(&text, ']');
    fm_str out = fm_strbuf_ok(&text) ? fm_arena_str(arena, fm_strbuf_str(&text)) : (fm_str){0};
    fm_strbuf_fini(&text);
    return out;
}

static fm_status describe_detail(maintenance *m, fm_error *err)
{
    static const char *const names[] = {"format", "id", "name", "description", "location", "createdAt", "lastModified", "partitionColumns", "numFiles", "sizeInBytes",
                                        "properties", "minReaderVersion", "minWriterVersion", "tableFeatures", "version"};
    enum { N = sizeof names / sizeof names[0] };
    const fm_delta_snapshot *s = m->snapshot;
    char created[FM_ISO_TEXT_SIZE], modified[FM_ISO_TEXT_SIZE];
    int64_t bytes = 0;
    fm_strbuf properties = {0};

    for (int32_t i = 0; i < s->n_entries; i++) bytes += s->entries[i].is_live ? s->entries[i].file.size : 0;
    fm_iso_ms(s->metadata.created_ms, created);
    fm_iso_ms(s->timestamp_ms, modified);
    fm_delta_map_print(&s->metadata.configuration, &properties);
    fm_str cells[N] = {
        FM_STR("delta"), s->metadata.id, s->metadata.name, s->metadata.description, m->log.root, s->metadata.created_ms >= 0 ? fm_str_c(created) : (fm_str){0},
        fm_str_c(modified), joined(m->arena, s->metadata.partition_columns, s->metadata.n_partition_columns), fm_arena_printf(m->arena, "%" PRId32, s->n_live),
        fm_arena_printf(m->arena, "%" PRId64, bytes), fm_arena_str(m->arena, fm_strbuf_str(&properties)), fm_arena_printf(m->arena, "%" PRId32, s->protocol.min_reader),
        fm_arena_printf(m->arena, "%" PRId32, s->protocol.min_writer), joined(m->arena, s->protocol.writer_features, s->protocol.n_writer_features),
        fm_arena_printf(m->arena, "%" PRId64, s->version),
    };
    fm_strbuf_fini(&properties);
    return fm_result_strings(m->r, names, N, cells, 1, err);
}

/* ---- OPTIMIZE --------------------------------------------------------------------------------------------------------------------- */

/* Small files of one partition become larger ones; no row changes, so appends and readers of changes do not mind. */
static fm_status optimize(maintenance *m, fm_error *err)
{
    static const char *const names[] = {"num_files_added", "num_files_removed", "version"};
    enum { SMALL_SIZE = 96 << 20 };
    fm_delta_snapshot *s = m->snapshot;
    fm_delta_rewrite_spec spec = {.log = &m->log, .schema = s->schema, .metadata = &s->metadata, .zone = m->s->conf.zone, .files_max = s->n_live};
    fm_delta_rewrite *rw = NULL;
    const fm_delta_file *adds, *removes;
    int32_t n_adds = 0, n_removes = 0, small = 0;
    int64_t version = s->version;
    fm_delta_index partitions = {0};
    int32_t *of = fm_arena_array(m->arena, int32_t, s->n_entries), *members = fm_arena_array(m->arena, int32_t, s->n_entries);

    if (m->p->n_exprs) return fm_fail(err, FM_UNSUPPORTED, "FLOODMARK_OPTIMIZE_WHERE", "OPTIMIZE ... WHERE is not available: OPTIMIZE packs all partitions.");
    if (!of || !members) return fm_no_memory(m->arena, err);
    FM_TRY(fm_delta_check_write(&s->protocol, &s->metadata, s->schema, m->log.root, err));
    fm_status st = FM_OK;
    for (int32_t i = 0; st == FM_OK && i < s->n_entries; i++) {
        const fm_delta_file *f = &s->entries[i].file;
        fm_strbuf key = {0};
        of[i] = -1;
        if (!s->entries[i].is_live || (f->size >= SMALL_SIZE && !f->dv)) continue;
        fm_delta_map_print(&f->partition_values, &key);
        fm_str text = fm_strbuf_ok(&key) ? fm_arena_str(m->arena, fm_strbuf_str(&key)) : (fm_str){0};
        fm_strbuf_fini(&key);
        if (!text.ptr) st = fm_no_memory(m->arena, err);
        if (st != FM_OK) break;
        of[i] = fm_delta_index_find(&partitions, text);
        if (of[i] < 0) {
            of[i] = i;
            st = fm_delta_index_set(&partitions, text, i, err);
        }
        members[of[i]]++;
    }
    fm_delta_index_fini(&partitions);
    if (st == FM_OK) st = fm_delta_rewrite_new(&spec, &rw, err);
    for (int32_t i = 0; st == FM_OK && i < s->n_entries; i++) {
        fm_delta_rows none = {0};
        const fm_delta_file *f = &s->entries[i].file;
        if (of[i] < 0 || (members[of[i]] < 2 && !f->dv)) continue;
        small++;
        st = fm_delta_file_rows(&m->log, f, &none.rows, err);
        if (st == FM_OK) st = fm_delta_rewrite_pack(rw, f, err);
    }
    if (st == FM_OK && small) st = fm_delta_rewrite_finish(rw, &adds, &n_adds, &removes, &n_removes, err);
    if (st == FM_OK && small) {
        fm_delta_file *a = fm_arena_array(m->arena, fm_delta_file, n_adds), *r = fm_arena_array(m->arena, fm_delta_file, n_removes);
        if (!a || !r) st = fm_no_memory(m->arena, err);
        for (int32_t i = 0; st == FM_OK && i < n_adds; i++) {
            a[i] = adds[i];
            a[i].data_change = false;
        }
        for (int32_t i = 0; st == FM_OK && i < n_removes; i++) {
            r[i] = removes[i];
            r[i].data_change = false;
        }
        fm_delta_commit c = {.operation = "OPTIMIZE", .adds = a, .n_adds = n_adds, .removes = r, .n_removes = n_removes};
        if (st == FM_OK) st = fm_delta_commit_run(s, &c, &version, err);
        if (st == FM_OK) fm_delta_maintain(s);
    }
    fm_delta_rewrite_free(rw, st == FM_OK || st == FM_UNAVAILABLE);
    if (st != FM_OK) return st;
    int64_t counts[] = {n_adds, n_removes, version};
    return fm_result_counts(m->r, names, counts, 3, err);
}

/* ---- RESTORE ------------------------------------------------------------------------------------------------------------------------ */

static fm_status target_version(maintenance *m, int64_t *version, fm_error *err)
{
    fm_str number = fm_options_get(&m->p->options, "versionAsOf", FM_STR("")), time = fm_options_get(&m->p->options, "timestampAsOf", FM_STR(""));
    int64_t us;

    if (number.len) {
        if (fm_str_to_i64(number, version) && *version >= 0) return FM_OK;
        return fm_fail(err, FM_INVALID, "DELTA_VERSION_INVALID", "The provided version (%.*s) is not a valid version.", FM_STR_ARG(number));
    }
    if (!fm_text_to_timestamp(time, m->s->conf.zone, &us)) {
        return fm_fail(err, FM_INVALID, "DELTA_TIMESTAMP_INVALID", "The provided timestamp (%.*s) cannot be converted to a valid timestamp.", FM_STR_ARG(time));
    }
    return fm_delta_version_at(&m->log, us / FM_US_PER_MS, false, version, err);
}

/* Files of the old version that are missing now are added again; the files since then are removed. */
static fm_status restore_files(maintenance *m, const fm_delta_snapshot *old, fm_error *err)
{
    static const char *const names[] = {"num_restored_files", "num_removed_files", "version"};
    fm_delta_snapshot *s = m->snapshot;
    fm_delta_file *adds = fm_arena_array(m->arena, fm_delta_file, old->n_live), *removes = fm_arena_array(m->arena, fm_delta_file, s->n_live);
    int32_t n_adds = 0, n_removes = 0;
    int64_t version, now_ms = fm_clock_now_us(m->s->env.clock) / FM_US_PER_MS;
    fm_file_stat stat;
    fm_str path;

    if (!adds || !removes) return fm_no_memory(m->arena, err);
    for (int32_t i = 0; i < old->n_entries; i++) {
        const fm_delta_entry *e = &old->entries[i];
        int32_t at = e->is_live ? fm_delta_index_find(&s->by_key, e->key) : -1;
        if (!e->is_live || (at >= 0 && s->entries[at].is_live)) continue;
        FM_TRY(fm_delta_path_resolve(m->arena, m->log.root, e->file.path, &path, err));
        if (fm_fs_stat(m->s->env.fs, path.ptr, &stat, NULL) != FM_OK) {
            return fm_fail(err, FM_INVALID, "DELTA_CANNOT_RESTORE_MISSING_FILES", "Version %" PRId64 " cannot be restored: its data file '%s' is gone, by VACUUM or by hand.", old->version, path.ptr);
        }
        adds[n_adds] = e->file;
        adds[n_adds++].data_change = true;
    }
    for (int32_t i = 0; i < s->n_entries; i++) {
        const fm_delta_entry *e = &s->entries[i];
        int32_t at = e->is_live ? fm_delta_index_find(&old->by_key, e->key) : -1;
        if (!e->is_live || (at >= 0 && old->entries[at].is_live)) continue;
        removes[n_removes] = e->file;
        removes[n_removes].deleted_ms = now_ms;
        removes[n_removes++].data_change = true;
    }
    fm_delta_commit c = {.operation = "RESTORE", .adds = adds, .n_adds = n_adds, .removes = removes, .n_removes = n_removes, .read_files = true};
    c.parameters = fm_arena_printf(m->arena, "{\"version\":\"%" PRId64 "\"}", old->version);
    if (!c.parameters.ptr) return fm_no_memory(m->arena, err);
    if (!fm_str_eq(old->metadata.schema, s->metadata.schema) || old->metadata_version != s->metadata_version) c.metadata = &old->metadata;
    FM_TRY(fm_delta_commit_run(s, &c, &version, err));
    fm_delta_maintain(s);
    int64_t counts[] = {n_adds, n_removes, version};
    return fm_result_counts(m->r, names, counts, 3, err);
}

static fm_status restore(maintenance *m, fm_error *err)
{
    fm_delta_snapshot *old;
    int64_t version;

    FM_TRY(target_version(m, &version, err));
    fm_status st = fm_delta_snapshot_load(&m->log, version, &old, err);
    if (st == FM_INVALID && err && strcmp(err->condition, "DELTA_VERSION_NOT_FOUND") == 0) {
        return fm_fail(err, FM_INVALID, "DELTA_CANNOT_RESTORE_TABLE_VERSION", "Cannot restore table to version %" PRId64 ". The latest version is %" PRId64 ".", version, m->snapshot->version);
    }
    if (st == FM_OK) st = restore_files(m, old, err);
    fm_delta_snapshot_free(old);
    return st;
}

/* ---- VACUUM -------------------------------------------------------------------------------------------------------------------------- */

typedef struct vacuum {
    maintenance *m;
    fm_delta_index keep;    /* absolute paths that stay */
    int64_t before_ms;
    bool dry_run;
    int64_t files, bytes;
} vacuum;

static fm_status keep_file(vacuum *v, const fm_delta_file *f, fm_error *err)
{
    fm_arena *arena = v->m->arena;
    fm_str path;

    FM_TRY(fm_delta_path_resolve(arena, v->m->log.root, f->path, &path, err));
    FM_TRY(fm_delta_index_set(&v->keep, path, 1, err));
    if (!f->dv || f->dv->storage == 'i') return FM_OK;
    FM_TRY(fm_delta_dv_path(&v->m->log, f->dv, arena, &path, err));
    return fm_delta_index_set(&v->keep, path, 1, err);
}

/* Folders and files whose names begin with '_' or '.' are not data, but for changes and a partition column that begins so. */
static bool is_hidden(fm_str name)
{
    if (fm_str_eq(name, FM_STR("_change_data"))) return false;
    return (name.ptr[0] == '_' || name.ptr[0] == '.') && !memchr(name.ptr, '=', name.len);
}

static fm_status clean(vacuum *v, const char *dir, int depth, fm_error *err)
{
    enum { DEPTH_MAX = 64 };
    fm_fs *fs = v->m->s->env.fs;
    fm_arena *arena = fm_arena_new(0);
    fm_dir_entry *entries;
    size_t n;
    fm_status st = arena ? fm_fs_list(fs, dir, arena, &entries, &n, err) : fm_no_memory(NULL, err);

    for (size_t i = 0; st == FM_OK && i < n; i++) {
        fm_str path = fm_arena_printf(arena, "%s/%s", dir, entries[i].name.ptr);
        if (!path.ptr) st = fm_no_memory(arena, err);
        if (st != FM_OK || is_hidden(entries[i].name)) continue;
        if (entries[i].stat.is_dir) {
            if (depth < DEPTH_MAX) st = clean(v, path.ptr, depth + 1, err);
        } else if (entries[i].stat.modified_ms < v->before_ms && fm_delta_index_find(&v->keep, path) < 0) {
            v->files++;
            v->bytes += entries[i].stat.size;
            if (!v->dry_run) st = fm_fs_remove(fs, path.ptr, err);
        }
    }
    fm_arena_free(arena);
    return st;
}

static fm_status vacuum_table(maintenance *m, fm_error *err)
{
    static const char *const names[] = {"num_files_deleted", "size_bytes"};
    const fm_delta_snapshot *s = m->snapshot;
    int64_t keep_ms = fm_delta_property_ms(&s->metadata, "delta.deletedFileRetentionDuration", 168 * HOUR_MS), now_ms = fm_clock_now_us(m->s->env.clock) / FM_US_PER_MS;
    fm_str retain = fm_options_get(&m->p->options, "retain", FM_STR(""));
    vacuum v = {.m = m, .dry_run = fm_options_find(&m->p->options, "dryRun") != NULL};
    bool checked = true;
    double hours;

    FM_TRY(fm_delta_check_write(&s->protocol, &s->metadata, s->schema, m->log.root, err));
    if (retain.len) {
        if (!fm_text_to_double(retain, &hours) || !(hours >= 0) || hours > 1e6) {
            return fm_fail(err, FM_INVALID, "DELTA_VACUUM_RETENTION", "VACUUM RETAIN wants a number of hours, not '%.*s'.", FM_STR_ARG(retain));
        }
        FM_TRY(fm_options_bool(&m->s->settings, "spark.databricks.delta.retentionDurationCheck.enabled", true, &checked, err));
        if (checked && hours * (double)HOUR_MS < (double)keep_ms) {
            return fm_fail(err, FM_INVALID, "DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT",
                           "Are you sure you would like to vacuum files with such a low retention period? Writers that are at work now, and readers of older versions, need files that are no "
                           "more of the table. If you are certain, SET spark.databricks.delta.retentionDurationCheck.enabled = false; else use a value not less than %" PRId64 " hours.",
                           keep_ms / HOUR_MS);
        }
        keep_ms = (int64_t)(hours * (double)HOUR_MS);
    }
    v.before_ms = now_ms - keep_ms;
    fm_status st = FM_OK;
    for (int32_t i = 0; st == FM_OK && i < s->n_entries; i++) {
        const fm_delta_entry *e = &s->entries[i];
        if (e->is_live || e->file.deleted_ms >= v.before_ms) st = keep_file(&v, &e->file, err);
    }
    if (st == FM_OK) st = clean(&v, m->log.root.ptr, 0, err);
    fm_delta_index_fini(&v.keep);
    if (st != FM_OK) return st;
    int64_t counts[] = {v.files, v.bytes};
    return fm_result_counts(m->r, names, counts, 2, err);
}

/* ---- All ---------------------------------------------------------------------------------------------------------------------------- */

fm_status fm_session_maintain(fm_session *s, const fm_plan *p, fm_result *r, fm_error *err)
{
    static const struct {
        const char *what;
        fm_status (*run)(maintenance *m, fm_error *err);
    } actions[] = {{"HISTORY", describe_history}, {"DETAIL", describe_detail}, {"OPTIMIZE", optimize}, {"RESTORE", restore}, {"VACUUM", vacuum_table}};
    maintenance m = {.s = s, .p = p, .arena = r->arena, .r = r};
    const fm_table_def *table;

    FM_TRY(fm_delta_table_of(s, p->name_parts, p->n_name_parts, p->pos, &table, err));
    FM_TRY(fm_delta_log_of(s, table, m.arena, &m.log, err));
    fm_status st = fm_delta_snapshot_load(&m.log, -1, &m.snapshot, err);
    if (st == FM_NOT_FOUND) return fm_fail(err, FM_INVALID, "DELTA_TABLE_NOT_FOUND", "Delta table '%s' doesn't exist.", m.log.root.ptr);
    for (size_t i = 0; st == FM_OK && i < sizeof actions / sizeof actions[0]; i++) {
        if (fm_str_eq(p->what, fm_str_c(actions[i].what))) st = actions[i].run(&m, err);
    }
    fm_delta_snapshot_free(m.snapshot);
    return st;
}
