/* os/fs.c: what is the same for every file system. */
#include "os/fs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "os/fs_impl.h"
#include "os/random.h"

enum {
    PATH_SIZE = 4096,        /* PATH_MAX of Linux, NUL included */
    READ_SIZE_FIRST = 4096 /* of a file that does not tell its size */
};

void fm_fs_free(fm_fs *fs)
{
    if (fs && fs->ops->free) fs->ops->free(fs);
}

fm_status fm_file_open(fm_fs *fs, const char *path, fm_open_mode mode, fm_file **out, fm_error *err)
{
    *out = NULL;
    return fs->ops->open(fs, path, mode, out, err);
}

fm_status fm_file_close(fm_file *file, fm_error *err) { return file ? file->fs->ops->close(file, err) : FM_OK; }

fm_status fm_file_read_at(fm_file *file, int64_t offset, void *out, size_t size, size_t *got, fm_error *err)
{
    return file->fs->ops->read_at(file, offset, out, size, got, err);
}

fm_status fm_file_write(fm_file *file, const void *bytes, size_t size, fm_error *err)
{
    return size ? file->fs->ops->write(file, bytes, size, err) : FM_OK;
}

fm_status fm_file_sync(fm_file *file, fm_error *err) { return file->fs->ops->sync(file, err); }

fm_status fm_file_stat_of(fm_file *file, fm_file_stat *out, fm_error *err)
{
    return file->fs->ops->file_stat(file, out, err);
}

fm_status fm_fs_stat(fm_fs *fs, const char *path, fm_file_stat *out, fm_error *err)
{
    return fs->ops->stat(fs, path, true, out, err);
}

fm_status fm_fs_list(fm_fs *fs, const char *path, fm_arena *arena, fm_dir_entry **out, size_t *n, fm_error *err)
{
    *out = NULL;
    *n = 0;
    return fs->ops->list(fs, path, true, NULL, NULL, arena, out, n, err);
}

fm_status fm_fs_list_links(fm_fs *fs, const char *path, fm_arena *arena, fm_dir_entry **out, size_t *n, fm_error *err)
{
    *out = NULL;
    *n = 0;
    return fs->ops->list(fs, path, false, NULL, NULL, arena, out, n, err);
}

fm_status fm_fs_list_others(fm_fs *fs, const char *path, fm_fs_skip skip, void *ctx, fm_arena *arena, fm_dir_entry **out,
                            size_t *n, fm_error *err)
{
    *out = NULL;
    *n = 0;
    return fs->ops->list(fs, path, true, skip, ctx, arena, out, n, err);
}

fm_status fm_fs_rename(fm_fs *fs, const char *from, const char *to, fm_error *err)
{
    return fs->ops->rename(fs, from, to, true, err);
}

fm_status fm_fs_rename_new(fm_fs *fs, const char *from, const char *to, fm_error *err)
{
    return fs->ops->rename(fs, from, to, false, err);
}

fm_status fm_fs_remove(fm_fs *fs, const char *path, fm_error *err)
{
    fm_file_stat st;

    FM_TRY(fs->ops->stat(fs, path, false, &st, err));
    return fs->ops->remove(fs, path, st.is_dir, err);
}

bool fm_fs_sync_waits(const fm_fs *fs) { return fs->ops->sync_waits; }

fm_status fm_fs_sync_dir(fm_fs *fs, const char *path, fm_error *err) { return fs->ops->sync_dir(fs, path, err); }

fm_status fm_fs_lock_take(fm_fs *fs, const char *path, fm_fs_lock **out, fm_error *err)
{
    *out = NULL;
    return fs->ops->lock(fs, path, out, err);
}

void fm_fs_unlock(fm_fs_lock *lock)
{
    if (lock) lock->fs->ops->unlock(lock);
}

static fm_status path_too_long(const char *path, fm_error *err)
{
    return fm_fail(err, FM_INVALID, "FLOODMARK_PATH_TOO_LONG", "The path '%.200s...' is longer than %d bytes.", path,
                   PATH_SIZE - 1);
}

