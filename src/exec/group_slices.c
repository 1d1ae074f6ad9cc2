/* exec/group_slices.c: sliding windows, kept as slices.
 *
 * Every edge of a window cuts time; a slice lies between two cuts. A row goes to one slice, however many windows
 * overlap there. Windows are put together from slices when they are emitted (group_windows.c), and a slice goes when
 * its last window has closed.
 *
 *     windows of 10 min every 5 min:   [----------)
 *                                           [----------)
 *     slices                           [----|----|----)
 *
 * What Spark counts are pairs of window and key: rows in state, updated, removed, dropped. They are never stored here,
 * and yet counted exactly: an entry that is new in slice j of a key adds the windows that hold j, but for those that hold
 * the key's entries just before or just after it as well. Windows that hold a slice are a range of numbers, and the ranges
 * of later slices begin and end later, so the neighbours in the chain are all that must be looked at. */
#include "exec/group_slices.h"

#include <stdlib.h>

enum { GROUP = 32 /* rows looked up together */, POP_ROWS = 256, TOLD_ITEMS_MAX = 10000 };

/* ---- Slices ----------------------------------------------------------------------------------------------------- */

static fm_status slice_of(fm_slices *s, fm_state_bucket *bucket, uint32_t *out, fm_error *err)
{
    uint32_t tag = fm_state_bucket_tag(bucket);

    if (tag) {
        *out = tag - 1;
        return FM_OK;
    }
    if (s->free_slice) {
        *out = s->free_slice - 1;
        s->free_slice = s->slices[*out].next_free;
    } else {
        if (s->n_slices == s->cap_slices) {
            uint32_t cap = s->cap_slices ? s->cap_slices * 2 : 64;
            fm_slice *more = realloc(s->slices, (size_t)cap * sizeof *more);
            if (!more) return fm_no_memory(NULL, err);
            s->slices = more;
            s->cap_slices = cap;
        }
        *out = s->n_slices++;
    }
    const fm_window_spec *w = &s->part->spec->window;
    int64_t start_us = fm_state_bucket_time(bucket);
    s->n_live++;
    s->slices[*out] = (fm_slice){.bucket = bucket, .start_us = start_us, .first = fm_slice_first_window(w, start_us), .last = fm_slice_last_window(w, start_us)};
    fm_state_bucket_set_tag(bucket, *out + 1);
    return FM_OK;
}

/* The slice that begins at a time, made when missing. */
static inline fm_status slice_at(fm_slices *s, int64_t start_us, uint32_t *out, fm_error *err)
{
    uint32_t at = (uint32_t)(((uint64_t)start_us * UINT64_C(0x9E3779B97F4A7C15)) >> 55);
    fm_state_bucket *bucket;

    _Static_assert(FM_SLICES_CACHE == 512, "nine bits of the product");
    if (s->found[at].slice && s->found[at].start_us == start_us) {
        *out = s->found[at].slice - 1;
        return FM_OK;
    }
    FM_TRY(fm_state_bucket_at(s->part->state, start_us, &bucket, err));
    FM_TRY(slice_of(s, bucket, out, err));
    s->found[at].start_us = start_us;
    s->found[at].slice = *out + 1;
    return FM_OK;
}

static void forget_slice(fm_slices *s, uint32_t slice)
{
    s->slices[slice] = (fm_slice){.next_free = s->free_slice};
    s->free_slice = slice + 1;
    s->n_live--;
}

/* ---- Pairs per window: what closing a window removes, when it is not emitted ------------------------------------------ */

/* Adds `by` at a window and all later ones; the list is sorted, and mostly added to near its end. */
static fm_status step_at(fm_slices *s, int64_t window, int64_t by, fm_error *err)
{
    int64_t low = 0, high = s->n_steps;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (s->steps[middle].window < window) low = middle + 1;
        else high = middle;
    }
    if (low < s->n_steps && s->steps[low].window == window) {
        s->steps[low].by += by;
        return FM_OK;
    }
    if (s->n_steps == s->cap_steps) {
        int64_t cap = s->cap_steps ? s->cap_steps * 2 : 64;
        fm_step *more = realloc(s->steps, (size_t)cap * sizeof *more);
        if (!more) return fm_no_memory(NULL, err);
        s->steps = more;
        s->cap_steps = cap;
    }
    memmove(s->steps + low + 1, s->steps + low, (size_t)(s->n_steps - low) * sizeof *s->steps);
    s->steps[low] = (fm_step){window, by};
    s->n_steps++;
    return FM_OK;
}

