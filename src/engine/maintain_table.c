/* engine/maintain_table.c: RESTORE and VACUUM of Delta tables; the statements that look after them by name. */
#include <inttypes.h>

#include "base/time_text.h"
#include "engine/maintain.h"
#include "expr/cast.h"
#include "table/delta/delta_path.h"

#define HOUR_MS INT64_C(3600000)

/* ---- RESTORE ------------------------------------------------------------------------------------------------------------------------ */

static fm_status target_version(fm_maintenance *m, int64_t *version, fm_error *err)
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
    return fm_delta_version_at(&m->c.log, us / FM_US_PER_MS, false, version, err);
}

/* Files of the old version that are missing now are added again; the files since then are removed. */
static fm_status choose_files(fm_maintenance *m, const fm_delta_snapshot *old, fm_delta_commit *d, int64_t *bytes, fm_error *err)
{
    const fm_delta_snapshot *s = m->c.snapshot;
    fm_arena *arena = m->c.arena;
    fm_delta_file *adds = fm_arena_array(arena, fm_delta_file, old->n_live), *removes = fm_arena_array(arena, fm_delta_file, s->n_live);
    int64_t now_ms = fm_clock_now_us(m->s->env.clock) / FM_US_PER_MS;
    fm_file_stat stat;
    fm_str path;

    if (!adds || !removes) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < old->n_entries; i++) {
        const fm_delta_entry *e = &old->entries[i];
        int32_t at = e->is_live ? fm_delta_index_find(&s->by_key, e->key) : -1;
        if (!e->is_live || (at >= 0 && s->entries[at].is_live)) continue;
        FM_TRY(fm_delta_path_resolve(arena, m->c.log.root, e->file.path, &path, err));
        if (fm_fs_stat(m->s->env.fs, path.ptr, &stat, NULL) != FM_OK) {
            return fm_fail(err, FM_INVALID, "DELTA_CANNOT_RESTORE_MISSING_FILES",
                           "Version %" PRId64 " cannot be restored: its data file '%s' is gone, by VACUUM or by hand.", old->version, path.ptr);
        }
        bytes[0] += e->file.size;
        adds[d->n_adds] = e->file;
        adds[d->n_adds++].data_change = true;
    }
    for (int32_t i = 0; i < s->n_entries; i++) {
        const fm_delta_entry *e = &s->entries[i];
        int32_t at = e->is_live ? fm_delta_index_find(&old->by_key, e->key) : -1;
        if (!e->is_live || (at >= 0 && old->entries[at].is_live)) continue;
        bytes[1] += e->file.size;
        removes[d->n_removes] = e->file;
        removes[d->n_removes].deleted_ms = now_ms;
        removes[d->n_removes++].data_change = true;
    }
    d->adds = adds;
    d->removes = removes;
    return FM_OK;
}

static fm_status restore_files(fm_maintenance *m, const fm_delta_snapshot *old, fm_error *err)
{
    static const char *const names[] = {"table_size_after_restore", "num_of_files_after_restore", "num_removed_files", "num_restored_files", "removed_files_size", "restored_files_size"};
    fm_str number = fm_options_get(&m->p->options, "versionAsOf", FM_STR("")), time = fm_options_get(&m->p->options, "timestampAsOf", FM_STR(""));
    fm_delta_commit d = {.operation = "RESTORE", .read_files = true};
    int64_t bytes[2] = {0, 0}, total = 0;
    fm_strbuf text = {0};

    FM_TRY(choose_files(m, old, &d, bytes, err));
    for (int32_t i = 0; i < old->n_entries; i++) total += old->entries[i].is_live ? old->entries[i].file.size : 0;
    /* The protocol stays: it never goes back, and what the old files need it has. */
    d.metadata = &old->metadata;
    if (number.len) fm_strbuf_printf(&text, "{\"version\":%" PRId64 ",\"timestamp\":", old->version);
    else fm_strbuf_add_c(&text, "{\"version\":null,\"timestamp\":");
    if (time.len) fm_strbuf_add_json(&text, time);
    else fm_strbuf_add_c(&text, "null");
    fm_strbuf_add_char(&text, '}');
    d.parameters = fm_strbuf_ok(&text) ? fm_arena_str(m->c.arena, fm_strbuf_str(&text)) : (fm_str){0};
    fm_strbuf_fini(&text);
    fm_metric metrics[] = {{"numRestoredFiles", d.n_adds}, {"numRemovedFiles", d.n_removes}, {"restoredFilesSize", bytes[0]}, {"removedFilesSize", bytes[1]},
                           {"numOfFilesAfterRestore", old->n_live}, {"tableSizeAfterRestore", total}};
    d.metrics = fm_metrics_json(m->c.arena, metrics, 6);
    int64_t counts[] = {total, old->n_live, d.n_removes, d.n_adds, bytes[1], bytes[0]};
    FM_TRY(fm_change_commit(&m->c, &d, err));
    return fm_result_counts(m->r, names, counts, 6, err);
}

