/* state/state_impl.h: the inside of a store, for the files of state/ only. */
#ifndef FM_STATE_STATE_IMPL_H
#define FM_STATE_STATE_IMPL_H

#include "state/state_store.h"

enum {
    FM_CHUNK_FIRST = 16,  /* entries of the first chunk; the next ones hold 16, 32, 64, ... */
    FM_CHUNKS_MAX = 32
};

/* An entry: 16 bytes of key (the words of fm_key; a long key points into the bucket's arena), then the value. */
struct fm_state_bucket {
    int64_t time_us;
    uint32_t rows;
    uint32_t mask;          /* slots - 1; 0: no table yet */
    uint64_t *slots;        /* low half of the hash in the high half, entry number + 1 in the low half; 0: free */
    char *chunks[FM_CHUNKS_MAX];
    uint64_t *changed_bits; /* one per entry: upserted since fm_state_begin */
    uint32_t changed_cap;   /* words of changed_bits */
    uint32_t *changed;      /* entry numbers, in order of their first change */
    uint32_t n_changed, cap_changed;
    fm_arena *keys;         /* bytes of long keys; NULL until there is one */
    size_t memory_size;     /* of slots, chunks and lists */
    bool was_durable;       /* it stands in an earlier version */
};

struct fm_state {
    fm_state_spec spec;
    fm_arena *arena;        /* texts of spec */
    uint32_t entry_size;
    fm_state_bucket **buckets; /* sorted by time */
    int32_t n_buckets, cap_buckets;
    int64_t *dropped;       /* times of durable buckets that were dropped since fm_state_begin */
    int32_t n_dropped, cap_dropped;
    int64_t version;        /* of what is in memory, as of the last commit */
    int64_t snapshot_version; /* of the newest snapshot; -1: none */
    int64_t rows_updated, rows_removed;
    uint32_t last_rows;     /* of the bucket that was dropped last: what a new one may grow to */
};

static inline char *fm_state_entry(const fm_state *s, const fm_state_bucket *b, uint32_t i)
{
    int chunk = i < FM_CHUNK_FIRST ? 0 : 32 - __builtin_clz(i / FM_CHUNK_FIRST);
    uint32_t first = chunk == 0 ? 0 : (uint32_t)FM_CHUNK_FIRST << (chunk - 1);

    return b->chunks[chunk] + (size_t)(i - first) * s->entry_size;
}

static inline char *fm_state_value(char *entry) { return entry + 16; }
fm_key fm_state_entry_key(const char *entry);

/* An entry for a key, made when missing; not marked as changed. For loading. */
fm_status fm_state_put(fm_state *s, fm_state_bucket *b, fm_str key, char **value, fm_error *err);
fm_state_bucket *fm_state_bucket_find(const fm_state *s, int64_t time_us);
/* Takes the bucket out and frees it, without a note for the changelog. */
void fm_state_bucket_free(fm_state *s, fm_state_bucket *b);

/* state/state_file.c */
fm_status fm_state_load(fm_state *s, int64_t version, fm_error *err);

#endif