static fm_status add_pairs(fm_slices *s, int64_t from, int64_t to, fm_error *err)
{
    if (from < s->lower) from = s->lower;
    if (from > to) return FM_OK;
    s->rows += to - from + 1;
    if (!s->counts_windows) return FM_OK;
    FM_TRY(step_at(s, from, 1, err));
    return step_at(s, to + 1, -1, err);
}

/* Windows up to `last` are gone: how many pairs they had. What is beyond stays counted. */
static int64_t close_steps(fm_slices *s, int64_t last)
{
    int64_t pairs = 0, height = 0, i = 0;

    for (; i < s->n_steps && s->steps[i].window <= last; i++) {
        height += s->steps[i].by;
        int64_t next = i + 1 < s->n_steps && s->steps[i + 1].window <= last ? s->steps[i + 1].window : last + 1;
        pairs += height * (next - s->steps[i].window);
    }
    if (i == 0) return 0;
    if (height) {
        i--;
        s->steps[i] = (fm_step){last + 1, height};
    }
    memmove(s->steps, s->steps + i, (size_t)(s->n_steps - i) * sizeof *s->steps);
    s->n_steps -= i;
    if (s->n_steps > 1 && s->steps[0].window == s->steps[1].window) {
        s->steps[1].by += s->steps[0].by;
        memmove(s->steps, s->steps + 1, (size_t)(s->n_steps - 1) * sizeof *s->steps);
        s->n_steps--;
    }
    return pairs;
}

/* ---- Entries come ----------------------------------------------------------------------------------------------- */

static int64_t start_at(const fm_slices *s, const fm_chain *c, uint32_t i) { return s->slices[c->items[i].slice].start_us; }

/* Where a slice may stand in a chain: as far before the last item as it is earlier, if the chain's items lie evenly. */
static uint32_t guess_place(const fm_slices *s, const fm_chain *c, int64_t start_us)
{
    const fm_window_spec *w = &s->part->spec->window;
    double earlier = ((double)s->slices[c->tail].start_us - (double)start_us) / (double)w->slide_us;
    uint32_t live = s->n_live > 0 ? s->n_live : 1, n = c->n - c->head;
    double back = earlier * (double)n / (double)live * (w->duration_us % w->slide_us ? 2 : 1);

    return back < (double)(n - 1) ? c->n - 1 - (uint32_t)back : c->head;
}

/* Where a slice stands in a chain, or would. */
static uint32_t place_of(const fm_slices *s, const fm_chain *c, int64_t start_us)
{
    if (c->head == c->n || s->slices[c->tail].start_us < start_us) return c->n;
    uint32_t low = c->head, high = c->n, at = guess_place(s, c, start_us), step = 1;
    /* From the guess on in growing steps, then between the last two. */
    if (start_at(s, c, at) < start_us) {
        for (low = at + 1; at + step < high && start_at(s, c, at + step) < start_us; step *= 2) low = at + step + 1;
        if (at + step < high) high = at + step;
    } else {
        for (high = at; at - low >= step && start_at(s, c, at - step) >= start_us; step *= 2) high = at - step;
        if (at - low >= step) low = at - step + 1;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (start_at(s, c, middle) < start_us) low = middle + 1;
        else high = middle;
    }
    return low;
}

