/* state/state_store.h: the contract of state: what a stateful operator remembers from batch to batch.
 *
 * A store holds one operator's entries. It is cut into parts: ranges of the FM_VIRTUAL_SHARDS hash ranges, one part per
 * worker, who alone touches it. Two things are done to entries, and their layout follows them: they are upserted by
 * key, and they are dropped by time. So a part's entries lie in buckets, one per time (the end of a window, a slice, an
 * expiry); each bucket is a hash table of its own. A bucket is emitted and freed whole: eviction costs what is evicted.
 *
 *   store -> parts, by hash -> buckets, by time -> open-addressing table -> entry: { key, value: value_size bytes }
 *
 * An entry keeps its place while its bucket lives. A value is bytes the operator lays out (aggregate states side by
 * side). What a value points to belongs to the operator, who gives codec functions for files.
 *
 * Versions: batch N starts from version N and commits version N + 1: a changelog file of the entries and buckets it
 * changed, now and then a snapshot, each one file for all parts. Files know nothing of parts: a store opens with another
 * number of them. A version that is committed is durable. A batch that fails is not undone in memory: the query dies and
 * opens again.
 *
 * Two snapshots are kept; a damaged one falls back to the one before and replays the changelogs.
 *
 * Threads: a part belongs to one thread at a time. Functions that take the store belong to the coordinator, while no
 * worker is at it; fm_state_owner and fm_state_part_at may be called by all. */
#ifndef FM_STATE_STATE_STORE_H
#define FM_STATE_STATE_STORE_H

#include "column/key.h"
#include "os/fs.h"

typedef struct fm_state fm_state;
typedef struct fm_state_part fm_state_part;
typedef struct fm_state_bucket fm_state_bucket;

enum { FM_STATE_VALUE_SIZE_MAX = 1 << 16 };
#define FM_STATE_NO_TIME INT64_MAX
#define FM_STATE_NO_MARK INT64_MIN

typedef struct fm_state_codec {
    void *ctx;
    /* NULL functions: values are plain bytes, written as they are. */
    fm_status (*save)(void *ctx, const char *value, fm_strbuf *out, fm_error *err);
    fm_status (*load)(void *ctx, fm_str bytes, char *value, fm_error *err);
    void (*fini)(void *ctx, char *value);            /* frees what a value points to */
    size_t (*memory)(void *ctx, const char *value);  /* bytes it points to */
    void (*init)(void *ctx, char *value);            /* of a fresh entry (it is zeroed before); or NULL */
} fm_state_codec;

typedef struct fm_state_spec {
    fm_fs *fs;
    const char *dir;          /* <checkpoint>/state/<operator> */
    int32_t operator_id;
    int32_t parts;            /* 1..FM_VIRTUAL_SHARDS; 0 is 1 */
    uint32_t value_size;      /* bytes, a multiple of 8 */
    fm_str schema;            /* text of keys and values: "keys: ...; values: ..."; compared on open */
    fm_state_codec codec;
    bool in_memory;           /* no files: batch queries */
} fm_state_spec;

typedef struct fm_state_stats {
    int64_t rows;             /* entries */
    int64_t memory_size;      /* bytes */
    int64_t rows_updated, rows_removed; /* since fm_state_begin */
} fm_state_stats;

/* Opens at `version` (0: empty). FM_CORRUPT naming the file when no generation can give that version;
 * FM_INVALID, STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE / STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE naming what
 * changed. */
fm_status fm_state_open(const fm_state_spec *spec, int64_t version, fm_state **out, fm_error *err);
void fm_state_close(fm_state *state); /* accepts NULL */

int32_t fm_state_parts(const fm_state *state);
fm_state_part *fm_state_part_at(fm_state *state, int32_t part);
/* The part that owns keys of this hash. */
int32_t fm_state_owner(const fm_state *state, uint64_t hash);

/* A number the operator keeps with each version, such as the time up to which it has emitted; FM_STATE_NO_MARK at first. */
int64_t fm_state_mark(const fm_state *state);
void fm_state_set_mark(fm_state *state, int64_t mark);

