/* stream/checkpoint.c: opening a checkpoint folder and deciding where to go on. */
#include "stream/checkpoint.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/seal.h"
#include "format/json.h"

static fm_str inside(fm_checkpoint *ck, fm_arena *arena, const char *name)
{
    return fm_arena_printf(arena, "%s/%s", ck->dir, name);
}

static fm_status parse_metadata(fm_checkpoint *ck, fm_str text, fm_arena *arena, fm_error *err)
{
    const fm_json *root, *id = NULL;

    if (fm_json_read(arena, text, &root, NULL) == FM_OK) id = fm_json_get(root, "id");
    if (!id || id->kind != FM_JSON_STRING || id->text.len != FM_UUID_TEXT_SIZE - 1 || !fm_seal_holds(text)) {
        return fm_fail(err, FM_CORRUPT, "FLOODMARK_CHECKPOINT_DAMAGED",
                       "'%s/metadata' is damaged: it should be {\"id\":\"<uuid>\"}, and a checksum, when it has one, has to fit. Restore it from a backup: it is the "
                       "identity by which sinks know what this query wrote.",
                       ck->dir);
    }
    memcpy(ck->query_id, id->text.ptr, FM_UUID_TEXT_SIZE - 1);
    ck->query_id[FM_UUID_TEXT_SIZE - 1] = 0;
    return FM_OK;
}

/* Whether a folder has anything in it but temporary files. */
static bool has_entries(fm_checkpoint *ck, const char *name, fm_arena *arena)
{
    fm_dir_entry *entries;
    size_t n = 0;
    fm_str dir = inside(ck, arena, name);

    if (!dir.ptr || fm_fs_list(ck->fs, dir.ptr, arena, &entries, &n, NULL) != FM_OK) return false;
    for (size_t i = 0; i < n; i++) {
        if (entries[i].name.ptr[0] != '.') return true;
    }
    return false;
}

/* A folder without metadata must be empty: what lies there belongs to something else, or lost its identity. */
static fm_status create_metadata(fm_checkpoint *ck, fm_str path, fm_arena *arena, fm_error *err)
{
    if (has_entries(ck, "offsets", arena)) {
        return fm_fail(err, FM_INVALID, "STREAMING_CHECKPOINT_MISSING_METADATA_FILE",
                       "The checkpoint folder '%s' has an offset log but no file 'metadata'. Restore it, or name a new "
                       "checkpointLocation.",
                       ck->dir);
    }
    if (has_entries(ck, "commits", arena) || has_entries(ck, "state", arena)) {
        return fm_fail(err, FM_INVALID, "STREAMING_CHECKPOINT_DIRECTORY_NOT_EMPTY",
                       "The checkpoint folder '%s' is that of no query, but has commits or state in it. Name a new "
                       "checkpointLocation.",
                       ck->dir);
    }
    fm_uuid(ck->query_id);
    char text[128];
    int n = snprintf(text, sizeof text, "{\"id\":\"%s\"" FM_SEAL_FIELD "}", ck->query_id);
    fm_seal(text, (size_t)n);
    return fm_fs_write_atomic(ck->fs, path.ptr, (fm_str){text, (size_t)n}, false, err);
}

static fm_status read_or_create_metadata(fm_checkpoint *ck, fm_arena *arena, fm_error *err)
{
    fm_str path = inside(ck, arena, "metadata"), text;

    if (!path.ptr) return fm_no_memory(arena, err);
    fm_status st = fm_fs_read_all(ck->fs, path.ptr, FM_LOG_ENTRY_SIZE_MAX, arena, &text, err);
    if (st == FM_OK) return parse_metadata(ck, text, arena, err);
    if (st != FM_NOT_FOUND) return st;
    return create_metadata(ck, path, arena, err);
}

fm_status fm_checkpoint_open(fm_checkpoint *ck, fm_fs *fs, const char *dir, fm_arena *arena,
                             fm_error *err)
{
    *ck = (fm_checkpoint){.fs = fs};
    ck->dir = fm_arena_str(arena, fm_str_c(dir)).ptr;
    fm_str lock = ck->dir ? inside(ck, arena, "floodmark.lock") : FM_STR("");
    if (!ck->dir || !lock.ptr) return fm_no_memory(arena, err);

    fm_status st = fm_fs_mkdirs(fs, dir, err);
    if (st == FM_OK) {
        st = fm_fs_lock_take(fs, lock.ptr, &ck->lock, err);
        if (st == FM_CONFLICT) {
            fm_fail(err, st, "FLOODMARK_CHECKPOINT_IN_USE",
                    "The checkpoint folder '%s' is in use by another run. Stop that one first, or name another "
                    "checkpointLocation.",
                    dir);
        }
    }
    if (st == FM_OK) st = read_or_create_metadata(ck, arena, err);
    if (st == FM_OK) st = fm_batch_log_open(&ck->offsets, fs, dir, "offsets", "offset log", arena, err);
    if (st == FM_OK) st = fm_batch_log_open(&ck->commits, fs, dir, "commits", "commit log", arena, err);
    if (st != FM_OK) fm_checkpoint_close(ck);
    return st;
}

void fm_checkpoint_close(fm_checkpoint *ck)
{
    fm_fs_unlock(ck->lock);
    ck->lock = NULL;
}

static int64_t max_i64(int64_t a, int64_t b) { return a > b ? a : b; }

fm_status fm_checkpoint_recover(fm_checkpoint *ck, fm_arena *arena, fm_recovery *out, fm_error *err)
{
    int64_t first, last, first_commit, commit;
    fm_commit committed;

    *out = (fm_recovery){0};
    FM_TRY(fm_batch_log_range(&ck->offsets, &first, &last, err));
    FM_TRY(fm_batch_log_range(&ck->commits, &first_commit, &commit, err));
    if (commit > last) {
        return fm_fail(err, FM_CORRUPT, "FLOODMARK_LOG_HOLE",
                       "Batch %" PRId64 " is committed, but the offset log in '%s' has no entry of it. Restore the file, or "
                       "start with a new checkpoint folder.",
                       commit, ck->offsets.dir);
    }
    if (last < 0) return FM_OK;
    FM_TRY(fm_offset_log_read(&ck->offsets, last, arena, &out->last, err));
    out->has_last = true;
    if (last > first) {
        FM_TRY(fm_offset_log_read(&ck->offsets, last - 1, arena, &out->before, err));
        out->has_before = true;
    } else if (last > 0 && commit < last) {
        return fm_fail(err, FM_CORRUPT, "FLOODMARK_LOG_HOLE",
                       "Batch %" PRId64 " has to run again, but the offset log has no entry %" PRId64
                       " that says where it began. Restore the file, or start with a new checkpoint folder.",
                       last, last - 1);
    }
    if (commit >= last) {
        FM_TRY(fm_commit_log_read(&ck->commits, last, arena, &committed, err));
        out->batch_id = last + 1;
        out->watermark_ms = max_i64(out->last.watermark_ms, committed.next_watermark_ms);
        out->no_data_next = committed.no_data_next;
        out->late_watermark_ms = out->last.watermark_ms;
    } else {
        out->batch_id = last;
        out->rerun = true;
        out->watermark_ms = out->last.watermark_ms;
        out->late_watermark_ms = out->has_before ? out->before.watermark_ms : 0;
    }
    return FM_OK;
}
