/* sink/file_batch.c: INSERT into folders of files. */
#include "sink/file_batch.h"

#include <stdlib.h>

#include "os/random.h"
#include "sink/file_writer.h"
#include "sink/partition_path.h"

#define TEMPORARY "_temporary"

struct fm_file_batch {
    const fm_sink_env *env;
    fm_arena *arena;
    fm_file_batch_mode mode;
    fm_str dir, scope, staging; /* dir: the table's folder; staging below it */
    fm_file_target target;
    fm_file_writer writer;
    bool committed;
};

void fm_file_partition_folder(fm_str name, fm_str value, fm_strbuf *out)
{
    fm_partition_escape(name, out);
    fm_strbuf_add_char(out, '=');
    if (value.len) fm_partition_escape(value, out);
    else fm_strbuf_add_c(out, "__HIVE_DEFAULT_PARTITION__");
}

/* ---- Opening ----------------------------------------------------------------------------------------------------------- */

static fm_status open_batch(fm_file_batch *b, const fm_sink_spec *spec, fm_error *err)
{
    char uuid[FM_UUID_TEXT_SIZE];
    fm_file_stat stat;

    FM_TRY(fm_file_target_init(b->env, spec, fm_format_find(spec->format), &b->target, b->arena, err));
    b->dir = b->target.dir;
    fm_str log = fm_arena_printf(b->arena, "%s/_spark_metadata", b->dir.ptr);
    fm_uuid(uuid);
    b->staging = fm_arena_printf(b->arena, "%s/%s/%s", b->dir.ptr, TEMPORARY, uuid);
    if (!log.ptr || !b->staging.ptr) return fm_no_memory(b->arena, err);
    if (fm_fs_stat(b->env->fs, log.ptr, &stat, NULL) == FM_OK) {
        return fm_fail(err, FM_INVALID, "FLOODMARK_OUTPUT_OF_A_STREAM",
                       "The folder '%s' is written by a stream, which keeps a log of its files: readers would not see those of an INSERT. Write to another folder.", b->dir.ptr);
    }
    b->target.dir = b->staging;
    b->writer.target = &b->target;
    return fm_file_writer_begin(&b->writer, err);
}

fm_status fm_file_batch_open(const fm_sink_env *env, const fm_sink_spec *spec, fm_file_batch_mode mode, fm_str scope, fm_arena *arena, fm_file_batch **out,
                             fm_error *err)
{
    fm_file_batch *b = fm_arena_one(arena, fm_file_batch);

    *out = b;
    if (!b) return fm_no_memory(arena, err);
    b->env = env;
    b->arena = arena;
    b->mode = mode;
    b->scope = scope;
    return open_batch(b, spec, err);
}

fm_status fm_file_batch_write(fm_file_batch *b, const fm_batch *batch, fm_error *err) { return batch->rows ? fm_file_writer_write(&b->writer, batch, err) : FM_OK; }

/* ---- Committing ---------------------------------------------------------------------------------------------------------- */

/* Where a written file goes, and the folder of that. */
static fm_status final_path(const fm_file_batch *b, const fm_written_file *f, fm_str *path, fm_str *dir, fm_error *err)
{
    fm_str rest = {f->path.ptr + b->staging.len, f->path.len - b->staging.len}; /* begins with '/' */
    size_t slash = rest.len;

    while (slash > 0 && rest.ptr[slash] != '/') slash--;
    *path = fm_arena_printf(b->arena, "%s%.*s", b->dir.ptr, FM_STR_ARG(rest));
    *dir = fm_arena_printf(b->arena, "%s%.*s", b->dir.ptr, (int)slash, rest.ptr);
    return path->ptr && dir->ptr ? FM_OK : fm_no_memory(b->arena, err);
}

