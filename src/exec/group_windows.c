/* exec/group_windows.c: sliding windows put together from slices, for many keys at once.
 *
 * A window of one key is the merge of its entries in the window's slices. Going from window to window some entries leave
 * at the front and some come at the back, and aggregates cannot be taken back (a max, a sum of doubles to the last bit).
 * So the entries of a window are held as two stacks:
 *
 *     entries     a    b    c    d  |  e    f
 *     front     abcd  bcd  cd    d  |            suffix[i]: entry i and all after it, up to the bar
 *     back                          |  ef        all entries behind the bar, merged as they came
 *
 * An entry leaves by taking the next suffix; one comes by a merge into the back; the window is suffix (+) back. When the
 * front is used up the bar moves to the end and the suffixes are made anew. Each entry is merged twice, whatever the
 * overlap, and the order of merges is that of time.
 *
 * Merges are calls over arrays, so keys are walked in blocks, window by window: the merges of all keys of a block that
 * have something to give out in this window are gathered and run together. */
#include <stdlib.h>

#include "exec/group_slices.h"

enum {
    BLOCK_CHAINS = 256,          /* walked together */
    SUFFIXES_SIZE = 512 << 10,   /* bytes of suffixes of a block: they stay in the second-level cache */
    OUT_ROWS = 2048,
    AHEAD = 8,                   /* entries fetched ahead of their merge */
    MERGES = 1024
};

/* A chain under way. */
typedef struct walker {
    const fm_chain *chain;
    int64_t window;              /* the next that it has something to give out for; INT64_MAX: none */
    uint32_t low, high;          /* items of the window before: [low, high) */
    uint32_t next;               /* the item that made `window` the next: those before it have nothing more to give */
    uint32_t bar;                /* items [low, bar) are in front, [bar, high) at the back */
    uint32_t made_from, made_to; /* suffixes that exist, of items [made_from, made_to) */
    bool has_back;
    char *suffixes;              /* suffix of item i: at (i % room) * value_size */
    uint32_t room;
    char *back;
} walker;

struct fm_walk {
    fm_slices *s;
    const fm_group_spec *spec;
    int64_t last;
    bool touched_only;
    fm_arena *arena;             /* what goes out */
    const fm_emit *out;
    size_t value_size;
    uint32_t items_max;          /* entries that a window can hold per key */
    uint32_t chains[BLOCK_CHAINS];
    int32_t n_chains;
    size_t suffixes_size;        /* of the chains gathered */
    walker walkers[BLOCK_CHAINS];
    char *memory;                /* suffixes, then backs */
    size_t memory_size;
    char *dst[MERGES], *src[MERGES];
    int32_t n_merges;
    int64_t times[OUT_ROWS];
    fm_key keys[OUT_ROWS];
    char *values[OUT_ROWS];
    char *results;               /* [OUT_ROWS] values */
    int32_t n_out;
    int64_t emitted;
};

fm_status fm_walk_new(fm_slices *s, int64_t last, bool touched_only, fm_arena *arena, const fm_emit *out, fm_walk **walk, fm_error *err)
{
    const fm_window_spec *w = &s->part->spec->window;
    fm_walk *k = calloc(1, sizeof *k);

    *walk = k;
    if (!k) return fm_no_memory(NULL, err);
    k->s = s;
    k->spec = s->part->spec;
    k->last = last;
    k->touched_only = touched_only;
    k->arena = arena;
    k->out = out;
    k->value_size = k->spec->value_size ? k->spec->value_size : 8;
    int64_t slices = (w->duration_us / w->slide_us + 1) * (w->duration_us % w->slide_us ? 2 : 1) + 1;
    k->items_max = slices > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)slices;
    k->results = malloc(OUT_ROWS * k->value_size);
    return k->results ? FM_OK : fm_no_memory(NULL, err);
}

/* ---- Values ----------------------------------------------------------------------------------------------------- */

static void make_empty(const fm_walk *k, char *value)
{
    memset(value, 0, k->value_size);
    for (int32_t i = 0; k->spec->has_init && i < k->spec->n_calls; i++) {
        const fm_agg_call *c = &k->spec->calls[i].call;
        if (c->aggregate->init) c->aggregate->init(c, value + c->offset);
    }
}

static void let_go(const fm_walk *k, char *value)
{
    for (int32_t i = 0; !k->spec->plain_values && i < k->spec->n_calls; i++) {
        const fm_agg_call *c = &k->spec->calls[i].call;
        if (c->aggregate->fini) c->aggregate->fini(c, value + c->offset);
    }
}

int64_t fm_walk_emitted(const fm_walk *k) { return k ? k->emitted : 0; }

