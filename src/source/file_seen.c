/* source/file_seen.c: a set of file names with their times. */
#include "source/file_seen.h"

#include "base/hash.h"

#include <stdlib.h>

void fm_seen_init(fm_seen_files *s, int64_t max_age_ms)
{
    *s = (fm_seen_files){.max_age_ms = max_age_ms};
}

void fm_seen_fini(fm_seen_files *s)
{
    for (size_t i = 0; i < s->cap; i++) free(s->slots[i].key);
    free(s->slots);
    s->slots = NULL;
    s->cap = s->n = 0;
}

/* The slot of the key, or the free one where it belongs. */
static fm_seen_file *find(fm_seen_file *slots, size_t cap, fm_str key)
{
    size_t at = (size_t)fm_hash_bytes(key.ptr, key.len) & (cap - 1);

    while (slots[at].key && !fm_str_eq((fm_str){slots[at].key, slots[at].len}, key))
        at = (at + 1) & (cap - 1);
    return &slots[at];
}

/* Moves the files at or above min_ms into a table of cap slots. */
static bool rebuild(fm_seen_files *s, size_t cap, int64_t min_ms)
{
    fm_seen_file *slots = calloc(cap, sizeof *slots);
    size_t n = 0;

    if (!slots) return false;
    for (size_t i = 0; i < s->cap; i++) {
        fm_seen_file f = s->slots[i];
        if (!f.key) continue;
        if (f.modified_ms < min_ms) {
            free(f.key);
            continue;
        }
        *find(slots, cap, (fm_str){f.key, f.len}) = f;
        n++;
    }
    free(s->slots);
    s->slots = slots;
    s->cap = cap;
    s->n = n;
    return true;
}

bool fm_seen_add(fm_seen_files *s, fm_str key, int64_t modified_ms)
{
    if (key.len > UINT32_MAX) return false;
    if (s->n * 2 >= s->cap && !rebuild(s, s->cap ? s->cap * 2 : 64, INT64_MIN)) return false;
    fm_seen_file *f = find(s->slots, s->cap, key);
    if (!f->key) {
        char *copy = malloc(key.len + 1);
        if (!copy) return false;
        if (key.len) memcpy(copy, key.ptr, key.len);
        copy[key.len] = 0;
        f->key = copy;
        f->len = (uint32_t)key.len;
        s->n++;
    }
    f->modified_ms = modified_ms;
    if (modified_ms > s->latest_ms) s->latest_ms = modified_ms;
    return true;
}

bool fm_seen_is_new(const fm_seen_files *s, fm_str key, int64_t modified_ms)
{
    if (modified_ms < s->purged_ms) return false;
    return s->cap == 0 || !find(s->slots, s->cap, key)->key;
}

bool fm_seen_has(const fm_seen_files *s, fm_str key) { return s->cap > 0 && find(s->slots, s->cap, key)->key; }

void fm_seen_purge(fm_seen_files *s)
{
    if (s->max_age_ms == INT64_MAX) return;
    int64_t purged_ms = s->latest_ms - s->max_age_ms;
    if (purged_ms <= s->purged_ms) return;
    s->purged_ms = purged_ms;
    for (size_t i = 0; i < s->cap; i++) {
        if (!s->slots[i].key || s->slots[i].modified_ms >= purged_ms) continue;
        rebuild(s, s->cap, purged_ms); /* out of memory: they stay, which does no harm */
        return;
    }
}
