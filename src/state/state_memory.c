/* state/state_memory.c: memory for tables and entries.
 *
 * Windows come and go with nearly the same sizes, so large pieces that a dropped bucket gives back are kept for the
 * next one: new ones would have to be zeroed by the system, page fault by page fault. What is kept stays below half of
 * what is in use. Smaller ones come from a pool. */
#include "os/pages.h"
#include "state/state_impl.h"

enum {
    SPARE_SIZE_MIN = 2 << 20    /* bytes that may be kept however little is in use */
};

static void *take_spare(fm_state_part *p, size_t size)
{
    for (fm_state_piece **at = &p->spare; *at; at = &(*at)->next) {
        fm_state_piece *piece = *at;
        if (piece->size != size) continue;
        *at = piece->next;
        p->spare_size -= size;
        return piece;
    }
    return NULL;
}

void *fm_state_piece_new(fm_state_part *p, size_t size, bool zero)
{
    void *piece;

    if (size <= FM_POOL_SIZE_MAX) {
        piece = fm_pool_get(&p->pool, size);
        if (piece && zero) memset(piece, 0, size);
    } else {
        piece = take_spare(p, size);
        if (piece && zero) memset(piece, 0, size);
        if (!piece) piece = fm_pages_alloc(size);
    }
    if (piece) p->live_size += size;
    return piece;
}

void fm_state_piece_free(fm_state_part *p, void *piece, size_t size)
{
    if (!piece) return;
    p->live_size -= size;
    if (size <= FM_POOL_SIZE_MAX) {
        fm_pool_put(&p->pool, piece, size);
        return;
    }
    size_t limit = p->live_size / 2 > SPARE_SIZE_MIN ? p->live_size / 2 : SPARE_SIZE_MIN;
    if (p->spare_size + size > limit) {
        fm_pages_free(piece, size);
        return;
    }
    fm_state_piece *kept = piece;
    *kept = (fm_state_piece){p->spare, size};
    p->spare = kept;
    p->spare_size += size;
}

void fm_state_pieces_close(fm_state_part *p)
{
    while (p->spare) {
        fm_state_piece *piece = p->spare;
        p->spare = piece->next;
        fm_pages_free(piece, piece->size);
    }
    p->spare_size = 0;
    fm_pool_fini(&p->pool);
}
