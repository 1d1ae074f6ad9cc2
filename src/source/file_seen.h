/* source/file_seen.h: the files that a stream has taken already.
 *
 * What is older than the newest file minus maxFileAge is forgotten, and then not taken again
 * because it is old. */
#ifndef FM_SOURCE_FILE_SEEN_H
#define FM_SOURCE_FILE_SEEN_H

#include "base/status.h"
#include "base/str.h"

typedef struct fm_seen_file {
    char *key; /* NULL: free */
    uint32_t len;
    int64_t modified_ms;
} fm_seen_file;

typedef struct fm_seen_files {
    fm_seen_file *slots; /* [cap], open addressing */
    size_t cap, n;
    int64_t max_age_ms; /* INT64_MAX: nothing is too old */
    int64_t latest_ms;  /* newest file seen */
    int64_t purged_ms;  /* older ones were forgotten */
} fm_seen_files;

void fm_seen_init(fm_seen_files *s, int64_t max_age_ms);
void fm_seen_fini(fm_seen_files *s);
/* False: out of memory. The key is copied. */
bool fm_seen_add(fm_seen_files *s, fm_str key, int64_t modified_ms);
bool fm_seen_is_new(const fm_seen_files *s, fm_str key, int64_t modified_ms);
bool fm_seen_has(const fm_seen_files *s, fm_str key);
/* Forgets what is too old. */
void fm_seen_purge(fm_seen_files *s);

#endif
