/* stream/batch_log.c: numbered files in a folder. */
#include "stream/batch_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/time_text.h"

enum { PATH_SIZE = 4096 };

fm_status fm_batch_log_open(fm_batch_log *log, fm_fs *fs, const char *checkpoint, const char *name,
                            const char *what, fm_arena *arena, fm_error *err)
{
    fm_str dir = fm_arena_printf(arena, "%s/%s", checkpoint, name);

    if (!dir.ptr) return fm_no_memory(arena, err);
    *log = (fm_batch_log){.fs = fs, .dir = dir.ptr, .what = what};
    return fm_context(err, fm_fs_mkdirs(fs, dir.ptr, err), "opening the %s", what);
}

static int compare_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The numbers among the names of a folder, sorted. Temporary files and checksums of other tools are passed over. */
static fm_status list_ids(fm_batch_log *log, fm_arena *arena, int64_t **out, size_t *n, fm_error *err)
{
    fm_dir_entry *entries = NULL;
    size_t n_entries = 0;

    *n = 0;
    FM_TRY(fm_fs_list(log->fs, log->dir, arena, &entries, &n_entries, err));
    int64_t *ids = fm_arena_array(arena, int64_t, n_entries + 1);
    if (!ids) return fm_no_memory(arena, err);
    for (size_t i = 0; i < n_entries; i++) {
        int64_t id;
        fm_str name = entries[i].name;
        if (name.len == 0 || name.ptr[0] < '0' || name.ptr[0] > '9') continue;
        if (fm_str_to_i64(name, &id)) ids[(*n)++] = id;
    }
    qsort(ids, *n, sizeof *ids, compare_i64);
    *out = ids;
    return FM_OK;
}

fm_status fm_batch_log_range(fm_batch_log *log, int64_t *first, int64_t *last, fm_error *err)
{
    fm_arena *scratch = fm_arena_new(0);
    int64_t *ids = NULL;
    size_t n = 0;

    if (!scratch) return fm_no_memory(NULL, err);
    fm_status st = list_ids(log, scratch, &ids, &n, err);
    *first = *last = st == FM_OK && n ? ids[n - 1] : -1;
    for (size_t i = n; st == FM_OK && i > 1 && ids[i - 2] == ids[i - 1] - 1; i--) *first = ids[i - 2];
    fm_arena_free(scratch);
    return st;
}

static bool entry_path(const fm_batch_log *log, int64_t batch_id, char out[PATH_SIZE])
{
    int n = snprintf(out, PATH_SIZE, "%s/%" PRId64, log->dir, batch_id);
    return n > 0 && n < PATH_SIZE;
}

static fm_status path_too_long(const fm_batch_log *log, fm_error *err)
{
    return fm_fail(err, FM_INVALID, "FLOODMARK_PATH_TOO_LONG",
                   "The path of the checkpoint folder '%s' is too long.", log->dir);
}

fm_status fm_batch_log_read(fm_batch_log *log, int64_t batch_id, fm_arena *arena, fm_str *out,
                            fm_error *err)
{
    char path[PATH_SIZE];

    if (!entry_path(log, batch_id, path)) return path_too_long(log, err);
    fm_status st = fm_fs_read_all(log->fs, path, FM_LOG_ENTRY_SIZE_MAX, arena, out, err);
    return fm_context(err, st, "reading entry %" PRId64 " of the %s", batch_id, log->what);
}

fm_status fm_batch_log_add(fm_batch_log *log, int64_t batch_id, fm_str text, fm_error *err)
{
    char path[PATH_SIZE];

    if (!entry_path(log, batch_id, path)) return path_too_long(log, err);
    fm_status st = fm_fs_write_atomic(log->fs, path, text, false, err);
    if (st == FM_CONFLICT) {
        return fm_fail(err, st, "CONCURRENT_STREAM_LOG_UPDATE",
                       "Entry %" PRId64 " of the %s in '%s' exists already: another run of this query uses the "
                       "same checkpoint folder. Stop it, or give this query a folder of its own.",
                       batch_id, log->what, log->dir);
    }
    return fm_context(err, st, "writing entry %" PRId64 " of the %s", batch_id, log->what);
}

/* The lowest number there is. */
static bool find_first(fm_batch_log *log, int64_t *first)
{
    fm_arena *scratch = fm_arena_new(0);
    int64_t *ids = NULL;
    size_t n = 0;

    bool found = scratch && list_ids(log, scratch, &ids, &n, NULL) == FM_OK && n > 0;
    if (found) *first = ids[0];
    fm_arena_free(scratch);
    return found;
}

void fm_batch_log_purge(fm_batch_log *log, int64_t keep_from)
{
    char path[PATH_SIZE];
    fm_error ignored = FM_ERROR_INIT;

    if (log->purged == 0 && !find_first(log, &log->purged)) return;
    for (; log->purged < keep_from; log->purged++) {
        if (!entry_path(log, log->purged, path)) return;
        fm_status st = fm_fs_remove(log->fs, path, &ignored);
        if (st != FM_OK && st != FM_NOT_FOUND) return;
    }
}

bool fm_log_ms(const fm_json *value, int64_t *out)
{
    return fm_json_i64(value, out) && *out >= INT64_MIN / FM_US_PER_MS && *out <= INT64_MAX / FM_US_PER_MS;
}
