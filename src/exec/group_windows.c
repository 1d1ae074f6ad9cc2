/* exec/group_windows.c: sliding windows put together from slices, key by key.
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
 * Merges are calls over arrays: they are queued, and run in the order they were asked for. As long as no entry leaves or
 * comes, windows have one and the same value, which is made once: of a key that is rare, most windows do.
 *
 * Windows go out key by key. Writers find values that they just wrote, and entries are visited in a row; where all fit
 * one batch they are put in order of time instead, for those who read them. */
#include <stdlib.h>

#include "exec/group_slices.h"

enum {
    OUT_ROWS = 2048,
    MERGES = 1024,
    FOUND_MAX = 1024, /* entries of a chain that are found and fetched while the chain before is walked: the first ones */
    AHEAD = 16        /* others are fetched some items ahead of their merge */
};

/* A chain whose turn comes. */
typedef struct turn {
    const fm_chain *chain; /* NULL: none */
    uint32_t n_found;
    char *found[FOUND_MAX]; /* values of items [head, head + n_found) */
} turn;

struct fm_walk {
    fm_slices *s;
    const fm_group_spec *spec;
    int64_t last;
    bool touched_only;
    fm_arena *arena;             /* what goes out */
    const fm_emit *out;
    size_t value_size;
    uint32_t items_max;          /* entries that a window can hold per key */

    turn turns[2], *waiting;     /* one is walked, the other waits for what was fetched */

    /* The chain under way. */
    const turn *turn;
    const fm_chain *chain;
    uint32_t low, high;          /* items of the window before: [low, high) */
    uint32_t next;               /* the item that the window before has for its sake: those before it have nothing more to give */
    uint32_t bar;                /* items [low, bar) are in front, [bar, high) at the back */
    uint32_t made_from, made_to; /* suffixes that exist, of items [made_from, made_to) */
    bool has_back;
    uint32_t room;
    char *suffixes;              /* [room] values: that of item i at i % room; then the back */
    char *back;
    size_t memory_size;

    char *dst[MERGES], *src[MERGES];
    int32_t n_merges;

