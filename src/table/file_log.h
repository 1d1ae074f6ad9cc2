/* table/file_log.h: a log of files that compacts itself: what the file sink keeps in <output>/_spark_metadata and the
 * file source in <checkpoint>/sources/<i>.
 *
 *     7               v1 {"path":"file:///out/a.json",...}          lines of entry 7 alone
 *     8               v1
 *     9.compact       v1 ...                                        all lines of 0..8, and those of entry 9
 *     10              v1 {"path":"file:///out/k.json",...}
 *
 * 1. An entry is written once, atomically and durably, and never changes; entries follow each other without holes.
 * 2. Entry k is a compact one iff (k + 1) % interval == 0: nothing before it is needed any more.
 * 3. Old entries go when a compact one follows, min_retain entries are kept behind it and they are older than the delay:
 *    another process may still be reading them.
 *
 * Rule: Spark, CompactibleFileStreamLog, text format version 1: "v1", then each line behind a newline. This module
 * knows lines, not what is in them. */
#ifndef FM_TABLE_FILE_LOG_H
#define FM_TABLE_FILE_LOG_H

#include "base/options.h"
#include "os/clock.h"
#include "os/fs.h"

typedef struct fm_file_log_conf {
    int64_t interval;          /* compact every so many entries; a log that exists may keep its own */
    int64_t cleanup_delay_us;  /* younger files are not deleted */
    int64_t min_retain;        /* entries behind the compact one that is kept */
    bool delete_expired;
} fm_file_log_conf;

/* From the session's settings <prefix>.compactInterval (10), .cleanupDelay (10 min), .deletion (true), and
 * spark.sql.streaming.minBatchesToRetain (100). prefix: "spark.sql.streaming.fileSink.log" or "...fileSource.log". */
fm_status fm_file_log_conf_read(const fm_options *session, const char *prefix, fm_file_log_conf *out,
                                fm_error *err);

typedef struct fm_file_log {
    fm_fs *fs;
    fm_clock *clock;
    const char *dir;   /* in the arena given to open */
    const char *what;  /* "file sink log", for messages */
    fm_file_log_conf conf; /* with the interval in force */
    int64_t last;      /* highest entry; -1: none */
} fm_file_log;

/* Lines of entries, each one JSON document without its newline. */
typedef struct fm_file_log_lines {
    fm_str *items;
    int64_t n;
} fm_file_log_lines;

/* Looks at the folder, which may be missing: then the log is empty, and the first append makes it. Readers
 * pass the defaults (conf NULL, clock NULL). dir and what are copied to arena or must outlive the log. */
fm_status fm_file_log_open(fm_file_log *log, fm_fs *fs, fm_clock *clock, const char *dir, const char *what,
                           const fm_file_log_conf *conf, fm_arena *arena, fm_error *err);

/* All lines up to and with entry `upto` (-1: the last), oldest first, in arena. Reads the newest compact entry at
 * or before it and what follows. A log whose old entries are deleted meanwhile is looked at again.
 * Errors: FM_CORRUPT: a hole, another version, an entry that is cut; FM_LIMIT. */
fm_status fm_file_log_read(fm_file_log *log, int64_t upto, fm_arena *arena, fm_file_log_lines *out,
                           fm_error *err);

/* What stands in the file of entry `id` alone: its own lines, or for a compact entry everything up to it.
 * FM_NOT_FOUND when there is no such entry. */
fm_status fm_file_log_read_entry(fm_file_log *log, int64_t id, fm_arena *arena, fm_file_log_lines *out,
                                 fm_error *err);

/* Writes entry id, which must be greater than last: last + 1, but for a log that is empty. keep, which may be NULL,
 * is asked for every line of a compact entry whether it is taken over. FM_CONFLICT when the entry exists:
 * somebody else writes this log. */
fm_status fm_file_log_append(fm_file_log *log, int64_t id, const fm_str *lines, int64_t n,
                             bool (*keep)(void *ctx, fm_str line), void *ctx, fm_error *err);

/* Deletes what invariant 3 lets go; done by append when it compacts. Best effort: what stays does no harm. */
void fm_file_log_clean(fm_file_log *log);

#endif
