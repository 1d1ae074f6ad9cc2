/* source/file_stream.c: a folder as a stream: each file once, in order of time.
 *
 * The source has a log of its own, sources/<i>, written before the engine's offset log: entry k
 * names the files that offset {"logOffset":k} adds. An entry that no offset names, since the
 * process died between the two, is the next offset: not lost, not doubled. */
#include "source/file_source.h"

#include "base/limits.h"
#include "base/seal.h"
#include "format/json.h"
#include "source/glob.h"
#include "table/file_uri.h"

#include <inttypes.h>
#include <stdio.h>

static const char setting_prefix[] = "spark.sql.streaming.";

static fm_str seen_key(const fm_file_source *s, fm_str uri)
{
    if (!s->options.name_only) return uri;
    const char *slash = memrchr(uri.ptr, '/', uri.len);
    return slash ? (fm_str){slash + 1, (size_t)(uri.ptr + uri.len - slash - 1)} : uri;
}

/* One line of the log. */
typedef struct log_line {
    fm_str uri;
    int64_t modified_ms, batch_id;
} log_line;

static fm_status parse_line(fm_arena *arena, fm_str text, log_line *out, fm_error *err)
{
    const fm_json *v = NULL;

    FM_TRY(fm_json_read(arena, text, &v, err));
    const fm_json *path = fm_json_get(v, "path");
    if (!path || path->kind != FM_JSON_STRING ||
        !fm_json_i64(fm_json_get(v, "timestamp"), &out->modified_ms) ||
        !fm_json_i64(fm_json_get(v, "batchId"), &out->batch_id))
        return fm_fail(err, FM_CORRUPT, "FLOODMARK_CORRUPT_LOG", "A line is not understood: %.*s",
                       FM_STR_ARG(text));
    out->uri = path->text;
    return FM_OK;
}

/* ---- opening ---- */

typedef struct restoring {
    fm_file_source *s;
    fm_arena *scratch;
} restoring;

static fm_status remember(void *ctx, fm_str text, fm_error *err)
{
    restoring *r = ctx;
    log_line line;

    fm_arena_reset(r->scratch);
    FM_TRY(parse_line(r->scratch, text, &line, err));
    if (!fm_seen_add(&r->s->seen, seen_key(r->s, line.uri), line.modified_ms))
        return fm_no_memory(NULL, err);
    return FM_OK;
}

static fm_status log_settings(const fm_options *session, fm_file_log_settings *out, fm_error *err)
{
    int64_t delay_us;
    char key[128];

    *out = (fm_file_log_settings)FM_FILE_LOG_DEFAULTS;
    snprintf(key, sizeof key, "%sfileSource.log.compactInterval", setting_prefix);
    FM_TRY(fm_options_i64(session, key, out->compact_interval, 1, 1000000, &out->compact_interval,
                          err));
    snprintf(key, sizeof key, "%sfileSource.log.cleanupDelay", setting_prefix);
    FM_TRY(fm_options_duration(session, key, out->cleanup_delay_ms * 1000, &delay_us, err));
    out->cleanup_delay_ms = delay_us / 1000;
    snprintf(key, sizeof key, "%sfileSource.log.deletion", setting_prefix);
    FM_TRY(fm_options_bool(session, key, out->remove_expired, &out->remove_expired, err));
    snprintf(key, sizeof key, "%sminBatchesToRetain", setting_prefix);
    return fm_options_i64(session, key, out->entries_to_keep, 1, INT32_MAX, &out->entries_to_keep,
                          err);
}

fm_status fm_file_stream_open(fm_file_source *s, const char *metadata_dir, fm_error *err)
{
    fm_file_log_settings settings;
    bool limited = s->options.files_max > 0 || s->options.bytes_max > 0;

    s->cleaned = -1;
    fm_seen_init(&s->seen, s->options.latest_first && limited ? INT64_MAX : s->options.max_age_ms);
    s->listed = fm_arena_new(0);
    s->cached = fm_arena_new(0);
    if (!s->listed || !s->cached) return fm_no_memory(NULL, err);
    FM_TRY(log_settings(s->env.session, &settings, err));
    FM_TRY(fm_file_log_open(&s->log, s->env.fs, s->env.clock, metadata_dir, "file source log",
                            &settings, true, s->arena, err));
    restoring r = {s, fm_arena_new(0)};
    if (!r.scratch) return fm_no_memory(NULL, err);
    fm_status st = fm_file_log_read_all(&s->log, remember, &r, err);
    fm_arena_free(r.scratch);
    if (st == FM_OK) fm_seen_purge(&s->seen);
    return st;
}

