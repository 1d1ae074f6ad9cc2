/* table/file_log.h: a log of files, as Spark's file source (sources/<i>) and file sink
 * (_spark_metadata) keep it.
 *
 * A folder of entries 0, 1, 2, ... Entry k is the file `k`: a line `v1`, then one line of JSON per
 * file, sealed (base/seal.h) when we wrote it. Every interval-th entry is compact: `k.compact` holds the lines of all entries before it
 * and its own, so that a reader needs the last compact entry and what follows. What a line says is
 * the caller's business.
 *
 * 1. An entry is written once, atomically and durably; it never changes.
 * 2. Entries before the last compact one may be gone. */
#ifndef FM_TABLE_FILE_LOG_H
#define FM_TABLE_FILE_LOG_H

#include "os/clock.h"
#include "os/fs.h"

typedef struct fm_file_log {
    fm_fs *fs;
    fm_clock *clock;          /* tells how old an entry is that may go */
    const char *dir;          /* in the arena given to open */
    const char *what;         /* "file source log", for messages */
    int64_t interval;         /* compact entries are those with (k + 1) % interval == 0 */
    int64_t latest;           /* highest entry; -1: empty */
    int64_t cleanup_delay_ms; /* an entry younger than this stays */
    int64_t entries_to_keep;  /* that many of the last ones stay */
    bool remove_expired;
} fm_file_log;

typedef struct fm_file_log_settings {
    int64_t
        compact_interval; /* spark.sql.streaming.file{Source,Sink}.log.compactInterval, >= 1; 10 */
    int64_t cleanup_delay_ms; /* ...cleanupDelay: 10 minutes */
    bool remove_expired;      /* ...deletion: true */
    int64_t entries_to_keep;  /* spark.sql.streaming.minBatchesToRetain: 100 */
} fm_file_log_settings;

#define FM_FILE_LOG_DEFAULTS                                                                       \
    {                                                                                              \
        10, 10 * 60 * 1000, true, 100                                                              \
    }

/* Opens the log in `dir`, which is made when make is set; a folder that is missing is an empty log.
 * The interval follows compact entries that are there already, by Spark's rule. dir and what are
 * copied. */
fm_status fm_file_log_open(fm_file_log *log, fm_fs *fs, fm_clock *clock, const char *dir,
                           const char *what, const fm_file_log_settings *settings, bool make,
                           fm_arena *arena, fm_error *err);

/* Looks again which entry is the latest, for a log that others write. */
fm_status fm_file_log_refresh(fm_file_log *log, fm_error *err);

/* Whether the latest entry is still there: FM_CORRUPT when somebody has removed it. */
fm_status fm_file_log_check_latest(const fm_file_log *log, fm_error *err);

/* Whether an entry is a compact one. */
bool fm_file_log_is_compact(const fm_file_log *log, int64_t id);

/* Calls visit for each line of all entries up to the latest, in order. The line lives during the
 * call. */
typedef fm_status (*fm_file_log_visit)(void *ctx, fm_str line, fm_error *err);
fm_status fm_file_log_read_all(const fm_file_log *log, fm_file_log_visit visit, void *ctx,
                               fm_error *err);
/* The lines of the file of entry id: for a compact one those of all before it, too. FM_NOT_FOUND;
 * FM_CORRUPT. */
fm_status fm_file_log_read_one(const fm_file_log *log, int64_t id, fm_file_log_visit visit,
                               void *ctx, fm_error *err);

/* Adds entry log->latest + 1 or a later one: entries between them are made, empty. lines: separated
 * by \n, none at the end; may be empty. A log that is empty may begin with any entry. A compact entry takes in the lines of the entries before it for which keep (NULL: all) says so.
 * Then removes what is expired, as well as that goes. errors  FM_CONFLICT,
 * CONCURRENT_STREAM_LOG_UPDATE: the entry exists; FM_CORRUPT; FM_UNAVAILABLE */
typedef bool (*fm_file_log_keep)(void *ctx, fm_str line);
fm_status fm_file_log_add(fm_file_log *log, int64_t id, fm_str lines, fm_file_log_keep keep,
                          void *keep_ctx, fm_error *err);

#endif