static fm_status restore(fm_maintenance *m, fm_error *err)
{
    fm_delta_snapshot *old;
    int64_t version, latest = m->c.snapshot->version;

    FM_TRY(target_version(m, &version, err));
    if (version > latest) {
        return fm_fail(err, FM_INVALID, "DELTA_CANNOT_RESTORE_TABLE_VERSION", "Cannot restore table to version %" PRId64 ". The latest version is %" PRId64 ".", version, latest);
    }
    fm_status st = fm_delta_snapshot_load(&m->c.log, version, &old, err);
    if (st == FM_OK) st = restore_files(m, old, err);
    fm_delta_snapshot_free(old);
    return st;
}

/* ---- VACUUM -------------------------------------------------------------------------------------------------------------------------- */

typedef struct vacuum {
    fm_maintenance *m;
    fm_delta_index keep;    /* absolute paths that stay; names of those that the log has by another way than from the table's folder */
    int64_t before_ms;
    fm_str *paths;          /* [n] to be removed */
    int32_t n, cap;
    int64_t bytes, folders;
} vacuum;

/* is_whole: the log does not say the path from the table's folder on, and there may be several ways to one file. */
static fm_status keep_path(vacuum *v, fm_str path, bool is_whole, fm_error *err)
{
    const char *slash = memrchr(path.ptr, '/', path.len);

    FM_TRY(fm_delta_index_set(&v->keep, path, 1, err));
    return !is_whole || !slash ? FM_OK : fm_delta_index_set(&v->keep, (fm_str){slash + 1, (size_t)(path.ptr + path.len - slash) - 1}, 1, err);
}

static fm_status keep_file(vacuum *v, const fm_delta_file *f, fm_error *err)
{
    fm_arena *arena = v->m->c.arena;
    fm_str path;

    FM_TRY(fm_delta_path_resolve(arena, v->m->c.log.root, f->path, &path, err));
    FM_TRY(keep_path(v, path, f->path.ptr[0] == '/' || memchr(f->path.ptr, ':', f->path.len), err));
    if (!f->dv || f->dv->storage == 'i') return FM_OK;
    FM_TRY(fm_delta_dv_path(&v->m->c.log, f->dv, arena, &path, err));
    return keep_path(v, path, f->dv->storage == 'p', err);
}

/* Folders and files whose names begin with '_' or '.' are not data, but for changes and a partition column that begins so. */
static bool is_hidden(fm_str name)
{
    if (fm_str_eq(name, FM_STR("_change_data"))) return false;
    return (name.ptr[0] == '_' || name.ptr[0] == '.') && !memchr(name.ptr, '=', name.len);
}

static fm_status note(vacuum *v, fm_str path, int64_t size, fm_error *err)
{
    fm_arena *arena = v->m->c.arena;

    if (v->n == v->cap) {
        int32_t cap = v->cap ? 2 * v->cap : 64;
        fm_str *more = fm_arena_array(arena, fm_str, cap);
        if (!more) return fm_no_memory(arena, err);
        if (v->n) memcpy(more, v->paths, (size_t)v->n * sizeof *more);
        v->paths = more;
        v->cap = cap;
    }
    v->paths[v->n] = fm_arena_str(arena, path);
    if (!v->paths[v->n].ptr) return fm_no_memory(arena, err);
    v->n++;
    v->bytes += size;
    return FM_OK;
}

