/* table/delta/delta_time.c: which version was the latest at a time.
 *
 * Rule  Delta protocol, "In-Commit Timestamps": commits since it was enabled say their time; the others have that of their file,
 *       lifted so that times never fall. */
#include "table/delta/delta_snapshot.h"

#include <inttypes.h>

#include "base/time_text.h"

/* The time a commit says itself, in its first line; -1: it does not. */
static fm_status time_in_commit(const fm_delta_log *log, int64_t version, int64_t *out, fm_error *err)
{
    fm_arena *scratch = fm_arena_new(0);
    fm_delta_action first;
    fm_str text;

    *out = -1;
    if (!scratch) return fm_no_memory(NULL, err);
    fm_str path = fm_delta_commit_path(log, scratch, version);
    fm_status st = path.ptr ? fm_fs_read_all(log->fs, path.ptr, FM_DELTA_LOG_FILE_SIZE_MAX, scratch, &text, err) : fm_no_memory(scratch, err);
    if (st == FM_OK) {
        const char *end = memchr(text.ptr, '\n', text.len);
        st = fm_delta_action_parse(scratch, (fm_str){text.ptr, end ? (size_t)(end - text.ptr) : text.len}, &first, err);
    }
    if (st == FM_OK && first.kind == FM_DELTA_COMMIT_INFO) *out = first.u.commit_info.in_commit_ms;
    fm_arena_free(scratch);
    return st;
}

fm_status fm_delta_commit_times(const fm_delta_log *log, fm_arena *arena, fm_delta_commit_time **out, int32_t *n, fm_error *err)
{
    fm_delta_listing l;
    int64_t last = INT64_MIN, said;
    bool in_commits = false;

    *n = 0;
    FM_TRY(fm_delta_log_list(log, arena, &l, err));
    *out = fm_arena_array(arena, fm_delta_commit_time, l.n_commits);
    if (!*out) return fm_no_memory(arena, err);
    if (l.n_commits) { /* commits with a time of their own come last: look from the end whether there are any */
        FM_TRY(time_in_commit(log, l.commits[l.n_commits - 1].version, &said, err));
        in_commits = said >= 0;
    }
    for (int32_t i = 0; i < l.n_commits; i++) {
        int64_t ms = l.commits[i].modified_ms;
        if (i && l.commits[i].version != l.commits[i - 1].version + 1) *n = 0; /* before a gap nothing can be loaded */
        if (in_commits) {
            FM_TRY(time_in_commit(log, l.commits[i].version, &said, err));
            if (said >= 0) ms = said;
        }
        if (last != INT64_MIN && ms <= last) ms = last + 1;
        last = ms;
        (*out)[(*n)++] = (fm_delta_commit_time){l.commits[i].version, ms};
    }
    return FM_OK;
}

fm_status fm_delta_version_at(const fm_delta_log *log, int64_t at_ms, bool clamp, int64_t *version, fm_error *err)
{
    fm_arena *arena = fm_arena_new(0);
    fm_delta_commit_time *times;
    char asked[FM_ISO_TEXT_SIZE], limit[FM_ISO_TEXT_SIZE];
    int32_t n, i;

    if (!arena) return fm_no_memory(NULL, err);
    fm_status st = fm_delta_commit_times(log, arena, &times, &n, err);
    if (st == FM_NOT_FOUND || (st == FM_OK && n == 0)) {
        st = fm_fail(err, FM_NOT_FOUND, "DELTA_TABLE_NOT_FOUND", "Delta table '%s' doesn't exist.", log->root.ptr);
    }
    fm_iso_ms(at_ms, asked);
    if (st == FM_OK && at_ms < times[0].timestamp_ms) {
        fm_iso_ms(times[0].timestamp_ms, limit);
        st = fm_fail(err, FM_INVALID, "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION",
                     "The provided timestamp (%s) is before the earliest version available to this table (%s). Please use a timestamp after it.",
                     asked, limit);
    } else if (st == FM_OK && at_ms > times[n - 1].timestamp_ms && !clamp) {
        fm_iso_ms(times[n - 1].timestamp_ms, limit);
        st = fm_fail(err, FM_INVALID, "DELTA_TIMESTAMP_GREATER_THAN_COMMIT",
                     "Timestamp %s is after the table's latest version (%s). Use a timestamp at or before it.", asked, limit);
    }
    if (st == FM_OK) {
        for (i = n - 1; i > 0 && times[i].timestamp_ms > at_ms; i--) {}
        *version = times[i].version;
    }
    fm_arena_free(arena);
    return st;
}