/* The bucket of a time (any number that orders buckets; FM_STATE_NO_TIME: keys without one), made when missing. */
fm_status fm_state_bucket_at(fm_state_part *part, int64_t time_us, fm_state_bucket **out, fm_error *err);
/* NULL when there is none. */
fm_state_bucket *fm_state_bucket_find(const fm_state_part *part, int64_t time_us);
/* Existing buckets by time, the earliest first: i from 0; NULL at the end. Dropping one moves the later ones up. */
fm_state_bucket *fm_state_bucket_nth(fm_state_part *part, int32_t i);
/* How many buckets have a time < time_us: the i to start from. */
int32_t fm_state_bucket_rank(const fm_state_part *part, int64_t time_us);
int64_t fm_state_bucket_time(const fm_state_bucket *bucket);
int64_t fm_state_bucket_rows(const fm_state_bucket *bucket);
/* A number that the operator keeps with a bucket while it is in memory; 0 at first. */
uint32_t fm_state_bucket_tag(const fm_state_bucket *bucket);
void fm_state_bucket_set_tag(fm_state_bucket *bucket, uint32_t tag);
/* Removes the bucket and all its entries, noted in the changelog. */
void fm_state_bucket_drop(fm_state_part *part, fm_state_bucket *bucket);
/* Removes the entries i (in the order they were made) with keep[i] 0; the others move. keep: [rows]. */
fm_status fm_state_bucket_keep(fm_state_part *part, fm_state_bucket *bucket, const uint8_t *keep, fm_error *err);

/* What an upsert did to an entry: */
typedef enum fm_state_touch {
    FM_STATE_AGAIN, /* it was touched in this micro-batch before */
    FM_STATE_FIRST, /* for the first time in this micro-batch */
    FM_STATE_FRESH  /* it is new */
} fm_state_touch;

/* values[i]: the entry's value of keys[i] in buckets[i], made when missing. touches[n]: fm_state_touch, or NULL. Pointers
 * are good while the bucket lives. Entries are marked changed. Prefetches. */
fm_status fm_state_upsert(fm_state_part *part, fm_state_bucket *const *buckets, const fm_key *keys, int32_t n,
                          char **values, uint8_t *touches, fm_error *err);
/* As fm_state_upsert, all in one bucket. */
fm_status fm_state_upsert_in(fm_state_part *part, fm_state_bucket *bucket, const fm_key *keys, int32_t n,
                             char **values, uint8_t *touches, fm_error *err);
/* An entry of a key that is not in the bucket, as the caller knows: it has a table of its own. The bucket then has none until
 * the next upsert makes it again, and nothing can be looked up there. */
fm_status fm_state_append(fm_state_part *part, fm_state_bucket *bucket, const fm_key *key, char **value, fm_error *err);
/* The i-th entry is marked changed, as by an upsert of its key. */
fm_status fm_state_touch_at(fm_state_part *part, fm_state_bucket *bucket, int64_t i, fm_error *err);
/* values[i] NULL where there is none. Not marked. Many threads may look up at once while none writes. */
void fm_state_lookup(const fm_state_part *part, const fm_state_bucket *bucket, const fm_key *keys, int32_t n,
                     char **values);
/* The value of the i-th entry made; its key, which points into the store. */
char *fm_state_value_at(const fm_state_part *part, const fm_state_bucket *bucket, int64_t i);
fm_key fm_state_key_at(const fm_state_part *part, const fm_state_bucket *bucket, int64_t i);
/* Which entry made a value is of: the i of fm_state_value_at. */
int64_t fm_state_index_of(const fm_state_part *part, const fm_state_bucket *bucket, const char *value);
/* Whether the i-th entry was touched since fm_state_begin. */
bool fm_state_is_touched(const fm_state_bucket *bucket, int64_t i);
/* Walks the entries of a bucket: *at starts at 0; up to n at a time; returns how many. keys point into the store; keys,
 * values may be NULL. touched_only: those touched since fm_state_begin; else all, in the order they were made. */
int32_t fm_state_scan(const fm_state_part *part, const fm_state_bucket *bucket, int64_t *at, bool touched_only,
                      fm_key *keys, char **values, int32_t n);

/* A micro-batch begins: what is touched from now on goes into its changelog. */
void fm_state_begin(fm_state *state);
/* Threads that can encode the parts of a store at once: runs job(job_ctx, part) for each part, and returns when all are
 * done. NULL: the caller does it, one part after the other. */
typedef struct fm_state_crew {
    void *ctx;
    void (*run)(void *ctx, void (*job)(void *job_ctx, int32_t part), void *job_ctx);
} fm_state_crew;

/* Writes what the changelog of `version` holds, which is not durable yet: the half of fm_state_commit that needs processors.
 * crew: for large changelogs; or NULL. Nothing may be changed between this and the commit. */
fm_status fm_state_save(fm_state *state, int64_t version, const fm_state_crew *crew, fm_error *err);
/* Makes `version` durable: file written, unless fm_state_save did, synced, renamed, its folder synced. */
fm_status fm_state_commit(fm_state *state, int64_t version, fm_error *err);
/* Housekeeping: writes a snapshot when due, removes files no longer needed: versions from oldest_version on can still be
 * opened. Off the batch's path. */
fm_status fm_state_maintain(fm_state *state, int64_t oldest_version, fm_error *err);
void fm_state_get_stats(const fm_state *state, fm_state_stats *out);
void fm_state_part_stats(const fm_state_part *part, fm_state_stats *out);

#endif
