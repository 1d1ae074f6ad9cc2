/* engine/checkpoint_text.c: a checkpoint folder, told to a person. */
#include "engine/checkpoint_text.h"

#include <inttypes.h>

#include "base/limits.h"
#include "base/time_text.h"
#include "format/json.h"
#include "stream/checkpoint.h"

static void add_time(fm_strbuf *out, int64_t ms)
{
    char text[FM_ISO_TEXT_SIZE];

    fm_strbuf_add(out, (fm_str){text, fm_iso_ms(ms, text)});
}

static void tell_watermark(fm_strbuf *out, int64_t ms)
{
    if (ms == 0) {
        fm_strbuf_add_c(out, "none yet");
        return;
    }
    add_time(out, ms);
}

static void tell_sources(const fm_offsets *o, fm_strbuf *out)
{
    for (int32_t i = 0; i < o->n_sources; i++) {
        if (o->ends[i].len) fm_strbuf_printf(out, "  source %d     read up to %.*s\n", i, FM_STR_ARG(o->ends[i]));
        else fm_strbuf_printf(out, "  source %d     nothing read yet\n", i);
    }
}

/* Bytes and files below a folder, a few levels deep. */
static void measure(fm_fs *fs, const char *dir, int depth, fm_arena *arena, int64_t *files, int64_t *bytes)
{
    fm_dir_entry *entries;
    size_t n;

    if (depth > 8 || fm_fs_list(fs, dir, arena, &entries, &n, NULL) != FM_OK) return;
    for (size_t i = 0; i < n; i++) {
        fm_str path = fm_arena_printf(arena, "%s/%s", dir, entries[i].name.ptr);
        if (!path.ptr) return;
        if (entries[i].stat.is_dir) {
            measure(fs, path.ptr, depth + 1, arena, files, bytes);
        } else {
            (*files)++;
            *bytes += entries[i].stat.size;
        }
    }
}

static void tell_state(fm_fs *fs, const char *dir, fm_arena *arena, fm_strbuf *out)
{
    fm_dir_entry *entries;
    size_t n;
    fm_str state = fm_arena_printf(arena, "%s/state", dir);

    if (!state.ptr || fm_fs_list(fs, state.ptr, arena, &entries, &n, NULL) != FM_OK) return;
    for (size_t i = 0; i < n; i++) {
        int64_t files = 0, bytes = 0;
        fm_str path = fm_arena_printf(arena, "%s/%s", state.ptr, entries[i].name.ptr);
        if (!entries[i].stat.is_dir || !path.ptr) continue;
        measure(fs, path.ptr, 0, arena, &files, &bytes);
        fm_strbuf_printf(out, "  operator %s   state in %" PRId64 " files, %" PRId64 " bytes\n", entries[i].name.ptr, files, bytes);
    }
}

/* " There are checkpoints in it: a, b.", when the folder is the parent of some. */
static void name_those_within(fm_fs *fs, const char *dir, fm_arena *arena, fm_strbuf *out)
{
    enum { NAMED_MAX = 10 };
    fm_dir_entry *entries;
    fm_file_stat stat;
    size_t n;
    int named = 0;

    if (fm_fs_list(fs, dir, arena, &entries, &n, NULL) != FM_OK) return;
    for (size_t i = 0; i < n && named <= NAMED_MAX; i++) {
        fm_str path = fm_arena_printf(arena, "%s/%s/metadata", dir, entries[i].name.ptr);
        if (!entries[i].stat.is_dir || !path.ptr || fm_fs_stat(fs, path.ptr, &stat, NULL) != FM_OK || stat.is_dir) continue;
        if (named == NAMED_MAX) fm_strbuf_add_c(out, ", ...");
        else fm_strbuf_printf(out, "%s%s", named ? ", " : " There are checkpoints in it: ", entries[i].name.ptr);
        named++;
    }
    if (named && named <= NAMED_MAX) fm_strbuf_add_char(out, '.');
}

