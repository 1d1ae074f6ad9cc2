/* exec/group_slices.h: what group_slices.c (slices come and go) and group_windows.c (windows put together) share. */
#ifndef FM_EXEC_GROUP_SLICES_H
#define FM_EXEC_GROUP_SLICES_H

#include "exec/group.h"
#include "exec/group_chains.h"

typedef struct fm_slice {
    fm_state_bucket *bucket;
    int64_t start_us;
    int64_t first, last;      /* windows that it lies in, by number */
    uint32_t next_free;       /* of a free one: the next, + 1 */
} fm_slice;

/* From this window on, a key more (or less) has data. */
typedef struct fm_step {
    int64_t window, by;
} fm_step;

enum { FM_SLICES_CACHE = 512 };

struct fm_slices {
    fm_group_part *part;
    struct {
        int64_t start_us;
        uint32_t slice;       /* + 1; 0: free */
    } found[FM_SLICES_CACHE]; /* slices found lately, by a hash of their start */
    fm_slice *slices;         /* by number; a bucket's tag is its number + 1 */
    uint32_t n_slices, cap_slices, free_slice, n_live;
    fm_chains chains;
    int64_t items;            /* in all chains */
    int64_t closed_us;        /* windows that end by then are closed; FM_STATE_NO_MARK: none */
    int64_t lower;            /* the first window that is neither closed nor late */
    int64_t rows;             /* live pairs of window and key */
    bool counts_windows;      /* update mode: pairs per window, since windows go without being walked */
    fm_step *steps;           /* sorted by window */
    int64_t n_steps, cap_steps;
    uint32_t batch;           /* counts micro-batches */
    uint32_t *touched;        /* chains touched in this one */
    uint32_t n_touched, cap_touched;
};

/* ---- group_windows.c: walks chains, gives out their windows -------------------------------------------------------- */

typedef struct fm_walk fm_walk;

/* Windows from s->lower to last; touched_only: those with an entry that was touched in this micro-batch. */
fm_status fm_walk_new(fm_slices *s, int64_t last, bool touched_only, fm_arena *arena, const fm_emit *out, fm_walk **walk, fm_error *err);
fm_status fm_walk_chain(fm_walk *walk, uint32_t chain, fm_error *err);
fm_status fm_walk_all(fm_walk *walk, fm_error *err); /* every chain */
fm_status fm_walk_end(fm_walk *walk, fm_error *err); /* gives out the rest */
int64_t fm_walk_emitted(const fm_walk *walk);
void fm_walk_free(fm_walk *walk); /* accepts NULL */

#endif