static fm_status add_item(fm_slices *s, fm_chain *c, uint32_t at, const fm_key *stored_key, uint32_t slice, uint32_t entry, char *value, fm_error *err)
{
    const fm_slice *own = &s->slices[slice];
    int64_t from = own->first, to = own->last;

    if (at > c->head) {
        int64_t covered = s->slices[at == c->n ? c->tail : c->items[at - 1].slice].last;
        if (covered >= from) from = covered + 1;
    }
    if (at < c->n) {
        int64_t covered = s->slices[c->items[at].slice].first;
        if (covered <= to) to = covered - 1;
    }
    /* A long key's bytes are those of the entry that goes last. */
    if (at == c->n) memcpy(c->key, &stored_key->u, sizeof c->key);
    if (!fm_chain_insert(&s->chains, c, at, (fm_chain_item){slice, entry}, value)) return fm_no_memory(NULL, err);
    s->items++;
    return add_pairs(s, from, to, err);
}

/* Notes which chains were touched in this micro-batch, and from which slice to which. */
static fm_status note_touch(fm_slices *s, uint32_t number, uint32_t slice, fm_error *err)
{
    fm_chain *c = &s->chains.chains[number];
    int64_t start_us = s->slices[slice].start_us;

    if (c->batch == s->batch) {
        if (start_us > s->slices[c->last].start_us) c->last = slice;
        if (start_us < s->slices[c->first].start_us) c->first = slice;
        return FM_OK;
    }
    c->batch = s->batch;
    c->first = c->last = slice;
    if (s->n_touched == s->cap_touched) {
        uint32_t cap = s->cap_touched ? s->cap_touched * 2 : 256;
        uint32_t *more = realloc(s->touched, (size_t)cap * sizeof *more);
        if (!more) return fm_no_memory(NULL, err);
        s->touched = more;
        s->cap_touched = cap;
    }
    s->touched[s->n_touched++] = number;
    return FM_OK;
}

static fm_status new_entry(fm_slices *s, fm_chain *c, uint32_t at, const fm_key *key, uint32_t slice, char **value, fm_error *err)
{
    fm_state_bucket *bucket = s->slices[slice].bucket;
    uint32_t entry = (uint32_t)fm_state_bucket_rows(bucket);
    fm_key stored = *key;

    FM_TRY(fm_state_append(s->part->state, bucket, key, value, err));
    if (!fm_key_is_inline(key)) stored = fm_state_key_at(s->part->state, bucket, entry);
    return add_item(s, c, at, &stored, slice, entry, *value, err);
}

static char *item_value(const fm_slices *s, const fm_chain *c, uint32_t at)
{
    return fm_state_value_at(s->part->state, s->slices[c->items[at].slice].bucket, c->items[at].entry);
}

static bool has_at(const fm_chain *c, uint32_t at, uint32_t slice) { return at < c->n && c->items[at].slice == slice; }

/* Its last entry was touched in this micro-batch: nothing is to be done but to give it out. */
static inline bool is_at_tail(const fm_slices *s, const fm_chain *c, uint32_t slice)
{
    return (c->tail == slice) & (c->batch == s->batch) & (c->last == slice);
}

/* hint: where the slice was in the chain a moment ago. */
static fm_status upsert_one(fm_slices *s, uint32_t number, const fm_key *key, uint32_t slice, uint32_t hint, char **value, fm_error *err)
{
    fm_chain *c = &s->chains.chains[number];

    if (is_at_tail(s, c, slice)) {
        *value = c->tail_value;
        return FM_OK;
    }
    uint32_t at = c->tail == slice ? c->n - 1 : has_at(c, hint, slice) ? hint : place_of(s, c, s->slices[slice].start_us);
    if (has_at(c, at, slice)) {
        *value = item_value(s, c, at);
        FM_TRY(fm_state_touch_at(s->part->state, s->slices[slice].bucket, c->items[at].entry, err));
    } else {
        FM_TRY(new_entry(s, c, at, key, slice, value, err));
    }
    return note_touch(s, number, slice, err);
}

/* A row whose entry is not at hand. */
typedef struct seeker {
    int32_t row;
    uint32_t chain; /* UINT32_MAX: none yet */
    uint32_t hint;  /* see upsert_one */
    bool is_late;   /* its slice is not the chain's last, or a new one behind it */
} seeker;