    /* What goes out next. */
    int64_t times[OUT_ROWS];
    fm_key keys[OUT_ROWS];
    char *values[OUT_ROWS];      /* among results; of neighbours often the same */
    char *results;               /* [OUT_ROWS] values */
    int32_t n_out, n_results;
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
    k->waiting = &k->turns[0];
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

static char *result_at(const fm_walk *k, int32_t i) { return k->results + (size_t)i * k->value_size; }

int64_t fm_walk_emitted(const fm_walk *k) { return k ? k->emitted : 0; }

void fm_walk_free(fm_walk *k)
{
    if (!k) return;
    for (int32_t i = 0; i < k->n_results; i++) let_go(k, result_at(k, i)); /* after a failure */
    free(k->suffixes);
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

static const fm_slice *slice_of(const fm_walk *k, const fm_chain *c, uint32_t item) { return &k->s->slices[c->items[item].slice]; }
static const fm_slice *slice_at(const fm_walk *k, uint32_t item) { return slice_of(k, k->chain, item); }

static char *find_value(const fm_walk *k, const fm_chain *c, uint32_t item)
{
    return fm_state_value_at(k->s->part->state, slice_of(k, c, item)->bucket, c->items[item].entry);
}

static inline char *value_of(const fm_walk *k, uint32_t item)
{
    uint32_t i = item - k->chain->head;

    return i < k->turn->n_found ? k->turn->found[i] : find_value(k, k->chain, item);
}

/* For items that come soon. */
static inline void fetch_value(const fm_walk *k, uint32_t item)
{
    if (item - k->chain->head >= k->turn->n_found) __builtin_prefetch(find_value(k, k->chain, item));
}

/* Finds and fetches what the windows that are due have. */
static void take_turn(const fm_walk *k, turn *t, const fm_chain *c)
{
    t->chain = c;
    t->n_found = 0;
    for (uint32_t i = c->head; i < c->n && t->n_found < FOUND_MAX && slice_of(k, c, i)->first <= k->last; i++) {
        char *value = find_value(k, c, i);
        __builtin_prefetch(value);
        t->found[t->n_found++] = value;
    }
}

static char *suffix_of(const fm_walk *k, uint32_t item) { return k->suffixes + (size_t)(item % k->room) * k->value_size; }

/* ---- From window to window -------------------------------------------------------------------------------------- */

static bool is_touched(const fm_walk *k, uint32_t item)
{
    return fm_state_is_touched(slice_at(k, item)->bucket, k->chain->items[item].entry);
}

/* The next window from `from` on with an entry (that was touched); INT64_MAX: none. */
static int64_t next_window(fm_walk *k, int64_t from)
{
    for (; k->next < k->chain->n; k->next++) {
        const fm_slice *slice = slice_at(k, k->next);
        if (slice->last < from || (k->touched_only && !is_touched(k, k->next))) continue;
        int64_t window = slice->first > from ? slice->first : from;
        return window <= k->last ? window : INT64_MAX;
    }
    return INT64_MAX;
}

/* The last window, from the one that the stacks stand for on, that holds the same entries (and one that was touched). */
static int64_t last_alike(const fm_walk *k)
{
    int64_t last = slice_at(k, k->low)->last, last_next = slice_at(k, k->next)->last;

    if (last_next < last) last = last_next;
    if (k->high < k->chain->n && slice_at(k, k->high)->first <= last) last = slice_at(k, k->high)->first - 1;
    return last < k->last ? last : k->last;
}

static void drop_stacks(fm_walk *k)
{
    for (; k->made_from < k->made_to; k->made_from++) let_go(k, suffix_of(k, k->made_from));
    if (k->has_back) let_go(k, k->back);
    k->has_back = false;
}

/* Moves the bar to the end: all items of the window in front. */
static fm_status make_front(fm_walk *k, fm_error *err)
{
    FM_TRY(run_merges(k, err)); /* they read the stacks as they are */
    drop_stacks(k);
    k->made_from = k->made_to = k->bar = k->high;
    for (uint32_t i = k->high; i-- > k->low;) {
        if (i - k->low >= AHEAD) fetch_value(k, i - AHEAD);
        k->made_from = i;
        FM_TRY(copy(k, suffix_of(k, i), value_of(k, i), err));
        if (i + 1 < k->high) FM_TRY(merge(k, suffix_of(k, i), suffix_of(k, i + 1), err));
    }
    return run_merges(k, err);
}

static fm_status add_to_back(fm_walk *k, uint32_t from, fm_error *err)
{
    for (uint32_t i = from; i < k->high; i++) {
        if (k->has_back) {
            FM_TRY(merge(k, k->back, value_of(k, i), err));
            continue;
        }
        k->has_back = true;
        FM_TRY(copy(k, k->back, value_of(k, i), err));
    }
    return FM_OK;
}

/* The stacks for a window; entries are fetched ahead. */
static fm_status go_to(fm_walk *k, int64_t window, fm_error *err)
{
    uint32_t n = k->chain->n, before = k->high;

    while (slice_at(k, k->low)->last < window) k->low++; /* there is one that does not end before: the next */
    if (k->high < k->low) k->high = k->low;
    while (k->high < n && slice_at(k, k->high)->first <= window) {
        if (n - k->high > AHEAD) fetch_value(k, k->high + AHEAD);
        k->high++;
    }
    return k->bar <= k->low ? make_front(k, err) : add_to_back(k, before, err);
}

/* ---- Going out -------------------------------------------------------------------------------------------------- */

typedef struct place {
    int64_t time_us;
    int32_t row;
} place;

static int by_time(const void *a, const void *b)
{
    const place *x = a, *y = b;

    if (x->time_us != y->time_us) return x->time_us < y->time_us ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* All that goes out, in order of time; keys of a window as they came. */
static fm_status sort_rows(fm_walk *k, fm_error *err)
{
    int32_t n = k->n_out;
    place *places = fm_arena_array(k->arena, place, n);
    fm_key *keys = fm_arena_array(k->arena, fm_key, n);
    char **values = fm_arena_array(k->arena, char *, n);

    if (!places || !keys || !values) return fm_no_memory(k->arena, err);
    for (int32_t i = 0; i < n; i++) {
        places[i] = (place){k->times[i], i};
        keys[i] = k->keys[i];
        values[i] = k->values[i];
    }
    qsort(places, (size_t)n, sizeof *places, by_time);
    for (int32_t i = 0; i < n; i++) {
        k->times[i] = places[i].time_us;
        k->keys[i] = keys[places[i].row];
        k->values[i] = values[places[i].row];
    }
    return FM_OK;
}

/* Hands on what there is. The last result stays when it is `kept`, as the only one. */
static fm_status give_out(fm_walk *k, bool is_all, bool kept, fm_error *err)
{
    int32_t n = k->n_out, done = k->n_results - kept;
    fm_status st = run_merges(k, err);

    if (st == FM_OK && n) {
        fm_arena_reset(k->arena);
        if (is_all) st = sort_rows(k, err);
        if (st == FM_OK) st = fm_group_emit(k->spec, k->times, k->keys, k->values, n, k->arena, k->out, err);
    }
    for (int32_t i = 0; i < done; i++) let_go(k, result_at(k, i));
    if (kept && done) memcpy(k->results, result_at(k, done), k->value_size);
    k->n_results = kept;
    k->emitted += n;
    k->n_out = 0;
    return st;
}

/* The value of the stacks, for the windows from `window` to `last`. */
static fm_status add_windows(fm_walk *k, int64_t window, int64_t last, fm_error *err)
{
    if (k->n_out == OUT_ROWS) FM_TRY(give_out(k, false, false, err));
    char *result = result_at(k, k->n_results++);
    FM_TRY(copy(k, result, suffix_of(k, k->low), err));
    if (k->has_back) FM_TRY(merge(k, result, k->back, err));
    for (;; window++) {
        k->times[k->n_out] = fm_window_end(&k->spec->window, window);
        memcpy(&k->keys[k->n_out].u, k->chain->key, sizeof k->chain->key);
        k->values[k->n_out++] = result;
        if (window == last) return FM_OK;
        if (k->n_out < OUT_ROWS) continue;
        FM_TRY(give_out(k, false, true, err));
        result = k->results;
    }
}

/* ---- Chains ----------------------------------------------------------------------------------------------------- */

static fm_status make_room(fm_walk *k, fm_error *err)
{
    uint32_t items = k->chain->n - k->chain->head;

    k->room = items < k->items_max ? items : k->items_max;
    size_t size = ((size_t)k->room + 1) * k->value_size;
    if (size > k->memory_size) {
        free(k->suffixes);
        k->memory_size = 0;
        k->suffixes = malloc(size);
        if (!k->suffixes) return fm_no_memory(NULL, err);
        k->memory_size = size;
    }
    k->back = k->suffixes + (size_t)k->room * k->value_size;
    return FM_OK;
}

static fm_status walk(fm_walk *k, fm_error *err)
{
    int64_t window = next_window(k, k->s->lower);

    while (window != INT64_MAX) {
        FM_TRY(go_to(k, window, err));
        int64_t last = last_alike(k);
        FM_TRY(add_windows(k, window, last, err));
        window = last >= INT64_MAX - 1 ? INT64_MAX : next_window(k, last + 1);
    }
    return run_merges(k, err);
}

static fm_status walk_waiting(fm_walk *k, fm_error *err)
{
    k->turn = k->waiting;
    k->chain = k->turn->chain;
    if (!k->chain) return FM_OK;
    k->low = k->high = k->next = k->bar = k->made_from = k->made_to = k->chain->head;
    FM_TRY(make_room(k, err));
    fm_status st = walk(k, err);
    k->n_merges = 0;
    drop_stacks(k);
    return st;
}

fm_status fm_walk_chain(fm_walk *k, uint32_t chain, fm_error *err)
{
    turn *next = k->waiting == &k->turns[0] ? &k->turns[1] : &k->turns[0];

    take_turn(k, next, &k->s->chains.chains[chain]);
    FM_TRY(walk_waiting(k, err));
    k->waiting = next;
    return FM_OK;
}

fm_status fm_walk_all(fm_walk *k, fm_error *err)
{
    for (uint32_t i = 0; i < k->s->chains.n; i++) {
        fm_chains_fetch_ahead(&k->s->chains, i);
        if (fm_chain_is_live(&k->s->chains.chains[i])) FM_TRY(fm_walk_chain(k, i, err));
    }
    return FM_OK;
}

fm_status fm_walk_end(fm_walk *k, fm_error *err)
{
    FM_TRY(walk_waiting(k, err));
    return give_out(k, k->emitted == 0, false, err);
}
