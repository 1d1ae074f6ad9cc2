/* state/state_table.c: a bucket: a hash table of entry numbers, and the entries in chunks.
 *
 *     slots   4 bytes each, open addressing, linear:   | piece of the hash | entry number + 1 |
 *     chunks  of 16, 32, 64, ... entries, up to 2 MB:  | key 16 | value | key 16 | value | ...
 *
 * Entries are appended, so a new group writes where the one before it did, only its slot is a random access; they are
 * never moved, so growing copies nothing but the slots; and they are walked in the order they were made. Against entries
 * inside of the slots that is one more load when a group is found again, but from a line that the piece of hash has told
 * to be the right one. A table is at most three quarters full.
 *
 * While a table fits the cache it is probed key by key; a large one in groups: first all slots are fetched, then all
 * entries that they point to, then the probes run over what has arrived. */
#include <stdlib.h>

#include "base/hash.h"
#include "state/state_impl.h"

enum {
    SLOTS_MIN = 8,
    GROUP = 32,                 /* keys probed together */
    LARGE_TABLE_SIZE = 64 << 10 /* bytes of slots and entries: beyond, they leave the second-level cache */
};

static fm_status no_memory(fm_error *err) { return fm_no_memory(NULL, err); }

/* ---- Making and freeing ------------------------------------------------------------------------------------ */

fm_state_bucket *fm_state_bucket_new(fm_state_part *p, int64_t time_us)
{
    fm_state_bucket *b = calloc(1, sizeof *b);

    if (!b) return NULL;
    b->time_us = time_us;
    b->memory_size = sizeof *b;
    p->live_size += sizeof *b;
    return b;
}

uint32_t fm_state_chunk_log2(uint32_t entry_size)
{
    uint32_t log2 = FM_CHUNK_FIRST_LOG2;

    while (log2 < FM_CHUNK_LAST_LOG2 && ((size_t)entry_size << (log2 + 1)) <= FM_CHUNK_SIZE_MAX) log2++;
    return log2;
}

/* The j of a chunk's first entry; how many it holds. */
static uint32_t chunk_first(const fm_state_part *p, uint32_t c)
{
    uint32_t growing = p->chunk_log2 - FM_CHUNK_FIRST_LOG2;

    return c < growing ? 1u << (FM_CHUNK_FIRST_LOG2 + c) : (c - growing + 1) << p->chunk_log2;
}

static size_t chunk_size(const fm_state_part *p, uint32_t c)
{
    uint32_t log2 = FM_CHUNK_FIRST_LOG2 + c;

    return (size_t)p->entry_size << (log2 < p->chunk_log2 ? log2 : p->chunk_log2);
}

static char *chunk_of(const fm_state_part *p, const fm_state_bucket *b, uint32_t c)
{
    return (char *)(b->bases[c] + (uintptr_t)chunk_first(p, c) * p->entry_size);
}

static void free_entries(fm_state_part *p, fm_state_bucket *b)
{
    const fm_state_codec *codec = &p->state->spec.codec;

    for (uint32_t i = 0; codec->fini && i < b->rows; i++) codec->fini(codec->ctx, fm_state_value(fm_state_entry(p, b, i)));
    for (uint32_t c = 0; c < b->n_chunks; c++) fm_state_piece_free(p, chunk_of(p, b, c), chunk_size(p, c));
    free(b->bases);
}

static void free_slots(fm_state_part *p, fm_state_bucket *b)
{
    size_t size = b->slots ? ((size_t)b->mask + 1) * sizeof *b->slots : 0;

    fm_state_piece_free(p, b->slots, size);
    b->memory_size -= size;
    b->slots = NULL;
    b->mask = 0;
    b->rows_max = 0;
}

static void free_marks(fm_state_bucket *b)
{
    free(b->touched);
    free(b->touched_list);
    b->touched = NULL;
    b->touched_list = NULL;
    b->n_touched = b->cap_touched = 0;
}