/* Fetches what upsert_one will look at; of late ones, where their items may be. */
static inline void fetch(const fm_slices *s, seeker *k, uint32_t slice)
{
    const fm_chain *c = &s->chains.chains[k->chain];

    if (c->tail == slice) return;
    int64_t start_us = s->slices[slice].start_us;
    k->is_late = start_us < s->slices[c->tail].start_us;
    __builtin_prefetch(c->items + (k->is_late ? guess_place(s, c, start_us) : c->n), 1, 3);
}

static inline void fetch_entry(const fm_slices *s, seeker *k, uint32_t slice)
{
    const fm_chain *c = &s->chains.chains[k->chain];

    k->hint = place_of(s, c, s->slices[slice].start_us);
    if (has_at(c, k->hint, slice)) __builtin_prefetch(item_value(s, c, k->hint), 1, 3);
}

/* Up to GROUP rows, step by step together: what one waits for, the others wait for as well. Most go to the last entry of
 * their chain; these are done at once. */
static fm_status upsert_group(fm_slices *s, const int64_t *times, const fm_key *keys, int32_t n, char **values, fm_error *err)
{
    uint32_t slices[GROUP];
    seeker seekers[GROUP];
    int32_t n_seekers = 0;

    for (int32_t i = 0; i < n; i++) {
        fm_chains_prefetch(&s->chains, &keys[i]);
        FM_TRY(slice_at(s, times[i], &slices[i], err));
    }
    for (int32_t i = 0; i < n; i++) {
        uint32_t chain = fm_chains_find(&s->chains, &keys[i]);
        bool done = false;
        if (chain != UINT32_MAX) {
            const fm_chain *c = &s->chains.chains[chain];
            done = is_at_tail(s, c, slices[i]);
            values[i] = c->tail_value;
            __builtin_prefetch(c->tail_value, 1, 3);
        }
        seekers[n_seekers] = (seeker){.row = i, .chain = chain, .hint = UINT32_MAX};
        n_seekers += !done;
    }
    for (int32_t k = 0; k < n_seekers; k++) {
        if (seekers[k].chain != UINT32_MAX) fetch(s, &seekers[k], slices[seekers[k].row]);
    }
    for (int32_t k = 0; k < n_seekers; k++) {
        if (seekers[k].is_late) fetch_entry(s, &seekers[k], slices[seekers[k].row]);
    }
    for (int32_t k = 0; k < n_seekers; k++) {
        int32_t i = seekers[k].row;
        uint32_t chain = seekers[k].chain != UINT32_MAX ? seekers[k].chain : fm_chains_add(&s->chains, &keys[i]);
        if (chain == UINT32_MAX) return fm_no_memory(NULL, err);
        FM_TRY(upsert_one(s, chain, &keys[i], slices[i], seekers[k].hint, &values[i], err));
    }
    return FM_OK;
}

fm_status fm_slices_upsert(fm_slices *s, const int64_t *times, const fm_key *keys, int32_t n, char **values, fm_error *err)
{
    for (int32_t from = 0; from < n; from += GROUP) {
        int32_t some = n - from < GROUP ? n - from : GROUP;
        FM_TRY(upsert_group(s, times + from, keys + from, some, values + from, err));
    }
    return FM_OK;
}

/* ---- Making and loading ------------------------------------------------------------------------------------------- */

/* Windows up to this one are closed or late. */
static int64_t last_done(const fm_slices *s, int64_t late_us)
{
    int64_t done_us = late_us > s->closed_us ? late_us : s->closed_us;

    return fm_last_window_ended(&s->part->spec->window, done_us);
}

static void set_lower(fm_slices *s, int64_t late_us)
{
    int64_t last = last_done(s, late_us);

    s->lower = last == INT64_MIN ? INT64_MIN : last + 1;
}