/* Links are neither followed nor removed: what they name is not the table's. */
static fm_status look(vacuum *v, const char *dir, int depth, fm_error *err)
{
    enum { DEPTH_MAX = 64 };
    fm_arena *arena = fm_arena_new(0);
    fm_dir_entry *entries;
    size_t n = 0;
    fm_status st = arena ? fm_fs_list_links(v->m->s->env.fs, dir, arena, &entries, &n, err) : fm_no_memory(NULL, err);

    v->folders++;
    for (size_t i = 0; st == FM_OK && i < n; i++) {
        fm_str path = fm_arena_printf(arena, "%s/%s", dir, entries[i].name.ptr);
        if (!path.ptr) st = fm_no_memory(arena, err);
        if (st != FM_OK || is_hidden(entries[i].name) || entries[i].stat.is_other) continue;
        if (entries[i].stat.is_dir) {
            if (depth < DEPTH_MAX) st = look(v, path.ptr, depth + 1, err);
        } else if (entries[i].stat.modified_ms < v->before_ms && fm_delta_index_find(&v->keep, path) < 0 &&
                   fm_delta_index_find(&v->keep, entries[i].name) < 0) {
            st = note(v, path, entries[i].stat.size, err);
        }
    }
    fm_arena_free(arena);
    return st;
}

/* How long files stay that are no more of the table, ms; *given: by the statement. */
static fm_status retention(fm_maintenance *m, bool *checked, int64_t *given_ms, int64_t *keep_ms, fm_error *err)
{
    fm_str retain = fm_options_get(&m->p->options, "retain", FM_STR(""));
    double hours;

    *given_ms = -1;
    *keep_ms = fm_delta_property_ms(&m->c.snapshot->metadata, "delta.deletedFileRetentionDuration", 168 * HOUR_MS);
    FM_TRY(fm_options_bool(&m->s->settings, "spark.databricks.delta.retentionDurationCheck.enabled", true, checked, err));
    if (!retain.len) return FM_OK;
    if (!fm_text_to_double(retain, &hours) || !(hours >= 0) || hours > 1e6) {
        return fm_fail(err, FM_INVALID, "DELTA_VACUUM_RETENTION", "VACUUM RETAIN wants a number of hours, not '%.*s'.", FM_STR_ARG(retain));
    }
    if (*checked && hours * (double)HOUR_MS < (double)*keep_ms) {
        return fm_fail(err, FM_INVALID, "DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT",
                       "The specified VACUUM retention period is too low and may corrupt this Delta table if any writes are in progress, and takes readers of older versions their files. If no "
                       "operations are running, you can SET spark.databricks.delta.retentionDurationCheck.enabled = false; else use a retention period of at least %" PRId64 " hours.",
                       *keep_ms / HOUR_MS);
    }
    *given_ms = *keep_ms = (int64_t)(hours * (double)HOUR_MS);
    return FM_OK;
}

static fm_status log_vacuum(fm_maintenance *m, const char *operation, fm_str parameters, const fm_metric *metrics, int32_t n, fm_error *err)
{
    fm_delta_commit d = {.operation = operation, .parameters = parameters, .no_data_change = true, .metrics = fm_metrics_json(m->c.arena, metrics, n)};

    return fm_change_commit(&m->c, &d, err);
}

