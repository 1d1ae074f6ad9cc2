/* source/file_list.h: which files a path stands for: folders, patterns, folders named k=v, the log
 * that a file sink left in a folder. */
#ifndef FM_SOURCE_FILE_LIST_H
#define FM_SOURCE_FILE_LIST_H

#include "base/options.h"
#include "os/clock.h"
#include "os/fs.h"

typedef struct fm_listed_file {
    fm_str path;  /* absolute, plain */
    int64_t size; /* bytes */
    int64_t modified_ms;
} fm_listed_file;

/* When the folders that a listing went through last changed; as long as they did not, nothing came or went. */
typedef struct fm_folder_marks {
    fm_listed_file *folders; /* [n] in the listing's arena; size is not set */
    size_t n, cap;
} fm_folder_marks;

typedef struct fm_file_listing {
    fm_fs *fs;
    fm_clock *clock;
    fm_str path; /* absolute; may hold a pattern */
    bool is_glob;
    bool must_match;    /* a pattern that nothing matches is an error, as for batches; a stream waits for files to come */
    bool recursive;     /* recursiveFileLookup */
    bool obey_sink_log; /* a folder with _spark_metadata holds what that says */
    fm_str name_filter; /* pathGlobFilter; empty: all */
    int64_t after_ms,
        before_ms; /* modifiedAfter, modifiedBefore: exclusive bounds; INT64_MIN, INT64_MAX: none */
    /* Files that may be left out, since they are known: spares a look at each. NULL: none. */
    bool (*known)(void *ctx, fm_str path);
    void *known_ctx;
    fm_folder_marks *marks; /* or NULL: where to put the folders' times; empty before */
} fm_file_listing;

/* Names that are passed over, and those of folders of partitions: k=v. */
bool fm_file_is_hidden(fm_str name);
bool fm_file_is_partition_folder(fm_str name);

/* Files in order of modification time, then path; latest_first turns the time around. Hidden names
 * (_..., ....) are left out. *has_sink_log: the listing came from a log. FM_NOT_FOUND: the path is
 * not there, or must match and does not. Folders' pipes, devices and sockets are no files of theirs; named, they are refused. */
fm_status fm_file_list(const fm_file_listing *l, bool latest_first, fm_arena *arena,
                       fm_listed_file **out, size_t *n, bool *has_sink_log, fm_error *err);

/* k=v components of a path below base, in order: names and unescaped values (ptr NULL for Hive's
 * null). */
typedef struct fm_path_value {
    fm_str name, value;
} fm_path_value;
fm_status fm_path_values(fm_str path, fm_str base, fm_arena *arena, fm_path_value **out, int32_t *n,
                         fm_error *err);

#endif
