/* state/state_store.c: buckets, tables, entries. */
#include "state/state_store.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/hash.h"
#include "state/state_impl.h"

enum {
    PREFETCH_TABLE_SIZE = 1 << 20, /* bytes of slots: smaller tables stay in the cache by themselves */
    HUGE_PAGE_SIZE = 2 << 20,
    GROUP = 16                     /* keys probed together */
};

/* ---- Memory ------------------------------------------------------------------------------------------------ */

/* Large pieces ask for huge pages: they save a TLB miss a probe. */
static void *alloc_pages(size_t size)
{
    if (size < HUGE_PAGE_SIZE) return calloc(1, size);
    void *p = aligned_alloc(HUGE_PAGE_SIZE, (size + HUGE_PAGE_SIZE - 1) & ~(size_t)(HUGE_PAGE_SIZE - 1));
    if (!p) return NULL;
    madvise(p, size, MADV_HUGEPAGE);
    return memset(p, 0, size);
}

static fm_status no_memory(fm_error *err) { return fm_no_memory(NULL, err); }

/* ---- Opening and closing ----------------------------------------------------------------------------------- */

fm_status fm_state_open(const fm_state_spec *spec, int64_t version, fm_state **out, fm_error *err)
{
    fm_arena *arena = fm_arena_new(0);
    fm_state *s = arena ? fm_arena_one(arena, fm_state) : NULL;

    fm_assert(spec->value_size % 8 == 0 && spec->value_size <= FM_STATE_VALUE_SIZE_MAX);
    *out = NULL;
    if (!s) {
        fm_arena_free(arena);
        return no_memory(err);
    }
    s->arena = arena;
    s->spec = *spec;
    s->spec.dir = spec->dir ? fm_arena_str(arena, fm_str_c(spec->dir)).ptr : NULL;
    s->spec.schema = fm_arena_str(arena, spec->schema);
    s->entry_size = 16 + spec->value_size;
    s->version = version;
    s->snapshot_version = -1;
    fm_status st = spec->in_memory ? FM_OK : fm_state_load(s, version, err);
    if (st == FM_OK) *out = s;
    else fm_state_close(s);
    return st;
}

static void free_bucket(fm_state *s, fm_state_bucket *b)
{
    for (uint32_t i = 0; s->spec.codec.fini && i < b->rows; i++) {
        s->spec.codec.fini(s->spec.codec.ctx, fm_state_value(fm_state_entry(s, b, i)));
    }
    for (int c = 0; c < FM_CHUNKS_MAX; c++) free(b->chunks[c]);
    free(b->slots);
    free(b->changed_bits);
    free(b->changed);
    fm_arena_free(b->keys);
    free(b);
}

void fm_state_close(fm_state *s)
{
    if (!s) return;
    for (int32_t i = 0; i < s->n_buckets; i++) free_bucket(s, s->buckets[i]);
    free(s->buckets);
    free(s->dropped);
    fm_arena_free(s->arena);
}

/* ---- Buckets ----------------------------------------------------------------------------------------------- */

/* Index of the first bucket with a time >= time_us. */
static int32_t bucket_index(const fm_state *s, int64_t time_us)
{
    int32_t low = 0, high = s->n_buckets;

    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (s->buckets[middle]->time_us < time_us) low = middle + 1;
        else high = middle;
    }
    return low;
}

fm_state_bucket *fm_state_bucket_find(const fm_state *s, int64_t time_us)
{
    int32_t i = bucket_index(s, time_us);

    return i < s->n_buckets && s->buckets[i]->time_us == time_us ? s->buckets[i] : NULL;
}

fm_status fm_state_bucket_at(fm_state *s, int64_t time_us, fm_state_bucket **out, fm_error *err)
{
    int32_t i = bucket_index(s, time_us);

    if (i < s->n_buckets && s->buckets[i]->time_us == time_us) {
        *out = s->buckets[i];
        return FM_OK;
    }
    if (s->n_buckets == s->cap_buckets) {
        int32_t cap = s->cap_buckets ? s->cap_buckets * 2 : 16;
        fm_state_bucket **more = realloc(s->buckets, (size_t)cap * sizeof *more);
        if (!more) return no_memory(err);
        s->buckets = more;
        s->cap_buckets = cap;
    }
    fm_state_bucket *b = calloc(1, sizeof *b);
    if (!b) return no_memory(err);
    b->time_us = time_us;
    b->memory_size = sizeof *b;
    memmove(s->buckets + i + 1, s->buckets + i, (size_t)(s->n_buckets - i) * sizeof *s->buckets);
    s->buckets[i] = b;
    s->n_buckets++;
    *out = b;
    return FM_OK;
}