/* The folder a path lies in: "." when it names none. */
static fm_status parent_of(const char *path, char out[PATH_SIZE], fm_error *err)
{
    size_t len = strlen(path);

    while (len > 1 && path[len - 1] == '/') len--;
    while (len > 0 && path[len - 1] != '/') len--;
    while (len > 1 && path[len - 1] == '/') len--;
    if (len >= PATH_SIZE) return path_too_long(path, err);
    if (len == 0) {
        memcpy(out, ".", 2);
        return FM_OK;
    }
    memcpy(out, path, len);
    out[len] = 0;
    return FM_OK;
}

/* Appends the parts of `path` to out, which holds an absolute path without a slash at its end ("" is the root). */
static void add_parts(fm_str path, fm_strbuf *out)
{
    for (size_t i = 0; i < path.len;) {
        size_t from = i;
        while (i < path.len && path.ptr[i] != '/') i++;
        fm_str part = {path.ptr + from, i - from};
        i++;
        if (part.len == 0 || fm_str_eq(part, FM_STR("."))) continue;
        if (fm_str_eq(part, FM_STR(".."))) {
            while (out->len && out->ptr[--out->len] != '/') {}
            continue;
        }
        fm_strbuf_add_char(out, '/');
        fm_strbuf_add(out, part);
    }
}

fm_status fm_fs_absolute(fm_fs *fs, fm_str path, fm_arena *arena, fm_str *out, fm_error *err)
{
    char cwd[PATH_SIZE] = "/";
    fm_strbuf text = {0};

    if (path.len == 0 || memchr(path.ptr, 0, path.len)) {
        return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_PATH", "A path is empty or holds a zero byte.");
    }
    if (path.ptr[0] != '/' && fs->ops->cwd) FM_TRY(fs->ops->cwd(fs, cwd, sizeof cwd, err));
    if (path.ptr[0] != '/') add_parts(fm_str_c(cwd), &text);
    add_parts(path, &text);
    *out = fm_arena_str(arena, text.len ? fm_strbuf_str(&text) : FM_STR("/"));
    bool ok = fm_strbuf_ok(&text) && out->ptr;
    fm_strbuf_fini(&text);
    return ok ? FM_OK : fm_no_memory(arena, err);
}

/* A folder that was made must survive a power cut as its files do, so each level is synced in its parent. Whoever made
 * the deepest level that exists may have died before that sync: it is made up for, as far as permissions allow. */
fm_status fm_fs_mkdirs(fm_fs *fs, const char *path, fm_error *err)
{
    char part[PATH_SIZE], parent[PATH_SIZE], unsure[PATH_SIZE] = "";
    size_t len = strlen(path);
    fm_file_stat st;

    if (len == 0) return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_PATH", "The path of a folder is empty.");
    if (len >= sizeof part) return path_too_long(path, err);
    while (len > 1 && path[len - 1] == '/') len--;
    for (size_t i = 1; i <= len; i++) {
        if (i < len && path[i] != '/') continue;
        memcpy(part, path, i);
        part[i] = 0;
        FM_TRY(parent_of(part, parent, err));
        if (fs->ops->stat(fs, part, true, &st, NULL) == FM_OK) {
            if (!st.is_dir)
                return fm_fail(err, FM_INVALID, "FLOODMARK_NOT_A_FOLDER", "'%s' is a file, where a folder is needed.", part);
            memcpy(unsure, parent, sizeof unsure);
            continue;
        }
        if (unsure[0]) fs->ops->sync_dir(fs, unsure, NULL);
        unsure[0] = 0;
        FM_TRY(fs->ops->mkdir(fs, part, err));
        FM_TRY(fs->ops->sync_dir(fs, parent, err));
    }
    if (unsure[0]) fs->ops->sync_dir(fs, unsure, NULL);
    return FM_OK;
}

enum { REMOVE_DEPTH_MAX = 64 };

/* Links are removed, never followed: what they name lies outside the tree. */
static fm_status remove_tree(fm_fs *fs, const char *path, bool is_dir, int depth, fm_error *err)
{
    fm_dir_entry *entries = NULL;
    size_t n = 0;

    if (!is_dir) return fs->ops->remove(fs, path, false, err);
    if (depth > REMOVE_DEPTH_MAX) return path_too_long(path, err);
    fm_arena *arena = fm_arena_new(0);
    if (!arena) return fm_no_memory(NULL, err);
    fm_status st = fs->ops->list(fs, path, false, NULL, NULL, arena, &entries, &n, err);
    for (size_t i = 0; st == FM_OK && i < n; i++) {
        fm_str child = fm_arena_printf(arena, "%s/%s", path, entries[i].name.ptr);
        st = child.ptr ? remove_tree(fs, child.ptr, entries[i].stat.is_dir, depth + 1, err) : fm_no_memory(arena, err);
    }
    if (st == FM_OK) st = fs->ops->remove(fs, path, true, err);
    fm_arena_free(arena);
    return st;
}

