/* state/state_memory.c: memory for tables and entries.
 *
 * Windows come and go with nearly the same sizes, so large pieces that a dropped bucket gives back are kept for the next one:
 * new ones would have to be zeroed by the system, page fault by page fault. A fifth of what is in use is kept; beyond that,
 * pieces are lent to the system, which takes them when memory is short and not before. Smaller ones come from a pool. */
#include <stdlib.h>

#include "os/pages.h"
#include "state/state_impl.h"

enum {
    SPARE_SIZE_MIN = 2 << 20, /* bytes that may be kept however little is in use */
    SPARE_SHARE = 5           /* the part of what is in use that may be kept */
};

static bool is_small(size_t size) { return size <= FM_POOL_SIZE_MAX; }

/* A spare of a size (0: of any), lent or not; n_spares: there is none. */
static uint32_t find_spare(const fm_state_part *p, size_t size, bool lent)
{
    for (uint32_t i = 0; i < p->n_spares; i++) {
        if (p->spares[i].lent == lent && (size == 0 || p->spares[i].size == size)) return i;
    }
    return p->n_spares;
}

static void *take_at(fm_state_part *p, uint32_t i)
{
    fm_state_spare s = p->spares[i];

    p->spares[i] = p->spares[--p->n_spares];
    *(s.lent ? &p->lent_size : &p->spare_size) -= s.size;
    return s.at;
}

static void *take_spare(fm_state_part *p, size_t size)
{
    uint32_t i = find_spare(p, size, false);

    if (i == p->n_spares) i = find_spare(p, size, true);
    return i < p->n_spares ? take_at(p, i) : NULL;
}

/* False: there is no room to note it. */
static bool add_spare(fm_state_part *p, void *piece, size_t size)
{
    if (p->n_spares == p->cap_spares) {
        uint32_t cap = p->cap_spares ? p->cap_spares * 2 : 16;
        fm_state_spare *more = realloc(p->spares, cap * sizeof *more);
        if (!more) return false;
        p->spares = more;
        p->cap_spares = cap;
    }
    p->spares[p->n_spares++] = (fm_state_spare){.at = piece, .size = size};
    p->spare_size += size;
    return true;
}

static void free_spare(fm_state_part *p, uint32_t i)
{
    size_t size = p->spares[i].size;

    fm_pages_free(take_at(p, i), size);
}

/* What is kept, and what is lent, stays in proportion to what is in use. */
static void trim(fm_state_part *p)
{
    size_t kept_max = p->live_size / SPARE_SHARE > SPARE_SIZE_MIN ? p->live_size / SPARE_SHARE : SPARE_SIZE_MIN;

    while (p->spare_size > kept_max) {
        uint32_t i = find_spare(p, 0, false);
        if (!fm_pages_lend(p->spares[i].at, p->spares[i].size)) {
            free_spare(p, i);
            continue;
        }
        p->spares[i].lent = true;
        p->spare_size -= p->spares[i].size;
        p->lent_size += p->spares[i].size;
    }
    while (p->lent_size > p->live_size) free_spare(p, find_spare(p, 0, true));
}

void *fm_state_piece_new(fm_state_part *p, size_t size, bool zero)
{
    void *piece = is_small(size) ? fm_pool_get(&p->pool, size) : take_spare(p, size);

    if (piece && zero) memset(piece, 0, size);
    if (!piece && !is_small(size)) piece = fm_pages_alloc(size);
    if (piece) p->live_size += size;
    return piece;
}

void fm_state_piece_free(fm_state_part *p, void *piece, size_t size)
{
    if (!piece) return;
    p->live_size -= size;
    if (is_small(size)) fm_pool_put(&p->pool, piece, size);
    else if (!add_spare(p, piece, size)) fm_pages_free(piece, size);
    else trim(p);
}

void fm_state_pieces_close(fm_state_part *p)
{
    while (p->n_spares) free_spare(p, 0);
    free(p->spares);
    p->spares = NULL;
    p->cap_spares = 0;
    fm_pool_fini(&p->pool);
}
