/* os/pool.c: pieces cut off blocks, and lists of those that were put back. */
#include "os/pool.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "os/pages.h"

enum { LINE_SIZE = 64, BLOCK_SIZE = 2 << 20 /* a huge page */ };

/* Bytes taken from malloc before the first block: all, where the address sanitizer is to watch each piece. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FM_POOL_WATCHED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(FM_POOL_WATCHED)
#define SMALL_SIZE SIZE_MAX
#else
#define SMALL_SIZE ((size_t)512 << 10)
#endif

static size_t rounded(size_t size) { return (size + LINE_SIZE - 1) & ~(size_t)(LINE_SIZE - 1); }

static fm_pool_list *list_of(fm_pool *p, size_t size)
{
    for (int i = 0; i < p->n_lists; i++) {
        if (p->lists[i].size == size) return &p->lists[i];
    }
    if (p->n_lists == FM_POOL_SIZES_MAX) return NULL;
    p->lists[p->n_lists] = (fm_pool_list){.size = size};
    return &p->lists[p->n_lists++];
}

/* How many blocks begin at or before an address. */
static size_t rank(const fm_pool *p, const char *address)
{
    size_t low = 0, high = p->n_blocks;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)p->blocks[middle] <= (uintptr_t)address) low = middle + 1;
        else high = middle;
    }
    return low;
}

static bool is_in_block(const fm_pool *p, const char *piece)
{
    size_t n = rank(p, piece);

    return n > 0 && (uintptr_t)piece - (uintptr_t)p->blocks[n - 1] < BLOCK_SIZE;
}

/* What is left of the block before is lost: less than a piece. */
static bool add_block(fm_pool *p)
{
    if (p->n_blocks == p->cap_blocks) {
        size_t cap = p->cap_blocks ? p->cap_blocks * 2 : 8;
        char **more = realloc(p->blocks, cap * sizeof *more);
        if (!more) return false;
        p->blocks = more;
        p->cap_blocks = cap;
    }
    char *block = fm_pages_alloc(BLOCK_SIZE);
    if (!block) return false;
    size_t at = rank(p, block);
    memmove(p->blocks + at + 1, p->blocks + at, (p->n_blocks - at) * sizeof *p->blocks);
    p->blocks[at] = block;
    p->n_blocks++;
    p->at = block;
    p->end = block + BLOCK_SIZE;
    return true;
}

void *fm_pool_get(fm_pool *p, size_t size)
{
    fm_assert(size > 0 && size <= FM_POOL_SIZE_MAX);
    size = rounded(size);
    fm_pool_list *list = list_of(p, size);
    if (list && list->first) {
        fm_pool_piece *piece = list->first;
        list->first = piece->next;
        p->spare -= size;
        return piece;
    }
    if (!list || (p->n_blocks == 0 && p->small <= SMALL_SIZE - size)) {
        p->small += size;
        return aligned_alloc(LINE_SIZE, size);
    }
    if ((size_t)(p->end - p->at) < size && !add_block(p)) return NULL;
    char *piece = p->at;
    p->at += size;
    return piece;
}

void fm_pool_put(fm_pool *p, void *piece, size_t size)
{
    if (!piece) return;
    size = rounded(size);
    if (!is_in_block(p, piece)) {
        p->small -= size;
        free(piece);
        return;
    }
    fm_pool_list *list = list_of(p, size);
    fm_assert(list);
    p->spare += size;
    *(fm_pool_piece *)piece = (fm_pool_piece){list->first};
    list->first = piece;
}

void fm_pool_fini(fm_pool *p)
{
    for (size_t i = 0; i < p->n_blocks; i++) fm_pages_free(p->blocks[i], BLOCK_SIZE);
    free(p->blocks);
    *p = (fm_pool){0};
}
