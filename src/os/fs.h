/* os/fs.h: files. Every file floodmark touches goes through an fm_fs, so that tests can run on a
 * simulated one that loses what was not synced and fails at a chosen operation.
 *
 * Paths are UTF-8, '/'-separated, plain (no "file:" scheme: source and sink strip it first). Errors
 * name the path and what the system said:
 *   FM_NOT_FOUND no such file; FM_CONFLICT exists already; FM_UNAVAILABLE everything else (full disk,
 *   permissions: the message says which). */
#ifndef FM_OS_FS_H
#define FM_OS_FS_H

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

typedef struct fm_fs fm_fs;
typedef struct fm_file fm_file;

typedef struct fm_file_stat {
    int64_t size;        /* bytes */
    int64_t modified_ms; /* ms since 1970 UTC */
    bool is_dir;
    bool is_other; /* neither a file nor a folder: a device, a socket; a link, where links are not followed */
} fm_file_stat;

typedef struct fm_dir_entry {
    fm_str name; /* last path component; NUL-terminated */
    fm_file_stat stat;
} fm_dir_entry;

typedef enum fm_open_mode {
    FM_OPEN_READ,
    FM_OPEN_CREATE_NEW, /* write; FM_CONFLICT when it exists */
    FM_OPEN_TRUNCATE,   /* write; made or emptied */
    FM_OPEN_APPEND      /* write at the end; made when missing */
} fm_open_mode;

/* The real file system; shared, never freed. */
fm_fs *fm_fs_real(void);

/* A file system in memory. Its fail_at-th operation that writes, syncs, renames, links, makes or
 * removes (counted from 0), and every one after, fails with FM_UNAVAILABLE; fail_at < 0: never.
 * Reads do not count. The
 * fail_at-th, when it is a write, writes half. Any thread may use it. */
fm_fs *fm_fs_sim_new(int64_t fail_at);
/* As after a power cut: contents never synced and names whose folder was never synced are gone (a
 * rename is atomic: old or new). Operations work again and are counted anew; fail_at as above. */
void fm_fs_sim_restart(fm_fs *fs, int64_t fail_at);
/* A kill -9 instead: the page cache survives, so everything written stays. */
void fm_fs_sim_kill(fm_fs *fs, int64_t fail_at);
/* From now on writes fail as on a full disk once `bytes` more were written; < 0: never full. */
void fm_fs_sim_set_free(fm_fs *fs, int64_t bytes);
/* From its at-th operation on the disk is full: writes, new files and new folders fail, the first write having written
 * half. < 0: there is room. Reset by restart and kill, as is fail_once. */
void fm_fs_sim_fill(fm_fs *fs, int64_t at);
/* The at-th operation fails with FM_UNAVAILABLE, those after it work: a fault that passes. < 0: none. */
void fm_fs_sim_fail_once(fm_fs *fs, int64_t at);
/* From now on chance (from seed; 0: never) decides at a power cut what of the unsynced reached the disk:
 * of each file a prefix, perhaps with zeros at its end; of each name's changes the first few. */
void fm_fs_sim_tear(fm_fs *fs, uint64_t seed);
/* What fm_file_stat says of files written from now on; grows by 1 ms with each operation. */
void fm_fs_sim_set_time(fm_fs *fs, int64_t now_ms);
/* The first operation that failed by fail_at, fill or fail_once since the last restart: "rename a file to '/a/b'"; "": none. */
const char *fm_fs_sim_failed(const fm_fs *fs);
int64_t fm_fs_sim_operations(const fm_fs *fs); /* counted so far */
void fm_fs_free(fm_fs *fs);                    /* a simulated one; accepts NULL and the real one */

fm_status fm_file_open(fm_fs *fs, const char *path, fm_open_mode mode, fm_file **out,
                       fm_error *err);