void fm_walk_free(fm_walk *k)
{
    if (!k) return;
    for (int32_t i = 0; i < k->n_out; i++) let_go(k, k->values[i]); /* after a failure */
    free(k->memory);
    free(k->results);
    free(k);
}

/* Merges in the order they were asked for. */
static fm_status run_merges(fm_walk *k, fm_error *err)
{
    fm_status st = FM_OK;

    for (int32_t i = 0; st == FM_OK && k->n_merges && i < k->spec->n_calls; i++) {
        const fm_agg_call *c = &k->spec->calls[i].call;
        st = c->aggregate->merge(c, k->dst, k->src, k->n_merges, err);
    }
    k->n_merges = 0;
    return st;
}

static fm_status merge(fm_walk *k, char *dst, char *src, fm_error *err)
{
    if (k->n_merges == MERGES) FM_TRY(run_merges(k, err));
    k->dst[k->n_merges] = dst;
    k->src[k->n_merges++] = src;
    return FM_OK;
}

/* dst: nothing yet. It becomes a copy of src, whose own merges must be done. */
static fm_status copy(fm_walk *k, char *dst, char *src, fm_error *err)
{
    if (k->spec->plain_values) { /* a few words: no call */
        for (size_t i = 0; i < k->value_size; i += 8) memcpy(dst + i, src + i, 8);
        return FM_OK;
    }
    make_empty(k, dst);
    return merge(k, dst, src, err);
}

static char *value_of(const fm_walk *k, const walker *w, uint32_t item)
{
    fm_chain_item i = w->chain->items[item];

    return fm_state_value_at(k->s->part->state, k->s->slices[i.slice].bucket, i.entry);
}

static char *suffix_of(const fm_walk *k, const walker *w, uint32_t item) { return w->suffixes + (size_t)(item % w->room) * k->value_size; }

static void drop_suffixes(const fm_walk *k, walker *w, uint32_t to)
{
    for (; w->made_from < to && w->made_from < w->made_to; w->made_from++) let_go(k, suffix_of(k, w, w->made_from));
}

static void drop_back(const fm_walk *k, walker *w)
{
    if (w->has_back) let_go(k, w->back);
    w->has_back = false;
}

/* ---- From window to window -------------------------------------------------------------------------------------- */

static const fm_slice *slice_at(const fm_walk *k, const walker *w, uint32_t item) { return &k->s->slices[w->chain->items[item].slice]; }

static bool is_touched(const fm_walk *k, const walker *w, uint32_t item)
{
    return fm_state_is_touched(slice_at(k, w, item)->bucket, w->chain->items[item].entry);
}

/* The next window from `from` on with an entry (that was touched). */
static int64_t next_window(const fm_walk *k, walker *w, int64_t from)
{
    for (; w->next < w->chain->n; w->next++) {
        const fm_slice *slice = slice_at(k, w, w->next);
        if (slice->last < from || (k->touched_only && !is_touched(k, w, w->next))) continue;
        int64_t window = slice->first > from ? slice->first : from;
        return window <= k->last ? window : INT64_MAX;
    }
    return INT64_MAX;
}

/* Moves the bar to the end: all items of the window in front. */
static fm_status make_front(fm_walk *k, walker *w, fm_error *err)
{
    drop_suffixes(k, w, UINT32_MAX);
    drop_back(k, w);
    for (uint32_t i = w->high; i-- > w->low;) {
        if (i - w->low >= AHEAD) __builtin_prefetch(value_of(k, w, i - AHEAD));
        FM_TRY(copy(k, suffix_of(k, w, i), value_of(k, w, i), err));
        if (i + 1 < w->high) FM_TRY(merge(k, suffix_of(k, w, i), suffix_of(k, w, i + 1), err));
    }
    w->made_from = w->low;
    w->made_to = w->bar = w->high;
    return FM_OK;
}

static fm_status add_to_back(fm_walk *k, walker *w, uint32_t from, fm_error *err)
{
    for (uint32_t i = from; i < w->high; i++) {
        if (w->has_back) FM_TRY(merge(k, w->back, value_of(k, w, i), err));
        else FM_TRY(copy(k, w->back, value_of(k, w, i), err));
        w->has_back = true;
    }
    return FM_OK;
}

/* The stacks for the walker's window; the entry after next is fetched ahead. */
static fm_status go_to(fm_walk *k, walker *w, fm_error *err)
{
    uint32_t n = w->chain->n, before = w->high;

    while (w->low < n && slice_at(k, w, w->low)->last < w->window) w->low++;
    if (w->high < w->low) w->high = w->low;
    while (w->high < n && slice_at(k, w, w->high)->first <= w->window) w->high++;
    if (w->high < n) __builtin_prefetch(value_of(k, w, w->high));
    if (w->bar <= w->low) return make_front(k, w, err);
    drop_suffixes(k, w, w->low);
    return add_to_back(k, w, before, err);
}