static fm_status load_bucket(fm_slices *s, fm_state_bucket *bucket, fm_error *err)
{
    uint32_t slice;

    FM_TRY(slice_of(s, bucket, &slice, err));
    for (int64_t i = 0; i < fm_state_bucket_rows(bucket); i++) {
        fm_key key = fm_state_key_at(s->part->state, bucket, i);
        uint32_t chain = fm_chains_add(&s->chains, &key);
        if (chain == UINT32_MAX) return fm_no_memory(NULL, err);
        fm_chain *c = &s->chains.chains[chain];
        char *value = fm_state_value_at(s->part->state, bucket, i);
        FM_TRY(add_item(s, c, place_of(s, c, s->slices[slice].start_us), &key, slice, (uint32_t)i, value, err));
    }
    return FM_OK;
}

fm_status fm_slices_new(fm_group_part *part, int64_t mark, fm_slices **out, fm_error *err)
{
    fm_slices *s = calloc(1, sizeof *s);
    fm_state_bucket *bucket;

    *out = s;
    if (!s) return fm_no_memory(NULL, err);
    s->part = part;
    s->closed_us = mark;
    s->counts_windows = part->spec->closes && part->spec->mode == FM_MODE_UPDATE;
    set_lower(s, INT64_MIN);
    for (int32_t i = 0; (bucket = fm_state_bucket_nth(part->state, i)); i++) FM_TRY(load_bucket(s, bucket, err));
    return FM_OK;
}

void fm_slices_free(fm_slices *s)
{
    if (!s) return;
    fm_chains_fini(&s->chains);
    free(s->slices);
    free(s->steps);
    free(s->touched);
    free(s);
}

void fm_slices_begin(fm_slices *s, const fm_group_bounds *bounds)
{
    s->batch++;
    s->n_touched = 0;
    memset(s->found, 0, sizeof s->found);
    set_lower(s, bounds->late_us);
}

int64_t fm_slices_rows(const fm_slices *s) { return s->rows; }

int64_t fm_slices_memory(const fm_slices *s)
{
    return fm_chains_memory(&s->chains) + (int64_t)s->cap_slices * (int64_t)sizeof *s->slices + s->cap_steps * (int64_t)sizeof *s->steps + (int64_t)s->cap_touched * (int64_t)sizeof *s->touched;
}

/* ---- Entries go ------------------------------------------------------------------------------------------------- */

/* All entries of the slice are the first of their chains. */
static void pop_slice(fm_slices *s, fm_state_bucket *bucket)
{
    fm_key keys[POP_ROWS];
    int64_t at = 0;
    int32_t n;

    while ((n = fm_state_scan(s->part->state, bucket, &at, false, keys, NULL, POP_ROWS)) > 0) {
        for (int32_t i = 0; i < n; i++) fm_chains_prefetch(&s->chains, &keys[i]);
        for (int32_t i = 0; i < n; i++) {
            uint32_t number = fm_chains_find(&s->chains, &keys[i]);
            fm_assert(number != UINT32_MAX);
            fm_chain *c = &s->chains.chains[number];
            fm_assert(s->slices[c->items[c->head].slice].bucket == bucket);
            c->head++;
            s->items--;
            if (c->head == c->n) fm_chains_remove(&s->chains, number);
        }
    }
}

/* The same for all slices that end by a window, chain by chain. */
static void pop_chains(fm_slices *s, int64_t last_closed)
{
    for (uint32_t i = 0; i < s->chains.n; i++) {
        fm_chain *c = &s->chains.chains[i];
        uint32_t head = c->head;
        fm_chains_fetch_ahead(&s->chains, i);
        if (!fm_chain_is_live(c)) continue;
        while (c->head < c->n && s->slices[c->items[c->head].slice].last <= last_closed) c->head++;
        s->items -= c->head - head;
        if (c->head == c->n) fm_chains_remove(&s->chains, i);
    }
}

