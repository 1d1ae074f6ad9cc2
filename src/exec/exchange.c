/* exec/exchange.c: lanes of parcels, taken in order. One lock; parcels hold thousands of rows. */
#include "exec/exchange.h"

#include <stdlib.h>

#include "base/limits.h"
#include "os/thread.h"

enum {
    PIECES_PER_WORKER = 4,      /* under way at once */
    BATCH_BITS = 32,            /* order: piece, batch, stage */
    SPARE_MAX = 32              /* parcels kept for use again */
};
#define HELD_SIZE_MAX ((size_t)64 << 20) /* bytes in parcels before senders that are ahead wait */

typedef struct fifo {
    fm_parcel *first, *last;
} fifo;

/* A piece under way. */
typedef struct lane {
    fifo *parcels;              /* [receivers] */
    bool over;                  /* nothing more comes */
} lane;

struct fm_exchange {
    int32_t workers, receivers;
    fm_exchange_apply apply;
    void *ctx;
    fm_wake *cancelled;
    bool assigned, solo;
    fm_mutex *mutex;
    fm_cond *changed;
    int64_t pieces, next;       /* how many, and the next to be taken */
    int64_t window;             /* pieces that may be under way; a piece's lane is at piece % window */
    lane *lanes;                /* [window] */
    int64_t lowest;             /* the first piece that is not over */
    int64_t *turns;             /* [receivers] the piece whose parcels a receiver applies */
    int64_t *taken;             /* [workers] the piece a worker is at; -1 */
    int64_t *batches;           /* [workers] batches of it so far */
    size_t held;                /* bytes in parcels sent and not applied */
    fm_parcel *spare;
    int32_t n_spare;
    int64_t failed_at;          /* order of the first failure; INT64_MAX: none */
    fm_status failed;
    fm_error error;
};

fm_status fm_exchange_new(int32_t workers, int32_t receivers, fm_exchange_apply apply, void *ctx, fm_exchange **out, fm_error *err)
{
    fm_exchange *ex = calloc(1, sizeof *ex);

    *out = ex;
    if (!ex) return fm_no_memory(NULL, err);
    ex->workers = workers;
    ex->receivers = receivers;
    ex->apply = apply;
    ex->ctx = ctx;
    ex->window = (int64_t)workers * PIECES_PER_WORKER;
    ex->mutex = fm_mutex_new();
    ex->changed = fm_cond_new();
    ex->lanes = calloc((size_t)ex->window, sizeof *ex->lanes);
    ex->turns = calloc((size_t)receivers + 1, sizeof *ex->turns);
    ex->taken = calloc((size_t)workers, sizeof *ex->taken);
    ex->batches = calloc((size_t)workers, sizeof *ex->batches);
    if (!ex->mutex || !ex->changed || !ex->lanes || !ex->turns || !ex->taken || !ex->batches) return fm_no_memory(NULL, err);
    for (int64_t i = 0; i < ex->window; i++) {
        ex->lanes[i].parcels = calloc((size_t)receivers + 1, sizeof(fifo));
        if (!ex->lanes[i].parcels) return fm_no_memory(NULL, err);
    }
    return FM_OK;
}

static void free_parcels(fm_parcel *p)
{
    while (p) {
        fm_parcel *next = p->next;
        fm_arena_free(p->arena);
        free(p);
        p = next;
    }
}

void fm_exchange_free(fm_exchange *ex)
{
    if (!ex) return;
    for (int64_t i = 0; ex->lanes && i < ex->window; i++) {
        for (int32_t r = 0; ex->lanes[i].parcels && r < ex->receivers; r++) free_parcels(ex->lanes[i].parcels[r].first);
        free(ex->lanes[i].parcels);
    }
    free_parcels(ex->spare);
    free(ex->lanes);
    free(ex->turns);
    free(ex->taken);
    free(ex->batches);
    fm_mutex_free(ex->mutex);
    fm_cond_free(ex->changed);
    free(ex);
}

void fm_exchange_begin(fm_exchange *ex, int64_t pieces, bool assigned, bool solo, fm_wake *cancelled)
{
    fm_assert(!assigned || pieces <= ex->window);
    ex->pieces = pieces;
    ex->assigned = assigned;
    ex->solo = solo;
    ex->cancelled = cancelled;
    ex->next = assigned ? pieces : 0; /* assigned ones are under way from the start */
    ex->lowest = 0;
    ex->failed_at = INT64_MAX;
    ex->failed = FM_OK;
    for (int64_t i = 0; i < ex->window; i++) ex->lanes[i].over = false;
    for (int32_t r = 0; r < ex->receivers; r++) ex->turns[r] = 0;
    for (int32_t w = 0; w < ex->workers; w++) {
        ex->taken[w] = -1;
        ex->batches[w] = 0;
    }
}