fm_status fm_fs_remove_all(fm_fs *fs, const char *path, fm_error *err)
{
    fm_file_stat st;
    fm_status found = fs->ops->stat(fs, path, false, &st, err);

    if (found == FM_NOT_FOUND) return FM_OK;
    if (found != FM_OK) return found;
    return remove_tree(fs, path, st.is_dir, 0, err);
}

static fm_status too_large(const char *path, size_t size_max, fm_error *err)
{
    return fm_fail(err, FM_LIMIT, "FLOODMARK_FILE_TOO_LARGE", "'%s' has more than %zu bytes, the most that is read of such "
                   "a file.", path, size_max);
}

/* The size a file tells is a hint: it may grow while it is read, and files of /proc say 0. */
static fm_status read_open_file(fm_file *file, const char *path, size_t size_max, fm_arena *arena, fm_str *out, fm_error *err)
{
    fm_file_stat st;
    size_t len = 0, got = 0;

    FM_TRY(fm_file_stat_of(file, &st, err));
    if (st.size > 0 && (uint64_t)st.size > size_max) return too_large(path, size_max, err);
    size_t cap = st.size > 0 ? (size_t)st.size : READ_SIZE_FIRST;
    char *bytes = fm_arena_alloc(arena, cap + 1, 1);
    if (!bytes) return fm_no_memory(arena, err);
    for (;;) {
        FM_TRY(fm_file_read_at(file, (int64_t)len, bytes + len, cap + 1 - len, &got, err));
        len += got;
        if (len > size_max) return too_large(path, size_max, err);
        if (len <= cap) break;
        char *more = fm_arena_alloc(arena, 2 * cap + 1, 1);
        if (!more) return fm_no_memory(arena, err);
        memcpy(more, bytes, len);
        bytes = more;
        cap *= 2;
    }
    bytes[len] = 0;
    *out = (fm_str){bytes, len};
    return FM_OK;
}

fm_status fm_fs_read_all(fm_fs *fs, const char *path, size_t size_max, fm_arena *arena, fm_str *out, fm_error *err)
{
    fm_file *file;

    FM_TRY(fm_file_open(fs, path, FM_OPEN_READ, &file, err));
    fm_status st = read_open_file(file, path, size_max, arena, out, err);
    fm_file_close(file, NULL);
    return st;
}

static fm_status write_and_sync(fm_fs *fs, const char *path, fm_str content, fm_error *err)
{
    fm_file *file;

    FM_TRY(fm_file_open(fs, path, FM_OPEN_CREATE_NEW, &file, err));
    fm_status st = fm_file_write(file, content.ptr, content.len, err);
    if (st == FM_OK) st = fm_file_sync(file, err);
    fm_status closed = fm_file_close(file, st == FM_OK ? err : NULL);
    return st == FM_OK ? closed : st;
}

fm_status fm_fs_write_atomic(fm_fs *fs, const char *path, fm_str content, bool replace, fm_error *err)
{
    char temporary[PATH_SIZE], parent[PATH_SIZE], uuid[FM_UUID_TEXT_SIZE];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

    FM_TRY(parent_of(path, parent, err));
    fm_uuid(uuid);
    int n = snprintf(temporary, sizeof temporary, "%.*s.%s.%s.tmp", (int)(name - path), path, name, uuid);
    if (n < 0 || (size_t)n >= sizeof temporary) return path_too_long(path, err);
    fm_status st = write_and_sync(fs, temporary, content, err);
    if (st == FM_OK) st = fs->ops->rename(fs, temporary, path, replace, err);
    if (st != FM_OK) {
        fs->ops->remove(fs, temporary, false, NULL); /* best effort: a leftover temporary file does no harm */
        return st;
    }
    return fs->ops->sync_dir(fs, parent, err);
}
