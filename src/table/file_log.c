/* table/file_log.c: the compacting log of files. */
#include "table/file_log.h"

#include "base/limits.h"
#include "base/seal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMPACT_SIZE_MAX = 1 << 30 }; /* bytes of a compact entry: some ten million files */

static const char suffix[] = ".compact";

/* "12" and "12.compact"; other names are no entries. */
static bool parse_name(fm_str name, int64_t *id, bool *compact)
{
    *compact = fm_str_ends(name, FM_STR(".compact"));
    if (*compact) name.len -= sizeof suffix - 1;
    if (name.len == 0 || name.len > 12) return false;
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] < '0' || name.ptr[i] > '9') return false;
    return fm_str_to_i64(name, id);
}

static fm_status list(const fm_file_log *log, fm_arena *arena, fm_dir_entry **entries, size_t *n,
                      fm_error *err)
{
    *n = 0;
    fm_status st = fm_fs_list(log->fs, log->dir, arena, entries, n, err);
    return st == FM_NOT_FOUND ? FM_OK : st;
}

/* The interval of a log whose only compact entry is compact_id: compact_id + 1 is a multiple of it, so it is the
 * smallest divisor that is not below the setting. Rule: Spark, deriveCompactInterval. */
static int64_t derive_interval(int64_t setting, int64_t compact_id)
{
    int64_t n = compact_id + 1, best = n;

    if (setting >= n / 2) return n;
    for (int64_t d = 1; d * d <= n; d++) {
        if (n % d != 0) continue;
        if (d >= setting && d < best) best = d;
        if (n / d >= setting && n / d < best) best = n / d;
    }
    return best;
}

/* The distance of the last two compact entries, of which the earlier may be there no more (-1), or is not the one right
 * before: a run that died while it removed expired ones leaves some. What holds of the true interval must hold: it divides
 * last + 1, and there are no more plain entries since than fit. */
static int64_t interval_of(const fm_file_log *log, int64_t before, int64_t last)
{
    int64_t since = log->latest - last, distance = last - before;

    if (before >= 0 && (last + 1) % distance == 0 && since < distance) return distance;
    return derive_interval(log->interval > since ? log->interval : since + 1, last);
}

static fm_status look(fm_file_log *log, bool derive, fm_error *err)
{
    fm_arena *arena = fm_arena_new(0);
    fm_dir_entry *entries = NULL;
    size_t n = 0;
    int64_t last = -1, before = -1; /* compact ones */

    if (!arena) return fm_fail(err, FM_LIMIT, "FLOODMARK_LIMIT", "Out of memory.");
    fm_status st = list(log, arena, &entries, &n, err);
    log->latest = -1;
    for (size_t i = 0; st == FM_OK && i < n; i++) {
        int64_t id;
        bool compact;
        if (!parse_name(entries[i].name, &id, &compact)) continue;
        if (id > log->latest) log->latest = id;
        if (!compact) continue;
        if (id > last) {
            before = last;
            last = id;
        } else if (id > before) {
            before = id;
        }
    }
    if (derive && last >= 0) log->interval = interval_of(log, before, last);
    fm_arena_free(arena);
    return fm_context(err, st, "opening the %s", log->what);
}

fm_status fm_file_log_open(fm_file_log *log, fm_fs *fs, fm_clock *clock, const char *dir,
                           const char *what, const fm_file_log_settings *settings, bool make,
                           fm_arena *arena, fm_error *err)
{
    fm_str dir_copy = fm_arena_str(arena, fm_str_c(dir)),
           what_copy = fm_arena_str(arena, fm_str_c(what));

    if (!dir_copy.ptr || !what_copy.ptr) return fm_no_memory(arena, err);
    *log =
        (fm_file_log){.fs = fs,
                      .clock = clock,
                      .dir = dir_copy.ptr,
                      .what = what_copy.ptr,
                      .interval = settings->compact_interval < 1 ? 1 : settings->compact_interval,
                      .cleanup_delay_ms = settings->cleanup_delay_ms,
                      .entries_to_keep = settings->entries_to_keep,
                      .remove_expired = settings->remove_expired};
    if (make) FM_TRY(fm_fs_mkdirs(fs, dir, err));
    return look(log, true, err);
}

fm_status fm_file_log_refresh(fm_file_log *log, fm_error *err)
{
    return look(log, false, err);
}

bool fm_file_log_is_compact(const fm_file_log *log, int64_t id)
{
    return (id + 1) % log->interval == 0;
}

static fm_str entry_path(const fm_file_log *log, int64_t id, fm_arena *arena)
{
    return fm_arena_printf(arena, "%s/%" PRId64 "%s", log->dir, id,
                           fm_file_log_is_compact(log, id) ? suffix : "");
}

