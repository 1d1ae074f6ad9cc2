/* source/file_list.c: lists the files of a source. */
#include "source/file_list.h"

#include "base/limits.h"
#include "format/json.h"
#include "source/glob.h"
#include "table/file_log.h"
#include "table/file_uri.h"

#include <stdlib.h>

enum { FOLDER_DEPTH_MAX = 200 };

static const char sink_log_name[] = "_spark_metadata";

typedef struct lister {
    const fm_file_listing *l;
    fm_arena *arena;
    fm_listed_file *items;
    size_t n, cap;
} lister;

/* Spark's rule: _x and .x are not there, but _x=1 is (a partition folder), as are summary files of
 * Parquet. */
bool fm_file_is_hidden(fm_str name)
{
    if (fm_str_starts(name, FM_STR("_common_metadata")) || fm_str_starts(name, FM_STR("_metadata")))
        return false;
    if (name.len && name.ptr[0] == '_') return !memchr(name.ptr, '=', name.len);
    return (name.len && name.ptr[0] == '.') || fm_str_ends(name, FM_STR("._COPYING_"));
}

static fm_str last_component(fm_str path)
{
    const char *slash = memrchr(path.ptr, '/', path.len);
    return slash ? (fm_str){slash + 1, (size_t)(path.ptr + path.len - slash - 1)} : path;
}

static fm_status add_file(lister *s, fm_str path, const fm_file_stat *stat, fm_error *err)
{
    const fm_file_listing *l = s->l;

    if (stat->modified_ms <= l->after_ms || stat->modified_ms >= l->before_ms) return FM_OK;
    if (l->name_filter.len && !fm_glob_match(l->name_filter, last_component(path))) return FM_OK;
    if (s->n == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 64;
        fm_listed_file *items = fm_arena_array(s->arena, fm_listed_file, cap);
        if (!items) return fm_no_memory(s->arena, err);
        if (s->n) memcpy(items, s->items, s->n * sizeof *items);
        s->items = items;
        s->cap = cap;
    }
    s->items[s->n++] = (fm_listed_file){path, stat->size, stat->modified_ms};
    return FM_OK;
}

/* k=v with a name before the '='. */
bool fm_file_is_partition_folder(fm_str name)
{
    const char *eq = memchr(name.ptr, '=', name.len);
    return eq && eq > name.ptr;
}

/* A folder's names that are known. */
typedef struct known_names {
    const fm_file_listing *l;
    fm_strbuf path; /* of the folder, with a slash */
    size_t dir_len;
} known_names;

static bool is_known(void *ctx, const char *name)
{
    known_names *k = ctx;

    k->path.len = k->dir_len;
    fm_strbuf_add_c(&k->path, name);
    return fm_strbuf_ok(&k->path) && k->l->known(k->l->known_ctx, fm_strbuf_str(&k->path));
}

static fm_status list_folder(lister *s, fm_str dir, fm_dir_entry **out, size_t *n, fm_error *err)
{
    known_names k = {.l = s->l};

    if (!s->l->known) return fm_fs_list(s->l->fs, dir.ptr, s->arena, out, n, err);
    fm_strbuf_add(&k.path, dir);
    if (dir.len > 1) fm_strbuf_add_char(&k.path, '/');
    k.dir_len = k.path.len;
    fm_status st = fm_fs_list_others(s->l->fs, dir.ptr, is_known, &k, s->arena, out, n, err);
    fm_strbuf_fini(&k.path);
    return st;
}

/* Before it is listed: what changes from then on shows. */
static fm_status mark_folder(lister *s, fm_str dir, fm_error *err)
{
    fm_folder_marks *m = s->l->marks;
    fm_file_stat stat = {0};

    if (!m) return FM_OK;
    if (m->n == m->cap) {
        size_t cap = m->cap ? m->cap * 2 : 8;
        fm_listed_file *folders = fm_arena_array(s->arena, fm_listed_file, cap);
        if (!folders) return fm_no_memory(s->arena, err);
        if (m->n) memcpy(folders, m->folders, m->n * sizeof *folders);
        m->folders = folders;
        m->cap = cap;
    }
    if (fm_fs_stat(s->l->fs, dir.ptr, &stat, NULL) != FM_OK) stat.modified_ms = INT64_MAX; /* never unchanged */
    m->folders[m->n++] = (fm_listed_file){.path = dir, .modified_ms = stat.modified_ms};
    return FM_OK;
}