fm_state_bucket *fm_state_bucket_nth(fm_state *s, int32_t i) { return i < s->n_buckets ? s->buckets[i] : NULL; }
int64_t fm_state_bucket_time(const fm_state_bucket *b) { return b->time_us; }
int64_t fm_state_bucket_rows(const fm_state_bucket *b) { return b->rows; }

void fm_state_bucket_free(fm_state *s, fm_state_bucket *b)
{
    int32_t i = bucket_index(s, b->time_us);

    memmove(s->buckets + i, s->buckets + i + 1, (size_t)(s->n_buckets - i - 1) * sizeof *s->buckets);
    s->n_buckets--;
    free_bucket(s, b);
}

void fm_state_bucket_drop(fm_state *s, fm_state_bucket *b)
{
    s->rows_removed += b->rows;
    s->last_rows = b->rows;
    if (b->was_durable && !s->spec.in_memory) {
        if (s->n_dropped == s->cap_dropped) {
            int32_t cap = s->cap_dropped ? s->cap_dropped * 2 : 16;
            int64_t *more = realloc(s->dropped, (size_t)cap * sizeof *more);
            fm_assert(more); /* a few bytes per closed window */
            s->dropped = more;
            s->cap_dropped = cap;
        }
        s->dropped[s->n_dropped++] = b->time_us;
    }
    fm_state_bucket_free(s, b);
}

/* ---- Entries ----------------------------------------------------------------------------------------------- */

fm_key fm_state_entry_key(const char *entry)
{
    fm_key k;

    memcpy(&k.u, entry, 16);
    k.hash = fm_key_is_inline(&k) ? fm_hash_u128(k.u.w.lo, k.u.w.hi) : fm_hash_bytes(k.u.out.ptr, k.u.out.len);
    return k;
}

static bool entry_is(const char *entry, const fm_key *k)
{
    uint64_t lo, hi;

    memcpy(&lo, entry, 8);
    memcpy(&hi, entry + 8, 8);
    if (fm_key_is_inline(k)) return lo == k->u.w.lo && hi == k->u.w.hi;
    if ((hi >> 56) != FM_KEY_TAG_OUT || (uint32_t)hi != k->u.out.len) return false;
    return memcmp((const char *)(uintptr_t)lo, k->u.out.ptr, k->u.out.len) == 0;
}

static fm_status grow_table(fm_state_bucket *b, uint32_t slots, fm_error *err)
{
    uint64_t *made = alloc_pages((size_t)slots * sizeof *made);
    uint32_t mask = slots - 1;

    if (!made) return no_memory(err);
    for (uint32_t i = 0; b->slots && i <= b->mask; i++) {
        uint64_t slot = b->slots[i];
        if (!slot) continue;
        uint32_t at = (uint32_t)(slot >> 32) & mask;
        while (made[at]) at = (at + 1) & mask;
        made[at] = slot;
    }
    b->memory_size += ((size_t)slots - (b->slots ? (size_t)b->mask + 1 : 0)) * sizeof *made;
    free(b->slots);
    b->slots = made;
    b->mask = mask;
    return FM_OK;
}

/* Room for one more entry; *entry is its place, zeroed. */
static fm_status new_entry(fm_state *s, fm_state_bucket *b, char **entry, fm_error *err)
{
    uint32_t i = b->rows;
    int chunk = i < FM_CHUNK_FIRST ? 0 : 32 - __builtin_clz(i / FM_CHUNK_FIRST);

    if (i >= UINT32_MAX / 4) return fm_fail(err, FM_LIMIT, "FLOODMARK_STATE_TOO_LARGE", "One window holds more than 2^30 groups.");
    if (!b->chunks[chunk]) {
        uint32_t n = chunk == 0 ? FM_CHUNK_FIRST : (uint32_t)FM_CHUNK_FIRST << (chunk - 1);
        b->chunks[chunk] = alloc_pages((size_t)n * s->entry_size);
        if (!b->chunks[chunk]) return no_memory(err);
        b->memory_size += (size_t)n * s->entry_size;
    }
    b->rows++;
    *entry = fm_state_entry(s, b, i);
    return FM_OK;
}