void fm_state_bucket_free(fm_state_part *p, fm_state_bucket *b)
{
    if (!b) return;
    free_entries(p, b);
    free_slots(p, b);
    free_marks(b);
    fm_arena_free(b->keys);
    p->live_size -= sizeof *b;
    free(b);
}

void fm_state_bucket_begin(fm_state_part *p, fm_state_bucket *b)
{
    if (b->old_rows == b->rows) {
        for (uint32_t k = 0; k < b->n_touched; k++) b->touched[b->touched_list[k]] = 0;
        b->n_touched = 0;
    } else {
        free_marks(b);
    }
    b->old_rows = b->rows;
}

/* ---- Entries ----------------------------------------------------------------------------------------------- */

static inline bool entry_is(const char *entry, const fm_key *k)
{
    fm_key e;

    memcpy(&e.u, entry, FM_ENTRY_KEY_SIZE);
    if (e.u.w.hi != k->u.w.hi) return false; /* of a long key: its length and its tag */
    if (fm_key_is_inline(k)) return e.u.w.lo == k->u.w.lo;
    return memcmp(e.u.out.ptr, k->u.out.ptr, k->u.out.len) == 0;
}

/* A long key's bytes, copied behind their hash. */
static const unsigned char *keep_long_key(fm_state_bucket *b, const fm_key *k)
{
    if (!b->keys) b->keys = fm_arena_new(0);
    unsigned char *copy = b->keys ? fm_arena_alloc(b->keys, sizeof k->hash + k->u.out.len, 8) : NULL;
    if (!copy) return NULL;
    memcpy(copy, &k->hash, sizeof k->hash);
    memcpy(copy + sizeof k->hash, k->u.out.ptr, k->u.out.len);
    return copy + sizeof k->hash;
}

static void count_memory(fm_state_bucket *b, size_t more)
{
    b->memory_size += more;
    b->is_large = b->memory_size > LARGE_TABLE_SIZE;
}

static bool add_chunk(fm_state_part *p, fm_state_bucket *b)
{
    size_t size = chunk_size(p, b->n_chunks);

    if (b->n_chunks == b->cap_chunks) {
        uint32_t cap = b->cap_chunks ? b->cap_chunks * 2 : 4;
        uintptr_t *more = realloc(b->bases, cap * sizeof *more);
        if (!more) return false;
        b->bases = more;
        b->cap_chunks = cap;
    }
    char *chunk = fm_state_piece_new(p, size, false);
    if (!chunk) return false;
    b->bases[b->n_chunks] = (uintptr_t)chunk - (uintptr_t)chunk_first(p, b->n_chunks) * p->entry_size;
    b->n_chunks++;
    count_memory(b, size);
    return true;
}

/* Appends an entry; its value is empty. NULL: out of memory. */
static char *append_entry(fm_state_part *p, fm_state_bucket *b, const fm_key *k)
{
    const fm_state_codec *codec = &p->state->spec.codec;
    fm_key kept = *k;

    if (fm_state_chunk(p, b->rows + (1u << FM_CHUNK_FIRST_LOG2)) == b->n_chunks && !add_chunk(p, b)) return NULL;
    if (!fm_key_is_inline(k) && !(kept.u.out.ptr = keep_long_key(b, k))) return NULL;
    char *entry = fm_state_entry(p, b, b->rows);
    memcpy(entry, &kept.u, FM_ENTRY_KEY_SIZE);
    for (uint32_t at = FM_ENTRY_KEY_SIZE; at < p->entry_size; at += 8) memset(entry + at, 0, 8); /* a few words: no call */
    if (codec->init) codec->init(codec->ctx, fm_state_value(entry));
    b->rows++;
    return entry;
}

/* ---- Slots ------------------------------------------------------------------------------------------------- */

/* The piece of a hash that stands in a slot, above the entry number. It shares no bit with the place in the table (the
 * lowest bits) and the shard (the highest six). */