void fm_file_stream_close(fm_file_source *s)
{
    fm_seen_fini(&s->seen);
    fm_strbuf_fini(&s->uri);
    fm_arena_free(s->listed);
    fm_arena_free(s->cached);
}

/* ---- offsets ---- */

/* "" gives -1. */
static fm_status parse_offset(fm_str text, int64_t *out, fm_error *err)
{
    fm_arena *arena;
    const fm_json *v = NULL;
    int64_t k = -1;

    *out = -1;
    if (text.len == 0) return FM_OK;
    if (fm_str_to_i64(text, out)) return FM_OK; /* Spark's very old form */
    arena = fm_arena_new(0);
    if (!arena) return fm_no_memory(NULL, err);
    fm_status st = fm_json_read(arena, text, &v, err);
    if (st != FM_OK || !fm_json_i64(fm_json_get(v, "logOffset"), &k) || k < -1)
        st = fm_fail(err, FM_CORRUPT, "FLOODMARK_CORRUPT_LOG",
                     "The checkpoint's offset %.*s is none of a file source. Was the source of the "
                     "query changed? Use a "
                     "new checkpointLocation then.",
                     FM_STR_ARG(text));
    fm_arena_free(arena);
    *out = k;
    return st;
}

fm_status fm_file_stream_restore(fm_source *source, fm_str start, fm_error *err)
{
    fm_file_source *s = (fm_file_source *)source;
    int64_t k;

    FM_TRY(parse_offset(start, &k, err));
    if (k <= s->log.latest) return FM_OK;
    return fm_fail(err, FM_CORRUPT, "FLOODMARK_CORRUPT_LOG",
                   "The checkpoint goes on from offset %.*s, but the file source log in %s ends at "
                   "entry %" PRId64
                   ". Restore the folder from a backup, or start with a new checkpointLocation.",
                   FM_STR_ARG(start), s->log.dir, s->log.latest);
}

/* ---- new files ---- */

static bool was_taken(void *ctx, fm_str path)
{
    fm_file_source *s = ctx;

    fm_strbuf_clear(&s->uri);
    fm_file_uri(path, &s->uri);
    return fm_strbuf_ok(&s->uri) && fm_seen_has(&s->seen, seen_key(s, fm_strbuf_str(&s->uri)));
}

enum {
    SETTLED_MS = 2000,        /* a folder's time is exact to that, on any file system: later changes move it */
    LOOK_AGAIN_US = 1000000   /* at least so often all names are listed, should a file system keep no times of folders */
};

/* A folder that nothing was done to need not be listed again. What the machine's own clock says counts here, not that of a
 * simulation: only real folders change by themselves. */
static bool is_quiet(const fm_file_source *s)
{
    if (!s->quiet_since_us || fm_clock_monotonic_us(fm_clock_real()) - s->quiet_since_us > LOOK_AGAIN_US) return false;
    for (size_t i = 0; i < s->marks.n; i++) {
        fm_file_stat stat;
        if (fm_fs_stat(s->env.fs, s->marks.folders[i].path.ptr, &stat, NULL) != FM_OK ||
            stat.modified_ms != s->marks.folders[i].modified_ms)
            return false;
    }
    return true;
}

static void note_quiet(fm_file_source *s, int64_t listed_us, size_t n_new, bool has_log)
{
    int64_t settled_ms = fm_clock_now_us(fm_clock_real()) / 1000 - SETTLED_MS;

    s->quiet_since_us = 0;
    if (n_new > 0 || has_log || s->options.listing.is_glob || s->marks.n == 0 || s->env.fs != fm_fs_real()) return;
    for (size_t i = 0; i < s->marks.n; i++)
        if (s->marks.folders[i].modified_ms > settled_ms) return;
    s->quiet_since_us = listed_us;
}

/* All files that were not taken; more than these when the folder is the output of a file sink. */
static fm_status list_files(fm_file_source *s, fm_arena *arena, fm_listed_file **out, size_t *n,
                            fm_error *err)
{
    fm_file_listing listing = s->options.listing;
    int64_t listed_us = fm_clock_monotonic_us(fm_clock_real());
    bool has_log = false;

    listing.known = was_taken;
    listing.known_ctx = s;
    listing.marks = &s->marks;
    s->marks = (fm_folder_marks){0};
    fm_status st = fm_file_list(&listing, s->options.latest_first, arena, out, n, &has_log, err);
    if (st == FM_OK) note_quiet(s, listed_us, *n, has_log);
    if (st == FM_OK && has_log && s->options.clean != FM_CLEAN_OFF)
        return fm_fail(err, FM_UNSUPPORTED, "UNSUPPORTED_FEATURE.CLEAN_UP_SOURCE_FILES",
                       "Option cleanSource cannot be used on '%.*s', which is the output of a file "
                       "sink with a log of "
                       "its own. Leave the option out.",
                       FM_STR_ARG(s->options.listing.path));
    return st;
}