static fm_status insert(fm_state *s, fm_state_bucket *b, const fm_key *k, uint32_t at, char **entry, fm_error *err)
{
    fm_key kept = *k;

    if (!fm_key_is_inline(k)) {
        if (!b->keys) b->keys = fm_arena_new(0);
        unsigned char *copy = b->keys ? fm_arena_alloc(b->keys, k->u.out.len, 1) : NULL;
        if (!copy) return no_memory(err);
        memcpy(copy, k->u.out.ptr, k->u.out.len);
        kept.u.out.ptr = copy;
    }
    FM_TRY(new_entry(s, b, entry, err));
    memcpy(*entry, &kept.u, 16);
    if (s->spec.codec.init) s->spec.codec.init(s->spec.codec.ctx, fm_state_value(*entry));
    b->slots[at] = (uint64_t)(uint32_t)k->hash << 32 | b->rows;
    return FM_OK;
}

/* The slot of a key: the one it stands in, or the free one where it belongs. */
static uint32_t probe(const fm_state *s, const fm_state_bucket *b, const fm_key *k)
{
    uint32_t half = (uint32_t)k->hash, at = half & b->mask;

    for (;; at = (at + 1) & b->mask) {
        uint64_t slot = b->slots[at];
        if (!slot) return at;
        if ((uint32_t)(slot >> 32) == half && entry_is(fm_state_entry(s, b, (uint32_t)slot - 1), k)) return at;
    }
}

static fm_status make_room(fm_state *s, fm_state_bucket *b, uint32_t more, fm_error *err)
{
    uint64_t need = ((uint64_t)b->rows + more) * 3 / 2 + 8;

    if (b->slots && need <= (uint64_t)b->mask + 1) return FM_OK;
    /* A window is likely to grow to the size of the last one: start there. */
    if (!b->slots && s->last_rows > need && s->last_rows > 1024) need = (uint64_t)s->last_rows * 3 / 2;
    uint64_t slots = fm_pow2_at_least(need);
    if (slots > UINT64_C(1) << 31) return fm_fail(err, FM_LIMIT, "FLOODMARK_STATE_TOO_LARGE", "One window holds more than 2^30 groups.");
    return grow_table(b, (uint32_t)slots, err);
}

static fm_status mark_changed(fm_state *s, fm_state_bucket *b, uint32_t i, fm_error *err)
{
    uint32_t word = i >> 6;

    if (word >= b->changed_cap) {
        uint32_t cap = b->changed_cap ? b->changed_cap * 2 : 4;
        while (cap <= word) cap *= 2;
        uint64_t *bits = realloc(b->changed_bits, (size_t)cap * sizeof *bits);
        if (!bits) return no_memory(err);
        memset(bits + b->changed_cap, 0, (size_t)(cap - b->changed_cap) * sizeof *bits);
        b->memory_size += (size_t)(cap - b->changed_cap) * sizeof *bits;
        b->changed_bits = bits;
        b->changed_cap = cap;
    }
    uint64_t bit = (uint64_t)1 << (i & 63);
    if (b->changed_bits[word] & bit) return FM_OK;
    if (b->n_changed == b->cap_changed) {
        uint32_t cap = b->cap_changed ? b->cap_changed * 2 : 32;
        uint32_t *more = realloc(b->changed, (size_t)cap * sizeof *more);
        if (!more) return no_memory(err);
        b->memory_size += (size_t)(cap - b->cap_changed) * sizeof *more;
        b->changed = more;
        b->cap_changed = cap;
    }
    b->changed_bits[word] |= bit;
    b->changed[b->n_changed++] = i;
    s->rows_updated++;
    return FM_OK;
}

