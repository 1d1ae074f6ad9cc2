/* exec/exchange.h: how work is shared out among workers, and rows find the one that must have them.
 *
 * The input of a stage is cut into pieces, numbered in the order of the input: splits of a source, the parts of a state
 * that is given out. Workers take pieces as they come free, and send what becomes of them in parcels to the receivers
 * (the owners of keys; a single one for sorts and limits). A receiver applies parcels strictly in the order of the
 * pieces, and of the parcels in a piece: results hang neither on the number of workers nor on who is faster.
 *
 *     piece    0     1     2     3     4
 *     worker   A     B     A     B  ...
 *     receiver applies 0, then 1, ...; parcels of later pieces wait in their lanes
 *
 * Nobody waits without working: a worker that may go no further (its piece is too far ahead, or too many bytes wait)
 * applies parcels that are for itself. The worker of the lowest piece that is not over never waits, so there is always one
 * that goes on. At most a few pieces a worker are under way, so the memory does not grow with the input.
 *
 * The first failure in the order of the input is the one that is told: work before it goes on, work behind it is dropped. */
#ifndef FM_EXEC_EXCHANGE_H
#define FM_EXEC_EXCHANGE_H

#include "base/arena.h"
#include "exec/crew.h"
#include "os/clock.h"

typedef struct fm_exchange fm_exchange;

typedef struct fm_parcel {
    struct fm_parcel *next;
    fm_arena *arena;         /* holds the content */
    void *content;
    int64_t order;           /* piece and batch that it comes from */
    size_t size;             /* bytes */
} fm_parcel;

/* Applies what is in a parcel (or what a sender hands over directly) at a receiver; on the receiver's thread. */
typedef fm_status (*fm_exchange_apply)(void *ctx, int32_t receiver, const void *content, fm_error *err);

/* receivers: 0 (pieces are only shared out), or 1..workers. */
fm_status fm_exchange_new(int32_t workers, int32_t receivers, fm_exchange_apply apply, void *ctx, fm_exchange **out, fm_error *err);
void fm_exchange_free(fm_exchange *ex); /* accepts NULL */

/* The coordinator, before the workers start: n pieces. assigned: piece i is worker i's, else whoever asks first. solo: one
 * thread does everything, worker 0's, and rows go straight to their receivers. */
void fm_exchange_begin(fm_exchange *ex, int64_t pieces, bool assigned, bool solo, fm_wake *cancelled);

/* A worker: its next piece; -1: there is none for it any more. */
int64_t fm_exchange_take(fm_exchange *ex, int32_t worker);
/* Counts the batches of the worker's piece, for the order of failures. FM_CANCELLED (without a message): a failure before it
 * was found, the rest does not matter. */
fm_status fm_exchange_next_batch(fm_exchange *ex, int32_t worker);
/* Whether rows for this receiver may be applied at once, by the caller. */
bool fm_exchange_is_direct(fm_exchange *ex, int32_t worker, int32_t receiver);
fm_status fm_exchange_direct(fm_exchange *ex, int32_t worker, int32_t receiver, const void *content, fm_error *err);
/* An empty parcel, to be filled; NULL: out of memory. Its arena is reset. */
fm_parcel *fm_exchange_parcel(fm_exchange *ex);
void fm_exchange_discard(fm_exchange *ex, fm_parcel *parcel); /* one that is not sent after all */
/* Sends it; applies what has come for the worker meanwhile. */
void fm_exchange_send(fm_exchange *ex, int32_t worker, int32_t receiver, fm_parcel *parcel);
/* The worker's piece is over: st and err say how. */
void fm_exchange_end_piece(fm_exchange *ex, int32_t worker, fm_status st, const fm_error *err);
/* Applies what comes for the worker until all pieces are over and applied. */
void fm_exchange_drain(fm_exchange *ex, int32_t worker);

/* The coordinator, after the workers are done: the first failure, if there was one. */
fm_status fm_exchange_result(fm_exchange *ex, fm_error *err);

#endif