static fm_status read_query_id(fm_fs *fs, const char *dir, fm_arena *arena, fm_str *out, fm_error *err)
{
    fm_str path = fm_arena_printf(arena, "%s/metadata", dir), text;
    const fm_json *root, *id;

    if (!path.ptr) return fm_no_memory(arena, err);
    if (fm_fs_read_all(fs, path.ptr, FM_LOG_ENTRY_SIZE_MAX, arena, &text, err) != FM_OK) {
        fm_strbuf within = {0};
        name_those_within(fs, dir, arena, &within);
        fm_status st = fm_fail(err, FM_NOT_FOUND, "FLOODMARK_NO_CHECKPOINT", "'%s' is no checkpoint folder: it has no file 'metadata'.%s", dir, within.ptr ? within.ptr : "");
        fm_strbuf_fini(&within);
        return st;
    }
    if (fm_json_read(arena, text, &root, NULL) != FM_OK || !(id = fm_json_get(root, "id")) || id->kind != FM_JSON_STRING) {
        return fm_fail(err, FM_CORRUPT, "FLOODMARK_CHECKPOINT_DAMAGED", "'%s' should be {\"id\":\"<uuid>\"}.", path.ptr);
    }
    *out = id->text;
    return FM_OK;
}

static fm_status tell(fm_fs *fs, const char *dir, fm_arena *arena, fm_strbuf *out, fm_error *err)
{
    fm_batch_log offsets = {.fs = fs, .what = "offset log"}, commits = {.fs = fs, .what = "commit log"};
    int64_t first = -1, last = -1, first_commit = -1, commit = -1;
    fm_commit committed;
    fm_offsets entry;
    fm_str id = {0}, a = fm_arena_printf(arena, "%s/offsets", dir), b = fm_arena_printf(arena, "%s/commits", dir);

    FM_TRY(read_query_id(fs, dir, arena, &id, err));
    if (!a.ptr || !b.ptr) return fm_no_memory(arena, err);
    offsets.dir = a.ptr;
    commits.dir = b.ptr;
    fm_strbuf_printf(out, "Checkpoint %s\n  query        %.*s\n", dir, FM_STR_ARG(id));
    fm_status st = fm_batch_log_range(&offsets, &first, &last, err);
    if (st == FM_NOT_FOUND || (st == FM_OK && last < 0)) {
        fm_strbuf_add_c(out, "  No micro-batch has begun yet.\n");
        return FM_OK;
    }
    FM_TRY(st);
    FM_TRY(fm_offset_log_read(&offsets, last, arena, &entry, err));
    st = fm_batch_log_range(&commits, &first_commit, &commit, err);
    if (st != FM_OK && st != FM_NOT_FOUND) return st;
    fm_strbuf_printf(out, "  begun        micro-batch %" PRId64 ", at ", last);
    add_time(out, entry.batch_time_ms);
    if (commit >= last) {
        FM_TRY(fm_commit_log_read(&commits, commit, arena, &committed, err));
        fm_strbuf_printf(out, "\n  committed    micro-batch %" PRId64 "\n  next         micro-batch %" PRId64 "\n", commit, commit + 1);
        fm_strbuf_add_c(out, "  watermark    ");
        tell_watermark(out, committed.next_watermark_ms);
    } else {
        if (commit >= 0) fm_strbuf_printf(out, "\n  committed    micro-batch %" PRId64, commit);
        fm_strbuf_printf(out, "\n  next         micro-batch %" PRId64 " runs again: it was begun and not committed\n", last);
        fm_strbuf_add_c(out, "  watermark    ");
        tell_watermark(out, entry.watermark_ms);
    }
    fm_strbuf_add_char(out, '\n');
    tell_sources(&entry, out);
    tell_state(fs, dir, arena, out);
    return FM_OK;
}

fm_status fm_checkpoint_text(fm_fs *fs, const char *dir, fm_strbuf *out, fm_error *err)
{
    fm_arena *arena = fm_arena_new(0);

    if (!arena) return fm_no_memory(NULL, err);
    fm_status st = tell(fs, dir, arena, out, err);
    fm_arena_free(arena);
    return st;
}