static fm_status add_folder(lister *s, fm_str dir, bool in_partition, int depth, fm_error *err)
{
    fm_dir_entry *entries;
    size_t n;

    if (depth > FOLDER_DEPTH_MAX)
        return fm_fail(err, FM_LIMIT, "FLOODMARK_LIMIT", "Folder '%.*s' is nested deeper than %d.",
                       FM_STR_ARG(dir), FOLDER_DEPTH_MAX);
    FM_TRY(mark_folder(s, dir, err));
    fm_status st = list_folder(s, dir, &entries, &n, err);
    if (st == FM_NOT_FOUND && depth > 0) return FM_OK; /* gone since its parent was listed */
    if (st != FM_OK) return st;
    for (size_t i = 0; i < n; i++) {
        fm_str name = entries[i].name;
        if (fm_file_is_hidden(name)) continue;
        if (entries[i].stat.is_other) continue; /* reading a pipe would wait for a writer, for ever */
        bool partition = in_partition || fm_file_is_partition_folder(name);
        if (entries[i].stat.is_dir && !partition && !s->l->recursive) continue;
        fm_str path = fm_arena_printf(s->arena, "%s/%s", dir.len == 1 ? "" : dir.ptr, name.ptr);
        if (!path.ptr) return fm_no_memory(s->arena, err);
        if (entries[i].stat.is_dir)
            FM_TRY(add_folder(s, path, partition, depth + 1, err));
        else
            FM_TRY(add_file(s, path, &entries[i].stat, err));
    }
    return FM_OK;
}

/* ---- the log of a file sink ---- */

static fm_status add_logged(void *ctx, fm_str line, fm_error *err)
{
    lister *s = ctx;
    const fm_json *entry = NULL;
    fm_file_stat stat = {0};
    fm_str path;

    FM_TRY(fm_json_read(s->arena, line, &entry, err));
    const fm_json *uri = fm_json_get(entry, "path"), *action = fm_json_get(entry, "action");
    if (!uri || uri->kind != FM_JSON_STRING ||
        !fm_json_i64(fm_json_get(entry, "size"), &stat.size) ||
        !fm_json_i64(fm_json_get(entry, "modificationTime"), &stat.modified_ms))
        return fm_fail(err, FM_CORRUPT, "FLOODMARK_CORRUPT_LOG",
                       "A line of the log %s is not understood: %.*s.", sink_log_name,
                       FM_STR_ARG(line));
    if (action && action->kind == FM_JSON_STRING && !fm_str_eq(action->text, FM_STR("add")))
        return FM_OK;
    FM_TRY(fm_file_path(s->arena, uri->text, &path, err));
    return add_file(s, path, &stat, err);
}

static fm_status add_sink_log(lister *s, const char *dir, fm_error *err)
{
    static const fm_file_log_settings settings = FM_FILE_LOG_DEFAULTS;
    fm_file_log log;

    FM_TRY(fm_file_log_open(&log, s->l->fs, s->l->clock, dir, "file sink log", &settings, false,
                            s->arena, err));
    return fm_context(err, fm_file_log_read_all(&log, add_logged, s, err),
                      "listing the folder of '%s'", dir);
}

/* ---- all of it ---- */

static int by_time(const void *a, const void *b)
{
    const fm_listed_file *x = a, *y = b;

    if (x->modified_ms != y->modified_ms) return x->modified_ms < y->modified_ms ? -1 : 1;
    return fm_str_cmp(x->path, y->path);
}

static int by_time_latest(const void *a, const void *b)
{
    const fm_listed_file *x = a, *y = b;

    if (x->modified_ms != y->modified_ms) return x->modified_ms > y->modified_ms ? -1 : 1;
    return fm_str_cmp(x->path, y->path);
}

static fm_status add_root(lister *s, fm_str path, fm_error *err)
{
    fm_file_stat stat;
    fm_status st = fm_fs_stat(s->l->fs, path.ptr, &stat, err);

    if (st == FM_NOT_FOUND && !s->l->is_glob)
        return fm_fail(err, FM_NOT_FOUND, "PATH_NOT_FOUND",
                       "Path does not exist: file:%.*s. Make the folder, or correct the path.",
                       FM_STR_ARG(path));
    if (st == FM_NOT_FOUND) return FM_OK;
    if (st != FM_OK) return st;
    if (stat.is_dir) return add_folder(s, path, false, 0, err);
    if (stat.is_other)
        return fm_fail(err, FM_INVALID, "FLOODMARK_NOT_A_FILE",
                       "'%.*s' is a pipe, a socket or a device, which cannot be read twice. Name a file or a folder.",
                       FM_STR_ARG(path));
    return fm_file_is_hidden(last_component(path)) ? FM_OK : add_file(s, path, &stat, err);
}