fm_status fm_exchange_result(fm_exchange *ex, fm_error *err)
{
    if (ex->failed != FM_OK && err) *err = ex->error;
    return ex->failed;
}

/* ---- Failures --------------------------------------------------------------------------------------------------- */

/* Where the work of a batch stands in the order of the input. What is made of it is applied after it was made. */
static int64_t order_of(int64_t piece, int64_t batch, bool applied) { return piece << BATCH_BITS | batch << 1 | applied; }

/* Under the lock. */
static void note_failure(fm_exchange *ex, int64_t order, fm_status st, const fm_error *err)
{
    if (order >= ex->failed_at) return;
    ex->failed_at = order;
    ex->failed = st;
    if (err) ex->error = *err;
    fm_cond_broadcast(ex->changed);
}

/* ---- Applying --------------------------------------------------------------------------------------------------- */

/* Under the lock. The lowest piece over moves on; a lane that all receivers are through with is free. */
static bool lane_is_free(const fm_exchange *ex, int64_t piece)
{
    if (ex->receivers == 0) return piece - ex->window < ex->lowest;
    for (int32_t r = 0; r < ex->receivers; r++) {
        if (ex->turns[r] <= piece - ex->window) return false;
    }
    return true;
}

static void keep_spare(fm_exchange *ex, fm_parcel *p)
{
    if (ex->n_spare == SPARE_MAX) {
        p->next = NULL;
        free_parcels(p);
        return;
    }
    p->next = ex->spare;
    ex->spare = p;
    ex->n_spare++;
}

/* Under the lock: the next parcel of a receiver's turn; turns go on over lanes that are over. */
static fm_parcel *next_parcel(fm_exchange *ex, int32_t receiver)
{
    while (ex->turns[receiver] < ex->next && ex->turns[receiver] < ex->pieces) {
        lane *l = &ex->lanes[ex->turns[receiver] % ex->window];
        fifo *f = &l->parcels[receiver];
        if (f->first) {
            fm_parcel *p = f->first;
            f->first = p->next;
            if (!f->first) f->last = NULL;
            return p;
        }
        if (!l->over || ex->turns[receiver] >= ex->lowest) return NULL;
        ex->turns[receiver]++;
        fm_cond_broadcast(ex->changed);
    }
    return NULL;
}

/* Applies what has come for a receiver. Called under the lock, which is given up meanwhile; whether there was anything. */
static bool apply_arrived(fm_exchange *ex, int32_t receiver)
{
    bool any = false;

    if (receiver >= ex->receivers) return false;
    for (fm_parcel *p; (p = next_parcel(ex, receiver)); any = true) {
        bool counts = p->order < ex->failed_at;
        fm_error err = FM_ERROR_INIT;
        fm_mutex_unlock(ex->mutex);
        fm_status st = counts ? ex->apply(ex->ctx, receiver, p->content, &err) : FM_OK;
        fm_mutex_lock(ex->mutex);
        ex->held -= p->size;
        if (st != FM_OK) note_failure(ex, p->order, st, &err);
        keep_spare(ex, p);
        fm_cond_broadcast(ex->changed);
    }
    return any;
}

/* ---- Pieces ----------------------------------------------------------------------------------------------------- */

/* Under the lock: the next piece of a worker; -1: none any more; -2: not now. */
static int64_t offer(fm_exchange *ex, int32_t worker)
{
    if (ex->assigned) {
        return worker < ex->pieces && ex->taken[worker] == -1 ? worker : -1;
    }
    if (ex->next >= ex->pieces || order_of(ex->next, 0, false) > ex->failed_at) return -1;
    return lane_is_free(ex, ex->next) ? ex->next : -2;
}

int64_t fm_exchange_take(fm_exchange *ex, int32_t worker)
{
    int64_t piece;

    fm_mutex_lock(ex->mutex);
    while ((piece = offer(ex, worker)) == -2) {
        if (!apply_arrived(ex, worker)) fm_cond_wait(ex->changed, ex->mutex);
    }
    if (piece >= 0) {
        ex->taken[worker] = piece;
        ex->batches[worker] = 0;
        if (!ex->assigned) {
            ex->lanes[piece % ex->window].over = false;
            ex->next++;
        }
    }
    fm_mutex_unlock(ex->mutex);
    return piece;
}