static void drop_slices(fm_slices *s, int64_t last_closed)
{
    fm_state_bucket *bucket;
    int64_t entries = 0;
    int32_t n = 0;

    for (; (bucket = fm_state_bucket_nth(s->part->state, n)); n++) {
        if (s->slices[fm_state_bucket_tag(bucket) - 1].last > last_closed) break;
        entries += fm_state_bucket_rows(bucket);
    }
    bool by_chain = entries >= s->chains.live;
    if (by_chain && n) pop_chains(s, last_closed);
    for (; n > 0; n--) {
        bucket = fm_state_bucket_nth(s->part->state, 0);
        if (!by_chain) pop_slice(s, bucket);
        forget_slice(s, fm_state_bucket_tag(bucket) - 1);
        fm_state_bucket_drop(s->part->state, bucket);
    }
}

/* ---- The input is over ------------------------------------------------------------------------------------------ */

/* Chains with an entry in a window up to `last`: the first entry of each lies in a slice that begins by then. Told by
 * walking those slices, or all chains where that is less. */
static fm_status walk_due(fm_slices *s, int64_t last, fm_walk *walk, fm_error *err)
{
    int64_t entries = 0;
    fm_state_bucket *bucket;
    int32_t end = 0;

    for (; (bucket = fm_state_bucket_nth(s->part->state, end)); end++) {
        if (s->slices[fm_state_bucket_tag(bucket) - 1].first > last) break;
        entries += fm_state_bucket_rows(bucket);
    }
    if (entries >= s->chains.live) return fm_walk_all(walk, err);
    for (int32_t b = 0; b < end; b++) {
        bucket = fm_state_bucket_nth(s->part->state, b);
        for (int64_t i = 0; i < fm_state_bucket_rows(bucket); i++) {
            fm_key key = fm_state_key_at(s->part->state, bucket, i);
            uint32_t number = fm_chains_find(&s->chains, &key);
            const fm_chain *c = &s->chains.chains[number];
            if (s->slices[c->items[c->head].slice].bucket == bucket) FM_TRY(fm_walk_chain(walk, number, err));
        }
    }
    return FM_OK;
}

/* Pairs of window and key that this micro-batch touched. */
static void count_updated(fm_slices *s)
{
    for (uint32_t t = 0; t < s->n_touched; t++) {
        const fm_chain *c = &s->chains.chains[s->touched[t]];
        int64_t next = s->lower; /* the first window not counted yet */
        uint32_t end = place_of(s, c, s->slices[c->last].start_us);
        for (uint32_t i = place_of(s, c, s->slices[c->first].start_us); i <= end; i++) {
            const fm_slice *slice = &s->slices[c->items[i].slice];
            if (slice->last < next || !fm_state_is_touched(slice->bucket, c->items[i].entry)) continue;
            s->part->updated += slice->last + 1 - (slice->first > next ? slice->first : next);
            next = slice->last + 1;
        }
    }
}

fm_status fm_slices_finish(fm_slices *s, const fm_op_batch *mb, fm_arena *arena, const fm_emit *out, fm_error *err)
{
    fm_group_bounds bounds = fm_group_bounds_of(s->part->spec, mb);
    fm_output_mode mode = mb->is_stream ? s->part->spec->mode : FM_MODE_COMPLETE;
    int64_t last_closed = bounds.on ? fm_last_window_ended(&s->part->spec->window, bounds.close_us) : INT64_MIN;
    fm_walk *walk;

    count_updated(s);
    FM_TRY(fm_slices_count_late(s, &bounds, &s->part->dropped, err));
    FM_TRY(fm_walk_new(s, mode == FM_MODE_APPEND ? last_closed : INT64_MAX, mode == FM_MODE_UPDATE, arena, out, &walk, err));
    fm_status st = FM_OK;
    if (mode == FM_MODE_COMPLETE) {
        st = fm_walk_all(walk, err);
    } else if (mode == FM_MODE_UPDATE) {
        for (uint32_t i = 0; st == FM_OK && i < s->n_touched; i++) st = fm_walk_chain(walk, s->touched[i], err);
    } else if (last_closed >= s->lower) {
        st = walk_due(s, last_closed, walk, err);
    }
    if (st == FM_OK) st = fm_walk_end(walk, err);
    int64_t emitted = fm_walk_emitted(walk);
    fm_walk_free(walk);
    FM_TRY(st);
    if (!bounds.on) return FM_OK;
    if (last_closed >= s->lower) {
        s->part->removed = mode == FM_MODE_APPEND ? emitted : close_steps(s, last_closed);
        s->rows -= s->part->removed;
    }
    drop_slices(s, last_closed);
    if (bounds.close_us > s->closed_us) s->closed_us = bounds.close_us;
    return FM_OK;
}

