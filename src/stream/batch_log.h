/* stream/batch_log.h: a folder of numbered text files, one per micro-batch: what the offset log and the commit
 * log have in common.
 *
 * 1. An entry is written once, atomically and durably; it never changes.
 * 2. Numbers have no holes, apart from the old end that purge cuts off; of what it removed right before a power cut, some
 *    may be there again. */
#ifndef FM_STREAM_BATCH_LOG_H
#define FM_STREAM_BATCH_LOG_H

#include "format/json.h"
#include "os/fs.h"

typedef struct fm_batch_log {
    fm_fs *fs;
    const char *dir;  /* in the arena given to open */
    const char *what; /* "offset log", for messages */
    int64_t purged;   /* entries below are known to be gone */
} fm_batch_log;

/* Makes the folder when missing. */
fm_status fm_batch_log_open(fm_batch_log *log, fm_fs *fs, const char *checkpoint, const char *name,
                            const char *what, fm_arena *arena, fm_error *err);
/* The highest number, and the lowest from which on none is missing; -1 and -1 when empty. */
fm_status fm_batch_log_range(fm_batch_log *log, int64_t *first, int64_t *last, fm_error *err);
/* FM_NOT_FOUND: no such entry. */
fm_status fm_batch_log_read(fm_batch_log *log, int64_t batch_id, fm_arena *arena, fm_str *out,
                            fm_error *err);
/* FM_CONFLICT, CONCURRENT_STREAM_LOG_UPDATE when the entry exists: another run of the query is at work. */
fm_status fm_batch_log_add(fm_batch_log *log, int64_t batch_id, fm_str text, fm_error *err);
/* Removes the entries below `keep_from`, oldest first. Best effort: what stays does no harm. */
void fm_batch_log_purge(fm_batch_log *log, int64_t keep_from);
/* A time of an entry; false: it is not a whole number of milliseconds that microseconds can say. */
bool fm_log_ms(const fm_json *value, int64_t *out);

#endif