static fm_status remove_files(vacuum *v, bool checked, int64_t default_ms, int64_t given_ms, fm_error *err)
{
    fm_maintenance *m = v->m;
    fm_metric start[] = {{"numFilesToDelete", v->n}, {"sizeOfDataToDelete", v->bytes}}, end[] = {{"numDeletedFiles", 0}, {"numVacuumedDirectories", v->folders}};
    fm_str given = given_ms >= 0 ? fm_arena_printf(m->c.arena, ",\"specifiedRetentionMillis\":%" PRId64, given_ms) : FM_STR("");
    fm_str parameters = fm_arena_printf(m->c.arena, "{\"retentionCheckEnabled\":%s,\"defaultRetentionMillis\":%" PRId64 "%s}", checked ? "true" : "false", default_ms, given.ptr);
    fm_status st = log_vacuum(m, "VACUUM START", parameters, start, 2, err), ended;

    if (st != FM_OK) return st;
    for (int32_t i = 0; st == FM_OK && i < v->n; i++) {
        st = fm_fs_remove(m->s->env.fs, v->paths[i].ptr, err);
        if (st == FM_NOT_FOUND) st = FM_OK; /* another VACUUM was faster */
        end[0].value += st == FM_OK;
    }
    ended = log_vacuum(m, "VACUUM END", st == FM_OK ? FM_STR("{\"status\":\"COMPLETED\"}") : FM_STR("{\"status\":\"FAILED\"}"), end, 2, st == FM_OK ? err : NULL);
    return st == FM_OK ? ended : st;
}

static fm_status vacuum_table(fm_maintenance *m, fm_error *err)
{
    static const char *const names[] = {"path"};
    const fm_delta_snapshot *s = m->c.snapshot;
    vacuum v = {.m = m};
    bool dry_run = fm_options_find(&m->p->options, "dryRun") != NULL, checked;
    int64_t given_ms, keep_ms, default_ms = fm_delta_property_ms(&s->metadata, "delta.deletedFileRetentionDuration", 168 * HOUR_MS);

    FM_TRY(retention(m, &checked, &given_ms, &keep_ms, err));
    v.before_ms = fm_clock_now_us(m->s->env.clock) / FM_US_PER_MS - keep_ms;
    fm_status st = FM_OK;
    for (int32_t i = 0; st == FM_OK && i < s->n_entries; i++) {
        const fm_delta_entry *e = &s->entries[i];
        if (e->is_live || e->file.deleted_ms >= v.before_ms) st = keep_file(&v, &e->file, err);
    }
    if (st == FM_OK) st = look(&v, m->c.log.root.ptr, 0, err);
    fm_delta_index_fini(&v.keep);
    if (st == FM_OK && !dry_run) st = remove_files(&v, checked, default_ms, given_ms, err);
    if (st != FM_OK) return st;
    fm_str root = fm_arena_printf(m->r->arena, "file:%s", m->c.log.root.ptr);
    for (int32_t i = 0; i < v.n; i++) v.paths[i] = fm_arena_printf(m->r->arena, "file:%s", v.paths[i].ptr);
    return fm_result_strings(m->r, names, 1, dry_run ? v.paths : &root, dry_run ? v.n : 1, err);
}

/* ---- All ---------------------------------------------------------------------------------------------------------------------------- */

static fm_status run(void *ctx, fm_error *err)
{
    fm_maintenance *m = ctx;

    return m->act(m, err);
}

fm_status fm_session_maintain(fm_session *s, const fm_plan *p, fm_result *r, fm_error *err)
{
    static const struct {
        const char *what;
        bool writes;
        fm_status (*run)(fm_maintenance *m, fm_error *err);
    } actions[] = {{"TABLE", false, fm_describe_columns}, {"EXTENDED", false, fm_describe_columns}, {"HISTORY", false, fm_describe_history}, {"DETAIL", false, fm_describe_detail}, {"PROPERTIES", false, fm_show_properties},
                   {"OPTIMIZE", true, fm_optimize_table}, {"RESTORE", true, restore}, {"VACUUM", true, vacuum_table}};
    size_t action = 0, n = sizeof actions / sizeof actions[0];
    fm_maintenance m = {.s = s, .p = p, .name = p->name_parts[p->n_name_parts - 1], .r = r};
    const fm_table_def *table;

    FM_TRY(fm_delta_table_of(s, p->name_parts, p->n_name_parts, p->pos, &table, err));
    while (action < n && !fm_str_eq(p->what, fm_str_c(actions[action].what))) action++;
    fm_assert(action < n);
    m.act = actions[action].run;
    return fm_change_try(&m.c, s, table, actions[action].writes ? fm_change_begin : fm_change_begin_read, run, &m, err);
}
