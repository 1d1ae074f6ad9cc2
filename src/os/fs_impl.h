/* os/fs_impl.h: what a file system implements; for the files of os/ only. Contracts: os/fs.h. */
#ifndef FM_OS_FS_IMPL_H
#define FM_OS_FS_IMPL_H

#include "os/fs.h"

typedef struct fm_fs_ops {
    fm_status (*open)(fm_fs *fs, const char *path, fm_open_mode mode, fm_file **out, fm_error *err);
    fm_status (*close)(fm_file *file, fm_error *err);
    fm_status (*read_at)(fm_file *file, int64_t offset, void *out, size_t size, size_t *got, fm_error *err);
    fm_status (*write)(fm_file *file, const void *bytes, size_t size, fm_error *err);
    fm_status (*sync)(fm_file *file, fm_error *err);
    fm_status (*file_stat)(fm_file *file, fm_file_stat *out, fm_error *err);
    /* follow: look at what a symbolic link names; else at the link, which is no folder and may dangle. */
    fm_status (*stat)(fm_fs *fs, const char *path, bool follow, fm_file_stat *out, fm_error *err);
    /* skip: NULL, or what leaves names of plain files out. */
    fm_status (*list)(fm_fs *fs, const char *path, bool follow, fm_fs_skip skip, void *skip_ctx, fm_arena *arena,
                      fm_dir_entry **out, size_t *n, fm_error *err);
    fm_status (*mkdir)(fm_fs *fs, const char *path, fm_error *err); /* one level; fine when it exists */
    fm_status (*rename)(fm_fs *fs, const char *from, const char *to, bool replace, fm_error *err);
    fm_status (*remove)(fm_fs *fs, const char *path, bool is_dir, fm_error *err);
    fm_status (*sync_dir)(fm_fs *fs, const char *path, fm_error *err);
    fm_status (*lock)(fm_fs *fs, const char *path, fm_fs_lock **out, fm_error *err);
    void (*unlock)(fm_fs_lock *lock);
    fm_status (*cwd)(fm_fs *fs, char *out, size_t size, fm_error *err); /* NULL: "/" */
    void (*free)(fm_fs *fs); /* NULL: shared */
    bool sync_waits;         /* see fm_fs_sync_waits */
} fm_fs_ops;

struct fm_fs {
    const fm_fs_ops *ops;
};
struct fm_file {
    fm_fs *fs;
};
struct fm_fs_lock {
    fm_fs *fs;
};

#endif