fm_status fm_file_close(fm_file *file, fm_error *err); /* accepts NULL; does not sync */
/* Reads up to `size` bytes at `offset`; *got < size only at the end of the file. */
fm_status fm_file_read_at(fm_file *file, int64_t offset, void *out, size_t size, size_t *got,
                          fm_error *err);
/* Writes all of it, at the end of what was written so far. */
fm_status fm_file_write(fm_file *file, const void *bytes, size_t size, fm_error *err);
fm_status fm_file_sync(fm_file *file, fm_error *err);
fm_status fm_file_stat_of(fm_file *file, fm_file_stat *out, fm_error *err);

fm_status fm_fs_stat(fm_fs *fs, const char *path, fm_file_stat *out, fm_error *err);
/* Entries in no order, without "." and ".."; names and array live in `arena`. */
fm_status fm_fs_list(fm_fs *fs, const char *path, fm_arena *arena, fm_dir_entry **out, size_t *n,
                     fm_error *err);
/* The same, but links are entries of their own and not what they name: for those who go through a tree and remove what is in it. */
fm_status fm_fs_list_links(fm_fs *fs, const char *path, fm_arena *arena, fm_dir_entry **out, size_t *n, fm_error *err);
/* The same without the entries whose names `skip` knows, which are not looked at: what costs time in a large folder that was
 * listed before. Folders and links may be looked at and are never left out. */
typedef bool (*fm_fs_skip)(void *ctx, const char *name);
fm_status fm_fs_list_others(fm_fs *fs, const char *path, fm_fs_skip skip, void *ctx, fm_arena *arena, fm_dir_entry **out,
                            size_t *n, fm_error *err);
fm_status fm_fs_mkdirs(fm_fs *fs, const char *path, fm_error *err); /* fine when it exists */
fm_status fm_fs_rename(fm_fs *fs, const char *from, const char *to, fm_error *err); /* replaces */
/* Renames without replacing: FM_CONFLICT when `to` exists. */
fm_status fm_fs_rename_new(fm_fs *fs, const char *from, const char *to, fm_error *err);
fm_status fm_fs_remove(fm_fs *fs, const char *path, fm_error *err); /* a file or an empty folder */
fm_status fm_fs_remove_all(fm_fs *fs, const char *path, fm_error *err); /* missing is fine */
fm_status fm_fs_sync_dir(fm_fs *fs, const char *path, fm_error *err);

/* Whether a sync waits for a device, so that several at once take less time than one after the other. A simulated file
 * system's does not; there operations had better keep one order. */
bool fm_fs_sync_waits(const fm_fs *fs);

/* `path` from the root on, NUL-terminated in arena: a relative one stands behind the working folder (a simulated file
 * system's is "/"); ".", "..", and doubled and trailing slashes are taken out by their text, links are not followed. */
fm_status fm_fs_absolute(fm_fs *fs, fm_str path, fm_arena *arena, fm_str *out, fm_error *err);

/* An advisory lock on a file, made when missing; FM_CONFLICT when another process (or another handle)
 * holds it. Freed with fm_fs_unlock and when the process dies. */
typedef struct fm_fs_lock fm_fs_lock;
fm_status fm_fs_lock_take(fm_fs *fs, const char *path, fm_fs_lock **out, fm_error *err);
void fm_fs_unlock(fm_fs_lock *lock); /* accepts NULL */

/* Whole file into `arena`, NUL-terminated beyond len. FM_LIMIT when larger than size_max. */
fm_status fm_fs_read_all(fm_fs *fs, const char *path, size_t size_max, fm_arena *arena, fm_str *out,
                         fm_error *err);

/* Atomic and durable: writes `.<name>.<unique>.tmp` in the same folder, syncs it, renames it to path,
 * syncs the folder. replace=false: FM_CONFLICT when path exists, and then nothing is left behind. */
fm_status fm_fs_write_atomic(fm_fs *fs, const char *path, fm_str content, bool replace,
                             fm_error *err);

#endif
