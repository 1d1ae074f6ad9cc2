/* table/file_log.c: the compacting log of files. */
#include "table/file_log.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/time_text.h"

enum {
    PATH_SIZE = 4096,
    READ_TRIES = 4 /* looks at a log that is being compacted and cleaned by its writer */
};
#define ENTRY_SIZE_MAX ((size_t)1 << 30) /* bytes of one entry: a compact one of some five million files */

fm_status fm_file_log_conf_read(const fm_options *session, const char *prefix, fm_file_log_conf *out,
                                fm_error *err)
{
    char key[160];

    *out = (fm_file_log_conf){.interval = 10, .cleanup_delay_us = 10 * FM_US_PER_MINUTE, .min_retain = 100,
                              .delete_expired = true};
    if (!session) return FM_OK;
    snprintf(key, sizeof key, "%s.compactInterval", prefix);
    FM_TRY(fm_options_i64(session, key, out->interval, 1, INT32_MAX, &out->interval, err));
    snprintf(key, sizeof key, "%s.cleanupDelay", prefix);
    FM_TRY(fm_options_duration(session, key, out->cleanup_delay_us, &out->cleanup_delay_us, err));
    snprintf(key, sizeof key, "%s.deletion", prefix);
    FM_TRY(fm_options_bool(session, key, out->delete_expired, &out->delete_expired, err));
    return fm_options_i64(session, "spark.sql.streaming.minBatchesToRetain", out->min_retain, 1, INT32_MAX,
                          &out->min_retain, err);
}

static bool is_compact(const fm_file_log *log, int64_t id) { return (id + 1) % log->conf.interval == 0; }

/* The number of an entry by its file's name; false for other files (checksums, temporary ones). */
static bool parse_name(fm_str name, int64_t *id, bool *compact)
{
    *compact = fm_str_ends(name, FM_STR(".compact"));
    if (*compact) name.len -= sizeof ".compact" - 1;
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] < '0' || name.ptr[i] > '9') return false;
    }
    return fm_str_to_i64(name, id) && *id < INT32_MAX;
}

static fm_status entry_path(const fm_file_log *log, int64_t id, char out[PATH_SIZE], fm_error *err)
{
    int n = snprintf(out, PATH_SIZE, "%s/%" PRId64 "%s", log->dir, id, is_compact(log, id) ? ".compact" : "");

    if (n > 0 && n < PATH_SIZE) return FM_OK;
    return fm_fail(err, FM_INVALID, "FLOODMARK_PATH_TOO_LONG", "The path of the %s '%.200s...' is too long.",
                   log->what, log->dir);
}

/* The interval of a log whose only compact entry is `id`: id + 1 must be a multiple of it, so it is the smallest
 * divisor that is not below what the settings ask for. Rule: Spark, deriveCompactInterval. */
static int64_t derive_interval(int64_t wanted, int64_t id)
{
    int64_t n = id + 1, best = n;

    if (wanted >= n / 2) return n;
    for (int64_t d = 1; d * d <= n; d++) {
        if (n % d != 0) continue;
        if (d >= wanted && d < best) best = d;
        if (n / d >= wanted && n / d < best) best = n / d;
    }
    return best;
}

/* What is there: the last entry, and the interval the log was written with. */
static fm_status look(fm_file_log *log, int64_t wanted_interval, fm_error *err)
{
    fm_arena *scratch = fm_arena_new(0);
    fm_dir_entry *entries = NULL;
    size_t n = 0;
    int64_t newest = -1, before = -1; /* the two newest compact entries */

    if (!scratch) return fm_no_memory(NULL, err);
    fm_status st = fm_fs_list(log->fs, log->dir, scratch, &entries, &n, err);
    if (st == FM_NOT_FOUND) st = FM_OK;
    log->last = -1;
    for (size_t i = 0; st == FM_OK && i < n; i++) {
        int64_t id;
        bool compact;
        if (entries[i].stat.is_dir || !parse_name(entries[i].name, &id, &compact)) continue;
        if (id > log->last) log->last = id;
        if (!compact) continue;
        if (id > newest) {
            before = newest;
            newest = id;
        } else if (id > before) {
            before = id;
        }
    }
    fm_arena_free(scratch);
    log->conf.interval = before >= 0   ? newest - before
                         : newest >= 0 ? derive_interval(wanted_interval, newest)
                                       : wanted_interval;
    return st;
}