static inline uint32_t tag_of(uint64_t hash, uint32_t mask) { return (uint32_t)(hash >> 26) & ~mask; }

static void fill_slots(const fm_state_part *p, fm_state_bucket *b)
{
    for (uint32_t i = 0; i < b->rows; i++) {
        uint64_t hash = fm_state_entry_key(fm_state_entry(p, b, i)).hash;
        uint32_t at = (uint32_t)hash & b->mask;
        while (b->slots[at]) at = (at + 1) & b->mask;
        b->slots[at] = tag_of(hash, b->mask) | (i + 1);
    }
}

static fm_status too_many(fm_error *err)
{
    return fm_fail(err, FM_LIMIT, "FLOODMARK_STATE_TOO_LARGE", "One window holds more than 2^30 groups. Group by less, or use shorter windows.");
}

static fm_status grow(fm_state_part *p, fm_state_bucket *b, fm_error *err)
{
    uint64_t slots = SLOTS_MIN, rows = b->rows > p->rows_hint ? b->rows : p->rows_hint;
    fm_state_bucket *before = p->rows_hint ? NULL : fm_state_bucket_nth(p, fm_state_bucket_rank(p, b->time_us) - 1);

    if (before && before->rows > rows) rows = before->rows; /* no window has been dropped yet: this one will be as large as the last */
    if (b->rows >= FM_BUCKET_ROWS_MAX) return too_many(err);
    if (b->slots) slots = ((uint64_t)b->mask + 1) * 2;
    else if (rows) slots = fm_pow2_at_least(rows * 4 / 3 + SLOTS_MIN);
    uint32_t *made = fm_state_piece_new(p, slots * sizeof *made, true);
    if (!made) return no_memory(err);
    free_slots(p, b);
    b->slots = made;
    b->mask = (uint32_t)(slots - 1);
    b->rows_max = (uint32_t)(slots / 4 * 3);
    fill_slots(p, b);
    count_memory(b, slots * sizeof *made);
    return FM_OK;
}

static inline void fetch_slot(const fm_state_bucket *b, const fm_key *k)
{
    if (b->slots) __builtin_prefetch(&b->slots[(uint32_t)k->hash & b->mask], 1, 3);
}

/* The slots have arrived: goes along them, as the probe will. */
static inline void fetch_entry(const fm_state_part *p, const fm_state_bucket *b, const fm_key *k)
{
    if (!b->slots) return;
    uint32_t mask = b->mask, at = (uint32_t)k->hash & mask, tag = tag_of(k->hash, mask), slot;
    while ((slot = b->slots[at]) && ((slot ^ tag) & ~mask)) at = (at + 1) & mask;
    if (slot) __builtin_prefetch(fm_state_entry(p, b, (slot & mask) - 1), 1, 3);
}

/* The place of a key, or the free one where it belongs. */
static inline uint32_t probe(const fm_state_part *p, const fm_state_bucket *b, const fm_key *k, char **entry)
{
    uint32_t mask = b->mask, at = (uint32_t)k->hash & mask, tag = tag_of(k->hash, mask);

    for (;;) {
        uint32_t slot = b->slots[at];
        if (slot == 0) {
            *entry = NULL;
            return at;
        }
        if (((slot ^ tag) & ~mask) == 0) {
            char *e = fm_state_entry(p, b, (slot & mask) - 1);
            if (entry_is(e, k)) {
                *entry = e;
                return at;
            }
        }
        at = (at + 1) & mask;
    }
}

/* Notes that an entry of before this micro-batch was touched. False: out of memory. */
static bool note_old(fm_state_part *p, fm_state_bucket *b, uint32_t i, uint8_t *touch)
{
    if (!b->touched) b->touched = calloc(b->old_rows, 1);
    if (!b->touched) return false;
    if (b->touched[i]) return true;
    if (b->n_touched == b->cap_touched) {
        uint32_t cap = b->cap_touched ? b->cap_touched * 2 : 64;
        uint32_t *more = realloc(b->touched_list, (size_t)cap * sizeof *more);
        if (!more) return false;
        b->touched_list = more;
        b->cap_touched = cap;
    }
    b->touched[i] = 1;
    b->touched_list[b->n_touched++] = i;
    p->rows_updated++;
    *touch = FM_STATE_FIRST;
    return true;
}