/* The files of `all` that were not taken yet; their paths are shared. */
static fm_status only_new(fm_file_source *s, fm_listed_file *all, size_t n_all, fm_arena *arena,
                          fm_listed_file **out, size_t *n, fm_error *err)
{
    fm_strbuf uri = {0};
    size_t kept = 0;
    fm_listed_file *files = fm_arena_array(arena, fm_listed_file, n_all);

    if (!files) return fm_no_memory(arena, err);
    for (size_t i = 0; i < n_all; i++) {
        fm_strbuf_clear(&uri);
        fm_file_uri(all[i].path, &uri);
        if (fm_seen_is_new(&s->seen, seen_key(s, fm_strbuf_str(&uri)), all[i].modified_ms))
            files[kept++] = all[i];
    }
    bool ok = fm_strbuf_ok(&uri);
    fm_strbuf_fini(&uri);
    *out = files;
    *n = kept;
    return ok ? FM_OK : fm_no_memory(NULL, err);
}

/* How many of the files a batch may take. Rule: semantics 9.1. */
static size_t within_limit(const fm_file_source *s, const fm_listed_file *files, size_t n)
{
    int64_t sum = 0;
    size_t taken = 0;

    if (s->options.files_max > 0)
        return n < (uint64_t)s->options.files_max ? n : (size_t)s->options.files_max;
    if (s->options.bytes_max == 0) return n;
    for (; taken < n; taken++) {
        int64_t size = files[taken].size;
        if (taken > 0 && (size > s->options.bytes_max || sum > s->options.bytes_max - size)) break;
        sum += size < s->options.bytes_max ? size : s->options.bytes_max;
    }
    return taken;
}

/* Keeps what a limit left over, so that the folder need not be listed for every batch; unless it is
 * so little that newer files would do the next batch good. */
static fm_status keep_unread(fm_file_source *s, const fm_listed_file *files, size_t n,
                             fm_error *err)
{
    double limit = (double)(s->options.files_max > 0 ? s->options.files_max : s->options.bytes_max),
           left = 0;
    fm_arena *arena = s->cached;

    s->unread = NULL;
    s->n_unread = 0;
    if (s->options.latest_first || n == 0) {
        fm_arena_reset(arena);
        return FM_OK;
    }
    for (size_t i = 0; i < n; i++) left += s->options.files_max > 0 ? 1 : (double)files[i].size;
    if (left < limit * s->options.discard_ratio) return FM_OK;
    if (n > (uint64_t)s->options.cached_max) n = (size_t)s->options.cached_max;
    fm_arena *fresh = fm_arena_new(0);
    fm_listed_file *copy = fresh ? fm_arena_array(fresh, fm_listed_file, n) : NULL;
    for (size_t i = 0; copy && i < n; i++) {
        copy[i] = files[i];
        copy[i].path = fm_arena_str(fresh, files[i].path);
        if (!copy[i].path.ptr) copy = NULL;
    }
    if (!copy) {
        fm_arena_free(fresh);
        return fm_no_memory(NULL, err);
    }
    s->cached = fresh;
    fm_arena_free(arena);
    s->unread = copy;
    s->n_unread = n;
    return FM_OK;
}

/* Rule: Spark: maxFileAge counts back from the latest file seen, not from now. So a file from a clock that is wrong hides all that come
 * after it until then; people are told, once. */
static void warn_of_future(fm_file_source *s, const fm_listed_file *file, fm_arena *arena)
{
    int64_t ahead_ms = file->modified_ms - fm_clock_now_us(s->env.clock) / 1000;

    if (ahead_ms <= s->options.max_age_ms || s->told_future || !s->env.warn) return;
    fm_str text = fm_arena_printf(arena,
                                  "file '%.*s' is from the future, by %" PRId64 " days: files that are older than it by maxFileAge are passed over from now "
                                  "on. Give option maxFileAge '100000 days', or the file another time and the query another checkpoint.",
                                  FM_STR_ARG(file->path), ahead_ms / 86400000);
    if (text.ptr) s->env.warn(s->env.warn_ctx, text);
    s->told_future = true;
}