/* Removes the data in a folder, not the folder; names that begin with '_' or '.' are no data. */
static fm_status clear_folder(const fm_file_batch *b, const char *dir, fm_error *err)
{
    fm_dir_entry *entries;
    size_t n = 0;
    fm_status st = fm_fs_list(b->env->fs, dir, b->arena, &entries, &n, err);

    if (st == FM_NOT_FOUND) return FM_OK;
    for (size_t i = 0; st == FM_OK && i < n; i++) {
        fm_str name = entries[i].name;
        bool hidden = (name.ptr[0] == '_' || name.ptr[0] == '.') && !memchr(name.ptr, '=', name.len);
        fm_str path = fm_arena_printf(b->arena, "%s/%s", dir, name.ptr);
        if (!path.ptr) st = fm_no_memory(b->arena, err);
        if (st != FM_OK || (hidden && !fm_str_eq(name, FM_STR("_SUCCESS")))) continue;
        st = entries[i].stat.is_dir ? fm_fs_remove_all(b->env->fs, path.ptr, err) : fm_fs_remove(b->env->fs, path.ptr, err);
    }
    return st;
}

static fm_status clear_old(const fm_file_batch *b, fm_error *err)
{
    fm_str dir = fm_arena_printf(b->arena, "%s/%.*s", b->dir.ptr, FM_STR_ARG(b->scope)), path, folder;

    if (b->mode == FM_FILES_APPEND) return FM_OK;
    if (b->mode == FM_FILES_OVERWRITE) {
        if (!dir.ptr) return fm_no_memory(b->arena, err);
        if (dir.len > 1 && dir.ptr[dir.len - 1] == '/') dir = fm_arena_str(b->arena, (fm_str){dir.ptr, dir.len - 1});
        return dir.ptr ? clear_folder(b, dir.ptr, err) : fm_no_memory(b->arena, err);
    }
    for (int32_t i = 0; i < b->writer.n_files; i++) {
        FM_TRY(final_path(b, &b->writer.files[i], &path, &folder, err));
        FM_TRY(clear_folder(b, folder.ptr, err));
    }
    return FM_OK;
}

static void remove_staging(fm_file_batch *b)
{
    fm_str parent = fm_arena_printf(b->arena, "%s/%s", b->dir.ptr, TEMPORARY);

    if (!b->staging.ptr) return;
    fm_fs_remove_all(b->env->fs, b->staging.ptr, NULL);
    if (parent.ptr) fm_fs_remove(b->env->fs, parent.ptr, NULL); /* when no other INSERT is at work there */
}

static int by_dir(const void *a, const void *b) { return fm_str_cmp(*(const fm_str *)a, *(const fm_str *)b); }

fm_status fm_file_batch_commit(fm_file_batch *b, fm_error *err)
{
    fm_str path, success = fm_arena_printf(b->arena, "%s/_SUCCESS", b->dir.ptr);
    fm_fs *fs = b->env->fs;

    if (!success.ptr) return fm_no_memory(b->arena, err);
    FM_TRY(fm_file_writer_finish(&b->writer, err));
    FM_TRY(fm_fs_mkdirs(fs, b->dir.ptr, err));
    FM_TRY(clear_old(b, err));
    fm_str *dirs = fm_arena_array(b->arena, fm_str, b->writer.n_files);
    if (!dirs) return fm_no_memory(b->arena, err);
    for (int32_t i = 0; i < b->writer.n_files; i++) {
        FM_TRY(final_path(b, &b->writer.files[i], &path, &dirs[i], err));
        FM_TRY(fm_fs_mkdirs(fs, dirs[i].ptr, err));
        FM_TRY(fm_fs_rename(fs, b->writer.files[i].path.ptr, path.ptr, err));
    }
    qsort(dirs, (size_t)b->writer.n_files, sizeof *dirs, by_dir);
    for (int32_t i = 0; i < b->writer.n_files; i++) {
        if (i == 0 || !fm_str_eq(dirs[i], dirs[i - 1])) FM_TRY(fm_fs_sync_dir(fs, dirs[i].ptr, err));
    }
    b->committed = true;
    remove_staging(b);
    return fm_fs_write_atomic(fs, success.ptr, FM_STR(""), true, err);
}

void fm_file_batch_close(fm_file_batch *b)
{
    if (!b) return;
    if (!b->committed) {
        fm_file_writer_abort(&b->writer);
        remove_staging(b);
    }
    fm_file_writer_fini(&b->writer);
}