static fm_status give_out(fm_walk *k, fm_error *err)
{
    int32_t n = k->n_out;
    fm_status st = run_merges(k, err);

    if (st == FM_OK && n) {
        fm_arena_reset(k->arena);
        st = fm_group_emit(k->spec, k->times, k->keys, k->values, n, k->arena, k->out, err);
    }
    for (int32_t i = 0; i < n; i++) let_go(k, k->values[i]);
    k->emitted += n;
    k->n_out = 0;
    return st;
}

static fm_status add_result(fm_walk *k, walker *w, int64_t end_us, fm_error *err)
{
    char *result = k->results + (size_t)k->n_out * k->value_size;

    k->times[k->n_out] = end_us;
    memcpy(&k->keys[k->n_out].u, w->chain->key, sizeof w->chain->key);
    k->values[k->n_out++] = result;
    FM_TRY(copy(k, result, suffix_of(k, w, w->low), err));
    if (w->has_back) FM_TRY(merge(k, result, w->back, err));
    return k->n_out == OUT_ROWS ? give_out(k, err) : FM_OK;
}

/* One window of all walkers that have it. The first round ends with all stacks merged, the second reads them. */
static fm_status step(fm_walk *k, int64_t window, fm_error *err)
{
    int64_t end_us = fm_window_end(&k->spec->window, window);

    for (int32_t i = 0; i < k->n_chains; i++) {
        if (k->walkers[i].window == window) FM_TRY(go_to(k, &k->walkers[i], err));
    }
    FM_TRY(run_merges(k, err));
    for (int32_t i = 0; i < k->n_chains; i++) {
        walker *w = &k->walkers[i];
        if (w->window != window) continue;
        FM_TRY(add_result(k, w, end_us, err));
        w->window = window == INT64_MAX - 1 ? INT64_MAX : next_window(k, w, window + 1);
    }
    return run_merges(k, err);
}

/* ---- Blocks of chains ------------------------------------------------------------------------------------------- */

static uint32_t room_of(const fm_walk *k, const fm_chain *c)
{
    uint32_t items = c->n - c->head;

    return items < k->items_max ? items : k->items_max;
}

static fm_status lay_out(fm_walk *k, fm_error *err)
{
    size_t size = k->suffixes_size + (size_t)k->n_chains * k->value_size;

    if (size > k->memory_size) {
        char *more = realloc(k->memory, size);
        if (!more) return fm_no_memory(NULL, err);
        k->memory = more;
        k->memory_size = size;
    }
    char *at = k->memory;
    for (int32_t i = 0; i < k->n_chains; i++) {
        const fm_chain *c = &k->s->chains.chains[k->chains[i]];
        walker *w = &k->walkers[i];
        *w = (walker){.chain = c, .low = c->head, .high = c->head, .bar = c->head, .next = c->head, .room = room_of(k, c), .suffixes = at};
        at += (size_t)w->room * k->value_size;
        w->back = at;
        at += k->value_size;
        w->window = next_window(k, w, k->s->lower);
    }
    return FM_OK;
}

static fm_status walk_block(fm_walk *k, fm_error *err)
{
    fm_status st = lay_out(k, err);

    while (st == FM_OK) {
        int64_t window = INT64_MAX;
        for (int32_t i = 0; i < k->n_chains; i++) window = k->walkers[i].window < window ? k->walkers[i].window : window;
        if (window == INT64_MAX) break;
        st = step(k, window, err);
    }
    for (int32_t i = 0; i < k->n_chains && k->memory; i++) {
        drop_suffixes(k, &k->walkers[i], UINT32_MAX);
        drop_back(k, &k->walkers[i]);
    }
    k->n_chains = 0;
    k->suffixes_size = 0;
    return st;
}

fm_status fm_walk_chain(fm_walk *k, uint32_t chain, fm_error *err)
{
    size_t size = (size_t)room_of(k, &k->s->chains.chains[chain]) * k->value_size;

    if (k->n_chains == BLOCK_CHAINS || (k->n_chains && k->suffixes_size + size > SUFFIXES_SIZE)) FM_TRY(walk_block(k, err));
    k->chains[k->n_chains++] = chain;
    k->suffixes_size += size;
    return FM_OK;
}

fm_status fm_walk_all(fm_walk *k, fm_error *err)
{
    for (uint32_t i = 0; i < k->s->chains.n; i++) {
        if (fm_chain_is_live(&k->s->chains.chains[i])) FM_TRY(fm_walk_chain(k, i, err));
    }
    return FM_OK;
}

fm_status fm_walk_end(fm_walk *k, fm_error *err)
{
    if (k->n_chains) FM_TRY(walk_block(k, err));
    return give_out(k, err);
}