/* Writes the next entry of the log: these files are taken. */
static fm_status take_files(fm_file_source *s, const fm_listed_file *files, size_t n, fm_error *err)
{
    fm_strbuf lines = {0}, uri = {0};
    int64_t id = s->log.latest + 1;
    size_t line;
    bool ok = true;

    for (size_t i = 0; i < n; i++) {
        fm_strbuf_clear(&uri);
        fm_file_uri(files[i].path, &uri);
        if (i) fm_strbuf_add_char(&lines, '\n');
        line = lines.len;
        fm_strbuf_add_c(&lines, "{\"path\":");
        fm_strbuf_add_json(&lines, fm_strbuf_str(&uri));
        fm_strbuf_printf(&lines, ",\"timestamp\":%" PRId64 ",\"batchId\":%" PRId64 FM_SEAL_FIELD "}",
                         files[i].modified_ms, id);
        if (fm_strbuf_ok(&lines)) fm_seal(lines.ptr + line, lines.len - line);
        ok = ok && fm_seen_add(&s->seen, seen_key(s, fm_strbuf_str(&uri)), files[i].modified_ms);
    }
    fm_status st =
        ok && fm_strbuf_ok(&lines) && fm_strbuf_ok(&uri) ? FM_OK : fm_no_memory(NULL, err);
    if (st == FM_OK) {
        fm_seen_purge(&s->seen);
        st = fm_file_log_add(&s->log, id, fm_strbuf_str(&lines), NULL, NULL, err);
    }
    fm_strbuf_fini(&lines);
    fm_strbuf_fini(&uri);
    return st;
}

fm_status fm_file_stream_latest(fm_source *source, fm_str start, fm_read_limit limit,
                                fm_arena *arena, fm_str *end, fm_str *latest, fm_error *err)
{
    fm_file_source *s = (fm_file_source *)source;
    fm_listed_file *files = s->unread;
    size_t n = s->n_unread, taken;
    int64_t begin;

    *latest = (fm_str){"", 0};
    FM_TRY(parse_offset(start, &begin, err));
    /* An entry beyond where we are is of a run that died before its micro-batch was logged: it makes the same one again,
     * so that files do not gather in one batch that an undisturbed run reads in two. */
    if (s->log.latest > begin && limit == FM_READ_LIMITED) {
        *end = fm_arena_printf(arena, "{\"logOffset\":%" PRId64 "}", begin + 1);
        return end->ptr ? FM_OK : fm_no_memory(arena, err);
    }
    if (!files) {
        fm_listed_file *all = s->target;
        size_t n_all = s->n_target;
        if (!s->has_target && is_quiet(s)) {
            n_all = 0;
        } else if (!s->has_target) {
            fm_arena_reset(s->listed);
            FM_TRY(list_files(s, s->listed, &all, &n_all, err));
        }
        FM_TRY(only_new(s, all, n_all, arena, &files, &n, err));
    }
    taken = limit == FM_READ_ALL ? n : within_limit(s, files, n);
    if (taken > 0) FM_TRY(take_files(s, files, taken, err));
    for (size_t i = 0; i < taken; i++) warn_of_future(s, &files[i], arena);
    FM_TRY(keep_unread(s, files + taken, n - taken, err));
    *end = (fm_str){"", 0};
    if (s->log.latest < 0) return FM_OK;
    *end = fm_arena_printf(arena, "{\"logOffset\":%" PRId64 "}", s->log.latest);
    return end->ptr ? FM_OK : fm_no_memory(arena, err);
}

fm_status fm_file_stream_fix(fm_source *source, fm_error *err)
{
    fm_file_source *s = (fm_file_source *)source;

    fm_arena_reset(s->listed);
    FM_TRY(list_files(s, s->listed, &s->target, &s->n_target, err));
    s->has_target = true;
    return FM_OK;
}

/* ---- files of a batch ---- */

typedef struct gathering {
    fm_arena *arena, *scratch;
    int64_t id; /* only lines of this entry; a compact one holds older ones, too */
    fm_listed_file *files;
    size_t n, cap;
} gathering;