fm_status fm_exchange_next_batch(fm_exchange *ex, int32_t worker)
{
    fm_mutex_lock(ex->mutex);
    int64_t order = order_of(ex->taken[worker], ++ex->batches[worker], false);
    bool counts = order < ex->failed_at;
    fm_mutex_unlock(ex->mutex);
    return counts ? FM_OK : FM_CANCELLED;
}

void fm_exchange_end_piece(fm_exchange *ex, int32_t worker, fm_status st, const fm_error *err)
{
    fm_mutex_lock(ex->mutex);
    int64_t piece = ex->taken[worker];
    if (st != FM_OK) note_failure(ex, order_of(piece, ex->batches[worker], false), st, err);
    ex->lanes[piece % ex->window].over = true;
    ex->taken[worker] = ex->assigned ? -2 : -1;
    while (ex->lowest < ex->next && ex->lanes[ex->lowest % ex->window].over) ex->lowest++;
    fm_cond_broadcast(ex->changed);
    fm_mutex_unlock(ex->mutex);
}

/* ---- Sending ---------------------------------------------------------------------------------------------------- */

bool fm_exchange_is_direct(fm_exchange *ex, int32_t worker, int32_t receiver)
{
    if (ex->solo) return true;
    if (worker != receiver) return false;
    fm_mutex_lock(ex->mutex);
    apply_arrived(ex, receiver);
    bool direct = ex->turns[receiver] == ex->taken[worker] && !ex->lanes[ex->taken[worker] % ex->window].parcels[receiver].first;
    fm_mutex_unlock(ex->mutex);
    return direct;
}

fm_status fm_exchange_direct(fm_exchange *ex, int32_t worker, int32_t receiver, const void *content, fm_error *err)
{
    fm_error own = FM_ERROR_INIT;
    fm_status st = ex->apply(ex->ctx, receiver, content, &own);

    if (st == FM_OK) return FM_OK;
    fm_mutex_lock(ex->mutex);
    note_failure(ex, order_of(ex->taken[worker], ex->batches[worker], true), st, &own);
    fm_mutex_unlock(ex->mutex);
    if (err) *err = own;
    return st;
}

fm_parcel *fm_exchange_parcel(fm_exchange *ex)
{
    fm_mutex_lock(ex->mutex);
    fm_parcel *p = ex->spare;
    if (p) {
        ex->spare = p->next;
        ex->n_spare--;
    }
    fm_mutex_unlock(ex->mutex);
    if (p) {
        fm_arena_reset(p->arena);
        p->next = NULL;
        return p;
    }
    p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->arena = fm_arena_new(0);
    if (p->arena) return p;
    free(p);
    return NULL;
}

void fm_exchange_discard(fm_exchange *ex, fm_parcel *parcel)
{
    fm_mutex_lock(ex->mutex);
    keep_spare(ex, parcel);
    fm_mutex_unlock(ex->mutex);
}

void fm_exchange_send(fm_exchange *ex, int32_t worker, int32_t receiver, fm_parcel *parcel)
{
    fm_mutex_lock(ex->mutex);
    int64_t piece = ex->taken[worker];
    fifo *f = &ex->lanes[piece % ex->window].parcels[receiver];
    parcel->order = order_of(piece, ex->batches[worker], true);
    parcel->next = NULL;
    if (f->last) f->last->next = parcel;
    else f->first = parcel;
    f->last = parcel;
    parcel->size = fm_arena_held(parcel->arena);
    ex->held += parcel->size;
    fm_cond_broadcast(ex->changed);
    apply_arrived(ex, worker);
    while (ex->held > HELD_SIZE_MAX && piece != ex->lowest && ex->failed_at == INT64_MAX) {
        if (!apply_arrived(ex, worker)) fm_cond_wait(ex->changed, ex->mutex);
    }
    fm_mutex_unlock(ex->mutex);
}

void fm_exchange_drain(fm_exchange *ex, int32_t worker)
{
    if (worker >= ex->receivers || ex->solo) return;
    fm_mutex_lock(ex->mutex);
    for (;;) {
        if (apply_arrived(ex, worker)) continue;
        bool all_taken = ex->next >= ex->pieces || order_of(ex->next, 0, false) > ex->failed_at;
        if (all_taken && ex->turns[worker] >= ex->next) break;
        fm_cond_wait(ex->changed, ex->mutex);
    }
    fm_mutex_unlock(ex->mutex);
}