/* ---- Late groups ------------------------------------------------------------------------------------------------ */

/* The late windows of each slice, but for those that the key missed by an earlier slice already. */
static fm_status count_bucket(fm_slices *s, fm_state_bucket *bucket, int64_t last_late, fm_state_part *seen, int64_t *dropped, fm_error *err)
{
    const fm_window_spec *w = &s->part->spec->window;
    int64_t first = fm_slice_first_window(w, fm_state_bucket_time(bucket)), last = fm_slice_last_window(w, fm_state_bucket_time(bucket));
    fm_state_bucket *all;

    if (last > last_late) last = last_late;
    FM_TRY(fm_state_bucket_at(seen, 0, &all, err));
    for (int64_t i = 0; i < fm_state_bucket_rows(bucket); i++) {
        fm_key key = fm_state_key_at(s->part->late, bucket, i);
        char *value;
        uint8_t touch;
        FM_TRY(fm_state_upsert_in(seen, all, &key, 1, &value, &touch, err));
        int64_t *covered = (int64_t *)(void *)value;
        int64_t from = touch != FM_STATE_FRESH && *covered >= first ? *covered + 1 : first;
        if (from <= last) *dropped += last - from + 1;
        if (touch == FM_STATE_FRESH || *covered < last) *covered = last;
    }
    return FM_OK;
}

fm_status fm_slices_count_late(fm_slices *s, const fm_group_bounds *bounds, int64_t *dropped, fm_error *err)
{
    const fm_group_spec *spec = s->part->spec;
    int64_t last_late = spec->by_event ? INT64_MAX : fm_last_window_ended(&spec->window, bounds->late_us);
    fm_state_spec seen_spec = {.in_memory = true, .value_size = sizeof(int64_t)};
    fm_state *seen;
    fm_state_bucket *bucket;

    *dropped = 0;
    if (!fm_state_bucket_nth(s->part->late, 0)) return FM_OK;
    FM_TRY(fm_state_open(&seen_spec, 0, &seen, err));
    fm_status st = FM_OK;
    for (int32_t i = 0; st == FM_OK && (bucket = fm_state_bucket_nth(s->part->late, i)); i++) {
        st = count_bucket(s, bucket, last_late, fm_state_part_at(seen, 0), dropped, err);
    }
    fm_state_close(seen);
    return st;
}

/* ---- For people ------------------------------------------------------------------------------------------------- */

int32_t fm_slices_windows(const fm_slices *s, fm_op_window *out, int32_t n)
{
    const fm_window_spec *w = &s->part->spec->window;
    int32_t got = 0;
    fm_state_bucket *bucket;

    if (s->items > TOLD_ITEMS_MAX) return 0; /* it would take a walk over all of them */
    int64_t next = s->lower;
    for (int32_t b = 0; got < n && (bucket = fm_state_bucket_nth(s->part->state, b)); b++) {
        const fm_slice *slice = &s->slices[fm_state_bucket_tag(bucket) - 1];
        for (int64_t k = next > slice->first ? next : slice->first; got < n && k <= slice->last; k++) {
            int64_t end_us = fm_window_end(w, k), groups = 0;
            for (uint32_t c = 0; c < s->chains.n; c++) {
                const fm_chain *chain = &s->chains.chains[c];
                uint32_t i = chain->head;
                if (!fm_chain_is_live(chain)) continue;
                while (i < chain->n && s->slices[chain->items[i].slice].last < k) i++;
                groups += i < chain->n && s->slices[chain->items[i].slice].first <= k;
            }
            out[got++] = (fm_op_window){end_us - w->duration_us, end_us, groups};
            next = k + 1;
        }
    }
    return got;
}