static fm_status gather(void *ctx, fm_str text, fm_error *err)
{
    gathering *g = ctx;
    log_line line;
    fm_str path;

    fm_arena_reset(g->scratch);
    FM_TRY(parse_line(g->scratch, text, &line, err));
    if (line.batch_id != g->id) return FM_OK;
    FM_TRY(fm_file_path(g->arena, line.uri, &path, err));
    if (g->n == g->cap) {
        size_t cap = g->cap ? g->cap * 2 : 16;
        fm_listed_file *files = fm_arena_array(g->arena, fm_listed_file, cap);
        if (!files) return fm_no_memory(g->arena, err);
        if (g->n) memcpy(files, g->files, g->n * sizeof *files);
        g->files = files;
        g->cap = cap;
    }
    g->files[g->n++] = (fm_listed_file){path, -1, line.modified_ms};
    return FM_OK;
}

fm_status fm_file_stream_files(fm_file_source *s, fm_str start, fm_str end, fm_arena *arena,
                               fm_listed_file **out, size_t *n, fm_error *err)
{
    int64_t from, to;
    fm_status st = FM_OK;

    FM_TRY(parse_offset(start, &from, err));
    FM_TRY(parse_offset(end, &to, err));
    gathering g = {.arena = arena, .scratch = fm_arena_new(0)};
    if (!g.scratch) return fm_no_memory(NULL, err);
    for (g.id = from + 1; g.id <= to && st == FM_OK; g.id++) {
        st = fm_file_log_read_one(&s->log, g.id, gather, &g, err);
        if (st == FM_NOT_FOUND)
            st = fm_fail(err, FM_CORRUPT, "FLOODMARK_CORRUPT_LOG",
                         "The file source log in %s lacks entry %" PRId64
                         ", which the checkpoint needs. Restore it from "
                         "a backup, or start with a new checkpointLocation.",
                         s->log.dir, g.id);
    }
    fm_arena_free(g.scratch);
    *out = g.files;
    *n = g.n;
    return st;
}

/* ---- cleaning ---- */

static fm_status clean_file(const fm_file_source *s, fm_str path, fm_arena *arena, fm_error *err)
{
    if (s->options.clean == FM_CLEAN_DELETE) return fm_fs_remove(s->env.fs, path.ptr, err);
    fm_str target = fm_arena_printf(arena, "%s%s", s->options.archive_dir.ptr, path.ptr);
    if (!target.ptr) return fm_no_memory(arena, err);
    const char *slash = strrchr(target.ptr, '/');
    fm_str dir = fm_arena_str(arena, (fm_str){target.ptr, (size_t)(slash - target.ptr)});
    if (!dir.ptr) return fm_no_memory(arena, err);
    FM_TRY(fm_fs_mkdirs(s->env.fs, dir.ptr, err));
    return fm_fs_rename(s->env.fs, path.ptr, target.ptr, err);
}

/* Best effort: what fails stays where it is, and people are told, once. A file that is gone already is clean. */
static void clean_files(fm_file_source *s, const fm_listed_file *files, size_t n, fm_arena *arena)
{
    for (size_t i = 0; i < n; i++) {
        fm_error err = FM_ERROR_INIT;
        fm_file_stat stat;
        if (clean_file(s, files[i].path, arena, &err) == FM_OK || s->told_unclean || !s->env.warn) continue;
        if (fm_fs_stat(s->env.fs, files[i].path.ptr, &stat, NULL) == FM_NOT_FOUND) continue;
        fm_str text = fm_arena_printf(arena, "option cleanSource cannot be obeyed; files stay where they are, and no row is lost. %s", err.message);
        if (text.ptr) s->env.warn(s->env.warn_ctx, text);
        s->told_unclean = true;
    }
}

fm_status fm_file_stream_commit(fm_source *source, fm_str end, fm_error *err)
{
    fm_file_source *s = (fm_file_source *)source;
    int64_t k;

    if (s->options.clean == FM_CLEAN_OFF) return FM_OK;
    FM_TRY(parse_offset(end, &k, err));
    if (k < 0 || k <= s->cleaned) return FM_OK;
    fm_arena *arena = fm_arena_new(0);
    if (!arena) return fm_no_memory(NULL, err);
    fm_listed_file *files;
    size_t n;
    char from[64];
    snprintf(from, sizeof from, "{\"logOffset\":%" PRId64 "}",
             s->cleaned >= 0 ? s->cleaned : k - 1);
    if (fm_file_stream_files(s, fm_str_c(from), end, arena, &files, &n, NULL) == FM_OK)
        clean_files(s, files, n, arena);
    s->cleaned = k;
    fm_arena_free(arena);
    return FM_OK;
}