fm_status fm_file_log_check_latest(const fm_file_log *log, fm_error *err)
{
    fm_arena *scratch = fm_arena_new(0);
    fm_file_stat stat;

    if (!scratch) return fm_no_memory(NULL, err);
    fm_str path = entry_path(log, log->latest, scratch);
    fm_status st = path.ptr ? fm_fs_stat(log->fs, path.ptr, &stat, err) : fm_no_memory(scratch, err);
    if (st == FM_NOT_FOUND)
        st = fm_fail(err, FM_CORRUPT, "FLOODMARK_LOG_HOLE",
                     "Entry %" PRId64 " of the %s in '%s' is there no more: somebody has removed it while the query runs. Restore it from a backup.", log->latest,
                     log->what, log->dir);
    fm_arena_free(scratch);
    return st;
}

/* A damaged line is found here, before a compaction copies it: then the entries that could tell of it may go. */
static fm_status check_line(const fm_file_log *log, int64_t id, fm_str line, fm_error *err)
{
    if (line.ptr[0] == '{' && line.ptr[line.len - 1] == '}' && fm_seal_holds(line)) return FM_OK;
    return fm_fail(err, FM_CORRUPT, "FLOODMARK_CORRUPT_LOG",
                   "A line of entry %" PRId64 " of the %s in %s is damaged: it is cut off, or its checksum does not fit: "
                   "%.*s. Restore the file from a backup, or start with a new checkpointLocation.",
                   id, log->what, log->dir, FM_STR_ARG(line));
}

static fm_status visit_lines(const fm_file_log *log, int64_t id, fm_str text,
                             fm_file_log_visit visit, void *ctx, fm_error *err)
{
    const char *at = text.ptr, *end = text.ptr + text.len;
    bool first = true;

    while (at < end || first) {
        const char *nl = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
        fm_str line = {at, (size_t)((nl ? nl : end) - at)};
        if (line.len && line.ptr[line.len - 1] == '\r') line.len--;
        if (first && !fm_str_eq(line, FM_STR("v1")))
            return fm_fail(err, FM_CORRUPT, "FLOODMARK_CORRUPT_LOG",
                           "Entry %" PRId64
                           " of the %s in %s does not begin with v1. Restore the file from "
                           "a backup, or start with a new checkpoint.",
                           id, log->what, log->dir);
        if (!first && line.len) FM_TRY(check_line(log, id, line, err));
        if (!first && line.len) FM_TRY(visit(ctx, line, err));
        first = false;
        at = nl ? nl + 1 : end;
    }
    return FM_OK;
}

fm_status fm_file_log_read_one(const fm_file_log *log, int64_t id, fm_file_log_visit visit,
                               void *ctx, fm_error *err)
{
    fm_arena *arena = fm_arena_new(0);
    fm_str text = {0};

    if (!arena) return fm_fail(err, FM_LIMIT, "FLOODMARK_LIMIT", "Out of memory.");
    fm_str path = entry_path(log, id, arena);
    fm_status st = path.ptr ? FM_OK : fm_no_memory(arena, err);
    if (st == FM_OK) st = fm_fs_read_all(log->fs, path.ptr, COMPACT_SIZE_MAX, arena, &text, err);
    if (st == FM_OK) st = visit_lines(log, id, text, visit, ctx, err);
    fm_arena_free(arena);
    return fm_context(err, st, "reading '%s/%" PRId64 "%s' of the %s", log->dir, id, fm_file_log_is_compact(log, id) ? suffix : "", log->what);
}

/* The entries `from` .. `to` one after the other; `from` is compact or the first. */
static fm_status read_entries(const fm_file_log *log, int64_t to, fm_file_log_visit visit,
                              void *ctx, fm_error *err)
{
    int64_t from = (to + 1) / log->interval * log->interval - 1; /* the last compact one */

    for (int64_t id = from < 0 ? 0 : from; id <= to; id++) {
        fm_status st = fm_file_log_read_one(log, id, visit, ctx, err);
        if (st == FM_NOT_FOUND)
            return fm_fail(
                err, FM_CORRUPT, "FLOODMARK_CORRUPT_LOG",
                "The %s in %s has entry %" PRId64 " but not %" PRId64
                ". Restore the missing file from a backup, or start with a new checkpoint.",
                log->what, log->dir, log->latest, id);
        if (st != FM_OK) return st;
    }
    return FM_OK;
}

fm_status fm_file_log_read_all(const fm_file_log *log, fm_file_log_visit visit, void *ctx,
                               fm_error *err)
{
    return read_entries(log, log->latest, visit, ctx, err);
}

