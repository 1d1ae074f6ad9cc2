/* state/state_impl.h: the inside of a store, for the files of state/ only. */
#ifndef FM_STATE_STATE_IMPL_H
#define FM_STATE_STATE_IMPL_H

#include "base/bits.h"
#include "base/hash.h"
#include "base/limits.h"
#include "os/pool.h"
#include "state/state_store.h"

enum {
    FM_ENTRY_KEY_SIZE = 16,      /* the words of a fm_key */
    FM_CHUNK_FIRST_LOG2 = 4,     /* chunks of entries hold 16, 32, 64, ..., and from the largest size on all the same */
    FM_CHUNK_LAST_LOG2 = 16,     /* entries of the largest at most, */
    FM_CHUNK_SIZE_MAX = 2 << 20, /* and bytes: a huge page */
    FM_BUCKET_ROWS_MAX = 1 << 30 /* entries: their number and a bit of tag fit a slot */
};

/* An entry: 16 bytes of key (the words of fm_key; a long key points into the bucket's arena, to its bytes, before which
 * its hash stands), then the value.
 *
 * A slot of the hash table is 4 bytes: the number of an entry + 1 in the low bits, as many as the table is large; above
 * them a piece of the entry's hash, so that few other entries are looked at in vain. 0: free. */
struct fm_state_bucket {
    int64_t time_us;
    uint32_t tag;                /* the operator's */
    uint32_t rows;
    uint32_t rows_max;           /* entries before the table grows */
    uint32_t mask;               /* slots - 1; 0: no table yet */
    uint32_t old_rows;           /* entries below this number were there at fm_state_begin: touching them is noted */
    uint32_t *slots;
    uintptr_t *bases;            /* [n_chunks] entry i is at bases[c] + (i + 16) * entry_size: see fm_state_chunk */
    uint32_t n_chunks, cap_chunks;
    uint8_t *touched;            /* [old_rows] 1: upserted since fm_state_begin; NULL: none was */
    uint32_t *touched_list;      /* their numbers, in order of first touch */
    uint32_t n_touched, cap_touched;
    fm_arena *keys;              /* bytes of long keys; NULL until there is one */
    size_t memory_size;          /* bytes of slots, chunks and lists */
    bool is_large;               /* beyond the cache: worth prefetching */
    bool was_durable;            /* it stands in an earlier version */
    bool rewritten;              /* entries were removed: the changelog drops it and writes it whole */
};

/* Memory that a dropped bucket gave back, for the next one. */
typedef struct fm_state_spare {
    void *at;
    size_t size;
    bool lent; /* to the system, which may have taken it: see fm_pages_lend */
} fm_state_spare;

struct fm_state_part {
    fm_state *state;
    int32_t index;
    uint32_t entry_size;
    uint32_t chunk_log2;         /* entries of a largest chunk */
    fm_state_bucket **buckets;   /* sorted by time */
    int32_t n_buckets, cap_buckets;
    int64_t *dropped;            /* times of durable buckets that were dropped since fm_state_begin */
    int32_t n_dropped, cap_dropped;
    int64_t rows_updated, rows_removed;
    uint32_t rows_hint;          /* what the bucket dropped last held: a new one's table starts that large */
    fm_pool pool;                /* of pieces up to FM_POOL_SIZE_MAX */
    fm_state_spare *spares;
    uint32_t n_spares, cap_spares;
    size_t spare_size, lent_size, live_size;
};

struct fm_state {
    fm_state_spec spec;
    fm_arena *arena;             /* texts of spec, parts */
    fm_state_part *parts;        /* [spec.parts] */
    uint8_t owner[FM_VIRTUAL_SHARDS];
    int64_t mark;
    int64_t version;             /* of what is in memory, as of the last commit */
    int64_t snapshot_version;    /* of the newest snapshot; 0: none */
    int64_t snapshot_size;       /* bytes of its file */
    int64_t changelog_size;      /* bytes of changelogs after it */
    int64_t changelogs;
    fm_file *saved;              /* the changelog of version `saved_version`, written and not yet durable; NULL: none */
    int64_t saved_version, saved_size;
};

/* The chunk that holds entry i, from j = i + 16. While chunks grow it follows from the highest bit of j: chunk c begins at
 * 16 << c. Those of the largest size, L, begin at its multiples. */
static inline uint32_t fm_state_chunk(const fm_state_part *p, uint32_t j)
{
    uint32_t large = j >> p->chunk_log2;

    return large ? p->chunk_log2 - FM_CHUNK_FIRST_LOG2 + large - 1 : 31 - FM_CHUNK_FIRST_LOG2 - (uint32_t)__builtin_clz(j);
}

/* Where entry i lies. */
static inline char *fm_state_entry(const fm_state_part *p, const fm_state_bucket *b, uint32_t i)
{
    uint32_t j = i + (1u << FM_CHUNK_FIRST_LOG2);

    return (char *)(b->bases[fm_state_chunk(p, j)] + (uintptr_t)j * p->entry_size);
}

static inline char *fm_state_value(char *entry) { return entry + FM_ENTRY_KEY_SIZE; }

static inline fm_key fm_state_entry_key(const char *entry)
{
    fm_key k;

    memcpy(&k.u, entry, FM_ENTRY_KEY_SIZE);
    if (fm_key_is_inline(&k)) k.hash = fm_hash_u128(k.u.w.lo, k.u.w.hi);
    else memcpy(&k.hash, k.u.out.ptr - sizeof k.hash, sizeof k.hash);
    return k;
}

/* ---- state_table.c ---- */

uint32_t fm_state_chunk_log2(uint32_t entry_size);

fm_state_bucket *fm_state_bucket_new(fm_state_part *p, int64_t time_us); /* NULL: out of memory */
void fm_state_bucket_free(fm_state_part *p, fm_state_bucket *b);        /* accepts NULL */
/* What was touched up to now is forgotten. */
void fm_state_bucket_begin(fm_state_part *p, fm_state_bucket *b);

/* ---- state_memory.c: pieces of memory, zeroed or as they come ---- */

void *fm_state_piece_new(fm_state_part *p, size_t size, bool zero);
void fm_state_piece_free(fm_state_part *p, void *piece, size_t size); /* accepts NULL */
void fm_state_pieces_close(fm_state_part *p);

/* ---- state_store.c ---- */

/* Takes the bucket out and frees it, without a note for the changelog. */
void fm_state_bucket_forget(fm_state_part *p, fm_state_bucket *b);

/* ---- state_block.c: entries as bytes and back ---- */

enum { FM_STATE_BLOCK_ROWS = 4096 };

/* Appends entries numbers[n] (NULL: first, first + 1, ...) of a bucket. */
fm_status fm_state_block_encode(const fm_state_part *p, const fm_state_bucket *b, const uint32_t *numbers, uint32_t first,
                                uint32_t n, fm_strbuf *out, fm_error *err);
/* Upserts the n entries of a block of a bucket's time into the parts that own them. FM_CORRUPT, without a file's name. */
fm_status fm_state_block_decode(fm_state *s, int64_t time_us, uint32_t n, fm_str bytes, fm_error *err);

/* ---- state_file.c ---- */

fm_status fm_state_load(fm_state *s, int64_t version, fm_error *err);

#endif