fm_status fm_file_log_open(fm_file_log *log, fm_fs *fs, fm_clock *clock, const char *dir, const char *what,
                           const fm_file_log_conf *conf, fm_arena *arena, fm_error *err)
{
    fm_str copy = fm_arena_str(arena, fm_str_c(dir));

    if (!copy.ptr) return fm_no_memory(arena, err);
    *log = (fm_file_log){.fs = fs, .clock = clock, .dir = copy.ptr, .what = what};
    if (conf) {
        log->conf = *conf;
    } else {
        FM_TRY(fm_file_log_conf_read(NULL, "", &log->conf, err));
    }
    return fm_context(err, look(log, log->conf.interval, err), "opening the %s '%s'", what, dir);
}

static fm_status damaged(const fm_file_log *log, const char *path, const char *how, fm_error *err)
{
    return fm_fail(err, FM_CORRUPT, "FLOODMARK_LOG_DAMAGED",
                   "Entry '%s' of the %s %s. Restore the file from a backup, or start over: with a new checkpoint "
                   "folder and a new output folder.",
                   path, log->what, how);
}

/* "v1" and lines. Blank lines, as a hand-edited file may have, are passed over. */
static fm_status split_lines(const fm_file_log *log, const char *path, fm_str text, fm_arena *arena,
                             fm_file_log_lines *out, fm_error *err)
{
    int64_t n = 0;

    if (text.len < 2 || text.ptr[0] != 'v' || (text.len > 2 && text.ptr[2] != '\n') || text.ptr[1] < '1' ||
        text.ptr[1] > '9') {
        return damaged(log, path, "does not begin with the line 'v1'", err);
    }
    if (text.ptr[1] != '1') {
        return fm_fail(err, FM_UNSUPPORTED, "FLOODMARK_LOG_VERSION", "Entry '%s' of the %s has version %c; this program reads version 1.",
                       path, log->what, text.ptr[1]);
    }
    for (size_t i = 0; i < text.len; i++) n += text.ptr[i] == '\n';
    out->items = fm_arena_array(arena, fm_str, n);
    out->n = 0;
    if (!out->items) return fm_no_memory(arena, err);
    for (size_t at = 3; at < text.len;) {
        const char *end = memchr(text.ptr + at, '\n', text.len - at);
        size_t len = end ? (size_t)(end - text.ptr) - at : text.len - at;
        fm_str line = {text.ptr + at, len};
        at += len + 1;
        if (fm_str_trim(line).len == 0) continue;
        if (line.ptr[0] != '{' || fm_str_trim(line).ptr[fm_str_trim(line).len - 1] != '}') {
            return damaged(log, path, "has a line that is no JSON object: it was cut or overwritten", err);
        }
        out->items[out->n++] = line;
    }
    return FM_OK;
}

fm_status fm_file_log_read_entry(fm_file_log *log, int64_t id, fm_arena *arena, fm_file_log_lines *out,
                                 fm_error *err)
{
    char path[PATH_SIZE];
    fm_str text;

    *out = (fm_file_log_lines){0};
    FM_TRY(entry_path(log, id, path, err));
    FM_TRY(fm_context(err, fm_fs_read_all(log->fs, path, ENTRY_SIZE_MAX, arena, &text, err),
                      "reading the %s", log->what));
    return split_lines(log, path, text, arena, out, err);
}

/* The entries from..upto behind each other. FM_NOT_FOUND when one is missing. */
static fm_status read_range(fm_file_log *log, int64_t from, int64_t upto, fm_arena *arena,
                            fm_file_log_lines *out, fm_error *err)
{
    fm_file_log_lines *entries = fm_arena_array(arena, fm_file_log_lines, upto - from + 1);
    int64_t total = 0;

    if (!entries) return fm_no_memory(arena, err);
    for (int64_t id = from; id <= upto; id++) {
        FM_TRY(fm_file_log_read_entry(log, id, arena, &entries[id - from], err));
        total += entries[id - from].n;
    }
    *out = (fm_file_log_lines){fm_arena_array(arena, fm_str, total), 0};
    if (!out->items) return fm_no_memory(arena, err);
    for (int64_t i = 0; i <= upto - from; i++) {
        if (entries[i].n) memcpy(out->items + out->n, entries[i].items, (size_t)entries[i].n * sizeof *out->items);
        out->n += entries[i].n;
    }
    return FM_OK;
}

/* The first entry that is needed to know everything up to `id`. */
static int64_t range_start(const fm_file_log *log, int64_t id)
{
    int64_t start = (id + 1) / log->conf.interval * log->conf.interval - 1;

    return start < 0 ? 0 : start;
}