/* One key; false: out of memory, or too many. */
static inline bool upsert_one(fm_state_part *p, fm_state_bucket *b, const fm_key *k, char **value, uint8_t *touch, fm_error *err)
{
    char *entry;

    if (b->rows >= b->rows_max && grow(p, b, err) != FM_OK) return false;
    uint32_t at = probe(p, b, k, &entry);
    if (entry) {
        *value = fm_state_value(entry);
        *touch = FM_STATE_AGAIN;
        uint32_t i = (b->slots[at] & b->mask) - 1;
        if (i >= b->old_rows) return true;
        return note_old(p, b, i, touch) || (no_memory(err), false);
    }
    entry = append_entry(p, b, k);
    if (!entry) return no_memory(err), false;
    b->slots[at] = tag_of(k->hash, b->mask) | b->rows;
    p->rows_updated++;
    *value = fm_state_value(entry);
    *touch = FM_STATE_FRESH;
    return true;
}

static bool any_is_large(fm_state_bucket *const *buckets, int32_t n)
{
    bool large = false;

    for (int32_t i = 0; i < n; i++) large |= buckets[i]->is_large;
    return large;
}

fm_status fm_state_upsert(fm_state_part *p, fm_state_bucket *const *buckets, const fm_key *keys, int32_t n, char **values,
                          uint8_t *touches, fm_error *err)
{
    uint8_t touch;

    for (int32_t from = 0; from < n; from += GROUP) {
        int32_t to = n - from < GROUP ? n : from + GROUP;
        if (any_is_large(buckets + from, to - from)) {
            for (int32_t i = from; i < to; i++) fetch_slot(buckets[i], &keys[i]);
            for (int32_t i = from; i < to; i++) fetch_entry(p, buckets[i], &keys[i]);
        }
        for (int32_t i = from; i < to; i++) {
            if (!upsert_one(p, buckets[i], &keys[i], &values[i], touches ? &touches[i] : &touch, err)) return FM_LIMIT;
        }
    }
    return FM_OK;
}

fm_status fm_state_upsert_in(fm_state_part *p, fm_state_bucket *b, const fm_key *keys, int32_t n, char **values,
                             uint8_t *touches, fm_error *err)
{
    uint8_t touch;

    for (int32_t from = 0; from < n; from += GROUP) {
        int32_t to = n - from < GROUP ? n : from + GROUP;
        if (b->is_large) {
            for (int32_t i = from; i < to; i++) fetch_slot(b, &keys[i]);
            for (int32_t i = from; i < to; i++) fetch_entry(p, b, &keys[i]);
        }
        for (int32_t i = from; i < to; i++) {
            if (!upsert_one(p, b, &keys[i], &values[i], touches ? &touches[i] : &touch, err)) return FM_LIMIT;
        }
    }
    return FM_OK;
}

fm_status fm_state_append(fm_state_part *p, fm_state_bucket *b, const fm_key *key, char **value, fm_error *err)
{
    if (b->slots) free_slots(p, b);
    if (b->rows >= FM_BUCKET_ROWS_MAX) return too_many(err);
    char *entry = append_entry(p, b, key);
    if (!entry) return no_memory(err);
    p->rows_updated++;
    *value = fm_state_value(entry);
    return FM_OK;
}

fm_status fm_state_touch_at(fm_state_part *p, fm_state_bucket *b, int64_t i, fm_error *err)
{
    uint8_t touch;

    return i >= b->old_rows || note_old(p, b, (uint32_t)i, &touch) ? FM_OK : no_memory(err);
}

