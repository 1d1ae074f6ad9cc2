/* os/pool.h: pieces of memory that come and go in a few sizes, such as the tables of windows, cut out of huge pages.
 *
 * Large state is visited at random. With small pages each visit also misses the TLB, which costs as much again. Here pieces
 * lie together in blocks of huge pages and begin at a line of the cache. A piece that is put back is kept for the next one
 * of its size; blocks go back to the system with the pool. A pool that holds little takes its pieces from malloc, as a block
 * would be more than it needs. */
#ifndef FM_OS_POOL_H
#define FM_OS_POOL_H

#include <stddef.h>

enum {
    FM_POOL_SIZE_MAX = 256 << 10, /* bytes of a piece at most */
    FM_POOL_SIZES_MAX = 64        /* different sizes, after rounding up to lines of the cache; of more, pieces are malloc's */
};

typedef struct fm_pool_piece {
    struct fm_pool_piece *next;
} fm_pool_piece;

typedef struct fm_pool_list {
    size_t size;          /* bytes of a piece */
    fm_pool_piece *first; /* put back */
} fm_pool_list;

/* All zero: an empty pool. */
typedef struct fm_pool {
    fm_pool_list lists[FM_POOL_SIZES_MAX];
    int n_lists;
    char **blocks;                /* [n_blocks], by address */
    size_t n_blocks, cap_blocks;
    char *at, *end;               /* what the newest block still has */
    size_t small;                 /* bytes got from malloc */
    size_t spare;                 /* bytes in the lists */
} fm_pool;

/* 0 < size <= FM_POOL_SIZE_MAX, bytes. As it comes, not zeroed. NULL: out of memory. */
void *fm_pool_get(fm_pool *pool, size_t size);
void fm_pool_put(fm_pool *pool, void *piece, size_t size); /* the size that was asked for; accepts NULL */
/* Blocks go, and the pieces in them; pieces of malloc must have been put back. */
void fm_pool_fini(fm_pool *pool);

#endif
