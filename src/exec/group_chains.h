/* exec/group_chains.h: for sliding windows: per key, the slices that it has entries in, in order of time.
 *
 * The state has slices as buckets, which is how rows come and how they go; windows are emitted key by key. A chain
 * connects the two: it holds for one key where its entries are. Chains are made from the state when that is opened, and
 * kept up to date as entries come and go. */
#ifndef FM_EXEC_GROUP_CHAINS_H
#define FM_EXEC_GROUP_CHAINS_H

#include "column/key.h"

/* An entry: its slice (a number of group_slices.c) and its number there. */
typedef struct fm_chain_item {
    uint32_t slice, entry;
} fm_chain_item;

typedef struct fm_chain {
    uint64_t key[2];          /* the words of fm_key; a long key points into the state, to the entry of the last item */
    fm_chain_item *items;     /* [cap]; those in [head, n) are there */
    uint32_t head, n, cap;
    uint32_t hash;            /* low half */
    uint32_t batch;           /* the micro-batch that touched it last */
    uint32_t first, last;     /* of the items touched in that: the earliest and the latest slice */
    uint32_t tail;            /* slice of the last item; FM_CHAIN_EMPTY: there is none. Most rows go there, without a look at */
    char *tail_value;         /* the items, and most new items behind it. Its value */
} fm_chain;
_Static_assert(sizeof(void *) != 8 || sizeof(fm_chain) == 64, "a chain is a line of the cache");

#define FM_CHAIN_EMPTY UINT32_MAX

typedef struct fm_chains {
    fm_chain *chains;         /* [cap], in whole lines of the cache; free ones have items NULL and n the next free one + 1 */
    uint64_t *slots;          /* half of a hash in the high half, number of a chain + 1 in the low; 0: free */
    uint32_t n, cap;          /* made, ever */
    uint32_t live, free_list; /* number + 1 */
    uint32_t mask;            /* slots - 1; 0: none */
    int64_t items;            /* room for items in all chains: memory */
} fm_chains;

void fm_chains_fini(fm_chains *c);
/* The chain of a key, made when missing; UINT32_MAX: out of memory. Chains may move. */
uint32_t fm_chains_add(fm_chains *c, const fm_key *key);
/* The chain of a key; UINT32_MAX when there is none. */
uint32_t fm_chains_find(const fm_chains *c, const fm_key *key);
void fm_chains_prefetch(const fm_chains *c, const fm_key *key);
void fm_chains_remove(fm_chains *c, uint32_t chain);
static inline bool fm_chain_is_live(const fm_chain *chain) { return chain->items != NULL; }
/* For those who go through many chains: what the chain some places on has, so that it is here by then. */
static inline void fm_chains_fetch_ahead(const fm_chains *c, uint32_t chain)
{
    enum { AHEAD = 3, LINES = 4, LINE_ITEMS = 64 / sizeof(fm_chain_item) };

    if (chain >= c->n || c->n - chain <= AHEAD) return;
    const fm_chain *later = &c->chains[chain + AHEAD];
    if (!fm_chain_is_live(later)) return;
    for (uint32_t i = 0; i < LINES && later->head + i * LINE_ITEMS < later->n; i++) __builtin_prefetch(later->items + later->head + i * LINE_ITEMS);
}
/* Puts an item at a place between head and n; false: out of memory. */
bool fm_chain_insert(fm_chains *c, fm_chain *chain, uint32_t at, fm_chain_item item, char *value);
int64_t fm_chains_memory(const fm_chains *c);

#endif