void fm_state_lookup(const fm_state_part *p, const fm_state_bucket *b, const fm_key *keys, int32_t n, char **values)
{
    for (int32_t from = 0; from < n; from += GROUP) {
        int32_t to = n - from < GROUP ? n : from + GROUP;
        if (b->is_large) {
            for (int32_t i = from; i < to; i++) fetch_slot(b, &keys[i]);
            for (int32_t i = from; i < to; i++) fetch_entry(p, b, &keys[i]);
        }
        for (int32_t i = from; i < to; i++) {
            char *entry = NULL;
            if (b->slots) probe(p, b, &keys[i], &entry);
            values[i] = entry ? fm_state_value(entry) : NULL;
        }
    }
}

/* ---- Walking ----------------------------------------------------------------------------------------------- */

char *fm_state_value_at(const fm_state_part *p, const fm_state_bucket *b, int64_t i)
{
    return fm_state_value(fm_state_entry(p, b, (uint32_t)i));
}

fm_key fm_state_key_at(const fm_state_part *p, const fm_state_bucket *b, int64_t i)
{
    return fm_state_entry_key(fm_state_entry(p, b, (uint32_t)i));
}

int64_t fm_state_index_of(const fm_state_part *p, const fm_state_bucket *b, const char *value)
{
    uintptr_t entry = (uintptr_t)value - FM_ENTRY_KEY_SIZE;

    for (uint32_t c = b->n_chunks; c-- > 0;) {
        if (entry - (uintptr_t)chunk_of(p, b, c) < chunk_size(p, c)) return (int64_t)((entry - b->bases[c]) / p->entry_size) - (1 << FM_CHUNK_FIRST_LOG2);
    }
    return -1;
}

bool fm_state_is_touched(const fm_state_bucket *b, int64_t i)
{
    return i >= b->old_rows || (b->touched && b->touched[i]);
}

/* The number of the at-th touched entry: the old ones in order of first touch, then the new ones. */
static uint32_t nth_touched(const fm_state_bucket *b, int64_t at)
{
    return at < b->n_touched ? b->touched_list[at] : (uint32_t)(at - b->n_touched + b->old_rows);
}

int32_t fm_state_scan(const fm_state_part *p, const fm_state_bucket *b, int64_t *at, bool touched_only, fm_key *keys,
                      char **values, int32_t n)
{
    int64_t end = touched_only ? (int64_t)b->n_touched + (b->rows - b->old_rows) : b->rows;
    int32_t got = 0;

    for (; got < n && *at < end; got++, (*at)++) {
        char *entry = fm_state_entry(p, b, touched_only ? nth_touched(b, *at) : (uint32_t)*at);
        if (keys) keys[got] = fm_state_entry_key(entry);
        if (values) values[got] = fm_state_value(entry);
    }
    return got;
}

/* ---- Removing some ----------------------------------------------------------------------------------------- */

/* What stays moves up, and the table is filled anew. Bytes of long keys that went stay until the bucket goes. */
fm_status fm_state_bucket_keep(fm_state_part *p, fm_state_bucket *b, const uint8_t *keep, fm_error *err)
{
    const fm_state_codec *codec = &p->state->spec.codec;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < b->rows; i++) {
        char *from = fm_state_entry(p, b, i), *to = fm_state_entry(p, b, kept);
        if (!keep[i]) {
            if (codec->fini) codec->fini(codec->ctx, fm_state_value(from));
            continue;
        }
        if (to != from) memcpy(to, from, p->entry_size);
        kept++;
    }
    if (kept == b->rows) return FM_OK;
    p->rows_removed += b->rows - kept;
    b->rows = kept;
    if (b->slots) {
        memset(b->slots, 0, ((size_t)b->mask + 1) * sizeof *b->slots);
        fill_slots(p, b);
    }
    free_marks(b);
    b->old_rows = 0;
    b->rewritten = true;
    return FM_OK;
}
