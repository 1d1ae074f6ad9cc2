/* state/state_store.h: the contract of state: what a stateful operator remembers from batch to batch.
 *
 * One store holds one operator's entries of one virtual shard. Two things are done to it, and its layout follows
 * them: entries are upserted by key, and they are dropped by time. So entries lie in buckets, one per time (the end of a
 * window, an expiry); each bucket is a hash table of its own. A bucket is emitted and freed whole: eviction costs what
 * is evicted.
 *
 *   store -> buckets, by time -> open-addressing table -> entry: { key, value: value_size bytes }
 *
 * An entry keeps its place while its bucket lives: entries lie in chunks, the hash table holds their numbers.
 *
 * A value is bytes the operator lays out (aggregate states side by side). What a value points to belongs to the
 * operator, who gives codec functions for files.
 *
 * Versions: batch N starts from version N and commits version N + 1: a changelog file of the entries and
 * buckets it changed, now and then a snapshot. Open loads one version. A version that is committed is durable.
 * A batch that fails is not undone in memory: the query dies and opens again.
 *
 * Two snapshots are kept; a damaged one falls back to the one before and replays the changelogs. */
#ifndef FM_STATE_STATE_STORE_H
#define FM_STATE_STATE_STORE_H

#include "column/key.h"
#include "os/fs.h"

typedef struct fm_state fm_state;
typedef struct fm_state_bucket fm_state_bucket;

enum { FM_STATE_VALUE_SIZE_MAX = 1 << 16 };
#define FM_STATE_NO_TIME INT64_MAX

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
    const char *dir;          /* <checkpoint>/state/<operator>; shards are files below it */
    int32_t operator_id;
    int32_t shard;            /* 0..FM_VIRTUAL_SHARDS - 1 */
    uint32_t value_size;      /* bytes, a multiple of 8 */
    fm_str schema;            /* text of keys and values: names, types, functions; compared on open */
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

/* The bucket of a time (any number that orders buckets; FM_STATE_NO_TIME: keys without one), made when missing. */
fm_status fm_state_bucket_at(fm_state *state, int64_t time_us, fm_state_bucket **out, fm_error *err);
/* Existing buckets by time, the earliest first: i from 0; NULL at the end. Dropping one moves the later ones up. */
fm_state_bucket *fm_state_bucket_nth(fm_state *state, int32_t i);
int64_t fm_state_bucket_time(const fm_state_bucket *bucket);
int64_t fm_state_bucket_rows(const fm_state_bucket *bucket);
/* Removes the bucket and all its entries, noted in the changelog. */
void fm_state_bucket_drop(fm_state *state, fm_state_bucket *bucket);

/* values[i]: the entry's value of keys[i], made when missing (then fresh[i] = 1, else 0, if fresh is given). Pointers are
 * good while the bucket lives. Entries are marked changed. Prefetches. */
fm_status fm_state_upsert(fm_state *state, fm_state_bucket *bucket, const fm_key *keys, int32_t n,
                          char **values, uint8_t *fresh, fm_error *err);
/* values[i] NULL where there is none. Not marked. */
void fm_state_lookup(fm_state *state, fm_state_bucket *bucket, const fm_key *keys, int32_t n,
                     char **values);
/* Walks the entries of a bucket in the order they were made: *at starts at 0; up to n at a time; returns how many.
 * keys point into the store. changed_only: those upserted since the last commit. */
int32_t fm_state_scan(fm_state *state, fm_state_bucket *bucket, int64_t *at, bool changed_only,
                      fm_key *keys, char **values, int32_t n);

/* A micro-batch begins: what is changed from now on goes into its changelog. */
void fm_state_begin(fm_state *state);
/* Makes version + 1 durable (file written, synced; the caller syncs the folder once for all shards). */
fm_status fm_state_commit(fm_state *state, int64_t version, fm_error *err);
/* Housekeeping: writes a snapshot when due, removes files no longer needed. Off the batch's path. */
fm_status fm_state_maintain(fm_state *state, int64_t oldest_version, fm_error *err);
void fm_state_get_stats(const fm_state *state, fm_state_stats *out);

#endif