fm_status fm_file_log_read(fm_file_log *log, int64_t upto, fm_arena *arena, fm_file_log_lines *out,
                           fm_error *err)
{
    fm_status st = FM_OK;
    int64_t wanted = log->conf.interval;

    for (int i = 0; i < READ_TRIES; i++) {
        int64_t id = upto >= 0 && upto < log->last ? upto : log->last;
        *out = (fm_file_log_lines){0};
        if (id < 0) return FM_OK;
        st = read_range(log, range_start(log, id), id, arena, out, err);
        if (st != FM_NOT_FOUND) return st;
        FM_TRY(look(log, wanted, err)); /* its writer may have compacted and cleaned meanwhile */
    }
    return fm_fail(err, FM_CORRUPT, "FLOODMARK_LOG_HOLE",
                   "The %s in '%s' has entry %" PRId64 ", but one of the entries from %" PRId64
                   " on is missing. Restore the files that were deleted, or start over: with a new checkpoint folder and a "
                   "new output folder.",
                   log->what, log->dir, log->last, range_start(log, log->last));
}

static void add_lines(fm_strbuf *out, const fm_str *lines, int64_t n, bool (*keep)(void *ctx, fm_str line), void *ctx)
{
    for (int64_t i = 0; i < n; i++) {
        if (keep && !keep(ctx, lines[i])) continue;
        fm_strbuf_add_char(out, '\n');
        fm_strbuf_add(out, lines[i]);
    }
}

static fm_status write_entry(fm_file_log *log, int64_t id, fm_str text, fm_error *err)
{
    char path[PATH_SIZE];

    FM_TRY(entry_path(log, id, path, err));
    FM_TRY(fm_fs_mkdirs(log->fs, log->dir, err));
    fm_status st = fm_fs_write_atomic(log->fs, path, text, false, err);
    if (st == FM_CONFLICT) {
        return fm_fail(err, st, "CONCURRENT_STREAM_LOG_UPDATE",
                       "Entry %" PRId64 " of the %s in '%s' exists already: another query writes there too. Stop it, or give "
                       "this one a folder of its own.",
                       id, log->what, log->dir);
    }
    return fm_context(err, st, "writing entry %" PRId64 " of the %s", id, log->what);
}

fm_status fm_file_log_append(fm_file_log *log, int64_t id, const fm_str *lines, int64_t n,
                             bool (*keep)(void *ctx, fm_str line), void *ctx, fm_error *err)
{
    fm_assert(id > log->last && (id == log->last + 1 || log->last < 0));
    fm_strbuf text = {0};
    fm_arena *scratch = NULL;
    fm_status st = FM_OK;

    /* A log that begins late, since its folder was deleted under a query that goes on, begins with a compact entry:
     * nothing before it is needed. The interval then has to divide id + 1. */
    if (log->last < 0 && id > 0) log->conf.interval = derive_interval(log->conf.interval, id);
    bool compact = is_compact(log, id);
    fm_strbuf_add_c(&text, "v1");
    if (compact && log->last >= 0) {
        fm_file_log_lines before = {0};
        scratch = fm_arena_new(0);
        st = scratch ? fm_file_log_read(log, log->last, scratch, &before, err) : fm_no_memory(NULL, err);
        add_lines(&text, before.items, before.n, keep, ctx);
    }
    add_lines(&text, lines, n, compact ? keep : NULL, ctx);
    if (st == FM_OK && !fm_strbuf_ok(&text)) st = fm_no_memory(NULL, err);
    if (st == FM_OK) st = write_entry(log, id, fm_strbuf_str(&text), err);
    fm_strbuf_fini(&text);
    fm_arena_free(scratch);
    if (st != FM_OK) return st;
    log->last = id;
    if (compact) fm_file_log_clean(log);
    return FM_OK;
}

void fm_file_log_clean(fm_file_log *log)
{
    int64_t from = log->last + 1 - log->conf.min_retain, interval = log->conf.interval;
    fm_dir_entry *entries;
    size_t n;
    char path[PATH_SIZE];

    if (!log->conf.delete_expired || !log->clock || from < interval) return;
    int64_t kept = from / interval * interval - 1; /* the compact entry that replaces everything before it */
    int64_t young_ms = (fm_clock_now_us(log->clock) - log->conf.cleanup_delay_us) / FM_US_PER_MS;
    fm_arena *scratch = fm_arena_new(0);
    if (scratch && fm_fs_list(log->fs, log->dir, scratch, &entries, &n, NULL) == FM_OK) {
        for (size_t i = 0; i < n; i++) {
            int64_t id;
            bool compact;
            if (!parse_name(entries[i].name, &id, &compact) || id >= kept) continue;
            if (entries[i].stat.modified_ms > young_ms) continue;
            int len = snprintf(path, sizeof path, "%s/%s", log->dir, entries[i].name.ptr);
            if (len > 0 && len < PATH_SIZE) fm_fs_remove(log->fs, path, NULL);
        }
    }
    fm_arena_free(scratch);
}