fm_status fm_file_list(const fm_file_listing *l, bool latest_first, fm_arena *arena,
                       fm_listed_file **out, size_t *n, bool *has_sink_log, fm_error *err)
{
    lister s = {.l = l, .arena = arena};
    fm_file_stat stat;

    *has_sink_log = false;
    fm_str log = fm_arena_printf(arena, "%.*s/%s", (int)l->path.len, l->path.ptr, sink_log_name);
    if (!log.ptr) return fm_no_memory(arena, err);
    if (!l->is_glob && l->obey_sink_log && fm_fs_stat(l->fs, log.ptr, &stat, NULL) == FM_OK &&
        stat.is_dir) {
        *has_sink_log = true;
        FM_TRY(add_sink_log(&s, log.ptr, err));
    } else if (l->is_glob) {
        fm_str *roots;
        size_t n_roots;
        FM_TRY(fm_glob_expand(l->fs, l->path, arena, &roots, &n_roots, err));
        if (n_roots == 0 && l->must_match)
            return fm_fail(err, FM_NOT_FOUND, "PATH_NOT_FOUND",
                           "Path does not exist: file:%.*s. Nothing matches the pattern: correct option path.",
                           FM_STR_ARG(l->path));
        for (size_t i = 0; i < n_roots; i++) FM_TRY(add_root(&s, roots[i], err));
    } else {
        FM_TRY(add_root(&s, l->path, err));
    }
    if (s.n) qsort(s.items, s.n, sizeof *s.items, latest_first ? by_time_latest : by_time);
    *out = s.items;
    *n = s.n;
    return FM_OK;
}

/* ---- values in paths ---- */

/* Hive's escapes: %XX. */
static fm_str unescape(fm_str text, fm_arena *arena)
{
    fm_str copy = fm_arena_str(arena, text);
    size_t n = 0;

    if (!copy.ptr) return copy;
    char *p = (char *)(uintptr_t)copy.ptr;
    for (size_t i = 0; i < copy.len; i++) {
        char digits[3] = {0}, *stop;
        if (p[i] == '%' && copy.len - i > 2) memcpy(digits, p + i + 1, 2);
        long value = digits[0] ? strtol(digits, &stop, 16) : -1;
        if (value < 0 || *stop || digits[0] == '+' || digits[0] == ' ') {
            p[n++] = p[i];
            continue;
        }
        p[n++] = (char)value;
        i += 2;
    }
    p[n] = 0;
    return (fm_str){p, n};
}

fm_status fm_path_values(fm_str path, fm_str base, fm_arena *arena, fm_path_value **out, int32_t *n,
                         fm_error *err)
{
    int32_t count = 0;
    size_t at = fm_str_starts(path, base) ? base.len : 0;

    *n = 0;
    for (size_t i = at; i < path.len; i++) count += path.ptr[i] == '/';
    *out = fm_arena_array(arena, fm_path_value, count);
    if (!*out) return fm_no_memory(arena, err);
    while (at < path.len) {
        const char *slash = memchr(path.ptr + at, '/', path.len - at);
        if (!slash) return FM_OK; /* the file's own name is no value */
        fm_str part = {path.ptr + at, (size_t)(slash - path.ptr) - at};
        at += part.len + 1;
        if (!fm_file_is_partition_folder(part)) continue;
        size_t eq = (size_t)((const char *)memchr(part.ptr, '=', part.len) - part.ptr);
        fm_str value = unescape((fm_str){part.ptr + eq + 1, part.len - eq - 1}, arena);
        fm_str name = unescape((fm_str){part.ptr, eq}, arena);
        if (!value.ptr || !name.ptr) return fm_no_memory(arena, err);
        if (fm_str_eq(value, FM_STR("__HIVE_DEFAULT_PARTITION__"))) value.ptr = NULL;
        (*out)[(*n)++] = (fm_path_value){name, value};
    }
    return FM_OK;
}
