/* table/delta/delta_log.h: the folder _delta_log: which files are there, and reading the lines of one.
 *
 *     00000000000000000010.json                        commit 10
 *     00000000000000000010.checkpoint.parquet          the state at 10, whole
 *     ...10.checkpoint.0000000001.0000000002.parquet   the same in parts
 *     ...10.checkpoint.<uuid>.json, .parquet           the same by the v2 spec: may name sidecar files
 *     ...10.<20 digits>.compacted.json                 commits 10 and on in one file
 *     _last_checkpoint, *.crc                          hints: not needed, since we list */
#ifndef FM_TABLE_DELTA_DELTA_LOG_H
#define FM_TABLE_DELTA_DELTA_LOG_H

#include "os/clock.h"
#include "os/fs.h"
#include "table/delta/delta_action.h"

enum { FM_DELTA_CHECKPOINT_PARTS_MAX = 100000, FM_DELTA_LOG_FILE_SIZE_MAX = 1 << 30 };

typedef struct fm_delta_log {
    fm_fs *fs;
    fm_clock *clock;
    fm_str root; /* the table's folder: absolute, no slash at its end; NUL-terminated */
    fm_str dir;  /* its _delta_log */
} fm_delta_log;

/* Where the log of a table is; path as users write it. Touches nothing. */
fm_status fm_delta_log_init(fm_delta_log *log, fm_fs *fs, fm_clock *clock, fm_str path, fm_arena *arena, fm_error *err);

typedef struct fm_delta_listed_commit {
    int64_t version, modified_ms;
} fm_delta_listed_commit;

/* A checkpoint of which every part is there. */
typedef struct fm_delta_listed_checkpoint {
    int64_t version;
    int64_t modified_ms;
    fm_str *names; /* [n] */
    int32_t n;
    bool is_json;
} fm_delta_listed_checkpoint;

typedef struct fm_delta_listed_compaction {
    int64_t from, to;
    fm_str name;
} fm_delta_listed_compaction;

typedef struct fm_delta_listing {
    fm_delta_listed_commit *commits;         /* [n_commits] ascending */
    int32_t n_commits;
    fm_delta_listed_checkpoint *checkpoints; /* [n_checkpoints] ascending; of two of one version any */
    int32_t n_checkpoints;
    fm_delta_listed_compaction *compactions; /* [n_compactions] ascending by from, the longest first */
    int32_t n_compactions;
} fm_delta_listing;

/* FM_NOT_FOUND: there is no such folder. */
fm_status fm_delta_log_list(const fm_delta_log *log, fm_arena *arena, fm_delta_listing *out, fm_error *err);

/* "<dir>/<20 digits>.json" in arena; no ptr when memory is out. */
fm_str fm_delta_commit_path(const fm_delta_log *log, fm_arena *arena, int64_t version);

/* Calls visit with each action of a file of lines, named relative to _delta_log. What it is given lives in arena.
 * errors  FM_NOT_FOUND; FM_CORRUPT naming file and line */
typedef fm_status (*fm_delta_visit)(void *ctx, const fm_delta_action *action, fm_error *err);
fm_status fm_delta_log_read(const fm_delta_log *log, fm_str name, fm_arena *arena, fm_delta_visit visit, void *ctx, fm_error *err);
fm_str fm_delta_commit_name(fm_arena *arena, int64_t version);

#endif
