/* exec/group_chains.c: a hash table of chains, with linear probing; removing moves the ones behind up. */
#include "exec/group_chains.h"

#include <stdlib.h>

enum { SLOTS_MIN = 64, ITEMS_MIN = 4, LINE_SIZE = 64 };

void fm_chains_fini(fm_chains *c)
{
    for (uint32_t i = 0; i < c->n; i++) free(c->chains[i].items);
    free(c->chains);
    free(c->slots);
    *c = (fm_chains){0};
}

/* ---- Slots ------------------------------------------------------------------------------------------------------ */

static bool key_is(const fm_chain *chain, const fm_key *key)
{
    fm_key own;

    memcpy(&own.u, chain->key, sizeof chain->key);
    if (own.u.w.hi != key->u.w.hi) return false; /* of a long key: its length and its tag */
    if (fm_key_is_inline(key)) return own.u.w.lo == key->u.w.lo;
    return memcmp(own.u.out.ptr, key->u.out.ptr, key->u.out.len) == 0;
}

/* The slot of a key, or the free one where it belongs. */
static uint32_t probe(const fm_chains *c, const fm_key *key)
{
    uint32_t hash = (uint32_t)key->hash, at = hash & c->mask;

    for (; c->slots[at]; at = (at + 1) & c->mask) {
        if ((uint32_t)(c->slots[at] >> 32) == hash && key_is(&c->chains[(uint32_t)c->slots[at] - 1], key)) break;
    }
    return at;
}

static bool grow_slots(fm_chains *c)
{
    uint64_t n = c->slots ? ((uint64_t)c->mask + 1) * 2 : SLOTS_MIN;
    uint64_t *made = n <= UINT32_MAX ? calloc(n, sizeof *made) : NULL;

    if (!made) return false;
    for (uint64_t i = 0; c->slots && i <= c->mask; i++) {
        uint32_t at = (uint32_t)(c->slots[i] >> 32) & (uint32_t)(n - 1);
        if (!c->slots[i]) continue;
        while (made[at]) at = (at + 1) & (uint32_t)(n - 1);
        made[at] = c->slots[i];
    }
    free(c->slots);
    c->slots = made;
    c->mask = (uint32_t)(n - 1);
    return true;
}

/* ---- Chains ----------------------------------------------------------------------------------------------------- */

static bool new_chain(fm_chains *c, uint32_t *out)
{
    if (c->free_list) {
        *out = c->free_list - 1;
        c->free_list = c->chains[*out].n;
        return true;
    }
    if (c->n == c->cap) {
        uint32_t cap = c->cap ? c->cap * 2 : SLOTS_MIN;
        fm_chain *more = cap > c->cap ? aligned_alloc(LINE_SIZE, (size_t)cap * sizeof *more) : NULL;
        if (!more) return false;
        if (c->n) memcpy(more, c->chains, (size_t)c->n * sizeof *more);
        free(c->chains);
        c->chains = more;
        c->cap = cap;
    }
    *out = c->n++;
    c->chains[*out] = (fm_chain){0};
    return true;
}

uint32_t fm_chains_add(fm_chains *c, const fm_key *key)
{
    uint32_t chain;

    if ((!c->slots || c->live >= c->mask / 4 * 3) && !grow_slots(c)) return UINT32_MAX;
    uint32_t at = probe(c, key);
    if (c->slots[at]) return (uint32_t)c->slots[at] - 1;
    fm_chain_item *items = malloc(ITEMS_MIN * sizeof *items);
    if (!items || !new_chain(c, &chain)) {
        free(items);
        return UINT32_MAX;
    }
    c->chains[chain] = (fm_chain){.items = items, .cap = ITEMS_MIN, .hash = (uint32_t)key->hash, .tail = FM_CHAIN_EMPTY};
    memcpy(c->chains[chain].key, &key->u, sizeof c->chains[chain].key);
    c->slots[at] = (uint64_t)(uint32_t)key->hash << 32 | (chain + 1);
    c->live++;
    c->items += ITEMS_MIN;
    return chain;
}

uint32_t fm_chains_find(const fm_chains *c, const fm_key *key)
{
    uint32_t at = c->slots ? probe(c, key) : 0;

    return c->slots && c->slots[at] ? (uint32_t)c->slots[at] - 1 : UINT32_MAX;
}

void fm_chains_prefetch(const fm_chains *c, const fm_key *key)
{
    if (c->slots) __builtin_prefetch(&c->slots[(uint32_t)key->hash & c->mask]);
}

/* Frees a slot; those behind it that would not be found any more move up. */
static void free_slot(fm_chains *c, uint32_t at)
{
    for (uint32_t next = (at + 1) & c->mask; c->slots[next]; next = (next + 1) & c->mask) {
        uint32_t home = (uint32_t)(c->slots[next] >> 32) & c->mask;
        if (((next - home) & c->mask) < ((next - at) & c->mask)) continue; /* it stands behind `at`, yet not beyond its home */
        c->slots[at] = c->slots[next];
        at = next;
    }
    c->slots[at] = 0;
}

void fm_chains_remove(fm_chains *c, uint32_t chain)
{
    fm_chain *gone = &c->chains[chain];
    uint32_t at = gone->hash & c->mask;

    while ((uint32_t)c->slots[at] != chain + 1) at = (at + 1) & c->mask;
    free_slot(c, at);
    c->items -= gone->cap;
    free(gone->items);
    *gone = (fm_chain){.n = c->free_list};
    c->free_list = chain + 1;
    c->live--;
}

/* Room for one more: items move to the front of what is there when half of it is free, else it grows. */
static bool make_room(fm_chains *c, fm_chain *chain, uint32_t *at)
{
    if (chain->n < chain->cap) return true;
    if (chain->head > chain->cap / 2) {
        memmove(chain->items, chain->items + chain->head, (size_t)(chain->n - chain->head) * sizeof *chain->items);
        *at -= chain->head;
        chain->n -= chain->head;
        chain->head = 0;
        return true;
    }
    uint32_t cap = chain->cap + chain->cap / 2;
    fm_chain_item *more = realloc(chain->items, (size_t)cap * sizeof *more);
    if (!more) return false;
    c->items += cap - chain->cap;
    chain->items = more;
    chain->cap = cap;
    return true;
}

bool fm_chain_insert(fm_chains *c, fm_chain *chain, uint32_t at, fm_chain_item item, char *value)
{
    if (!make_room(c, chain, &at)) return false;
    if (at < chain->n) memmove(chain->items + at + 1, chain->items + at, (size_t)(chain->n - at) * sizeof item);
    chain->items[at] = item;
    if (at == chain->n) {
        chain->tail = item.slice;
        chain->tail_value = value;
    }
    chain->n++;
    return true;
}

int64_t fm_chains_memory(const fm_chains *c)
{
    int64_t slots = c->slots ? (int64_t)c->mask + 1 : 0;

    return slots * (int64_t)sizeof *c->slots + (int64_t)c->cap * (int64_t)sizeof *c->chains + c->items * (int64_t)sizeof(fm_chain_item);
}