/* ---- writing ---- */

typedef struct gather {
    fm_strbuf *text;
    fm_file_log_keep keep;
    void *keep_ctx;
} gather;

static fm_status gather_line(void *ctx, fm_str line, fm_error *err)
{
    gather *g = ctx;

    (void)err;
    if (g->keep && !g->keep(g->keep_ctx, line)) return FM_OK;
    fm_strbuf_add_char(g->text, '\n');
    fm_strbuf_add(g->text, line);
    return FM_OK;
}

static int by_entry(const void *a, const void *b)
{
    int64_t x = 0, y = 0;
    bool compact;

    parse_name(((const fm_dir_entry *)a)->name, &x, &compact);
    parse_name(((const fm_dir_entry *)b)->name, &y, &compact);
    return (x > y) - (x < y);
}

/* Removes the entries that a compact one, old enough, has made superfluous, the oldest first, so that those that are left
 * follow each other. A failure does no harm: they are removed another time. */
static void remove_expired(const fm_file_log *log, int64_t id)
{
    int64_t first_kept = id + 1 - log->entries_to_keep;

    if (log->interval > first_kept) return;
    int64_t compact = first_kept - first_kept % log->interval - 1;
    fm_arena *arena = fm_arena_new(0);
    fm_dir_entry *entries;
    size_t n;
    int64_t expired_ms = fm_clock_now_us(log->clock) / 1000 - log->cleanup_delay_ms;
    if (arena && list(log, arena, &entries, &n, NULL) == FM_OK) {
        if (n) qsort(entries, n, sizeof *entries, by_entry);
        for (size_t i = 0; i < n; i++) {
            int64_t entry;
            bool is_compact;
            if (!parse_name(entries[i].name, &entry, &is_compact) || entry >= compact) continue;
            fm_str path = fm_arena_printf(arena, "%s/%s", log->dir, entries[i].name.ptr);
            if (entries[i].stat.modified_ms > expired_ms || !path.ptr || fm_fs_remove(log->fs, path.ptr, NULL) != FM_OK) break;
        }
    }
    fm_arena_free(arena);
}

static fm_status add_entry(fm_file_log *log, int64_t id, fm_str lines, fm_file_log_keep keep,
                           void *keep_ctx, fm_error *err)
{
    fm_strbuf text = {0};
    fm_status st = FM_OK;
    fm_arena *arena = fm_arena_new(0);

    if (!arena) return fm_fail(err, FM_LIMIT, "FLOODMARK_LIMIT", "Out of memory.");
    fm_strbuf_add_c(&text, "v1");
    if (fm_file_log_is_compact(log, id) && log->latest >= 0) {
        gather g = {&text, keep, keep_ctx};
        st = read_entries(log, id - 1, gather_line, &g, err);
    }
    if (lines.len) {
        fm_strbuf_add_char(&text, '\n');
        fm_strbuf_add(&text, lines);
    }
    fm_str path = entry_path(log, id, arena);
    if (st == FM_OK && (!path.ptr || !fm_strbuf_ok(&text))) st = fm_no_memory(arena, err);
    if (st == FM_OK) st = fm_fs_write_atomic(log->fs, path.ptr, fm_strbuf_str(&text), false, err);
    if (st == FM_CONFLICT)
        fm_fail(err, st, "CONCURRENT_STREAM_LOG_UPDATE",
                "Entry %" PRId64
                " of the %s in %s was written by somebody else. Two runs must not share a "
                "checkpoint or an output folder: stop one of them.",
                id, log->what, log->dir);
    if (st == FM_OK) log->latest = id;
    if (st == FM_OK && log->remove_expired) remove_expired(log, id);
    fm_strbuf_fini(&text);
    fm_arena_free(arena);
    return fm_context(err, st, "writing the %s", log->what);
}

fm_status fm_file_log_add(fm_file_log *log, int64_t id, fm_str lines, fm_file_log_keep keep,
                          void *keep_ctx, fm_error *err)
{
    /* A log that begins late, since its folder was deleted under a query that goes on, begins with a
     * compact entry: then nothing before it is missed. Its interval has to divide id + 1. */
    if (log->latest < 0 && id > 0) log->interval = derive_interval(log->interval, id);
    /* Entries follow each other without holes: for those that had nothing to say there are empty ones. */
    while (log->latest >= 0 && log->latest + 1 < id)
        FM_TRY(add_entry(log, log->latest + 1, FM_STR(""), keep, keep_ctx, err));
    return add_entry(log, id, lines, keep, keep_ctx, err);
}