fm_status fm_state_upsert(fm_state *s, fm_state_bucket *b, const fm_key *keys, int32_t n, char **values, uint8_t *fresh, fm_error *err)
{
    FM_TRY(make_room(s, b, (uint32_t)n, err));
    bool prefetch = ((size_t)b->mask + 1) * sizeof *b->slots > PREFETCH_TABLE_SIZE;

    for (int32_t from = 0; from < n; from += GROUP) {
        int32_t to = n - from < GROUP ? n : from + GROUP;
        if (prefetch) {
            /* Two stages: the slots of the next group come while this one is worked on, then their entries. */
            int32_t ahead = n - to < GROUP ? n : to + GROUP;
            for (int32_t i = to; i < ahead; i++) __builtin_prefetch(&b->slots[(uint32_t)keys[i].hash & b->mask]);
            for (int32_t i = from; i < to; i++) {
                uint64_t slot = b->slots[(uint32_t)keys[i].hash & b->mask];
                if (slot) __builtin_prefetch(fm_state_entry(s, b, (uint32_t)slot - 1));
            }
        }
        for (int32_t i = from; i < to; i++) {
            uint32_t at = probe(s, b, &keys[i]);
            char *entry;
            bool is_new = b->slots[at] == 0;
            if (is_new) FM_TRY(insert(s, b, &keys[i], at, &entry, err));
            uint32_t number = (uint32_t)b->slots[at] - 1;
            if (!is_new) entry = fm_state_entry(s, b, number);
            bool marked = number >> 6 < b->changed_cap && (b->changed_bits[number >> 6] >> (number & 63) & 1);
            if (!marked) FM_TRY(mark_changed(s, b, number, err));
            values[i] = fm_state_value(entry);
            if (fresh) fresh[i] = is_new;
        }
    }
    return FM_OK;
}

void fm_state_lookup(fm_state *s, fm_state_bucket *b, const fm_key *keys, int32_t n, char **values)
{
    for (int32_t i = 0; i < n; i++) {
        uint64_t slot = b->slots ? b->slots[probe(s, b, &keys[i])] : 0;
        values[i] = slot ? fm_state_value(fm_state_entry(s, b, (uint32_t)slot - 1)) : NULL;
    }
}

fm_status fm_state_put(fm_state *s, fm_state_bucket *b, fm_str bytes, char **value, fm_error *err)
{
    fm_key k = fm_key_of_bytes(bytes);
    char *entry;

    FM_TRY(make_room(s, b, 1, err));
    uint32_t at = probe(s, b, &k);
    if (b->slots[at]) {
        *value = fm_state_value(fm_state_entry(s, b, (uint32_t)b->slots[at] - 1));
        if (s->spec.codec.fini) s->spec.codec.fini(s->spec.codec.ctx, *value);
        memset(*value, 0, s->spec.value_size);
        if (s->spec.codec.init) s->spec.codec.init(s->spec.codec.ctx, *value);
        return FM_OK;
    }
    FM_TRY(insert(s, b, &k, at, &entry, err));
    *value = fm_state_value(entry);
    return FM_OK;
}

int32_t fm_state_scan(fm_state *s, fm_state_bucket *b, int64_t *at, bool changed_only, fm_key *keys, char **values, int32_t n)
{
    int64_t end = changed_only ? b->n_changed : b->rows;
    int32_t got = 0;

    for (; got < n && *at < end; got++, (*at)++) {
        uint32_t i = changed_only ? b->changed[*at] : (uint32_t)*at;
        char *entry = fm_state_entry(s, b, i);
        if (keys) keys[got] = fm_state_entry_key(entry);
        values[got] = fm_state_value(entry);
    }
    return got;
}

void fm_state_begin(fm_state *s)
{
    for (int32_t i = 0; i < s->n_buckets; i++) {
        fm_state_bucket *b = s->buckets[i];
        if (b->n_changed) memset(b->changed_bits, 0, (size_t)b->changed_cap * sizeof *b->changed_bits);
        b->n_changed = 0;
    }
    s->n_dropped = 0;
    s->rows_updated = s->rows_removed = 0;
}

void fm_state_get_stats(const fm_state *s, fm_state_stats *out)
{
    *out = (fm_state_stats){.rows_updated = s->rows_updated, .rows_removed = s->rows_removed};
    for (int32_t i = 0; i < s->n_buckets; i++) {
        fm_state_bucket *b = s->buckets[i];
        out->rows += b->rows;
        out->memory_size += (int64_t)b->memory_size + (b->keys ? (int64_t)fm_arena_held(b->keys) : 0);
        for (uint32_t k = 0; s->spec.codec.memory && k < b->rows; k++) {
            out->memory_size += (int64_t)s->spec.codec.memory(s->spec.codec.ctx, fm_state_value(fm_state_entry(s, b, k)));
        }
    }
}
